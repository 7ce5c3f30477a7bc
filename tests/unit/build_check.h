/* Programs that are mistakes: building one must give exactly the error that is expected. */
#ifndef VYRE_TESTS_BUILD_CHECK_H
#define VYRE_TESTS_BUILD_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/builder.h>

typedef void (*build_function)(vyre_builder *b);

typedef struct build_case {
    const char *name;
    build_function build;
    uint32_t code;     /* 0: the program is valid */
    const char *words; /* in the message */
} build_case;

/* One line a case: its function is its name. */
#define BUILD_CASE(function, code, words)                                                          \
    { #function, function, code, words }

static inline vyre_status build_case_run(const build_case *row, vyre_diagnostics *diagnostics,
                                         vyre_program **out_program) {
    vyre_builder *b;
    assert_null(vyre_builder_create("test", &b));
    row->build(b);
    vyre_status status = vyre_builder_finish(b, diagnostics, out_program);
    vyre_builder_free(b);
    return status;
}

static inline const vyre_diagnostic *build_first_error(const vyre_diagnostics *diagnostics) {
    for (size_t i = 0; i < vyre_diagnostics_count(diagnostics); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(diagnostics, i);
        if (item->severity == VYRE_SEVERITY_ERROR) {
            return item;
        }
    }
    return NULL;
}

/* One mistake is one error: of the code, with the words, with a fix, and it is the status, too. */
static inline void build_case_check(const build_case *row) {
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    assert_null(vyre_diagnostics_create(&diagnostics));
    vyre_status status = build_case_run(row, diagnostics, &program);
    const vyre_diagnostic *error = build_first_error(diagnostics);
    if (!row->code) {
        if (status || error || !program) {
            fail_msg("%s: expected a valid program, found \"%s\"", row->name,
                     vyre_status_text(status));
        }
    } else if (!status || !error || error->code != row->code ||
               !strstr(error->message, row->words) || program) {
        fail_msg("%s: expected V%04u with \"%s\", found \"%s\"", row->name, row->code, row->words,
                 vyre_status_text(status));
    } else if (vyre_diagnostics_errors(diagnostics) != 1) {
        const vyre_diagnostic *last =
            vyre_diagnostics_get(diagnostics, vyre_diagnostics_count(diagnostics) - 1);
        fail_msg("%s: one mistake gave %zu errors, the last one V%04u: %s", row->name,
                 vyre_diagnostics_errors(diagnostics), last->code, last->message);
    } else {
        assert_true(error->fix && *error->fix);
        assert_non_null(strstr(vyre_status_text(status), error->message));
        assert_int_equal(vyre_status_code_of(status),
                         row->code == 701 ? VYRE_STATUS_LIMIT : VYRE_STATUS_INVALID_PROGRAM);
    }
    vyre_status_free(status);
    vyre_program_release(program);
    vyre_diagnostics_free(diagnostics);
}

static inline void build_cases_check(const build_case *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        build_case_check(&rows[i]);
    }
}

/* A program that must be valid. */
static inline vyre_program *build_valid(build_function build) {
    build_case row = {"the program", build, 0, ""};
    vyre_program *program;
    vyre_status status = build_case_run(&row, NULL, &program);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return program;
}

/* Shorthands for what nearly every program has. */

static inline uint32_t build_buffer(vyre_builder *b, const char *name, vyre_access access,
                                    vyre_type type) {
    uint32_t size = access == VYRE_ACCESS_OUT ? vyre_build_size_const(b, 64) : VYRE_NONE;
    return vyre_build_buffer(b, name, access, type, size);
}

/* A phase over 64 invocations, with a workgroup unless that is 0. */
static inline void build_phase(vyre_builder *b, uint32_t workgroup) {
    vyre_build_phase(
        b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 64)}, .workgroup = {workgroup}});
}

static inline uint32_t build_gid(vyre_builder *b) {
    return vyre_build_position(b, VYRE_OP_GID, 0);
}

static inline uint32_t build_lid(vyre_builder *b) {
    return vyre_build_position(b, VYRE_OP_LID, 0);
}

static inline uint32_t build_op2(vyre_builder *b, vyre_op op, uint32_t x, uint32_t y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}

/* A condition that a value equals a number. */
static inline uint32_t build_is(vyre_builder *b, uint32_t value, uint32_t number) {
    return build_op2(b, VYRE_OP_EQ, value, vyre_build_u32(b, number));
}

#endif
