/* Files of values: reads the elements of one, in whichever format it has; see values/path.h. */
#ifndef VYRE_VALUES_FILE_H
#define VYRE_VALUES_FILE_H

#include "values/buffer.h"

/* Reads what `@` names. The elements are the bytes from `*out_offset` on. */
VYRE_MUST_USE vyre_status values_file_read(const values_buffer_source *source, const char *text,
                                           vyre_strbuf *out_bytes, size_t *out_offset);

#endif
