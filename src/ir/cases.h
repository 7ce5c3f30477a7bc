/* Case labels for switches over operations. Such a switch lists every operation and has no
 * `default`, so that the compiler (-Wswitch-enum) points at each one that a new operation has to be
 * added to. Operations that are handled alike are named by the groups of <vyre/op.h>:
 *
 *     switch (vyre_inst_op(inst)) {
 *     case VYRE_OP_IF: return open_if(inst);
 *     case VYRE_ANY_OF(JUMP): return leave(inst);
 *     case VYRE_OP_FOR:
 *     case VYRE_ANY_OF(PURE, MEMORY, ...): break;
 *     }
 *     return vyre_internal_error(...);
 */
#ifndef VYRE_IR_CASES_H
#define VYRE_IR_CASES_H

#include <vyre/op.h>

/* Groups of groups. */
#define VYRE_OPS_ACCESS(F, X) VYRE_OPS_MEMORY(F, X) VYRE_OPS_ATOMIC(X, X)
#define VYRE_OPS_SUBGROUP(F, X) VYRE_OPS_SHUFFLE(F, X) VYRE_OPS_COLLECTIVE(X, X)
#define VYRE_OPS_CONTROL(F, X) VYRE_OPS_BLOCK(F, X) VYRE_OPS_PICK(X, X) VYRE_OPS_JUMP(X, X)
/* The members of vyre_op that are no operation. */
#define VYRE_OPS_NONE(F, X)                                                                        \
    F(NONE, 0, NULL, NONE, NONE, 0, 0, NULL) X(COUNT, 0, NULL, NONE, NONE, 0, 0, NULL)

#define VYRE_LABEL_FIRST(name, number, text, shape, rule, effects, cost, doc) VYRE_OP_##name
#define VYRE_LABEL_NEXT(name, number, text, shape, rule, effects, cost, doc) : case VYRE_OP_##name

/* case VYRE_ANY_OF(MEMORY, ATOMIC): is a label for each operation of up to sixteen groups. */
#define VYRE_ANY_OF(...) VYRE_ANY_OF_SIXTEEN(__VA_ARGS__, , , , , , , , , , , , , , , , )
#define VYRE_ANY_OF_SIXTEEN(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...)                   \
    VYRE_OPS_##a(VYRE_LABEL_FIRST, VYRE_LABEL_NEXT) VYRE_OR_ANY_OF(b) VYRE_OR_ANY_OF(c)            \
        VYRE_OR_ANY_OF(d) VYRE_OR_ANY_OF(e) VYRE_OR_ANY_OF(f) VYRE_OR_ANY_OF(g) VYRE_OR_ANY_OF(h)  \
            VYRE_OR_ANY_OF(i) VYRE_OR_ANY_OF(j) VYRE_OR_ANY_OF(k) VYRE_OR_ANY_OF(l)                \
                VYRE_OR_ANY_OF(m) VYRE_OR_ANY_OF(n) VYRE_OR_ANY_OF(o) VYRE_OR_ANY_OF(p)
#define VYRE_OR_ANY_OF(group) VYRE_OPS_##group(VYRE_LABEL_NEXT, VYRE_LABEL_NEXT)
#define VYRE_OPS_(F, X) /* no group */

#endif
