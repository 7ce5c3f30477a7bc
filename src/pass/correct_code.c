#include "pass/correct_code.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "pass/pass.h"
#include "text/module.h"

/* Put into the library by the build: correct_core.vyre and one of the others, each. */
extern const char vyre_correct_half_text[], vyre_correct_f32_text[], vyre_correct_f64_text[];

static const char *const names[CORRECT_TEXTS] = {"correct_half.vyre", "correct_f32.vyre",
                                                 "correct_f64.vyre"};

/* A text, parsed on first use and kept as long as the process, and those of its programs that were
 * asked for, simplified. A failure for lack of memory is tried again. */
typedef struct known_text {
    vyre_module *module;
    vyre_program **simple; /* by program; NULL before its first use */
} known_text;

static const char *source_of(correct_text text) {
    switch (text) {
    case CORRECT_HALF: return vyre_correct_half_text;
    case CORRECT_F32: return vyre_correct_f32_text;
    case CORRECT_F64: return vyre_correct_f64_text;
    case CORRECT_TEXTS: break;
    }
    return "";
}

static vyre_status load(correct_text text, known_text *known) {
    if (!known->module) {
        const char *source = source_of(text);
        VYRE_TRY(vyre_module_parse_with(&(vyre_parse_options){0}, names[text], source,
                                        strlen(source), NULL, &known->module));
    }
    if (!known->simple) {
        known->simple = vyre_alloc_zeroed(vyre_module_count(known->module), sizeof *known->simple);
    }
    return known->simple ? VYRE_OK : vyre_no_memory("for the corrections of floats");
}

static vyre_status simplify(const known_text *known, size_t index) {
    vyre_program *whole = vyre_module_program(known->module, index), *simple;
    VYRE_TRY(vyre_tidy(whole, &simple));
    known->simple[index] = simple ? simple : vyre_program_retain(whole);
    return VYRE_OK;
}

static vyre_status find(known_text *known, correct_text text, const char *name,
                        const vyre_program **out_function) {
    VYRE_TRY(load(text, known));
    for (size_t i = 0; i < vyre_module_count(known->module); i++) {
        if (strcmp(vyre_program_name(vyre_module_program(known->module, i)), name) == 0) {
            if (!known->simple[i]) {
                VYRE_TRY(simplify(known, i));
            }
            *out_function = known->simple[i];
            return VYRE_OK;
        }
    }
    return vyre_internal_error("%s has no function `%s`", names[text], name);
}

vyre_status correct_find(correct_text text, const char *name, const vyre_program **out_function) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static known_text all[CORRECT_TEXTS];
    *out_function = NULL;
    pthread_mutex_lock(&lock);
    vyre_status status = find(&all[text], text, name, out_function);
    pthread_mutex_unlock(&lock);
    return status;
}

vyre_type correct_bits_type(vyre_type type) {
    switch (vyre_type_bytes(type)) {
    case 2: return VYRE_TYPE_U16;
    case 4: return VYRE_TYPE_U32;
    default: return VYRE_TYPE_U64;
    }
}

uint32_t correct_bits(vyre_rebuild *rebuild, uint32_t value) {
    vyre_type type = vyre_build_type(rebuild->to, value);
    return vyre_lookup_class(type) == VYRE_CLASS_FLOAT
               ? vyre_build_bitcast(rebuild->to, correct_bits_type(type), value)
               : value;
}

uint32_t correct_call(vyre_rebuild *rebuild, correct_text text, const char *name, vyre_type type,
                      const uint32_t *operands, uint32_t count) {
    correct_state *state = rebuild->user;
    const vyre_program *function;
    uint32_t bits[3];
    for (uint32_t i = 0; i < count; i++) {
        bits[i] = correct_bits(rebuild, operands[i]);
    }
    vyre_status status = state->status ? VYRE_OK : correct_find(text, name, &function);
    state->status = state->status ? state->status : status;
    state->changed = true;
    if (state->status) {
        return VYRE_NONE;
    }
    uint32_t result = vyre_rebuild_splice(rebuild->to, function, name, bits);
    if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        return vyre_build_bitcast(rebuild->to, type, result);
    }
    return vyre_build_convert(rebuild->to, type, result);
}

bool correct_is_bitwise(vyre_op op) {
    switch (op) {
    case VYRE_ANY_OF(SIGN, SURROUNDINGS, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
    case VYRE_ONE_OF(COPYSIGN, SELECT, BITCAST):
    case VYRE_ANY_OF(ELEMENTARY): return true;
    case VYRE_ANY_OF(LINEAR, QUOTIENT, EXTREME, INTEGER, LOGIC, BITS, COMPARE):
    case VYRE_ONE_OF(FMA, SQRT, FLOOR, CEIL, TRUNC, ROUND, CONVERT): break;
    }
    return false;
}

vyre_status correct_run(const vyre_program *program, vyre_rebuild hooks, correct_state *state,
                        vyre_program **out_program) {
    hooks.user = state;
    state->changed = false;
    *out_program = NULL;
    vyre_status status = vyre_rebuild_run(program, hooks, out_program);
    if (state->status) { /* the other is its consequence */
        vyre_status_free(status);
        status = state->status;
        state->status = VYRE_OK;
    }
    if (status || !state->changed) {
        vyre_program_release(*out_program);
        *out_program = NULL;
    }
    return status;
}
