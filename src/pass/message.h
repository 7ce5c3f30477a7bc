/* Messages: programs with `print` and `assert` become programs that a backend can run.
 *
 * Either the messages are left out, or they are recorded. A program that records has one more
 * argument, the last: an inout buffer of u32 with a log for prints and one for failed asserts. Each
 * log is a head, which the host fills in, and records at the place that the head names. Invocations
 * append records in any order; each record starts with a key that says where it belongs:
 *
 *     steps and iterations of the repeats around the phase, outermost first, then the phase's step;
 *     gid.z, gid.y, gid.x; the number of messages of the invocation in the phase before this one
 *
 * Keys are words to be compared from the first to the last. A log counts all messages, and keeps
 * those up to a limit, a key in its head, as far as there is room for them. */
#ifndef VYRE_PASS_MESSAGE_H
#define VYRE_PASS_MESSAGE_H

#include <vyre/program.h>

/* The words of a log's head. */
enum {
    VYRE_LOG_TOTAL, /* messages, low half */
    VYRE_LOG_TOTAL_HIGH,
    VYRE_LOG_COUNT,    /* within the limit; beyond the capacity, at least one more than it */
    VYRE_LOG_CAPACITY, /* records */
    VYRE_LOG_FIRST,    /* word of the buffer at which they start */
    VYRE_LOG_LIMIT,    /* the last key to be kept */
    VYRE_LOG_WORDS = 32,
    VYRE_LOGS = 2
};

/* A record: its key, the instruction of the original program, then the bits of the values. Those of
 * 64 bits take two words, low half first. */
typedef struct vyre_record_layout {
    uint32_t key_words;
    uint32_t words; /* of a record */
} vyre_record_layout;

vyre_record_layout vyre_messages_layout(const vyre_ir *ir);

/* The program without messages; NULL if it has none. */
VYRE_MUST_USE vyre_status vyre_messages_drop(const vyre_program *program,
                                             vyre_program **out_program);

/* The program that records messages of these kinds (VYRE_MESSAGES_ bits), and leaves out the
 * others. */
VYRE_MUST_USE vyre_status vyre_messages_record(const vyre_program *program, uint32_t kinds,
                                               vyre_program **out_program);

#endif
