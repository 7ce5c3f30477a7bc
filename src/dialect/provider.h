/* Provider: which library of operations the parses of this process ask.
 *
 * The registry of operations is the provider unless another library is installed first: the first
 * installation takes effect for the whole process. */
#ifndef VYRE_DIALECT_PROVIDER_H
#define VYRE_DIALECT_PROVIDER_H

#include <vyre/dialect.h>

#include <vyre/library.h>

/* The snapshot in force, as a library. */
extern const vyre_library vyre_dialects_library;

/* The provider, which is vyre_dialects_library from now on if there was none. */
const vyre_library *vyre_provider(void);

/* An operation as the language sees it. */
vyre_library_source vyre_library_source_of(const vyre_operation *operation);

#endif
