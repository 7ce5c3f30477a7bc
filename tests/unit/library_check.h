/* A library of a few operations for tests. Once installed, it is all that texts can call in the
 * process:
 *
 *     library_check_install();
 *     ... parse ... */
#ifndef VYRE_TESTS_LIBRARY_CHECK_H
#define VYRE_TESTS_LIBRARY_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "dialect/provider.h"
#include "text/module.h"

/* clang-format off */
static const char library_mix_text[] =
"// Mixing.\n"
"const BASIS: u32 = 0x811c9dc5;\n"
"const PRIME = 16777619;\n"
"fn step(h: u32, b: u32) -> u32 {\n"
"    return (h ^ b) * PRIME;\n"
"}\n"
"fn mix(a: u32, b: u32) -> u32 {\n"
"    return step(step(BASIS, a), b);\n"
"}\n"
"fn split(v: u32) -> (u32, u32) {\n"
"    if v == 0 { return 1, 2; }\n"
"    return v >> 16, v & 0xffff;\n"
"}\n"
"fn total(x: buffer<u32>, n: u32) -> u32 {\n"
"    var sum = 0u;\n"
"    for i in 0..n { sum += x[i]; }\n"
"    return sum;\n"
"}\n"
"fn put(x: inout buffer<u32>, i: u32, v: u32) {\n"
"    x[i] = v;\n"
"}\n"
"fn twice(v: u32) -> u32 {\n"
"    return far.add(v, v);\n"
"}\n"
"fn together(v: u32) -> u32 {\n"
"    barrier;\n"
"    return v;\n"
"}\n";

static const char library_far_text[] =
"fn add(a: u32, b: u32) -> u32 { return a + b; }\n"
"fn ping(v: u32) -> u32 { return loops.pong(v); }\n"
"program copy(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
"    y[gid] = x[gid];\n"
"}\n"
"program odd(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
"    if x[gid] % 2 == 1 { y[gid] = x[gid]; }\n"
"}\n"
"program scale(x: inout buffer<u32>, by: u32, f: f32, flag: bool) over x {\n"
"    let more = u32(f);\n"
"    if flag { x[gid] = x[gid] * by + more; }\n"
"}\n";

static const char library_work_text[] =
"const STEP = 2;\n"
"fn more(v: u32, n: u32) -> u32 { return v + n * STEP; }\n"
"program steps(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
"    scratch sums: u32[len(x) + n];\n"
"    scratch left: u32[1];\n"
"    phase start over x {\n"
"        sums[gid] += x[gid];\n"
"        if gid == 0 { left[0] += n; }\n"
"    }\n"
"    repeat i in n { phase add over min(n * STEP, len(x)) { sums[gid] = more(sums[gid], i + 1); } }\n"
"    repeat while left[0] {\n"
"        phase once over left[0] max n { atomic_add(sums[0], 100); }\n"
"        phase down over 1 { left[0] -= 1; }\n"
"    }\n"
"    phase out over y { y[gid] += sums[gid]; }\n"
"}\n"
"program both(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
"    scratch middle: u32[len(x)];\n"
"    work.steps(x, middle, n);\n"
"    work.steps(middle, y, 1);\n"
"}\n"
"program sums(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
"    scratch s: sum<f32>[3];\n"
"    phase over x { sum_add(s[x[gid] % 3], f32(x[gid] % 64)); }\n"
"    phase over y { y[gid] = u32(f32(s[gid % 3])); }\n"
"}\n";

static const char library_loops_text[] =
"fn pong(v: u32) -> u32 { return loops.ping(v); }\n"
"fn ping(v: u32) -> u32 { return loops.pong(v); }\n"
"program a(x: inout buffer<u32>) { loops.b(x); }\n"
"program b(x: inout buffer<u32>) { loops.a(x); }\n";

static const char library_broken_text[] =
"fn fine(v: u32) -> u32 { return v; }\n"
"fn wrong(v: u32) -> u32 { return v + ; }\n";

static const char library_torn_text[] =
"fn fine(v: u32) -> u32 { return v; }\n"
"program body(x: inout buffer<u32>) {\n"
"    phase over x { x[gid] = ; }\n"
"}\n"
"program sizes(x: inout buffer<u32>, n: u32) over n + m { x[gid] = 1; }\n"
"program turns(x: inout buffer<u32>, n: u32) {\n"
"    repeat n { phase over x { x[gid] += 1; } }\n"
"}\n";

static const char library_types_text[] =
"fn inner(v: u32) -> u32 {\n"
"    return v + 1.5f;\n"
"}\n"
"fn outer(v: u32) -> u32 { return types.inner(v); }\n"
"program part(x: inout buffer<u32>) over x {\n"
"    x[gid] = x;\n"
"}\n";
/* clang-format on */

#define LIBRARY_ROW(dialect, form, entry)                                                          \
    {                                                                                              \
#dialect "." #entry, #dialect, "1.0.0", VYRE_LIBRARY_##form, "ops/" #dialect ".vyre",      \
            library_##dialect##_text, sizeof library_##dialect##_text - 1, #entry, NULL, 0         \
    }

static const vyre_library_source library_rows[] = {
    LIBRARY_ROW(broken, FUNCTION, fine),
    LIBRARY_ROW(far, FUNCTION, add),
    LIBRARY_ROW(far, PROGRAM, copy),
    LIBRARY_ROW(far, PROGRAM, odd),
    LIBRARY_ROW(far, PROGRAM, scale),
    {"io.read", "io", "1.0.0", VYRE_LIBRARY_OPAQUE, NULL, NULL, 0, NULL, NULL, 0},
    LIBRARY_ROW(loops, PROGRAM, a),
    LIBRARY_ROW(loops, PROGRAM, b),
    LIBRARY_ROW(loops, FUNCTION, ping),
    LIBRARY_ROW(loops, FUNCTION, pong),
    LIBRARY_ROW(mix, FUNCTION, mix),
    LIBRARY_ROW(mix, FUNCTION, missing),
    LIBRARY_ROW(mix, FUNCTION, put),
    LIBRARY_ROW(mix, FUNCTION, split),
    LIBRARY_ROW(mix, FUNCTION, together),
    LIBRARY_ROW(mix, FUNCTION, total),
    LIBRARY_ROW(mix, FUNCTION, twice),
    LIBRARY_ROW(torn, PROGRAM, body),
    LIBRARY_ROW(torn, PROGRAM, sizes),
    LIBRARY_ROW(torn, PROGRAM, turns),
    LIBRARY_ROW(types, FUNCTION, inner),
    LIBRARY_ROW(types, FUNCTION, outer),
    LIBRARY_ROW(types, PROGRAM, part),
    LIBRARY_ROW(work, PROGRAM, both),
    LIBRARY_ROW(work, PROGRAM, steps),
    LIBRARY_ROW(work, PROGRAM, sums),
};
enum { LIBRARY_ROWS = sizeof library_rows / sizeof *library_rows };

static vyre_status library_check_enter(vyre_library_view *view) {
    (void)view;
    return VYRE_OK;
}

static bool library_check_find(const vyre_library_view *view, vyre_str id,
                               vyre_library_source *out_source) {
    (void)view;
    for (size_t i = 0; i < LIBRARY_ROWS; i++) {
        if (strlen(library_rows[i].id) == id.size &&
            !memcmp(library_rows[i].id, id.data, id.size)) {
            *out_source = library_rows[i];
            return true;
        }
    }
    return false;
}

static vyre_str library_check_at(const vyre_library_view *view, size_t index) {
    (void)view;
    return index < LIBRARY_ROWS ? (vyre_str){library_rows[index].id, strlen(library_rows[index].id)}
                                : (vyre_str){0};
}

static void library_check_leave(vyre_library_view *view) {
    (void)view;
}

static const vyre_library library_check = {"tests", library_check_enter, library_check_find,
                                           library_check_at, library_check_leave};

static inline void library_check_install(void) {
    vyre_status status = vyre_provider_install(&library_check);
    if (status) {
        abort();
    }
}

/* A parse that may call no operation. */
static inline vyre_status library_check_parse_alone(const char *text, vyre_module **out_module) {
    return vyre_module_parse_with(&(vyre_parse_options){0}, "alone.vyre", text, strlen(text), NULL,
                                  out_module);
}

#endif
