/* What is proven of indices, and what must not be: one element short, numbers that wrap around,
 * arrays that are empty. */
#include "pass/range.h"

#include "pass/access.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"

/* The accesses of a program in the order of its code, '+' for those in bounds, '-' for others. */
static void expect_with(const char *text, const char *expected, bool own_domain) {
    vyre_program *program = check_parse(text);
    const vyre_ir *ir = vyre_program_ir(program);
    char found[256];
    size_t count = 0;
    for (uint32_t phase = 0; phase < ir->phase_count; phase++) {
        vyre_ranges ranges;
        assert_true(vyre_ranges_init(&ranges, ir, phase, own_domain));
        for (uint32_t i = ir->phases[phase].first; i < ir->phases[phase].end; i++) {
            uint32_t effects = vyre_op_info_of(ir->insts[i].op)->effects;
            if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) &&
                ir->insts[i].op != VYRE_OP_CLEAR) {
                found[count++] = vyre_range_of(&ranges, i)->in_bounds ? '+' : '-';
            }
        }
        vyre_ranges_deinit(&ranges);
    }
    found[count] = 0;
    if (strcmp(found, expected) != 0) {
        fail_msg("found %s, expected %s in\n%s", found, expected, text);
    }
    vyre_program_release(program);
}

static void expect(const char *text, const char *expected) {
    expect_with(text, expected, true);
}

static void domains(void **state) {
    (void)state;
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid]; }",
           "++");
    expect_with("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid]; "
                "}",
                "--", false);
    /* Lengths that nothing ties together. */
    expect("program p(x: buffer<u32>, y: inout buffer<u32>) over x { y[gid] = x[gid]; }", "+-");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x) - 1]) over y { y[gid] = x[gid] + "
           "x[gid + 1] + x[gid + 2]; }",
           "++-+");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x) + 1]) over y { y[gid] = x[gid]; }",
           "-+");
    /* Whole workgroups run, unless one asks. */
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 { y[gid] = "
           "x[gid]; if in_domain { y[gid] = x[gid]; } }",
           "--++");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[ceil_div(len(x), 64) * 64]) over x "
           "workgroup 64 { y[gid] = x[gid]; }",
           "-+");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[ceil_div(len(x), 64)]) over x workgroup "
           "64 { y[wid] = x[wid]; y[wid + 1] = 1; }",
           "++-");
    /* From memory: at most so many. */
    expect("program p(c: buffer<u32>, x: buffer<u32>) { phase f over c[0] max len(x) { let v = "
           "x[gid] + x[gid + 1]; } }",
           "+-");
}

static void records(void **state) {
    (void)state;
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x) / 16]) over y { var s = 0u; for i "
           "in 0..16 { s += x[gid * 16 + i]; } for i in 0..17 { s += x[gid * 16 + i]; } y[gid] = "
           "s + x[gid * 16 + 16] + x[gid * 17]; }",
           "+---+");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[ceil_div(len(x), 16)]) over y { y[gid] = "
           "x[gid * 16] + x[gid * 16 + 1]; }",
           "+-+");
    expect("program p(x: buffer<u32>, n: u32, y: out buffer<u32>[n]) over y { let words = len(x) "
           "/ n; var s = 0u; for i in 0..words { s += x[gid * words + i]; } y[gid] = s + x[gid * "
           "words + words]; }",
           "+-+");
}

static void products(void **state) {
    (void)state;
    expect("program p(m: u32, k: u32, a: buffer<u32>[m * k], y: out buffer<u32>[m]) over y { var "
           "s = 0u; for i in 0..k { s += a[gid * k + i]; } y[gid] = s + a[gid * k]; }",
           "+-+");
    expect("program p(m: u32, k: u32, a: buffer<u32>[m * k], row: u32, y: out buffer<u32>[1]) over "
           "y { if row < m { for i in 0..k { y[0] = a[row * k + i]; } } if row <= m { for i in "
           "0..k { y[0] = a[row * k + i]; } } }",
           "++-+");
    /* A product of 32 bits may be any number, if its array does not say otherwise. */
    expect("program p(m: u32, k: u32, a: buffer<u32>, y: out buffer<u32>[m]) over y { if gid * k "
           "< len(a) { y[gid] = a[gid * k]; if k > 0 { y[gid] = a[gid * k - 1]; } } }",
           "++-+");
}

static void wrapping(void **state) {
    (void)state;
    /* gid + 4294967295 is gid - 1. */
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid + "
           "4294967295] + x[gid - 1] + x[gid * 4294967295]; }",
           "---+");
    expect("program p(x: buffer<u32>, n: u32, y: out buffer<u32>[len(x)]) over x { if gid + n < "
           "len(x) { y[gid] = x[gid + n] + x[n]; } }",
           "+-+");
    /* gid + 1 is a number, gid + 2 may be 0, and says nothing of gid + 1. */
    expect("program p(x: buffer<u8>, y: out buffer<u8>[len(x)]) over x { if gid + 1 < len(x) { "
           "y[gid] = x[gid + 1]; } if gid + 2 < len(x) { y[gid] = x[gid + 2] + x[gid + 1]; if gid "
           "+ 2 > 1 { y[gid] = x[gid + 1]; } } }",
           "+++-+-+");
    expect("program p(n: i32, t: buffer<u32>[100], y: out buffer<u32>[1]) over y { if n < 100 { "
           "y[0] = t[n]; if n >= 0 { y[0] = t[n] + t[n + 1]; } if n > -1 && n + 1 < 100 { y[0] = "
           "t[n + 1]; } } }",
           "-++-+++");
    expect("program p(n: u8, t: buffer<u32>[256], y: out buffer<u32>[1]) over y { y[0] = t[n] + "
           "t[n + 1] + t[u32(n) + 1]; }",
           "++-+");
    expect("program p(n: u32, t: buffer<u32>[256], y: out buffer<u32>[1]) over y { y[0] = t[u8(n)] "
           "+ t[u16(n)] + t[n << 24 >> 24] + t[(n << 25) >> 23] + t[n << 24]; }",
           "+-+--+");
}

static void operations(void **state) {
    (void)state;
    expect("program p(n: u32, t: buffer<u32>[256], y: out buffer<u32>[1]) over y { y[0] = t[n & "
           "255] + t[n & 256] + t[n % 256] + t[n % 257] + t[n % 0] + t[n / 16777216] + t[n / "
           "16777215] + t[min(n, 255)] + t[min(n, 256)] + t[max(n, 255)] + t[n ^ 255] + t[n & 128 "
           "| 127] + t[popcount(n)] + t[~n >> 24] + t[255 - (n & 255)] + t[255 - (n & 256)]; }",
           "+-+--+-+--"
           "-++++-+");
    /* x % 0 is 0, which an empty array does not have. */
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { y[0] = x[n % "
           "len(x)]; if len(x) > 0 { y[0] = x[n % len(x)] + x[len(x) - 1] + x[n % (len(x) + 1)]; "
           "} if len(x) != 0 { y[0] = x[n % len(x)]; } }",
           "-+++-+++");
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { y[0] = x[min(n, "
           "len(x) - 1)] + x[select(n < len(x), n, 0)]; if 0 < len(x) { y[0] = x[select(n < "
           "len(x), n, 0)] + x[select(n < len(x), 0, n)] + x[min(n, len(x) - 1)]; } }",
           "--++-++");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[2]) over y { y[gid & 1] = x[gid]; "
           "atomic_add(y[gid], 1); atomic_add(y[gid + 1], 1); atomic_cas(y[1 - gid], 1, 2); "
           "atomic_cas(y[2 - gid], 1, 2); }",
           "-++-+-");
}

static void branches(void **state) {
    (void)state;
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { if n >= len(x) { "
           "return; } y[0] = x[n]; }",
           "++");
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { if n >= len(x) { "
           "y[0] = x[n]; } else { y[0] = x[n]; } y[0] = x[n]; }",
           "-+++-+");
    expect(
        "program p(n: u32, k: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { if n < len(x) "
        "&& k < len(x) { y[0] = x[n] + x[k]; } if n < len(x) || k < len(x) { y[0] = x[n] + "
        "x[k]; } if !(n >= len(x) || k >= len(x)) { y[0] = x[n] + x[k]; } }",
        "+++--++++");
    /* A branch says nothing behind it, nor in the next turn. */
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { var v = n; if v >= "
           "len(x) { return; } for i in 0..3u { y[0] = x[v]; v += 1; } y[0] = x[v]; }",
           "-+-+");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[1]) over y { for i in 0..len(x) { y[0] = "
           "x[i] + x[i + 1]; if i == 5 { break; } if i == 0 { continue; } y[0] = x[i - 1]; } }",
           "+-++"
           "+");
}

static void loops(void **state) {
    (void)state;
    expect("program p(x: buffer<u32>[128], y: out buffer<u32>[1]) over y { var half = 64u; while "
           "half > 0 { y[0] = x[half] + x[half * 2 - 1] + x[half * 2]; half = half >> 1; } }",
           "++-+");
    expect("program p(t: buffer<u8>[65536], y: out buffer<u32>[1]) over y { var s = 0u; for i in "
           "0..100u { s = u32(t[s << 8 | i]); } y[0] = s; }",
           "++");
    expect("program p(t: buffer<u8>[65536], y: out buffer<u32>[1]) over y { var s = 0u; for i in "
           "0..257u { s = u32(t[(s << 8) + i]); } y[0] = s; }",
           "-+");
    expect("program p(t: buffer<u32>[32], y: out buffer<u32>[1]) over y { for i in 0..32u step 8 "
           "{ y[0] = t[i + 7] + t[i + 8]; } for i in 3..32u step 8 { y[0] = t[i + 4] + t[i + 5]; "
           "} for i in -4i..4i { y[0] = t[i + 4] + t[i + 3]; } }",
           "+-++-++-+");
    /* A counter up to 2^32 - 1 has no successor. */
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { for i in 0..n { if i "
           "+ 1 < len(x) { y[0] = x[i + 1] + x[i]; } } }",
           "+++");
    expect("program p(n: u32, x: buffer<u32>, y: out buffer<u32>[1]) over y { for i in 0..n { if i "
           "+ 2 < len(x) { y[0] = x[i + 2] + x[i]; } } }",
           "+-+");
}

static void sizes(void **state) {
    (void)state;
    expect("program p(x: buffer<u32>, y: buffer<u32>[len(x)], z: out buffer<u32>[len(y)]) over z { "
           "z[gid] = x[gid] + y[gid]; }",
           "+++");
    expect("program p(n: u32, k: u32, x: buffer<u32>[n * k + n], y: out buffer<u32>[n * (k + 1)]) "
           "over y { y[gid] = x[gid]; }",
           "++");
    expect("program p(x: buffer<u32>, z: buffer<u32>, y: out buffer<u32>[min(len(x), len(z))]) "
           "over y { y[gid] = x[gid] + z[gid]; }",
           "+++");
    expect("program p(x: buffer<u32>, z: buffer<u32>, y: out buffer<u32>[max(len(x), len(z))]) "
           "over y { y[gid] = x[gid] + z[gid]; if gid < len(z) { y[gid] = z[gid]; } }",
           "--+++");
    expect("program p(x: buffer<u32>, y: out buffer<u32>[len(x) % 8 + 1]) over y { y[gid] = x[gid] "
           "; if gid > 0 { y[gid] = x[gid - 1]; } }",
           "-+++");
    expect("program p(n: i32, x: buffer<u32>[n], y: out buffer<u32>[1]) over y { if n > 0 { y[0] = "
           "x[n - 1] + x[n]; } }",
           "+-+");
    /* A scratch array's size is a size like any other, a shared array's a number. */
    expect("program p(x: buffer<u32>, y: out buffer<u32>[1]) { scratch s: u32[len(x) * 2]; phase f "
           "over x workgroup 8 { shared h: u32[8]; h[lid] = 1; h[lid + 1] = 1; if in_domain { "
           "s[gid * 2 + 1] = x[gid]; s[gid * 2 + 2] = 1; } } }",
           "+-++-");
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x) / 4]) over y { var s = 0u; "
        "for i in 0..min(n, 4) { s += x[gid * 4 + i]; if s < len(x) { s += x[s % len(x)]; } } "
        "y[gid] = s + x[gid * 4] + x[gid * 4 + 1] + x[gid * 4 + 2]; }");
    for (size_t n = 1; failing_allocator_start(n); n++) {
        char *text;
        size_t size;
        vyre_status status = vyre_facts_print(program, &text, &size);
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_string_free(text);
        failing_allocator_stop();
        assert_int_equal(code, failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : 0);
        if (!failing_allocator_failed()) {
            assert_true(n > 20);
            break;
        }
    }
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains),
        cmocka_unit_test(records),
        cmocka_unit_test(products),
        cmocka_unit_test(wrapping),
        cmocka_unit_test(operations),
        cmocka_unit_test(branches),
        cmocka_unit_test(loops),
        cmocka_unit_test(sizes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
