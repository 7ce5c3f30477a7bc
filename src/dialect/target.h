/* Targets for people; their ids are public: <vyre/dialect.h>. */
#ifndef VYRE_DIALECT_TARGET_H
#define VYRE_DIALECT_TARGET_H

#include <vyre/dialect.h>

/* "PTX text"; the id of an extension. */
const char *vyre_target_words(vyre_target target);

#endif
