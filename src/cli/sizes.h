/* Sizes and places of data, for subcommands that measure.
 *
 * --sizes A..B[:STEP] stands for 2^A elements, 2^(A+STEP) and so on, and 2^B in any case; --sizes A
 * for one size. --data is a list of host and resident. */
#ifndef VYRE_CLI_SIZES_H
#define VYRE_CLI_SIZES_H

#include <vyre/route.h>

enum { CLI_SIZES_STEP = 4, CLI_SIZES_LAST = 40 };

/* Rows for the table of options of a subcommand. */
#define CLI_SIZES_OPTION(X)                                                                        \
    X(SIZES, 0, "--sizes", "A..B[:STEP]", NULL,                                                    \
      "sizes from 2^A to 2^B elements, with factors of 2^STEP between; 8..20:4 if not given")
#define CLI_DATA_OPTION(X)                                                                         \
    X(DATA, 0, "--data", "PLACE,...", NULL,                                                        \
      "where data is: host, resident (it stays on the device), or both, as if not given")

typedef struct cli_sizes {
    uint32_t first, last, step; /* exponents of 2 */
} cli_sizes;

/* NULL is what holds if nothing is given. */
VYRE_MUST_USE vyre_status cli_sizes_parse(const char *text, cli_sizes *out_sizes);

/* How many there are; and one of them, in ascending order, as a number of elements. */
size_t cli_sizes_count(const cli_sizes *sizes);
uint64_t cli_sizes_at(const cli_sizes *sizes, size_t index);

/* Which places of data are meant, by vyre_data. */
typedef struct cli_places {
    bool wanted[VYRE_DATA_RESIDENT + 1];
} cli_places;
VYRE_MUST_USE vyre_status cli_places_parse(const char *text, cli_places *out_places);

#endif
