/* Which operations are measured, one after the other and size by size. */

#include "base/status.h"
#include "bench/bench.h"
#include "registry/select.h"
#include "values/sample.h"

/* The standard suite: one operation of each kind of work. */
static const char *const suite[] = {
    "linalg.axpy",         "reduce.dot_f32",      "reduce.sum_f32",     "scan.inclusive_u32",
    "reduce.histogram_u8", "sort.keys_u32",       "linalg.matmul",      "linalg.conv3x3",
    "model.mandelbrot",    "model.black_scholes", "hash.fnv1a32_words", "hash.crc32_words",
    "match.dfa_words",     "graph.bfs",           "model.nbody_step",
};

static vyre_status choose_matching(bench_plan *plan, const vyre_dialects *snapshot,
                                   const char *glob) {
    const vyre_operation *without = NULL;
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        const vyre_operation *operation = vyre_dialects_at(snapshot, i);
        if (!vyre_id_matches(glob, operation->id)) {
            continue;
        }
        if (!values_sample_exists(operation)) {
            without = operation;
        } else if (!vyre_vec_push(&plan->operations, operation)) {
            return vyre_no_memory("to list operations");
        }
    }
    if (plan->operations.count) {
        return VYRE_OK;
    }
    return without ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "add a `sample` to its manifest (docs/dialects.md)",
                                      "`%s` has no sample to make arguments from", without->id)
                   : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "`vyre ops` lists the operations; * and ? are wildcards",
                                      "no operation matches `%s`", glob);
}

vyre_status bench_plan_choose(bench_plan *plan, const vyre_dialects *snapshot, const char *glob) {
    if (glob) {
        return choose_matching(plan, snapshot, glob);
    }
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++) {
        const vyre_operation *operation = vyre_dialects_find(snapshot, suite[i]);
        if (operation && !vyre_vec_push(&plan->operations, operation)) {
            return vyre_no_memory("to list operations");
        }
    }
    return plan->operations.count
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "give a GLOB that matches other "
                                  "operations",
                                  "no operation of the standard suite exists here");
}

uint64_t bench_plan_steps(const bench_plan *plan, const bench_run *run) {
    return run->device_count + plan->operations.count * values_sizes_count(&plan->sizes);
}

static void tell(const bench_plan *plan, uint64_t done, const char *name, uint64_t size) {
    vyre_strbuf now = {0};
    vyre_strbuf_puts(&now, name);
    if (size) {
        vyre_strbuf_puts(&now, ", ");
        bench_put_size(&now, size);
    }
    if (plan->step) {
        plan->step(plan->user, done, vyre_strbuf_string(&now));
    }
    vyre_strbuf_free(&now);
}

vyre_status bench_plan_measure(const bench_plan *plan, bench_run *run) {
    size_t sizes = values_sizes_count(&plan->sizes);
    uint64_t done = 0;
    for (size_t i = 0; i < run->device_count; i++) {
        tell(plan, done++, run->devices[i].name, 0);
        if (run->devices[i].device) {
            bench_ceiling_measure(&run->devices[i], run->budget_ns);
        }
    }
    for (size_t i = 0; i < plan->operations.count; i++) {
        const vyre_operation *operation = plan->operations.items[i];
        for (size_t k = 0; k < sizes; k++) {
            uint64_t size = values_sizes_at(&plan->sizes, k);
            tell(plan, done++, operation->id, size);
            VYRE_TRY(bench_point_measure(run, plan, operation, size));
        }
    }
    return VYRE_OK;
}
