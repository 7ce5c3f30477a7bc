/* Which arrays nobody has to fill with zeros: case by case, and for random stores, whose programs
 * must give the same bytes on arrays full of garbage. */
#include "base/random.h"
#include "base/strbuf.h"
#include "pass/fill.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"

/* By resource, whether it is overwritten. Free it. */
static uint32_t *find(const vyre_program *program) {
    uint32_t *phases = malloc((vyre_program_ir(program)->resource_count + 1) * sizeof *phases);
    assert_non_null(phases);
    vyre_status status = vyre_fill_find(program, phases);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return phases;
}

/* What stands behind the arguments of a program that has many, and an array `y` of a size. */
static void check(bool expected, const char *size, const char *rest) {
    char text[2048];
    snprintf(text, sizeof text,
             "program p(w: u32, h: u32, n: u32, wide: u64, signed: i32, x: buffer<u32>, "
             "z: inout buffer<u32>, y: out buffer<u32>[%s]) %s",
             size, rest);
    vyre_program *program = check_parse(text);
    uint32_t *phases = find(program);
    if ((phases[2] != VYRE_NONE) != expected) {
        fail_msg("%s be filled:\n%s", expected ? "need not" : "must", text);
    }
    free(phases);
    vyre_program_release(program);
}

static void yes(const char *size, const char *rest) {
    check(true, size, rest);
}

static void no(const char *size, const char *rest) {
    check(false, size, rest);
}

/* Below zero a condition wraps around, and keeps the first invocations out. */
static void conditions_that_wrap_around(void **state) {
    (void)state;
    yes("n + 1", "over n + 1 { if gid < n + 1 { y[gid] = 1; } }");
    no("n + 1", "over n + 1 { if gid - 1 < n { y[gid] = 1; } }");
    no("4", "over 4 { if gid - 3 == 0 { y[gid] = 1; } }");
    no("n * 4", "over n { for i in 0..4 { if i - 2 < 2 { y[gid * 4 + i] = 1; } } }");
}

static void an_element_an_invocation(void **state) {
    (void)state;
    yes("len(x)", "over x { y[gid] = 1; }");
    yes("len(x)", "over y { y[gid] = x[gid]; }");
    yes("n", "over n { y[gid] = 1; }");
    yes("n + 3", "over n + 3 { y[gid] = 1; }");
    yes("w * h", "over h * w { y[gid] = 1; }");
    yes("(w + 1) * (h + 1)", "over w * h + w + h + 1 { y[gid] = 1; }");
    yes("n", "over n + 1 { y[gid] = 1; }"); /* past the end there is nothing */
    yes("1", "over 1 { y[0] = 1; }");
    yes("1", "over 7 { y[0] = 1; }");
    yes("0", "over n { z[gid] = 1; y[gid] = 1; }");
    no("n", "over w { y[gid] = 1; }");
    no("n + 1", "over n { y[gid] = 1; }");
    no("1", "over n { y[0] = 1; }"); /* nobody may come */
    no("2", "over 1 { y[0] = 1; }");
    no("n", "over n { y[gid + 1] = 1; }");
    no("n", "over n { y[gid - 1] = 1; }");
    no("n", "over n { y[gid * 2] = 1; }");
    no("n", "over n { y[x[gid]] = 1; }");
    no("n", "over n { z[gid] = 1; }");
    no("n", "over z[0] max n { y[gid] = 1; }");
    no("len(z)", "over x { y[gid] = 1; }");
    yes("min(w, h)", "over min(w, h) { y[gid] = 1; }");
    no("min(w, h)", "over min(h, n) { y[gid] = 1; }");
    yes("w % 5", "over w % 5 { y[gid] = 1; }");
    no("w % 5", "over w % 6 { y[gid] = 1; }");
}

static void rounded_sizes(void **state) {
    (void)state;
    yes("n", "over ceil_div(n, 8) * 8 { y[gid] = 1; }");
    yes("n / 8 * 8", "over n { y[gid] = 1; }");
    no("ceil_div(n, 8) * 8", "over n { y[gid] = 1; }");
    no("n", "over n / 8 * 8 { y[gid] = 1; }");
    no("n", "over ceil_div(n, 8) * 7 { y[gid] = 1; }");
    no("n", "over ceil_div(n, 8) { y[gid] = 1; }");
    yes("len(x) / 4 * 6", "over len(x) / 4 { let k = len(x) / 4; y[gid] = 1; y[k + gid] = 1; "
                          "y[2 * k + gid] = 1; y[k * 3 + gid] = 1; y[gid + 4 * k] = 1; "
                          "y[5 * k + gid] = 1; }");
    no("len(x) / 4 * 6", "over len(x) / 4 { let k = len(x) / 4; y[gid] = 1; y[k + gid] = 1; "
                         "y[2 * k + gid] = 1; y[k * 3 + gid] = 1; y[5 * k + gid] = 1; }");
    no("len(x) / 4 * 2", "over len(x) / 4 { let k = len(x) / 5; y[gid] = 1; y[k + gid] = 1; }");
    yes("len(x) / 4 * 2", "over len(x) / 4 { let k = len(x) >> 2; y[gid] = 1; y[k + gid] = 1; }");
}

static void several_dimensions(void **state) {
    (void)state;
    yes("w * h", "over (w, h) { y[gid.y * w + gid.x] = 1; }");
    yes("w * h", "over (w, h) { y[gid.x * h + gid.y] = 1; }");
    yes("w * h * n", "over (w, h, n) { y[(gid.z * h + gid.y) * w + gid.x] = 1; }");
    yes("w * h * n", "over (w, h, n) { y[(gid.x * n + gid.z) * h + gid.y] = 1; }");
    yes("w * 32 * ceil_div(n, 32)",
        "over (32, w, ceil_div(n, 32)) { y[(gid.z * w + gid.y) * 32 + gid.x] = 1; }");
    no("w * h", "over (w, h) { y[gid.y * h + gid.x] = 1; }");
    no("w * h", "over (w, h) { y[gid.y * w + gid.y] = 1; }");
    no("w * h", "over (w, h) { y[gid.y * (w + 1) + gid.x] = 1; }");
    no("w", "over (w, h) { y[gid.x] = 1; }"); /* h may be 0 */
    yes("w", "over (w, h + 1) { y[gid.x] = 1; }");
    yes("w", "over (w, 4) { y[gid.x] = 1; }");
    no("w * h", "over (w, h) { y[gid.y * gid.x] = 1; }");
    no("w * h", "over w { y[gid * h] = 1; }");
}

static void types_of_indices(void **state) {
    (void)state;
    yes("n", "over n { y[u64(gid)] = 1; }");
    yes("n", "over n { y[i64(gid)] = 1; }");
    yes("w * h", "over (w, h) { y[u64(gid.y) * u64(w) + u64(gid.x)] = 1; }");
    no("n", "over n { y[i32(gid)] = 1; }"); /* negative for the upper half */
    no("n", "over n { y[u8(gid)] = 1; }");
    no("n", "over n { y[u16(gid)] = 1; }");
    yes("2 * n", "over n { y[u32(u64(gid) * 2)] = 1; y[u32(u64(gid) * 2 + 1)] = 1; }");
    no("n", "over n { y[u64(gid + gid) - u64(gid)] = 1; }"); /* what wraps and is widened */
    yes("wide", "over wide { y[gid] = 1; }");
    yes("wide * 2", "over wide { y[gid] = 1; y[gid + u32(wide)] = 1; }");
    no("w * 2", "over w { y[gid] = 1; y[gid + u32(signed)] = 1; }");
    yes("w * 4", "over w { y[gid << 2] = 1; y[(gid << 2) + 1] = 1; y[gid * 4 + 2] = 1; "
                 "y[3 + (gid << 2)] = 1; }");
}

static void blocks_of_an_invocation(void **state) {
    (void)state;
    yes("4 * n", "over n { for i in 0..4 { y[gid * 4 + i] = 1; } }");
    yes("4 * n", "over n { for i in 0..4 { y[i * n + gid] = 1; } }");
    yes("8 * n", "over n { for i in 0..8 step 2 { y[gid * 8 + i] = 1; y[gid * 8 + i + 1] = 1; } }");
    yes("8 * n", "over n { for i in 0..2 { for k in 0..4 { y[(gid * 2 + i) * 4 + k] = 1; } } }");
    yes("h * n", "over n { for i in 0..h { y[gid * h + i] = 1; } }");
    no("4 * n", "over n { for i in 0..3 { y[gid * 4 + i] = 1; } }");
    no("4 * n", "over n { for i in 1..4 { y[gid * 4 + i] = 1; } }");
    no("4 * n", "over n { for i in 0..4 step 2 { y[gid * 4 + i] = 1; } }");
    no("h * n", "over n { for i in 0..w { y[gid * h + i] = 1; } }");
    no("4 * n", "over n { for i in 0..4 { if x[i] == 0 { break; } y[gid * 4 + i] = 1; } }");
    no("4 * n", "over n { for i in 0..4 { y[gid * 4 + i] = 1; if x[i] == 0 { break; } } }");
    no("4 * n", "over n { for i in 0..4 { y[gid * 4 + i] = 1; if x[i] == 0 { return; } } }");
    no("4 * n", "over n { for i in 0..4 { if x[i] == 0 { continue; } y[gid * 4 + i] = 1; } }");
    yes("4 * n", "over n { for i in 0..4 { y[gid * 4 + i] = 1; if x[i] == 0 { continue; } "
                 "z[i] = 1; } }");
    yes("4 * n", "over n { for i in 0..4 { for k in 0..n { if x[k] == 0 { break; } } "
                 "y[gid * 4 + i] = 1; } }");
    no("4 * n", "over n { var i = 0u; while i < 4 { y[gid * 4 + i] = 1; i += 1; } }");
    no("n", "over n { for i in 0..w { y[gid] = 1; } }"); /* there may be no turn */
    yes("n", "over n { for i in 0..2 { y[gid] = 1; } }");
    no("n", "over n { for i in 0i..i32(n) { y[i] = 1; } }");
    /* Steps as wide as all invocations together. */
    yes("n", "over 64 { for i in gid..n step 64 { y[i] = 1; } }");
    yes("n", "over 64 { for i in gid..len(y) step 64 { y[i] = 1; } }");
    yes("n", "over 64 workgroup 32 { for i in gid..n step 64 { y[i] = 1; } }");
    no("n", "over 64 { for i in gid..n step 65 { y[i] = 1; } }");
    no("n", "over 63 { for i in gid..n step 64 { y[i] = 1; } }");
    no("n", "over 64 { for i in gid..n - 1 step 64 { y[i] = 1; } }");
    no("n", "over w { for i in gid..n step 64 { y[i] = 1; } }");
    no("n", "over 64 { for i in gid + 1..n step 64 { y[i] = 1; } }");
    no("n", "over 64 { for i in gid..h step 64 { y[i] = 1; } }");
}

static void conditions(void **state) {
    (void)state;
    yes("n", "over n workgroup 32 { if in_domain { y[gid] = 1; } }");
    yes("n", "over n workgroup 32 { if !in_domain { return; } y[gid] = 1; }");
    yes("n", "over n workgroup 32 { if gid < n { y[gid] = 1; } }");
    yes("n", "over n workgroup 32 { if gid >= n { return; } y[gid] = 1; }");
    yes("n", "over n { if gid <= n { y[gid] = 1; } }");
    yes("n + 1", "over n + 2 { if gid <= n { y[gid] = 1; } }");
    no("n + 2", "over n + 2 { if gid <= n { y[gid] = 1; } }");
    yes("n", "over n { let i = gid; if i < len(y) { y[i] = 1; } }");
    yes("n", "over ceil_div(n, 32) * 32 { if gid >= n { return; } y[gid] = 1; }");
    yes("w * h", "over w * h { if gid < w * h { y[gid] = 1; } }");
    yes("w * h", "over (w, h) workgroup 8, 4 { if in_domain { y[gid.y * w + gid.x] = 1; } }");
    yes("w * h", "over (w, h) workgroup 8, 4 { if gid.x < w && gid.y < h { "
                 "y[gid.y * w + gid.x] = 1; } }");
    yes("w * h", "over (w, h) workgroup 8, 4 { if gid.x >= w || gid.y >= h { return; } "
                 "y[gid.y * w + gid.x] = 1; }");
    yes("w * h", "over (w + 1, h) { if gid.x < w { y[gid.y * w + gid.x] = 1; } }");
    yes("n", "over n { if x[gid] == 0 { z[gid] = 1; } y[gid] = 1; }");
    no("n", "over n { if x[gid] == 0 { y[gid] = 1; } }");
    no("n", "over n { if x[gid] == 0 { y[gid] = 1; } else { y[gid] = 2; } }"); /* not seen */
    no("n", "over n { if x[gid] == 0 { return; } y[gid] = 1; }");
    no("n", "over n { if gid < n / 2 { y[gid] = 1; } }");
    no("n", "over n { if gid < n - 1 { y[gid] = 1; } }");
    no("n", "over n { if gid > 0 { y[gid] = 1; } }");
    no("n", "over n { if gid != 0 { y[gid] = 1; } }");
    no("n", "over n { if gid < w { y[gid] = 1; } }");
    no("w * h", "over w * h { if gid < w * n { y[gid] = 1; } }");
    no("n", "over n { if gid < n * 2 { y[gid] = 1; } }"); /* may wrap */
    no("n", "over n { if i32(gid) < i32(n) { y[gid] = 1; } }");
    no("n", "over n workgroup 32 { if !in_domain { y[gid] = 1; } }");
    no("n", "over n workgroup 32 { if in_domain { return; } y[gid] = 1; }");
    no("n", "over n { if gid < n { return; } y[gid] = 1; }");
    no("n", "over n { if gid < n || x[0] == 1 { return; } y[gid] = 1; }");
    no("n", "over n { if x[0] == 1 { if gid > 7 { return; } } y[gid] = 1; }");
    no("n", "over n { loop { if x[0] == 1 { return; } break; } y[gid] = 1; }");
}

static void calls(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "fn put(a: inout buffer<u32>, x: u32) { if x == 0 { return; } a[gid] = x; } "
        "fn all(a: inout buffer<u32>, x: u32) { a[gid] = x; if x == 0 { return; } a[0] = 1; } "
        "fn inside(a: inout buffer<u32>, n: u32) { if gid >= n { return; } a[gid] = 1; } "
        "program p(n: u32, some: out buffer<u32>[n], full: out buffer<u32>[n], "
        "guarded: out buffer<u32>[n], after: out buffer<u32>[n], loop_of: out buffer<u32>[2 * n]) "
        "over n { put(some, gid & 1); all(full, gid & 1); inside(guarded, n); after[gid] = 1; "
        "for i in 0..2 { loop_of[gid * 2 + i] = 1; put(some, i); } }");
    uint32_t *phases = find(program);
    assert_int_equal(phases[0], VYRE_NONE);
    assert_int_equal(phases[1], 0);
    assert_int_equal(phases[2], 0);
    assert_int_equal(phases[3], 0);
    assert_int_equal(phases[4], 0);
    free(phases);
    vyre_program_release(program);
}

static void workgroups(void **state) {
    (void)state;
    yes("n", "over n workgroup 32 { y[wid * 32 + lid] = 1; }");
    no("n", "over n workgroup 32 { y[wid * 64 + lid] = 1; }");
    no("n", "over n workgroup 32 { y[wid * 33 + lid] = 1; }");
    no("n", "over n workgroup 32 { y[wid * 31 + lid] = 1; }");
    yes("ceil_div(n, 32)", "over n workgroup 32 { if lid == 0 { y[wid] = 1; } }");
    yes("ceil_div(n, 32)", "over n workgroup 32 { if lane == 0 { y[wid] = 1; } }");
    yes("n", "over n * 32 workgroup 32 { if lid == 0 { y[wid] = 1; } }");
    no("ceil_div(n, 32)", "over n workgroup 32 { if lid == 7 { y[wid] = 1; } }"); /* not seen */
    no("ceil_div(n, 31)", "over n workgroup 32 { if lid == 0 { y[wid] = 1; } }");
    no("n", "over n workgroup 32 { if wid == 0 { y[gid] = 1; } }");
    yes("16 * ceil_div(n, 1024)",
        "over ceil_div(n, 1024) * 64 workgroup 64 { if lid < 16 { y[wid * 16 + lid] = 1; } }");
    no("16 * ceil_div(n, 1024)",
       "over ceil_div(n, 1024) * 64 workgroup 64 { if lid < 15 { y[wid * 16 + lid] = 1; } }");
    yes("n", "over ceil_div(n, 1024) * 64 workgroup 64 { "
             "let first = wid * 1024 + subgroup_id * 512 + lane; "
             "for row in 0..16 { y[first + row * 32] = 1; } }");
    no("n", "over ceil_div(n, 1024) * 64 workgroup 64 { "
            "let first = wid * 1024 + subgroup_id * 512 + lane; "
            "for row in 0..15 { y[first + row * 32] = 1; } }");
    no("32", "over (8, 4) workgroup 8, 4 { y[subgroup_id * 32 + lane] = 1; }"); /* not seen */
    yes("w * h", "over (w, h) workgroup 16, 16 { let column = wid.y * 16 + lid.x; "
                 "let row = wid.x * 16 + lid.y; "
                 "if column < h && row < w { y[row * h + column] = 1; } }");
    no("w * h", "over (w, h) workgroup 16, 16 { let column = wid.y * 16 + lid.x; "
                "let row = wid.x * 16 + lid.y; "
                "if column < h && row < h { y[row * h + column] = 1; } }");
    no("w * h", "over (w, h) workgroup 16, 8 { let column = wid.y * 16 + lid.x; "
                "let row = wid.x * 16 + lid.y; "
                "if column < h && row < w { y[row * h + column] = 1; } }");
    yes("n", "over 4096 workgroup 64 { for i in gid..n step 4096 { y[i] = 1; } }");
    /* A store that only some write beside one that all do. */
    no("2 * n", "over n workgroup 32 { y[gid] = 1; y[gid + wid * n] = 1; }");
}

static void reads(void **state) {
    (void)state;
    no("n", "over n { z[gid] = y[gid]; y[gid] = 1; }");
    yes("n", "over n { y[gid] = 1; z[gid] = y[gid]; }");
    yes("n", "over n { y[gid] = 1; y[gid] += x[gid]; }");
    no("n", "over n { y[gid] = 1; z[gid] = y[gid + 1]; }");
    no("n", "over n workgroup 32 { y[gid] = 1; barrier; z[gid] = y[gid ^ 1]; }");
    no("n", "over n { if x[gid] == 0 { y[gid] = 1; } z[gid] = y[gid]; y[gid] = 1; }");
    yes("n", "over n { if x[gid] == 0 { y[gid] = 2; z[gid] = y[gid]; } y[gid] = 1; }");
    no("n", "over n { for i in 0..4 { z[gid] += y[gid]; y[gid] = i; } y[gid] = 1; }");
    no("n", "over n { y[gid] = 1; atomic_add(y[gid], 1); }");
    no("n", "over n { atomic_add(y[gid], 1); }");
    yes("n", "over n { atomic_store(y[gid], 1); }");
    no("n", "over n workgroup 32 { y[gid] = 1; z[gid] = uniform_load(y[wid * 32]); }");
    yes("n", "over n { y[gid] = len(y); }");
}

static void steps(void **state) {
    (void)state;
    yes("n", "{ phase over n { y[gid] = 1; } phase over n { z[gid] = y[n - 1 - gid]; } }");
    no("n", "{ phase over n { z[gid] = y[gid]; } phase over n { y[gid] = 1; } }");
    yes("n", "{ phase over w { y[x[gid]] = 1; } phase over n { y[gid] = 1; } }");
    yes("n", "{ phase over n { z[gid] = 1; } phase over n { y[gid] = 1; } }");
    no("2 * n", "{ phase over n { y[gid] = 1; } phase over n { y[n + gid] = 1; } }"); /* not seen */
    yes("n", "{ repeat 2 { phase over n { y[gid] = 1; } } }");
    yes("n", "{ repeat w + 1 { phase over n { y[gid] = 1; } } }");
    no("n", "{ repeat w { phase over n { y[gid] = 1; } } }");
    no("n", "{ repeat while z[0] { phase over n { y[gid] = 1; } } }");
    no("n", "{ repeat while z[0] { phase over n { z[gid] = y[gid]; } } phase over n { "
            "y[gid] = 1; } }");
    yes("n", "{ repeat w { phase over n { y[gid * 2] = 1; } } phase over n { y[gid] = 1; } }");
    no("n", "{ repeat 2 { phase over n { z[gid] = y[gid]; } phase over n { y[gid] = 1; } } }");
    yes("n", "{ repeat 2 { phase over n { y[gid] = 1; } phase over n { z[gid] = y[gid]; } } }");
    no("n", "{ repeat while y[0] { phase over 1 { z[0] = 1; } } phase over n { y[gid] = 1; } }");
    yes("n", "{ phase over n { y[gid] = 1; } repeat while y[0] { phase over 1 { y[0] = 0; } } }");
    no("n", "{ phase over y[0] max 8 { z[gid] = 1; } phase over n { y[gid] = 1; } }");
    yes("n", "{ phase over n { y[gid] = 1; } phase over y[0] max 8 { z[gid] = 1; } }");
}

static void scratch_arrays(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(n: u32, y: out buffer<u32>[n]) { scratch a: u32[n * 2]; scratch b: u32[n]; "
        "phase one over n { a[gid * 2] = 1; a[gid * 2 + 1] = 2; b[gid] += 1; } "
        "phase two over y { y[gid] = a[gid + 1] + b[gid]; } }");
    uint32_t *phases = find(program);
    assert_int_equal(phases[0], 1);
    assert_int_equal(phases[1], 0);
    assert_int_equal(phases[2], VYRE_NONE);
    vyre_strbuf text = {0};
    assert_null(vyre_fill_print(program, "// ", &text));
    assert_string_equal(
        vyre_strbuf_string(&text),
        "// out `y` is not filled: phase `two` overwrites all of it before anything reads it\n"
        "// scratch `a` is not filled: phase `one` overwrites all of it before anything reads it\n"
        "// scratch `b` is filled with zeros first\n");
    vyre_strbuf_free(&text);
    free(phases);
    vyre_program_release(program);
}

/* Random stores */

enum { RUNS = 6 };

static uint64_t seed;

static uint32_t below(uint32_t bound) {
    return (uint32_t)vyre_random_below(&seed, bound);
}

#define PICK(...)                                                                                  \
    ((const char *const[]){                                                                        \
        __VA_ARGS__})[below(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))]

static const char *draw_size(void) {
    return PICK("w", "h", "w * h", "len(x)", "4 * w", "w * 2", "w + 1", "h + 2", "6", "8", "16",
                "ceil_div(w, 4) * 4", "w / 2 * 2", "len(x) / 3 * 2", "len(x) / 3", "min(w, h)",
                "ceil_div(len(x), 8)", "ceil_div(len(x), 8) * 4", "(w + 1) * h", "w * h + 1");
}

static const char *draw_index(bool has_groups, bool is_flat) {
    const char *any =
        PICK("gid.x", "gid.x", "gid.x * 2", "gid.x * 2 + 1", "gid.x + w", "gid.x * h",
             "gid.x + len(x) / 3", "gid.x * 4 + i", "i", "i * w + gid.x", "i + 2", "gid.x * w + i",
             "gid.x * h + i", "u32(u64(gid.x))", "0", "w", "gid.x - 1");
    if (has_groups && below(2)) {
        any = PICK("wid.x * 4 + lid.x", "wid.x", "wid.x * 2 + lid.x", "wid.x * 8 + lid.x", "lid.x",
                   "wid.x * 4 + lid.x + i * w", "lid.x * w + wid.x");
    }
    return is_flat || below(3) == 0
               ? any
               : PICK("gid.y * w + gid.x", "gid.x * h + gid.y", "gid.y * (w + 1) + gid.x", "gid.y",
                      "gid.y * 4 + i", "(gid.y * w + gid.x) * 2", "gid.y * h + gid.x",
                      "(gid.y * w + gid.x) * 4 + i", "gid.y + gid.x");
}

static const char *draw_condition(bool has_groups) {
    return has_groups && below(2)
               ? PICK("in_domain", "!in_domain", "lid.x == 0", "lid.x < 2", "wid.x < 2",
                      "lid.x < h")
               : PICK("gid.x < w", "gid.x < h", "gid.x >= w", "gid.x < len(y)", "gid.x < w * h",
                      "gid.x == 0", "gid.x != 1", "gid.x <= w", "x[gid.x] < 3", "gid.x < 4",
                      "w < h", "gid.x < w && gid.x < h", "gid.x < w || gid.x < 6",
                      "len(x) > gid.x");
}

static void add_statement(vyre_strbuf *text, const char *array, bool has_groups, bool is_flat,
                          uint32_t depth) {
    switch (depth < 3 ? below(12) : 11) {
    case 0:
    case 1:
        vyre_strbuf_printf(text, "if %s { ", draw_condition(has_groups));
        add_statement(text, array, has_groups, is_flat, depth + 1);
        vyre_strbuf_puts(text, "} ");
        return;
    case 2: vyre_strbuf_printf(text, "if %s { return; } ", draw_condition(has_groups)); return;
    case 3:
    case 4:
        vyre_strbuf_printf(text, "for i in %s..%s step %s { ", PICK("0", "0", "0", "1", "gid.x"),
                           PICK("2", "4", "w", "h", "len(y)", "8", "w * h"),
                           PICK("1", "1", "2", "4", "8"));
        add_statement(text, array, has_groups, is_flat, depth + 1);
        if (below(6) == 0) {
            vyre_strbuf_printf(text, "if %s { %s; } ", draw_condition(has_groups),
                               PICK("break", "continue", "return"));
            add_statement(text, array, has_groups, is_flat, depth + 1);
        }
        vyre_strbuf_puts(text, "} ");
        return;
    case 5:
        vyre_strbuf_printf(text, "z[gid.x] = %s[%s]; ", array, draw_index(has_groups, is_flat));
        return;
    default: break;
    }
    vyre_strbuf_printf(text, "%s[%s] = 7; ", array, draw_index(has_groups, is_flat));
}

/* The text of a program that stores in `y` alone, which is scratch or a buffer; with garbage, it is
 * one that the caller brings. What is not declared by a loop is 0. */
static char *draw_program(uint64_t from, bool is_scratch, bool with_garbage) {
    vyre_strbuf text = {0};
    seed = from;
    const char *size = draw_size();
    vyre_strbuf_puts(&text, "program p(w: u32, h: u32, x: buffer<u32>, z: inout buffer<u32>");
    if (with_garbage) {
        vyre_strbuf_printf(&text, ", y: inout buffer<u32>[%s]", size);
    } else if (!is_scratch) {
        vyre_strbuf_printf(&text, ", y: out buffer<u32>[%s]", size);
    }
    if (is_scratch) {
        vyre_strbuf_printf(&text, ", copy: out buffer<u32>[%s]", size);
    }
    vyre_strbuf_puts(&text, ") deterministic { ");
    if (is_scratch && !with_garbage) {
        vyre_strbuf_printf(&text, "scratch y: u32[%s]; ", size);
    }
    uint32_t phases = 1 + below(2);
    for (uint32_t i = 0; i < phases; i++) {
        bool is_flat = below(2), has_groups = below(3) == 0, is_repeated = below(5) == 0;
        if (is_repeated) {
            vyre_strbuf_printf(&text, "repeat %s { ", PICK("2", "w", "h + 1"));
        }
        const char *first = below(2) ? size : draw_size(), *second = PICK("h", "w", "2", "h + 1");
        vyre_strbuf_printf(&text, is_flat ? "phase over %s " : "phase over (%s, %s) ",
                           is_flat ? first : PICK("w", "w", "h", "4"), second);
        vyre_strbuf_printf(&text, "%s { let i = 0u; ",
                           !has_groups ? ""
                           : is_flat   ? "workgroup 4"
                                       : "workgroup 4, 2");
        uint32_t statements = 1 + below(3);
        for (uint32_t k = 0; k < statements; k++) {
            add_statement(&text, "y", has_groups, is_flat, 0);
        }
        vyre_strbuf_puts(&text, is_repeated ? "} } " : "} ");
    }
    vyre_strbuf_puts(&text, is_scratch ? "phase over copy { copy[gid] = y[gid]; } }" : "}");
    char *copied = malloc(text.size + 1);
    assert_non_null(copied);
    memcpy(copied, vyre_strbuf_string(&text), text.size + 1);
    vyre_strbuf_free(&text);
    return copied;
}

/* What is claimed for `y`. Programs that do not run at all with some arguments are left out there.
 */
static bool claims(const char *text) {
    vyre_program *program = check_parse(text);
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t *phases = find(program);
    bool claimed = false;
    bool has_scratch = ir->resources[ir->resource_count - 1].kind == VYRE_RESOURCE_SCRATCH;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        bool is_y = ir->resources[i].kind == VYRE_RESOURCE_SCRATCH ||
                    (!has_scratch && ir->resources[i].access == VYRE_ACCESS_OUT);
        claimed |= is_y && phases[i] != VYRE_NONE;
    }
    free(phases);
    vyre_program_release(program);
    return claimed;
}

static vyre_status run(const char *text, uint32_t w, uint32_t h, uint32_t length,
                       const uint32_t *garbage, size_t garbage_bytes, vyre_outputs *out) {
    vyre_program *program = check_parse(text);
    uint32_t x[16], z[16];
    for (uint32_t i = 0; i < 16; i++) {
        x[i] = i * 5 % 7;
        z[i] = i;
    }
    vyre_input inputs[] = {
        {&w, 4}, {&h, 4}, {x, length * 4}, {z, sizeof z}, {garbage, garbage_bytes}};
    vyre_reference_options options = {.max_steps = CHECK_STEPS};
    vyre_status status = vyre_reference_run(program, inputs, garbage ? 5 : 4, NULL, &options, out);
    vyre_program_release(program);
    return status;
}

/* Bytes of the last output. */
static size_t last_bytes(const vyre_outputs *outputs) {
    return outputs->items[outputs->count - 1].size;
}

static void random_stores(void **state) {
    (void)state;
    static uint32_t garbage[4096];
    memset(garbage, 0xaa, sizeof garbage);
    uint64_t programs = test_work(4000, 800);
    uint32_t claimed = 0, overlooked = 0;
    for (uint64_t i = 1; i <= programs; i++) {
        bool is_scratch = i % 3 == 0, differs = false, ran = false;
        char *clean = draw_program(i, is_scratch, false),
             *dirty = draw_program(i, is_scratch, true);
        bool is_claimed = claims(clean);
        uint64_t draw = i;
        for (uint32_t k = 0; k < RUNS; k++) {
            uint32_t w = (uint32_t)vyre_random_below(&draw, 7);
            uint32_t h = (uint32_t)vyre_random_below(&draw, 7);
            uint32_t length = (uint32_t)vyre_random_below(&draw, 16);
            vyre_outputs expected, found;
            vyre_status status = run(clean, w, h, length, NULL, 0, &expected);
            if (status) {
                fail_msg("%s\n%s", vyre_status_text(status), clean);
            }
            size_t bytes = last_bytes(&expected);
            assert_true(bytes <= sizeof garbage);
            status = run(dirty, w, h, length, garbage, bytes, &found);
            if (status) {
                fail_msg("%s\n%s", vyre_status_text(status), dirty);
            }
            ran |= bytes > 0;
            size_t last = found.count - 1;
            differs |=
                memcmp(found.items[last].data, expected.items[expected.count - 1].data, bytes) ||
                memcmp(found.items[0].data, expected.items[0].data, found.items[0].size);
            vyre_outputs_free(&expected);
            vyre_outputs_free(&found);
            if (is_claimed && differs) {
                fail_msg("seed %llu, w %u, h %u, len(x) %u: zeros are missing\n%s",
                         (unsigned long long)i, w, h, length, clean);
            }
        }
        claimed += is_claimed;
        overlooked += !is_claimed && !differs && ran;
        free(clean);
        free(dirty);
    }
    printf("%u of %llu programs need no zeros, of %u others nobody saw any\n", claimed,
           (unsigned long long)programs, overlooked);
    assert_true(claimed > programs / 20);
}

/* Limits */

static void memory_may_run_out(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(w: u32, h: u32, y: out buffer<u32>[w * h * 4], z: out buffer<u32>[w]) "
        "over (w, h) { for i in 0..4 { y[(gid.y * w + gid.x) * 4 + i] = 1; } "
        "if gid.x < w { z[gid.x] = 1; } }");
    uint32_t phases[2];
    size_t n = 1;
    for (; failing_allocator_start(n); n++) {
        vyre_status status = vyre_fill_find(program, phases);
        assert_int_equal(vyre_status_code_of(status),
                         failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK);
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
    }
    assert_true(n > 5);
    assert_int_equal(phases[0], 0);
    assert_int_equal(phases[1], VYRE_NONE);
    vyre_program_release(program);
}

static void large_programs_take_no_time(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "y[gid * 4 + k] = k; ",         "y[k * n + gid * gid] = 1; ",
        "if gid < k { y[gid] = 1; } ",  "if gid < k { return; } ",
        "k += gid; y[k] = 1; ",         "k = k * k + n; y[k * k] = k; ",
        "for i in 0..n { y[i] = 1; } ", "y[gid] = y[gid + k] + 1; ",
        "k = k / (n + k); y[k] = 1; ",  "k = min(k, n) + max(n, k + 1); y[k] = 1; ",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        vyre_strbuf text = {0};
        vyre_strbuf_puts(&text,
                         "program p(n: u32, y: out buffer<u32>[4 * n]) over n { var k = n; ");
        for (uint32_t k = 0; k < 20000; k++) {
            vyre_strbuf_puts(&text, bodies[i]);
        }
        vyre_strbuf_puts(&text, "}");
        double start = check_seconds();
        vyre_program *program = check_parse(vyre_strbuf_string(&text));
        double parsed = check_seconds();
        free(find(program));
        double seconds = check_seconds() - parsed;
        /* To parse is linear in the size, on any machine. */
        if (seconds > 4 * (parsed - start)) {
            fail_msg("%s, 20000 times: %g seconds, and %g to parse them", bodies[i], seconds,
                     parsed - start);
        }
        vyre_program_release(program);
        vyre_strbuf_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_that_wrap_around),
        cmocka_unit_test(an_element_an_invocation),
        cmocka_unit_test(rounded_sizes),
        cmocka_unit_test(several_dimensions),
        cmocka_unit_test(types_of_indices),
        cmocka_unit_test(blocks_of_an_invocation),
        cmocka_unit_test(conditions),
        cmocka_unit_test(calls),
        cmocka_unit_test(workgroups),
        cmocka_unit_test(reads),
        cmocka_unit_test(steps),
        cmocka_unit_test(scratch_arrays),
        cmocka_unit_test(random_stores),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(large_programs_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
