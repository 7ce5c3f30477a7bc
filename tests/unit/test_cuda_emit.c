/* Every program that the cuda backend writes as PTX is taken by NVIDIA's assembler: samples of
 * every operation and type, examples, benchmarks and random programs, for the oldest and a new
 * device. Many entries are assembled together. Where there is no ptxas, that is said and skipped.
 */
#define _DEFAULT_SOURCE /* mkdtemp, popen */

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/iterations.h"
#include "base/alloc.h"
#include "base/file.h"
#include "conform/trial.h"
#include "pass/message.h"
#include "pass/pass.h"
#include "pass/shared.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/sample_programs.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

enum { BATCH_BYTES = 2000000 };

static char assembler[512];
static char folder[] = P_tmpdir "/vyre-ptx-XXXXXX";
static vyre_strbuf batch;
static uint32_t batch_programs, all_programs;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static bool is_program(const char *path) {
    return access(path, X_OK) == 0;
}

static bool find_assembler(void) {
    const char *path = getenv("PATH");
    snprintf(assembler, sizeof assembler, "/usr/local/cuda/bin/ptxas");
    while (path && *path && !is_program(assembler)) {
        size_t length = strcspn(path, ":");
        snprintf(assembler, sizeof assembler, "%.*s/ptxas", (int)length, path);
        path += length + (path[length] == ':');
    }
    return is_program(assembler);
}

/* A sample without messages, and with numbers in place of sizes of shared arrays. */
static vyre_program *sample_of(size_t index) {
    vyre_program *program = sample_program(index), *fixed;
    expect_ok(vyre_messages_drop(program, &fixed));
    if (fixed) {
        vyre_program_release(program);
        program = fixed;
    }
    uint32_t lengths[64];
    assert_true(vyre_program_ir(program)->resource_count <= 64);
    for (uint32_t i = 0; i < 64; i++) {
        lengths[i] = 5 + i;
    }
    if (!vyre_shared_is_sized(vyre_program_ir(program))) {
        return program;
    }
    expect_ok(vyre_shared_fix(program, lengths, &fixed));
    vyre_program_release(program);
    return fixed;
}

/* The same, with elementary functions as the code that they are short for. */
static vyre_program *expanded_of(size_t index) {
    vyre_program *program = sample_of(index), *expanded;
    expect_ok(vyre_math_expand(program, &expanded));
    if (!expanded) {
        return program;
    }
    vyre_program_release(program);
    return expanded;
}

/* For a device of that kind and for newer ones. */
static void assemble_from(size_t first) {
    static const char *const devices[] = {"sm_75", "sm_90"};
    char path[64], command[700], line[256];
    if (!batch_programs) {
        return;
    }
    snprintf(path, sizeof path, "%s/batch.ptx", folder);
    assert_false(batch.failed);
    expect_ok(vyre_file_replace(path, batch.data, batch.size));
    for (size_t i = first; i < sizeof devices / sizeof *devices; i++) {
        snprintf(command, sizeof command, "%s -arch=%s -o /dev/null %s 2>&1", assembler, devices[i],
                 path);
        FILE *out = popen(command, "r");
        assert_non_null(out);
        vyre_strbuf said = {0};
        while (fgets(line, sizeof line, out)) {
            vyre_strbuf_puts(&said, line);
        }
        if (pclose(out) != 0) {
            fail_msg("%s for %s: %.2000s", path, devices[i], vyre_strbuf_string(&said));
        }
        vyre_strbuf_free(&said);
    }
    vyre_strbuf_cut(&batch, 0);
    batch_programs = 0;
}

static void assemble(void) {
    assemble_from(0);
}

/* Adds a program to the batch, as entries of its own names. */
static void add_for(const vyre_program *program, cuda_target target) {
    vyre_program *expanded;
    char prefix[32];
    expect_ok(vyre_math_expand(program, &expanded));
    const vyre_program *plain = expanded ? expanded : program;
    cuda_phase_info *infos =
        vyre_alloc_zeroed(vyre_program_ir(plain)->phase_count + 1, sizeof *infos);
    if (!batch_programs) {
        cuda_emit_head(&target, &batch);
        cuda_iterations_write(&batch);
    }
    snprintf(prefix, sizeof prefix, "p%u", all_programs++);
    target.prefix = prefix;
    target.codes = batch_programs % 4 ? UINT32_MAX : 16; /* constant memory is for some of them */
    cuda_emit_constants(plain, &target, &batch);
    expect_ok(cuda_emit_entries(plain, &target, &batch, infos, NULL));
    batch_programs++;
    for (uint32_t i = 0; i < vyre_program_ir(plain)->phase_count; i++) {
        assert_in_range(infos[i].threads, 1, 1024);
        assert_in_range(infos[i].parts, 1, 16);
    }
    vyre_free(infos);
    vyre_program_release(expanded);
    if (batch.size > BATCH_BYTES) {
        assemble();
    }
}

static void add(const vyre_program *program) {
    vyre_program *bare;
    expect_ok(vyre_messages_drop(program, &bare));
    add_for(bare ? bare : program, cuda_baseline());
    vyre_program_release(bare);
}

static int start(void **state) {
    (void)state;
    if (!find_assembler()) {
        print_message("not assembled: there is no ptxas on the PATH nor in /usr/local/cuda/bin\n");
        return 0;
    }
    return mkdtemp(folder) ? 0 : -1;
}

static int finish(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/batch.ptx", folder);
    unlink(path);
    rmdir(folder);
    vyre_strbuf_free(&batch);
    return 0;
}

static void need_assembler(void) {
    if (!is_program(assembler)) {
        skip();
    }
}

static void samples_assemble(void **state) {
    (void)state;
    need_assembler();
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_of(i);
        add(program);
        vyre_program_release(program);
    }
    assemble();
}

static void add_folder(const char *path) {
    DIR *opened = opendir(path);
    assert_non_null(opened);
    for (struct dirent *entry; (entry = readdir(opened));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".vyre") != 0) {
            continue;
        }
        char name[512];
        vyre_strbuf text = {0};
        vyre_module *module;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        expect_ok(vyre_file_read(name, 1 << 20, &text));
        expect_ok(vyre_module_parse(name, vyre_strbuf_string(&text), text.size, NULL, &module));
        for (size_t i = 0; i < vyre_module_count(module); i++) {
            add(vyre_module_program(module, i));
        }
        vyre_module_free(module);
        vyre_strbuf_free(&text);
    }
    closedir(opened);
}

static void texts_assemble(void **state) {
    (void)state;
    need_assembler();
    add_folder("examples");
    add_folder("bench/kernels");
    assemble();
}

static void random_programs_assemble(void **state) {
    (void)state;
    need_assembler();
    uint64_t count = test_work(40, 8);
    for (uint64_t seed = 300000; seed < 300000 + count; seed++) {
        conform_trial trial;
        expect_ok(trial_generate(seed, &trial));
        add(trial.program);
        conform_trial_free(&trial);
    }
    assemble();
}

/* What newer devices have of their own. */
static void samples_assemble_for_newer_devices(void **state) {
    (void)state;
    need_assembler();
    static const cuda_target targets[] = {
        {75, 65, "", false, 1}, {80, 70, "", false, 1}, {90, 80, "", false, 1}};
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        for (size_t i = 0; i < SAMPLE_COUNT; i++) {
            vyre_program *program = sample_of(i);
            add_for(program, targets[t]);
            vyre_program_release(program);
        }
        assemble_from(targets[t].sm > 75);
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = expanded_of(i);
        cuda_phase_info *infos = calloc(vyre_program_ir(program)->phase_count + 1, sizeof *infos);
        cuda_target target = cuda_baseline();
        size_t step = vyre_program_ir(program)->inst_count / 300 + 1;
        for (size_t n = 1; failing_allocator_start(n); n += step) {
            vyre_strbuf text = {0};
            vyre_status status = cuda_emit(program, &target, &text, infos);
            vyre_status_code code = vyre_status_code_of(status);
            vyre_status_free(status);
            vyre_strbuf_free(&text);
            failing_allocator_stop();
            assert_int_equal(code, failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : 0);
            if (!failing_allocator_failed()) {
                break;
            }
        }
        free(infos);
        vyre_program_release(program);
    }
}

/* Neighbours of which the first lies past the end, as numbers: the second has its own place. */
static void neighbours_past_the_end(void **state) {
    (void)state;
    static const char text[] = "program p(x: buffer<u32>, y: out buffer<u32>[8]) over x {\n"
                               "    var a: u32[6];\n"
                               "    a[5] = x[gid];\n"
                               "    let past = a[6];\n"
                               "    y[gid] = past + a[5];\n"
                               "}\n";
    vyre_module *module;
    cuda_phase_info info;
    cuda_target target = cuda_baseline();
    vyre_strbuf ptx = {0};
    expect_ok(vyre_module_parse("test.vyre", text, sizeof text - 1, NULL, &module));
    expect_ok(cuda_emit(vyre_module_program(module, 0), &target, &ptx, &info));
    assert_non_null(strstr(vyre_strbuf_string(&ptx), ", [phase_0_private+20]")); /* the load */
    vyre_strbuf_free(&ptx);
    vyre_module_free(module);
}

/* What ptxas compiles wrongly, by tests/gpu/known.vyre: behind `setp.ne` on integers it loses a
 * `not`, and with an `ld.acquire` of which nobody uses the value it drops the guard of others. */
static void nothing_that_ptxas_breaks(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = expanded_of(i);
        cuda_phase_info *infos = calloc(vyre_program_ir(program)->phase_count + 1, sizeof *infos);
        cuda_target target = cuda_baseline();
        vyre_strbuf ptx = {0};
        expect_ok(cuda_emit(program, &target, &ptx, infos));
        assert_null(strstr(vyre_strbuf_string(&ptx), "setp.ne."));
        assert_null(strstr(vyre_strbuf_string(&ptx), "ld.acquire."));
        vyre_strbuf_free(&ptx);
        free(infos);
        vyre_program_release(program);
    }
}

static void check_load(const char *order, const char *load, bool fence) {
    char text[200];
    snprintf(text, sizeof text,
             "program p(x: inout buffer<u32>[1], y: out buffer<u32>[1]) over 1 workgroup 1 {\n"
             "    y[0] = atomic_load(x[0], %s);\n"
             "}\n",
             order);
    vyre_module *module;
    cuda_phase_info info;
    cuda_target target = cuda_baseline();
    vyre_strbuf ptx = {0};
    expect_ok(vyre_module_parse("test.vyre", text, strlen(text), NULL, &module));
    expect_ok(cuda_emit(vyre_module_program(module, 0), &target, &ptx, &info));
    const char *place = strstr(vyre_strbuf_string(&ptx), load);
    assert_non_null(place);
    place = strchr(place, '\n') + 1;
    static const char line[] = "\tfence.acq_rel.";
    assert_int_equal(strncmp(place, line, sizeof line - 1) == 0, fence);
    vyre_strbuf_free(&ptx);
    vyre_module_free(module);
}

static void a_fence_makes_a_load_acquire(void **state) {
    (void)state;
    check_load("relaxed", "ld.relaxed.gpu.global.u32 ", false);
    check_load("acquire", "ld.relaxed.gpu.global.u32 ", true);
    check_load("seq_cst", "ld.relaxed.gpu.global.u32 ", true);
    check_load("acquire, workgroup", "ld.relaxed.cta.global.u32 ", true);
}

/* What the frame is made of: nothing overlaps, and everything lies at a multiple of its size. */
static void frames_are_laid_out(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_of(i);
        const vyre_ir *ir = vyre_program_ir(program);
        cuda_layout l = cuda_layout_of(ir);
        assert_true(l.arrays + 8 * l.array_count <= l.lengths);
        assert_true(l.lengths + 8 * l.array_count <= l.arguments);
        assert_true(l.arguments + 8 * ir->arg_count <= l.iterations);
        assert_true(l.iterations + 4 * ir->step_count <= l.bytes);
        assert_int_equal((l.domain | l.groups | l.from | l.stop | l.counters | l.arrays) % 8, 0);
        assert_int_equal(l.by_pointer, l.bytes > CUDA_FRAME_LIMIT);
        vyre_program_release(program);
    }
}

/* A block covers as many invocations as it has threads, in the dimensions that there are. */
static void shapes_follow_the_domain(void **state) {
    (void)state;
    static const struct {
        uint32_t dimensions;
        uint64_t domain[3];
        uint32_t tile[3];
    } rows[] = {
        {1, {1000, 1, 1}, {1024, 1, 1}}, {2, {4096, 4096, 1}, {128, 8, 1}},
        {2, {16, 9000, 1}, {16, 64, 1}}, {2, {100000, 2, 1}, {512, 2, 1}},
        {3, {8, 8, 100000}, {8, 8, 16}}, {3, {1, 1, 1}, {1024, 1, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_phase phase = {.dimensions = rows[i].dimensions};
        cuda_phase_info info = {.threads = CUDA_OPEN_THREADS, .parts = 4};
        cuda_shape shape = cuda_shape_of(&phase, &info, rows[i].domain, 0);
        for (int d = 0; d < 3; d++) {
            assert_int_equal(shape.tile[d], rows[i].tile[d]);
        }
        assert_int_equal(shape.tile[0] * shape.tile[1] * shape.tile[2], 4 * CUDA_OPEN_THREADS);
        assert_int_equal(shape.bits[1] >> CUDA_SHAPE_PARTS, 4);
        uint64_t all = rows[i].domain[0] * rows[i].domain[1] * rows[i].domain[2];
        shape = cuda_shape_of(&phase, &info, rows[i].domain, all / 2); /* too few for four each */
        assert_int_equal(shape.tile[0] * shape.tile[1] * shape.tile[2],
                         (all > 1 ? 1 : 4) * CUDA_OPEN_THREADS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_assemble),
        cmocka_unit_test(texts_assemble),
        cmocka_unit_test(random_programs_assemble),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(frames_are_laid_out),
        cmocka_unit_test(shapes_follow_the_domain),
        cmocka_unit_test(samples_assemble_for_newer_devices),
        cmocka_unit_test(neighbours_past_the_end),
        cmocka_unit_test(nothing_that_ptxas_breaks),
        cmocka_unit_test(a_fence_makes_a_load_acquire),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
