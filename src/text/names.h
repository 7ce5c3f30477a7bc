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
    uint16_t type; /* the struct of that name, or what a type parameter stands for; 0 for none */
    uint8_t part;  /* of the text, that the item is in */
    bool is_program;
    bool generic;   /* the item has type parameters */
    uint32_t other; /* the same name where the item is not visible, 0 for none yet */
} vyre_symbol;

typedef enum vyre_name_kind {
    VYRE_BINDING_POISON,    /* its declaration is wrong: uses are passed over in silence */
    VYRE_BINDING_VALUE,     /* handle: value */
    VYRE_BINDING_PARAMETER, /* a value too */
    VYRE_BINDING_COUNTER,   /* a value too */
    VYRE_BINDING_VARIABLE,  /* handle: variable */
    VYRE_BINDING_SCALAR,    /* handle: argument of the program */
    VYRE_BINDING_ARRAY,     /* handle: resource; bits: length of a constant array */
    VYRE_BINDING_REPEAT,    /* handle: repeat, whose turns it counts; size: of a range, its first */
    VYRE_BINDING_NUMBER,    /* bits: what a spliced program's scalar is */
    VYRE_BINDING_SIZE       /* size: what a spliced program's scalar is computed from */
} vyre_name_kind;

typedef struct vyre_name_binding {
    uint32_t symbol, previous; /* previous declaration of the same symbol */
    uint32_t handle;
    uint32_t size;  /* of a scratch array, to be copied; other arrays and repeats VYRE_NONE */
    uint32_t shape; /* of an array: number of its shape plus 1; 0: one dimension */
    uint64_t bits;
    uint32_t line, column;
    uint8_t kind;
    bool writable;      /* arrays */
    bool constant;      /* the array is one of the file */
    bool is_plain;      /* a `let` of a plain number, whose type may still become another one */
    uint8_t plain;      /* its flags, see lower_let.c; `bits` is its number */
    uint8_t reads;      /* of a plain one: 0, 1 or more */
    uint8_t sum;        /* the array holds the digits of sums of this type; 0: of none */
    bool is_summed;     /* sums are added to in this phase */
    bool may_be_summed; /* and in an earlier one */
    bool used;          /* or nobody needs to know */
    uint16_t type; /* vyre_value_type; a handle of several scalars is the first of its leaves */
} vyre_name_binding;

/* A name that was looked up lately: up to 15 bytes as two numbers, so that finding it again takes
 * neither a hash of its text nor a look at where it stands. */
typedef struct vyre_recent_name {
    uint64_t low, high;
    uint32_t symbol;
    uint8_t length; /* 0 in a free slot */
    uint8_t token;
} vyre_recent_name;

enum { VYRE_RECENT_BYTES = 16, VYRE_RECENT_NAMES = 256 };

typedef struct vyre_names {
    const char *text, *end;
    vyre_map map;
    vyre_recent_name recent[VYRE_RECENT_NAMES];
    VYRE_VEC(vyre_symbol) symbols;
    VYRE_VEC(vyre_name_binding) bindings;
    uint32_t frame; /* the first binding that the current function or program made */
} vyre_names;

void vyre_names_init(vyre_names *names, const char *text, const char *end);
void vyre_names_deinit(vyre_names *names);

/* The slot of the name at `at` if it was looked up lately, else NULL. */
static inline const vyre_recent_name *vyre_names_recent(const vyre_names *names, const char *at);

/* The symbol of a name that stands in the text; VYRE_NONE without memory. It is then a recent
 * one. */
uint32_t vyre_names_symbol(vyre_names *names, const char *at, uint32_t length);

/* The symbol of the same name without the item; VYRE_NONE without memory. */
uint32_t vyre_names_other(vyre_names *names, uint32_t symbol);

static inline vyre_str vyre_symbol_text(const vyre_names *names, uint32_t symbol) {
    const vyre_symbol *found = &names->symbols.items[symbol];
    return (vyre_str){names->text + found->offset, found->length};
}

/* The local declaration that a symbol stands for here, NULL if none. Valid until the next one. */
static inline vyre_name_binding *vyre_names_find(const vyre_names *names, uint32_t symbol) {
    uint32_t binding = names->symbols.items[symbol].binding;
    return binding == VYRE_NONE || binding < names->frame ? NULL : &names->bindings.items[binding];
}

/* Declares; false without memory. `previous` is filled in. */
bool vyre_names_bind(vyre_names *names, vyre_name_binding binding);

/* Forgets the newest declaration. */
void vyre_names_pop(vyre_names *names);

/* The letters, digits and `_` in front of another byte. */
typedef struct vyre_name_bytes {
    uint64_t bytes;
    uint32_t count; /* up to 8 */
} vyre_name_bytes;

/* Those at `at`, of which 8 bytes must be readable. Each step works on all bytes at once and leaves
 * its answer in their top bits. */
static inline vyre_name_bytes vyre_name_start(const char *at) {
    const uint64_t each = 0x0101010101010101u, top = each * 0x80;
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t low = word & ~top, small = low | each * 0x20;
    uint64_t letters = (small + each * (0x80 - 'a')) & ~(small + each * (0x7f - 'z'));
    uint64_t digits = (low + each * (0x80 - '0')) & ~(low + each * (0x7f - '9'));
    uint64_t lines = ~((low ^ each * '_') + each * 0x7f);
    uint64_t others = ~((letters | digits | lines) & ~word) & top;
    if (!others) {
        return (vyre_name_bytes){word, 8};
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint32_t count = (uint32_t)__builtin_clzll(others) / 8;
    return (vyre_name_bytes){word & ~(UINT64_MAX >> count * 8), count};
#else
    uint32_t count = (uint32_t)__builtin_ctzll(others) / 8;
    return (vyre_name_bytes){word & (((uint64_t)1 << count * 8) - 1), count};
#endif
}

static inline size_t vyre_names_slot(uint64_t low, uint64_t high) {
    return (low ^ high * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 56;
}

static inline const vyre_recent_name *vyre_names_recent(const vyre_names *names, const char *at) {
    if (names->end - at < VYRE_RECENT_BYTES) {
        return NULL;
    }
    vyre_name_bytes low = vyre_name_start(at), high = {0, 0};
    if (low.count == 8) {
        high = vyre_name_start(at + 8);
    }
    const vyre_recent_name *slot = &names->recent[vyre_names_slot(low.bytes, high.bytes)];
    bool is_same = slot->low == low.bytes && slot->high == high.bytes &&
                   slot->length == low.count + high.count;
    return is_same ? slot : NULL;
}

#endif
