/* Generic functions and programs: an instance is the text with its types written out, instruction
 * for instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/builder.h>
#include <vyre/program.h>
#include <vyre/text.h>
#include <vyre/wire.h>

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

static const char gather[] =
    "fn twice<T>(x: T) -> T { return x + x; }\n"
    "program gather<T: number>(x: buffer<T>, i: buffer<u32>, y: out buffer<T>[len(i)]) over y {\n"
    "    y[gid] = twice(x[i[gid]]);\n}\n"
    "program pair<T, U>(x: inout buffer<T>, y: inout buffer<U>) over x { x[gid] = T(1); y[gid] = "
    "U(2); }\n"
    "program other(x: inout buffer<f32>) over x { x[gid] = 1; }\n";

static vyre_program *instance(vyre_module *module, const char *name) {
    vyre_program *program;
    vyre_status status = vyre_module_instantiate(module, name, NULL, &program);
    if (status) {
        fail_msg("%s: %s", name, vyre_status_message(status));
    }
    return program;
}

static void a_module_makes_instances_of_programs(void **state) {
    (void)state;
    vyre_module *module = parse(gather);
    assert_int_equal(vyre_module_count(module), 1);
    assert_null(vyre_module_find(module, "gather<f32>"));
    vyre_program *first = instance(module, "gather<f32>");
    assert_string_equal(vyre_program_name(first), "gather<f32>");
    assert_ptr_equal(instance(module, "gather< f32 >"), first);
    assert_ptr_equal(vyre_module_find(module, "gather<f32>"), first);
    assert_int_equal(vyre_module_count(module), 2);
    assert_string_equal(vyre_program_name(instance(module, "pair<u8, bf16>")), "pair<u8,bf16>");
    assert_string_equal(vyre_program_name(instance(module, "other")), "other");
    vyre_module_free(module);
}

/* What has the name of an instance is the instance, wherever its types come from. */
static void an_instance_is_the_program_with_its_types(void **state) {
    (void)state;
    vyre_module *module = parse(gather);
    vyre_module *written = parse(
        "program gather<u16>(x: buffer<u16>, i: buffer<u32>, y: out buffer<u16>[len(i)]) over y {\n"
        "    y[gid] = twice(x[i[gid]]);\n}\nfn twice(x: u16) -> u16 { return x + x; }\n");
    vyre_program *program = instance(module, "gather<u16>");
    assert_true(is_same(program, vyre_module_program(written, 0)));
    assert_false(is_same(program, instance(module, "gather<i16>")));
    vyre_module_free(written);
    vyre_module_free(module);
}

static void instances_can_be_printed_and_encoded(void **state) {
    (void)state;
    static const char *const names[] = {"gather<f64>", "pair<u8,bf16>"};
    vyre_module *module = parse(gather);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vyre_program *program = instance(module, names[i]), *decoded;
        char *text;
        uint8_t *bytes;
        size_t size;
        assert_null(vyre_program_print(program, &text, &size));
        vyre_module *printed = parse(text);
        assert_true(is_same(program, vyre_module_find(printed, names[i])));
        vyre_module_free(printed);
        vyre_string_free(text);
        assert_null(vyre_wire_encode(program, 0, &bytes, &size));
        assert_int_equal(bytes[10], 2); /* the minor version */
        assert_null(vyre_wire_decode(bytes, size, &decoded));
        assert_true(is_same(program, decoded));
        assert_string_equal(vyre_program_name(decoded), names[i]);
        vyre_program_release(decoded);
        vyre_bytes_free(bytes);
    }
    vyre_module_free(module);
}

static void names_of_instances_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool valid;
    } rows[] = {{"a<f32>", true},        {"a<f32,u8>", true},
                {"a<vec3<f16>>", true},  {"a<vec3<f16>,u8>", true},
                {"a<>", false},          {"a<f32", false},
                {"a<f32>>", false},      {"a<f32>b", false},
                {"<f32>", false},        {"a<f3>", false},
                {"a<f32,>", false},      {"a<f32, u8>", false},
                {"a<vec5<f32>>", false}, {"a<vec2<vec2<f32>>>", false},
                {"a<vec2>", false},      {"a<f32><f32>", false},
                {"a<f32,<f32>", false},  {"a>", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_builder *builder;
        vyre_program *program = NULL;
        assert_null(vyre_builder_create(rows[i].name, &builder));
        uint32_t x = vyre_build_buffer(builder, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
        vyre_build_phase(builder, &(vyre_phase_desc){.domain = {vyre_build_size_len(builder, x)}});
        vyre_build_phase_end(builder);
        vyre_status status = vyre_builder_finish(builder, NULL, &program);
        if (!status != rows[i].valid) {
            fail_msg("%s is %s", rows[i].name, status ? "refused" : "accepted");
        }
        vyre_status_free(status);
        vyre_program_release(program);
        vyre_builder_free(builder);
    }
}

static void refuse_instance(const char *name, const char *message, const char *fix) {
    vyre_module *module = parse(gather);
    vyre_program *program;
    vyre_status status = vyre_module_instantiate(module, name, NULL, &program);
    assert_non_null(status);
    assert_null(program);
    if (!strstr(vyre_status_message(status), message) || !strstr(vyre_status_fix(status), fix)) {
        fail_msg("%s says %s. Fix: %s", name, vyre_status_message(status), vyre_status_fix(status));
    }
    vyre_status_free(status);
    vyre_module_free(module);
}

static void wrong_instances_are_refused(void **state) {
    (void)state;
    refuse_instance("gather", "no program `gather`", "gather<f32>");
    refuse_instance("gather<bool>", "the type `T` of `gather` is bool, expected number", "");
    refuse_instance("gather<f32,f32>", "is no instance of `gather`", "gather<f32>");
    refuse_instance("gather<f32", "is no instance of `gather`", "");
    refuse_instance("gather<>", "is no instance of `gather`", "");
    refuse_instance("pair<f32>", "which has 2 type parameters", "");
    refuse_instance("nothing<f32>", "no program `nothing<f32>`", "`other`");
    refuse_instance("other<f32>", "no program `other<f32>`", "");
}

static void programs_call_programs_of_the_file(void **state) {
    (void)state;
    static const char items[] =
        "program add<T: number>(x: buffer<T>, by: T, y: out buffer<T>[len(x)]) {\n"
        "    scratch t: T[len(x)];\n"
        "    phase over x { t[gid] = x[gid] + by; }\n"
        "    phase over x { y[gid] = t[gid]; }\n}\n"
        "const THREE = 3u8;\n";
    static const char *const pairs[][2] = {
        {"add(x, 2, y);", "add<f32>(x, 2, y);"},
        {"add(x, n, y);", "add<f32>(x, n, y);"},
        {"add(b, THREE, c);", "add<u8>(b, 3, c);"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        vyre_module *modules[2];
        for (int k = 0; k < 2; k++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "%sprogram p(x: buffer<f32>, n: f32, y: out buffer<f32>[len(x)], b: "
                     "buffer<u8>, c: out buffer<u8>[len(b)]) {\n%s\nphase over x { y[gid] = n; "
                     "}\n}\n",
                     items, pairs[i][k]);
            modules[k] = parse(text);
        }
        assert_true(is_same(vyre_module_find(modules[0], "p"), vyre_module_find(modules[1], "p")));
        vyre_module_free(modules[0]);
        vyre_module_free(modules[1]);
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
        "program copy<T>(x: buffer<T>, y: inout buffer<T>) over x { y[gid] = x[gid]; }\n"
        "program both(x: buffer<u8>, y: inout buffer<u8>) { copy(x, y); }\n"
        "program p(x: inout buffer<f32>) over x {\n"
        "    let (q, r) = f(x[gid], P(1, 2));\n"
        "    let (s, t) = f<u32, f32>(q.b, r);\n"
        "    x[gid] = s + f32(t);\n"
        "}\n";
    for (size_t n = 0;; n++) {
        vyre_module *module;
        failing_allocator_start(n); /* 0 fails nowhere, and makes what stays */
        vyre_status status = vyre_module_parse("a.vyre", text, sizeof text - 1, NULL, &module);
        vyre_program *program;
        if (!status) {
            status = vyre_module_instantiate(module, "copy<f16>", NULL, &program);
        }
        failing_allocator_end();
        vyre_module_free(module);
        if (failing_allocator_judge(n, status)) {
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
        cmocka_unit_test(a_module_makes_instances_of_programs),
        cmocka_unit_test(an_instance_is_the_program_with_its_types),
        cmocka_unit_test(instances_can_be_printed_and_encoded),
        cmocka_unit_test(names_of_instances_are_checked),
        cmocka_unit_test(wrong_instances_are_refused),
        cmocka_unit_test(programs_call_programs_of_the_file),
        cmocka_unit_test(instances_are_bounded),
        cmocka_unit_test(allocation_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
