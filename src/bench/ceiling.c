/* What a device can reach, measured in the same run: copies and arithmetic by programs of our own.
 */
#include <string.h>

#include <vyre/pipeline.h>
#include <vyre/text.h>

#include "base/clock.h"
#include "base/status.h"
#include "bench/bench.h"

static const char copy_text[] =
    "program copy(x: buffer<u32>, y: out buffer<u32>[len(x)]) over y { y[gid] = x[gid]; }";

/* Eight chains, so that none waits for another. */
enum { CHAINS = 8, ITERATIONS = 512, OPERATIONS = CHAINS * ITERATIONS * 2 };
static const char peak_text[] =
    "program peak(x: buffer<f32>, y: out buffer<f32>[len(x)]) over y {"
    "    let m = x[gid];"
    "    let c = 1.0f - m;"
    "    var a0 = m; var a1 = m + 1.0f; var a2 = m + 2.0f; var a3 = m + 3.0f;"
    "    var a4 = m + 4.0f; var a5 = m + 5.0f; var a6 = m + 6.0f; var a7 = m + 7.0f;"
    "    for i in 0..512 {"
    "        a0 = fma(a0, m, c); a1 = fma(a1, m, c); a2 = fma(a2, m, c); a3 = fma(a3, m, c);"
    "        a4 = fma(a4, m, c); a5 = fma(a5, m, c); a6 = fma(a6, m, c); a7 = fma(a7, m, c);"
    "    }"
    "    y[gid] = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));"
    "}";

/* Words, by powers of 4, until runs take a good part of the budget. */
enum { FIRST_BITS = 10, LAST_BITS = 24, LAST_GPU_BITS = 26, PEAK_LAST_BITS = 22, RUNS = 8 };
enum { BUDGET_MOST_NS = 200000000 };

typedef struct trial {
    vyre_device *device;
    vyre_pipeline *pipeline;
    uint32_t *words; /* x, as it comes from the host */
    size_t bytes;
    vyre_outputs outputs;
    vyre_resident buffers[2];
    size_t buffer_count;
} trial;

static vyre_status trial_open(trial *t, vyre_device *device, const char *text, size_t words) {
    vyre_module *module;
    *t = (trial){.device = device, .bytes = words * 4};
    vyre_status status = vyre_module_parse(NULL, text, strlen(text), NULL, &module);
    status = status
                 ? status
                 : vyre_device_compile(device, vyre_module_program(module, 0), NULL, &t->pipeline);
    vyre_module_free(module);
    t->words = status ? NULL : vyre_alloc(t->bytes);
    if (!status && !t->words) {
        return vyre_no_memory("to measure a copy");
    }
    const float half = 0.5f;
    for (size_t i = 0; i < words && !status; i++) {
        memcpy(&t->words[i], &half, sizeof half);
    }
    return status;
}

static void trial_close(trial *t) {
    for (size_t i = 0; i < t->buffer_count; i++) {
        vyre_status_free(vyre_resident_free(t->device, t->buffers[i]));
    }
    vyre_outputs_free(&t->outputs);
    vyre_pipeline_release(t->pipeline);
    vyre_free(t->words);
}

static vyre_status make_resident(trial *t) {
    vyre_status status = VYRE_OK;
    while (t->buffer_count < 2 && !status) {
        status = vyre_resident_allocate(t->device, t->bytes, &t->buffers[t->buffer_count]);
        t->buffer_count += !status;
    }
    return status ? status : vyre_resident_upload(t->device, t->buffers[0], t->words, t->bytes);
}

/* The shortest of some runs, of two at least; the first does not count. */
static vyre_status time_best(trial *t, vyre_data data, uint64_t budget_ns, double *out_ns) {
    vyre_status status = data == VYRE_DATA_RESIDENT ? make_resident(t) : VYRE_OK;
    uint64_t began = vyre_now_ns();
    *out_ns = 0;
    for (int i = 0; i < RUNS && !status && (i < 2 || vyre_now_ns() - began < budget_ns); i++) {
        vyre_timing timing = {.device_ns = VYRE_NO_TIME};
        uint64_t start = vyre_now_ns();
        if (data == VYRE_DATA_RESIDENT) {
            const vyre_binding bindings[] = {vyre_bind(t->buffers[0]), vyre_bind(t->buffers[1])};
            status = vyre_pipeline_dispatch_resident(t->pipeline, bindings, 2, NULL, &timing);
        } else {
            const vyre_input input = {t->words, t->bytes};
            status = vyre_pipeline_dispatch_into(t->pipeline, &input, 1, NULL, &t->outputs);
        }
        double wall = (double)(vyre_now_ns() - start);
        double ns = timing.device_ns == VYRE_NO_TIME ? wall : (double)timing.device_ns;
        if (!status && i && (*out_ns == 0 || ns < *out_ns)) {
            *out_ns = ns;
        }
    }
    return status;
}

/* The rate at the largest size that the budget allows, of units a word; the best one where data is
 * not what counts. */
static double measure(vyre_device *device, const char *text, vyre_data data, uint32_t last_bits,
                      uint64_t budget_ns, double units, uint64_t *out_bytes) {
    double rate = 0;
    for (uint32_t bits = FIRST_BITS; bits <= last_bits; bits += 2) {
        trial t;
        double ns = 0;
        vyre_status status = trial_open(&t, device, text, (size_t)1 << bits);
        status = status ? status : time_best(&t, data, budget_ns / 4, &ns);
        bool is_good = !status && ns > 0;
        trial_close(&t);
        vyre_status_free(status);
        if (!is_good) {
            break;
        }
        double here = units * (double)((uint64_t)1 << bits) / ns * 1e9;
        rate = text == peak_text && rate > here ? rate : here;
        *out_bytes = (uint64_t)4 << bits;
        if (ns * RUNS > (double)budget_ns / 4) {
            break;
        }
    }
    return rate;
}

void bench_ceiling_measure(bench_device *device, uint64_t budget_ns) {
    vyre_profile profile;
    vyre_device_profile(device->device, &profile);
    uint32_t last = profile.flags & VYRE_PROFILE_IS_GPU ? LAST_GPU_BITS : LAST_BITS;
    bench_ceiling *ceiling = &device->ceiling;
    uint64_t peak_bytes;
    budget_ns = budget_ns < BUDGET_MOST_NS ? budget_ns : BUDGET_MOST_NS;
    for (vyre_data data = 0; data < BENCH_PLACES; data++) {
        ceiling->copy[data] =
            measure(device->device, copy_text, data, last, budget_ns, 8, &ceiling->copy_bytes);
    }
    ceiling->peak = measure(device->device, peak_text, VYRE_DATA_RESIDENT, PEAK_LAST_BITS,
                            budget_ns, OPERATIONS, &peak_bytes);
}
