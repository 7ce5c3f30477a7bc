/* Ranges of files into memory and buffers of devices, and back; and that no program can ask for it.
 * Long ranges are moved by several threads, which pthread_create starts in the library. */
#define _GNU_SOURCE /* P_tmpdir, mkdtemp */

#include "tests/unit/dialect_files.h"

#include <vyre/device.h>
#include <vyre/dialect.h>
#include <vyre/io.h>
#include <vyre/op.h>
#include <vyre/text.h>

#include "base/random.h"

enum { BYTES = (5 << 20) + 1234 };

static uint8_t *bytes;

static int setup(void **state) {
    uint64_t seed = 1;
    bytes = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)vyre_random(&seed);
    }
    return dialect_root_make(state);
}

static int teardown(void **state) {
    free(bytes);
    return dialect_root_remove(state);
}

static void write_bytes(const char *path, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Ranges that start and end in blocks, at blocks, and across pieces. */
static const struct {
    size_t offset, size;
} ranges[] = {{0, 0},
              {0, 1},
              {0, 4096},
              {1, 4095},
              {4095, 2},
              {4096, 8192},
              {5000, 100},
              {BYTES - 1, 1},
              {0, BYTES},
              {3, BYTES - 3},
              {(1 << 20) - 1, 2},
              {4096, 2 << 20},
              {100, 3 << 20},
              {BYTES, 0},
              {BYTES - 5000, 5000},
              {8192, (1 << 20) + 1}};
enum { RANGES = sizeof ranges / sizeof *ranges };

static void read_ranges(const char *path) {
    write_bytes(path, BYTES);
    uint8_t *memory = malloc(BYTES + 8192);
    for (size_t i = 0; i < RANGES; i++) {
        for (size_t shift = 0; shift < 4096; shift += 1365) {
            vyre_io_report report;
            memset(memory, 0xee, BYTES + 8192);
            uint8_t *data = memory + shift + 16;
            expect_ok(vyre_io_read(data, ranges[i].size, path, ranges[i].offset, &report));
            assert_memory_equal(data, bytes + ranges[i].offset, ranges[i].size);
            assert_int_equal(data[-1], 0xee);
            assert_int_equal(data[ranges[i].size], 0xee);
            assert_int_equal(report.bytes, ranges[i].size);
            assert_int_equal(*report.why == '\0', report.way == VYRE_IO_DIRECT);
        }
    }
    free(memory);
}

static void write_ranges(const char *path) {
    uint8_t *now = malloc(BYTES), *expected = malloc(BYTES);
    for (size_t i = 0; i < RANGES; i++) {
        vyre_io_report report;
        write_bytes(path, BYTES);
        memcpy(expected, bytes, BYTES);
        memset(expected + ranges[i].offset, 0x5a, ranges[i].size);
        memset(now, 0x5a, BYTES);
        expect_ok(vyre_io_write(now + i, ranges[i].size > i ? ranges[i].size - i : 0, path,
                                ranges[i].offset, &report));
        expect_ok(vyre_io_write(now, ranges[i].size, path, ranges[i].offset, &report));
        assert_int_equal(report.bytes, ranges[i].size);
        expect_ok(vyre_io_read(now, BYTES, path, 0, NULL));
        assert_memory_equal(now, expected, BYTES);
    }
    free(now);
    free(expected);
}

static void ranges_are_read(void **state) {
    (void)state;
    read_ranges(below("file"));
}

static void ranges_are_written(void **state) {
    (void)state;
    write_ranges(below("file"));
}

/* A file system without direct access, where the machine has one. */
static void plain_ways_do_the_same(void **state) {
    (void)state;
    char path[64] = "/dev/shm/vyre-io-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) {
        skip();
    }
    close(file);
    read_ranges(path);
    write_ranges(path);
    assert_int_equal(unlink(path), 0);
}

static void files_grow_and_are_made(void **state) {
    (void)state;
    uint8_t found[5003];
    expect_ok(vyre_io_write(bytes, 5000, below("new"), 3, NULL));
    expect_ok(vyre_io_read(found, sizeof found, below("new"), 0, NULL));
    assert_memory_equal(found, "\0\0\0", 3);
    assert_memory_equal(found + 3, bytes, 5000);
}

static void mistakes_are_told(void **state) {
    (void)state;
    uint8_t data[16] = {0};
    write_bytes(below("file"), 100);
    expect_error(vyre_io_read(data, 16, below("none"), 0, NULL), VYRE_STATUS_NOT_FOUND,
                 "cannot be read");
    expect_error(vyre_io_read(data, 16, below("file"), 90, NULL), VYRE_STATUS_INVALID_ARGUMENT,
                 "has 100 bytes, and the range is from 90 to 106");
    expect_error(vyre_io_read(data, 16, "", 0, NULL), VYRE_STATUS_INVALID_ARGUMENT, "empty");
    expect_error(vyre_io_read(data, 16, below("file"), UINT64_MAX - 3, NULL),
                 VYRE_STATUS_INVALID_ARGUMENT, "beyond the largest possible file");
    expect_error(vyre_io_read(data, 16, "/dev/zero", 0, NULL), VYRE_STATUS_INVALID_ARGUMENT,
                 "neither a file nor a block device");
    assert_int_equal(mkfifo(below("pipe"), 0600), 0); /* nobody writes into it, or ever will */
    expect_error(vyre_io_read(data, 16, below("pipe"), 0, NULL), VYRE_STATUS_INVALID_ARGUMENT,
                 "neither a file nor a block device");
    expect_error(vyre_io_write(data, 16, below("pipe"), 0, NULL), VYRE_STATUS_INVALID_ARGUMENT,
                 "neither a file nor a block device");
    unlink(below("pipe"));
    expect_error(vyre_io_write(data, 16, dialect_root, 0, NULL), VYRE_STATUS_IO, "directory");
    expect_error(vyre_io_write(data, 16, below("no/file"), 0, NULL), VYRE_STATUS_NOT_FOUND,
                 "cannot be written");
}

static void resident_buffers_take_part(void **state) {
    (void)state;
    vyre_device *device;
    vyre_resident buffer;
    vyre_io_report report;
    uint8_t found[100];
    enum { SIZE = 3 << 20 };
    write_bytes(below("file"), BYTES);
    expect_ok(vyre_acquire("reference", &device));
    expect_ok(vyre_resident_allocate(device, SIZE, &buffer));
    uint8_t *data = malloc(SIZE);
    expect_ok(vyre_io_read(data, SIZE, below("file"), 777, &report));
    assert_int_equal(report.bytes, SIZE);
    expect_ok(vyre_resident_upload(device, buffer, data, SIZE));
    memset(data, 0, SIZE);
    expect_ok(vyre_resident_read(device, buffer, 1000, found, sizeof found));
    assert_memory_equal(found, bytes + 1777, sizeof found);
    expect_ok(vyre_resident_read(device, buffer, 500, data, SIZE - 500));
    expect_ok(vyre_io_write(data, SIZE - 500, below("copy"), 10, &report));
    expect_ok(vyre_io_read(found, sizeof found, below("copy"), 10, NULL));
    assert_memory_equal(found, bytes + 1277, sizeof found);
    free(data);
    expect_ok(vyre_resident_free(device, buffer));
    vyre_device_release(device);
}

static const vyre_operation *find(const vyre_dialects *snapshot, const char *id,
                                  vyre_lowering *out_lowering) {
    uint32_t name = vyre_intern_find((vyre_str){id, strlen(id)});
    const vyre_operation *found = vyre_dialects_lookup(snapshot, name);
    assert_non_null(found);
    bool lowers;
    vyre_target target = {.kind = VYRE_TARGET_REFERENCE_BACKEND};
    expect_ok(vyre_dialects_get_lowering(snapshot, name, target, &lowers, out_lowering));
    assert_true(lowers);
    return found;
}

static void registry_S103_knows_them(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot;
    vyre_lowering from, back;
    setenv("VYRE_DIALECT_PATH", "none", 1);
    expect_ok(vyre_dialects_try_enter(&guard, &snapshot));
    const vyre_operation *read = find(snapshot, "io.dma_from_nvme", &from);
    const vyre_operation *write = find(snapshot, "io.write_back_to_nvme", &back);
    assert_int_equal(read->category, VYRE_CATEGORY_INTRINSIC);
    assert_false(vyre_operation_has_program(read));
    assert_null(read->text);
    /* Nothing but the host does them. */
    vyre_lowering none;
    for (int kind = 0; kind < VYRE_TARGET_REFERENCE_BACKEND; kind++) {
        bool lowers;
        vyre_target target = {.kind = (vyre_target_kind)kind};
        expect_ok(vyre_dialects_get_lowering(snapshot,
                                             vyre_intern_find((vyre_str){"io.dma_from_nvme", 16}),
                                             target, &lowers, &none));
        assert_false(lowers);
    }
    const char *path = below("file");
    uint64_t offset = 5, size = 70;
    vyre_outputs outputs;
    vyre_input data[3] = {{path, strlen(path)}, {&offset, 8}, {bytes, 100}};
    expect_ok(back.reference(write, data, 3, &outputs));
    assert_int_equal(outputs.count, 0);
    data[2] = (vyre_input){&size, 8};
    expect_ok(from.reference(read, data, 3, &outputs));
    assert_int_equal(outputs.count, 1);
    assert_int_equal(outputs.items[0].size, 70);
    assert_memory_equal(outputs.items[0].data, bytes, 70);
    vyre_outputs_free(&outputs);
    expect_error(from.reference(read, data, 2, &outputs), VYRE_STATUS_INVALID_ARGUMENT,
                 "do not match");
    data[0] = (vyre_input){"a\0b", 3};
    expect_error(from.reference(read, data, 3, &outputs), VYRE_STATUS_INVALID_ARGUMENT, "NUL");
    vyre_dialects_leave(&guard);
}

/* Not from text, as an expression or as a step; and the wire form has nothing but the operations of
 * the language, of which none is about files. */
static void programs_cannot_ask_for_them(void **state) {
    (void)state;
    static const char *const texts[] = {
        "program p(x: buffer<u8>, y: out buffer<u8>[1]) over 1 { io.dma_from_nvme(x, 0, 1, y); }",
        "program p(x: buffer<u8>, y: out buffer<u8>[1]) { io.dma_from_nvme(x, 0, 1, y); }",
        "program p(x: buffer<u8>) { io.write_back_to_nvme(x, 0, x); }",
        "fn f(x: u8) -> u8 { return io.dma_from_nvme(x); }",
    };
    setenv("VYRE_DIALECT_PATH", "none", 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_module *module;
        expect_error(vyre_module_parse("test", texts[i], strlen(texts[i]), NULL, &module),
                     VYRE_STATUS_INVALID_PROGRAM, "cannot call it");
    }
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        const char *name = vyre_op_info_of(op)->name;
        assert_true(!name || (!strstr(name, "nvme") && !strstr(name, "dma")));
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(ranges_are_read),          TEST(ranges_are_written),
        TEST(plain_ways_do_the_same),   TEST(files_grow_and_are_made),
        TEST(mistakes_are_told),        TEST(resident_buffers_take_part),
        TEST(registry_S103_knows_them), TEST(programs_cannot_ask_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
