#include "backend/cpu/codegen/llvm_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A part with less is not worth another module. */
enum { LEAST_BYTES = 6000 };

static const char function_start[] = "define ", function_end[] = "\n}\n", phase_name[] = "@phase_";

/* The next function from `at` on, NULL if there is none; its end is NULL where it is not written as
 * the emitter does. */
static const char *find_function(const char *at, const char **out_end) {
    while (at && strncmp(at, function_start, sizeof function_start - 1) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    const char *end = at ? strstr(at, function_end) : NULL;
    *out_end = end ? end + sizeof function_end - 1 : NULL;
    return at;
}

static const unsigned long no_phase = ULONG_MAX;

/* The phase that a function is of, if its name says so. */
static unsigned long phase_of(const char *function) {
    const char *line = strchr(function, '\n'), *name = strstr(function, phase_name);
    return name && name < line ? strtoul(name + sizeof phase_name - 1, NULL, 10) : no_phase;
}

/* How many parts are worth it. */
static uint32_t count_parts(const vyre_strbuf *ir, uint32_t most) {
    uint32_t phases = 0;
    unsigned long last = no_phase;
    const char *end;
    for (const char *at = vyre_strbuf_string(ir); (at = find_function(at, &end)); at = end) {
        unsigned long phase = phase_of(at);
        if (phase == no_phase || !end) {
            return 1;
        }
        phases += phase != last;
        last = phase;
    }
    size_t by_size = ir->size / LEAST_BYTES;
    most = most < CPU_MOST_PARTS ? most : CPU_MOST_PARTS;
    most = most < phases ? most : phases;
    return by_size > most ? most : by_size ? (uint32_t)by_size : 1;
}

static uint32_t smallest(const vyre_strbuf *parts, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        best = parts[i].size < parts[best].size ? i : best;
    }
    return best;
}

uint32_t cpu_llvm_cut(const vyre_strbuf *ir, uint32_t most, vyre_strbuf out_parts[CPU_MOST_PARTS]) {
    uint32_t count = count_parts(ir, most);
    if (count < 2) {
        return 1;
    }
    memset(out_parts, 0, count * sizeof *out_parts);
    unsigned long last = no_phase;
    uint32_t part = 0;
    bool failed = false;
    const char *at = vyre_strbuf_string(ir), *end, *function;
    while ((function = find_function(at, &end))) {
        for (uint32_t i = 0; i < count; i++) {
            vyre_strbuf_add(&out_parts[i], at, (size_t)(function - at));
        }
        part = phase_of(function) == last ? part : smallest(out_parts, count);
        last = phase_of(function);
        vyre_strbuf_add(&out_parts[part], function, (size_t)(end - function));
        at = end;
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_puts(&out_parts[i], at);
        failed |= out_parts[i].failed;
    }
    for (uint32_t i = 0; i < count && failed; i++) {
        vyre_strbuf_free(&out_parts[i]);
    }
    return failed ? 0 : count;
}
