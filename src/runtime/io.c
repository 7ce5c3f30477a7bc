/* Ranges of files and the buffers of a device. */
#include <vyre/io.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

/* The host's side, which lies to blocks of the file as the device's would: nothing is copied. */
#define BLOCK ((size_t)4096)

static uint8_t *take(size_t size, uint64_t offset, uint8_t **out_memory) {
    *out_memory = size <= SIZE_MAX - 2 * BLOCK ? vyre_alloc(size + 2 * BLOCK) : NULL;
    if (!*out_memory) {
        return NULL;
    }
    uint8_t *block = *out_memory + (BLOCK - (uintptr_t)*out_memory % BLOCK) % BLOCK;
    return block + offset % BLOCK;
}

vyre_status vyre_io_read_resident(vyre_device *device, vyre_resident resident, size_t size,
                                  const char *path, uint64_t offset, vyre_io_report *out_report) {
    uint8_t *memory, *data = take(size, offset, &memory);
    uint64_t start = vyre_now_ns();
    vyre_io_report report = {.way = VYRE_IO_PLAIN, .why = ""};
    vyre_status status = data ? vyre_io_read(data, size, path, offset, &report)
                              : vyre_no_memory("for %zu bytes of %s", size, path ? path : "a file");
    if (!status) {
        status = vyre_resident_upload(device, resident, data, size);
    }
    vyre_free(memory);
    report.time_ns = vyre_now_ns() - start;
    if (out_report) {
        *out_report = report;
    }
    return status;
}

vyre_status vyre_io_write_resident(vyre_device *device, vyre_resident resident,
                                   size_t resident_offset, size_t size, const char *path,
                                   uint64_t offset, vyre_io_report *out_report) {
    uint8_t *memory, *data = take(size, offset, &memory);
    uint64_t start = vyre_now_ns();
    vyre_io_report report = {.way = VYRE_IO_PLAIN, .why = ""};
    vyre_status status = data ? vyre_resident_read(device, resident, resident_offset, data, size)
                              : vyre_no_memory("for %zu bytes of %s", size, path ? path : "a file");
    if (!status) {
        status = vyre_io_write(data, size, path, offset, &report);
    }
    vyre_free(memory);
    report.time_ns = vyre_now_ns() - start;
    if (out_report) {
        *out_report = report;
    }
    return status;
}
