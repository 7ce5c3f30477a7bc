#include "pass/correct.h"

static void print_type(const char *type, uint32_t needed, vyre_strbuf *out) {
    static const char *const names[] = {"absent", "subnormals",  "+ - *",    "/",          "sqrt",
                                        "fma",    "conversions", "rounding", "comparisons"};
    const char *separator = " ";
    vyre_strbuf_printf(out, "%s:", type);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (needed >> i & 1) {
            vyre_strbuf_printf(out, "%s%s", separator, names[i]);
            separator = ", ";
        }
    }
    vyre_strbuf_puts(out, needed ? "" : " none");
}

void vyre_corrections_print(const vyre_corrections *corrections, vyre_strbuf *out) {
    print_type("f32", corrections->f32, out);
    vyre_strbuf_puts(out, "; ");
    print_type("f64", corrections->f64, out);
}
