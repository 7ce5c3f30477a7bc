#include "conform/suite.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/strbuf.h"

const char *conform_suite_name(conform_suite_kind kind) {
    static const char *const names[] = {
#define NAME(name, text, documentation) [CONFORM_SUITE_##name] = text,
        CONFORM_SUITES(NAME)
#undef NAME
    };
    return kind < CONFORM_SUITE_COUNT ? names[kind] : NULL;
}

const char *conform_tag_name(conform_tag tag) {
    static const char *const names[] = {
#define NAME(name, text, documentation) [CONFORM_TAG_##name - CONFORM_TAG_INTEGER] = text,
        CONFORM_TAGS(NAME)
#undef NAME
    };
    if (tag < CONFORM_TAG_INTEGER) { /* a type */
        return vyre_type_name((vyre_type)tag);
    }
    return tag < CONFORM_TAG_COUNT ? names[tag - CONFORM_TAG_INTEGER] : NULL;
}

void conform_suite_add(conform_suite *suite, bool *failed, uint64_t tags, uint32_t group,
                       const uint32_t part[3], const char *format, ...) {
    vyre_strbuf id = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&id, format, arguments);
    va_end(arguments);
    const char *copy = id.failed ? NULL : vyre_arena_copy(&suite->arena, id.data, id.size);
    vyre_strbuf_free(&id);
    conform_suite_case row = {copy, tags, group, {part[0], part[1], part[2]}};
    *failed |= !copy || !vyre_vec_push(&suite->list, row);
}

vyre_status conform_suite_make(conform_suite_kind kind, conform_suite *out_suite) {
    bool failed = false;
    *out_suite = (conform_suite){.kind = kind, .vectors = CONFORM_VECTORS};
    if (kind <= CONFORM_SUITE_FLOATS) {
        conform_suite_table_list(out_suite, &failed);
    }
    conform_suite_programs_list(out_suite, &failed);
    out_suite->cases = out_suite->list.items;
    out_suite->case_count = out_suite->list.count;
    if (failed) {
        conform_suite_free(out_suite);
        return vyre_no_memory("to list the cases of the suite `%s`", conform_suite_name(kind));
    }
    return VYRE_OK;
}

void conform_suite_free(conform_suite *suite) {
    vyre_vec_free(&suite->list);
    vyre_arena_deinit(&suite->arena);
    *suite = (conform_suite){0};
}

size_t conform_suite_group_end(const conform_suite *suite, size_t first) {
    size_t end = first;
    while (end < suite->case_count && suite->cases[end].group == suite->cases[first].group) {
        end++;
    }
    return end;
}

vyre_status conform_suite_build(const conform_suite *suite, const conform_suite_case *const *cases,
                                size_t count, conform_suite_trial *out_trial) {
    memset(out_trial, 0, sizeof *out_trial);
    vyre_status status = cases[0]->part[0]
                             ? conform_suite_table_build(suite, cases, count, out_trial)
                             : conform_suite_programs_build(cases[0], out_trial);
    if (status) {
        conform_trial_free(&out_trial->trial);
    }
    return status ? vyre_status_annotate(status, "in the case %s", cases[0]->id) : VYRE_OK;
}

uint64_t conform_suite_parts(const conform_suite *suite) {
    return suite->kind == CONFORM_SUITE_FLOATS
               ? (suite->vectors + CONFORM_PART_VECTORS - 1) / CONFORM_PART_VECTORS
               : 1;
}

/* Records: a line a case in the order of ids, "ID DIGEST", sixteen digits each. */

extern const char conform_suite_records_text[];

bool conform_suite_recorded(const char *id, uint64_t *out_digest) {
    size_t low = 0, high = strlen(conform_suite_records_text);
    const char *text = conform_suite_records_text;
    while (low < high) {
        /* The line that the middle lies in. */
        size_t start = low + (high - low) / 2;
        while (start > low && text[start - 1] != '\n') {
            start--;
        }
        size_t id_size = strcspn(text + start, " "), end = start + strcspn(text + start, "\n");
        size_t wanted = strlen(id), shared = wanted < id_size ? wanted : id_size;
        int order = memcmp(id, text + start, shared);
        order = order ? order : (wanted > id_size) - (wanted < id_size);
        if (!order) {
            *out_digest = strtoull(text + start + id_size, NULL, 16);
            return true;
        }
        if (order < 0) {
            high = start;
        } else {
            low = end < high ? end + 1 : high;
        }
    }
    return false;
}
