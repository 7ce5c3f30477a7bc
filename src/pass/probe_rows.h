/* What probe.vyre computes, in the order of its columns. */
#ifndef VYRE_PASS_PROBE_ROWS_H
#define VYRE_PASS_PROBE_ROWS_H

#include <vyre/op.h>

typedef enum probe_kind {
    PROBE_OPERATION,   /* one operation of a, b, c */
    PROBE_SUM,         /* b c + a, rounded twice */
    PROBE_DIFFERENCE,  /* c a - b, rounded twice */
    PROBE_REST,        /* what a + b lacks */
    PROBE_COMPARISONS, /* five bits */
    PROBE_TO,          /* a converted to a type */
    PROBE_FROM,        /* a, or a and b, as an integer, converted */
    PROBE_INTEGERS,    /* no float */
    PROBE_NARROW,      /* f64 to f32 */
    PROBE_WIDEN        /* f32 to f64 */
} probe_kind;

typedef struct probe_row {
    probe_kind kind;
    vyre_op op;
    vyre_type type; /* the other type of a conversion */
    uint32_t correction;
} probe_row;

/* Rows of both types; the last two are those of f64 alone. */
enum { PROBE_ROWS = 25, PROBE_ROWS_WIDE = 27, PROBE_COLUMNS = 28, PROBE_COLUMNS_WIDE = 27 };
extern const probe_row probe_rows[PROBE_ROWS_WIDE];

#endif
