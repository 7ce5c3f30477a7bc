/* Amounts for people: a number, and a unit that suits it. */
#ifndef VYRE_BASE_UNITS_H
#define VYRE_BASE_UNITS_H

#include "base/strbuf.h"

/* "1.25 ms", "12.50 us", "731 ns" */
void vyre_units_time(vyre_strbuf *text, uint64_t ns);

/* "1 byte", "12.3 KiB", "256.0 MiB" */
void vyre_units_bytes(vyre_strbuf *text, uint64_t bytes);

/* "3.10 GB/s" for the unit "B/s" */
void vyre_units_rate(vyre_strbuf *text, double a_second, const char *unit);

/* Three digits and no unit; nothing for a number that is not positive. */
void vyre_units_number(vyre_strbuf *text, double number);

/* "s" unless there is one. */
const char *vyre_plural(uint64_t count);

#endif
