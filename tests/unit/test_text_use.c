/* Texts of several files: what they see of each other, and what is said of files that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "base/status.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/library_check.h"

/* Files in memory, the last one without a path. */
typedef struct memory_file {
    const char *path, *text;
    int reads;
} memory_file;

static vyre_status read_memory(void *user, const char *path, vyre_text_sink *sink) {
    for (memory_file *file = user; file->path; file++) {
        if (!strcmp(file->path, path)) {
            file->reads++;
            vyre_text_put(sink, file->text, strlen(file->text));
            return VYRE_OK;
        }
    }
    return vyre_status_make(VYRE_STATUS_NOT_FOUND, "create it", "there is no %s", path);
}

/* Joins and parses; the first file is the text. */
static vyre_status load(memory_file *files, vyre_diagnostics *diagnostics, vyre_module **module) {
    const vyre_text_reader reader = {read_memory, files};
    char *text;
    size_t size;
    *module = NULL;
    VYRE_TRY(vyre_text_join(&reader, files->path, files->text, strlen(files->text), diagnostics,
                            &text, &size));
    vyre_status status = vyre_module_parse(files->path, text, size, diagnostics, module);
    vyre_string_free(text);
    return status;
}

static vyre_module *must_load(memory_file *files) {
    vyre_module *module;
    vyre_status status = load(files, NULL, &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return module;
}

static void expect_same(vyre_module *left, vyre_module *right) {
    assert_int_equal(vyre_module_count(left), 1);
    assert_int_equal(vyre_module_count(right), 1);
    vyre_digest a = vyre_program_digest(vyre_module_program(left, 0));
    vyre_digest b = vyre_program_digest(vyre_module_program(right, 0));
    assert_true(a.low == b.low && a.high == b.high);
    vyre_module_free(left);
    vyre_module_free(right);
}

/* An error of that code at FILE:LINE:COLUMN, NULL being the text, with a part of its message. */
static void expect_error(memory_file *files, uint32_t code, const char *file, uint32_t line,
                         uint32_t column, const char *part) {
    vyre_diagnostics *found;
    vyre_module *module;
    assert_null(vyre_diagnostics_create(&found));
    vyre_status status = load(files, found, &module);
    assert_non_null(status);
    vyre_status_free(status);
    bool any = false;
    for (size_t i = 0; i < vyre_diagnostics_count(found); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(found, i);
        bool same_file = !file == !item->file && (!file || !strcmp(file, item->file));
        any |= item->code == code && same_file && item->line == line && item->column == column &&
               strstr(item->message, part) && *item->fix && (!file || item->excerpt);
    }
    if (!any) {
        char *text;
        size_t size;
        assert_null(vyre_diagnostics_render(found, files->path, files->text, strlen(files->text),
                                            VYRE_FORM_TEXT, &text, &size));
        fail_msg("no V%04u \"%s\" in\n%s", code, part, text);
    }
    vyre_diagnostics_free(found);
}

static memory_file whole[] = {
    {"main.vyre",
     "const SCALE = 3.0;\n"
     "struct Particle { x: f32, v: f32 }\n"
     "fn twice(x: f32) -> f32 { return x + x; }\n"
     "fn move(p: Particle) -> Particle { return Particle(p.x + twice(p.v), p.v * SCALE); }\n"
     "program main(x: inout buffer<f32>) over x {\n"
     "    let p = move(Particle(x[gid], SCALE));\n"
     "    x[gid] = p.x + twice(p.v);\n"
     "}\n",
     0},
    {0}};

static memory_file parted[] = {
    {"dir/main.vyre",
     "// The text.\n"
     "use \"physics.vyre\";\n"
     "use \"./lib/util.vyre\";\n"
     "program main(x: inout buffer<f32>) over x {\n"
     "    let p = move(Particle(x[gid], SCALE));\n"
     "    x[gid] = p.x + twice(p.v);\n"
     "}\n",
     0},
    {"dir/physics.vyre",
     "use \"lib/util.vyre\";\n"
     "const SCALE = 3.0;\n"
     "struct Particle { x: f32, v: f32 }\n"
     "fn move(p: Particle) -> Particle { return Particle(p.x + twice(p.v), p.v * SCALE); }\n"
     "program unused(x: inout buffer<f32>) over x { x[gid] = SCALE; }",
     0},
    {"dir/lib/util.vyre", "fn twice(x: f32) -> f32 { return x + x; }\n", 0},
    {0}};

/* Both ways to a file are one, and imports leave no trace in the program. */
static void files_make_the_program_that_one_file_makes(void **state) {
    (void)state;
    expect_same(must_load(whole), must_load(parted));
    assert_int_equal(parted[1].reads, 1);
    assert_int_equal(parted[2].reads, 1);
}

static void circles_are_shown(void **state) {
    (void)state;
    memory_file files[] = {{"a.vyre", "use \"b.vyre\";\n", 0},
                           {"b.vyre", "\nuse \"sub/c.vyre\";\n", 0},
                           {"sub/c.vyre", "use \"../b.vyre\";\n", 0},
                           {0}};
    expect_error(files, 209, "sub/c.vyre", 1, 5, "b.vyre uses sub/c.vyre uses b.vyre");
    memory_file own[] = {{"./a.vyre", "use \"a.vyre\";\n", 0}, {0}};
    expect_error(own, 209, NULL, 1, 5, "a.vyre uses a.vyre");
}

static void missing_files_are_named_where_they_are_used(void **state) {
    (void)state;
    memory_file files[] = {
        {"a.vyre", "use \"b.vyre\";\n", 0}, {"b.vyre", "\n  use \"gone.vyre\";\n", 0}, {0}};
    expect_error(files, 209, "b.vyre", 2, 7, "no file gone.vyre");
}

static void a_text_without_its_files_says_so(void **state) {
    (void)state;
    static const char text[] = "use \"b.vyre\";\nprogram p(x: inout buffer<f32>) over x {}\n";
    vyre_module *module;
    vyre_status status = vyre_module_parse(NULL, text, sizeof text - 1, NULL, &module);
    assert_non_null(strstr(vyre_status_text(status), "without the file b.vyre"));
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
}

static void clashes_name_both_places(void **state) {
    (void)state;
    memory_file files[] = {{"a.vyre", "use \"b.vyre\";\n\nfn f() -> u32 { return 1; }\n", 0},
                           {"b.vyre", "const X = 1;\nfn f() -> u32 { return 2; }\n", 0},
                           {0}};
    expect_error(files, 202, "b.vyre", 2, 4, "`f` is also declared in line 3 of a.vyre");
}

/* A file means the same whoever uses it. */
static void a_file_sees_only_what_it_uses(void **state) {
    (void)state;
    memory_file files[] = {
        {"a.vyre",
         "use \"b.vyre\";\nfn mine(x: f32) -> f32 { return x; }\nconst N = 1.0;\n"
         "struct S { x: f32 }\n"
         "program p(x: inout buffer<f32>) over x { x[gid] = f(N) + mine(S(1.0).x); }\n",
         0},
        {"b.vyre", "fn f(x: f32) -> f32 {\n    let N = x;\n    return mine(N);\n}\n", 0},
        {0}};
    expect_error(files, 206, "b.vyre", 3, 12, "`mine`");
    files[1].text = "fn f(x: f32) -> f32 {\n    return N;\n}\n";
    expect_error(files, 201, "b.vyre", 2, 12, "`N`");
    files[1].text = "fn f(x: S) -> f32 { return x.x; }\n";
    expect_error(files, 201, "b.vyre", 1, 9, "`S`");
    files[1].text = "fn f(N: f32) -> f32 {\n    let mine = N;\n    return mine;\n}\n";
    vyre_module_free(must_load(files));
}

static void mistakes_are_shown_in_their_file(void **state) {
    (void)state;
    memory_file files[] = {
        {"a.vyre",
         "use \"b.vyre\";\nuse \"c.vyre\";\n"
         "program p(x: inout buffer<f32>) over x { x[gid] = g(1u); }\n",
         0},
        {"b.vyre", "\n\nfn f(x: u32) -> f32 {\n    return x;\n}\nfn open() {\n", 0},
        {"c.vyre", "use \"b.vyre\";\nfn g(x: u32) -> f32 { return f(x); }\n/* open", 0},
        {0}};
    expect_error(files, 301, "b.vyre", 4, 12, "u32");
    expect_error(files, 507, "b.vyre", 6, 12, "line 6");
    expect_error(files, 104, "c.vyre", 3, 1, "not closed");
}

static void limits_hold(void **state) {
    (void)state;
    enum { COUNT = VYRE_LIMIT_FILES + 2 };
    static char paths[COUNT][16], texts[COUNT][32];
    memory_file files[COUNT + 1] = {0};
    for (int i = 0; i < COUNT; i++) {
        snprintf(paths[i], sizeof paths[i], "f%d", i);
        if (i < COUNT - 2) {
            snprintf(texts[i], sizeof texts[i], "use \"f%d\";", i + 1);
        }
        files[i] = (memory_file){paths[i], texts[i], 0};
    }
    vyre_module_free(must_load(files));
    snprintf(texts[COUNT - 2], sizeof texts[0], "use \"f%d\";", COUNT - 1);
    expect_error(files, 701, "f32", 1, 5, "more than 32 files");
    memory_file marked[] = {{"a", "use \"b\";", 0}, {"b", "// \x1c\n", 0}, {0}};
    expect_error(marked, 209, NULL, 1, 5, "0x1c");
    memory_file folder[] = {{"a\nb/a", "use \"b\";", 0}, {"a\nb/b", "", 0}, {0}};
    expect_error(folder, 209, NULL, 1, 5, "control character");
    memory_file broken[] = {{"a", "use \"b\";", 0}, {"b", "// \xff\n", 0}, {0}};
    expect_error(broken, 105, "b", 1, 4, "UTF-8");
}

/* A program of the text, or of a file that it uses, as a step of another. */
static void steps_call_programs_of_the_text(void **state) {
    (void)state;
    memory_file files[] = {
        {"a.vyre",
         "use \"b.vyre\";\n"
         "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
         "    copy(x, y);\n    repeat 3 { grow(y, 2); }\n}\n"
         "program q(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n    p(x, y);\n}\n",
         0},
        {"b.vyre",
         "program copy(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid]; }\n"
         "program grow(x: inout buffer<u32>, by: u32) over x { x[gid] += by; }\n",
         0},
        {0}};
    memory_file plain[] = {{"a.vyre",
                            "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
                            "    phase over x { y[gid] = x[gid]; }\n"
                            "    repeat 3 { phase over y { y[gid] += 2; } }\n}\n",
                            0},
                           {0}};
    vyre_module *left = must_load(files), *right = must_load(plain);
    assert_int_equal(vyre_module_count(left), 2);
    uint32_t x[] = {1, 5};
    vyre_input input = {x, sizeof x};
    for (size_t i = 0; i < 3; i++) {
        vyre_outputs outputs;
        const vyre_program *program =
            i < 2 ? vyre_module_program(left, i) : vyre_module_program(right, 0);
        assert_null(vyre_reference_run(program, &input, 1, NULL, NULL, &outputs));
        uint32_t y[2];
        assert_int_equal(outputs.items[0].size, sizeof y);
        memcpy(y, outputs.items[0].data, sizeof y);
        assert_int_equal(y[0], 7);
        assert_int_equal(y[1], 11);
        vyre_outputs_free(&outputs);
    }
    vyre_module_free(left);
    vyre_module_free(right);
}

/* Operations without their dialect */

static vyre_module *parse(const char *text) {
    memory_file file[] = {{"my.vyre", text, 0}, {0}};
    return must_load(file);
}

static void operations_are_called_without_their_dialect(void **state) {
    (void)state;
    static const char *const heads[] = {"", "use far.*;\n", "use far.add;\nuse far.copy;\n"};
    char texts[3][512];
    for (size_t i = 0; i < 3; i++) {
        const char *dialect = i ? "" : "far.";
        snprintf(texts[i], sizeof texts[i],
                 "%sprogram p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
                 "    %scopy(x, y);\n    phase over y { y[gid] = %sadd(y[gid], 1); }\n}\n",
                 heads[i], dialect, dialect);
    }
    expect_same(parse(texts[0]), parse(texts[1]));
    expect_same(parse(texts[0]), parse(texts[2]));
}

static void declared_names_hide_operations(void **state) {
    (void)state;
    expect_same(parse("use far.*;\nfn add(a: u32, b: u32) -> u32 { return a * b; }\n"
                      "program p(x: inout buffer<u32>) over x { x[gid] = add(x[gid], 3); }\n"),
                parse("program p(x: inout buffer<u32>) over x { x[gid] = x[gid] * 3; }\n"));
}

/* The word means something at the start of a file alone. */
static void use_is_a_name_elsewhere(void **state) {
    (void)state;
    expect_same(parse("fn use(use: u32) -> u32 { return use + 1; }\n"
                      "program p(x: inout buffer<u32>) over x {\n"
                      "    x[gid] =\n"
                      "use(x[gid]);\n}\n"),
                parse("program p(x: inout buffer<u32>) over x { x[gid] = x[gid] + 1; }\n"));
}

/* A file's lines are about that file alone. */
static void dialects_are_used_by_file(void **state) {
    (void)state;
    memory_file files[] = {
        {"a.vyre",
         "use \"b.vyre\";\n"
         "program p(x: inout buffer<u32>) over x { x[gid] = f(x[gid]) + add(1, 2); }\n",
         0},
        {"b.vyre", "use far.*;\nfn f(x: u32) -> u32 { return add(x, 1); }\n", 0},
        {0}};
    expect_error(files, 206, NULL, 2, 63, "`add`");
    files[0].text = "use \"b.vyre\";\n"
                    "program p(x: inout buffer<u32>) over x { x[gid] = f(x[gid]); }\n";
    vyre_module_free(must_load(files));
}

static void names_that_are_taken_are_refused(void **state) {
    (void)state;
    memory_file files[] = {{"a.vyre", "use far.odd;\nuse far.odd;\nuse mix.mix;\n", 0}, {0}};
    expect_error(files, 203, NULL, 3, 5, "`mix` is a word of the language");
}

/* Whatever stands in a text of several parts, there is an answer. */
static void random_texts_are_answered(void **state) {
    (void)state;
    static const char *const parts[] = {
        "use \"b\";",
        "\n\x1c"
        "b\n",
        "\n\x1c"
        "c\n",
        "\n\x1c\n",
        "use far.*;",
        "use far.odd;",
        "use",
        "fn f() -> u32 { return g(); }\n",
        "fn g() -> u32 { return C; }\n",
        "const C = 1;\n",
        "struct S { a: u32 }\n",
        "fn h(s: S) -> u32 { return s.a + add(1, 2); }\n",
        "program p(x: inout buffer<u32>) over x { x[gid] = f() + C; }\n",
        "program q(x: inout buffer<u32>) { p(x); copy(x, x); }\n",
        "/*",
        "*/",
        "//",
        "{",
        "}",
        "\"",
        ";",
        "\n",
        "'",
        "\xef\xbb\xbf"};
    uint32_t number = 7;
    for (uint32_t i = 0; i < 20000; i++) {
        char text[1024] = "", *formatted;
        size_t size = 0, formatted_size;
        for (uint32_t k = 0; k < 3 + i % 12; k++) {
            number = number * 1664525u + 1013904223u;
            const char *part = parts[(number >> 16) % (sizeof parts / sizeof *parts)];
            size += (size_t)snprintf(text + size, sizeof text - size, "%s", part);
        }
        char *exact = malloc(size + 1); /* reading past it is noticed */
        assert_non_null(exact);
        memcpy(exact + 1, text, size);
        vyre_module *module;
        vyre_status status = vyre_module_parse("a", exact + 1, size, NULL, &module);
        assert_true(!status == (module != NULL));
        vyre_status_free(status);
        vyre_module_free(module);
        vyre_status_free(vyre_text_format("a", exact + 1, size, NULL, &formatted, &formatted_size));
        vyre_string_free(formatted);
        free(exact);
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_module *module;
        vyre_status status = load(parted, NULL, &module);
        vyre_module_free(module);
        bool was_refused = status != NULL;
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
        assert_true(was_refused);
    }
}

int main(void) {
    library_check_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_make_the_program_that_one_file_makes),
        cmocka_unit_test(circles_are_shown),
        cmocka_unit_test(missing_files_are_named_where_they_are_used),
        cmocka_unit_test(a_text_without_its_files_says_so),
        cmocka_unit_test(clashes_name_both_places),
        cmocka_unit_test(a_file_sees_only_what_it_uses),
        cmocka_unit_test(mistakes_are_shown_in_their_file),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(steps_call_programs_of_the_text),
        cmocka_unit_test(operations_are_called_without_their_dialect),
        cmocka_unit_test(declared_names_hide_operations),
        cmocka_unit_test(use_is_a_name_elsewhere),
        cmocka_unit_test(dialects_are_used_by_file),
        cmocka_unit_test(names_that_are_taken_are_refused),
        cmocka_unit_test(random_texts_are_answered),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
