/* Files of values, as the command line names them: [FORMAT:]PATH[:DETAIL].
 *
 * The suffix of PATH says what the file is, in upper or lower case: .npy, .npz, .png, .csv, .tsv.
 * Any other suffix is raw little-endian bytes, unless it is the name of a format that vyre does not
 * know, such as .jpg: that is refused. FORMAT: overrules the suffix, as in csv:numbers.txt. DETAIL
 * is a member of an .npz file, a column of a .csv file that is read, or the width of an image or
 * table that is written. "-" is stdin or stdout, and raw unless a FORMAT is given. */
#ifndef VYRE_VALUES_PATH_H
#define VYRE_VALUES_PATH_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"

/* X(name, as a FORMAT and as a suffix) */
#define VALUES_FORMATS(X)                                                                          \
    X(RAW, "raw")                                                                                  \
    X(NPY, "npy")                                                                                  \
    X(NPZ, "npz")                                                                                  \
    X(PNG, "png")                                                                                  \
    X(CSV, "csv")                                                                                  \
    X(TSV, "tsv")

typedef enum values_format {
#define VALUES_FORMAT_ENUM(name, text) VALUES_FORMAT_##name,
    VALUES_FORMATS(VALUES_FORMAT_ENUM)
#undef VALUES_FORMAT_ENUM
} values_format;

typedef struct values_path {
    values_format format;
    vyre_str path;      /* of the file; not followed by a NUL if there is a detail */
    const char *detail; /* NULL: none */
} values_path;

/* Reads the name of a file that is read for, or written from, elements of `type`. Only bytes may
 * come from a text file. The result points into the text. Errors name the `subject`: an argument,
 * or the option. */
VYRE_MUST_USE vyre_status values_path_parse_input(const char *subject, const char *text,
                                                  vyre_type type, values_path *out);
VYRE_MUST_USE vyre_status values_path_parse_output(const char *subject, const char *text,
                                                   values_path *out);

#endif
