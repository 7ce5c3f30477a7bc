#include "ir/section.h"

#include <string.h>

#include "base/alloc.h"

static const struct {
    size_t array, count, item_bytes;
    const char *layout;
    uint32_t limit;
} rows[VYRE_SECTION_COUNT] = {
#define ROW(name, array, count, type, layout, limit)                                               \
    {offsetof(vyre_ir, array), offsetof(vyre_ir, count), sizeof(type), layout, VYRE_LIMIT_##limit},
    VYRE_SECTIONS(ROW)
#undef ROW
};

uint32_t vyre_section_count(const vyre_ir *ir, vyre_section_id id) {
    uint32_t count;
    memcpy(&count, (const char *)ir + rows[id].count, sizeof count);
    return count;
}

size_t vyre_section_item_bytes(vyre_section_id id) {
    return rows[id].item_bytes;
}

uint32_t vyre_section_limit(vyre_section_id id) {
    return rows[id].limit;
}

const void *vyre_section_items(const vyre_ir *ir, vyre_section_id id) {
    const void *items;
    memcpy(&items, (const char *)ir + rows[id].array, sizeof items);
    return items;
}

void vyre_section_set(vyre_ir *ir, vyre_section_id id, void *items, uint32_t count) {
    const void *array = items;
    memcpy((char *)ir + rows[id].array, &array, sizeof array);
    memcpy((char *)ir + rows[id].count, &count, sizeof count);
}

bool vyre_section_needs_copy(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first != 1;
}

void vyre_section_copy(vyre_section_id id, void *to, const void *from, size_t count) {
    if (!count) {
        return;
    }
    if (!vyre_section_needs_copy()) {
        memcpy(to, from, count * rows[id].item_bytes);
        return;
    }
    unsigned char *target = to;
    const unsigned char *source = from;
    for (size_t i = 0; i < count; i++) {
        for (const char *field = rows[id].layout; *field; field++) {
            int bytes = *field - '0';
            for (int k = 0; k < bytes; k++) {
                target[k] = source[bytes - 1 - k];
            }
            target += bytes;
            source += bytes;
        }
    }
}

bool vyre_sections_same_meaning(const vyre_ir *left, const vyre_ir *right) {
    bool same = left->flags == right->flags;
    for (uint32_t i = 0; i < VYRE_SECTION_COUNT && same; i++) {
        vyre_section_id id = (vyre_section_id)i;
        uint32_t count = vyre_section_count(left, id);
        same = !vyre_section_is_meaning(i) ||
               (count == vyre_section_count(right, id) &&
                (!count || !memcmp(vyre_section_items(left, id), vyre_section_items(right, id),
                                   count * rows[id].item_bytes)));
    }
    return same;
}

void vyre_sections_free(vyre_ir *ir) {
    for (int id = 0; id < VYRE_SECTION_COUNT; id++) {
        vyre_free((void *)vyre_section_items(ir, (vyre_section_id)id));
        vyre_section_set(ir, (vyre_section_id)id, NULL, 0);
    }
}
