/* Lanes of the cpu backend that leave an inlined call behind a barrier, in every form of code. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/reference/backend.h"

static const char *const forms[] = {"auto", "1", "1x2", "1x4", "1x8", "4", "8", "16", "32"};
enum { FORMS = sizeof forms / sizeof *forms };

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* One subgroup leaves, so only the other one computes the later conditions. Which one it is changes
 * from workgroup to workgroup, so that something is left behind of lanes that stayed. */
static const char leaving[] =
    "program leaving(n: u32, x: out buffer<u32>[420]) over 404 workgroup 32 subgroup 16 {\n"
    "    let at = wid.x * 32u + lid.x;\n"
    "    let value = inline {\n"
    "        barrier;\n"
    "        if subgroup_id == wid.x % 2u { return 1u; }\n"
    "        if n == 1u { return 2u; }\n"
    "        if n == 2u { for i in 0u..n { if i * 20u == at { return 3u; } } return 4u + n; }\n"
    "        return at;\n"
    "    };\n"
    "    x[at] = value;\n"
    "}\n";

static void lanes_that_left_decide_nothing(void **state) {
    (void)state;
    vyre_device *oracle, *cpu;
    vyre_module *module;
    setenv("VYRE_THREADS", "1", 1); /* which runs all workgroups in order */
    vyre_status status = vyre_acquire("cpu", &cpu);
    if (vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE) {
        print_message("not run, because %s\n", vyre_status_text(status));
        vyre_status_free(status);
        skip();
    }
    expect_ok(status);
    expect_ok(vyre_reference_open_oracle(&oracle));
    expect_ok(vyre_module_parse("leaving", leaving, sizeof leaving - 1, NULL, &module));
    for (size_t i = 0; i < FORMS; i++) {
        setenv("VYRE_CPU_LANES", forms[i], 1);
        vyre_device_cache_limit(cpu, 0);
        for (uint32_t n = 0; n < 3; n++) {
            const vyre_input input = {&n, sizeof n};
            const vyre_program *program = vyre_module_program(module, 0);
            vyre_outputs expected, found;
            expect_ok(vyre_device_dispatch(oracle, program, &input, 1, NULL, &expected));
            expect_ok(vyre_device_dispatch(cpu, program, &input, 1, NULL, &found));
            assert_memory_equal(found.items[0].data, expected.items[0].data,
                                expected.items[0].size);
            vyre_outputs_free(&expected);
            vyre_outputs_free(&found);
        }
    }
    unsetenv("VYRE_CPU_LANES");
    vyre_module_free(module);
    vyre_device_release(oracle);
    vyre_device_release(cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_left_decide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
