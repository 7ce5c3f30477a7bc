/* vyre bench: times operations of the library on devices. */
#include "bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/option.h"
#include "base/status.h"
#include "cli/device.h"
#include "cli/output.h"
#include "cli/survey.h"
#include "registry/registry.h"
#include "values/value.h"

#define OPTIONS(X)                                                                                 \
    X(BACKEND, 'b', "--backend", "DEVICE,...", NULL,                                               \
      "which devices: ids of backends, id:n, auto for what the router chooses, all; all but "      \
      "oracles if not given")                                                                      \
    CLI_SIZES_OPTION(X)                                                                            \
    CLI_DATA_OPTION(X)                                                                             \
    X(RUNS, 0, "--runs", "N", NULL, "at most so many runs a cell; 100 if not given")               \
    X(SECONDS, 0, "--seconds", "S", NULL,                                                          \
      "how long a cell may run; one that cannot run three times is skipped; 0.2 if not given")     \
    X(ROUTES, 0, "--routes", "FILE", NULL, "the routes that auto goes by")                         \
    X(COMPARE, 0, "--compare", "FILE", NULL,                                                       \
      "compare with a run that was saved by --format json; 1 is returned if something is clearly " \
      "slower")                                                                                    \
    X(READ, 0, "--read", "FILE", NULL, "report such a run, and measure nothing")                   \
    X(HTML, 0, "--html", "FILE", NULL, "write a page with plots, too")                             \
    CLI_PROGRESS_OPTION(X)                                                                         \
    X(FORMAT, 0, "--format", "FORMAT", cli_table_formats,                                          \
      "the form of the answer; text if not given")

CLI_OPTION_TABLE(OPTIONS);

enum { RUNS_DEFAULT = 100, RUNS_MOST = 1000000, BUDGET_DEFAULT_NS = 200000000 };

static char *copy_text(const char *words) {
    vyre_strbuf text = {0};
    vyre_strbuf_printf(&text, "%s", words);
    if (!text.data && !text.failed) { /* an empty one is a text, too */
        vyre_strbuf_putc(&text, ' ');
        vyre_strbuf_cut(&text, 0);
    }
    return text.data;
}

vyre_status cli_bench_no_memory(void) {
    return vyre_no_memory("to measure");
}

/* The machine. */

static void put_processor(vyre_strbuf *text) {
    vyre_strbuf contents = {0};
    vyre_status status = vyre_file_read("/proc/cpuinfo", 1 << 22, &contents);
    const char *name = status ? NULL : strstr(vyre_strbuf_string(&contents), "model name");
    name = name ? strchr(name, ':') : NULL;
    if (name) {
        name += strspn(name, ": \t");
        vyre_strbuf_puts(text, ", ");
        vyre_strbuf_add(text, name, strcspn(name, "\n"));
    }
    vyre_status_free(status);
    vyre_strbuf_free(&contents);
}

static vyre_status describe_machine(cli_bench *bench) {
    struct utsname system;
    vyre_strbuf machine = {0};
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (uname(&system) == 0) {
        vyre_strbuf_printf(&machine, "%s %s %s", system.sysname, system.release, system.machine);
    }
    put_processor(&machine);
    if (gmtime_r(&now, &parts)) {
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    bench->threads = threads > 0 ? (uint32_t)threads : 1;
    bench->machine = machine.failed ? NULL : machine.data;
    bench->date = copy_text(date);
    bench->version = copy_text(vyre_version());
    return bench->machine && bench->date && bench->version ? VYRE_OK : cli_bench_no_memory();
}

/* Devices. */

static vyre_status add_device(cli_bench *bench, const char *name, vyre_device *device,
                              const char *reason) {
    if (bench->device_count == CLI_BENCH_DEVICES) {
        vyre_device_release(device);
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name fewer of them with -b",
                                "more than %d devices are too many for a report",
                                CLI_BENCH_DEVICES);
    }
    for (size_t i = 0; i < bench->device_count; i++) {
        if (!strcmp(bench->devices[i].name, name)) {
            vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name it once",
                                                  "-b names `%s` twice", name);
            vyre_device_release(device); /* whose name it may be */
            return status;
        }
    }
    cli_bench_device *out = &bench->devices[bench->device_count++];
    *out = (cli_bench_device){.name = copy_text(name), .device = device};
    out->is_auto = !device && !reason;
    out->reason = reason ? copy_text(reason) : NULL;
    if (device) {
        vyre_profile profile;
        vyre_strbuf text = {0};
        vyre_device_profile(device, &profile);
        vyre_strbuf_printf(&text, "%s%s%s%s%s%s %s", profile.device, *profile.device ? ", " : "",
                           *profile.driver ? "driver " : "", profile.driver,
                           *profile.driver ? ", " : "", vyre_device_id(device),
                           vyre_device_version(device));
        out->hardware = text.failed ? NULL : text.data;
    }
    return out->name && (out->hardware || !device) && (out->reason || !reason)
               ? VYRE_OK
               : cli_bench_no_memory();
}

/* All that there are and that dispatch; oracles only if they are wanted. */
static vyre_status add_all(cli_bench *bench, bool with_oracles) {
    cli_survey survey = {0};
    vyre_status status = cli_survey_take_all(&survey);
    for (size_t i = 0; i < survey.rows.count && !status; i++) {
        cli_survey_row *row = &survey.rows.items[i];
        bool is_oracle = !strcmp(row->registration->id, "reference");
        if (vyre_registry_dispatches(vyre_registry_default(), row->registration->id) &&
            (with_oracles || !is_oracle)) {
            status = add_device(bench, row->name, row->device,
                                row->device ? NULL : vyre_status_text(row->failure));
            row->device = NULL; /* it is the report's now */
        }
    }
    cli_survey_deinit(&survey);
    return status;
}

/* Whether there is a backend of that name, or of the part before the number of a device. */
static bool is_registered(const char *name) {
    const vyre_registration *found = NULL;
    vyre_strbuf id = {0};
    vyre_strbuf_add(&id, name, strcspn(name, ":"));
    vyre_status_free(vyre_registry_find(vyre_registry_default(), vyre_strbuf_string(&id), &found));
    vyre_strbuf_free(&id);
    return found != NULL;
}

static vyre_status add_named(cli_bench *bench, const char *name) {
    vyre_device *device = NULL;
    if (!strcmp(name, "auto")) {
        return add_device(bench, name, NULL, NULL);
    }
    if (!strcmp(name, "all")) {
        return add_all(bench, true);
    }
    vyre_status status = vyre_registry_acquire(vyre_registry_default(), name, &device);
    if (!status) {
        return add_device(bench, vyre_device_name(device), device, NULL);
    }
    if (!is_registered(name)) {
        bool is_missing = vyre_status_code_of(status) == VYRE_STATUS_NOT_FOUND;
        vyre_status refused =
            vyre_status_make(is_missing ? VYRE_STATUS_UNAVAILABLE : vyre_status_code_of(status),
                             vyre_status_fix(status), "%s", vyre_status_message(status));
        vyre_status_free(status);
        return refused;
    }
    vyre_status added = add_device(bench, name, NULL, vyre_status_text(status));
    vyre_status_free(status);
    return added;
}

static vyre_status add_devices(cli_bench *bench, const char *names) {
    vyre_status status = names ? VYRE_OK : add_all(bench, false);
    for (const char *rest = names; rest && !status;) {
        size_t size = strcspn(rest, ",");
        vyre_strbuf name = {0};
        vyre_strbuf_add(&name, rest, size);
        status = size ? add_named(bench, vyre_strbuf_string(&name))
                      : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                         "give names with one comma between",
                                         "-b names an empty device in `%s`", names);
        vyre_strbuf_free(&name);
        rest = rest[size] ? rest + size + 1 : NULL;
    }
    return status;
}

/* The routes that auto goes by, as the router finds them. */
static vyre_status set_table(cli_bench *bench, const char *path) {
    bool has_auto = false;
    for (size_t i = 0; i < bench->device_count; i++) {
        has_auto = has_auto || bench->devices[i].is_auto;
    }
    if (path && !has_auto) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "add auto to -b, or leave it out",
                                "--routes is for the device auto alone");
    }
    if (!has_auto) {
        return VYRE_OK;
    }
    if (path && setenv("VYRE_ROUTES", path, 1) != 0) {
        return cli_bench_no_memory();
    }
    vyre_option_info option = vyre_option_describe(VYRE_OPTION_ROUTES);
    char *otherwise = NULL;
    vyre_status status = *option.text ? VYRE_OK : vyre_routes_default_path(&otherwise);
    bench->table = status ? NULL : copy_text(otherwise ? otherwise : option.text);
    vyre_routes_path_free(otherwise);
    return status || bench->table ? status : cli_bench_no_memory();
}

/* The command. */

typedef struct job {
    const cli_arguments *arguments;
    cli_bench bench, before;
    cli_bench_plan plan;
    cli_bench_figures figures;
    cli_bench_comparison comparison;
    vyre_dialects_guard guard;
    bool is_entered;
} job;

static const cli_value *value_of(const job *j, uint32_t option) {
    return &j->arguments->values[option];
}

/* A page that cannot be written is told before anything is measured. */
static vyre_status check_page(const char *path) {
    struct stat about;
    bool exists = stat(path, &about) == 0;
    if (exists && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
        return VYRE_OK;
    }
    const char *slash = strrchr(path, '/');
    vyre_strbuf folder = {0};
    vyre_strbuf_add(&folder, path, slash ? (size_t)(slash - path) : 0);
    vyre_strbuf_puts(&folder, slash ? "/" : ".");
    int error = folder.failed                          ? ENOMEM
                : !*path                               ? ENOENT
                : exists && S_ISDIR(about.st_mode)     ? EISDIR
                : access(folder.data, W_OK | X_OK) < 0 ? errno
                                                       : 0;
    vyre_strbuf_free(&folder);
    return error ? vyre_status_make(VYRE_STATUS_IO, "name a file in a folder that can be written",
                                    "cannot write a page to `%s`: %s", path, strerror(error))
                 : VYRE_OK;
}

static vyre_status check_usage(const job *j) {
    static const uint32_t others[] = {BACKEND, SIZES, DATA, RUNS, SECONDS, ROUTES};
    const char *html = value_of(j, HTML)->text;
    if (html && !strcmp(html, "-")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name a file",
                                "stdout has the report already, and would get a page, too");
    }
    if (html) {
        vyre_status status = check_page(html);
        if (status) {
            return status;
        }
    }
    if (!value_of(j, READ)->given) {
        return VYRE_OK;
    }
    if (j->arguments->operand_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "leave out the one or the other",
                                "--read measures nothing, so `%s` chooses nothing",
                                j->arguments->operands[0]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (value_of(j, others[i])->given) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "leave out the one or the other",
                                    "--read measures nothing, so %s has no meaning",
                                    options[others[i]].name);
        }
    }
    return VYRE_OK;
}

static vyre_status read_numbers(job *j) {
    cli_bench *bench = &j->bench;
    uint64_t runs = RUNS_DEFAULT;
    vyre_status status = cli_sizes_parse(value_of(j, SIZES)->text, &j->plan.sizes);
    status = status ? status : cli_places_parse(value_of(j, DATA)->text, &j->plan.places);
    bench->budget_ns = BUDGET_DEFAULT_NS;
    if (!status && value_of(j, RUNS)->given) {
        status = cli_number_parse("--runs", value_of(j, RUNS)->text, &runs);
    }
    if (!status && (runs < CLI_BENCH_LEAST_RUNS || runs > RUNS_MOST)) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give a number from 3 to 1000000",
                                  "--runs cannot be `%s`", value_of(j, RUNS)->text);
    }
    if (!status && value_of(j, SECONDS)->given) {
        status = cli_seconds_parse("--seconds", value_of(j, SECONDS)->text, &bench->budget_ns);
    }
    bench->runs = (uint32_t)runs;
    return status;
}

static bool has_device(const cli_bench *bench) {
    bool has = false;
    for (size_t i = 0; i < bench->device_count; i++) {
        has = has || !bench->devices[i].reason;
    }
    return has;
}

static vyre_status no_device(const cli_bench *bench) {
    vyre_strbuf reasons = {0};
    for (size_t i = 0; i < bench->device_count; i++) {
        vyre_strbuf_printf(&reasons, "%s%s: %s", i ? "; " : ": ", bench->devices[i].name,
                           bench->devices[i].reason);
    }
    /* The reasons have their fixes. */
    vyre_status status = vyre_status_make(
        VYRE_STATUS_UNAVAILABLE, bench->device_count ? NULL : "name one with -b",
        "there is no device to measure but the oracle, which is measured where -b names it%s",
        vyre_strbuf_string(&reasons));
    vyre_strbuf_free(&reasons);
    return status;
}

static vyre_status measure(job *j) {
    const cli_arguments *arguments = j->arguments;
    const vyre_dialects *snapshot;
    vyre_status status = read_numbers(j);
    status = status ? status : add_devices(&j->bench, value_of(j, BACKEND)->text);
    status = status ? status : set_table(&j->bench, value_of(j, ROUTES)->text);
    status = status ? status : describe_machine(&j->bench);
    status = status ? status : vyre_dialects_try_enter(&j->guard, &snapshot);
    j->is_entered = !status;
    const char *glob = arguments->operand_count ? arguments->operands[0] : NULL;
    status = status ? status : cli_bench_choose(&j->plan, snapshot, glob);
    if (!status && !has_device(&j->bench)) {
        status = no_device(&j->bench);
    }
    j->plan.progress.is_off = value_of(j, NO_PROGRESS)->given;
    return status ? status : cli_bench_measure(&j->bench, &j->plan);
}

static vyre_status report(job *j) {
    const char *compare = value_of(j, COMPARE)->text, *html = value_of(j, HTML)->text;
    cli_format format = (cli_format)value_of(j, FORMAT)->choice;
    vyre_strbuf text = {0};
    vyre_status status = cli_bench_figures_make(&j->bench, &j->figures);
    if (!status && compare) {
        status = cli_bench_compare(&j->before, &j->bench, compare, &j->comparison);
    }
    if (status) {
        return status;
    }
    cli_bench_report made = {&j->bench, &j->figures, compare ? &j->comparison : NULL};
    if (format == CLI_FORMAT_JSON) {
        cli_bench_json(&made, &text);
    } else {
        cli_bench_table(&made, format, &text);
    }
    cli_output_write(&text);
    if (html) {
        cli_bench_html(&made, &text);
        status = cli_output_save(html, &text);
    }
    return status;
}

static cli_exit verdict(const job *j) {
    const cli_bench_figures *figures = &j->figures;
    const char *name = j->arguments->command->name;
    if (figures->mismatches) {
        cli_message_print("vyre %s: %zu cell%s with wrong bytes. Fix: correct the backend; `vyre "
                          "conform` finds a small program that fails\n",
                          name, figures->mismatches, cli_plural(figures->mismatches));
        return CLI_EXIT_NO;
    }
    if (figures->failed) {
        cli_message_print("vyre %s: %zu cell%s failed. Fix: see the reason of each in the report\n",
                          name, figures->failed, cli_plural(figures->failed));
        return CLI_EXIT_FAILED;
    }
    if (j->comparison.slower) {
        cli_message_print("vyre %s: %zu cell%s clearly slower than in %s. Fix: see whether the "
                          "machine was busy, else find the change that made it so\n",
                          name, j->comparison.slower, j->comparison.slower == 1 ? " is" : "s are",
                          j->comparison.file);
        return CLI_EXIT_NO;
    }
    return CLI_EXIT_DONE;
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    const char *read = arguments->values[READ].text;
    vyre_status status = check_usage(&j);
    /* Before anything takes time. */
    if (!status && arguments->values[COMPARE].given) {
        status = cli_bench_read(arguments->values[COMPARE].text, &j.before);
    }
    status = status ? status : read ? cli_bench_read(read, &j.bench) : measure(&j);
    status = status ? status : report(&j);
    cli_exit result = status ? cli_message_status(arguments->command, status) : verdict(&j);
    cli_bench_comparison_deinit(&j.comparison);
    cli_bench_figures_deinit(&j.figures);
    vyre_vec_free(&j.plan.operations);
    if (j.is_entered) {
        vyre_dialects_leave(&j.guard);
    }
    cli_bench_deinit(&j.bench);
    cli_bench_deinit(&j.before);
    return result;
}

static const cli_example examples[] = {
    {"vyre bench", "the standard suite on all devices"},
    {"vyre bench 'reduce.*' -b cpu,cuda --sizes 6..26:2 --html report.html",
     "some operations at many sizes, with plots"},
    {"vyre bench -b cpu,cuda,auto --routes routes.toml",
     "what the routes of `vyre certify` gain over each device alone"},
    {"vyre bench --format json > now.json && vyre bench --compare now.json",
     "measure, change something, and measure again"},
    {NULL, NULL},
};

const cli_command cli_command_bench = {
    .name = "bench",
    .operands = "[GLOB]",
    .summary = "time operations on devices",
    .text =
        "Times the operations of the library that match GLOB and have a sample, or those of the "
        "standard suite, at several sizes, with data of the host, which goes to the device and "
        "comes back, and with data that stays there. Devices take turns, so that whatever "
        "disturbs the machine disturbs all of them. Before any time counts the bytes of all "
        "devices are compared with one another, and at small sizes with the oracle's.\n\n"
        "Told are the median, the best and the quartiles of the host's clock, from call to result; "
        "bytes read and written a second, arithmetic where the operation says how much it does, "
        "and the share of what a plain copy reaches in the same run. Rates go by the device's own "
        "clock where it has one. A device that is unavailable, a cell that does not fit its budget "
        "and one whose bytes are wrong are told as such, and have no time.\n\n"
        "From this follow crossovers, sizes between which another device becomes the fastest; the "
        "geometric mean of each device's times relative to the best single one, over the rows that "
        "all could run; and, with the device auto, what routing gains over it. The routes "
        "have to be made before, by `vyre certify`: what is told here never chooses.\n\n"
        "The exit status is 1 if bytes are wrong, or something is slower than with --compare by "
        "more than the spread.",
    .operand = CLI_OPERAND_NONE,
    .operands_min = 0,
    .operands_max = 1,
    .options = options,
    .option_count = OPTION_COUNT,
    .examples = examples,
    .run = run,
};
