#include "dialect/registry.h"

#include <pthread.h>

#include "base/status.h"
#include "dialect/folder.h"
#include "dialect/guard.h"
#include "dialect/library.h"

vyre_status vyre_streams_add(vyre_streams *streams, const vyre_operation *operation) {
    return vyre_vec_push(&streams->operations, operation)
               ? VYRE_OK
               : vyre_dialects_no_room(streams->operations.count + 1, "operation definition");
}

vyre_status vyre_streams_own(vyre_streams *streams, void (*release)(void *context), void *context) {
    if (vyre_vec_push(&streams->batches, (vyre_batch){context, release})) {
        return VYRE_OK;
    }
    release(context);
    return vyre_dialects_no_room(streams->batches.count + 1, "operation batch");
}

void vyre_streams_free(vyre_streams *streams) {
    while (streams->batches.count) { /* the last may need those before it */
        const vyre_batch *batch = &streams->batches.items[--streams->batches.count];
        batch->release(batch->context);
    }
    vyre_vec_free(&streams->batches);
    vyre_vec_free(&streams->operations);
}

vyre_status vyre_streams_read_fixed(vyre_streams *streams) {
    VYRE_TRY(vyre_linked_io(streams));
    VYRE_TRY(vyre_linked_library(streams));
    return vyre_extern_read(streams);
}

vyre_status vyre_streams_make(const vyre_streams *streams, vyre_dialects **out_snapshot) {
    return vyre_dialects_make(streams->operations.items, streams->operations.count, out_snapshot);
}

vyre_status vyre_dialects_load(vyre_dialects **out_snapshot) {
    *out_snapshot = NULL;
    vyre_streams streams = {0};
    vyre_status status = vyre_streams_read_fixed(&streams);
    status = status ? status : vyre_folder_read(&streams);
    status = status ? status : vyre_streams_make(&streams, out_snapshot);
    vyre_streams_free(&streams);
    return status;
}

static struct {
    pthread_mutex_t lock; /* held by who loads */
    vyre_status failure;  /* why there is none; kept */
} first = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* This thread loads: what it calls must not wait for itself. */
static _Thread_local bool loading;

void vyre_dialects_forget_loading(void) {
    pthread_mutex_init(&first.lock, NULL);
    loading = false;
}

vyre_status vyre_dialects_prepare(void) {
    if (loading) {
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                "do not query the registry from code that defines its operations",
                                "this thread is still loading the registry of operations");
    }
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&first.lock);
    if (!vyre_guards_filled() && !first.failure) {
        vyre_dialects *snapshot = NULL;
        loading = true;
        status = vyre_dialects_load(&snapshot);
        loading = false;
        if (!status) {
            vyre_guards_first(snapshot);
        } else if (vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
            first.failure = status;
            status = VYRE_OK;
        }
    }
    if (!vyre_guards_filled() && first.failure) {
        status =
            vyre_status_make(vyre_status_code_of(first.failure), vyre_status_fix(first.failure),
                             "%s", vyre_status_message(first.failure));
    }
    pthread_mutex_unlock(&first.lock);
    return status;
}
