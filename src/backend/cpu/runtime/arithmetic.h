/* Arithmetic: sets the floating-point environment that programs need while they run on the caller's
 * thread. */
#ifndef VYRE_CPU_RUNTIME_ARITHMETIC_H
#define VYRE_CPU_RUNTIME_ARITHMETIC_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cpu_arithmetic {
    fenv_t callers;
    uint32_t control; /* x86-64: MXCSR, if the caller's environment needs no change */
    bool is_kept;     /* the caller's environment is not changed */
} cpu_arithmetic;

#if defined(__x86_64__)
/* Whether rounding, exception masks and subnormals are as at the start of a C program; exception
 * flags may be set. Calls of fenv.h take 100 ns each, because of the x87 unit. */
static inline bool cpu_arithmetic_is_default(uint32_t *out_control) {
    enum { FLAGS = 0x3f, DEFAULT = 0x1f80, X87_DEFAULT = 0x37f };
    uint32_t control;
    uint16_t x87;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control), "=m"(x87));
    *out_control = control;
    return (control & ~(uint32_t)FLAGS) == DEFAULT && x87 == X87_DEFAULT;
}

static inline void cpu_arithmetic_set_control(uint32_t control) {
    __asm__ volatile("ldmxcsr %0" : : "m"(control) : "memory");
}
#else
static inline bool cpu_arithmetic_is_default(uint32_t *out_control) {
    *out_control = 0;
    return false;
}

static inline void cpu_arithmetic_set_control(uint32_t control) {
    (void)control;
}
#endif

/* Returns false if the environment cannot be set. */
static inline bool cpu_arithmetic_enter(cpu_arithmetic *saved) {
    saved->is_kept = cpu_arithmetic_is_default(&saved->control);
    return saved->is_kept || (!fegetenv(&saved->callers) && !fesetenv(FE_DFL_ENV));
}

/* The caller sees no exception that a program raised. */
static inline void cpu_arithmetic_leave(const cpu_arithmetic *saved) {
    if (saved->is_kept) {
        cpu_arithmetic_set_control(saved->control);
    } else {
        fesetenv(&saved->callers);
    }
}

#endif
