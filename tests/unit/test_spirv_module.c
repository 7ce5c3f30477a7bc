/* The SPIR-V writer without tools: what it refuses, how it fails without memory, how large modules
 * become, and what the frame and the launch are. */
#define _DEFAULT_SOURCE /* mkdtemp, popen */

#include "tests/unit/spirv_check.h"

#include <vyre/vyre.h>

#include "tests/unit/failing_allocator.h"
#include "tests/unit/sample_programs.h"

static const vyre_corrections nothing;

static vyre_module *parse(const char *text) {
    vyre_module *module;
    expect_ok(vyre_module_parse("test.vyre", text, strlen(text), NULL, &module));
    return module;
}

/* The module of phase 0. */
static vyre_status emit_text(const char *text, const spirv_target *target, spirv_module *out_module,
                             spirv_phase_info *out_info) {
    vyre_module *module = parse(text);
    vyre_program *lowered = spirv_lowered(vyre_module_program(module, 0), 120, &nothing);
    vyre_status status = spirv_emit(lowered, target, 0, out_module, out_info);
    vyre_program_release(lowered);
    vyre_module_free(module);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const spirv_target target = spirv_baseline();
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        vyre_program *lowered = spirv_lowered(program, target.widths, &nothing);
        spirv_phase_info *infos = calloc(vyre_program_ir(lowered)->phase_count + 1, sizeof *infos);
        size_t step = vyre_program_ir(lowered)->inst_count / 300 + 1;
        for (size_t n = 1; failing_allocator_start(n); n += step) {
            spirv_module module;
            vyre_strbuf text = {0};
            vyre_status status = spirv_emit(lowered, &target, VYRE_NONE, &module, infos);
            bool printed = status || spirv_disassemble(&module, &text);
            vyre_status_code code = vyre_status_code_of(status);
            vyre_status_free(status);
            vyre_strbuf_free(&text);
            spirv_module_free(&module);
            failing_allocator_stop();
            bool failed = failing_allocator_failed();
            assert_true(code == VYRE_STATUS_OUT_OF_MEMORY ? failed : !code);
            assert_true(printed || failed);
            assert_true(code || !printed || !failed);
            if (!failed) {
                break;
            }
        }
        free(infos);
        vyre_program_release(lowered);
        vyre_program_release(program);
    }
}

static void every_allocation_of_the_count_may_fail(void **state) {
    (void)state;
    const spirv_target target = spirv_baseline();
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        spirv_module module;
        assert_true(failing_allocator_start(n));
        vyre_status status = spirv_emit_count(&target, &module);
        spirv_module_free(&module);
        failed = !failing_allocator_judge(n, status);
        failing_allocator_stop();
    }
}

/* What the frame is made of: nothing overlaps, and everything lies at a multiple of its size. */
static void frames_are_laid_out(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        const vyre_ir *ir = vyre_program_ir(program);
        spirv_layout l = spirv_layout_of(ir);
        assert_true(l.arrays + 8 * l.array_count <= l.lengths);
        assert_true(l.lengths + 8 * l.array_count <= l.arguments);
        assert_true(l.arguments + 8 * ir->arg_count <= l.iterations);
        assert_true(l.iterations + 4 * ir->step_count <= l.bytes);
        assert_int_equal(l.groups, l.domain + 24); /* as spirv_emit_count writes them */
        assert_int_equal((l.domain | l.groups | l.shape | l.first | l.stop | l.constants |
                          l.counters | l.device_iterations | l.gate | l.arrays | l.bytes) %
                             8,
                         0);
        vyre_program_release(program);
    }
}

/* A workgroup covers as many invocations as it has, in the dimensions that there are. */
static void shapes_follow_the_domain(void **state) {
    (void)state;
    static const struct {
        uint32_t dimensions;
        uint64_t domain[3];
        uint32_t tile[3];
    } rows[] = {
        {1, {1000, 1, 1}, {256, 1, 1}},
        {2, {4096, 4096, 1}, {32, 8, 1}},
        {2, {16, 9000, 1}, {16, 16, 1}},
        {2, {100000, 2, 1}, {128, 2, 1}},
        {3, {8, 8, 100000}, {8, 8, 4}},
        {3, {1, 1, 1}, {256, 1, 1}},
        {1, {UINT64_C(1) << 32, 1, 1}, {256, 1, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_phase phase = {.dimensions = rows[i].dimensions};
        spirv_phase_info info = {.threads = SPIRV_OPEN_THREADS};
        spirv_shape shape = spirv_shape_of(&phase, &info, rows[i].domain);
        for (int d = 0; d < 3; d++) {
            assert_int_equal(shape.tile[d], rows[i].tile[d]);
        }
        assert_int_equal(UINT32_C(1) << shape.bits[0], shape.tile[0]);
        assert_int_equal(UINT32_C(1) << shape.bits[1], shape.tile[1]);
    }
}

/* How a phase is launched follows from what is in it. */
static void launches_follow_the_code(void **state) {
    (void)state;
    static const struct {
        const char *text;
        spirv_phase_info info;
    } rows[] = {
        {"program p(x: inout buffer<u32>) over x { x[gid] = 1; }", {.threads = SPIRV_OPEN_THREADS}},
        {"program p(x: inout buffer<u32>) over x workgroup 32 { shared s: u16[5]; s[lid] = 1; "
         "barrier; x[gid] = u32(s[lid + 1]); }",
         {.threads = 32, .shared_bytes = 16}},
        {"program p(x: inout buffer<u32>) over x workgroup 64 { x[gid] = subgroup_add(x[gid]); }",
         {.threads = 64, .subgroup = 32}},
        {"program p(x: inout buffer<u32>) over x workgroup 64 { let n = x[gid]; "
         "while atomic_load(x[n], acquire) != 0 { } }",
         {.threads = 64, .shared_bytes = 16, .ordered = true, .has_loops = true}},
        {"program p(x: inout buffer<u32>) over x { var n = x[gid]; while n > 1 { n = n / 3; } "
         "x[gid] = n; }",
         {.threads = SPIRV_OPEN_THREADS, .has_loops = true}},
    };
    const spirv_target target = spirv_baseline();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spirv_module module;
        spirv_phase_info info;
        expect_ok(emit_text(rows[i].text, &target, &module, &info));
        assert_int_equal(info.threads, rows[i].info.threads);
        assert_int_equal(info.subgroup, rows[i].info.subgroup);
        assert_int_equal(info.shared_bytes, rows[i].info.shared_bytes);
        assert_int_equal(info.ordered, rows[i].info.ordered);
        assert_int_equal(info.has_loops, rows[i].info.has_loops);
        assert_false(info.cooperative);
        spirv_module_free(&module);
    }
}

/* What stands in phase 0 for a device, and how often. */
static uint32_t count_in(const char *program, const spirv_target *target, const char *word) {
    spirv_module module;
    spirv_phase_info info;
    vyre_strbuf text = {0};
    uint32_t count = 0;
    expect_ok(emit_text(program, target, &module, &info));
    assert_true(spirv_disassemble(&module, &text));
    for (const char *at = vyre_strbuf_string(&text); (at = strstr(at, word)); at++) {
        count++;
    }
    vyre_strbuf_free(&text);
    spirv_module_free(&module);
    return count;
}

#define UNTIL                                                                                      \
    "program p(n: u32, x: inout buffer<u32>) over x { var s = x[gid]; "                            \
    "for i in 0..n { for j in 0..s { s = s / 3; } s += i; } x[gid] = s; }"
#define COUNTED                                                                                    \
    "program p(x: inout buffer<u32>) over x { var s = x[gid]; "                                    \
    "for i in 0..900 { s = s / 3 + i; } x[gid] = s; }"
#define FROM_MEMORY                                                                                \
    "program p(n: buffer<u32>, x: inout buffer<u32>) { phase over n[0] max len(x) { x[gid] = 1; "  \
    "} }"

/* Code that looks at the stop word is there where it is asked for: in each loop that may be long.
 */
static void loops_look_where_they_shall(void **state) {
    (void)state;
    spirv_target target = spirv_baseline();
    assert_int_equal(count_in(UNTIL, &target, "OpAtomicLoad"), 3);
    assert_int_equal(count_in(COUNTED, &target, "OpAtomicLoad"), 0);
    target.polls = false;
    assert_int_equal(count_in(UNTIL, &target, "OpAtomicLoad"), 1); /* before all loops */
}

/* A loop that may need too many turns ends like any other; what follows from that stands behind it.
 * Those that are known to be few are not counted. */
static void turns_are_counted_in_heads(void **state) {
    (void)state;
    spirv_target target = spirv_baseline();
    target.polls = false;
    assert_int_equal(count_in(UNTIL, &target, "OpAtomicStore"), 0);
    assert_int_equal(count_in(UNTIL, &target, "OpULessThanEqual"), 0);
    target.most_turns = 65535;
    assert_int_equal(count_in(UNTIL, &target, "OpAtomicStore"), 1);
    assert_int_equal(count_in(UNTIL, &target, "OpULessThanEqual"), 4); /* head and end of each */
    assert_int_equal(count_in(COUNTED, &target, "OpAtomicStore"), 0);
    target.most_turns = 64 + 901; /* 64 are kept for the driver; the last turn finds the end */
    assert_int_equal(count_in(COUNTED, &target, "OpAtomicStore"), 0);
    target.most_turns--;
    assert_int_equal(count_in(COUNTED, &target, "OpAtomicStore"), 1);
}

/* A workgroup has one group where the host knows how many there are. The frame is then in the push
 * constants if they have room for it. */
static void known_domains_need_no_loop(void **state) {
    (void)state;
    static const char one[] = "program p(x: inout buffer<u32>) over x { x[gid] = 1; }";
    spirv_target target = spirv_baseline();
    assert_int_equal(count_in(one, &target, "OpLoopMerge"), 0);
    assert_int_equal(count_in(FROM_MEMORY, &target, "OpLoopMerge"), 1);
    target.push_bytes = SPIRV_MOST_PUSH;
    assert_int_equal(count_in(one, &target, "OpConvertUToPtr"), 1); /* the element */
    assert_true(count_in(FROM_MEMORY, &target, "OpConvertUToPtr") > 1);
    target.push_bytes = 8;
    assert_true(count_in(one, &target, "OpConvertUToPtr") > 1);
}

/* Where a device cannot order accesses, those that atomics order are volatile; others are not. */
static void accesses_are_volatile_where_atomics_order_them(void **state) {
    (void)state;
    static const char *const texts[] = {
        "program p(x: inout buffer<u32>) over x workgroup 32 { shared s: u32[32]; "
        "atomic_add(s[lid], x[gid], relaxed); barrier; x[gid] = s[lid + 1]; }",
        "program p(x: inout buffer<u32>) over x workgroup 32 { shared s: u32[32]; "
        "atomic_add(s[lid], x[gid], acq_rel); barrier; x[gid] = s[lid + 1]; }",
    };
    spirv_target target = spirv_baseline();
    for (size_t i = 0; i < 2; i++) {
        target.no_fences = false;
        assert_int_equal(count_in(texts[i], &target, "Volatile"), 0);
        target.no_fences = true;
        assert_int_equal(count_in(texts[i], &target, "Volatile") != 0, i == 1);
    }
}

/* Where a driver's minimum flushes, it does not see that what is compared is what is chosen. Of
 * what nobody else uses it may see that. */
static void operands_that_may_be_chosen_are_hidden(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t hidden;
    } rows[] = {
        {"program p(x: inout buffer<f32>, y: buffer<f32>) over x { "
         "x[gid] = select(x[gid] < y[gid], y[gid], x[gid]); }",
         2},
        {"program p(x: inout buffer<f32>) over x { x[gid] = select(x[gid] <= 3, x[gid], 3.0f); }",
         1},
        {"program p(x: inout buffer<f32>) over x { x[gid] = select(x[gid] + x[gid] < 3, 1.0f, "
         "2.0f); }",
         0},
        {"program p(x: inout buffer<u32>) over x { x[gid] = select(x[gid] < 3, x[gid], 3); }", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spirv_target target = spirv_baseline();
        uint32_t before = count_in(rows[i].text, &target, "OpBitwiseOr");
        target.flushes_chosen = true;
        assert_int_equal(count_in(rows[i].text, &target, "OpBitwiseOr"), before + rows[i].hidden);
    }
}

/* What a device lacks is a reason. */
static void what_is_absent_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"program p(x: inout buffer<u8>) over x { x[gid] = 1; }", "storageBuffer8BitAccess"},
        {"program p(x: inout buffer<i16>) over x { x[gid] = 1; }", "storageBuffer16BitAccess"},
        {"program p(x: inout buffer<u64>) over x { atomic_add(x[0], 1); }",
         "shaderBufferInt64Atomics"},
        {"program p(x: inout buffer<u64>) over x workgroup 8 { shared s: u64[1]; "
         "atomic_max(s[0], x[gid]); barrier; x[gid] = s[0]; }",
         "shaderSharedInt64Atomics"},
        {"program p(x: inout buffer<u32>) over x workgroup 64 { x[gid] = subgroup_add(x[gid]); }",
         "subgroups"},
    };
    const spirv_target target = {.version = 0x10500};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spirv_module module;
        spirv_phase_info info;
        vyre_status status = emit_text(rows[i].text, &target, &module, &info);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
        assert_non_null(strstr(vyre_status_text(status), rows[i].word));
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        assert_null(module.words);
        vyre_status_free(status);
    }
}

/* Twice the statements are about twice the words. */
static size_t words_of(uint32_t statements) {
    const spirv_target target = spirv_baseline();
    vyre_strbuf text = {0};
    spirv_module module;
    spirv_phase_info info;
    vyre_strbuf_puts(&text, "program p(x: inout buffer<f32>) over x { var a = x[gid]; ");
    for (uint32_t i = 0; i < statements; i++) {
        vyre_strbuf_printf(&text, "if a < %u.5 { a = a * a + x[gid + %u]; } ", i, i);
    }
    vyre_strbuf_puts(&text, "x[gid] = a; }");
    expect_ok(emit_text(vyre_strbuf_string(&text), &target, &module, &info));
    size_t count = module.count;
    spirv_module_free(&module);
    vyre_strbuf_free(&text);
    return count;
}

static void modules_are_linear(void **state) {
    (void)state;
    size_t few = words_of(500), many = words_of(4000);
    assert_true(many < 9 * few);
}

/* Bytes that are no module, or end too early, are said to be that. */
static void only_modules_are_text(void **state) {
    (void)state;
    uint32_t words[] = {0x07230203, 0x10500, 0, 10, 0, 3 << 16 | 17, 1};
    const size_t counts[] = {0, 4, 6, 7};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        vyre_strbuf text = {0};
        assert_false(spirv_disassemble(&(spirv_module){words, counts[i]}, &text));
        vyre_strbuf_free(&text);
    }
    vyre_strbuf text = {0};
    words[5] = 2 << 16 | 17;
    assert_true(spirv_disassemble(&(spirv_module){words, 7}, &text));
    assert_string_equal(vyre_strbuf_string(&text), "; SPIR-V 1.5\nOpCapability Shader\n");
    vyre_strbuf_cut(&text, 0);
    words[5] = 2 << 16 | 9999;
    assert_true(spirv_disassemble(&(spirv_module){words, 7}, &text));
    assert_string_equal(vyre_strbuf_string(&text), "; SPIR-V 1.5\n!9999 1\n");
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(frames_are_laid_out),
        cmocka_unit_test(shapes_follow_the_domain),
        cmocka_unit_test(launches_follow_the_code),
        cmocka_unit_test(what_is_absent_is_refused),
        cmocka_unit_test(modules_are_linear),
        cmocka_unit_test(only_modules_are_text),
        cmocka_unit_test(loops_look_where_they_shall),
        cmocka_unit_test(turns_are_counted_in_heads),
        cmocka_unit_test(known_domains_need_no_loop),
        cmocka_unit_test(accesses_are_volatile_where_atomics_order_them),
        cmocka_unit_test(operands_that_may_be_chosen_are_hidden),
        cmocka_unit_test(every_allocation_of_the_count_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
