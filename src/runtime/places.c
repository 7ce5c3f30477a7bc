#include "runtime/places.h"

#include "base/status.h"

bool vyre_places_change(const vyre_ir *ir) {
    bool found = false;
    for (uint32_t i = 0; i < ir->step_count && !found; i++) {
        found = ir->steps[i].kind == VYRE_STEP_SWAP;
    }
    return found;
}

static bool is_buffer(const vyre_ir *ir, uint32_t array) {
    return ir->resources[array].kind == VYRE_RESOURCE_BUFFER;
}

/* The contents of each array of a circle are in the place of the next. The circle is opened behind
 * an array whose contents nobody needs, or, if there is none, behind one whose contents wait in
 * spare memory. */
static vyre_status settle_circle(const vyre_ir *ir, uint32_t *places, uint32_t first,
                                 vyre_place_copy copy, void *user) {
    uint32_t open = first;
    while (is_buffer(ir, open) && places[open] != first) {
        open = places[open];
    }
    bool needs_spare = is_buffer(ir, open);
    vyre_status status = needs_spare ? copy(user, VYRE_NONE, places[open], open) : VYRE_OK;
    uint32_t at = places[open];
    places[open] = open;
    while (at != open) {
        uint32_t next = places[at];
        if (!status && is_buffer(ir, at)) {
            status = copy(user, at, next, at);
        }
        places[at] = at;
        at = next;
    }
    return status || !needs_spare ? status : copy(user, open, VYRE_NONE, open);
}

vyre_status vyre_places_settle(const vyre_ir *ir, uint32_t *places, uint32_t count,
                               vyre_place_copy copy, void *user) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (places[i] != i) {
            status = vyre_first_failure(status, settle_circle(ir, places, i, copy, user));
        }
    }
    return status;
}
