/* What the tests of the cpu backend share. Where there is no libLLVM they are skipped. */
#ifndef VYRE_TESTS_CPU_CHECK_H
#define VYRE_TESTS_CPU_CHECK_H

#include <stdio.h>

#include "backend/cpu/runtime/compiler.h"
#include "tests/unit/contract_check.h"

/* For ctest: skipped. */
enum { CPU_SKIPPED = 77 };

/* Whether there is a libLLVM; prints why not. */
static inline bool cpu_check_available(void) {
    cpu_llvm_info info;
    vyre_status status = cpu_compiler_info(&info);
    bool available = !status;
    if (status) {
        printf("skipped: %s\n", vyre_status_text(status));
        vyre_status_free(status);
    }
    return available;
}

#endif
