#include "pass/correct.h"

static void print_names(uint32_t operations, const char *separator, vyre_strbuf *out) {
    static const char *const names[] = {"absent", "+ - *",       "/",        "sqrt",
                                        "fma",    "conversions", "rounding", "comparisons"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (operations >> i & 1) {
            vyre_strbuf_printf(out, "%s%s", separator, names[i]);
            separator = ", ";
        }
    }
}

static void print_type(const char *type, uint32_t needed, vyre_strbuf *out) {
    uint32_t wrong = needed & 0xffff, flushed = needed >> 16;
    uint32_t arithmetic = VYRE_CORRECT_LINEAR | VYRE_CORRECT_FMA | VYRE_CORRECT_COMPARE;
    vyre_strbuf_printf(out, "%s:%s", type, needed ? "" : " none");
    print_names(wrong, " ", out);
    if ((flushed & arithmetic) == arithmetic) {
        vyre_strbuf_printf(out, "%s subnormals", wrong ? "," : "");
    } else if (flushed) {
        vyre_strbuf_printf(out, "%s subnormals of", wrong ? "," : "");
        print_names(flushed, " ", out);
    }
}

void vyre_corrections_print(const vyre_corrections *corrections, vyre_strbuf *out) {
    print_type("f32", corrections->f32, out);
    vyre_strbuf_puts(out, "; ");
    print_type("f64", corrections->f64, out);
}
