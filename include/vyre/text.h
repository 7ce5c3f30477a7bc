/* Text: parses, formats and reports on the .vyre language. docs/language.md has the grammar.
 *
 *     vyre_module *module;
 *     status = vyre_module_parse("saxpy.vyre", text, strlen(text), NULL, &module);
 *     vyre_program *program = vyre_module_find(module, "saxpy");
 *     ...
 *     vyre_module_free(module);
 *
 * A module holds the programs of one file. The parser reports every mistake it finds, not only the
 * first. If there is a mistake, it returns no module. */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include <vyre/diagnostic.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_module vyre_module;

/* Parses a text, which the caller may free afterwards. `name` is the file name in diagnostics; it
 * may be NULL, here and below. `diagnostics` may be NULL. The status carries the first error in any
 * case. */
VYRE_API VYRE_MUST_USE vyre_status vyre_module_parse(const char *name, const char *text,
                                                     size_t size, vyre_diagnostics *diagnostics,
                                                     vyre_module **out_module);
VYRE_API void vyre_module_free(vyre_module *module); /* NULL is allowed */

VYRE_API size_t vyre_module_count(const vyre_module *module);
/* The module owns the program: retain it to keep it longer. Returns NULL past the last. */
VYRE_API vyre_program *vyre_module_program(const vyre_module *module, size_t index);
/* Returns NULL if no program has that name. */
VYRE_API vyre_program *vyre_module_find(const vyre_module *module, const char *program_name);

/* Finds a program by name. A name with types, "gather<f32>", stands for an instance of a generic
 * program, which the first call builds. The module keeps it and counts it among its programs. Calls
 * for the same module must not overlap. `diagnostics` may be NULL. Since 1.2. */
VYRE_API VYRE_MUST_USE vyre_status vyre_module_instantiate(vyre_module *module,
                                                           const char *program_name,
                                                           vyre_diagnostics *diagnostics,
                                                           vyre_program **out_program);

/* Files. A text names other files with `use "physics.vyre";`. The library does not read them by
 * itself: the caller joins the text with its files first. The result is a text for the calls above
 * and for vyre_run (run.h); its diagnostics name the file that they are about.
 *
 *     const vyre_text_reader files = {vyre_text_read_file, NULL};
 *     status = vyre_text_join(&files, "dir/saxpy.vyre", text, strlen(text), NULL, &joined, &size);
 */
typedef struct vyre_text_sink vyre_text_sink;

typedef struct vyre_text_reader {
    /* Reads a file and puts its contents into the sink. `path` is the path that `use` states, in
     * the folder of the file with the `use`; `.` and `..` are resolved as text. Returns NOT_FOUND
     * if there is no such file. */
    vyre_status (*read)(void *user, const char *path, vyre_text_sink *sink);
    void *user;
} vyre_text_reader;

/* Appends to what a reader has read. */
VYRE_API void vyre_text_put(vyre_text_sink *sink, const char *bytes, size_t size);

/* A reader of files on disk; `user` may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_text_read_file(void *user, const char *path,
                                                       vyre_text_sink *sink);

/* Reads each file that a text uses, directly or through others, once. `name` is the path of the
 * text; NULL stands for one in the working directory. A missing file, a cycle of files,
 * and more than VYRE_LIMIT_FILES of them are errors. The caller frees the result with
 * vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_text_join(const vyre_text_reader *reader, const char *name,
                                                  const char *text, size_t size,
                                                  vyre_diagnostics *diagnostics, char **out_text,
                                                  size_t *out_size);

/* Formats a text in the canonical layout and keeps its comments and its meaning. Only syntax errors
 * make it fail. The caller frees the result with vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_text_format(const char *name, const char *text, size_t size,
                                                    vyre_diagnostics *diagnostics, char **out_text,
                                                    size_t *out_size);

typedef enum vyre_diagnostic_form {
    VYRE_FORM_TEXT,       /* place, code, message, source line with caret, Fix */
    VYRE_FORM_COLOR_TEXT, /* VYRE_FORM_TEXT with terminal colours */
    VYRE_FORM_JSON        /* an array of objects */
} vyre_diagnostic_form;

/* Renders diagnostics of a text. The caller frees the result with vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_diagnostics_render(const vyre_diagnostics *diagnostics,
                                                           const char *name, const char *text,
                                                           size_t size, vyre_diagnostic_form form,
                                                           char **out_text, size_t *out_size);

#ifdef __cplusplus
}
#endif

#endif
