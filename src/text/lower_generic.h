/* Type parameters, and the instances of what has them. */
#ifndef VYRE_TEXT_LOWER_GENERIC_H
#define VYRE_TEXT_LOWER_GENERIC_H

#include "text/lower.h"

/* A call of something generic, and the types that are known so far. */
typedef struct vyre_generic_call {
    vyre_callee callee;
    vyre_value_type types[VYRE_MOST_TYPE_PARAMETERS]; /* VYRE_TYPE_VOID: not known yet */
} vyre_generic_call;

/* Keeps the type parameters of an item, a list of its head. */
void lower_keep_type_parameters(vyre_lower *lower, uint32_t item, uint32_t list);

/* Whether what a callee names has type parameters. */
static inline bool lower_is_generic(vyre_callee callee) {
    return callee.unit->items.items[callee.item].generic;
}

/* Reads the types that a CALL states, if any; false after a report. */
bool lower_read_types(vyre_lower *lower, vyre_node node, vyre_generic_call *call);

/* A type of the head with what is known put in, VYRE_TYPE_VOID if that is not enough; and the other
 * way round, what one learns when it stands for `found`. */
vyre_value_type lower_known_type(const vyre_generic_call *call, vyre_value_type type);
void lower_learn_type(vyre_generic_call *call, vyre_value_type type, vyre_value_type found);

/* The instance for the types of a call; without a unit, after a report, if it cannot be. */
vyre_callee lower_instance(vyre_lower *lower, const vyre_generic_call *call, vyre_spot spot);

/* The same for what is generic, and types as a name states them, "gather<f32>". */
vyre_callee lower_stated_instance(vyre_lower *lower, vyre_callee callee, const char *name,
                                  vyre_spot spot);

/* Makes the type parameters of an instance stand for its types, and those of the one before for
 * nothing; VYRE_NONE for no instance. Gives the one before. */
uint32_t lower_bind_types(vyre_unit *unit, uint32_t item);

/* Looks through a generic item: it has to be right for one of the types that its bounds allow. */
void lower_check_generic(vyre_lower *lower, uint32_t item);

#endif
