/* The emitters that are built in. */
#ifndef VYRE_DIALECT_EMIT_H
#define VYRE_DIALECT_EMIT_H

#include <vyre/emit.h>

/* Those of backends, given by the room that lists them; ends with NULL. */
extern const vyre_emitter *const vyre_builtin_emitters[];

#endif
