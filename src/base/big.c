#include "base/big.h"

#include <string.h>

__extension__ typedef unsigned __int128 uint128;

void vyre_big_set(vyre_big *big, uint64_t value) {
    big->limbs[0] = value;
    big->count = value != 0;
}

void vyre_big_multiply_add(vyre_big *big, uint64_t factor, uint64_t summand) {
    uint64_t carry = summand;
    for (size_t i = 0; i < big->count; i++) {
        uint128 product = (uint128)big->limbs[i] * factor + carry;
        big->limbs[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry) {
        big->limbs[big->count++] = carry;
    }
}

uint64_t vyre_power_of_5(unsigned exponent) {
    uint64_t power = 1;
    while (exponent-- > 0) {
        power *= 5;
    }
    return power;
}

void vyre_big_multiply_power_of_5(vyre_big *big, unsigned exponent) {
    const uint64_t largest = vyre_power_of_5(VYRE_POWERS_OF_5);
    for (; exponent >= VYRE_POWERS_OF_5; exponent -= VYRE_POWERS_OF_5) {
        vyre_big_multiply_add(big, largest, 0);
    }
    vyre_big_multiply_add(big, vyre_power_of_5(exponent), 0);
}

void vyre_big_shift_left(vyre_big *big, unsigned bits) {
    if (big->count == 0) {
        return;
    }
    size_t limbs = bits / 64;
    bits %= 64;
    if (limbs) {
        memmove(big->limbs + limbs, big->limbs, big->count * sizeof big->limbs[0]);
        memset(big->limbs, 0, limbs * sizeof big->limbs[0]);
        big->count += limbs;
    }
    if (bits) {
        uint64_t carry = 0;
        for (size_t i = limbs; i < big->count; i++) {
            uint64_t limb = big->limbs[i];
            big->limbs[i] = limb << bits | carry;
            carry = limb >> (64 - bits);
        }
        if (carry) {
            big->limbs[big->count++] = carry;
        }
    }
}

void vyre_big_add(vyre_big *big, const vyre_big *summand) {
    uint64_t carry = 0;
    for (size_t i = 0; i < summand->count || (carry && i < big->count); i++) {
        if (i == big->count) {
            big->limbs[big->count++] = 0;
        }
        uint128 sum = (uint128)big->limbs[i] + (i < summand->count ? summand->limbs[i] : 0) + carry;
        big->limbs[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    if (carry) {
        big->limbs[big->count++] = carry;
    }
}

void vyre_big_subtract(vyre_big *big, const vyre_big *smaller) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < big->count && (i < smaller->count || borrow); i++) {
        uint64_t taken = i < smaller->count ? smaller->limbs[i] : 0;
        uint128 difference = (uint128)big->limbs[i] - taken - borrow;
        big->limbs[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    while (big->count && big->limbs[big->count - 1] == 0) {
        big->count--;
    }
}

int vyre_big_compare(const vyre_big *left, const vyre_big *right) {
    if (left->count != right->count) {
        return left->count < right->count ? -1 : 1;
    }
    for (size_t i = left->count; i-- > 0;) {
        if (left->limbs[i] != right->limbs[i]) {
            return left->limbs[i] < right->limbs[i] ? -1 : 1;
        }
    }
    return 0;
}

unsigned vyre_big_bits(const vyre_big *big) {
    unsigned top = 64 - (unsigned)__builtin_clzll(big->limbs[big->count - 1]);
    return (unsigned)(big->count - 1) * 64 + top;
}
