/* The file of an entry of the store. Numbers are little-endian:
 *
 *     magic             8 bytes
 *     format version    u32
 *     size of name      u32
 *     size of key       u64
 *     size of payload   u64
 *     name, key, payload
 *     checksum          u64, XXH3 of everything before
 *
 * The key is the semantics as u32, then its parts in the order of vyre_store_key, each behind its
 * size as u64. The file's name is the 128-bit hash of the key in hexadecimal digits. */
#ifndef VYRE_STORE_ENTRY_H
#define VYRE_STORE_ENTRY_H

#include "store/store.h"

enum { VYRE_STORE_NAME_SIZE = 32 };

/* Points into the bytes it was read from. */
typedef struct vyre_store_entry {
    vyre_str name, key, payload;
} vyre_store_entry;

typedef enum vyre_store_verdict {
    VYRE_STORE_VALID,
    VYRE_STORE_FOREIGN, /* of another format version */
    VYRE_STORE_DAMAGED,
} vyre_store_verdict;

void vyre_store_key_encode(const vyre_store_key *key, vyre_strbuf *out);

/* The parts, all but the name; false if the bytes are no key. */
bool vyre_store_key_decode(vyre_str bytes, vyre_store_key *out_key);

/* `key` is what vyre_store_key_encode wrote. */
void vyre_store_file_name(vyre_str key, char out_name[VYRE_STORE_NAME_SIZE + 1]);

/* How large the file of an entry is; UINT64_MAX if that is not a number. */
uint64_t vyre_store_entry_bytes(const vyre_store_entry *entry);
void vyre_store_entry_encode(const vyre_store_entry *entry, vyre_strbuf *out);
vyre_store_verdict vyre_store_entry_decode(vyre_str file, vyre_store_entry *out_entry);

#endif
