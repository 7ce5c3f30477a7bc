/* What is known of the CPU and of the machine around it. */
#ifndef VYRE_CPU_RUNTIME_PROFILE_H
#define VYRE_CPU_RUNTIME_PROFILE_H

#include "base/strbuf.h"

enum { CPU_NAME_BYTES = 64 };

/* The name that the CPU gives itself; "" where it does not. */
void cpu_brand(char out_name[CPU_NAME_BYTES]);

/* Appends what tells this CPU from others: code for another one may not run here. */
void cpu_identity(vyre_strbuf *out);

uint64_t cpu_l1_bytes(void);
uint64_t cpu_l2_bytes(void);

#endif
