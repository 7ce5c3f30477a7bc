/* docs/wire.md says what the tables say: every number that a reader needs stands there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/wire_bytes.h"

static char *page;

static int read_page(void **state) {
    (void)state;
    FILE *file = fopen("docs/wire.md", "rb"); /* tests run in the root of the tree */
    if (!file) {
        return -1;
    }
    page = calloc(1, 1 << 20);
    size_t size = page ? fread(page, 1, (1 << 20) - 1, file) : 0;
    fclose(file);
    return size ? 0 : -1;
}

static int free_page(void **state) {
    (void)state;
    free(page);
    return 0;
}

static void assert_on_page(const char *format, ...) VYRE_PRINTF(1, 2);

static void assert_on_page(const char *format, ...) {
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!strstr(page, line)) {
        fail_msg("docs/wire.md does not have \"%s\"", line);
    }
}

static void document_has_every_operation(void **state) {
    (void)state;
    static const char *const shapes[] = {"NONE", "NUMBER", "V1",     "V2",     "V3",   "R",
                                         "R_V1", "R_V2",   "R_LIST", "LIST",   "PICK", "IF",
                                         "LOOP", "INLINE", "GROUP",  "MESSAGE"};
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        const vyre_op_info *info = vyre_op_info_of(op);
        if (info->name) {
            assert_on_page("\n| %u | `%s` | %s |\n", op, info->name, shapes[info->shape]);
        }
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_on_page("\n| %s | ", shapes[i]);
    }
    for (uint32_t i = 0; i < VYRE_ORDERING_COUNT; i++) {
        assert_on_page("%u `%s`", i, vyre_ordering_name(i));
    }
#define ASSERT_ON_PAGE(name, number, text) assert_on_page("%u `%s`", (uint32_t)number, text);
    VYRE_COMBINATIONS(ASSERT_ON_PAGE)
#undef ASSERT_ON_PAGE
}

static void document_has_every_type(void **state) {
    (void)state;
    for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
        assert_on_page("| %u | `%s` |", type, vyre_type_name((vyre_type)type));
    }
}

static void document_has_every_section(void **state) {
    (void)state;
    uint32_t number = 0;
#define ROW(name, array, count, type, layout, limit)                                               \
    assert_on_page("\n| %u | %s | %zu | %s | ", number++, #name, sizeof(type), #limit);
    VYRE_SECTIONS(ROW)
#undef ROW
}

static void document_has_every_size_operator(void **state) {
    (void)state;
#define ROW(name, number, text, operands) assert_on_page("\n| %u | `%s` | ", number, text);
    VYRE_SIZE_OPS(ROW)
#undef ROW
}

static void document_has_the_version_and_the_header(void **state) {
    (void)state;
    assert_on_page("version %d.%d.", WIRE_MAJOR, WIRE_MINOR);
    assert_on_page("\n| %d | 2 | major version | %d |", WIRE_AT_MAJOR, WIRE_MAJOR);
    assert_on_page("\n| %d | 4 | sections |", WIRE_AT_SECTIONS);
    assert_on_page("\n| %d | 8 | length |", WIRE_AT_LENGTH);
    assert_on_page("\n| %d | 8 | checksum |", WIRE_AT_CHECKSUM);
    assert_on_page("\n| %d | 4 | flags |", WIRE_AT_FLAGS);
    assert_on_page("\n| %d | 4 | file |", WIRE_AT_FILE);
    assert_on_page("\n| %d | %d each | section table |", WIRE_AT_TABLE, WIRE_ENTRY_BYTES);
}

static void document_has_an_example_that_is_right(void **state) {
    (void)state;
    wire_bytes bytes = wire_of_sample("empty", VYRE_WIRE_NO_DEBUG);
    for (size_t at = 0; at < bytes.size; at += 16) {
        char line[64];
        int size = snprintf(line, sizeof line, "\n%04zx ", at);
        for (size_t i = at; i < at + 16 && i < bytes.size; i++) {
            size += snprintf(line + size, sizeof line - (size_t)size, " %02x", bytes.data[i]);
        }
        assert_on_page("%s\n", line);
    }
    free(bytes.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_has_every_operation),
        cmocka_unit_test(document_has_every_type),
        cmocka_unit_test(document_has_every_section),
        cmocka_unit_test(document_has_every_size_operator),
        cmocka_unit_test(document_has_the_version_and_the_header),
        cmocka_unit_test(document_has_an_example_that_is_right),
    };
    return cmocka_run_group_tests(tests, read_page, free_page);
}
