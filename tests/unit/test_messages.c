/* Print and assert: the same text on every device, and no effect on the results. */
#include "tests/unit/cpu_check.h"

#include <stdio.h>

#include <vyre/reference.h>

#include "backend/cpu/runtime/backend.h"
#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/strbuf.h"
#include "ir/message.h"
#include "pass/message.h"
#include "runtime/device.h"
#include "tests/unit/failing_allocator.h"

/* Repeats in repeats, branches, two dimensions, shared arrays and barriers, a function, a swap. */
#define STEPS                                                                                      \
    "fn show(x: u32, n: u32) -> u32 { if x == n { print(\"show {}\", x); } return x; }\n"          \
    "program steps(n: u32, x: inout buffer<u32>, flag: inout buffer<u32>) {\n"                     \
    "  scratch s: u32[len(x)];\n"                                                                  \
    "  repeat i in n {\n"                                                                          \
    "    phase a over x workgroup 64 {\n"                                                          \
    "      shared t: u32[64];\n"                                                                   \
    "      t[lid] = x[gid] + i;\n"                                                                 \
    "      barrier;\n"                                                                             \
    "      if lid == 63 { print(\"a {} {} {}\", i, wid, t[0] + t[63]); }\n"                        \
    "      barrier;\n"                                                                             \
    "      if in_domain { s[gid] = t[63 - lid]; }\n"                                               \
    "      if gid == 130 { print(\"130 is {}\", show(lid, 2)); }\n"                                \
    "    }\n"                                                                                      \
    "    if flag[0] { phase b over (2, 2) { print(\"b {} {}\", gid.x, gid.y); } }\n"               \
    "    repeat j in 2 {\n"                                                                        \
    "      phase c over 1 { print(\"c {} {}\", i, j); if i == 0 { flag[0] = 0; } }\n"              \
    "    }\n"                                                                                      \
    "    swap(s, x);\n"                                                                            \
    "  }\n"                                                                                        \
    "  phase d over x {\n"                                                                         \
    "    var k = gid;\n"                                                                           \
    "    while k > 197 { print(\"d {} {}\", gid, k); k -= 1; }\n"                                  \
    "  }\n"                                                                                        \
    "}\n"

static const char steps_text[] = "a 0 0 65\na 0 1 193\nshow 2\n130 is 2\na 0 2 321\na 0 3 193\n"
                                 "b 0 0\nb 1 0\nb 0 1\nb 1 1\nc 0 0\nc 0 1\n"
                                 "a 1 0 67\na 1 1 195\nshow 2\n130 is 2\na 1 2 323\na 1 3 2\n"
                                 "c 1 0\nc 1 1\nd 198 198\nd 199 199\nd 199 198\n";

#define TYPES                                                                                      \
    "struct Body { at: vec2<f32>, mass: f64 }\n"                                                   \
    "program types(x: buffer<f32>) over 1 {\n"                                                     \
    "  print(\"{} {} {} {}\", i8(-3), i16(-300), i32(-70000), i64(-1) << 40);\n"                   \
    "  print(\"{} {} {} {}\", u8(200), u16(60000), 4000000000u, u64(1) << 63);\n"                  \
    "  print(\"{:x} {:x} {:x} {:x}\", i8(-1), u16(255), i32(-1), i64(-1));\n"                      \
    "  print(\"{} {} {} {}\", f16(1.1), bf16(1.1), 1.1f, f64(1.1));\n"                             \
    "  print(\"{} {} {} {}\", -inf, nan, -0.0, bits<f32>(0xffc00001));\n"                          \
    "  print(\"{} {} {{}} {}\", true, x[0] > 5.0, Body(vec2(x[0], 0.5), 2));\n"                    \
    "}\n"

static const char types_text[] = "-3 -300 -70000 -1099511627776\n"
                                 "200 60000 4000000000 9223372036854775808\n"
                                 "0xff 0xff 0xffffffff 0xffffffffffffffff\n"
                                 "1.1 1.1 1.1 1.1\n-inf nan -0.0 nan\n"
                                 "true false {} Body(vec2(3.0, 0.5), 2.0)\n";

/* Most invocations print nothing, and all that do print more than there is room for. */
#define MANY                                                                                       \
    "program many(x: inout buffer<u32>) over x {\n"                                                \
    "  for k in 0..50 { if gid >= 900 && gid % 3 == 0 { print(\"{} {}\", gid, k); } }\n"           \
    "  x[gid] += 1;\n"                                                                             \
    "}\n"

#define FAILS                                                                                      \
    "program fails(x: inout buffer<u32>) over x {\n"                                               \
    "  let v = x[gid];\n"                                                                          \
    "  x[gid] = v + 1;\n"                                                                          \
    "  assert(v != 0);\n"                                                                          \
    "  assert(v < 10,\n"                                                                           \
    "         \"v = {} at {}\", v, gid);\n"                                                        \
    "}\n"

/* Devices */

/* A backend of the first edition: without phases, and without the operations of messages. */
static mock *make_plain(void) {
    const vyre_op_set *ops = vyre_core_supported_ops();
    assert_false(ops->words[VYRE_OP_PRINT / 64] >> VYRE_OP_PRINT % 64 & 1);
    assert_false(ops->words[VYRE_OP_ASSERT / 64] >> VYRE_OP_ASSERT % 64 & 1);
    return mock_create(&(mock_spec){
        .single_phase = true,
        .slots = MOCK_BIT(max_workgroup_size) | MOCK_BIT(max_workgroups_per_dimension) |
                 MOCK_BIT(max_invocations_per_workgroup) | MOCK_BIT(max_storage_buffer_bytes),
        .max_workgroup_size = {1024, 1024, 1024},
        .max_invocations = 1024,
        .max_workgroups = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
        .max_storage_buffer_bytes = UINT32_MAX,
    });
}

typedef struct devices {
    mock *plain;
    vyre_device *items[8];
    const char *names[8];
    size_t count;
} devices;

static void open_devices(devices *all) {
    static const char *const lanes[] = {"1", "4", "8", "16"};
    *all = (devices){.count = 3, .names = {"reference", "reference, seed 5", "without phases"}};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &all->items[0]));
    expect_ok(vyre_reference_open(&(vyre_reference_options){.seed = 5}, &all->items[1]));
    all->plain = make_plain();
    all->items[2] = contract_device(all->plain);
    for (size_t i = 0; i < 4 && cpu_check_available(); i++) {
        vyre_backend made = {.host = vyre_host_services()};
        setenv("VYRE_CPU_LANES", lanes[i], 1);
        expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
        expect_ok(vyre_device_open(&made, "cpu", 0, &all->items[all->count]));
        all->names[all->count++] = lanes[i];
    }
    unsetenv("VYRE_CPU_LANES");
}

static void close_devices(devices *all) {
    for (size_t i = 0; i < all->count; i++) {
        vyre_device_release(all->items[i]);
    }
    mock_free(all->plain);
}

static void add_line(void *user, const vyre_message *message) {
    vyre_strbuf *text = user;
    assert_int_equal(strlen(message->text), message->size);
    vyre_strbuf_printf(text, "%s\n", message->text);
}

/* Code is compiled when a device first sees a program, so the lanes are set for each run. */
static vyre_status run(const devices *all, size_t device, const vyre_program *program,
                       const vyre_input *inputs, size_t count, const vyre_dispatch_config *config,
                       vyre_outputs *outputs) {
    if (device > 2) {
        setenv("VYRE_CPU_LANES", all->names[device], 1);
    }
    vyre_status status =
        vyre_device_dispatch(all->items[device], program, inputs, count, config, outputs);
    unsetenv("VYRE_CPU_LANES");
    return status;
}

static void expect_text(const char *source, const vyre_input *inputs, size_t count, uint64_t limit,
                        const char *expected, uint64_t left_out) {
    devices all;
    vyre_program *program = contract_program(source);
    open_devices(&all);
    for (size_t i = 0; i < all.count; i++) {
        vyre_strbuf text = {0};
        vyre_prints prints = {add_line, &text, limit, 77};
        const vyre_dispatch_config config = {.prints = &prints};
        vyre_outputs outputs, plain;
        expect_ok(vyre_device_check_program(all.items[i], program));
        expect_ok(run(&all, i, program, inputs, count, &config, &outputs));
        if (strcmp(vyre_strbuf_string(&text), expected) != 0) {
            fail_msg("%s: %s\nexpected: %s", all.names[i], vyre_strbuf_string(&text), expected);
        }
        assert_int_equal(prints.left_out, left_out);
        /* The results are those of a run that prints nothing. */
        expect_ok(run(&all, i, program, inputs, count, NULL, &plain));
        assert_int_equal(outputs.count, plain.count);
        for (size_t k = 0; k < plain.count; k++) {
            assert_int_equal(outputs.items[k].size, plain.items[k].size);
            assert_memory_equal(outputs.items[k].data, plain.items[k].data, plain.items[k].size);
        }
        vyre_outputs_free(&outputs);
        vyre_outputs_free(&plain);
        vyre_strbuf_free(&text);
    }
    close_devices(&all);
    vyre_program_release(program);
}

static void messages_come_in_order(void **state) {
    (void)state;
    uint32_t n = 2, x[200], flag = 1;
    contract_numbers(x, 200);
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {&flag, 4}};
    expect_text(STEPS, inputs, 3, 0, steps_text, 0);
}

static void messages_show_every_type(void **state) {
    (void)state;
    const float x = 3;
    const vyre_input input = {&x, 4};
    expect_text(TYPES, &input, 1, 0, types_text, 0);
}

static void messages_of_sized_shared_arrays(void **state) {
    (void)state;
    static const char source[] = "program sized(n: u32, x: inout buffer<u32>) over x workgroup 8 { "
                                 "shared t: u32[n]; t[lid % n] = n; barrier; "
                                 "if gid % 5 == 0 { print(\"{} {}\", gid, t[lid % n]); } }";
    uint32_t n = 3, x[16] = {0};
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}};
    expect_text(source, inputs, 2, 3, "0 3\n5 3\n10 3\n", 1);
}

/* 50 x 33034 messages do not fit into the log, and the first of them are far behind the start. */
static void messages_beyond_the_room_are_counted(void **state) {
    (void)state;
    enum { LENGTH = 100000 };
    uint32_t *x = calloc(LENGTH, sizeof *x);
    assert_non_null(x);
    const vyre_input input = {x, LENGTH * sizeof *x};
    expect_text(MANY, &input, 1, 3, "900 0\n900 1\n900 2\n", UINT64_C(50) * 33034 - 3);
    free(x);
}

static void messages_keep_to_the_limit(void **state) {
    (void)state;
    vyre_strbuf expected = {0};
    uint32_t x[3000] = {0};
    const vyre_input input = {x, sizeof x};
    for (uint32_t i = 0; i < VYRE_PRINT_LIMIT; i++) {
        vyre_strbuf_printf(&expected, "%u %u\n", 900 + i / 50 * 3, i % 50);
    }
    expect_text(MANY, &input, 1, 0, vyre_strbuf_string(&expected), UINT64_C(50) * 700 - 1000);
    vyre_strbuf_free(&expected);
}

/* Asserts */

static void expect_assertion(const uint32_t *x, size_t length, const char *expected) {
    devices all;
    vyre_program *program = contract_program(FAILS);
    const vyre_input input = {x, length * sizeof *x};
    open_devices(&all);
    for (size_t i = 0; i < all.count; i++) {
        vyre_outputs outputs;
        vyre_status status = run(&all, i, program, &input, 1, NULL, &outputs);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_ASSERTION);
        assert_string_equal(vyre_status_text(status), expected);
        assert_int_equal(outputs.count, 0);
        vyre_status_free(status);
        /* Without asserts it runs through. */
        const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_NO_ASSERTS};
        expect_ok(run(&all, i, program, &input, 1, &config, &outputs));
        const uint32_t *found = (const void *)outputs.items[0].data;
        for (size_t k = 0; k < length; k++) {
            assert_int_equal(found[k], x[k] + 1);
        }
        vyre_outputs_free(&outputs);
    }
    close_devices(&all);
    vyre_program_release(program);
}

static void assert_reports_the_first_failure(void **state) {
    (void)state;
    uint32_t x[300];
    for (uint32_t i = 0; i < 300; i++) {
        x[i] = 1;
    }
    x[290] = 12;
    x[70] = 11;
    x[71] = 0;
    expect_assertion(x, 300,
                     "`fails`, test.vyre line 5, invocation 70: v = 11 at 70 (assertions failed: "
                     "3). Fix: correct the kernel or its inputs, or run it without asserts");
}

static void assert_reports_the_first_of_very_many(void **state) {
    (void)state;
    enum { LENGTH = 20000, FIRST = 5003 };
    uint32_t *x = calloc(LENGTH, sizeof *x);
    assert_non_null(x);
    for (uint32_t i = 0; i < FIRST; i++) {
        x[i] = 1;
    }
    expect_assertion(x, LENGTH,
                     "`fails`, test.vyre line 4, invocation 5003: assertion failed (assertions "
                     "failed: 14997). Fix: correct the kernel or its inputs, or run it without "
                     "asserts");
    free(x);
}

static void assert_names_phase_and_iteration(void **state) {
    (void)state;
    static const char source[] = "program turns(x: inout buffer<u32>) { repeat i in 3 { "
                                 "phase add over (2, 2) { assert(x[0] < 2 || gid.y == 0, \"{}\", "
                                 "i); } phase over 1 { x[0] += 1; } } }";
    vyre_program *program = contract_program(source);
    devices all;
    uint32_t x[2] = {1, 0};
    const vyre_input input = {x, sizeof x};
    open_devices(&all);
    for (size_t i = 0; i < all.count; i++) {
        vyre_outputs outputs;
        expect_fail(run(&all, i, program, &input, 1, NULL, &outputs), VYRE_STATUS_ASSERTION,
                    "`turns`, test.vyre line 1, invocation (0, 1) of phase `add`, iteration 1: 1 "
                    "(assertions failed: 4)");
    }
    close_devices(&all);
    vyre_program_release(program);
}

/* Equal programs from other lines name their own. */
static void assert_names_its_own_line(void **state) {
    (void)state;
    vyre_program *programs[] = {contract_program(FAILS), contract_program("\n\n" FAILS)};
    vyre_device *device;
    uint32_t x = 0;
    const vyre_input input = {&x, 4};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    assert_int_equal(vyre_program_digest(programs[0]).low, vyre_program_digest(programs[1]).low);
    for (size_t i = 0; i < 4; i++) {
        vyre_outputs outputs;
        expect_fail(vyre_device_dispatch(device, programs[i % 2], &input, 1, NULL, &outputs),
                    VYRE_STATUS_ASSERTION, i % 2 ? "line 6" : "line 4");
    }
    vyre_device_release(device);
    vyre_program_release(programs[0]);
    vyre_program_release(programs[1]);
}

/* Ways to run */

#define LOUD "program loud(x: inout buffer<u32>) over x { print(\"{}\", x[gid]); x[gid] += 1; }"
#define QUIET "program loud(x: inout buffer<u32>) over x { x[gid] += 1; }"

/* What is compiled for a run that prints nothing has no trace of messages. */
static void messages_left_out_cost_nothing(void **state) {
    (void)state;
    vyre_program *loud = contract_program(LOUD),
                 *quiet = contract_program(
                     "program loud(x: inout buffer<u32>) over x { let a = x[gid]; x[gid] += 1; }");
    vyre_program *bare;
    vyre_device *device;
    vyre_pipeline *pipeline;
    expect_ok(vyre_messages_drop(loud, &bare));
    assert_int_equal(vyre_program_digest(bare).low, vyre_program_digest(quiet).low);
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    expect_ok(vyre_device_compile(device, loud, NULL, &pipeline));
    assert_int_equal(vyre_messages_of(vyre_program_ir(pipeline->program)), 0);
    assert_int_equal(vyre_program_ir(pipeline->program)->data_bytes, 0);
    assert_ptr_equal(vyre_pipeline_program(pipeline), loud);
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_program_release(bare);
    vyre_program_release(loud);
    vyre_program_release(quiet);
    vyre_program *none = contract_program(QUIET);
    expect_ok(vyre_messages_drop(none, &bare));
    assert_null(bare);
    vyre_program_release(none);
}

static void expect_line(vyre_strbuf *text, const vyre_outputs *outputs) {
    assert_string_equal(vyre_strbuf_string(text), "7\n");
    assert_int_equal(outputs->count, 1);
    assert_int_equal(*(const uint32_t *)(const void *)outputs->items[0].data, 8);
    vyre_strbuf_cut(text, 0);
}

static void messages_come_from_every_form_of_run(void **state) {
    (void)state;
    vyre_program *program = contract_program(LOUD);
    vyre_device *device;
    vyre_pipeline *pipeline;
    vyre_pending *pending;
    vyre_outputs outputs;
    vyre_timing timing;
    uint32_t x = 7, into = 0;
    const vyre_input input = {&x, 4};
    const vyre_output given = {(void *)&x, 4};
    vyre_strbuf text = {0};
    vyre_prints prints = {.write = add_line, .user = &text};
    const vyre_dispatch_config config = {.prints = &prints, .max_output_bytes = 4};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    expect_ok(vyre_device_compile(device, program, &config, &pipeline));
    expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs));
    expect_line(&text, &outputs);
    vyre_outputs_free(&outputs);
    expect_ok(vyre_pipeline_dispatch_owned(pipeline, &given, 1, &config, &outputs));
    expect_line(&text, &outputs);
    vyre_outputs_free(&outputs);
    expect_ok(vyre_pipeline_dispatch_timed(pipeline, &input, 1, &config, &outputs, &timing));
    expect_line(&text, &outputs);
    vyre_outputs_free(&outputs);
    expect_ok(vyre_pipeline_dispatch_async(pipeline, &input, 1, &config, &pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    vyre_pending_free(pending);
    expect_line(&text, &outputs);
    /* Into memory of the caller, then into outputs that do not fit. */
    vyre_output item = {(void *)&into, 4};
    vyre_outputs own = {&item, 1};
    expect_ok(vyre_pipeline_dispatch_into(pipeline, &input, 1, &config, &own));
    expect_line(&text, &own);
    assert_int_equal(into, 8);
    vyre_free(outputs.items[0].data);
    outputs.items[0] = (vyre_output){vyre_alloc(1), 1};
    expect_ok(vyre_pipeline_dispatch_into(pipeline, &input, 1, &config, &outputs));
    expect_line(&text, &outputs);
    vyre_outputs_free(&outputs);
    vyre_strbuf_free(&text);
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_program_release(program);
}

static void messages_need_data_of_the_host(void **state) {
    (void)state;
    vyre_program *program = contract_program(LOUD);
    vyre_device *device;
    vyre_pipeline *pipeline;
    vyre_resident x;
    uint32_t value = 7;
    vyre_prints prints = {.write = add_line};
    vyre_dispatch_config config = {.prints = &prints};
    vyre_outputs outputs;
    const vyre_input input = {&value, 4};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_resident_allocate(device, 4, &x));
    expect_ok(vyre_resident_upload(device, x, &value, 4));
    const vyre_binding binding = {.buffer = x};
    expect_fail(vyre_pipeline_dispatch_resident(pipeline, &binding, 1, &config, NULL),
                VYRE_STATUS_UNSUPPORTED, "the run is on resident buffers");
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, &binding, 1, NULL, NULL));
    expect_ok(vyre_resident_read(device, x, 0, &value, 4));
    assert_int_equal(value, 8);
    expect_fail(vyre_reference_run(program, &input, 1, &config, NULL, &outputs),
                VYRE_STATUS_UNSUPPORTED, "the run is on resident buffers");
    prints.limit = VYRE_PRINT_LIMIT_MOST + 1;
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "1000001 messages");
    prints = (vyre_prints){0};
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "has no function `write`");
    config = (vyre_dispatch_config){.flags = 2};
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "does not know");
    /* Mistakes are told in terms of the program that the caller knows. */
    config = (vyre_dispatch_config){.prints = &(vyre_prints){.write = add_line}};
    expect_fail(vyre_pipeline_dispatch(pipeline, NULL, 0, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "1");
    expect_ok(vyre_resident_free(device, x));
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_program_release(program);
}

/* Messages change no class; what they show must not depend on the schedule either. */
static void messages_and_determinism(void **state) {
    (void)state;
    vyre_program *shown = contract_program("program p(x: inout buffer<u32>) over 8 { "
                                           "print(\"{}\", atomic_add(x[0], 1)); }");
    vyre_program *not_shown = contract_program("program p(x: inout buffer<u32>) over 8 { "
                                               "atomic_add(x[0], 1); print(\"{}\", gid); }");
    assert_int_equal(vyre_program_determinism(shown), VYRE_SCHEDULE_DEPENDENT);
    assert_int_equal(vyre_program_determinism(not_shown), VYRE_DETERMINISTIC);
    vyre_program_release(shown);
    vyre_program_release(not_shown);
}

static void messages_survive_without_memory(void **state) {
    (void)state;
    static const char source[] = "program p(x: inout buffer<u32>) over x { print(\"{}\", x[gid]); "
                                 "assert(x[gid] < 9); }";
    vyre_program *program = contract_program(source);
    vyre_device *device;
    uint32_t x[2] = {7, 9};
    const vyre_input input = {x, sizeof x};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    vyre_device_cache_limit(device, 0);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0};
        vyre_prints prints = {.write = add_line, .user = &text};
        const vyre_dispatch_config config = {.prints = &prints};
        vyre_outputs outputs;
        vyre_status status = vyre_device_dispatch(device, program, &input, 1, &config, &outputs);
        vyre_status_code code = vyre_status_code_of(status);
        bool is_whole = !text.failed;
        vyre_status_free(status);
        vyre_strbuf_free(&text);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_ASSERTION);
            break;
        }
        assert_true(code == VYRE_STATUS_OUT_OF_MEMORY || !is_whole ||
                    code == VYRE_STATUS_ASSERTION);
    }
    vyre_device_release(device);
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_in_order),
        cmocka_unit_test(messages_show_every_type),
        cmocka_unit_test(messages_of_sized_shared_arrays),
        cmocka_unit_test(messages_beyond_the_room_are_counted),
        cmocka_unit_test(messages_keep_to_the_limit),
        cmocka_unit_test(assert_reports_the_first_failure),
        cmocka_unit_test(assert_reports_the_first_of_very_many),
        cmocka_unit_test(assert_names_phase_and_iteration),
        cmocka_unit_test(assert_names_its_own_line),
        cmocka_unit_test(messages_left_out_cost_nothing),
        cmocka_unit_test(messages_come_from_every_form_of_run),
        cmocka_unit_test(messages_need_data_of_the_host),
        cmocka_unit_test(messages_and_determinism),
        cmocka_unit_test(messages_survive_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
