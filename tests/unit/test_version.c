#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <vyre/base.h>

static void version_of_library_and_headers_agree(void **state) {
    (void)state;
    char numbers[40];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", VYRE_VERSION_MAJOR, VYRE_VERSION_MINOR,
             VYRE_VERSION_PATCH);
    assert_string_equal(numbers, VYRE_VERSION_STRING);
    assert_string_equal(vyre_version(), VYRE_VERSION_STRING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_of_library_and_headers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
