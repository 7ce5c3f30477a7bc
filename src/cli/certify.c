/* vyre certify: devices measured on operations, which is what `auto` goes by. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/units.h"
#include "bench/certifier.h"
#include "cli/device.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dialect/snapshot.h"
#include "registry/select.h"
#include "values/sample.h"

#define OPTIONS(X)                                                                                 \
    CLI_DEVICES_OPTION(X)                                                                          \
    CLI_SIZES_OPTION(X)                                                                            \
    CLI_DATA_OPTION(X)                                                                             \
    X(BUDGET, 0, "--budget", "SECONDS", NULL,                                                      \
      "how long a device may take for one size, compiling included (default: 5)")                  \
    CLI_ROUTES_OPTION(X)                                                                           \
    CLI_PROGRESS_OPTION(X)                                                                         \
    CLI_TABLE_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre certify", "measure all devices on all operations: about half a minute for a CPU"},
    {"vyre certify 'reduce.*,scan.*' -b cpu,cuda --sizes 6..26",
     "measure some operations, from 64 elements to 67 million"},
    {"vyre certify kernel.vyre x=rand:1000000", "measure your own program"},
    {"vyre certify --routes other.toml --format md", "write another file, and print all "
                                                     "measurements"},
    {NULL, NULL},
};

const cli_command cli_command_certify = {
    .name = "certify",
    .operands = "[GLOB | " CLI_INPUT_OPERANDS " [PROGRAM] [NAME=VALUE...]]",
    .summary = "measure operations on devices, and write routes",
    .text =
        "Measures how long operations take on each device, and writes the times to a file as "
        "routes. The device `auto` runs each operation where these routes say it is fastest, and "
        "`vyre route` shows them. Each operation runs at several sizes, with data on the host and "
        "with data that stays on the device: once to warm up, then three times for a median. The "
        "command measures all operations that have a sample, those whose ID matches GLOB, or one "
        "operation or program with NAME=VALUE arguments, as for `vyre run`.\n\n"
        "The command compares the bytes of all devices, and at the smallest size compares them "
        "with the reference backend's. `auto` never gives an operation to a device with wrong "
        "bytes, however fast; the exit status is then 1. A device over its budget skips the larger "
        "sizes.\n\n"
        "For each operation the command prints which device wins in which range of sizes, and "
        "which device is second at the end of the range. A size is the bytes of all arguments "
        "together. Tools that know no size take the route of the largest size.\n\n"
        "The command saves the routes after each operation and keeps what other processes saved "
        "meanwhile, so an interruption loses only the current operation.",
    .operand = CLI_OPERAND_FILE,
    .has_program = true,
    .operands_max = CLI_ANY_NUMBER,
    CLI_COMMAND_PARTS,
};

typedef struct job {
    const cli_arguments *arguments;
    cli_devices devices;
    bench_certifier certifier;
    vyre_strbuf path; /* of the routes */
    cli_progress progress;
    size_t certified, failed, wrong; /* operations; the last: with a device of wrong bytes */
    bool is_stuck;                   /* the routes cannot be written */
    cli_exit failure;                /* how to end because of the last that failed */
    /* The answer. */
    vyre_strbuf text;
    vyre_json json;
    vyre_table rows;
} job;

static vyre_format format_of(const job *j) {
    return (vyre_format)j->arguments->values[FORMAT].choice;
}

/* The command line */

/* Whether the first word names a file; else it stands for operations. */
static bool names_file(const cli_arguments *arguments) {
    const char *word = arguments->operands[0];
    size_t size = strlen(word);
    bool is_source = size > 5 && !strcmp(word + size - 5, ".vyre");
    return arguments->operand_count > 1 || !strcmp(word, "-") || strchr(word, '/') || is_source ||
           access(word, F_OK) == 0;
}

static vyre_status read_options(job *j) {
    const cli_value *values = j->arguments->values;
    j->certifier.budget_ns = UINT64_C(5000000000);
    VYRE_TRY(values_sizes_parse(values[SIZES].text, &j->certifier.sizes));
    VYRE_TRY(values_places_parse(values[DATA].text, &j->certifier.places));
    VYRE_TRY(cli_option_seconds(j->arguments, BUDGET, &j->certifier.budget_ns));
    return bench_routes_path(values[ROUTES].text, &j->path);
}

/* Interruptions: the first one ends the run between two measurements, the second one at once. */

static volatile sig_atomic_t interruption;

static void note_interruption(int number) {
    interruption = number;
}

static void watch_interruptions(void) {
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before,
            action = {.sa_handler = note_interruption, .sa_flags = (int)SA_RESETHAND};
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

static bool is_interrupted(void) {
    return interruption;
}

/* The answer */

static void begin_answer(job *j) {
    if (format_of(j) == VYRE_FORMAT_JSON) {
        j->json.text = &j->text;
        vyre_json_array(&j->json);
    } else if (format_of(j) != VYRE_FORMAT_TEXT) {
        bench_routes_table_begin(&j->rows);
    }
}

/* Text is told as it comes, the rest at the end. */
static void add_answer(job *j, const char *key) {
    const vyre_routes *table = j->certifier.table;
    if (format_of(j) == VYRE_FORMAT_JSON) {
        bench_routes_json(&j->json, table, key);
    } else if (format_of(j) != VYRE_FORMAT_TEXT) {
        bench_routes_table_add(&j->rows, table, key);
    } else {
        bench_route_steps steps = {0};
        vyre_strbuf text = {0};
        vyre_strbuf_printf(&text, "%s\n", key);
        bench_route_steps_find(&steps, table, key, j->certifier.devices, j->certifier.device_count);
        bench_route_put_ranges(&text, &steps);
        bench_route_put_excluded(&text, table, key, j->certifier.devices,
                                 j->certifier.device_count);
        bench_route_steps_free(&steps);
        cli_output_write(&text);
    }
}

static void end_answer(job *j) {
    if (format_of(j) == VYRE_FORMAT_JSON) {
        vyre_json_array_end(&j->json);
        vyre_strbuf_putc(&j->text, '\n');
    } else if (format_of(j) != VYRE_FORMAT_TEXT) {
        vyre_table_write(&j->text, &j->rows, format_of(j));
    }
    cli_output_write(&j->text);
}

static void report(const job *j, size_t total) {
    const char *name = j->arguments->command->name, *between = " on ";
    vyre_strbuf text = {0};
    vyre_strbuf_printf(&text, "%zu operation%s", j->certified, vyre_plural(j->certified));
    for (size_t i = 0; i < j->certifier.device_count; i++) {
        vyre_strbuf_printf(&text, "%s%s", between, vyre_device_name(j->certifier.devices[i]));
        between = ", ";
    }
    cli_message_note("vyre %s: %s; the routes are in %s\n", name, vyre_strbuf_string(&text),
                     vyre_strbuf_string(&j->path));
    vyre_strbuf_free(&text);
    if (j->wrong) {
        cli_message_print("vyre %s: %zu operation%s got wrong bytes from a device, and `auto` will "
                          "not run %s there. Fix: run `vyre conform -b DEVICE` to find the "
                          "smallest program that fails\n",
                          name, j->wrong, vyre_plural(j->wrong), j->wrong == 1 ? "it" : "them");
    }
    if (is_interrupted()) {
        cli_message_print("vyre %s: interrupted; %zu of %zu operations were not certified\n", name,
                          total - j->certified, total);
    }
}

/* The work */

/* Certifies one and saves the routes. What fails is told: smaller sizes may have been measured by
 * then, and the next one may do better. */
static void certify(job *j, const bench_subject *subject) {
    vyre_status status = bench_certifier_measure(&j->certifier, subject);
    bool failed = status != VYRE_OK;
    if (is_interrupted()) {
        vyre_status_free(status);
        return;
    }
    if (failed) {
        bool is_usage = vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT;
        j->failed++;
        j->failure = is_usage && subject->value_count ? CLI_EXIT_USAGE : CLI_EXIT_FAILED;
        (void)cli_message_status(j->arguments->command,
                                 vyre_status_annotate(status, "certifying `%s`", subject->key));
    }
    status = vyre_routes_save(j->certifier.table, vyre_strbuf_string(&j->path));
    if (status) {
        j->is_stuck = true;
        (void)cli_message_status(j->arguments->command, status);
    } else if (!failed) {
        j->certified++;
        j->wrong += bench_route_has_wrong_bytes(j->certifier.table, subject->key,
                                                j->certifier.devices, j->certifier.device_count);
        add_answer(j, subject->key);
    }
}

static void certify_operation(job *j, const vyre_operation *operation) {
    bench_subject subject = {.key = operation->id, .operation = operation};
    vyre_status status = vyre_operation_program(operation, NULL, &subject.program);
    if (status) {
        j->failed++;
        j->failure = CLI_EXIT_FAILED;
        (void)cli_message_status(j->arguments->command, status);
    } else {
        certify(j, &subject);
    }
}

static bool goes_on(const job *j) {
    return !is_interrupted() && !j->is_stuck && cli_output_is_open();
}

static bool is_chosen(const char *glob, const vyre_operation *operation) {
    return (!glob || vyre_id_matches(glob, operation->id)) && values_sample_exists(operation);
}

/* Why nothing is chosen: no operation has such a name, or those that do have no sample. */
static vyre_status nothing_chosen(const vyre_dialects *snapshot, const char *glob) {
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        const char *id = vyre_dialects_at(snapshot, i)->id;
        if (!glob || vyre_id_matches(glob, id)) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "add a `sample` to its manifest, or give values as NAME=VALUE",
                                    "`%s` has no sample, and no values are given", id);
        }
    }
    return vyre_dialects_unknown(snapshot, "operation", glob);
}

static cli_exit certify_library(job *j, const char *glob) {
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot;
    size_t total = 0;
    vyre_status status = vyre_dialects_try_enter(&guard, &snapshot);
    if (status) {
        return cli_message_status(j->arguments->command, status);
    }
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        total += is_chosen(glob, vyre_dialects_at(snapshot, i));
    }
    if (!total) {
        (void)cli_message_status(j->arguments->command, nothing_chosen(snapshot, glob));
        vyre_dialects_leave(&guard);
        return CLI_EXIT_USAGE;
    }
    cli_progress_begin(&j->progress, "certify", total * values_sizes_count(&j->certifier.sizes));
    begin_answer(j);
    for (size_t i = 0; i < vyre_dialects_count(snapshot) && goes_on(j); i++) {
        const vyre_operation *operation = vyre_dialects_at(snapshot, i);
        if (is_chosen(glob, operation)) {
            certify_operation(j, operation);
        }
    }
    cli_progress_end(&j->progress);
    end_answer(j);
    report(j, total);
    vyre_dialects_leave(&guard);
    return CLI_EXIT_DONE;
}

/* A program of the user's own, or an operation with values of his own. */
static cli_exit certify_given(job *j) {
    const cli_arguments *arguments = j->arguments;
    const cli_command *command = arguments->command;
    cli_input input = {0};
    cli_selection chosen;
    cli_exit result;
    char key[VYRE_ROUTE_KEY_BYTES];
    const char *name = NULL;
    size_t count = arguments->operand_count - 1;
    const char *const *values = arguments->operands + 1;
    if (count && !strchr(*values, '=')) {
        name = *values++;
        count--;
    }
    if (count && arguments->values[SIZES].given) {
        return cli_message_status(
            command, vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove one of them",
                                      "the values fix the size, and --sizes gives another"));
    }
    vyre_status status = cli_input_open(&input, arguments->operands[0], NULL);
    if (status) {
        result = cli_input_report(&input, command, status);
    } else if (cli_input_take(&input, command, name, "`vyre certify` takes one", &chosen,
                              &result)) {
        const vyre_program *program = cli_input_program(&input, chosen.first);
        vyre_route_key(program, key);
        cli_progress_begin(&j->progress, "certify",
                           count ? 1 : values_sizes_count(&j->certifier.sizes));
        begin_answer(j);
        certify(j, &(bench_subject){.key = input.operation ? input.operation->id : key,
                                    .operation = input.operation,
                                    .program = program,
                                    .values = values,
                                    .value_count = count,
                                    .stdin_used = !strcmp(arguments->operands[0], "-")});
        cli_progress_end(&j->progress);
        end_answer(j);
        if (!j->failed) {
            report(j, 1);
        }
        result = CLI_EXIT_DONE;
    }
    cli_input_deinit(&input);
    return result;
}

/* Saved as they are: a place that cannot be written is told before anything is measured. */
static vyre_status open_routes(job *j) {
    VYRE_TRY(bench_certifier_open(&j->certifier));
    VYRE_TRY(vyre_routes_load(vyre_strbuf_string(&j->path), &j->certifier.table));
    return vyre_routes_save(j->certifier.table, vyre_strbuf_string(&j->path));
}

static cli_exit run_job(job *j) {
    const cli_arguments *arguments = j->arguments;
    vyre_status status = read_options(j);
    if (status) {
        return cli_message_status(arguments->command, status);
    }
    cli_exit result =
        cli_devices_acquire(arguments->command, arguments->values[BACKEND].text, &j->devices);
    if (result != CLI_EXIT_DONE) {
        return result;
    }
    j->certifier.devices = j->devices.list.items;
    j->certifier.device_count = j->devices.list.count;
    status = open_routes(j);
    if (status) {
        (void)cli_message_status(arguments->command, status);
        return CLI_EXIT_FAILED;
    }
    result = arguments->operand_count && names_file(arguments)
                 ? certify_given(j)
                 : certify_library(j, arguments->operand_count ? arguments->operands[0] : NULL);
    return result != CLI_EXIT_DONE ? result
           : j->is_stuck           ? CLI_EXIT_FAILED
           : j->failed             ? j->failure
           : j->wrong              ? CLI_EXIT_NO
                                   : CLI_EXIT_DONE;
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    j.progress.is_off = arguments->values[NO_PROGRESS].given;
    j.certifier.step = cli_progress_tell;
    j.certifier.user = &j.progress;
    j.certifier.is_interrupted = is_interrupted;
    watch_interruptions();
    cli_exit result = run_job(&j);
    bench_certifier_deinit(&j.certifier);
    cli_devices_release(&j.devices);
    vyre_strbuf_free(&j.path);
    if (is_interrupted()) { /* tells the parent how it ended */
        (void)signal(interruption, SIG_DFL);
        (void)raise(interruption);
    }
    return result;
}
