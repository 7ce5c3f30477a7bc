#include "backend/reference/clock.h"

#include <string.h>

#include "backend/reference/machine.h"
#include "base/alloc.h"

/* Everything below `time` is known of the lanes from `first` to `last`. */
typedef struct run {
    uint32_t first, last, time;
} run;

/* What is known of one workgroup, a leaf; or two halves of a range of workgroups, a branch. */
struct tree {
    uint32_t uses;
    uint32_t bit;      /* of the number of a group: the one that tells the halves apart; leaf: 0 */
    uint32_t group;    /* of a branch: the bits above that one */
    uint32_t barriers; /* of a leaf: all before that one is known */
    uint32_t count;
    tree *halves[2];
    run runs[]; /* of a leaf, by lane; they do not overlap */
};

static uint64_t bytes_of(uint32_t count) {
    return sizeof(tree) + (uint64_t)count * sizeof(run);
}

static tree *use(tree *k) {
    k->uses++;
    return k;
}

/* The machine gets back what the budget had to give; it may be NULL. */
static void drop(machine *m, tree *k) {
    if (!k || --k->uses) {
        return;
    }
    drop(m, k->halves[0]);
    drop(m, k->halves[1]);
    if (m) {
        machine_give_back(m, bytes_of(k->count));
    }
    vyre_free(k);
}

static tree *make(machine *m, uint32_t bit, uint32_t group, uint32_t count) {
    if (!machine_reserve(m, bytes_of(count), "what its invocations know of each other")) {
        return NULL;
    }
    tree *k = vyre_alloc((size_t)bytes_of(count));
    if (!k) {
        machine_no_memory(m);
        return NULL;
    }
    *k = (tree){.uses = 1, .bit = bit, .group = group, .count = count};
    return k;
}

static tree *make_leaf(machine *m, uint32_t group, uint32_t barriers, const run *runs,
                       uint32_t count) {
    tree *k = make(m, 0, group, count);
    if (k) {
        k->barriers = barriers;
        memcpy(k->runs, runs, count * sizeof *runs);
    }
    return k;
}

/* The number of a group above a bit. */
static uint32_t above(uint32_t group, uint32_t bit) {
    return group & ~(bit * 2 - 1);
}

static uint32_t half_of(uint32_t group, uint32_t bit) {
    return (group & bit) != 0;
}

/* Takes the two halves over; NULL if one is, or without memory. */
static tree *make_branch(machine *m, uint32_t bit, tree *low, tree *high) {
    tree *k = low && high ? make(m, bit, above(low->group, bit), 0) : NULL;
    if (!k) {
        drop(m, low);
        drop(m, high);
        return NULL;
    }
    k->halves[0] = low;
    k->halves[1] = high;
    return k;
}

/* Behind the last run, or as part of it. */
static void append(run *runs, uint32_t *count, run added) {
    run *before = *count ? &runs[*count - 1] : NULL;
    if (before && before->last + 1 == added.first && before->time == added.time) {
        before->last = added.last;
    } else {
        runs[(*count)++] = added;
    }
}

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static uint32_t sooner(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Both leaves from the first lane to the last: at each step the longest run that is in the same
 * runs throughout. */
static uint32_t merge(const tree *a, const tree *b, run *out) {
    uint32_t i = 0, k = 0, count = 0, at = 0;
    while (i < a->count || k < b->count) {
        const run *x = i < a->count ? &a->runs[i] : NULL;
        const run *y = k < b->count ? &b->runs[k] : NULL;
        uint32_t x_first = x ? later(x->first, at) : UINT32_MAX;
        uint32_t y_first = y ? later(y->first, at) : UINT32_MAX;
        uint32_t first = sooner(x_first, y_first);
        bool in_x = x_first == first, in_y = y_first == first;
        uint32_t x_end = in_x ? x->last : x_first - 1;
        uint32_t y_end = in_y ? y->last : y_first - 1;
        uint32_t last = sooner(x_end, y_end);
        append(out, &count, (run){first, last, later(in_x ? x->time : 0, in_y ? y->time : 0)});
        i += in_x && x_end == last;
        k += in_y && y_end == last;
        at = last + 1;
    }
    return count;
}

static bool is_leaf_of(const tree *k, uint32_t barriers, const run *runs, uint32_t count) {
    return k->barriers == barriers && k->count == count &&
           !memcmp(k->runs, runs, count * sizeof *runs);
}

static tree *join_leaves(machine *m, tree *a, tree *b) {
    run runs[1 << LANE_BITS];
    uint32_t barriers = later(a->barriers, b->barriers), count = merge(a, b, runs);
    m->joined += a->count + b->count;
    if (is_leaf_of(a, barriers, runs, count)) {
        return use(a);
    }
    return is_leaf_of(b, barriers, runs, count) ? use(b)
                                                : make_leaf(m, a->group, barriers, runs, count);
}

static tree *join(machine *m, tree *a, tree *b);

/* The second lies in one half of the first. */
static tree *join_half(machine *m, tree *a, tree *b) {
    uint32_t half = half_of(b->group, a->bit);
    tree *joined = join(m, a->halves[half], b), *other = a->halves[!half];
    if (joined == a->halves[half]) {
        drop(m, joined);
        return use(a);
    }
    return half ? make_branch(m, a->bit, use(other), joined)
                : make_branch(m, a->bit, joined, use(other));
}

static tree *join_halves(machine *m, tree *a, tree *b) {
    tree *low = join(m, a->halves[0], b->halves[0]);
    tree *high = low ? join(m, a->halves[1], b->halves[1]) : NULL;
    for (int i = 0; i < 2 && high; i++) {
        tree *one = i ? b : a;
        if (low == one->halves[0] && high == one->halves[1]) {
            drop(m, low);
            drop(m, high);
            return use(one);
        }
    }
    return make_branch(m, a->bit, low, high);
}

static bool holds(const tree *a, const tree *b) {
    return a->bit > b->bit && above(b->group, a->bit) == a->group;
}

/* One of the two itself where it has all of the other. NULL without memory. */
static tree *join(machine *m, tree *a, tree *b) {
    m->joined++;
    if (a == b) {
        return use(a);
    }
    if (a->bit == b->bit && a->group == b->group) {
        return a->bit ? join_halves(m, a, b) : join_leaves(m, a, b);
    }
    if (holds(a, b)) {
        return join_half(m, a, b);
    }
    if (holds(b, a)) {
        return join_half(m, b, a);
    }
    uint32_t bit = UINT32_C(1) << (31 - __builtin_clz(a->group ^ b->group));
    return half_of(a->group, bit) ? make_branch(m, bit, use(b), use(a))
                                  : make_branch(m, bit, use(a), use(b));
}

bool knowledge_join(machine *m, knowledge *into, const knowledge *from) {
    if (!into->root || !from->root) {
        into->root = from->root ? use(from->root) : into->root;
        return true;
    }
    tree *joined = join(m, into->root, from->root);
    if (joined) {
        drop(m, into->root);
        into->root = joined;
    }
    return joined;
}

bool knowledge_add(machine *m, knowledge *into, mark added) {
    run single = {added.lane, added.lane, added.time};
    knowledge more = {make_leaf(m, added.group, added.barriers, &single, added.time > 0)};
    bool done = more.root && knowledge_join(m, into, &more);
    drop(m, more.root);
    return done;
}

void knowledge_clear(machine *m, knowledge *known) {
    drop(m, known->root);
    known->root = NULL;
}

void knowledge_free(knowledge *known) {
    knowledge_clear(NULL, known);
}

bool knowledge_has(const knowledge *known, const stamp *access) {
    const tree *k = known->root;
    while (k && k->bit) {
        k = above(access->group, k->bit) == k->group ? k->halves[half_of(access->group, k->bit)]
                                                     : NULL;
    }
    if (!k || k->group != access->group) {
        return false;
    }
    uint32_t lane = stamp_lane(access), low = 0, high = k->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (k->runs[middle].last < lane) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return access->barriers < k->barriers ||
           (low < k->count && k->runs[low].first <= lane && access->clock < k->runs[low].time);
}
