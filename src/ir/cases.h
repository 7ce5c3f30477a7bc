/* Case labels for switches over operations. Such a switch lists every operation and has no
 * `default`, so that the compiler (-Wswitch-enum) points at each switch that a new operation has to
 * be added to:
 *
 *     switch (vyre_inst_op(inst)) {
 *     case VYRE_OP_IF: return open_if(inst);
 *     case VYRE_ONE_OF(FOR, LOOP): return open_loop(inst);
 *     case VYRE_ANY_OF(PURE, MEMORY, ...): break;
 *     }
 *     return vyre_internal_error(...);
 *
 * VYRE_ANY_OF takes groups of <vyre/op.h>, and stands where an operation that joins the group needs
 * no code of its own. Where each operation has some, they are named one by one. */
#ifndef VYRE_IR_CASES_H
#define VYRE_IR_CASES_H

#include <vyre/op.h>

/* Groups of groups. */
#define VYRE_OPS_ACCESS(F, X) VYRE_OPS_MEMORY(F, X) VYRE_OPS_ATOMIC(X, X)
#define VYRE_OPS_SUBGROUP(F, X) VYRE_OPS_SHUFFLE(F, X) VYRE_OPS_COLLECTIVE(X, X)
#define VYRE_OPS_CONTROL(F, X) VYRE_OPS_BLOCK(F, X) VYRE_OPS_PICK(X, X) VYRE_OPS_JUMP(X, X)
/* What a pass or a backend never sees: the members of vyre_op that are no operation, and those that
 * pass/message.c takes out first. */
#define VYRE_OPS_NONE(F, X)                                                                        \
    F(NONE, 0, NULL, NONE, NONE, 0, 0, NULL)                                                       \
    X(COUNT, 0, NULL, NONE, NONE, 0, 0, NULL) VYRE_OPS_MESSAGE(X, X)

/* case VYRE_ANY_OF(MEMORY, ATOMIC): is a label for each operation of these groups, and
 * case VYRE_ONE_OF(LOAD, STORE): for each of these operations. Both take up to sixteen names. */
#define VYRE_ANY_OF(...) VYRE_LABELS(VYRE_GROUP_LABELS, __VA_ARGS__)
#define VYRE_ONE_OF(...) VYRE_LABELS(VYRE_OP_LABEL, __VA_ARGS__)

#define VYRE_OP_LABEL(name) VYRE_OP_##name
#define VYRE_GROUP_LABELS(group) VYRE_OPS_##group(VYRE_FIRST_LABEL, VYRE_NEXT_LABEL)
#define VYRE_FIRST_LABEL(name, number, text, shape, rule, effects, cost, doc) VYRE_OP_##name
#define VYRE_NEXT_LABEL(name, number, text, shape, rule, effects, cost, doc) : case VYRE_OP_##name

#define VYRE_LABELS(L, ...)                                                                        \
    VYRE_LABELS_OF(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)          \
    (L, __VA_ARGS__)
#define VYRE_LABELS_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...)                 \
    VYRE_LABELS_##count
#define VYRE_LABELS_1(L, a) L(a)
#define VYRE_LABELS_2(L, a, ...) L(a) : case VYRE_LABELS_1(L, __VA_ARGS__)
#define VYRE_LABELS_3(L, a, ...) L(a) : case VYRE_LABELS_2(L, __VA_ARGS__)
#define VYRE_LABELS_4(L, a, ...) L(a) : case VYRE_LABELS_3(L, __VA_ARGS__)
#define VYRE_LABELS_5(L, a, ...) L(a) : case VYRE_LABELS_4(L, __VA_ARGS__)
#define VYRE_LABELS_6(L, a, ...) L(a) : case VYRE_LABELS_5(L, __VA_ARGS__)
#define VYRE_LABELS_7(L, a, ...) L(a) : case VYRE_LABELS_6(L, __VA_ARGS__)
#define VYRE_LABELS_8(L, a, ...) L(a) : case VYRE_LABELS_7(L, __VA_ARGS__)
#define VYRE_LABELS_9(L, a, ...) L(a) : case VYRE_LABELS_8(L, __VA_ARGS__)
#define VYRE_LABELS_10(L, a, ...) L(a) : case VYRE_LABELS_9(L, __VA_ARGS__)
#define VYRE_LABELS_11(L, a, ...) L(a) : case VYRE_LABELS_10(L, __VA_ARGS__)
#define VYRE_LABELS_12(L, a, ...) L(a) : case VYRE_LABELS_11(L, __VA_ARGS__)
#define VYRE_LABELS_13(L, a, ...) L(a) : case VYRE_LABELS_12(L, __VA_ARGS__)
#define VYRE_LABELS_14(L, a, ...) L(a) : case VYRE_LABELS_13(L, __VA_ARGS__)
#define VYRE_LABELS_15(L, a, ...) L(a) : case VYRE_LABELS_14(L, __VA_ARGS__)
#define VYRE_LABELS_16(L, a, ...) L(a) : case VYRE_LABELS_15(L, __VA_ARGS__)

#endif
