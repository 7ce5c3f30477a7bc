/* Laws: those that hold pass, those that do not are found, each kind on each shape of operation. */
#define _GNU_SOURCE /* setenv */

#include "tests/unit/dialect_files.h"

#include <vyre/device.h>

#include "base/strbuf.h"
#include "conform/claims.h"
#include "tests/unit/package_check.h"

static const char source[] =
    "fn add(a: u8, b: u8) -> u8 { return a + b; }\n"
    "fn sub(a: u8, b: u8) -> u8 { return a - b; }\n"
    "fn most(a: u8, b: u8) -> u8 { return max(a, b); }\n"
    "fn both(a: bool, b: bool) -> bool { return a && b; }\n"
    "fn not(a: bool) -> bool { return !a; }\n"
    "fn flip(a: u32) -> u32 { return ~a; }\n"
    "fn next(a: u32) -> u32 { return a + 1; }\n"
    "fn back(a: u32) -> u32 { return a - 1; }\n"
    "fn round_down(a: f32) -> f32 { return floor(a); }\n"
    "fn plus(a: f32, b: f32) -> f32 { return a + b; }\n"
    "fn half(a: i32) -> i32 { return a >> 1; }\n"
    "fn wide(a: u8, b: u8) -> u16 { return u16(a) * u16(b); }\n"
    "program total(x: buffer<u32>, sum: out buffer<u32>[1]) over x {\n"
    "    atomic_add(sum[0], x[gid]);\n"
    "}\n"
    "program first(x: buffer<u32>, one: out buffer<u32>[1]) over 1 { one[0] = x[0]; }\n"
    "program turn(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
    "    y[gid] = x[len(x) - 1 - gid];\n"
    "}\n"
    "program shift(x: buffer<u32>, by: u32, y: out buffer<u32>[len(x)]) over x {\n"
    "    y[gid] = x[(gid + by) % len(x)];\n"
    "}\n"
    "program mix(x: buffer<u32>, y: buffer<u32>, z: out buffer<u32>[len(x)]) over x {\n"
    "    z[gid] = x[gid] ^ y[gid];\n"
    "}\n";

typedef struct law_case {
    const char *entry, *law;
    const char *arguments, *expected; /* a witness */
    const char *failure;              /* part of it; NULL: it holds */
} law_case;

#define PAIR "\"a=1\", \"b=1\""
#define ONE "\"a=1\""
static const law_case cases[] = {
    {"add", "commutative", PAIR, "result=2", NULL},
    {"add", "identity(0)", PAIR, "result=2", NULL},
    {"add", "inverse(t.sub)", PAIR, "result=2", NULL},
    {"add", "identity(1)", PAIR, "result=2", "1 and 0 with a = 0"},
    {"add", "idempotent", PAIR, "result=2", "2 and 1 with a = 1"},
    {"add", "monotone", PAIR, "result=2", "does not hold"},
    {"add", "absorbing(255)", PAIR, "result=2", "does not hold"},
    {"add", "identity(256)", PAIR, "result=2", "256"},
    {"add", "involution", PAIR, "result=2", "does not apply to such arguments"},
    {"add", "inverse(t.nothing)", PAIR, "result=2",
     "names an operation that does not exist or "
     "cannot run"},
    {"sub", "commutative", PAIR, "result=0", "1 and 255 with a = 1, b = 0"},
    {"sub", "associative", PAIR, "result=0", "does not hold"},
    {"sub", "inverse(t.add)", PAIR, "result=0", NULL},
    {"most", "idempotent", PAIR, "result=1", NULL},
    {"most", "monotone", PAIR, "result=1", NULL},
    {"most", "absorbing(255)", PAIR, "result=1", NULL},
    {"most", "identity(0)", PAIR, "result=1", NULL},
    {"both", "commutative", PAIR, "result=1", NULL},
    {"both", "absorbing(false)", PAIR, "result=1", NULL},
    {"both", "identity(false)", PAIR, "result=1", "does not hold"},
    {"not", "involution", ONE, "result=0", NULL},
    {"not", "idempotent", ONE, "result=0", "does not hold"},
    {"flip", "involution", ONE, "result=4294967294", NULL},
    {"flip", "monotone", ONE, "result=4294967294", "does not hold"},
    {"next", "inverse(t.back)", ONE, "result=2", NULL},
    {"next", "inverse(t.flip)", ONE, "result=2", "does not hold"},
    {"next", "involution", ONE, "result=2", "does not hold"},
    {"round_down", "idempotent", ONE, "result=1", NULL},
    {"round_down", "monotone", ONE, "result=1", NULL},
    {"round_down", "involution", ONE, "result=1", "does not hold"},
    {"plus", "commutative", PAIR, "result=2", NULL},
    {"plus", "associative", PAIR, "result=2", "does not hold"},
    {"plus", "identity(0)", PAIR, "result=2", "does not hold"}, /* of -0.0 */
    {"plus", "identity(-0.0)", PAIR, "result=2", NULL},
    {"half", "monotone", ONE, "result=0", NULL},
    {"wide", "commutative", PAIR, "result=1", NULL},
    {"wide", "associative", PAIR, "result=1", "does not apply to such arguments"},
    {"total", "commutative", "\"x=1,2,3\"", "sum=6", NULL},
    {"total", "associative", "\"x=1,2,3\"", "sum=6", NULL},
    {"total", "identity(0)", "\"x=1,2,3\"", "sum=6", NULL},
    {"total", "identity(1)", "\"x=1,2,3\"", "sum=6", "7 and 6"},
    {"total", "idempotent", "\"x=1,2,3\"", "sum=6", NULL},
    {"first", "commutative", "\"x=1,2,3\"", "one=1", "3 and 1"},
    {"first", "associative", "\"x=1,2,3\"", "one=1", NULL},
    {"turn", "involution", "\"x=1,2,3\"", "y=3,2,1", NULL},
    {"turn", "idempotent", "\"x=1,2,3\"", "y=3,2,1", "at element 0"},
    {"shift", "involution", "\"x=1,2,3,4\", \"by=2\"", "y=3,4,1,2", NULL},
    {"shift", "involution", "\"x=1,2,3,4\", \"by=1\"", "y=2,3,4,1", "does not hold"},
    {"mix", "commutative", "\"x=1,2\", \"y=4,8\"", "z=5,10", NULL},
    {"mix", "associative", "\"x=1,2\", \"y=4,8\"", "z=5,10", NULL},
    {"mix", "identity(0)", "\"x=1,2\", \"y=4,8\"", "z=5,10", NULL},
    {"mix", "idempotent", "\"x=1,2\", \"y=4,8\"", "z=5,10", "does not hold"},
};

static void write_operation(vyre_strbuf *text, const char *id, const law_case *row, bool has_law) {
    vyre_strbuf_printf(text, "[[operation]]\nid = \"t.%s\"\nentry = \"%s\"\ndoc = \"D.\"\n", id,
                       row->entry);
    if (has_law) {
        vyre_strbuf_printf(text, "laws = [\"%s\"]\n", row->law);
    }
    vyre_strbuf_printf(text, "[[operation.witness]]\narguments = [%s]\nexpected = [\"%s\"]\n",
                       row->arguments, row->expected);
}

/* A dialect with the operation of a case, and those that may undo it. */
static void run_case(vyre_device *device, const law_case *row) {
    static const law_case others[] = {{"add", "", PAIR, "result=2", NULL},
                                      {"sub", "", PAIR, "result=0", NULL},
                                      {"back", "", ONE, "result=0", NULL},
                                      {"flip", "", ONE, "result=4294967294", NULL}};
    vyre_strbuf manifest = {0}, failures = {0};
    vyre_streams streams = {0};
    vyre_dialects *snapshot;
    conform_claims tally = {0};
    vyre_strbuf_puts(&manifest, "dialect = \"t\"\nversion = \"1.0.0\"\ndoc = \"T.\"\n");
    write_operation(&manifest, "tested", row, true);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_operation(&manifest, others[i].entry, &others[i], false);
    }
    expect_ok(package_check_add(&streams, "t", manifest.data, source));
    expect_ok(vyre_dialects_make(streams.operations.items, streams.operations.count, &snapshot));
    const vyre_operation *tested = vyre_dialects_find(snapshot, "t.tested");
    expect_ok(conform_witnesses_check(device, tested, &tally, &failures));
    if (tally.failures) {
        fail_msg("%s: %s", row->entry, failures.data);
    }
    expect_ok(conform_laws_check(device, snapshot, tested, &tally, &failures));
    const char *told = vyre_strbuf_string(&failures);
    if (tally.failures != (row->failure != NULL) || (row->failure && !strstr(told, row->failure))) {
        fail_msg("%s, %s: %zu failures: %s", row->entry, row->law, tally.failures, told);
    }
    assert_int_equal(tally.laws, 1);
    if (!row->failure) {
        assert_in_range(tally.cases, 2, SIZE_MAX);
    }
    vyre_dialects_release(snapshot);
    vyre_streams_free(&streams);
    vyre_strbuf_free(&manifest);
    vyre_strbuf_free(&failures);
}

static void laws_are_tested(void **state) {
    (void)state;
    vyre_device *device;
    expect_ok(vyre_acquire("reference", &device));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_case(device, &cases[i]);
    }
    vyre_device_release(device);
}

/* All pairs and triples of 8-bit values, and nothing less. */
static void small_domains_are_tried_whole(void **state) {
    (void)state;
    static const law_case rows[] = {{"add", "associative", PAIR, "result=2", NULL},
                                    {"add", "commutative", PAIR, "result=2", NULL},
                                    {"not", "involution", ONE, "result=0", NULL}};
    static const size_t expected[] = {16777216, 65536, 2};
    vyre_device *device;
    expect_ok(vyre_acquire("reference", &device));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_strbuf manifest = {0}, failures = {0};
        vyre_streams streams = {0};
        vyre_dialects *snapshot;
        conform_claims tally = {0};
        vyre_strbuf_puts(&manifest, "dialect = \"t\"\nversion = \"1.0.0\"\ndoc = \"T.\"\n");
        write_operation(&manifest, "tested", &rows[i], true);
        expect_ok(package_check_add(&streams, "t", manifest.data, source));
        expect_ok(
            vyre_dialects_make(streams.operations.items, streams.operations.count, &snapshot));
        expect_ok(
            conform_laws_check(device, snapshot, vyre_dialects_at(snapshot, 0), &tally, &failures));
        assert_int_equal(tally.failures, 0);
        assert_int_equal(tally.cases, expected[i]);
        vyre_dialects_release(snapshot);
        vyre_streams_free(&streams);
        vyre_strbuf_free(&manifest);
        vyre_strbuf_free(&failures);
    }
    vyre_device_release(device);
}

/* A witness that does not hold is found, in the operation's own program and in its variants. */
static void witnesses_are_compared(void **state) {
    (void)state;
    static const char manifest[] =
        "dialect = \"t\"\nversion = \"1.0.0\"\ndoc = \"T.\"\n[[operation]]\nid = \"t.add\"\n"
        "doc = \"A.\"\n[[operation.variant]]\nentry = \"sub\"\nsuits = \"gpu\"\n"
        "[[operation.witness]]\narguments = [\"a=1,2\", \"b=3,4\"]\nexpected = [\"result=4,6\"]\n"
        "[[operation.witness]]\narguments = [\"a=1\", \"b=0\"]\nexpected = [\"result=1\"]\n"
        "[[operation.witness]]\narguments = [\"a=1\", \"b=0,1\"]\nexpected = [\"result=1\"]\n"
        "[[operation.witness]]\narguments = [\"a=300\", \"b=0\"]\nexpected = [\"result=1\"]\n";
    vyre_device *device;
    vyre_streams streams = {0};
    vyre_strbuf failures = {0};
    conform_claims tally = {0};
    expect_ok(vyre_acquire("reference", &device));
    expect_ok(package_check_add(&streams, "t", manifest, source));
    expect_ok(conform_witnesses_check(device, streams.operations.items[0], &tally, &failures));
    assert_int_equal(tally.witnesses, 4);
    assert_int_equal(tally.failures, 4);
    assert_non_null(strstr(failures.data, "t.add: `t_add_sub` gives result=254,254, and the "
                                          "witness expects 4,6\n"));
    assert_non_null(strstr(failures.data, "cannot run its witness"));
    assert_non_null(strstr(failures.data, "300"));
    vyre_strbuf_free(&failures);
    vyre_streams_free(&streams);
    vyre_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_tested),
        cmocka_unit_test(small_domains_are_tried_whole),
        cmocka_unit_test(witnesses_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
