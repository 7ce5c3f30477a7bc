#include "pass/range_poly.h"

#include <string.h>

static const uint32_t no_atoms[POLY_FACTORS] = {POLY_NO_ATOM, POLY_NO_ATOM, POLY_NO_ATOM,
                                                POLY_NO_ATOM};

static poly_term make_term(int64_t by, uint32_t atom) {
    poly_term term = {.by = by};
    memcpy(term.atoms, no_atoms, sizeof no_atoms);
    term.atoms[0] = atom;
    return term;
}

poly poly_constant(int64_t number) {
    poly p = {.count = number != 0};
    p.terms[0] = make_term(number, POLY_NO_ATOM);
    return p;
}

poly poly_atom(uint32_t atom) {
    poly p = {.count = 1};
    p.terms[0] = make_term(1, atom);
    return p;
}

static int compare_atoms(const poly_term *a, const poly_term *b) {
    for (int i = 0; i < POLY_FACTORS; i++) {
        if (a->atoms[i] != b->atoms[i]) {
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
        }
    }
    return 0;
}

bool poly_terms_equal(const poly_term *a, uint32_t a_count, const poly_term *b, uint32_t b_count) {
    if (a_count != b_count) {
        return false;
    }
    for (uint32_t i = 0; i < a_count; i++) {
        if (a[i].by != b[i].by || compare_atoms(&a[i], &b[i])) {
            return false;
        }
    }
    return true;
}

bool poly_equal(const poly *a, const poly *b) {
    return poly_terms_equal(a->terms, a->count, b->terms, b->count);
}

bool poly_is_constant(const poly *a, int64_t *out_number) {
    *out_number = a->count ? a->terms[0].by : 0;
    return !a->count || (a->count == 1 && a->terms[0].atoms[0] == POLY_NO_ATOM);
}

/* Adds a term at its place. */
static bool add_term(poly *p, const poly_term *term) {
    uint32_t at = 0;
    while (at < p->count && compare_atoms(&p->terms[at], term) < 0) {
        at++;
    }
    if (at < p->count && !compare_atoms(&p->terms[at], term)) {
        int64_t sum;
        if (__builtin_add_overflow(p->terms[at].by, term->by, &sum)) {
            return false;
        }
        p->terms[at].by = sum;
        if (!sum) {
            memmove(&p->terms[at], &p->terms[at + 1], (p->count - at - 1) * sizeof *p->terms);
            p->count--;
        }
        return true;
    }
    if (!term->by) {
        return true;
    }
    if (p->count == POLY_TERMS) {
        return false;
    }
    memmove(&p->terms[at + 1], &p->terms[at], (p->count - at) * sizeof *p->terms);
    p->terms[at] = *term;
    p->count++;
    return true;
}

bool poly_add(poly *out, const poly *a, const poly *b, int64_t times_b) {
    poly sum = *a;
    for (uint32_t i = 0; i < b->count; i++) {
        poly_term term = b->terms[i];
        if (__builtin_mul_overflow(term.by, times_b, &term.by) || !add_term(&sum, &term)) {
            return false;
        }
    }
    *out = sum;
    return true;
}

bool poly_shift(poly *out, const poly *a, int64_t constant) {
    poly number = poly_constant(constant);
    return poly_add(out, a, &number, 1);
}

static bool mul_terms(poly_term *out, const poly_term *a, const poly_term *b) {
    int i = 0, k = 0;
    if (__builtin_mul_overflow(a->by, b->by, &out->by)) {
        return false;
    }
    for (int at = 0; at < POLY_FACTORS; at++) {
        uint32_t left = i < POLY_FACTORS ? a->atoms[i] : POLY_NO_ATOM;
        uint32_t right = k < POLY_FACTORS ? b->atoms[k] : POLY_NO_ATOM;
        out->atoms[at] = left < right ? left : right;
        i += left < right || (left == right && left != POLY_NO_ATOM);
        k += right < left;
    }
    return (i == POLY_FACTORS || a->atoms[i] == POLY_NO_ATOM) &&
           (k == POLY_FACTORS || b->atoms[k] == POLY_NO_ATOM);
}

bool poly_mul(poly *out, const poly *a, const poly *b) {
    poly product = {0};
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = 0; k < b->count; k++) {
            poly_term term;
            if (!mul_terms(&term, &a->terms[i], &b->terms[k]) || !add_term(&product, &term)) {
                return false;
            }
        }
    }
    *out = product;
    return true;
}

bool poly_divide(poly *out, const poly *a, int64_t by) {
    poly quotient = *a;
    for (uint32_t i = 0; i < a->count; i++) {
        if (by <= 0 || a->terms[i].by % by) {
            return false;
        }
        quotient.terms[i].by = a->terms[i].by / by;
    }
    *out = quotient;
    return true;
}

bool poly_split(const poly *a, uint32_t atom, poly *out_factor, poly *out_rest) {
    out_factor->count = out_rest->count = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        poly_term term = a->terms[i];
        int at = 0;
        while (at < POLY_FACTORS && term.atoms[at] != atom) {
            at++;
        }
        if (at == POLY_FACTORS) {
            out_rest->terms[out_rest->count++] = term;
            continue;
        }
        for (; at + 1 < POLY_FACTORS; at++) {
            term.atoms[at] = term.atoms[at + 1];
        }
        term.atoms[POLY_FACTORS - 1] = POLY_NO_ATOM;
        for (int k = 0; k < POLY_FACTORS; k++) {
            if (term.atoms[k] == atom) {
                return false;
            }
        }
        add_term(out_factor, &term); /* no more terms than there were */
    }
    return true;
}

static uint64_t magnitude(int64_t number) {
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

void poly_reduce(poly *a) {
    uint64_t divisor = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t left = magnitude(a->terms[i].by);
        if (a->terms[i].atoms[0] == POLY_NO_ATOM) {
            continue;
        }
        while (left) {
            uint64_t rest = divisor % left;
            divisor = left;
            left = rest;
        }
    }
    if (divisor < 2 || divisor > INT64_MAX) {
        return;
    }
    int64_t by = (int64_t)divisor;
    poly reduced = {0};
    for (uint32_t i = 0; i < a->count; i++) {
        poly_term term = a->terms[i];
        bool down = term.by % by < 0; /* the constant alone can leave a remainder */
        term.by = term.by / by - down;
        add_term(&reduced, &term);
    }
    *a = reduced;
}

uint32_t poly_last_atom(const poly *a, uint32_t below) {
    uint32_t last = POLY_NO_ATOM;
    for (uint32_t i = 0; i < a->count; i++) {
        for (int k = 0; k < POLY_FACTORS && a->terms[i].atoms[k] != POLY_NO_ATOM; k++) {
            uint32_t atom = a->terms[i].atoms[k];
            if (atom < below && (last == POLY_NO_ATOM || atom > last)) {
                last = atom;
            }
        }
    }
    return last;
}
