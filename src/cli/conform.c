/* vyre conform: backends held against the oracle. */
#include "conform/session.h"

#include <string.h>
#include <unistd.h>

#include "base/page.h"
#include "base/status.h"
#include "base/units.h"
#include "cli/device.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/survey.h"

#define OPTIONS(X)                                                                                 \
    X(BACKEND, 'b', "--backend", "DEVICE,...", NULL,                                               \
      "the devices to test: preferred, IDs of backends, ID:N for device N, or all, separated by "  \
      "commas (default: preferred)")                                                               \
    X(SUITE, 0, "--suite", "NAME,...", NULL,                                                       \
      "the suites to run: operations, special, floats, sizes, laws, library, small, random "       \
      "(default: all)")                                                                            \
    X(AGAINST, 0, "--against", "DEVICE", NULL,                                                     \
      "take the expected bytes from this device instead of the reference backend")                 \
    X(TAG, 0, "--tag", "TAG,...", NULL,                                                            \
      "run only cases with one of these tags; --list shows them")                                  \
    X(PROGRAMS, 0, "--programs", "N", NULL,                                                        \
      "the number of small and of large random programs, each (default: 1000)")                    \
    X(SEED, 0, "--seed", "N", NULL,                                                                \
      "the seed of the first random program; the others count up "                                 \
      "from it (default: 1)")                                                                      \
    X(RUNS, 0, "--runs", "N", NULL,                                                                \
      "how often to run a program whose result may depend on the schedule; reference takes "       \
      "another "                                                                                   \
      "schedule each time (default: 10)")                                                          \
    X(VECTORS, 0, "--vectors", "N", NULL,                                                          \
      "how many vectors of operands a case of the suite floats has (default: 20000)")              \
    X(JOBS, 0, "--jobs", "N", NULL,                                                                \
      "run the cases in N processes, each with the device for itself, for drivers that compile "   \
      "one program at a time in a process (default: 1 process with a thread for each CPU)")        \
    X(SECONDS, 0, "--seconds", "N", NULL,                                                          \
      "begin no case after N seconds, and with --jobs end those that run after another quarter; "  \
      "the cases left count as skipped")                                                           \
    X(CERT, 0, "--cert", "FILE", NULL, "write a certificate of the results")                       \
    X(CHECK, 0, "--check", "FILE", NULL,                                                           \
      "run a certificate's cases again, and report what differs")                                  \
    X(LIST, 0, "--list", NULL, NULL, "list the cases with their tags, and run nothing")            \
    X(SAVE, 0, "--save", "FILE", NULL, "write the smallest failing program to FILE")               \
    CLI_PROGRESS_OPTION(X)                                                                         \
    CLI_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre conform", "run all suites on the preferred device"},
    {"vyre conform -b all --programs 100", "test every device"},
    {"vyre conform 'special.f32.*' -b cpu", "run the cases that match"},
    {"vyre conform -b cpu --suite random --programs 10000 --seed 1000000",
     "run only random programs"},
    {"vyre conform -b cpu --cert cpu.toml", "run all suites and write a certificate"},
    {"vyre conform -b cpu --suite floats --vectors 4000000", "test floats on more operands"},
    {"vyre conform -b opencl --jobs 16 --seconds 600 --cert opencl.toml",
     "use 16 processes, and stop after 10 minutes"},
    {"vyre conform --check cpu.toml", "check that the results still match the certificate"},
    {"vyre conform -b reference --against cpu --suite small",
     "compare the reference backend with the "
     "cpu backend"},
    {NULL, NULL},
};

const cli_command cli_command_conform = {
    .name = "conform",
    .operands = "[GLOB]",
    .summary = "test backends against the reference backend",
    .text =
        "Runs suites of test cases on a device and compares every byte with the result of the "
        "oracle, which is the reference backend. The cases cover each operation at each type, "
        "special values, sizes, the laws and samples of the library, and random programs. Without "
        "--suite all suites run; GLOB selects cases by ID, --tag by tag. Guard bytes around each "
        "output catch a write outside it. If an output may depend on the schedule, the command "
        "tests the property that the case declares instead.\n\n"
        "The reference backend itself is compared with recorded digests, and runs in random "
        "schedules. With --against another device gives the expected bytes.\n\n"
        "The first failing case is reduced to the smallest program that still fails, and printed "
        "with its arguments. Cases that the backend refuses count as unsupported and cases that do "
        "not run count as skipped, each with the reason; neither counts as passed. "
        "docs/conformance.md explains the suites and what a certificate means.",
    .operands_max = 1,
    CLI_COMMAND_PARTS,
};

enum {
    MOST_PROGRAMS = 100000000, /* each has a digest in memory */
    MOST_VECTORS = 1000000000,
    MOST_SECONDS = 1000000000,
};

typedef struct job {
    const cli_arguments *arguments;
    conform_session conform;
    cli_progress progress;
    bool is_json;
    vyre_json json;
    vyre_strbuf text;
    cli_exit exit;
    bool any_passed;
} job;

/* Reading the command line */

static const char *suite_name(uint32_t number) {
    return conform_suite_name((conform_suite_kind)number);
}

static const char *tag_name(uint32_t number) {
    return conform_tag_name((conform_tag)(number + 1));
}

/* Words with commas between them; each sets the bit of its number. */
static vyre_status read_words(const char *text, const char *what, const char *(*name)(uint32_t),
                              uint64_t *out) {
    const char *names[CONFORM_TAG_COUNT + 1] = {0};
    vyre_status status = VYRE_OK;
    uint32_t count = 0;
    while (name(count)) {
        names[count] = name(count);
        count++;
    }
    vyre_strbuf word = {0};
    while (!status && cli_list_next(&text, &word)) {
        uint32_t i = 0;
        while (i < count && strcmp(names[i], vyre_strbuf_string(&word)) != 0) {
            i++;
        }
        if (word.failed) {
            status = vyre_no_memory("for the command line");
        } else if (i == count) {
            status = cli_unknown(what, vyre_strbuf_string(&word), names,
                                 "`vyre conform --list` lists the cases and their tags");
        }
        *out |= i < count ? (uint64_t)1 << i : 0;
    }
    vyre_strbuf_free(&word);
    return status;
}

static vyre_status check_numbers(const conform_session *c) {
    bool only_seeds = c->suites >> CONFORM_SUITE_SEEDED << CONFORM_SUITE_SEEDED == c->suites;
    if (!c->runs || (!c->programs && only_seeds)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give a number of 1 or more",
                                "--programs is 0, so no program would run");
    }
    if (c->programs > MOST_PROGRAMS) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "ask for fewer, then continue from a later --seed",
                                "--programs is %llu, and one run takes at most %d",
                                (unsigned long long)c->programs, MOST_PROGRAMS);
    }
    if (c->programs && c->programs - 1 > UINT64_MAX - c->seed) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "ask for fewer programs, or start from a lower --seed",
                                "%llu seeds from %llu on do not fit in 64 bits",
                                (unsigned long long)c->programs, (unsigned long long)c->seed);
    }
    return VYRE_OK;
}

/* A number of an option from 1 on; the value stays where it is not given. */
static vyre_status read_count(const job *j, uint32_t option, uint64_t most, uint64_t *out) {
    VYRE_TRY(cli_option_number(j->arguments, option, out));
    return !j->arguments->values[option].given || (*out && *out <= most)
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give a number in that range",
                                  "%s is %llu, and takes 1 to %llu", options[option].name,
                                  (unsigned long long)*out, (unsigned long long)most);
}

static vyre_status read_choice(job *j) {
    const cli_arguments *arguments = j->arguments;
    conform_session *c = &j->conform;
    uint64_t suites = 0, tags = 0;
    c->vectors = CONFORM_VECTORS;
    c->programs = 1000;
    c->seed = 1;
    c->runs = 10;
    VYRE_TRY(cli_option_number(arguments, PROGRAMS, &c->programs));
    VYRE_TRY(cli_option_number(arguments, SEED, &c->seed));
    VYRE_TRY(cli_option_number(arguments, RUNS, &c->runs));
    VYRE_TRY(read_count(j, VECTORS, MOST_VECTORS, &c->vectors));
    VYRE_TRY(read_count(j, SECONDS, MOST_SECONDS, &c->seconds_most));
    VYRE_TRY(read_words(arguments->values[SUITE].text, "suite", suite_name, &suites));
    VYRE_TRY(read_words(arguments->values[TAG].text, "tag", tag_name, &tags));
    c->suites = suites ? (uint32_t)suites : (1u << CONFORM_SUITE_COUNT) - 1;
    c->tags = tags << 1; /* tag 0 is none */
    c->glob = arguments->operand_count ? arguments->operands[0] : NULL;
    return check_numbers(c);
}

/* What a certificate says is not to be said again. */
static vyre_status check_check(const cli_arguments *arguments) {
    static const uint32_t others[] = {BACKEND, AGAINST, SUITE, TAG,  PROGRAMS, SEED,
                                      RUNS,    CERT,    LIST,  SAVE, SECONDS,  VECTORS};
    const char *name = arguments->operand_count ? arguments->operands[0] : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && !name; i++) {
        name = arguments->values[others[i]].given ? options[others[i]].name : NULL;
    }
    return name
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "remove it; the certificate says what to run and on which device",
                                  "`%s` cannot be combined with --check", name)
               : VYRE_OK;
}

/* Processes */

/* All that a worker does: no device of its parent's is its own, and nothing is told but to it. */
static void work(job *j, const char *device_name, const char *against) {
    conform_session *c = &j->conform;
    vyre_device *device = NULL;
    vyre_status status = against ? cli_device_open(against, &c->against) : VYRE_OK;
    status = status ? status : cli_device_open(device_name, &device);
    c->step = NULL;
    status = status ? status : conform_session_run(c, device);
    if (status) {
        conform_jobs_fail(c, status);
    }
    _exit(CLI_EXIT_DONE); /* what stands in the parent's buffers is not written twice */
}

/* Before a device is acquired. */
static vyre_status start_jobs(job *j, const char *device, const char *against) {
    uint64_t count = 1;
    VYRE_TRY(read_count(j, JOBS, CONFORM_JOBS_MOST, &count));
    VYRE_TRY(count > 1 ? conform_jobs_start(&j->conform, (uint32_t)count) : VYRE_OK);
    if (conform_jobs_is_worker(&j->conform)) {
        work(j, device, against);
    }
    return VYRE_OK;
}

/* One device */

/* The exit status of all: a fault is worst, then trouble, then a device that compared nothing. */
static void add_exit(job *j, cli_exit one) {
    j->any_passed |= one == CLI_EXIT_DONE;
    if (one == CLI_EXIT_FAILED || j->exit == CLI_EXIT_FAILED) {
        j->exit = CLI_EXIT_FAILED;
    } else if (one == CLI_EXIT_NO || j->exit == CLI_EXIT_NO) {
        j->exit = CLI_EXIT_NO;
    } else if (one != CLI_EXIT_DONE) {
        j->exit = one;
    }
}

static vyre_status save_files(job *j) {
    const cli_arguments *arguments = j->arguments;
    vyre_status status = VYRE_OK;
    if (j->conform.failure.is_known && arguments->values[SAVE].given) {
        vyre_strbuf smallest = {0};
        conform_smallest(&j->conform.failure, &smallest);
        status = cli_output_save(arguments->values[SAVE].text, &smallest);
        vyre_strbuf_free(&smallest);
    }
    if (!status && arguments->values[CERT].given) {
        vyre_strbuf certificate = {0};
        conform_certificate_write(&j->conform, &certificate);
        status = cli_output_save(arguments->values[CERT].text, &certificate);
        vyre_strbuf_free(&certificate);
    }
    return status;
}

/* Whether a device would be held against itself, and always be right. */
static bool is_itself(const job *j, const vyre_device *device) {
    return j->conform.against &&
           !strcmp(vyre_device_name(device), vyre_device_name(j->conform.against));
}

static vyre_status refuse_itself(const vyre_device *device) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name another device with --against",
                            "device %s would be compared with itself", vyre_device_name(device));
}

static vyre_status run_cases(job *j, vyre_device *device) {
    cli_progress_begin(&j->progress, vyre_device_name(device), conform_session_count(&j->conform));
    vyre_status status = conform_session_run(&j->conform, device);
    cli_progress_end(&j->progress);
    return status;
}

static cli_exit exit_of(const conform_session *c) {
    conform_fate fate = conform_session_fate(c);
    return fate == CONFORM_FATE_PASSED   ? CLI_EXIT_DONE
           : fate == CONFORM_FATE_FAILED ? CLI_EXIT_NO
                                         : CLI_EXIT_BACKEND;
}

static void test_device(job *j, vyre_device *device) {
    if (is_itself(j, device)) {
        add_exit(j, cli_message_status(j->arguments->command, refuse_itself(device)));
        return;
    }
    vyre_status status = run_cases(j, device);
    if (!status) {
        if (j->is_json) {
            conform_session_json(&j->conform, &j->json);
        } else {
            conform_session_print(&j->conform, &j->text);
            cli_output_write(&j->text);
        }
        add_exit(j, exit_of(&j->conform));
        status = save_files(j);
    }
    if (status) {
        add_exit(j, CLI_EXIT_FAILED);
        (void)cli_message_status(j->arguments->command, status);
    }
}

/* Devices */

/* Every device there is; those that cannot be used are told, and not counted as anything. */
static void test_all(job *j) {
    cli_survey survey = {0};
    vyre_status status = cli_survey_take_all(&survey);
    for (size_t i = 0; i < survey.rows.count && !status; i++) {
        const cli_survey_row *row = &survey.rows.items[i];
        const char *reason = row->device ? "it is the backend that others are compared with"
                                         : vyre_status_text(row->failure);
        if (row->device && !is_itself(j, row->device)) {
            test_device(j, row->device);
        } else if (j->is_json) {
            vyre_json_object(&j->json);
            vyre_json_add_string(&j->json, "backend", row->name);
            vyre_json_add_string(&j->json, "verdict", "skipped");
            vyre_json_add_string(&j->json, "reason", reason);
            vyre_json_object_end(&j->json);
        } else {
            vyre_strbuf_printf(&j->text, "%s: skipped: %s\n", row->name, reason);
            cli_output_write(&j->text);
        }
    }
    cli_survey_deinit(&survey);
    if (status) {
        add_exit(j, cli_message_status(j->arguments->command, status));
    }
    if (j->exit == CLI_EXIT_BACKEND && j->any_passed) {
        j->exit = CLI_EXIT_DONE; /* one that compared nothing was told, and others did */
    }
}

static void test_named(job *j, const char *name) {
    vyre_device *device;
    vyre_strbuf why = {0};
    cli_exit result = cli_device_acquire(j->arguments->command, name, &device, &why);
    vyre_strbuf_free(&why);
    if (result == CLI_EXIT_DONE) {
        test_device(j, device);
        vyre_device_release(device);
    } else {
        add_exit(j, result);
    }
}

static cli_exit acquire_against(job *j, const char *name) {
    vyre_strbuf why = {0};
    cli_exit result =
        name ? cli_device_acquire(j->arguments->command, name, &j->conform.against, &why)
             : CLI_EXIT_DONE;
    vyre_strbuf_free(&why);
    return result;
}

static void test_devices(job *j) {
    const char *names = j->arguments->values[BACKEND].text;
    const char *judge = j->arguments->values[AGAINST].text;
    vyre_status status = start_jobs(j, names, judge);
    if (status) {
        add_exit(j, cli_message_status(j->arguments->command, status));
        return;
    }
    cli_exit against = acquire_against(j, judge);
    if (against != CLI_EXIT_DONE) {
        add_exit(j, against);
        return;
    }
    if (!names || !strchr(names, ',')) {
        if (names && !strcmp(names, "all")) {
            test_all(j);
        } else {
            test_named(j, names);
        }
        return;
    }
    vyre_strbuf name = {0};
    while (cli_list_next(&names, &name)) {
        if (name.failed) {
            add_exit(j, cli_message_status(j->arguments->command,
                                           vyre_no_memory("for the command line")));
        } else {
            test_named(j, vyre_strbuf_string(&name));
        }
    }
    vyre_strbuf_free(&name);
}

/* All that is asked for on all devices, as an answer. */
static void test(job *j) {
    if (j->is_json) {
        vyre_json_object(&j->json);
        vyre_json_add_u64(&j->json, "seed", j->conform.seed);
        vyre_json_add_u64(&j->json, "programs", j->conform.programs);
        vyre_json_add_u64(&j->json, "runs", j->conform.runs);
        vyre_json_add_array(&j->json, "devices");
    }
    test_devices(j);
    if (j->is_json && j->exit != CLI_EXIT_USAGE) {
        vyre_json_array_end(&j->json);
        vyre_json_object_end(&j->json);
        vyre_strbuf_putc(&j->text, '\n');
        cli_output_write(&j->text);
    }
}

static cli_exit list(job *j) {
    if (j->is_json) {
        conform_session_json_list(&j->conform, &j->json);
        vyre_strbuf_putc(&j->text, '\n');
    } else {
        conform_session_print_list(&j->conform, &j->text);
    }
    cli_output_write(&j->text);
    uint64_t count = conform_session_count(&j->conform);
    cli_message_note("%llu case%s\n", (unsigned long long)count, vyre_plural(count));
    return CLI_EXIT_DONE;
}

/* Checking a certificate */

static void print_check(job *j, const char *path, size_t differences, vyre_strbuf *lines) {
    if (j->is_json) {
        vyre_json_object(&j->json);
        vyre_json_add_string(&j->json, "certificate", path);
        vyre_json_add_bool(&j->json, "same", !differences);
        vyre_json_add_array(&j->json, "differences");
        for (const char *at = vyre_strbuf_string(lines); *at;) {
            size_t size = strcspn(at, "\n");
            vyre_json_str(&j->json, (vyre_str){at, size});
            at += size + (at[size] == '\n');
        }
        vyre_json_array_end(&j->json);
        vyre_json_key(&j->json, "run");
        conform_session_json(&j->conform, &j->json);
        vyre_json_object_end(&j->json);
        vyre_strbuf_putc(&j->text, '\n');
    } else {
        conform_session_print(&j->conform, &j->text);
        vyre_strbuf_add(&j->text, lines->data, lines->size);
        if (differences) {
            vyre_strbuf_printf(&j->text, "%s: %zu result%s not as in the certificate\n", path,
                               differences, differences == 1 ? " is" : "s are");
        } else {
            vyre_strbuf_printf(&j->text, "%s: all results match the certificate\n", path);
        }
    }
    j->text.failed |= lines->failed;
    cli_output_write(&j->text);
}

static cli_exit check(job *j) {
    const cli_command *command = j->arguments->command;
    const char *path = j->arguments->values[CHECK].text;
    conform_certificate certificate;
    conform_session *c = &j->conform;
    vyre_device *device;
    vyre_strbuf lines = {0};
    size_t differences = 0;
    vyre_status status = conform_certificate_read(path, &certificate);
    if (status) {
        return cli_message_status(command, status);
    }
    c->suites = certificate.suites;
    c->tags = certificate.tags;
    c->glob = strcmp(certificate.glob, "*") ? certificate.glob : NULL;
    c->seed = certificate.seed;
    c->programs = certificate.programs;
    c->runs = certificate.runs;
    c->vectors = certificate.vectors;
    status = check_numbers(c);
    status = status ? status : conform_session_list(c);
    status = status ? status : start_jobs(j, certificate.device, certificate.against);
    if (status) {
        conform_certificate_free(&certificate);
        return cli_message_status(command, status);
    }
    cli_exit result = cli_device_acquire(command, certificate.device, &device, &lines);
    vyre_strbuf_cut(&lines, 0);
    if (result == CLI_EXIT_DONE) {
        result = acquire_against(j, certificate.against);
        if (result != CLI_EXIT_DONE) {
            vyre_device_release(device);
        }
    }
    if (result != CLI_EXIT_DONE) {
        conform_certificate_free(&certificate);
        vyre_strbuf_free(&lines);
        return CLI_EXIT_BACKEND;
    }
    status = is_itself(j, device) ? refuse_itself(device) : run_cases(j, device);
    status = status ? status : conform_certificate_compare(&certificate, c, &lines, &differences);
    if (!status) {
        print_check(j, path, differences, &lines);
        result = differences ? CLI_EXIT_NO : CLI_EXIT_DONE;
    } else {
        result = cli_message_status(command, status);
    }
    vyre_device_release(device);
    conform_certificate_free(&certificate);
    vyre_strbuf_free(&lines);
    return result;
}

/* The command */

static vyre_status check_single(const cli_arguments *arguments) {
    const char *names = arguments->values[BACKEND].text;
    bool several = names && (strchr(names, ',') || !strcmp(names, "all"));
    uint32_t one = arguments->values[CERT].given   ? CERT
                   : arguments->values[JOBS].given ? JOBS
                                                   : SAVE;
    return several && arguments->values[one].given
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name one device with -b",
                                  "%s takes one device, and -b names several", options[one].name)
               : VYRE_OK;
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    j.is_json = arguments->values[FORMAT].choice == VYRE_FORMAT_JSON;
    j.json.text = &j.text;
    j.progress.is_off = arguments->values[NO_PROGRESS].given;
    j.conform.step = cli_progress_tell;
    j.conform.user = &j.progress;
    bool checks = arguments->values[CHECK].given;
    vyre_status status = checks ? check_check(arguments) : read_choice(&j);
    status = status ? status : check_single(arguments);
    if (!status && !checks) {
        status = conform_session_list(&j.conform);
    }
    if (status) {
        j.exit = cli_message_status(arguments->command, status);
    } else if (checks) {
        j.exit = check(&j);
    } else if (arguments->values[LIST].given) {
        j.exit = list(&j);
    } else {
        test(&j);
    }
    vyre_strbuf_free(&j.text);
    conform_session_deinit(&j.conform);
    return j.exit;
}
