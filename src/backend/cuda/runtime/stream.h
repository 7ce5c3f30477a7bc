/* Streams: CUDA streams, each with what a run on it needs.
 *
 * A few streams are shared: runs on resident buffers that need no host are put there one behind the
 * other, under the stream's lock, and have tickets. Nothing marks the end of each: who asks for one
 * marks the end of what there is by then. Runs on different streams overlap; where they share a
 * buffer the later one's stream waits for the earlier one's.
 *
 * Other streams belong to one run at a time, which waits for its end before it gives it back. */
#ifndef VYRE_CUDA_RUNTIME_STREAM_H
#define VYRE_CUDA_RUNTIME_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/status.h>

#include "backend/cuda/runtime/memory.h"
#include "backend/cuda/runtime/staging.h"
#include "backend/cuda/runtime/table.h"

/* A ticket is a number that grows, times CUDA_STREAM_SLOTS, and the stream, or CUDA_BY_HOST for a
 * run of the queue that needs a host. */
enum { CUDA_SHARED_STREAMS = 4, CUDA_BY_HOST = CUDA_SHARED_STREAMS, CUDA_STREAM_SLOTS = 8 };
enum { CUDA_OWN_STREAMS = 16 };
enum { CUDA_WORDS_BYTES = 128, CUDA_STOP_AT = 16, CUDA_ELEMENT_AT = 64 }; /* of `words` */

static inline uint32_t cuda_ticket_stream(uint64_t ticket) {
    return (uint32_t)(ticket % CUDA_STREAM_SLOTS);
}

typedef struct cuda_stream {
    struct cuda_device *device;
    CUstream handle;
    atomic_uint *stop;   /* on the host, seen by the device */
    uint8_t *word;       /* the same: where an element of an array is copied to */
    CUdeviceptr stop_at; /* where the device sees `stop` */
    cuda_block *words;   /* on the device: what layouts call `stop`, and a place for an element */
    cuda_block *frame;   /* for what does not fit into parameters; NULL so far */
    cuda_block *scratch; /* given back while the stream may still use them: for later runs on it */

    pthread_mutex_t lock;               /* shared streams: held while work is put there */
    atomic_ullong submitted, completed; /* tickets */
    pthread_mutex_t marks;              /* of the two that follow */
    CUevent mark;
    uint64_t marked;  /* ticket up to which `mark` stands; 0: nowhere */
    CUevent order;    /* for streams that wait for this one */
    CUevent handover; /* orders this stream with a caller's; NULL until needed */

    CUevent begin, end;   /* own streams: times; NULL so far */
    cuda_staging staging; /* own streams */
    struct cuda_stream *next;
} cuda_stream;

typedef struct cuda_streams {
    cuda_stream shared[CUDA_SHARED_STREAMS];
    atomic_ullong last_number; /* of tickets */
    atomic_uint next_shared;
    /* Runs that a lost device took with it: tickets up to `lost_number`, as far as not completed.
     */
    uint64_t lost_ticket, completed[CUDA_SHARED_STREAMS];

    pthread_mutex_t lock;
    pthread_cond_t given_back;
    cuda_stream *free;
    uint32_t own_count;
} cuda_streams;

void cuda_streams_init(cuda_streams *streams);
void cuda_streams_deinit(cuda_streams *streams);
/* Makes the shared streams. On failure nothing is left. */
VYRE_MUST_USE vyre_status cuda_streams_open(struct cuda_device *device);
/* Frees all streams; none is in use. */
void cuda_streams_close(struct cuda_device *device);

/* A stream of one's own; waits where there are too many. */
VYRE_MUST_USE vyre_status cuda_stream_take(struct cuda_device *device, cuda_stream **out_stream);
/* The stream has nothing to do any more. NULL is allowed. */
void cuda_stream_give(cuda_stream *stream);

/* Memory for a run that is put there: of what earlier runs on this stream gave back, or new. */
VYRE_MUST_USE vyre_status cuda_stream_memory(cuda_stream *stream, uint64_t size,
                                             cuda_block **out_block);
/* Later work on this stream may have it. */
void cuda_stream_memory_back(cuda_stream *stream, cuda_block *block);

/* Why a run is to stop. */
enum { CUDA_STOP_TIMEOUT = 1, CUDA_STOP_CANCEL = 2 };

/* Waits for all that was put on a stream of one's own. `deadline_ns` 0 is none; `cancel`, if given,
 * is looked at. Past the deadline or after a cancellation kernels are told to end, and the reason
 * is given. */
VYRE_MUST_USE vyre_status cuda_stream_wait(cuda_stream *stream, uint64_t deadline_ns,
                                           const atomic_uint *cancel, unsigned *out_stop);
/* Waits for what is under way, unless the device is lost; `status`, or what went wrong there. */
VYRE_MUST_USE vyre_status cuda_stream_finish(cuda_stream *stream, vyre_status status);
/* After a stop, when nothing runs on it: the stream is as it was. */
VYRE_MUST_USE vyre_status cuda_stream_renew(cuda_stream *stream);

/* Shared streams. The next ticket, of work that is put there in the stream's lock. */
uint64_t cuda_stream_next_ticket(struct cuda_device *device, uint32_t stream);
void cuda_stream_submitted(cuda_stream *stream, uint64_t ticket);
/* Whether work is over; never blocks. */
bool cuda_stream_is_done(cuda_stream *stream, uint64_t ticket);
/* Waits for it. */
VYRE_MUST_USE vyre_status cuda_stream_settle(cuda_stream *stream, uint64_t ticket);
/* What is put on `stream` from now on comes after what `before` has now. */
VYRE_MUST_USE vyre_status cuda_stream_follow(cuda_stream *stream, cuda_stream *before);
/* The same for a stream of the caller. Follow: later work of `stream` comes after the work that the
 * caller's stream has now. Lead: later work of the caller's stream comes after the work that
 * `stream` has now. `stream` is locked, or not shared. */
VYRE_MUST_USE vyre_status cuda_stream_follow_caller(cuda_stream *stream, uint64_t caller);
VYRE_MUST_USE vyre_status cuda_stream_lead_caller(cuda_stream *stream, uint64_t caller);
/* Whether the work of a ticket was lost with the device it ran on. */
bool cuda_stream_was_lost(struct cuda_device *device, uint64_t ticket);

#endif
