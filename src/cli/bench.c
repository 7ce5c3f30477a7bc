/* vyre bench: times operations of the library on devices. */
#include "bench/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/option.h"
#include "base/page.h"
#include "base/status.h"
#include "base/units.h"
#include "cli/device.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/survey.h"
#include "registry/registry.h"
#include "registry/select.h"

#define OPTIONS(X)                                                                                 \
    X(BACKEND, 'b', "--backend", "DEVICE,...", NULL,                                               \
      "the devices: IDs of backends, ID:N for device N, gpu, auto for the router's choice, or "    \
      "all, separated by commas (default: all but oracles such as reference)")                     \
    CLI_SIZES_OPTION(X)                                                                            \
    CLI_DATA_OPTION(X)                                                                             \
    X(RUNS, 0, "--runs", "N", NULL, "the most runs of a cell (default: 100)")                      \
    X(SECONDS, 0, "--seconds", "S", NULL,                                                          \
      "the time budget of a cell; a cell that cannot run three times in it is skipped (default: "  \
      "0.2)")                                                                                      \
    X(ROUTES, 0, "--routes", "FILE", NULL, "the file of routes for the device auto")               \
    X(COMPARE, 0, "--compare", "FILE", NULL,                                                       \
      "compare with a report saved by --format json; the exit status is 1 if a cell is clearly "   \
      "slower")                                                                                    \
    X(READ, 0, "--read", "FILE", NULL, "print a saved report, and measure nothing")                \
    X(HTML, 0, "--html", "FILE", NULL, "also write an HTML page with plots")                       \
    CLI_PROGRESS_OPTION(X)                                                                         \
    CLI_TABLE_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre bench", "run the standard suite on all devices"},
    {"vyre bench 'reduce.*' -b cpu,cuda --sizes 6..26:2 --html report.html",
     "time some operations at many sizes, with plots"},
    {"vyre bench -b cpu,cuda,auto --routes routes.toml",
     "compare routing by `vyre certify` with each single device"},
    {"vyre bench --format json > now.json && vyre bench --compare now.json",
     "measure, change something, and measure again"},
    {NULL, NULL},
};

const cli_command cli_command_bench = {
    .name = "bench",
    .operands = "[GLOB]",
    .summary = "time operations on devices",
    .text =
        "Times operations at several sizes on several devices: the operations that match GLOB and "
        "have a sample, or the standard suite. Each runs with data on the host, copied to the "
        "device and back, and with data that stays on the device. A cell is one operation at one "
        "size on one device. Devices take turns, so that a disturbance of the machine affects all "
        "of them alike. Before a time counts, the bytes of all devices are compared with one "
        "another, and at small sizes with the reference backend's.\n\n"
        "The report gives the median, minimum and quartiles of the time from call to result by the "
        "host's clock. It also gives the bytes read and written per second, arithmetic operations "
        "per second if the operation declares them, and the share of the bandwidth of a plain copy "
        "in the same run. Rates use the device's own clock if it has one. A cell whose device is "
        "unavailable, which exceeds its budget or whose bytes are wrong is listed with the reason "
        "and without a time.\n\n"
        "A summary lists the crossovers: the sizes between which another device becomes the "
        "fastest. It gives the geometric mean of each device's times relative to the best single "
        "device, over the rows that all devices ran. With the device auto it also gives the gain "
        "of routing over that device. `vyre certify` makes the routes; `vyre bench` never changes "
        "them.\n\n"
        "The exit status is 1 if bytes are wrong, or if a cell is slower than in --compare by more "
        "than the spread.",
    .operands_max = 1,
    CLI_COMMAND_PARTS,
};

enum { RUNS_DEFAULT = 100, RUNS_MOST = 1000000, BUDGET_DEFAULT_NS = 200000000 };

/* The command line */

typedef struct job {
    const cli_arguments *arguments;
    bench_run bench, before;
    bench_plan plan;
    cli_progress progress;
    bench_figures figures;
    bench_comparison comparison;
    vyre_dialects_guard guard;
    bool is_entered;
} job;

static const cli_value *value_of(const job *j, uint32_t option) {
    return &j->arguments->values[option];
}

static vyre_status check_usage(const job *j) {
    static const uint32_t others[] = {BACKEND, SIZES, DATA, RUNS, SECONDS, ROUTES};
    const char *html = value_of(j, HTML)->text;
    if (html && !strcmp(html, "-")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name a file",
                                "the HTML page and the report would both go to stdout");
    }
    if (html) {
        VYRE_TRY(cli_output_check(html)); /* before anything is measured */
    }
    if (!value_of(j, READ)->given) {
        return VYRE_OK;
    }
    if (j->arguments->operand_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove one of them",
                                "--read measures nothing, so the GLOB `%s` has no effect",
                                j->arguments->operands[0]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (value_of(j, others[i])->given) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove one of them",
                                    "--read measures nothing, so %s has no effect",
                                    options[others[i]].name);
        }
    }
    return VYRE_OK;
}

static vyre_status read_numbers(job *j) {
    uint64_t runs = RUNS_DEFAULT;
    j->bench.budget_ns = BUDGET_DEFAULT_NS;
    VYRE_TRY(values_sizes_parse(value_of(j, SIZES)->text, &j->plan.sizes));
    VYRE_TRY(values_places_parse(value_of(j, DATA)->text, &j->plan.places));
    VYRE_TRY(cli_option_number(j->arguments, RUNS, &runs));
    if (runs < BENCH_LEAST_RUNS || runs > RUNS_MOST) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give a number from 3 to 1000000",
                                "--runs is `%s`, which is out of range", value_of(j, RUNS)->text);
    }
    j->bench.runs = (uint32_t)runs;
    return cli_option_seconds(j->arguments, SECONDS, &j->bench.budget_ns);
}

/* The devices */

/* All that there are and that dispatch; oracles only if they are wanted. */
static vyre_status add_all(bench_run *bench, bool with_oracles) {
    cli_survey survey = {0};
    vyre_status status = cli_survey_take_all(&survey);
    for (size_t i = 0; i < survey.rows.count && !status; i++) {
        cli_survey_row *row = &survey.rows.items[i];
        const char *id = row->registration->id;
        if (vyre_registry_dispatches(vyre_registry_default(), id) &&
            (with_oracles || !vyre_is_oracle(id))) {
            status = bench_run_add(bench, row->name, row->device,
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

static vyre_status add_named(bench_run *bench, const char *name) {
    vyre_device *device = NULL;
    if (!strcmp(name, "auto")) {
        return bench_run_add(bench, name, NULL, NULL);
    }
    if (!strcmp(name, "all")) {
        return add_all(bench, true);
    }
    vyre_status status = cli_device_open(name, &device);
    if (!status) {
        return bench_run_add(bench, vyre_device_name(device), device, NULL);
    }
    if (!is_registered(name)) {
        bool is_missing = vyre_status_code_of(status) == VYRE_STATUS_NOT_FOUND;
        vyre_status refused =
            vyre_status_make(is_missing ? VYRE_STATUS_UNAVAILABLE : vyre_status_code_of(status),
                             vyre_status_fix(status), "%s", vyre_status_message(status));
        vyre_status_free(status);
        return refused;
    }
    vyre_status added = bench_run_add(bench, name, NULL, vyre_status_text(status));
    vyre_status_free(status);
    return added;
}

static vyre_status add_devices(bench_run *bench, const char *names) {
    vyre_strbuf name = {0};
    vyre_status status = names ? VYRE_OK : add_all(bench, false);
    for (const char *rest = names; !status && cli_list_next(&rest, &name);) {
        status = name.size ? add_named(bench, vyre_strbuf_string(&name))
                           : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                              "separate the devices with single commas",
                                              "-b has an empty device name in `%s`", names);
    }
    vyre_strbuf_free(&name);
    return status;
}

/* The routes that auto goes by, as the router finds them. */
static vyre_status set_table(bench_run *bench, const char *path) {
    bool has_auto = false;
    for (size_t i = 0; i < bench->device_count; i++) {
        has_auto = has_auto || bench->devices[i].is_auto;
    }
    if (path && !has_auto) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "add auto to -b, or remove --routes",
                                "--routes applies only to the device auto, which -b does not name");
    }
    if (!has_auto) {
        return VYRE_OK;
    }
    if (path && setenv("VYRE_ROUTES", path, 1) != 0) {
        return vyre_no_memory("to measure");
    }
    vyre_option_info option = vyre_option_describe(VYRE_OPTION_ROUTES);
    char *otherwise = NULL;
    vyre_status status = *option.text ? VYRE_OK : vyre_routes_default_path(&otherwise);
    bench->table = status ? NULL
                          : vyre_copy_string(otherwise      ? otherwise
                                             : *option.text ? option.text
                                                            : "off");
    vyre_routes_path_free(otherwise);
    return status || bench->table ? status : vyre_no_memory("to measure");
}

/* Measuring, and the report */

static vyre_status measure(job *j) {
    const cli_arguments *arguments = j->arguments;
    const vyre_dialects *snapshot;
    VYRE_TRY(read_numbers(j));
    VYRE_TRY(add_devices(&j->bench, value_of(j, BACKEND)->text));
    VYRE_TRY(set_table(&j->bench, value_of(j, ROUTES)->text));
    VYRE_TRY(bench_run_describe(&j->bench));
    VYRE_TRY(vyre_dialects_try_enter(&j->guard, &snapshot));
    j->is_entered = true;
    const char *glob = arguments->operand_count ? arguments->operands[0] : NULL;
    VYRE_TRY(bench_plan_choose(&j->plan, snapshot, glob));
    VYRE_TRY(bench_run_check(&j->bench));
    j->progress.is_off = value_of(j, NO_PROGRESS)->given;
    j->plan.step = cli_progress_tell;
    j->plan.user = &j->progress;
    cli_progress_begin(&j->progress, "bench", bench_plan_steps(&j->plan, &j->bench));
    vyre_status status = bench_plan_measure(&j->plan, &j->bench);
    cli_progress_end(&j->progress);
    return status;
}

static vyre_status report(job *j) {
    const char *compare = value_of(j, COMPARE)->text, *html = value_of(j, HTML)->text;
    vyre_format format = (vyre_format)value_of(j, FORMAT)->choice;
    vyre_strbuf text = {0};
    VYRE_TRY(bench_figures_make(&j->bench, &j->figures));
    if (compare) {
        VYRE_TRY(bench_compare(&j->before, &j->bench, compare, &j->comparison));
    }
    bench_report made = {&j->bench, &j->figures, compare ? &j->comparison : NULL};
    if (format == VYRE_FORMAT_JSON) {
        bench_report_json(&made, &text);
    } else {
        bench_report_table(&made, format, &text);
    }
    cli_output_write(&text);
    if (!html) {
        return VYRE_OK;
    }
    bench_report_page(&made, &text);
    return cli_output_save(html, &text);
}

static cli_exit verdict(const job *j) {
    const bench_figures *figures = &j->figures;
    const char *name = j->arguments->command->name;
    if (figures->mismatches) {
        cli_message_print("vyre %s: %zu cell%s with wrong bytes. Fix: correct the backend; `vyre "
                          "conform` finds a small program that fails\n",
                          name, figures->mismatches, vyre_plural(figures->mismatches));
        return CLI_EXIT_NO;
    }
    if (figures->failed) {
        cli_message_print(
            "vyre %s: %zu cell%s failed. Fix: read the reason of each in the report\n", name,
            figures->failed, vyre_plural(figures->failed));
        return CLI_EXIT_FAILED;
    }
    if (j->comparison.slower) {
        cli_message_print("vyre %s: %zu cell%s clearly slower than in %s. Fix: check that the "
                          "machine was idle, then look for the change that made it slower\n",
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
        status = bench_run_read(arguments->values[COMPARE].text, &j.before);
    }
    status = status ? status : read ? bench_run_read(read, &j.bench) : measure(&j);
    status = status ? status : report(&j);
    cli_exit result = status ? cli_message_status(arguments->command, status) : verdict(&j);
    bench_comparison_deinit(&j.comparison);
    bench_figures_deinit(&j.figures);
    vyre_vec_free(&j.plan.operations);
    if (j.is_entered) {
        vyre_dialects_leave(&j.guard);
    }
    bench_run_deinit(&j.bench);
    bench_run_deinit(&j.before);
    return result;
}
