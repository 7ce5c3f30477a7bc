/* vyre conform: a backend held against the oracle. */
#include <string.h>

#include "backend/reference/backend.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/device.h"
#include "cli/output.h"
#include "cli/value.h"
#include "driver/conform.h"

/* Small programs, about one rule each, then large ones. */
enum { SUITE_SMALL, SUITE_RANDOM, SUITE_COUNT };
static const cli_choice suite_names[] = {
    {"small", "a few lines about one rule"},
    {"random", "of any kind"},
    {NULL, NULL},
};

#define OPTIONS(X)                                                                                 \
    CLI_DEVICE_OPTION(X)                                                                           \
    X(AGAINST, 0, "--against", "DEVICE", NULL,                                                     \
      "what it is held against; the reference backend if not given, which has cpu to be held "     \
      "against itself")                                                                            \
    X(SUITE, 0, "--suite", "NAME", suite_names, "small programs, or random ones; all if not given") \
    X(PROGRAMS, 0, "--programs", "N", NULL, "how many random programs; 1000 by default")           \
    X(SEED, 0, "--seed", "N", NULL, "the first of them; 1 by default, the others follow")          \
    X(RUNS, 0, "--runs", "N", NULL,                                                                \
      "how often each program runs, reference in another schedule each time; 10 by default")       \
    X(SAVE, 0, "--save", "FILE", NULL, "write the smallest program that fails there")              \
    X(FORMAT, 0, "--format", "FORMAT", cli_formats, "the form of the answer; text if not given")

CLI_OPTION_TABLE(OPTIONS);

typedef struct campaign {
    uint32_t suite; /* SUITE_COUNT: all */
    vyre_device *device, *oracle;
    uint64_t first_seed, programs, runs;
    uint64_t done, unsupported; /* programs */
    uint64_t instructions;
    double seconds;
    uint64_t refused_seed; /* the first program that is unsupported, and why */
    vyre_comparison refusal;

    bool failed;
    uint64_t failed_seed, failed_run;
    vyre_comparison original, comparison; /* as generated, as cut down */
    vyre_trial trial;                     /* cut down */
    char *text;
    size_t size;
} campaign;

/* The first trial that fails is cut down and kept. */
static vyre_status keep_failure(campaign *c, const vyre_conform *conform, vyre_trial *trial,
                                const vyre_comparison *comparison) {
    c->failed = true;
    c->original = c->comparison = *comparison;
    c->trial = *trial;
    *trial = (vyre_trial){0};
    vyre_status status = vyre_conform_shrink(conform, &c->trial, &c->comparison);
    return status ? status : vyre_program_print(c->trial.program, &c->text, &c->size);
}

/* Only the oracle's own backend has schedules to choose from; it is held against its plain one. */
static bool has_schedules(const campaign *c) {
    return cli_device_is_reference(c->device);
}

/* Runs one trial as often as asked for, and frees it. */
static vyre_status try_one(campaign *c, uint64_t seed, vyre_trial *trial) {
    vyre_conform conform = {c->oracle, c->device, vyre_reference_has_one_answer};
    vyre_outputs expected;
    vyre_comparison comparison = {0};
    vyre_status status = vyre_conform_expect(&conform, trial, trial->program, &expected);
    for (uint64_t run = 0; run < c->runs && !status && !comparison.verdict; run++) {
        const vyre_reference_options schedule = {.seed = seed * 1000003 + run};
        if (has_schedules(c)) {
            status = vyre_reference_open(&schedule, &conform.subject);
        }
        status =
            status ? status
                   : vyre_conform_compare(&conform, trial, trial->program, &expected, &comparison);
        if (comparison.verdict == VYRE_VERDICT_UNSUPPORTED) {
            if (!c->unsupported++) {
                c->refused_seed = seed;
                c->refusal = comparison;
            }
        } else if (!status && comparison.verdict) {
            c->failed_seed = seed;
            c->failed_run = run + 1;
            status = keep_failure(c, &conform, trial, &comparison);
        }
        if (conform.subject != c->device) {
            vyre_device_release(conform.subject);
            conform.subject = c->device;
        }
    }
    vyre_outputs_free(&expected);
    vyre_trial_free(trial);
    return status ? vyre_status_annotate(status, "with the program of seed %llu",
                                         (unsigned long long)seed)
                  : VYRE_OK;
}

static vyre_status try_all(campaign *c) {
    uint64_t start = vyre_now_ns();
    vyre_status status = VYRE_OK;
    for (uint32_t suite = 0; suite < SUITE_COUNT; suite++) {
        if (c->suite != SUITE_COUNT && c->suite != suite) {
            continue;
        }
        for (uint64_t i = 0; i < c->programs && !status && !c->failed; i++) {
            uint64_t seed = c->first_seed + i;
            vyre_trial trial;
            status = suite == SUITE_SMALL ? vyre_generate_small(seed, &trial)
                                          : vyre_generate(seed, &trial);
            if (!status) {
                c->instructions += vyre_program_ir(trial.program)->inst_count;
                status = try_one(c, seed, &trial);
                c->done++;
            }
        }
    }
    c->seconds = (double)(vyre_now_ns() - start) * 1e-9;
    return status;
}

/* The arguments in the words of `vyre run`. */
static void put_arguments(const campaign *c, vyre_text *text) {
    const vyre_ir *ir = vyre_program_ir(c->trial.program);
    for (size_t i = 0; i < c->trial.value_count; i++) {
        const vyre_trial_value *value = &c->trial.values[i];
        uint32_t arg = 0;
        while (arg + 1 < ir->arg_count &&
               strcmp(ir->strings + ir->args[arg].name, value->name) != 0) {
            arg++;
        }
        vyre_type type = (vyre_type)ir->args[arg].type;
        vyre_text_printf(text, " %s=", value->name);
        for (size_t k = 0; k < value->size; k += vyre_type_bytes(type)) {
            vyre_text_puts(text, k ? "," : "");
            cli_value_print(text, type, value->data + k);
        }
        vyre_text_puts(text, value->size ? "" : "zeros:0");
    }
}

static void put_smallest(const campaign *c, vyre_text *text) {
    vyre_text_printf(text, "// %s\n// arguments:", c->comparison.text);
    put_arguments(c, text);
    vyre_text_putc(text, '\n');
    vyre_text_add(text, c->text, c->size);
}

static void put_refusal(const campaign *c, vyre_text *text) {
    if (c->unsupported) {
        vyre_text_printf(text, "unsupported, as the one of seed %llu: %s\n",
                         (unsigned long long)c->refused_seed, c->refusal.text);
    }
}

static void put_result(const campaign *c, vyre_text *text) {
    uint64_t compared = c->done - c->unsupported;
    if (!compared) {
        vyre_text_printf(text, "%s: nothing was compared, all %llu program%s unsupported\n",
                         vyre_device_name(c->device), (unsigned long long)c->done,
                         c->done == 1 ? " is" : "s are");
        put_refusal(c, text);
        return;
    }
    if (!c->failed) {
        vyre_text_printf(text, "%s: %llu program%s, %llu %s%s each, the same bytes as the oracle",
                         vyre_device_name(c->device), (unsigned long long)compared,
                         cli_plural(compared), (unsigned long long)c->runs,
                         has_schedules(c) ? "random schedule" : "run", cli_plural(c->runs));
        if (c->unsupported) {
            vyre_text_printf(text, "; %llu unsupported", (unsigned long long)c->unsupported);
        }
        vyre_text_printf(text, "\nseeds %llu to %llu, %llu instructions, %.1f s\n",
                         (unsigned long long)c->first_seed,
                         (unsigned long long)(c->first_seed + c->programs - 1),
                         (unsigned long long)c->instructions, c->seconds);
        put_refusal(c, text);
        return;
    }
    vyre_text_printf(text, "%s: the program of seed %llu fails in run %llu: %s\n",
                     vyre_device_name(c->device), (unsigned long long)c->failed_seed,
                     (unsigned long long)c->failed_run, c->original.text);
    if (c->text) {
        vyre_text_puts(text, "cut down:\n\n");
        put_smallest(c, text);
    }
    vyre_text_printf(text,
                     "\nFix: correct the backend; repeat with `vyre conform -b %s --seed %llu "
                     "--programs 1 --runs "
                     "%llu`\n",
                     vyre_device_name(c->device), (unsigned long long)c->failed_seed,
                     (unsigned long long)c->failed_run);
}

static void put_json(const campaign *c, vyre_text *text) {
    vyre_json json = {.text = text};
    vyre_json_object(&json);
    vyre_json_key(&json, "backend");
    vyre_json_string(&json, vyre_device_name(c->device));
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {
        {"programs", c->done},           {"runs", c->runs},
        {"seed", c->first_seed},         {"instructions", c->instructions},
        {"unsupported", c->unsupported},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        vyre_json_key(&json, numbers[i].key);
        vyre_json_u64(&json, numbers[i].number);
    }
    vyre_json_key(&json, "refusal");
    if (c->unsupported) {
        vyre_json_string(&json, c->refusal.text);
    } else {
        vyre_json_null(&json);
    }
    vyre_json_key(&json, "failure");
    if (c->failed) {
        vyre_text smallest = {0};
        put_smallest(c, &smallest);
        vyre_json_object(&json);
        vyre_json_key(&json, "seed");
        vyre_json_u64(&json, c->failed_seed);
        vyre_json_key(&json, "run");
        vyre_json_u64(&json, c->failed_run);
        vyre_json_key(&json, "message");
        vyre_json_string(&json, c->original.text);
        vyre_json_key(&json, "smallest");
        vyre_json_string(&json, vyre_text_string(&smallest));
        vyre_json_object_end(&json);
        text->failed |= smallest.failed;
        vyre_text_free(&smallest);
    } else {
        vyre_json_null(&json);
    }
    vyre_json_object_end(&json);
    vyre_text_putc(text, '\n');
}

static vyre_status read_number(const cli_arguments *arguments, uint32_t option, uint64_t otherwise,
                               uint64_t *out) {
    *out = otherwise;
    return arguments->values[option].given
               ? cli_number_parse(options[option].name, arguments->values[option].text, out)
               : VYRE_OK;
}

static cli_exit run(const cli_arguments *arguments) {
    campaign c = {0};
    vyre_text text = {0};
    c.suite = arguments->values[SUITE].given ? arguments->values[SUITE].choice : SUITE_COUNT;
    vyre_status status = read_number(arguments, PROGRAMS, 1000, &c.programs);
    status = status ? status : read_number(arguments, SEED, 1, &c.first_seed);
    status = status ? status : read_number(arguments, RUNS, 10, &c.runs);
    if (!status && (!c.programs || !c.runs)) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "ask for at least one",
                                  "no program would run");
    }
    if (!status && c.programs - 1 > UINT64_MAX - c.first_seed) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "ask for fewer, or start from a lower seed",
                                  "there are no %llu seeds from %llu on",
                                  (unsigned long long)c.programs, (unsigned long long)c.first_seed);
    }
    if (status) {
        return cli_message_status(arguments->command, status);
    }
    cli_exit result =
        cli_device_acquire(arguments->command, arguments->values[BACKEND].text, &c.device, &text);
    vyre_text_cut(&text, 0);
    if (result != CLI_EXIT_DONE) {
        vyre_text_free(&text);
        return result;
    }
    if (arguments->values[AGAINST].given) {
        result = cli_device_acquire(arguments->command, arguments->values[AGAINST].text, &c.oracle,
                                    &text);
        vyre_text_cut(&text, 0);
        if (result != CLI_EXIT_DONE) {
            vyre_device_release(c.device);
            vyre_text_free(&text);
            return result;
        }
    } else {
        status = vyre_reference_open_oracle(&c.oracle);
    }
    status = status ? status : try_all(&c);
    if (!status) {
        if (arguments->values[FORMAT].choice == CLI_FORMAT_JSON) {
            put_json(&c, &text);
        } else {
            put_result(&c, &text);
        }
        cli_output_write(&text);
    }
    if (!status && c.failed && arguments->values[SAVE].given) {
        put_smallest(&c, &text);
        status = cli_output_save(arguments->values[SAVE].text, &text);
    }
    result = c.failed ? CLI_EXIT_NO : c.done == c.unsupported ? CLI_EXIT_BACKEND : CLI_EXIT_DONE;
    if (status) {
        cli_message_status(arguments->command, status);
        result = CLI_EXIT_FAILED;
    }
    vyre_text_free(&text);
    vyre_string_free(c.text);
    vyre_trial_free(&c.trial);
    vyre_device_release(c.oracle);
    vyre_device_release(c.device);
    return result;
}

static const cli_example examples[] = {
    {"vyre conform -b reference", "run a thousand random programs in ten schedules each"},
    {"vyre conform -b reference --programs 10000 --seed 1000000", "others, and more of them"},
    {NULL, NULL},
};

const cli_command cli_command_conform = {
    .name = "conform",
    .operands = "",
    .summary = "hold a backend against the oracle",
    .text =
        "Makes random programs, each from its seed, runs them on a backend and compares every byte "
        "with what the reference backend gives. The programs are free of data races, and use "
        "all types, control flow, barriers, subgroups, atomics, phases and elementary functions. "
        "Outputs are fenced: a byte written beside one is found, too. The reference backend itself "
        "runs in random schedules, and is compared with its plain one.\n\n"
        "The first program that fails is cut down to the smallest that still does, and printed "
        "with its arguments. Programs that the backend refuses are counted, and the reason of "
        "the first is told.",
    .operand = CLI_OPERAND_NONE,
    .operands_min = 0,
    .operands_max = 0,
    .options = options,
    .option_count = OPTION_COUNT,
    .examples = examples,
    .run = run,
};
