/* Vectors, structs and what came with them are lowered to scalars: each text on the left is the
 * program on the right, instruction for instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/program.h>
#include <vyre/text.h>

#include "tests/unit/failing_allocator.h"

typedef struct pair {
    const char *written, *scalars;
} pair;

static vyre_program *build(const char *items, const char *body, vyre_module **module) {
    char text[4096];
    int size = snprintf(text, sizeof text,
                        "%s\nprogram p(x: inout buffer<f32>, y: inout buffer<u32>, a: f32, b: f32,"
                        " c: f32, n: u32, m: i32)\n    over x workgroup 32 {\n%s\n}\n",
                        items, body);
    assert_true(size > 0 && (size_t)size < sizeof text);
    vyre_diagnostics *found;
    assert_null(vyre_diagnostics_create(&found));
    vyre_status status = vyre_module_parse("test.vyre", text, (size_t)size, found, module);
    if (status) {
        const vyre_diagnostic *first = vyre_diagnostics_get(found, 0);
        fail_msg("%s\n%u:%u: %s", text, first->line, first->column, first->message);
    }
    vyre_diagnostics_free(found);
    return vyre_module_program(*module, 0);
}

static void check(const char *items, const char *written, const char *scalars) {
    vyre_module *modules[2];
    vyre_program *left = build(items, written, &modules[0]);
    vyre_program *right = build(items, scalars, &modules[1]);
    vyre_digest digests[2] = {vyre_program_digest(left), vyre_program_digest(right)};
    if (memcmp(&digests[0], &digests[1], sizeof digests[0]) != 0) {
        char *prints[2] = {NULL, NULL};
        size_t size;
        assert_null(vyre_program_print(left, &prints[0], &size));
        assert_null(vyre_program_print(right, &prints[1], &size));
        fail_msg("%s\nbecomes\n%s\nnot\n%s", written, prints[0], prints[1]);
    }
    vyre_module_free(modules[0]);
    vyre_module_free(modules[1]);
}

static void check_all(const char *items, const pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check(items, pairs[i].written, pairs[i].scalars);
    }
}
#define CHECK_ALL(items, pairs) check_all(items, pairs, sizeof(pairs) / sizeof *(pairs))

static void constructors_take_scalars_and_vectors(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let v = vec3<f32>(a, b, c); x[0] = v.x; x[1] = v.y; x[2] = v.z;",
         "x[0] = a; x[1] = b; x[2] = c;"},
        {"let v = vec2<f32>(a); x[0] = v.x; x[1] = v.y;", "let s = a; x[0] = s; x[1] = s;"},
        {"let v = vec4<f32>(vec2(a, b), 1, c); x[0] = v.x; x[1] = v.y; x[2] = v.z; x[3] = v.w;",
         "let p = a; let q = b; let r = c; x[0] = p; x[1] = q; x[2] = 1; x[3] = r;"},
        {"let v = vec3(1, 2, 3); y[0] = u32(v.z);", "y[0] = u32(3i);"},
        {"let v = vec2(1, 2.5); x[0] = v.x;", "x[0] = 1.0f;"},
        {"let v: vec2<u32> = vec2(1, n); y[0] = v.x; y[1] = v.y;",
         "let s = n; y[0] = 1; y[1] = s;"},
        {"let v = vec2<f32>(vec2(m, 2)); x[0] = v.x; x[1] = v.y;",
         "let s = m; let p = f32(s); let q = f32(2i); x[0] = p; x[1] = q;"},
        {"let v = bitcast<vec2<u32>>(vec2(a, b)); y[0] = v.x; y[1] = v.y;",
         "let s = a; let t = b; let p = bitcast<u32>(s); let q = bitcast<u32>(t);"
         " y[0] = p; y[1] = q;"},
    };
    /* The parameters are read where they are written, so that the order is the same. */
    check("", pairs[0].written, "let s = a; let t = b; let u = c; x[0] = s; x[1] = t; x[2] = u;");
    check_all("", pairs + 1, sizeof pairs / sizeof *pairs - 1);
}

static void operators_work_component_by_component(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let v = vec2(a, b); let w = v + v; x[0] = w.x; x[1] = w.y;",
         "let s = a; let t = b; let p = s + s; let q = t + t; x[0] = p; x[1] = q;"},
        {"let v = 2 * vec2(a, b) - c; x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let p = 2 * s; let q = 2 * t; let u = c;"
         " let r = p - u; let o = q - u; x[0] = r; x[1] = o;"},
        {"let v = -vec2(a, b); x[0] = v.y;", "let s = a; let t = b; let _p = -s; x[0] = -t;"},
        {"let v = vec2(n, 1) << 3; y[0] = v.x; y[1] = v.y;",
         "let s = n; let p = s << 3; let q = 1u << 3; y[0] = p; y[1] = q;"},
        {"let v = vec2(a, b) > 1.0; y[0] = u32(v.x & v.y);",
         "let s = a; let t = b; let p = s > 1.0; let q = t > 1.0; y[0] = u32(p & q);"},
        {"let v = !(vec2(a, b) == vec2(b, a)); y[0] = u32(v.x); y[1] = u32(v.y);",
         "let s = a; let t = b; let u = b; let w = a; let p = s == u; let q = t == w;"
         " let f = !p; let g = !q; y[0] = u32(f); y[1] = u32(g);"},
        {"var v = vec2(a, b); v *= 3; v.y += 1; x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let p = s * 3; let q = t * 3; let r = q + 1; x[0] = p; x[1] = r;"},
    };
    CHECK_ALL("", pairs);
}

static void functions_work_component_by_component(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let v = max(vec2(a, b), 0); x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let p = max(s, 0); let q = max(t, 0); x[0] = p; x[1] = q;"},
        {"let v = fma(vec2(a, b), c, vec2(b, a)); x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let u = c; let w = b; let z = a; let p = fma(s, u, w);"
         " let q = fma(t, u, z); x[0] = p; x[1] = q;"},
        {"let v = select(vec2(a, b) < 1, vec2(a, b), 2); x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let f = s < 1; let g = t < 1; let u = a; let w = b;"
         " let p = select(f, u, 2); let q = select(g, w, 2); x[0] = p; x[1] = q;"},
        {"let v = sqrt(vec2(a, b)); x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let p = sqrt(s); let q = sqrt(t); x[0] = p; x[1] = q;"},
        {"x[0] = clamp(a, 0, 1);", "x[0] = min(max(a, 0), 1);"},
        {"y[0] = clamp(n, 3, 7);", "y[0] = min(max(n, 3), 7);"},
        {"x[0] = mix(a, b, c);",
         "let s = a; let t = b; let u = c; let r = -u; let p = fma(r, s, s);"
         " x[0] = fma(u, t, p);"},
        {"let v = mix(vec2(a, b), 0, c); x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let u = c; let o = -u; let p = fma(o, s, s); let f = fma(u, 0, p);"
         " let r = -u; let q = fma(r, t, t); let g = fma(u, 0, q); x[0] = f; x[1] = g;"},
    };
    CHECK_ALL("", pairs);
}

static void sums_start_with_the_first_component(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let v = vec4(a, b, c, 1); x[0] = dot(v, v);",
         "let s = a; let t = b; let u = c; let p = s * s; let q = t * t; let r = u * u;"
         " let o = 1.0f * 1.0f; let f = p + q; let g = f + r; x[0] = g + o;"},
        {"x[0] = length(vec2(a, b));",
         "let s = a; let t = b; let p = s * s; let q = t * t; x[0] = sqrt(p + q);"},
        {"let v = normalize(vec2(a, b)); x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; let p = s * s; let q = t * t; let l = sqrt(p + q);"
         " let f = s / l; let g = t / l; x[0] = f; x[1] = g;"},
        {"let v = cross(vec3(a, b, c), vec3<f32>(1, 2, 3));"
         " x[0] = v.x; x[1] = v.y; x[2] = v.z;",
         "let s = a; let t = b; let u = c; let p = t * 3; let q = u * 2; let f = p - q;"
         " let o = u * 1; let r = s * 3; let g = o - r; let i = s * 2; let j = t * 1;"
         " let h = i - j; x[0] = f; x[1] = g; x[2] = h;"},
        {"y[0] = u32(all(vec3(a, b, c) < 1)); y[1] = u32(any(vec2(a, b) < 1));",
         "let s = a; let t = b; let u = c; let p = s < 1; let q = t < 1; let r = u < 1;"
         " let f = p & q; y[0] = u32(f & r); let w = a; let z = b; let g = w < 1; let h = z < 1;"
         " y[1] = u32(g | h);"},
    };
    CHECK_ALL("", pairs);
}

static void swizzles_choose_and_are_assigned_to(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let v = vec3(a, b, c).zyx; x[0] = v.x; x[1] = v.z;",
         "let s = a; let t = b; let u = c; x[0] = u; x[1] = s;"},
        {"let v = vec2(a, b).xxyy; x[0] = v.y; x[1] = v.z;",
         "let s = a; let t = b; x[0] = s; x[1] = t;"},
        {"let v = vec4(a, b, c, 1).rgb; x[0] = v.b;", "let s = a; let t = b; let u = c; x[0] = u;"},
        {"var v = vec2(a, b); v.xy = v.yx; x[0] = v.x; x[1] = v.y;",
         "let s = a; let t = b; x[0] = t; x[1] = s;"},
        {"var v: vec3<f32>; v.zx = vec2(a, b); x[0] = v.x; x[1] = v.y; x[2] = v.z;",
         "let s = a; let t = b; x[0] = t; x[1] = 0; x[2] = s;"},
    };
    CHECK_ALL("", pairs);
}

static const char particle[] = "struct Particle { position: vec2<f32>, mass: f32 }\n"
                               "struct Pair { first: Particle, second: Particle, id: u32 }\n"
                               "fn heavier(p: Particle, by: f32) -> Particle {\n"
                               "    var q = p;\n    q.mass *= by;\n    return q;\n}\n"
                               "fn first(p: Pair) -> (Particle, u32) { return p.first, p.id; }\n"
                               "fn total(p: inout buffer<Particle>, n: u32) -> f32 {\n"
                               "    var sum = 0.0;\n"
                               "    for i in 0..n { sum += p[i].mass; p[i].mass = 0; }\n"
                               "    return sum;\n}\n";

static void structs_are_lists_of_scalars(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let p = Particle(vec2(a, b), 2); x[0] = p.position.y; x[1] = p.mass;",
         "let s = a; let t = b; x[0] = t; x[1] = 2;"},
        {"let p = heavier(Particle(vec2(a, b), 2), c); x[0] = p.mass;",
         "let s = a; let t = b; let u = c; x[0] = 2 * u;"},
        {"let (p, i) = first(Pair(Particle(vec2(a, b), 2), Particle(vec2(b, a), 3), n));"
         " x[0] = p.position.x; y[0] = i;",
         "let s = a; let t = b; let u = b; let w = a; let i = n; x[0] = s; y[0] = i;"},
        {"var p: Pair; p.second.position.x = a; let q = p.second; x[0] = q.position.x;"
         " y[0] = p.id;",
         "x[0] = a; y[0] = 0;"},
        {"let p = select(n == 0, Particle(vec2(a, b), 1), Particle(vec2(b, a), 2));"
         " x[0] = p.mass;",
         "let i = n == 0; let s = a; let t = b; let u = b; let w = a; let _p = select(i, s, u);"
         " let _q = select(i, t, w); x[0] = select(i, 1.0f, 2.0f);"},
        {"let p = if n == 0 { Particle(vec2(a, b), 1) } else { Particle(vec2(b, a), 2) };"
         " x[0] = p.mass; x[1] = p.position.x;",
         "let (q, _r, s) = if n == 0 { let f = a; let g = b; yield f, g, 1.0f; }"
         " else { let f = b; let g = a; yield f, g, 2.0f; }; x[0] = s; x[1] = q;"},
    };
    CHECK_ALL(particle, pairs);
}

static void arrays_of_composites_are_arrays_of_scalars(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"var v: vec2<f32>[4]; v[n] = vec2(a, b); x[0] = v[1].y; let w = v[2]; x[1] = w.x;",
         "var p: f32[4]; var q: f32[4]; let i = n; let s = a; let t = b; p[i] = s; q[i] = t;"
         " x[0] = q[1]; let g = p[2]; let _h = q[2]; x[1] = g;"},
        {"shared v: Particle[32]; v[lid].mass = a; barrier; x[0] = v[31 - lid].mass;",
         "shared p: f32[32]; shared q: f32[32]; shared r: f32[32]; r[lid] = a; barrier;"
         " x[0] = r[31 - lid];"},
        {"var v: Particle[3]; x[0] = total(v, 3); y[0] = len(v);",
         "var p: f32[3]; var q: f32[3]; var r: f32[3]; var sum = 0.0f;"
         " for i in 0u..3u { sum += r[i]; r[i] = 0; } x[0] = sum; y[0] = len(p);"},
        {"for i in 0..2 { var v: vec2<u32>[2]; v[i].x = n; y[i] = v[1].x; clear(v); }",
         "for i in 0..2 { var p: u32[2]; var q: u32[2]; p[i] = n;"
         " y[i] = p[1]; clear(p); clear(q); }"},
        {"shared v: vec2<u32>[4]; atomic_add(v[n].y, 1, relaxed, workgroup);",
         "shared p: u32[4]; shared q: u32[4]; atomic_add(q[n], 1, relaxed, workgroup);"},
    };
    CHECK_ALL(particle, pairs);
}

static void composites_go_through_blocks(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"let v = if n == 0 { yield vec2(a, b); } else if n == 1 { yield vec2(b, a); }"
         " else { yield vec2<f32>(0); }; x[0] = v.x; x[1] = v.y;",
         "let (p, q) = if n == 0 { let s = a; let t = b; yield s, t; }"
         " else if n == 1 { let s = b; let t = a; yield s, t; } else { yield 0.0f, 0.0f; };"
         " x[0] = p; x[1] = q;"},
        {"let v = for i in 0..n with (s = vec2(a, b)) { continue s + 1; }; x[0] = v.x + v.y;",
         "let (v, w) = for i in 0..n with (s = a, t = b) { let p = s + 1; let q = t + 1;"
         " continue p, q; }; x[0] = v + w;"},
        {"let (v, k) = loop (s = vec2(a, b), i = 0u) { if i == n { break s, i; }"
         " continue s * s, i + 1; }; x[0] = v.y; y[0] = k;",
         "let (_v, w, k) = loop (s = a, t = b, i = 0u) { if i == n { break s, t, i; }"
         " let p = s * s; let q = t * t; continue p, q, i + 1; }; x[0] = w; y[0] = k;"},
        {"let v = inline { if n == 0 { return vec2(a, b); } return vec2(b, a); }; x[0] = v.x;",
         "let (v, _w) = inline { if n == 0 { let s = a; let t = b; return s, t; }"
         " let s = b; let t = a; return s, t; }; x[0] = v;"},
        {"var v = vec2(a, b); for i in 0..n { if i == 3 { v.x += 1; } } x[0] = v.x;",
         "var v = a; var _w = b; for i in 0..n { if i == 3 { v += 1; } } x[0] = v;"},
    };
    CHECK_ALL("", pairs);
}

static void an_if_can_be_an_expression(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"x[0] = if n == 0 { a } else { x[1] };",
         "let v = if n == 0 { yield a; } else { yield x[1]; }; x[0] = v;"},
        {"let v = if n == 0 { a } else if n == 1 { b } else { c }; x[0] = v;",
         "let v = if n == 0 { yield a; } else { let w = if n == 1 { yield b; }"
         " else { yield c; }; yield w; }; x[0] = v;"},
        {"let v = if n == 0 { let s = a * a; s + 1 } else { 0 }; x[0] = v;",
         "let v = if n == 0 { let s = a * a; yield s + 1; } else { yield 0; }; x[0] = v;"},
        {"let (v, w) = if n == 0 { a, b } else { b, a }; x[0] = v; x[1] = w;",
         "let (v, w) = if n == 0 { yield a, b; } else { yield b, a; }; x[0] = v; x[1] = w;"},
        {"let v: f32 = if n == 0 { 1 } else { 2 }; x[0] = v;",
         "let v = if n == 0 { yield 1.0f; } else { yield 2.0f; }; x[0] = v;"},
        {"let v = if n == 0 { 1 } else { n }; y[0] = v;", /* the plain number takes the type */
         "let v = if !(n == 0) { yield n; } else { yield 1; }; y[0] = v;"},
        {"x[0] = max(if n == 0 { a } else { b }, c) + 1;",
         "let v = if n == 0 { yield a; } else { yield b; }; x[0] = max(v, c) + 1;"},
    };
    CHECK_ALL("", pairs);
}

static const char functions[] =
    "fn swap(a: u32, b: u32) -> (u32, u32) { return b, a; }\n"
    "fn step_of(state: inout u32) -> u32 {\n"
    "    if state == 0 { return 7; }\n    state ^= state << 13;\n    return state;\n}\n"
    "fn grow(v: inout vec2<f32>, by: f32) { v += by; }\n";

static void several_places_are_assigned_at_once(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"var i = n; var j = 3u; (i, j) = swap(i, j); y[0] = i; y[1] = j;",
         "let i = n; y[0] = 3; y[1] = i;"},
        {"var i = n; var j = 3u; (i, j) = (j, i + 1); y[0] = i; y[1] = j;",
         "let i = n; let k = i + 1; y[0] = 3; y[1] = k;"},
        {"(y[n], _) = swap(1, 2);", "y[n] = 2;"},
        {"var v: vec2<u32>; (v.y, v.x) = (1, n); y[0] = v.x; y[1] = v.y;",
         "let i = n; y[0] = i; y[1] = 1;"},
        {"var i = 0u; (i) = 4; y[0] = i;", "y[0] = 4;"},
    };
    CHECK_ALL(functions, pairs);
}

static void inout_parameters_change_the_callers_variable(void **state) {
    (void)state;
    static const pair pairs[] = {
        {"var i = n; let r = step_of(i); y[0] = i; y[1] = r;",
         "var i = n; let r = inline { if i == 0 { return 7u; } i = i ^ i << 13; return i; };"
         " y[0] = i; y[1] = r;"},
        {"var v = vec3(a, b, c); grow(v.zx, 2); x[0] = v.x; x[1] = v.y; x[2] = v.z;",
         "let s = a; let t = b; let u = c; let p = u + 2; let q = s + 2;"
         " x[0] = q; x[1] = t; x[2] = p;"},
        {"y[1] = step_of(y[n]);",
         "let i = n; var e = y[i]; let r = inline { if e == 0 { return 7u; } e = e ^ e << 13;"
         " return e; }; y[i] = e; y[1] = r;"},
    };
    CHECK_ALL(functions, pairs);
}

static void constants_can_be_composites(void **state) {
    (void)state;
    check("const UP = vec3<f32>(0, 1, 0);\nconst TWO = UP * 2;\nconst Y = TWO.y;\n",
          "let v = UP + TWO; x[0] = v.y; x[1] = Y;",
          "let _p = 0.0f + 0.0f; let q = 1.0f + 2.0f; let _r = 0.0f + 0.0f; x[0] = q; x[1] = 2;");
}

static void words_of_vectors_are_names_elsewhere(void **state) {
    (void)state;
    check("fn dot(a: f32) -> f32 { return a + 1; }\nfn vec2(a: f32) -> f32 { return a + 2; }\n",
          "let struct = dot(a); let length = vec2(b); let any = 3u; let vec3 = 1.0f;"
          " if vec3 < f32(any) { x[any] = struct + length; }",
          "let p = a + 1; let q = b + 2; let r = 3u; let s = 1.0f;"
          " if s < f32(r) { x[r] = p + q; }");
    check("struct vec2 { dot: f32, x: vec2<u32> }\n",
          "let mix = vec2(a, vec2<u32>(n, 1)); let clamp = mix.dot; x[0] = clamp; y[0] = mix.x.x;",
          "let p = a; let q = n; x[0] = p; y[0] = q;");
}

/* Every allocation may fail: an error, no leak, no crash. */
static void allocation_failures_are_reported(void **state) {
    (void)state;
    static const char text[] =
        "struct P { v: vec2<f32>, m: f32 }\n"
        "const UP = vec2<f32>(0, 1);\n"
        "fn f(p: P, s: inout u32) -> (P, u32) { var q = p; q.v += UP; s += 1; return q, s; }\n"
        "fn unused(p: inout P, q: inout buffer<P>) { p = q[0]; q[1] = p; }\n"
        "program p(x: inout buffer<f32>, y: inout buffer<u32>) over x {\n"
        "    var t: P[4];\n"
        "    var a = 0u;\n"
        "    var b = P(vec2(x[gid], 1), 2);\n"
        "    (b, a) = f(b, y[gid]);\n"
        "    let c = if a == 0 { b } else { t[1] };\n"
        "    let d = for i in 0..4 with (s = c) { continue P(s.v.yx, dot(s.v, s.v)); };\n"
        "    t[a] = d;\n"
        "    x[gid] = normalize(t[0].v).x;\n"
        "}\n";
    for (size_t n = 0;; n++) {
        vyre_module *module;
        failing_allocator_start(n); /* 0 fails nowhere, and makes what stays */
        vyre_status status = vyre_module_parse("a.vyre", text, sizeof text - 1, NULL, &module);
        failing_allocator_end();
        vyre_module_free(module);
        if (failing_allocator_judge(n, status)) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructors_take_scalars_and_vectors),
        cmocka_unit_test(operators_work_component_by_component),
        cmocka_unit_test(functions_work_component_by_component),
        cmocka_unit_test(sums_start_with_the_first_component),
        cmocka_unit_test(swizzles_choose_and_are_assigned_to),
        cmocka_unit_test(structs_are_lists_of_scalars),
        cmocka_unit_test(arrays_of_composites_are_arrays_of_scalars),
        cmocka_unit_test(composites_go_through_blocks),
        cmocka_unit_test(an_if_can_be_an_expression),
        cmocka_unit_test(several_places_are_assigned_at_once),
        cmocka_unit_test(inout_parameters_change_the_callers_variable),
        cmocka_unit_test(constants_can_be_composites),
        cmocka_unit_test(words_of_vectors_are_names_elsewhere),
        cmocka_unit_test(allocation_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
