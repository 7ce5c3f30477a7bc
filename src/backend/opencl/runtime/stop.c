#include "backend/opencl/runtime/stop.h"

#include "base/alloc.h"
#include "base/status.h"

static void free_stop(opencl_device *device, opencl_stop *stop) {
    opencl_memory_free(device, stop->memory);
    vyre_free(stop->word);
    vyre_free(stop);
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
    if (!status && !stop->word) {
        status = opencl_memory_zero(device, stop->memory, 0, 16);
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
    static const cl_uint one = 1;
    stop->is_set = true;
    if (stop->word) {
        atomic_store(stop->word, 1);
        return VYRE_OK;
    }
    cl_int result = device->cl->clEnqueueWriteBuffer(device->control, stop->memory, CL_TRUE, 0,
                                                     sizeof one, &one, 0, NULL, NULL);
    return opencl_check(device, result, "stopping a run");
}

void opencl_stops_free(opencl_device *device) {
    while (device->stops) {
        opencl_stop *next = device->stops->next;
        free_stop(device, device->stops);
        device->stops = next;
    }
}
