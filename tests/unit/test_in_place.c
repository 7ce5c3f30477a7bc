/* Runs on the caller's memory: the bytes are the reference's, on every kind of backend, and the cpu
 * backend copies and allocates nothing. */
#include <fenv.h>
#include <pthread.h>

#include <vyre/dispatch.h>
#include <vyre/reference.h>
#include <vyre/run.h>

#include "backend/reference/backend.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/failing_allocator.h"

#define UNSPECIFIED "the contents of the outputs are now unspecified"

static bool has_cpu;

/* Memory of a run: one block for each argument. */
typedef struct memory {
    uint32_t count;
    vyre_output arguments[8];
} memory;

static void fill(vyre_output *to, uint32_t seed) {
    for (size_t i = 0; i < to->size; i++) {
        to->data[i] = (uint8_t)((i * 7 + seed * 13) % 5 + (i % 4 == 3 ? 0 : 1));
    }
}

/* Buffers of `length` elements, filled with bytes that are fine for any type but bool. */
static memory make_memory(const vyre_program *program, size_t length) {
    const vyre_ir *ir = vyre_program_ir(program);
    memory made = {.count = ir->arg_count};
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        size_t bytes = vyre_arg_bytes(ir, &ir->args[i]);
        size_t size = ir->args[i].resource == VYRE_NONE ? bytes : length * bytes;
        made.arguments[i] = (vyre_output){size ? malloc(size) : NULL, size};
        fill(&made.arguments[i], i);
    }
    return made;
}

static void free_memory(memory *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        free(m->arguments[i].data);
    }
}

static vyre_outputs expect_of(const vyre_program *program, const memory *m) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_input inputs[8];
    size_t count = 0;
    vyre_outputs outputs;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!vyre_ir_is_out(ir, i)) {
            inputs[count++] = (vyre_input){m->arguments[i].data, m->arguments[i].size};
        }
    }
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &outputs));
    return outputs;
}

/* Outputs are those of the reference, everything else is as it was. */
static void expect_arguments(const vyre_program *program, const memory *m,
                             const vyre_outputs *expected) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t output = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const vyre_output *found = &m->arguments[i];
        vyre_output before = {malloc(found->size + 1), found->size};
        fill(&before, i);
        const vyre_output *wanted = vyre_ir_is_output(ir, i) ? &expected->items[output++] : &before;
        assert_int_equal(found->size, wanted->size);
        if (found->size) {
            assert_memory_equal(found->data, wanted->data, found->size);
        }
        free(before.data);
    }
}

static void check_once(vyre_device *device, const vyre_program *program, size_t length) {
    memory m = make_memory(program, length);
    vyre_outputs expected = expect_of(program, &m);
    expect_ok(vyre_device_dispatch_in_place(device, program, m.arguments, m.count, NULL));
    expect_arguments(program, &m, &expected);
    vyre_outputs_free(&expected);
    free_memory(&m);
}

static const char *const texts[] = {
    ADD,
    TWICE,
    /* what is not stored is 0 in `out`, and the input in `inout` */
    "program some(x: buffer<u32>, y: out buffer<u32>[len(x)], z: inout buffer<u32>) over x { "
    "if gid % 3 == 0 { y[gid] = x[gid]; z[gid] = x[gid] * 2; } }",
    "program wide(a: f64, x: buffer<f64>, y: inout buffer<f64>) over y { "
    "y[gid] = a * x[gid] + y[gid]; }",
    "struct P { a: f64, b: u8, c: u16 } program rows(k: u16, x: inout buffer<P>) over x { "
    "x[gid].a = x[gid].a + 1.0; x[gid].c += k; }",
    "program three(x: buffer<u32>, a: out buffer<u32>[len(x)], b: inout buffer<u32>, "
    "c: out buffer<u8>[len(x)]) over x { a[gid] = x[gid] + b[gid]; b[gid] = x[gid]; "
    "c[gid] = u8(x[gid] % 256); }",
    "program swaps(x: inout buffer<u32>, y: inout buffer<u32>) { "
    "repeat k in 3 { phase over x { x[gid] += y[gid] + k; } swap(x, y); } }",
    "program steps(x: inout buffer<u32>, y: out buffer<u32>[len(x)]) { "
    "scratch t: u32[len(x)]; phase over x { t[gid] = x[len(x) - 1 - gid]; } "
    "swap(x, t); phase over x { y[gid] = x[gid] + t[gid]; } }",
    "program barriers(x: inout buffer<u32>) over x workgroup 64 { "
    "let v = x[len(x) - 1 - gid]; grid_barrier; x[gid] = v + 1; }",
    "program sized(n: u32, x: inout buffer<u32>) over x workgroup 4 { "
    "shared s: u32[n % 3 + 1]; s[lid % (n % 3 + 1)] = 7; x[gid] += 2; }",
    "program checked(x: inout buffer<u32>) over x { assert(x[gid] != 0xffffffff); x[gid] += 1; }",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void check_device(vyre_device *device) {
    static const size_t lengths[] = {0, 1, 5, 64, 1000};
    for (size_t i = 0; i < TEXTS; i++) {
        vyre_program *program = contract_program(texts[i]);
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            check_once(device, program, lengths[k]);
        }
        vyre_program_release(program);
    }
}

static vyre_device *named(const char *name) {
    vyre_device *device;
    expect_ok(vyre_acquire(name, &device));
    return device;
}

static void the_bytes_are_the_references(void **state) {
    (void)state;
    for (int i = 0; i < 1 + has_cpu; i++) {
        vyre_device *device = named(i ? "cpu" : "reference");
        check_device(device);
        vyre_device_release(device);
    }
}

/* On the machine that runs PTX, where the test is given one. */
static void the_bytes_of_cuda_are_the_references(void **state) {
    (void)state;
    if (!getenv("VYRE_CUDA")) {
        skip();
    }
    vyre_device *device = named("cuda");
    check_device(device);
    vyre_device_release(device);
}

/* Backends with and without the slot, with and without phases and residents of their own: a table
 * of ABI 1.2 has none, so it is the default that runs. */
static void every_backend_gives_the_references_bytes(void **state) {
    (void)state;
    const uint64_t limits = MOCK_BIT(max_workgroup_size) | MOCK_BIT(max_workgroups_per_dimension) |
                            MOCK_BIT(max_invocations_per_workgroup);
    static const uint32_t sets[] = {0, VYRE_FEATURE_PHASES, CONTRACT_WHOLE,
                                    CONTRACT_WHOLE | VYRE_FEATURE_STEPS | VYRE_FEATURE_RECORDS};
    for (unsigned mask = 0; mask < 64; mask++) {
        uint64_t slots = limits | MOCK_BIT(features) | (mask & 1 ? MOCK_COMPILE : 0) |
                         (mask & 2 ? MOCK_BIT(dispatch_in_place) : 0) |
                         (mask & 4 ? MOCK_BIT(pipeline_dispatch_in_place) : 0) |
                         (mask & 8 ? MOCK_RESIDENT : 0);
        mock *m = mock_create(&(mock_spec){.slots = slots,
                                           .features = sets[mask >> 4],
                                           .single_phase = !(mask >> 4),
                                           .max_workgroup_size = {64, 64, 64},
                                           .max_workgroups = {1000, 1000, 1000},
                                           .max_invocations = 64});
        vyre_device *device = contract_device(m);
        check_device(device);
        vyre_device_release(device);
        mock_free(m);
    }
}

static void a_table_without_the_slot_gets_the_default(void **state) {
    (void)state;
    for (int compiles = 0; compiles < 2; compiles++) {
        mock *m = mock_create(&(mock_spec){.slots = compiles ? MOCK_COMPILE : 0});
        mock_table(m)->abi = VYRE_ABI_MAJOR << 16 | 2;
        mock_table(m)->struct_size = offsetof(vyre_backend_slots, dispatch_in_place);
        vyre_device *device = contract_device(m);
        vyre_program *program = contract_program(ADD);
        check_once(device, program, 9);
        memory bytes = make_memory(program, 9);
        uint8_t before[9 * 4];
        memcpy(before, bytes.arguments[2].data, sizeof before);
        mock_fail(m, compiles ? MOCK_pipeline_dispatch : MOCK_dispatch, 1, VYRE_FAIL_BACKEND,
                  "planted");
        expect_fail(vyre_device_dispatch_in_place(device, program, bytes.arguments, 3, NULL),
                    VYRE_STATUS_BACKEND, UNSPECIFIED);
        assert_memory_equal(bytes.arguments[2].data, before, sizeof before);
        free_memory(&bytes);
        vyre_program_release(program);
        vyre_device_release(device);
        mock_free(m);
    }
}

/* Memory that is not aligned to its elements works through copies. */
static void any_alignment_will_do(void **state) {
    (void)state;
    for (int i = 0; i < 1 + has_cpu; i++) {
        vyre_device *device = named(i ? "cpu" : "reference");
        vyre_program *program = contract_program(ADD);
        memory m = make_memory(program, 33), odd = m;
        uint8_t room[2][33 * 4 + 1];
        for (uint32_t k = 0; k < 2; k++) {
            odd.arguments[k + 1].data = memcpy(room[k] + 1, m.arguments[k + 1].data, 33 * 4);
        }
        vyre_outputs expected = expect_of(program, &m);
        expect_ok(vyre_device_dispatch_in_place(device, program, odd.arguments, 3, NULL));
        expect_arguments(program, &odd, &expected);
        vyre_outputs_free(&expected);
        free_memory(&m);
        vyre_program_release(program);
        vyre_device_release(device);
    }
}

static void overlaps_are_refused(void **state) {
    (void)state;
    vyre_device *device = named("reference");
    vyre_program *program = contract_program(ADD);
    vyre_program *sum = contract_program(SUM);
    uint32_t k = 2, room[24] = {1, 2, 3};
    uint32_t before[24];
    memcpy(before, room, sizeof room);
    uint8_t *bytes = (uint8_t *)room;
    const struct {
        vyre_output arguments[3];
        const char *both;
    } rows[] = {
        {{{(uint8_t *)&k, 4}, {bytes, 32}, {bytes, 32}},
         "`y`, whose memory overlaps that of "
         "argument `x`"},
        {{{(uint8_t *)&k, 4}, {bytes, 32}, {bytes + 28, 32}}, "argument `x`"},
        {{{(uint8_t *)&k, 4}, {bytes + 28, 32}, {bytes, 32}}, "argument `x`"},
        {{{bytes + 4, 4}, {bytes + 32, 32}, {bytes, 32}}, "argument `k`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_fail(vyre_device_dispatch_in_place(device, program, rows[i].arguments, 3, NULL),
                    VYRE_STATUS_INVALID_ARGUMENT, rows[i].both);
        assert_memory_equal(room, before, sizeof room);
    }
    /* Inputs may be the same memory, and neighbours touch. */
    const vyre_output inputs[] = {{bytes, 32}, {bytes, 32}, {bytes + 32, 32}};
    expect_ok(vyre_device_dispatch_in_place(device, sum, inputs, 3, NULL));
    assert_int_equal(room[8], 2);
    vyre_program_release(sum);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void wrong_memory_is_refused(void **state) {
    (void)state;
    vyre_device *device = named("reference");
    vyre_program *program = contract_program(TWICE);
    uint32_t x[4] = {1, 2, 3, 4}, y[4] = {9, 9, 9, 9};
    uint8_t *from = (uint8_t *)x, *to = (uint8_t *)y;
    const struct {
        vyre_output arguments[2];
        size_t count;
        const char *what;
    } rows[] = {
        {{{from, 16}}, 1, "has 2 arguments, found 1"},
        {{{from, 16}, {to, 12}}, 2, "`y`: the output has 16 bytes, and the memory 12"},
        {{{from, 16}, {NULL, 16}}, 2, "`y`: no memory for 16 bytes"},
        {{{NULL, 16}, {to, 16}}, 2, "`x`: no data"},
        {{{from, 15}, {to, 16}}, 2, "`x`: the size in bytes is not a multiple"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_fail(
            vyre_device_dispatch_in_place(device, program, rows[i].arguments, rows[i].count, NULL),
            VYRE_STATUS_INVALID_ARGUMENT, rows[i].what);
        assert_int_equal(y[0], 9);
    }
    vyre_program_release(program);
    vyre_device_release(device);
}

/* Without memory a run says so; the first time it compiles. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        vyre_program *program = contract_program(texts[i]);
        bool done = false;
        for (size_t n = 0; !done; n++) {
            vyre_device *device;
            memory m = make_memory(program, 20);
            expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
            failing_allocator_start(n);
            done = failing_allocator_judge(
                n, vyre_device_dispatch_in_place(device, program, m.arguments, m.count, NULL));
            vyre_device_release(device);
            failing_allocator_end();
            free_memory(&m);
        }
        vyre_program_release(program);
    }
}

/* R17 */
static void a_timeout_R17_says_that_outputs_are_unspecified(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        "program slow(x: inout buffer<u32>) over x { var i = 0u; while x[0] != 7 || i < "
        "4000000000 { i += 1; x[gid] = i % 5; } }");
    for (int i = 0; i < 1 + has_cpu; i++) {
        vyre_device *device = named(i ? "cpu" : "reference");
        uint32_t x[64] = {0};
        const vyre_output argument = {(uint8_t *)x, sizeof x};
        const vyre_dispatch_config config = {.timeout_ns = 300000000};
        vyre_pipeline *pipeline;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        expect_fail(vyre_pipeline_dispatch_in_place(pipeline, &argument, 1, &config),
                    VYRE_STATUS_TIMEOUT, UNSPECIFIED);
        vyre_pipeline_release(pipeline);
        vyre_device_release(device);
    }
    vyre_program_release(program);
}

/* An assert that fails leaves the memory as it was: such programs run through copies. */
static void a_failed_assert_changes_nothing(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        "program checked(x: inout buffer<u32>) over x { assert(x[gid] != 3); x[gid] += 1; }");
    for (int i = 0; i < 1 + has_cpu; i++) {
        vyre_device *device = named(i ? "cpu" : "reference");
        uint32_t x[] = {1, 2, 3, 4};
        const vyre_output argument = {(uint8_t *)x, sizeof x};
        vyre_status status = vyre_device_dispatch_in_place(device, program, &argument, 1, NULL);
        assert_non_null(status);
        assert_null(strstr(vyre_status_text(status), UNSPECIFIED));
        vyre_status_free(status);
        assert_int_equal(x[0], 1);
        x[2] = 5;
        expect_ok(vyre_device_dispatch_in_place(device, program, &argument, 1, NULL));
        assert_int_equal(x[0], 2);
        vyre_device_release(device);
    }
    vyre_program_release(program);
}

/* Nothing of the size of an array is allocated, and the memory is the one that the code sees. */
static void cpu_allocates_no_array(void **state) {
    (void)state;
    enum { LENGTH = 1 << 20 };
    if (!has_cpu) {
        skip();
    }
    vyre_device *device = named("cpu");
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    memory m = make_memory(program, LENGTH);
    vyre_outputs expected = expect_of(program, &m);
    failing_allocator_start(0);
    expect_ok(vyre_pipeline_dispatch_in_place(pipeline, m.arguments, m.count, NULL));
    failing_allocator_stop();
    assert_int_equal(failing_allocator_largest(), 0);
    expect_arguments(program, &m, &expected);
    vyre_outputs_free(&expected);
    free_memory(&m);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* vyre_run works in place where memory is the same, or only one is given; else through copies. */
static void vyre_run_allocates_no_array(void **state) {
    (void)state;
    enum { LENGTH = 1 << 20, BYTES = LENGTH * 4 };
    if (!has_cpu) {
        skip();
    }
    uint32_t k = 3, *x = malloc(BYTES), *y = malloc(BYTES), *z = malloc(BYTES);
    for (uint32_t i = 0; i < LENGTH; i++) {
        x[i] = i;
        y[i] = 1;
    }
    vyre_argument arguments[] = {
        {"k", &k, NULL, sizeof k}, {"x", x, NULL, BYTES}, {"y", y, y, BYTES}};
    for (int round = 0; round < 3; round++) {
        failing_allocator_start(0);
        expect_ok(vyre_run("cpu", ADD, arguments, 3, NULL));
        failing_allocator_end();
    }
    assert_true(failing_allocator_largest() < BYTES);
    assert_int_equal(y[10], 91);
    arguments[2].out = z;
    expect_ok(vyre_run("cpu", ADD, arguments, 3, NULL));
    assert_int_equal(y[10], 91);
    assert_int_equal(z[10], 121);
    arguments[2].in = x; /* the same memory as an input, which must not change underway */
    arguments[2].out = x;
    expect_ok(vyre_run("cpu", ADD, arguments, 3, NULL));
    assert_int_equal(x[10], 40);
    free(x);
    free(y);
    free(z);
}

/* The caller's floating-point environment is as it was, exceptions included. */
static void exceptions_of_a_run_stay_inside(void **state) {
    (void)state;
    vyre_device *device = named(has_cpu ? "cpu" : "reference");
    vyre_program *program =
        contract_program("program f(x: inout buffer<f32>) over x { x[gid] = 1.0 / x[gid]; }");
    static const int raised[] = {0, FE_INEXACT};
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (int i = 0; i < 2; i++) {
        float x[16] = {0, 3, 1e-40f};
        const vyre_output argument = {(uint8_t *)x, sizeof x};
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(raised[i]);
        expect_ok(vyre_pipeline_dispatch_in_place(pipeline, &argument, 1, NULL));
        assert_int_equal(fetestexcept(FE_ALL_EXCEPT), raised[i]);
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

enum { THREADS = 32, ROUNDS = 50, SLICE = 300 };

typedef struct worker {
    vyre_pipeline *pipeline;
    uint32_t *x, *y;
    bool failed;
} worker;

static void *run_worker(void *user) {
    worker *w = user;
    for (uint32_t i = 1; i <= ROUNDS && !w->failed; i++) {
        uint32_t k = 2;
        const vyre_output arguments[] = {
            {(uint8_t *)&k, 4}, {(uint8_t *)w->x, SLICE * 4}, {(uint8_t *)w->y, SLICE * 4}};
        vyre_status status = vyre_pipeline_dispatch_in_place(w->pipeline, arguments, 3, NULL);
        w->failed = status || w->y[SLICE - 1] != 2 * i * w->x[SLICE - 1];
        vyre_status_free(status);
    }
    return NULL;
}

static void threads_run_on_memory_of_their_own(void **state) {
    (void)state;
    vyre_device *device = named(has_cpu ? "cpu" : "reference");
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    static uint32_t x[THREADS * SLICE], y[THREADS * SLICE];
    worker workers[THREADS];
    pthread_t threads[THREADS];
    contract_numbers(x, THREADS * SLICE);
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){pipeline, x + i * SLICE, y + i * SLICE, false};
        assert_int_equal(pthread_create(&threads[i], NULL, run_worker, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(workers[i].failed);
    }
    expect_numbers(y, THREADS * SLICE, 2 * ROUNDS);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

int main(void) {
    contract_without_cache();
    has_cpu = cpu_check_available();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_references),
        cmocka_unit_test(the_bytes_of_cuda_are_the_references),
        cmocka_unit_test(every_backend_gives_the_references_bytes),
        cmocka_unit_test(a_table_without_the_slot_gets_the_default),
        cmocka_unit_test(any_alignment_will_do),
        cmocka_unit_test(overlaps_are_refused),
        cmocka_unit_test(wrong_memory_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_timeout_R17_says_that_outputs_are_unspecified),
        cmocka_unit_test(a_failed_assert_changes_nothing),
        cmocka_unit_test(cpu_allocates_no_array),
        cmocka_unit_test(vyre_run_allocates_no_array),
        cmocka_unit_test(exceptions_of_a_run_stay_inside),
        cmocka_unit_test(threads_run_on_memory_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
