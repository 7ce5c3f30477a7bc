/* What the verifier says about contents of memory: shared arrays across grid barriers, and indices
 * that are known to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"

/* Shared arrays */

typedef struct scene {
    uint32_t n, s, t, out, lid, one;
} scene;

static scene open_scene(vyre_builder *b) {
    scene v;
    v.n = vyre_build_scalar(b, "n", VYRE_TYPE_U32);
    v.out = build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 64);
    v.s = vyre_build_shared(b, "s", VYRE_TYPE_U32, 64);
    v.t = vyre_build_shared(b, "t", VYRE_TYPE_U32, 64);
    v.lid = build_lid(b);
    v.one = vyre_build_u32(b, 1);
    return v;
}

static void write_to(vyre_builder *b, const scene *v, uint32_t array) {
    vyre_build_store(b, array, v->lid, v->one);
}

static void read_from(vyre_builder *b, const scene *v, uint32_t array) {
    vyre_build_store(b, v->out, v->lid, vyre_build_load(b, array, v->lid));
}

static void forget(vyre_builder *b) {
    vyre_build_barrier(b, VYRE_OP_GRID_BARRIER);
}

static void open_loop(vyre_builder *b, const scene *v) {
    vyre_build_for(b, vyre_build_u32(b, 0), vyre_build_param(b, v->n), v->one, 0, NULL, NULL);
}

static void open_if(vyre_builder *b, const scene *v) {
    vyre_build_if(b, build_is(b, vyre_build_param(b, v->n), 7));
}

#define SCENE(name, ...)                                                                           \
    static void name(vyre_builder *b) {                                                            \
        scene v = open_scene(b);                                                                   \
        __VA_ARGS__                                                                                \
        vyre_build_phase_end(b);                                                                   \
    }

SCENE(read_behind_the_barrier, {
    write_to(b, &v, v.s);
    forget(b);
    read_from(b, &v, v.s);
})
SCENE(read_before_the_barrier, {
    write_to(b, &v, v.s);
    read_from(b, &v, v.s);
    forget(b);
})
SCENE(written_again, {
    write_to(b, &v, v.s);
    forget(b);
    write_to(b, &v, v.s);
    read_from(b, &v, v.s);
})
SCENE(never_written, {
    write_to(b, &v, v.s);
    forget(b);
    read_from(b, &v, v.t);
})
SCENE(another_one_written_again, {
    write_to(b, &v, v.s);
    write_to(b, &v, v.t);
    forget(b);
    write_to(b, &v, v.t);
    read_from(b, &v, v.s);
})
SCENE(length_behind_the_barrier, {
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_len(b, v.s);
})
SCENE(atomic_behind_the_barrier, {
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, v.s, v.lid, v.one, VYRE_NONE, VYRE_ORDERING_RELAXED,
                      VYRE_SCOPE_WORKGROUP);
})
SCENE(atomic_store_behind_the_barrier, {
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_STORE, v.s, v.lid, v.one, VYRE_NONE, VYRE_ORDERING_RELAXED,
                      VYRE_SCOPE_WORKGROUP);
    read_from(b, &v, v.s);
})
SCENE(uniform_load_behind_the_barrier, {
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_uniform_load(b, v.s, v.one);
})
SCENE(written_again_in_one_branch, {
    write_to(b, &v, v.s);
    forget(b);
    open_if(b, &v);
    write_to(b, &v, v.s);
    vyre_build_if_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(written_again_in_both_branches, {
    write_to(b, &v, v.s);
    forget(b);
    open_if(b, &v);
    write_to(b, &v, v.s);
    vyre_build_else(b);
    write_to(b, &v, v.s);
    vyre_build_if_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(written_again_or_left, {
    write_to(b, &v, v.s);
    forget(b);
    open_if(b, &v);
    vyre_build_return(b, 0, NULL);
    vyre_build_else(b);
    write_to(b, &v, v.s);
    vyre_build_if_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(barrier_in_one_branch, {
    write_to(b, &v, v.s);
    open_if(b, &v);
    forget(b);
    vyre_build_if_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(from_turn_to_turn, {
    open_loop(b, &v);
    read_from(b, &v, v.s);
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_loop_end(b, 0, NULL);
})
SCENE(written_in_each_turn, {
    open_loop(b, &v);
    write_to(b, &v, v.s);
    read_from(b, &v, v.s);
    forget(b);
    vyre_build_loop_end(b, 0, NULL);
})
SCENE(from_turn_to_turn_of_an_outer_loop, {
    open_loop(b, &v);
    open_loop(b, &v);
    open_loop(b, &v);
    read_from(b, &v, v.s);
    vyre_build_loop_end(b, 0, NULL);
    write_to(b, &v, v.s);
    vyre_build_loop_end(b, 0, NULL);
    forget(b);
    vyre_build_loop_end(b, 0, NULL);
})
SCENE(behind_a_loop, {
    open_loop(b, &v);
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_loop_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(behind_a_break, {
    vyre_build_loop(b, 0, NULL, NULL);
    write_to(b, &v, v.s);
    forget(b);
    vyre_build_break(b, 0, NULL);
    vyre_build_loop_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(behind_a_call, {
    vyre_build_inline(b);
    write_to(b, &v, v.s);
    open_if(b, &v);
    forget(b);
    vyre_build_return(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_inline_end(b, 0, NULL);
    read_from(b, &v, v.s);
})
SCENE(behind_a_call_that_never_returns_there, {
    write_to(b, &v, v.s);
    open_if(b, &v);
    forget(b);
    vyre_build_loop(b, 0, NULL, NULL);
    vyre_build_loop_end(b, 0, NULL);
    vyre_build_if_end(b, 0, NULL);
    read_from(b, &v, v.s);
})

static const build_case shared_cases[] = {
    BUILD_CASE(read_behind_the_barrier, 405,
               "`load` reads shared array `s`, which a grid barrier zeroed"),
    BUILD_CASE(read_before_the_barrier, 0, ""),
    BUILD_CASE(written_again, 0, ""),
    BUILD_CASE(never_written, 0, ""),
    BUILD_CASE(another_one_written_again, 405, "`s`"),
    BUILD_CASE(length_behind_the_barrier, 0, ""),
    BUILD_CASE(atomic_behind_the_barrier, 405, "`atomic_add` reads shared array `s`"),
    BUILD_CASE(atomic_store_behind_the_barrier, 0, ""),
    BUILD_CASE(uniform_load_behind_the_barrier, 405, "`uniform_load` reads shared array `s`"),
    BUILD_CASE(written_again_in_one_branch, 405, "`s`"),
    BUILD_CASE(written_again_in_both_branches, 0, ""),
    BUILD_CASE(written_again_or_left, 0, ""),
    BUILD_CASE(barrier_in_one_branch, 405, "`s`"),
    BUILD_CASE(from_turn_to_turn, 405, "`s`"),
    BUILD_CASE(written_in_each_turn, 0, ""),
    BUILD_CASE(from_turn_to_turn_of_an_outer_loop, 405, "`s`"),
    BUILD_CASE(behind_a_loop, 405, "`s`"),
    BUILD_CASE(behind_a_break, 405, "`s`"),
    BUILD_CASE(behind_a_call, 405, "`s`"),
    BUILD_CASE(behind_a_call_that_never_returns_there, 0, ""),
};

static void verify_follows_shared_arrays_across_grid_barriers(void **state) {
    (void)state;
    build_cases_check(shared_cases, sizeof shared_cases / sizeof *shared_cases);
}

/* Many private arrays in front of the shared ones do not make it slow. */
static void build_many_arrays(vyre_builder *b) {
    build_phase(b, 64);
    for (uint32_t i = 0; i < 4000; i++) {
        vyre_build_private(b, NULL, VYRE_TYPE_U8, 1);
    }
    uint32_t shared[VYRE_LIMIT_SHARED_ARRAYS];
    for (uint32_t i = 0; i < VYRE_LIMIT_SHARED_ARRAYS; i++) {
        shared[i] = vyre_build_shared(b, NULL, VYRE_TYPE_U8, 1);
    }
    uint32_t zero = vyre_build_u32(b, 0);
    for (uint32_t i = 0; i < 300000; i++) {
        uint32_t array = shared[i % VYRE_LIMIT_SHARED_ARRAYS];
        vyre_build_store(b, array, zero, vyre_build_load(b, array, zero));
    }
    vyre_build_barrier(b, VYRE_OP_GRID_BARRIER);
    vyre_build_phase_end(b);
}

static void verify_takes_many_arrays_in_its_stride(void **state) {
    (void)state;
    vyre_program *program = build_valid(build_many_arrays);
    assert_int_equal(vyre_program_ir(program)->resource_count, 4064);
    vyre_program_release(program);
}

/* Indices that are constants */

static struct {
    vyre_resource_kind kind;
    vyre_type type;
    uint64_t bits;
} indexed;

static void build_indexed(vyre_builder *b) {
    uint32_t array = VYRE_NONE;
    if (indexed.kind == VYRE_RESOURCE_BUFFER) {
        array = vyre_build_buffer(b, "a", VYRE_ACCESS_INOUT, VYRE_TYPE_U32,
                                  vyre_build_size_const(b, 8));
    } else if (indexed.kind == VYRE_RESOURCE_SCRATCH) {
        array = vyre_build_scratch(b, "a", VYRE_TYPE_U32, vyre_build_size_const(b, 8));
    }
    build_phase(b, 64);
    if (indexed.kind == VYRE_RESOURCE_SHARED) {
        array = vyre_build_shared(b, "a", VYRE_TYPE_U32, 8);
    } else if (indexed.kind == VYRE_RESOURCE_PRIVATE) {
        array = vyre_build_private(b, "a", VYRE_TYPE_U32, 8);
    }
    vyre_build_load(b, array, vyre_build_const(b, indexed.type, indexed.bits));
    vyre_build_phase_end(b);
}

static void verify_warns_of_constant_indices_out_of_bounds(void **state) {
    (void)state;
    static const struct {
        vyre_type type;
        uint64_t bits;
        const char *shown; /* NULL: inside */
    } rows[] = {
        {VYRE_TYPE_U32, 0, NULL},
        {VYRE_TYPE_U32, 7, NULL},
        {VYRE_TYPE_U32, 8, "the index 8 is out of bounds of `a`, which has 8 elements"},
        {VYRE_TYPE_U32, UINT32_MAX, "the index 4294967295 is out of bounds"},
        {VYRE_TYPE_I32, 7, NULL},
        {VYRE_TYPE_I32, 0xffffffff, "the index -1 is out of bounds of `a`"},
        {VYRE_TYPE_I8, 0x80, "the index -128 is out of bounds of `a`"},
        {VYRE_TYPE_I8, 0x7f, "the index 127 is out of bounds of `a`"},
        {VYRE_TYPE_U8, 0x80, "the index 128 is out of bounds of `a`"},
        {VYRE_TYPE_I64, 0x8000000000000000, "the index -9223372036854775808 is out of bounds"},
        {VYRE_TYPE_U64, UINT64_MAX, "the index 18446744073709551615 is out of bounds"},
        {VYRE_TYPE_I16, 0x8001, "the index -32767 is out of bounds"},
    };
    for (int kind = VYRE_RESOURCE_BUFFER; kind <= VYRE_RESOURCE_PRIVATE; kind++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            vyre_diagnostics *diagnostics;
            vyre_program *program;
            assert_null(vyre_diagnostics_create(&diagnostics));
            indexed.kind = (vyre_resource_kind)kind;
            indexed.type = rows[i].type;
            indexed.bits = rows[i].bits;
            build_case row = {"index", build_indexed, 0, ""};
            assert_null(build_case_run(&row, diagnostics, &program));
            assert_int_equal(vyre_diagnostics_count(diagnostics), rows[i].shown != NULL);
            if (rows[i].shown) {
                const vyre_diagnostic *item = vyre_diagnostics_get(diagnostics, 0);
                assert_int_equal(item->code, 803);
                assert_int_equal(item->severity, VYRE_SEVERITY_WARNING);
                assert_int_equal(item->inst, 0);
                assert_non_null(strstr(item->message, rows[i].shown));
            }
            vyre_program_release(program);
            vyre_diagnostics_free(diagnostics);
        }
    }
}

static void build_indexed_by_length(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_U32);
    uint32_t size = vyre_build_size_op(b, VYRE_SIZE_MIN, vyre_build_size_const(b, 4),
                                       vyre_build_size_len(b, x));
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_U32, size);
    build_phase(b, 0);
    vyre_build_load(b, x, vyre_build_u32(b, 1000000));
    vyre_build_load(b, y, vyre_build_u32(b, 1000000));
    vyre_build_phase_end(b);
}

static void verify_does_not_guess_lengths(void **state) {
    (void)state;
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    build_case row = {"lengths", build_indexed_by_length, 0, ""};
    assert_null(vyre_diagnostics_create(&diagnostics));
    assert_null(build_case_run(&row, diagnostics, &program));
    assert_int_equal(vyre_diagnostics_count(diagnostics), 0);
    vyre_program_release(program);
    vyre_diagnostics_free(diagnostics);
}

/* More warnings than are listed change nothing. */
static void build_many_wrong_indices(vyre_builder *b) {
    build_phase(b, 0);
    uint32_t p = vyre_build_private(b, "p", VYRE_TYPE_U32, 1);
    for (uint32_t i = 0; i < 100000; i++) {
        vyre_build_load(b, p, vyre_build_u32(b, 1 + i));
    }
    vyre_build_phase_end(b);
}

static void verify_stops_listing_warnings_at_the_limit(void **state) {
    (void)state;
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    build_case row = {"indices", build_many_wrong_indices, 0, ""};
    assert_null(vyre_diagnostics_create(&diagnostics));
    assert_null(build_case_run(&row, diagnostics, &program));
    assert_int_equal(vyre_diagnostics_count(diagnostics), VYRE_LIMIT_DIAGNOSTICS);
    assert_int_equal(vyre_diagnostics_errors(diagnostics), 0);
    vyre_program_release(program);
    vyre_diagnostics_free(diagnostics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_follows_shared_arrays_across_grid_barriers),
        cmocka_unit_test(verify_takes_many_arrays_in_its_stride),
        cmocka_unit_test(verify_warns_of_constant_indices_out_of_bounds),
        cmocka_unit_test(verify_does_not_guess_lengths),
        cmocka_unit_test(verify_stops_listing_warnings_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
