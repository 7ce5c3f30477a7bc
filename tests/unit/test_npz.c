/* .npz files: members are found by name, stored or compressed; damaged archives are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "tests/unit/failing_allocator.h"
#include "values/deflate.h"
#include "values/npz.h"

typedef struct member {
    const char *name, *data;
    bool is_deflated, is_large; /* the latter: its sizes stand in a field of 64 bits */
} member;

static void put(vyre_strbuf *out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        vyre_strbuf_putc(out, (char)(number >> 8 * i));
    }
}

/* An archive as zipfile of Python writes it, with a comment. */
static vyre_strbuf make(const member *members, size_t count, const char *comment) {
    vyre_strbuf out = {0}, directory = {0};
    for (size_t i = 0; i < count; i++) {
        const member *m = &members[i];
        size_t size = strlen(m->data), start = out.size;
        vyre_strbuf packed = {0};
        if (m->is_deflated) {
            values_deflate(VALUES_WRAPPER_NONE, m->data, size, &packed);
        } else {
            vyre_strbuf_add(&packed, m->data, size);
        }
        uint32_t sum = values_crc32(0, m->data, size);
        vyre_strbuf_puts(&out, "PK\x03\x04");
        put(&out, 20, 2);
        put(&out, 0, 2);
        put(&out, m->is_deflated ? 8 : 0, 2);
        put(&out, 0, 4);
        put(&out, sum, 4);
        put(&out, packed.size, 4);
        put(&out, size, 4);
        put(&out, strlen(m->name), 2);
        put(&out, 4, 2);
        vyre_strbuf_puts(&out, m->name);
        put(&out, 0x9999, 4); /* an extra field that the directory does not have */
        vyre_strbuf_add(&out, vyre_strbuf_string(&packed), packed.size);
        vyre_strbuf_puts(&directory, "PK\x01\x02");
        put(&directory, 20, 2);
        put(&directory, 20, 2);
        put(&directory, 0, 2);
        put(&directory, m->is_deflated ? 8 : 0, 2);
        put(&directory, 0, 4);
        put(&directory, sum, 4);
        put(&directory, m->is_large ? UINT32_MAX : packed.size, 4);
        put(&directory, m->is_large ? UINT32_MAX : size, 4);
        put(&directory, strlen(m->name), 2);
        put(&directory, m->is_large ? 28 : 0, 2);
        put(&directory, 3, 2);
        put(&directory, 0, 8);
        put(&directory, m->is_large ? UINT32_MAX : start, 4);
        vyre_strbuf_puts(&directory, m->name);
        if (m->is_large) {
            put(&directory, 1, 2);
            put(&directory, 24, 2);
            put(&directory, size, 8);
            put(&directory, packed.size, 8);
            put(&directory, start, 8);
        }
        vyre_strbuf_puts(&directory, "why");
        vyre_strbuf_free(&packed);
    }
    size_t start = out.size;
    vyre_strbuf_add(&out, vyre_strbuf_string(&directory), directory.size);
    vyre_strbuf_puts(&out, "PK\x05\x06");
    put(&out, 0, 4);
    put(&out, count, 2);
    put(&out, count, 2);
    put(&out, directory.size, 4);
    put(&out, start, 4);
    put(&out, strlen(comment), 2);
    vyre_strbuf_puts(&out, comment);
    assert_false(out.failed || directory.failed);
    vyre_strbuf_free(&directory);
    return out;
}

static const member three[] = {{"a.npy", "first", false, false},
                               {"x.npy", "second, second, second, second", true, false},
                               {"folder/c.npy", "third", true, true}};

static void expect_member(vyre_strbuf file, const char *name, const char *contents) {
    vyre_status status = values_npz_take(&file, "d.npz", name, "x");
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    assert_int_equal(file.size, strlen(contents));
    assert_memory_equal(file.data, contents, file.size);
    vyre_strbuf_free(&file);
}

static void test_members(void **state) {
    (void)state;
    expect_member(make(three, 3, ""), "a", "first");
    expect_member(make(three, 3, ""), "a.npy", "first");
    expect_member(make(three, 3, ""), "folder/c", "third");
    expect_member(make(three, 3, "a comment"), "x", three[1].data);
    /* Without a name: that of the argument, or the only one. */
    expect_member(make(three, 3, ""), NULL, three[1].data);
    expect_member(make(three, 1, ""), NULL, "first");
}

static void expect_error(vyre_strbuf file, const char *name, vyre_status_code code,
                         const char *part) {
    vyre_status status = values_npz_take(&file, "d.npz", name, "x");
    assert_non_null(status);
    if (!strstr(vyre_status_text(status), part)) {
        fail_msg("`%s` is not in: %s", part, vyre_status_text(status));
    }
    assert_int_equal(vyre_status_code_of(status), code);
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
    vyre_strbuf_free(&file);
}

static void test_wrong_names(void **state) {
    (void)state;
    expect_error(make(three, 3, ""), "b", VYRE_STATUS_INVALID_ARGUMENT,
                 "d.npz has no member `b`. Fix: name one of its members, as in x=@d.npz:NAME: a, "
                 "x, folder/c");
    static const member two[] = {{"a.npy", "1", false, false}, {"b.npy", "2", false, false}};
    expect_error(make(two, 2, ""), NULL, VYRE_STATUS_INVALID_ARGUMENT,
                 "d.npz has 2 members, and none is named `x`");
    expect_error(make(two, 0, ""), NULL, VYRE_STATUS_INVALID_ARGUMENT, "has 0 members");
}

static void test_damage(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "this is no archive at all");
    expect_error(text, NULL, VYRE_STATUS_MALFORMED, "not a ZIP archive");
    expect_error((vyre_strbuf){0}, NULL, VYRE_STATUS_MALFORMED, "not a ZIP archive");
    vyre_strbuf file = make(three, 1, "");
    file.data[30 + 5 + 4]++; /* the first byte of the member */
    expect_error(file, NULL, VYRE_STATUS_MALFORMED, "a checksum is wrong");
    size_t directory = 30 + 5 + 4 + 5;
    file = make(three, 1, "");
    file.data[directory + 10] = 12; /* bzip2 */
    expect_error(file, NULL, VYRE_STATUS_MALFORMED, "another method than deflate");
    file = make(three, 1, "");
    file.data[directory + 8] = 1;
    expect_error(file, NULL, VYRE_STATUS_MALFORMED, "is encrypted");
    file = make(three, 1, "");
    file.data[directory + 24] = 6;
    expect_error(file, NULL, VYRE_STATUS_MALFORMED, "a size that its data cannot have");
}

/* Where the directory of an archive starts. */
static char *find_directory(const vyre_strbuf *file) {
    size_t at = 0;
    while (memcmp(file->data + at, "PK\x01\x02", 4) != 0) {
        at++;
    }
    return file->data + at;
}

/* A member that states a size far above what its data can give takes no memory; one that gives more
 * than it states is cut off there. */
static void test_large_claims(void **state) {
    (void)state;
    static const member one[] = {{"a.npy", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true, false}};
    vyre_strbuf file = make(one, 1, "");
    memcpy(find_directory(&file) + 24, "\0\0\0\x70", 4);
    failing_allocator_start(0);
    expect_error(file, NULL, VYRE_STATUS_MALFORMED, "a size that its data cannot have");
    assert_true(failing_allocator_largest() < 1 << 20);
    failing_allocator_end();
    file = make(one, 1, "");
    memcpy(find_directory(&file) + 24, "\4\0\0\0", 4);
    expect_error(file, NULL, VYRE_STATUS_MALFORMED, "longer than its header states");
}

static void test_every_cut_and_byte(void **state) {
    (void)state;
    vyre_strbuf whole = make(three, 3, "why");
    for (size_t size = 0; size < whole.size; size++) {
        vyre_strbuf part = {0};
        vyre_strbuf_add(&part, whole.data, size);
        vyre_status status = values_npz_take(&part, "d.npz", "folder/c", "x");
        assert_non_null(status);
        vyre_status_free(status);
        vyre_strbuf_free(&part);
    }
    for (size_t i = 0; i < whole.size; i++) {
        for (int byte = 0; byte < 256; byte++) {
            vyre_strbuf copy = {0};
            vyre_strbuf_add(&copy, whole.data, whole.size);
            copy.data[i] = (char)byte;
            vyre_status status = values_npz_take(&copy, "d.npz", "folder/c", "x");
            assert_true(status || (copy.size == 5 && !memcmp(copy.data, "third", 5)));
            vyre_status_free(status);
            vyre_strbuf_free(&copy);
        }
    }
    vyre_strbuf_free(&whole);
}

static void test_no_memory(void **state) {
    (void)state;
    for (size_t n = 1;; n++) {
        vyre_strbuf file = make(three, 3, "");
        failing_allocator_start(n);
        vyre_status status = values_npz_take(&file, "d.npz", "x", "x");
        bool failed = failing_allocator_failed();
        vyre_status_code code = vyre_status_code_of(status);
        assert_true(code == VYRE_STATUS_OK || (failed && code == VYRE_STATUS_OUT_OF_MEMORY));
        vyre_status_free(status);
        vyre_strbuf_free(&file);
        failing_allocator_end();
        if (!failed) {
            assert_true(n > 2);
            break;
        }
    }
}

/* What is written is read again. */
static void test_written(void **state) {
    (void)state;
    values_npz archive = {0};
    assert_true(values_npz_add(&archive, vyre_str_of("a"), "first", 5));
    assert_true(values_npz_add(&archive, vyre_str_of("b"), "", 0));
    assert_true(values_npz_add(&archive, vyre_str_of("c"), "third", 5));
    values_npz_end(&archive);
    static const char *const names[] = {"a", "b", "c"}, *const contents[] = {"first", "", "third"};
    for (size_t i = 0; i < 3; i++) {
        vyre_strbuf copy = {0};
        vyre_strbuf_add(&copy, archive.bytes.data, archive.bytes.size);
        expect_member(copy, names[i], contents[i]);
    }
    archive.count = 65535;
    assert_false(values_npz_add(&archive, vyre_str_of("d"), "", 0));
    values_npz_free(&archive);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),   cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_damage),    cmocka_unit_test(test_large_claims),
        cmocka_unit_test(test_written),   cmocka_unit_test(test_every_cut_and_byte),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
