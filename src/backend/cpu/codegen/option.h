/* The environment variables of the cpu backend; base/option.h says what a row is. */
#ifndef VYRE_CPU_CODEGEN_OPTION_H
#define VYRE_CPU_CODEGEN_OPTION_H

#include "base/option.h"

/* From CPU_LANES_SCALARS on: that many scalars side by side. */
enum { CPU_LANES_SCALARS = 1000 };
#define CPU_LANE_COUNTS(X)                                                                         \
    X(AUTO, 0, "auto")                                                                             \
    X(ONE, 1, "1")                                                                                 \
    X(ONE_BY_TWO, CPU_LANES_SCALARS + 2, "1x2")                                                    \
    X(ONE_BY_FOUR, CPU_LANES_SCALARS + 4, "1x4")                                                   \
    X(ONE_BY_EIGHT, CPU_LANES_SCALARS + 8, "1x8")                                                  \
    X(FOUR, 4, "4")                                                                                \
    X(EIGHT, 8, "8")                                                                               \
    X(SIXTEEN, 16, "16")                                                                           \
    X(THIRTY_TWO, 32, "32")

/* The levels of the x86-64 psABI, by LLVM's names for them. */
#define CPU_FEATURE_LEVELS(X)                                                                      \
    X(AUTO, 0, "auto")                                                                             \
    X(V1, 1, "x86-64")                                                                             \
    X(V2, 2, "x86-64-v2")                                                                          \
    X(V3, 3, "x86-64-v3")                                                                          \
    X(V4, 4, "x86-64-v4")

#define CPU_OPTIONS(X)                                                                             \
    X(THREADS, NUMBER, (0, 1024), "0",                                                             \
      "the number of threads of the cpu backend; 0: one per available CPU")                        \
    X(CPU_LANES, CHOICE, CPU_LANE_COUNTS, "auto",                                                  \
      "the 32-bit lanes of the cpu backend's vectors; 1xN: N scalars; auto: the best for each "    \
      "program; a phase with subgroup operations ignores it")                                      \
    X(CPU_FEATURES, CHOICE, CPU_FEATURE_LEVELS, "auto",                                            \
      "the instructions the cpu backend may use, as a level of x86-64; auto: all the CPU has")     \
    X(LLVM, PATHS, "a library", "",                                                                \
      "the libLLVM or libllvmlite.so that the cpu backend opens instead of the newest it finds")   \
    X(LLVMLITE, PATHS, "the path of libllvmlite.so", "",                                           \
      "llvmlite's library, which the cpu backend opens if it finds no libLLVM")

CPU_OPTIONS(VYRE_OPTION_DECLARE)

#endif
