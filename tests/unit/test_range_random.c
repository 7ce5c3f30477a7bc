/* Ranges hold: random programs are given code that looks at every value and every index, and the
 * reference runs them. Where a range or a proof is wrong, a fault is noted. */
#include "base/alloc.h"
#include "conform/trial.h"
#include "pass/range.h"
#include "pass/rebuild.h"
#include "tests/unit/index_programs.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

typedef struct watched {
    vyre_ranges *ranges; /* by phase */
    uint32_t faults;     /* the array that notes them */
    bool copying;
    uint64_t proven, accesses, narrow;
} watched;

static const vyre_range *range_at(const vyre_rebuild *r, uint32_t inst) {
    const watched *w = r->user;
    uint32_t phase = 0;
    while (inst >= r->ir->phases[phase].end) {
        phase++;
    }
    return vyre_range_of(&w->ranges[phase], inst);
}

/* Notes a fault of instruction `inst` where the condition holds. */
static void note_if(vyre_rebuild *r, uint32_t condition, uint32_t inst) {
    const watched *w = r->user;
    vyre_build_if(r->to, condition);
    uint32_t zero = vyre_build_u32(r->to, 0), number = vyre_build_u32(r->to, inst + 1);
    vyre_build_atomic(r->to, VYRE_OP_ATOMIC_MAX, w->faults, zero, number, VYRE_NONE,
                      VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_if_end(r->to, 0, NULL);
}

static bool is_integer(const vyre_rebuild *r, uint32_t inst) {
    return vyre_type_class_of((vyre_type)r->ir->insts[inst].type) & VYRE_CLASS_INTEGER;
}

static void watch_value(vyre_rebuild *r, uint32_t inst) {
    const vyre_range *range = range_at(r, inst);
    vyre_type type = (vyre_type)r->ir->insts[inst].type;
    uint32_t bits = vyre_type_bytes(type) * 8, value = r->values[inst];
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    vyre_wide least = is_signed ? -((vyre_wide)1 << (bits - 1)) : 0;
    vyre_wide most = ((vyre_wide)1 << (bits - is_signed)) - 1;
    assert_true(range->min >= least && range->max <= most && range->min <= range->max);
    if (range->min > least) {
        uint32_t min = vyre_build_const(r->to, type, (uint64_t)range->min);
        note_if(r, vyre_build_op(r->to, VYRE_OP_LT, value, min, VYRE_NONE), inst);
    }
    if (range->max < most) {
        uint32_t max = vyre_build_const(r->to, type, (uint64_t)range->max);
        note_if(r, vyre_build_op(r->to, VYRE_OP_LT, max, value, VYRE_NONE), inst);
    }
    ((watched *)r->user)->narrow += range->min > least || range->max < most;
}

static void watch_index(vyre_rebuild *r, uint32_t inst) {
    const vyre_inst *i = &r->ir->insts[inst];
    bool is_list = vyre_op_info_of(i->op)->shape == VYRE_SHAPE_R_LIST;
    uint32_t index = vyre_rebuild_operand(r, is_list ? r->ir->operands[i->b] : i->b);
    uint32_t length = vyre_build_len(r->to, r->resources[i->a]);
    bool is_signed = vyre_type_class_of(vyre_build_type(r->to, index)) == VYRE_CLASS_SIGNED;
    vyre_type wide = is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    index = vyre_build_convert(r->to, wide, index);
    length = vyre_build_convert(r->to, wide, length);
    note_if(r, vyre_build_op(r->to, VYRE_OP_LE, length, index, VYRE_NONE), inst);
    if (is_signed) {
        uint32_t zero = vyre_build_const(r->to, wide, 0);
        note_if(r, vyre_build_op(r->to, VYRE_OP_LT, index, zero, VYRE_NONE), inst);
    }
}

/* Every instruction: operands that came in as args or results, the index, the instruction itself,
 * its value. */
static bool watch(vyre_rebuild *r, uint32_t inst) {
    watched *w = r->user;
    const vyre_inst *i = &r->ir->insts[inst];
    if (w->copying) {
        return false;
    }
    const uint32_t *values;
    uint32_t count = vyre_inst_values(r->ir, i, &values);
    for (uint32_t k = 0; k < count; k++) {
        if (!(values[k] & VYRE_CONSTANT) && is_integer(r, values[k]) &&
            (r->ir->insts[values[k]].op == VYRE_OP_ARG ||
             r->ir->insts[values[k]].op == VYRE_OP_RESULT)) {
            watch_value(r, values[k]);
        }
    }
    uint32_t effects = vyre_op_info_of(i->op)->effects;
    if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) && i->op != VYRE_OP_CLEAR) {
        w->accesses++;
        if (range_at(r, inst)->in_bounds) {
            w->proven++;
            watch_index(r, inst);
        }
    }
    if (effects & VYRE_EFFECT_END || !is_integer(r, inst)) {
        return false;
    }
    w->copying = true;
    vyre_rebuild_one(r, inst);
    w->copying = false;
    watch_value(r, inst);
    return true;
}

/* Runs a program with eyes on it. The text, if given, is shown where something is wrong. */
static void check(const vyre_program *program, const vyre_input *inputs, size_t count,
                  const char *text, uint64_t seed, watched *w) {
    const vyre_ir *ir = vyre_program_ir(program);
    w->ranges = vyre_alloc_zeroed(ir->phase_count, sizeof *w->ranges);
    assert_non_null(w->ranges);
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        assert_true(vyre_ranges_init(&w->ranges[i], ir, i, true));
    }
    vyre_rebuild r = {.replace = watch, .user = w};
    vyre_program *made;
    vyre_status status = vyre_rebuild_init(&r, program);
    assert_null(status);
    w->faults = vyre_build_buffer(r.to, "faults_noted", VYRE_ACCESS_OUT, VYRE_TYPE_U32,
                                  vyre_build_size_const(r.to, 1));
    vyre_rebuild_build(&r);
    status = vyre_rebuild_finish(&r, &made);
    if (status) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, vyre_status_text(status));
    }
    vyre_rebuild_deinit(&r);
    vyre_outputs outputs = check_run_seed(made, (check_list){inputs, count}, 0);
    uint32_t fault;
    memcpy(&fault, outputs.items[0].data, 4);
    if (fault) {
        char *printed = NULL;
        size_t size;
        vyre_status_free(vyre_program_print(program, &printed, &size));
        fail_msg("seed %llu: instruction %u is not what was said of it in\n%s\n%s",
                 (unsigned long long)seed, fault - 1, text ? text : "", printed);
    }
    vyre_outputs_free(&outputs);
    vyre_program_release(made);
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        vyre_ranges_deinit(&w->ranges[i]);
    }
    vyre_free(w->ranges);
}

static void ranges_of_programs_about_indices(void **state) {
    (void)state;
    static index_program p;
    watched w = {0};
    uint64_t first = test_seed();
    for (uint64_t seed = first; seed < first + test_work(400, 40); seed++) {
        index_generate(&p, seed);
        vyre_program *program = check_parse(vyre_strbuf_string(&p.text));
        check(program, p.inputs, INDEX_INPUTS, vyre_strbuf_string(&p.text), seed, &w);
        vyre_program_release(program);
        vyre_strbuf_free(&p.text);
    }
    print_message("%llu of %llu accesses in bounds, %llu narrow ranges\n",
                  (unsigned long long)w.proven, (unsigned long long)w.accesses,
                  (unsigned long long)w.narrow);
    assert_true(w.proven * 5 > w.accesses && w.proven < w.accesses);
}

static void ranges_of_any_programs(void **state) {
    (void)state;
    watched w = {0};
    uint64_t first = test_seed();
    for (uint64_t seed = first; seed < first + (test_work(400, 40) + 2) / 3; seed++) {
        conform_trial trial;
        vyre_status status = trial_generate(seed, &trial);
        assert_null(status);
        size_t count;
        vyre_input *inputs = conform_trial_inputs(&trial, trial.program, &count);
        assert_non_null(inputs);
        check(trial.program, inputs, count, NULL, seed, &w);
        vyre_free(inputs);
        conform_trial_free(&trial);
    }
    print_message("%llu of %llu accesses in bounds, %llu narrow ranges\n",
                  (unsigned long long)w.proven, (unsigned long long)w.accesses,
                  (unsigned long long)w.narrow);
    assert_true(w.proven > 0 && w.proven < w.accesses);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_programs_about_indices),
        cmocka_unit_test(ranges_of_any_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
