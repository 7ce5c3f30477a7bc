/* How much stack a thread needs to call the library: everything that parses, compiles and runs is
 * done on a stack whose every byte is known before. What it overwrites is what it needs. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "tests/unit/cpu_check.h"

#include <pthread.h>
#include <sys/mman.h>

#include <vyre/limits.h>
#include <vyre/reference.h>

#include "backend/cpu/runtime/backend.h"
#include "base/file.h"
#include "base/status.h"
#include "runtime/device.h"

enum { MEASURED_BYTES = 4 << 20, PATTERN = 0xa5 };

typedef struct work {
    const char *text;
    bool runs; /* on the reference, too */
} work;

static vyre_status run_text(const work *w) {
    vyre_module *module;
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_backend made = {.host = vyre_host_services()};
    VYRE_TRY(vyre_module_parse("stack.vyre", w->text, strlen(w->text), NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    vyre_status status = cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made);
    status = status ? status : vyre_device_open(&made, "cpu", 0, &device);
    status = status ? status : vyre_device_compile(device, program, NULL, &pipeline);
    if (!status && w->runs) {
        uint32_t x[64] = {0};
        const vyre_input input = {x, sizeof x};
        vyre_outputs outputs = {0}, expected = {0};
        status = vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs);
        status = status ? status : vyre_reference_run(program, &input, 1, NULL, NULL, &expected);
        vyre_outputs_free(&outputs);
        vyre_outputs_free(&expected);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_program_release(program);
    return status;
}

static void *run(void *argument) {
    return run_text(argument);
}

/* Bytes that the work has touched, from the upper end. */
static size_t measure(const work *w, const char *name) {
    pthread_t thread;
    pthread_attr_t attributes;
    void *status = NULL;
    uint8_t *stack =
        mmap(NULL, MEASURED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    memset(stack, PATTERN, MEASURED_BYTES);
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, MEASURED_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, (void *)(uintptr_t)w), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    pthread_attr_destroy(&attributes);
    expect_ok((vyre_status)status);
    size_t unused = 0;
    while (unused < MEASURED_BYTES && stack[unused] == PATTERN) {
        unused++;
    }
    munmap(stack, MEASURED_BYTES);
    printf("%s: %zu bytes of stack\n", name, MEASURED_BYTES - unused);
    return MEASURED_BYTES - unused;
}

static vyre_strbuf text_of_depth(uint32_t blocks, uint32_t parentheses, uint32_t statements) {
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "program deep(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
                            "var a = x[gid]; ");
    for (uint32_t i = 0; i < blocks; i++) {
        vyre_strbuf_printf(&text, "if a < %u { ", i + 7);
    }
    vyre_strbuf_puts(&text, "a = ");
    for (uint32_t i = 0; i < parentheses; i++) {
        vyre_strbuf_printf(&text, "(%u ^ ", i);
    }
    vyre_strbuf_puts(&text, "a");
    vyre_strbuf_repeat(&text, ')', parentheses);
    vyre_strbuf_puts(&text, "; ");
    for (uint32_t i = 0; i < statements; i++) {
        vyre_strbuf_printf(&text, "a = a * %u + (a >> %u); ", 2 * i + 3, i % 31);
    }
    vyre_strbuf_repeat(&text, '}', blocks);
    vyre_strbuf_puts(&text, " y[gid] = a; }");
    assert_false(text.failed);
    return text;
}

static void deep_and_long_programs_need_no_more(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t blocks, parentheses, statements;
    } shapes[] = {{"small", 0, 1, 1},
                  {"deep blocks", 126, 1, 1},
                  {"deep expression", 0, 126, 1},
                  {"long", 0, 1, 400},
                  {"deepest", 126, 126, 100}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        vyre_strbuf text =
            text_of_depth(shapes[i].blocks, shapes[i].parentheses, shapes[i].statements);
        const work w = {vyre_strbuf_string(&text), true};
        assert_true(measure(&w, shapes[i].name) <= VYRE_STACK_BYTES);
        vyre_strbuf_free(&text);
    }
}

static void real_kernels_need_no_more(void **state) {
    (void)state;
    static const char *const files[] = {"bench/kernels/radixsort.vyre", "bench/kernels/scan.vyre",
                                        "bench/kernels/dfa.vyre", "examples/tickets.vyre"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        vyre_strbuf text = {0};
        expect_ok(vyre_file_read(files[i], 1 << 20, &text));
        const work w = {vyre_strbuf_string(&text), false};
        assert_true(measure(&w, files[i]) <= VYRE_STACK_BYTES);
        vyre_strbuf_free(&text);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_and_long_programs_need_no_more),
        cmocka_unit_test(real_kernels_need_no_more),
    };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return CPU_SKIPPED; /* they need a multiple of it */
#endif
    return cpu_check_available() ? cmocka_run_group_tests(tests, NULL, NULL) : CPU_SKIPPED;
}
