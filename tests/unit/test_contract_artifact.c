#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp */
/* Artifacts: what a backend stored of a compile comes back to it in a later one of the same, and in
 * no other. */
#include <vyre/cache.h>

#include "base/file.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/store_check.h"

typedef struct attempt {
    const char *text, *version, *device, *driver;
    bool without_artifact;
} attempt;

/* Compiles on a device of its own, which has nothing in its memory, and runs. Whether it got an
 * artifact. */
static bool compile(const attempt *a) {
    mock *m = mock_create(&(mock_spec){
        .slots = MOCK_COMPILE | MOCK_BIT(version) | MOCK_BIT(device_profile),
        .version = a->version,
        .profile = {.device = a->device, .driver = a->driver},
        .without_artifact = a->without_artifact,
    });
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(a->text);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_true(vyre_pipeline_is_native(pipeline));
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs));
    expect_numbers(outputs.items[0].data, CONTRACT_LENGTH, strstr(a->text, "* 3") ? 3 : 2);
    vyre_outputs_free(&outputs);
    bool used = mock_artifact_uses(m);
    assert_int_equal(mock_last(m, MOCK_compile_native).artifact_size != 0, used);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
    return used;
}

static void artifact_comes_back_to_the_same_compile(void **state) {
    (void)state;
    const attempt base = {TWICE_BY("t"), "1", "card", "9", false};
    assert_false(compile(&base));
    assert_true(compile(&base));
    assert_true(compile(&base));
    attempt renamed = base;
    renamed.text = TWICE_BY("u");
    assert_true(compile(&renamed));
    assert_true(vyre_cache_count_disk().hits >= 3);

    attempt others[4] = {base, base, base, base};
    others[0].version = "2";
    others[1].device = "other card";
    others[2].driver = "10";
    others[3].text =
        "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { let t = x[gid]; y[gid] "
        "= t * 3; }";
    for (size_t i = 0; i < 4; i++) {
        assert_false(compile(&others[i]));
        assert_true(compile(&others[i]));
    }
    assert_true(compile(&base));
}

/* The one entry there is, as a library of these semantics would have stored it. */
static void store_again(uint32_t semantics) {
    char name[256], path[512];
    vyre_strbuf file = {0};
    vyre_store_entry entry;
    vyre_store_key key;
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    expect_ok(vyre_file_read(path, 1 << 20, &file));
    assert_int_equal(vyre_store_entry_decode((vyre_str){file.data, file.size}, &entry),
                     VYRE_STORE_VALID);
    assert_true(vyre_store_key_decode(entry.key, &key));
    store_empty();
    key.semantics = semantics;
    key.name = entry.name;
    vyre_store_put(&key, entry.payload.data, entry.payload.size);
    vyre_strbuf_free(&file);
}

static void artifact_of_other_semantics_does_not_come_back(void **state) {
    (void)state;
    const attempt base = {TWICE_BY("s"), "1", "card", "9", false};
    store_empty();
    assert_false(compile(&base));
    store_again(VYRE_SEMANTICS);
    assert_true(compile(&base));
    store_again(VYRE_SEMANTICS - 1);
    assert_false(compile(&base));
    store_empty();
}

static void artifact_that_is_not_given_is_not_stored(void **state) {
    (void)state;
    const attempt none = {TWICE_BY("v"), "none", "card", "9", true};
    assert_false(compile(&none));
    assert_false(compile(&none));
}

/* A backend that cannot read what it once stored compiles anew, and no user hears of it. */
static void artifact_that_is_refused_does_no_harm(void **state) {
    (void)state;
    const attempt base = {TWICE_BY("w"), "refused", "card", "9", false};
    assert_false(compile(&base));
    mock *m = mock_create(&(mock_spec){
        .slots = MOCK_COMPILE | MOCK_BIT(version) | MOCK_BIT(device_profile),
        .version = "refused",
        .profile = {.device = "card", .driver = "9"},
    });
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(base.text);
    vyre_pipeline *pipeline;
    mock_fail(m, MOCK_compile_native, 1, VYRE_FAIL_MALFORMED, NULL);
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_int_equal(mock_count(m, MOCK_compile_native), 2);
    assert_int_equal(mock_last(m, MOCK_compile_native).artifact_size, 0);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_pipelines(m), 0);
    mock_free(m);
    assert_true(compile(&base));
}

int main(void) {
    if (!store_start()) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(artifact_comes_back_to_the_same_compile),
        cmocka_unit_test(artifact_of_other_semantics_does_not_come_back),
        cmocka_unit_test(artifact_that_is_not_given_is_not_stored),
        cmocka_unit_test(artifact_that_is_refused_does_no_harm),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    store_end();
    return failed;
}
