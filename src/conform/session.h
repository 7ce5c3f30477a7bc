/* Sessions: the cases that are asked for, run on a device, and what comes out.
 *
 *     conform_session c = {.seed = 1, ...};
 *     status = conform_session_list(&c);          the cases that are asked for
 *     status = conform_session_run(&c, device);   each gets its fate
 *     conform_session_print(&c, &text);
 *     conform_session_deinit(&c);
 *
 * list.c         which cases there are      run.c      all of them on a device
 * library.c      those of the library       seeds.c    programs drawn from seeds
 * jobs.c         in several processes
 * smallest.c     what failed, cut down      report.c   for people and for programs
 * certificate.c  a file to be checked again
 */
#ifndef VYRE_CONFORM_SESSION_H
#define VYRE_CONFORM_SESSION_H

#include <pthread.h>

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/json.h"
#include "base/vec.h"
#include "conform/jobs.h"
#include "conform/suite.h"

/* X(name, text) */
#define CONFORM_FATES(X)                                                                           \
    X(PASSED, "passed")                                                                            \
    X(FAILED, "failed")                                                                            \
    X(UNSUPPORTED, "unsupported") /* the device says that it cannot run it */                      \
    X(SKIPPED, "skipped")         /* not run, for a reason of ours */

typedef enum conform_fate {
#define CONFORM_FATE_ENUM(name, text) CONFORM_FATE_##name,
    CONFORM_FATES(CONFORM_FATE_ENUM)
#undef CONFORM_FATE_ENUM
        CONFORM_FATE_COUNT
} conform_fate;

const char *conform_fate_name(conform_fate fate);

typedef struct conform_case {
    char *id;
    uint64_t tags;
    conform_suite_kind suite;

    const conform_suite_case *fixed; /* of the suites that are made; else NULL */
    const vyre_operation *operation; /* of the library's */
    size_t number;                   /* the law, or the size of the sample; CONFORM_WITNESSES */

    conform_fate fate;
    uint64_t digest; /* of its bytes, if it passed */
    char *text;      /* why it did not; NULL if it did */
} conform_case;

#define CONFORM_WITNESSES SIZE_MAX

/* The first that failed and is a program, cut down. */
typedef struct conform_failure {
    bool is_known;
    char *id;
    uint64_t seed, run; /* of one drawn from a seed: which, and in which run from 1 on */
    bool is_seeded;
    conform_suite_kind suite;
    conform_comparison original, comparison; /* as it was, as it is cut down */
    conform_trial trial;                     /* cut down */
    char *text;                              /* of its program; NULL if it could not be cut down */
    size_t size;
} conform_failure;

typedef struct conform_tally {
    uint64_t counts[CONFORM_FATE_COUNT];
    uint64_t digest; /* over ids, fates and the digests of those that passed */
    double seconds;  /* all threads together */
} conform_tally;

/* Of a suite that is drawn from seeds: the first program that is unsupported, the first that fails,
 * behind which none counts, and the first that did not run any more. */
typedef struct conform_seeded {
    uint64_t refused_seed, failed_seed, failed_run, late_seed;
    char *refusal, *failure; /* why; NULL if there is none */
} conform_seeded;

enum { CONFORM_SEEDED = CONFORM_SUITE_COUNT - CONFORM_SUITE_SEEDED };

struct conform_session {
    /* What is asked for. */
    uint32_t suites; /* a bit each */
    uint64_t tags;   /* any of them; 0: all cases */
    const char *glob;
    uint64_t seed, programs, runs;
    uint64_t vectors;      /* of a case of `floats` */
    uint64_t seconds_most; /* no case begins later; 0: as long as it takes */
    /* Called when some of the cases are done, never by two threads at once; NULL: not. */
    void (*step)(void *user, uint64_t done, const char *now);
    void *user;
    vyre_device *against; /* in the oracle's place; NULL: the oracle. Released with the rest */
    conform_jobs jobs;    /* ended with the rest */

    /* The cases, in the order of suites. */
    VYRE_VEC(conform_case) cases;
    conform_suite fixed[CONFORM_SUITE_FIXED];
    const vyre_dialects *snapshot; /* retained */

    /* What came out on the device of the last run. */
    vyre_device *device; /* borrowed */
    conform_tally tallies[CONFORM_SUITE_COUNT];
    conform_seeded seeded[CONFORM_SEEDED];
    uint64_t instructions; /* of programs drawn from seeds */
    conform_failure failure;
    double seconds;
    uint64_t deadline_ns; /* of vyre_now_ns; 0: none */
    uint64_t end_ns;      /* a quarter later: what runs then is ended, nothing is cut down */
    char started[32];     /* as TOML has it */
};

bool conform_session_has_suite(const conform_session *c, conform_suite_kind kind);
void conform_session_deinit(conform_session *c);
/* Forgets what came out of a run, of all cases or of one. */
void conform_session_forget(conform_session *c);
void conform_case_forget(conform_case *one);
/* Writes down what became of a case that did not pass, and why. */
VYRE_MUST_USE vyre_status conform_case_settle(conform_case *one, conform_fate fate,
                                              const char *text);
/* Whether the program of that seed is chosen. */
bool conform_session_has_seed(const conform_session *c, conform_suite_kind suite, uint64_t seed);

/* Fills in the cases that are chosen; an error, with near ids, if the glob matches none. */
VYRE_MUST_USE vyre_status conform_session_list(conform_session *c);
/* How many programs of seeds are chosen in a suite, and how many cases with them. */
uint64_t conform_session_count_seeds(const conform_session *c, conform_suite_kind suite);
uint64_t conform_session_count(const conform_session *c);

/* From here on the time that is asked for counts. For jobs.c; a run without it begins by itself. */
void conform_session_begin(conform_session *c);
/* Runs them all on a device. Results are in the cases and tallies. */
VYRE_MUST_USE vyre_status conform_session_run(conform_session *c, vyre_device *device);
uint64_t conform_session_total(const conform_session *c, conform_fate fate);
/* What became of all of them together: FAILED if one did, else PASSED if one did, else SKIPPED. */
conform_fate conform_session_fate(const conform_session *c);
/* "passed", "failed" or "nothing compared" */
const char *conform_session_verdict(const conform_session *c);
/* Whether there was any of a suite. */
bool conform_session_has_cases(const conform_session *c, conform_suite_kind kind);

/* Listing and running cases of the library. */
VYRE_MUST_USE vyre_status conform_library_list(conform_session *c);
VYRE_MUST_USE vyre_status conform_library_run(const conform_session *c, vyre_device *oracle,
                                              conform_case *one);
/* The operation's own program, then the variants that suit the device; NULL behind the last. */
VYRE_MUST_USE vyre_status conform_library_program(const conform_session *c,
                                                  const vyre_operation *operation, size_t index,
                                                  const vyre_program **out_program);
/* A sample of an operation as a trial of one of them. */
VYRE_MUST_USE vyre_status conform_library_trial(const conform_case *one,
                                                const vyre_program *program,
                                                conform_trial *out_trial);
/* Adds a case; the format makes its id. Those that are not chosen are left out. */
VYRE_MUST_USE vyre_status conform_session_add(conform_session *c, conform_case one,
                                              const char *format, ...) VYRE_PRINTF(3, 4);
/* Whether it is the oracle's own backend, which alone has schedules to choose from. */
bool conform_has_schedules(const vyre_device *device);

/* A program drawn from a seed, and what became of it. */
typedef struct conform_attempt {
    conform_trial trial;
    conform_comparison comparison;
    uint64_t run; /* how often it ran */
    uint64_t digest;
    uint32_t instructions;
} conform_attempt;

/* All that is known of the programs of one suite while it runs. */
typedef struct conform_seeds {
    conform_suite_kind suite;
    uint64_t count;        /* numbers from 0 on; 0 of them if the suite is not asked for */
    uint64_t failed_at;    /* the first that fails; UINT64_MAX */
    conform_attempt first; /* what became of that one */
    uint64_t *digests;     /* by number; 0: none told yet; or the one below */
} conform_seeds;

#define CONFORM_SEED_UNSUPPORTED UINT64_MAX

VYRE_MUST_USE vyre_status conform_seeds_begin(const conform_session *c, conform_suite_kind suite,
                                              conform_seeds *out);
void conform_seeds_end(conform_seeds *seeds);
/* Makes the program of a seed again. */
VYRE_MUST_USE vyre_status conform_seeds_generate(conform_suite_kind suite, uint64_t seed,
                                                 conform_trial *out_trial);
/* Generates and runs it, against `oracle`. */
VYRE_MUST_USE vyre_status conform_seeds_run(const conform_session *c, vyre_device *oracle,
                                            conform_suite_kind suite, uint64_t seed,
                                            conform_attempt *out);
/* Takes down what became of it; what it keeps of the attempt is gone from there. */
VYRE_MUST_USE vyre_status conform_seeds_note(conform_session *c, conform_seeds *seeds,
                                             uint64_t number, conform_attempt *attempt);
/* Adds them all to the tally of their suite. */
void conform_seeds_count(conform_session *c, const conform_seeds *seeds);
/* Which program stands for those of a suite of seeds with that fate, but for PASSED, and why. */
const char *conform_seeds_reason(const conform_session *c, conform_suite_kind suite,
                                 conform_fate fate, uint64_t *out_seed);
/* Why a case did not run that had no turn any more. */
#define CONFORM_LATE "the time that --seconds gives was over"
void conform_tally_add(conform_tally *tally, const char *id, conform_fate fate, uint64_t digest);
conform_fate conform_fate_of(conform_verdict verdict);

/* The device for run `run` of the program of a seed, where the device under test has schedules to
 * choose from; else NULL. */
VYRE_MUST_USE vyre_status conform_seeds_reopen(const conform_session *c, uint64_t seed,
                                               uint64_t run, vyre_device **out_device);

/* Cutting down. */
typedef struct conform_shrinking {
    conform_session *c;
    vyre_device *oracle;
    vyre_status (*reopen)(uint64_t run, vyre_device **out_device); /* the schedules there are */
} conform_shrinking;

/* Makes a case that failed the failure that is shown, where it is a program. */
VYRE_MUST_USE vyre_status conform_explain(const conform_shrinking *how, const conform_case *one);
/* Cuts the failure down, whose trial fails on `subject`. */
VYRE_MUST_USE vyre_status conform_cut_down(const conform_shrinking *how, vyre_device *subject);

/* Reports. */
void conform_session_print(const conform_session *c, vyre_strbuf *text);
void conform_session_json(const conform_session *c, vyre_json *json);
void conform_session_print_list(const conform_session *c, vyre_strbuf *text);
void conform_session_json_list(const conform_session *c, vyre_json *json);
/* The smallest program that fails, with its arguments in front. */
void conform_smallest(const conform_failure *failure, vyre_strbuf *text);

/* Certificates. */
enum { CONFORM_CERTIFICATE_FORMAT = 3 };

/* What a certificate says, read from one. */
typedef struct conform_certificate {
    char *text; /* all of it */
    size_t size;
    char *device;  /* as -b names it */
    char *against; /* as --against does; NULL: the oracle */
    uint64_t seed, programs, runs, vectors;
    char *glob;
    uint32_t suites;
    uint64_t tags;
} conform_certificate;

void conform_certificate_write(const conform_session *c, vyre_strbuf *text);
/* Reads one, and refuses what was changed, cut off, or is of another format. */
VYRE_MUST_USE vyre_status conform_certificate_read(const char *path, conform_certificate *out);
/* The same for a text; `name` is for errors. */
VYRE_MUST_USE vyre_status conform_certificate_parse(const char *name, vyre_str text,
                                                    conform_certificate *out);
void conform_certificate_free(conform_certificate *certificate);
/* What differs between a certificate and the run that is over, a line each. */
VYRE_MUST_USE vyre_status conform_certificate_compare(const conform_certificate *certificate,
                                                      const conform_session *c, vyre_strbuf *text,
                                                      size_t *out_count);

#endif
