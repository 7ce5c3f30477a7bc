#include "bench/everywhere.h"

#include <vyre/pipeline.h>
#include <vyre/reference.h>
#include <vyre/run.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/page.h"
#include "base/status.h"
#include "base/units.h"
#include "registry/registry.h"
#include "route/route.h"
#include "values/result.h"

enum { RUNS = 5 };
#define ORACLE_STEPS (UINT64_C(1) << 29) /* about a second; --verify waits for longer ones */
#define LONG_ENOUGH_NS UINT64_C(500000000)

/* The device's time without what its driver does for the first run. */
static vyre_status measure_again(const bench_everywhere *all, vyre_pipeline *pipeline,
                                 bench_place *place) {
    vyre_outputs outputs;
    vyre_timing timing;
    VYRE_TRY(vyre_pipeline_dispatch_timed(pipeline, all->inputs, all->input_count, all->config,
                                          &outputs, &timing));
    place->device_ns = timing.device_ns;
    vyre_outputs_free(&outputs);
    return VYRE_OK;
}

/* Runs it as often as it makes sense. */
static vyre_status measure(const bench_everywhere *all, vyre_pipeline *pipeline, bench_place *place,
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
    if (!status && count && timing.device_ns != VYRE_NO_TIME) {
        status = measure_again(all, pipeline, place);
    }
    return status;
}

static vyre_status run_on(const bench_everywhere *all, vyre_device *device, bench_place *place,
                          vyre_outputs *outputs) {
    const vyre_program *program = all->program;
    vyre_pipeline *pipeline;
    if (all->operation) {
        VYRE_TRY(vyre_operation_choose(all->operation, device, &program));
    }
    VYRE_TRY(vyre_device_compile(device, program, all->config, &pipeline));
    vyre_status status = measure(all, pipeline, place, outputs);
    vyre_pipeline_release(pipeline);
    return status;
}

static vyre_status run_oracle(const bench_everywhere *all, const vyre_reference_options *options,
                              bench_place *place, vyre_outputs *outputs) {
    uint64_t start = vyre_now_ns();
    vyre_status status = vyre_reference_run(all->program, all->inputs, all->input_count,
                                            all->config, options, outputs);
    place->time_ns = vyre_now_ns() - start;
    place->device_ns = VYRE_NO_TIME;
    return status;
}

/* Keeps a place, whatever became of it. */
static vyre_status keep(bench_everywhere *all, const char *name, bench_place place) {
    place.name = vyre_copy_string(name);
    if (!place.name || !vyre_vec_push(&all->places, place)) {
        vyre_free(place.name);
        vyre_status_free(place.failure);
        vyre_strbuf_free(&place.mismatch);
        return vyre_no_memory("for a list of devices");
    }
    return VYRE_OK;
}

/* Decides what devices are compared with, once one of them has run. */
static void decide_basis(bench_everywhere *all) {
    if (all->basis != BENCH_BASIS_UNDECIDED) {
        return;
    }
    if (vyre_program_determinism(all->program) == VYRE_SCHEDULE_DEPENDENT) {
        all->basis = BENCH_BASIS_NONE;
        return;
    }
    const vyre_reference_options options = {.max_steps = ORACLE_STEPS};
    vyre_status status = run_oracle(all, &options, &all->oracle, &all->expected);
    all->basis = status ? BENCH_BASIS_FIRST : BENCH_BASIS_ORACLE;
    vyre_status_free(status); /* devices that fail for the same reason tell */
}

/* Compares a result with what it should be; the first one of all has nothing to be compared with
 * but the oracle. */
static void compare(bench_everywhere *all, const vyre_outputs *outputs, bench_place *place) {
    decide_basis(all);
    const vyre_outputs *expected =
        all->basis == BENCH_BASIS_ORACLE ? &all->expected : &all->outputs;
    place->is_compared = all->basis != BENCH_BASIS_NONE && expected->count;
    if (place->is_compared) {
        place->matches = values_result_compare(
            all->program, outputs, expected,
            all->basis == BENCH_BASIS_ORACLE ? "the reference backend" : "the first device",
            &place->mismatch);
    }
}

vyre_status bench_everywhere_add(bench_everywhere *all, const char *name, vyre_device *device,
                                 vyre_status failure) {
    bench_place place = {.failure = failure, .device_ns = VYRE_NO_TIME};
    vyre_outputs outputs = {0};
    if (!device) {
        place.fate = BENCH_PLACE_MISSING;
        return keep(all, name, place);
    }
    place.failure = run_on(all, device, &place, &outputs);
    if (place.failure) {
        place.fate = vyre_status_code_of(place.failure) == VYRE_STATUS_UNSUPPORTED
                         ? BENCH_PLACE_UNSUPPORTED
                         : BENCH_PLACE_FAILED;
    } else {
        compare(all, &outputs, &place);
    }
    if (!place.failure && !all->outputs.count) {
        all->outputs = outputs;
        outputs = (vyre_outputs){0};
    }
    vyre_outputs_free(&outputs);
    return keep(all, name, place);
}

static void count_bytes(bench_everywhere *all) {
    all->bytes = 0;
    for (size_t i = 0; i < all->input_count; i++) {
        all->bytes += all->inputs[i].size;
    }
    for (size_t i = 0; i < all->outputs.count; i++) {
        all->bytes += all->outputs.items[i].size;
    }
}

vyre_status bench_everywhere_begin(bench_everywhere *all) {
    all->oracle = (bench_place){.is_oracle = true, .is_compared = true, .matches = true};
    if (!all->verify) {
        return VYRE_OK;
    }
    all->basis = BENCH_BASIS_ORACLE;
    return vyre_status_annotate(run_oracle(all, NULL, &all->oracle, &all->expected),
                                "on the reference backend");
}

vyre_status bench_everywhere_end(bench_everywhere *all) {
    if (!all->outputs.count) {
        all->outputs = all->expected;
        all->expected = (vyre_outputs){0};
    }
    count_bytes(all);
    return all->verify ? keep(all, "reference", all->oracle) : VYRE_OK;
}

void bench_everywhere_deinit(bench_everywhere *all) {
    for (size_t i = 0; i < all->places.count; i++) {
        bench_place *place = &all->places.items[i];
        vyre_free(place->name);
        vyre_status_free(place->failure);
        vyre_strbuf_free(&place->mismatch);
    }
    vyre_vec_free(&all->places);
    vyre_outputs_free(&all->outputs);
    vyre_outputs_free(&all->expected);
}

size_t bench_everywhere_count(const bench_everywhere *all, bench_place_fate fate) {
    size_t count = 0;
    for (size_t i = 0; i < all->places.count; i++) {
        count += all->places.items[i].fate == fate;
    }
    return count;
}

size_t bench_everywhere_differing(const bench_everywhere *all) {
    size_t count = 0;
    for (size_t i = 0; i < all->places.count; i++) {
        const bench_place *place = &all->places.items[i];
        count += place->fate == BENCH_PLACE_RAN && place->is_compared && !place->matches;
    }
    return count;
}

static const char *verdict(const bench_everywhere *all, const bench_place *place) {
    return place->fate == BENCH_PLACE_UNSUPPORTED ? "unsupported"
           : place->fate == BENCH_PLACE_FAILED    ? "failed"
           : place->is_oracle                     ? "the oracle"
           : !place->is_compared                  ? "not compared"
           : !place->matches                      ? "DIFFER"
           : all->basis == BENCH_BASIS_ORACLE     ? "the oracle's"
                                                  : "the first device's";
}

static void add_time(vyre_table *table, uint64_t ns) {
    vyre_strbuf text = {0};
    if (ns != VYRE_NO_TIME) {
        vyre_units_time(&text, ns);
    }
    vyre_table_add(table, "%10s", vyre_strbuf_string(&text));
    table->cells.failed |= text.failed;
    vyre_strbuf_free(&text);
}

/* A thousand millions a second; nothing where there is nothing. */
static void add_rate(vyre_table *table, double amount, uint64_t ns) {
    if (amount > 0) {
        vyre_table_add(table, "%8.3f", amount / (double)(ns ? ns : 1));
    } else {
        vyre_table_add(table, "%8s", "");
    }
}

void bench_everywhere_text(const bench_everywhere *all, vyre_strbuf *text) {
    enum { NUMBERS = 15 << 2 };
    vyre_table table = {.right = NUMBERS};
    VYRE_TABLE_CELLS(&table, "program", "device", "time", "on device", "GB/s", "Gop/s", "bytes");
    for (size_t i = 0; i < all->places.count; i++) {
        const bench_place *place = &all->places.items[i];
        bool ran = place->fate == BENCH_PLACE_RAN;
        if (place->fate == BENCH_PLACE_MISSING) {
            continue;
        }
        vyre_table_add(&table, "%-20s", all->name);
        vyre_table_add(&table, "%-10s", place->name);
        add_time(&table, ran ? place->time_ns : VYRE_NO_TIME);
        add_time(&table, ran ? place->device_ns : VYRE_NO_TIME);
        add_rate(&table, ran ? (double)all->bytes : 0, place->time_ns);
        add_rate(&table, ran ? all->operations : 0, place->time_ns);
        vyre_table_add(&table, "%s", verdict(all, place));
    }
    vyre_table_write(text, &table, VYRE_FORMAT_TEXT);
}

void bench_everywhere_json(const bench_everywhere *all, vyre_json *json) {
    static const char *const fates[] = {"ran", "missing", "unsupported", "failed"};
    vyre_json_array(json);
    for (size_t i = 0; i < all->places.count; i++) {
        const bench_place *place = &all->places.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "device", place->name);
        vyre_json_add_string(json, "fate", fates[place->fate]);
        if (place->failure) {
            vyre_json_add_string(json, "reason", vyre_status_text(place->failure));
        }
        if (place->fate == BENCH_PLACE_RAN) {
            vyre_json_add_u64(json, "time_ns", place->time_ns);
            if (place->device_ns != VYRE_NO_TIME) {
                vyre_json_add_u64(json, "device_ns", place->device_ns);
            }
            if (place->is_compared) {
                bool is_oracle = all->basis == BENCH_BASIS_ORACLE;
                vyre_json_add_bool(json, "verified", place->matches);
                vyre_json_add_string(json, "compared_with", is_oracle ? "reference" : "first");
            }
            if (place->mismatch.size) {
                vyre_json_add_string(json, "mismatch", vyre_strbuf_string(&place->mismatch));
            }
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}
