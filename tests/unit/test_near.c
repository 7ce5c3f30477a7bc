#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/near.h"
#include "tests/unit/failing_allocator.h"

static vyre_str str(const char *string) {
    return (vyre_str){string, strlen(string)};
}

/* The suggestions for a name among those of a NULL-terminated list, "" if there are none. */
static void check(const char *wanted, const char *const *names, const char *expected) {
    vyre_near near;
    vyre_strbuf text = {0};
    vyre_near_init(&near, str(wanted));
    for (; *names; names++) {
        vyre_near_add(&near, str(*names));
    }
    vyre_near_print(&near, &text, "did you mean ");
    assert_string_equal(vyre_strbuf_string(&text), expected);
    vyre_strbuf_free(&text);
}

static const char *const operations[] = {"fma",     "sqrt",        "atomic_add", "atomic_sub",
                                         "barrier", "subgroup_id", "gid",        "lid",
                                         "wid",     "f32",         "f16",        NULL};

static void near_finds_missing_added_wrong_and_swapped_letters(void **state) {
    (void)state;
    check("barier", operations, "did you mean `barrier`");
    check("barrrier", operations, "did you mean `barrier`");
    check("bannier", operations, "did you mean `barrier`");
    check("abrrier", operations, "did you mean `barrier`");
    check("sqr", operations, "did you mean `sqrt`");
    check("amf", operations, "");
}

static void near_does_not_care_about_case(void **state) {
    (void)state;
    check("FMA", operations, "did you mean `fma`");
    check("SubGroup_ID", operations, "did you mean `subgroup_id`");
}

static void near_says_nothing_when_nothing_is_near(void **state) {
    (void)state;
    check("zebra", operations, "");
    check("x", operations, "");
    check("", operations, "");
    check("fma", (const char *const[]){"", NULL}, "");
}

static void near_names_the_nearest_first_and_three_at_most(void **state) {
    (void)state;
    check("hid", operations, "did you mean `gid`, `lid` or `wid`");
    check("hid", (const char *const[]){"wid", "zid", "lid", "gid", "lid", NULL},
          "did you mean `gid`, `lid` or `wid`");
    check("atomic_and", operations, "did you mean `atomic_add` or `atomic_sub`");
}

static void near_is_the_same_in_any_order(void **state) {
    (void)state;
    static const char *const names[] = {"aab", "aac", "aad", "aaaa", "aa", "AAA", "abb", "zzz"};
    enum { COUNT = sizeof names / sizeof names[0] };
    vyre_near first = {0};
    for (size_t start = 0; start < COUNT; start++) {
        for (size_t step = 1; step < COUNT; step += 2) {
            vyre_near near;
            vyre_near_init(&near, str("aaa"));
            for (size_t i = 0; i < COUNT; i++) {
                vyre_near_add(&near, str(names[(start + i * step) % COUNT]));
            }
            assert_int_equal(near.count, VYRE_NEAR_NAMES);
            if (start == 0 && step == 1) {
                first = near;
            }
            assert_memory_equal(near.names, first.names, sizeof near.names);
        }
    }
    assert_string_equal(first.names[0].data, "AAA");
    assert_string_equal(first.names[1].data, "aa");
    assert_string_equal(first.names[2].data, "aaaa");
}

static void near_ignores_very_long_names(void **state) {
    (void)state;
    char name[1000];
    memset(name, 'a', sizeof name);
    vyre_near near;
    vyre_near_init(&near, (vyre_str){name, sizeof name});
    vyre_near_add(&near, (vyre_str){name, sizeof name - 1});
    assert_int_equal(near.count, 0);
    vyre_near_init(&near, (vyre_str){name, 64});
    vyre_near_add(&near, (vyre_str){name, 65});
    vyre_near_add(&near, (vyre_str){name, 63});
    assert_int_equal(near.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_finds_missing_added_wrong_and_swapped_letters),
        cmocka_unit_test(near_does_not_care_about_case),
        cmocka_unit_test(near_says_nothing_when_nothing_is_near),
        cmocka_unit_test(near_names_the_nearest_first_and_three_at_most),
        cmocka_unit_test(near_is_the_same_in_any_order),
        cmocka_unit_test(near_ignores_very_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
