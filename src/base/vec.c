#include "base/vec.h"

bool vyre_vec_grow(void **items, size_t count, size_t *capacity, size_t extra, size_t item_bytes) {
    if (extra > SIZE_MAX - count) {
        return false;
    }
    size_t wanted = count + extra;
    size_t grown = *capacity > SIZE_MAX / 2 ? wanted : *capacity * 2;
    size_t minimum = 256 / item_bytes > 4 ? 256 / item_bytes : 4;
    grown = grown < minimum ? minimum : grown;
    grown = grown < wanted ? wanted : grown;
    void *memory = vyre_resize(*items, grown, item_bytes);
    if (!memory) {
        return false;
    }
    *items = memory;
    *capacity = grown;
    return true;
}
