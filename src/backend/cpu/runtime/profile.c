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
#else
void cpu_brand(char out_name[CPU_NAME_BYTES]) {
    out_name[0] = 0;
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
