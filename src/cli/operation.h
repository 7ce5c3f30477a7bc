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

/* Whether a variant is meant for a device, its backend or its kind; others are never chosen there.
 */
bool cli_variant_suits(const vyre_variant *variant, const vyre_device *device);

/* "(a: f32, x: buffer<f32>, y: inout buffer<f32>) -> (z: buffer<f32>)" */
void cli_describe_signature(vyre_strbuf *text, const vyre_operation *operation);
void cli_describe_parameter(vyre_strbuf *text, const vyre_parameter *parameter);

/* "commutative, identity(0)" */
void cli_describe_law(vyre_strbuf *text, const vyre_law *law);
void cli_describe_laws(vyre_strbuf *text, const vyre_operation *operation);
const char *cli_law_meaning(vyre_law_kind kind);

/* The ids of the targets that it can become, each once: "primary_text", NULL past the last. */
enum { CLI_TARGETS_MAX = 80 };
typedef struct cli_targets {
    const char *ids[CLI_TARGETS_MAX + 1];
    size_t count;
} cli_targets;
void cli_operation_targets(const vyre_operation *operation, cli_targets *out_targets);

const char *cli_category_name(vyre_category category);
const char *cli_form_name(vyre_operation_form form);

#endif
