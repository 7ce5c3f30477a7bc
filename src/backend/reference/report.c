#include "backend/reference/report.h"

#include <stdio.h>
#include <string.h>

#include "backend/reference/findings.h"
#include "ir/diagnostic.h"
#include "ir/lookup.h"
#include "ir/program.h"

static vyre_access_place place_of(const machine *m, uint32_t inst, uint32_t lane, uint64_t group) {
    vyre_access_place place = {.inst = inst, .lane = lane, .workgroup = group};
    if (inst != VYRE_NONE && m->ir->place_count) {
        place.line = VYRE_PLACE_LINE(m->ir->places[inst]);
        place.column = VYRE_PLACE_COLUMN(m->ir->places[inst]);
        uint32_t scope = VYRE_PLACE_SCOPE(m->ir->places[inst]);
        if (scope) {
            const vyre_call_scope *call = &m->ir->scopes[scope - 1], *scopes = m->ir->scopes;
            const char *strings = m->ir->debug_strings;
            place.file = vyre_scope_file(scopes, strings, scope);
            place.call_file = vyre_scope_file(scopes, strings, VYRE_PLACE_SCOPE(call->call));
            place.function = m->ir->debug_strings + call->name;
            place.call_line = VYRE_PLACE_LINE(call->call);
            place.call_column = VYRE_PLACE_COLUMN(call->call);
        }
    }
    return place;
}

static vyre_access_place place_of_stamp(const machine *m, const stamp *access) {
    return place_of(m, stamp_inst(access), stamp_lane(access), access->group);
}

/* "`store` in line 7 (lane 3 of workgroup 0)" */
static void describe(const machine *m, const vyre_access_place *place, char *out, size_t size) {
    unsigned long long group = place->workgroup;
    char who[64];
    if (m->phase->workgroup[0]) {
        snprintf(who, sizeof who, "lane %u of workgroup %llu", place->lane, group);
    } else {
        snprintf(who, sizeof who, "invocation %llu", group * m->layout.lanes + place->lane);
    }
    const char *op = vyre_lookup_op(m->ir->insts[place->inst].op)->name;
    if (place->file && place->line) {
        snprintf(out, size, "`%s` in %s:%u (%s)", op, place->file, place->line, who);
    } else {
        snprintf(out, size, place->line ? "`%s` in line %u (%s)" : "`%s` at instruction %u (%s)",
                 op, place->line ? place->line : place->inst, who);
    }
}

static uint32_t effects_of(const machine *m, const stamp *access) {
    return vyre_inst_effects(&m->ir->insts[stamp_inst(access)]);
}

static const char *race_fix(const machine *m, const stamp *a, const stamp *b) {
    uint32_t a_effects = effects_of(m, a), b_effects = effects_of(m, b);
    bool has_barriers = m->phase->workgroup[0];
    bool same_group = has_barriers && a->group == b->group;
    bool same_line = stamp_inst(a) == stamp_inst(b) ||
                     (m->ir->place_count &&
                      vyre_ir_line(m->ir, stamp_inst(a)) == vyre_ir_line(m->ir, stamp_inst(b)));
    if (a_effects & b_effects & VYRE_EFFECT_ATOMIC) {
        return "use the scope `device`, since the two are in different workgroups";
    }
    if ((a_effects | b_effects) & VYRE_EFFECT_ATOMIC) {
        return same_group ? "make both atomic, or put a `barrier` between them"
                          : "make both atomic, or put them into different phases";
    }
    if (a_effects & b_effects & VYRE_EFFECT_WRITE) {
        return same_line || !same_group
                   ? "give each invocation its own element, or use an atomic operation"
                   : "put a `barrier` between them, or give each invocation its own element";
    }
    if (same_line) {
        return "use an atomic operation, or read and write different arrays";
    }
    if (!has_barriers) {
        return "put them into different phases, or read and write different arrays";
    }
    return same_group ? "put a `barrier` between them"
                      : "put them into different phases or a `grid_barrier` between them, or order "
                        "them by atomics that release and acquire";
}

bool report_race(machine *m, uint32_t resource, uint64_t index, const stamp *before,
                 const stamp *now) {
    /* The one that stands first in the program comes first, whoever was earlier. */
    bool swapped = stamp_inst(now) < stamp_inst(before);
    const stamp *a = swapped ? now : before, *b = swapped ? before : now;
    vyre_finding found = {
        .kind = VYRE_FINDING_RACE, .first = place_of_stamp(m, a), .second = place_of_stamp(m, b)};
    if (vyre_findings_again(sanitizer_findings(m), &found)) {
        return true;
    }
    char first[360], second[360];
    describe(m, &found.first, first, sizeof first);
    describe(m, &found.second, second, sizeof second);
    return vyre_findings_add(sanitizer_findings(m), &found, race_fix(m, a, b),
                             "element %llu of `%s` is used by %s and by %s, and nothing orders the "
                             "two",
                             (unsigned long long)index, machine_array_name(m, resource), first,
                             second);
}

static bool is_negative(const machine *m, const stamp *now, uint64_t index) {
    uint32_t operand = vyre_access_index(m->ir, &m->ir->insts[stamp_inst(now)]);
    vyre_type type = vyre_operand_type(m->ir, operand);
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED && (int64_t)index < 0;
}

bool report_bounds(machine *m, uint32_t resource, uint64_t index, const stamp *now) {
    vyre_finding found = {.kind = VYRE_FINDING_OUT_OF_BOUNDS,
                          .first = place_of_stamp(m, now),
                          .second = {.inst = VYRE_NONE}};
    if (vyre_findings_again(sanitizer_findings(m), &found)) {
        return true;
    }
    bool negative = is_negative(m, now, index);
    char who[360];
    describe(m, &found.first, who, sizeof who);
    return vyre_findings_add(
        sanitizer_findings(m), &found,
        effects_of(m, now) & VYRE_EFFECT_WRITE
            ? "check the index first, or rely on the rule that such a store does nothing"
            : "check the index first, or rely on the rule that such a load returns 0",
        "%s uses element %s%llu of `%s`, which has %llu", who, negative ? "-" : "",
        (unsigned long long)(negative ? 0 - index : index), machine_array_name(m, resource),
        (unsigned long long)array_length(m, resource));
}

bool report_unwritten(machine *m, uint32_t resource, uint64_t index, const stamp *now) {
    vyre_finding found = {.kind = VYRE_FINDING_UNWRITTEN,
                          .first = place_of_stamp(m, now),
                          .second = {.inst = VYRE_NONE}};
    /* A sum is 0 before anything is added to it. */
    bool is_sum = found.first.file && !strcmp(found.first.file, VYRE_SUM_FILE);
    if (is_sum || vyre_findings_again(sanitizer_findings(m), &found)) {
        return true;
    }
    char who[360];
    describe(m, &found.first, who, sizeof who);
    return vyre_findings_add(sanitizer_findings(m), &found,
                             "write it first, or rely on the rule that it starts as 0",
                             "%s uses element %llu of `%s`, which was never written", who,
                             (unsigned long long)index, machine_array_name(m, resource));
}

static void describe_parting(const vyre_access_place *where, char *out, size_t size) {
    if (where->inst == VYRE_NONE) {
        snprintf(out, size, "it had already returned");
    } else {
        snprintf(out, size,
                 where->line ? "they diverged in line %u" : "they diverged at instruction %u",
                 where->line ? where->line : where->inst);
    }
}

/* The lane parted from the others at the outermost block whose mask it is not in. */
static uint32_t where_parted(const fiber *f, uint32_t lane) {
    for (uint32_t i = 1; i < f->depth; i++) {
        if (!f->frames[i].mask[lane]) {
            return f->frames[i].owner;
        }
    }
    return VYRE_NONE;
}

bool report_missing_lane(machine *m, const fiber *f, uint32_t at, uint32_t present,
                         uint32_t missing) {
    vyre_finding found = {.kind = VYRE_FINDING_NON_UNIFORM,
                          .first = place_of(m, at, present, f->group),
                          .second = place_of(m, where_parted(f, missing), missing, f->group)};
    if (vyre_findings_again(sanitizer_findings(m), &found)) {
        return true;
    }
    char who[360], parted[64];
    describe(m, &found.first, who, sizeof who);
    describe_parting(&found.second, parted, sizeof parted);
    return vyre_findings_add(sanitizer_findings(m), &found,
                             "move it where all invocations of the workgroup reach it, or remove "
                             "the race that makes them diverge",
                             "%s is not reached by lane %u: %s", who, missing, parted);
}

bool report_missing_group(machine *m, const fiber *f, const fiber *other) {
    uint32_t block = f->depth > 1 ? f->frames[f->depth - 1].owner : VYRE_NONE;
    vyre_finding found = {.kind = VYRE_FINDING_NON_UNIFORM,
                          .first = place_of(m, f->barrier, 0, f->group),
                          .second = place_of(m, block, 0, other->group)};
    char who[360], parted[64];
    describe(m, &found.first, who, sizeof who);
    if (other->state == FIBER_AT_GRID_BARRIER) {
        found.second = place_of(m, other->barrier, 0, other->group);
        snprintf(parted, sizeof parted, "it waits in line %u", found.second.line);
    } else {
        describe_parting(&found.second, parted, sizeof parted);
    }
    return vyre_findings_add(sanitizer_findings(m), &found,
                             "move it where all workgroups reach it, or remove the race that makes "
                             "them diverge",
                             "%s is not reached by workgroup %llu: %s", who,
                             (unsigned long long)other->group, parted);
}
