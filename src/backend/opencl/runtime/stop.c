#include "backend/opencl/runtime/stop.h"

#include "base/alloc.h"
#include "base/status.h"

static void free_stop(opencl_device *device, opencl_stop *stop) {
    opencl_memory_free(device, stop->memory);
    vyre_free(stop->word);
    vyre_free(stop);
}

static vyre_status write_word(opencl_device *device, const opencl_stop *stop, cl_uint word) {
    cl_int result = device->cl->clEnqueueWriteBuffer(device->control, stop->memory, CL_TRUE, 0,
                                                     sizeof word, &word, 0, NULL, NULL);
    return opencl_check(device, result, "telling a run whether to stop");
}

static vyre_status make(opencl_device *device, opencl_stop **out_stop) {
    enum { LINE = 128 }; /* of a cache, so that nobody else's word is near */
    opencl_stop *stop = vyre_alloc_zeroed(1, sizeof *stop);
    *out_stop = NULL;
    if (!stop) {
        return vyre_no_memory("for a run with a timeout");
    }
    if (device->info.is_cpu) {
        stop->word = vyre_alloc_zeroed(1, LINE);
    }
    vyre_status status =
        device->info.is_cpu && !stop->word
            ? vyre_no_memory("for a run with a timeout")
            : opencl_memory_make(device, stop->word ? LINE : 4, stop->word, &stop->memory);
    if (!status && !stop->word) { /* at once: runs of others may be in the queue */
        status = write_word(device, stop, 0);
    }
    if (status) {
        free_stop(device, stop);
        return status;
    }
    *out_stop = stop;
    return VYRE_OK;
}

vyre_status opencl_stop_take(opencl_device *device, opencl_stop **out_stop) {
    pthread_mutex_lock(&device->lock);
    opencl_stop *stop = device->stops;
    device->stops = stop ? stop->next : NULL;
    pthread_mutex_unlock(&device->lock);
    *out_stop = stop;
    return stop ? VYRE_OK : make(device, out_stop);
}

void opencl_stop_give(opencl_device *device, opencl_stop *stop) {
    if (!stop) {
        return;
    }
    if (stop->is_set) {
        free_stop(device, stop);
        return;
    }
    pthread_mutex_lock(&device->lock);
    stop->next = device->stops;
    device->stops = stop;
    pthread_mutex_unlock(&device->lock);
}

vyre_status opencl_stop_set(opencl_device *device, opencl_stop *stop) {
    stop->is_set = true;
    if (stop->word) {
        atomic_store(stop->word, 1);
        return VYRE_OK;
    }
    return write_word(device, stop, 1);
}

void opencl_stops_free(opencl_device *device) {
    while (device->stops) {
        opencl_stop *next = device->stops->next;
        free_stop(device, device->stops);
        device->stops = next;
    }
}
