#include "backend/reference/clock.h"

#include <string.h>

#include "backend/reference/machine.h"
#include "base/alloc.h"

/* Lanes of all workgroups in a row. */
static uint64_t key(uint32_t group, uint32_t lane) {
    return (uint64_t)group << 32 | lane;
}

/* The first mark that does not end before a lane. */
static uint32_t find(const knowledge *known, uint32_t group, uint32_t lane) {
    uint32_t low = 0, high = known->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key(known->marks[middle].group, known->marks[middle].last) < key(group, lane)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool covers(const knowledge *known, uint32_t at, uint32_t group, uint32_t lane) {
    return at < known->count && known->marks[at].group == group && known->marks[at].first <= lane;
}

static bool make_room(machine *m, knowledge *known, uint64_t count) {
    if (count <= known->capacity) {
        return true;
    }
    uint64_t capacity =
        (uint64_t)known->capacity * 2 > count ? (uint64_t)known->capacity * 2 : count + 2;
    if (capacity > UINT32_MAX) {
        return machine_no_memory(m);
    }
    if (!machine_reserve(m, (capacity - known->capacity) * sizeof(mark),
                         "what its invocations know of each other")) {
        return false;
    }
    mark *marks = vyre_resize(known->marks, (size_t)capacity, sizeof *marks);
    if (!marks) {
        return machine_no_memory(m);
    }
    known->marks = marks;
    known->capacity = (uint32_t)capacity;
    return true;
}

/* Behind the last mark, or as part of it. */
static void append(mark *marks, uint32_t *count, mark added) {
    mark *before = *count ? &marks[*count - 1] : NULL;
    if (before && before->group == added.group && before->last + 1 == added.first &&
        before->time == added.time) {
        before->last = added.last;
    } else {
        marks[(*count)++] = added;
    }
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Both lists from the first lane to the last: at each step the longest run that is in the same
 * marks throughout. */
static uint32_t merge(const knowledge *a, const knowledge *b, mark *out) {
    uint32_t i = 0, k = 0, count = 0;
    uint64_t at = 0;
    while (i < a->count || k < b->count) {
        const mark *x = i < a->count ? &a->marks[i] : NULL;
        const mark *y = k < b->count ? &b->marks[k] : NULL;
        uint64_t x_first = x ? later(key(x->group, x->first), at) : UINT64_MAX;
        uint64_t y_first = y ? later(key(y->group, y->first), at) : UINT64_MAX;
        uint64_t first = sooner(x_first, y_first);
        bool in_x = x_first == first, in_y = y_first == first;
        uint64_t x_end = in_x ? key(x->group, x->last) : x_first - 1;
        uint64_t y_end = in_y ? key(y->group, y->last) : y_first - 1;
        uint64_t last = sooner(x_end, y_end);
        append(out, &count,
               (mark){(uint32_t)(first >> 32), (uint32_t)first, (uint32_t)last,
                      (uint32_t)later(in_x ? x->time : 0, in_y ? y->time : 0)});
        i += in_x && x_end == last;
        k += in_y && y_end == last;
        at = last + 1;
    }
    return count;
}

bool knowledge_join(machine *m, knowledge *into, const knowledge *from) {
    if (!from->count) {
        return true;
    }
    if (!into->count) {
        if (!make_room(m, into, from->count)) {
            return false;
        }
        memcpy(into->marks, from->marks, from->count * sizeof *from->marks);
        into->count = from->count;
        return true;
    }
    knowledge joined = {0};
    if (!make_room(m, &joined, 2 * ((uint64_t)into->count + from->count))) {
        return false;
    }
    joined.count = merge(into, from, joined.marks);
    machine_give_back(m, into->capacity * sizeof *into->marks);
    knowledge_free(into);
    *into = joined;
    return true;
}

bool knowledge_add(machine *m, knowledge *into, mark added) {
    uint32_t at = find(into, added.group, added.first);
    mark *next = at < into->count ? &into->marks[at] : NULL;
    if (covers(into, at, added.group, added.first)) {
        knowledge single = {&added, 1, 1};
        return next->time >= added.time || knowledge_join(m, into, &single);
    }
    mark *before = at ? &into->marks[at - 1] : NULL;
    if (before && before->group == added.group && before->last + 1 == added.first &&
        before->time == added.time) {
        before->last = added.last;
        return true;
    }
    if (next && next->group == added.group && added.last + 1 == next->first &&
        next->time == added.time) {
        next->first = added.first;
        return true;
    }
    if (!make_room(m, into, (uint64_t)into->count + 1)) {
        return false;
    }
    memmove(into->marks + at + 1, into->marks + at, (into->count - at) * sizeof *into->marks);
    into->marks[at] = added;
    into->count++;
    return true;
}

void knowledge_free(knowledge *known) {
    vyre_free(known->marks);
    *known = (knowledge){0};
}

static bool has(const knowledge *known, uint32_t group, uint32_t lane, uint32_t time) {
    uint32_t at = find(known, group, lane);
    return covers(known, at, group, lane) && time < known->marks[at].time;
}

bool knowledge_has(const knowledge *known, const stamp *access) {
    return known->count && (has(known, access->group, WHOLE_GROUP, access->barriers) ||
                            has(known, access->group, stamp_lane(access), access->clock));
}
