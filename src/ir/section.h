/* The arrays of a program as sections: one table for the digest, the binary form and the release of
 * memory. A section's bytes are little-endian whatever the machine. */
#ifndef VYRE_IR_SECTION_H
#define VYRE_IR_SECTION_H

#include <vyre/program.h>

/* X(name, field of vyre_ir with the array, field with the count, item type, layout, limit).
 * The layout lists the item's fields, one digit each, by their bytes. Sections up to STRINGS,
 * REQUIREMENTS and DATA are the meaning, the others are for people. */
#define VYRE_SECTIONS(X)                                                                           \
    X(ARGS, args, arg_count, vyre_arg, "444", ARGUMENTS)                                           \
    X(RESOURCES, resources, resource_count, vyre_resource, "111144", RESOURCES)                    \
    X(SIZES, sizes, size_count, vyre_size_node, "444", SIZE_NODES)                                 \
    X(STEPS, steps, step_count, vyre_step, "4444", STEPS)                                          \
    X(PHASES, phases, phase_count, vyre_phase, "44444444444444", PHASES)                           \
    X(CONSTS, consts, const_count, vyre_const, "844", CONSTANTS)                                   \
    X(OPERANDS, operands, operand_count, uint32_t, "4", OPERANDS)                                  \
    X(INSTS, insts, inst_count, vyre_inst, "211444", INSTRUCTIONS)                                 \
    X(STRINGS, strings, string_bytes, char, "1", STRING_BYTES)                                     \
    X(RESOURCE_NAMES, resource_names, resource_name_count, uint32_t, "4", RESOURCES)               \
    X(STEP_NAMES, step_names, step_name_count, uint32_t, "4", STEPS)                               \
    X(PLACES, places, place_count, vyre_place, "8", INSTRUCTIONS)                                  \
    X(SCOPES, scopes, scope_count, vyre_call_scope, "844", SCOPES)                                 \
    X(VALUE_NAMES, value_names, value_name_count, vyre_value_name, "44", INSTRUCTIONS)             \
    X(DEBUG_STRINGS, debug_strings, debug_string_bytes, char, "1", STRING_BYTES)                   \
    X(REQUIREMENTS, requirements, requirement_count, vyre_requirement, "44", REQUIREMENTS)         \
    X(REQUIREMENT_PLACES, requirement_places, requirement_place_count, vyre_place, "8",            \
      REQUIREMENTS)                                                                                \
    X(DATA, data, data_bytes, uint8_t, "1", CONSTANT_BYTES)

typedef enum vyre_section_id {
#define VYRE_SECTION_ENUM(name, array, count, type, layout, limit) VYRE_SECTION_##name,
    VYRE_SECTIONS(VYRE_SECTION_ENUM)
#undef VYRE_SECTION_ENUM
        VYRE_SECTION_COUNT
} vyre_section_id;

/* Whether a program means something else with another one. */
static inline bool vyre_section_is_meaning(uint32_t id) {
    return id <= VYRE_SECTION_STRINGS || id == VYRE_SECTION_REQUIREMENTS || id == VYRE_SECTION_DATA;
}

uint32_t vyre_section_count(const vyre_ir *ir, vyre_section_id id);
size_t vyre_section_item_bytes(vyre_section_id id);
uint32_t vyre_section_limit(vyre_section_id id);

/* The section's memory, as it stands in `ir`. */
const void *vyre_section_items(const vyre_ir *ir, vyre_section_id id);

/* Replaces array and count; the array came from vyre_alloc or is NULL. */
void vyre_section_set(vyre_ir *ir, vyre_section_id id, void *items, uint32_t count);

/* Copies `count` items between memory and little-endian bytes, in either direction: on a
 * little-endian machine nothing changes, elsewhere the fields are turned around. */
void vyre_section_copy(vyre_section_id id, void *to, const void *from, size_t count);

/* Whether memory differs from bytes on this machine. */
bool vyre_section_needs_copy(void);

/* Whether two programs have the same flags and the same bytes in all sections that are meaning. */
bool vyre_sections_same_meaning(const vyre_ir *left, const vyre_ir *right);

/* Frees all arrays. */
void vyre_sections_free(vyre_ir *ir);

#endif
