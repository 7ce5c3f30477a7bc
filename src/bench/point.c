/* One operation at one size: every device computes it once, all bytes are compared, then they take
 * iterations. */
#include <string.h>

#include <vyre/pipeline.h>
#include <vyre/reference.h>
#include <vyre/run.h>

#include "base/clock.h"
#include "base/status.h"
#include "bench/bench.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "route/route.h"
#include "runtime/device.h"
#include "runtime/resident_set.h"
#include "values/bind.h"
#include "values/result.h"
#include "values/sample.h"

enum {
    BURST_RUNS = 8,     /* of an iteration, as many as fit into */
    BURST_NS = 1000000, /* a millisecond, and one in any case */
    ORACLE_SIZE = 4096, /* up to here, and at the first size, the oracle is asked */
};
#define ORACLE_NS UINT64_C(5000000000) /* how long it may think */

/* A device that takes part. */
typedef struct player {
    bench_cell *cell; /* of the row that is being measured */
    vyre_device *device;
    vyre_pipeline *pipeline;
    const vyre_router_choice *routing; /* of auto: which device was chosen */
    vyre_outputs outputs;
    vyre_resident_set stay;        /* resident data */
    double *host, *on_device;      /* times */
    uint32_t runs, told;           /* told: those of which the device said how long it took */
    uint64_t spent_ns, elapsed_ns; /* in runs; with all that lies between them */
    bool is_playing;
} player;

typedef struct point {
    bench_run *bench;
    const bench_plan *plan;
    const vyre_operation *operation;
    const vyre_program *program; /* its own, whatever variants devices run */
    uint64_t size;
    values_binding binding;
    vyre_plan shape;
    bool is_planned;
    uint64_t bytes, class_bytes; /* read and written; of all arguments, each once */
    vyre_outputs oracle;         /* its answer, where it gave one */
    bool by_oracle;
    vyre_data data;
    player players[BENCH_DEVICES];
} point;

/* A note is for people: one that is lost for want of memory costs nothing else. */
static void note(bench_cell *cell, bench_state state, const char *format, ...) VYRE_PRINTF(3, 4);

static void note(bench_cell *cell, bench_state state, const char *format, ...) {
    vyre_strbuf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    vyre_free(cell->note);
    cell->note = text.data;
    cell->state = state;
}

static void leave(player *p, bench_state state, const char *why) {
    note(p->cell, state, "%s", why);
    p->is_playing = false;
}

/* What a device refuses is no fault of it, what it breaks off is. */
static void leave_with(player *p, vyre_status status) {
    vyre_status_code code = vyre_status_code_of(status);
    bool is_refused = code == VYRE_STATUS_UNSUPPORTED || code == VYRE_STATUS_LIMIT ||
                      code == VYRE_STATUS_OUT_OF_MEMORY || code == VYRE_STATUS_TIMEOUT ||
                      code == VYRE_STATUS_UNAVAILABLE;
    leave(p, is_refused ? BENCH_SKIPPED : BENCH_FAILED, vyre_status_text(status));
    vyre_status_free(status);
}

static const vyre_ir *ir_of(const point *at) {
    return vyre_program_ir(at->program);
}

static vyre_dispatch_config config_of(const point *at) {
    /* The first run also touches memory for the first time. */
    return (vyre_dispatch_config){.timeout_ns = at->bench->budget_ns * 4 + 1000000000,
                                  .flags = VYRE_DISPATCH_NO_ASSERTS};
}

/* Sizes of all arguments. */
static vyre_status measure_bytes(point *at) {
    const vyre_dispatch_config config = {0};
    VYRE_TRY(vyre_plan_init(&at->shape, at->program, at->binding.inputs, at->binding.input_count,
                            &config));
    const vyre_ir *ir = ir_of(at);
    at->is_planned = true;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        uint32_t resource = ir->args[i].resource;
        uint64_t width = vyre_arg_bytes(ir, &ir->args[i]);
        bool is_buffer = resource != VYRE_NONE;
        uint64_t bytes = width * (is_buffer ? at->shape.arguments[i] : 1);
        bool is_updated = is_buffer && ir->resources[resource].access == VYRE_ACCESS_INOUT;
        at->class_bytes += bytes;
        at->bytes += is_updated ? 2 * bytes : bytes;
    }
    return VYRE_OK;
}

/* Bytes. */

static bool same(const vyre_outputs *a, const vyre_outputs *b) {
    vyre_strbuf where = {0};
    bool is_same = vyre_route_same_outputs(a, b, &where);
    vyre_strbuf_free(&where);
    return is_same;
}

static void ask_oracle(point *at) {
    vyre_dispatch_config config = {.timeout_ns = ORACLE_NS};
    if (at->by_oracle) {
        return;
    }
    vyre_status status = vyre_reference_run(at->program, at->binding.inputs,
                                            at->binding.input_count, &config, NULL, &at->oracle);
    at->by_oracle = !status;
    vyre_status_free(status);
}

static void hold_against_oracle(const point *at, player *p) {
    vyre_strbuf difference = {0};
    if (!values_result_compare(at->program, &p->outputs, &at->oracle, "the reference backend",
                               &difference)) {
        leave(p, BENCH_MISMATCH, vyre_strbuf_string(&difference));
    }
    vyre_strbuf_free(&difference);
}

/* All players have outputs. Those whose bytes are wrong leave; all leave if they
 * differ and the oracle gave no answer. */
static void compare(point *at) {
    player *first = NULL;
    bool agree = true;
    for (size_t i = 0; i < at->bench->device_count; i++) {
        player *p = &at->players[i];
        if (p->is_playing) {
            agree = agree && (!first || same(&first->outputs, &p->outputs));
            first = first ? first : p;
        }
    }
    if (!first || !vyre_route_is_comparable(at->program)) {
        return;
    }
    if (!agree || at->size <= ORACLE_SIZE || at->size == values_sizes_at(&at->plan->sizes, 0)) {
        ask_oracle(at);
    }
    for (size_t i = 0; i < at->bench->device_count; i++) {
        player *p = &at->players[i];
        if (p->is_playing && at->by_oracle) {
            hold_against_oracle(at, p);
        } else if (p->is_playing && !agree) {
            note(p->cell, BENCH_MISMATCH,
                 "the devices give different bytes, and the reference backend took too long to say "
                 "which are right");
            p->is_playing = false;
        }
    }
}

/* Runs. */

/* One whose time counts: with the router in front of it where that is what is measured. */
static vyre_status run_host(point *at, player *p, const vyre_dispatch_config *config) {
    if (!p->routing) {
        return vyre_pipeline_dispatch_into(p->pipeline, at->binding.inputs, at->binding.input_count,
                                           config, &p->outputs);
    }
    const vyre_router_request request = {.op = at->operation->id, .bytes = at->class_bytes};
    const vyre_router_choice *routing;
    vyre_status status = vyre_router_choose(&request, &routing);
    const vyre_program *program;
    status = status ? status : vyre_operation_choose(at->operation, routing->device, &program);
    status = status ? status
                    : vyre_device_dispatch_into(routing->device, program, at->binding.inputs,
                                                at->binding.input_count, config, &p->outputs);
    vyre_router_choice_release(routing);
    return status;
}

static vyre_status run_once(point *at, player *p, bool counts) {
    /* A time limit costs time, and a device that got here is known to be fast enough. */
    const vyre_dispatch_config config =
        counts ? (vyre_dispatch_config){.flags = VYRE_DISPATCH_NO_ASSERTS} : config_of(at);
    vyre_timing timing = {.device_ns = VYRE_NO_TIME};
    vyre_status status = VYRE_OK;
    uint64_t before = vyre_now_ns();
    if (at->data == VYRE_DATA_RESIDENT) {
        status = vyre_resident_set_renew(&p->stay, at->binding.inputs);
    }
    uint64_t start = vyre_now_ns();
    if (!status && at->data == VYRE_DATA_RESIDENT) {
        status = vyre_pipeline_dispatch_resident(p->pipeline, p->stay.bindings, p->stay.count,
                                                 &config, &timing);
    } else if (!status) {
        status = run_host(at, p, &config);
    }
    uint64_t end = vyre_now_ns();
    if (counts && !status) {
        p->host[p->runs++] = (double)(end - start);
        if (timing.device_ns != VYRE_NO_TIME) {
            p->on_device[p->told++] = (double)timing.device_ns;
        }
        p->spent_ns += end - start;
        p->elapsed_ns += end - before;
    }
    return status;
}

static bool is_done(const point *at, const player *p) {
    return p->runs >= at->bench->runs || p->spent_ns >= at->bench->budget_ns ||
           (p->runs >= BENCH_LEAST_RUNS && p->elapsed_ns >= at->bench->budget_ns);
}

static void play_iteration(point *at, player *p) {
    uint64_t start = vyre_now_ns();
    for (int i = 0; i < BURST_RUNS && p->is_playing && !is_done(at, p); i++) {
        vyre_status status = run_once(at, p, true);
        if (status) {
            leave_with(p, status);
        }
        if (vyre_now_ns() - start > BURST_NS) {
            return;
        }
    }
}

/* Each device starts as often as the others, so that a disturbance of the machine hits all alike.
 */
static void take_iterations(point *at) {
    size_t count = at->bench->device_count;
    bool more = true;
    for (size_t iteration = 0; more; iteration++) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            player *p = &at->players[(iteration + i) % count];
            if (p->is_playing && !is_done(at, p)) {
                play_iteration(at, p);
                more = more || (p->is_playing && !is_done(at, p));
            }
        }
    }
}

/* Players. */

/* Why a cell need not be tried: at a smaller size it took too long already. */
static bool was_over_budget(const point *at, const player *p) {
    size_t column = (size_t)(p - at->players);
    for (size_t i = at->bench->rows.count; i-- > 0;) {
        const bench_row *row = &at->bench->rows.items[i];
        if (strcmp(row->operation, at->operation->id) != 0) {
            return false;
        }
        if (row->size < at->size && row->data == at->data) {
            return row->cells[column].is_over_budget;
        }
    }
    return false;
}

static vyre_status choose_route(point *at, player *p) {
    const vyre_router_request request = {
        .op = at->operation->id, .bytes = at->class_bytes, .data = at->data};
    VYRE_TRY(vyre_router_choose(&request, &p->routing));
    p->device = vyre_device_retain(p->routing->device);
    p->cell->ran_on = vyre_copy_string(vyre_device_name(p->routing->device));
    if (*p->routing->note) {
        note(p->cell, BENCH_MEASURED, "%s", p->routing->note);
    }
    return VYRE_OK;
}

/* Runs it through vyre_run_operation, as users of auto do. */
static vyre_status run_auto(point *at, player *p) {
    const vyre_ir *ir = ir_of(at);
    vyre_argument arguments[VYRE_LIMIT_ARGUMENTS];
    const vyre_dispatch_config config = config_of(at);
    uint32_t input = 0, output = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        vyre_argument *argument = &arguments[i];
        *argument = (vyre_argument){.name = ir->strings + ir->args[i].name};
        if (!vyre_ir_is_out(ir, i)) {
            argument->in = at->binding.inputs[input].data;
            argument->size = at->binding.inputs[input++].size;
        }
        if (vyre_ir_is_output(ir, i)) {
            argument->out = p->outputs.items[output].data;
            argument->size = p->outputs.items[output++].size;
        }
    }
    return vyre_run_operation("auto", at->operation->id, arguments, ir->arg_count, &config);
}

/* Runs once, for the bytes. */
static vyre_status warm_up(point *at, player *p) {
    const vyre_dispatch_config config = config_of(at);
    /* Every later run writes them again. */
    const vyre_program *program;
    VYRE_TRY(vyre_outputs_make(&at->shape, &p->outputs));
    VYRE_TRY(vyre_operation_choose(at->operation, p->device, &program));
    VYRE_TRY(vyre_device_compile(p->device, program, &config, &p->pipeline));
    if (at->data == VYRE_DATA_HOST) {
        return p->routing ? run_auto(at, p) : run_host(at, p, &config);
    }
    VYRE_TRY(vyre_resident_set_init(&p->stay, p->device, &at->shape, at->binding.inputs));
    VYRE_TRY(run_once(at, p, false));
    return vyre_resident_set_read(&p->stay, &p->outputs);
}

static void join(point *at, size_t column, bench_row *row) {
    player *p = &at->players[column];
    const bench_device *device = &at->bench->devices[column];
    *p = (player){.cell = &row->cells[column], .is_playing = true};
    if (device->reason) {
        leave(p, BENCH_SKIPPED, "the device is unavailable");
        return;
    }
    if (was_over_budget(at, p)) {
        leave(p, BENCH_SKIPPED, "a smaller size was already over the budget");
        p->cell->is_over_budget = true;
        return;
    }
    p->host = vyre_alloc_array(at->bench->runs, sizeof *p->host);
    p->on_device = vyre_alloc_array(at->bench->runs, sizeof *p->on_device);
    vyre_status status = p->host && p->on_device ? VYRE_OK : vyre_no_memory("to measure");
    if (!status && device->is_auto) {
        status = choose_route(at, p);
    } else if (!status) {
        p->device = vyre_device_retain(device->device);
    }
    uint64_t start = vyre_now_ns();
    status = status ? status : warm_up(at, p);
    if (vyre_status_code_of(status) == VYRE_STATUS_TIMEOUT) {
        note(p->cell, BENCH_SKIPPED,
             "over the budget of %.4g s: the first run was stopped after %.3g s",
             (double)at->bench->budget_ns * 1e-9, (double)(vyre_now_ns() - start) * 1e-9);
        p->cell->is_over_budget = true;
        p->is_playing = false;
        vyre_status_free(status);
    } else if (status) {
        leave_with(p, status);
    }
}

/* What the runs came to. The bytes of the last one are compared as well. */
static void score(point *at, player *p) {
    vyre_status status = p->is_playing && at->data == VYRE_DATA_RESIDENT
                             ? vyre_resident_set_read(&p->stay, &p->outputs)
                             : VYRE_OK;
    if (status) {
        leave_with(p, status);
    }
    if (!p->is_playing) {
        return;
    }
    if (p->runs < BENCH_LEAST_RUNS) {
        vyre_strbuf text = {0};
        bench_put_time(&text, p->host[p->runs - 1]);
        note(p->cell, BENCH_SKIPPED,
             "over the budget of %.4g s: one run takes %s, so %d do not fit",
             (double)at->bench->budget_ns * 1e-9, vyre_strbuf_string(&text), BENCH_LEAST_RUNS);
        vyre_strbuf_free(&text);
        p->cell->is_over_budget = true;
        p->is_playing = false;
        return;
    }
    bool all_told = p->told == p->runs;
    p->cell->host = bench_times_of(p->host, p->runs);
    if (all_told) {
        p->cell->device = bench_times_of(p->on_device, p->told);
    }
}

static void depart(player *p) {
    vyre_status_free(vyre_resident_set_deinit(&p->stay));
    vyre_outputs_free(&p->outputs);
    vyre_pipeline_release(p->pipeline);
    vyre_router_choice_release(p->routing);
    vyre_device_release(p->device);
    vyre_free(p->host);
    vyre_free(p->on_device);
    *p = (player){0};
}

static void measure_row(point *at, bench_row *row) {
    size_t count = at->bench->device_count;
    at->data = row->data;
    for (size_t i = 0; i < count; i++) {
        join(at, i, row);
    }
    compare(at);
    row->by_oracle = at->by_oracle;
    take_iterations(at);
    for (size_t i = 0; i < count; i++) {
        score(at, &at->players[i]);
    }
    compare(at);
    for (size_t i = 0; i < count; i++) {
        depart(&at->players[i]);
    }
}

static vyre_status add_row(point *at, vyre_data data, bench_row **out_row) {
    bench_row row = {.operation = vyre_copy_string(at->operation->id),
                     .size = at->size,
                     .data = data,
                     .bytes = at->bytes};
    (void)values_sample_work(at->operation, at->size, &row.work);
    if (!row.operation || !vyre_vec_push(&at->bench->rows, row)) {
        vyre_free(row.operation);
        return vyre_no_memory("to measure");
    }
    *out_row = &at->bench->rows.items[at->bench->rows.count - 1];
    return VYRE_OK;
}

/* Arguments of that size cannot be made: so say all cells. */
static void skip_row(const point *at, bench_row *row, vyre_status why) {
    vyre_status_code code = vyre_status_code_of(why);
    bool is_limit = code == VYRE_STATUS_LIMIT || code == VYRE_STATUS_OUT_OF_MEMORY;
    for (size_t i = 0; i < at->bench->device_count; i++) {
        note(&row->cells[i], is_limit ? BENCH_SKIPPED : BENCH_FAILED, "%s", vyre_status_text(why));
    }
}

vyre_status bench_point_measure(bench_run *bench, const bench_plan *plan,
                                const vyre_operation *operation, uint64_t size) {
    point *at = vyre_alloc_zeroed(1, sizeof *at);
    if (!at) {
        return vyre_no_memory("to measure");
    }
    *at = (point){.bench = bench, .plan = plan, .operation = operation, .size = size};
    vyre_status status = VYRE_OK;
    vyre_status bound = vyre_operation_program(operation, NULL, &at->program);
    bound = bound ? bound : values_sample_bind(&at->binding, operation, at->program, size);
    bound = bound ? bound : measure_bytes(at);
    for (vyre_data data = 0; data < BENCH_PLACES && !status; data++) {
        bench_row *row;
        if (plan->places.wanted[data]) {
            status = add_row(at, data, &row);
            if (!status && bound) {
                skip_row(at, row, bound);
            } else if (!status) {
                measure_row(at, row);
            }
        }
    }
    vyre_status_free(bound);
    vyre_outputs_free(&at->oracle);
    if (at->is_planned) {
        vyre_plan_deinit(&at->shape);
    }
    values_binding_deinit(&at->binding);
    vyre_free(at);
    return status;
}
