/* Names: which names a text has and what they stand for.
 *
 * Every different name is a symbol, found once by its text. A symbol knows the item of the file
 * that bears its name and its innermost local declaration, so that looking a name up is reading an
 * array. Local declarations form a stack; closing a block pops it. A function's body sees its own
 * declarations and the items of the file, not what its caller declared: they lie below `frame`. */
#ifndef VYRE_TEXT_NAMES_H
#define VYRE_TEXT_NAMES_H

#include <string.h>

#include <vyre/program.h>

#include "base/map.h"
#include "base/vec.h"

typedef struct vyre_symbol {
    uint32_t offset;  /* where its text stands first */
    uint32_t binding; /* innermost local declaration, or VYRE_NONE */
    uint32_t item;    /* of the file, or VYRE_NONE */
    uint8_t length;
    uint8_t token; /* vyre_token_kind: a name, unless it is a keyword or type */
    uint16_t word; /* number of the word of the language, 0 for none */
} vyre_symbol;

typedef enum vyre_binding_kind {
    VYRE_BINDING_POISON,    /* its declaration is wrong: uses are passed over in silence */
    VYRE_BINDING_VALUE,     /* handle: value */
    VYRE_BINDING_PARAMETER, /* a value too */
    VYRE_BINDING_COUNTER,   /* a value too */
    VYRE_BINDING_VARIABLE,  /* handle: variable */
    VYRE_BINDING_SCALAR,    /* handle: argument of the program */
    VYRE_BINDING_ARRAY,     /* handle: resource */
    VYRE_BINDING_REPEAT     /* handle: repeat, whose turns it counts */
} vyre_binding_kind;

typedef struct vyre_binding {
    uint32_t symbol, previous; /* previous declaration of the same symbol */
    uint32_t handle;
    uint32_t size; /* scratch arrays: which one; other arrays VYRE_NONE */
    uint32_t line, column;
    uint8_t kind, type;
    bool writable; /* arrays */
    bool used;     /* or nobody needs to know */
} vyre_binding;

/* A name that was looked up lately: up to 16 bytes as two numbers, so that finding it again takes
 * neither a hash of its text nor a look at where it stands. */
typedef struct vyre_recent_name {
    uint64_t low, high;
    uint32_t length; /* 0 in a free slot */
    uint32_t symbol;
} vyre_recent_name;

enum { VYRE_RECENT_BYTES = 16, VYRE_RECENT_NAMES = 256 };

typedef struct vyre_names {
    const char *text, *end;
    vyre_map map;
    vyre_recent_name recent[VYRE_RECENT_NAMES];
    VYRE_VEC(vyre_symbol) symbols;
    VYRE_VEC(vyre_binding) bindings;
    uint32_t frame; /* the first binding that the current function or program made */
} vyre_names;

void vyre_names_init(vyre_names *names, const char *text, const char *end);
void vyre_names_deinit(vyre_names *names);

/* The symbol of a name that stands in the text; VYRE_NONE without memory. The first one looks among
 * recent names, the second everywhere. */
static inline uint32_t vyre_names_symbol(vyre_names *names, uint32_t offset, uint32_t length);
uint32_t vyre_names_add(vyre_names *names, uint32_t offset, uint32_t length);

static inline vyre_str vyre_symbol_text(const vyre_names *names, uint32_t symbol) {
    const vyre_symbol *found = &names->symbols.items[symbol];
    return (vyre_str){names->text + found->offset, found->length};
}

/* The local declaration that a symbol stands for here, NULL if none. Valid until the next one. */
static inline vyre_binding *vyre_names_find(const vyre_names *names, uint32_t symbol) {
    uint32_t binding = names->symbols.items[symbol].binding;
    return binding == VYRE_NONE || binding < names->frame ? NULL : &names->bindings.items[binding];
}

/* Declares; false without memory. `previous` is filled in. */
bool vyre_names_bind(vyre_names *names, vyre_binding binding);

/* Forgets the newest declaration. */
void vyre_names_pop(vyre_names *names);

/* The first `count` bytes at `at`, 1 to 8, as a number; all 8 must be readable. */
static inline uint64_t vyre_name_bytes(const char *at, uint32_t count) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return word >> (64 - count * 8);
#else
    return word << (64 - count * 8);
#endif
}

static inline uint32_t vyre_names_symbol(vyre_names *names, uint32_t offset, uint32_t length) {
    const char *at = names->text + offset;
    if (length > VYRE_RECENT_BYTES || names->end - at < VYRE_RECENT_BYTES) {
        return vyre_names_add(names, offset, length);
    }
    uint64_t low = vyre_name_bytes(at, length < 8 ? length : 8);
    uint64_t high = length > 8 ? vyre_name_bytes(at + 8, length - 8) : 0;
    uint64_t mixed = (low ^ high * 0x9e3779b97f4a7c15u ^ length) * 0xff51afd7ed558ccdu;
    vyre_recent_name *slot = &names->recent[mixed >> 56];
    if (slot->low == low && slot->high == high && slot->length == length) {
        return slot->symbol;
    }
    uint32_t symbol = vyre_names_add(names, offset, length);
    if (symbol != VYRE_NONE) {
        *slot = (vyre_recent_name){low, high, length, symbol};
    }
    return symbol;
}

#endif
