#include <vyre/op.h>
#include <vyre/registry.h>

_Static_assert(VYRE_OP_COUNT <= 8 * sizeof(vyre_op_set), "every operation has a bit");

/* The operations of one word. */
#define BIT(number, word) ((number) / 64 == (word) ? UINT64_C(1) << (number) % 64 : 0)
#define WORD_0(name, number, ...) | BIT(number, 0)
#define WORD_1(name, number, ...) | BIT(number, 1)
#define WORD_2(name, number, ...) | BIT(number, 2)
#define WORD_3(name, number, ...) | BIT(number, 3)

static const vyre_op_set core = {
    {0 VYRE_OPS(WORD_0), 0 VYRE_OPS(WORD_1), 0 VYRE_OPS(WORD_2), 0 VYRE_OPS(WORD_3)}};

const vyre_op_set *vyre_core_supported_ops(void) {
    return &core;
}
