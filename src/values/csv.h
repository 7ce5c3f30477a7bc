/* Tables of numbers as text: .csv and .tsv files.
 *
 * The separator is a tab, a semicolon or a comma, whichever the first line has, tried in this
 * order, else spaces. The first line is a header if none of its cells is a number. Lines that start
 * with # and empty lines are skipped. Cells may be quoted. A float may have an E and a NaN in upper
 * case; an integer may be written as a float of the same value, as numpy.savetxt does. */
#ifndef VYRE_VALUES_CSV_H
#define VYRE_VALUES_CSV_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"
#include "values/shape.h"

/* Replaces the text of a file by its numbers, as elements of `type`, row by row. `column` is the
 * name or the number, from 1 on, of the only one that is read; NULL: all. Errors name the file, the
 * line and the column. */
VYRE_MUST_USE vyre_status values_csv_read(vyre_strbuf *bytes, const char *name, const char *column,
                                          vyre_type type, values_shape *out_shape);

/* How many elements a row has: `wanted`, which must divide `count`, or 0 for the last dimension of
 * a shape of several, else 1. `name` is the output's, for errors. */
VYRE_MUST_USE vyre_status values_csv_columns(const char *name, uint64_t count,
                                             const values_shape *shape, uint64_t wanted,
                                             uint64_t *out);

/* Appends the elements as rows of `columns`. */
void values_csv_write(vyre_strbuf *out, vyre_type type, const uint8_t *elements, uint64_t count,
                      uint64_t columns, char separator);

#endif
