/* Every module that the SPIR-V writer makes is one that spirv-val takes: samples of every operation
 * and type, the suites of conformance, examples, benchmarks, the library and random programs; for
 * devices that have everything and for those that have little. Where there is no spirv-val, that is
 * said and skipped. */
#define _DEFAULT_SOURCE /* mkdtemp, popen */

#include "tests/unit/spirv_check.h"

#include <dirent.h>

#include <vyre/vyre.h>

#include "conform/suite.h"
#include "ir/program.h"
#include "tests/unit/sample_programs.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

/* A device that has as little as a device may. */
static spirv_target poor_target(void) {
    return (spirv_target){.version = 0x10600,
                          .storage8 = true,
                          .storage16 = true,
                          .atomics64 = true,
                          .shared_atomics64 = true,
                          .widths = 8 + 16 + 32 + 64,
                          .general = true};
}

/* One that ends loops and takes fences for barriers, with room for frames in the push constants. */
static spirv_target counting_target(void) {
    spirv_target target = spirv_baseline();
    target.most_turns = 65535;
    target.no_fences = true;
    target.polls = false;
    target.push_bytes = SPIRV_MOST_PUSH;
    return target;
}

static void samples_are_valid(void **state) {
    (void)state;
    const spirv_target poor = poor_target(), counting = counting_target();
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        spirv_check(program);
        spirv_check_for(program, &poor, &(vyre_corrections){.f64 = VYRE_CORRECT_ABSENT});
        spirv_check_for(program, &counting, &(vyre_corrections){0});
        vyre_program_release(program);
    }
}

/* The kernel that counts for phases. */
static void the_count_is_valid(void **state) {
    (void)state;
    const spirv_target targets[] = {spirv_baseline(), poor_target()};
    for (size_t i = 0; i < 2; i++) {
        spirv_module module;
        expect_ok(spirv_emit_count(&targets[i], &module));
        spirv_validate(&module, "count");
        spirv_module_free(&module);
    }
}

static void check_suite(conform_suite_kind kind) {
    conform_suite suite;
    size_t group = 0;
    expect_ok(conform_suite_make(kind, &suite));
    for (size_t first = 0, end; first < suite.case_count; first = end) {
        enum { MOST = 64 };
        const conform_suite_case *cases[MOST];
        conform_suite_trial trial;
        end = conform_suite_group_end(&suite, first);
        assert_true(end - first <= MOST);
        for (size_t i = first; i < end; i++) {
            cases[i - first] = &suite.cases[i];
        }
        if (test_takes(group++)) {
            expect_ok(conform_suite_build(&suite, cases, end - first, &trial));
            spirv_check(trial.trial.program);
            conform_trial_free(&trial.trial);
        }
    }
    conform_suite_free(&suite);
}

static void operations_are_valid(void **state) {
    (void)state;
    check_suite(CONFORM_SUITE_OPERATIONS);
}

static void check_folder(const char *path) {
    DIR *opened = opendir(path);
    assert_non_null(opened);
    for (struct dirent *entry; (entry = readdir(opened));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".vyre") != 0) {
            continue;
        }
        char name[512];
        vyre_strbuf text = {0};
        vyre_module *module;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        expect_ok(vyre_file_read(name, 1 << 20, &text));
        expect_ok(vyre_module_parse(name, vyre_strbuf_string(&text), text.size, NULL, &module));
        for (size_t i = 0; i < vyre_module_count(module); i++) {
            spirv_check(vyre_program_suited(vyre_module_program(module, i), "vulkan", true));
        }
        vyre_module_free(module);
        vyre_strbuf_free(&text);
    }
    closedir(opened);
}

static void texts_are_valid(void **state) {
    (void)state;
    check_folder("examples");
    check_folder("bench/kernels");
}

/* What one entry point keeps in its first block is not there for the next. */
static void entry_points_stand_alone(void **state) {
    (void)state;
    static const char text[] =
        "program both(x: inout buffer<f32>, y: inout buffer<f64>) { "
        "phase over x { x[gid] = x[gid] * 0.0; } phase over x { x[gid] = x[gid] + 0.0; } "
        "phase over y { y[gid] = y[gid] * 0.0; } phase over y { y[gid] = y[gid] + 0.0; } }";
    vyre_module *module;
    expect_ok(vyre_module_parse("test.vyre", text, strlen(text), NULL, &module));
    spirv_check(vyre_module_program(module, 0));
    vyre_module_free(module);
}

/* The programs of the operations of the library. */
static void library_is_valid(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot = vyre_dialects_enter(&guard);
    size_t taken = 0;
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        const vyre_operation *operation = vyre_dialects_at(snapshot, i);
        const vyre_program *program = NULL;
        if (test_takes(taken++) && vyre_operation_has_program(operation)) {
            expect_ok(vyre_operation_program(operation, NULL, &program));
            spirv_check(vyre_program_suited(program, "vulkan", true));
        }
    }
    vyre_dialects_leave(&guard);
}

static void random_programs_are_valid(void **state) {
    (void)state;
    uint64_t count = test_work(120, 8), seed = 300000 + test_seed();
    const spirv_target poor = poor_target(), counting = counting_target();
    for (uint64_t k = 0; k < count; k++) {
        conform_trial trial;
        expect_ok(k % 3 == 2 ? trial_generate(seed + k, &trial)
                             : conform_generate_small(seed + k, &trial));
        spirv_check(trial.program);
        if (k % 4 == 0) {
            spirv_check_for(trial.program, &poor, &(vyre_corrections){0});
            spirv_check_for(trial.program, &counting, &(vyre_corrections){0});
        }
        conform_trial_free(&trial);
    }
}

/* The text of a module is one that spirv-as makes the same module of. The third word says which
 * tool wrote it. */
static void texts_of_modules_assemble(void **state) {
    (void)state;
    const spirv_target target = spirv_baseline();
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        char path[80], command[256];
        vyre_program *program = sample_program(i);
        vyre_program *lowered = spirv_lowered(program, target.widths, &(vyre_corrections){0});
        spirv_phase_info *infos =
            vyre_alloc_zeroed(vyre_program_ir(lowered)->phase_count + 1, sizeof *infos);
        spirv_module module;
        vyre_strbuf text = {0}, again = {0};
        expect_ok(spirv_emit(lowered, &target, VYRE_NONE, &module, infos));
        assert_true(spirv_disassemble(&module, &text));
        snprintf(path, sizeof path, "%s/module.txt", spirv_folder);
        expect_ok(vyre_file_replace(path, text.data, text.size));
        snprintf(command, sizeof command,
                 "spirv-as --preserve-numeric-ids --target-env spv1.5 -o %s/again.spv %s 2>&1",
                 spirv_folder, path);
        spirv_run(command, vyre_program_name(program));
        snprintf(path, sizeof path, "%s/again.spv", spirv_folder);
        expect_ok(vyre_file_read(path, 1 << 24, &again));
        assert_int_equal(again.size, module.count * 4);
        memset(again.data + 8, 0, 4);
        assert_memory_equal(again.data, module.words, again.size);
        vyre_strbuf_free(&again);
        vyre_strbuf_free(&text);
        spirv_module_free(&module);
        vyre_free(infos);
        vyre_program_release(lowered);
        vyre_program_release(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_valid),         cmocka_unit_test(operations_are_valid),
        cmocka_unit_test(texts_are_valid),           cmocka_unit_test(library_is_valid),
        cmocka_unit_test(random_programs_are_valid), cmocka_unit_test(texts_of_modules_assemble),
        cmocka_unit_test(entry_points_stand_alone),  cmocka_unit_test(the_count_is_valid),
    };
    if (!spirv_has_tool("spirv-val") || !spirv_has_tool("spirv-as")) {
        print_message("skipped: there is no spirv-val or no spirv-as on the PATH\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, spirv_start, spirv_finish);
}
