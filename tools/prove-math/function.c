#define _GNU_SOURCE /* exp10 */
#include "function.h"

#include <math.h>
#include <string.h>

const math_function math_functions[] = {
#define ROW(id) {.name = #id, .operands = 1, .host1 = id, .wide1 = id##l, .exact1 = mpfr_##id},
    UNARY_FUNCTIONS(ROW)
#undef ROW
#define ROW(id)                                                                                    \
    {.name = #id,                                                                                  \
     .operands = 2,                                                                                \
     .allowed_ulp = 1,                                                                             \
     .host2 = id,                                                                                  \
     .wide2 = id##l,                                                                               \
     .exact2 = mpfr_##id},
        BINARY_FUNCTIONS(ROW)
#undef ROW
};

const size_t math_function_count = sizeof(math_functions) / sizeof(math_functions[0]);

const math_function *math_function_find(const char *name) {
    for (size_t i = 0; i < math_function_count; i++) {
        if (!strcmp(math_functions[i].name, name)) {
            return &math_functions[i];
        }
    }
    return NULL;
}
