/* Operations of the library called from text: functions inlined, programs spliced in, reports that
 * name the way there. What a spliced program computes is compared with the same written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/cpu/runtime/compiler.h"
#include "backend/cuda/codegen/emit.h"
#include "ir/builder.h"
#include "pass/rebuild.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/library_check.h"

static vyre_program *first_of(vyre_status status, vyre_module *module, const char *text) {
    if (status) {
        fail_msg("%s\nin:\n%s", vyre_status_text(status), text);
    }
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static vyre_program *parse(const char *text) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("my.vyre", text, strlen(text), NULL, &module);
    return first_of(status, module, text);
}

static bool same(const vyre_program *left, const vyre_program *right) {
    vyre_digest a = vyre_program_digest(left), b = vyre_program_digest(right);
    return a.low == b.low && a.high == b.high;
}

/* What a program prints needs no library and is the same program. */
static void check_printed(const vyre_program *program) {
    char *text;
    size_t size;
    assert_null(vyre_program_print(program, &text, &size));
    vyre_module *module;
    vyre_status status = library_check_parse_alone(text, &module);
    vyre_program *again = first_of(status, module, text);
    if (!same(program, again)) {
        fail_msg("%s", text);
    }
    vyre_program_release(again);
    vyre_string_free(text);
    uint8_t *bytes;
    assert_null(vyre_wire_encode(program, 0, &bytes, &size));
    assert_null(vyre_wire_decode(bytes, size, &again));
    assert_true(same(program, again));
    vyre_program_release(again);
    vyre_bytes_free(bytes);
}

/* A call and the same written out are one program. */
static void check_same(const char *called, const char *written) {
    vyre_program *a = parse(called), *b = parse(written);
    if (!same(a, b)) {
        char *left, *right;
        size_t size;
        assert_null(vyre_program_print(a, &left, &size));
        assert_null(vyre_program_print(b, &right, &size));
        fail_msg("%s\nis not\n%s", left, right);
    }
    check_printed(a);
    vyre_program_release(a);
    vyre_program_release(b);
}

/* The first report of a text, rendered, is that; nothing else is wrong. */
static void check_refused(const char *text, const char *expected) {
    vyre_diagnostics *found;
    vyre_module *module;
    assert_null(vyre_diagnostics_create(&found));
    vyre_status status = vyre_module_parse("my.vyre", text, strlen(text), found, &module);
    assert_non_null(status);
    vyre_status_free(status);
    char *shown;
    size_t size;
    assert_null(vyre_diagnostics_render(found, "my.vyre", text, strlen(text), VYRE_FORM_TEXT,
                                        &shown, &size));
    assert_string_equal(shown, expected);
    vyre_string_free(shown);
    assert_null(vyre_diagnostics_render(found, "my.vyre", text, strlen(text), VYRE_FORM_JSON,
                                        &shown, &size));
    const vyre_diagnostic *first = vyre_diagnostics_get(found, 0);
    char calls[512];
    snprintf(calls, sizeof calls,
             "\"function\": \"%s\",\n        \"file\": \"%s\",\n        \"line\": %u",
             first->calls->function, first->calls->file ? first->calls->file : "my.vyre",
             first->calls->line);
    if (!strstr(shown, calls)) {
        fail_msg("no %s in %s", calls, shown);
    }
    vyre_string_free(shown);
    vyre_diagnostics_free(found);
}

#define HEAD "program p(x: buffer<u32>, y: inout buffer<u32>) over y "

static void functions_are_inlined_like_local_ones(void **state) {
    (void)state;
    check_same(HEAD "{ y[gid] = mix.mix(x[gid], 7) + mix.mix(1, 2); }",
               "const B: u32 = 0x811c9dc5;\n"
               "fn step(h: u32, b: u32) -> u32 { return (h ^ b) * 16777619; }\n"
               "fn mix(a: u32, b: u32) -> u32 { return step(step(B, a), b); }\n" HEAD
               "{ y[gid] = mix(x[gid], 7) + mix(1, 2); }");
    check_same(
        HEAD "{ let (h, l) = mix.split(x[gid]); y[gid] = h - l; }",
        "fn f(v: u32) -> (u32, u32) { if v == 0 { return 1, 2; } return v >> 16, v & 0xffff; }" HEAD
        "{ let (h, l) = f(x[gid]); y[gid] = h - l; }");
    check_same(HEAD "{ mix.put(y, gid, mix.total(x, len(x))); }",
               HEAD "{ let g = gid; var s = 0u; for i in 0..len(x) { s += x[i]; } y[g] = s; }");
    check_same(HEAD "{ y[gid] = mix.twice(x[gid]); }",
               "fn f(v: u32) -> u32 { return v + v; }\n" HEAD "{ y[gid] = f(x[gid]); }");
}

static void names_of_caller_and_callee_do_not_meet(void **state) {
    (void)state;
    check_same("const PRIME = 3; const BASIS = 5;\n"
               "fn step(a: u32, b: u32) -> u32 { return a - b; }\n" HEAD
               "{ let a = x[gid]; let h = 9u; y[gid] = mix.mix(h, a) + step(a, PRIME); }",
               "const B: u32 = 0x811c9dc5;\n"
               "fn step(h: u32, b: u32) -> u32 { return (h ^ b) * 16777619; }\n"
               "fn mix(a: u32, b: u32) -> u32 { return step(step(B, a), b); }\n" HEAD
               "{ let a = x[gid]; let h = 9u; y[gid] = mix(h, a) + (a - 3); }");
}

static void programs_are_spliced_in(void **state) {
    (void)state;
    check_same("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) { far.copy(x, y); }",
               "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) "
               "{ phase over x { y[gid] = x[gid]; } }");
    /* What was written before is zeroed first. */
    check_same("program p(x: buffer<u32>, y: inout buffer<u32>[len(x)]) { far.odd(x, y); }",
               "program p(x: buffer<u32>, y: inout buffer<u32>[len(x)]) { "
               "phase over y { y[gid] = 0; } "
               "phase over x { if x[gid] % 2 == 1 { y[gid] = x[gid]; } } }");
    /* Lengths that nobody knows yet have to be equal. */
    check_same("program p(x: buffer<u32>, y: inout buffer<u32>) { far.copy(x, y); }",
               "program p(x: buffer<u32>, y: inout buffer<u32>) { require len(y) == len(x); "
               "phase over y { y[gid] = 0; } phase over x { y[gid] = x[gid]; } }");
    /* Scratch of its own, and constants. */
    check_same("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) { work.steps(x, y, 1 + 1); }",
               "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
               "    scratch sums: u32[len(x) + 2];\n"
               "    scratch left: u32[1];\n"
               "    phase over x { sums[gid] += x[gid]; if gid == 0 { left[0] += 2; } }\n"
               "    repeat i in 2 { phase over min(2 * 2, len(x)) {\n"
               "        sums[gid] = sums[gid] + (i + 1) * 2; } }\n"
               "    repeat while left[0] {\n"
               "        phase over left[0] max 2 { atomic_add(sums[0], 100); }\n"
               "        phase over 1 { left[0] -= 1; }\n"
               "    }\n"
               "    phase over y { y[gid] += sums[gid]; }\n"
               "}\n");
}

static void scalars_come_from_arguments_constants_counters_and_sizes(void **state) {
    (void)state;
    check_same("const N: u32 = 3;\n"
               "program p(x: inout buffer<u32>, n: u32, f: f32) {\n"
               "    far.scale(x, n, f, true);\n"
               "    repeat i in 4 { far.scale(x, i, 2.5, false); }\n"
               "    far.scale(x, N * 2, -f32(N), true);\n"
               "    far.scale(x, len(x), 1, true);\n"
               "}",
               "fn s(x: inout buffer<u32>, i: u32, by: u32, f: f32, flag: bool) {\n"
               "    let more = u32(f);\n"
               "    if flag { x[i] = x[i] * by + more; }\n"
               "}\n"
               "program p(x: inout buffer<u32>, n: u32, f: f32) {\n"
               "    phase over x { let m = u32(f); if true { x[gid] = x[gid] * n + m; } }\n"
               "    repeat i in 4 { phase over x {\n"
               "        let m = u32(2.5f); if false { x[gid] = x[gid] * i + m; } } }\n"
               "    phase over x { let m = u32(-3.0f); if true { x[gid] = x[gid] * 6 + m; } }\n"
               "    phase over x { let m = u32(1.0f); if true { x[gid] = x[gid] * len(x) + m; } }\n"
               "}");
    /* A counter, and what is computed from it, is as good in a size as in a value. */
    check_same("program p(x: inout buffer<u32>, n: u32) {\n"
               "    repeat i in 3 { torn.turns(x, i); }\n"
               "    repeat k in 2..n { torn.turns(x, n - k); }\n"
               "}",
               "program p(x: inout buffer<u32>, n: u32) {\n"
               "    repeat i in 3 { repeat i { phase over x { x[gid] += 1; } } }\n"
               "    repeat k in 2..n { repeat n - k { phase over x { x[gid] += 1; } } }\n"
               "}");
    vyre_program *program = parse("program p(x: inout buffer<u32>, n: i32) {\n"
                                  "    far.scale(x, ceil_div(len(x), 2) * 3 - n, 0, true);\n"
                                  "}");
    assert_int_equal(vyre_program_ir(program)->requirement_count, 1);
    check_printed(program);
    vyre_program_release(program);
}

/* Running */

/* Where nothing is written by hand, one backend is held against the other. */
typedef struct run_case {
    const char *called, *written;
} run_case;

static const run_case run_cases[] = {
    {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
     "    scratch a: u32[len(x)];\n"
     "    far.odd(x, a);\n"
     "    repeat i in n { work.steps(a, y, n); far.odd(y, a); far.scale(a, i, 1.0, true); }\n"
     "    work.both(a, y, n);\n"
     "}",
     NULL},
    {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
     "    repeat n { work.both(x, y, 2); }\n"
     "}",
     "program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
     "    scratch m: u32[len(x)]; scratch a: u32[len(x) + 2]; scratch la: u32[1];\n"
     "    scratch b: u32[len(x) + 1]; scratch lb: u32[1];\n"
     "    repeat n {\n"
     "        phase over len(x) + 2 { y[gid] = 0; m[gid] = 0; a[gid] = 0; b[gid] = 0;\n"
     "            la[gid] = 0; lb[gid] = 0; }\n"
     "        phase over x { a[gid] += x[gid]; if gid == 0 { la[0] += 2; } }\n"
     "        repeat i in 2 { phase over min(4, len(x)) { a[gid] += (i + 1) * 2; } }\n"
     "        repeat while la[0] { phase over la[0] max 2 { atomic_add(a[0], 100); }\n"
     "            phase over 1 { la[0] -= 1; } }\n"
     "        phase over m { m[gid] += a[gid]; }\n"
     "        phase over m { b[gid] += m[gid]; if gid == 0 { lb[0] += 1; } }\n"
     "        repeat i in 1 { phase over min(2, len(m)) { b[gid] += (i + 1) * 2; } }\n"
     "        repeat while lb[0] { phase over lb[0] max 1 { atomic_add(b[0], 100); }\n"
     "            phase over 1 { lb[0] -= 1; } }\n"
     "        phase over y { y[gid] += b[gid]; }\n"
     "    }\n"
     "}"},
    /* Sums start as zeros each time. */
    {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
     "    repeat n { work.sums(x, y); }\n"
     "}",
     "program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
     "    scratch s: u32[3];\n"
     "    phase over x { atomic_add(s[x[gid] % 3], x[gid] % 64); }\n"
     "    phase over y { if n > 0 { y[gid] = s[gid % 3]; } }\n"
     "}"},
    {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) {\n"
     "    scratch a: u32[len(x)];\n"
     "    phase over x { a[gid] = mix.mix(x[gid], n); }\n"
     "    far.odd(a, y);\n"
     "    far.scale(y, ceil_div(len(x), 2) * 3 + n % 5, 3.0, true);\n"
     "}",
     "program p(x: buffer<u32>, y: out buffer<u32>[len(x)], n: u32) over x {\n"
     "    let h = (((0x811c9dc5u ^ x[gid]) * 16777619) ^ n) * 16777619;\n"
     "    let v = if h % 2 == 1 { yield h; } else { yield 0; };\n"
     "    y[gid] = v * ((len(x) + 1) / 2 * 3 + n % 5) + 3;\n"
     "}"},
};

static void run(const char *device, const char *text, const uint32_t *x, size_t length, uint32_t n,
                uint32_t *y) {
    const vyre_argument arguments[] = {{"x", x, NULL, length * sizeof *x},
                                       {"y", NULL, y, length * sizeof *y},
                                       {"n", &n, NULL, sizeof n}};
    vyre_status status = vyre_run(device, text, arguments, 3, NULL);
    if (status) {
        fail_msg("%s on %s: %s", text, device, vyre_status_text(status));
    }
}

static void spliced_programs_compute_what_the_same_by_hand_does(void **state) {
    (void)state;
    cpu_llvm_info info;
    vyre_status status = cpu_compiler_info(&info);
    bool has_cpu = !status;
    vyre_status_free(status);
    static const size_t lengths[] = {0, 1, 7, 100003};
    enum { MOST = 100003 };
    uint32_t *x = malloc(MOST * sizeof *x), *y = malloc(MOST * sizeof *y),
             *expected = malloc(MOST * sizeof *expected);
    assert_true(x && y && expected);
    for (size_t i = 0; i < MOST; i++) {
        x[i] = (uint32_t)(i * 2654435761u);
    }
    for (size_t c = 0; c < sizeof run_cases / sizeof *run_cases; c++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            for (uint32_t n = 0; n < 3; n++) {
                size_t bytes = lengths[l] * sizeof *y;
                const char *written =
                    run_cases[c].written ? run_cases[c].written : run_cases[c].called;
                run("reference", written, x, lengths[l], n, expected);
                run("reference", run_cases[c].called, x, lengths[l], n, y);
                assert_memory_equal(y, expected, bytes);
                if (has_cpu) {
                    memset(y, 0xaa, bytes);
                    run("cpu", run_cases[c].called, x, lengths[l], n, y);
                    assert_memory_equal(y, expected, bytes);
                }
            }
        }
    }
    free(x);
    free(y);
    free(expected);
}

static void requirements_are_checked_before_anything_runs(void **state) {
    (void)state;
    vyre_program *program = parse("program p(x: buffer<u32>, y: inout buffer<u32>, n: u8) {\n"
                                  "    far.copy(x, y);\n"
                                  "    far.scale(y, len(x) - n, 1, true);\n"
                                  "}");
    uint32_t x[4] = {0}, y[3] = {0};
    uint8_t n = 9;
    vyre_outputs outputs;
    vyre_status status = vyre_reference_run(
        program, (vyre_input[]){{x, sizeof x}, {y, sizeof y}, {&n, 1}}, 3, NULL, NULL, &outputs);
    assert_string_equal(vyre_status_message(status),
                        "program `p`: far.copy, called from my.vyre:2:5 requires that len(y) is "
                        "len(x), found 3 and 4");
    vyre_status_free(status);
    status = vyre_reference_run(program, (vyre_input[]){{x, sizeof x}, {x, sizeof x}, {&n, 1}}, 3,
                                NULL, NULL, &outputs);
    assert_non_null(strstr(vyre_status_text(status), "the size len(x) - n is less than zero"));
    vyre_status_free(status);
    vyre_program_release(program);
    program = parse("program p(y: inout buffer<u32>) { require len(y) % 4 == 0; "
                    "phase over y { y[gid] = 1; } }");
    status = vyre_reference_run(program, (vyre_input[]){{y, sizeof y}}, 1, NULL, NULL, &outputs);
    assert_string_equal(vyre_status_message(status),
                        "program `p` requires that len(y) % 4 is 0, found 3 and 0");
    vyre_status_free(status);
    vyre_program_release(program);
}

/* Names for people */

static void steps_and_places_say_where_they_come_from(void **state) {
    (void)state;
    vyre_program *program = parse("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
                                  "    work.both(x, y, 3);\n"
                                  "}");
    const vyre_ir *ir = vyre_program_ir(program);
    assert_string_equal(ir->debug_strings + ir->step_names[0], "work.steps.start");
    assert_string_equal(ir->debug_strings + ir->step_names[1], "work.steps.i");
    assert_string_equal(ir->debug_strings + ir->resource_names[2], "work.both.middle");
    vyre_place place = ir->places[0];
    uint32_t scope = VYRE_PLACE_SCOPE(place);
    assert_int_equal(VYRE_PLACE_LINE(place), 7);
    assert_string_equal(ir->debug_strings + ir->scopes[scope - 1].name, "work.steps");
    assert_string_equal(ir->debug_strings + ir->scopes[scope - 1].file, "ops/work.vyre");
    place = ir->scopes[scope - 1].call;
    assert_int_equal(VYRE_PLACE_LINE(place), 19);
    scope = VYRE_PLACE_SCOPE(place);
    assert_string_equal(ir->debug_strings + ir->scopes[scope - 1].name, "work.both");
    assert_int_equal(VYRE_PLACE_LINE(ir->scopes[scope - 1].call), 2);
    assert_int_equal(VYRE_PLACE_SCOPE(ir->scopes[scope - 1].call), 0);
    char *text;
    size_t size;
    assert_null(vyre_program_print(program, &text, &size));
    assert_non_null(strstr(text, "phase work_steps_start_s0"));
    assert_non_null(strstr(text, "work_both_middle_m2"));
    vyre_string_free(text);
    vyre_program_release(program);
}

/* What a pass makes has the requirements and the files of what it was made of. */
static void copies_keep_requirements_and_files(void **state) {
    (void)state;
    vyre_program *program = parse("program p(x: buffer<u32>, y: inout buffer<u32>, n: u32) {\n"
                                  "    require len(x) == n;\n"
                                  "    far.copy(x, y);\n"
                                  "    phase over y { y[gid] = mix.mix(y[gid], 1); }\n"
                                  "}");
    vyre_program *copy;
    assert_null(vyre_rebuild_run(program, (vyre_rebuild){0}, &copy));
    const vyre_ir *from = vyre_program_ir(program), *to = vyre_program_ir(copy);
    assert_true(same(program, copy));
    assert_int_equal(to->requirement_count, 2);
    assert_memory_equal(to->requirement_places, from->requirement_places,
                        2 * sizeof *to->requirement_places);
    assert_memory_equal(to->places, from->places, to->place_count * sizeof *to->places);
    assert_int_equal(to->scope_count, from->scope_count);
    for (uint32_t i = 0; i < to->scope_count; i++) {
        assert_int_equal(to->scopes[i].call, from->scopes[i].call);
        assert_string_equal(to->debug_strings + to->scopes[i].file,
                            from->debug_strings + from->scopes[i].file);
    }
    vyre_program_release(copy);
    vyre_program_release(program);
}

static void ptx_names_the_files(void **state) {
    (void)state;
    vyre_program *program = parse("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
                                  "    far.copy(x, y);\n"
                                  "    phase over y { y[gid] = mix.mix(y[gid], 1); }\n"
                                  "}");
    vyre_strbuf ptx = {0};
    cuda_phase_info infos[2];
    cuda_target target = {.sm = 90, .isa = 80};
    assert_null(cuda_emit(program, &target, &ptx, infos));
    assert_non_null(strstr(ptx.data, ".file 1 \"my.vyre\"\n.file 2 \"ops/far.vyre\"\n"
                                     ".file 3 \"ops/mix.vyre\"\n"));
    assert_non_null(strstr(ptx.data, "\t// ops/far.vyre:4\n\t.loc 2 4 "));
    assert_non_null(strstr(ptx.data, "\t// line 3\n\t.loc 1 3 "));
    assert_non_null(strstr(ptx.data, "\t// ops/mix.vyre:5\n\t.loc 3 5 "));
    vyre_strbuf_free(&ptx);
    vyre_program_release(program);
}

/* A run that goes wrong inside of an operation names its file and the call. */
static void findings_name_the_files(void **state) {
    (void)state;
    vyre_program *program = parse("program p(y: inout buffer<u32>) over y {\n"
                                  "    mix.put(y, 0, gid);\n"
                                  "}");
    uint32_t y[2] = {0};
    vyre_findings *findings;
    assert_null(vyre_sanitize(program, (vyre_input[]){{y, sizeof y}}, 1, NULL, &findings));
    vyre_program_release(program);
    assert_int_equal(vyre_findings_count(findings), 1);
    const vyre_finding *race = vyre_findings_get(findings, 0);
    assert_non_null(strstr(race->message, "`store` in ops/mix.vyre:20 (invocation"));
    assert_string_equal(race->first.file, "ops/mix.vyre");
    assert_string_equal(race->first.function, "mix.put");
    assert_null(race->first.call_file);
    assert_int_equal(race->first.call_line, 2);
    vyre_findings_free(findings);
}

/* A size is used once; two that are always equal require nothing. */
static void requirements_are_made_of_sizes(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_program *program;
    assert_null(vyre_builder_create("p", &b));
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
    uint32_t y =
        vyre_build_buffer(b, "y", VYRE_ACCESS_IN, VYRE_TYPE_U32, vyre_build_size_len(b, x));
    vyre_build_require(b, vyre_build_size_len(b, x), vyre_build_size_len(b, x));
    vyre_build_require(b, vyre_build_size_len(b, y), vyre_build_size_len(b, x));
    uint32_t sum = vyre_build_size_op(b, VYRE_SIZE_ADD, vyre_build_size_const(b, 1),
                                      vyre_build_size_const(b, 2));
    vyre_build_require(b, sum, vyre_build_size_const(b, 3));
    assert_int_equal(b->requirements.count, 0);
    vyre_build_require(b, vyre_build_size_copy(b, sum), vyre_build_size_len(b, y));
    assert_int_equal(b->requirements.count, 1);
    assert_int_equal(vyre_builder_errors(b), 0);
    vyre_build_require(b, sum, vyre_build_size_len(b, y)); /* which is in use */
    assert_int_equal(vyre_builder_errors(b), 1);
    vyre_status_free(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    assert_null(program);
    assert_null(vyre_builder_create("p", &b));
    vyre_build_require(b, VYRE_NONE, vyre_build_size_const(b, 3));
    assert_int_equal(vyre_builder_errors(b), 1);
    assert_int_equal(vyre_build_size_copy(b, 77), VYRE_NONE);
    vyre_builder_free(b);
}

static void mistakes_name_file_line_and_the_calls(void **state) {
    (void)state;
    check_refused(HEAD "{\n    y[gid] = types.outer(x[gid]);\n}",
                  "ops/types.vyre:2:16: error[V0302]: operand 2 of `+` is f32, "
                  "expected u32 as operand 1\n"
                  " 2 |     return v + 1.5f;\n"
                  "   |                ^~~~\n"
                  "   = In: `types.inner`, called from ops/types.vyre:4:34\n"
                  "   = In: `types.outer`, called from my.vyre:2:14\n"
                  "   = Fix: convert one of them, as in u32(x)\n");
    check_refused("program p(y: inout buffer<u32>) {\n    types.part(y);\n}",
                  "ops/types.vyre:6:14: error[V0204]: `x` is an array, expected a value\n"
                  " 6 |     x[gid] = x;\n"
                  "   |              ^\n"
                  "   = In: `types.part`, called from my.vyre:2:5\n"
                  "   = Fix: name an element as in a[gid], or its length as in len(a)\n");
    check_refused(HEAD "{\n    y[gid] = broken.fine(x[gid]);\n}",
                  "ops/broken.vyre:2:38: error[V0102]: expected an operand, found `;`\n"
                  " 2 | fn wrong(v: u32) -> u32 { return v + ; }\n"
                  "   |                                      ^\n"
                  "   = In: `broken.fine`, called from my.vyre:2:14\n"
                  "   = Fix: write a number, a name, a call or an expression in parentheses\n");
    check_refused("program p(y: inout buffer<u32>) {\n    torn.body(y);\n    torn.body(y);\n}",
                  "ops/torn.vyre:3:29: error[V0102]: expected an operand, found `;`\n"
                  " 3 |     phase over x { x[gid] = ; }\n"
                  "   |                             ^\n"
                  "   = In: `torn.body`, called from my.vyre:2:5\n"
                  "   = Fix: write a number, a name, a call or an expression in parentheses\n");
    check_refused("program p(y: inout buffer<u32>) {\n    torn.sizes(y, 3);\n}",
                  "ops/torn.vyre:5:54: error[V0201]: unknown name `m`\n"
                  " 5 | program sizes(x: inout buffer<u32>, n: u32) over n + m { x[gid] = 1; }\n"
                  "   |                                                      ^\n"
                  "   = In: `torn.sizes`, called from my.vyre:2:5\n"
                  "   = Fix: declare it with `let`, `var` or `const` before using it\n");
    check_refused(
        "program p(y: inout buffer<u32>) over y workgroup 64 {\n"
        "    if gid < 3 { y[gid] = mix.together(gid); }\n}",
        "ops/mix.vyre:26:5: error[V0501]: `barrier` must be reached by the whole workgroup "
        "together, but whether an invocation gets there depends on `gid` (line 2)\n"
        " 26 |     barrier;\n"
        "    |     ^~~~~~~\n"
        "    = In: `mix.together`, called from my.vyre:2:27\n"
        "    = Fix: move it out of that branch or loop, or make the condition the same for all of "
        "them, as with uniform_load(...)\n");
}

static void status_names_the_calls(void **state) {
    (void)state;
    static const char text[] = HEAD "{\n    y[gid] = types.outer(x[gid]);\n}";
    vyre_module *module;
    vyre_status status = vyre_module_parse("my.vyre", text, strlen(text), NULL, &module);
    const char *file;
    uint32_t line, column;
    assert_true(vyre_status_place(status, &file, &line, &column));
    assert_string_equal(file, "ops/types.vyre");
    assert_int_equal(line, 2);
    assert_non_null(strstr(vyre_status_text(status),
                           "in types.inner, called from ops/types.vyre:4:34; in types.outer, "
                           "called from my.vyre:2:14"));
    vyre_status_free(status);
}

static void circles_are_shown(void **state) {
    (void)state;
    check_refused(HEAD "{ y[gid] = loops.ping(x[gid]); }",
                  "ops/loops.vyre:1:33: error[V0205]: `loops.ping` calls itself through others: "
                  "loops.ping -> loops.pong -> loops.ping\n"
                  " 1 | fn pong(v: u32) -> u32 { return loops.ping(v); }\n"
                  "   |                                 ^~~~~~~~~~\n"
                  "   = In: `loops.pong`, called from ops/loops.vyre:2:33\n"
                  "   = In: `loops.ping`, called from my.vyre:1:67\n"
                  "   = Fix: write a loop; functions are always inlined\n");
    check_refused("program p(y: inout buffer<u32>) { loops.a(y); }",
                  "ops/loops.vyre:4:35: error[V0205]: `loops.a` calls itself through others: "
                  "loops.a -> loops.b -> loops.a\n"
                  " 4 | program b(x: inout buffer<u32>) { loops.a(x); }\n"
                  "   |                                   ^~~~~~~\n"
                  "   = In: `loops.b`, called from ops/loops.vyre:3:35\n"
                  "   = In: `loops.a`, called from my.vyre:1:35\n"
                  "   = Fix: write a `repeat`; the steps of a program replace its call\n");
}

static void calls_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message, *fix;
    } rows[] = {
        {HEAD "{ y[gid] = mix.mxi(1, 2); }", "unknown operation `mix.mxi`",
         "did you mean `mix.mix`?"},
        {HEAD "{ y[gid] = nobody.knows(1, 2); }", "unknown operation `nobody.knows`",
         "`vyre ops` lists the operations"},
        {HEAD "{ y[gid] = mix . mix(1, 2); }", "an operation's ID has a space or comment inside",
         "write it without spaces or comments, as in `hash.mix(...)`"},
        {HEAD "{ y[gid] = io.read(1); }",
         "`io.read` has no program text, so a program cannot call it",
         "use it through the API or from the command line"},
        {HEAD "{ y[gid] = mix.missing(1); }",
         "the manifest says that `mix.missing` is a function `missing` of ops/mix.vyre, which has "
         "none",
         "correct the dialect's manifest"},
        {HEAD "{ y[gid] = mix.mix(1); }", "`mix.mix` takes 2 arguments, found 1",
         "write mix.mix(a: u32, b: u32)"},
        {HEAD "{ y[gid] = mix.mix(1, 2.5f); }", "argument 2 of `mix.mix` is f32, expected u32",
         "convert it with u32(...)"},
        {HEAD "{ y[gid] = mix.total(x[0], 1); }",
         "argument 1 of `mix.total` is a value, expected an array",
         "write mix.total(x: buffer<u32>, n: u32)"},
        {HEAD "{ mix.put(x, 0, 1); }", "`x` is declared as a read-only buffer",
         "declare it as `inout buffer<u32>`"},
        {HEAD "{ far.copy(x, y); }", "`far.copy` is a program, expected a function",
         "call it between phases, as a step"},
        {HEAD "{ let (a, b) = mix.mix(1, 2); y[gid] = a + b; }",
         "`mix.mix` gives 1 value, 2 are named", "write one name for each value"},
        {"const A = mix.mix(1, 2);\n" HEAD "{ y[gid] = 1; }",
         "`mix.mix` is a function, and functions cannot be called at compile time",
         "use numbers, other constants and operators on them"},
        {"program p(y: inout buffer<u32>) { mix.mix(1, 2); }",
         "`mix.mix` is a function, expected a program", "call it inside a phase"},
        {"program p(y: inout buffer<u32>) { far.copy(y); }",
         "`far.copy` takes 2 arguments, found 1",
         "write far.copy(x: buffer<u32>, y: out buffer<u32>[len(x)])"},
        {"program p(y: inout buffer<u32>) { far.copy(y, y); }",
         "`y` is argument 1 and 2 of `far.copy`, which writes to it",
         "pass a copy, or another array"},
        {"program p(x: buffer<u32>, y: buffer<u32>) { far.copy(x, y); }",
         "`y` is declared as a read-only buffer", "declare it as `inout buffer<u32>`"},
        {"program p(x: buffer<f32>, y: inout buffer<u32>) { far.copy(x, y); }",
         "argument 1 of `far.copy` has f32 elements, expected u32",
         "write far.copy(x: buffer<u32>, y: out buffer<u32>[len(x)])"},
        {"program p(x: buffer<u32>, y: inout buffer<u32>) { far.copy(x, 3); }",
         "argument 2 of `far.copy` is a value, expected an array",
         "write far.copy(x: buffer<u32>, y: out buffer<u32>[len(x)])"},
        {"program p(x: buffer<u32>[4]) { scratch y: u32[5]; far.copy(x, y); }",
         "argument 2 of `far.copy` has 5 elements, expected 4", "pass an array of that length"},
        {"program p(y: inout buffer<u32>, n: u64) { far.scale(y, n, 1, true); }",
         "argument 2 of `far.scale` is u64, expected u32",
         "write far.scale(x: inout buffer<u32>, by: u32, f: f32, flag: bool)"},
        {"program p(y: inout buffer<u32>) { far.scale(y, 1, len(y), true); }",
         "argument 3 of `far.scale` is a computed value, expected a scalar argument or a constant",
         "pass a scalar argument of the program or a constant; only a phase computes values"},
        {"program p(y: inout buffer<u32>, x: buffer<f32>) { far.scale(y, 1, x[0], true); }",
         "argument 3 of `far.scale` is an element of an array, expected a scalar argument or a "
         "constant",
         "pass a scalar argument of the program or a constant; only a phase reads elements"},
        {"program p(y: inout buffer<u32>) { far.scale(y, y[0], 1, true); }",
         "argument 2 of `far.scale` is an element of an array, expected a scalar argument or a "
         "constant",
         "pass a scalar argument of the program or a constant; only a phase reads elements"},
        {"program p(y: inout buffer<u32>) { far.scale(y, y, 1, true); }",
         "argument 2 of `far.scale` is an array, expected u32",
         "write far.scale(x: inout buffer<u32>, by: u32, f: f32, flag: bool)"},
        {"program p(y: inout buffer<u32>) { far.scale(y, -1, 1, true); }",
         "the number -1 does not fit in u32, which is unsigned",
         "use a signed type, or write the bits as in 0xffffffff"},
        {"program p(y: inout buffer<u32>) { far.scale(y, 1, 1, true) phase over y { } }",
         "expected `;`, found `phase`", "write `;` here"},
        {"program p(y: inout buffer<u32>) { far.scale; phase over y { } }",
         "expected a call of an operation, found `;`",
         "call it with its arguments in parentheses, as in `sort.keys_u32(keys, sorted);`"},
        {"program p(y: inout buffer<u32>) { require len(y) < 3; phase over y { } }",
         "a requirement must compare two sizes with ==",
         "write `==` between two sizes, as in `require len(a) == len(b);`"},
        {"program p(y: inout buffer<u32>) { phase over y { } require 1 == len(y); }",
         "a requirement follows a phase or repeat", "move it to the start of the program"},
        {"program p(y: inout buffer<u32>) { require 1 + 1 == 3; phase over y { } }",
         "the sizes are 2 and 3, and must be equal", "require sizes that can be equal"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_diagnostics *found;
        vyre_module *module;
        assert_null(vyre_diagnostics_create(&found));
        const char *text = rows[i].text;
        vyre_status_free(vyre_module_parse("my.vyre", text, strlen(text), found, &module));
        const vyre_diagnostic *first = vyre_diagnostics_get(found, 0);
        if (vyre_diagnostics_errors(found) != 1 || strcmp(first->message, rows[i].message) != 0 ||
            strcmp(first->fix, rows[i].fix) != 0 || first->file) {
            fail_msg("%s\ngave %zu, first \"%s\", \"%s\"", text, vyre_diagnostics_errors(found),
                     first ? first->message : "", first ? first->fix : "");
        }
        vyre_diagnostics_free(found);
    }
}

/* Memory */

static const char everything[] =
    "program p(x: buffer<u32>, y: inout buffer<u32>, n: u32) {\n"
    "    scratch a: u32[len(x)];\n"
    "    require len(y) == n + 0;\n"
    "    far.odd(x, a);\n"
    "    repeat i in n { work.both(a, y, n); far.scale(y, n * 2, 1.5, true); }\n"
    "    phase over y { let (h, l) = mix.split(y[gid]); y[gid] = mix.mix(h, l) + mix.twice(h); }\n"
    "}";

static void allocation_failures_are_reported(void **state) {
    (void)state;
    static const char *const texts[] = {
        everything, HEAD "{ y[gid] = types.outer(x[gid]) + loops.ping(1) + mix.mix(1); }",
        HEAD "{ y[gid] = broken.fine(1); }", "program p(y: inout buffer<u32>) { loops.a(y); }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_module *module;
        for (size_t n = 0;; n++) {
            failing_allocator_start(n); /* 0 fails nowhere, and makes what stays */
            vyre_status status =
                vyre_module_parse("my.vyre", texts[i], strlen(texts[i]), NULL, &module);
            failing_allocator_end();
            bool failed = failing_allocator_failed();
            vyre_status_code code = vyre_status_code_of(status);
            vyre_status_free(status);
            vyre_module_free(module);
            if (n && !failed) {
                break;
            }
            if (failed && i == 0) {
                assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
            }
            if (failed && code == VYRE_STATUS_OK) {
                fail_msg("text %zu is accepted where allocation %zu fails", i, n);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_inlined_like_local_ones),
        cmocka_unit_test(names_of_caller_and_callee_do_not_meet),
        cmocka_unit_test(programs_are_spliced_in),
        cmocka_unit_test(scalars_come_from_arguments_constants_counters_and_sizes),
        cmocka_unit_test(spliced_programs_compute_what_the_same_by_hand_does),
        cmocka_unit_test(requirements_are_checked_before_anything_runs),
        cmocka_unit_test(steps_and_places_say_where_they_come_from),
        cmocka_unit_test(copies_keep_requirements_and_files),
        cmocka_unit_test(ptx_names_the_files),
        cmocka_unit_test(findings_name_the_files),
        cmocka_unit_test(requirements_are_made_of_sizes),
        cmocka_unit_test(mistakes_name_file_line_and_the_calls),
        cmocka_unit_test(status_names_the_calls),
        cmocka_unit_test(circles_are_shown),
        cmocka_unit_test(calls_that_cannot_be_are_refused),
        cmocka_unit_test(allocation_failures_are_reported),
    };
    library_check_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
