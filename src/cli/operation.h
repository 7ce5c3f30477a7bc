/* Operations of the library, as the command line names and shows them. */
#ifndef VYRE_CLI_OPERATION_H
#define VYRE_CLI_OPERATION_H

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/strbuf.h"

/* Whether a word could be an id and is not the name of a source: names with points between. */
bool cli_operation_is_id(const char *word);

/* The error for one that is to be translated or run and has no program. */
VYRE_MUST_USE vyre_status cli_operation_opaque(const vyre_operation *operation);

/* The variant of that name, which may be the operation's own entry; NULL: its own program, or the
 * variant that suits `device` best, where one is given. */
VYRE_MUST_USE vyre_status cli_operation_program(const vyre_operation *operation,
                                                const char *variant, const vyre_device *device,
                                                const vyre_program **out_program);

/* "(a: f32, x: buffer<f32>, y: inout buffer<f32>) -> (z: buffer<f32>[len(x)])" */
void cli_describe_signature(vyre_strbuf *text, const vyre_operation *operation);
/* The id and the signature in lines as vyre_page_wrap makes them, with no end of a line within an
 * argument. */
void cli_describe_operation(vyre_strbuf *text, const vyre_operation *operation, size_t indent,
                            size_t column);
/* "z: out buffer<f32>[len(x)]", as a program declares it; and the length alone, nothing where none
 * is declared. */
void cli_describe_parameter(vyre_strbuf *text, const vyre_operation *operation, size_t index);
void cli_describe_length(vyre_strbuf *text, const vyre_operation *operation, size_t index);

/* "commutative, identity(0)" */
void cli_describe_laws(vyre_strbuf *text, const vyre_operation *operation);

/* The ids of the targets that it can become, each once: "primary_text". */
enum { CLI_TARGETS_MAX = 80 };
typedef struct cli_targets {
    const char *ids[CLI_TARGETS_MAX];
    size_t count;
} cli_targets;
/* "PTX text, native code" */
void cli_describe_targets(vyre_strbuf *text, const vyre_operation *operation);
void cli_operation_targets(const vyre_operation *operation, cli_targets *out_targets);

const char *cli_category_name(vyre_category category);
const char *cli_form_name(vyre_operation_form form);

#endif
