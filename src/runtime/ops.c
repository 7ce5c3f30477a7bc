#include <vyre/op.h>
#include <vyre/registry.h>

_Static_assert(VYRE_OP_COUNT <= 8 * sizeof(vyre_op_set), "every operation has a bit");

/* The operations of one word; messages never reach a backend. */
#define BIT(number, effects, word)                                                                 \
    ((number) / 64 == (word) && !((effects)&VYRE_EFFECT_MESSAGE) ? UINT64_C(1) << (number) % 64 : 0)
#define WORD_0(name, number, text, shape, rule, effects, ...) | BIT(number, effects, 0)
#define WORD_1(name, number, text, shape, rule, effects, ...) | BIT(number, effects, 1)
#define WORD_2(name, number, text, shape, rule, effects, ...) | BIT(number, effects, 2)
#define WORD_3(name, number, text, shape, rule, effects, ...) | BIT(number, effects, 3)

static const vyre_op_set core = {
    {0 VYRE_OPS(WORD_0), 0 VYRE_OPS(WORD_1), 0 VYRE_OPS(WORD_2), 0 VYRE_OPS(WORD_3)}};

const vyre_op_set *vyre_core_supported_ops(void) {
    return &core;
}
