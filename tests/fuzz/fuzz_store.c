/* Arbitrary bytes as a file of the store. Magic, version and checksum are put right first, so that
 * what lies behind them is looked at. What decodes must encode to the same bytes again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { START_SIZE = 12, CHECKSUM_SIZE = 8 };

static void fix(char *bytes, size_t size) {
    vyre_strbuf empty = {0};
    vyre_store_entry_encode(&(vyre_store_entry){0}, &empty);
    memcpy(bytes, empty.data, START_SIZE);
    vyre_strbuf_free(&empty);
    uint64_t checksum = vyre_hash(bytes, size - CHECKSUM_SIZE);
    for (size_t i = 0; i < CHECKSUM_SIZE; i++) {
        bytes[size - CHECKSUM_SIZE + i] = (char)(checksum >> 8 * i);
    }
}

static void check_same(vyre_strbuf *again, const char *bytes, size_t size) {
    if (again->failed || again->size != size || memcmp(again->data, bytes, size) != 0) {
        abort(); /* a second form of the same */
    }
    vyre_strbuf_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = malloc(size ? size : 1); /* its own block: the end is guarded */
    if (!bytes) {
        return 0;
    }
    if (size) {
        memcpy(bytes, data, size);
    }
    if (size >= START_SIZE + CHECKSUM_SIZE) {
        fix(bytes, size);
    }
    vyre_store_entry entry;
    vyre_store_key key;
    if (vyre_store_entry_decode((vyre_str){bytes, size}, &entry) == VYRE_STORE_VALID) {
        vyre_strbuf again = {0};
        vyre_store_entry_encode(&entry, &again);
        if (vyre_store_entry_bytes(&entry) != size) {
            abort();
        }
        check_same(&again, bytes, size);
        if (vyre_store_key_decode(entry.key, &key)) {
            vyre_store_key_encode(&key, &again);
            check_same(&again, entry.key.data, entry.key.size);
        }
    }
    free(bytes);
    return 0;
}
