/* Adding to a list of diagnostics; the public side is vyre/diagnostic.h. */
#ifndef VYRE_IR_DIAGNOSTIC_H
#define VYRE_IR_DIAGNOSTIC_H

#include <stdarg.h>

#include <vyre/builder.h>
#include <vyre/diagnostic.h>
#include <vyre/program.h>

/* The calls that lead to a scope, for a report; of very many the innermost. */
enum { VYRE_CALLS_SHOWN = 32 };
typedef struct vyre_call_list {
    vyre_diagnostic_call items[VYRE_CALLS_SHOWN];
} vyre_call_list;
const vyre_diagnostic_call *vyre_scope_calls(const vyre_call_scope *scopes, const char *strings,
                                             uint32_t scope, vyre_call_list *list);

/* The file of scopes in sums of floats, whose text is part of the library. No file of the user has
 * that path. */
#define VYRE_SUM_FILE "<sum>"

/* The file of a scope's places; NULL for the program's own. */
const char *vyre_scope_file(const vyre_call_scope *scopes, const char *strings, uint32_t scope);

/* Adds one: `at` gives the places, the severity comes from the code's row. A code already reported
 * at the same line and column is dropped, and so is everything beyond VYRE_LIMIT_DIAGNOSTICS
 * errors, in whose stead V0702 stands once. Without memory the list is marked, see the status
 * below. */
void vyre_diagnostics_add(vyre_diagnostics *diagnostics, const vyre_diagnostic *at, uint32_t code,
                          const char *fix, const char *format, ...) VYRE_PRINTF(5, 6);
void vyre_diagnostics_vadd(vyre_diagnostics *diagnostics, const vyre_diagnostic *at, uint32_t code,
                           const char *fix, const char *format, va_list arguments)
    VYRE_PRINTF(5, 0);

/* Adds all of `from`; false if a report was lost for lack of memory. */
bool vyre_diagnostics_merge(vyre_diagnostics *diagnostics, const vyre_diagnostics *from);

/* Tells a builder of what was reported elsewhere. */
void vyre_builder_repeat(vyre_builder *builder, const vyre_diagnostic *item);

/* Whether the list will take no more errors. */
bool vyre_diagnostics_full(const vyre_diagnostics *diagnostics);

/* OK while there is no error; else the first error as a status at its place in `file`, or out of
 * memory if any report was lost that way. */
VYRE_MUST_USE vyre_status vyre_diagnostics_status(const vyre_diagnostics *diagnostics,
                                                  const char *file);

#endif
