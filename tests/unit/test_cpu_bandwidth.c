/* The bandwidth of memory in the profile: measured on request alone, once, and kept for others.
 * What a process knows stays, so that each case is a process of its own. */
#define _GNU_SOURCE /* mkdtemp */

#include "tests/unit/cpu_check.h"

#include <dirent.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/runtime/backend.h"
#include "backend/cpu/runtime/bandwidth.h"
#include "runtime/device.h"

static char folder[] = P_tmpdir "/vyre-bandwidth-XXXXXX";

static uint64_t in_profile(void) {
    vyre_backend made = {.host = vyre_host_services()};
    vyre_device *device;
    vyre_profile profile;
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_device_open(&made, "cpu", 0, &device));
    vyre_device_profile(device, &profile);
    vyre_device_release(device);
    return profile.memory_bandwidth_gbps;
}

/* The file that was kept, or false. */
static bool find_file(char *path, size_t size) {
    char place[sizeof folder + 32];
    snprintf(place, sizeof place, "%s/vyre/pipelines", folder);
    DIR *list = opendir(place);
    bool found = false;
    for (struct dirent *entry; list && !found && (entry = readdir(list));) {
        found = !strncmp(entry->d_name, "memory-", 7);
        if (found) {
            snprintf(path, size, "%s/%s", place, entry->d_name);
        }
    }
    if (list) {
        closedir(list);
    }
    return found;
}

static void remove_file(void) {
    char path[512];
    if (find_file(path, sizeof path)) {
        assert_int_equal(unlink(path), 0);
    }
}

/* In a process of its own: whether what `body` says is true. */
static void expect_in_child(bool (*body)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        _exit(body() ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
}

static bool nobody_has_measured(void) {
    return !cpu_bandwidth_known() && !in_profile();
}

/* Opening a device is quick, and a number that was measured is one of this world. */
static bool measures_and_keeps(void) {
    char path[512];
    if (!nobody_has_measured() || find_file(path, sizeof path)) {
        return false;
    }
    cpu_bandwidth_learn();
    uint64_t number = cpu_bandwidth_known();
    return number > 0 && number < 10000 && in_profile() == number && find_file(path, sizeof path);
}

static bool knows_777(void) {
    cpu_bandwidth_learn(); /* known, so nothing is measured */
    return cpu_bandwidth_known() == 777 && in_profile() == 777;
}

static bool measures_and_keeps_nothing(void) {
    char path[512];
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    cpu_bandwidth_learn();
    return cpu_bandwidth_known() && !find_file(path, sizeof path);
}

static void bandwidth_is_measured_on_request(void **state) {
    (void)state;
    remove_file();
    expect_in_child(nobody_has_measured);
    expect_in_child(measures_and_keeps);
    remove_file();
    expect_in_child(measures_and_keeps_nothing);
}

/* Writes another number, or anything else, into the file of this machine. */
static void rewrite(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void bandwidth_of_an_earlier_process_is_known(void **state) {
    (void)state;
    char path[512], text[256];
    remove_file();
    expect_in_child(measures_and_keeps);
    assert_true(find_file(path, sizeof path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    char *number = strrchr(text, ' ');
    assert_non_null(number);
    snprintf(number + 1, 16, "777\n");
    rewrite(path, text);
    expect_in_child(knows_777);
    /* Another machine's, and files that are damaged. */
    static const char *const wrong[] = {"", "777", "777\n", "another, 2 threads, GB/s: 777\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rewrite(path, wrong[i]);
        expect_in_child(nobody_has_measured);
    }
    number[4] = 0; /* no end of line */
    rewrite(path, text);
    expect_in_child(nobody_has_measured);
    snprintf(number + 1, 32, "99999999999999999999999\n");
    rewrite(path, text);
    expect_in_child(nobody_has_measured);
    remove_file();
}

static int make_folder(void **state) {
    (void)state;
    unsetenv("VYRE_CACHE_LIMIT");
    return mkdtemp(folder) && !setenv("XDG_CACHE_HOME", folder, 1) ? 0 : 1;
}

static int remove_folder(void **state) {
    (void)state;
    char path[sizeof folder + 32];
    snprintf(path, sizeof path, "%s/vyre/pipelines/lock", folder);
    unlink(path);
    static const char *const inner[] = {"/vyre/pipelines", "/vyre", ""};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", folder, inner[i]);
        rmdir(path);
    }
    return 0;
}

int main(void) {
    if (!cpu_check_available()) {
        return CPU_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth_is_measured_on_request),
        cmocka_unit_test(bandwidth_of_an_earlier_process_is_known),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
