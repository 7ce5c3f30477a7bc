/* Arrays of several dimensions: each index is held against its own length, whatever its type, and
 * what is proven away does not show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "base/random.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "pass/decide.h"
#include "pass/pass.h"
#include "tests/unit/reference_check.h"

enum { ROWS = 3, COLUMNS = 5, CELLS = ROWS * COLUMNS };

/* A text as it is, as code is written for it, and the same for any domain: all give these bytes. */
static void check_lowered(const char *text, check_list inputs, check_list expected) {
    vyre_program *programs[3] = {check_parse(text)};
    assert_null(vyre_lower_program(programs[0], true, &programs[1]));
    assert_null(vyre_lower_program(programs[0], false, &programs[2]));
    for (size_t i = 0; i < 3; i++) {
        vyre_outputs outputs = check_run_seed(programs[i], inputs, 0);
        assert_int_equal(outputs.count, expected.count);
        for (size_t k = 0; k < outputs.count; k++) {
            assert_int_equal(outputs.items[k].size, expected.items[k].size);
            if (memcmp(outputs.items[k].data, expected.items[k].data, outputs.items[k].size) != 0) {
                fail_msg("form %zu gives something else:\n%s", i, text);
            }
        }
        vyre_outputs_free(&outputs);
        vyre_program_release(programs[i]);
    }
}

/* Numbers around both ends of the lengths, and those that wrap around to inside. */
static const int64_t numbers[] = {
    0,   1,   2,   3,          4,          5,           6,           -1,        -2,       -5,
    127, 255, 256, 65535,      65536,      65537,       INT32_MAX,   INT32_MIN, 7,        11,
    14,  15,  16,  0x80000001, 0xffffffff, 0x100000000, 0x100000001, INT64_MAX, INT64_MIN};
enum { NUMBERS = sizeof numbers / sizeof *numbers, PAIRS = NUMBERS * NUMBERS };

/* A number as a type has it. */
static int64_t cut(int64_t number, uint32_t bytes, bool is_signed) {
    uint32_t spare = 64 - 8 * bytes;
    uint64_t bits = (uint64_t)number << spare;
    return is_signed ? (int64_t)bits >> spare : (int64_t)(bits >> spare);
}

static bool is_inside(int64_t index, int64_t length, bool is_signed) {
    return is_signed ? index >= 0 && index < length : (uint64_t)index < (uint64_t)length;
}

static const struct {
    const char *name;
    uint32_t bytes;
    bool is_signed;
} types[] = {{"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},
             {"i8", 1, true},  {"i16", 2, true},  {"i32", 4, true},  {"i64", 8, true}};

/* Every pair of numbers as indices of a type: loads give the element or 0, stores and atomics reach
 * the element or nothing. */
static void check_type(size_t t, bool is_fixed) {
    static uint8_t y_bytes[PAIRS * 8], x_bytes[PAIRS * 8];
    static uint32_t found[PAIRS], cells[CELLS], counts[CELLS], last[CELLS];
    uint32_t bytes = types[t].bytes;
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = 100 + i;
        counts[i] = 0;
        last[i] = 0;
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        int64_t y = cut(numbers[i / NUMBERS], bytes, types[t].is_signed);
        int64_t x = cut(numbers[i % NUMBERS], bytes, types[t].is_signed);
        memcpy(y_bytes + (size_t)i * bytes, &y, bytes);
        memcpy(x_bytes + (size_t)i * bytes, &x, bytes);
        bool inside =
            is_inside(y, ROWS, types[t].is_signed) && is_inside(x, COLUMNS, types[t].is_signed);
        found[i] = inside ? cells[y * COLUMNS + x] : 0;
        if (inside) {
            counts[y * COLUMNS + x]++;
            last[y * COLUMNS + x] = 7;
        }
    }
    char text[1024];
    snprintf(text, sizeof text,
             "program p(h: u32, w: u32, y: buffer<%s>, x: buffer<%s>, a: buffer<u32>%s, f: out "
             "buffer<u32>[len(y)], n: out buffer<u32>%s, s: out buffer<u32>%s) {\n"
             "    phase over y {\n"
             "        f[gid] = a[y[gid]][x[gid]];\n"
             "        atomic_add(n[y[gid]][x[gid]], 1);\n"
             "    }\n"
             "    phase over 1 {\n"
             "        for i in 0..len(y) { s[y[i]][x[i]] = 7; }\n"
             "    }\n"
             "}\n",
             types[t].name, types[t].name, is_fixed ? "[3][5]" : "[h][w]",
             is_fixed ? "[3][5]" : "[h][w]", is_fixed ? "[3][5]" : "[h][w]");
    const uint32_t h = ROWS, w = COLUMNS;
    check_lowered(text,
                  LIST({&h, sizeof h}, {&w, sizeof w}, {y_bytes, (size_t)PAIRS * bytes},
                       {x_bytes, (size_t)PAIRS * bytes}, BYTES(cells)),
                  LIST(BYTES(found), BYTES(counts), BYTES(last)));
}

static void each_index_has_its_own_length(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        check_type(t, false);
        check_type(t, true);
    }
}

/* A product that wraps around does not lead back inside. */
static void products_do_not_wrap(void **state) {
    (void)state;
    enum { WIDTH = 65536 };
    static uint32_t cells[2 * WIDTH];
    static const uint32_t y[] = {0, 1, 2, 65536, 65537, 0x80000000};
    static const uint32_t found[] = {1, 2, 0, 0, 0, 0};
    const uint32_t h = 2, w = WIDTH;
    cells[0] = 1;
    cells[WIDTH] = 2;
    check_lowered("program p(h: u32, w: u32, y: buffer<u32>, a: buffer<u32>[h][w], f: out "
                  "buffer<u32>[len(y)]) over y { f[gid] = a[y[gid]][0]; }",
                  LIST({&h, sizeof h}, {&w, sizeof w}, BYTES(y), BYTES(cells)), LIST(BYTES(found)));
}

/* Shared, private, scratch and constant arrays, three dimensions, parameters, lengths, domains. */
static void all_arrays_have_dimensions(void **state) {
    (void)state;
    static const char text[] =
        "const k: u32[2][3] = [[1, 2, 3], [4, 5, 6]];\n"
        "const cube: u8[2][2][2] = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]];\n"
        "const last = cube[1][1][1] + u8(len(cube, 2));\n"
        "fn at(a: buffer<u32>[][], y: u32, x: u32) -> u32 { return a[y][x] * 10 + len(a, 1); }\n"
        "fn flat(a: buffer<u32>) -> u32 { return a[4] + len(a); }\n"
        "fn put(a: inout buffer<u32>[][], y: u32, x: u32) { a[y][x] = y * 100 + x; }\n"
        "program p(y: out buffer<u32>[2][3], z: out buffer<u32>[len(y, 0) * 4]) {\n"
        "    scratch t: u32[len(y, 1)][len(y, 0)];\n"
        "    phase over y workgroup 3, 2 {\n"
        "        shared s: u32[2][3];\n"
        "        var own: u32[2][2];\n"
        "        put(s, lid.y, lid.x);\n"
        "        own[1][lid.x] = 7;\n"
        "        barrier;\n"
        "        y[gid.y][gid.x] = s[1 - gid.y][2 - gid.x] + own[1][1] + own[0][1];\n"
        "        t[gid.x][gid.y] = at(k, gid.y, gid.x);\n"
        "    }\n"
        "    phase over z {\n"
        "        z[gid] = t[gid][1] + flat(k) + u32(last) + u32(cube[1][gid][0]) + len(k);\n"
        "    }\n"
        "}\n";
    /* y: s transposed around its middle, plus 7 in column 1. */
    static const uint32_t y[] = {102, 101 + 7, 100, 2, 1 + 7, 0};
    static const uint32_t z[] = {
        43 + 11 + 10 + 5 + 6, 53 + 11 + 10 + 7 + 6, 63 + 11 + 10 + 6, 27, 27, 27, 27, 27};
    check_lowered(text, NOTHING, LIST(BYTES(y), BYTES(z)));
}

/* The checks of a stencil that its guards imply go away, and it reads its array at plain indices.
 */
static void proven_checks_go_away(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(h: u32, w: u32, a: buffer<f32>[h][w], b: out buffer<f32>[h][w]) over a {\n"
        "    let x = gid.x;\n"
        "    let y = gid.y;\n"
        "    if x > 0 && y > 0 && x + 1 < w && y + 1 < h {\n"
        "        b[y][x] = a[y - 1][x] + a[y + 1][x] + a[y][x - 1] + a[y][x + 1];\n"
        "    } else {\n"
        "        b[y][x] = a[y][x];\n"
        "    }\n"
        "}\n");
    for (int own_domain = 0; own_domain < 2; own_domain++) {
        vyre_program *lowered;
        assert_null(vyre_lower_program(program, own_domain, &lowered));
        const vyre_ir *ir = vyre_program_ir(lowered);
        uint32_t selects = 0;
        for (uint32_t i = 0; i < ir->inst_count; i++) {
            selects += ir->insts[i].op == VYRE_OP_SELECT;
        }
        /* Over another domain nothing is known of x and y. */
        assert_int_equal(selects != 0, !own_domain);
        vyre_program_release(lowered);
    }
    vyre_program_release(program);
}

/* Random accesses under random guards: what is decided is so. */

static void put_index(vyre_strbuf *text, uint64_t *random, const char *axis, const char *length) {
    static const char *const forms[] = {"gid.%s",          "gid.%s + 1",
                                        "gid.%s - 1",      "gid.%s %% 3",
                                        "gid.%s * 2",      "x[gid.x]",
                                        "x[gid.y] %% 4",   "%.0s2",
                                        "gid.%s / 2",      "min(gid.%s, 2)",
                                        "gid.%s - 2 + 1",  "i32(gid.%s) - 1",
                                        "u64(gid.%s) + 1", "select(gid.%s > 1, gid.y, 1)"};
    uint64_t form = vyre_random_below(random, sizeof forms / sizeof *forms + 1);
    if (form == sizeof forms / sizeof *forms) {
        vyre_strbuf_printf(text, "%s - 1 - gid.%s", length, axis);
    } else {
        char part[64];
        snprintf(part, sizeof part, forms[form], axis);
        vyre_strbuf_puts(text, part);
    }
}

static void put_element(vyre_strbuf *text, uint64_t *random, const char *array) {
    vyre_strbuf_printf(text, "%s[", array);
    put_index(text, random, "y", "h");
    vyre_strbuf_puts(text, "][");
    put_index(text, random, "x", "w");
    vyre_strbuf_puts(text, "]");
}

static void put_guard(vyre_strbuf *text, uint64_t *random) {
    static const char *const guards[] = {"gid.x > 0",     "gid.y > 0",     "gid.x + 1 < w",
                                         "gid.y + 1 < h", "gid.x < w - 1", "x[gid.x] < w",
                                         "gid.x * 2 < w", "gid.y * 2 < h", "h > 2",
                                         "gid.x < gid.y", "true"};
    uint64_t count = 1 + vyre_random_below(random, 3);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t guard = vyre_random_below(random, sizeof guards / sizeof *guards);
        vyre_strbuf_printf(text, "%s%s", i ? " && " : "", guards[guard]);
    }
}

static void decisions_hold_in_random_programs(void **state) {
    (void)state;
    enum { PROGRAMS = 600 };
    uint32_t decided = 0, all = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        uint64_t random = seed * 7919;
        bool is_fixed = vyre_random_below(&random, 3) == 0;
        const char *lengths = is_fixed ? "[4][6]" : "[h][w]";
        vyre_strbuf text = {0};
        vyre_strbuf_printf(&text,
                           "program p(h: u32, w: u32, x: buffer<u32>, a: buffer<u32>%s, b: inout "
                           "buffer<u32>%s, c: out buffer<u32>%s) over c {\n",
                           lengths, lengths, lengths);
        for (int i = 0; i < 3; i++) {
            vyre_strbuf_puts(&text, "    if ");
            put_guard(&text, &random);
            vyre_strbuf_puts(&text, " { c[gid.y][gid.x] += ");
            put_element(&text, &random, i ? "a" : "c");
            vyre_strbuf_puts(&text, "; }\n    c[gid.y][gid.x] ^= ");
            put_element(&text, &random, "a");
            vyre_strbuf_puts(&text, ";\n    atomic_add(");
            put_element(&text, &random, "b");
            vyre_strbuf_puts(&text, ", 1);\n");
        }
        vyre_strbuf_puts(&text, "}\n");
        uint32_t h = is_fixed ? 4 : 1 + (uint32_t)vyre_random_below(&random, 5);
        uint32_t w = is_fixed ? 6 : 1 + (uint32_t)vyre_random_below(&random, 6);
        uint32_t x[8], a[36], b[36];
        for (uint32_t i = 0; i < 8; i++) {
            x[i] = (uint32_t)vyre_random_below(&random, 9) - 1;
        }
        for (uint32_t i = 0; i < 36; i++) {
            a[i] = (uint32_t)vyre_random(&random);
            b[i] = i;
        }
        /* The same element is read and written by others in some of them: those have no one answer,
         * so that `c` is read where it is written alone. */
        char *clash = strstr(text.data, "+= c[");
        if (clash) {
            clash[3] = 'a';
        }
        const vyre_input inputs[] = {{&h, 4}, {&w, 4}, BYTES(x), {a, h * w * 4}, {b, h * w * 4}};
        vyre_program *programs[3] = {check_parse(text.data)}, *any = NULL;
        assert_null(vyre_lower_program(programs[0], true, &programs[1]));
        assert_null(vyre_lower_program(programs[0], false, &programs[2]));
        assert_null(vyre_decide(programs[0], true, &any));
        decided += any != NULL;
        all++;
        vyre_program_release(any);
        vyre_outputs expected = check_run_seed(programs[0], (check_list){inputs, 5}, 0);
        for (int i = 1; i < 3; i++) {
            vyre_outputs found = check_run_seed(programs[i], (check_list){inputs, 5}, 0);
            for (size_t k = 0; k < found.count; k++) {
                if (memcmp(found.items[k].data, expected.items[k].data, found.items[k].size) != 0) {
                    fail_msg("seed %llu, form %d gives something else for %u x %u:\n%s",
                             (unsigned long long)seed, i, h, w, text.data);
                }
            }
            vyre_outputs_free(&found);
        }
        vyre_outputs_free(&expected);
        for (int i = 0; i < 3; i++) {
            vyre_program_release(programs[i]);
        }
        vyre_strbuf_free(&text);
    }
    print_message("%u of %u programs have something decided\n", decided, all);
    assert_true(decided > PROGRAMS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_has_its_own_length),
        cmocka_unit_test(products_do_not_wrap),
        cmocka_unit_test(all_arrays_have_dimensions),
        cmocka_unit_test(proven_checks_go_away),
        cmocka_unit_test(decisions_hold_in_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
