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

#define CPU_OPTIONS(X)                                                                             \
    X(THREADS, NUMBER, (0, 1024), "0",                                                             \
      "how many threads the cpu backend runs programs on; 0: one for each CPU it may use")         \
    X(CPU_LANES, CHOICE, CPU_LANE_COUNTS, "auto",                                                  \
      "32-bit lanes of the cpu backend's vectors, 1xN being N scalars; auto: what suits best; a "  \
      "phase with subgroup operations has the lanes of its subgroups, whatever it says")           \
    X(LLVM, PATHS, "a library", "",                                                                \
      "the libLLVM that the cpu backend opens, in place of the newest it finds")

CPU_OPTIONS(VYRE_OPTION_DECLARE)

#endif
