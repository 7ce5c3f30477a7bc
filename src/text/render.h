/* Showing a place in a source: the line with a caret under it. */
#ifndef VYRE_TEXT_RENDER_H
#define VYRE_TEXT_RENDER_H

#include <vyre/diagnostic.h>

#include "base/strbuf.h"

/* Appends one diagnostic as vyre_diagnostics_render does. It need not have a code: `label`, as in
 * "error: data race", then stands in its place. Without a source, of NULL, no line is shown. */
void vyre_diagnostic_render(const vyre_diagnostic *item, const char *label, const char *name,
                            vyre_str source, bool color, vyre_strbuf *out);

#endif
