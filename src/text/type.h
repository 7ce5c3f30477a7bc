/* Types of the language: a scalar of the IR, a vector of scalars, or a struct of a text.
 *
 * A type is a number, small enough for a node. Scalars have those of vyre_type; vectors follow,
 * then structs, which a table describes, then the type parameters of generic items. A value of such
 * a type is a list of scalars, its leaves, in the order in which they are declared. */
#ifndef VYRE_TEXT_TYPE_H
#define VYRE_TEXT_TYPE_H

#include <vyre/program.h>

#include "base/strbuf.h"
#include "text/names.h"

typedef uint32_t vyre_value_type;

enum {
    VYRE_VECTOR_STEP = 16, /* between vectors of the same scalar */
    VYRE_FIRST_STRUCT = 64,
    VYRE_FIRST_TYPE_PARAMETER = 0xff00, /* and all behind it */
    VYRE_LAST_STRUCT = VYRE_FIRST_TYPE_PARAMETER - 1
};

/* Type parameters of a function or program. */
enum { VYRE_MOST_TYPE_PARAMETERS = 8 };

static inline bool vyre_type_is_scalar(vyre_value_type type) {
    return type < VYRE_VECTOR_STEP;
}
static inline bool vyre_type_is_vector(vyre_value_type type) {
    return type >= VYRE_VECTOR_STEP && type < VYRE_FIRST_STRUCT;
}
static inline bool vyre_type_is_struct(vyre_value_type type) {
    return type >= VYRE_FIRST_STRUCT && type < VYRE_FIRST_TYPE_PARAMETER;
}

/* In the head of a generic item a type parameter stands for itself: by its number, alone or as the
 * component of a vector. Nothing that is lowered has such a type. */
static inline bool vyre_type_is_parameter(vyre_value_type type) {
    return type >= VYRE_FIRST_TYPE_PARAMETER;
}
static inline vyre_value_type vyre_type_parameter(uint32_t number, uint32_t count) {
    return VYRE_FIRST_TYPE_PARAMETER + (count - 1) * VYRE_VECTOR_STEP + number;
}
static inline uint32_t vyre_type_parameter_number(vyre_value_type type) {
    return (type - VYRE_FIRST_TYPE_PARAMETER) % VYRE_VECTOR_STEP;
}
static inline uint32_t vyre_type_parameter_count(vyre_value_type type) {
    return (type - VYRE_FIRST_TYPE_PARAMETER) / VYRE_VECTOR_STEP + 1;
}

/* A vector of 2 to 4 scalars; 1 gives the scalar itself. */
static inline vyre_value_type vyre_vector_of(vyre_type scalar, uint32_t count) {
    return (count - 1) * VYRE_VECTOR_STEP + scalar;
}
/* The scalar of a vector or scalar, void of a struct. */
static inline vyre_type vyre_scalar_of(vyre_value_type type) {
    return vyre_type_is_struct(type) ? VYRE_TYPE_VOID : (vyre_type)(type % VYRE_VECTOR_STEP);
}
/* How many scalars a vector or scalar has. */
static inline uint32_t vyre_vector_count(vyre_value_type type) {
    return type / VYRE_VECTOR_STEP + 1;
}

/* The types that a type parameter may be: a bit for each scalar, one for vectors of numbers, one
 * for all else. */
typedef uint32_t vyre_type_set;
#define VYRE_TYPE_SET_VECTORS (1u << VYRE_VECTOR_STEP)
#define VYRE_TYPE_SET_ALL UINT32_MAX

static inline vyre_type_set vyre_type_set_of(vyre_type scalar) {
    return 1u << scalar;
}
static inline bool vyre_type_set_has(vyre_type_set set, vyre_value_type type) {
    bool is_number = vyre_type_class_of(vyre_scalar_of(type)) & VYRE_CLASS_NUMBER;
    vyre_type_set wanted = vyre_type_is_scalar(type) ? vyre_type_set_of((vyre_type)type)
                           : vyre_type_is_vector(type) && is_number ? VYRE_TYPE_SET_VECTORS
                                                                    : 0;
    return set == VYRE_TYPE_SET_ALL || (set & wanted);
}

/* What a bound is called, and the scalars it allows, those that allow more first; `vector` allows
 * none. */
enum { VYRE_TYPE_BOUNDS = 6 };
typedef struct vyre_type_bound {
    const char *name;
    vyre_type_class allowed;
} vyre_type_bound;
extern const vyre_type_bound vyre_type_bounds[VYRE_TYPE_BOUNDS];

vyre_type_set vyre_type_bound_set(size_t bound);

/* A set as messages write it: "float | u32". */
void vyre_type_set_print(vyre_type_set set, vyre_strbuf *out);

typedef struct vyre_field {
    vyre_str name;
    uint16_t type;
    uint32_t first;  /* of its leaves, among those of the struct */
    uint32_t offset; /* in bytes */
} vyre_field;

typedef enum vyre_struct_state {
    VYRE_STRUCT_NEW,    /* declared somewhere in the text */
    VYRE_STRUCT_ACTIVE, /* its fields are being read */
    VYRE_STRUCT_DONE
} vyre_struct_state;

typedef struct vyre_struct {
    vyre_str name;
    uint32_t item; /* of its text */
    uint8_t state; /* vyre_struct_state */
    uint32_t fields, field_count;
    uint32_t leaves, leaf_count; /* in leaf_types; none after a mistake */
    uint32_t bytes, alignment;   /* as C lays it out */
} vyre_struct;

/* The structs of all texts of a parse. */
typedef struct vyre_types {
    VYRE_VEC(vyre_struct) structs;
    VYRE_VEC(vyre_field) fields;
    VYRE_VEC(uint8_t) leaf_types;    /* vyre_type */
    VYRE_VEC(uint32_t) leaf_offsets; /* in bytes */
} vyre_types;

void vyre_types_free(vyre_types *types);

static inline const vyre_struct *vyre_struct_of(const vyre_types *types, vyre_value_type type) {
    return &types->structs.items[type - VYRE_FIRST_STRUCT];
}

/* How many leaves a type has, and the type of one. */
uint32_t vyre_type_width(const vyre_types *types, vyre_value_type type);
vyre_type vyre_leaf_type(const vyre_types *types, vyre_value_type type, uint32_t leaf);

/* How a type lies in a buffer, as C's scalars, arrays and structs do: a scalar is aligned to its
 * own size, a vector to that of its scalars, a struct to that of its fields. */
uint32_t vyre_value_bytes(const vyre_types *types, vyre_value_type type);
uint32_t vyre_value_alignment(const vyre_types *types, vyre_value_type type);
uint32_t vyre_leaf_offset(const vyre_types *types, vyre_value_type type, uint32_t leaf);

/* The field of that name, NULL if there is none. */
const vyre_field *vyre_struct_field(const vyre_types *types, vyre_value_type type, vyre_str name);

/* How a type is written. A scalar's name needs no room. */
typedef struct vyre_type_text {
    char text[VYRE_LIMIT_NAME_BYTES + 1];
} vyre_type_text;
const char *vyre_value_type_name(const vyre_types *types, vyre_value_type type,
                                 vyre_type_text *room);

/* Adds what follows a variable's name to name one of its leaves: ".position.x". */
void vyre_leaf_path(const vyre_types *types, vyre_value_type type, uint32_t leaf, char *out,
                    size_t size);

/* A struct with its size and alignment, and a line for each field: offset, name and type. */
void vyre_type_layout_print(const vyre_types *types, vyre_value_type type, vyre_strbuf *out);

/* Reads a swizzle, such as "xyz" or "rg", of a vector with that many components. Gives how many it
 * names, 0 if it is none. */
uint32_t vyre_swizzle_read(vyre_str text, uint32_t components, uint32_t out_indices[4]);

#endif
