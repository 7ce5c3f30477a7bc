/* Control flow in the reference backend, each invocation going its own way. */
#include <stdlib.h>

#include "tests/unit/reference_check.h"

enum { N = 300 };

static uint32_t result[N];

/* Runs a kernel body that sets `r` from `i`, the invocation, for N invocations, with and without a
 * workgroup, and compares with `result`. */
static void check_body(const char *functions, const char *body) {
    char text[4096];
    snprintf(text, sizeof text,
             "%s\nprogram p(y: out buffer<u32>[300]) over 300 {\n"
             "    let i = gid;\n    var r = 0u;\n%s\n    y[i] = r;\n}\n",
             functions, body);
    check_run(text, NOTHING, LIST(BYTES(result)));
    snprintf(text, sizeof text,
             "%s\nprogram p(y: out buffer<u32>[300]) over 300 workgroup 60 {\n"
             "    let i = gid;\n    var r = 0u;\n%s\n    y[i] = r;\n}\n",
             functions, body);
    check_run(text, NOTHING, LIST(BYTES(result)));
}

static void branches_nest(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t r = 0;
        if (i % 2) {
            r += 1;
            if (i % 3) {
                r += 10;
            } else if (i % 5) {
                r += 100;
            }
            r *= 2;
        } else if (i % 7) {
            r = i;
        } else {
            if (i > 100) {
                r = 5;
            }
            r += 3;
        }
        result[i] = r;
    }
    check_body("", "if i % 2 != 0 {\n"
                   "    r += 1;\n"
                   "    if i % 3 != 0 { r += 10; } else if i % 5 != 0 { r += 100; }\n"
                   "    r *= 2;\n"
                   "} else if i % 7 != 0 {\n"
                   "    r = i;\n"
                   "} else {\n"
                   "    if i > 100 { r = 5; }\n"
                   "    r += 3;\n"
                   "}\n");
}

static void loops_end_for_each_invocation_by_itself(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t r = 0, v = i;
        while (v != 1 && v != 0) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            r++;
        }
        result[i] = r;
    }
    check_body("", "var v = i;\n"
                   "while v != 1 && v != 0 {\n"
                   "    if v % 2 == 1 { v = 3 * v + 1; } else { v = v / 2; }\n"
                   "    r += 1;\n"
                   "}\n");
}

static void breaks_and_continues_leave_nested_loops(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t r = 0;
        for (uint32_t a = 0; a < i % 9; a++) {
            if (a == 5) {
                break;
            }
            for (uint32_t b = a; b < 12; b += 2) {
                if ((a + b) % 3 == 0) {
                    continue;
                }
                if (a * b > i) {
                    break;
                }
                r += a * 100 + b;
                if (r > 2000) {
                    goto out;
                }
            }
            if (r % 2) {
                continue;
            }
            r += 7;
        }
        r += 1;
    out:
        result[i] = r;
    }
    check_body("fn work(i: u32) -> u32 {\n"
               "    var r = 0u;\n"
               "    for a in 0..i % 9 {\n"
               "        if a == 5 { break; }\n"
               "        for b in a..12 step 2 {\n"
               "            if (a + b) % 3 == 0 { continue; }\n"
               "            if a * b > i { break; }\n"
               "            r += a * 100 + b;\n"
               "            if r > 2000 { return r; }\n"
               "        }\n"
               "        if r % 2 != 0 { continue; }\n"
               "        r += 7;\n"
               "    }\n"
               "    return r + 1;\n"
               "}\n",
               "r = work(i);\n");
}

/* Whoever returns takes no part in what follows. */
static void an_invocation_can_end_early(void **state) {
    (void)state;
    uint32_t y[N];
    for (uint32_t i = 0; i < N; i++) {
        y[i] = i % 4 == 0 ? 0 : i % 6 == 1 ? 1 : 3;
        if (i % 5 == 2 && i % 4 && i % 6 != 1) {
            y[i] = 2;
        }
    }
    check_run("program p(y: out buffer<u32>[300]) over 300 {\n"
              "    if gid % 4 == 0 { return; }\n"
              "    y[gid] = 1;\n"
              "    loop {\n"
              "        if gid % 6 == 1 { return; }\n"
              "        y[gid] = 2;\n"
              "        if gid % 5 == 2 {\n"
              "            for k in 0..3 { if k == gid % 3 { return; } }\n"
              "        }\n"
              "        break;\n"
              "    }\n"
              "    y[gid] = 3;\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

static void functions_return_values_out_of_loops(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t root = 0;
        while ((root + 1) * (root + 1) <= i) {
            root++;
        }
        uint32_t smallest = i;
        for (uint32_t d = 2; d < i; d++) {
            if (i % d == 0) {
                smallest = d;
                break;
            }
        }
        result[i] = root * 1000 + smallest;
    }
    check_body("fn root(n: u32) -> u32 {\n"
               "    var r = 0u;\n"
               "    loop {\n"
               "        if (r + 1) * (r + 1) > n { return r; }\n"
               "        r += 1;\n"
               "    }\n"
               "}\n"
               "fn smallest(n: u32) -> u32 {\n"
               "    for d in 2..n { if n % d == 0 { return d; } }\n"
               "    return n;\n"
               "}\n"
               "fn both(n: u32) -> (u32, u32) { return root(n), smallest(n); }\n",
               "let (a, b) = both(i);\n"
               "r = a * 1000 + b;\n");
}

static void blocks_give_values(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t low = i < 150 ? i : 150, high = i < 150 ? 150 : i;
        uint32_t a = 1, b = 1;
        for (uint32_t k = 0; k < i % 20; k++) {
            uint32_t next = a + b;
            a = b;
            b = next;
        }
        uint32_t c = 0, v = high;
        while (v) {
            v &= v - 1;
            c++;
        }
        result[i] = low + 3 * a + 5 * c + (i % 3 == 0 ? 7 : i % 3 == 1 ? 11 : 13);
    }
    /* The two values of the loop change places: both must be taken before either is set. */
    check_body("", "let (low, high) = if i < 150 { yield i, 150u; } else { yield 150u, i; };\n"
                   "let (a, b) = for k in 0..i % 20 with (a = 1u, b = 1u) { continue b, a + b; };\n"
                   "let (bits) = loop (v = high, c = 0u) {\n"
                   "    if v == 0 { break c; }\n"
                   "    continue v & (v - 1), c + 1;\n"
                   "};\n"
                   "let last = inline {\n"
                   "    if i % 3 == 0 { return 7u; }\n"
                   "    if i % 3 == 1 { return 11; }\n"
                   "    return 13;\n"
                   "};\n"
                   "r = low + 3 * a + 5 * bits + last;\n");
}

/* Nothing but the loop uses first, end, step and the values it starts with. */
static void a_loop_keeps_what_it_was_given(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t a = i ^ 5, b = i * 3, step = i % 7 + 1;
        for (uint32_t k = i % 11; k < i % 50 + 10; k += step) {
            uint32_t c = a * 3 + k, d = b ^ c;
            a = d + (c >> 2);
            b = c * d;
        }
        result[i] = a ^ b;
    }
    check_body("", "let first = i % 11;\n"
                   "let end = i % 50 + 10;\n"
                   "let step_size = i % 7 + 1;\n"
                   "let a0 = i ^ 5;\n"
                   "let b0 = i * 3;\n"
                   "let (a, b) = for k in first..end step step_size with (a = a0, b = b0) {\n"
                   "    let c = a * 3 + k;\n"
                   "    let d = b ^ c;\n"
                   "    continue d + (c >> 2), c * d;\n"
                   "};\n"
                   "r = a ^ b;\n");
}

static void the_right_side_runs_only_if_needed(void **state) {
    (void)state;
    uint32_t y[8], count[2] = {4, 4}, zero[2] = {0};
    for (uint32_t i = 0; i < 8; i++) {
        y[i] = (i & 1) + 2 * (i & 1);
    }
    check_run("program p(c: inout buffer<u32>, y: out buffer<u32>[8]) deterministic over 8 {\n"
              "    let odd = gid % 2 == 1;\n"
              "    if odd && atomic_add(c[0], 1) < 100 { y[gid] += 1; }\n"
              "    if odd || atomic_add(c[1], 1) > 100 { y[gid] += 2; }\n"
              "}\n",
              LIST(BYTES(zero)), LIST(BYTES(count), BYTES(y)));
}

/* for, over every type and range */

typedef struct range {
    const char *type, *first, *end, *step;
    uint64_t turns;
    uint64_t last; /* counter of the last turn, as 64 bits */
} range;

static const range ranges[] = {
    {"u8", "0", "255", "1", 255, 254},
    {"u8", "250", "255", "3", 2, 253},
    {"u8", "1", "255", "127", 2, 128},
    {"u8", "0", "255", "255", 1, 0},
    {"u8", "5", "5", "1", 0, 0},
    {"u8", "6", "5", "1", 0, 0},
    {"u8", "0", "255", "0", 0, 0},
    {"i8", "-128", "127", "1", 255, 126},
    {"i8", "-128", "127", "127", 3, 126},
    {"i8", "-128", "127", "-1", 0, 0},
    {"i8", "127", "-128", "1", 0, 0},
    {"i8", "-128", "-127", "100", 1, (uint64_t)-128},
    {"i8", "120", "127", "100", 1, 120},
    {"u16", "65000", "65535", "500", 2, 65500},
    {"u16", "0", "65535", "65535", 1, 0},
    {"i16", "-32768", "32767", "10000", 7, 27232},
    {"i16", "-32768", "32767", "-32768", 0, 0},
    {"u32", "4294967290", "4294967295", "2", 3, 4294967294},
    {"u32", "0", "4294967295", "4294967295", 1, 0},
    {"u32", "0", "4294967295", "1000000000", 5, 4000000000},
    {"u32", "3", "2", "1", 0, 0},
    {"i32", "-2147483648", "2147483647", "2147483647", 3, 2147483646},
    {"i32", "-5", "5", "3", 4, 4},
    {"i32", "-5", "5", "0", 0, 0},
    {"i32", "2147483646", "2147483647", "7", 1, 2147483646},
    {"u64", "18446744073709551610", "18446744073709551615", "2", 3, 18446744073709551614u},
    {"u64", "0", "18446744073709551615", "18446744073709551615", 1, 0},
    {"u64", "0", "18446744073709551615", "9223372036854775808", 2, 9223372036854775808u},
    {"i64", "-9223372036854775808", "9223372036854775807", "9223372036854775807", 3,
     9223372036854775806},
    {"i64", "-9223372036854775808", "9223372036854775807", "-1", 0, 0},
    {"i64", "-3", "4", "2", 4, 3},
};

static void a_counter_never_wraps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const range *r = &ranges[i];
        char text[512];
        snprintf(text, sizeof text,
                 "program p(t: buffer<%s>, turns: out buffer<u64>[3], last: out buffer<%s>[3])\n"
                 "over 3 {\n"
                 "    for k in t[0]..t[1] step t[2] {\n"
                 "        turns[gid] += 1;\n"
                 "        last[gid] = k;\n"
                 "        if turns[gid] > 300 { break; }\n"
                 "    }\n"
                 "}\n",
                 r->type, r->type);
        char constants[512];
        snprintf(constants, sizeof constants,
                 "program p(turns: out buffer<u64>[3], last: out buffer<%s>[3]) over 3 {\n"
                 "    let first: %s = %s; let end: %s = %s; let step: %s = %s;\n"
                 "    for k in first..end step step {\n"
                 "        turns[gid] += 1;\n"
                 "        last[gid] = k;\n"
                 "    }\n"
                 "}\n",
                 r->type, r->type, r->first, r->type, r->end, r->type, r->step);
        size_t bytes = (size_t)atoi(r->type + 1) / 8;
        uint8_t input[3 * 8], last[3 * 8];
        uint64_t turns[3] = {r->turns, r->turns, r->turns};
        const char *numbers[] = {r->first, r->end, r->step};
        for (size_t k = 0; k < 3; k++) {
            uint64_t value = *numbers[k] == '-' ? (uint64_t)strtoll(numbers[k], NULL, 10)
                                                : strtoull(numbers[k], NULL, 10);
            memcpy(input + k * bytes, &value, bytes);
            memcpy(last + k * bytes, &r->last, bytes);
        }
        vyre_input expected[] = {BYTES(turns), {last, 3 * bytes}}, inputs[] = {{input, 3 * bytes}};
        check_run(text, (check_list){inputs, 1}, (check_list){expected, 2});
        check_run(constants, NOTHING, (check_list){expected, 2});
    }
}

/* Ranges that differ from lane to lane. */
static void ranges_differ_between_invocations(void **state) {
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t r = 0;
        for (int32_t k = (int32_t)i - 150; k < (int32_t)(i % 40); k += (int32_t)(i % 5) - 1) {
            if ((int32_t)(i % 5) - 1 <= 0) {
                break;
            }
            r = r * 31 + (uint32_t)k;
        }
        result[i] = r;
    }
    check_body("", "for k in i32(i) - 150..i32(i % 40) step i32(i % 5) - 1 {\n"
                   "    r = r * 31 + u32(k);\n"
                   "}\n");
}

static void blocks_nest_to_the_limit(void **state) {
    (void)state;
    char text[16384] = "program p(y: out buffer<u32>[300]) over 300 {\n    var r = 0u;\n";
    for (int i = 0; i < 120; i++) {
        snprintf(text + strlen(text), 64, "if gid >= %d { r += 1;\n", i * 2);
    }
    for (int i = 0; i < 120; i++) {
        snprintf(text + strlen(text), 64, "}\n");
    }
    snprintf(text + strlen(text), 64, "    y[gid] = r;\n}\n");
    for (uint32_t i = 0; i < N; i++) {
        result[i] = i / 2 + 1 > 120 ? 120 : i / 2 + 1;
    }
    check_run(text, NOTHING, LIST(BYTES(result)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_nest),
        cmocka_unit_test(loops_end_for_each_invocation_by_itself),
        cmocka_unit_test(breaks_and_continues_leave_nested_loops),
        cmocka_unit_test(an_invocation_can_end_early),
        cmocka_unit_test(functions_return_values_out_of_loops),
        cmocka_unit_test(blocks_give_values),
        cmocka_unit_test(a_loop_keeps_what_it_was_given),
        cmocka_unit_test(the_right_side_runs_only_if_needed),
        cmocka_unit_test(a_counter_never_wraps),
        cmocka_unit_test(ranges_differ_between_invocations),
        cmocka_unit_test(blocks_nest_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
