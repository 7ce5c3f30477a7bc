/* Linked into the tests of the driver contract for contract.sh: a test program runs only those of
 * its tests whose name matches MUTANT_TESTS, so that a mistake is not first met by another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose(void) {
    const char *pattern = getenv("MUTANT_TESTS");
    if (pattern) {
        cmocka_set_test_filter(pattern);
    }
}
