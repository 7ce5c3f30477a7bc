/* Small programs that sum floats: all lanes add to a few sums, once or several times, and to some
 * that are not there. The language makes sums of integers, so that these programs are text. */
#include "base/status.h"
#include "base/strbuf.h"
#include "conform/generate.h"
#include "text/module.h"

enum { MOST_SUMS = 9, MOST_ADDENDS = 300 };

static void draw_arguments(generator *g, vyre_type type, uint32_t sums) {
    uint32_t count = 1 + generate_below(g, MOST_ADDENDS), kinds = 1 + generate_below(g, 3);
    uint8_t *keys = generate_argument(g, "a", VYRE_TYPE_U32, count);
    uint8_t *addends = generate_argument(g, "x", type, count);
    for (uint32_t i = 0; keys && addends && i < count; i++) {
        uint32_t key = generate_below(g, sums + 2);
        conform_element_put(keys, i, VYRE_TYPE_U32, generate_one_in(g, 50) ? UINT32_MAX : key);
        if (generate_below(g, 3) < kinds) { /* else of any size */
            generate_special(g, type, NULL, addends + (size_t)i * vyre_type_bytes(type));
        }
    }
}

static void write_text(generator *g, vyre_strbuf *text, const char *type, uint32_t sums,
                       uint32_t turn) {
    bool repeats = turn / 2 % 2, again = turn / 4 % 2, grouped = turn / 8 % 2;
    vyre_strbuf_printf(text,
                       "program sums(a: buffer<u32>, x: buffer<%s>, y: out buffer<%s>[%u]) {\n"
                       "scratch s: sum<%s>[%u];\n",
                       type, type, sums + 1, type, sums);
    if (repeats) {
        vyre_strbuf_printf(text, "repeat %u {\n", generate_below(g, 4));
    }
    vyre_strbuf_printf(text, "phase over x %s { if in_domain { sum_add(s[a[gid]], x[gid]); } }\n",
                       grouped ? "workgroup 32" : "workgroup 1");
    vyre_strbuf_puts(text, repeats ? "}\n" : "");
    if (again) {
        vyre_strbuf_puts(text, "phase over x { sum_add(s[a[gid] / 2], -x[gid]); }\n");
    }
    vyre_strbuf_printf(text, "phase over y { y[gid] = %s(s[gid]); }\n}\n", type);
}

vyre_status generate_sums(uint64_t seed, uint32_t turn, conform_trial *out_trial) {
    *out_trial = (conform_trial){0};
    generator g = {.random = seed, .trial = out_trial};
    vyre_type type = turn % 2 ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
    vyre_random(&g.random);
    uint32_t sums = 1 + generate_below(&g, MOST_SUMS);
    vyre_strbuf text = {0};
    vyre_module *module = NULL;
    draw_arguments(&g, type, sums);
    write_text(&g, &text, vyre_type_name(type), sums, turn);
    vyre_status status = text.failed || g.failed
                             ? vyre_no_memory("for a random program")
                             : vyre_module_parse_with(&(vyre_parse_options){0}, "sums.vyre",
                                                      text.data, text.size, NULL, &module);
    if (!status) {
        out_trial->program = vyre_module_program(module, 0);
        vyre_program_retain(out_trial->program);
    } else {
        conform_trial_free(out_trial);
    }
    vyre_module_free(module);
    vyre_strbuf_free(&text);
    return status;
}
