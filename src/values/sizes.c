#include "values/sizes.h"

#include <string.h>

/* Digits alone; -1 if it is no number, or one that is too large. Sets where it ends. */
static int read_exponent(const char *text, const char **out_end) {
    int number = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        number = number > VALUES_SIZES_LAST ? number : number * 10 + (*c - '0');
    }
    *out_end = c;
    return c == text || number > VALUES_SIZES_LAST ? -1 : number;
}

static vyre_status wrong_sizes(const char *text, const char *why) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "give exponents from 0 to 40, as in --sizes 8..20 for 2^8 to 2^20, "
                            "8..20:2 for smaller steps, or 6,16,26",
                            "--sizes takes A..B or A..B:STEP, or a list of these, not `%s`%s", text,
                            why);
}

/* One A or A..B[:STEP], whose sizes are marked; moves behind it. */
static const char *read_range(const char **at, bool wanted[VALUES_SIZES_LAST + 1]) {
    int first = read_exponent(*at, at), last = first, step = VALUES_SIZES_STEP;
    if (first >= 0 && !strncmp(*at, "..", 2)) {
        last = read_exponent(*at + 2, at);
        step = last >= 0 && **at == ':' ? read_exponent(*at + 1, at) : step;
    }
    if (first < 0 || last < 0 || step < 1) {
        return step == 0 ? ": the step is 0" : "";
    }
    if (first > last) {
        return ": the first size is the larger one";
    }
    for (int i = first; i < last; i += step) {
        wanted[i] = true;
    }
    wanted[last] = true;
    return NULL;
}

vyre_status values_sizes_parse(const char *text, values_sizes *out_sizes) {
    bool wanted[VALUES_SIZES_LAST + 1] = {false};
    const char *at = text ? text : "8..20", *problem;
    for (;; at++) {
        problem = read_range(&at, wanted);
        if (problem || *at != ',') {
            break;
        }
    }
    if (problem || *at) {
        return wrong_sizes(text, problem ? problem : "");
    }
    *out_sizes = (values_sizes){0};
    for (uint32_t i = 0; i <= VALUES_SIZES_LAST; i++) {
        if (wanted[i]) {
            out_sizes->exponents[out_sizes->count++] = i;
        }
    }
    return VYRE_OK;
}

size_t values_sizes_count(const values_sizes *sizes) {
    return sizes->count;
}

uint64_t values_sizes_at(const values_sizes *sizes, size_t index) {
    return UINT64_C(1) << sizes->exponents[index];
}

vyre_status values_places_parse(const char *text, values_places *out_places) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_DATA_##name] = text,
        VYRE_DATA_PLACES(NAME)
#undef NAME
    };
    enum { COUNT = sizeof names / sizeof *names };
    *out_places = (values_places){0};
    for (size_t i = 0; !text && i < COUNT; i++) {
        out_places->wanted[i] = true;
    }
    for (const char *rest = text; rest;) {
        size_t size = strcspn(rest, ","), found = 0;
        while (found < COUNT &&
               (strlen(names[found]) != size || memcmp(names[found], rest, size) != 0)) {
            found++;
        }
        if (found == COUNT) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "give host, resident, or host,resident",
                                    "--data takes host and resident, not `%s`", text);
        }
        out_places->wanted[found] = true;
        rest = rest[size] ? rest + size + 1 : NULL;
    }
    return VYRE_OK;
}
