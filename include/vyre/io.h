/* IO: a range of a file's bytes into memory or a buffer of a device, and back.
 *
 *     vyre_io_report report;
 *     status = vyre_io_read_resident(device, buffer, size, "weights.bin", offset, &report);
 *
 * The bytes go past the cache of the operating system where the file system allows it, several
 * pieces at a time; else as any read or write does. Which way it was is told. These are the
 * operations io.dma_from_nvme and io.write_back_to_nvme of the registry: the host does them, and no
 * program, text or wire form, can ask for them. */
#ifndef VYRE_IO_H
#define VYRE_IO_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text) */
#define VYRE_IO_WAYS(X)                                                                            \
    X(DIRECT,                                                                                      \
      "direct")       /* past the cache, but for parts of blocks at the ends of what is written */ \
    X(PLAIN, "plain") /* through it */

typedef enum vyre_io_way {
#define VYRE_IO_WAY_ENUM(name, text) VYRE_IO_##name,
    VYRE_IO_WAYS(VYRE_IO_WAY_ENUM)
#undef VYRE_IO_WAY_ENUM
} vyre_io_way;

typedef struct vyre_io_report {
    vyre_io_way way;
    const char *why; /* it is not direct, for people; "" if it is; static */
    uint64_t bytes;
    uint64_t time_ns;
} vyre_io_report;

VYRE_API const char *vyre_io_way_name(vyre_io_way way);

/* All `size` bytes from `offset` on must be there. `path` is a file or a block device. The report
 * may be NULL. After an error the memory's contents are not defined. */
VYRE_API VYRE_MUST_USE vyre_status vyre_io_read(void *data, size_t size, const char *path,
                                                uint64_t offset, vyre_io_report *out_report);
/* Makes the file where there is none, and longer where it must; the rest of it stays. On return the
 * bytes are on the disk. */
VYRE_API VYRE_MUST_USE vyre_status vyre_io_write(const void *data, size_t size, const char *path,
                                                 uint64_t offset, vyre_io_report *out_report);

#ifdef __cplusplus
}
#endif

#endif
