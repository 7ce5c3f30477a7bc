/* A store in a folder of its own, so that tests do not touch the user's, and entries made from a
 * number, so that a wrong one is noticed. */
#ifndef VYRE_TESTS_STORE_CHECK_H
#define VYRE_TESTS_STORE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <vyre/log.h>

#include "store/entry.h"

/* The file of an entry of store_put_text, with a program of one byte and a payload of four. */
enum { STORE_ENTRY_BYTES = 136 };

static char store_base[] = P_tmpdir "/vyre-store-XXXXXX"; /* what XDG_CACHE_HOME is set to */
static char store_folder[sizeof store_base + 32];

/* Makes it, and forgets what the environment said before. */
static inline bool store_start(void) {
    if (!mkdtemp(store_base)) {
        return false;
    }
    snprintf(store_folder, sizeof store_folder, "%s/vyre/pipelines", store_base);
    unsetenv("VYRE_CACHE_LIMIT");
    return setenv("XDG_CACHE_HOME", store_base, 1) == 0;
}

static inline void store_path(char path[512], const char *name) {
    snprintf(path, 512, "%s/%s", store_folder, name);
}

/* Files beside the lock; the name of one of them, if asked for; what they hold together. */
static inline size_t store_count(char name[256], uint64_t *out_bytes) {
    size_t found = 0;
    uint64_t bytes = 0;
    DIR *opened = opendir(store_folder);
    for (struct dirent *item; opened && (item = readdir(opened));) {
        char path[512];
        struct stat about;
        store_path(path, item->d_name);
        if (item->d_name[0] == '.' || !strcmp(item->d_name, "lock") || stat(path, &about) != 0) {
            continue;
        }
        found++;
        bytes += (uint64_t)about.st_size;
        if (name) {
            snprintf(name, 256, "%s", item->d_name);
        }
    }
    if (opened) {
        closedir(opened);
    }
    if (out_bytes) {
        *out_bytes = bytes;
    }
    return found;
}

/* Removes everything in the store's folder. */
static inline void store_empty(void) {
    DIR *opened = opendir(store_folder);
    for (struct dirent *item; opened && (item = readdir(opened));) {
        char path[512];
        store_path(path, item->d_name);
        unlink(path);
    }
    if (opened) {
        closedir(opened);
    }
}

static inline void store_set_limit(uint64_t bytes) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    setenv("VYRE_CACHE_LIMIT", text, 1);
}

static inline void store_end(void) {
    char vyre[sizeof store_base + 8];
    snprintf(vyre, sizeof vyre, "%s/vyre", store_base);
    store_empty();
    rmdir(store_folder);
    rmdir(vyre);
    rmdir(store_base);
}

static inline vyre_str store_str(const char *text) {
    return (vyre_str){text, strlen(text)};
}

static inline vyre_store_key store_key(const char *program) {
    return (vyre_store_key){
        .backend = store_str("mock"),
        .backend_version = store_str("1.2"),
        .device = store_str("device"),
        .driver_version = store_str("550.1"),
        .digest = {1, 2},
        .program = store_str(program),
        .name = store_str("saxpy"),
    };
}

static inline void store_put_text(const char *program, const char *payload) {
    vyre_store_key key = store_key(program);
    vyre_store_put(&key, payload, strlen(payload));
}

/* Makes an entry look as if it had been used last at that time. */
static inline void store_age(const vyre_store_key *key, time_t used) {
    char name[VYRE_STORE_NAME_SIZE + 1], path[512];
    vyre_strbuf bytes = {0};
    vyre_store_key_encode(key, &bytes);
    vyre_store_file_name((vyre_str){bytes.data, bytes.size}, name);
    vyre_strbuf_free(&bytes);
    store_path(path, name);
    struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Puts an entry that was used that many seconds before a day in 2001. */
static inline void store_put_aged(const char *program, int64_t seconds) {
    vyre_store_key key = store_key(program);
    store_put_text(program, "load");
    store_age(&key, (time_t)(1000000000 - seconds));
}

/* Whether there is an entry; it must then be `payload`. */
static inline bool store_has(const char *program, const char *payload) {
    vyre_strbuf found = {0};
    vyre_store_key key = store_key(program);
    bool hit = vyre_store_get(&key, &found);
    if (hit) {
        assert_int_equal(found.size, strlen(payload));
        assert_memory_equal(vyre_strbuf_string(&found), payload, found.size);
    } else {
        assert_null(found.data);
    }
    vyre_strbuf_free(&found);
    return hit;
}

/* Warnings that were logged since store_reset. */
static size_t store_log_count;
static char store_log_last[1024];

static inline void store_log(void *user, vyre_log_level level, const char *message) {
    (void)user;
    if (level <= VYRE_LOG_WARNING) {
        store_log_count++;
        snprintf(store_log_last, sizeof store_log_last, "%s", message);
    }
}

static inline void store_check_logged(size_t count, const char *part) {
    assert_int_equal(store_log_count, count);
    if (count) {
        assert_non_null(strstr(store_log_last, part));
        assert_non_null(strstr(store_log_last, "Fix: "));
    }
}

/* What cmocka calls before and after all tests, and before each. */
static inline int store_make(void **state) {
    (void)state;
    vyre_log_set(store_log, NULL, VYRE_LOG_TRACE);
    return store_start() ? 0 : -1;
}

static inline int store_remove(void **state) {
    (void)state;
    store_end();
    return access(store_base, F_OK) == 0 ? -1 : 0;
}

static inline int store_reset(void **state) {
    (void)state;
    chmod(store_folder, 0700);
    store_empty();
    unsetenv("VYRE_CACHE_LIMIT");
    store_log_count = 0;
    store_log_last[0] = '\0';
    return setenv("XDG_CACHE_HOME", store_base, 1);
}

#endif
