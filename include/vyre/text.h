/* Text: the .vyre language, to programs and back.
 *
 * A module is a file's worth of programs. Parsing reports every mistake of the text it can find,
 * not the first; a text with a mistake gives no module. docs/language.md is the grammar. */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include <vyre/diagnostic.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_module vyre_module;

/* `name` is what diagnostics call the text, a file name as a rule. NULL is no name, here and below:
 * messages say "text", and programs name no file. `diagnostics` may be NULL; the status carries the
 * first error either way. The text is not kept. */
VYRE_API VYRE_MUST_USE vyre_status vyre_module_parse(const char *name, const char *text,
                                                     size_t size, vyre_diagnostics *diagnostics,
                                                     vyre_module **out_module);
VYRE_API void vyre_module_free(vyre_module *module); /* NULL is allowed */

VYRE_API size_t vyre_module_count(const vyre_module *module);
/* Owned by the module; retain it to keep it longer. NULL beyond the end. */
VYRE_API vyre_program *vyre_module_program(const vyre_module *module, size_t index);
/* NULL if there is none of that name. */
VYRE_API vyre_program *vyre_module_find(const vyre_module *module, const char *program_name);

/* The same text in canonical layout: comments kept, meaning unchanged. Text with mistakes of syntax
 * is refused, others do not matter. Free the result with vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_text_format(const char *name, const char *text, size_t size,
                                                    vyre_diagnostics *diagnostics, char **out_text,
                                                    size_t *out_size);

typedef enum vyre_diagnostic_form {
    VYRE_FORM_TEXT,       /* place, code, message, source line with caret, Fix */
    VYRE_FORM_COLOR_TEXT, /* the same with terminal colours */
    VYRE_FORM_JSON        /* an array of objects */
} vyre_diagnostic_form;

/* Renders diagnostics against the text they belong to. Free the result with vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_diagnostics_render(const vyre_diagnostics *diagnostics,
                                                           const char *name, const char *text,
                                                           size_t size, vyre_diagnostic_form form,
                                                           char **out_text, size_t *out_size);

#ifdef __cplusplus
}
#endif

#endif
