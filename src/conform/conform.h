/* The parts of `vyre conform`.
 *
 *     cli_conform c = {.seed = 1, ...};
 *     status = cli_conform_list(&c);          the cases that are asked for
 *     status = cli_conform_run(&c, device);   each gets its fate
 *     cli_conform_print(&c, &text);
 *     cli_conform_deinit(&c);
 *
 * conform_list.c         which cases there are      conform_run.c     all of them on a device
 * conform_library.c      those of the library       conform_seeds.c   programs drawn from seeds
 * conform_shrink.c       what failed, cut down      conform_report.c  for people and for programs
 * conform_certificate.c  a file to be checked again
 */
#ifndef VYRE_CONFORM_CONFORM_H
#define VYRE_CONFORM_CONFORM_H

#include <pthread.h>

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/json.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "conform/suite.h"

/* X(name, text) */
#define CLI_FATES(X)                                                                               \
    X(PASSED, "passed")                                                                            \
    X(FAILED, "failed")                                                                            \
    X(UNSUPPORTED, "unsupported") /* the device says that it cannot run it */                      \
    X(SKIPPED, "skipped")         /* not run, for a reason of ours */

typedef enum cli_fate {
#define CLI_FATE_ENUM(name, text) CLI_FATE_##name,
    CLI_FATES(CLI_FATE_ENUM)
#undef CLI_FATE_ENUM
        CLI_FATE_COUNT
} cli_fate;

const char *cli_fate_name(cli_fate fate);

typedef struct cli_conform_case {
    char *id;
    uint64_t tags;
    vyre_suite_kind suite;

    const vyre_case *fixed;          /* of the suites that are made; else NULL */
    const vyre_operation *operation; /* of the library's */
    size_t number;                   /* the law, or the size of the sample; CLI_WITNESSES */

    cli_fate fate;
    uint64_t digest; /* of its bytes, if it passed */
    char *text;      /* why it did not; NULL if it did */
} cli_conform_case;

#define CLI_WITNESSES SIZE_MAX

/* The first that failed and is a program, cut down. */
typedef struct cli_conform_failure {
    bool is_known;
    char *id;
    uint64_t seed, run; /* of one drawn from a seed: which, and in which run from 1 on */
    bool is_seeded;
    vyre_suite_kind suite;
    vyre_comparison original, comparison; /* as it was, as it is cut down */
    vyre_trial trial;                     /* cut down */
    char *text;                           /* of its program; NULL if it could not be cut down */
    size_t size;
} cli_conform_failure;

typedef struct cli_conform_tally {
    uint64_t counts[CLI_FATE_COUNT];
    uint64_t digest; /* over ids, fates and the digests of those that passed */
    double seconds;  /* all threads together */
} cli_conform_tally;

/* Of a suite that is drawn from seeds: the first program that is unsupported, and the first that
 * fails, behind which none counts. */
typedef struct cli_conform_seeded {
    uint64_t refused_seed, failed_seed, failed_run;
    char *refusal, *failure; /* why; NULL if there is none */
} cli_conform_seeded;

enum { CLI_SEEDED = VYRE_SUITE_COUNT - VYRE_SUITE_SEEDED };

typedef struct cli_conform {
    /* What is asked for. */
    uint32_t suites; /* a bit each */
    uint64_t tags;   /* any of them; 0: all cases */
    const char *glob;
    uint64_t seed, programs, runs;
    bool no_progress;
    vyre_device *against; /* in the oracle's place; NULL: the oracle. Released with the rest */

    /* The cases, in the order of suites. */
    VYRE_VEC(cli_conform_case) cases;
    vyre_suite fixed[VYRE_SUITE_FIXED];
    const vyre_dialects *snapshot; /* retained */

    /* What came out on the device of the last run. */
    vyre_device *device; /* borrowed */
    cli_conform_tally tallies[VYRE_SUITE_COUNT];
    cli_conform_seeded seeded[CLI_SEEDED];
    uint64_t instructions; /* of programs drawn from seeds */
    cli_conform_failure failure;
    double seconds;
    char started[32]; /* as TOML has it */
} cli_conform;

bool cli_conform_has_suite(const cli_conform *c, vyre_suite_kind kind);
void cli_conform_deinit(cli_conform *c);
/* What came out of a run. */
void cli_conform_forget(cli_conform *c);
/* Whether the program of that seed is chosen. */
bool cli_conform_has_seed(const cli_conform *c, vyre_suite_kind suite, uint64_t seed);

/* Fills in the cases that are chosen; an error, with near ids, if the glob matches none. */
VYRE_MUST_USE vyre_status cli_conform_list(cli_conform *c);
/* How many programs of seeds are chosen in a suite, and how many cases with them. */
uint64_t cli_conform_count_seeds(const cli_conform *c, vyre_suite_kind suite);
uint64_t cli_conform_count(const cli_conform *c);

/* Runs them all on a device. Results are in the cases and tallies. */
VYRE_MUST_USE vyre_status cli_conform_run(cli_conform *c, vyre_device *device);
uint64_t cli_conform_total(const cli_conform *c, cli_fate fate);
/* The answer: whether something passed, and nothing failed. */
cli_exit cli_conform_verdict(const cli_conform *c);
const char *cli_conform_verdict_name(const cli_conform *c);
/* Whether there was any of a suite. */
bool cli_conform_has_cases(const cli_conform *c, vyre_suite_kind kind);

/* Listing and running cases of the library. */
VYRE_MUST_USE vyre_status cli_conform_library_list(cli_conform *c);
VYRE_MUST_USE vyre_status cli_conform_library_run(const cli_conform *c, vyre_device *oracle,
                                                  cli_conform_case *one);
/* The operation's own program, then the variants that suit the device; NULL behind the last. */
VYRE_MUST_USE vyre_status cli_conform_library_program(const cli_conform *c,
                                                      const vyre_operation *operation, size_t index,
                                                      const vyre_program **out_program);
/* A sample of an operation as a trial of one of them. */
VYRE_MUST_USE vyre_status cli_conform_library_trial(const cli_conform *c,
                                                    const cli_conform_case *one,
                                                    const vyre_program *program,
                                                    vyre_trial *out_trial);
/* Adds a case; the format makes its id. Those that are not chosen are left out. */
VYRE_MUST_USE vyre_status cli_conform_add(cli_conform *c, cli_conform_case one, const char *format,
                                          ...) VYRE_PRINTF(3, 4);
VYRE_MUST_USE vyre_status cli_conform_no_memory(void);
/* NULL without memory. */
char *cli_conform_copy(const char *text);

/* A program drawn from a seed, and what became of it. */
typedef struct cli_conform_attempt {
    vyre_trial trial;
    vyre_comparison comparison;
    uint64_t run; /* how often it ran */
    uint64_t digest;
    uint32_t instructions;
} cli_conform_attempt;

/* All that is known of the programs of one suite while it runs. */
typedef struct cli_conform_seeds {
    vyre_suite_kind suite;
    uint64_t count, next;      /* numbers from 0 on; 0 of them if the suite is not asked for */
    uint64_t failed_at;        /* the first that fails; UINT64_MAX */
    cli_conform_attempt first; /* what became of that one */
    uint64_t *digests;         /* by number; 0: none, UINT64_MAX: unsupported */
} cli_conform_seeds;

VYRE_MUST_USE vyre_status cli_conform_seeds_begin(const cli_conform *c, vyre_suite_kind suite,
                                                  cli_conform_seeds *out);
void cli_conform_seeds_end(cli_conform_seeds *seeds);
/* The next number to run; false if there is none left: none behind one that failed. */
bool cli_conform_seeds_take(const cli_conform *c, cli_conform_seeds *seeds, uint64_t *out_number);
/* Generates and runs it, against `oracle`. */
VYRE_MUST_USE vyre_status cli_conform_seeds_run(const cli_conform *c, vyre_device *oracle,
                                                vyre_suite_kind suite, uint64_t seed,
                                                cli_conform_attempt *out);
/* Takes down what became of it; what it keeps of the attempt is gone from there. */
VYRE_MUST_USE vyre_status cli_conform_seeds_note(cli_conform *c, cli_conform_seeds *seeds,
                                                 uint64_t number, cli_conform_attempt *attempt);
/* Adds them all to the tally of their suite. */
void cli_conform_seeds_count(cli_conform *c, const cli_conform_seeds *seeds);
void cli_conform_tally_add(cli_conform_tally *tally, const char *id, cli_fate fate,
                           uint64_t digest);
cli_fate cli_fate_of(vyre_verdict verdict);

/* The device for run `run` of the program of a seed, where the device under test has schedules to
 * choose from; else NULL. */
VYRE_MUST_USE vyre_status cli_conform_seeds_reopen(const cli_conform *c, uint64_t seed,
                                                   uint64_t run, vyre_device **out_device);

/* Cutting down. */
typedef struct cli_conform_shrinking {
    cli_conform *c;
    vyre_device *oracle;
    vyre_status (*reopen)(uint64_t run, vyre_device **out_device); /* the schedules there are */
} cli_conform_shrinking;

/* Makes a case that failed the failure that is shown, where it is a program. */
VYRE_MUST_USE vyre_status cli_conform_explain(const cli_conform_shrinking *how,
                                              const cli_conform_case *one);
/* Cuts the failure down, whose trial fails on `subject`. */
VYRE_MUST_USE vyre_status cli_conform_cut_down(const cli_conform_shrinking *how,
                                               vyre_device *subject);

/* Reports. */
void cli_conform_print(const cli_conform *c, vyre_strbuf *text);
void cli_conform_json(const cli_conform *c, vyre_json *json);
void cli_conform_print_list(const cli_conform *c, vyre_strbuf *text);
void cli_conform_json_list(const cli_conform *c, vyre_json *json);
/* The smallest program that fails, with its arguments in front. */
void cli_conform_smallest(const cli_conform_failure *failure, vyre_strbuf *text);

/* Certificates. */
enum { CLI_CERTIFICATE_FORMAT = 1 };

/* What a certificate says, read from one. */
typedef struct cli_certificate {
    char *text; /* all of it */
    size_t size;
    char *device;  /* as -b names it */
    char *against; /* as --against does; NULL: the oracle */
    uint64_t seed, programs, runs;
    char *glob;
    uint32_t suites;
    uint64_t tags;
} cli_certificate;

void cli_certificate_write(const cli_conform *c, vyre_strbuf *text);
/* Reads one, and refuses what was changed, cut off, or is of another format. */
VYRE_MUST_USE vyre_status cli_certificate_read(const char *path, cli_certificate *out);
/* The same for a text; `name` is for errors. */
VYRE_MUST_USE vyre_status cli_certificate_parse(const char *name, vyre_str text,
                                                cli_certificate *out);
void cli_certificate_free(cli_certificate *certificate);
/* What differs between a certificate and the run that is over, a line each. */
VYRE_MUST_USE vyre_status cli_certificate_compare(const cli_certificate *certificate,
                                                  const cli_conform *c, vyre_strbuf *text,
                                                  size_t *out_count);

#endif
