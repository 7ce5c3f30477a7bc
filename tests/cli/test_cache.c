/* `vyre cache` with entries in the cache. The command to run is $VYRE. */
#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp, popen */

#include <sys/wait.h>

#include "tests/unit/store_check.h"

static void put(const vyre_store_key *key, const char *payload, time_t used) {
    vyre_store_put(key, payload, strlen(payload));
    store_age(key, used);
}

static void put_two(void) {
    vyre_store_key key = store_key("p");
    store_empty();
    put(&key, "load", 1000000000);
    key.device = store_str("Some \"GPU\" 1000");
    key.name = store_str("");
    key.digest = (vyre_digest){0xabcd, 0x1234};
    put(&key, "another load", 2000000000);
}

/* Two other processes find an entry, one looks for another in vain. */
static void use_in_children(void) {
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        int status;
        assert_true(child >= 0);
        if (child == 0) {
            bool hit = store_has(i < 2 ? "p" : "q", "load");
            vyre_store_flush_counts();
            _exit(hit == (i < 2) ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    vyre_store_key key = store_key("p");
    store_age(&key, 1000000000); /* as it was before */
}

/* What the command prints; it must end well and say nothing else. */
static void check(const char *arguments, const char *expected) {
    char command[1024], output[4096], *where;
    assert_non_null(getenv("VYRE"));
    snprintf(command, sizeof command, "TZ=UTC0 \"$VYRE\" cache %s 2>&1", arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = '\0';
    assert_int_equal(pclose(pipe), 0);
    /* The folder's name is another one each time. */
    if ((where = strstr(output, store_folder))) {
        size_t length = strlen(store_folder);
        memcpy(where, "FOLDER", 6);
        memmove(where + 6, where + length, strlen(where + length) + 1);
    }
    assert_string_equal(output, expected);
}

static void cache_lists_entries_as_text(void **state) {
    (void)state;
    put_two();
    setenv("VYRE_CACHE_LIMIT", "3M", 1);
    check("",
          "FOLDER: 2 programs, 284 bytes of 3.0 MiB\n"
          "since it was last cleared: 0 hits, 0 misses, 2 stores, 0 evictions, 0 damaged files\n\n"
          "backend   device           program  digest                            bytes  last use\n"
          "mock 1.2  Some \"GPU\" 1000           0000000000001234000000000000abcd    148  "
          "2033-05-18 03:33\n"
          "mock 1.2  device           saxpy    00000000000000020000000000000001    136  "
          "2001-09-09 01:46\n");
    unsetenv("VYRE_CACHE_LIMIT");
}

static void cache_lists_entries_as_json(void **state) {
    (void)state;
    put_two();
    use_in_children();
    check("--format json", "{\n"
                           "  \"path\": \"FOLDER\",\n"
                           "  \"limit_bytes\": 268435456,\n"
                           "  \"total_bytes\": 284,\n"
                           "  \"other_files\": 0,\n"
                           "  \"counts\": {\n"
                           "    \"hits\": 2,\n"
                           "    \"misses\": 1,\n"
                           "    \"stores\": 2,\n"
                           "    \"evictions\": 0,\n"
                           "    \"damaged\": 0\n"
                           "  },\n"
                           "  \"entries\": [\n"
                           "    {\n"
                           "      \"backend\": \"mock\",\n"
                           "      \"backend_version\": \"1.2\",\n"
                           "      \"device\": \"Some \\\"GPU\\\" 1000\",\n"
                           "      \"driver_version\": \"550.1\",\n"
                           "      \"program\": \"\",\n"
                           "      \"digest\": \"0000000000001234000000000000abcd\",\n"
                           "      \"bytes\": 148,\n"
                           "      \"last_use\": \"2033-05-18T03:33:20Z\"\n"
                           "    },\n"
                           "    {\n"
                           "      \"backend\": \"mock\",\n"
                           "      \"backend_version\": \"1.2\",\n"
                           "      \"device\": \"device\",\n"
                           "      \"driver_version\": \"550.1\",\n"
                           "      \"program\": \"saxpy\",\n"
                           "      \"digest\": \"00000000000000020000000000000001\",\n"
                           "      \"bytes\": 136,\n"
                           "      \"last_use\": \"2001-09-09T01:46:40Z\"\n"
                           "    }\n"
                           "  ]\n"
                           "}\n");
}

static void cache_clear_removes_all_and_says_how_much(void **state) {
    (void)state;
    put_two();
    use_in_children();
    check("--clear", "removed 2 files, 284 bytes\n");
    assert_int_equal(store_count(NULL, NULL), 0);
    check("--clear --format json", "{\n  \"removed_files\": 0,\n  \"removed_bytes\": 0\n}\n");
    check("",
          "FOLDER: 0 programs, 0 bytes of 256.0 MiB\n"
          "since it was last cleared: 0 hits, 0 misses, 0 stores, 0 evictions, 0 damaged files\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_lists_entries_as_text),
        cmocka_unit_test(cache_lists_entries_as_json),
        cmocka_unit_test(cache_clear_removes_all_and_says_how_much),
    };
    return cmocka_run_group_tests(tests, store_make, store_remove);
}
