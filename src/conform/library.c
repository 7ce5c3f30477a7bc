/* Cases of the library: its laws, its witnesses, and its samples of several sizes. */
#include <string.h>

#include "base/status.h"
#include "conform/claims.h"
#include "conform/session.h"
#include "dialect/law.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "values/bind.h"
#include "values/sample.h"

/* Of samples: the least, what is less than a workgroup, and more than several. */
static const size_t sizes[] = {1, 100, 3000};

/* Arithmetic that a slow backend is done with in time. */
static const double most_work = 2e7;

static size_t bearable(const vyre_operation *operation, size_t size) {
    double work;
    while (size > 1 && values_sample_work(operation, size, &work) && work > most_work) {
        size /= 2;
    }
    return size;
}

static uint64_t tags_of(const vyre_operation *operation) {
    uint64_t tags = 0;
    for (size_t i = 0; i < operation->parameter_count; i++) {
        vyre_type type = operation->parameters[i].type;
        bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
        tags |= CONFORM_TAG_BIT(type) |
                CONFORM_TAG_BIT(is_float ? CONFORM_TAG_FLOAT : CONFORM_TAG_INTEGER);
    }
    return tags;
}

static vyre_status list_laws(conform_session *c, const vyre_operation *operation) {
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < operation->law_count && !status; i++) {
        const vyre_law *law = &operation->laws[i];
        conform_case one = {.tags = tags_of(operation) | CONFORM_TAG_BIT(CONFORM_TAG_LAW),
                            .suite = CONFORM_SUITE_LAWS,
                            .operation = operation,
                            .number = i};
        vyre_strbuf name = {0};
        vyre_law_print(&name, law);
        status = name.failed ? vyre_no_memory("for the cases")
                             : conform_session_add(c, one, "laws.%s.%s", operation->id, name.data);
        vyre_strbuf_free(&name);
    }
    return status;
}

static vyre_status list_samples(conform_session *c, const vyre_operation *operation) {
    conform_case one = {.tags = tags_of(operation) | CONFORM_TAG_BIT(CONFORM_TAG_WITNESS),
                        .suite = CONFORM_SUITE_LIBRARY,
                        .operation = operation,
                        .number = CONFORM_WITNESSES};
    if (operation->witness_count) {
        VYRE_TRY(conform_session_add(c, one, "library.%s.witnesses", operation->id));
    }
    one.tags = tags_of(operation) | CONFORM_TAG_BIT(CONFORM_TAG_SAMPLE);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && values_sample_exists(operation); i++) {
        one.number = bearable(operation, sizes[i]);
        VYRE_TRY(conform_session_add(c, one, "library.%s.%zu", operation->id, one.number));
    }
    return VYRE_OK;
}

vyre_status conform_library_list(conform_session *c) {
    bool laws = conform_session_has_suite(c, CONFORM_SUITE_LAWS);
    bool samples = conform_session_has_suite(c, CONFORM_SUITE_LIBRARY);
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    if (!laws && !samples) {
        return VYRE_OK;
    }
    VYRE_TRY(vyre_dialects_try_enter(&guard, &now));
    c->snapshot = vyre_dialects_retain(now);
    vyre_dialects_leave(&guard);
    for (int iteration = 0; iteration < 2; iteration++) {
        for (size_t i = 0; i < vyre_dialects_count(c->snapshot); i++) {
            const vyre_operation *operation = vyre_dialects_at(c->snapshot, i);
            if (vyre_operation_has_program(operation) && (iteration ? samples : laws)) {
                VYRE_TRY(iteration ? list_samples(c, operation) : list_laws(c, operation));
            }
        }
    }
    return VYRE_OK;
}

/* Running */

static vyre_status run_claims(const conform_session *c, conform_case *one) {
    conform_claims claims = {.suiting = true};
    vyre_strbuf failures = {0};
    vyre_status status =
        one->suite == CONFORM_SUITE_LAWS
            ? conform_law_check(c->device, c->snapshot, one->operation, one->number, true, &claims,
                                &failures)
            : conform_witnesses_check(c->device, one->operation, &claims, &failures);
    one->digest = claims.digest;
    if (!status && claims.failures) {
        bool refused = claims.unsupported == claims.failures;
        /* One line is enough to know why, and the id says of what. */
        size_t size = strcspn(vyre_strbuf_string(&failures), "\n");
        vyre_strbuf_cut(&failures, size);
        size_t id = strlen(one->operation->id) + 2;
        status = conform_case_settle(one, refused ? CONFORM_FATE_UNSUPPORTED : CONFORM_FATE_FAILED,
                                     vyre_strbuf_string(&failures) + (id < failures.size ? id : 0));
    }
    vyre_strbuf_free(&failures);
    return status;
}

vyre_status conform_library_trial(const conform_case *one, const vyre_program *program,
                                  conform_trial *out_trial) {
    values_binding binding = {0};
    const vyre_ir *ir = vyre_program_ir(program);
    *out_trial = (conform_trial){0};
    vyre_status status = values_sample_bind(&binding, one->operation, program, one->number);
    size_t input = 0;
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        if (vyre_ir_is_out(ir, arg)) {
            continue;
        }
        vyre_type type = vyre_arg_shown_type(&ir->args[arg]);
        const vyre_input *given = &binding.inputs[input++];
        uint8_t *data = conform_trial_add(out_trial, ir->strings + ir->args[arg].name, type,
                                          given->size / vyre_type_bytes(type));
        if (!data) {
            status = vyre_no_memory("for the cases");
        } else if (given->size) {
            memcpy(data, given->data, given->size);
        }
    }
    values_binding_deinit(&binding);
    if (status) {
        conform_trial_free(out_trial);
        return status;
    }
    out_trial->program = vyre_program_retain((vyre_program *)(uintptr_t)program);
    return VYRE_OK;
}

vyre_status conform_library_program(const conform_session *c, const vyre_operation *operation,
                                    size_t index, const vyre_program **out_program) {
    *out_program = NULL;
    for (size_t i = 0; i < operation->variant_count && index; i++) {
        index -= conform_variant_suits(&operation->variants[i], c->device);
        if (!index) {
            return vyre_operation_program(operation, &operation->variants[i], out_program);
        }
    }
    return index ? VYRE_OK : vyre_operation_program(operation, NULL, out_program);
}

/* What the oracle says; where it takes too long there is nothing to compare with. */
static vyre_status expect(const conform_pair *both, conform_case *one, const conform_trial *trial,
                          vyre_outputs *out_expected) {
    vyre_status status = conform_expect(both, trial, trial->program, out_expected);
    vyre_status_code code = vyre_status_code_of(status);
    if (!status || code == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    vyre_strbuf text = {0};
    vyre_strbuf_printf(&text, "the oracle: %s", vyre_status_text(status));
    vyre_status_free(status);
    status = conform_case_settle(
        one, code == VYRE_STATUS_TIMEOUT ? CONFORM_FATE_SKIPPED : CONFORM_FATE_FAILED,
        vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
    return status;
}

static vyre_status run_sample(const conform_session *c, vyre_device *oracle, conform_case *one) {
    const conform_pair both = {.oracle = oracle, .subject = c->device};
    const vyre_program *program;
    vyre_outputs expected = {0};
    vyre_status status = VYRE_OK;
    for (size_t i = 0; !status && !one->fate; i++) {
        status = conform_library_program(c, one->operation, i, &program);
        if (status || !program) {
            break;
        }
        conform_trial trial;
        conform_comparison comparison = {0};
        status = conform_library_trial(one, program, &trial);
        if (!status && !i) {
            status = expect(&both, one, &trial, &expected);
        }
        if (!status && !one->fate) {
            status = conform_compare(&both, &trial, program, &expected, &comparison);
        }
        conform_trial_free(&trial);
        if (status || !comparison.verdict) {
            continue;
        }
        bool refused = comparison.verdict == CONFORM_VERDICT_UNSUPPORTED;
        vyre_strbuf text = {0};
        vyre_strbuf_printf(&text, "`%s`: %s", vyre_program_name(program), comparison.text);
        status = conform_case_settle(one, refused ? CONFORM_FATE_UNSUPPORTED : CONFORM_FATE_FAILED,
                                     vyre_strbuf_string(&text));
        vyre_strbuf_free(&text);
    }
    one->digest = conform_digest(one->digest, &expected);
    vyre_outputs_free(&expected);
    return status;
}

vyre_status conform_library_run(const conform_session *c, vyre_device *oracle, conform_case *one) {
    vyre_status status = one->suite == CONFORM_SUITE_LAWS || one->number == CONFORM_WITNESSES
                             ? run_claims(c, one)
                             : run_sample(c, oracle, one);
    return vyre_status_annotate(status, "in the case %s", one->id);
}
