#include "tests/unit/cpu_check.h"

#include <elf.h>

#include "backend/cpu/codegen/llvm_parts.h"
#include "backend/cpu/runtime/artifact.h"
#include "backend/cpu/runtime/code.h"
#include "backend/cpu/runtime/pool.h"
#include "backend/cpu/runtime/relocate.h"
#include "base/status.h"
#include "tests/unit/failing_allocator.h"

/* Adds 3 to the words of array 0 from `first` on, by a helper that must be inlined, with a table,
 * a switch, and a fill that becomes a call. */
static const char good_ir[] =
    "define internal i32 @helper(i32 %x) alwaysinline { %y = add i32 %x, 3 ret i32 %y }\n"
    "define void @phase_0(ptr %f, i64 %first, i64 %end, ptr %s) nounwind {\n"
    "entry:\n"
    "  call void @llvm.memset.p0.i64(ptr %s, i8 0, i64 %end, i1 false)\n"
    "  %arrays = load ptr, ptr %f, align 8\n"
    "  %a = load ptr, ptr %arrays, align 8\n"
    "  br label %loop\n"
    "loop:\n"
    "  %i = phi i64 [ %first, %entry ], [ %n, %next ]\n"
    "  %c = icmp ult i64 %i, %end\n"
    "  br i1 %c, label %body, label %done\n"
    "body:\n"
    "  %p = getelementptr i32, ptr %a, i64 %i\n"
    "  %v = load i32, ptr %p, align 4\n"
    "  %w = call i32 @helper(i32 %v)\n"
    "  switch i32 %w, label %next [ i32 1, label %k1 i32 2, label %k2 i32 3, label %k3\n"
    "    i32 4, label %k4 i32 5, label %k5 i32 6, label %k6 ]\n"
    "k1: br label %next\n"
    "k2: br label %next\n"
    "k3: br label %next\n"
    "k4: br label %next\n"
    "k5: br label %next\n"
    "k6: br label %next\n"
    "next:\n"
    "  %r = phi i32 [ %w, %body ], [ 71, %k1 ], [ 5, %k2 ], [ 19, %k3 ], [ 44, %k4 ], [ 9, %k5 ],\n"
    "    [ 600, %k6 ]\n"
    "  store i32 %r, ptr %p, align 4\n"
    "  %n = add i64 %i, 1\n"
    "  br label %loop\n"
    "done: ret void\n"
    "}\n"
    "define void @phase_1(ptr %f, i64 %first, i64 %end, ptr %s) nounwind { ret void }\n"
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";

static vyre_strbuf text_of(const char *string) {
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, string);
    assert_false(text.failed);
    return text;
}

static vyre_status compile(const vyre_strbuf *ir, cpu_llvm_form form, vyre_strbuf *out) {
    cpu_llvm_threads threads;
    VYRE_TRY(cpu_pool_lend(&threads));
    return cpu_llvm_compile(ir, form, &threads, out);
}

static vyre_status compile_text(const char *ir, cpu_llvm_form form, vyre_strbuf *out) {
    vyre_strbuf source = text_of(ir);
    vyre_status status = compile(&source, form, out);
    vyre_strbuf_free(&source);
    return status;
}

static vyre_strbuf good_object(void) {
    vyre_strbuf object = {0};
    expect_ok(compile_text(good_ir, CPU_LLVM_OBJECT, &object));
    return object;
}

static vyre_status load(const vyre_strbuf *object, cpu_code *code, cpu_kernel kernels[2]) {
    return cpu_code_load((const uint8_t *)object->data, object->size, 2, code, kernels);
}

static void expect_runs(const cpu_kernel kernels[2]) {
    static const uint32_t expected[] = {19, 44, 9, 600, 7, 8, 1003, 9};
    uint32_t words[] = {0, 1, 2, 3, 4, 5, 1000, 9};
    uint8_t storage[64];
    uint8_t *const arrays[] = {(uint8_t *)words};
    const cpu_frame frame = {.arrays = arrays};
    memset(storage, 255, sizeof storage);
    kernels[0](&frame, 0, 7, storage);
    assert_memory_equal(words, expected, sizeof words);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(storage[i], i < 7 ? 0 : 255);
    }
    kernels[1](&frame, 0, 1, storage);
}

static void llvm_tells_what_it_is(void **state) {
    (void)state;
    cpu_llvm_info info;
    expect_ok(cpu_llvm_open(&info));
    assert_memory_equal(info.version, "LLVM ", 5);
    assert_true(info.triple[0] && info.cpu[0]);
    const cpu_llvm_info made = {.features = "+avx,-avx512f,+avx2"};
    assert_true(cpu_llvm_has_feature(&made, "avx"));
    assert_true(cpu_llvm_has_feature(&made, "avx2"));
    assert_false(cpu_llvm_has_feature(&made, "avx512f"));
    assert_false(cpu_llvm_has_feature(&made, "av"));
}

/* A level that the CPU has is taken, with what tells it from the one below; another is refused with
 * the feature that is missing. */
static void llvm_takes_the_level_that_is_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *level, *has, *has_not;
    } rows[] = {
        {"x86-64", "sse2", "ssse3"},
        {"x86-64-v2", "sse4.2", "avx"},
        {"x86-64-v3", "avx2", "avx512f"},
        {"x86-64-v4", "avx512vl", "amx-tile"},
    };
    const char *asked = getenv("VYRE_CPU_FEATURES");
    cpu_llvm_info all, level;
    unsetenv("VYRE_CPU_FEATURES");
    expect_ok(cpu_llvm_open(&all));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("VYRE_CPU_FEATURES", rows[i].level, 1);
        vyre_status status = cpu_llvm_open(&level);
        if (cpu_llvm_has_feature(&all, rows[i].has)) {
            expect_ok(status);
            assert_string_equal(level.cpu, rows[i].level);
            assert_true(cpu_llvm_has_feature(&level, rows[i].has));
            assert_false(cpu_llvm_has_feature(&level, rows[i].has_not));
        } else {
            expect_fail(status, VYRE_STATUS_INVALID_ARGUMENT, "lacks");
        }
    }
    setenv("VYRE_CPU_FEATURES", "x86-64-v9", 1);
    expect_fail(cpu_llvm_open(&level), VYRE_STATUS_INVALID_ARGUMENT, "VYRE_CPU_FEATURES");
    asked ? setenv("VYRE_CPU_FEATURES", asked, 1) : unsetenv("VYRE_CPU_FEATURES");
}

static void llvm_code_runs(void **state) {
    (void)state;
    vyre_strbuf object = good_object();
    cpu_code code;
    cpu_kernel kernels[2];
    expect_ok(load(&object, &code, kernels));
    vyre_strbuf_free(&object);
    expect_runs(kernels);
    cpu_code_unload(&code);
    assert_null(code.mapping);
    cpu_code_unload(&code);
}

static void llvm_shows_its_work(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    expect_ok(compile_text(good_ir, CPU_LLVM_IR, &text));
    assert_non_null(strstr(text.data, "define"));
    assert_null(strstr(text.data, "@helper")); /* inlined, and gone */
    vyre_strbuf_free(&text);
    expect_ok(compile_text(good_ir, CPU_LLVM_ASSEMBLY, &text));
    assert_non_null(strstr(text.data, "phase_0:"));
    vyre_strbuf_free(&text);
}

/* Phases that store their number, as long as text can make them. */
static vyre_strbuf many_phases(uint32_t count) {
    vyre_strbuf ir = {0};
    vyre_strbuf_puts(&ir, "@zeros = internal constant [512 x i8] zeroinitializer, align 64\n\n");
    for (uint32_t phase = 0; phase < count; phase++) {
        vyre_strbuf_printf(
            &ir,
            "define internal i32 @phase_%u_number() alwaysinline nounwind {\nentry:\n"
            "  ret i32 %u\n}\n\n",
            phase, phase * 3 + 1);
        vyre_strbuf_printf(
            &ir,
            "define void @phase_%u(ptr %%f, i64 %%first, i64 %%end, ptr %%s) nounwind "
            "{\nentry:\n",
            phase);
        for (int i = 0; i < 200; i++) {
            vyre_strbuf_printf(&ir, "  %%a%d = load volatile i8, ptr @zeros\n", i);
        }
        vyre_strbuf_printf(&ir,
                           "  %%n = call i32 @phase_%u_number()\n  store i32 %%n, ptr %%s\n"
                           "  ret void\n}\n\n",
                           phase);
    }
    vyre_strbuf_puts(&ir, "!0 = !{}\n");
    assert_false(ir.failed);
    return ir;
}

static void modules_are_cut_between_phases(void **state) {
    (void)state;
    vyre_strbuf parts[CPU_MOST_PARTS], ir = many_phases(7);
    assert_int_equal(cpu_llvm_cut(&ir, 1, parts), 1);
    assert_int_equal(cpu_llvm_cut(&ir, 3, parts), 3);
    for (uint32_t phase = 0; phase < 7; phase++) {
        char kernel[64], number[64];
        uint32_t homes = 0;
        snprintf(kernel, sizeof kernel, "define void @phase_%u(", phase);
        snprintf(number, sizeof number, "define internal i32 @phase_%u_number(", phase);
        for (uint32_t i = 0; i < 3; i++) {
            const char *text = vyre_strbuf_string(&parts[i]);
            homes += strstr(text, kernel) != NULL;
            assert_int_equal(strstr(text, kernel) != NULL, strstr(text, number) != NULL);
        }
        assert_int_equal(homes, 1);
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_non_null(strstr(vyre_strbuf_string(&parts[i]), "@zeros = internal"));
        assert_non_null(strstr(vyre_strbuf_string(&parts[i]), "!0 = !{}"));
        assert_true(parts[i].size > ir.size / 5 && parts[i].size < ir.size / 2);
        vyre_strbuf_free(&parts[i]);
    }
    for (size_t n = 1; failing_allocator_start(n); n++) {
        uint32_t count = cpu_llvm_cut(&ir, 2, parts);
        for (uint32_t i = 0; i < count; i++) {
            vyre_strbuf_free(&parts[i]);
        }
        failing_allocator_stop();
        assert_int_equal(count, failing_allocator_failed() ? 0 : 2);
        if (!failing_allocator_failed()) {
            break;
        }
    }
    vyre_strbuf_free(&ir);
    vyre_strbuf whole = text_of(good_ir); /* its functions are not those of phases alone */
    assert_int_equal(cpu_llvm_cut(&whole, 8, parts), 1);
    vyre_strbuf_free(&whole);
    vyre_strbuf small = many_phases(1);
    assert_int_equal(cpu_llvm_cut(&small, 8, parts), 1);
    vyre_strbuf_free(&small);
}

static void parts_are_translated_and_loaded_together(void **state) {
    (void)state;
    enum { PHASES = 9 };
    vyre_strbuf ir = many_phases(PHASES), objects = {0};
    cpu_code code;
    cpu_kernel kernels[PHASES];
    expect_ok(compile(&ir, CPU_LLVM_OBJECT, &objects));
    size_t heads = 0;
    for (size_t i = 0; i + SELFMAG <= objects.size; i++) {
        heads += !memcmp(objects.data + i, ELFMAG, SELFMAG);
    }
    assert_true(heads > 1 && heads <= 4); /* of VYRE_THREADS */
    expect_ok(cpu_code_load((const uint8_t *)objects.data, objects.size, PHASES, &code, kernels));
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        uint32_t number = 0;
        kernels[phase](NULL, 0, 1, &number);
        assert_int_equal(number, phase * 3 + 1);
    }
    cpu_code_unload(&code);
    /* The last one cut off, one of them twice, and bytes behind the last. */
    expect_fail(
        cpu_code_load((const uint8_t *)objects.data, objects.size - 64, PHASES, &code, kernels),
        VYRE_STATUS_BACKEND, "cannot load");
    vyre_strbuf twice = {0};
    vyre_strbuf_add(&twice, objects.data, objects.size);
    vyre_strbuf_add(&twice, objects.data, objects.size);
    expect_fail(cpu_code_load((const uint8_t *)twice.data, twice.size, PHASES, &code, kernels),
                VYRE_STATUS_BACKEND, "defined twice");
    vyre_strbuf_cut(&twice, objects.size);
    vyre_strbuf_puts(&twice,
                     "something else that is longer than the head of a file is, which has 64");
    expect_fail(cpu_code_load((const uint8_t *)twice.data, twice.size, PHASES, &code, kernels),
                VYRE_STATUS_BACKEND, "not a relocatable ELF file");
    vyre_strbuf_free(&twice);
    vyre_strbuf_free(&objects);
    vyre_strbuf_free(&ir);
}

static void llvm_refuses_what_is_no_code(void **state) {
    (void)state;
    /* Parses, and is not valid: a value that does not dominate its use. */
    static const char undominated[] =
        "define i32 @f(i1 %c) { br i1 %c, label %a, label %b\n a: %x = add i32 1, 2\n"
        " br label %b\n b: ret i32 %x }";
    static const char *const wrong[] = {
        "nonsense",
        "define void @phase_0() { ret i32 0 }",
        "define void @phase_0() { br label %nowhere }",
        undominated,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vyre_strbuf out = {0};
        expect_fail(compile_text(wrong[i], CPU_LLVM_OBJECT, &out), VYRE_STATUS_BACKEND, "LLVM");
        assert_null(out.data);
    }
}

static void llvm_does_not_contract(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    expect_ok(compile_text("define float @f(float %a, float %b, float %c) {\n"
                           "  %p = fmul float %a, %b\n  %s = fadd float %p, %c\n"
                           "  ret float %s }\n",
                           CPU_LLVM_ASSEMBLY, &text));
    assert_null(strstr(text.data, "fma"));
    vyre_strbuf_free(&text);
}

static void code_may_call_the_table_alone(void **state) {
    (void)state;
    vyre_strbuf object = {0};
    cpu_code code;
    cpu_kernel kernels[2];
    expect_ok(compile_text("declare void @system(ptr)\n"
                           "define void @phase_0(ptr %f, i64 %a, i64 %b, ptr %s) {\n"
                           "  call void @system(ptr %s) ret void }\n"
                           "define void @phase_1(ptr %f, i64 %a, i64 %b, ptr %s) { ret void }\n",
                           CPU_LLVM_OBJECT, &object));
    expect_fail(load(&object, &code, kernels), VYRE_STATUS_BACKEND, "`system`");
    assert_null(code.mapping);
    vyre_strbuf_free(&object);
}

static void code_has_no_variables(void **state) {
    (void)state;
    vyre_strbuf object = {0};
    cpu_code code;
    cpu_kernel kernels[2];
    expect_ok(compile_text("@counter = global [9 x i64] zeroinitializer\n"
                           "define void @phase_0(ptr %f, i64 %a, i64 %b, ptr %s) {\n"
                           "  store i64 %a, ptr @counter ret void }\n"
                           "define void @phase_1(ptr %f, i64 %a, i64 %b, ptr %s) { ret void }\n",
                           CPU_LLVM_OBJECT, &object));
    expect_fail(load(&object, &code, kernels), VYRE_STATUS_BACKEND, "variables");
    vyre_strbuf_free(&object);
}

static void code_must_have_every_phase(void **state) {
    (void)state;
    vyre_strbuf object = good_object();
    cpu_code code;
    cpu_kernel kernels[3];
    expect_fail(cpu_code_load((const uint8_t *)object.data, object.size, 3, &code, kernels),
                VYRE_STATUS_BACKEND, "a phase is missing");
    expect_ok(cpu_code_load((const uint8_t *)object.data, object.size, 1, &code, kernels));
    cpu_code_unload(&code);
    vyre_strbuf_free(&object);
}

/* Cut off anywhere, it is refused; with any byte changed, it is refused or loads. Nothing is run.
 */
static void code_that_is_damaged_is_refused(void **state) {
    (void)state;
    vyre_strbuf object = good_object();
    cpu_code code;
    cpu_kernel kernels[2];
    for (size_t size = 0; size < object.size; size++) {
        uint8_t *part = malloc(size ? size : 1); /* of its own, so that reads behind it show */
        assert_non_null(part);
        memcpy(part, object.data, size);
        vyre_status status = cpu_code_load(part, size, 2, &code, kernels);
        assert_non_null(status);
        vyre_status_free(status);
        free(part);
    }
    for (size_t at = 0; at < object.size; at++) {
        for (int bit = 0; bit < 8; bit += 7) {
            object.data[at] = (char)(object.data[at] ^ 1 << bit);
            vyre_status_free(load(&object, &code, kernels));
            cpu_code_unload(&code);
            object.data[at] = (char)(object.data[at] ^ 1 << bit);
        }
    }
    expect_ok(load(&object, &code, kernels));
    expect_runs(kernels);
    cpu_code_unload(&code);
    vyre_strbuf_free(&object);
}

static vyre_status_code code_and_free(vyre_status status) {
    vyre_status_code code = vyre_status_code_of(status);
    vyre_status_free(status);
    return code;
}

static void code_loads_without_alignment_and_memory(void **state) {
    (void)state;
    vyre_strbuf object = good_object();
    char *moved = malloc(object.size + 1);
    assert_non_null(moved);
    memcpy(moved + 1, object.data, object.size);
    cpu_code code;
    cpu_kernel kernels[2];
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status_code found = code_and_free(
            cpu_code_load((const uint8_t *)moved + 1, object.size, 2, &code, kernels));
        failing_allocator_stop();
        assert_int_equal(found, failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : 0);
        if (!failing_allocator_failed()) {
            break;
        }
    }
    expect_runs(kernels);
    cpu_code_unload(&code);
    free(moved);
    vyre_strbuf_free(&object);
}

static void compile_without_memory_is_a_status(void **state) {
    (void)state;
    vyre_strbuf source = text_of(good_ir);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf out = {0};
        vyre_status_code found = code_and_free(compile(&source, CPU_LLVM_OBJECT, &out));
        vyre_strbuf_free(&out);
        failing_allocator_stop();
        assert_int_equal(found, failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : 0);
        if (!failing_allocator_failed()) {
            break;
        }
    }
    vyre_strbuf_free(&source);
}

/* Both architectures, whichever this is: words as the manuals have them. */
static void relocations_are_those_of_the_manuals(void **state) {
    (void)state;
    static uint8_t room[64] __attribute__((aligned(16)));
    uint64_t here = (uintptr_t)room;
    uint32_t word;
    int32_t distance;

    assert_true(cpu_relocate(EM_X86_64, R_X86_64_PC32, room, here + 1000));
    memcpy(&distance, room, 4);
    assert_int_equal(distance, 1000);
    assert_false(cpu_relocate(EM_X86_64, R_X86_64_PC32, room, here + ((uint64_t)1 << 31)));
    assert_false(cpu_relocate(EM_X86_64, R_X86_64_GOTPCREL, room, here));
    assert_int_equal(cpu_relocation_bytes(EM_X86_64, R_X86_64_64), 8);
    assert_int_equal(cpu_relocation_bytes(EM_X86_64, R_X86_64_PLT32), 4);
    assert_int_equal(cpu_relocation_bytes(EM_X86_64, R_X86_64_GOTPCREL), 0);

    word = 0x94000000; /* bl */
    memcpy(room, &word, 4);
    assert_true(cpu_relocate(EM_AARCH64, R_AARCH64_CALL26, room, here - 8));
    memcpy(&word, room, 4);
    assert_int_equal(word, 0x97fffffe);
    assert_false(cpu_relocate(EM_AARCH64, R_AARCH64_CALL26, room, here + ((uint64_t)1 << 27)));

    word = 0x90000003; /* adrp x3 */
    memcpy(room, &word, 4);
    assert_true(cpu_relocate(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, room, here + 5 * 4096));
    memcpy(&word, room, 4);
    assert_int_equal(word, 0xb0000023); /* low bits 1, high bits 1 */

    word = 0x3dc00060; /* ldr q0, [x3] */
    memcpy(room, &word, 4);
    assert_true(cpu_relocate(EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, room, 0x12340));
    memcpy(&word, room, 4);
    assert_int_equal(word, 0x3dc0d060); /* #0x340 */
    assert_false(cpu_relocate(EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, room, 0x12348));
}

static void artifacts_fit_or_not(void **state) {
    (void)state;
    const cpu_artifact_key key = {"znver3", "+avx2", 8, 2};
    const cpu_phase_info infos[] = {{.storage_bytes = 4096},
                                    {.storage_bytes = UINT64_C(1) << 40, .block = 256}};
    vyre_strbuf object = text_of("an object"), artifact = {0};
    cpu_artifact_write(&key, infos, &object, &artifact);
    assert_false(artifact.failed);
    cpu_phase_info found[2];
    const uint8_t *inside;
    size_t size;
    uint8_t *bytes = (uint8_t *)artifact.data;
    assert_true(cpu_artifact_read(&key, bytes, artifact.size, found, &inside, &size));
    assert_int_equal(size, object.size);
    assert_memory_equal(inside, object.data, size);
    for (int i = 0; i < 2; i++) {
        assert_true(found[i].storage_bytes == infos[i].storage_bytes &&
                    found[i].block == infos[i].block);
    }
    const cpu_artifact_key others[] = {
        {"znver4", "+avx2", 8, 2}, {"znver3", "+avx", 8, 2},  {"znver3", "+avx2", 4, 2},
        {"znver3", "+avx2", 8, 1}, {"znver3", "+avx2", 8, 9},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(cpu_artifact_read(&others[i], bytes, artifact.size, found, &inside, &size));
    }
    for (size_t cut = 0; cut < artifact.size; cut++) {
        assert_false(cpu_artifact_read(&key, bytes, cut, found, &inside, &size));
        bytes[cut] ^= 4;
        assert_false(cpu_artifact_read(&key, bytes, artifact.size, found, &inside, &size));
        bytes[cut] ^= 4;
    }
    vyre_strbuf_free(&object);
    vyre_strbuf_free(&artifact);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(llvm_tells_what_it_is),
        cmocka_unit_test(llvm_takes_the_level_that_is_asked_for),
        cmocka_unit_test(llvm_code_runs),
        cmocka_unit_test(llvm_shows_its_work),
        cmocka_unit_test(modules_are_cut_between_phases),
        cmocka_unit_test(parts_are_translated_and_loaded_together),
        cmocka_unit_test(llvm_refuses_what_is_no_code),
        cmocka_unit_test(llvm_does_not_contract),
        cmocka_unit_test(code_may_call_the_table_alone),
        cmocka_unit_test(code_has_no_variables),
        cmocka_unit_test(code_must_have_every_phase),
        cmocka_unit_test(code_that_is_damaged_is_refused),
        cmocka_unit_test(code_loads_without_alignment_and_memory),
        cmocka_unit_test(compile_without_memory_is_a_status),
        cmocka_unit_test(relocations_are_those_of_the_manuals),
        cmocka_unit_test(artifacts_fit_or_not),
    };
    setenv("VYRE_THREADS", "4", 1);
    return cpu_check_available() ? cmocka_run_group_tests(tests, NULL, NULL) : CPU_SKIPPED;
}
