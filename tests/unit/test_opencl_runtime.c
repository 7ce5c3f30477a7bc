/* What the opencl backend asks of a driver, with a driver that answers as others do: launches that
 * every device takes, workgroups that a kernel has room for, stop words of devices whose memory is
 * not the host's, and devices without f64. */
#include <vyre/dispatch.h>
#include <vyre/reference.h>

#include "backend/opencl/runtime/backend.h"
#include "backend/opencl/runtime/dispatch.h"
#include "backend/opencl/runtime/stop.h"
#include "base/alloc.h"
#include "runtime/plan.h"
#include "tests/unit/opencl_check.h"

static const opencl_table *real;
static opencl_table table; /* the real one, with changes */

/* What was launched. */
static uint64_t launches, items, most_groups, most_items, most_local;
static bool launches_run;
static cl_int launch_result;  /* of a launch that is not run */
static size_t kernel_threads; /* that a kernel has room for; 0: what the driver says */
static bool forgets_clause;   /* the driver does not say what a kernel was compiled for */

static cl_int CL_API_CALL count_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint wait_count,
                                       const cl_event *waits, cl_event *event) {
    uint64_t here = 1, groups = 1, threads = 1;
    for (cl_uint d = 0; d < dimensions; d++) {
        here *= global[d];
        groups *= global[d] / local[d];
        threads *= local[d];
        most_items = global[d] > most_items ? global[d] : most_items;
    }
    launches++;
    items += here;
    most_groups = groups > most_groups ? groups : most_groups;
    most_local = threads > most_local ? threads : most_local;
    return launches_run ? real->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                       local, wait_count, waits, event)
                        : launch_result;
}

static cl_int CL_API_CALL answer_threads(cl_kernel kernel, cl_device_id device,
                                         cl_kernel_work_group_info what, size_t size, void *value,
                                         size_t *out_size) {
    if (what == CL_KERNEL_WORK_GROUP_SIZE && kernel_threads) {
        memcpy(value, &kernel_threads, sizeof kernel_threads);
        return CL_SUCCESS;
    }
    if (what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE && forgets_clause) {
        memset(value, 0, size);
        return CL_SUCCESS;
    }
    return real->clGetKernelWorkGroupInfo(kernel, device, what, size, value, out_size);
}

static cl_int CL_API_CALL refuse_fill(cl_command_queue queue, cl_mem memory, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size,
                                      cl_uint wait_count, const cl_event *waits, cl_event *event) {
    (void)queue, (void)memory, (void)pattern, (void)pattern_size, (void)offset, (void)size;
    (void)wait_count, (void)waits, (void)event;
    return CL_OUT_OF_RESOURCES;
}

/* A device with that table; `is_cpu`: whether it works in memory of the host. */
static opencl_device *open_device(bool is_cpu) {
    opencl_device *device;
    expect_ok(opencl_device_create(0, &device));
    real = device->cl;
    table = *real;
    table.clEnqueueNDRangeKernel = count_launch;
    table.clGetKernelWorkGroupInfo = answer_threads;
    device->cl = &table;
    device->info.is_cpu = device->info.target.is_covered = is_cpu;
    device->info.target.polls = !is_cpu;
    launches = items = most_groups = most_items = most_local = 0;
    launches_run = true;
    launch_result = CL_SUCCESS;
    kernel_threads = 0;
    forgets_clause = false;
    expect_ok(opencl_device_open(device));
    return device;
}

/* Runs a program of one output; the caller frees its bytes. */
static vyre_status run(opencl_device *device, const vyre_program *program, const vyre_input *inputs,
                       size_t count, const vyre_dispatch_config *config, vyre_output *output) {
    static const vyre_dispatch_config usual;
    opencl_executable *executable;
    vyre_plan plan;
    expect_ok(opencl_executable_make(device, program, NULL, 0, NULL, &executable));
    expect_ok(vyre_plan_init(&plan, program, inputs, count, config ? config : &usual));
    uint64_t bytes = vyre_plan_output_bytes(&plan, 0);
    *output = (vyre_output){vyre_alloc_zeroed(bytes + 1, 1), bytes};
    assert_non_null(output->data);
    const vyre_call call = vyre_plan_call(&plan, inputs, NULL);
    vyre_status status = opencl_dispatch(executable, &call, output, NULL);
    vyre_plan_deinit(&plan);
    opencl_executable_release(executable);
    return status;
}

/* Only counts what would be launched. */
static void count_only(const char *text, double timeout_s) {
    vyre_program *program = contract_program(text);
    opencl_device *device = open_device(true);
    const vyre_dispatch_config config = {.timeout_ns = (uint64_t)(timeout_s * 1e9)};
    vyre_output output;
    launches_run = false;
    expect_ok(run(device, program, NULL, 0, &config, &output));
    vyre_free(output.data);
    opencl_device_free(device);
    vyre_program_release(program);
}

/* A launch cannot be stopped where nothing loops, so no launch of such a run is long. */
static void launches_of_runs_with_a_timeout_are_short(void **state) {
    (void)state;
    static const char *const texts[] = {
        "program flat(y: out buffer<u32>[1]) over (1, 60000, 60000) { y[gid.y + gid.z] = 1; }",
        "program wide(y: out buffer<u32>[1]) over (60000, 60000) { y[gid.x + gid.y] = 1; }",
        "program deep(y: out buffer<u32>[1]) over (1000, 1000, 3600) { y[gid.y] = 1; }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        count_only(texts[i], 1000);
        assert_int_equal(items, 3600000000u);
        assert_true(most_groups <= 1 << 16);
    }
}

/* Some devices count work-items of a dimension in 32 bits. */
static void launches_have_few_items(void **state) {
    (void)state;
    count_only("program tall(y: out buffer<u32>[1]) over (30000000, 256) workgroup 1, 256 { "
               "y[gid.x] = 1; }",
               0);
    assert_int_equal(items, 30000000ull * 256);
    assert_true(most_items < (uint64_t)1 << 32);
}

/* A kernel may have room for fewer invocations than its device. */
static void workgroups_fit_the_kernel(void **state) {
    (void)state;
    enum { ROOM = 48, LENGTH = 1000 };
    vyre_program *program = contract_program(TWICE);
    uint32_t x[LENGTH];
    contract_numbers(x, LENGTH);
    const vyre_input input = {x, sizeof x};
    for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
        opencl_device *device = open_device(is_cpu);
        vyre_output output;
        kernel_threads = ROOM;
        expect_ok(run(device, program, &input, 1, NULL, &output));
        assert_true(most_local <= ROOM);
        for (uint32_t i = 0; i < LENGTH; i++) {
            assert_int_equal(((uint32_t *)output.data)[i], 2 * x[i]);
        }
        vyre_free(output.data);
        opencl_device_free(device);
    }
    vyre_program_release(program);
}

/* Some drivers state less room than there is for a kernel whose workgroups were declared: the
 * launch tells. */
static void declared_workgroups_are_launched(void **state) {
    (void)state;
    enum { ROOM = 48, LENGTH = 1000 };
    static const cl_int refusals[] = {CL_OUT_OF_RESOURCES, CL_INVALID_WORK_GROUP_SIZE,
                                      CL_INVALID_WORK_ITEM_SIZE};
    static const char room[] = "needs workgroups of 64 invocations, and ";
    vyre_program *program = contract_program(
        "program group(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 { "
        "if in_domain { y[gid] = x[gid] * 2 + lid; } }");
    uint32_t x[LENGTH];
    contract_numbers(x, LENGTH);
    const vyre_input input = {x, sizeof x};
    opencl_executable *executable;
    vyre_output output;
    opencl_device *device = open_device(false);
    kernel_threads = ROOM;
    expect_ok(run(device, program, &input, 1, NULL, &output));
    for (uint32_t i = 0; i < LENGTH; i++) {
        assert_int_equal(((uint32_t *)output.data)[i], 2 * x[i] + i % 64);
    }
    vyre_free(output.data);
    launches_run = false;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        launch_result = refusals[i];
        expect_fail(run(device, program, &input, 1, NULL, &output), VYRE_STATUS_UNSUPPORTED, room);
        vyre_free(output.data);
    }
    kernel_threads = 64; /* then that is not why */
    launch_result = CL_OUT_OF_RESOURCES;
    expect_fail(run(device, program, &input, 1, NULL, &output), VYRE_STATUS_OUT_OF_MEMORY,
                "launching `group`");
    vyre_free(output.data);
    kernel_threads = ROOM;
    forgets_clause = true;
    expect_fail(opencl_executable_make(device, program, NULL, 0, NULL, &executable),
                VYRE_STATUS_UNSUPPORTED, room);
    forgets_clause = false;
    device->info.is_pocl = false; /* whose code is not stored */
    vyre_strbuf artifact = {0};
    expect_ok(opencl_executable_make(device, program, NULL, 0, &artifact, &executable));
    opencl_executable_release(executable);
    assert_true(artifact.size);
    forgets_clause = true;
    expect_ok(opencl_executable_make(device, program, (const uint8_t *)artifact.data, artifact.size,
                                     NULL, &executable));
    opencl_executable_release(executable);
    vyre_strbuf_free(&artifact);
    opencl_device_free(device);
    vyre_program_release(program);
}

/* A CPU has the private arrays of a workgroup on the stack of a thread. */
static void private_arrays_fit_the_stack(void **state) {
    (void)state;
    enum { LENGTH = 3000 };
    vyre_program *free_one = contract_program(
        "program large(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { var p: u32[16384]; "
        "for i in 0..9u { p[(x[gid] + i) % 16384] = i + gid; } y[gid] = p[(x[gid] + 8) % 16384]; "
        "}");
    vyre_program *fixed = contract_program(
        "program large(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 1024 { "
        "var p: u32[16384]; p[lid] = gid; barrier; if in_domain { y[gid] = p[x[gid]]; } }");
    uint32_t x[LENGTH];
    contract_numbers(x, LENGTH);
    const vyre_input input = {x, sizeof x};
    opencl_device *device = open_device(true);
    opencl_executable *executable;
    vyre_output output;
    if (device->info.found.type & CL_DEVICE_TYPE_CPU) {
        assert_true(device->info.private_bytes);
    } else {
        device->info.private_bytes = 1 << 22;
    }
    expect_ok(run(device, free_one, &input, 1, NULL, &output));
    assert_true(most_local * 65536 <= device->info.private_bytes);
    for (uint32_t i = 0; i < LENGTH; i++) {
        assert_int_equal(((uint32_t *)output.data)[i], i + 8);
    }
    device->info.private_bytes = 1 << 22;
    expect_fail(opencl_executable_make(device, fixed, NULL, 0, NULL, &executable),
                VYRE_STATUS_UNSUPPORTED, "room for 64 of them");
    vyre_free(output.data);
    opencl_device_free(device);
    vyre_program_release(free_one);
    vyre_program_release(fixed);
}

/* The word is 0 before the run is submitted. Work that stands in the queue in front of it has no
 * say in that: it would come after the word was set. */
static void stop_words_do_not_wait_for_runs(void **state) {
    (void)state;
    opencl_device *device = open_device(false);
    opencl_stop *stop;
    cl_uint word = 7;
    table.clEnqueueFillBuffer = refuse_fill;
    expect_ok(opencl_stop_take(device, &stop));
    assert_int_equal(table.clEnqueueReadBuffer(device->control, stop->memory, CL_TRUE, 0,
                                               sizeof word, &word, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(word, 0);
    opencl_stop_give(device, stop);
    opencl_device_free(device);
}

/* A command of another queue sets the word while kernels run: with a barrier behind the loop, and
 * without. */
static void commands_stop_runs(void **state) {
    (void)state;
    static const char *const texts[] = {
        "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go { var n = 0u; "
        "loop { if go[n % 2] == 0 { break; } n += 1; } y[gid] = n; }",
        "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go workgroup 8 { "
        "shared s: u32[8]; var n = lid; loop { if go[n % 2] == 0 { break; } n += 1; } "
        "s[lid] = n; barrier; y[gid] = s[7 - lid]; }"};
    uint32_t go[CONTRACT_LENGTH];
    contract_numbers(go, CONTRACT_LENGTH);
    const vyre_input input = {go, sizeof go};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = contract_program(texts[i]);
        opencl_device *device = open_device(false);
        const vyre_dispatch_config config = {.timeout_ns = 100000000};
        vyre_output output = {0};
        if (device->info.compute_units > 1) { /* a single one may be busy with the kernel */
            expect_fail(run(device, program, &input, 1, &config, &output), VYRE_STATUS_TIMEOUT,
                        "took longer than its timeout");
        }
        vyre_free(output.data);
        opencl_device_free(device);
        vyre_program_release(program);
    }
}

static bool looks_at_stop_word(const opencl_executable *executable) {
    const opencl_phase_info *info = &executable->phases[0].info;
    for (uint32_t i = 0; i < info->parameter_count; i++) {
        if (info->parameters[i].kind == OPENCL_STOP) {
            return true;
        }
    }
    return false;
}

/* A loop that may be left keeps a CPU's compiler from vectors: only runs with a timeout have it. */
static void cpus_have_code_for_runs_with_a_timeout(void **state) {
    (void)state;
    vyre_program *program =
        contract_program("program sums(n: u32, y: out buffer<u32>[8]) over y { var s = 0u; "
                         "for i in 0..n { s += i ^ gid; } y[gid] = s; }");
    for (int is_cpu = 0; is_cpu <= 1; is_cpu++) {
        opencl_device *device = open_device(is_cpu);
        opencl_executable *executable, *stops, *same;
        expect_ok(opencl_executable_make(device, program, NULL, 0, NULL, &executable));
        assert_int_equal(looks_at_stop_word(executable), !is_cpu);
        expect_ok(opencl_executable_variant(executable, 0, &same));
        assert_ptr_equal(same, executable);
        expect_ok(opencl_executable_variant(executable, OPENCL_STOPS, &stops));
        assert_true(looks_at_stop_word(stops));
        expect_ok(opencl_executable_variant(executable, OPENCL_STOPS, &same));
        assert_ptr_equal(same, stops);
        opencl_executable_release(executable);
        opencl_device_free(device);
    }
    vyre_program_release(program);
}

/* Devices with memory of their own, without f64: as on a GPU. */
static void other_devices_give_the_same_bytes(void **state) {
    (void)state;
    static const char *const texts[] = {
        TWICE,
        "program sides(x: buffer<u32>, y: out buffer<u32>[len(x)]) over (3, 7, 5) { "
        "y[gid.x + 3 * (gid.y + 7 * gid.z)] = x[gid.x] + gid.y * gid.z; }",
        "program wide(x: buffer<u32>, y: out buffer<f64>[len(x)]) over x { "
        "let v = f64(x[gid]) / 3.0; y[gid] = select(x[gid] % 2 == 0, -v, min(sqrt(v), 9.5)); }",
        "program group(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 24 { "
        "shared s: u32[24]; if in_domain { s[lid] = x[gid]; } barrier; "
        "if in_domain { y[gid] = s[23 - lid] + wid; } }",
    };
    uint32_t x[257];
    contract_numbers(x, 257);
    const vyre_input input = {x, sizeof x};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = contract_program(texts[i]);
        opencl_device *device = open_device(false);
        vyre_outputs expected;
        vyre_output output;
        device->info.target.has_f64 = false;
        device->corrections.f64 = VYRE_CORRECT_ABSENT;
        expect_ok(vyre_reference_run(program, &input, 1, NULL, NULL, &expected));
        expect_ok(run(device, program, &input, 1, NULL, &output));
        assert_int_equal(output.size, expected.items[0].size);
        assert_memory_equal(output.data, expected.items[0].data, output.size);
        vyre_free(output.data);
        vyre_outputs_free(&expected);
        opencl_device_free(device);
        vyre_program_release(program);
    }
}

/* Options that are cut off are others. */
static void long_options_are_refused(void **state) {
    (void)state;
    char text[600];
    opencl_device *device;
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    setenv("VYRE_OPENCL_OPTIONS", text, 1);
    expect_fail(opencl_device_create(0, &device), VYRE_STATUS_INVALID_ARGUMENT,
                "VYRE_OPENCL_OPTIONS");
    unsetenv("VYRE_OPENCL_OPTIONS");
}

/* A compiler that refuses all code may do so because of what it was told. */
static void options_are_named_where_code_is_refused(void **state) {
    (void)state;
    vyre_program *program = contract_program(TWICE);
    opencl_executable *executable;
    setenv("VYRE_OPENCL_OPTIONS", "-no-such-option", 1);
    opencl_device *device = open_device(true);
    expect_fail(opencl_executable_make(device, program, NULL, 0, NULL, &executable),
                VYRE_STATUS_BACKEND, "Fix: unset VYRE_OPENCL_OPTIONS");
    unsetenv("VYRE_OPENCL_OPTIONS");
    opencl_device_free(device);
    vyre_program_release(program);
}

/* What a compiler does with them depends on the code around, so the probe may not see it. */
static void careless_options_are_refused(void **state) {
    (void)state;
    static const char *const options[] = {
        "-cl-no-signed-zeros", "-cl-mad-enable -cl-finite-math-only",
        "-cl-unsafe-math-optimizations", "-cl-fast-relaxed-math -w"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        opencl_device *device;
        setenv("VYRE_OPENCL_OPTIONS", options[i], 1);
        expect_fail(opencl_device_create(0, &device), VYRE_STATUS_INVALID_ARGUMENT,
                    "may change the results");
    }
    unsetenv("VYRE_OPENCL_OPTIONS");
}

/* Atomics of OpenCL 2.0 have types of 64 bits where both extensions are there. */
static void wide_atomics_need_both_extensions(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        "program sums(y: out buffer<u64>[1]) over 9 { atomic_add(y[0], u64(gid)); }");
    for (int has_both = 0; has_both < 2; has_both++) {
        opencl_target target = opencl_any_target();
        opencl_phase_info info = {0};
        vyre_strbuf text = {0};
        target.has_atomics64_extended = has_both;
        vyre_status status = opencl_emit(program, &target, &text, &info);
        if (has_both) {
            expect_ok(status);
        } else {
            expect_fail(status, VYRE_STATUS_UNSUPPORTED, "cl_khr_int64_extended_atomics");
        }
        opencl_infos_free(&info, 1);
        vyre_strbuf_free(&text);
    }
    vyre_program_release(program);
}

/* A program as OpenCL C. */
static vyre_strbuf text_of(const char *source, const opencl_target *target) {
    vyre_program *program = contract_program(source), *lowered;
    const vyre_corrections none = {0};
    opencl_phase_info info = {0};
    vyre_strbuf text = {0};
    expect_ok(opencl_lower(program, target, &none, true, &lowered));
    expect_ok(opencl_emit(lowered, target, &text, &info));
    opencl_infos_free(&info, 1);
    vyre_program_release(lowered);
    vyre_program_release(program);
    return text;
}

static size_t count_of(const vyre_strbuf *text, const char *part) {
    size_t count = 0;
    for (const char *at = strstr(text->data, part); at; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

/* Compilers of devices take time for each function. */
static void functions_are_there_if_they_are_called(void **state) {
    (void)state;
#define OVER "(x: buffer<f32>, y: out buffer<u64>[len(x)]) over x { let v = x[gid]; "
    static const struct {
        const char *source, *functions[2];
    } rows[] = {
        {"program none" OVER "y[gid] = u64(bitcast<u32>(v + 1.0)); }", {NULL, NULL}},
        {"program less" OVER "y[gid] = u64(bitcast<u32>(min(v, 2.0))); }", {"vyre_min_float"}},
        {"program more" OVER "y[gid] = u64(bitcast<u32>(max(v, 2.0))); }", {"vyre_max_float"}},
        {"program cut" OVER "y[gid] = u64(i16(v)); }", {"vyre_short_of_float"}},
        {"program wide" OVER "y[gid] = u64(f64(v) * 3.0); }", {"vyre_ulong_of_double"}},
        {"program turn" OVER "y[gid] = u64(reverse_bits(u32(gid))); }", {"vyre_reverse_32"}},
        {"program turns" OVER "y[gid] = reverse_bits(u64(gid)); }",
         {"vyre_reverse_32", "vyre_reverse_64"}},
    };
#undef OVER
    const opencl_target target = opencl_any_target();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf text = text_of(rows[i].source, &target);
        size_t count = 0;
        for (int k = 0; k < 2 && rows[i].functions[k]; k++) {
            assert_true(count_of(&text, rows[i].functions[k]) >= 2); /* it is called, too */
            count++;
        }
        assert_int_equal(count_of(&text, "static inline"), count);
        vyre_strbuf_free(&text);
    }
}

/* Where one thread runs a workgroup, updates of its own elements need no atomics, unless they order
 * other accesses. */
static void updates_of_one_thread_are_plain(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool is_plain;
    } rows[] = {
        {"program a(y: out buffer<u32>[1]) over 64 workgroup 64 { shared s: u32[1]; "
         "atomic_add(s[0], 1); barrier; y[0] = s[0]; }",
         true},
        {"program b(y: out buffer<u32>[1]) over 64 workgroup 64 { "
         "atomic_max(y[0], gid, relaxed, workgroup); }",
         true},
        {"program c(y: out buffer<u32>[1]) over 64 workgroup 64 { atomic_max(y[0], gid); }", false},
        {"program d(y: out buffer<u32>[1]) over 64 workgroup 64 { shared s: u32[1]; "
         "atomic_add(s[0], 1, acq_rel, workgroup); barrier; y[0] = s[0]; }",
         false},
    };
    opencl_target target = opencl_any_target();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_serial = 0; is_serial < 2; is_serial++) {
            target.is_serial = is_serial;
            vyre_strbuf text = text_of(rows[i].source, &target);
            bool is_plain = is_serial && rows[i].is_plain;
            assert_int_equal(count_of(&text, "atomic_fetch_"), !is_plain);
            assert_int_equal(count_of(&text, "__atomic_signal_fence"), is_plain);
            vyre_strbuf_free(&text);
        }
    }
}

/* Only PoCL's kernels with barriers are written around its compiler's faults, and only where these
 * may be. */
static void kernels_with_barriers_are_cut_for_one_thread(void **state) {
    (void)state;
#define OVER "(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 { "
    static const struct {
        const char *source;
        size_t barriers, statements, conditions;
    } rows[] = {
        {"program plain" OVER "for i in 0u..4 { if x[gid] > i { break; } y[gid] = i; } }", 0, 0, 0},
        {"program straight" OVER "barrier; for i in 0u..len(x) { y[gid] = x[i]; } }", 1, 0, 0},
        {"program behind" OVER
         "barrier; y[gid] = x[gid]; for i in 0u..len(x) { y[gid] = y[gid] + x[i]; } }",
         1, 1, 0},
        {"program parted" OVER "barrier; for i in 0u..x[gid] { y[gid] = i; } }", 1, 1, 1},
        {"program within" OVER "if len(x) > 9 { barrier; y[gid] = x[gid]; } }", 2, 1, 0},
    };
#undef OVER
    opencl_target target = opencl_any_target();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_serial = 0; is_serial < 2; is_serial++) {
            target.is_serial = is_serial;
            target.polls = false;
            vyre_strbuf text = text_of(rows[i].source, &target);
            assert_int_equal(count_of(&text, "__asm__"), is_serial ? rows[i].statements : 0);
            assert_int_equal(count_of(&text, "0x80000000u"), is_serial ? rows[i].conditions : 0);
            assert_int_equal(count_of(&text, "barrier("),
                             is_serial || !rows[i].barriers ? rows[i].barriers : 1);
            vyre_strbuf_free(&text);
        }
    }
}

/* PoCL begins to look for vectors within an invocation at comparisons. */
static void nans_become_canonical_without_comparisons(void **state) {
    (void)state;
    opencl_target target = opencl_any_target();
    for (int by_extremes = 0; by_extremes < 2; by_extremes++) {
        target.nan_by_extremes = by_extremes;
        vyre_strbuf text =
            text_of("program sums(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { "
                    "y[gid] = x[gid] + 1.0; }",
                    &target);
        assert_int_equal(count_of(&text, "!="), !by_extremes);
        assert_int_equal(count_of(&text, "__builtin_fmaxf"), by_extremes);
        vyre_strbuf_free(&text);
    }
}

/* Subgroups. No device of this machine need have any. */

/* What a driver of NVIDIA's says of a device; no warp: another driver. */
static struct { cl_uint major, minor, warp; } nvidia;

static cl_int CL_API_CALL answer_nvidia(cl_device_id device, cl_device_info what, size_t size,
                                        void *value, size_t *out_size) {
    enum { MAJOR = 0x4000, MINOR = 0x4001, WARP = 0x4003 };
    static const char words[] = "cl_nv_compiler_options cl_nv_device_attribute_query";
    if (what == CL_DEVICE_EXTENSIONS && nvidia.warp) {
        if (out_size) {
            *out_size = sizeof words;
        }
        if (value) {
            memcpy(value, words, size < sizeof words ? size : sizeof words);
        }
        return CL_SUCCESS;
    }
    if (what >= MAJOR && what <= WARP) {
        const cl_uint answer = what == MAJOR   ? nvidia.major
                               : what == MINOR ? nvidia.minor
                                               : nvidia.warp;
        memcpy(value, &answer, sizeof answer);
        return CL_SUCCESS;
    }
    return real->clGetDeviceInfo(device, what, size, value, out_size);
}

/* What is claimed of a device is what its code has. */
static void subgroups_are_claimed_where_they_are_native(void **state) {
    (void)state;
    static const struct {
        cl_uint major, minor, warp, sm;
        bool has_matrices;
    } rows[] = {{9, 0, 32, 90, true},  {8, 0, 32, 80, true}, {7, 5, 32, 75, false},
                {7, 0, 32, 70, false}, {6, 1, 32, 0, false}, {9, 0, 64, 0, false},
                {9, 0, 0, 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_backend made = {.host = vyre_host_services()};
        expect_ok(opencl_bundle.registrations->create(made.host, 0, &made));
        opencl_device *device = made.state;
        real = device->cl;
        table = *real;
        table.clGetDeviceInfo = answer_nvidia;
        device->cl = &table;
        nvidia.major = rows[i].major;
        nvidia.minor = rows[i].minor;
        nvidia.warp = rows[i].warp;
        expect_ok(opencl_device_look(device));
        assert_int_equal(device->info.target.sm, rows[i].sm);
        uint32_t features = made.slots->features(&made);
        vyre_profile profile = {0};
        made.slots->device_profile(&made, &profile);
        assert_int_equal(!!(features & VYRE_FEATURE_SUBGROUP_OPS), rows[i].sm != 0);
        assert_int_equal(!!(features & VYRE_FEATURE_TENSOR_CORES), rows[i].has_matrices);
        assert_int_equal(!!(profile.flags & VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE), rows[i].sm != 0);
        assert_int_equal(made.slots->subgroup_size(&made), rows[i].sm ? 32 : 0);
        device->cl = real;
        opencl_device_free(device);
    }
}

/* What lanes exchange values by: `sm` has the instructions for it, or nobody has. */
static void lanes_exchange_values_by_what_the_device_has(void **state) {
    (void)state;
#define LANES(width) "(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 " width "{ "
    static const struct {
        const char *source;
        uint32_t sm;
        const char *has[4], *lacks[4];
    } rows[] = {
        {"program sum" LANES("") "y[gid] = subgroup_add(x[gid]); }",
         90,
         {"redux.sync.add.u32"},
         {"shfl", "barrier", "__local"}},
        {"program sum" LANES("") "y[gid] = subgroup_add(x[gid]); }",
         75,
         {"shfl.sync.idx.b32", "d /= 2"},
         {"redux", "barrier", "__local"}},
        {"program sum" LANES("") "y[gid] = subgroup_add(x[gid]); }",
         0,
         {"barrier", "__local"},
         {"asm", "shuffle"}},
        {"program wide" LANES("subgroup 64 ") "y[gid] = subgroup_add(x[gid]); }",
         90,
         {"barrier", "__local"},
         {"asm", "shuffle"}},
        {"program narrow" LANES("subgroup 8 ") "y[gid] = subgroup_add(x[gid]); }",
         90,
         {"uint d = 4u", "(l & 24u) + (", "0xffffffffu"},
         {"redux", "0xffu <<"}},
        {"program some" LANES(
             "subgroup 8 ") "if subgroup_id == 3 { y[gid] = subgroup_add(x[gid]); } }",
         90,
         {"(l & 24u) + (", ", 0xffu << (l & 24u))"},
         {"0xffffffffu"}},
        {"program some" LANES("") "if subgroup_id == 1 { y[gid] = subgroup_inclusive_add(x[gid]); "
                                  "} }",
         90,
         {"vyre_shuffle_32", "d *= 2", "0xffffffffu"},
         {"barrier"}},
        {"program product" LANES("") "let (a, _b, _c, _d) = subgroup_matrix_mad(x[gid], 2, 3, 4, "
                                     "5, 6, 7, 8, 9, 10); y[gid] = u32(a); }",
         80,
         {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "\"r\"(10)"},
         {"dp4a", "shuffle"}},
        {"program product" LANES("") "let (a, _b, _c, _d) = subgroup_matrix_mad(x[gid], 2, 3, 4, "
                                     "5, 6, 7, 8, 9, 10); y[gid] = u32(a); }",
         75,
         {"dp4a.s32.s32", "(l & 3u) * 8 + 7", "(l & 28u) + 3"},
         {"mma"}},
        {"program bits" LANES("") "y[gid] = bitcast<u32>(subgroup_shuffle_xor(f32(x[gid]), 1)) + "
                                  "u32(subgroup_broadcast(u64(x[gid]), 3)); }",
         90,
         {"as_float(vyre_shuffle_32(as_uint(", "(ulong)vyre_shuffle_64((ulong)"},
         {"barrier"}},
    };
#undef LANES
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        opencl_target target = opencl_any_target();
        target.sm = rows[i].sm;
        vyre_strbuf text = text_of(rows[i].source, &target);
        for (int k = 0; k < 4; k++) {
            if (rows[i].has[k] && !count_of(&text, rows[i].has[k])) {
                fail_msg("%zu: no `%s` in\n%s", i, rows[i].has[k], vyre_strbuf_string(&text));
            }
            if (rows[i].lacks[k] && count_of(&text, rows[i].lacks[k])) {
                fail_msg("%zu: `%s` in\n%s", i, rows[i].lacks[k], vyre_strbuf_string(&text));
            }
        }
        vyre_strbuf_free(&text);
    }
}

static void old_versions_are_left_out(void **state) {
    (void)state;
    assert_false(opencl_driver_suits("OpenCL 1.1 Old Driver 7"));
    assert_false(opencl_driver_suits("OpenCL 1.0"));
    assert_false(opencl_driver_suits(""));
    assert_true(opencl_driver_suits("OpenCL 1.2 CUDA"));
    assert_true(opencl_driver_suits("OpenCL 2.0 "));
    assert_true(opencl_driver_suits("OpenCL 3.0 PoCL"));
    assert_true(opencl_driver_suits("OpenCL 10.0"));
}

int main(int argc, char **argv) {
    if (!opencl_check_available()) {
        return OPENCL_SKIPPED;
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_runs_with_a_timeout_are_short),
        cmocka_unit_test(launches_have_few_items),
        cmocka_unit_test(workgroups_fit_the_kernel),
        cmocka_unit_test(declared_workgroups_are_launched),
        cmocka_unit_test(private_arrays_fit_the_stack),
        cmocka_unit_test(stop_words_do_not_wait_for_runs),
        cmocka_unit_test(commands_stop_runs),
        cmocka_unit_test(cpus_have_code_for_runs_with_a_timeout),
        cmocka_unit_test(other_devices_give_the_same_bytes),
        cmocka_unit_test(long_options_are_refused),
        cmocka_unit_test(options_are_named_where_code_is_refused),
        cmocka_unit_test(careless_options_are_refused),
        cmocka_unit_test(wide_atomics_need_both_extensions),
        cmocka_unit_test(functions_are_there_if_they_are_called),
        cmocka_unit_test(updates_of_one_thread_are_plain),
        cmocka_unit_test(kernels_with_barriers_are_cut_for_one_thread),
        cmocka_unit_test(nans_become_canonical_without_comparisons),
        cmocka_unit_test(subgroups_are_claimed_where_they_are_native),
        cmocka_unit_test(lanes_exchange_values_by_what_the_device_has),
        cmocka_unit_test(old_versions_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
