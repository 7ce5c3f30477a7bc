#define _GNU_SOURCE /* _SC_LEVEL1_DCACHE_SIZE */

#include "backend/cpu/runtime/profile.h"

#include <string.h>

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

void cpu_brand(char out_name[CPU_NAME_BYTES]) {
    uint32_t words[3][4] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        if (!__get_cpuid(0x80000002 + i, &words[i][0], &words[i][1], &words[i][2], &words[i][3])) {
            words[0][0] = 0;
        }
    }
    char text[sizeof words + 1] = {0};
    memcpy(text, words, sizeof words);
    size_t size = strlen(text), start = strspn(text, " ");
    while (size > start && text[size - 1] == ' ') {
        size--;
    }
    memcpy(out_name, text + start, size - start);
    out_name[size - start] = 0;
}

/* Registers that the system saves for its processes; without them a CPU's instructions are none. */
static uint64_t saved_registers(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

void cpu_identity(vyre_strbuf *out) {
    /* Model and instructions; what differs from core to core is masked: the second of leaf 1. */
    static const uint32_t leaves[][2] = {{1, 0},          {7, 0},          {7, 1},    {0xd, 1},
                                         {0x80000001, 0}, {0x80000008, 0}, {0x14, 0}, {0x19, 0}};
    enum { HAS_XGETBV = 1 << 27 };
    char name[CPU_NAME_BYTES];
    cpu_brand(name);
    vyre_strbuf_puts(out, name);
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        uint32_t a = 0, b = 0, c = 0, d = 0;
        __get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d);
        bool is_first = leaves[i][0] == 1;
        vyre_strbuf_printf(out, " %x %x %x %x", a, is_first ? 0 : b, c, d);
        if (is_first && c & HAS_XGETBV) {
            vyre_strbuf_printf(out, " %llx", (unsigned long long)saved_registers());
        }
    }
}
#else
#include <sys/auxv.h>

void cpu_brand(char out_name[CPU_NAME_BYTES]) {
    out_name[0] = 0;
}

static uint64_t model(void) {
#if defined(__aarch64__)
    enum { HAS_CPUID = 1 << 11 };
    uint64_t number = 0;
    if (getauxval(AT_HWCAP) & HAS_CPUID) {
        __asm__("mrs %0, midr_el1" : "=r"(number));
    }
    return number;
#else
    return 0;
#endif
}

void cpu_identity(vyre_strbuf *out) {
    vyre_strbuf_printf(out, "%lx %lx %llx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2),
                       (unsigned long long)model());
}
#endif

static uint64_t system_number(int name) {
    long value = sysconf(name);
    return value > 0 ? (uint64_t)value : 0;
}

uint64_t cpu_l1_bytes(void) {
    return system_number(_SC_LEVEL1_DCACHE_SIZE);
}

uint64_t cpu_l2_bytes(void) {
    return system_number(_SC_LEVEL2_CACHE_SIZE);
}
