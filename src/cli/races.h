/* Races: programs run on the oracle with its sanitizers, and what those find. */
#ifndef VYRE_CLI_RACES_H
#define VYRE_CLI_RACES_H

#include "base/json.h"
#include "cli/input.h"

/* What to run with. */
typedef struct cli_races {
    const char **values; /* NAME=VALUE words */
    size_t value_count;
    uint64_t seed, timeout_ns;
    size_t errors, warnings; /* findings so far */
} cli_races;

/* Runs one program of a loaded file. With `json` everything goes there, as an object; else findings
 * go to stderr, and lines that belong behind the program's description to `text`. */
VYRE_MUST_USE vyre_status cli_races_check(cli_races *races, const cli_input *input, size_t index,
                                          vyre_json *json, vyre_strbuf *text);

#endif
