/* The inside of modules: parsing with options, and the functions of a text. */
#ifndef VYRE_TEXT_MODULE_H
#define VYRE_TEXT_MODULE_H

#include <vyre/text.h>

#include <vyre/library.h>

#include "text/source.h"

/* A parameter or a result. */
typedef struct vyre_module_value {
    const char *name; /* "" of a result */
    vyre_type type;   /* of an element, where it is a buffer; void of a vector or struct */
    bool is_buffer, is_written;
} vyre_module_value;

typedef struct vyre_module_function {
    const char *name;
    const vyre_module_value *parameters, *results;
    uint32_t parameter_count, result_count;
    bool is_elementwise; /* takes and gives scalars and arrays of them, and changes no variable */
} vyre_module_function;

/* NULL if there is none of that name; lives as long as the module. */
const vyre_module_function *vyre_module_find_function(const vyre_module *module, const char *name);

/* In the order of the file; NULL beyond the end. */
const vyre_module_function *vyre_module_function_at(const vyre_module *module, size_t index);

/* A generic program: its name, and that with its type parameters, "gather<T: number>". */
typedef struct vyre_module_generic {
    const char *name, *head;
} vyre_module_generic;

/* In the order of the file; NULL beyond the end. */
const vyre_module_generic *vyre_module_generic_at(const vyre_module *module, size_t index);

/* The text of a module that has generic programs, empty of any other, and the name of its file. */
vyre_str vyre_module_text(const vyre_module *module, const char **out_name);

/* Adds a program of another module. */
VYRE_MUST_USE vyre_status vyre_module_adopt(vyre_module *module, const vyre_module *from,
                                            size_t index);

/* Whether the file has a program, function, constant or struct of that name. */
bool vyre_module_has(const vyre_module *module, const char *name);

/* How the structs of the file lie in buffers, for people: each with its size, and its fields with
 * their offsets in bytes. "" without structs. */
const char *vyre_module_layout(const vyre_module *module);

/* What a parse needs besides the text. Zero: every program, and no operation can be called. */
typedef struct vyre_parse_options {
    const vyre_library *library;  /* the operations that the text may call; NULL: none */
    size_t from;                  /* the first byte whose programs are built */
    const char *entry;            /* the only program that is built; NULL: all of them */
    const char *const *instances; /* of generic programs that are built besides, "gather<f32>" */
    size_t instance_count;
} vyre_parse_options;

/* Like vyre_module_parse, with options. Where `from` or `entry` leave something out, the caller
 * knows that the text has no mistakes there. */
VYRE_MUST_USE vyre_status vyre_module_parse_with(const vyre_parse_options *options,
                                                 const char *name, const char *text, size_t size,
                                                 vyre_diagnostics *diagnostics,
                                                 vyre_module **out_module);

/* Behind files that are joined to a text: what follows belongs to the text itself again. */
#define VYRE_TEXT_GOES_ON "\n\x1c\n"

/* Calls `item` for each program and function of a text, which need not be right. */
VYRE_MUST_USE vyre_status vyre_text_outline(const char *text, size_t size,
                                            void (*item)(void *user, vyre_str name,
                                                         bool is_function),
                                            void *user);

#endif
