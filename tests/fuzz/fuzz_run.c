/* Any bytes as text; what parses runs on the reference backend, by itself and with the sanitizers
 * watching, within small budgets. It ends with outputs or with a status that says what to do. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#include "ir/lookup.h"

enum { ARGUMENTS = 8, ELEMENTS = 64, BYTES = 4096, STEPS = 1000000, MEMORY = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds) {
    if (!holds) {
        abort();
    }
}

static void check_status(vyre_status status) {
    check(!status || *vyre_status_fix(status));
    vyre_status_free(status);
}

/* Scalars are small, buffers hold numbers that are small every other time. Elements that are
 * records may be larger than BYTES: then a buffer holds none. */
static size_t make_inputs(const vyre_program *program, uint8_t bytes[ARGUMENTS][BYTES],
                          vyre_input *inputs) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t count = 0;
    for (uint32_t i = 0; i < ir->arg_count && count < ARGUMENTS; i++) {
        uint32_t resource = ir->args[i].resource;
        if (resource != VYRE_NONE && ir->resources[resource].access == VYRE_ACCESS_OUT) {
            continue;
        }
        uint32_t width = vyre_arg_bytes(ir, &ir->args[i]);
        uint32_t length = BYTES / width < ELEMENTS ? BYTES / width : ELEMENTS;
        for (uint32_t k = 0; k < length; k++) {
            memset(bytes[count] + (size_t)k * width, k % 2 ? 0 : (int)(k * 37), width);
            bytes[count][(size_t)k * width] = (uint8_t)(k % 9);
        }
        bytes[count][0] = 1;
        if (length) {
            memset(bytes[count] + 1, 0, width - 1);
        }
        length = resource == VYRE_NONE ? 1 : length;
        inputs[count] = (vyre_input){bytes[count], (size_t)length * width};
        count++;
    }
    return count;
}

static void run(const vyre_program *program) {
    static uint8_t bytes[ARGUMENTS][BYTES];
    vyre_input inputs[ARGUMENTS];
    size_t count = make_inputs(program, bytes, inputs);
    for (uint64_t seed = 0; seed < 2; seed++) {
        const vyre_reference_options options = {
            .seed = seed, .max_steps = STEPS, .max_memory_bytes = MEMORY};
        vyre_outputs outputs;
        check_status(vyre_reference_run(program, inputs, count, NULL, &options, &outputs));
        vyre_outputs_free(&outputs);
        const vyre_sanitize_options watched = {
            .seed = seed, .max_steps = STEPS, .max_memory_bytes = MEMORY};
        vyre_findings *findings;
        vyre_status status = vyre_sanitize(program, inputs, count, &watched, &findings);
        for (size_t i = 0; !status && i < vyre_findings_count(findings); i++) {
            const vyre_finding *found = vyre_findings_get(findings, i);
            check(*found->message && *found->fix && found->count);
        }
        vyre_findings_free(findings);
        check_status(status);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("fuzz", (const char *)data, size, NULL, &module);
    vyre_status_free(status);
    for (size_t i = 0; module && i < vyre_module_count(module); i++) {
        run(vyre_module_program(module, i));
    }
    vyre_module_free(module);
    return 0;
}
