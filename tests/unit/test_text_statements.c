/* `match`, labelled loops, `let` of plain numbers and arrays of sums: what programs with them
 * compute, held against the same in C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "tests/unit/reference_check.h"

enum { COUNT = 12 };

/* Cases of one number and of several, negative ones, and an `else` that is not the last to be
 * lowered, since plain numbers take the type of other cases. */
static void statements_of_match_take_the_case_of_the_value(void **state) {
    (void)state;
    int32_t x[COUNT], y[COUNT], z[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        int32_t value = i - 4;
        x[i] = value;
        y[i] = value == 0 ? 100 : value == 1 || value == 2 || value == -3 ? value * 10 : value - 1;
        z[i] = value == 0 ? 7 : value == 4 || value == 5 ? 9 : value == -1 ? value * 3 : value + 2;
    }
    check_run("program p(x: buffer<i32>, y: out buffer<i32>[len(x)], z: out buffer<i32>[len(x)])\n"
              "over x {\n"
              "    let v = x[gid];\n"
              "    var r = 0;\n"
              "    match v {\n"
              "        0 => { r = 100; }\n"
              "        1, 2, -3 => { r = v * 10; }\n"
              "        else => { r = v - 1; }\n"
              "    }\n"
              "    y[gid] = r;\n"
              "    let w = match v {\n"
              "        0 => { 7 } 4, 5 => { 9 } -1 => { v * 3 } else => { v + 2 }\n"
              "    };\n"
              "    z[gid] = w;\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y), BYTES(z)));
}

/* A jump over one loop and one over two; loops behind a jump run as if there had been none. */
static void jumps_to_labels_reach_their_loop(void **state) {
    (void)state;
    uint32_t x[COUNT], y[COUNT];
    for (uint32_t n = 0; n < COUNT; n++) {
        uint32_t sum = 0;
        x[n] = n;
        for (uint32_t i = 0; i < 4; i++) {
            for (uint32_t j = 0; j < 4; j++) {
                for (uint32_t k = 0; k < 3; k++) {
                    if (i * 4 + j + k == n + 3) {
                        goto next;
                    }
                    if (i * j * k == n) {
                        goto middle_next;
                    }
                    if (i + j + k == n) {
                        goto end;
                    }
                    sum = sum * 3 + i * 16 + j * 4 + k;
                }
                sum += 1;
            middle_next:;
            }
            sum += 1000;
        next:;
        }
    end:
        y[n] = sum;
    }
    check_run("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
              "    let n = x[gid];\n"
              "    var sum = 0u;\n"
              "    outer: for i in 0..4u {\n"
              "        middle: for j in 0..4u {\n"
              "            for k in 0..3u {\n"
              "                if i * 4 + j + k == n + 3 { continue outer; }\n"
              "                if i * j * k == n { continue middle; }\n"
              "                if i + j + k == n { break outer; }\n"
              "                sum = sum * 3 + i * 16 + j * 4 + k;\n"
              "            }\n"
              "            sum += 1;\n"
              "        }\n"
              "        sum += 1000;\n"
              "    }\n"
              "    y[gid] = sum;\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y)));
}

static void check_refused(const char *text, const char *reason) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), NULL, &module);
    assert_non_null(status);
    if (!strstr(vyre_status_text(status), reason)) {
        fail_msg("found %s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

/* The first use chooses the type; later ones of another type are mistakes. */
static void types_of_lets_come_from_the_first_use(void **state) {
    (void)state;
    const uint64_t x[] = {1, UINT64_C(1) << 40}, y[] = {4, 3 + (UINT64_C(1) << 40)};
    const double z[] = {0.1 + 0.75, 0.1 + 0.75};
    check_run("program p(x: buffer<u64>, y: out buffer<u64>[len(x)], z: out buffer<f64>[len(x)])\n"
              "over x {\n"
              "    let k = 3;\n"
              "    let tenth = 0.1;\n"
              "    let part = 0.5 + 0.25;\n"
              "    y[gid] = x[gid] + k;\n"
              "    let zero = z[gid];\n"
              "    z[gid] = zero + tenth + part;\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y), BYTES(z)));
    check_refused("program p(x: out buffer<i32>[4], y: out buffer<u64>[4]) over x {\n"
                  "    let k = 3;\n"
                  "    x[gid] = k + 1i;\n"
                  "    y[gid] = k;\n"
                  "}\n",
                  "i32");
}

/* Addends of all sizes, which cancel, carry over into other digits or decide about a tie from far
 * below, by indices of 64 bits of which one is past the end. */
static void arrays_of_sums_are_exact(void **state) {
    (void)state;
    const float x[] = {0x1p100F, 1.5F,     -0x1p100F, 0x1p-140F,      0x1p-149F, -7.0F,
                       0x1p31F,  -0x1p63F, 0x1p24F,   0x1.fffffep10F, 1.0F,      0x1p-140F};
    const double w[] = {0x1p1000, 0.1,     -0x1p1000, 0x1p-1070, 1e-300, -7.0,
                        0x1p31,   0x1p-31, 0x1p53,    0.0,       1.0,    0x1p-1000};
    const uint64_t k[] = {0, 1, 0, 1, 1, 1, UINT64_C(1) << 32, 0, 2, 1, 2, 2};
    const float r[] = {-0x1p65F, 2042.4998779296875F * 4, 0x1p26F + 8};
    const double s[] = {0x1p-29, -0x1.b99999999999ap+4, 0x1p55 + 8};
    check_run("program p(x: buffer<f32>, w: buffer<f64>, k: buffer<u64>, r: out buffer<f32>[3],\n"
              "          s: out buffer<f64>[3]) {\n"
              "    scratch a: sum<f32>[3];\n"
              "    scratch b: sum<f64>[3];\n"
              "    repeat 4 {\n"
              "        phase over x {\n"
              "            sum_add(a[k[gid]], x[gid]);\n"
              "            sum_add(b[k[gid]], w[gid]);\n"
              "        }\n"
              "    }\n"
              "    phase over r {\n"
              "        r[gid] = f32(a[gid]);\n"
              "        s[gid] = f64(b[gid]);\n"
              "    }\n"
              "}\n",
              LIST(BYTES(x), BYTES(w), BYTES(k)), LIST(BYTES(r), BYTES(s)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_of_match_take_the_case_of_the_value),
        cmocka_unit_test(jumps_to_labels_reach_their_loop),
        cmocka_unit_test(types_of_lets_come_from_the_first_use),
        cmocka_unit_test(arrays_of_sums_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
