/* Diagnostics: the errors and warnings of a parse, build or verification. Each has a stable code, a
 * place, a message and a fix.
 *
 *     vyre_diagnostics *list;
 *     status = vyre_diagnostics_create(&list);
 *     status = vyre_module_parse(name, text, size, list, &module);
 *     for (size_t i = 0; i < vyre_diagnostics_count(list); i++) {
 *         puts(vyre_diagnostics_get(list, i)->message);
 *     }
 *     vyre_diagnostics_free(list);
 *
 * One thread at a time may use a list. vyre_diagnostics_render (text.h) prints one. */
#ifndef VYRE_DIAGNOSTIC_H
#define VYRE_DIAGNOSTIC_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_severity { VYRE_SEVERITY_ERROR, VYRE_SEVERITY_WARNING } vyre_severity;

/* X(number, severity, title). A code prints as V and four digits. Numbers are never reused. 01xx
 * characters and syntax, 02xx names, 03xx types, 04xx memory, 05xx control flow, 06xx domains,
 * sizes and phases, 07xx limits, 08xx warnings. */
#define VYRE_DIAGNOSTICS(X)                                                                        \
    X(101, ERROR, "unexpected character")                                                          \
    X(102, ERROR, "unexpected token")                                                              \
    X(103, ERROR, "malformed number")                                                              \
    X(104, ERROR, "unterminated comment or literal")                                               \
    X(105, ERROR, "text is not UTF-8")                                                             \
    X(106, ERROR, "comparison chained without parentheses")                                        \
    X(107, ERROR, "statement without effect")                                                      \
    X(108, ERROR, "clause or declaration out of place")                                            \
    X(201, ERROR, "unknown name")                                                                  \
    X(202, ERROR, "name declared twice")                                                           \
    X(203, ERROR, "name is reserved")                                                              \
    X(204, ERROR, "wrong kind of name")                                                            \
    X(205, ERROR, "recursive function")                                                            \
    X(206, ERROR, "unknown operation")                                                             \
    X(207, ERROR, "assignment to something constant")                                              \
    X(209, ERROR, "file or dialect cannot be used")                                                \
    X(301, ERROR, "operand has the wrong type")                                                    \
    X(302, ERROR, "operands have different types")                                                 \
    X(303, ERROR, "wrong number of operands")                                                      \
    X(304, ERROR, "number does not fit its type")                                                  \
    X(305, ERROR, "conversion is not possible")                                                    \
    X(306, ERROR, "type cannot be stored there")                                                   \
    X(307, ERROR, "not a constant")                                                                \
    X(309, ERROR, "operand is not a value that can be used here")                                  \
    X(310, ERROR, "division by zero")                                                              \
    X(401, ERROR, "array cannot be written")                                                       \
    X(402, ERROR, "array cannot be used that way")                                                 \
    X(403, ERROR, "ordering or scope is not allowed here")                                         \
    X(404, ERROR, "atomic operation on the wrong type")                                            \
    X(405, ERROR, "shared contents do not survive a grid barrier")                                 \
    X(501, ERROR, "barrier in non-uniform control flow")                                           \
    X(502, ERROR, "subgroup operation in non-uniform control flow")                                \
    X(503, ERROR, "operand must be uniform")                                                       \
    X(504, ERROR, "jump outside of its block")                                                     \
    X(505, ERROR, "path without a value")                                                          \
    X(506, ERROR, "values do not match their block")                                               \
    X(507, ERROR, "block is not closed")                                                           \
    X(508, ERROR, "range never runs")                                                              \
    X(509, ERROR, "case is listed twice")                                                          \
    X(601, ERROR, "domain is not valid")                                                           \
    X(602, ERROR, "workgroup or subgroup is not valid")                                            \
    X(603, ERROR, "needs a workgroup clause")                                                      \
    X(604, ERROR, "size is not valid")                                                             \
    X(605, ERROR, "repeat is not valid")                                                           \
    X(606, ERROR, "program without a phase")                                                       \
    X(607, ERROR, "component beyond the domain")                                                   \
    X(608, ERROR, "swap is not valid")                                                             \
    X(701, ERROR, "limit exceeded")                                                                \
    X(702, ERROR, "too many errors")                                                               \
    X(703, ERROR, "not in canonical form")                                                         \
    X(801, WARNING, "unused name")                                                                 \
    X(802, WARNING, "unreachable code")                                                            \
    X(803, WARNING, "constant index is out of bounds")                                             \
    X(804, WARNING, "result is not used")                                                          \
    X(805, WARNING, "claim is not needed")                                                         \
    X(806, WARNING, "character that changes the direction of text")                                \
    X(808, WARNING, "operation is not in the form for a device")

/* An inlined call. */
typedef struct vyre_diagnostic_call {
    const char *function;  /* a function of the file, or the id of a library operation */
    const char *file;      /* of the call; NULL: the text itself */
    uint32_t line, column; /* of the call; 0 if unknown */
    const struct vyre_diagnostic_call *caller; /* the call around this one; NULL if outermost */
} vyre_diagnostic_call;

typedef struct vyre_diagnostic {
    vyre_severity severity;
    uint32_t code;                 /* 301 prints as V0301 */
    const char *message;           /* one sentence without a full stop */
    const char *fix;               /* without "Fix: " */
    const char *file;              /* NULL: the text itself; else that of an operation or `use` */
    const char *excerpt;           /* the source line in `file`; NULL if not available */
    uint32_t line, column, length; /* from 1; line 0 if there is no source */
    uint32_t inst;                 /* the instruction; VYRE_NONE if unknown */
    const vyre_diagnostic_call *calls; /* the inlined calls around it, innermost first; or NULL */
} vyre_diagnostic;

typedef struct vyre_diagnostics vyre_diagnostics;

VYRE_API VYRE_MUST_USE vyre_status vyre_diagnostics_create(vyre_diagnostics **out_diagnostics);
/* NULL is allowed. */
VYRE_API void vyre_diagnostics_free(vyre_diagnostics *diagnostics);

VYRE_API size_t vyre_diagnostics_count(const vyre_diagnostics *diagnostics);
VYRE_API size_t vyre_diagnostics_errors(const vyre_diagnostics *diagnostics);

/* Diagnostics are sorted by place; one inside an inlined call is sorted by the outermost call. The
 * pointer is valid until something is added to the list. Returns NULL past the last. */
VYRE_API const vyre_diagnostic *vyre_diagnostics_get(const vyre_diagnostics *diagnostics,
                                                     size_t index);

/* Returns the title of a code, "" for an unknown one. */
VYRE_API const char *vyre_diagnostic_title(uint32_t code);

#ifdef __cplusplus
}
#endif

#endif
