/* Growable arrays of any type.
 *
 *     VYRE_VEC(uint32_t) ids = {0};
 *     if (!vyre_vec_push(&ids, 7)) { ... no memory ... }
 *     vyre_vec_free(&ids);
 */
#ifndef VYRE_BASE_VEC_H
#define VYRE_BASE_VEC_H

#include "base/alloc.h"

#define VYRE_VEC(type)                                                                             \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `extra` more items; false without memory, the vector then being unchanged. */
#define vyre_vec_reserve(vec, extra)                                                               \
    ((vec)->capacity - (vec)->count >= (size_t)(extra) ||                                          \
     vyre_vec_grow((void **)(void *)&(vec)->items, (vec)->count, &(vec)->capacity,                 \
                   (size_t)(extra), sizeof *(vec)->items))

#define vyre_vec_push(vec, ...)                                                                    \
    (vyre_vec_reserve(vec, 1) ? ((vec)->items[(vec)->count++] = (__VA_ARGS__), true) : false)

#define vyre_vec_free(vec)                                                                         \
    (vyre_free((vec)->items), (vec)->items = NULL, (vec)->count = (vec)->capacity = 0)

bool vyre_vec_grow(void **items, size_t count, size_t *capacity, size_t extra, size_t item_bytes);

#endif
