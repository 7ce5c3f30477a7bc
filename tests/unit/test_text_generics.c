/* Generic functions and programs: an instance is the text with its types written out, instruction
 * for instruction. */
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

static vyre_module *parse(const char *text) {
    vyre_module *module;
    vyre_diagnostics *found;
    assert_null(vyre_diagnostics_create(&found));
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), found, &module);
    if (status) {
        const vyre_diagnostic *first = vyre_diagnostics_get(found, 0);
        fail_msg("%s\n%u:%u: %s", text, first->line, first->column, first->message);
    }
    vyre_diagnostics_free(found);
    return module;
}

static bool is_same(const vyre_program *a, const vyre_program *b) {
    vyre_digest digests[2] = {vyre_program_digest(a), vyre_program_digest(b)};
    return !memcmp(&digests[0], &digests[1], sizeof digests[0]);
}

/* A function called by a body, both generic and written out. */
static void check_two(const char *generic, const char *written, const char *generic_body,
                      const char *body) {
    vyre_module *modules[2];
    for (int i = 0; i < 2; i++) {
        char text[2048];
        int size = snprintf(text, sizeof text,
                            "struct P { a: f32, b: u32 }\n%s\n"
                            "program p(x: inout buffer<f32>, d: inout buffer<f64>, y: inout "
                            "buffer<u32>) over x {\n%s\n}\n",
                            i ? written : generic, i ? body : generic_body);
        assert_true(size > 0 && (size_t)size < sizeof text);
        modules[i] = parse(text);
    }
    vyre_program *programs[2] = {vyre_module_program(modules[0], 0),
                                 vyre_module_program(modules[1], 0)};
    if (!is_same(programs[0], programs[1])) {
        char *prints[2] = {NULL, NULL};
        size_t size;
        assert_null(vyre_program_print(programs[0], &prints[0], &size));
        assert_null(vyre_program_print(programs[1], &prints[1], &size));
        fail_msg("%s\nbecomes\n%s\nnot\n%s", generic, prints[0], prints[1]);
    }
    vyre_module_free(modules[0]);
    vyre_module_free(modules[1]);
}

static void check(const char *generic, const char *written, const char *body) {
    check_two(generic, written, body, body);
}

static void refuse(const char *text, const char *message) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), NULL, &module);
    assert_non_null(status);
    if (!strstr(vyre_status_message(status), message)) {
        fail_msg("%s\nsays %s\nnot %s", text, vyre_status_message(status), message);
    }
    vyre_status_free(status);
}

static void types_come_from_the_arguments(void **state) {
    (void)state;
    check("fn f<T>(a: T, b: T) -> T { return a * b; }",
          "fn f(a: f64, b: f64) -> f64 { return a * b; }", "d[gid] = f(2, f(d[gid], 0.1));");
    check("fn f<T>(a: buffer<T>, b: T) -> T { return a[1] + b; }",
          "fn f(a: buffer<u32>, b: u32) -> u32 { return a[1] + b; }", "y[gid] = f(y, 3);");
    check("fn f<T>(b: T, a: buffer<T>) -> T { return a[1] + b; }",
          "fn f(b: f64, a: buffer<f64>) -> f64 { return a[1] + b; }", "d[gid] = f(0.1, d);");
    check("fn f<T>(a: inout T, b: T) { a += b; }", "fn f(a: inout f64, b: f64) { a += b; }",
          "f(d[gid], 0.1);");
    check("fn f<T>(v: vec3<T>, s: T) -> vec3<T> { return v * s; }",
          "fn f(v: vec3<f64>, s: f64) -> vec3<f64> { return v * s; }",
          "d[gid] = f(vec3(d[0], d[1], 2), 0.1).z;");
    check("fn f<T>(p: T) -> T { let q: T = p; return q; }",
          "fn f(p: P) -> P { let q: P = p; return q; }", "y[gid] = f(P(x[0], y[0])).b;");
    check("fn f<T, U>(a: T, b: U) -> (U, T) { return b, a; }",
          "fn f(a: f32, b: u32) -> (u32, f32) { return b, a; }",
          "let (i, r) = f(x[gid], y[gid]); y[gid] = i; x[gid] = r;");
}

static void the_place_of_a_call_tells_the_rest(void **state) {
    (void)state;
    check("fn f<T>(a: T) -> T { return a; }", "fn f(a: f64) -> f64 { return a; }",
          "let z: f64 = f(0.1); d[gid] = z;");
    check("fn f<T>(a: T) -> T { return a; }", "fn f(a: f32) -> f32 { return a; }",
          "let z = f(0.1); x[gid] = z;");
    check("fn f<T>() -> T { return T(3); }", "fn f() -> u32 { return u32(3); }",
          "let z: u32 = f(); y[gid] = z;");
}

static void types_can_be_given(void **state) {
    (void)state;
    check_two("fn f<T>(a: T) -> T { return a / 3; }", "fn f(a: f64) -> f64 { return a / 3; }",
              "d[gid] = f<f64>(0.1);", "d[gid] = f(0.1);");
    check_two("fn f<T, U>(a: T) -> U { return U(a); }", "fn f(a: f32) -> u32 { return u32(a); }",
              "y[gid] = f<f32, u32>(x[gid]);", "y[gid] = f(x[gid]);");
    check_two("fn f<T>(a: T) -> T { return a; }", "fn f(a: vec2<f32>) -> vec2<f32> { return a; }",
              "x[gid] = f<vec2<f32>>(vec2(1.0, 2.0)).y;", "x[gid] = f(vec2(1.0, 2.0)).y;");
}

static void types_are_types_everywhere(void **state) {
    (void)state;
    check("fn f<T: float>(a: T) -> T {\n"
          "    var t: T[3];\n    t[1] = a;\n    let v = vec2<T>(t[1], 2);\n"
          "    let s = for i in 0..4 with (k: T = 0) { continue k + v.x; };\n"
          "    return bitcast<T>(s) + g<T>(v.y) + T(y2(a));\n}\n"
          "fn g<U>(a: U) -> U { return a; }\nfn y2(a: f64) -> u32 { return u32(a); }",
          "fn f(a: f64) -> f64 {\n"
          "    var t: f64[3];\n    t[1] = a;\n    let v = vec2<f64>(t[1], 2);\n"
          "    let s = for i in 0..4 with (k: f64 = 0) { continue k + v.x; };\n"
          "    return bitcast<f64>(s) + g(v.y) + f64(y2(a));\n}\n"
          "fn g(a: f64) -> f64 { return a; }\nfn y2(a: f64) -> u32 { return u32(a); }",
          "d[gid] = f(d[gid]);");
}

/* The element is read before the second argument changes it, as in any call. */
static void arguments_are_computed_from_left_to_right(void **state) {
    (void)state;
    check("fn f<T>(a: inout T, b: T) { a += b; }\n"
          "fn g(a: inout buffer<f32>) -> f32 { a[0] = 7; return 1; }",
          "fn f(a: inout f32, b: f32) { a += b; }\n"
          "fn g(a: inout buffer<f32>) -> f32 { a[0] = 7; return 1; }",
          "f(x[0], g(x));");
}

static void a_type_is_seen_only_inside_of_its_function(void **state) {
    (void)state;
    refuse("fn h() -> f32 { let a: T = 1; return a; }\n"
           "fn f<T>(a: T) -> T { return a + h(); }\n"
           "program p(x: inout buffer<f32>) over x { x[gid] = f(x[gid]); }\n",
           "unknown type `T`");
    refuse("fn f<T>(a: T) -> T { return a; }\n"
           "program p(x: inout buffer<f32>) over x { let b: T = f(x[gid]); x[gid] = b; }\n",
           "unknown type `T`");
}

static void bounds_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *bound, *type;
        bool allowed;
    } rows[] = {
        {"number", "u8", true},     {"number", "bool", false},    {"int", "i64", true},
        {"int", "f32", false},      {"signed", "i8", true},       {"signed", "u8", false},
        {"unsigned", "u16", true},  {"unsigned", "i16", false},   {"float", "bf16", true},
        {"float", "u32", false},    {"vector", "vec2<u8>", true}, {"vector", "vec2<bool>", false},
        {"vector", "f32", false},   {"f32 | f64", "f64", true},   {"f32 | f64", "f16", false},
        {"float | u8", "u8", true}, {"number", "P", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "struct P { a: f32 }\nfn f<T: %s>() { }\nprogram p(x: inout buffer<u32>) over x {\n"
            "    f<%s>();\n    x[gid] = 1;\n}\n",
            rows[i].bound, rows[i].type);
        if (rows[i].allowed) {
            vyre_module_free(parse(text));
        } else {
            refuse(text, "expected ");
        }
    }
}

static void instances_are_bounded(void **state) {
    (void)state;
    static char text[1u << 20];
    size_t size = 0;
    size += (size_t)snprintf(text, sizeof text, "fn f<T>(a: T) { let _b = a; }\n");
    for (int i = 0; i < 5000; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "struct S%d { a: u32 }\n", i);
    }
    size += (size_t)snprintf(text + size, sizeof text - size,
                             "program p(x: inout buffer<u32>) over x {\n");
    for (int i = 0; i < 5000; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "    f(S%d(1));\n", i);
    }
    snprintf(text + size, sizeof text - size, "    x[gid] = 1;\n}\n");
    refuse(text, "more than 4096 types");
}

static void allocation_failures_are_reported(void **state) {
    (void)state;
    static const char text[] =
        "struct P { a: f32, b: u32 }\n"
        "fn f<T: number, U>(a: T, b: U) -> (U, T) { var t: T[2]; t[0] = g(a); return b, t[0]; }\n"
        "fn g<T>(a: T) -> T { return a; }\n"
        "fn unused<T: int>(a: T) -> T { return g(a) & 1; }\n"
        "program p(x: inout buffer<f32>) over x {\n"
        "    let (q, r) = f(x[gid], P(1, 2));\n"
        "    let (s, t) = f<u32, f32>(q.b, r);\n"
        "    x[gid] = s + f32(t);\n"
        "}\n";
    for (size_t n = 0;; n++) {
        vyre_module *module;
        failing_allocator_start(n); /* 0 fails nowhere, and makes what stays */
        vyre_status status = vyre_module_parse("a.vyre", text, sizeof text - 1, NULL, &module);
        failing_allocator_end();
        bool failed = failing_allocator_failed();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_module_free(module);
        if (code != (failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK)) {
            fail_msg("status %d where allocation %zu fails", (int)code, n);
        }
        if (n && !failed) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_come_from_the_arguments),
        cmocka_unit_test(the_place_of_a_call_tells_the_rest),
        cmocka_unit_test(types_can_be_given),
        cmocka_unit_test(types_are_types_everywhere),
        cmocka_unit_test(arguments_are_computed_from_left_to_right),
        cmocka_unit_test(a_type_is_seen_only_inside_of_its_function),
        cmocka_unit_test(bounds_are_checked),
        cmocka_unit_test(instances_are_bounded),
        cmocka_unit_test(allocation_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
