/* Sizes that use counters are bounded by intervals first. Where these cannot tell, as in
 * `n - i - j`, all iterations are gone through. */
#include "runtime/plan_steps.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "ir/size.h"

enum { MOST_EVALUATED = 1 << 24 }; /* sizes, before the run */

typedef struct interval {
    uint64_t low, high;
} interval;

/* A repeat around the step at hand. */
typedef struct level {
    uint32_t step;
    interval counter;
} level;

typedef struct sizing {
    vyre_plan *plan;
    const vyre_ir *ir;
    level levels[VYRE_LIMIT_REPEATS];
    uint32_t level_count;
    uint32_t empty_until; /* steps before this one are in a repeat of no iterations */
    bool unsure;          /* all iterations have to be gone through */

    /* What may go wrong, in an expression and its last node. */
    const char *problem;
    uint32_t part;
} sizing;

/* Intervals */

static uint64_t add_or_most(uint64_t a, uint64_t b) {
    return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t multiply_or_most(uint64_t a, uint64_t b) {
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t subtract_or_zero(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* An interval that has all values of the operator, without those that do not exist. False if some
 * may not, the problem being what it is at the ends of the intervals. */
static bool apply(uint32_t op, interval a, interval b, interval *out, const char **problem) {
    uint64_t ignored;
    bool divides = op == VYRE_SIZE_DIV || op == VYRE_SIZE_REM || op == VYRE_SIZE_CEIL_DIV;
    bool sure = op == VYRE_SIZE_SUB ? vyre_size_apply(op, a.low, b.high, &ignored, problem)
                : divides           ? vyre_size_apply(op, a.high, b.low, &ignored, problem)
                                    : vyre_size_apply(op, a.high, b.high, &ignored, problem);
    interval by = {larger(b.low, 1), larger(b.high, 1)};
    switch (op) {
    case VYRE_SIZE_ADD:
        *out = (interval){add_or_most(a.low, b.low), add_or_most(a.high, b.high)};
        break;
    case VYRE_SIZE_SUB:
        *out = (interval){subtract_or_zero(a.low, b.high), subtract_or_zero(a.high, b.low)};
        break;
    case VYRE_SIZE_MUL:
        *out = (interval){multiply_or_most(a.low, b.low), multiply_or_most(a.high, b.high)};
        break;
    case VYRE_SIZE_DIV: *out = (interval){a.low / by.high, a.high / by.low}; break;
    case VYRE_SIZE_CEIL_DIV:
        *out = (interval){a.low / by.high + (a.low % by.high != 0),
                          a.high / by.low + (a.high % by.low != 0)};
        break;
    case VYRE_SIZE_REM: *out = (interval){0, smaller(a.high, by.high - 1)}; break;
    case VYRE_SIZE_MIN: *out = (interval){smaller(a.low, b.low), smaller(a.high, b.high)}; break;
    default: *out = (interval){larger(a.low, b.low), larger(a.high, b.high)}; break;
    }
    return sure;
}

static interval counter_of(const sizing *s, uint32_t step) {
    uint32_t at = 0;
    while (at + 1 < s->level_count && s->levels[at].step != step) {
        at++;
    }
    return s->levels[at].counter;
}

/* All values of a size, over all iterations; false if some of them may not exist. In an open one a
 * difference below zero is 0, which always does. */
static bool bound(sizing *s, uint32_t size, bool is_open, interval *out) {
    interval stack[VYRE_LIMIT_EXPRESSION_NESTING + 1];
    uint32_t depth = 0;
    bool sure = true;
    for (uint32_t i = vyre_size_first(s->ir, size); i <= size; i++) {
        const vyre_size_node *node = &s->ir->sizes[i];
        if (node->op == VYRE_SIZE_ITERATION) {
            stack[depth++] = counter_of(s, node->a);
        } else if (!vyre_size_is_operator(node->op)) {
            uint64_t value = vyre_size_now(s->ir, i, s->plan->arguments, NULL);
            stack[depth++] = (interval){value, value};
        } else {
            const char *problem = "";
            interval right = stack[--depth], left = stack[depth - 1];
            bool exists = apply(node->op, left, right, &stack[depth - 1], &problem) ||
                          (is_open && node->op == VYRE_SIZE_SUB);
            if (!exists && sure) {
                s->problem = problem;
                s->part = i;
            }
            sure = sure && exists;
        }
    }
    *out = stack[0];
    return sure;
}

/* Refusals */

static vyre_status refuse_open(const sizing *s) {
    vyre_strbuf text = {0};
    vyre_size_print(&text, s->ir, s->part);
    vyre_status status = vyre_status_make(
        VYRE_STATUS_INVALID_ARGUMENT,
        "keep it within bounds in all iterations, with `min` or `max`",
        "program `%s`: the size %s %s in some iteration of a `repeat while`, which may take up to "
        "4294967296 iterations",
        vyre_program_name(s->plan->program), vyre_strbuf_string(&text), s->problem);
    vyre_strbuf_free(&text);
    return status;
}

static vyre_status refuse_domain(const vyre_plan *plan, uint64_t size) {
    return vyre_status_make(VYRE_STATUS_LIMIT, "pass smaller buffers or arguments",
                            "program `%s`: a domain of %llu invocations in one dimension "
                            "is too large",
                            vyre_program_name(plan->program), (unsigned long long)size);
}

static const char *array_name(const vyre_ir *ir, uint32_t resource) {
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (ir->args[i].resource == resource) {
            return ir->strings + ir->args[i].name;
        }
    }
    const char *name = vyre_ir_resource_name(ir, resource);
    return *name ? name : "a scratch array";
}

static vyre_status check_swap(const vyre_plan *plan, const vyre_step *step) {
    uint64_t first = vyre_plan_length(plan, step->resource);
    uint64_t second = vyre_plan_length(plan, step->size);
    return first == second
               ? VYRE_OK
               : vyre_status_make(
                     VYRE_STATUS_INVALID_ARGUMENT,
                     "pass buffers and arguments that give both the same length",
                     "program `%s` swaps `%s`, which has %llu elements, and `%s`, which has %llu",
                     vyre_program_name(plan->program), array_name(plan->ir, step->resource),
                     (unsigned long long)first, array_name(plan->ir, step->size),
                     (unsigned long long)second);
}

/* Sizes of all iterations at once */

/* A negative argument is refused, even if the step never runs: passes rely on it. */
static vyre_status check_arguments(const vyre_plan *plan, uint32_t size) {
    for (uint32_t i = vyre_size_first(plan->ir, size); i <= size; i++) {
        uint64_t value;
        if (plan->ir->sizes[i].op == VYRE_SIZE_PARAM) {
            VYRE_TRY(vyre_size_eval(plan->program, i, plan->arguments, &value));
        }
    }
    return VYRE_OK;
}

/* Sets the size to the largest value it may have, at most `most`. */
static vyre_status size_counting(sizing *s, uint32_t step, uint32_t size, uint64_t most) {
    vyre_plan *plan = s->plan;
    VYRE_TRY(check_arguments(plan, size));
    if (step < s->empty_until) {
        return VYRE_OK; /* 0, as everything was */
    }
    bool is_open = vyre_size_is_open(s->ir, size);
    interval values;
    bool sure = bound(s, size, is_open, &values);
    if (is_open && !sure) {
        return refuse_open(s);
    }
    if (is_open && values.high > most) {
        return refuse_domain(plan, values.high);
    }
    s->unsure |= !sure || values.high > most;
    plan->sizes[size] = values.high;
    return VYRE_OK;
}

static vyre_status size_one(sizing *s, uint32_t step, uint32_t size) {
    return size == VYRE_NONE ? VYRE_OK
           : vyre_size_counts(s->ir, size)
               ? size_counting(s, step, size, UINT64_MAX)
               : vyre_size_eval(s->plan->program, size, s->plan->arguments, &s->plan->sizes[size]);
}

/* `gid` is a u32, and so is `num_workgroups` where there are any. */
static uint64_t most_of(const vyre_phase *phase, uint32_t dimension) {
    uint64_t group = phase->workgroup[dimension] ? phase->workgroup[dimension] : 1;
    return group == 1 && phase->workgroup[dimension] ? UINT32_MAX
                                                     : ((uint64_t)UINT32_MAX + 1) / group * group;
}

static vyre_status size_phase(sizing *s, uint32_t step) {
    vyre_plan *plan = s->plan;
    const vyre_phase *phase = &s->ir->phases[s->ir->steps[step].size];
    VYRE_TRY(size_one(s, step, phase->from_index));
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        uint64_t most = most_of(phase, i);
        if (vyre_size_counts(s->ir, phase->domain[i])) {
            VYRE_TRY(size_counting(s, step, phase->domain[i], most));
            continue;
        }
        VYRE_TRY(size_one(s, step, phase->domain[i]));
        uint64_t size = plan->config.grid[i] ? plan->config.grid[i] : plan->sizes[phase->domain[i]];
        if (size > most) {
            return refuse_domain(plan, size);
        }
    }
    return VYRE_OK;
}

/* Goes into a repeat, whose count is known by now. */
static void open_repeat(sizing *s, uint32_t index) {
    const vyre_step *step = &s->ir->steps[index];
    uint64_t count = step->kind == VYRE_STEP_REPEAT_WHILE ? (uint64_t)UINT32_MAX + 1
                                                          : s->plan->sizes[step->size];
    uint64_t last = smaller(subtract_or_zero(count, 1), UINT32_MAX);
    s->levels[s->level_count++] = (level){index, {0, last}};
    if (!count && s->empty_until < step->end) {
        s->empty_until = step->end;
    }
}

static vyre_status size_all(sizing *s) {
    const vyre_ir *ir = s->ir;
    for (uint32_t i = 0; i < ir->step_count; i++) {
        const vyre_step *step = &ir->steps[i];
        while (s->level_count && ir->steps[s->levels[s->level_count - 1].step].end <= i) {
            s->level_count--;
        }
        switch (step->kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(size_phase(s, i)); break;
        case VYRE_STEP_SWAP: VYRE_TRY(check_swap(s->plan, step)); break;
        case VYRE_STEP_ELSE: break;
        default: VYRE_TRY(size_one(s, i, step->size)); break;
        }
        if (vyre_step_is_repeat(step)) {
            open_repeat(s, i);
        }
    }
    return VYRE_OK;
}

/* One iteration after the other */

typedef struct rounds {
    vyre_plan *plan;
    const vyre_ir *ir;
    uint32_t *iterations; /* by step */
    uint64_t evaluated;
} rounds;

/* Says in which iteration it is. */
static vyre_status say_where(const rounds *r, uint32_t step, vyre_status status) {
    for (uint32_t i = 0; i < step && status; i++) {
        if (vyre_step_is_repeat(&r->ir->steps[i]) && r->ir->steps[i].end > step) {
            const char *name =
                r->ir->step_name_count ? r->ir->debug_strings + r->ir->step_names[i] : "";
            status =
                vyre_status_annotate(status, "iteration %u of repeat %s", r->iterations[i], name);
        }
    }
    return status;
}

static vyre_status visit(rounds *r, uint32_t step, uint32_t size, uint64_t most) {
    uint64_t value;
    if (size == VYRE_NONE || !vyre_size_counts(r->ir, size) || vyre_size_is_open(r->ir, size)) {
        return VYRE_OK;
    }
    if (r->evaluated++ == MOST_EVALUATED) {
        return vyre_status_make(
            VYRE_STATUS_LIMIT, "repeat less often, or keep sizes within bounds with `min` or `max`",
            "program `%s` has sizes that cannot be checked before the run: there are more than %d",
            vyre_program_name(r->plan->program), MOST_EVALUATED);
    }
    vyre_status status =
        vyre_size_eval_at(r->plan->program, size, r->plan->arguments, r->iterations, &value);
    if (!status && value > most) {
        status = refuse_domain(r->plan, value);
    }
    if (!status && value > r->plan->sizes[size]) {
        r->plan->sizes[size] = value;
    }
    return say_where(r, step, status);
}

static bool is_counter_used(const vyre_ir *ir, uint32_t step) {
    bool used = false;
    for (uint32_t i = 0; i < ir->size_count && !used; i++) {
        used = ir->sizes[i].op == VYRE_SIZE_ITERATION && ir->sizes[i].a == step;
    }
    return used;
}

static vyre_status visit_steps(rounds *r, uint32_t first, uint32_t end);

/* Once is enough where the counter has no part in any size, or where nobody knows its end. */
static vyre_status visit_repeat(rounds *r, uint32_t index) {
    const vyre_step *step = &r->ir->steps[index];
    uint64_t count = 1;
    if (!vyre_repeat_is_open(r->ir, index)) {
        count = vyre_size_counts(r->ir, step->size)
                    ? vyre_size_now(r->ir, step->size, r->plan->arguments, r->iterations)
                    : r->plan->sizes[step->size];
        count = is_counter_used(r->ir, index) ? count : smaller(count, 1);
    }
    for (uint64_t i = 0; i < count; i++) {
        r->iterations[index] = (uint32_t)i;
        VYRE_TRY(visit_steps(r, index + 1, step->end));
    }
    return VYRE_OK;
}

static vyre_status visit_phase(rounds *r, uint32_t step) {
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    VYRE_TRY(visit(r, step, phase->from_index, UINT64_MAX));
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        VYRE_TRY(visit(r, step, phase->domain[i], most_of(phase, i)));
    }
    return VYRE_OK;
}

static vyre_status visit_steps(rounds *r, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i = r->ir->steps[i].end) {
        const vyre_step *step = &r->ir->steps[i];
        if (step->kind == VYRE_STEP_PHASE) {
            VYRE_TRY(visit_phase(r, i));
        } else if (vyre_step_is_container(step)) {
            if (step->kind != VYRE_STEP_ELSE) {
                VYRE_TRY(visit(r, i, step->size, UINT64_MAX));
            }
            VYRE_TRY(vyre_step_is_repeat(step) ? visit_repeat(r, i)
                                               : visit_steps(r, i + 1, step->end));
        }
    }
    return VYRE_OK;
}

/* Forgets the bounds of intervals, which are too wide. */
static void forget(const rounds *r, uint32_t size) {
    if (size != VYRE_NONE && vyre_size_counts(r->ir, size) && !vyre_size_is_open(r->ir, size)) {
        r->plan->sizes[size] = 0;
    }
}

static vyre_status visit_all(vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    rounds r = {.plan = plan, .ir = ir};
    r.iterations = vyre_alloc_zeroed(ir->step_count, sizeof *r.iterations);
    if (!r.iterations) {
        return vyre_no_memory("to size the steps of `%s`", vyre_program_name(plan->program));
    }
    for (uint32_t i = 0; i < ir->step_count; i++) {
        const vyre_step *step = &ir->steps[i];
        if (step->kind == VYRE_STEP_PHASE) {
            const vyre_phase *phase = &ir->phases[step->size];
            forget(&r, phase->from_index);
            for (uint32_t k = 0; k < phase->dimensions; k++) {
                forget(&r, phase->domain[k]);
            }
        } else if (step->kind == VYRE_STEP_REPEAT_COUNT) {
            forget(&r, step->size);
        }
    }
    vyre_status status = visit_steps(&r, 0, ir->step_count);
    vyre_free(r.iterations);
    return status;
}

vyre_status vyre_plan_size_steps(vyre_plan *plan) {
    sizing s;
    s.plan = plan;
    s.ir = plan->ir;
    s.level_count = s.empty_until = 0;
    s.unsure = false;
    VYRE_TRY(size_all(&s));
    return s.unsure ? visit_all(plan) : VYRE_OK;
}
