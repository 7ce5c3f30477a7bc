#include "backend/cpu/runtime/relocate.h"

#include <elf.h>
#include <string.h>

/* How the value comes about and where it goes. */
typedef enum patch {
    WORD_64,       /* the address */
    DIFFERENCE_64, /* its distance */
    DIFFERENCE_32,
    BRANCH_26, /* AArch64: in instructions */
    PAGE_21,
    LOW_12_1, /* the last 12 bits, in units of 1, 2, 4, 8, 16 bytes */
    LOW_12_2,
    LOW_12_4,
    LOW_12_8,
    LOW_12_16
} patch;

static const struct {
    uint16_t machine, type;
    patch patch;
} kinds[] = {
    {EM_X86_64, R_X86_64_64, WORD_64},
    {EM_X86_64, R_X86_64_PC64, DIFFERENCE_64},
    {EM_X86_64, R_X86_64_PC32, DIFFERENCE_32},
    {EM_X86_64, R_X86_64_PLT32, DIFFERENCE_32},
    {EM_AARCH64, R_AARCH64_ABS64, WORD_64},
    {EM_AARCH64, R_AARCH64_PREL64, DIFFERENCE_64},
    {EM_AARCH64, R_AARCH64_PREL32, DIFFERENCE_32},
    {EM_AARCH64, R_AARCH64_CALL26, BRANCH_26},
    {EM_AARCH64, R_AARCH64_JUMP26, BRANCH_26},
    {EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, PAGE_21},
    {EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, LOW_12_1},
    {EM_AARCH64, R_AARCH64_LDST8_ABS_LO12_NC, LOW_12_1},
    {EM_AARCH64, R_AARCH64_LDST16_ABS_LO12_NC, LOW_12_2},
    {EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC, LOW_12_4},
    {EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, LOW_12_8},
    {EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, LOW_12_16},
};

static bool find_patch(uint32_t machine, uint32_t type, patch *out_patch) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].machine == machine && kinds[i].type == type) {
            *out_patch = kinds[i].patch;
            return true;
        }
    }
    return false;
}

uint32_t cpu_relocation_bytes(uint32_t machine, uint32_t type) {
    patch found;
    if (!find_patch(machine, type, &found)) {
        return 0;
    }
    return found == WORD_64 || found == DIFFERENCE_64 ? 8 : 4;
}

static bool fits(int64_t value, uint32_t bits) {
    int64_t half = (int64_t)1 << (bits - 1);
    return value >= -half && value < half;
}

/* Sets bits of an instruction. */
static bool put_bits(uint8_t *place, uint32_t mask, uint32_t bits) {
    uint32_t word;
    memcpy(&word, place, sizeof word);
    word = (word & ~mask) | (bits & mask);
    memcpy(place, &word, sizeof word);
    return true;
}

static bool put_low(uint8_t *place, uint64_t target, uint32_t shift) {
    uint32_t low = (uint32_t)(target & 0xfff);
    return !(low & ((1u << shift) - 1)) && put_bits(place, 0xfffu << 10, low >> shift << 10);
}

static bool put_page(uint8_t *place, int64_t pages) {
    uint32_t bits = (uint32_t)pages;
    return fits(pages, 21) &&
           put_bits(place, 3u << 29 | 0x7ffffu << 5, (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5);
}

bool cpu_relocate(uint32_t machine, uint32_t type, uint8_t *place, uint64_t target) {
    uint64_t here = (uintptr_t)place;
    int64_t distance = (int64_t)(target - here);
    patch found;
    if (!find_patch(machine, type, &found)) {
        return false;
    }
    switch (found) {
    case WORD_64: memcpy(place, &target, 8); return true;
    case DIFFERENCE_64: memcpy(place, &distance, 8); return true;
    case DIFFERENCE_32:
        return fits(distance, 32) && put_bits(place, UINT32_MAX, (uint32_t)distance);
    case BRANCH_26:
        return fits(distance, 28) && !(distance & 3) &&
               put_bits(place, 0x3ffffff, (uint32_t)(distance / 4));
    case PAGE_21:
        return put_page(place,
                        (int64_t)((target & ~(uint64_t)0xfff) - (here & ~(uint64_t)0xfff)) / 4096);
    case LOW_12_1: return put_low(place, target, 0);
    case LOW_12_2: return put_low(place, target, 1);
    case LOW_12_4: return put_low(place, target, 2);
    case LOW_12_8: return put_low(place, target, 3);
    case LOW_12_16: return put_low(place, target, 4);
    }
    return false;
}

void cpu_write_stub(uint32_t machine, uint8_t *place, uint64_t target) {
    static const uint8_t x86[] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc};       /* jmp [rip + 2] */
    static const uint8_t arm[] = {0x50, 0, 0, 0x58, 0x00, 0x02, 0x1f, 0xd6}; /* ldr x16, 8; br */
    memcpy(place, machine == EM_AARCH64 ? arm : x86, 8);
    memcpy(place + 8, &target, 8);
}
