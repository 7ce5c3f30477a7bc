/* Laws as text: how a manifest writes one, and what it means. */
#ifndef VYRE_DIALECT_LAW_H
#define VYRE_DIALECT_LAW_H

#include <vyre/dialect.h>

#include "base/strbuf.h"

/* "identity(0)" */
void vyre_law_print(vyre_strbuf *text, const vyre_law *law);

/* "f(a, e) = a = f(e, a)" */
const char *vyre_law_meaning(vyre_law_kind kind);

#endif
