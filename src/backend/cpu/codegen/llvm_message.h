/* What the library and its helper process say to each other through a socket. Both come from the
 * same build, so numbers are in the order of bytes of the machine.
 *
 *   helper    CPU_ANSWER_HERE                  it runs
 *   helper    an answer                        libLLVM is open: the fields of cpu_llvm_info, each
 *                                              with its NUL; or why it is not, and the helper ends
 *   library   a request and its IR             any number of times, one at a time
 *   helper    an answer                        what LLVM made of it, or a failure
 *
 * The end of the socket ends the helper, also in the middle of a request. */
#ifndef VYRE_CPU_CODEGEN_LLVM_MESSAGE_H
#define VYRE_CPU_CODEGEN_LLVM_MESSAGE_H

#include <stdint.h>

/* The helper's end of the socket. Below it stand the standard streams, which lead nowhere. */
enum { CPU_HELPER_SOCKET = 3 };

/* Bytes that LLVM may allocate, with the stacks of its threads: 768 MiB. */
#define CPU_HELPER_BYTES ((uint64_t)768 << 20)

typedef struct cpu_request {
    uint32_t form;    /* cpu_llvm_form */
    uint32_t level;   /* of cpu_llvm_narrow */
    uint32_t threads; /* that may share the work */
    uint32_t reserved;
    uint64_t size; /* of the IR that follows */
} cpu_request;

enum { CPU_ANSWER_HERE = 0x76797265 };

typedef struct cpu_answer {
    uint32_t code;   /* vyre_status_code; CPU_ANSWER_HERE in the first one */
    uint32_t signal; /* that ends the helper now; 0: none does */
    uint64_t size;   /* of what follows: a result, or the texts of a failure, message and fix, each
                      * with its NUL */
} cpu_answer;

#endif
