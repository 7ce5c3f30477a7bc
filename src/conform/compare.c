#include "conform/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/message.h"
#include "ir/program.h"
#include "runtime/device.h"
#include "runtime/shared.h"

enum {
    FENCE_BYTES = 4096, /* on either side: all lanes of a few vectors */
    FENCE = 0xa5,
    GARBAGE = 0xcd,
};

/* Properties */

static const struct {
    const char *text, *meaning;
} property_rows[] = {
#define ROW(name, text, meaning) [CONFORM_PROPERTY_##name] = {text, meaning},
    CONFORM_PROPERTIES(ROW)
#undef ROW
};

const char *conform_property_name(conform_property property) {
    return property_rows[property].text;
}

const char *conform_property_meaning(conform_property property) {
    return property_rows[property].meaning;
}

/* Bytes as they lie in memory: any order will do. */
#define COMPARE(bytes)                                                                             \
    static int compare_##bytes(const void *left, const void *right) {                              \
        return memcmp(left, right, bytes);                                                         \
    }
COMPARE(1)
COMPARE(2)
COMPARE(4)
COMPARE(8)

/* Modulo 2^width, the carry going from byte to byte. */
static void add_up(uint32_t bytes, uint8_t *data, size_t size) {
    for (size_t at = bytes; at < size; at += bytes) {
        unsigned carry = 0;
        for (uint32_t k = 0; k < bytes; k++) {
            carry += (unsigned)data[k] + data[at + k];
            data[k] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    memset(data + bytes, 0, size - bytes);
}

void conform_property_settle(conform_property property, vyre_type type, uint8_t *data,
                             size_t size) {
    uint32_t bytes = vyre_type_bytes(type);
    if (property == CONFORM_PROPERTY_SAME || size <= bytes) {
        return;
    }
    if (property == CONFORM_PROPERTY_TOTAL) {
        add_up(bytes, data, size);
        return;
    }
    qsort(data, size / bytes, bytes,
          bytes == 1   ? compare_1
          : bytes == 2 ? compare_2
          : bytes == 4 ? compare_4
                       : compare_8);
}

/* Comparing */

static const vyre_dispatch_config run_config = {.timeout_ns = CONFORM_RUN_NS,
                                                .flags = VYRE_DISPATCH_NO_ASSERTS};
static const vyre_dispatch_config untimed_config = {.flags = VYRE_DISPATCH_NO_ASSERTS};

static const vyre_dispatch_config *config_of(const conform_pair *conform,
                                             const conform_trial *trial) {
    vyre_profile profile = {0};
    if (trial->is_untimed) {
        vyre_device_profile(conform->subject, &profile);
    }
    return profile.flags & VYRE_PROFILE_IS_SOFTWARE ? &untimed_config : &run_config;
}

/* Memory with a fence on both sides. */
typedef struct fenced {
    uint8_t *all;
    uint8_t *data;
    size_t size;
} fenced;

static bool fenced_make(fenced *f, size_t size, const void *contents) {
    size_t all = size + (size_t)2 * FENCE_BYTES;
    *f = (fenced){vyre_alloc(all), NULL, size};
    if (!f->all) {
        return false;
    }
    memset(f->all, FENCE, all);
    f->data = f->all + FENCE_BYTES;
    if (!contents) {
        memset(f->data, GARBAGE, size);
    } else if (size) {
        memcpy(f->data, contents, size);
    }
    return true;
}

/* How far beside the memory something was written: negative before it, positive behind. 0: nothing.
 */
static int fenced_breach(const fenced *f) {
    for (int i = 1; i <= FENCE_BYTES; i++) {
        if (f->data[-i] != FENCE) {
            return -i;
        }
        if (f->data[f->size + (size_t)i - 1] != FENCE) {
            return i;
        }
    }
    return 0;
}

/* One comparison under way. */
typedef struct comparing {
    const conform_pair *conform;
    const conform_trial *trial;
    const vyre_outputs *expected;
    vyre_plan plan;
    const vyre_input *inputs;
    fenced *fences;       /* of inputs, then of outputs */
    vyre_input *guarded;  /* the inputs that the subject sees */
    vyre_output *outputs; /* that it writes */
    conform_comparison *out;
} comparing;

static const char *argument_name(const comparing *c, uint32_t arg) {
    return c->plan.ir->strings + c->plan.ir->args[arg].name;
}

static bool make_memory(comparing *c) {
    uint32_t inputs = c->plan.input_count, outputs = c->plan.output_count;
    c->fences = vyre_alloc_zeroed((size_t)inputs + outputs + 1, sizeof *c->fences);
    c->guarded = vyre_alloc_array((size_t)inputs + 1, sizeof *c->guarded);
    c->outputs = vyre_alloc_array((size_t)outputs + 1, sizeof *c->outputs);
    bool made = c->fences && c->guarded && c->outputs;
    for (uint32_t i = 0; made && i < inputs; i++) {
        made = fenced_make(&c->fences[i], c->inputs[i].size,
                           c->inputs[i].data ? c->inputs[i].data : "");
        c->guarded[i] = (vyre_input){c->fences[i].data, c->fences[i].size};
    }
    for (uint32_t i = 0; made && i < outputs; i++) {
        fenced *fence = &c->fences[inputs + i];
        made = fenced_make(fence, (size_t)vyre_plan_output_bytes(&c->plan, i), NULL);
        c->outputs[i] = (vyre_output){fence->data, fence->size};
    }
    return made;
}

static void check_inputs(comparing *c) {
    for (uint32_t i = 0; i < c->plan.input_count && !c->out->verdict; i++) {
        const char *name = argument_name(c, c->plan.inputs[i]);
        int breach = fenced_breach(&c->fences[i]);
        if (breach) {
            c->out->verdict = CONFORM_VERDICT_FENCE;
            snprintf(c->out->text, sizeof c->out->text, "the program wrote byte %d %s input `%s`",
                     abs(breach), breach < 0 ? "before" : "after", name);
        } else if (c->inputs[i].size &&
                   memcmp(c->guarded[i].data, c->inputs[i].data, c->inputs[i].size) != 0) {
            c->out->verdict = CONFORM_VERDICT_FENCE;
            snprintf(c->out->text, sizeof c->out->text, "input `%s` was changed", name);
        }
    }
}

static uint64_t element_bits(const uint8_t *data, uint64_t index, uint32_t bytes) {
    uint64_t bits = 0;
    for (uint32_t i = bytes; i-- > 0;) {
        bits = bits << 8 | data[index * bytes + i];
    }
    return bits;
}

static conform_property property_of(const conform_trial *trial, uint32_t output) {
    return trial->properties ? (conform_property)trial->properties[output] : CONFORM_PROPERTY_SAME;
}

static void check_output(comparing *c, uint32_t i) {
    const vyre_arg *arg = &c->plan.ir->args[c->plan.outputs[i]];
    const char *name = argument_name(c, c->plan.outputs[i]);
    const fenced *found = &c->fences[c->plan.input_count + i];
    const uint8_t *expected = c->expected->items[i].data;
    conform_property property = property_of(c->trial, i);
    int breach = fenced_breach(found);
    if (breach) {
        c->out->verdict = CONFORM_VERDICT_FENCE;
        snprintf(c->out->text, sizeof c->out->text, "the program wrote byte %d %s output `%s`",
                 abs(breach), breach < 0 ? "before" : "after", name);
        return;
    }
    conform_property_settle(property, vyre_arg_shown_type(arg), found->data, found->size);
    if (!found->size || !memcmp(expected, found->data, found->size)) {
        return;
    }
    c->out->differing[i / 64] |= (uint64_t)1 << i % 64;
    if (c->out->verdict) {
        return;
    }
    uint32_t bytes = vyre_type_bytes(vyre_arg_shown_type(arg));
    uint64_t count = found->size / bytes, wrong = 0, first = count;
    for (uint64_t k = 0; k < count; k++) {
        if (memcmp(expected + k * bytes, found->data + k * bytes, bytes) != 0) {
            wrong++;
            first = first == count ? k : first;
        }
    }
    c->out->verdict = CONFORM_VERDICT_DIFFERENT;
    c->out->element = first;
    bool is_same = property == CONFORM_PROPERTY_SAME;
    snprintf(c->out->text, sizeof c->out->text,
             "output `%s`%s%s%s, element %llu: found 0x%0*llx, expected 0x%0*llx; %llu of %llu "
             "differ",
             name, is_same ? "" : " (", is_same ? "" : conform_property_meaning(property),
             is_same ? "" : ")", (unsigned long long)first, (int)bytes * 2,
             (unsigned long long)element_bits(found->data, first, bytes), (int)bytes * 2,
             (unsigned long long)element_bits(expected, first, bytes), (unsigned long long)wrong,
             (unsigned long long)count);
}

/* Runs the subject and looks at all that it left behind. */
static void judge(comparing *c) {
    vyre_pipeline *own = NULL, **pipeline = c->conform->kept ? c->conform->kept : &own;
    vyre_status status = VYRE_OK;
    if (!*pipeline) {
        status = vyre_device_compile(c->conform->subject, c->plan.program,
                                     config_of(c->conform, c->trial), pipeline);
    }
    if (!status) {
        status =
            vyre_pipeline_run(*pipeline, VYRE_RUN_BORROWED, &c->plan, c->guarded, c->outputs, NULL);
    }
    vyre_pipeline_release(own);
    check_inputs(c);
    if (status && !c->out->verdict) {
        c->out->verdict = vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED
                              ? CONFORM_VERDICT_UNSUPPORTED
                              : CONFORM_VERDICT_FAILED;
        snprintf(c->out->text, sizeof c->out->text, "%s", vyre_status_text(status));
    }
    bool has_run = !status && !c->out->verdict;
    for (uint32_t i = 0; i < c->plan.output_count && has_run; i++) {
        check_output(c, i);
    }
    vyre_status_free(status);
}

/* Outputs in the form in which they are compared. */
static void settle(const conform_trial *trial, const vyre_program *program, vyre_outputs *outputs) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t output = 0;
    for (uint32_t arg = 0; arg < ir->arg_count && output < outputs->count; arg++) {
        if (vyre_ir_is_output(ir, arg)) {
            conform_property_settle(property_of(trial, output), vyre_arg_shown_type(&ir->args[arg]),
                                    outputs->items[output].data, outputs->items[output].size);
            output++;
        }
    }
}

vyre_status conform_expect(const conform_pair *conform, const conform_trial *trial,
                           const vyre_program *program, vyre_outputs *out_expected) {
    *out_expected = (vyre_outputs){0};
    size_t input_count;
    vyre_input *inputs = conform_trial_inputs(trial, program, &input_count);
    if (!inputs) {
        return vyre_no_memory("to compare the results of `%s`", vyre_program_name(program));
    }
    vyre_status status = vyre_device_dispatch(conform->oracle, program, inputs, input_count,
                                              &run_config, out_expected);
    vyre_free(inputs);
    if (!status && trial->properties) {
        settle(trial, program, out_expected);
    }
    return status;
}

uint64_t conform_digest(uint64_t digest, const vyre_outputs *outputs) {
    for (size_t i = 0; i < outputs->count; i++) {
        digest = vyre_hash_next(digest, outputs->items[i].data, outputs->items[i].size);
    }
    return digest;
}

vyre_status conform_compare(const conform_pair *conform, const conform_trial *trial,
                            const vyre_program *program, const vyre_outputs *expected,
                            conform_comparison *out_comparison) {
    comparing c = {.conform = conform, .trial = trial, .expected = expected, .out = out_comparison};
    *out_comparison = (conform_comparison){0};
    size_t input_count;
    vyre_input *inputs = conform_trial_inputs(trial, program, &input_count);
    if (!inputs) {
        return vyre_no_memory("to compare the results of `%s`", vyre_program_name(program));
    }
    c.inputs = inputs;
    vyre_program *fixed = NULL;
    const vyre_dispatch_config *config = config_of(conform, trial);
    vyre_status status = vyre_plan_init(&c.plan, program, inputs, input_count, config);
    status = status ? status : vyre_shared_program(&c.plan, 0, "a workgroup", &fixed);
    if (fixed) { /* a run is one of that program */
        vyre_plan_deinit(&c.plan);
        status = vyre_plan_init(&c.plan, fixed, inputs, input_count, config);
    }
    if (!status && !make_memory(&c)) {
        status = vyre_no_memory("to compare the results of `%s`", vyre_program_name(program));
    }
    if (!status) {
        judge(&c);
    }
    if (!status && !out_comparison->verdict && vyre_messages_of(vyre_program_ir(program))) {
        conform_compare_messages(conform, program, inputs, input_count, out_comparison);
    }
    for (uint32_t i = 0; c.fences && i < c.plan.input_count + c.plan.output_count; i++) {
        vyre_free(c.fences[i].all);
    }
    vyre_free(c.fences);
    vyre_free(c.guarded);
    vyre_free(c.outputs);
    vyre_plan_deinit(&c.plan);
    vyre_program_release(fixed);
    vyre_free(inputs);
    return status;
}
