/* Who runs and what they are told: domains, workgroups, phases, repeats, arguments. */
#include "tests/unit/reference_check.h"

static void exactly_the_domain_runs_without_a_workgroup(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 1, 2, 255, 256, 257, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n[1] = {sizes[i]}, y[1002];
        for (uint32_t k = 0; k < 1002; k++) {
            y[k] = k < sizes[i] ? k + 1 : 0;
        }
        check_run("program p(n: u32, y: out buffer<u32>[1002]) over n { y[gid] += gid + 1; }",
                  LIST(BYTES(n)), LIST(BYTES(y)));
    }
}

/* Everybody writes where they are: x fastest. */
static void positions_without_a_workgroup(void **state) {
    (void)state;
    static const uint32_t sides[][3] = {{1, 1, 1},   {7, 5, 3},  {300, 2, 1},
                                        {1, 300, 2}, {2, 3, 99}, {5, 0, 7}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const uint32_t *d = sides[i];
        static uint32_t y[2000];
        memset(y, 0, sizeof y);
        for (uint32_t k = 0; k < d[0] * d[1] * d[2]; k++) {
            y[k] = k % d[0] + 1 + 1000 * (k / d[0] % d[1]) + 1000000 * (k / d[0] / d[1]);
        }
        check_run("program p(a: u32, b: u32, c: u32, y: out buffer<u32>[2000]) over (a, b, c) {\n"
                  "    let at = gid.x + a * (gid.y + b * gid.z);\n"
                  "    y[at] += gid.x + 1 + 1000 * gid.y + 1000000 * gid.z;\n"
                  "}\n",
                  LIST({&d[0], 4}, {&d[1], 4}, {&d[2], 4}), LIST(BYTES(y)));
    }
    uint32_t flat[6 * 4];
    for (uint32_t k = 0; k < 24; k++) {
        flat[k] = k % 6 * 10 + k / 6;
    }
    check_run("program p(y: out buffer<u32>[24]) over (6, 4) { y[gid.x + 6 * gid.y] = gid.x * 10 + "
              "gid.y; }",
              NOTHING, LIST(BYTES(flat)));
}

/* Whole workgroups run; the domain is no multiple of them. */
static void positions_with_a_workgroup(void **state) {
    (void)state;
    enum { A = 10, B = 5, C = 4, WA = 4, WB = 3, WC = 2 };
    enum { GA = 3, GB = 2, GC = 2, ALL = GA * WA * GB * WB * GC * WC };
    static uint32_t y[ALL * 8];
    uint32_t at = 0;
    for (uint32_t wz = 0; wz < GC; wz++) {
        for (uint32_t wy = 0; wy < GB; wy++) {
            for (uint32_t wx = 0; wx < GA; wx++) {
                for (uint32_t k = 0; k < WA * WB * WC; k++, at += 8) {
                    uint32_t lx = k % WA, ly = k / WA % WB, lz = k / (WA * WB);
                    uint32_t x = wx * WA + lx, yy = wy * WB + ly, z = wz * WC + lz;
                    uint32_t row[8] = {x,
                                       yy,
                                       z,
                                       lx + 10 * ly + 100 * lz,
                                       wx + 10 * wy + 100 * wz,
                                       GA + 10 * GB + 100 * GC,
                                       x < A && yy < B && z < C,
                                       1};
                    memcpy(y + at, row, sizeof row);
                }
            }
        }
    }
    check_run("program p(y: out buffer<u32>[2304]) over (10, 5, 4) workgroup 4, 3, 2 {\n"
              "    let group = wid.x + num_workgroups.x * (wid.y + num_workgroups.y * wid.z);\n"
              "    let at = (group * 24 + lid.x + 4 * (lid.y + 3 * lid.z)) * 8;\n"
              "    y[at] = gid.x;\n"
              "    y[at + 1] = gid.y;\n"
              "    y[at + 2] = gid.z;\n"
              "    y[at + 3] = lid.x + 10 * lid.y + 100 * lid.z;\n"
              "    y[at + 4] = wid.x + 10 * wid.y + 100 * wid.z;\n"
              "    y[at + 5] = num_workgroups.x + 10 * num_workgroups.y + 100 * num_workgroups.z;\n"
              "    y[at + 6] = u32(in_domain);\n"
              "    y[at + 7] += 1;\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
    assert_int_equal(sizeof y / 4, 2304);
}

static void whole_workgroups_run_in_one_dimension(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 1, 63, 64, 65, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n[1] = {sizes[i]}, y[256];
        uint32_t groups = (sizes[i] + 63) / 64;
        for (uint32_t k = 0; k < 256; k++) {
            y[k] = k < groups * 64 ? (k < sizes[i]) + 2 * (k / 64) + 100 * groups + 10000 * (k % 64)
                                   : 0;
        }
        check_run("program p(n: u32, y: out buffer<u32>[256]) over n workgroup 64 {\n"
                  "    y[gid] = u32(in_domain) + 2 * wid + 100 * num_workgroups + 10000 * lid;\n"
                  "}\n",
                  LIST(BYTES(n)), LIST(BYTES(y)));
    }
}

static void a_workgroup_may_have_fewer_dimensions(void **state) {
    (void)state;
    uint32_t y[6 * 3];
    for (uint32_t k = 0; k < 18; k++) {
        y[k] = k % 6 / 4 + 10 * (k / 6) + 100 * (k % 6 % 4) + 1000 * 2 + 10000 * 3;
    }
    check_run("program p(y: out buffer<u32>[18]) over (6, 3) workgroup 4 {\n"
              "    if in_domain {\n"
              "        y[gid.x + 6 * gid.y] = wid.x + 10 * wid.y + 100 * lid.x + lid.y\n"
              "            + 1000 * num_workgroups.x + 10000 * num_workgroups.y;\n"
              "    }\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

static void len_is_that_of_every_kind_of_array(void **state) {
    (void)state;
    uint32_t y[] = {3, 6, 9, 5, 7, 11};
    uint16_t x[3] = {0}, z[6] = {0};
    check_run(
        "program p(x: buffer<u16>, z: inout buffer<u16>[2 * len(x)], y: out buffer<u32>[6]) {\n"
        "    scratch t: f64[len(x) * 3];\n"
        "    phase over 1 workgroup 1 {\n"
        "        shared s: u8[5];\n"
        "        var a: i16[7];\n"
        "        y[0] = len(x); y[1] = len(z); y[2] = len(t); y[3] = len(s); y[4] = len(a);\n"
        "        y[5] = len(y) + 5 + u32(t[0]) + u32(s[0]) + u32(a[0]);\n"
        "    }\n"
        "}\n",
        LIST(BYTES(x), BYTES(z)), LIST(BYTES(z), BYTES(y)));
}

static void scalars_of_every_type_arrive(void **state) {
    (void)state;
    static const char *const types[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                        "i64", "u64", "f16", "bf16", "f32", "f64"};
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    static const uint8_t value[8] = {0xf1, 0xe2, 0xd3, 0xc4, 0xb5, 0xa6, 0x97, 0x88};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        char text[200];
        uint8_t y[3 * 8];
        snprintf(text, sizeof text, "program p(v: %s, y: out buffer<%s>[3]) over 3 { y[gid] = v; }",
                 types[t], types[t]);
        for (size_t i = 0; i < 3; i++) {
            memcpy(y + i * bytes[t], value, bytes[t]);
        }
        check_run(text, LIST({value, bytes[t]}), LIST({y, 3 * bytes[t]}));
    }
    uint8_t yes[1] = {1}, no[1] = {0};
    uint32_t y[] = {10};
    check_run("program p(a: bool, b: bool, y: out buffer<u32>[1]) over 1 {\n"
              "    y[0] = u32(a) * 10 + u32(b);\n"
              "}\n",
              LIST(BYTES(yes), BYTES(no)), LIST(BYTES(y)));
}

static void phases_see_what_earlier_ones_wrote(void **state) {
    (void)state;
    static uint32_t x[1000], y[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        x[i] = i * 2654435761u;
    }
    for (uint32_t i = 0; i < 1000; i++) {
        y[i] = (x[i] + 1) ^ (x[999 - i] + 1);
    }
    check_run("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
              "    scratch a: u32[len(x)];\n"
              "    scratch b: u32[len(x)];\n"
              "    phase one over x { a[gid] = x[gid] + 1; }\n"
              "    phase two over x workgroup 32 { b[gid] = a[999 - gid]; }\n"
              "    phase three over x { y[gid] = a[gid] ^ b[gid]; }\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y)));
}

static void repeats_count_their_turns(void **state) {
    (void)state;
    uint32_t n[1] = {3}, y[] = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32, 0};
    check_run("program p(n: u32, y: out buffer<u32>[13]) {\n"
              "    scratch at: u32[1];\n"
              "    repeat i in n + 1 {\n"
              "        repeat j in n {\n"
              "            phase over 1 {\n"
              "                y[at[0]] = i * 10 + j;\n"
              "                at[0] += 1;\n"
              "            }\n"
              "        }\n"
              "        repeat k in n - 3 { phase over 1 { y[12] = 99; } }\n"
              "    }\n"
              "}\n",
              LIST(BYTES(n)), LIST(BYTES(y)));
}

static void repeat_while_reads_its_element_before_each_turn(void **state) {
    (void)state;
    static const char *const types[] = {"i8", "u16", "i32", "u64"};
    for (size_t t = 0; t < 4; t++) {
        char text[400];
        snprintf(text, sizeof text,
                 "program p(y: out buffer<u32>[2], n: u32) {\n"
                 "    scratch go: %s[3];\n"
                 "    repeat while go[1] { phase over 1 { y[1] = 99; } }\n"
                 "    phase over 1 { go[1] = 5; }\n"
                 "    repeat i while go[1] {\n"
                 "        phase over 1 { go[1] -= 1; y[0] = y[0] * 10 + i; }\n"
                 "    }\n"
                 "    repeat while go[n] { phase over 1 { y[1] = 98; } }\n"
                 "}\n",
                 types[t]);
        uint32_t y[] = {1234, 0}, out_of_bounds[1] = {3};
        check_run(text, LIST(BYTES(out_of_bounds)), LIST(BYTES(y)));
    }
}

/* A count in memory, its maximum, and how many run. */
static void a_domain_from_memory_is_cut_off(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        uint32_t runs;
    } rows[] = {{0, 0},
                {1, 1},
                {9, 9},
                {10, 10},
                {11, 10},
                {INT64_MAX, 10},
                {-1, 0},
                {INT64_MIN, 0},
                {(int64_t)1 << 32, 10},
                {((int64_t)1 << 32) + 3, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t y[20] = {0};
        for (uint32_t k = 0; k < rows[i].runs; k++) {
            y[k] = k + 1;
        }
        check_run("program p(n: buffer<i64>, y: out buffer<u32>[20]) over n[0] max 10 {\n"
                  "    y[gid] = gid + 1;\n"
                  "}\n",
                  LIST({&rows[i].count, 8}), LIST(BYTES(y)));
        uint32_t groups = (rows[i].runs + 3) / 4;
        for (uint32_t k = 0; k < 20; k++) {
            y[k] = k < groups * 4 ? 1u + 2u * (k < rows[i].runs) + 4 * groups : 0;
        }
        check_run("program p(n: buffer<i64>, y: out buffer<u32>[20])\n"
                  "over n[0] max 10 workgroup 4 {\n"
                  "    y[gid] = 1 + 2 * u32(in_domain) + 4 * num_workgroups;\n"
                  "}\n",
                  LIST({&rows[i].count, 8}), LIST(BYTES(y)));
    }
    uint64_t huge[1] = {UINT64_MAX};
    uint32_t y[4] = {1, 1, 1, 0}, none[4] = {0};
    check_run("program p(n: buffer<u64>, y: out buffer<u32>[4]) over n[0] max 3 { y[gid] = 1; }",
              LIST(BYTES(huge)), LIST(BYTES(y)));
    check_run("program p(n: buffer<u64>, y: out buffer<u32>[4]) over n[1] max 3 { y[gid] = 1; }",
              LIST(BYTES(huge)), LIST(BYTES(none)));
    int8_t negative[1] = {-128};
    check_run("program p(n: buffer<i8>, y: out buffer<u32>[4]) over n[0] max 3 { y[gid] = 1; }",
              LIST(BYTES(negative)), LIST(BYTES(none)));
}

static void a_domain_from_memory_is_read_when_the_phase_starts(void **state) {
    (void)state;
    uint32_t y[] = {5, 4, 3, 2, 1, 0, 0, 0};
    check_run("program p(y: out buffer<u32>[8]) {\n"
              "    scratch n: u32[2];\n"
              "    phase over 1 { n[1] = 5; }\n"
              "    repeat 20 {\n"
              "        phase over n[1] max 8 { y[gid] += 1; }\n"
              "        phase over 1 { n[1] -= min(n[1], 1); }\n"
              "    }\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

static void sizes_are_computed_from_lengths_and_arguments(void **state) {
    (void)state;
    uint32_t n[1] = {7};
    uint8_t x[10] = {0}, y[2 * 10 + 7 % 4 + (7 + 2) / 3] = {0};
    memset(y, 1, 9);
    check_run(
        "const extra = 3;\n"
        "program p(n: u32, x: buffer<u8>, y: out buffer<u8>[2 * x + n % 4 + ceil_div(n, 3)])\n"
        "over min(x, n * 2 - extra - n / 3) { y[gid] = 1; }\n",
        LIST(BYTES(n), BYTES(x)), LIST(BYTES(y)));
}

static void check_refused(const char *text, check_list inputs, vyre_status_code code,
                          const char *part) {
    vyre_program *program = check_parse(text);
    vyre_outputs outputs = {(void *)1, 1};
    vyre_status status =
        vyre_reference_run(program, inputs.items, inputs.count, NULL, NULL, &outputs);
    assert_int_equal(vyre_status_code_of(status), code);
    if (!strstr(vyre_status_text(status), part) || !strstr(vyre_status_text(status), "Fix: ")) {
        fail_msg("`%s` is not in: %s", part, vyre_status_text(status));
    }
    assert_null(outputs.items);
    assert_int_equal(outputs.count, 0);
    vyre_status_free(status);
    vyre_program_release(program);
}

static void what_cannot_be_bound_is_refused(void **state) {
    (void)state;
    uint32_t n[1] = {3}, x[4] = {0};
    int32_t minus[1] = {-1};
    uint8_t odd[7] = {0}, two[1] = {2};
    const char *text = "program p(n: u32, x: buffer<u32>[n], y: out buffer<u32>[n - 2]) over y {}";
    check_refused(text, LIST(BYTES(n)), VYRE_STATUS_INVALID_ARGUMENT, "takes 2 inputs");
    check_refused(text, LIST(BYTES(n), BYTES(x)), VYRE_STATUS_INVALID_ARGUMENT, "`x`");
    check_refused(text, LIST(BYTES(n), BYTES(odd)), VYRE_STATUS_INVALID_ARGUMENT, "`x`");
    check_refused(text, LIST(BYTES(odd), BYTES(x)), VYRE_STATUS_INVALID_ARGUMENT, "`n`");
    check_refused("program p(b: bool, y: out buffer<u32>[1]) over y {}", LIST(BYTES(two)),
                  VYRE_STATUS_INVALID_ARGUMENT, "`b`");
    check_refused("program p(x: buffer<u32>, y: out buffer<u32>[1]) over y {}", LIST({NULL, 8}),
                  VYRE_STATUS_INVALID_ARGUMENT, "`x`");
    check_refused("program p(n: i32, y: out buffer<u32>[n]) over 1 {}", LIST(BYTES(minus)),
                  VYRE_STATUS_INVALID_ARGUMENT, "n");
    check_refused("program p(n: u32, y: out buffer<u32>[n - 4]) over 1 {}", LIST(BYTES(n)),
                  VYRE_STATUS_INVALID_ARGUMENT, "n - 4");
    check_refused("program p(n: u32, y: out buffer<u32>[8 / (n - 3)]) over 1 {}", LIST(BYTES(n)),
                  VYRE_STATUS_INVALID_ARGUMENT, "8 / (n - 3)");
    check_refused("program p(n: u32, y: out buffer<u32>[n * 0x7fffffffffffffff]) over 1 {}",
                  LIST(BYTES(n)), VYRE_STATUS_INVALID_ARGUMENT, "n * ");
}

static void limits_of_outputs_are_kept(void **state) {
    (void)state;
    vyre_program *program = check_parse("program p(y: out buffer<u32>[5]) over y { y[gid] = 1; }");
    vyre_outputs outputs;
    vyre_dispatch_config config = {.max_output_bytes = 19};
    vyre_status status = vyre_reference_run(program, NULL, 0, &config, NULL, &outputs);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_LIMIT);
    vyre_status_free(status);
    config.max_output_bytes = 20;
    assert_null(vyre_reference_run(program, NULL, 0, &config, NULL, &outputs));
    assert_int_equal(outputs.items[0].size, 20);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_domain_runs_without_a_workgroup),
        cmocka_unit_test(positions_without_a_workgroup),
        cmocka_unit_test(positions_with_a_workgroup),
        cmocka_unit_test(whole_workgroups_run_in_one_dimension),
        cmocka_unit_test(a_workgroup_may_have_fewer_dimensions),
        cmocka_unit_test(len_is_that_of_every_kind_of_array),
        cmocka_unit_test(scalars_of_every_type_arrive),
        cmocka_unit_test(phases_see_what_earlier_ones_wrote),
        cmocka_unit_test(repeats_count_their_turns),
        cmocka_unit_test(repeat_while_reads_its_element_before_each_turn),
        cmocka_unit_test(a_domain_from_memory_is_cut_off),
        cmocka_unit_test(a_domain_from_memory_is_read_when_the_phase_starts),
        cmocka_unit_test(sizes_are_computed_from_lengths_and_arguments),
        cmocka_unit_test(what_cannot_be_bound_is_refused),
        cmocka_unit_test(limits_of_outputs_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
