/* Golden files: each holds a text and, behind it in lines that start with "//:", what is expected.
 *
 *   tests/golden/diagnostics/   texts with mistakes: the diagnostics as people see them
 *   tests/golden/programs/      texts without: the programs as vyre_program_print writes them
 *   tests/golden/ptx/           the same as the cuda backend writes them
 *   tests/golden/spirv/         the same as SPIR-V for Vulkan
 *   tests/golden/opencl/        the same as OpenCL C
 *
 * Examples and the kernels in the documentation are read as well: they must be free of mistakes,
 * keep their digest through printing and formatting, and examples are laid out as the formatter
 * does.
 *
 * test_golden --update writes the expectations anew; look at what changed before keeping it. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/opencl/runtime/backend.h"
#include "backend/spirv/ahead.h"

static const char mark[] = "//:";
static bool update;

typedef struct golden {
    char path[256];
    const char *name;
    char *data;
    size_t size; /* of everything */
    size_t text; /* of what stands in front of the expectation */
} golden;

static char *read_all(const char *path, size_t *size) {
    FILE *in = fopen(path, "rb");
    if (!in) {
        fail_msg("%s cannot be opened", path);
        return NULL;
    }
    fseek(in, 0, SEEK_END);
    long end = ftell(in);
    rewind(in);
    char *data = malloc((size_t)end + 1);
    assert_non_null(data);
    *size = fread(data, 1, (size_t)end, in);
    data[*size] = '\0';
    fclose(in);
    return data;
}

static size_t find_mark(const char *data, size_t size) {
    for (size_t at = 0; at < size;) {
        if (size - at >= sizeof mark - 1 && !memcmp(data + at, mark, sizeof mark - 1)) {
            return at;
        }
        const char *newline = memchr(data + at, '\n', size - at);
        at = newline ? (size_t)(newline + 1 - data) : size;
    }
    return size;
}

static int by_name(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

typedef void (*check_function)(const golden *file);

/* Calls `check` for every file of a folder with the given ending, in order. */
static void for_each(const char *folder, const char *ending, check_function check) {
    char *names[1024];
    size_t count = 0;
    DIR *opened = opendir(folder);
    if (!opened) {
        fail_msg("%s cannot be opened; run the tests in the root of the source tree", folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(opened));) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (length >= tail && !strcmp(entry->d_name + length - tail, ending) && count < 1024) {
            names[count] = malloc(length + 1);
            memcpy(names[count++], entry->d_name, length + 1);
        }
    }
    closedir(opened);
    qsort(names, count, sizeof *names, by_name);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        golden found = {0};
        snprintf(found.path, sizeof found.path, "%s/%s", folder, names[i]);
        found.name = names[i];
        found.data = read_all(found.path, &found.size);
        found.text = find_mark(found.data, found.size);
        check(&found);
        free(found.data);
        free(names[i]);
    }
}

/* Expectations */

/* The text of lines, each with the mark in front. */
static char *marked(const char *lines) {
    size_t count = 1;
    for (const char *c = lines; *c; c++) {
        count += *c == '\n';
    }
    char *out = malloc(strlen(lines) + count * (sizeof mark + 1) + 2), *to = out;
    while (*lines) {
        const char *newline = strchr(lines, '\n');
        size_t length = newline ? (size_t)(newline - lines) : strlen(lines);
        to += sprintf(to, "%s%s%.*s\n", mark, length ? " " : "", (int)length, lines);
        lines += length + (newline != NULL);
    }
    *to = '\0';
    return out;
}

static void expect(const golden *file, const char *found) {
    char *wanted = file->data + file->text;
    char *lines = marked(found);
    if (update && strcmp(lines, wanted) != 0) {
        FILE *out = fopen(file->path, "wb");
        assert_non_null(out);
        fwrite(file->data, 1, file->text, out);
        fputs(lines, out);
        fclose(out);
        printf("updated %s\n", file->path);
    } else if (strcmp(lines, wanted) != 0) {
        fail_msg("%s: expected\n%s\nfound\n%s", file->path, wanted, lines);
    }
    free(lines);
}

/* Properties that every text has */

static void fail_with(const char *what, const char *path, vyre_status status) {
    fail_msg("%s: %s: %s", path, what, vyre_status_text(status));
}

static bool same_digest(const vyre_program *left, const vyre_program *right) {
    vyre_digest a = vyre_program_digest(left), b = vyre_program_digest(right);
    return a.low == b.low && a.high == b.high;
}

static vyre_module *parse(const char *path, const char *text, size_t size) {
    vyre_module *module;
    vyre_status status = vyre_module_parse(path, text, size, NULL, &module);
    if (status) {
        fail_with("does not parse", path, status);
    }
    return module;
}

/* Formatting is stable; returns the formatted text, NULL where the syntax is wrong. */
static char *check_format(const char *path, const char *text, size_t size, size_t *out_size) {
    char *once, *twice;
    size_t twice_size;
    vyre_status status = vyre_text_format(path, text, size, NULL, &once, out_size);
    if (status) {
        vyre_status_free(status);
        return NULL;
    }
    status = vyre_text_format(path, once, *out_size, NULL, &twice, &twice_size);
    if (status) {
        fail_with("does not parse after formatting", path, status);
    }
    assert_int_equal(*out_size, twice_size);
    assert_memory_equal(once, twice, twice_size);
    vyre_string_free(twice);
    return once;
}

/* Printing and formatting keep every program's digest. */
static void check_round_trips(const char *path, const char *text, size_t size) {
    vyre_module *module = parse(path, text, size);
    size_t formatted_size;
    char *formatted = check_format(path, text, size, &formatted_size);
    assert_non_null(formatted);
    vyre_module *again = parse(path, formatted, formatted_size);
    assert_int_equal(vyre_module_count(module), vyre_module_count(again));
    for (size_t i = 0; i < vyre_module_count(module); i++) {
        const vyre_program *program = vyre_module_program(module, i);
        assert_true(same_digest(program, vyre_module_program(again, i)));
        char *printed;
        size_t printed_size;
        vyre_status status = vyre_program_print(program, &printed, &printed_size);
        if (status) {
            fail_with("does not print", path, status);
        }
        vyre_module *flat = parse(path, printed, printed_size);
        if (!same_digest(program, vyre_module_program(flat, 0))) {
            fail_msg("%s: program %s has another digest after printing", path,
                     vyre_program_name(program));
        }
        vyre_module_free(flat);
        vyre_string_free(printed);
    }
    vyre_string_free(formatted);
    vyre_module_free(again);
    vyre_module_free(module);
}

/* Diagnostics */

/* The text form without the colours. */
static void check_colours(const vyre_diagnostics *diagnostics, const golden *file,
                          const char *plain) {
    char *colored;
    size_t size;
    vyre_status status = vyre_diagnostics_render(diagnostics, file->name, file->data, file->text,
                                                 VYRE_FORM_COLOR_TEXT, &colored, &size);
    assert_null(status);
    char *to = colored;
    for (const char *from = colored; *from;) {
        if (*from == '\033') {
            from = strchr(from, 'm') + 1;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    assert_string_equal(colored, plain);
    vyre_string_free(colored);
}

static uint32_t seen_codes[1000];

static void check_diagnostics(const golden *file) {
    vyre_diagnostics *diagnostics;
    vyre_module *module;
    vyre_status status = vyre_diagnostics_create(&diagnostics);
    assert_null(status);
    status = vyre_module_parse(file->name, file->data, file->text, diagnostics, &module);
    size_t errors = vyre_diagnostics_errors(diagnostics);
    assert_true((status != NULL) == (errors > 0));
    assert_true((module == NULL) == (errors > 0));
    for (size_t i = 0; i < vyre_diagnostics_count(diagnostics); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(diagnostics, i);
        if (!item->fix || !*item->fix || !*vyre_diagnostic_title(item->code)) {
            fail_msg("%s: V%04u has no fix or no title", file->path, item->code);
        }
        seen_codes[item->code % 1000]++;
    }
    char *rendered;
    size_t size;
    vyre_status_free(status);
    status = vyre_diagnostics_render(diagnostics, file->name, file->data, file->text,
                                     VYRE_FORM_TEXT, &rendered, &size);
    assert_null(status);
    assert_true(size > 0);
    check_colours(diagnostics, file, rendered);
    expect(file, rendered);
    vyre_string_free(rendered);
    char *formatted = check_format(file->name, file->data, file->text, &size);
    if (formatted) {
        vyre_string_free(formatted);
    }
    vyre_module_free(module);
    vyre_diagnostics_free(diagnostics);
}

static void diagnostics_are_as_expected(void **state) {
    (void)state;
    for_each("tests/golden/diagnostics", ".vyre", check_diagnostics);
    size_t kinds = 0;
    for (size_t i = 0; i < 1000; i++) {
        kinds += seen_codes[i] > 0;
    }
    assert_true(kinds >= 40);
}

/* Programs */

static void check_program(const golden *file) {
    vyre_module *module = parse(file->path, file->data, file->text);
    size_t total = 0;
    char *all = calloc(1, 1);
    for (size_t i = 0; i < vyre_module_count(module); i++) {
        char *printed;
        size_t size;
        vyre_status status = vyre_program_print(vyre_module_program(module, i), &printed, &size);
        assert_null(status);
        all = realloc(all, total + size + 1);
        memcpy(all + total, printed, size + 1);
        total += size;
        vyre_string_free(printed);
    }
    expect(file, all);
    free(all);
    vyre_module_free(module);
    check_round_trips(file->path, file->data, file->text);
}

static void programs_are_as_expected(void **state) {
    (void)state;
    for_each("tests/golden/programs", ".vyre", check_program);
}

static void check_ptx(const golden *file) {
    vyre_module *module = parse(file->name, file->data, file->text);
    vyre_strbuf text = {0};
    cuda_phase_info infos[4];
    cuda_target target = cuda_baseline();
    vyre_status status = cuda_emit(vyre_module_program(module, 0), &target, &text, infos);
    assert_null(status);
    expect(file, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
    vyre_module_free(module);
}

static void ptx_is_as_expected(void **state) {
    (void)state;
    for_each("tests/golden/ptx", ".vyre", check_ptx);
}

static void check_spirv(const golden *file) {
    vyre_module *module = parse(file->name, file->data, file->text);
    vyre_strbuf text = {0};
    vyre_status status = spirv_show(vyre_module_program(module, 0), &text);
    assert_null(status);
    expect(file, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
    vyre_module_free(module);
}

static void spirv_is_as_expected(void **state) {
    (void)state;
    for_each("tests/golden/spirv", ".vyre", check_spirv);
}

static void check_opencl(const golden *file) {
    vyre_module *module = parse(file->name, file->data, file->text);
    vyre_strbuf text = {0};
    vyre_status status = opencl_builtin.stages->print(vyre_module_program(module, 0), &text);
    assert_null(status);
    expect(file, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
    vyre_module_free(module);
}

static void opencl_is_as_expected(void **state) {
    (void)state;
    for_each("tests/golden/opencl", ".vyre", check_opencl);
}

/* Examples and documentation */

static void check_clean(const char *path, const char *text, size_t size) {
    vyre_diagnostics *diagnostics;
    vyre_module *module;
    vyre_status status = vyre_diagnostics_create(&diagnostics);
    assert_null(status);
    status = vyre_module_parse(path, text, size, diagnostics, &module);
    if (status || vyre_diagnostics_count(diagnostics)) {
        char *rendered;
        size_t rendered_size;
        vyre_status_free(status);
        status = vyre_diagnostics_render(diagnostics, path, text, size, VYRE_FORM_TEXT, &rendered,
                                         &rendered_size);
        assert_null(status);
        fail_msg("%s is not free of mistakes:\n%s\n%s", path, rendered, text);
    }
    vyre_module_free(module);
    vyre_diagnostics_free(diagnostics);
    check_round_trips(path, text, size);
}

static void check_example(const golden *file) {
    check_clean(file->path, file->data, file->size);
    char *formatted;
    size_t size;
    vyre_status status =
        vyre_text_format(file->path, file->data, file->size, NULL, &formatted, &size);
    assert_null(status);
    if (strcmp(formatted, file->data) != 0) {
        fail_msg("%s is not in canonical layout. Fix: run `vyre fmt --write` on it", file->path);
    }
    vyre_string_free(formatted);
}

static void examples_are_clean_and_canonical(void **state) {
    (void)state;
    for_each("examples", ".vyre", check_example);
}

static size_t documented;

/* Every block that a page marks as vyre is a file of its own. */
static void check_page(const golden *file) {
    static const char open[] = "```vyre\n", close[] = "\n```";
    for (char *at = file->data; (at = strstr(at, open));) {
        char *text = at + sizeof open - 1;
        char *end = strstr(text, close);
        assert_non_null(end);
        char kept = end[1];
        end[1] = '\0';
        check_clean(file->path, text, (size_t)(end + 1 - text));
        end[1] = kept;
        documented++;
        at = end + 1;
    }
}

static void documented_kernels_are_clean(void **state) {
    (void)state;
    for_each("docs", ".md", check_page);
    for_each(".", "README.md", check_page);
    assert_true(documented > 10);
}

int main(int argc, char **argv) {
    update = argc > 1 && !strcmp(argv[1], "--update");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagnostics_are_as_expected),
        cmocka_unit_test(programs_are_as_expected),
        cmocka_unit_test(ptx_is_as_expected),
        cmocka_unit_test(spirv_is_as_expected),
        cmocka_unit_test(opencl_is_as_expected),
        cmocka_unit_test(examples_are_clean_and_canonical),
        cmocka_unit_test(documented_kernels_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
