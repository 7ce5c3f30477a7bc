#include "base/near.h"

#include <string.h>

enum { MAX_NAME = 64 }; /* longer names get no suggestion */

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static int fold_case(char c) {
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Edits (insert, delete, replace, swap of neighbours) that iteration one into the other, whatever
 * the case. */
static uint32_t distance_between(vyre_str a, vyre_str b) {
    uint32_t rows[3][MAX_NAME + 1];
    uint32_t *before = rows[0], *above = rows[1], *current = rows[2];
    for (uint32_t j = 0; j <= b.size; j++) {
        above[j] = j;
    }
    for (uint32_t i = 1; i <= a.size; i++) {
        current[0] = i;
        for (uint32_t j = 1; j <= b.size; j++) {
            int x = fold_case(a.data[i - 1]), y = fold_case(b.data[j - 1]);
            uint32_t edits = smaller(above[j], current[j - 1]) + 1;
            edits = smaller(edits, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold_case(b.data[j - 2]) && y == fold_case(a.data[i - 2])) {
                edits = smaller(edits, before[j - 2] + 1);
            }
            current[j] = edits;
        }
        uint32_t *oldest = before;
        before = above;
        above = current;
        current = oldest;
    }
    return above[b.size];
}

static int compare(vyre_str a, vyre_str b) {
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

void vyre_near_init(vyre_near *near, vyre_str wanted) {
    *near = (vyre_near){.wanted = wanted};
}

void vyre_near_add(vyre_near *near, vyre_str candidate) {
    vyre_str wanted = near->wanted;
    if (wanted.size == 0 || wanted.size > MAX_NAME || candidate.size == 0 ||
        candidate.size > MAX_NAME) {
        return;
    }
    /* Every third letter may be wrong, but not the only one. */
    uint32_t allowed = wanted.size < 3 ? (uint32_t)wanted.size - 1 : (uint32_t)wanted.size / 3;
    size_t longer = wanted.size > candidate.size ? wanted.size : candidate.size;
    if (longer * 2 - wanted.size - candidate.size > allowed) {
        return;
    }
    uint32_t distance = distance_between(wanted, candidate);
    if (distance > allowed) {
        return;
    }
    size_t at = near->count;
    while (at > 0) {
        int order = distance < near->distances[at - 1]   ? -1
                    : distance > near->distances[at - 1] ? 1
                                                         : compare(candidate, near->names[at - 1]);
        if (order == 0) {
            return;
        }
        if (order > 0) {
            break;
        }
        at--;
    }
    if (at == VYRE_NEAR_NAMES) {
        return;
    }
    size_t kept = near->count < VYRE_NEAR_NAMES ? near->count : VYRE_NEAR_NAMES - 1;
    memmove(near->names + at + 1, near->names + at, (kept - at) * sizeof near->names[0]);
    memmove(near->distances + at + 1, near->distances + at,
            (kept - at) * sizeof near->distances[0]);
    near->names[at] = candidate;
    near->distances[at] = distance;
    near->count = kept + 1;
}

void vyre_near_print(const vyre_near *near, vyre_strbuf *text, const char *before) {
    for (size_t i = 0; i < near->count; i++) {
        vyre_strbuf_puts(text, i == 0 ? before : i + 1 < near->count ? ", " : " or ");
        vyre_strbuf_putc(text, '`');
        vyre_strbuf_add(text, near->names[i].data, near->names[i].size);
        vyre_strbuf_putc(text, '`');
    }
}

vyre_status vyre_near_refuse(const vyre_near *near, const char *fix, const char *format, ...) {
    vyre_strbuf message = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&message, format, arguments);
    va_end(arguments);
    vyre_near_print(near, &message, "; did you mean ");
    vyre_strbuf_puts(&message, near->count ? "?" : "");
    vyre_status status =
        vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "%s", vyre_strbuf_string(&message));
    vyre_strbuf_free(&message);
    return status;
}
