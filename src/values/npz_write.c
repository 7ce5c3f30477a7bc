#include <string.h>

#include "values/deflate.h"
#include "values/npz.h"

enum { VERSION = 20, MIDNIGHT = 0, FIRST_DAY = 0x21 /* 1980-01-01 */, MEMBERS_MOST = 65535 };
#define BYTES_MOST UINT64_C(0xffffffff)

static void put(vyre_strbuf *out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        vyre_strbuf_putc(out, (char)(number >> 8 * i));
    }
}

/* What a member has in front of it, and again in the directory. */
static void put_facts(vyre_strbuf *out, uint32_t sum, size_t size, size_t name_size) {
    put(out, VERSION, 2);
    put(out, 0, 2); /* no flags */
    put(out, 0, 2); /* stored */
    put(out, MIDNIGHT, 2);
    put(out, FIRST_DAY, 2);
    put(out, sum, 4);
    put(out, size, 4);
    put(out, size, 4);
    put(out, name_size, 2);
    put(out, 0, 2); /* no extra field */
}

static void put_name(vyre_strbuf *out, vyre_str name) {
    vyre_strbuf_add(out, name.data, name.size);
    vyre_strbuf_puts(out, ".npy");
}

bool values_npz_add(values_npz *archive, vyre_str name, const char *data, size_t size) {
    const uint64_t around = 1024; /* more than headers and the end take, but for the name */
    vyre_strbuf *bytes = &archive->bytes, *directory = &archive->directory;
    uint64_t start = bytes->size, name_size = name.size + strlen(".npy");
    if (archive->count == MEMBERS_MOST || name_size > UINT16_MAX ||
        start + directory->size + size + 2 * name_size + around > BYTES_MOST) {
        return false;
    }
    uint32_t sum = values_crc32(0, data, size);
    vyre_strbuf_puts(bytes, "PK\x03\x04");
    put_facts(bytes, sum, size, name_size);
    put_name(bytes, name);
    vyre_strbuf_add(bytes, data, size);
    vyre_strbuf_puts(directory, "PK\x01\x02");
    put(directory, VERSION, 2);
    put_facts(directory, sum, size, name_size);
    put(directory, 0, 2); /* no comment */
    put(directory, 0, 2); /* on the first disk */
    put(directory, 0, 2);
    put(directory, 0, 4); /* no attributes */
    put(directory, start, 4);
    put_name(directory, name);
    archive->count++;
    return true;
}

void values_npz_end(values_npz *archive) {
    vyre_strbuf *bytes = &archive->bytes, *directory = &archive->directory;
    size_t start = bytes->size;
    vyre_strbuf_add(bytes, vyre_strbuf_string(directory), directory->size);
    vyre_strbuf_puts(bytes, "PK\x05\x06");
    put(bytes, 0, 4); /* on the first disk */
    put(bytes, archive->count, 2);
    put(bytes, archive->count, 2);
    put(bytes, directory->size, 4);
    put(bytes, start, 4);
    put(bytes, 0, 2); /* no comment */
    bytes->failed |= directory->failed;
}

void values_npz_free(values_npz *archive) {
    vyre_strbuf_free(&archive->bytes);
    vyre_strbuf_free(&archive->directory);
}
