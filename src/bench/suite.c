/* Which operations are measured, one after the other and size by size. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/output.h"
#include "registry/select.h"
#include "values/sample.h"

/* What stands for the library where nobody asks for more: one of each kind of work. */
static const char *const suite[] = {
    "linalg.axpy",         "reduce.dot_f32",      "reduce.sum_f32",     "scan.inclusive_u32",
    "reduce.histogram_u8", "sort.keys_u32",       "linalg.matmul",      "linalg.conv3x3",
    "model.mandelbrot",    "model.black_scholes", "hash.fnv1a32_words", "hash.crc32_words",
    "match.dfa_words",     "graph.bfs",           "model.nbody_step",
};

static vyre_status choose_matching(cli_bench_plan *plan, const vyre_dialects *snapshot,
                                   const char *glob) {
    const vyre_operation *without = NULL;
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        const vyre_operation *operation = vyre_dialects_at(snapshot, i);
        if (!vyre_id_matches(glob, operation->id)) {
            continue;
        }
        if (!cli_sample_exists(operation)) {
            without = operation;
        } else if (!vyre_vec_push(&plan->operations, operation)) {
            return cli_bench_no_memory();
        }
    }
    if (plan->operations.count) {
        return VYRE_OK;
    }
    return without ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "give it a `sample` in its manifest (docs/dialects.md)",
                                      "nobody says how to make arguments for `%s`", without->id)
                   : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "`vyre ops` lists them; * and ? stand for letters",
                                      "no operation matches `%s`", glob);
}

vyre_status cli_bench_choose(cli_bench_plan *plan, const vyre_dialects *snapshot,
                             const char *glob) {
    if (glob) {
        return choose_matching(plan, snapshot, glob);
    }
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++) {
        const vyre_operation *operation = vyre_dialects_find(snapshot, suite[i]);
        if (operation && !vyre_vec_push(&plan->operations, operation)) {
            return cli_bench_no_memory();
        }
    }
    return plan->operations.count
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give a GLOB of others",
                                  "none of the operations of the standard suite is known");
}

vyre_status cli_bench_measure(cli_bench *bench, cli_bench_plan *plan) {
    size_t sizes = cli_sizes_count(&plan->sizes);
    uint64_t done = 0;
    vyre_status status = VYRE_OK;
    cli_progress_begin(&plan->progress, "bench",
                       bench->device_count + plan->operations.count * sizes);
    for (size_t i = 0; i < bench->device_count; i++) {
        cli_progress_step(&plan->progress, done++, bench->devices[i].name);
        if (bench->devices[i].device) {
            cli_bench_ceiling_measure(&bench->devices[i], bench->budget_ns);
        }
    }
    for (size_t i = 0; i < plan->operations.count && !status; i++) {
        for (size_t k = 0; k < sizes && !status; k++) {
            const vyre_operation *operation = plan->operations.items[i];
            uint64_t size = cli_sizes_at(&plan->sizes, k);
            vyre_strbuf now = {0};
            vyre_strbuf_printf(&now, "%s, ", operation->id);
            cli_bench_put_size(&now, size);
            cli_progress_step(&plan->progress, done++, vyre_strbuf_string(&now));
            vyre_strbuf_free(&now);
            status = cli_bench_point(bench, plan, operation, size);
        }
    }
    cli_progress_end(&plan->progress);
    return status;
}

void cli_bench_deinit(cli_bench *bench) {
    for (size_t i = 0; i < bench->rows.count; i++) {
        cli_bench_row *row = &bench->rows.items[i];
        vyre_free(row->operation);
        for (size_t k = 0; k < CLI_BENCH_DEVICES; k++) {
            vyre_free(row->cells[k].note);
            vyre_free(row->cells[k].ran_on);
        }
    }
    vyre_vec_free(&bench->rows);
    for (size_t i = 0; i < bench->device_count; i++) {
        cli_bench_device *device = &bench->devices[i];
        vyre_device_release(device->device);
        vyre_free(device->name);
        vyre_free(device->hardware);
        vyre_free(device->reason);
    }
    vyre_free(bench->version);
    vyre_free(bench->date);
    vyre_free(bench->machine);
    vyre_free(bench->table);
    *bench = (cli_bench){0};
}
