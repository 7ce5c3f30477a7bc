/* How long each stage of compiling takes as programs grow: all must grow as programs do. `ptx`,
 * `spirv` and `emit` lower the program again, as backends do.
 *
 *     bench_scaling [KIND [INSTRUCTIONS...]]
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <vyre/text.h>
#include <vyre/wire.h>

#include "backend/cpu/codegen/emit.h"
#include "backend/cpu/codegen/llvm.h"
#include "backend/cuda/codegen/ahead.h"
#include "backend/reference/machine.h"
#include "backend/spirv/ahead.h"
#include "base/alloc.h"
#include "base/status.h"
#include "bench/measure.h"
#include "bench/scaling_programs.h"
#include "ir/program.h"
#include "pass/fill.h"
#include "pass/pass.h"
#include "pass/split.h"

/* X(name) in the order in which they run. */
/* clang-format off */
#define STAGES(X) \
    X(parse) X(print) X(encode) X(decode) X(math) X(fold) \
    X(unroll) X(promote) X(licm) X(cse) X(dce) X(split) \
    X(fill) X(layout) X(ptx) X(spirv) X(emit) X(llvm)
/* clang-format on */

typedef enum stage {
#define STAGE(name) STAGE_##name,
    STAGES(STAGE)
#undef STAGE
        STAGE_COUNT
} stage;

static const char *const stage_names[] = {
#define NAME(name) #name,
    STAGES(NAME)
#undef NAME
};

enum { MOST_SIZES = 8 };

typedef struct point {
    uint32_t insts, lowered;
    size_t ir_bytes;
    double ms[STAGE_COUNT];
} point;

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static double started;

static void start(void) {
    started = measure_cpu_ns();
}

static void stop(point *p, stage at) {
    p->ms[at] += (measure_cpu_ns() - started) / 1e6;
}

static vyre_program *run_pass(point *p, vyre_program *program, vyre_pass_id id, stage at) {
    vyre_program *next;
    start();
    check(vyre_passes[id].run(program, &next));
    stop(p, at);
    if (!next) {
        return program;
    }
    vyre_program_release(program);
    return next;
}

/* The pipeline of pass.c, with a watch beside it. */
static vyre_program *lower(point *p, vyre_program *program) {
    static const struct {
        vyre_pass_id id;
        stage at;
    } pipeline[] = {
        {VYRE_PASS_MATH, STAGE_math},       {VYRE_PASS_FOLD, STAGE_fold},
        {VYRE_PASS_UNROLL, STAGE_unroll},   {VYRE_PASS_FOLD, STAGE_fold},
        {VYRE_PASS_PROMOTE, STAGE_promote}, {VYRE_PASS_LICM, STAGE_licm},
        {VYRE_PASS_CSE, STAGE_cse},         {VYRE_PASS_FOLD, STAGE_fold},
        {VYRE_PASS_DCE, STAGE_dce},
    };
    program = vyre_program_retain(program);
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline; i++) {
        program = run_pass(p, program, pipeline[i].id, pipeline[i].at);
    }
    return program;
}

static void measure_forms(point *p, vyre_program *program) {
    char *text;
    uint8_t *bytes;
    size_t size;
    vyre_program *decoded, *split;
    start();
    check(vyre_program_print(program, &text, &size));
    stop(p, STAGE_print);
    vyre_string_free(text);
    start();
    check(vyre_wire_encode(program, 0, &bytes, &size));
    stop(p, STAGE_encode);
    start();
    check(vyre_wire_decode(bytes, size, &decoded));
    stop(p, STAGE_decode);
    vyre_bytes_free(bytes);
    vyre_program_release(decoded);
    start();
    check(vyre_split_grid_barriers(program, &split));
    stop(p, STAGE_split);
    vyre_program_release(split);
}

static void measure_analyses(point *p, const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t *phases = vyre_alloc_array(ir->resource_count, sizeof *phases);
    if (!phases) {
        check(vyre_no_memory("to measure"));
    }
    start();
    check(vyre_fill_find(program, phases));
    stop(p, STAGE_fill);
    vyre_free(phases);
    start();
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        phase_layout layout;
        if (!layout_init(&layout, ir, i, 64)) {
            check(vyre_no_memory("to measure"));
        }
        layout_deinit(&layout);
    }
    stop(p, STAGE_layout);
}

static vyre_status run_alone(void (*part)(void *user, uint32_t index), void *user, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        part(user, i);
    }
    return VYRE_OK;
}

/* LLVM runs in this process, whose processor time counts. */
static const cpu_llvm_threads one_thread = {1, run_alone};

static void measure_backends(point *p, const vyre_program *program, const vyre_program *lowered) {
    const cpu_target target = {.lanes = 8, .has_half = true, .has_gather = true};
    const vyre_ir *ir = vyre_program_ir(lowered);
    cpu_phase_info *infos = vyre_alloc_zeroed(ir->phase_count, sizeof *infos);
    vyre_strbuf ptx = {0}, code = {0}, object = {0};
    if (!infos) {
        check(vyre_no_memory("to measure"));
    }
    start();
    check(cuda_ahead(program, NULL, &ptx));
    stop(p, STAGE_ptx);
    uint8_t *module;
    size_t module_size;
    start();
    check(vyre_emit(&spirv_emitter, program, NULL, &module, &module_size));
    vyre_bytes_free(module);
    stop(p, STAGE_spirv);
    start();
    vyre_status status = cpu_lower_and_emit(program, &target, &code, infos);
    stop(p, STAGE_emit);
    p->ir_bytes = code.size;
    start();
    status = status ? status : cpu_llvm_compile(&code, CPU_LLVM_OBJECT, 0, &one_thread, &object);
    stop(p, STAGE_llvm);
    if (status) {
        printf("    %s\n", vyre_status_text(status));
        vyre_status_free(status);
        p->ms[STAGE_llvm] = NAN;
    }
    vyre_free(infos);
    vyre_strbuf_free(&ptx);
    vyre_strbuf_free(&code);
    vyre_strbuf_free(&object);
}

static point measure(const scaling_kind *kind, uint32_t insts) {
    point p = {0};
    vyre_strbuf text = {0};
    vyre_module *module;
    kind->write(&text, insts);
    start();
    check(vyre_module_parse(kind->name, vyre_strbuf_string(&text), text.size, NULL, &module));
    stop(&p, STAGE_parse);
    vyre_program *program = vyre_module_program(module, 0);
    p.insts = vyre_program_ir(program)->inst_count;
    measure_forms(&p, program);
    vyre_program *lowered = lower(&p, program);
    p.lowered = vyre_program_ir(lowered)->inst_count;
    measure_analyses(&p, lowered);
    measure_backends(&p, program, lowered);
    vyre_program_release(lowered);
    vyre_module_free(module);
    vyre_strbuf_free(&text);
    return p;
}

static void print_point(const char *name, const point *p) {
    printf("%-10s %8u %8u %9zu", name, p->insts, p->lowered, p->ir_bytes / 1000);
    for (size_t i = 0; i < STAGE_COUNT; i++) {
        printf(" %8.1f", p->ms[i]);
    }
    printf("\n");
    fflush(stdout);
}

/* The power of the size that each stage grows with, between the last two sizes; a stage that takes
 * next to nothing has none. */
static void print_growth(const point *less, const point *more) {
    enum { LEAST_MS = 2 };
    double size = log((double)more->insts / less->insts);
    printf("%-10s %27s", "", "grows with the power");
    for (size_t i = 0; i < STAGE_COUNT; i++) {
        if (less->ms[i] < LEAST_MS) {
            printf(" %8s", "-");
        } else {
            printf(" %8.2f", log(more->ms[i] / less->ms[i]) / size);
        }
    }
    printf("\n");
}

int main(int argument_count, char **arguments) {
    uint32_t sizes[MOST_SIZES] = {1000, 10000, 100000}, count = 3;
    const char *only = argument_count > 1 ? arguments[1] : "";
    if (argument_count > 2) {
        count = 0;
        for (int i = 2; i < argument_count && count < MOST_SIZES; i++) {
            sizes[count++] = (uint32_t)strtoul(arguments[i], NULL, 10);
        }
    }
    cpu_llvm_info info;
    check(cpu_llvm_open(NULL, &info));
    printf("milliseconds of processor time\n%-10s %8s %8s %9s", "program", "insts", "lowered",
           "kB of IR");
    for (size_t i = 0; i < STAGE_COUNT; i++) {
        printf(" %8s", stage_names[i]);
    }
    printf("\n");
    for (size_t kind = 0; kind < SCALING_KINDS; kind++) {
        point points[MOST_SIZES];
        if (!strstr(scaling_kinds[kind].name, only)) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            points[i] = measure(&scaling_kinds[kind], sizes[i]);
            print_point(scaling_kinds[kind].name, &points[i]);
        }
        if (count > 1) {
            print_growth(&points[count - 2], &points[count - 1]);
        }
    }
    return 0;
}
