/* Kernels of at most 4 kB that are made to be slow to compile.
 *
 *     hostile_compile [COUNT [FIRST]]            40 from number 0 on, if not given
 *     hostile_compile --timed [COUNT [FIRST]]    1000; takes about half an hour
 *
 * What each kernel hands to LLVM and to the cuda driver is counted, for vectors of several widths,
 * and must be within a budget. A kernel may be refused, with a reason and a fix. What it computes
 * must be the oracle's bytes. Seconds do not matter, so that it can run on a busy machine.
 *
 * With --timed each kernel is compiled in a process of its own, too: no more than 10 s and 1 GB,
 * LLVM's process included, and with a timeout of 1 s a run must end within 1.5 s. */
#define _GNU_SOURCE /* wait4 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/pipeline.h>
#include <vyre/registry.h>
#include <vyre/text.h>

#include "backend/cpu/codegen/emit.h"
#include "backend/cpu/codegen/llvm_effort.h"
#include "backend/cpu/runtime/compiler.h"
#include "backend/cuda/codegen/ahead.h"
#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "ir/program.h"
#include "pass/split.h"
#include "tests/hostile/kernels.h"

enum { SKIPPED = 77, ELEMENTS = 64, MOST_INPUTS = 3 };

static uint64_t number;        /* of the kernel at hand */
static const char *kind = "?"; /* the same */
static uint32_t faults, refusals, compared;

static void complain(const char *what, const char *why) {
    printf("FAILED: kernel %llu, %s: %s: %s\n", (unsigned long long)number, kind, what, why);
    faults++;
}

/* A status with a fix refuses the kernel, and is no fault. Takes it over. */
static bool is_accepted(const char *what, vyre_status status) {
    if (status) {
        bool is_refusal = vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED &&
                          strstr(vyre_status_text(status), "Fix: ");
        refusals += is_refusal;
        if (!is_refusal) {
            complain(what, vyre_status_text(status));
        }
        vyre_status_free(status);
        return false;
    }
    return true;
}

/* NULL for a kernel whose functions inline to more than a program may have. */
static vyre_module *parse(const vyre_strbuf *text) {
    static const char too_long[] = "V0701";
    vyre_module *module;
    vyre_status status =
        vyre_module_parse("kernel", vyre_strbuf_string(text), text->size, NULL, &module);
    if (status) {
        bool is_refusal = strstr(vyre_status_text(status), too_long);
        refusals += is_refusal;
        if (!is_refusal) {
            complain("no program", vyre_status_text(status));
        }
        vyre_status_free(status);
        return NULL;
    }
    return module;
}

/* What is handed over */

/* Lines of the longest block, and of the text. */
static void count_lines(const char *text, size_t *out_longest, size_t *out_count) {
    size_t block = 0;
    *out_longest = *out_count = 0;
    for (const char *line = text; *line; line++, ++*out_count) {
        const char *end = strchr(line, '\n');
        block = end > line && end[-1] == ':' ? 0 : block + 1;
        *out_longest = block > *out_longest ? block : *out_longest;
        line = end;
    }
}

static void count_code(const vyre_strbuf *ir) {
    enum { MOST_FULL = 6000000, MOST_BLOCK = 12300, MOST = 48000000 };
    char why[128];
    size_t longest, lines;
    count_lines(vyre_strbuf_string(ir), &longest, &lines);
    bool is_full = cpu_llvm_effort_of(vyre_strbuf_string(ir)) == CPU_LLVM_FULL;
    if (ir->size > (is_full ? MOST_FULL : MOST) || (is_full && longest > MOST_BLOCK)) {
        snprintf(why, sizeof why, "%zu bytes, %zu lines, %zu of a block%s", ir->size, lines,
                 longest, is_full ? ", at full effort" : "");
        complain("LLVM gets too much", why);
    }
}

static void count_cpu(const vyre_program *program, uint32_t lanes) {
    const cpu_target target = {.lanes = lanes,
                               .has_half = lanes > 4,
                               .has_gather = lanes > 4,
                               .has_quick_gather = lanes > 8,
                               .has_scatter = lanes > 8};
    vyre_strbuf ir = {0};
    cpu_phase_info *infos = vyre_alloc_zeroed(vyre_program_ir(program)->phase_count, sizeof *infos);
    if (!infos) {
        complain("cpu", "no memory");
    } else if (is_accepted("cpu", cpu_lower_and_emit(program, &target, &ir, infos))) {
        count_code(&ir);
    }
    vyre_free(infos);
    vyre_strbuf_free(&ir);
}

/* Grid barriers become phases first, on cpu. */
static void count_llvm(const vyre_program *program) {
    vyre_program *split;
    if (!is_accepted("split", vyre_split_grid_barriers(program, &split))) {
        return;
    }
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2) {
        count_cpu(split ? split : program, lanes);
    }
    vyre_program_release(split);
}

/* In the form for GPUs, as a device compiles it. */
static void count_cuda(const vyre_program *program) {
    enum { MOST = 32000000 };
    vyre_strbuf ptx = {0};
    program = vyre_program_suited(program, "cuda", true);
    if (is_accepted("cuda", cuda_ahead(program, NULL, &ptx)) && ptx.size > MOST) {
        char why[64];
        snprintf(why, sizeof why, "the driver gets too much: %zu bytes", ptx.size);
        complain("cuda", why);
    }
    vyre_strbuf_free(&ptx);
}

/* What is computed */

static void fill(vyre_type type, uint8_t *data) {
    size_t bytes = vyre_type_bytes(type);
    for (size_t i = 0; i < ELEMENTS; i++) {
        double real = (double)(i * 7 % 13) / 4;
        float single = (float)real;
        uint64_t whole = i * 7 % 13;
        if (type == VYRE_TYPE_F64) {
            memcpy(data + i * bytes, &real, bytes);
        } else if (type == VYRE_TYPE_F32) {
            memcpy(data + i * bytes, &single, bytes);
        } else { /* of a short float any bits will do */
            memcpy(data + i * bytes, &whole, bytes);
        }
    }
}

static size_t make_inputs(const vyre_program *program, uint8_t data[MOST_INPUTS][ELEMENTS * 8],
                          vyre_input inputs[MOST_INPUTS]) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t count = 0;
    for (uint32_t i = 0; i < ir->resource_count && count < MOST_INPUTS; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind == VYRE_RESOURCE_BUFFER) {
            vyre_type type = vyre_resource_type(row);
            fill(type, data[count]);
            inputs[count] = (vyre_input){data[count], (size_t)ELEMENTS * vyre_type_bytes(type)};
            count++;
        }
    }
    return count;
}

static void compare(const vyre_outputs *expected, const vyre_outputs *found) {
    bool is_same = expected->count == found->count;
    for (size_t i = 0; is_same && i < expected->count; i++) {
        is_same = expected->items[i].size == found->items[i].size &&
                  !memcmp(expected->items[i].data, found->items[i].data, found->items[i].size);
    }
    if (!is_same) {
        complain("cpu", "not the oracle's bytes");
    }
    compared++;
}

static vyre_status run(vyre_device *device, const vyre_program *program, bool is_racy,
                       uint64_t timeout_ns, vyre_outputs *out_outputs) {
    uint8_t data[MOST_INPUTS][ELEMENTS * 8];
    vyre_input inputs[MOST_INPUTS];
    vyre_dispatch_config config = {.timeout_ns = timeout_ns};
    if (is_racy) {
        config.grid[0] = 1;
    }
    size_t count = make_inputs(program, data, inputs);
    return vyre_device_dispatch(device, program, inputs, count, &config, out_outputs);
}

static void check_bytes(const hostile_kernel *kernel, const vyre_program *program,
                        vyre_device *oracle, vyre_device *cpu) {
    vyre_outputs expected, found;
    vyre_status status = run(oracle, program, kernel->is_racy, 0, &expected);
    if (vyre_status_code_of(status) == VYRE_STATUS_LIMIT) { /* it takes too many steps */
        vyre_status_free(status);
        return;
    }
    if (!is_accepted("oracle", status)) {
        return;
    }
    if (is_accepted("cpu", run(cpu, program, kernel->is_racy, 0, &found))) {
        compare(&expected, &found);
        vyre_outputs_free(&found);
    }
    vyre_outputs_free(&expected);
}

/* Time and memory */

/* What a child and LLVM's process behind it took. */
typedef struct usage {
    int ended;
    double seconds;
    long megabytes;
} usage;

static usage collect(pid_t child) {
    usage all = {0};
    struct rusage used;
    int ended;
    for (pid_t found; (found = wait4(-1, &ended, 0, &used)) > 0;) {
        all.ended = found == child ? ended : all.ended;
        all.seconds += (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
                       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
        all.megabytes += used.ru_maxrss >> 10;
    }
    return all;
}

/* Runs in a child, and ends it: 0 for a program or a refusal. */
static void compile_alone(const hostile_kernel *kernel) {
    vyre_device *cpu;
    vyre_pipeline *pipeline;
    vyre_module *module = parse(&kernel->text);
    faults = 0;
    if (module && is_accepted("cpu", vyre_acquire("cpu", &cpu)) &&
        is_accepted("cpu",
                    vyre_device_compile(cpu, vyre_module_program(module, 0), NULL, &pipeline))) {
        vyre_pipeline_release(pipeline);
    }
    fflush(stdout);
    _exit(faults != 0);
}

static void run_in_time(const hostile_kernel *kernel) {
    const uint64_t second_ns = 1000000000;
    vyre_device *cpu;
    vyre_outputs outputs;
    vyre_module *module = parse(&kernel->text);
    faults = 0;
    if (module && is_accepted("cpu", vyre_acquire("cpu", &cpu))) {
        uint64_t before = vyre_now_ns();
        vyre_status status = run(cpu, vyre_module_program(module, 0), false, second_ns, &outputs);
        uint64_t took = vyre_now_ns() - before;
        if (vyre_status_code_of(status) != VYRE_STATUS_TIMEOUT) {
            (void)is_accepted("cpu", status);
        }
        if (took > second_ns * 3 / 2) {
            char why[64];
            snprintf(why, sizeof why, "ended after %.2f s", (double)took / 1e9);
            complain("a timeout of 1 s", why);
        }
    }
    fflush(stdout);
    _exit(faults != 0);
}

static usage run_child(void (*work)(const hostile_kernel *kernel), const hostile_kernel *kernel) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("hostile_compile");
        exit(2);
    }
    if (!child) {
        work(kernel);
    }
    usage used = collect(child);
    if (WIFSIGNALED(used.ended)) {
        complain("the process", "ended by a signal");
    }
    faults += WIFEXITED(used.ended) && WEXITSTATUS(used.ended);
    return used;
}

static usage worst;

static void measure(const hostile_kernel *kernel) {
    enum { MOST_SECONDS = 10, MOST_MEGABYTES = 1000 };
    usage used = run_child(compile_alone, kernel);
    if (used.seconds > MOST_SECONDS || used.megabytes > MOST_MEGABYTES) {
        char why[64];
        snprintf(why, sizeof why, "took %.1f s and %ld MB", used.seconds, used.megabytes);
        complain("cpu", why);
    }
    if (used.seconds > worst.seconds) {
        printf("kernel %llu, %s: %.1f s\n", (unsigned long long)number, kind, used.seconds);
        worst.seconds = used.seconds;
    }
    worst.megabytes = used.megabytes > worst.megabytes ? used.megabytes : worst.megabytes;
    run_child(run_in_time, kernel);
}

/* The devices are NULL where time is measured: then LLVM's process is not to be one of theirs. */
static void try_kernel(vyre_device *oracle, vyre_device *cpu) {
    hostile_kernel kernel = hostile_kernel_make(number);
    kind = kernel.kind;
    vyre_module *module = parse(&kernel.text);
    if (module) {
        vyre_program *program = vyre_module_program(module, 0);
        count_llvm(program);
        count_cuda(program);
        if (!kernel.is_long && oracle) {
            check_bytes(&kernel, program, oracle, cpu);
        }
        vyre_module_free(module);
    }
    if (!oracle) {
        measure(&kernel);
    }
    vyre_strbuf_free(&kernel.text);
}

static uint64_t number_or(const char *word, uint64_t otherwise) {
    char *end = NULL;
    uint64_t value = word ? strtoull(word, &end, 10) : otherwise;
    if (end && (*end || end == word)) {
        fprintf(stderr, "usage: hostile_compile [--timed] [COUNT [FIRST]]\n");
        exit(2);
    }
    return value;
}

static bool has_llvm(void) {
    cpu_llvm_info info;
    vyre_status status = cpu_compiler_info(&info);
    if (status) {
        printf("skipped: %s\n", vyre_status_text(status));
        vyre_status_free(status);
        return false;
    }
    return true;
}

static void try_all(uint64_t count, uint64_t first, vyre_device *oracle, vyre_device *cpu) {
    for (number = first; number < first + count; number++) {
        try_kernel(oracle, cpu);
    }
}

int main(int words, char **word) {
    bool is_timed = words > 1 && !strcmp(word[1], "--timed");
    char **numbers = word + 1 + is_timed;
    uint64_t count = number_or(words > 1 + is_timed ? numbers[0] : NULL, is_timed ? 1000 : 40);
    uint64_t first = number_or(words > 2 + is_timed ? numbers[1] : NULL, 0);
    vyre_device *oracle = NULL, *cpu = NULL;
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    if (is_timed) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        try_all(count, first, NULL, NULL);
        printf("at most %.1f s and %ld MB\n", worst.seconds, worst.megabytes);
    } else if (!has_llvm()) {
        return SKIPPED;
    }
    if (vyre_reference_open_oracle(&oracle) || vyre_acquire("cpu", &cpu)) {
        printf("FAILED: no device\n");
        return 1;
    }
    try_all(count, first, oracle, cpu);
    printf("%llu kernels, %u refusals, %u compared with the oracle, %u faults\n",
           (unsigned long long)count, refusals, compared, faults);
    vyre_device_release(cpu);
    vyre_device_release(oracle);
    return faults != 0;
}
