/* Malformed bytes of every kind, each with the byte and the words of its refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/failing_allocator.h"
#include "tests/unit/wire_bytes.h"

/* A place in the bytes: in the header, in the table's entry of a section, or in an item of it. */
typedef struct place {
    enum { IN_HEADER, IN_TABLE, IN_SECTION } part;
    uint32_t section;
    size_t item, field; /* `field` in bytes */
} place;

#define HEADER(field)                                                                              \
    { IN_HEADER, 0, 0, field }
#define ENTRY(name, field)                                                                         \
    { IN_TABLE, VYRE_SECTION_##name, 0, field }
#define ITEM(name, item, field)                                                                    \
    { IN_SECTION, VYRE_SECTION_##name, item, field }

typedef struct malformed_case {
    const char *sample;
    place patched;
    int size;
    uint64_t value;
    place fault;
    vyre_status_code code;
    const char *words;
} malformed_case;

static size_t offset_of(wire_bytes bytes, place at) {
    if (at.part == IN_HEADER) {
        return at.field;
    }
    if (at.part == IN_TABLE) {
        return wire_entry_of(bytes, at.section) + at.field;
    }
    return wire_offset_of(bytes, at.section) + at.field +
           at.item * vyre_section_item_bytes((vyre_section_id)at.section);
}

static void check_refusal(wire_bytes bytes, size_t fault, vyre_status_code code, const char *words,
                          const char *about) {
    char expected[40];
    snprintf(expected, sizeof expected, "at byte %zu", fault);
    vyre_program *program;
    failing_allocator_start(0);
    vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &program);
    failing_allocator_end();
    /* What is wrong with the form is found before there is memory for anything but the status. */
    if (code == VYRE_STATUS_MALFORMED || code == VYRE_STATUS_UNSUPPORTED) {
        assert_true(failing_allocator_state.count <= 6);
    }
    const char *text = vyre_status_text(status);
    const char *found = strstr(text, expected);
    char behind = found ? found[strlen(expected)] : '0';
    if (vyre_status_code_of(status) != code || (behind >= '0' && behind <= '9') ||
        !strstr(text, words) || !strstr(text, "Fix: ") ||
        strstr(text, "vyre_")) { /* who has the file need not know the library */
        fail_msg("%s: expected \"%s\" and \"%s\" as \"%s\", found \"%s\" as \"%s\"", about,
                 expected, words, vyre_status_code_name(code), text,
                 vyre_status_code_name(vyre_status_code_of(status)));
    }
    vyre_status_free(status);
}

#define MALFORMED VYRE_STATUS_MALFORMED
#define INVALID VYRE_STATUS_INVALID_PROGRAM
#define LIMIT VYRE_STATUS_LIMIT
#define UNSUPPORTED VYRE_STATUS_UNSUPPORTED

static const malformed_case cases[] = {
    /* Header */
    {"saxpy", HEADER(0), 1, 'W', HEADER(0), MALFORMED, "do not start with the magic number"},
    {"saxpy", HEADER(4), 1, 'x', HEADER(0), MALFORMED, "do not start with the magic number"},
    {"saxpy", HEADER(4), 1, '\n', HEADER(4), MALFORMED, "CR became LF here"},
    {"saxpy", HEADER(8), 2, 2, HEADER(8), UNSUPPORTED, "version 2.0"},
    {"saxpy", HEADER(8), 2, 0, HEADER(8), UNSUPPORTED, "version 0.0"},
    {"saxpy", HEADER(8), 2, 0xffff, HEADER(8), UNSUPPORTED, "upgrade vyre"},
    {"saxpy", HEADER(10), 2, 99, HEADER(8), UNSUPPORTED, "version 1.99"},
    {"saxpy", HEADER(10), 2, 1, HEADER(10), MALFORMED, "the header gives version 1.1"},
    {"matrix", HEADER(10), 2, 0, HEADER(10), MALFORMED, "the program needs 1.1"},
    {"saxpy", HEADER(10), 2, 99, HEADER(8), UNSUPPORTED, "or encode the program again"},
    {"required", HEADER(10), 2, 0, HEADER(10), MALFORMED, "the program needs 1.1"},
    {"required", ITEM(REQUIREMENTS, 0, 0), 4, 99, ITEM(REQUIREMENTS, 0, 0), INVALID,
     "requirement 0 has no size"},
    {"required", ITEM(REQUIREMENTS, 1, 4), 4, 3, ITEM(REQUIREMENTS, 1, 0), INVALID,
     "requirement 1 has a size out of order"},
    {"required", ITEM(REQUIREMENT_PLACES, 1, 0), 4, 9, ITEM(REQUIREMENT_PLACES, 1, 0), INVALID,
     "requirement's place 1 does not fit the program"},
    {"required", ENTRY(REQUIREMENT_PLACES, 8), 4, 1, ITEM(REQUIREMENT_PLACES, 1, 0), MALFORMED,
     "more bytes follow the last section"},
    {"required", ITEM(SCOPES, 1, 12), 4, 9999, ITEM(SCOPES, 1, 0), INVALID,
     "call 1 does not fit the program"},
    {"saxpy", HEADER(12), 4, 0, HEADER(12), MALFORMED, "section STEPS is missing"},
    {"saxpy", HEADER(12), 4, 10, HEADER(52), MALFORMED, "starts at byte 216, expected 200"},
    {"saxpy", HEADER(12), 4, 1000, HEADER(12), MALFORMED,
     "a section table of length 1000 ends after the last byte"},
    {"saxpy", HEADER(12), 4, 0xffffffff, HEADER(12), MALFORMED, "ends after the last byte"},
    {"saxpy", HEADER(16), 8, 577, HEADER(576), MALFORMED, "the header says that there are 577"},
    {"saxpy", HEADER(16), 8, 575, HEADER(575), MALFORMED, ": 1 byte follows the end"},
    {"saxpy", HEADER(16), 8, 0, HEADER(0), MALFORMED, ": 576 bytes follow the end"},
    {"saxpy", HEADER(16), 8, UINT64_MAX, HEADER(16), LIMIT, "the limit is 1073741824"},
    {"saxpy", HEADER(32), 4, 2, HEADER(32), INVALID, "flags 0x2"},
    {"saxpy", HEADER(32), 4, 0x80000001, HEADER(32), INVALID, "flags 0x80000001"},
    {"saxpy", HEADER(36), 4, 5, HEADER(32), INVALID, "source file has no name"},
    {"saxpy", HEADER(36), 4, VYRE_NONE, HEADER(32), INVALID, "source file has no name"},

    /* Section table */
    {"saxpy", ENTRY(RESOURCES, 0), 4, 0, ENTRY(RESOURCES, 0), MALFORMED,
     "section 0 is unknown or out of order"},
    {"saxpy", ENTRY(STEPS, 0), 4, 5, ENTRY(PHASES, 0), MALFORMED,
     "section 4 is unknown or out of order"},
    {"saxpy", ENTRY(DEBUG_STRINGS, 0), 4, 18, ENTRY(DEBUG_STRINGS, 0), MALFORMED,
     "section 18 is unknown"},
    {"saxpy", ENTRY(ARGS, 4), 4, 16, ENTRY(ARGS, 4), MALFORMED,
     "items of ARGS have size 16, expected 12"},
    {"saxpy", ENTRY(ARGS, 8), 4, 0, ENTRY(ARGS, 8), MALFORMED,
     "section ARGS is listed but has no items"},
    {"saxpy", ENTRY(ARGS, 8), 4, 257, ENTRY(ARGS, 8), LIMIT, "section ARGS has 257 items"},
    {"saxpy", ENTRY(INSTS, 8), 4, 4194305, ENTRY(INSTS, 8), LIMIT, "the limit is 4194304"},
    {"saxpy", ENTRY(INSTS, 8), 4, 4194304, ENTRY(INSTS, 8), MALFORMED,
     "INSTS, with 4194304 items, ends after the last byte"},
    {"saxpy", ENTRY(STRINGS, 8), 4, VYRE_NONE, ENTRY(STRINGS, 8), LIMIT,
     "section STRINGS has 4294967295"},
    {"saxpy", ENTRY(RESOURCES, 12), 4, 260, ENTRY(RESOURCES, 12), MALFORMED,
     "starts at byte 260, expected 256"},
    {"saxpy", ENTRY(RESOURCES, 12), 4, 248, ENTRY(RESOURCES, 12), MALFORMED,
     "starts at byte 248, expected 256"},
    {"saxpy", ENTRY(RESOURCES, 12), 4, 264, ENTRY(RESOURCES, 12), MALFORMED,
     "starts at byte 264, expected 256"},
    {"saxpy", ENTRY(RESOURCES, 12), 4, 0, ENTRY(RESOURCES, 12), MALFORMED,
     "starts at byte 0, expected 256"},

    /* Between sections: three arguments of 12 bytes leave 4 to the next multiple of 8 */
    {"saxpy", ITEM(ARGS, 3, 0), 1, 1, ITEM(ARGS, 3, 0), MALFORMED,
     "a byte between sections is not zero"},
    {"saxpy", ITEM(ARGS, 3, 3), 1, 0x80, ITEM(ARGS, 3, 3), MALFORMED,
     "a byte between sections is not zero"},
    {"saxpy", ITEM(DEBUG_STRINGS, 7, 0), 1, 1, ITEM(DEBUG_STRINGS, 7, 0), MALFORMED,
     "a byte between sections is not zero"},

    /* Names and arguments */
    {"saxpy", ITEM(STRINGS, 0, 0), 1, '7', ITEM(STRINGS, 0, 0), INVALID,
     "name of the program has a character"},
    {"saxpy", ITEM(STRINGS, 2, 0), 1, '-', ITEM(STRINGS, 2, 0), INVALID,
     "name of the program has a character"},
    {"saxpy", ITEM(STRINGS, 0, 0), 1, 0, ITEM(STRINGS, 0, 0), INVALID,
     "name of the program is empty"},
    {"saxpy", ITEM(STRINGS, 6, 0), 1, 0xc3, ITEM(STRINGS, 6, 0), INVALID,
     "name of argument 0 has a character"},
    {"saxpy", ITEM(STRINGS, 8, 0), 1, 0, ITEM(STRINGS, 8, 0), INVALID,
     "name of argument 1 is empty"},
    {"saxpy", ITEM(STRINGS, 10, 0), 1, 'x', ITEM(ARGS, 2, 0), INVALID,
     "argument `x` is declared twice"},
    {"saxpy", ITEM(STRINGS, 11, 0), 1, 'x', ITEM(STRINGS, 10, 0), INVALID,
     "name of argument 2 is missing"},
    {"saxpy", ITEM(STRINGS, 5, 0), 1, 'x', ITEM(ARGS, 0, 0), INVALID,
     "argument 0 has its name out of order"},
    {"saxpy", ITEM(ARGS, 1, 0), 4, 0, ITEM(ARGS, 1, 0), INVALID,
     "argument 1 has its name out of order"},
    {"saxpy", ITEM(ARGS, 0, 4), 4, VYRE_TYPE_VOID, ITEM(ARGS, 0, 0), INVALID,
     "argument 0 has no type"},
    {"saxpy", ITEM(ARGS, 0, 4), 4, VYRE_TYPE_COUNT, ITEM(ARGS, 0, 0), INVALID,
     "argument 0 has no type"},
    {"saxpy", ITEM(ARGS, 1, 8), 4, 1, ITEM(ARGS, 1, 0), INVALID,
     "argument 1 does not match its buffer"},
    {"saxpy", ITEM(ARGS, 2, 4), 4, VYRE_TYPE_U32, ITEM(ARGS, 2, 0), INVALID,
     "argument 2 does not match its buffer"},
    {"saxpy", ITEM(ARGS, 0, 8), 4, 0, ITEM(ARGS, 1, 0), INVALID,
     "argument 1 does not match its buffer"},

    /* Arrays */
    {"saxpy", ITEM(RESOURCES, 0, 0), 1, 4, ITEM(ARGS, 1, 0), INVALID,
     "argument 1 does not match its buffer"},
    {"memory", ITEM(RESOURCES, 30, 0), 1, 6, ITEM(RESOURCES, 30, 0), INVALID,
     "array 30 is malformed or out of order"},
    {"memory", ITEM(RESOURCES, 30, 0), 1, 0, ITEM(RESOURCES, 30, 0), INVALID,
     "array 30 is malformed or out of order"},
    {"saxpy", ITEM(RESOURCES, 1, 1), 1, 13, ITEM(ARGS, 2, 0), INVALID,
     "argument 2 does not match its buffer"},
    {"saxpy", ITEM(RESOURCES, 1, 2), 1, 3, ITEM(RESOURCES, 1, 0), INVALID,
     "array 1 is malformed or out of order"},
    {"saxpy", ITEM(RESOURCES, 1, 2), 1, 2, ITEM(RESOURCES, 1, 0), INVALID, "array 1 has no size"},
    {"saxpy", ITEM(RESOURCES, 1, 3), 1, 1, ITEM(RESOURCES, 1, 0), INVALID,
     "array 1 is malformed or out of order"},
    {"saxpy", ITEM(RESOURCES, 0, 4), 4, 1, ITEM(RESOURCES, 0, 0), INVALID, "array 0 has no size"},
    {"saxpy", ITEM(RESOURCES, 0, 8), 4, 1, ITEM(RESOURCES, 0, 0), INVALID,
     "has fields that its kind does not have"},
    {"barriers", ITEM(RESOURCES, 2, 8), 4, 0, ITEM(RESOURCES, 2, 0), INVALID,
     "array 2 has no length of its own"},
    {"barriers", ITEM(RESOURCES, 2, 2), 1, 0, ITEM(RESOURCES, 2, 0), INVALID,
     "array 2 has no length of its own"},
    {"steps", ITEM(RESOURCES, 2, 2), 1, 0, ITEM(RESOURCES, 2, 0), INVALID,
     "has fields that its kind does not have"},

    /* Sizes */
    {"saxpy", ITEM(SIZES, 0, 0), 4, 12, ITEM(SIZES, 0, 0), INVALID, "size term 0 is not a number"},
    {"saxpy", ITEM(SIZES, 0, 0), 4, VYRE_SIZE_ADD, ITEM(SIZES, 0, 0), INVALID,
     "size term 0 is not a number"},
    {"saxpy", ITEM(SIZES, 0, 4), 4, 3, ITEM(SIZES, 0, 0), INVALID, "size term 0 is not a number"},
    {"saxpy", ITEM(SIZES, 0, 4), 4, 0, ITEM(SIZES, 0, 0), INVALID, "size term 0 is not a number"},
    {"saxpy", ITEM(SIZES, 0, 0), 4, VYRE_SIZE_PARAM, ITEM(SIZES, 0, 0), INVALID,
     "size term 0 is not a number"},
    {"saxpy", ITEM(SIZES, 0, 8), 4, 1, ITEM(SIZES, 0, 0), INVALID, "size term 0 is not a number"},
    {"steps", ITEM(SIZES, 3, 4), 4, 2, ITEM(SIZES, 3, 0), INVALID, "size term 3 is not a number"},
    {"steps", ITEM(SIZES, 3, 8), 4, 1, ITEM(SIZES, 3, 0), INVALID, "size term 3 is not a number"},

    /* Steps and phases */
    {"saxpy", ITEM(STEPS, 0, 0), 4, 2, ITEM(STEPS, 0, 0), INVALID, "step 0 contains no phase"},
    {"saxpy", ITEM(STEPS, 0, 0), 4, 1, ITEM(STEPS, 0, 0), INVALID, "step 0 contains no phase"},
    {"saxpy", ITEM(STEPS, 0, 4), 4, 2, ITEM(STEPS, 0, 0), INVALID, "step 0 is not the next phase"},
    {"saxpy", ITEM(STEPS, 0, 8), 4, 1, ITEM(STEPS, 0, 0), INVALID, "step 0 is not the next phase"},
    {"saxpy", ITEM(STEPS, 0, 12), 4, 0, ITEM(STEPS, 0, 0), INVALID, "step 0 is not the next phase"},
    {"steps", ITEM(STEPS, 1, 12), 4, 0, ITEM(STEPS, 1, 0), INVALID,
     "step 1 has an array it does not need"},
    {"steps", ITEM(STEPS, 2, 12), 4, VYRE_NONE, ITEM(STEPS, 2, 0), INVALID,
     "an element of no array"},
    {"steps", ITEM(STEPS, 2, 12), 4, 0, ITEM(STEPS, 2, 0), INVALID, "whose elements are f32"},
    {"steps", ITEM(STEPS, 2, 4), 4, 9, ITEM(STEPS, 2, 0), INVALID,
     "step 2 contains no phase, or extends"},
    {"saxpy", ITEM(PHASES, 0, 0), 4, 1, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 does not follow the one before"},
    {"saxpy", ITEM(PHASES, 0, 4), 4, 0, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 does not follow the one before"},
    {"saxpy", ITEM(PHASES, 0, 4), 4, 8, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 does not follow the one before"},
    {"saxpy", ITEM(PHASES, 0, 12), 4, 3, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 does not follow the one before"},
    {"saxpy", ITEM(PHASES, 0, 16), 4, 0, ITEM(PHASES, 0, 0), INVALID, "phase 0 has no dimensions"},
    {"saxpy", ITEM(PHASES, 0, 16), 4, 4, ITEM(PHASES, 0, 0), INVALID, "phase 0 has no dimensions"},
    {"saxpy", ITEM(PHASES, 0, 16), 4, 2, ITEM(PHASES, 0, 0), INVALID, "phase 0 has no size"},
    {"saxpy", ITEM(PHASES, 0, 20), 4, VYRE_NONE, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 has no size"},
    {"saxpy", ITEM(PHASES, 0, 24), 4, 0, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 has spare dimensions"},
    {"saxpy", ITEM(PHASES, 0, 32), 4, 9, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 has a domain from no array"},
    {"saxpy", ITEM(PHASES, 0, 32), 4, 0, ITEM(PHASES, 0, 0), INVALID,
     "the domain comes from `x`, whose elements are"},
    {"saxpy", ITEM(PHASES, 0, 36), 4, 0, ITEM(PHASES, 0, 0), INVALID,
     "phase 0 has an index without an array"},
    {"saxpy", ITEM(PHASES, 0, 40), 4, 1, ITEM(PHASES, 0, 0), INVALID, "a workgroup of 1 x 0 x 0"},
    {"barriers", ITEM(PHASES, 0, 44), 4, 2, ITEM(PHASES, 0, 0), INVALID,
     "a workgroup of 256 x 2 x 1"},
    {"barriers", ITEM(PHASES, 0, 40), 4, 1025, ITEM(PHASES, 0, 0), INVALID,
     "a workgroup of 1025 x 1 x 1"},
    {"barriers", ITEM(PHASES, 0, 52), 4, 24, ITEM(PHASES, 0, 0), INVALID, "in subgroups of 24"},
    {"steps", ITEM(PHASES, 0, 52), 4, 0, ITEM(INSTS, 0, 0), INVALID,
     "phase 0 declares a subgroup width and does not use it, or uses one without declaring it"},

    /* Constants and lists */
    {"blocks", ITEM(CONSTS, 0, 0), 8, 0x100000000, ITEM(CONSTS, 0, 0), INVALID,
     "constant 0 does not fit its type"},
    {"blocks", ITEM(CONSTS, 1, 0), 8, 4, ITEM(CONSTS, 1, 0), INVALID, "constant 1 is listed twice"},
    {"blocks", ITEM(CONSTS, 2, 8), 4, VYRE_TYPE_VOID, ITEM(CONSTS, 2, 0), INVALID,
     "constant 2 does not fit its type"},
    {"blocks", ITEM(CONSTS, 0, 8), 4, VYRE_TYPE_BOOL, ITEM(CONSTS, 0, 0), INVALID,
     "constant 0 does not fit its type"},
    {"blocks", ITEM(CONSTS, 0, 12), 4, 1, ITEM(CONSTS, 0, 0), INVALID,
     "constant 0 does not fit its type"},

    /* Instructions; the fault is at the instruction */
    {"saxpy", ITEM(INSTS, 0, 0), 2, 0, ITEM(INSTS, 0, 0), INVALID,
     "instruction 0 (`?`) is not an operation"},
    {"saxpy", ITEM(INSTS, 3, 0), 2, 15, ITEM(INSTS, 3, 0), INVALID,
     "instruction 3 (`?`) is not an operation"},
    {"saxpy", ITEM(INSTS, 3, 0), 2, 0xffff, ITEM(INSTS, 3, 0), INVALID,
     "instruction 3 (`?`) is not an operation"},
    {"saxpy", ITEM(INSTS, 0, 2), 1, VYRE_TYPE_I32, ITEM(INSTS, 0, 0), INVALID,
     "(`gid`) has the wrong type"},
    {"saxpy", ITEM(INSTS, 2, 2), 1, 200, ITEM(INSTS, 2, 0), INVALID, "(`load`) has the wrong type"},
    {"saxpy", ITEM(INSTS, 5, 2), 1, VYRE_TYPE_F32, ITEM(INSTS, 5, 0), INVALID,
     "(`store`) has a type"},
    {"saxpy", ITEM(INSTS, 0, 3), 1, 1, ITEM(INSTS, 0, 0), INVALID,
     "has a word set that it does not use"},
    {"saxpy", ITEM(INSTS, 0, 8), 4, 1, ITEM(INSTS, 0, 0), INVALID,
     "has a word set that it does not use"},
    {"saxpy", ITEM(INSTS, 2, 12), 4, 1, ITEM(INSTS, 2, 0), INVALID,
     "has a word set that it does not use"},
    {"saxpy", ITEM(INSTS, 0, 4), 4, 1, ITEM(INSTS, 0, 0), INVALID, "`gid` has no component .y"},
    {"saxpy", ITEM(INSTS, 1, 4), 4, 1, ITEM(INSTS, 1, 0), INVALID,
     "(`param`) is not a scalar argument"},
    {"saxpy", ITEM(INSTS, 1, 4), 4, 3, ITEM(INSTS, 1, 0), INVALID,
     "(`param`) is not a scalar argument"},
    {"saxpy", ITEM(INSTS, 2, 4), 4, 2, ITEM(INSTS, 2, 0), INVALID,
     "uses an array that does not exist"},
    {"saxpy", ITEM(INSTS, 2, 8), 4, 2, ITEM(INSTS, 2, 0), INVALID,
     "uses value 2, which does not exist"},
    {"saxpy", ITEM(INSTS, 2, 8), 4, 1, ITEM(INSTS, 2, 0), INVALID,
     "the index of `x` is f32, expected an integer"},
    {"saxpy", ITEM(INSTS, 2, 8), 4, 0x80000000, ITEM(INSTS, 2, 0), INVALID,
     "uses constants out of order"},
    {"saxpy", ITEM(INSTS, 4, 4), 4, 0, ITEM(INSTS, 4, 0), INVALID,
     "operand 1 of `fma` is u32, expected a float"},
    {"saxpy", ITEM(INSTS, 5, 4), 4, 0, ITEM(INSTS, 5, 0), INVALID,
     "buffer `x` is read-only, and `store` writes it"},
    {"saxpy", ITEM(INSTS, 5, 12), 4, 0, ITEM(INSTS, 5, 0), INVALID,
     "the value is u32, the elements of the array are"},
    {"saxpy", ITEM(INSTS, 6, 4), 4, 1, ITEM(INSTS, 6, 0), INVALID, "has its operands out of order"},
    {"saxpy", ITEM(INSTS, 6, 8), 4, 1, ITEM(INSTS, 6, 0), INVALID, "has its operands out of order"},
    {"saxpy", ITEM(INSTS, 6, 0), 2, VYRE_OP_BARRIER, ITEM(INSTS, 6, 0), INVALID,
     "does not end its block"},
    {"saxpy", ITEM(INSTS, 6, 0), 2, VYRE_OP_YIELD, ITEM(INSTS, 6, 0), INVALID,
     "there is no block to leave"},
    {"saxpy", ITEM(INSTS, 6, 0), 2, VYRE_OP_BREAK, ITEM(INSTS, 6, 0), INVALID,
     "there is no block to leave"},
    {"saxpy", ITEM(INSTS, 6, 0), 2, VYRE_OP_UNREACHABLE, ITEM(INSTS, 6, 0), INVALID,
     "can be reached"},
    {"saxpy", ITEM(INSTS, 3, 0), 8, VYRE_OP_RETURN, ITEM(INSTS, 3, 0), INVALID,
     "ends inside its block"},
    {"blocks", ITEM(INSTS, 1, 0), 2, VYRE_OP_RETURN, ITEM(INSTS, 1, 0), INVALID,
     "(`return`) ends inside its block"},
    {"blocks", ITEM(INSTS, 2, 4), 4, 0, ITEM(INSTS, 2, 0), INVALID,
     "the condition of `if` is u32, expected bool"},
    {"blocks", ITEM(INSTS, 2, 8), 4, 3, ITEM(INSTS, 2, 0), INVALID,
     "has blocks that do not lie inside its own"},
    {"blocks", ITEM(INSTS, 2, 12), 4, 41, ITEM(INSTS, 2, 0), INVALID,
     "has blocks that do not lie inside its own"},
    {"blocks", ITEM(INSTS, 3, 8), 4, 1, ITEM(INSTS, 3, 0), INVALID, "`yield` gives 1 value"},
    {"blocks", ITEM(INSTS, 6, 8), 4, 2, ITEM(INSTS, 3, 0), INVALID, "gives 2 values"},
    {"blocks", ITEM(INSTS, 6, 4), 4, 7, ITEM(INSTS, 3, 0), INVALID, "gives 2 values"},
    {"blocks", ITEM(INSTS, 7, 8), 4, 2, ITEM(INSTS, 7, 0), INVALID, "(`for`) has no range"},
    {"blocks", ITEM(INSTS, 7, 4), 4, 5, ITEM(INSTS, 7, 0), INVALID,
     "has its operands out of order"},
    {"blocks", ITEM(INSTS, 9, 8), 4, 3, ITEM(INSTS, 7, 0), INVALID, "does not match its args"},
    {"blocks", ITEM(INSTS, 13, 0), 2, VYRE_OP_YIELD, ITEM(INSTS, 13, 0), INVALID,
     "gives 2 values, expected 0"},
    {"blocks", ITEM(INSTS, 21, 2), 1, VYRE_TYPE_I32, ITEM(INSTS, 7, 0), INVALID,
     "does not match its results"},
    {"blocks", ITEM(INSTS, 25, 4), 4, 9, ITEM(INSTS, 25, 0), INVALID,
     "uses value 9, which does not exist"},
    {"blocks", ITEM(INSTS, 25, 4), 4, 2, ITEM(INSTS, 25, 0), INVALID,
     "uses value 2, which does not exist"},
    {"steps", ITEM(INSTS, 4, 4), 4, 0, ITEM(INSTS, 4, 0), INVALID,
     "counts a repeat that is not around it"},
    {"steps", ITEM(INSTS, 4, 4), 4, 3, ITEM(INSTS, 4, 0), INVALID,
     "counts a repeat that is not around it"},
    {"steps", ITEM(INSTS, 4, 4), 4, 8, ITEM(INSTS, 4, 0), INVALID,
     "counts a repeat that is not around it"},
    {"barriers", ITEM(INSTS, 7, 4), 4, 0, ITEM(INSTS, 20, 0), INVALID,
     "`barrier` must be reached by the whole workgroup together, but whether an invocation gets "
     "there depends on `lid` (instruction 0)"},
    {"barriers", ITEM(INSTS, 26, 4), 4, 3, ITEM(INSTS, 26, 0), INVALID, "does not exist"},

    /* Constant arrays */
    {"lookup", HEADER(10), 2, 1, HEADER(10), MALFORMED, "the program needs 1.2"},
    {"lookup", ITEM(DATA, 3, 0), 1, 1, ITEM(DATA, 3, 0), INVALID, "data byte 3 is not zero"},
    {"lookup", ITEM(DATA, 1, 0), 1, 2, ITEM(DATA, 1, 0), INVALID, "data byte 1 is no bool"},
    {"lookup", ITEM(RESOURCES, 2, 0), 1, 5, ITEM(RESOURCES, 2, 0), INVALID, "out of order"},
    {"lookup", ITEM(RESOURCES, 2, 0), 1, 2, ITEM(RESOURCES, 2, 0), INVALID,
     "array 2 has no length of its own"},
    {"lookup", ITEM(RESOURCES, 2, 2), 1, 1, ITEM(RESOURCES, 2, 0), INVALID,
     "array 2 has no elements of its own"},
    {"lookup", ITEM(RESOURCES, 3, 4), 4, 4, ITEM(RESOURCES, 3, 0), INVALID,
     "array 3 has no elements of its own"},
    {"lookup", ITEM(RESOURCES, 3, 8), 4, 3, ITEM(RESOURCES, 3, 0), INVALID,
     "array 3 has no elements of its own"},
    {"lookup", ITEM(RESOURCES, 3, 8), 4, 0, ITEM(RESOURCES, 3, 0), INVALID,
     "array 3 has no elements of its own"},
    {"lookup", ITEM(RESOURCES, 3, 8), 4, 1, ITEM(DATA, 12, 0), INVALID,
     "data byte 12 belongs to no array"},
    {"lookup", ITEM(INSTS, 2, 4), 4, 3, ITEM(INSTS, 2, 0), INVALID,
     "uses a constant array out of order"},
    {"lookup", ITEM(INSTS, 3, 0), 2, VYRE_OP_UNIFORM_LOAD, ITEM(INSTS, 3, 0), INVALID,
     "reads a constant array"},
    {"lookup", ITEM(INSTS, 6, 4), 4, 3, ITEM(INSTS, 6, 0), INVALID,
     "constant array `k` is read-only, and `store` writes it"},

    /* Names and places for people */
    {"named", ITEM(DEBUG_STRINGS, 0, 0), 1, 'x', ITEM(DEBUG_STRINGS, 0, 0), INVALID,
     "debug string byte 0 does not fit"},
    {"named", ITEM(RESOURCE_NAMES, 1, 0), 4, 1000, ITEM(RESOURCE_NAMES, 1, 0), INVALID,
     "array name 1 does not fit"},
    {"named", ITEM(STEP_NAMES, 0, 0), 4, VYRE_NONE, ITEM(STEP_NAMES, 0, 0), INVALID,
     "step name 0 does not fit"},
    {"named", ITEM(PLACES, 2, 0), 4, 3, ITEM(PLACES, 2, 0), INVALID, "place 2 does not fit"},
    {"named", ITEM(SCOPES, 0, 0), 4, 1, ITEM(SCOPES, 0, 0), INVALID, "call 0 does not fit"},
    {"named", ITEM(SCOPES, 1, 8), 4, 1000, ITEM(SCOPES, 1, 0), INVALID, "call 1 does not fit"},
    {"named", ITEM(SCOPES, 1, 12), 4, 1, HEADER(10), MALFORMED, "the program needs 1.1"},
    {"named", ITEM(VALUE_NAMES, 1, 0), 4, 0, ITEM(VALUE_NAMES, 1, 0), INVALID,
     "value name 1 does not fit"},
    {"named", ITEM(VALUE_NAMES, 1, 0), 4, 6, ITEM(VALUE_NAMES, 1, 0), INVALID,
     "value name 1 does not fit"},
    {"named", ITEM(VALUE_NAMES, 0, 4), 4, 1000, ITEM(VALUE_NAMES, 0, 0), INVALID,
     "value name 0 does not fit"},
};

static void malformed_bytes_are_refused_at_the_byte_that_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const malformed_case *row = &cases[i];
        wire_bytes bytes = wire_of_sample(row->sample, 0);
        size_t patched = offset_of(bytes, row->patched), fault = offset_of(bytes, row->fault);
        char about[80];
        snprintf(about, sizeof about, "case %zu (%s, byte %zu)", i, row->sample, patched);
        wire_put(bytes.data + patched, row->size, row->value);
        wire_fix_checksum(bytes);
        check_refusal(bytes, fault, row->code, row->words, about);
        free(bytes.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_bytes_are_refused_at_the_byte_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
