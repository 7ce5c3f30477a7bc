#include "ir/verify.h"
#include "ir/word.h"

#include <stdarg.h>

#include "ir/diagnostic.h"
#include "ir/lookup.h"
#include "ir/program.h"

#include "base/status.h"

/* Reports */

static vyre_diagnostic place_of(const verifier *v, uint32_t inst, vyre_call_list *calls) {
    vyre_diagnostic at = {.inst = inst};
    const vyre_ir *ir = v->ir;
    if (inst == VYRE_NONE || !ir->place_count) {
        return at;
    }
    vyre_place place = ir->places[inst];
    at.line = VYRE_PLACE_LINE(place);
    at.column = VYRE_PLACE_COLUMN(place);
    at.file = vyre_scope_file(ir->scopes, ir->debug_strings, VYRE_PLACE_SCOPE(place));
    at.calls = vyre_scope_calls(ir->scopes, ir->debug_strings, VYRE_PLACE_SCOPE(place), calls);
    return at;
}

static void report(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                   va_list arguments) VYRE_PRINTF(5, 0);

static void report(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                   va_list arguments) {
    vyre_call_list calls;
    vyre_diagnostic at = place_of(v, inst, &calls);
    vyre_diagnostics_vadd(v->diagnostics, &at, code, fix, format, arguments);
}

bool verify_error(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                  ...) {
    va_list arguments;
    va_start(arguments, format);
    report(v, inst, code, fix, format, arguments);
    va_end(arguments);
    v->has_errors = true;
    return false;
}

bool verify_item_error(verifier *v, vyre_section_id section, uint32_t item, uint32_t code,
                       const char *fix, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(v, VYRE_NONE, code, fix, format, arguments);
    va_end(arguments);
    if (!v->has_errors) {
        v->fault = (vyre_fault){section, item};
    }
    v->has_errors = true;
    return false;
}

static const char table_fix[] = "rebuild the program with the builder or from text, which give "
                                "every table its canonical order";

/* What an item of each section is called. */
static const char *const nouns[VYRE_SECTION_COUNT] = {"argument",
                                                      "array",
                                                      "size term",
                                                      "step",
                                                      "phase",
                                                      "constant",
                                                      "operand",
                                                      "instruction",
                                                      "name byte",
                                                      "array name",
                                                      "step name",
                                                      "place",
                                                      "call",
                                                      "value name",
                                                      "debug string byte",
                                                      "requirement",
                                                      "requirement's place",
                                                      "data byte"};

bool verify_not_canonical(verifier *v, vyre_section_id section, uint32_t item, const char *what) {
    return verify_item_error(v, section, item, 703, table_fix, "%s %u %s", nouns[section], item,
                             what);
}

void verify_warning(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                    ...) {
    va_list arguments;
    va_start(arguments, format);
    report(v, inst, code, fix, format, arguments);
    va_end(arguments);
}

const char *verify_resource_name(const verifier *v, uint32_t resource) {
    const vyre_resource *row = &v->ir->resources[resource];
    resource = vyre_resource_is_field(row) && row->size < resource ? row->size : resource;
    const char *name = vyre_ir_resource_name(v->ir, resource);
    for (uint32_t i = 0; !*name && i < v->ir->arg_count; i++) {
        if (v->ir->args[i].resource == resource) {
            name = v->ir->strings + v->ir->args[i].name;
        }
    }
    return *name ? name : "the array";
}

/* The limits that the decoder has, too. */
static bool check_limits(verifier *v) {
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        uint32_t count = vyre_section_count(v->ir, id), limit = vyre_section_limit(id);
        if (count > limit) {
            return verify_item_error(v, id, limit, 701, "split the program, or inline less",
                                     "the program has %u %ss, and at most %u are allowed", count,
                                     nouns[id], limit);
        }
    }
    return true;
}

/* Names and places for people */

static bool misfit(verifier *v, vyre_section_id section, uint32_t item) {
    return verify_not_canonical(v, section, item, "does not fit the program");
}

/* An empty string first, a NUL last, and no string that could not be a name. */
static bool check_debug_strings(verifier *v) {
    const char *strings = v->ir->debug_strings;
    uint32_t bytes = v->ir->debug_string_bytes;
    if (bytes && (strings[0] || strings[bytes - 1])) {
        return misfit(v, VYRE_SECTION_DEBUG_STRINGS, strings[0] ? 0 : bytes - 1);
    }
    for (uint32_t at = 0, start = 0; at < bytes; at++) {
        unsigned char c = (unsigned char)strings[at];
        if (c > ' ' && c != 0x7f && at - start <= VYRE_LIMIT_NAME_BYTES) {
            continue; /* most */
        }
        if ((c && (c < ' ' || c == 0x7f)) || at - start > VYRE_LIMIT_NAME_BYTES) {
            return misfit(v, VYRE_SECTION_DEBUG_STRINGS, at);
        }
        start = c ? start : at + 1;
    }
    return true;
}

/* Of those that people see there are none, or as many as of what they are about. */
static bool check_count(verifier *v, vyre_section_id section, uint32_t count, uint32_t wanted) {
    return !count || count == wanted || misfit(v, section, count < wanted ? count : wanted);
}

static bool check_names(verifier *v, vyre_section_id section, const uint32_t *names, uint32_t count,
                        uint32_t wanted) {
    if (!check_count(v, section, count, wanted)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (names[i] >= v->ir->debug_string_bytes) {
            return misfit(v, section, i);
        }
    }
    return true;
}

static bool check_each_place(verifier *v, vyre_section_id section, const vyre_place *places,
                             uint32_t count, uint32_t wanted) {
    if (!check_count(v, section, count, wanted)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (VYRE_PLACE_SCOPE(places[i]) > v->ir->scope_count) {
            return misfit(v, section, i);
        }
    }
    return true;
}

static bool check_places(verifier *v) {
    const vyre_ir *ir = v->ir;
    for (uint32_t i = 0; i < ir->scope_count; i++) {
        if (ir->scopes[i].name >= ir->debug_string_bytes ||
            (ir->scopes[i].file && ir->scopes[i].file >= ir->debug_string_bytes) ||
            VYRE_PLACE_SCOPE(ir->scopes[i].call) > i) {
            return misfit(v, VYRE_SECTION_SCOPES, i);
        }
    }
    return check_each_place(v, VYRE_SECTION_PLACES, ir->places, ir->place_count, ir->inst_count) &&
           check_each_place(v, VYRE_SECTION_REQUIREMENT_PLACES, ir->requirement_places,
                            ir->requirement_place_count, ir->requirement_count);
}

static bool check_value_names(verifier *v) {
    const vyre_ir *ir = v->ir;
    for (uint32_t i = 0; i < ir->value_name_count; i++) {
        const vyre_value_name *row = &ir->value_names[i];
        if (row->name >= ir->debug_string_bytes || row->value >= ir->inst_count ||
            (i && row->value <= row[-1].value)) {
            return misfit(v, VYRE_SECTION_VALUE_NAMES, i);
        }
    }
    return true;
}

/* Nothing may point outside. */
static bool check_debug(verifier *v) {
    const vyre_ir *ir = v->ir;
    if (ir->file && ir->file >= ir->debug_string_bytes) {
        return verify_item_error(v, VYRE_SECTION_COUNT, 0, 703, table_fix,
                                 "the source file has no name");
    }
    return check_debug_strings(v) &&
           check_names(v, VYRE_SECTION_RESOURCE_NAMES, ir->resource_names, ir->resource_name_count,
                       ir->resource_count) &&
           check_names(v, VYRE_SECTION_STEP_NAMES, ir->step_names, ir->step_name_count,
                       ir->step_count) &&
           check_places(v) && check_value_names(v);
}

/* The whole */

/* Code uses constant arrays in their order, and all of them. */
static void check_constants_used(verifier *v) {
    if (v->used_constants != v->constant_count) {
        verify_not_canonical(v, VYRE_SECTION_RESOURCES, v->first_constant + v->used_constants,
                             "is never used");
    }
}

static void check_code(verifier *v) {
    const vyre_ir *ir = v->ir;
    for (uint32_t step = 0; step < ir->step_count && !v->no_memory && !v->has_errors; step++) {
        uint32_t phase = ir->steps[step].size;
        phase_facts facts = {0};
        if (ir->steps[step].kind != VYRE_STEP_PHASE) {
            continue;
        }
        if (!verify_code(v, phase, step, &facts)) {
            break;
        }
        if (facts.syncs) {
            verify_uniformity(v, phase);
        }
        if (facts.grid_barriers && facts.uses_shared) {
            verify_shared(v, phase);
        }
    }
    if (!v->has_errors && !v->no_memory) {
        if (v->next_const != ir->const_count) {
            verify_not_canonical(v, VYRE_SECTION_CONSTS, v->next_const, "is never used");
        } else if (v->next_operand != ir->operand_count) {
            verify_not_canonical(v, VYRE_SECTION_OPERANDS, v->next_operand, "is never used");
        } else {
            check_constants_used(v);
        }
        for (uint32_t i = 0; i < ir->resource_count && !v->has_errors; i++) {
            if (vyre_resource_is_field(&ir->resources[i]) &&
                !(v->used_fields[i / 64] >> i % 64 & 1)) {
                verify_not_canonical(v, VYRE_SECTION_RESOURCES, i, "is never used");
            }
        }
    }
}

/* What the error is about that stands first in the list. */
static vyre_fault first_fault(const verifier *v) {
    for (size_t i = 0; i < vyre_diagnostics_count(v->diagnostics); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(v->diagnostics, i);
        if (item->severity == VYRE_SEVERITY_ERROR) {
            return item->inst == VYRE_NONE ? v->fault
                                           : (vyre_fault){VYRE_SECTION_INSTS, item->inst};
        }
    }
    return v->fault;
}

vyre_status vyre_verify(const vyre_ir *ir, vyre_diagnostics *diagnostics, vyre_fault *out_fault) {
    verifier v = {.ir = ir, .diagnostics = diagnostics, .fault = {VYRE_SECTION_COUNT, 0}};
    VYRE_TRY(vyre_words_prepare());
    bool has_names = check_limits(&v) && check_debug(&v);
    if (has_names && ir->flags & ~(uint32_t)VYRE_PROGRAM_DETERMINISTIC) {
        verify_item_error(&v, VYRE_SECTION_COUNT, 0, 703, table_fix,
                          "the program has unknown flags 0x%x", ir->flags);
    } else if (has_names && verify_tables(&v)) {
        check_code(&v);
    }
    if (v.no_memory) {
        return vyre_no_memory("to verify a program of %u instructions", ir->inst_count);
    }
    if (out_fault) {
        *out_fault = first_fault(&v);
    }
    const char *file = has_names && ir->file ? ir->debug_strings + ir->file : NULL;
    return vyre_diagnostics_status(diagnostics, file);
}
