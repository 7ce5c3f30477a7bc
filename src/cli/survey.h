/* Survey: every device of the registered backends, acquired, and the facts that there are of each.
 *
 *     cli_survey survey = {0};
 *     status = cli_survey_take_all(&survey);
 *     for (size_t i = 0; i < survey.rows.count; i++) {
 *         cli_survey_facts(&survey.rows.items[i], write, &user);
 *     }
 *     cli_survey_deinit(&survey);
 */
#ifndef VYRE_CLI_SURVEY_H
#define VYRE_CLI_SURVEY_H

#include <vyre/device.h>

#include "base/strbuf.h"
#include "base/vec.h"

typedef struct cli_survey_row {
    const vyre_registration *registration;
    uint32_t index;                  /* of the device */
    char *name;                      /* "cuda", "cuda:1" */
    vyre_device *device;             /* NULL if it cannot be used */
    vyre_status failure;             /* why it cannot */
    const vyre_candidate *candidate; /* what preferred selection made of it, set by the caller */
} cli_survey_row;

typedef struct cli_survey {
    bool is_brief;                 /* what has to be measured is left out; set by the caller */
    VYRE_VEC(cli_survey_row) rows; /* by rank */
} cli_survey;

/* All backends; or those that a name, `id` or `id:n`, stands for. The survey is to be freed after a
 * failure, too. */
VYRE_MUST_USE vyre_status cli_survey_take_all(cli_survey *survey);
VYRE_MUST_USE vyre_status cli_survey_take_named(cli_survey *survey, const char *name);
void cli_survey_deinit(cli_survey *survey);

/* What a built-in backend whose device is there says of how it works here; "" if nothing. */
const char *cli_survey_note(const cli_survey_row *row);

/* Where a fact is shown. */
typedef enum cli_fact_scope {
    CLI_FACT_BRIEF,  /* in every table */
    CLI_FACT_WIDE,   /* in tables that may be wide */
    CLI_FACT_FULL,   /* where all is shown */
    CLI_FACT_PROFILE /* the same; a field of the device's profile */
} cli_fact_scope;

typedef enum cli_fact_kind {
    CLI_FACT_MISSING,
    CLI_FACT_TEXT,
    CLI_FACT_NUMBER,
    CLI_FACT_FLAG,
    CLI_FACT_SIZES,
    CLI_FACT_FEATURES /* bits, in `number` */
} cli_fact_kind;

typedef struct cli_fact {
    const char *name;
    cli_fact_scope scope;
    cli_fact_kind kind;
    const char *text;
    uint64_t number; /* of a flag, too */
    uint32_t sizes[3];
} cli_fact;

typedef void (*cli_fact_writer)(void *user, const cli_fact *fact);

/* The same facts in the same order for every device. */
void cli_survey_facts(const cli_survey_row *row, cli_fact_writer write, void *user);

/* The value, for people. */
void cli_fact_print(const cli_fact *fact, vyre_strbuf *text);

/* The name of a feature by its number; NULL past the last. Sets its bit. */
const char *cli_feature_name(size_t number, uint64_t *out_bit);

#endif
