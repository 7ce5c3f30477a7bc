#include "pass/sum.h"

#include <string.h>

#include "ir/lookup.h"

bool sum_table_init(sum_table *table, const vyre_ir *ir) {
    memset(table, 0, sizeof *table);
    table->ir = ir;
    table->lengths = vyre_alloc_zeroed(ir->resource_count, sizeof *table->lengths);
    return table->lengths && vyre_vec_push(&table->rows, (sum_row){0});
}

void sum_table_deinit(sum_table *table) {
    vyre_free(table->lengths);
    vyre_vec_free(&table->rows);
}

sum_mark sum_table_mark(const sum_table *table) {
    return (sum_mark){table->rows.count, table->atom_count};
}

void sum_table_reset(sum_table *table, sum_mark mark) {
    table->rows.count = mark.rows;
    table->atom_count = mark.atoms;
}

static uint32_t keep(sum_table *table, const sum_row *row) {
    if (table->rows.count >= SUM_ROWS || table->work++ >= SUM_WORK) {
        return SUM_UNKNOWN;
    }
    if (!vyre_vec_push(&table->rows, *row)) {
        table->no_memory = true;
        return SUM_UNKNOWN;
    }
    return (uint32_t)table->rows.count - 1;
}

static const sum_row *row_of(const sum_table *table, uint32_t sum) {
    return &table->rows.items[sum];
}

static int compare_terms(const sum_term *left, const sum_term *right) {
    for (int i = 0; i < SUM_FACTORS; i++) {
        if (left->atoms[i] != right->atoms[i]) {
            return left->atoms[i] < right->atoms[i] ? -1 : 1;
        }
    }
    return 0;
}

/* Adds a term where it belongs; false if there is no room, or the factor grows too large. */
static bool add_term(sum_row *row, const sum_term *term) {
    uint32_t at = 0;
    while (at < row->count && compare_terms(&row->terms[at], term) < 0) {
        at++;
    }
    sum_term *found = &row->terms[at];
    if (at < row->count && !compare_terms(found, term)) {
        if (__builtin_add_overflow(found->factor, term->factor, &found->factor)) {
            return false;
        }
        if (!found->factor) {
            memmove(found, found + 1, (--row->count - at) * sizeof *found);
        }
        return true;
    }
    if (row->count == SUM_TERMS) {
        return false;
    }
    memmove(found + 1, found, (row->count++ - at) * sizeof *found);
    *found = *term;
    return true;
}

uint32_t sum_number(sum_table *table, int64_t value) {
    sum_row row = {.count = value != 0, .terms = {{.factor = value}}};
    return keep(table, &row);
}

/* The kinds of all atoms of a sum, as bits. */
static uint32_t kinds_of(const sum_table *table, uint32_t sum) {
    const sum_row *row = row_of(table, sum);
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        for (int k = 0; k < SUM_FACTORS; k++) {
            uint16_t atom = row->terms[i].atoms[k];
            kinds |= atom ? table->atoms[atom - 1].kinds : 0;
        }
    }
    return kinds;
}

uint32_t sum_of(sum_table *table, sum_kind kind, uint32_t a, uint32_t b) {
    bool of_sums = kind >= SUM_DIV;
    uint32_t i = 0;
    for (; i < table->atom_count; i++) {
        const sum_atom *atom = &table->atoms[i];
        if (atom->kind == kind &&
            (of_sums ? sum_same(table, atom->a, a) && sum_same(table, atom->b, b) : atom->a == a)) {
            break;
        }
    }
    if (i == SUM_ATOMS) {
        return SUM_UNKNOWN;
    }
    if (i == table->atom_count) {
        uint32_t kinds = of_sums ? kinds_of(table, a) | kinds_of(table, b) : 0;
        table->atoms[table->atom_count++] = (sum_atom){kind, a, b, kinds | 1u << kind};
    }
    sum_row row = {.count = 1, .terms = {{.factor = 1}}};
    row.terms[0].atoms[SUM_FACTORS - 1] = (uint16_t)(i + 1);
    return keep(table, &row);
}

/* left + right * factor */
static uint32_t combine(sum_table *table, uint32_t left, uint32_t right, int64_t factor) {
    if (left == SUM_UNKNOWN || right == SUM_UNKNOWN) {
        return SUM_UNKNOWN;
    }
    sum_row row = *row_of(table, left);
    for (uint32_t i = 0; i < row_of(table, right)->count; i++) {
        sum_term term = row_of(table, right)->terms[i];
        if (__builtin_mul_overflow(term.factor, factor, &term.factor) || !add_term(&row, &term)) {
            return SUM_UNKNOWN;
        }
    }
    return keep(table, &row);
}

uint32_t sum_add(sum_table *table, uint32_t left, uint32_t right) {
    return combine(table, left, right, 1);
}

uint32_t sum_subtract(sum_table *table, uint32_t left, uint32_t right) {
    return combine(table, left, right, -1);
}

static bool multiply_terms(const sum_term *left, const sum_term *right, sum_term *out) {
    *out = (sum_term){0};
    if (__builtin_mul_overflow(left->factor, right->factor, &out->factor)) {
        return false;
    }
    int a = SUM_FACTORS - 1, b = SUM_FACTORS - 1, to = SUM_FACTORS - 1;
    for (;;) { /* the largest first */
        uint16_t x = a >= 0 ? left->atoms[a] : 0, y = b >= 0 ? right->atoms[b] : 0;
        if (!x && !y) {
            return true;
        }
        if (to < 0) {
            return false;
        }
        out->atoms[to--] = x > y ? x : y;
        a -= x > y;
        b -= x <= y;
    }
}

uint32_t sum_multiply(sum_table *table, uint32_t left, uint32_t right) {
    if (left == SUM_UNKNOWN || right == SUM_UNKNOWN) {
        return SUM_UNKNOWN;
    }
    const sum_row *a = row_of(table, left), *b = row_of(table, right);
    sum_row row = {0};
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count; k++) {
            sum_term term;
            if (!multiply_terms(&a->terms[i], &b->terms[k], &term) || !add_term(&row, &term)) {
                return SUM_UNKNOWN;
            }
        }
    }
    return keep(table, &row);
}

/* Every term divided by a number, if that goes without a rest. */
static bool divide_terms(const sum_row *row, int64_t by, sum_row *out) {
    *out = *row;
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->terms[i].factor % by) {
            return false;
        }
        out->terms[i].factor /= by;
    }
    return true;
}

uint32_t sum_divide(sum_table *table, sum_kind kind, uint32_t left, uint32_t right) {
    int64_t value, by;
    sum_row row;
    if (left == SUM_UNKNOWN || right == SUM_UNKNOWN) {
        return SUM_UNKNOWN;
    }
    if (!sum_is_number(table, right, &by)) {
        return sum_of(table, kind, left, right);
    }
    if (by <= 0) {
        return SUM_UNKNOWN;
    }
    if (divide_terms(row_of(table, left), by, &row)) {
        return kind == SUM_REM ? sum_number(table, 0) : keep(table, &row);
    }
    if (sum_is_number(table, left, &value) && value >= 0) {
        return sum_number(table,
                          kind == SUM_REM ? value % by : value / by + (kind == SUM_CEIL_DIV));
    }
    return sum_of(table, kind, left, right);
}

static bool is_atom(const sum_table *table, uint16_t atom, sum_kind kind, uint32_t a) {
    return atom && table->atoms[atom - 1].kind == kind && table->atoms[atom - 1].a == a;
}

bool sum_mentions(const sum_table *table, uint32_t sum, sum_kind kind, uint32_t a) {
    const sum_row *row = row_of(table, sum);
    for (uint32_t i = 0; i < row->count; i++) {
        for (int k = 0; k < SUM_FACTORS; k++) {
            uint16_t atom = row->terms[i].atoms[k];
            bool inside = atom && table->atoms[atom - 1].kind >= SUM_DIV &&
                          table->atoms[atom - 1].kinds & 1u << kind;
            if (inside || is_atom(table, atom, kind, a)) {
                return true;
            }
        }
    }
    return false;
}

bool sum_is_fixed(const sum_table *table, uint32_t sum) {
    const uint32_t others = 1u << SUM_PARAM | 1u << SUM_LEN | 1u << SUM_DIV | 1u << SUM_REM |
                            1u << SUM_CEIL_DIV | 1u << SUM_MIN | 1u << SUM_MAX;
    return sum != SUM_UNKNOWN && !(kinds_of(table, sum) & ~others);
}

bool sum_take(sum_table *table, uint32_t sum, sum_kind kind, uint32_t a, uint32_t *out_factor,
              uint32_t *out_rest) {
    sum_row factor = {0}, rest = {0};
    for (uint32_t i = 0; i < row_of(table, sum)->count; i++) {
        sum_term term = row_of(table, sum)->terms[i];
        int at = 0;
        while (at < SUM_FACTORS && !is_atom(table, term.atoms[at], kind, a)) {
            at++;
        }
        if (at < SUM_FACTORS) {
            memmove(term.atoms + 1, term.atoms, (size_t)at * sizeof *term.atoms);
            term.atoms[0] = 0;
        }
        add_term(at < SUM_FACTORS ? &factor : &rest, &term); /* has room: it comes from a sum */
    }
    *out_factor = keep(table, &factor);
    *out_rest = keep(table, &rest);
    return *out_factor != SUM_UNKNOWN && *out_rest != SUM_UNKNOWN &&
           !sum_mentions(table, *out_factor, kind, a) && !sum_mentions(table, *out_rest, kind, a);
}

uint32_t sum_replace(sum_table *table, uint32_t sum, sum_kind kind, uint32_t a, uint32_t by) {
    uint32_t factor, rest;
    if (sum == SUM_UNKNOWN || !sum_mentions(table, sum, kind, a)) {
        return sum;
    }
    return sum_take(table, sum, kind, a, &factor, &rest)
               ? sum_add(table, rest, sum_multiply(table, factor, by))
               : SUM_UNKNOWN;
}

/* Sizes */

uint32_t sum_of_length(sum_table *table, uint32_t resource) {
    const vyre_ir *ir = table->ir;
    const vyre_resource *row = &ir->resources[resource];
    if (table->lengths[resource]) {
        return table->lengths[resource] - 1;
    }
    uint32_t length = SUM_UNKNOWN;
    if (vyre_resource_is_field(row)) {
        length = sum_of_length(table, row->size);
    } else if (row->kind > VYRE_RESOURCE_SCRATCH) {
        length = sum_number(table, row->length);
    } else if (row->size != VYRE_NONE) { /* nothing runs where the length is another */
        length = sum_of_size(table, row->size);
    } else {
        for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
            if (ir->args[arg].resource == resource) {
                length = sum_of(table, SUM_LEN, arg, 0);
            }
        }
    }
    table->lengths[resource] = length + 1;
    return length;
}

uint32_t sum_of_size(sum_table *table, uint32_t size) {
    if (size == VYRE_NONE) {
        return SUM_UNKNOWN;
    }
    const vyre_size_node *node = &table->ir->sizes[size];
    switch (node->op) {
    case VYRE_SIZE_CONST:
        return node->b >> 31 ? SUM_UNKNOWN
                             : sum_number(table, (int64_t)(node->a | (uint64_t)node->b << 32));
    case VYRE_SIZE_LEN: return sum_of_length(table, table->ir->args[node->a].resource);
    case VYRE_SIZE_PARAM: return sum_of(table, SUM_PARAM, node->a, 0);
    case VYRE_SIZE_ITERATION: return SUM_UNKNOWN;
    default: break;
    }
    uint32_t left = sum_of_size(table, node->a), right = sum_of_size(table, node->b);
    if (left == SUM_UNKNOWN || right == SUM_UNKNOWN) {
        return SUM_UNKNOWN;
    }
    switch (node->op) {
    case VYRE_SIZE_ADD: return sum_add(table, left, right);
    case VYRE_SIZE_SUB: return sum_subtract(table, left, right);
    case VYRE_SIZE_MUL: return sum_multiply(table, left, right);
    case VYRE_SIZE_DIV: return sum_divide(table, SUM_DIV, left, right);
    case VYRE_SIZE_REM: return sum_divide(table, SUM_REM, left, right);
    case VYRE_SIZE_CEIL_DIV: return sum_divide(table, SUM_CEIL_DIV, left, right);
    case VYRE_SIZE_MIN: return sum_of(table, SUM_MIN, left, right);
    default: return sum_of(table, SUM_MAX, left, right);
    }
}

/* Comparing */

bool sum_same(const sum_table *table, uint32_t left, uint32_t right) {
    const sum_row *a = row_of(table, left), *b = row_of(table, right);
    return left != SUM_UNKNOWN && right != SUM_UNKNOWN && a->count == b->count &&
           !memcmp(a->terms, b->terms, a->count * sizeof *a->terms);
}

bool sum_is_number(const sum_table *table, uint32_t sum, int64_t *out_value) {
    const sum_row *row = row_of(table, sum);
    *out_value = row->count ? row->terms[0].factor : 0;
    return sum != SUM_UNKNOWN &&
           (!row->count || (row->count == 1 && !row->terms[0].atoms[SUM_FACTORS - 1]));
}

bool sum_is_positive(const sum_table *table, uint32_t sum) {
    const sum_row *row = row_of(table, sum);
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->terms[i].factor < 0) {
            return false;
        }
    }
    return sum != SUM_UNKNOWN;
}

/* The bound of a sum that comes from rounding: n * ceil_div(x, n) is at least x, and n * (x / n) at
 * most. Takes the first such part away; SUM_UNKNOWN if there is none. */
static uint32_t without_rounding(sum_table *table, uint32_t sum, sum_kind kind) {
    for (uint32_t i = 0; i < row_of(table, sum)->count; i++) {
        const sum_term term = row_of(table, sum)->terms[i];
        for (int k = 0; k < SUM_FACTORS && term.factor > 0; k++) {
            const sum_atom *atom = term.atoms[k] ? &table->atoms[term.atoms[k] - 1] : NULL;
            int64_t by;
            if (!atom || atom->kind != kind || !sum_is_number(table, atom->b, &by) ||
                term.factor % by) {
                continue;
            }
            sum_row old = {.count = 1, .terms = {term}}, other = old;
            other.terms[0].factor /= by;
            memmove(other.terms[0].atoms + 1, other.terms[0].atoms,
                    (size_t)k * sizeof *other.terms[0].atoms);
            other.terms[0].atoms[0] = 0;
            uint32_t rest = sum_subtract(table, sum, keep(table, &old));
            return sum_add(table, rest, sum_multiply(table, keep(table, &other), atom->a));
        }
    }
    return SUM_UNKNOWN;
}

bool sum_reaches(sum_table *table, uint32_t left, uint32_t right) {
    for (int i = 0; i < SUM_TERMS && left != SUM_UNKNOWN && right != SUM_UNKNOWN; i++) {
        if (sum_is_positive(table, sum_subtract(table, left, right))) {
            return true;
        }
        uint32_t lower = without_rounding(table, left, SUM_CEIL_DIV);
        if (lower != SUM_UNKNOWN) {
            left = lower;
        } else {
            right = without_rounding(table, right, SUM_DIV);
        }
    }
    return false;
}
