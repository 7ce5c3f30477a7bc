/* The first case that fails, as the smallest program that still does. */
#include <stdio.h>
#include <string.h>

#include "backend/reference/backend.h"
#include "base/status.h"
#include "conform/session.h"
#include "ir/lookup.h"

vyre_status conform_cut_down(const conform_shrinking *how, vyre_device *subject) {
    conform_failure *failure = &how->c->failure;
    const conform_pair both = {.oracle = how->oracle,
                               .subject = subject,
                               .has_one_answer = vyre_reference_has_one_answer,
                               .end_ns = how->c->end_ns};
    vyre_status status = VYRE_OK;
    failure->is_known = true;
    failure->comparison = failure->original;
    if (failure->original.verdict && !failure->trial.properties) {
        status = conform_shrink(&both, &failure->trial, &failure->comparison);
    }
    failure->trial.properties = NULL; /* was borrowed */
    return status ? status
                  : vyre_program_print(failure->trial.program, &failure->text, &failure->size);
}

/* Whether a trial fails, and how. */
static vyre_status fails(const conform_shrinking *how, vyre_device *subject,
                         const conform_trial *trial, conform_comparison *out) {
    const conform_pair both = {.oracle = how->oracle, .subject = subject};
    vyre_outputs expected;
    *out = (conform_comparison){0};
    vyre_status status = conform_expect(&both, trial, trial->program, &expected);
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        vyre_status_free(status); /* it is the oracle that fails: there is nothing to cut down by */
        return VYRE_OK;
    }
    /* Before this a fault may have cost the device. */
    if (!status && vyre_device_lost(subject)) {
        status = vyre_device_recover(subject);
    }
    status = status ? status : conform_compare(&both, trial, trial->program, &expected, out);
    vyre_outputs_free(&expected);
    return status;
}

/* Operations on values work element by element: one that is wrong is enough. */
static vyre_status keep_element(const conform_shrinking *how, vyre_device *subject,
                                conform_trial *trial, conform_comparison *comparison) {
    conform_comparison again;
    const vyre_ir *ir = vyre_program_ir(trial->program);
    size_t at = (size_t)comparison->element;
    conform_trial one = {.program = vyre_program_retain(trial->program)};
    bool stored = true;
    for (uint32_t arg = 0; arg < ir->arg_count && stored; arg++) {
        for (size_t i = 0; i < trial->value_count; i++) {
            const conform_trial_value *value = &trial->values[i];
            vyre_type type = vyre_arg_shown_type(&ir->args[arg]);
            size_t bytes = vyre_arg_bytes(ir, &ir->args[arg]);
            if (strcmp(value->name, ir->strings + ir->args[arg].name) != 0) {
                continue;
            }
            bool is_array = ir->args[arg].resource != VYRE_NONE;
            uint8_t *data =
                conform_trial_add(&one, value->name, type, bytes / vyre_type_bytes(type));
            stored = data;
            if (data && (!is_array || (at + 1) * bytes <= value->size)) {
                memcpy(data, value->data + (is_array ? at * bytes : 0), bytes);
            }
        }
    }
    vyre_status status =
        stored ? fails(how, subject, &one, &again) : vyre_no_memory("for the cases");
    if (!status && again.verdict == comparison->verdict) {
        conform_trial swap = *trial;
        *trial = one;
        one = swap;
        *comparison = again;
    }
    conform_trial_free(&one);
    return status;
}

/* Of the library: the program, its own or a variant, that differs. */
static vyre_status find_variant(const conform_shrinking *how, const conform_case *one,
                                conform_suite_trial *made, conform_comparison *out) {
    vyre_status status = VYRE_OK;
    *out = (conform_comparison){0};
    for (size_t i = 0; !status && !out->verdict; i++) {
        const vyre_program *program;
        status = conform_library_program(how->c, one->operation, i, &program);
        if (status || !program) {
            break;
        }
        conform_trial_free(&made->trial);
        status = conform_library_trial(one, program, &made->trial);
        status = status ? status : fails(how, how->c->device, &made->trial, out);
        bool is_fault = out->verdict && out->verdict != CONFORM_VERDICT_UNSUPPORTED;
        out->verdict = is_fault ? out->verdict : CONFORM_VERDICT_SAME;
    }
    return status;
}

/* Of a case: the operands, and the schedule where there are several, by which it fails. */
static vyre_status find_run(const conform_shrinking *how, const conform_case *one,
                            conform_suite_trial *made, vyre_device **opened,
                            conform_comparison *out) {
    conform_session *c = how->c;
    const conform_suite *suite = &c->fixed[one->suite];
    bool reopens = conform_has_schedules(c->device);
    uint64_t runs = reopens ? c->runs : 1, parts = conform_suite_parts(suite);
    vyre_status status = VYRE_OK;
    for (uint64_t i = 0; i < parts * runs && !status && !out->verdict; i++) {
        uint64_t part = i / runs, run = i % runs;
        vyre_device_release(*opened);
        *opened = NULL;
        if (part && !run) {
            status = conform_suite_take_part(suite, one->fixed, part, &made->trial);
        }
        status = status || !reopens ? status : how->reopen(run, opened);
        status = status ? status : fails(how, *opened ? *opened : c->device, &made->trial, out);
    }
    return status;
}

vyre_status conform_explain(const conform_shrinking *how, const conform_case *one) {
    conform_session *c = how->c;
    conform_suite_trial made;
    conform_comparison comparison = {0};
    vyre_device *opened = NULL;
    vyre_status status = VYRE_OK;
    memset(&made, 0, sizeof made);
    if (one->fixed) {
        status = conform_suite_build(&c->fixed[one->suite], &one->fixed, 1, &made);
        status = status ? status : find_run(how, one, &made, &opened, &comparison);
        if (!status && comparison.verdict == CONFORM_VERDICT_DIFFERENT && one->fixed->part[0]) {
            status = keep_element(how, opened ? opened : c->device, &made.trial, &comparison);
        }
    } else if (one->suite == CONFORM_SUITE_LIBRARY && one->number != CONFORM_WITNESSES) {
        status = find_variant(how, one, &made, &comparison);
    }
    if (!status && made.trial.program) {
        char *id = vyre_copy_string(one->id);
        status = id ? VYRE_OK : vyre_no_memory("for the cases");
        /* Not found again: the bytes are not those on record, or come and go. */
        if (!comparison.verdict) {
            snprintf(comparison.text, sizeof comparison.text, "%s", one->text);
        }
        c->failure = (conform_failure){.id = id, .original = comparison, .trial = made.trial};
        made.trial = (conform_trial){0};
        status = status ? status : conform_cut_down(how, opened ? opened : c->device);
    }
    conform_trial_free(&made.trial);
    vyre_device_release(opened);
    return status;
}
