/* For tests of the SPIR-V writer: modules of programs, and spirv-val and spirv-as from the PATH. */
#ifndef VYRE_TESTS_SPIRV_CHECK_H
#define VYRE_TESTS_SPIRV_CHECK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "backend/spirv/ahead.h"
#include "base/alloc.h"
#include "base/file.h"
#include "pass/correct.h"
#include "pass/message.h"
#include "pass/shared.h"
#include "pass/subgroup.h"

static char spirv_folder[] = P_tmpdir "/vyre-spirv-XXXXXX";
static uint32_t spirv_modules;

static inline void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static inline bool spirv_has_tool(const char *name) {
    char command[64];
    snprintf(command, sizeof command, "command -v %s >/dev/null", name);
    return system(command) == 0;
}

/* Runs a command, which must succeed. */
static inline void spirv_run(const char *command, const char *about) {
    char line[256];
    FILE *out = popen(command, "r");
    assert_non_null(out);
    vyre_strbuf said = {0};
    while (fgets(line, sizeof line, out)) {
        vyre_strbuf_puts(&said, line);
    }
    if (pclose(out) != 0) {
        fail_msg("%s: %s: %.2000s", about, command, vyre_strbuf_string(&said));
    }
    vyre_strbuf_free(&said);
}

static inline void spirv_validate(const spirv_module *module, const char *name) {
    enum { FIRST_OF_1_3 = 0x10600 };
    char path[80], command[200];
    snprintf(path, sizeof path, "%s/module.spv", spirv_folder);
    expect_ok(vyre_file_replace(path, (const char *)module->words, module->count * 4));
    snprintf(command, sizeof command, "spirv-val --target-env vulkan1.%d %s 2>&1",
             module->words[1] < FIRST_OF_1_3 ? 2 : 3, path);
    spirv_run(command, name);
    spirv_modules++;
}

/* The program that is compiled for a device: without messages, with numbers in place of sizes of
 * shared arrays, with the subgroups that the device has, lowered, and with the corrections. */
static inline vyre_program *spirv_lowered(const vyre_program *program, uint64_t widths,
                                          const vyre_corrections *needed) {
    enum { MOST = 128 };
    vyre_program *bare, *fixed = NULL, *shared, *lowered;
    uint32_t lengths[MOST];
    expect_ok(vyre_messages_drop(program, &bare));
    const vyre_program *plain = bare ? bare : program;
    assert_true(vyre_program_ir(plain)->resource_count <= MOST);
    for (uint32_t i = 0; i < MOST; i++) {
        lengths[i] = 5 + i;
    }
    if (vyre_shared_is_sized(vyre_program_ir(plain))) {
        expect_ok(vyre_shared_fix(plain, lengths, &fixed));
    }
    plain = fixed ? fixed : plain;
    expect_ok(vyre_subgroups_share(plain, widths, &shared));
    expect_ok(vyre_lower_corrected(shared ? shared : plain, true, needed, &lowered));
    vyre_program_release(shared);
    vyre_program_release(fixed);
    vyre_program_release(bare);
    return lowered;
}

/* A module of all phases for a target; a device of it validates them. */
static inline void spirv_check_for(const vyre_program *program, const spirv_target *target,
                                   const vyre_corrections *needed) {
    vyre_program *lowered = spirv_lowered(program, target->widths, needed);
    spirv_module module;
    spirv_phase_info *infos =
        vyre_alloc_zeroed(vyre_program_ir(lowered)->phase_count + 1, sizeof *infos);
    expect_ok(spirv_emit(lowered, target, VYRE_NONE, &module, infos));
    spirv_validate(&module, vyre_program_name(program));
    for (uint32_t i = 0; i < vyre_program_ir(lowered)->phase_count; i++) {
        assert_in_range(infos[i].threads, 1, 1024);
    }
    spirv_module_free(&module);
    vyre_free(infos);
    vyre_program_release(lowered);
}

static inline void spirv_check(const vyre_program *program) {
    const spirv_target target = spirv_baseline();
    spirv_check_for(program, &target, &(vyre_corrections){0});
}

static inline int spirv_start(void **state) {
    (void)state;
    if (!spirv_has_tool("spirv-val") || !spirv_has_tool("spirv-as")) {
        print_message("not validated: there is no spirv-val or no spirv-as on the PATH\n");
        return -1;
    }
    return mkdtemp(spirv_folder) ? 0 : -1;
}

static inline int spirv_finish(void **state) {
    static const char *const names[] = {"module.spv", "module.txt", "again.spv"};
    char path[80];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", spirv_folder, names[i]);
        unlink(path);
    }
    rmdir(spirv_folder);
    print_message("%u modules are valid\n", spirv_modules);
    return 0;
}

#endif
