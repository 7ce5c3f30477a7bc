/* Every pure operation of the cuda backend on every type it takes, run by the machine of tests/ptx
 * and held byte for byte against the evaluators of src/ir/eval.h: 8 bits in full, otherwise special
 * and random operands. Operands are loaded, so that nothing is known of them beforehand. */
#include "tests/unit/eval_number.h"

#include <vyre/builder.h>
#include <vyre/pipeline.h>

#include "base/alloc.h"
#include "tests/ptx/device.h"
#include "tests/unit/settings.h"

enum { FULL = 65536, SPECIALS = 256 };

static vyre_device *device;
static uint64_t operands[3][FULL], memory[4][FULL], expected[FULL];

static void check(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static bool is_float(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
}

/* Buffers hold no bool. */
static vyre_type stored(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}

static vyre_program *build(const eval_case *c) {
    static const char *const names[] = {"a", "b", "c"};
    vyre_builder *b;
    vyre_program *program;
    uint32_t arrays[3], x[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    check(vyre_builder_create("operation", &b));
    for (uint32_t k = 0; k < c->operands; k++) {
        arrays[k] = vyre_build_buffer(b, names[k], VYRE_ACCESS_IN, stored(c->types[k]), VYRE_NONE);
    }
    uint32_t size = vyre_build_size_len(b, arrays[0]);
    uint32_t result = vyre_build_buffer(b, "r", VYRE_ACCESS_OUT, stored(c->result), size);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, result)}});
    uint32_t at = vyre_build_position(b, VYRE_OP_GID, 0);
    for (uint32_t k = 0; k < c->operands; k++) {
        x[k] = vyre_build_load(b, arrays[k], at);
        if (c->types[k] == VYRE_TYPE_BOOL) {
            x[k] = vyre_build_convert(b, VYRE_TYPE_BOOL, x[k]);
        }
    }
    uint32_t value = c->op == VYRE_OP_CONVERT ? vyre_build_convert(b, c->result, x[0])
                     : c->op == VYRE_OP_BITCAST
                         ? vyre_build_bitcast(b, c->result, x[0])
                         : vyre_build_op(b, (vyre_op)c->op, x[0], x[1], x[2]);
    if (c->result == VYRE_TYPE_BOOL) {
        value = vyre_build_convert(b, VYRE_TYPE_U8, value);
    }
    vyre_build_store(b, result, at, value);
    vyre_build_phase_end(b);
    check(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    return program;
}

/* A power of two or a neighbour of one, or of any size; often small. */
static uint64_t integer(vyre_type type) {
    int width = (int)vyre_type_bytes(type) * 8;
    uint64_t any = eval_random();
    if (any & 1) {
        return ((uint64_t)1 << eval_random_in(0, width - 1)) + (uint64_t)eval_random_in(-1, 1);
    }
    any = eval_random() & eval_mask(type);
    any >>= eval_random_in(0, width - 1);
    return eval_random() & 1 ? 0 - any : any;
}

static uint32_t operand_bytes(const eval_case *c) {
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < c->operands; k++) {
        bytes += vyre_type_bytes(c->types[k]);
    }
    return bytes;
}

static void choose(const eval_case *c, size_t count) {
    uint64_t specials[SPECIALS];
    size_t special = is_float(c->types[0]) ? number_specials(c->types[0], specials) : 0;
    assert_true(special <= SPECIALS);
    for (size_t i = 0; i < count; i++) {
        uint64_t x[3] = {0};
        vyre_type last = c->types[c->operands - 1];
        if (is_float(last)) {
            number_operands(c->op, last, x);
        }
        for (uint32_t k = 0; k < c->operands; k++) {
            if (!is_float(c->types[k])) {
                x[k] = integer(c->types[k] == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : c->types[k]);
            }
        }
        if (special && i < count / 2) {
            x[0] = specials[i % special];
            x[1] = c->operands > 1 && c->types[1] == c->types[0] ? specials[i / special % special]
                                                                 : x[1];
        }
        if (count == FULL && operand_bytes(c) <= 2) {
            x[0] = c->operands == 1 ? i : i & 0xff;
            x[1] = i >> 8;
        }
        for (uint32_t k = 0; k < c->operands; k++) {
            bool flag = c->types[k] == VYRE_TYPE_BOOL;
            operands[k][i] = x[k] & (flag ? 1 : eval_mask(c->types[k]));
            eval_put(memory[k], i, vyre_type_bytes(c->types[k]), operands[k][i]);
        }
    }
    c->evaluate(expected, memory[0], memory[1], memory[2], count);
}

static void run(const eval_case *c, size_t count) {
    vyre_program *program = build(c);
    vyre_input inputs[3];
    vyre_outputs outputs;
    for (uint32_t k = 0; k < c->operands; k++) {
        inputs[k] = (vyre_input){memory[k], count * vyre_type_bytes(c->types[k])};
    }
    vyre_pipeline *pipeline;
    check(vyre_device_compile(device, program, NULL, &pipeline));
    check(vyre_pipeline_dispatch(pipeline, inputs, c->operands, NULL, &outputs));
    uint32_t bytes = vyre_type_bytes(c->result);
    for (size_t i = 0; i < count; i++) {
        uint64_t found = eval_get(outputs.items[0].data, i, bytes);
        uint64_t right = eval_get(expected, i, bytes);
        if (found != right) {
            char text[160];
            eval_describe(c, text, sizeof text);
            fail_msg("%s of %llx %llx %llx is %llx, not %llx", text,
                     (unsigned long long)operands[0][i], (unsigned long long)operands[1][i],
                     (unsigned long long)operands[2][i], (unsigned long long)found,
                     (unsigned long long)right);
        }
    }
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}

static void operations_give_the_bytes_of_the_evaluators(void **state) {
    (void)state;
    eval_case c = {0};
    uint32_t cases = 0;
    uint64_t some = test_work(8192, 1024), all = test_work(FULL, 4096);
    check(ptx_device_open(&device));
    for (; eval_next(&c); cases++) {
        uint64_t wanted = operand_bytes(&c) <= 2 ? all : some;
        size_t count = wanted < FULL ? wanted : FULL;
        choose(&c, count);
        run(&c, count);
    }
    print_message("%u operations and types\n", cases);
    assert_true(cases > 400);
    vyre_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_give_the_bytes_of_the_evaluators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
