/* Case labels for switches over operations. Such a switch lists every operation and has no
 * `default`, so that the compiler points at each one that a new operation has to be added to
 * (-Wswitch-enum). Operations that are handled alike are named by the groups of <vyre/op.h>:
 *
 *     switch (vyre_inst_op(inst)) {
 *     case VYRE_OP_LOAD: return load(inst);
 *     case VYRE_OP_STORE: return store(inst);
 *     case VYRE_OP_CLEAR:
 *     case VYRE_OP_UNIFORM_LOAD: VYRE_CASES(PURE, ATOMIC, ...) break;
 *     }
 *     return vyre_internal_error(...);
 */
#ifndef VYRE_IR_CASES_H
#define VYRE_IR_CASES_H

#include <vyre/op.h>

/* Groups of groups. */
#define VYRE_OPS_ACCESS(X) VYRE_OPS_MEMORY(X) VYRE_OPS_ATOMIC(X)
#define VYRE_OPS_SUBGROUP(X) VYRE_OPS_SHUFFLE(X) VYRE_OPS_COLLECTIVE(X)
#define VYRE_OPS_CONTROL(X) VYRE_OPS_BLOCK(X) VYRE_OPS_PICK(X) VYRE_OPS_JUMP(X)
/* The members of vyre_op that are no operation. */
#define VYRE_OPS_NONE(X)                                                                           \
    X(NONE, 0, NULL, NONE, NONE, 0, 0, NULL) X(COUNT, 0, NULL, NONE, NONE, 0, 0, NULL)

#define VYRE_OP_CASE(name, number, text, shape, rule, effects, cost, doc) case VYRE_OP_##name:

/* VYRE_CASES(MEMORY, ATOMIC): a label for each operation of up to twelve groups. */
#define VYRE_CASES(...)                                                                            \
    VYRE_CASES_COUNTED(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(__VA_ARGS__)
#define VYRE_CASES_COUNTED(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) VYRE_CASES_##n
#define VYRE_CASES_1(a) VYRE_OPS_##a(VYRE_OP_CASE)
#define VYRE_CASES_2(a, ...) VYRE_CASES_1(a) VYRE_CASES_1(__VA_ARGS__)
#define VYRE_CASES_3(a, ...) VYRE_CASES_1(a) VYRE_CASES_2(__VA_ARGS__)
#define VYRE_CASES_4(a, ...) VYRE_CASES_1(a) VYRE_CASES_3(__VA_ARGS__)
#define VYRE_CASES_5(a, ...) VYRE_CASES_1(a) VYRE_CASES_4(__VA_ARGS__)
#define VYRE_CASES_6(a, ...) VYRE_CASES_1(a) VYRE_CASES_5(__VA_ARGS__)
#define VYRE_CASES_7(a, ...) VYRE_CASES_1(a) VYRE_CASES_6(__VA_ARGS__)
#define VYRE_CASES_8(a, ...) VYRE_CASES_1(a) VYRE_CASES_7(__VA_ARGS__)
#define VYRE_CASES_9(a, ...) VYRE_CASES_1(a) VYRE_CASES_8(__VA_ARGS__)
#define VYRE_CASES_10(a, ...) VYRE_CASES_1(a) VYRE_CASES_9(__VA_ARGS__)
#define VYRE_CASES_11(a, ...) VYRE_CASES_1(a) VYRE_CASES_10(__VA_ARGS__)
#define VYRE_CASES_12(a, ...) VYRE_CASES_1(a) VYRE_CASES_11(__VA_ARGS__)

#endif
