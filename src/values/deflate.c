#include "values/deflate.h"

#include <limits.h>

#include <zlib.h>

#include "base/alloc.h"
#include "base/status.h"

enum {
    MOST_RATIO = 1032, /* of deflate: 258 bytes for 2 bits */
    WINDOW_BITS = 15,
    MEMORY_LEVEL = 8,
    CHUNK = 1 << 16
};

static voidpf allocate(voidpf opaque, uInt count, uInt size) {
    (void)opaque;
    return vyre_alloc_array(count, size);
}

static void release(voidpf opaque, voidpf memory) {
    (void)opaque;
    vyre_free(memory);
}

static int window_of(values_wrapper wrapper) {
    return wrapper == VALUES_WRAPPER_ZLIB ? WINDOW_BITS : -WINDOW_BITS;
}

/* zlib counts in 32 bits. */
static uInt part_of(size_t rest) {
    return rest < UINT_MAX ? (uInt)rest : UINT_MAX;
}

bool values_inflate_can_give(uint64_t compressed, uint64_t size) {
    return size / MOST_RATIO <= compressed;
}

static vyre_status damaged(const char *name, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED, "write it again, or copy it again",
                            "cannot read %s: its compressed data %s", name, what);
}

vyre_status values_inflate(values_wrapper wrapper, const char *name, const char *data,
                           size_t data_size, char *out, size_t size) {
    z_stream stream = {.zalloc = allocate, .zfree = release};
    size_t in_rest = data_size, out_rest = size;
    char beyond; /* a byte more than there should be goes here */
    if (inflateInit2(&stream, window_of(wrapper)) != Z_OK) {
        return vyre_no_memory("to decompress %s", name);
    }
    int code = Z_OK;
    while (code == Z_OK) {
        uInt in_part = part_of(in_rest), out_part = out_rest ? part_of(out_rest) : 1;
        stream.next_in = (Bytef *)(data + (data_size - in_rest));
        stream.avail_in = in_part;
        stream.next_out = (Bytef *)(out_rest ? out + (size - out_rest) : &beyond);
        stream.avail_out = out_part;
        code = inflate(&stream, Z_NO_FLUSH);
        in_rest -= in_part - stream.avail_in;
        if (!out_rest && !stream.avail_out) {
            code = Z_BUF_ERROR;
            out_rest = SIZE_MAX;
            break;
        }
        out_rest -= out_rest ? out_part - stream.avail_out : 0;
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END && !out_rest ? VYRE_OK
           : code == Z_MEM_ERROR             ? vyre_no_memory("to decompress %s", name)
           : out_rest == SIZE_MAX            ? damaged(name, "is longer than its header states")
           : code == Z_STREAM_END            ? damaged(name, "is shorter than its header states")
           : code == Z_BUF_ERROR             ? damaged(name, "ends too early")
                                             : damaged(name, "is damaged");
}

void values_deflate(values_wrapper wrapper, const char *data, size_t size, vyre_strbuf *out) {
    z_stream stream = {.zalloc = allocate, .zfree = release};
    size_t rest = size;
    Bytef *chunk = vyre_alloc(CHUNK);
    if (!chunk || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_of(wrapper),
                               MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        vyre_free(chunk);
        out->failed = true;
        return;
    }
    int code = Z_OK;
    while (code == Z_OK && !out->failed) {
        uInt part = part_of(rest);
        stream.next_in = (Bytef *)(data + (size - rest));
        stream.avail_in = part;
        stream.next_out = chunk;
        stream.avail_out = CHUNK;
        code = deflate(&stream, part == rest ? Z_FINISH : Z_NO_FLUSH);
        rest -= part - stream.avail_in;
        vyre_strbuf_add(out, (const char *)chunk, CHUNK - stream.avail_out);
    }
    out->failed |= code != Z_STREAM_END;
    deflateEnd(&stream);
    vyre_free(chunk);
}

uint32_t values_crc32(uint32_t sum, const char *data, size_t size) {
    return (uint32_t)crc32_z(sum, (const Bytef *)data, size);
}
