/* Bounds, zeros, atomics: what memory does in the reference backend. */
#include "tests/unit/reference_check.h"

static void a_load_past_the_end_gives_0(void **state) {
    (void)state;
    uint32_t x[] = {7, 8, 9}, y[6] = {7, 8, 9, 0, 0, 0};
    check_run("program p(x: buffer<u32>, y: out buffer<u32>[6]) over 6 { y[gid] = x[gid]; }",
              LIST(BYTES(x)), LIST(BYTES(y)));
}

static void a_store_past_the_end_does_nothing(void **state) {
    (void)state;
    uint8_t y[3] = {1, 2, 3}, z[2] = {9, 9};
    check_run("program p(y: out buffer<u8>[3], z: inout buffer<u8>) over 300 {\n"
              "    y[gid] = u8(gid) + 1;\n"
              "    z[gid + 2] = 5;\n"
              "}\n",
              LIST(BYTES(z)), LIST(BYTES(y), BYTES(z)));
}

static void an_atomic_past_the_end_does_nothing_and_gives_0(void **state) {
    (void)state;
    uint32_t x[] = {5, 6}, y[12] = {0}, s[] = {0, 0};
    check_run("program p(x: inout buffer<u32>, y: out buffer<u32>[12], s: out buffer<u32>[2])\n"
              "over 1 workgroup 1 {\n"
              "    shared t: u32[2];\n"
              "    y[0] = atomic_add(x[2], 1);\n"
              "    y[1] = atomic_sub(x[3], 1);\n"
              "    y[2] = atomic_and(x[4], 0);\n"
              "    y[3] = atomic_or(x[0xffffffff], 1);\n"
              "    y[4] = atomic_xor(x[-1i64], 1);\n"
              "    y[5] = atomic_min(x[0x100000000u64], 0);\n"
              "    y[6] = atomic_max(x[2u8], 99);\n"
              "    y[7] = atomic_exchange(x[-2i8], 3);\n"
              "    y[8] = atomic_cas(x[2], 0, 3);\n"
              "    y[9] = atomic_load(x[2]);\n"
              "    atomic_store(x[2], 4);\n"
              "    y[10] = atomic_add(t[2], 4);\n"
              "    s[0] = t[0];\n"
              "    s[1] = t[1];\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(x), BYTES(y), BYTES(s)));
}

/* Element 1 of x by an index of every type, and others that a narrower type would take for 1. */
static void an_index_is_compared_as_the_number_it_is(void **state) {
    (void)state;
    uint32_t x[] = {10, 11, 12};
    int64_t wide[] = {1, -1, INT64_MIN, INT64_MAX, (int64_t)1 << 32, ((int64_t)1 << 32) + 1, 3, 2};
    uint32_t y_wide[] = {11, 0, 0, 0, 0, 0, 0, 12};
    check_run("program p(x: buffer<u32>, i: buffer<i64>, y: out buffer<u32>[len(i)]) over i {\n"
              "    y[gid] = x[i[gid]];\n"
              "}\n",
              LIST(BYTES(x), BYTES(wide)), LIST(BYTES(y_wide)));
    uint64_t huge[] = {1, UINT64_MAX, (uint64_t)1 << 63, ((uint64_t)1 << 32) + 1, 2, 3};
    uint32_t y_huge[] = {11, 0, 0, 0, 12, 0};
    check_run("program p(x: buffer<u32>, i: buffer<u64>, y: out buffer<u32>[len(i)]) over i {\n"
              "    y[gid] = x[i[gid]];\n"
              "}\n",
              LIST(BYTES(x), BYTES(huge)), LIST(BYTES(y_huge)));
    int32_t word[] = {1, -1, INT32_MIN, INT32_MAX, 2};
    uint32_t y_word[] = {11, 0, 0, 0, 12};
    check_run("program p(x: buffer<u32>, i: buffer<i32>, y: out buffer<u32>[len(i)]) over i {\n"
              "    y[gid] = x[i[gid]];\n"
              "}\n",
              LIST(BYTES(x), BYTES(word)), LIST(BYTES(y_word)));
    int16_t half[] = {1, -1, INT16_MIN, 2};
    uint32_t y_half[] = {11, 0, 0, 12};
    check_run("program p(x: buffer<u32>, i: buffer<i16>, y: out buffer<u32>[len(i)]) over i {\n"
              "    y[gid] = x[i[gid]] + x[u16(i[gid])] - x[i[gid]];\n"
              "}\n",
              LIST(BYTES(x), BYTES(half)), LIST(BYTES(y_half)));
    int8_t byte[] = {1, -1, INT8_MIN, 2};
    check_run("program p(x: buffer<u32>, i: buffer<i8>, y: out buffer<u32>[len(i)]) over i {\n"
              "    y[gid] = x[i[gid]] + x[u8(i[gid])] - x[i[gid]];\n"
              "}\n",
              LIST(BYTES(x), BYTES(byte)), LIST(BYTES(y_half)));
}

static void stores_compare_their_index_as_well(void **state) {
    (void)state;
    uint32_t y[4] = {0, 1, 0, 0};
    check_run("program p(y: out buffer<u32>[4], s: out buffer<u32>[4]) over 1 workgroup 1 {\n"
              "    shared t: u32[4];\n"
              "    var a: u32[4];\n"
              "    y[1] = 1; y[-1i8] = 2; y[-4i64] = 3; y[0x100000002u64] = 4; y[4] = 5;\n"
              "    t[1] = 1; t[-1i8] = 2; t[-4i64] = 3; t[0x100000002u64] = 4; t[4] = 5;\n"
              "    a[1] = 1; a[-1i8] = 2; a[-4i64] = 3; a[0x100000002u64] = 4; a[4] = 5;\n"
              "    for i in 0..4 { s[i] = t[i] & a[i]; }\n"
              "}\n",
              NOTHING, LIST(BYTES(y), BYTES(y)));
}

static void an_empty_buffer_has_no_elements(void **state) {
    (void)state;
    uint32_t y[] = {0, 0};
    check_run("program p(x: buffer<u32>, z: inout buffer<u32>, y: out buffer<u32>[2]) over 2 {\n"
              "    z[0] = 7;\n"
              "    y[gid] = x[gid] + len(x) + atomic_add(z[gid], 1);\n"
              "}\n",
              LIST(EMPTY, EMPTY), LIST(EMPTY, BYTES(y)));
}

static void arrays_start_as_zeros(void **state) {
    (void)state;
    static const uint32_t y[320];
    check_run("program p(y: out buffer<u32>[320]) {\n"
              "    scratch t: u32[320];\n"
              "    phase over 320 workgroup 64 {\n"
              "        shared s: u32[64];\n"
              "        var a: u32[3];\n"
              "        let before = y[gid] | t[gid] | s[lid] | a[0] | a[1] | a[2];\n"
              "        s[lid] = 7; t[gid] = 7; a[gid % 3] = 7;\n"
              "        y[gid] = before;\n"
              "    }\n"
              "    phase over 320 workgroup 64 {\n"
              "        shared s: u32[64];\n"
              "        y[gid] |= s[lid];\n"
              "        s[lid] = 1;\n"
              "    }\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

/* Scratch keeps its values from phase to phase and turn to turn. */
static void scratch_is_zero_once(void **state) {
    (void)state;
    uint32_t y[] = {4, 4, 4};
    check_run("program p(y: out buffer<u32>[3]) {\n"
              "    scratch t: u32[3];\n"
              "    repeat 4 {\n"
              "        phase over 3 { t[gid] += 1; }\n"
              "    }\n"
              "    phase over 3 { y[gid] = t[gid]; }\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

static void a_private_array_is_zero_where_its_line_is_reached_again(void **state) {
    (void)state;
    uint32_t y[300];
    for (uint32_t i = 0; i < 300; i++) {
        y[i] = i % 7 ? 11 * (i % 5) : 0;
    }
    check_run("program p(y: out buffer<u32>[300]) over 300 {\n"
              "    var sum = 0u;\n"
              "    if gid % 7 != 0 {\n"
              "        for k in 0..gid % 5 {\n"
              "            var a: u32[9];\n"
              "            for i in 0..9 { sum += a[i]; }\n"
              "            a[k] = 100; a[gid % 9] = 50;\n"
              "            sum += 11;\n"
              "        }\n"
              "    }\n"
              "    y[gid] = sum;\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

/* Lanes that are elsewhere keep their elements when others clear theirs. */
static void private_arrays_belong_to_their_lane(void **state) {
    (void)state;
    uint8_t y[70];
    for (uint32_t i = 0; i < 70; i++) {
        y[i] = (uint8_t)(i % 3 == 0 ? 0 : i + i % 4);
    }
    check_run("program p(y: out buffer<u8>[70]) over 70 {\n"
              "    var a: u8[5];\n"
              "    a[gid % 5] = u8(gid);\n"
              "    a[(gid + 1) % 5] = u8(gid % 4);\n"
              "    if gid % 3 == 0 { clear(a); }\n"
              "    y[gid] = a[gid % 5] + a[(gid + 1) % 5];\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

static void elements_of_every_type_are_kept(void **state) {
    (void)state;
    static const char *const types[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                        "i64", "u64", "f16", "bf16", "f32", "f64"};
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    uint8_t data[8 * 67], back[8 * 67];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 151 + 3);
    }
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        char text[600];
        size_t count = sizeof data / bytes[t];
        snprintf(text, sizeof text,
                 "program p(x: buffer<%s>, y: out buffer<%s>[len(x)]) {\n"
                 "    scratch t: %s[len(x)];\n"
                 "    phase over x workgroup 67 {\n"
                 "        shared s: %s[67];\n"
                 "        var a: %s[3];\n"
                 "        a[lid %% 3] = x[gid];\n"
                 "        s[66 - lid] = a[lid %% 3];\n"
                 "        barrier;\n"
                 "        t[gid] = s[66 - lid];\n"
                 "    }\n"
                 "    phase over x { y[len(x) - 1 - gid] = t[gid]; }\n"
                 "}\n",
                 types[t], types[t], types[t], types[t], types[t]);
        for (size_t i = 0; i < count; i++) {
            memcpy(back + i * bytes[t], data + (count - 1 - i) * bytes[t], bytes[t]);
        }
        check_run(text, LIST(BYTES(data)), LIST(BYTES(back)));
    }
}

/* Atomics */

/* What the element becomes, for operation `op` and two operands. */
static uint64_t expected_update(const char *op, uint64_t old, uint64_t a, uint64_t b,
                                bool is_signed, uint64_t mask) {
    int64_t signed_old = (int64_t)(mask == UINT64_MAX ? old : (uint64_t)(int64_t)(int32_t)old);
    int64_t signed_a = (int64_t)(mask == UINT64_MAX ? a : (uint64_t)(int64_t)(int32_t)a);
    bool less = is_signed ? signed_a < signed_old : a < old;
    bool more = is_signed ? signed_a > signed_old : a > old;
    uint64_t now = old;
    switch (*op) {
    case '+': now = old + a; break;
    case '-': now = old - a; break;
    case '&': now = old & a; break;
    case '|': now = old | a; break;
    case '^': now = old ^ a; break;
    case '<': now = less ? a : old; break;
    case '>': now = more ? a : old; break;
    case '=': now = a; break;
    case '?': now = old == a ? b : old; break;
    default: break;
    }
    return now & mask;
}

/* Every operation on every type, ordering, scope and kind of array, by one invocation after the
 * other, so that each gets the value that the one before left. */
static void check_atomic(const char *symbol, const char *name, const char *type, size_t bytes,
                         const char *ordering, const char *scope, bool shared) {
    static const uint64_t values[] = {0,
                                      1,
                                      5,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      UINT64_MAX,
                                      5};
    enum { COUNT = sizeof values / sizeof *values };
    uint64_t mask = bytes == 8 ? UINT64_MAX : 0xffffffff, element = 5;
    uint8_t x[COUNT * 8], y[COUNT * 8 + 8];
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(x + i * bytes, &values[i], bytes);
        uint64_t old = *symbol == 's' ? 0 : element;
        memcpy(y + i * bytes, &old, bytes);
        element = *symbol == 's' || *symbol == '='
                      ? values[i] & mask
                      : expected_update(symbol, element, values[i] & mask, 42, *type == 'i', mask);
    }
    memcpy(y + COUNT * bytes, &element, bytes);
    char call[128], text[512];
    snprintf(call, sizeof call, "%s(%s[0]%s%s, %s, %s)", name, shared ? "s" : "t",
             *symbol == 'l' ? "" : ", x[i]", *symbol == '?' ? ", 42" : "", ordering, scope);
    snprintf(text, sizeof text,
             "program p(x: buffer<%s>, y: out buffer<%s>[len(x) + 1]) {\n"
             "    scratch t: %s[1];\n"
             "    phase over 1 workgroup 1 {\n"
             "        shared s: %s[1];\n"
             "        %s[0] = 5;\n"
             "        for i in 0..len(x) { %s%s; }\n"
             "        y[len(x)] = %s[0];\n"
             "    }\n"
             "}\n",
             type, type, type, type, shared ? "s" : "t", *symbol == 's' ? "" : "y[i] = ", call,
             shared ? "s" : "t");
    vyre_program *program = check_parse(text);
    vyre_input inputs[] = {{x, COUNT * bytes}}, expected = {y, (COUNT + 1) * bytes};
    vyre_outputs outputs = check_run_seed(program, (check_list){inputs, 1}, 1);
    check_bytes(program, 1, 0, &outputs.items[0], &expected);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

static void every_atomic_gives_the_old_value_and_updates(void **state) {
    (void)state;
    static const char *const operations[][2] = {
        {"+", "atomic_add"}, {"-", "atomic_sub"},  {"&", "atomic_and"},  {"|", "atomic_or"},
        {"^", "atomic_xor"}, {"<", "atomic_min"},  {">", "atomic_max"},  {"=", "atomic_exchange"},
        {"?", "atomic_cas"}, {"l", "atomic_load"}, {"s", "atomic_store"}};
    static const char *const types[] = {"i32", "u32", "i64", "u64"};
    static const char *const orderings[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    size_t checked = 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        for (size_t t = 0; t < 4; t++) {
            for (size_t o = 0; o < 5; o++) {
                bool loads = *operations[i][0] == 'l', stores = *operations[i][0] == 's';
                if ((loads && (o == 2 || o == 3)) || (stores && (o == 1 || o == 3))) {
                    continue; /* a load cannot release, a store cannot acquire */
                }
                for (int k = 0; k < 4; k++) {
                    check_atomic(operations[i][0], operations[i][1], types[t], t < 2 ? 4 : 8,
                                 orderings[o], k & 1 ? "workgroup" : "device", k & 2);
                    checked++;
                }
            }
        }
    }
    assert_int_equal(checked, 9 * 4 * 5 * 4 + 2 * 4 * 3 * 4);
}

static void atomics_of_all_invocations_add_up(void **state) {
    (void)state;
    int64_t expected[9] = {0};
    int64_t x[1000];
    expected[3] = 0xff; /* and */
    expected[5] = 0;
    for (int i = 0; i < 1000; i++) {
        x[i] = (i * 7919) % 1013 - 500;
        expected[0] += x[i];
        expected[1] -= x[i];
        expected[2] |= x[i];
        expected[3] &= x[i] | 3;
        expected[4] ^= x[i];
        expected[5] = x[i] < expected[5] ? x[i] : expected[5];
        expected[6] = x[i] > expected[6] ? x[i] : expected[6];
        expected[7] += 1;
    }
    int64_t y[9] = {0, 0, 0, 0xff, 0, 0, 0, 0, 0};
    check_run("program p(x: buffer<i64>, y: inout buffer<i64>) over x {\n"
              "    let v = x[gid];\n"
              "    atomic_add(y[0], v);\n"
              "    atomic_sub(y[1], v);\n"
              "    atomic_or(y[2], v);\n"
              "    atomic_and(y[3], v | 3);\n"
              "    atomic_xor(y[4], v);\n"
              "    atomic_min(y[5], v);\n"
              "    atomic_max(y[6], v);\n"
              "    loop {\n"
              "        let old = atomic_load(y[7]);\n"
              "        if atomic_cas(y[7], old, old + 1) == old { break; }\n"
              "    }\n"
              "}\n",
              LIST(BYTES(x), BYTES(y)), LIST(BYTES(expected)));
}

/* The old values of a counter are all different: each invocation gets a place of its own. */
static void old_values_are_unique(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(c: inout buffer<u32>, y: out buffer<u32>[500]) over 500 workgroup 20 {\n"
        "    y[atomic_add(c[0], 1)] = gid + 1;\n"
        "}\n");
    uint32_t zero[1] = {0};
    bool differs = false;
    uint32_t first[500];
    for (uint64_t seed = 0; seed < CHECK_SEEDS; seed++) {
        vyre_outputs outputs = check_run_seed(program, LIST(BYTES(zero)), seed);
        const uint32_t *y = (const void *)outputs.items[1].data;
        uint64_t sum = 0;
        for (size_t i = 0; i < 500; i++) {
            assert_true(y[i] >= 1 && y[i] <= 500);
            sum += (uint64_t)y[i] * y[i];
        }
        assert_int_equal(sum, (uint64_t)500 * 501 * 1001 / 6);
        differs |= seed && memcmp(first, y, sizeof first);
        memcpy(first, y, sizeof first);
        vyre_outputs_free(&outputs);
    }
    assert_true(differs); /* the schedules are different ones */
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_past_the_end_gives_0),
        cmocka_unit_test(a_store_past_the_end_does_nothing),
        cmocka_unit_test(an_atomic_past_the_end_does_nothing_and_gives_0),
        cmocka_unit_test(an_index_is_compared_as_the_number_it_is),
        cmocka_unit_test(stores_compare_their_index_as_well),
        cmocka_unit_test(an_empty_buffer_has_no_elements),
        cmocka_unit_test(arrays_start_as_zeros),
        cmocka_unit_test(scratch_is_zero_once),
        cmocka_unit_test(a_private_array_is_zero_where_its_line_is_reached_again),
        cmocka_unit_test(private_arrays_belong_to_their_lane),
        cmocka_unit_test(elements_of_every_type_are_kept),
        cmocka_unit_test(every_atomic_gives_the_old_value_and_updates),
        cmocka_unit_test(atomics_of_all_invocations_add_up),
        cmocka_unit_test(old_values_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
