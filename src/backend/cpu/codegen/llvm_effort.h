/* How hard LLVM works on a module, from the module's size.
 *
 * Several parts of LLVM take time by the square of a function's blocks: SROA, X86 domain
 * reassignment and register allocation above all. Without passes, at codegen level 0, it is linear.
 * What a kernel computes is the same to the bit; only its speed differs. */
#ifndef VYRE_CPU_CODEGEN_LLVM_EFFORT_H
#define VYRE_CPU_CODEGEN_LLVM_EFFORT_H

typedef enum cpu_llvm_effort {
    CPU_LLVM_FULL,  /* all passes and an optimising code generator */
    CPU_LLVM_LEAST, /* that code generator alone */
    CPU_LLVM_NONE   /* more than about 10 s and 1 GB of work: it is not tried */
} cpu_llvm_effort;

/* `ir` is a module, or some of its functions. */
cpu_llvm_effort cpu_llvm_effort_of(const char *ir);

#endif
