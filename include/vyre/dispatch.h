/* Dispatch: the outputs of a run. backend.h defines inputs and the options of a run.
 *
 * Inputs are the arguments in declaration order, without `out` buffers. Outputs are the `inout` and
 * `out` buffers in declaration order. A buffer is given as its elements, a scalar as its bytes, all
 * little-endian. */
#ifndef VYRE_DISPATCH_H
#define VYRE_DISPATCH_H

#include <vyre/backend.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_outputs {
    vyre_output *items;
    size_t count;
} vyre_outputs;

/* Messages of a kernel. `print` and `assert` change no results. Runs with data of the host show the
 * first messages, ordered by steps, iterations, invocations and statements, so the text is the same
 * on every device.
 *
 *     void show(void *user, const vyre_message *message) { puts(message->text); }
 *     ...
 *     vyre_prints prints = {.write = show};
 *     vyre_dispatch_config config = {.prints = &prints};
 *     status = vyre_device_dispatch(device, program, inputs, 1, &config, &outputs);
 *
 * Without `prints` the kernel is compiled without its prints. If an assert fails, the run goes on,
 * its outputs are discarded, and its status is VYRE_STATUS_ASSERTION, with the message of the first
 * failure. VYRE_DISPATCH_NO_ASSERTS compiles the kernel without its asserts.
 *
 * The host reads messages after the run, so an asynchronous run with messages ends before the call
 * returns. If a buffer cannot hold all messages, the host runs the program again to get the first
 * ones.
 *
 * The host cannot repeat a run on resident buffers. If an assert fails there, the contents of the
 * resident buffers that the run writes are unspecified. If more than 65536 fail, the status states
 * only their number. If there are more prints than 65536 and than four times the limit, none is
 * shown, and `left_out` counts all. vyre_pipeline_enqueue itself returns the status of a run that
 * has messages. */
typedef struct vyre_message {
    const char *text; /* ends with a NUL; valid during the call */
    size_t size;
    const char *file; /* of the statement; "" if unknown */
    uint32_t line;    /* 0 if unknown */
} vyre_message;

#define VYRE_PRINT_LIMIT 1000
#define VYRE_PRINT_LIMIT_MOST 1000000

typedef struct vyre_prints {
    /* Called after the run, once for each message, on the thread of the caller. */
    void (*write)(void *user, const vyre_message *message);
    void *user;
    uint64_t limit;    /* of messages; 0: VYRE_PRINT_LIMIT, at most VYRE_PRINT_LIMIT_MOST */
    uint64_t left_out; /* set by the run: messages beyond the limit */
} vyre_prints;

/* Frees the outputs of a run and sets the list to empty. */
VYRE_API void vyre_outputs_free(vyre_outputs *outputs);

#ifdef __cplusplus
}
#endif

#endif
