/* The helper process that LLVM runs in: starting it, talking to it, ending it.
 *
 * Starting one is safe in a process of many threads, and its owner never notices: the helper holds
 * none of its files, and neither wait() nor SIGCHLD tells of it. An owner that takes in orphans
 * (process 1, or a subreaper) is the exception: helpers are among them. A helper belongs to one
 * thread at a time. */
#ifndef VYRE_CPU_RUNTIME_HELPER_H
#define VYRE_CPU_RUNTIME_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Descriptors of its process and of the socket that leads to it. */
typedef struct cpu_helper {
    int process, socket;
} cpu_helper;

/* Starts one that opens a library as cpu_llvm_search says; 0 or errno. */
int cpu_helper_start(const char *library, const char *llvmlite, cpu_helper *out_helper);

/* Kills it, and returns when it is gone. */
void cpu_helper_end(cpu_helper *helper);

/* After a fork, in the child: lets go of the parent's helper. */
void cpu_helper_forget(cpu_helper *helper);

/* Whether an idle helper can take a request. */
bool cpu_helper_is_alive(const cpu_helper *helper);

typedef enum cpu_talk {
    CPU_TALK_DONE,
    CPU_TALK_LATE, /* the deadline has come */
    CPU_TALK_LOST  /* the helper is gone */
} cpu_talk;

/* Whole messages, until a deadline by vyre_now_ns. */
cpu_talk cpu_helper_send(const cpu_helper *helper, const void *data, size_t size,
                         uint64_t deadline_ns);
cpu_talk cpu_helper_receive(const cpu_helper *helper, void *data, size_t size,
                            uint64_t deadline_ns);

#endif
