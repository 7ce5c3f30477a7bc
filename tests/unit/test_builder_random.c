/* The builder under random calls with random handles: it gives an error or a program, and never
 * falls over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vyre/builder.h>
#include <vyre/wire.h>

#include "tests/unit/failing_allocator.h"

enum { ROUNDS = 10000, MOST_CALLS = 120 };

typedef struct caller {
    vyre_builder *b;
    uint64_t random;
    uint32_t last[8]; /* handles given lately */
    uint32_t next;
    bool is_wild; /* any number is a handle; else mostly ones that were given */
} caller;

static uint32_t draw(caller *c, uint32_t below) {
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->random >> 33) % below;
}

static void keep(caller *c, uint32_t handle) {
    c->last[c->next++ % 8] = handle;
}

static uint32_t handle(caller *c) {
    static const uint32_t odd[] = {0,          1,          2,          VYRE_NONE,
                                   0x80000000, 0x80000001, 0x7fffffff, 0xfffffffe};
    if (c->is_wild && !draw(c, 4)) {
        return odd[draw(c, 8)];
    }
    return draw(c, 6) ? c->last[draw(c, 8)] : vyre_build_u32(c->b, draw(c, 3));
}

static vyre_type type(caller *c) {
    return c->is_wild && !draw(c, 8) ? (vyre_type)draw(c, 20)
           : draw(c, 3)              ? VYRE_TYPE_U32
                                     : (vyre_type)(1 + draw(c, 13));
}

static const char *name(caller *c) {
    static const char *const names[] = {"a", "b", "x", NULL, "", "a b", "n1", "if"};
    return names[draw(c, c->is_wild ? 8 : 3)];
}

static uint32_t size(caller *c) {
    switch (draw(c, 6)) {
    case 0: return vyre_build_size_len(c->b, handle(c));
    case 1: return vyre_build_size_param(c->b, draw(c, 3));
    case 2: {
        uint32_t left = vyre_build_size_const(c->b, draw(c, 5));
        uint32_t right = vyre_build_size_const(c->b, draw(c, 5));
        return vyre_build_size_op(c->b, (vyre_size_op)draw(c, 12), left, right);
    }
    default: return vyre_build_size_const(c->b, draw(c, 9));
    }
}

static void open_phase(caller *c) {
    vyre_phase_desc desc = {.name = name(c), .domain = {size(c)}, .workgroup = {draw(c, 3) * 32}};
    if (c->is_wild && !draw(c, 4)) {
        desc.dimensions = draw(c, 5);
        desc.from_memory = draw(c, 2);
        desc.from_resource = handle(c);
        desc.from_index = size(c);
        desc.workgroup[1] = draw(c, 9);
        desc.subgroup = 8 * draw(c, 5);
        desc.domain[1] = size(c);
    }
    vyre_build_phase(c->b, &desc);
}

static void call_for_blocks(caller *c) {
    vyre_builder *b = c->b;
    uint32_t values[3] = {0, 0, 0}, out[3], count = draw(c, 4) ? 0 : draw(c, 3);
    for (uint32_t i = 0; i < 3; i++) {
        values[i] = handle(c);
        out[i] = VYRE_NONE;
    }
    switch (draw(c, 14)) {
    case 0: vyre_build_if(b, handle(c)); break;
    case 1: vyre_build_else(b); break;
    case 2: vyre_build_if_end(b, count, out); break;
    case 3: vyre_build_loop(b, count, values, out); break;
    case 4: keep(c, vyre_build_for(b, handle(c), handle(c), handle(c), count, values, out)); break;
    case 5:
    case 6: vyre_build_loop_end(b, count, out); break;
    case 7: vyre_build_inline(b); break;
    case 8: vyre_build_inline_end(b, count, out); break;
    case 9: vyre_build_yield(b, count, values); break;
    case 10: vyre_build_break(b, count, values); break;
    case 11: vyre_build_continue(b, count, values); break;
    case 12: vyre_build_return(b, count, values); break;
    default: vyre_build_barrier(b, (vyre_op)(VYRE_OP_BARRIER + draw(c, 2))); break;
    }
    for (uint32_t i = 0; i < count; i++) {
        keep(c, out[i]);
    }
}

static void call_for_values(caller *c) {
    vyre_builder *b = c->b;
    vyre_op op = (vyre_op)(c->is_wild ? draw(c, 200) : VYRE_OP_ADD + draw(c, 4));
    uint32_t x = handle(c), y = handle(c), z = handle(c);
    switch (draw(c, 16)) {
    case 0: keep(c, vyre_build_const(b, type(c), draw(c, 4))); break;
    case 1: keep(c, vyre_build_position(b, (vyre_op)(2 + draw(c, 7)), draw(c, 2))); break;
    case 2: keep(c, vyre_build_param(b, draw(c, 3))); break;
    case 3: keep(c, vyre_build_iteration(b, x)); break;
    case 4: keep(c, vyre_build_len(b, x)); break;
    case 5: keep(c, vyre_build_convert(b, type(c), x)); break;
    case 6: keep(c, vyre_build_bitcast(b, type(c), x)); break;
    case 7:
        keep(c,
             vyre_build_combine(b, (vyre_op)(152 + draw(c, 4)), (vyre_combination)draw(c, 8), x));
        break;
    case 8: keep(c, vyre_build_load(b, x, y)); break;
    case 9: keep(c, vyre_build_uniform_load(b, x, y)); break;
    case 10: vyre_build_store(b, x, y, z); break;
    case 11: vyre_build_clear(b, x); break;
    case 12:
        keep(c, vyre_build_atomic(b, (vyre_op)(115 + draw(c, 13)), x, y, z, handle(c),
                                  (vyre_ordering)draw(c, 6), (vyre_scope)draw(c, 3)));
        break;
    case 13:
        vyre_build_name(b, x, name(c));
        vyre_build_at(b, draw(c, 9), draw(c, 9), 1);
        break;
    default: keep(c, vyre_build_op(b, op, x, y, z)); break;
    }
}

static void call_for_declarations(caller *c) {
    vyre_builder *b = c->b;
    switch (draw(c, 16)) {
    case 0: keep(c, vyre_build_scalar(b, name(c), type(c))); break;
    case 1:
    case 2:
        keep(c, vyre_build_buffer(b, name(c), (vyre_access)draw(c, 3), type(c),
                                  draw(c, 2) ? VYRE_NONE : size(c)));
        break;
    case 3: keep(c, vyre_build_scratch(b, name(c), type(c), size(c))); break;
    case 4: keep(c, vyre_build_shared(b, name(c), type(c), draw(c, 3))); break;
    case 5: keep(c, vyre_build_private(b, name(c), type(c), draw(c, 3))); break;
    case 6: keep(c, vyre_build_repeat(b, name(c), size(c))); break;
    case 7: keep(c, vyre_build_repeat_while(b, name(c), handle(c), size(c))); break;
    case 8: vyre_build_repeat_end(b); break;
    case 9: vyre_build_scope(b, name(c)); break;
    case 10: vyre_build_scope_end(b); break;
    case 11: vyre_build_deterministic(b); break;
    case 12: vyre_build_phase_end(b); break;
    case 13: vyre_build_file(b, name(c)); break;
    default: open_phase(c); break;
    }
}

static void call_for_variables(caller *c) {
    switch (draw(c, 3)) {
    case 0: keep(c, vyre_build_var(c->b, name(c), handle(c))); break;
    case 1: keep(c, vyre_build_get(c->b, draw(c, 4))); break;
    default: vyre_build_set(c->b, draw(c, 4), handle(c)); break;
    }
}

static void call(caller *c) {
    switch (draw(c, c->is_wild ? 8 : 40)) {
    case 0: call_for_declarations(c); break;
    case 1: call_for_blocks(c); break;
    case 2:
    case 3: call_for_variables(c); break;
    default: call_for_values(c); break;
    }
    vyre_build_reachable(c->b);
    vyre_build_type(c->b, handle(c));
}

/* Every second round most calls make sense, so that some programs come out. */
static vyre_status make_program(caller *c, vyre_diagnostics *diagnostics,
                                vyre_program **out_program) {
    *out_program = NULL;
    c->is_wild = draw(c, 2);
    vyre_status status = vyre_builder_create("random", &c->b);
    if (status) {
        return status;
    }
    if (!c->is_wild) {
        keep(c, vyre_build_buffer(c->b, "y", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE));
        open_phase(c);
        keep(c, vyre_build_position(c->b, VYRE_OP_GID, 0));
    }
    uint32_t calls = draw(c, c->is_wild ? MOST_CALLS : 12);
    for (uint32_t i = 0; i < calls; i++) {
        call(c);
    }
    vyre_build_phase_end(c->b);
    status = vyre_builder_finish(c->b, diagnostics, out_program);
    vyre_builder_free(c->b);
    return status;
}

static void builder_survives_random_calls(void **state) {
    (void)state;
    uint32_t programs = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        caller c = {.random = seed};
        vyre_program *program, *decoded;
        vyre_diagnostics *diagnostics;
        assert_null(vyre_diagnostics_create(&diagnostics));
        vyre_status status = make_program(&c, diagnostics, &program);
        assert_true(!status != !program);
        assert_true(!status == !vyre_diagnostics_errors(diagnostics));
        if (program) {
            /* A program it is, so it is one for everybody else, too. */
            uint8_t *bytes;
            size_t size;
            assert_null(vyre_wire_encode(program, 0, &bytes, &size));
            assert_null(vyre_wire_decode(bytes, size, &decoded));
            vyre_program_release(decoded);
            vyre_bytes_free(bytes);
            programs++;
        }
        vyre_status_free(status);
        vyre_diagnostics_free(diagnostics);
        vyre_program_release(program);
    }
    assert_in_range(programs, ROUNDS / 100, ROUNDS / 2);
}

static void builder_survives_random_calls_without_memory(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        caller c = {.random = seed};
        vyre_program *program;
        failing_allocator_start(1 + draw(&c, 60));
        vyre_status status = make_program(&c, NULL, &program);
        assert_true(!status != !program);
        assert_true(status || !failing_allocator_failed());
        vyre_status_free(status);
        vyre_program_release(program);
        failing_allocator_stop();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_survives_random_calls),
        cmocka_unit_test(builder_survives_random_calls_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
