/* Targets, what lowers an operation to each, and emitters. */
#include "tests/unit/dialect_check.h"

#include <stdlib.h>

#include <vyre/emit.h>
#include <vyre/wire.h>

#include "backend/cpu/runtime/compiler.h"

static const char twice_text[] =
    "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 2; }";

static void targets_S81_are_eight(void **state) {
    (void)state;
    static const vyre_target_kind kinds[] = {VYRE_TARGET_PTX,
                                             VYRE_TARGET_SPIRV,
                                             VYRE_TARGET_PRIMARY_TEXT,
                                             VYRE_TARGET_PRIMARY_BINARY,
                                             VYRE_TARGET_SECONDARY_TEXT,
                                             VYRE_TARGET_NATIVE_MODULE,
                                             VYRE_TARGET_REFERENCE_BACKEND,
                                             VYRE_TARGET_EXTENSION};
    assert_int_equal(sizeof kinds / sizeof *kinds, 8);
    assert_int_equal(VYRE_TARGET_EXTENSION + 1, 8); /* the last one */
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(kinds[i], kinds[k]);
        }
    }
    /* Each has a word of its own; an extension has that of whoever made it. Seven kinds, of which
     * PTX and the second text are the same to a reader. */
    for (size_t i = 0; i < 7; i++) {
        const char *id = vyre_target_id((vyre_target){kinds[i], "mine"});
        assert_non_null(id);
        assert_string_not_equal(id, "mine");
        vyre_target_kind read = vyre_target_read(id).kind;
        assert_int_equal(read, kinds[i] == VYRE_TARGET_SECONDARY_TEXT ? VYRE_TARGET_PTX : kinds[i]);
    }
    assert_string_equal(vyre_target_id((vyre_target){VYRE_TARGET_EXTENSION, "mine"}), "mine");
    const vyre_target other = vyre_target_read("mine");
    assert_int_equal(other.kind, VYRE_TARGET_EXTENSION);
    assert_string_equal(other.extension, "mine");
}

static void targets_S82_have_ids(void **state) {
    (void)state;
    static const struct {
        vyre_target target;
        const char *id;
    } rows[] = {
        {{VYRE_TARGET_PTX, NULL}, "secondary_text"},
        {{VYRE_TARGET_SECONDARY_TEXT, NULL}, "secondary_text"},
        {{VYRE_TARGET_SPIRV, NULL}, "spv"},
        {{VYRE_TARGET_PRIMARY_TEXT, NULL}, "primary_text"},
        {{VYRE_TARGET_PRIMARY_BINARY, NULL}, "primary_binary"},
        {{VYRE_TARGET_NATIVE_MODULE, NULL}, "native_module"},
        {{VYRE_TARGET_REFERENCE_BACKEND, NULL}, "reference_backend"},
        {{VYRE_TARGET_EXTENSION, "their-own"}, "their-own"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(vyre_target_id(rows[i].target), rows[i].id);
    }
}

static void targets_S83_are_read_by_id_and_second_text_reads_as_ptx(void **state) {
    (void)state;
    static const struct {
        const char *id;
        vyre_target_kind kind;
    } rows[] = {
        {"ptx", VYRE_TARGET_PTX},
        {"secondary_text", VYRE_TARGET_PTX},
        {"spv", VYRE_TARGET_SPIRV},
        {"spirv", VYRE_TARGET_SPIRV},
        {"primary_text", VYRE_TARGET_PRIMARY_TEXT},
        {"primary_binary", VYRE_TARGET_PRIMARY_BINARY},
        {"native_module", VYRE_TARGET_NATIVE_MODULE},
        {"reference_backend", VYRE_TARGET_REFERENCE_BACKEND},
        {"PTX", VYRE_TARGET_EXTENSION},
        {"spirv ", VYRE_TARGET_EXTENSION},
        {"wgsl", VYRE_TARGET_EXTENSION},
        {"", VYRE_TARGET_EXTENSION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_target target = vyre_target_read(rows[i].id);
        assert_int_equal(target.kind, rows[i].kind);
        if (target.kind == VYRE_TARGET_EXTENSION) {
            assert_string_equal(target.extension, rows[i].id);
            assert_string_equal(vyre_target_id(target), rows[i].id);
        }
    }
    /* What is written is read back as the same target, but for the one that shares its id. */
    for (int kind = 0; kind < VYRE_TARGET_EXTENSION; kind++) {
        vyre_target target = check_target((vyre_target_kind)kind);
        int expected = kind == VYRE_TARGET_SECONDARY_TEXT ? VYRE_TARGET_PTX : kind;
        assert_int_equal(vyre_target_read(vyre_target_id(target)).kind, expected);
    }
}

static vyre_status answer(const vyre_operation *operation, const vyre_input *inputs,
                          size_t input_count, vyre_outputs *out_outputs) {
    (void)operation;
    (void)inputs;
    (void)input_count;
    *out_outputs = (vyre_outputs){0};
    return VYRE_OK;
}

static bool lowers(const vyre_dialects *snapshot, const char *id, vyre_target target,
                   vyre_lowering *out_lowering) {
    memset(out_lowering, 0xff, sizeof *out_lowering);
    bool found;
    expect_ok(vyre_dialects_get_lowering(snapshot, check_name(id), target, &found, out_lowering));
    return found;
}

static void lowering_S95_for_each_target_that_has_one(void **state) {
    (void)state;
    vyre_program *program = check_program(twice_text);
    const vyre_lowering registered[] = {
        {{VYRE_TARGET_SPIRV, NULL}, program, NULL},
        {{VYRE_TARGET_EXTENSION, "mine"}, program, NULL},
        {{VYRE_TARGET_REFERENCE_BACKEND, NULL}, NULL, answer},
    };
    const vyre_operation operations[] = {
        {.id = "t.program", .dialect = "t", .built = program},
        {.id = "t.lowered", .dialect = "t", .lowerings = registered, .lowering_count = 3},
        {.id = "t.named", .dialect = "t", .category = VYRE_CATEGORY_EXTENSION},
    };
    const vyre_operation *const all[] = {&operations[0], &operations[1], &operations[2]};
    vyre_dialects *snapshot;
    expect_ok(vyre_dialects_make(all, 3, &snapshot));
    vyre_lowering lowering;
    for (int kind = 0; kind < VYRE_TARGET_EXTENSION; kind++) {
        vyre_target target = check_target((vyre_target_kind)kind);
        assert_false(lowers(snapshot, "t.unknown", target, &lowering));

        /* A program goes wherever something translates programs. */
        bool has_emitter = vyre_emitter_find(vyre_target_id(target));
        assert_int_equal(lowers(snapshot, "t.program", target, &lowering), has_emitter);
        assert_ptr_equal(lowering.program, has_emitter ? program : NULL);
        assert_true(has_emitter);

        /* What was registered is what there is. */
        bool is_registered = kind == VYRE_TARGET_SPIRV || kind == VYRE_TARGET_REFERENCE_BACKEND;
        assert_int_equal(lowers(snapshot, "t.lowered", target, &lowering), is_registered);
        assert_true(kind != VYRE_TARGET_SPIRV || lowering.program == program);
        assert_true(kind != VYRE_TARGET_REFERENCE_BACKEND || lowering.reference == answer);

        /* The reference of a name alone says that it is one. */
        assert_int_equal(lowers(snapshot, "t.named", target, &lowering),
                         kind == VYRE_TARGET_REFERENCE_BACKEND);
    }
    assert_true(
        lowers(snapshot, "t.named", check_target(VYRE_TARGET_REFERENCE_BACKEND), &lowering));
    vyre_outputs outputs;
    expect_words(lowering.reference(check_find(snapshot, "t.named"), NULL, 0, &outputs),
                 VYRE_STATUS_UNSUPPORTED, "t.named", "registered without a program", NULL);
    assert_true(lowers(snapshot, "t.lowered", vyre_target_read("mine"), &lowering));
    assert_string_equal(lowering.target.extension, "mine");
    assert_false(lowers(snapshot, "t.lowered", vyre_target_read("theirs"), &lowering));
    assert_false(lowers(snapshot, "t.program", vyre_target_read("theirs"), &lowering));
    vyre_dialects_release(snapshot);
    vyre_program_release(program);
}

static void expect_emitted(const char *target, const vyre_operation *operation, const char *word) {
    uint8_t *bytes;
    size_t size;
    expect_ok(vyre_emit_operation(vyre_emitter_find(target), operation, NULL, &bytes, &size));
    vyre_program *program;
    if (!strcmp(target, "primary_text")) {
        bool found = false;
        for (size_t at = 0; at + strlen(word) <= size && !found; at++) {
            found = !memcmp(bytes + at, word, strlen(word));
        }
        assert_true(found);
    } else {
        expect_ok(vyre_wire_decode(bytes, size, &program));
        assert_string_equal(vyre_program_name(program), word);
        vyre_program_release(program);
    }
    vyre_bytes_free(bytes);
}

/* What was registered for a target is emitted for it, and the operation's own program elsewhere. */
static void emitting_S95_takes_the_registered_lowering(void **state) {
    (void)state;
    vyre_program *program = check_program(twice_text);
    vyre_program *other =
        check_program("program other(x: inout buffer<u32>) over x { x[gid] = 1; }");
    const vyre_lowering lowerings[] = {{check_target(VYRE_TARGET_PRIMARY_TEXT), other, NULL}};
    vyre_operation operation = {
        .id = "t.op", .built = program, .lowerings = lowerings, .lowering_count = 1};
    expect_emitted("primary_text", &operation, "program other");
    expect_emitted("primary_binary", &operation, vyre_program_name(program));
    operation.built = NULL;
    uint8_t *bytes;
    size_t size;
    expect_words(
        vyre_emit_operation(vyre_emitter_find("primary_binary"), &operation, NULL, &bytes, &size),
        VYRE_STATUS_UNSUPPORTED, "t.op", "primary_binary", NULL);
    vyre_program_release(program);
    vyre_program_release(other);
}

static uint8_t *emit(const char *target, const vyre_program *program, const char *device,
                     size_t *out_size) {
    const vyre_emitter *emitter = vyre_emitter_find(target);
    assert_non_null(emitter);
    uint8_t *bytes;
    expect_ok(vyre_emit(emitter, program, &(vyre_emit_options){device}, &bytes, out_size));
    assert_true(*out_size > 0);
    return bytes;
}

static bool has(const uint8_t *bytes, size_t size, const char *words) {
    size_t length = strlen(words);
    for (size_t i = 0; i + length <= size; i++) {
        if (!memcmp(bytes + i, words, length)) {
            return true;
        }
    }
    return false;
}

static void emitted_text_and_bytes_are_the_program(void **state) {
    (void)state;
    vyre_program *program = check_program(twice_text), *read;
    vyre_digest digest = vyre_program_digest(program);
    size_t size;
    uint8_t *bytes = emit("primary_text", program, NULL, &size);
    vyre_module *module;
    expect_ok(vyre_module_parse(NULL, (const char *)bytes, size, NULL, &module));
    assert_memory_equal(&(vyre_digest[1]){vyre_program_digest(vyre_module_program(module, 0))},
                        &digest, sizeof digest);
    vyre_module_free(module);
    vyre_bytes_free(bytes);
    static const char *const binary[] = {"primary_binary", "reference_backend"};
    for (size_t i = 0; i < 2; i++) {
        bytes = emit(binary[i], program, NULL, &size);
        expect_ok(vyre_wire_decode(bytes, size, &read));
        assert_memory_equal(&(vyre_digest[1]){vyre_program_digest(read)}, &digest, sizeof digest);
        vyre_program_release(read);
        vyre_bytes_free(bytes);
    }
    vyre_program_release(program);
}

static void emitted_ptx_is_for_the_device_that_is_named(void **state) {
    (void)state;
    vyre_program *program = check_program(twice_text);
    static const char *const rows[][3] = {{NULL, ".target sm_70", ".version 6.3"},
                                          {"sm_90", ".target sm_90", ".version 7.8"}};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        uint8_t *bytes = emit("secondary_text", program, rows[i][0], &size);
        assert_true(has(bytes, size, rows[i][1]));
        assert_true(has(bytes, size, rows[i][2]));
        assert_true(has(bytes, size, ".entry phase_0"));
        vyre_bytes_free(bytes);
    }
    uint8_t *bytes;
    size_t size;
    vyre_emit_options options = {"sm_13"};
    expect_words(vyre_emit(vyre_emitter_find("secondary_text"), program, &options, &bytes, &size),
                 VYRE_STATUS_INVALID_ARGUMENT, "`sm_13`", "sm_90", NULL);
    assert_null(bytes);
    expect_words(vyre_emit(vyre_emitter_find("primary_text"), program, &options, &bytes, &size),
                 VYRE_STATUS_INVALID_ARGUMENT, "same on all devices", "`sm_13`", NULL);
    vyre_program_release(program);
}

/* Several phases, which the backend itself would make several objects of. */
static void emitted_module_is_one_object(void **state) {
    (void)state;
    cpu_llvm_info info;
    vyre_status status = cpu_compiler_info(&info);
    if (status) {
        vyre_status_free(status);
        skip();
    }
    static const char text[] =
        "program two(x: buffer<u32>, y: out buffer<u32>[len(x)], z: out buffer<u32>[len(x)]) {\n"
        "    phase a over x { y[gid] = x[gid] * 2; }\n"
        "    phase b over x { z[gid] = y[gid] + 1; }\n"
        "}\n";
    vyre_program *program = check_program(text);
    size_t size;
    uint8_t *bytes = emit("native_module", program, NULL, &size);
    assert_memory_equal(bytes, "\177ELF\2\1\1", 7);
    assert_int_equal(bytes[16], 1); /* ET_REL */
    assert_true(has(bytes, size, "phase_0"));
    assert_true(has(bytes, size, "phase_1"));
    assert_false(has(bytes + 1, size - 1, "\177ELF"));
    vyre_bytes_free(bytes);
    vyre_program_release(program);
}

static void emitters_are_one_a_target(void **state) {
    (void)state;
    const vyre_emitter *emitter;
    size_t count = 0;
    for (; (emitter = vyre_emitter_at(count)) != NULL; count++) {
        assert_ptr_equal(vyre_emitter_find(emitter->target), emitter);
    }
    assert_int_equal(count, 6);
    assert_null(vyre_emitter_at(count + 1));
    assert_null(vyre_emitter_find("mine"));

    /* An operation with a program has a lowering for each of them, and for no other target. */
    vyre_program *program = check_program(twice_text);
    const vyre_operation operation = {.id = "t.late", .dialect = "t", .built = program};
    const vyre_operation *const all[] = {&operation};
    vyre_dialects *snapshot;
    vyre_lowering lowering;
    expect_ok(vyre_dialects_make(all, 1, &snapshot));
    for (size_t i = 0; i < count; i++) {
        assert_true(
            lowers(snapshot, "t.late", vyre_target_read(vyre_emitter_at(i)->target), &lowering));
    }
    assert_false(lowers(snapshot, "t.late", vyre_target_read("mine"), &lowering));
    vyre_dialects_release(snapshot);
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_S81_are_eight),
        cmocka_unit_test(targets_S82_have_ids),
        cmocka_unit_test(targets_S83_are_read_by_id_and_second_text_reads_as_ptx),
        cmocka_unit_test(lowering_S95_for_each_target_that_has_one),
        cmocka_unit_test(emitting_S95_takes_the_registered_lowering),
        cmocka_unit_test(emitted_text_and_bytes_are_the_program),
        cmocka_unit_test(emitted_ptx_is_for_the_device_that_is_named),
        cmocka_unit_test(emitted_module_is_one_object),
        cmocka_unit_test(emitters_are_one_a_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
