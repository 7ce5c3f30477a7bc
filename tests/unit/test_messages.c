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
        .slots = MOCK_RESIDENT | MOCK_BIT(max_workgroup_size) |
                 MOCK_BIT(max_workgroups_per_dimension) | MOCK_BIT(max_invocations_per_workgroup) |
                 MOCK_BIT(max_storage_buffer_bytes),
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

/* The first failure is one of those that find no room: all others of the group come before it. */
static void assert_reports_the_first_that_comes_late(void **state) {
    (void)state;
    static const char source[] = "program late(x: inout buffer<u32>) over x workgroup 64 { "
                                 "for i in 0..80u { assert(gid == 0); } barrier; "
                                 "assert(gid != 0, \"late\"); x[gid] = 0; }";
    vyre_program *program = contract_program(source);
    devices all;
    uint32_t x[64] = {0};
    const vyre_input input = {x, sizeof x};
    open_devices(&all);
    for (size_t i = 0; i < all.count; i++) {
        vyre_outputs outputs;
        expect_fail(run(&all, i, program, &input, 1, NULL, &outputs), VYRE_STATUS_ASSERTION,
                    "`late`, test.vyre line 1, invocation 0: late (assertions failed: 5041)");
    }
    close_devices(&all);
    vyre_program_release(program);
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

static void messages_refuse_bad_configs(void **state) {
    (void)state;
    vyre_program *program = contract_program(LOUD);
    vyre_device *device;
    vyre_pipeline *pipeline;
    uint32_t value = 7;
    vyre_prints prints = {.write = add_line};
    vyre_dispatch_config config = {.prints = &prints};
    vyre_outputs outputs;
    const vyre_input input = {&value, 4};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_fail(vyre_reference_run(program, &input, 1, &config, NULL, &outputs),
                VYRE_STATUS_UNSUPPORTED, "only runs on a device");
    prints.limit = VYRE_PRINT_LIMIT_MOST + 1;
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "1000001 messages");
    prints = (vyre_prints){0};
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "has no function `write`");
    config = (vyre_dispatch_config){.flags = VYRE_DISPATCH_STREAM << 1};
    expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "does not know");
    /* Mistakes are told in terms of the program that the caller knows. */
    config = (vyre_dispatch_config){.prints = &(vyre_prints){.write = add_line}};
    expect_fail(vyre_pipeline_dispatch(pipeline, NULL, 0, &config, &outputs),
                VYRE_STATUS_INVALID_ARGUMENT, "1");
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    vyre_program_release(program);
}

/* Resident buffers */

/* A run on one resident buffer that starts with these numbers and ends with `out_found`. */
static vyre_status run_resident(const devices *all, size_t device, const vyre_program *program,
                                const uint32_t *x, size_t length, bool enqueue,
                                const vyre_dispatch_config *config, uint32_t *out_found) {
    vyre_device *on = all->items[device];
    vyre_pipeline *pipeline;
    vyre_resident buffer;
    vyre_ticket ticket = 77;
    if (device > 2) {
        setenv("VYRE_CPU_LANES", all->names[device], 1);
    }
    expect_ok(vyre_device_compile(on, program, NULL, &pipeline));
    expect_ok(vyre_resident_allocate(on, length * sizeof *x, &buffer));
    expect_ok(vyre_resident_upload(on, buffer, x, length * sizeof *x));
    const vyre_binding binding = vyre_bind(buffer);
    vyre_status status = enqueue
                             ? vyre_pipeline_enqueue(pipeline, &binding, 1, config, &ticket)
                             : vyre_pipeline_dispatch_resident(pipeline, &binding, 1, config, NULL);
    if (enqueue && !status) {
        expect_ok(vyre_device_wait_for(on, ticket));
    }
    expect_ok(vyre_resident_read(on, buffer, 0, out_found, length * sizeof *x));
    expect_ok(vyre_resident_free(on, buffer));
    vyre_pipeline_release(pipeline);
    unsetenv("VYRE_CPU_LANES");
    return status;
}

static void expect_resident_assertion(const uint32_t *x, size_t length, const char *expected) {
    devices all;
    vyre_program *program = contract_program(FAILS);
    uint32_t *found = calloc(length, sizeof *found);
    assert_non_null(found);
    open_devices(&all);
    for (size_t i = 0; i < 2 * all.count; i++) {
        vyre_status status = run_resident(&all, i / 2, program, x, length, i % 2, NULL, found);
        assert_int_equal(vyre_status_code_of(status), expected ? VYRE_STATUS_ASSERTION : 0);
        if (expected) {
            assert_string_equal(vyre_status_text(status), expected);
            vyre_status_free(status);
            const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_NO_ASSERTS};
            expect_ok(run_resident(&all, i / 2, program, x, length, i % 2, &config, found));
        }
        for (size_t k = 0; k < length; k++) {
            assert_int_equal(found[k], x[k] + 1);
        }
    }
    close_devices(&all);
    free(found);
    vyre_program_release(program);
}

static void assert_fails_runs_on_resident_buffers(void **state) {
    (void)state;
    uint32_t x[300];
    for (uint32_t i = 0; i < 300; i++) {
        x[i] = 1;
    }
    expect_resident_assertion(x, 300, NULL);
    x[290] = 12;
    x[70] = 11;
    x[71] = 0;
    expect_resident_assertion(
        x, 300,
        "`fails`, test.vyre line 5, invocation 70: v = 11 at 70 (assertions failed: 3); the "
        "contents of the resident buffers that it writes are unspecified. Fix: correct the kernel "
        "or its inputs, or run it without asserts");
}

/* No second run can find the first of them, so no device names one. */
static void assert_counts_failures_beyond_the_room(void **state) {
    (void)state;
    enum { LENGTH = 70000 };
    uint32_t *x = calloc(LENGTH, sizeof *x);
    assert_non_null(x);
    expect_resident_assertion(
        x, LENGTH,
        "`fails`: assertions failed: 70000; the contents of the resident buffers that it writes "
        "are "
        "unspecified. Fix: run it with data of the host to see the first failure, or run it "
        "without asserts");
    x[0] = 1;
    for (uint32_t i = 1; i < LENGTH; i++) {
        x[i] = i > 65536;
    }
    expect_resident_assertion(
        x, LENGTH,
        "`fails`, test.vyre line 4, invocation 1: assertion failed (assertions failed: 65536); the "
        "contents of the resident buffers that it writes are unspecified. Fix: correct the kernel "
        "or its inputs, or run it without asserts");
    free(x);
}

static void expect_resident_text(const char *source, size_t length, uint64_t limit,
                                 const char *expected, uint64_t left_out) {
    devices all;
    vyre_program *program = contract_program(source);
    uint32_t *x = calloc(length, sizeof *x), *found = calloc(length, sizeof *x);
    assert_true(x && found);
    open_devices(&all);
    for (size_t i = 0; i < 2 * all.count; i++) {
        vyre_strbuf text = {0};
        vyre_prints prints = {add_line, &text, limit, 77};
        const vyre_dispatch_config config = {.prints = &prints};
        expect_ok(run_resident(&all, i / 2, program, x, length, i % 2, &config, found));
        assert_string_equal(vyre_strbuf_string(&text), expected);
        assert_int_equal(prints.left_out, left_out);
        for (size_t k = 0; k < length; k++) {
            assert_int_equal(found[k], 1);
        }
        vyre_strbuf_free(&text);
    }
    close_devices(&all);
    free(x);
    free(found);
    vyre_program_release(program);
}

static void messages_of_runs_on_resident_buffers(void **state) {
    (void)state;
    expect_resident_text(LOUD, 3, 2, "0\n0\n", 1);
    expect_resident_text(MANY, 2000, 2, "900 0\n900 1\n", UINT64_C(50) * 367 - 2);
    expect_resident_text(QUIET, 3, 2, "", 0);
    expect_resident_text("program sized(x: inout buffer<u32>) over x workgroup 8 { shared t: "
                         "u32[len(x)]; t[lid % len(x)] = 1; barrier; x[gid] = t[lid % len(x)]; "
                         "if gid % 5 == 2 { print(\"{}\", gid); } }",
                         16, 0, "2\n7\n12\n", 0);
    /* The first of more than there is room for are not known, and all are counted. */
    expect_resident_text(MANY, 10000, 3, "", UINT64_C(50) * 3034);
}

/* Mistakes are told in terms of the program that the caller knows. */
static void messages_count_the_callers_bindings(void **state) {
    (void)state;
    vyre_program *program = contract_program(FAILS);
    vyre_device *device;
    const vyre_binding bindings[2] = {0};
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    for (size_t count = 0; count < 4; count += 2) {
        expect_fail(vyre_device_dispatch_resident(device, program, bindings, count, NULL, NULL),
                    VYRE_STATUS_INVALID_ARGUMENT, "has 1 argument, found");
    }
    vyre_device_release(device);
    vyre_program_release(program);
}

/* Files */

static vyre_status read_part(void *user, const char *path, vyre_text_sink *sink) {
    const char *text = user;
    assert_string_equal(path, "lib/part.vyre");
    vyre_text_put(sink, text, strlen(text));
    return VYRE_OK;
}

static void add_place(void *user, const vyre_message *message) {
    vyre_strbuf_printf(user, "%s:%u: %s\n", message->file, message->line, message->text);
}

/* In programs that a program calls, in functions, and in a file that the text uses. */
static void messages_name_their_file_and_line(void **state) {
    (void)state;
    static char part[] = "fn twice(x: u32) -> u32 {\n"
                         "  print(\"twice {}\", x);\n"
                         "  return 2 * x;\n"
                         "}\n"
                         "program part(x: inout buffer<u32>) over x {\n"
                         "  x[gid] = twice(x[gid]);\n"
                         "  print(\"part {}\", x[gid]);\n"
                         "}\n";
    static const char main_text[] = "use \"lib/part.vyre\";\n"
                                    "program inner(x: inout buffer<u32>) over x {\n"
                                    "  print(\"inner\"); x[gid] += 1;\n"
                                    "}\n"
                                    "program main(x: inout buffer<u32>) {\n"
                                    "  part(x);\n"
                                    "  repeat i in 2 { inner(x); }\n"
                                    "  phase over x { print(\"main {}\", twice(x[gid])); }\n"
                                    "}\n";
    const vyre_text_reader reader = {read_part, part};
    vyre_strbuf text = {0};
    vyre_prints prints = {.write = add_place, .user = &text};
    const vyre_dispatch_config config = {.prints = &prints};
    uint32_t x = 3;
    const vyre_input input = {&x, 4};
    vyre_outputs outputs;
    vyre_device *device;
    vyre_module *module;
    char *joined;
    size_t size;
    expect_ok(
        vyre_text_join(&reader, "main.vyre", main_text, strlen(main_text), NULL, &joined, &size));
    expect_ok(vyre_module_parse("main.vyre", joined, size, NULL, &module));
    expect_ok(vyre_reference_open(&(vyre_reference_options){0}, &device));
    expect_ok(vyre_device_dispatch(device, vyre_module_find(module, "main"), &input, 1, &config,
                                   &outputs));
    assert_string_equal(vyre_strbuf_string(&text),
                        "lib/part.vyre:2: twice 3\nlib/part.vyre:7: part 6\n"
                        "main.vyre:3: inner\nmain.vyre:3: inner\n"
                        "lib/part.vyre:2: twice 8\nmain.vyre:8: main 16\n");
    vyre_outputs_free(&outputs);
    vyre_strbuf_free(&text);
    vyre_string_free(joined);
    vyre_module_free(module);
    vyre_device_release(device);
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

/* Nor does a run on resident buffers leave its log on the device. */
static void messages_of_residents_survive_without_memory(void **state) {
    (void)state;
    vyre_program *program = contract_program(FAILS);
    mock *plain = make_plain();
    vyre_device *device = contract_device(plain);
    vyre_resident x;
    const uint32_t zeros[2] = {0};
    vyre_device_cache_limit(device, 0);
    expect_ok(vyre_resident_allocate(device, sizeof zeros, &x));
    expect_ok(vyre_resident_upload(device, x, zeros, sizeof zeros));
    const vyre_binding binding = vyre_bind(x);
    vyre_status_code code = VYRE_STATUS_OK;
    for (size_t n = 1; code != VYRE_STATUS_ASSERTION && failing_allocator_start(n); n++) {
        vyre_status status =
            vyre_device_dispatch_resident(device, program, &binding, 1, NULL, NULL);
        code = vyre_status_code_of(status);
        vyre_status_free(status);
        failing_allocator_stop();
        assert_true(code == VYRE_STATUS_OUT_OF_MEMORY || code == VYRE_STATUS_ASSERTION);
        assert_int_equal(mock_residents(plain), 1);
        expect_ok(vyre_resident_upload(device, x, zeros, sizeof zeros));
    }
    assert_int_equal(code, VYRE_STATUS_ASSERTION);
    vyre_device_release(device);
    mock_free(plain);
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
        cmocka_unit_test(assert_reports_the_first_that_comes_late),
        cmocka_unit_test(assert_names_phase_and_iteration),
        cmocka_unit_test(assert_names_its_own_line),
        cmocka_unit_test(messages_left_out_cost_nothing),
        cmocka_unit_test(messages_come_from_every_form_of_run),
        cmocka_unit_test(messages_refuse_bad_configs),
        cmocka_unit_test(assert_fails_runs_on_resident_buffers),
        cmocka_unit_test(assert_counts_failures_beyond_the_room),
        cmocka_unit_test(messages_of_runs_on_resident_buffers),
        cmocka_unit_test(messages_count_the_callers_bindings),
        cmocka_unit_test(messages_name_their_file_and_line),
        cmocka_unit_test(messages_and_determinism),
        cmocka_unit_test(messages_survive_without_memory),
        cmocka_unit_test(messages_of_residents_survive_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
