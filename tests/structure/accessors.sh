#!/usr/bin/env bash
# Only src/ir knows how a program lies in its arrays; all others ask the accessors of ir/lookup.h.
# Looks for arithmetic on the numbers of instructions and operands outside of src/ir, and plants each
# kind in a copy to see that it is found.
set -euo pipefail
cd "$(dirname "$0")/../.."

# A pattern, what to do about it, and a line that has it.
patterns=(
    '\bVYRE_CONSTANT\b'
    'ask vyre_operand_is_value, vyre_operand_is_constant or vyre_operand_const'
    'if (operand & VYRE_CONSTANT) {'

    '\bir(->|\.)operands\b'
    'ask vyre_inst_operands, vyre_for_range_of or vyre_loop_initial'
    'uint32_t first = s->ir->operands[inst->a];'

    '\b(i|in|inst|jump|loop|owner|row|top)(->|\.)[abc] [-+] '
    'ask vyre_result, vyre_loop_arg or vyre_loop_initial'
    'uint32_t count = inst->b - 3;'

    '\binsts\[[a-z_>.-]* (\+ |- [0-9])'
    'ask vyre_inst_next, vyre_result, vyre_loop_arg or vyre_block_terminator'
    'const vyre_inst *arg = &ir->insts[at + 1 + k];'

    '\binsts\[[^]]*\]\.[bc]\b'
    'ask vyre_owner_end, vyre_then_block, vyre_else_block or vyre_result'
    'uint32_t end = ir->insts[loop].c;'

    '\b(inst|jump|loop|owner) (\+ ([0-9]|[a-z]\b)|- [0-9])'
    'ask vyre_inst_next, vyre_for_counter, vyre_loop_arg or vyre_body_block'
    'uint32_t counter = loop + 1;'

    '\baux (&|>>) '
    'ask vyre_atomic_ordering or vyre_atomic_scope'
    'uint32_t scope = inst->aux >> 3;'

    '\(vyre_op\)(i|inst|owner|jump)->op\b'
    'ask vyre_inst_op'
    'vyre_op op = (vyre_op)inst->op;'

    'switch \((i|inst|owner|jump)->op\)'
    'ask vyre_inst_op, whose answers the compiler knows'
    'switch (inst->op) {'

    '\(vyre_type\)(i|inst|result)->type\b'
    'ask vyre_inst_type'
    'vyre_type type = (vyre_type)inst->type;'
)

# Prints every line below a folder that has a pattern; fails if there is one.
look() {
    local found=0 k
    for ((k = 0; k < ${#patterns[@]}; k += 3)); do
        if grep -rnE --include='*.[ch]' --exclude-dir=ir "${patterns[k]}" "$1"; then
            echo "That is the layout of a program. Fix: ${patterns[k + 1]} (src/ir/lookup.h)"
            found=1
        fi
    done
    return $found
}

look src >&2

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/pass" "$copy/ir"
for ((k = 0; k < ${#patterns[@]}; k += 3)); do
    echo "${patterns[k + 2]}" > "$copy/ir/own.c" # which may
    look "$copy" > /dev/null || { echo "src/ir is looked at. Fix: leave it out" >&2 && exit 1; }
    echo "${patterns[k + 2]}" > "$copy/pass/planted.c"
    if look "$copy" > /dev/null; then
        echo "\`${patterns[k + 2]}\` is not found. Fix: the pattern ${patterns[k]}" >&2
        exit 1
    fi
    rm "$copy/pass/planted.c"
done
