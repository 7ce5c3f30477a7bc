#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "tests/unit/failing_allocator.h"

static vyre_module *parse(const char *text) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("test", text, strlen(text), NULL, &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return module;
}

/* Parses a text with mistakes; the list of what was found. */
static vyre_diagnostics *parse_wrong(const char *text, size_t size, vyre_status_code code) {
    vyre_diagnostics *found;
    vyre_module *module;
    vyre_status status = vyre_diagnostics_create(&found);
    assert_null(status);
    status = vyre_module_parse("test", text, size, found, &module);
    assert_int_equal(vyre_status_code_of(status), code);
    assert_null(module);
    vyre_status_free(status);
    return found;
}

static bool same(const vyre_program *left, const vyre_program *right) {
    vyre_digest a = vyre_program_digest(left), b = vyre_program_digest(right);
    return a.low == b.low && a.high == b.high;
}

static void a_module_holds_its_programs(void **state) {
    (void)state;
    vyre_module *module = parse("program a(y: inout buffer<u32>) over y { y[gid] = 1; }\n"
                                "fn f() {}\n"
                                "program b(y: inout buffer<u32>) over y { y[gid] = 2; }\n");
    assert_int_equal(vyre_module_count(module), 2);
    assert_string_equal(vyre_program_name(vyre_module_program(module, 0)), "a");
    assert_ptr_equal(vyre_module_find(module, "b"), vyre_module_program(module, 1));
    assert_null(vyre_module_find(module, "f"));
    assert_null(vyre_module_program(module, 2));
    vyre_program *kept = vyre_program_retain(vyre_module_find(module, "b"));
    vyre_module_free(module);
    assert_string_equal(vyre_program_name(kept), "b");
    vyre_program_release(kept);
    vyre_module_free(NULL);
}

static void nothing_is_a_module_too(void **state) {
    (void)state;
    static const char *const texts[] = {"", "\n\n", "// only a comment", "\xef\xbb\xbf",
                                        "const N = 1;"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_module *module = parse(texts[i]);
        assert_int_equal(vyre_module_count(module), 0);
        vyre_module_free(module);
    }
    vyre_module *module;
    vyre_status status = vyre_module_parse("test", NULL, 0, NULL, &module);
    assert_null(status);
    vyre_module_free(module);
}

static void order_does_not_matter(void **state) {
    (void)state;
    vyre_module *first = parse("const N = M + 1; const M = 2;\n"
                               "fn f(x: u32) -> u32 { return g(x) * N; }\n"
                               "fn g(x: u32) -> u32 { return x + M; }\n"
                               "program p(y: inout buffer<u32>) over y { y[gid] = f(y[gid]); }\n");
    vyre_module *second = parse("program p(y: inout buffer<u32>) over y { y[gid] = f(y[gid]); }\n"
                                "fn g(x: u32) -> u32 { return x + M; }\n"
                                "fn f(x: u32) -> u32 { return g(x) * N; }\n"
                                "const M = 2; const N = M + 1;\n");
    assert_true(same(vyre_module_program(first, 0), vyre_module_program(second, 0)));
    vyre_module_free(first);
    vyre_module_free(second);
}

static void text_and_builder_mean_the_same(void **state) {
    (void)state;
    vyre_module *module =
        parse("program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {\n"
              "    y[gid] = fma(a, x[gid], y[gid]);\n"
              "}\n");
    vyre_builder *b;
    vyre_status status = vyre_builder_create("saxpy", &b);
    assert_null(status);
    uint32_t a = vyre_build_scalar(b, "a", VYRE_TYPE_F32);
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32, VYRE_NONE);
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_F32, VYRE_NONE);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, y)}});
    uint32_t i = vyre_build_position(b, VYRE_OP_GID, 0);
    uint32_t scale = vyre_build_param(b, a);
    uint32_t left = vyre_build_load(b, x, vyre_build_position(b, VYRE_OP_GID, 0));
    uint32_t right = vyre_build_load(b, y, vyre_build_position(b, VYRE_OP_GID, 0));
    vyre_build_store(b, y, i, vyre_build_op(b, VYRE_OP_FMA, scale, left, right));
    vyre_build_phase_end(b);
    vyre_program *program;
    status = vyre_builder_finish(b, NULL, &program);
    assert_null(status);
    assert_true(same(program, vyre_module_program(module, 0)));
    vyre_program_release(program);
    vyre_builder_free(b);
    vyre_module_free(module);
}

static void the_status_carries_the_first_error(void **state) {
    (void)state;
    vyre_module *module;
    const char text[] =
        "program p(y: inout buffer<u32>) over y {\n    y[gid] = a;\n    b = 1;\n}\n";
    vyre_status status = vyre_module_parse("file.vyre", text, strlen(text), NULL, &module);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_PROGRAM);
    const char *file;
    uint32_t line, column;
    assert_true(vyre_status_place(status, &file, &line, &column));
    assert_string_equal(file, "file.vyre");
    assert_int_equal(line, 2);
    assert_int_equal(column, 14);
    assert_non_null(strstr(vyre_status_text(status), "V0201"));
    assert_non_null(strstr(vyre_status_text(status), "2 errors"));
    vyre_status_free(status);
}

static void errors_are_counted_and_then_given_up(void **state) {
    (void)state;
    char text[8192] = "program p(y: inout buffer<u32>) over y {\n";
    for (int i = 0; i < 150; i++) {
        char line[64];
        snprintf(line, sizeof line, "    y[%d] = unknown_%d;\n", i, i);
        strcat(text, line);
    }
    strcat(text, "}\nprogram q(y: inout buffer<u32>) over y { y[0] = other; }\n");
    vyre_diagnostics *found = parse_wrong(text, strlen(text), VYRE_STATUS_INVALID_PROGRAM);
    assert_int_equal(vyre_diagnostics_errors(found), VYRE_LIMIT_DIAGNOSTICS + 1);
    const vyre_diagnostic *last = vyre_diagnostics_get(found, vyre_diagnostics_count(found) - 1);
    assert_int_equal(last->code, 702);
    vyre_diagnostics_free(found);
}

static void a_function_is_reported_once(void **state) {
    (void)state;
    char text[16384] = "fn f(x: u32) -> u32 { return x + 1.5f + missing; }\n";
    for (int i = 0; i < 40; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "program p%d(y: inout buffer<u32>) over y { y[gid] = f(1) + f(2) * f(3); }\n", i);
        strcat(text, line);
    }
    vyre_diagnostics *found = parse_wrong(text, strlen(text), VYRE_STATUS_INVALID_PROGRAM);
    assert_int_equal(vyre_diagnostics_count(found), 2);
    const vyre_diagnostic *first = vyre_diagnostics_get(found, 0);
    assert_string_equal(first->calls->function, "f");
    assert_int_equal(first->line, 1);
    assert_int_equal(first->calls->line, 2);
    vyre_diagnostics_free(found);
}

/* Hostile texts end in an error, soon and without much memory. */

typedef struct hostile {
    const char *what, *prefix, *repeated, *suffix;
    size_t times;
    uint32_t code;
} hostile;

static const char head[] = "program p(y: inout buffer<u32>) over y {\n    ";

static void check_hostile(const hostile *h) {
    size_t size = strlen(h->prefix) + strlen(h->repeated) * h->times + strlen(h->suffix);
    char *text = malloc(size + 1), *to = text;
    to += sprintf(to, "%s", h->prefix);
    for (size_t i = 0; i < h->times; i++) {
        to += sprintf(to, "%s", h->repeated);
    }
    sprintf(to, "%s", h->suffix);
    clock_t begin = clock();
    vyre_diagnostics *found;
    vyre_module *module;
    vyre_status status = vyre_diagnostics_create(&found);
    assert_null(status);
    status = vyre_module_parse("test", text, size, found, &module);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    bool seen = !h->code && !status;
    for (size_t i = 0; i < vyre_diagnostics_count(found); i++) {
        seen |= vyre_diagnostics_get(found, i)->code == h->code;
    }
    if (!seen) {
        fail_msg("%s: %s", h->what, vyre_status_text(status));
    }
    if (seconds > 20) { /* with sanitizers on a busy machine */
        fail_msg("%s took %g seconds", h->what, seconds);
    }
    vyre_status_free(status);
    vyre_module_free(module);
    vyre_diagnostics_free(found);
    free(text);
}

static void hostile_texts_end_soon(void **state) {
    (void)state;
    const hostile texts[] = {
        {"parentheses", head, "(", "", 1000000, 701},
        {"signs", "const A = ", "-(", "1", 1000000, 701},
        {"calls", head, "f(", "", 1000000, 701},
        {"indices", head, "y[", "", 1000000, 701},
        {"blocks", head, "{", "", 1000000, 701},
        {"loops", head, "loop {", "", 1000000, 701},
        {"else if", head, "if gid == 0 { } else ", "{ } }", 1000, 701},
        {"repeats", "program p() { ", "repeat 3 { ", "", 100000, 701},
        {"comments", "", "/*", "", 1000000, 104},
        {"a long sum", "const A = 0", " + 1", ";", 1000000, 0},
        {"a long sum of values", "program p(y: inout buffer<u32>) over y {\n    y[0] = gid",
         " + gid", "; }", 200000, 0},
        {"a long condition", "program p(y: inout buffer<u32>) over y { if true", " && gid == 0",
         " { y[0] = 1; } }", 100000, 0},
        {"a long size", "program p(y: inout buffer<u32>) over 1", " + 1", " { y[0] = 1; }", 100000,
         701},
        {"a long number", "const A = 1", "0", ";", 3000000, 304},
        {"a long float", "const A: f32 = 0.1", "0", ";", 3000000, 0},
        {"a long name", "const ", "a", " = 1;", 3000000, 701},
        {"many arguments", "program p(", "a: u32, ", ") over 1 { }", 100000, 701},
        {"many operands", "const A = min(", "1, ", "1);", 1000000, 303},
        {"many lines", head, "\n", "y[gid] = 1; }", 3000000, 0},
        {"quotes", head, "'", "", 1000000, 702},
        {"zero bytes", head, "\x01", "", 1000000, 101},
        {"braces", "", "}", "", 1000000, 102},
        {"semicolons", head, ";", "", 1000000, 702},
        {"programs without end", "", "program p(", "", 300000, 702},
        {"functions without end", "", "fn f() {", "", 300000, 202},
        {"calls of a function match", "fn match(a: u32) -> u32 { return a; }\nconst A = 0",
         " + match(1)", ";", 1000000, 307},
        {"lines with use", "", "use hash.fnv1a_32;\n", "", 1000000, 701},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check_hostile(&texts[i]);
    }
}

/* A short text cannot ask for much memory, nor a long list for much time. */
static void tables_are_bounded(void **state) {
    (void)state;
    char text[65536] = "", *to = text;
    for (int i = 0; i < 1000; i++) {
        to += sprintf(to, "const T%d: u8[524288] = [1; 524288];\n", i);
    }
    vyre_diagnostics *found = parse_wrong(text, strlen(text), VYRE_STATUS_LIMIT);
    assert_int_equal(vyre_diagnostics_count(found), 1);
    assert_int_equal(vyre_diagnostics_get(found, 0)->code, 701);
    assert_int_equal(vyre_diagnostics_get(found, 0)->line, 17);
    vyre_diagnostics_free(found);
    to = text + sprintf(text, "program p(y: inout buffer<u32>) over y { match gid { 0");
    for (int i = 1; i < 5000; i++) {
        to += sprintf(to, ", %d", i);
    }
    sprintf(to, " => { y[gid] = 1; } } }");
    found = parse_wrong(text, strlen(text), VYRE_STATUS_LIMIT);
    assert_int_equal(vyre_diagnostics_count(found), 1);
    assert_non_null(strstr(vyre_diagnostics_get(found, 0)->message, "more than 4096 numbers"));
    vyre_diagnostics_free(found);
}

/* Functions that call one another twice each: as many calls as 2 to the power of their number. */
static void inlining_is_bounded(void **state) {
    (void)state;
    char text[65536] = "fn g0(a: u32) -> u32 { return a; }\n";
    for (int i = 1; i < 200; i++) {
        char line[96];
        snprintf(line, sizeof line, "fn g%d(a: u32) -> u32 { return g%d(a) + g%d(a); }\n", i, i - 1,
                 i - 1);
        strcat(text, line);
    }
    for (int i = 0; i < 200; i += 7) {
        char line[128];
        snprintf(line, sizeof line,
                 "program p%d(y: inout buffer<u32>) over y { y[gid] = g%d(1); }\n", i, i);
        strcat(text, line);
    }
    clock_t begin = clock();
    vyre_diagnostics *found = parse_wrong(text, strlen(text), VYRE_STATUS_LIMIT);
    assert_int_equal(vyre_diagnostics_get(found, 0)->code, 701);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 60);
    vyre_diagnostics_free(found);
}

/* Scratch arrays whose sizes are made of one another. */
static void sizes_are_bounded(void **state) {
    (void)state;
    char text[8192] = "program p(x: buffer<u32>) {\n    scratch s0: u32[len(x)];\n";
    for (int i = 1; i < 60; i++) {
        char line[96];
        snprintf(line, sizeof line, "    scratch s%d: u32[len(s%d) + len(s%d)];\n", i, i - 1,
                 i - 1);
        strcat(text, line);
    }
    strcat(text, "    phase over s59 { s59[gid] = 1; }\n}\n");
    vyre_diagnostics *found = parse_wrong(text, strlen(text), VYRE_STATUS_LIMIT);
    vyre_diagnostics_free(found);
}

/* A chain of constants, each made of the next. */
static void chains_of_constants_are_bounded(void **state) {
    (void)state;
    size_t size = 0;
    char *text = malloc(4000000);
    for (int i = 0; i < 100000; i++) {
        size += (size_t)sprintf(text + size, "const C%d = C%d + 1;\n", i, i + 1);
    }
    size += (size_t)sprintf(text + size, "const C100000 = 1;\n");
    vyre_diagnostics *found = parse_wrong(text, size, VYRE_STATUS_LIMIT);
    vyre_diagnostics_free(found);
    free(text);
}

/* Names that nobody knows, and many that they could have been. */
static void suggestions_are_bounded(void **state) {
    (void)state;
    size_t size = 0;
    char *text = malloc(12000000);
    for (int i = 0; i < 50000; i++) {
        size += (size_t)sprintf(text + size, "const name_%d = 1;\n", i);
    }
    size += (size_t)sprintf(text + size, "program p(y: inout buffer<u32>) over y {\n");
    for (int i = 0; i < 200000; i++) {
        size += (size_t)sprintf(text + size, "{ y[0] = nome_%d; }\n", i);
    }
    size += (size_t)sprintf(text + size, "}\n");
    clock_t begin = clock();
    vyre_diagnostics *found = parse_wrong(text, size, VYRE_STATUS_INVALID_PROGRAM);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 30);
    vyre_diagnostics_free(found);
    free(text);
}

static void too_large_a_text_is_refused(void **state) {
    (void)state;
    vyre_module *module;
    vyre_status status =
        vyre_module_parse("test", "", (size_t)VYRE_LIMIT_TEXT_BYTES + 1, NULL, &module);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_LIMIT);
    vyre_status_free(status);
}

static const char rich[] =
    "const N = 4; const M: f32 = 0.5;\n"
    "fn f(x: f32, a: inout buffer<f32>) -> f32 { if x < 0 { return M; } a[0] = x; return x; }\n"
    "fn pair(a: u32) -> (u32, u32) { return a, a + 1; }\n"
    "fn unused(n: u32) -> u32 { return n * 2; }\n"
    "program p(n: u32, x: buffer<f32>, y: out buffer<f32>[len(x)], c: inout buffer<u32>) {\n"
    "    scratch s: f32[len(x) * 2];\n"
    "    scratch sums: sum<f32>[n];\n"
    "    view pairs: inout buffer<vec2<u32>> = c;\n"
    "    phase one over x workgroup 64 {\n"
    "        shared part: f32[N * 16];\n"
    "        var own: f32[4];\n"
    "        part[lid] = f(x[gid], own);\n"
    "        barrier;\n"
    "        var sum = 0.0;\n"
    "        for i in 0..n { sum += part[i % 64]; if sum > 3 { break; } }\n"
    "        while sum > 1 && x[0] < 1 { sum *= 0.5; }\n"
    "        let (a, b) = pair(gid);\n"
    "        let (low, high) = if a < b { yield a, b; } else { yield b, a; };\n"
    "        let t = for i in 0..4 with (k = 0.0) { continue k + own[i]; };\n"
    "        atomic_add(c[low], high, acq_rel);\n"
    "        y[gid] = sum + t + subgroup_add(sum);\n"
    "    }\n"
    "    repeat i in n { phase over s { s[gid] = f32(i); sum_add(sums[gid], 1); } }\n"
    "    phase over sums { y[gid] = f32(sums[gid]); }\n"
    "    phase over pairs { pairs[gid].y += pairs[gid].x; }\n"
    "    repeat while c[0] { phase over c[1] max 9 { c[0] = 0; } }\n"
    "}\n";

static const char broken[] =
    "const A = B; const C = 1 / 0;\n"
    "fn f(x: f32) -> f32 { return x + 1u + nothing; }\n"
    "program p(y: inout buffer<f32>) over y {\n"
    "    let a = f(1) + unknwon; y[gid] = 3u; @ let b = ; if a { yield 3; }\n"
    "    y[gid] = sqr(2.0); break; x = 3; let a = 1; var unused = 2;\n"
    "}\n"
    "program p(y: float) over y { } } junk\n";

static void any_allocation_may_fail(void **state) {
    (void)state;
    vyre_module *whole = parse(rich); /* words of the language stay for good */
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_module *module;
        vyre_status status = vyre_module_parse("test", rich, strlen(rich), NULL, &module);
        bool failed = failing_allocator_failed();
        vyre_status_code code = vyre_status_code_of(status);
        /* Memory that cannot be made smaller does no harm. */
        if (code != VYRE_STATUS_OUT_OF_MEMORY) {
            assert_int_equal(code, VYRE_STATUS_OK);
            assert_true(same(vyre_module_program(module, 0), vyre_module_program(whole, 0)));
        }
        vyre_module_free(module);
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failed) {
            assert_true(n > 60);
            break;
        }
    }
    vyre_module_free(whole);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_diagnostics *found = NULL;
        vyre_module *module = NULL;
        char *rendered = NULL;
        size_t size;
        vyre_status status = vyre_diagnostics_create(&found);
        if (!status) {
            status = vyre_module_parse("test", broken, strlen(broken), found, &module);
            vyre_status shown = vyre_diagnostics_render(found, "test", broken, strlen(broken),
                                                        VYRE_FORM_TEXT, &rendered, &size);
            vyre_status_free(shown);
        }
        assert_non_null(status);
        assert_null(module);
        vyre_status_free(status);
        vyre_string_free(rendered);
        vyre_diagnostics_free(found);
        bool failed = failing_allocator_failed();
        failing_allocator_stop();
        if (!failed) {
            assert_true(n > 30);
            break;
        }
    }
}

/* Programs of one text are built one after the other; none leaves a trace in the next. */
static void programs_do_not_touch_one_another(void **state) {
    (void)state;
    static const char small[] = "program small(y: inout buffer<u32>) over y { y[gid] = 7u; }\n";
    char text[sizeof rich + 2 * sizeof small] = "";
    strcat(strcat(text, rich), small);
    vyre_module *both = parse(text), *first = parse(rich), *second = parse(small);
    assert_true(same(vyre_module_find(both, "p"), vyre_module_find(first, "p")));
    assert_true(same(vyre_module_find(both, "small"), vyre_module_find(second, "small")));
    const vyre_ir *ir = vyre_program_ir(vyre_module_find(both, "small"));
    assert_int_equal(ir->const_count, 1);
    assert_int_equal(ir->scope_count, 0);
    assert_int_equal(ir->debug_string_bytes,
                     vyre_program_ir(vyre_module_find(second, "small"))->debug_string_bytes);
    vyre_module_free(both);
    vyre_module_free(first);
    vyre_module_free(second);
}

static void a_text_without_a_name_is_called_text(void **state) {
    (void)state;
    static const char right[] = "program p(y: inout buffer<u32>) over y { y[gid] = 1; }";
    static const char wrong[] = "program p(y: inout buffer<u32>) over y { y[gid] = z; }";
    vyre_module *module;
    vyre_status status = vyre_module_parse(NULL, right, strlen(right), NULL, &module);
    assert_null(status);
    assert_int_equal(vyre_program_ir(vyre_module_program(module, 0))->file, 0);
    vyre_module_free(module);
    status = vyre_module_parse(NULL, wrong, strlen(wrong), NULL, &module);
    const char *file;
    uint32_t line, column;
    assert_true(vyre_status_place(status, &file, &line, &column));
    assert_string_equal(file, "text");
    assert_int_equal(column, 51);
    vyre_status_free(status);
    char *out;
    size_t size;
    status = vyre_text_format(NULL, "program", 7, NULL, &out, &size);
    assert_true(vyre_status_place(status, &file, &line, &column));
    assert_string_equal(file, "text");
    vyre_status_free(status);
}

/* An old line end would leave the rest of a file inside a comment. */
static void a_lone_carriage_return_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, column; /* 0: there is nothing wrong */
    } rows[] = {
        {"// comment\rprogram p() {}\r", 1, 11},
        {"// comment\r\nconst A = 1;\r\n/*\r\n*/", 0, 0},
        {"const A = 1;\r", 1, 13},
        {"const A =\r 1;", 1, 10},
        {"\n/* one\n\r two */", 3, 1},
        {"const A = 1;\r\r\n", 1, 13},
        {"\r\n\r", 2, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size = strlen(rows[i].text);
        if (!rows[i].line) {
            vyre_module_free(parse(rows[i].text));
            continue;
        }
        vyre_diagnostics *found = parse_wrong(rows[i].text, size, VYRE_STATUS_INVALID_PROGRAM);
        assert_int_equal(vyre_diagnostics_count(found), 1);
        const vyre_diagnostic *error = vyre_diagnostics_get(found, 0);
        assert_int_equal(error->code, 101);
        assert_int_equal(error->line, rows[i].line);
        assert_int_equal(error->column, rows[i].column);
        assert_non_null(strstr(error->message, "a carriage return without a line feed"));
        vyre_diagnostics_free(found);
        char *out;
        vyre_status status = vyre_text_format("test", rows[i].text, size, NULL, &out, &size);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_PROGRAM);
        assert_null(out);
        vyre_status_free(status);
    }
}

static void expect_sides(const vyre_program *program, uint32_t argument, uint32_t count,
                         const uint64_t *expected) {
    const uint64_t arguments[] = {5, 7, 35, 12, 280, 60};
    uint32_t sizes[VYRE_MOST_DIMENSIONS];
    assert_int_equal(vyre_program_sides(program, argument, sizes), count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t side;
        vyre_status status = vyre_size_eval(program, sizes[i], arguments, &side);
        assert_null(status);
        assert_int_equal(side, expected[i]);
    }
}

static void sides_are_those_of_the_text(void **state) {
    (void)state;
    vyre_module *module =
        parse("program f(h: u32, w: u32, a: buffer<f32>[h][w], b: buffer<f32>,\n"
              "          c: out buffer<f32>[h][w][4 * 2], d: out buffer<vec2<f32>>[3][4],\n"
              "          e: out buffer<f32>[h * w]) over 1 { c[0][0][0] = a[0][0] + b[0];\n"
              "    d[0][0] = vec2(1.0, 2.0); e[0] = 1.0; }");
    const vyre_program *program = vyre_module_program(module, 0);
    expect_sides(program, 0, 0, NULL);
    expect_sides(program, 2, 2, (uint64_t[]){5, 7});
    expect_sides(program, 3, 0, NULL);
    expect_sides(program, 4, 3, (uint64_t[]){5, 7, 8});
    expect_sides(program, 5, 2, (uint64_t[]){3, 4});
    expect_sides(program, 6, 1, (uint64_t[]){35});
    expect_sides(program, 7, 0, NULL);
    vyre_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_are_those_of_the_text),
        cmocka_unit_test(a_module_holds_its_programs),
        cmocka_unit_test(nothing_is_a_module_too),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(text_and_builder_mean_the_same),
        cmocka_unit_test(the_status_carries_the_first_error),
        cmocka_unit_test(errors_are_counted_and_then_given_up),
        cmocka_unit_test(a_function_is_reported_once),
        cmocka_unit_test(hostile_texts_end_soon),
        cmocka_unit_test(tables_are_bounded),
        cmocka_unit_test(inlining_is_bounded),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(chains_of_constants_are_bounded),
        cmocka_unit_test(suggestions_are_bounded),
        cmocka_unit_test(too_large_a_text_is_refused),
        cmocka_unit_test(a_text_without_a_name_is_called_text),
        cmocka_unit_test(a_lone_carriage_return_is_refused),
        cmocka_unit_test(programs_do_not_touch_one_another),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
