#include "store/entry.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static const char magic[8] = "vyre\r\n\x1a"; /* and a NUL: what text tools change, they damage */

enum {
    FORMAT_VERSION = 3,
    AT_VERSION = 8,
    AT_NAME_SIZE = 12,
    AT_KEY_SIZE = 16,
    AT_PAYLOAD_SIZE = 24,
    HEADER_SIZE = 32,
    CHECKSUM_SIZE = 8,
    SEMANTICS_SIZE = 4,
    KEY_PARTS = 6,
};

static void write_number(char *out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (char)(unsigned char)(number >> 8 * i);
    }
}

static void put_number(vyre_strbuf *out, uint64_t number, size_t bytes) {
    char written[8];
    write_number(written, number, bytes);
    vyre_strbuf_add(out, written, bytes);
}

static uint64_t get_number(const char *data, size_t bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++) {
        number |= (uint64_t)(unsigned char)data[i] << 8 * i;
    }
    return number;
}

/* The strings of a key in the order of the file; the digest stands in between as its bytes. */
static void list_parts(vyre_store_key *key, vyre_str *digest, vyre_str *parts[KEY_PARTS]) {
    vyre_str *const list[KEY_PARTS] = {&key->backend, &key->backend_version,
                                       &key->device,  &key->driver_version,
                                       digest,        &key->program};
    memcpy(parts, list, sizeof list);
}

void vyre_store_key_encode(const vyre_store_key *key, vyre_strbuf *out) {
    vyre_store_key copy = *key;
    char digest[16];
    vyre_str digest_bytes = {digest, sizeof digest}, *parts[KEY_PARTS];
    write_number(digest, key->digest.low, 8);
    write_number(digest + 8, key->digest.high, 8);
    list_parts(&copy, &digest_bytes, parts);
    put_number(out, key->semantics, SEMANTICS_SIZE);
    for (size_t i = 0; i < KEY_PARTS; i++) {
        put_number(out, parts[i]->size, 8);
        vyre_strbuf_add(out, parts[i]->data, parts[i]->size);
    }
}

bool vyre_store_key_decode(vyre_str bytes, vyre_store_key *out_key) {
    vyre_str digest = {0}, *parts[KEY_PARTS];
    *out_key = (vyre_store_key){0};
    if (bytes.size < SEMANTICS_SIZE) {
        return false;
    }
    out_key->semantics = (uint32_t)get_number(bytes.data, SEMANTICS_SIZE);
    bytes = (vyre_str){bytes.data + SEMANTICS_SIZE, bytes.size - SEMANTICS_SIZE};
    list_parts(out_key, &digest, parts);
    for (size_t i = 0; i < KEY_PARTS; i++) {
        if (bytes.size < 8 || get_number(bytes.data, 8) > bytes.size - 8) {
            return false;
        }
        *parts[i] = (vyre_str){bytes.data + 8, (size_t)get_number(bytes.data, 8)};
        bytes.data += 8 + parts[i]->size;
        bytes.size -= 8 + parts[i]->size;
    }
    if (bytes.size || digest.size != 16) {
        return false;
    }
    out_key->digest = (vyre_digest){get_number(digest.data, 8), get_number(digest.data + 8, 8)};
    return true;
}

void vyre_store_file_name(vyre_str key, char out_name[VYRE_STORE_NAME_SIZE + 1]) {
    vyre_hash128 hash = vyre_hash_128(key.data, key.size);
    snprintf(out_name, VYRE_STORE_NAME_SIZE + 1, "%016llx%016llx", (unsigned long long)hash.high,
             (unsigned long long)hash.low);
}

uint64_t vyre_store_entry_bytes(const vyre_store_entry *entry) {
    uint64_t sum = HEADER_SIZE + CHECKSUM_SIZE;
    const size_t sizes[] = {entry->name.size, entry->key.size, entry->payload.size};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] > UINT64_MAX - sum) {
            return UINT64_MAX;
        }
        sum += sizes[i];
    }
    return entry->name.size > UINT32_MAX ? UINT64_MAX : sum;
}

void vyre_store_entry_encode(const vyre_store_entry *entry, vyre_strbuf *out) {
    vyre_strbuf_add(out, magic, sizeof magic);
    put_number(out, FORMAT_VERSION, 4);
    put_number(out, entry->name.size, 4);
    put_number(out, entry->key.size, 8);
    put_number(out, entry->payload.size, 8);
    vyre_strbuf_add(out, entry->name.data, entry->name.size);
    vyre_strbuf_add(out, entry->key.data, entry->key.size);
    vyre_strbuf_add(out, entry->payload.data, entry->payload.size);
    put_number(out, vyre_hash(out->data, out->size), CHECKSUM_SIZE);
}

vyre_store_verdict vyre_store_entry_decode(vyre_str file, vyre_store_entry *out_entry) {
    *out_entry = (vyre_store_entry){0};
    if (file.size < HEADER_SIZE + CHECKSUM_SIZE || memcmp(file.data, magic, sizeof magic) != 0) {
        return VYRE_STORE_DAMAGED;
    }
    if (get_number(file.data + AT_VERSION, 4) != FORMAT_VERSION) {
        return VYRE_STORE_FOREIGN;
    }
    size_t left = file.size - CHECKSUM_SIZE;
    uint64_t checksum = get_number(file.data + left, CHECKSUM_SIZE);
    if (checksum != vyre_hash(file.data, left)) {
        return VYRE_STORE_DAMAGED;
    }
    const char *next = file.data + HEADER_SIZE;
    left -= HEADER_SIZE;
    const uint64_t sizes[] = {get_number(file.data + AT_NAME_SIZE, 4),
                              get_number(file.data + AT_KEY_SIZE, 8),
                              get_number(file.data + AT_PAYLOAD_SIZE, 8)};
    vyre_str *const parts[] = {&out_entry->name, &out_entry->key, &out_entry->payload};
    for (size_t i = 0; i < 3; i++) {
        if (sizes[i] > left) {
            return VYRE_STORE_DAMAGED;
        }
        *parts[i] = (vyre_str){next, (size_t)sizes[i]};
        next += sizes[i];
        left -= (size_t)sizes[i];
    }
    return left ? VYRE_STORE_DAMAGED : VYRE_STORE_VALID;
}
