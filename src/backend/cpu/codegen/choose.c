#include "backend/cpu/codegen/choose.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"

enum { VECTOR, SCALAR, FORMS };

/* What an operation takes, in cycles: of a whole chunk in vectors, of one scalar. */
typedef struct cost {
    double work[FORMS];  /* while it keeps a core busy */
    double chain[FORMS]; /* while the next iteration of a loop waits for it */
    double apart;        /* the part of a scalar's chains that its neighbours cannot shorten */
} cost;

/* Where values go that leave a block. */
typedef struct goal {
    uint32_t call;           /* the innermost inlined call, or VYRE_NONE */
    uint32_t first;          /* values of instructions before this one do not change in the loop */
    double start;            /* when a value is there that waits for nothing: BEFORE in a loop */
    double iteration[FORMS]; /* of a loop: from what it carries in to what it carries on */
} goal;

typedef struct estimate {
    const cpu_target *target;
    const vyre_ir *ir;
    const cpu_facts *facts;
    cpu_choice *choice;
    double (*depths)[FORMS]; /* by instruction: since the start of the loop's iteration; below 0:
                                before */
    bool *rows;              /* by instruction: grows by 1 from lane to lane */
    double longest[FORMS];   /* way from the start of the phase through its code */
    uint32_t carried;        /* the most varying values that a loop carries */
} estimate;

static const double BEFORE = -1;

static double larger(double a, double b) {
    return a > b ? a : b;
}

static const vyre_divergence_fact *ways_of(const estimate *s, uint32_t inst) {
    return cpu_ways_of(s->facts, inst);
}

static double *depth_of(const estimate *s, uint32_t inst) {
    return s->depths[inst - s->facts->phase->first];
}

static bool is_row(const estimate *s, uint32_t operand) {
    return vyre_operand_is_value(operand) && s->rows[operand - s->facts->phase->first];
}

/* How many registers a value takes in a vector. */
static double registers_of(const estimate *s, vyre_type type) {
    double bytes = type == VYRE_TYPE_BOOL ? 1 : vyre_type_bytes(type);
    return larger(1, s->facts->lanes * bytes / (4.0 * s->target->lanes));
}

static double operand_depth(const estimate *s, const goal *g, uint32_t operand, int form) {
    return vyre_operand_is_value(operand) && operand >= g->first ? depth_of(s, operand)[form]
                                                                 : BEFORE;
}

/* Sets when a value is there, by its operands and its own latency. */
static void set_depth(estimate *s, const goal *g, uint32_t inst, double vector, double scalar) {
    const double latency[FORMS] = {vector, scalar};
    vyre_list values = vyre_inst_operands(s->ir, &s->ir->insts[inst]);
    for (int form = 0; form < FORMS; form++) {
        double depth = g->start;
        for (uint32_t k = 0; k < values.count; k++) {
            depth = larger(depth, operand_depth(s, g, values.items[k], form));
        }
        depth_of(s, inst)[form] = depth = depth < 0 ? BEFORE : depth + latency[form];
        s->longest[form] = larger(s->longest[form], g->start < 0 ? 0 : depth);
    }
}

/* `owner` is whose block ends there: values flow into the results of what it leaves, or on into the
 * next iteration. What breaks a loop off is not looked at. */
static void visit_end(estimate *s, goal *g, uint32_t inst, uint32_t owner) {
    const vyre_inst *i = &s->ir->insts[inst];
    vyre_list values = vyre_inst_operands(s->ir, i);
    uint32_t left = i->op == VYRE_OP_YIELD ? owner : g->call;
    bool leaves = (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_RETURN) && left != VYRE_NONE;
    for (uint32_t k = 0; k < values.count && (leaves || i->op == VYRE_OP_CONTINUE); k++) {
        for (int form = 0; form < FORMS; form++) {
            double *to =
                leaves ? &depth_of(s, vyre_result(s->ir, left, k))[form] : &g->iteration[form];
            *to = larger(*to, operand_depth(s, g, values.items[k], form));
        }
    }
}

/* How often a loop goes round; a guess, if that is not written down. */
static double iterations_of(const vyre_ir *ir, uint32_t inst) {
    enum { GUESS = 24, MOST = 4096 };
    vyre_for_numbers range;
    if (ir->insts[inst].op != VYRE_OP_FOR || !vyre_for_numbers_of(ir, inst, &range)) {
        return GUESS;
    }
    return (double)(range.iterations < MOST ? range.iterations : MOST);
}

static void add(cost *to, const cost *from, double times) {
    for (int form = 0; form < FORMS; form++) {
        to->work[form] += from->work[form] * times;
        to->chain[form] += from->chain[form] * times;
    }
    to->apart += from->apart * times;
}

static cost walk(estimate *s, goal *g, vyre_block code, uint32_t owner);

static cost visit_if(estimate *s, goal *g, uint32_t inst) {
    bool divergent = ways_of(s, inst)->divergent;
    cost then = walk(s, g, vyre_then_block(s->ir, inst), inst);
    cost otherwise = walk(s, g, vyre_else_block(s->ir, inst), inst);
    cost sum = {0};
    add(&sum, &then, 0.5);
    add(&sum, &otherwise, 0.5);
    if (divergent) { /* vectors go both ways; who goes alone is not always foreseen */
        s->choice->splits++;
        sum.work[VECTOR] = then.work[VECTOR] + otherwise.work[VECTOR] + 4;
        sum.work[SCALAR] += 2;
        sum.apart = sum.chain[SCALAR];
    } else {
        sum.work[VECTOR] += 0.7;
        sum.work[SCALAR] += 0.7;
    }
    return sum;
}

/* Results of a loop are there when its last iteration is. */
static void leave_loop(estimate *s, const goal *outer, uint32_t inst, const double *chain) {
    vyre_block results = vyre_results(s->ir, inst);
    vyre_list values = vyre_inst_operands(s->ir, &s->ir->insts[inst]);
    for (int form = 0; form < FORMS; form++) {
        double depth = outer->start;
        for (uint32_t k = 0; k < values.count; k++) {
            depth = larger(depth, operand_depth(s, outer, values.items[k], form));
        }
        for (uint32_t k = results.first; k < results.end; k++) {
            depth_of(s, k)[form] = depth < 0 ? BEFORE : depth + chain[form];
        }
    }
}

static cost visit_loop(estimate *s, const goal *outer, uint32_t inst) {
    const vyre_divergence_fact *ways = ways_of(s, inst);
    vyre_block args = vyre_loop_args(s->ir, inst);
    goal g = {.call = outer->call, .first = args.first, .start = BEFORE};
    uint32_t carried = 0;
    for (uint32_t k = args.first; k < args.end; k++) {
        bool counts = vyre_arg_index(s->ir, &s->ir->insts[k]) == VYRE_NONE;
        depth_of(s, k)[VECTOR] = depth_of(s, k)[SCALAR] = counts ? BEFORE : 0;
        carried += ways_of(s, k)->varying;
    }
    double iterations = iterations_of(s->ir, inst);
    cost body = walk(s, &g, vyre_owner_blocks(s->ir, inst), inst), sum = {0};
    s->carried = carried > s->carried ? carried : s->carried;
    body.work[VECTOR] += ways->divergent ? 5 : 1;
    body.work[SCALAR] += 0.5;
    for (int form = 0; form < FORMS; form++) {
        body.chain[form] = larger(body.chain[form], g.iteration[form]);
    }
    if (ways->divergent || ways->partial) {
        s->choice->splits++;
        body.apart = body.chain[SCALAR];
    }
    add(&sum, &body, iterations);
    if (ways->divergent) { /* a vector goes round until its last lane is through */
        sum.work[VECTOR] *= 1.6;
        sum.chain[VECTOR] *= 1.6;
        sum.work[SCALAR] += 8; /* its end comes as a surprise */
    }
    leave_loop(s, outer, inst, sum.chain);
    return sum;
}

/* Cycles until a result of arithmetic can be used. */
static double latency_of(const vyre_inst *i) {
    bool is_float = vyre_lookup_class(vyre_inst_type(i)) == VYRE_CLASS_FLOAT;
    uint32_t price = vyre_lookup_op(i->op)->cost;
    if (is_float && price) {
        return price < 4 ? 4 : price;
    }
    return i->op == VYRE_OP_MUL ? 3 : price;
}

/* Whether a value grows by 1 from lane to lane. */
static bool starts_row(const estimate *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(GID, LID):
        return ways_of(s, inst)->varying && i->a == 0 && s->facts->rows_are_chunks;
    case VYRE_OP_LANE: return true;
    case VYRE_OP_ADD:
        return (is_row(s, i->a) && !cpu_varies(s->facts, i->b)) ||
               (is_row(s, i->b) && !cpu_varies(s->facts, i->a));
    case VYRE_OP_SUB: return is_row(s, i->a) && !cpu_varies(s->facts, i->b);
    case VYRE_OP_CONVERT: return is_row(s, i->a) && vyre_type_bytes(vyre_inst_type(i)) >= 4;
    case VYRE_ONE_OF(PARAM, WID, NUM_WORKGROUPS, IN_DOMAIN, SUBGROUP_ID, ITERATION, LEN, MUL,
                     SELECT, BITCAST):
    case VYRE_ANY_OF(QUOTIENT, EXTREME, SIGN, INTEGER, LOGIC, BITS, FLOAT, COMPARE, ELEMENTARY,
                     ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

static void visit_arithmetic(estimate *s, const goal *g, uint32_t inst, cost *sum) {
    const vyre_inst *i = &s->ir->insts[inst];
    bool varying = ways_of(s, inst)->varying;
    double price = vyre_lookup_op(i->op)->cost;
    vyre_type type = vyre_inst_type(i);
    bool is_64 = vyre_type_bytes(type) == 8;
    /* Vectors have no division of integers, and most machines none of 64-bit products. */
    bool slow = !(vyre_lookup_class(type) == VYRE_CLASS_FLOAT) &&
                (i->op == VYRE_OP_DIV || i->op == VYRE_OP_REM || (is_64 && i->op == VYRE_OP_MUL));
    s->choice->operations += price > 0;
    sum->work[SCALAR] += price * 0.22;
    sum->work[VECTOR] += !varying ? price * 0.22 : price * registers_of(s, type) * (slow ? 4 : 0.6);
    set_depth(s, g, inst, latency_of(i), latency_of(i));
    s->rows[inst - s->facts->phase->first] = starts_row(s, inst);
}

/* Cycles until an element is there, by the cache that the array may fit into. */
static double memory_latency(const estimate *s, const vyre_resource *resource) {
    uint32_t stride = vyre_resource_stride(s->ir, resource);
    resource = vyre_resource_is_field(resource) ? &s->ir->resources[resource->size] : resource;
    uint64_t length = resource->kind > VYRE_RESOURCE_SCRATCH ? resource->length : UINT32_MAX;
    if (resource->kind <= VYRE_RESOURCE_SCRATCH && resource->size != VYRE_NONE &&
        s->ir->sizes[resource->size].op == VYRE_SIZE_CONST && !s->ir->sizes[resource->size].b) {
        length = s->ir->sizes[resource->size].a;
    }
    uint64_t bytes = length * stride;
    return bytes <= 32768 ? 5 : bytes <= 524288 ? 10 : 14;
}

/* A lookup of each lane by itself. */
static double gather_price(const estimate *s, vyre_type type) {
    bool fits = vyre_type_bytes(type) >= 4 && s->target->has_gather;
    return fits ? (s->target->has_quick_gather ? 1.4 : 2.4) : 5;
}

static void visit_access(estimate *s, const goal *g, uint32_t inst, cost *sum) {
    const vyre_inst *i = &s->ir->insts[inst];
    const vyre_resource *resource = vyre_access_array(s->ir, i);
    vyre_type type = vyre_resource_type(resource);
    uint32_t effects = vyre_inst_effects(i);
    bool is_cas = i->op == VYRE_OP_ATOMIC_CAS, writes = effects & VYRE_EFFECT_WRITE;
    uint32_t index = vyre_access_index(s->ir, i);
    bool one = i->op != VYRE_OP_CLEAR && !cpu_varies(s->facts, index);
    double lanes = s->facts->lanes, latency = memory_latency(s, resource), wait = latency + 2;
    if (effects & VYRE_EFFECT_ATOMIC && writes) {
        bool near = resource->kind == VYRE_RESOURCE_SHARED;
        bool together = one && !cpu_fact_of(s->facts, inst)->uses && !is_cas;
        double price = near ? 2 : 20;
        s->choice->atomics++;
        sum->work[SCALAR] += price;
        sum->work[VECTOR] += together ? price + 8 : lanes * (price + 3);
        latency = price + 4;
        wait = lanes * (price + 3);
    } else if (i->op == VYRE_OP_CLEAR) {
        sum->work[SCALAR] += resource->length / 8.0;
        sum->work[VECTOR] += resource->length * registers_of(s, type);
    } else if (one && (!writes || resource->kind == VYRE_RESOURCE_PRIVATE)) {
        s->choice->rows++;
        sum->work[SCALAR] += 0.5;
        sum->work[VECTOR] +=
            resource->kind == VYRE_RESOURCE_PRIVATE ? 1 + registers_of(s, type) : 1;
    } else if (is_row(s, index) && resource->kind != VYRE_RESOURCE_PRIVATE) {
        s->choice->rows++;
        sum->work[SCALAR] += 0.5;
        sum->work[VECTOR] += 2 + registers_of(s, type);
    } else {
        bool slow = writes && !(s->target->has_scatter && vyre_type_bytes(type) >= 4);
        double price = 6 + lanes * (slow ? 5 : gather_price(s, type));
        s->choice->lookups++;
        sum->work[SCALAR] += 0.5;
        sum->work[VECTOR] += price;
        wait += 16 + price;
    }
    set_depth(s, g, inst, wait, latency);
}

static cost visit_inline(estimate *s, goal *g, uint32_t inst) {
    uint32_t call = g->call;
    g->call = inst;
    cost sum = walk(s, g, vyre_body_block(s->ir, inst), inst);
    g->call = call;
    return sum;
}

static cost visit_owner(estimate *s, goal *g, uint32_t inst) {
    switch (vyre_inst_op(&s->ir->insts[inst])) {
    case VYRE_OP_IF: return visit_if(s, g, inst);
    case VYRE_OP_INLINE: return visit_inline(s, g, inst);
    case VYRE_ONE_OF(FOR, LOOP): return visit_loop(s, g, inst);
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    }
    return (cost){0};
}

static cost walk(estimate *s, goal *g, vyre_block code, uint32_t owner) {
    cost sum = {0};
    for (uint32_t inst = code.first; inst < code.end; inst = vyre_inst_next(s->ir, inst)) {
        const vyre_inst *i = &s->ir->insts[inst];
        uint32_t effects = vyre_inst_effects(i);
        if (effects & VYRE_EFFECT_BLOCK) {
            cost inner = visit_owner(s, g, inst);
            add(&sum, &inner, 1);
            continue;
        }
        if (effects & VYRE_EFFECT_END) {
            visit_end(s, g, inst, owner);
        } else if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE)) {
            visit_access(s, g, inst, &sum);
        } else if ((i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT) || vyre_is_grouped(s->ir, i)) {
            visit_arithmetic(s, g, inst, &sum);
        }
        if (cpu_fact_of(s->facts, inst)->crosses) {
            sum.work[SCALAR] += 2;
            sum.work[VECTOR] += 2 * registers_of(s, vyre_inst_type(i));
        }
    }
    return sum;
}

/* Where there is little to do, the next ones are on their way while one waits, since the machine
 * looks ahead: so many of them. */
static double overlap_of(double work) {
    const double ahead = 100; /* cycles of work that it sees at once */
    return larger(1, ahead / larger(work, 1));
}

static double vector_time(const cost *c, double around) {
    double work = c->work[VECTOR] + around;
    return larger(work, c->chain[VECTOR] / overlap_of(work));
}

/* Of a scalar with `side` side by side. */
static double scalar_time(const cost *c, uint32_t side) {
    double work = c->work[SCALAR] + 1, together = c->chain[SCALAR] - c->apart;
    return larger(work, (together / side + c->apart) / overlap_of(work));
}

static bool has_exchange(const vyre_ir *ir, const vyre_phase *phase) {
    for (uint32_t i = phase->first; i < phase->end; i++) {
        if (vyre_inst_effects(&ir->insts[i]) & VYRE_EFFECT_SUBGROUP) {
            return true;
        }
    }
    return false;
}

/* Whether that many scalars can be side by side: none may end, or leave its workgroup's way, before
 * the others. */
static bool can_stand(const cpu_facts *facts, uint32_t side) {
    const uint32_t *size = facts->phase->workgroup;
    if (facts->divergence.partial || (size[0] && size[0] * size[1] * size[2] % side)) {
        return false;
    }
    for (uint32_t i = facts->phase->first; i < facts->phase->end; i++) {
        if (cpu_fact_of(facts, i)->group && cpu_ways_of(facts, i)->partial) {
            return false;
        }
    }
    return true;
}

/* Analyses for scalars, at most `side` of them. */
static bool take_scalars(cpu_facts *facts, const vyre_ir *ir, uint32_t phase, uint32_t side,
                         cpu_choice *choice) {
    choice->scalar = true;
    for (;; side /= 2) {
        if (!cpu_analyse(facts, ir, phase, side)) {
            return false;
        }
        choice->lanes = side;
        if (side == 1 || can_stand(facts, side)) {
            return true;
        }
        cpu_facts_free(facts);
    }
}

/* Estimates a phase, analysed for vectors of so many lanes. */
static bool estimate_phase(const cpu_target *target, const vyre_ir *ir, const cpu_facts *facts,
                           cpu_choice *choice, uint32_t *out_side) {
    /* Scalars side by side are so many copies of the code, which LLVM must compile. */
    enum { MOST_SIDE = 8, REGISTERS = 16, MOST_COPIED = 4096 };
    uint32_t count = facts->phase->end - facts->phase->first;
    estimate s = {.target = target, .ir = ir, .facts = facts, .choice = choice};
    s.depths = vyre_alloc_zeroed(count, sizeof *s.depths);
    s.rows = vyre_alloc_zeroed(count, sizeof *s.rows);
    bool made = s.depths && s.rows;
    if (made) {
        goal g = {.call = VYRE_NONE};
        cost c = walk(&s, &g, vyre_phase_block(facts->phase), VYRE_NONE);
        for (int form = 0; form < FORMS; form++) {
            c.chain[form] = larger(c.chain[form], s.longest[form]);
        }
        uint32_t side = 1, most = facts->divergence.partial ? 1 : MOST_SIDE;
        while (side < most && 2 * side * (s.carried + 1) <= REGISTERS &&
               2ull * side * count <= MOST_COPIED &&
               (c.chain[SCALAR] - c.apart) / side / overlap_of(c.work[SCALAR]) >
                   0.4 * c.work[SCALAR]) {
            side *= 2;
        }
        double regions = facts->region_count;
        choice->vector_time = vector_time(&c, 3 * regions) / facts->lanes;
        choice->scalar_time = scalar_time(&c, side) + 2 * (regions - 1);
        choice->scalar_wait = c.chain[SCALAR];
        choice->carried = s.carried;
        *out_side = side;
    }
    vyre_free(s.depths);
    vyre_free(s.rows);
    return made;
}

/* Whether a chunk of so many lanes is full most of the time, as far as is known. */
static bool can_fill(const vyre_ir *ir, const vyre_phase *phase, uint32_t lanes) {
    const uint32_t *size = phase->workgroup;
    if (size[0]) {
        return size[0] % lanes == 0;
    }
    const vyre_size_node *domain = &ir->sizes[phase->domain[0]];
    return domain->op != VYRE_SIZE_CONST || domain->b || domain->a >= 4 * lanes ||
           domain->a % lanes == 0;
}

/* The same with the lanes that stay empty in workgroups of a few. */
static bool estimate_vectors(const cpu_target *target, const vyre_ir *ir, const cpu_facts *facts,
                             cpu_choice *choice, uint32_t *out_side) {
    const uint32_t *size = facts->phase->workgroup;
    if (!estimate_phase(target, ir, facts, choice, out_side)) {
        return false;
    }
    if (size[0]) {
        uint32_t count = size[0] * size[1] * size[2], lanes = choice->lanes;
        uint32_t chunks = (count + lanes - 1) / lanes;
        choice->vector_time *= (double)chunks * lanes / count;
    }
    return true;
}

/* Two vectors in flight where that is quicker, since one waits for itself or has too much around
 * it, and there are registers for both. */
static bool try_wider(const cpu_target *target, const vyre_ir *ir, uint32_t phase, cpu_facts *facts,
                      cpu_choice *choice) {
    uint32_t side, lanes = 2 * choice->lanes;
    uint32_t registers = target->has_scatter ? 32 : 16;
    cpu_facts other;
    cpu_choice wider = {.lanes = lanes};
    if (!can_fill(ir, facts->phase, lanes) || 2 * (choice->carried + 2) > registers) {
        return true;
    }
    if (!cpu_analyse(&other, ir, phase, lanes)) {
        return false;
    }
    bool made = estimate_vectors(target, ir, &other, &wider, &side);
    if (made && wider.vector_time < 0.9 * choice->vector_time) {
        cpu_facts swap = *facts;
        *facts = other;
        other = swap;
        *choice = wider;
    }
    cpu_facts_free(&other);
    return made;
}

static bool choose_best(const cpu_target *target, const vyre_ir *ir, uint32_t phase,
                        cpu_facts *facts, cpu_choice *choice) {
    uint32_t side = 1;
    bool made = cpu_analyse(facts, ir, phase, choice->lanes) &&
                estimate_vectors(target, ir, facts, choice, &side);
    if (made && !facts->phase->subgroup) {
        made = try_wider(target, ir, phase, facts, choice);
    }
    if (made && choice->scalar_time < choice->vector_time) {
        cpu_facts_free(facts);
        made = take_scalars(facts, ir, phase, side, choice);
    }
    if (!made) {
        cpu_facts_free(facts);
    }
    return made;
}

/* Instructions of a phase. Vectors take masks, and several times the text of scalars. */
enum { MOST_IN_VECTORS = 16384 };

bool cpu_choose(const cpu_target *target, const vyre_ir *ir, uint32_t phase, cpu_facts *out_facts,
                cpu_choice *out_choice) {
    const vyre_phase *row = &ir->phases[phase];
    cpu_choice choice = {.lanes = row->subgroup ? row->subgroup : target->lanes,
                         .is_plain = target->is_plain || row->end - row->first > MOST_IN_VECTORS};
    bool exchanges = has_exchange(ir, row), made;
    if (target->forced == 1 && !exchanges) {
        choice.because = "as VYRE_CPU_LANES asks";
        made = take_scalars(out_facts, ir, phase, target->forced_side, &choice);
    } else if (target->forced || exchanges) {
        choice.because = exchanges ? "the width of its subgroups" : "as VYRE_CPU_LANES asks";
        made = cpu_analyse(out_facts, ir, phase, choice.lanes);
    } else if (choice.is_plain) {
        choice.because = "LLVM takes too long for more code than that";
        made = take_scalars(out_facts, ir, phase, 1, &choice);
    } else {
        made = choose_best(target, ir, phase, out_facts, &choice);
    }
    *out_choice = choice;
    return made;
}

void cpu_choice_print(const cpu_choice *c, vyre_strbuf *out) {
    if (!c->scalar) {
        vyre_strbuf_printf(out, "vectors of %u lanes: ", c->lanes);
    } else if (c->lanes > 1) {
        vyre_strbuf_printf(out, "%u scalars side by side: ", c->lanes);
    } else {
        vyre_strbuf_puts(out, "scalars one by one: ");
    }
    if (c->because) {
        vyre_strbuf_puts(out, c->because);
        return;
    }
    vyre_strbuf_printf(out,
                       "%.1f cycles an invocation in vectors, %.1f as scalars, of which one alone "
                       "waits %.1f for itself; %u operations, %u rows, %u lookups, %u atomics, %u "
                       "splits",
                       c->vector_time, c->scalar_time, c->scalar_wait, c->operations, c->rows,
                       c->lookups, c->atomics, c->splits);
}
