#include "values/sample.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/vec.h"
#include "dialect/sample.h"
#include "ir/program.h"

/* Whether all that it takes are buffers, whose lengths are free or follow from each other. */
static bool takes_buffers(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (ir->args[i].resource == VYRE_NONE) {
            return false;
        }
    }
    return true;
}

/* The program of a function has a buffer for each of its parameters. */
bool values_sample_exists(const vyre_operation *operation) {
    bool takes_scalars = false;
    for (size_t i = 0; i < operation->parameter_count; i++) {
        takes_scalars |= !operation->parameters[i].is_buffer;
    }
    return vyre_operation_has_program(operation) &&
           (operation->sample || operation->form == VYRE_OPERATION_FUNCTION || !takes_scalars);
}

bool values_sample_work(const vyre_operation *operation, uint64_t n, double *out_operations) {
    uint64_t number = 0;
    const char *work = operation->work;
    vyre_status status =
        work ? vyre_sample_number((vyre_str){work, strlen(work)}, n, &number) : VYRE_OK;
    bool known = work && !status;
    vyre_status_free(status);
    *out_operations = known ? (double)number : 0;
    return known;
}

/* A word of random elements for each buffer. */
static vyre_status print_buffers(const vyre_program *program, uint64_t n, vyre_strbuf *out) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint64_t *lengths = vyre_alloc_zeroed(ir->arg_count, sizeof *lengths);
    vyre_status status =
        lengths ? VYRE_OK : vyre_no_memory("for a sample of `%s`", vyre_program_name(program));
    for (uint32_t i = 0; i < ir->arg_count && !status; i++) {
        lengths[i] = n;
    }
    for (uint32_t i = 0; i < ir->arg_count && !status; i++) {
        uint32_t size = ir->resources[ir->args[i].resource].size;
        if (size != VYRE_NONE) {
            status = vyre_size_eval(program, size, lengths, &lengths[i]);
        }
        if (!status && !vyre_ir_is_out(ir, i)) {
            vyre_strbuf_printf(out, "%s%s=rand:%" PRIu64, out->size ? "\n" : "",
                               ir->strings + ir->args[i].name, lengths[i]);
        }
    }
    vyre_free(lengths);
    return status;
}

static vyre_status print_words(const vyre_operation *operation, const vyre_program *program,
                               uint64_t n, vyre_strbuf *out) {
    const char *name = operation ? operation->id : vyre_program_name(program);
    vyre_status status = VYRE_OK;
    if (!n) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "use a size of at least 1",
                                  "the size of a sample is 0");
    } else if (operation && operation->sample) {
        status = vyre_sample_expand(operation->sample, n, out);
        if (vyre_status_code_of(status) == VYRE_STATUS_LIMIT && n > VYRE_SAMPLE_LARGEST) {
            vyre_status_free(status);
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "use a smaller size",
                                      "a buffer of the sample is too large");
        }
    } else if (takes_buffers(program)) {
        status = print_buffers(program, n, out);
    } else {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  operation ? "give all arguments, or add `sample` to its manifest"
                                            : "give all arguments",
                                  "`%s` has arguments other than buffers, and no sample", name);
    }
    return status || !out->failed ? status : vyre_no_memory("for a sample of `%s`", name);
}

/* Whether a word is about the same argument as one of those. */
static bool is_given(const char *word, const char *const *words, size_t count) {
    size_t size = strcspn(word, "=");
    for (size_t i = 0; i < count; i++) {
        if (strcspn(words[i], "=") == size && !memcmp(words[i], word, size)) {
            return true;
        }
    }
    return false;
}

vyre_status values_sample_complete(values_binding *binding, const vyre_operation *operation,
                                   const vyre_program *program, uint64_t n,
                                   const char *const *words, size_t count, bool stdin_used) {
    const char *name = operation ? operation->id : vyre_program_name(program);
    VYRE_VEC(const char *) all = {0};
    vyre_strbuf text = {0};
    bool stored = true;
    *binding = (values_binding){0};
    vyre_status status = print_words(operation, program, n, &text);
    for (size_t i = 0; i < count && !status && stored; i++) {
        stored = vyre_vec_push(&all, words[i]);
    }
    for (char *at = text.data; !status && stored && at && *at;) {
        size_t size = strcspn(at, "\n");
        bool more = at[size] != '\0';
        at[size] = '\0';
        stored = is_given(at, words, count) || vyre_vec_push(&all, at);
        at += size + more;
    }
    if (!status) {
        status = stored ? values_bind(binding, program, all.items, all.count, stdin_used,
                                      VALUES_MISSING_REFUSED)
                        : vyre_no_memory("for a sample of `%s`", name);
    }
    vyre_vec_free(&all);
    vyre_strbuf_free(&text);
    return vyre_status_annotate(status, "in a sample of `%s` of size %" PRIu64, name, n);
}

vyre_status values_sample_bind(values_binding *binding, const vyre_operation *operation,
                               const vyre_program *program, uint64_t n) {
    return values_sample_complete(binding, operation, program, n, NULL, 0, true);
}
