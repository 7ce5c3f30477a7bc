/* IO: reads and writes ranges of files, directly from and to the disk where possible.
 *
 *     vyre_io_report report;
 *     status = vyre_io_read(data, size, "weights.bin", offset, &report);
 *     status = vyre_resident_upload(device, buffer, data, size);
 *
 * Where the file system allows it, the bytes bypass the page cache (O_DIRECT) in several parallel
 * requests. Otherwise ordinary reads and writes move them. The report says which. These functions
 * implement the operations io.dma_from_nvme and io.write_back_to_nvme. Only the host can call them:
 * a program cannot. Any thread may make these calls. */
#ifndef VYRE_IO_H
#define VYRE_IO_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text) */
#define VYRE_IO_WAYS(X)                                                                            \
    X(DIRECT,                                                                                      \
      "direct") /* bypasses the page cache, except for partial blocks at the ends of a write */    \
    X(PLAIN, "plain") /* through the page cache */

typedef enum vyre_io_way {
#define VYRE_IO_WAY_ENUM(name, text) VYRE_IO_##name,
    VYRE_IO_WAYS(VYRE_IO_WAY_ENUM)
#undef VYRE_IO_WAY_ENUM
} vyre_io_way;

typedef struct vyre_io_report {
    vyre_io_way way;
    const char *why; /* why it is not direct, "" if it is; static */
    uint64_t bytes;
    uint64_t time_ns;
} vyre_io_report;

/* Returns "direct" or "plain". */
VYRE_API const char *vyre_io_way_name(vyre_io_way way);

/* Reads exactly `size` bytes. Fails if the file ends before them. `path` is a file or a block
 * device. `out_report` may be NULL. After an error the contents of `data` are undefined. */
VYRE_API VYRE_MUST_USE vyre_status vyre_io_read(void *data, size_t size, const char *path,
                                                uint64_t offset, vyre_io_report *out_report);
/* Writes `size` bytes. Creates the file or extends it if needed; other bytes of the file stay. On
 * return the bytes are on the disk. */
VYRE_API VYRE_MUST_USE vyre_status vyre_io_write(const void *data, size_t size, const char *path,
                                                 uint64_t offset, vyre_io_report *out_report);

#ifdef __cplusplus
}
#endif

#endif
