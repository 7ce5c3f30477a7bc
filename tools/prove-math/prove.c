#include "prove.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "oracle.h"

/* So few inputs are asked of MPFR, all of them. */
enum { CHUNK = 1 << 14, ALL_OF_MPFR = 500000 };

static void put_program(vyre_strbuf *text, const math_function *function, const char *form,
                        unsigned bits) {
    bool two = function->operands == 2;
    vyre_strbuf_printf(text, "program prove_%s_%s(x: buffer<u%u>, ", function->name, form, bits);
    if (two) {
        vyre_strbuf_printf(text, "y: buffer<u%u>, ", bits);
    }
    vyre_strbuf_printf(text,
                       "result: out buffer<u%u>[len(x)]) over x { "
                       "result[gid] = bitcast<u%u>(%s_%s(bitcast<f%u>(x[gid])",
                       bits, bits, function->name, form, bits);
    if (two) {
        vyre_strbuf_printf(text, ", bitcast<f%u>(y[gid])", bits);
    }
    vyre_strbuf_puts(text, ")); }\n");
}

static vyre_status parse(vyre_strbuf *text, const char *path, vyre_module **out_module) {
    vyre_status status =
        text->failed ? vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL, "no memory for %s", path)
                     : vyre_module_parse(path, text->data, text->size, NULL, out_module);
    vyre_strbuf_free(text);
    return status;
}

vyre_status proof_module(const char *path, vyre_module **out_module) {
    *out_module = NULL;
    vyre_strbuf text = {0};
    vyre_status status = vyre_file_read(path, 1 << 20, &text);
    if (status) {
        return vyre_status_annotate(status, "reading the expansions");
    }
    for (size_t i = 0; i < math_function_count; i++) {
        put_program(&text, &math_functions[i], math_formats[FORMAT_F32].form, 32);
        put_program(&text, &math_functions[i], math_formats[FORMAT_F16].form, 32);
    }
    return parse(&text, path, out_module);
}

vyre_status proof_module_f64(const char *polynomials, const char *path, vyre_module **out_module) {
    *out_module = NULL;
    vyre_strbuf text = {0}, more = {0};
    vyre_status status = vyre_file_read(polynomials, 1 << 20, &text);
    if (!status) {
        status = vyre_file_read(path, 1 << 20, &more);
    }
    if (status) {
        vyre_strbuf_free(&text);
        return vyre_status_annotate(status, "reading the expansions of f64");
    }
    vyre_strbuf_puts(&text, vyre_strbuf_string(&more));
    vyre_strbuf_free(&more);
    for (size_t i = 0; i < math_function_count; i++) {
        put_program(&text, &math_functions[i], math_formats[FORMAT_F64].form, 64);
    }
    return parse(&text, path, out_module);
}

const vyre_program *proof_program(const vyre_module *module, const math_function *function,
                                  const math_format *format) {
    char name[32];
    snprintf(name, sizeof(name), "prove_%s_%s", function->name, format->form);
    return vyre_module_find(module, name);
}

proof_size proof_program_size(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    proof_size size = {0};
    uint32_t branch_end = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        const vyre_op_info *info = vyre_op_info_of(inst->op);
        bool counts = info->effects == 0 && inst->op != VYRE_OP_BITCAST &&
                      inst->op != VYRE_OP_RESULT && inst->op != VYRE_OP_GID;
        if (i < branch_end) {
            size.in_branches += counts;
        } else {
            size.always += counts;
        }
        if (inst->op == VYRE_OP_IF && i >= branch_end) {
            size.always++;
            branch_end = inst->c;
        }
    }
    return size;
}

static uint64_t distance(const math_format *format, uint64_t found, uint64_t truth) {
    double a = format_number(format, found), b = format_number(format, truth);
    if (a != a || b != b) {
        return UINT64_MAX;
    }
    uint64_t steps =
        (uint64_t)llabs(format_position(format, found) - format_position(format, truth));
    return steps ? steps : UINT64_MAX; /* a zero of the wrong sign is no rounding error */
}

typedef struct proof {
    const math_function *function;
    const math_format *format;
    const executor *how;
    const vyre_program *program;
    input_extent extent;
    const proof_cases *cases; /* NULL: those of the extent */
    pthread_mutex_t lock;     /* of the rest */
    uint64_t next;
    proof_result result;
    vyre_status status;
} proof;

static bool take_chunk(proof *shared, uint64_t *out_first, size_t *out_count) {
    pthread_mutex_lock(&shared->lock);
    uint64_t left = shared->status ? 0 : shared->result.inputs - shared->next;
    *out_first = shared->next;
    *out_count = left < CHUNK ? (size_t)left : CHUNK;
    shared->next += *out_count;
    pthread_mutex_unlock(&shared->lock);
    return *out_count > 0;
}

/* On f64 no function is the nearest for certain; of 16 bits all are. */
static uint64_t allowed_ulp(const proof *shared) {
    return shared->format->bits == 53 ? 1
           : shared->format->operands ? 0
                                      : shared->function->allowed_ulp;
}

static void note(proof_result *result, const proof *shared, proof_difference found) {
    uint64_t ulp = distance(shared->format, found.found, found.truth);
    result->inexact++;
    result->failures += ulp > allowed_ulp(shared);
    result->worst_ulp = ulp > result->worst_ulp ? ulp : result->worst_ulp;
    if (result->shown_count < PROOF_SHOWN) {
        result->shown[result->shown_count++] = found;
    }
}

/* The last step for f16 and bf16 is a conversion, which gives the canonical NaN. */
static uint64_t rounded(const math_format *format, uint64_t bits) {
    if (!format->operands) {
        return bits;
    }
    float value = float_of((uint32_t)bits);
    return value != value ? CANONICAL_NAN : bits_of(format_round(format, (double)value));
}

static void *work(void *argument) {
    proof *shared = argument;
    proof_result own = {0};
    void *state = NULL;
    uint64_t *memory = malloc(3 * CHUNK * sizeof(uint64_t));
    vyre_status status = memory ? shared->how->create(shared->program, &state)
                                : vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL,
                                                   "no memory for %d inputs", CHUNK);
    oracle truth;
    oracle_init(&truth, shared->function, shared->format, shared->result.inputs <= ALL_OF_MPFR);
    uint64_t first;
    size_t count;
    while (!status && take_chunk(shared, &first, &count)) {
        uint64_t *x = memory, *y = x + CHUNK, *found = y + CHUNK;
        const uint64_t *inputs[2] = {x, y};
        if (shared->cases) {
            memcpy(x, shared->cases->x + first, count * sizeof *x);
            memcpy(y, shared->cases->y + first, count * sizeof *y);
        } else {
            inputs_make(shared->function, shared->format, shared->extent, first, count, x, y);
        }
        shared->how->run(state, count, inputs, found);
        for (size_t i = 0; i < count; i++) {
            uint64_t right = oracle_truth(&truth, x[i], y[i]);
            uint64_t result = rounded(shared->format, found[i]);
            if (result != right) {
                note(&own, shared, (proof_difference){x[i], y[i], result, right});
            }
        }
    }

    pthread_mutex_lock(&shared->lock);
    proof_result *all = &shared->result;
    all->uncertain += truth.uncertain;
    all->inexact += own.inexact;
    all->failures += own.failures;
    all->worst_ulp = own.worst_ulp > all->worst_ulp ? own.worst_ulp : all->worst_ulp;
    for (size_t i = 0; i < own.shown_count && all->shown_count < PROOF_SHOWN; i++) {
        all->shown[all->shown_count++] = own.shown[i];
    }
    if (!shared->status) {
        shared->status = status;
        status = VYRE_OK;
    }
    pthread_mutex_unlock(&shared->lock);

    vyre_status_free(status);
    oracle_deinit(&truth);
    mpfr_free_cache();
    shared->how->free(state);
    free(memory);
    return NULL;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static vyre_status run(proof shared, unsigned threads, proof_result *out_result) {
    enum { MOST = 64 };
    pthread_t ids[MOST];
    pthread_mutex_init(&shared.lock, NULL);
    double start = seconds();
    unsigned started = 0;
    while (started + 1 < threads && started < MOST &&
           !pthread_create(&ids[started], NULL, work, &shared)) {
        started++;
    }
    work(&shared);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
    }
    pthread_mutex_destroy(&shared.lock);
    shared.result.seconds = seconds() - start;
    *out_result = shared.result;
    return shared.status;
}

vyre_status proof_run(const math_function *function, const math_format *format, const executor *how,
                      const vyre_program *program, input_extent extent, uint64_t most,
                      unsigned threads, proof_result *out_result) {
    proof shared = {
        .function = function, .format = format, .how = how, .program = program, .extent = extent};
    uint64_t count = inputs_count(function, format, extent);
    shared.result.inputs = most && most < count ? most : count;
    return run(shared, threads, out_result);
}

vyre_status proof_run_cases(const math_function *function, const executor *how,
                            const vyre_program *program, const proof_cases *cases, unsigned threads,
                            proof_result *out_result) {
    proof shared = {.function = function,
                    .format = &math_formats[FORMAT_F64],
                    .how = how,
                    .program = program,
                    .cases = cases};
    shared.result.inputs = cases->count;
    return run(shared, threads, out_result);
}

/* Lines of one or two numbers, as strtod reads them, with a comma between; # starts a comment. */
vyre_status proof_cases_read(const char *path, proof_cases *out_cases) {
    *out_cases = (proof_cases){0};
    vyre_strbuf text = {0};
    vyre_status status = vyre_file_read(path, 1 << 26, &text);
    if (status) {
        return status;
    }
    out_cases->x = calloc(text.size + 1, sizeof(uint64_t));
    out_cases->y = calloc(text.size + 1, sizeof(uint64_t));
    if (!out_cases->x || !out_cases->y) {
        status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL, "no memory for %s", path);
    }
    char *line = (char *)vyre_strbuf_string(&text);
    while (!status && *line) {
        char *end;
        double x = strtod(line, &end);
        if (end != line && *line != '#') {
            double y = *end == ',' ? strtod(end + 1, NULL) : 0;
            out_cases->x[out_cases->count] = bits_of_double(x);
            out_cases->y[out_cases->count++] = bits_of_double(y);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    vyre_strbuf_free(&text);
    if (status) {
        proof_cases_free(out_cases);
    }
    return status;
}

void proof_cases_free(proof_cases *cases) {
    free(cases->x);
    free(cases->y);
    *cases = (proof_cases){0};
}
