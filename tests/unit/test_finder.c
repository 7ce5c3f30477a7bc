/* That a loader finds nothing but software devices is known to later processes, until something
 * that it depends on changes. */
#define _GNU_SOURCE /* mkdtemp */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/recall.h"

static char folder[] = P_tmpdir "/vyre-finder-XXXXXX";
static char drivers[64], list[96];

static const char *const variables[] = {"FINDER_DRIVERS", NULL};
static const char *const paths[] = {drivers, "missing", NULL};
static const vyre_finder finder = {"finder", variables, paths};
static const vyre_finder another = {"another", variables, paths};

static void write_list(const char *text) {
    FILE *file = fopen(list, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void is_known_until_it_changes(void **state) {
    (void)state;
    assert_false(vyre_recall_software(&finder));
    vyre_remember_software(&finder, true);
    assert_true(vyre_recall_software(&finder));
    assert_false(vyre_recall_software(&another));
    vyre_remember_software(&finder, false);
    assert_false(vyre_recall_software(&finder));
    vyre_remember_software(&finder, true);
    assert_true(vyre_recall_software(&finder));

    setenv("FINDER_DRIVERS", "other", 1);
    assert_false(vyre_recall_software(&finder));
    unsetenv("FINDER_DRIVERS");
    assert_true(vyre_recall_software(&finder));

    write_list("another driver");
    assert_false(vyre_recall_software(&finder));
    vyre_remember_software(&finder, true);
    assert_true(vyre_recall_software(&finder));
    assert_int_equal(unlink(list), 0);
    assert_false(vyre_recall_software(&finder));
}

static void is_not_kept_without_a_cache(void **state) {
    (void)state;
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    vyre_remember_software(&another, true);
    unsetenv("VYRE_CACHE_LIMIT");
    assert_false(vyre_recall_software(&another));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_known_until_it_changes),
        cmocka_unit_test(is_not_kept_without_a_cache),
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(drivers, sizeof drivers, "%s/drivers", folder);
    snprintf(list, sizeof list, "%s/first.icd", drivers);
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("VYRE_CACHE_LIMIT");
    if (mkdir(drivers, 0700)) {
        return 1;
    }
    write_list("a driver");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) || failed;
}
