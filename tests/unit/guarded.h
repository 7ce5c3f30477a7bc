/* Runs between guard pages, where a step beside a buffer ends the process. Needs _GNU_SOURCE. */
#ifndef VYRE_TESTS_GUARDED_H
#define VYRE_TESTS_GUARDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <vyre/pipeline.h>

#include "pass/shared.h"
#include "runtime/device.h"

/* Memory that ends, or begins, where a page that nobody may touch does. */
typedef struct guarded {
    uint8_t *pages, *data;
    size_t bytes;
} guarded;

static inline guarded guarded_make(size_t size, bool at_end, const void *contents) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (size + page) / page * page;
    guarded g = {.bytes = inner + 2 * page};
    g.pages = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(g.pages, MAP_FAILED);
    assert_int_equal(mprotect(g.pages + page, inner, PROT_READ | PROT_WRITE), 0);
    g.data = at_end ? g.pages + page + inner - size : g.pages + page;
    if (contents && size) {
        memcpy(g.data, contents, size);
    }
    return g;
}

static inline void guarded_free(guarded *g) {
    munmap(g->pages, g->bytes);
}

static inline void guarded_expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* Runs a program on the device under test with each buffer in a place of its own, and holds the
 * outputs against the oracle's. Sizes are multiples of the elements', so what ends at a page is
 * aligned to them. A config of NULL is the default one. A program whose shared arrays have sizes
 * from arguments is passed over: what runs is another program, with numbers in their place. */
static inline void guarded_run(vyre_device *oracle, vyre_device *device,
                               const vyre_program *program, const vyre_input *inputs, size_t count,
                               const vyre_dispatch_config *config, bool at_end) {
    enum { MOST = 64 };
    const vyre_dispatch_config plain = {.timeout_ns = UINT64_C(3600000000000),
                                        .flags = VYRE_DISPATCH_NO_ASSERTS};
    guarded ins[MOST], outs[MOST];
    vyre_input guarded_inputs[MOST];
    vyre_output outputs[MOST];
    vyre_outputs expected;
    vyre_plan plan;
    vyre_pipeline *pipeline;
    config = config ? config : &plain;
    assert_true(count <= MOST);
    if (vyre_shared_is_sized(vyre_program_ir(program))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ins[i] = guarded_make(inputs[i].size, at_end, inputs[i].data);
        guarded_inputs[i] = (vyre_input){ins[i].data, inputs[i].size};
    }
    guarded_expect_ok(vyre_device_dispatch(oracle, program, inputs, count, config, &expected));
    guarded_expect_ok(vyre_plan_init(&plan, program, guarded_inputs, count, config));
    for (uint32_t i = 0; i < plan.output_count; i++) {
        size_t size = (size_t)vyre_plan_output_bytes(&plan, i);
        outs[i] = guarded_make(size, at_end, NULL);
        outputs[i] = (vyre_output){outs[i].data, size};
    }
    guarded_expect_ok(vyre_device_compile(device, program, config, &pipeline));
    guarded_expect_ok(
        vyre_pipeline_run(pipeline, VYRE_RUN_BORROWED, &plan, guarded_inputs, outputs, NULL));
    for (uint32_t i = 0; i < plan.output_count; i++) {
        assert_memory_equal(outputs[i].data, expected.items[i].data, outputs[i].size);
        guarded_free(&outs[i]);
    }
    for (size_t i = 0; i < count; i++) {
        guarded_free(&ins[i]);
    }
    vyre_pipeline_release(pipeline);
    vyre_plan_deinit(&plan);
    vyre_outputs_free(&expected);
}

#endif
