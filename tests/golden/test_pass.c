/* Every pass alone, text in and text out: tests/golden/passes/<pass>/<case>.vyre goes through the
 * pass of that name, and the printed programs are <case>.expected beside it. The folder `optimise`
 * is the whole pipeline, `correct` corrections for a device that rounds fma twice and flushes f32,
 * and `subgroups` subgroups of 64 lanes on a device that has those of 32.
 *
 * VYRE_UPDATE=1, or test_pass --update, writes the expectations anew; look at what changed. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "base/strbuf.h"
#include "pass/correct.h"
#include "pass/pass.h"
#include "pass/subgroup.h"

static bool update;

/* NULL where there is no such file. */
static char *read_all(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) {
        return NULL;
    }
    fseek(in, 0, SEEK_END);
    long end = ftell(in);
    rewind(in);
    char *data = malloc((size_t)end + 1);
    assert_non_null(data);
    data[fread(data, 1, (size_t)end, in)] = '\0';
    fclose(in);
    return data;
}

static vyre_module *parse(const char *path, const char *text) {
    vyre_module *module;
    vyre_status status = vyre_module_parse(path, text, strlen(text), NULL, &module);
    if (status) {
        fail_msg("%s: %s\n%s", path, vyre_status_text(status), text);
    }
    return module;
}

/* What stands in the result comes from a line of the text, or from none. */
static void check_places(const char *path, const vyre_ir *from, const vyre_ir *to) {
    for (uint32_t i = 0; i < to->place_count; i++) {
        uint32_t line = VYRE_PLACE_LINE(to->places[i]), k = 0;
        while (k < from->place_count && VYRE_PLACE_LINE(from->places[k]) != line) {
            k++;
        }
        if (line && k == from->place_count) {
            fail_msg("%s: instruction %u comes from line %u, which has none", path, i, line);
        }
    }
}

static void print(const char *path, const vyre_program *program, vyre_strbuf *out) {
    char *printed;
    size_t size;
    assert_null(vyre_program_print(program, &printed, &size));
    vyre_module *again = parse(path, printed);
    vyre_digest one = vyre_program_digest(program);
    vyre_digest other = vyre_program_digest(vyre_module_program(again, 0));
    if (one.low != other.low || one.high != other.high) {
        fail_msg("%s: another program after printing\n%s", path, printed);
    }
    vyre_strbuf_add(out, printed, size);
    vyre_module_free(again);
    vyre_string_free(printed);
}

static void expect(const char *path, const char *found) {
    char *wanted = read_all(path);
    if (update && (!wanted || strcmp(wanted, found) != 0)) {
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        fputs(found, out);
        fclose(out);
        printf("updated %s\n", path);
    } else if (!wanted) {
        fail_msg("%s is missing; VYRE_UPDATE=1 writes it:\n%s", path, found);
    } else if (strcmp(wanted, found) != 0) {
        fail_msg("%s: expected\n%s\nfound\n%s", path, wanted, found);
    }
    free(wanted);
}

/* `path` has room for another ending. */
static void check_case(const vyre_pass *pass, char *path) {
    char *text = read_all(path);
    assert_non_null(text);
    vyre_module *module = parse(path, text);
    vyre_strbuf found = {0};
    for (size_t i = 0; i < vyre_module_count(module); i++) {
        const vyre_program *program = vyre_module_program(module, i);
        vyre_program *result;
        vyre_status status = pass->run(program, &result);
        if (status) {
            fail_msg("%s: program `%s`: %s", path, vyre_program_name(program),
                     vyre_status_text(status));
        }
        if (result) {
            check_places(path, vyre_program_ir(program), vyre_program_ir(result));
            print(path, result, &found);
        } else {
            vyre_strbuf_printf(&found, "// %s is unchanged.\n", vyre_program_name(program));
        }
        vyre_program_release(result);
    }
    strcpy(path + strlen(path) - strlen(".vyre"), ".expected");
    expect(path, vyre_strbuf_string(&found));
    vyre_strbuf_free(&found);
    vyre_module_free(module);
    free(text);
}

static int by_name(const struct dirent **left, const struct dirent **right) {
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void check_pass(const vyre_pass *pass) {
    char folder[64];
    snprintf(folder, sizeof folder, "tests/golden/passes/%s", pass->name);
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name), cases = 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        if (dot && !strcmp(dot, ".vyre")) {
            char path[512];
            snprintf(path, sizeof path - sizeof ".expected", "%s/%s", folder, name);
            check_case(pass, path);
            cases++;
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    if (!cases) {
        fail_msg("%s holds no case; tests run in the root of the source tree", folder);
    }
}

static void passes_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < VYRE_PASS_COUNT; i++) {
        check_pass(&vyre_passes[i]);
    }
}

static void the_pipeline(void **state) {
    (void)state;
    check_pass(&(vyre_pass){.name = "optimise", .run = vyre_optimise});
}

static vyre_status correct(const vyre_program *program, vyre_program **out_program) {
    const vyre_corrections needed = {VYRE_CORRECT_FLUSH | VYRE_CORRECT_FMA, VYRE_CORRECT_FMA};
    return vyre_correct(program, &needed, out_program);
}

static void corrections(void **state) {
    (void)state;
    check_pass(&(vyre_pass){.name = "correct", .run = correct});
}

static vyre_status share(const vyre_program *program, vyre_program **out_program) {
    return vyre_subgroups_share(program, 32, out_program);
}

static void subgroups(void **state) {
    (void)state;
    check_pass(&(vyre_pass){.name = "subgroups", .run = share});
}

int main(int argc, char **argv) {
    update = getenv("VYRE_UPDATE") || (argc > 1 && !strcmp(argv[1], "--update"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_alone),
        cmocka_unit_test(the_pipeline),
        cmocka_unit_test(corrections),
        cmocka_unit_test(subgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
