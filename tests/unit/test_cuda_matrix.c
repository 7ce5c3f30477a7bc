/* Products of matrices on NVIDIA's devices: which instructions a device gets, and what they compute
 * by the machine of tests/ptx, against a plain product. */
#include "tests/fake_cuda/device.h"
#include "tests/unit/matrix_check.h"

#include "backend/cuda/codegen/emit.h"
#include "pass/pass.h"
#include "tests/ptx/device.h"

/* Of devices that the machine's takes turns with; with sanitizers it is slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KINDS = 1 };
#else
enum { KINDS = 5 };
#endif

/* Compiles the program for a device of that kind. */
static vyre_strbuf emitted(uint32_t sm, uint32_t isa) {
    vyre_program *program = contract_program(MATRIX_TEXT);
    cuda_phase_info info;
    vyre_strbuf text = {0};
    const cuda_target target = {.sm = sm, .isa = isa, .prefix = "phase"};
    expect_ok(cuda_emit(program, &target, &text, &info));
    vyre_program_release(program);
    return text;
}

static uint32_t count_of(const char *text, const char *part) {
    uint32_t count = 0;
    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

static void devices_get_what_they_have(void **state) {
    (void)state;
    static const struct {
        uint32_t sm, isa, whole, pieces, words;
        cuda_matrix form;
    } rows[] = {
        {70, 63, 0, 0, 32, CUDA_MATRIX_WORDS}, {72, 80, 0, 0, 32, CUDA_MATRIX_WORDS},
        {75, 64, 0, 0, 32, CUDA_MATRIX_WORDS}, {75, 65, 0, 4, 0, CUDA_MATRIX_PIECES},
        {80, 65, 0, 4, 0, CUDA_MATRIX_PIECES}, {80, 70, 1, 0, 0, CUDA_MATRIX_WHOLE},
        {90, 84, 1, 0, 0, CUDA_MATRIX_WHOLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf text = emitted(rows[i].sm, rows[i].isa);
        const char *ptx = vyre_strbuf_string(&text);
        assert_int_equal(count_of(ptx, "mma.sync.aligned.m16n8k32"), rows[i].whole);
        assert_int_equal(count_of(ptx, "mma.sync.aligned.m8n8k16"), rows[i].pieces);
        assert_int_equal(count_of(ptx, "dp4a.s32.s32"), rows[i].words);
        assert_int_equal(cuda_matrix_form(rows[i].sm, rows[i].isa), rows[i].form);
        vyre_strbuf_free(&text);
    }
}

/* The machine's device takes one kind of device after the other. */
static void every_form_gives_the_plain_product(void **state) {
    (void)state;
    static matrix_data m;
    vyre_device *device;
    vyre_program *program = contract_program(MATRIX_TEXT);
    expect_ok(ptx_device_open(&device));
    vyre_device_cache_limit(device, 0);
    for (uint64_t seed = 0; seed < 10; seed++) {
        matrix_fill(&m, seed);
        const vyre_input inputs[] = {{m.a, sizeof m.a}, {m.b, sizeof m.b}, {m.c, sizeof m.c}};
        vyre_outputs outputs;
        expect_ok(vyre_device_dispatch(device, program, inputs, 3, NULL, &outputs));
        assert_memory_equal(outputs.items[0].data, m.expected, sizeof m.expected);
        vyre_outputs_free(&outputs);
    }
    vyre_program_release(program);
    vyre_device_release(device);
}

/* The program of the benchmarks, whose shared memory lies so that 16 bytes are read at once. */
static void benchmark_gives_the_plain_product(void **state) {
    (void)state;
    vyre_device *device;
    expect_ok(ptx_device_open(&device));
    vyre_device_cache_limit(device, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        matrix_whole_check(device);
    }
    vyre_device_release(device);
    vyre_program *program = matrix_whole_program(), *lowered;
    cuda_phase_info info;
    vyre_strbuf text = {0};
    const cuda_target target = {.sm = 90, .isa = 80, .prefix = "phase"};
    expect_ok(vyre_lower_program(program, true, &lowered));
    expect_ok(cuda_emit(lowered, &target, &text, &info));
    const char *ptx = vyre_strbuf_string(&text);
    assert_int_equal(count_of(ptx, "mma.sync.aligned.m16n8k32"), 64);
    assert_int_equal(count_of(ptx, "ld.shared.v4.u32"), 16);
    assert_int_equal(count_of(ptx, "ld.shared.u32"), 0);
    assert_int_equal(count_of(ptx, "ld.global.nc.v4.u32"), 12);
    assert_int_equal(info.local_bytes, 0); /* sums are in registers */
    vyre_strbuf_free(&text);
    vyre_program_release(lowered);
    vyre_program_release(program);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_get_what_they_have),
        cmocka_unit_test(every_form_gives_the_plain_product),
        cmocka_unit_test(benchmark_gives_the_plain_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
