/* vyre route: which device `auto` takes for what, and the measurements behind it. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/units.h"
#include "bench/routes.h"
#include "cli/describe.h"
#include "cli/input.h"
#include "cli/output.h"
#include "route/route.h"
#include "values/bind.h"
#include "values/sample.h"
#include "values/sizes.h"

#define OPTIONS(X)                                                                                 \
    X(SIZE, 0, "--size", "N", NULL,                                                                \
      "the route for a sample of N elements; given values replace those of the sample")            \
    X(BYTES, 0, "--bytes", "N", NULL, "the route for N bytes of all arguments together")           \
    CLI_DATA_OPTION(X)                                                                             \
    CLI_ROUTES_OPTION(X)                                                                           \
    CLI_TABLE_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre route", "list which device runs which operation, by size"},
    {"vyre route reduce.sum_u32", "show one operation with all measurements"},
    {"vyre route reduce.sum_u32 --size 1000000 --data host",
     "show the route for a million elements from the host"},
    {"vyre route kernel.vyre x=rand:4096", "show the route for a program with these arguments"},
    {NULL, NULL},
};

const cli_command cli_command_route = {
    .name = "route",
    .operands = "[" CLI_INPUT_OPERANDS " [PROGRAM] [NAME=VALUE...]]",
    .summary = "show which device `auto` takes, and why",
    .text =
        "Shows the routes of an operation, or of a program of a file: which device `auto` takes in "
        "which range of sizes, with all measurements behind it. With a size, or with values as for "
        "`vyre run`, it explains why `auto` takes that device. Without operands it lists all "
        "routes. `vyre certify` writes the routes.\n\n"
        "A size is the bytes of all arguments together, in classes that begin at powers of two. "
        "For a size without a measurement the nearest measured size counts. Only devices of this "
        "machine count, with the driver they were measured with. If no such device is left, a note "
        "says so, and `auto` takes the preferred device, as it does without a route. `auto` never "
        "takes a device that gave wrong bytes.",
    .operand = CLI_OPERAND_FILE,
    .has_program = true,
    .operands_max = CLI_ANY_NUMBER,
    CLI_COMMAND_PARTS,
};

/* What the router says to one question. */
typedef struct answer {
    vyre_data data;
    uint64_t bytes;
    const vyre_router_choice *routing; /* NULL: no device can be used */
    vyre_status failure;               /* why */
} answer;

typedef struct job {
    const cli_arguments *arguments;
    vyre_strbuf path;
    vyre_routes *table;
    values_places places;
    cli_input input;
    const vyre_program *program; /* NULL: what is meant is in the routes alone */
    char key[VYRE_ROUTE_KEY_BYTES];
    const char *op; /* its id, or the key */
    bool has_size;
    uint64_t bytes; /* of all arguments, where there is a size */
    VYRE_VEC(answer) answers;
} job;

static bool given(const job *j, uint32_t option) {
    return j->arguments->values[option].given;
}

static vyre_format format_of(const job *j) {
    return (vyre_format)j->arguments->values[FORMAT].choice;
}

static bool is_in_table(const job *j) {
    return vyre_routes_find(j->table, j->op) || vyre_routes_class_at(j->table, j->op, 0) ||
           vyre_routes_class_excluded_at(j->table, j->op, 0);
}

/* The command line */

static vyre_status read_options(job *j) {
    const cli_value *values = j->arguments->values;
    VYRE_TRY(values_places_parse(values[DATA].text, &j->places));
    VYRE_TRY(bench_routes_path(values[ROUTES].text, &j->path));
    if (values[SIZE].given && values[BYTES].given) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove one of them",
                                "--size and --bytes both give the size");
    }
    if (!strcmp(vyre_strbuf_string(&j->path), "off")) { /* a file, and not the word */
        vyre_strbuf_cut(&j->path, 0);
        vyre_strbuf_puts(&j->path, "./off");
    }
    return setenv("VYRE_ROUTES", vyre_strbuf_string(&j->path), 1) == 0
               ? VYRE_OK
               : vyre_no_memory("for the name of the routes");
}

static vyre_status count_bytes(job *j, const char *const *values, size_t count) {
    values_binding binding = {0};
    uint64_t size = 0;
    bool stdin_used = !strcmp(j->arguments->operands[0], "-");
    j->has_size = given(j, BYTES) || given(j, SIZE) || count;
    if (given(j, BYTES) || !j->has_size) {
        return cli_option_number(j->arguments, BYTES, &j->bytes);
    }
    VYRE_TRY(cli_option_number(j->arguments, SIZE, &size));
    vyre_status status =
        given(j, SIZE)
            ? values_sample_complete(&binding, j->input.operation, j->program, size, values, count,
                                     stdin_used)
            : values_bind(&binding, j->program, values, count, stdin_used, VALUES_MISSING_REFUSED);
    status = status ? status
                    : vyre_route_count_bytes(binding.program, binding.inputs, binding.input_count,
                                             NULL, &j->bytes);
    values_binding_deinit(&binding);
    return status;
}

/* What the words mean. False if that is the end, and how it ends. */
static bool find_subject(job *j, cli_exit *out_result) {
    const cli_arguments *arguments = j->arguments;
    const char *name = NULL;
    size_t count = arguments->operand_count - 1;
    const char *const *values = arguments->operands + 1;
    cli_selection chosen;
    j->op = arguments->operands[0];
    *out_result = CLI_EXIT_DONE;
    if (!count && !given(j, SIZE) && is_in_table(j)) { /* a key too, whose program is elsewhere */
        vyre_status status = count_bytes(j, NULL, 0);
        *out_result = status ? cli_message_status(arguments->command, status) : CLI_EXIT_DONE;
        return !status;
    }
    if (count && !strchr(*values, '=')) {
        name = *values++;
        count--;
    }
    vyre_status status = cli_input_open(&j->input, arguments->operands[0], NULL);
    if (status) {
        *out_result = cli_input_report(&j->input, arguments->command, status);
        return false;
    }
    if (!cli_input_take(&j->input, arguments->command, name, "`vyre route` takes one", &chosen,
                        out_result)) {
        return false;
    }
    j->program = cli_input_program(&j->input, chosen.first);
    vyre_route_key(j->program, j->key);
    j->op = j->input.operation ? j->input.operation->id : j->key;
    status = count_bytes(j, values, count);
    *out_result = status ? cli_message_status(arguments->command, status) : CLI_EXIT_DONE;
    return !status;
}

/* Questions to the router */

static void forget_answers(job *j) {
    for (size_t i = 0; i < j->answers.count; i++) {
        vyre_router_choice_release(j->answers.items[i].routing);
        vyre_status_free(j->answers.items[i].failure);
    }
    j->answers.count = 0;
}

static vyre_status ask(job *j, vyre_data data, uint64_t bytes) {
    answer next = {.data = data, .bytes = bytes};
    const vyre_router_request request = {.op = j->op, .bytes = bytes, .data = data};
    next.failure = vyre_router_choose(&request, &next.routing);
    if (vyre_status_code_of(next.failure) == VYRE_STATUS_INVALID_ARGUMENT) {
        return next.failure; /* a variable of the environment is wrong */
    }
    if (vyre_vec_push(&j->answers, next)) {
        return VYRE_OK;
    }
    vyre_router_choice_release(next.routing);
    vyre_status_free(next.failure);
    return vyre_no_memory("for decisions");
}

/* For the size that is given, else for all that were measured, else for none in particular. */
static vyre_status ask_all(job *j) {
    bench_route_steps steps = {0};
    vyre_status status = VYRE_OK;
    forget_answers(j);
    bench_route_steps_find(&steps, j->table, j->op, NULL, 0);
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT && !status; data++) {
        size_t count = j->answers.count;
        for (size_t i = 0; j->places.wanted[data] && !j->has_size && i < steps.list.count; i++) {
            const bench_route_step *step = &steps.list.items[i];
            if (step->data == data && !status) {
                status = ask(j, data, UINT64_C(1) << step->size_class);
            }
        }
        if (j->places.wanted[data] && j->answers.count == count && !status) {
            status = ask(j, data, j->bytes);
        }
    }
    bench_route_steps_free(&steps);
    return status;
}

/* Text */

static void put_why(vyre_strbuf *text, const job *j, const answer *a) {
    const vyre_router_request request = {.op = j->op, .data = a->data};
    const vyre_router_choice *routing = a->routing;
    vyre_strbuf_printf(text, "  %-9s ", vyre_data_name(a->data));
    if (!routing) {
        vyre_strbuf_printf(text, "none: %s\n", vyre_status_text(a->failure));
        return;
    }
    vyre_strbuf_printf(text, "%s: ", vyre_device_name(routing->device));
    bench_route_explain(text, routing, &request);
    vyre_strbuf_putc(text, '\n');
    if (*routing->note) {
        vyre_strbuf_printf(text, "  %-9s %s\n", "note", routing->note);
    }
}

/* The answers for measured sizes as ranges. Where none was measured, one holds for all. */
static void put_ranges(vyre_strbuf *text, const job *j) {
    bench_route_steps steps = {0};
    const char *note = "";
    for (size_t i = 0; i < j->answers.count; i++) {
        const answer *a = &j->answers.items[i];
        bench_route_step step = {.data = a->data,
                                 .size_class = vyre_route_class(a->bytes),
                                 .winner =
                                     a->routing ? vyre_device_name(a->routing->device) : "none",
                                 .winner_ns = a->routing ? a->routing->latency_ns : VYRE_NO_TIME};
        steps.failed |= a->bytes && !vyre_vec_push(&steps.list, step);
    }
    bench_route_put_ranges(text, &steps);
    bench_route_steps_free(&steps);
    for (size_t i = 0; i < j->answers.count; i++) {
        const answer *a = &j->answers.items[i];
        const char *here = a->routing ? a->routing->note : vyre_status_text(a->failure);
        if (!a->bytes) {
            put_why(text, j, a);
        } else if (*here && strcmp(here, note) != 0) { /* the same mostly holds for all sizes */
            vyre_strbuf_printf(text, "  %-9s %s\n", "note", here);
            note = here;
        }
    }
}

static void put_answers(vyre_strbuf *text, const job *j) {
    if (!j->has_size && vyre_routes_class_at(j->table, j->op, 0)) {
        put_ranges(text, j);
        return;
    }
    for (size_t i = 0; i < j->answers.count; i++) {
        put_why(text, j, &j->answers.items[i]);
    }
}

/* All that was measured, of which the decisions come. */
static void put_measurements(vyre_strbuf *text, const job *j) {
    const vyre_class_row *row;
    const vyre_route *route = vyre_routes_find(j->table, j->op);
    vyre_table table = {.columns = 6, .right = 1 << 1 | 1 << 3};
    static const char *const headings[] = {"data", "size", "backend", "time", "device", "driver"};
    for (size_t i = 0; i < table.columns; i++) {
        vyre_table_add(&table, "%s", headings[i]);
    }
    for (size_t i = 0; (row = vyre_routes_class_at(j->table, j->op, i)); i++) {
        vyre_strbuf size = {0}, time = {0};
        bench_put_class(&size, row->size_class);
        vyre_units_time(&time, row->latency_ns);
        const char *cells[] = {vyre_data_name(row->data), vyre_strbuf_string(&size),
                               row->who.backend,          vyre_strbuf_string(&time),
                               row->who.device,           row->who.driver};
        for (size_t k = 0; k < table.columns; k++) {
            vyre_table_add(&table, "%s", cells[k]);
        }
        text->failed |= size.failed || time.failed;
        vyre_strbuf_free(&size);
        vyre_strbuf_free(&time);
    }
    bool is_empty = !vyre_routes_class_at(j->table, j->op, 0);
    vyre_strbuf_puts(text, is_empty ? "" : "\n");
    vyre_strbuf unused = {0};
    vyre_table_write(is_empty ? &unused : text, &table, VYRE_FORMAT_TEXT);
    vyre_strbuf_free(&unused);
    if (route) {
        vyre_strbuf_puts(text, "\nplain route:");
        for (size_t i = 0; i < route->observation_count; i++) {
            vyre_strbuf_printf(text, "%s %s ", i ? "," : "", route->observations[i].backend);
            vyre_units_time(text, route->observations[i].latency_ns);
        }
        vyre_strbuf_printf(text, "%s %s%s\n", route->observation_count ? ";" : "",
                           route->backend ? route->backend : "nobody",
                           route->backend ? " wins" : " may win");
    }
}

static void write_text(const job *j, vyre_strbuf *text) {
    vyre_strbuf_puts(text, j->op);
    if (j->has_size) {
        vyre_strbuf_printf(text, ", %llu bytes", (unsigned long long)j->bytes);
    }
    vyre_strbuf_putc(text, '\n');
    put_answers(text, j);
    bench_route_put_excluded(text, j->table, j->op, NULL, 0);
    put_measurements(text, j);
}

/* JSON */

static void write_json(const job *j, vyre_json *json) {
    vyre_json_object(json);
    vyre_json_add_string(json, "routes", vyre_strbuf_string(&j->path));
    vyre_json_add_array(json, "auto");
    for (size_t i = 0; i < j->answers.count; i++) {
        const answer *a = &j->answers.items[i];
        const vyre_router_choice *routing = a->routing;
        vyre_json_object(json);
        vyre_json_add_string(json, "data", vyre_data_name(a->data));
        vyre_json_add_u64(json, "bytes", a->bytes);
        vyre_json_key(json, "takes");
        if (routing) {
            vyre_json_string(json, vyre_device_name(routing->device));
            vyre_json_add_string(json, "source", vyre_router_source_name(routing->source));
        } else {
            vyre_json_null(json);
        }
        if (routing && routing->latency_ns != VYRE_NO_TIME) {
            vyre_json_add_u64(json, "latency_ns", routing->latency_ns);
        }
        vyre_strbuf why = {0};
        if (routing) {
            const vyre_router_request request = {.op = j->op, .data = a->data};
            bench_route_explain(&why, routing, &request);
        } else {
            vyre_strbuf_puts(&why, vyre_status_text(a->failure));
        }
        vyre_json_add_strbuf(json, "why", &why);
        vyre_json_add_string(json, "note", routing ? routing->note : "");
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_key(json, "known");
    if (is_in_table(j)) {
        bench_routes_json(json, j->table, j->op);
    } else {
        vyre_json_null(json);
    }
    vyre_json_object_end(json);
}

/* One operation or program */

/* Tells how to get a route. */
static void tell_unknown(const job *j) {
    const char *name = j->arguments->command->name;
    vyre_strbuf words = {0};
    for (size_t i = 0; i < j->arguments->operand_count; i++) {
        vyre_strbuf_printf(&words, " %s", j->arguments->operands[i]);
    }
    cli_message_note("vyre %s: `%s` has no route in %s, so `auto` takes the preferred device; "
                     "`vyre certify%s` measures it\n",
                     name, j->op, vyre_strbuf_string(&j->path), vyre_strbuf_string(&words));
    vyre_strbuf_free(&words);
}

static cli_exit show_one(job *j) {
    cli_exit result;
    vyre_strbuf text = {0};
    if (!find_subject(j, &result)) {
        return result;
    }
    vyre_status status = ask_all(j);
    if (status) {
        return cli_message_status(j->arguments->command, status);
    }
    if (format_of(j) == VYRE_FORMAT_TEXT) {
        write_text(j, &text);
    } else if (format_of(j) == VYRE_FORMAT_JSON) {
        vyre_json json = {.text = &text};
        write_json(j, &json);
        vyre_strbuf_putc(&text, '\n');
    } else {
        vyre_table table;
        bench_routes_table_begin(&table);
        bench_routes_table_add(&table, j->table, j->op);
        vyre_table_write(&text, &table, format_of(j));
    }
    cli_output_write(&text);
    if (!is_in_table(j)) {
        tell_unknown(j);
    }
    for (size_t i = 0; i < j->answers.count; i++) {
        result = j->answers.items[i].routing ? result : CLI_EXIT_BACKEND;
    }
    return result;
}

/* All routes */

static cli_exit list_all(job *j) {
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_status status = VYRE_OK;
    vyre_table table = {0};
    size_t count = 0;
    if (given(j, SIZE) || given(j, BYTES)) {
        return cli_message_status(j->arguments->command,
                                  vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                                   "name an operation, or remove the size",
                                                   "a size is given, but no operation"));
    }
    if (format_of(j) == VYRE_FORMAT_JSON) {
        vyre_json_array(&json);
    } else if (format_of(j) != VYRE_FORMAT_TEXT) {
        bench_routes_table_begin(&table);
    }
    for (; (j->op = vyre_routes_op_at(j->table, count)) && !status; count++) {
        if (format_of(j) == VYRE_FORMAT_JSON) {
            bench_routes_json(&json, j->table, j->op);
        } else if (format_of(j) != VYRE_FORMAT_TEXT) {
            bench_routes_table_add(&table, j->table, j->op);
        } else {
            status = ask_all(j);
            vyre_strbuf_printf(&text, "%s\n", j->op);
            put_answers(&text, j);
            bench_route_put_excluded(&text, j->table, j->op, NULL, 0);
        }
    }
    if (format_of(j) == VYRE_FORMAT_JSON) {
        vyre_json_array_end(&json);
        vyre_strbuf_putc(&text, '\n');
    } else if (format_of(j) != VYRE_FORMAT_TEXT) {
        vyre_table_write(&text, &table, format_of(j));
    }
    if (status) {
        vyre_strbuf_free(&text);
        return cli_message_status(j->arguments->command, status);
    }
    cli_output_write(&text);
    cli_message_note("vyre route: %zu operation%s with routes in %s%s\n", count, vyre_plural(count),
                     vyre_strbuf_string(&j->path), count ? "" : "; `vyre certify` makes some");
    return CLI_EXIT_DONE;
}

static cli_exit run_job(job *j) {
    vyre_status status = read_options(j);
    if (status) {
        return cli_message_status(j->arguments->command, status);
    }
    status = vyre_routes_load(vyre_strbuf_string(&j->path), &j->table);
    if (status) {
        (void)cli_message_status(j->arguments->command, status);
        return CLI_EXIT_FAILED;
    }
    return j->arguments->operand_count ? show_one(j) : list_all(j);
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    cli_exit result = run_job(&j);
    forget_answers(&j);
    vyre_vec_free(&j.answers);
    vyre_routes_free(j.table);
    cli_input_deinit(&j.input);
    vyre_strbuf_free(&j.path);
    return result;
}
