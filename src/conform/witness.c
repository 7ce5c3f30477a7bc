/* Witnesses and samples: examples of a manifest, run and, as far as is known, compared. */
#include <string.h>

#include "base/status.h"
#include "base/vec.h"
#include "conform/claims.h"
#include "conform/compare.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "values/bind.h"
#include "values/buffer.h"
#include "values/element.h"
#include "values/sample.h"

vyre_status conform_witness_bind(const vyre_operation *operation, const vyre_program *program,
                                 const char *arguments, values_binding *out_binding) {
    VYRE_VEC(const char *) words = {0};
    vyre_strbuf copy = {0};
    vyre_strbuf_puts(&copy, arguments);
    bool stored = !copy.failed;
    for (char *at = copy.data; stored && at && *at;) {
        size_t size = strcspn(at, "\n");
        bool more = at[size] != '\0';
        at[size] = '\0';
        stored = vyre_vec_push(&words, at);
        at += size + more;
    }
    *out_binding = (values_binding){0};
    vyre_status status = stored ? values_bind(out_binding, program, words.items, words.count, true,
                                              VALUES_MISSING_REFUSED)
                                : vyre_no_memory("for the witnesses of `%s`", operation->id);
    vyre_vec_free(&words);
    vyre_strbuf_free(&copy);
    return vyre_status_annotate(status, "in a witness of `%s`", operation->id);
}

/* The output of that name; VYRE_NONE if there is none, as the manifest was checked. */
static uint32_t find_output(const vyre_ir *ir, vyre_str name, vyre_type *out_type) {
    uint32_t output = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (!vyre_ir_is_output(ir, i)) {
            continue;
        }
        if (vyre_str_is(name, ir->strings + ir->args[i].name)) {
            *out_type = vyre_arg_shown_type(&ir->args[i]);
            return output;
        }
        output++;
    }
    return VYRE_NONE;
}

static void describe(vyre_strbuf *text, vyre_type type, const uint8_t *data, size_t size) {
    const size_t most = 8;
    size_t width = vyre_type_bytes(type), count = size / width;
    for (size_t i = 0; i < count && i < most; i++) {
        vyre_strbuf_puts(text, i ? "," : "");
        values_element_print(text, type, data + i * width);
    }
    if (count > most) {
        vyre_strbuf_printf(text, ",... (%zu)", count);
    }
    vyre_strbuf_puts(text, count ? "" : "nothing");
}

/* One word of what is expected. */
static vyre_status compare(const vyre_operation *operation, const vyre_program *program,
                           const vyre_outputs *outputs, vyre_str word, conform_claims *claims,
                           vyre_strbuf *failures) {
    vyre_type type = VYRE_TYPE_VOID;
    vyre_str name = {word.data, strcspn(word.data, "=")};
    uint32_t output = find_output(vyre_program_ir(program), name, &type);
    vyre_strbuf value = {0}, label = {0}, bytes = {0};
    size_t offset = 0;
    bool stdin_used = true;
    vyre_strbuf_add(&label, name.data, name.size);
    vyre_strbuf_add(&value, name.data + name.size + 1, word.size - name.size - 1);
    values_buffer_source source = {vyre_strbuf_string(&label), type, 1, 0, &stdin_used, NULL};
    vyre_status status = values_buffer_parse(&source, vyre_strbuf_string(&value), &bytes, &offset);
    if (!status && output < outputs->count) {
        const vyre_output *found = &outputs->items[output];
        if (found->size != bytes.size - offset ||
            (found->size && memcmp(found->data, bytes.data + offset, found->size) != 0)) {
            claims->failures++;
            vyre_strbuf_printf(failures, "%s: `%s` gives %s=", operation->id,
                               vyre_program_name(program), vyre_strbuf_string(&label));
            describe(failures, type, found->data, found->size);
            vyre_strbuf_puts(failures, ", and the witness expects ");
            describe(failures, type, (const uint8_t *)bytes.data + offset, bytes.size - offset);
            vyre_strbuf_puts(failures, "\n");
        }
    }
    vyre_strbuf_free(&value);
    vyre_strbuf_free(&label);
    vyre_strbuf_free(&bytes);
    return vyre_status_annotate(status, "in a witness of `%s`", operation->id);
}

static vyre_status check_program(vyre_device *device, const vyre_operation *operation,
                                 const vyre_program *program, const vyre_witness *witness,
                                 const values_binding *binding, conform_claims *claims,
                                 vyre_strbuf *failures) {
    vyre_outputs outputs = {0};
    vyre_status status = vyre_device_dispatch(device, program, binding->inputs,
                                              binding->input_count, NULL, &outputs);
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        claims->failures++;
        claims->unsupported += vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED;
        vyre_strbuf_printf(failures, "%s: `%s` cannot run its witness: %s\n", operation->id,
                           vyre_program_name(program), vyre_status_text(status));
        vyre_status_free(status);
        return VYRE_OK;
    }
    claims->digest = conform_digest(claims->digest, &outputs);
    for (const char *at = witness->expected; !status && *at;) {
        size_t size = strcspn(at, "\n");
        status = compare(operation, program, &outputs, (vyre_str){at, size}, claims, failures);
        at += size + (at[size] == '\n');
    }
    vyre_outputs_free(&outputs);
    return status;
}

bool conform_variant_suits(const vyre_variant *variant, const vyre_device *device) {
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    return !strcmp(variant->suits, vyre_device_id(device)) ||
           !strcmp(variant->suits, profile.flags & VYRE_PROFILE_IS_GPU ? "gpu" : "cpu");
}

vyre_status conform_witnesses_check(vyre_device *device, const vyre_operation *operation,
                                    conform_claims *claims, vyre_strbuf *failures) {
    const vyre_program *program, *variant;
    vyre_status status = vyre_operation_program(operation, NULL, &program);
    for (size_t i = 0; i < operation->witness_count && !status; i++) {
        const vyre_witness *witness = &operation->witnesses[i];
        values_binding binding;
        claims->witnesses++;
        status = conform_witness_bind(operation, program, witness->arguments, &binding);
        if (!status) {
            status = check_program(device, operation, program, witness, &binding, claims, failures);
        }
        for (size_t k = 0; k < operation->variant_count && !status; k++) {
            if (claims->suiting && !conform_variant_suits(&operation->variants[k], device)) {
                continue;
            }
            status = vyre_operation_program(operation, &operation->variants[k], &variant);
            if (!status) {
                status =
                    check_program(device, operation, variant, witness, &binding, claims, failures);
            }
        }
        values_binding_deinit(&binding);
        if (status && vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT) {
            claims->failures++;
            vyre_strbuf_printf(failures, "%s: %s\n", operation->id, vyre_status_text(status));
            vyre_status_free(status);
            status = VYRE_OK;
        }
    }
    return status;
}

vyre_status conform_samples_check(vyre_device *device, const vyre_operation *operation,
                                  conform_claims *claims, vyre_strbuf *failures) {
    static const uint64_t sizes[] = {1, 100};
    const vyre_program *program;
    vyre_status status = vyre_operation_program(operation, NULL, &program);
    if (status || !operation->sample) {
        return status; /* the usual one is made after the program */
    }
    claims->samples++;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !status; i++) {
        values_binding binding;
        vyre_outputs outputs = {0};
        status = values_sample_bind(&binding, operation, program, sizes[i]);
        if (!status) {
            status = vyre_device_dispatch(device, program, binding.inputs, binding.input_count,
                                          NULL, &outputs);
        }
        vyre_outputs_free(&outputs);
        values_binding_deinit(&binding);
    }
    if (!status || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    claims->failures++;
    vyre_strbuf_printf(failures, "%s: cannot run its sample: %s\n", operation->id,
                       vyre_status_text(status));
    vyre_status_free(status);
    return VYRE_OK;
}
