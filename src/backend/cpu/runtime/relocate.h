/* What differs between architectures when code is linked: relocations, and jumps to far functions.
 */
#ifndef VYRE_CPU_RUNTIME_RELOCATE_H
#define VYRE_CPU_RUNTIME_RELOCATE_H

#include <vyre/base.h>

enum { CPU_STUB_BYTES = 16 };

/* Bytes that a relocation of this kind changes; 0 if it is not known. */
uint32_t cpu_relocation_bytes(uint32_t machine, uint32_t type);

/* Writes the address `target`, addend included, into the instruction or word at `place`. False if
 * the kind is not known or the target is too far away. */
bool cpu_relocate(uint32_t machine, uint32_t type, uint8_t *place, uint64_t target);

/* A jump to any address, at a multiple of its own size. */
void cpu_write_stub(uint32_t machine, uint8_t *place, uint64_t target);

#endif
