#include "cli/everywhere.h"

#include <string.h>

#include <vyre/pipeline.h>
#include <vyre/reference.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "cli/describe.h"
#include "cli/operation.h"
#include "cli/page.h"
#include "cli/survey.h"
#include "registry/registry.h"
#include "route/route.h"
#include "values/result.h"

enum { RUNS = 5 };
#define LONG_ENOUGH_NS UINT64_C(500000000)

/* Runs it as often as it makes sense. */
static vyre_status measure(const cli_everywhere *all, vyre_pipeline *pipeline, cli_place *place,
                           vyre_outputs *outputs) {
    uint64_t times[RUNS + 1], start = vyre_now_ns();
    vyre_timing timing;
    vyre_status status = vyre_pipeline_dispatch_timed(pipeline, all->inputs, all->input_count,
                                                      all->config, outputs, &timing);
    uint64_t begun = vyre_now_ns();
    size_t count = 0;
    place->time_ns = begun - start;
    place->device_ns = timing.device_ns;
    while (!status && count < RUNS && vyre_now_ns() - start < LONG_ENOUGH_NS) {
        uint64_t before = vyre_now_ns();
        status = vyre_pipeline_dispatch_into(pipeline, all->inputs, all->input_count, all->config,
                                             outputs);
        times[count++] = vyre_now_ns() - before;
    }
    if (!status && count) {
        place->time_ns = vyre_route_median(times, count);
    }
    return status;
}

static vyre_status run_on(const cli_everywhere *all, vyre_device *device, cli_place *place,
                          vyre_outputs *outputs) {
    const vyre_program *program = all->program;
    vyre_pipeline *pipeline = NULL;
    vyre_status status = all->operation
                             ? cli_operation_program(all->operation, all->variant, device, &program)
                             : VYRE_OK;
    status = status ? status : vyre_device_compile(device, program, all->config, &pipeline);
    status = status ? status : measure(all, pipeline, place, outputs);
    vyre_pipeline_release(pipeline);
    return status;
}

static vyre_status run_oracle(const cli_everywhere *all, cli_place *place, vyre_outputs *outputs) {
    uint64_t start = vyre_now_ns();
    vyre_status status =
        vyre_reference_run(all->program, all->inputs, all->input_count, all->config, NULL, outputs);
    place->time_ns = vyre_now_ns() - start;
    place->device_ns = VYRE_NO_TIME;
    return status;
}

/* Keeps a place, whatever became of it. */
static vyre_status add(cli_everywhere *all, const char *name, cli_place place) {
    vyre_strbuf copy = {0};
    vyre_strbuf_puts(&copy, name);
    place.name = copy.data;
    if (copy.failed || !vyre_vec_push(&all->places, place)) {
        vyre_free(place.name);
        vyre_status_free(place.failure);
        vyre_strbuf_free(&place.mismatch);
        return vyre_no_memory("for a list of devices");
    }
    return VYRE_OK;
}

static vyre_status take(cli_everywhere *all, cli_survey_row *row, const vyre_outputs *expected) {
    cli_place place = {.failure = row->failure, .device_ns = VYRE_NO_TIME};
    vyre_outputs outputs = {0};
    row->failure = VYRE_OK;
    if (!row->device) {
        place.fate = CLI_PLACE_MISSING;
        return add(all, row->name, place);
    }
    place.failure = run_on(all, row->device, &place, &outputs);
    if (place.failure) {
        place.fate = vyre_status_code_of(place.failure) == VYRE_STATUS_UNSUPPORTED
                         ? CLI_PLACE_UNSUPPORTED
                         : CLI_PLACE_FAILED;
    } else if (all->verify) {
        place.matches = cli_result_compare(all->program, &outputs, expected, &place.mismatch);
    }
    if (!place.failure && !all->outputs.count) {
        all->outputs = outputs;
        outputs = (vyre_outputs){0};
    }
    vyre_outputs_free(&outputs);
    return add(all, row->name, place);
}

static void count_bytes(cli_everywhere *all, const vyre_outputs *outputs) {
    all->bytes = 0;
    for (size_t i = 0; i < all->input_count; i++) {
        all->bytes += all->inputs[i].size;
    }
    for (size_t i = 0; i < outputs->count; i++) {
        all->bytes += outputs->items[i].size;
    }
}

vyre_status cli_everywhere_run(cli_everywhere *all) {
    cli_survey survey = {.is_brief = true};
    cli_place oracle = {.is_oracle = true, .matches = true};
    vyre_outputs expected = {0};
    vyre_status status = cli_survey_take_all(&survey);
    if (!status && all->verify) {
        status = vyre_status_annotate(run_oracle(all, &oracle, &expected), "in the oracle's run");
    }
    for (size_t i = 0; i < survey.rows.count && !status; i++) {
        cli_survey_row *row = &survey.rows.items[i];
        bool is_oracle = !strcmp(row->registration->id, "reference");
        if (!is_oracle &&
            vyre_registry_dispatches(vyre_registry_default(), row->registration->id)) {
            status = take(all, row, &expected);
        }
    }
    if (!status && all->verify) {
        status = add(all, "reference", oracle);
    }
    count_bytes(all, all->outputs.count ? &all->outputs : &expected);
    if (!status && !all->outputs.count) {
        all->outputs = expected;
        expected = (vyre_outputs){0};
    }
    vyre_outputs_free(&expected);
    cli_survey_deinit(&survey);
    return status;
}

void cli_everywhere_deinit(cli_everywhere *all) {
    for (size_t i = 0; i < all->places.count; i++) {
        cli_place *place = &all->places.items[i];
        vyre_free(place->name);
        vyre_status_free(place->failure);
        vyre_strbuf_free(&place->mismatch);
    }
    vyre_vec_free(&all->places);
    vyre_outputs_free(&all->outputs);
}

size_t cli_everywhere_count(const cli_everywhere *all, cli_place_fate fate) {
    size_t count = 0;
    for (size_t i = 0; i < all->places.count; i++) {
        count += all->places.items[i].fate == fate;
    }
    return count;
}

size_t cli_everywhere_differing(const cli_everywhere *all) {
    size_t count = 0;
    for (size_t i = 0; i < all->places.count && all->verify; i++) {
        const cli_place *place = &all->places.items[i];
        count += place->fate == CLI_PLACE_RAN && !place->matches;
    }
    return count;
}

static const char *verdict(const cli_everywhere *all, const cli_place *place) {
    return place->fate == CLI_PLACE_UNSUPPORTED ? "unsupported"
           : place->fate == CLI_PLACE_FAILED    ? "failed"
           : place->is_oracle                   ? "the oracle"
           : !all->verify                       ? "not compared"
           : place->matches                     ? "the oracle's"
                                                : "DIFFER";
}

static void add_time(cli_table *table, uint64_t ns) {
    vyre_strbuf text = {0};
    if (ns != VYRE_NO_TIME) {
        cli_describe_time(&text, ns);
    }
    cli_table_add(table, "%10s", vyre_strbuf_string(&text));
    table->cells.failed |= text.failed;
    vyre_strbuf_free(&text);
}

/* A thousand millions a second; nothing where there is nothing. */
static void add_rate(cli_table *table, double amount, uint64_t ns) {
    if (amount > 0) {
        cli_table_add(table, "%8.3f", amount / (double)(ns ? ns : 1));
    } else {
        cli_table_add(table, "%8s", "");
    }
}

void cli_everywhere_text(const cli_everywhere *all, vyre_strbuf *text) {
    enum { COLUMNS = 7, NUMBERS = 15 << 2 };
    cli_table table = {.columns = COLUMNS, .right = NUMBERS};
    const char *name = all->operation ? all->operation->id : vyre_program_name(all->program);
    const char *const heads[COLUMNS] = {"program", "device", "time", "on device",
                                        "GB/s",    "Gop/s",  "bytes"};
    for (size_t i = 0; i < COLUMNS; i++) {
        cli_table_add(&table, "%s", heads[i]);
    }
    for (size_t i = 0; i < all->places.count; i++) {
        const cli_place *place = &all->places.items[i];
        bool ran = place->fate == CLI_PLACE_RAN;
        if (place->fate == CLI_PLACE_MISSING) {
            continue;
        }
        cli_table_add(&table, "%-20s", name);
        cli_table_add(&table, "%-10s", place->name);
        add_time(&table, ran ? place->time_ns : VYRE_NO_TIME);
        add_time(&table, ran ? place->device_ns : VYRE_NO_TIME);
        add_rate(&table, ran ? (double)all->bytes : 0, place->time_ns);
        add_rate(&table, ran ? all->operations : 0, place->time_ns);
        cli_table_add(&table, "%s", verdict(all, place));
    }
    cli_table_write(text, &table, CLI_FORMAT_TEXT);
}

void cli_everywhere_json(const cli_everywhere *all, vyre_json *json) {
    static const char *const fates[] = {"ran", "missing", "unsupported", "failed"};
    vyre_json_array(json);
    for (size_t i = 0; i < all->places.count; i++) {
        const cli_place *place = &all->places.items[i];
        vyre_json_object(json);
        cli_json_string(json, "device", place->name);
        cli_json_string(json, "fate", fates[place->fate]);
        if (place->failure) {
            cli_json_string(json, "reason", vyre_status_text(place->failure));
        }
        if (place->fate == CLI_PLACE_RAN) {
            cli_json_number(json, "time_ns", place->time_ns);
            if (place->device_ns != VYRE_NO_TIME) {
                cli_json_number(json, "device_ns", place->device_ns);
            }
            if (all->verify) {
                vyre_json_key(json, "verified");
                vyre_json_bool(json, place->matches);
            }
            if (place->mismatch.size) {
                cli_json_string(json, "mismatch", vyre_strbuf_string(&place->mismatch));
            }
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}
