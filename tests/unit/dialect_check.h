/* Operations and snapshots of tests.
 *
 *     vyre_dialects *snapshot = check_snapshot(2, "a.one", "b.two");
 *     assert_non_null(check_find(snapshot, "a.one"));
 *     vyre_dialects_install(snapshot); */
#ifndef VYRE_TESTS_DIALECT_CHECK_H
#define VYRE_TESTS_DIALECT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/dialect.h>
#include <vyre/text.h>

#define expect_ok(call) expect_ok_at((call), #call, __FILE__, __LINE__)
static inline void expect_ok_at(vyre_status status, const char *call, const char *file, int line) {
    if (status) {
        print_error("%s:%d: %s: %s\n", file, line, call, vyre_status_text(status));
        fail();
    }
}

/* An error of that code, with all these words and a Fix; frees it. The words end with NULL. */
static inline void expect_words(vyre_status status, vyre_status_code code, ...) {
    assert_non_null(status);
    const char *text = vyre_status_text(status);
    if (vyre_status_code_of(status) != code || !strstr(text, "Fix: ")) {
        fail_msg("another code, or no Fix: %s", text);
    }
    va_list words;
    va_start(words, code);
    for (const char *word; (word = va_arg(words, const char *)) != NULL;) {
        if (!strstr(text, word)) {
            fail_msg("\"%s\" is missing in: %s", word, text);
        }
    }
    va_end(words);
    vyre_status_free(status);
}

static inline uint32_t check_name(const char *id) {
    uint32_t name;
    expect_ok(vyre_intern((vyre_str){id, strlen(id)}, &name));
    return name;
}

static inline const vyre_operation *check_find(const vyre_dialects *snapshot, const char *id) {
    return vyre_dialects_lookup(snapshot, check_name(id));
}

/* Operations by their ids alone; the dialect is what stands in front of the point. */
static inline vyre_dialects *check_snapshot(size_t count, ...) {
    enum { MOST = 16 };
    vyre_operation operations[MOST];
    const vyre_operation *pointers[MOST];
    char dialects[MOST][32];
    assert_true(count <= MOST);
    va_list ids;
    va_start(ids, count);
    for (size_t i = 0; i < count; i++) {
        const char *id = va_arg(ids, const char *);
        snprintf(dialects[i], sizeof dialects[i], "%.*s", (int)strcspn(id, "."), id);
        operations[i] = (vyre_operation){.id = id, .dialect = dialects[i]};
        pointers[i] = &operations[i];
    }
    va_end(ids);
    vyre_dialects *snapshot;
    expect_ok(vyre_dialects_make(pointers, count, &snapshot));
    return snapshot;
}

/* The one program of a text; release it. */
static inline vyre_program *check_program(const char *text) {
    vyre_module *module;
    expect_ok(vyre_module_parse(NULL, text, strlen(text), NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static inline vyre_target check_target(vyre_target_kind kind) {
    return (vyre_target){kind, NULL};
}

#endif
