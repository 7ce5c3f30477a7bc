#include "base/utf8.h"

#include <string.h>

static bool continues(unsigned char c) {
    return (c & 0xc0) == 0x80;
}

size_t vyre_utf8_size(const char *data, size_t size) {
    const unsigned char *c = (const unsigned char *)data;
    if (size == 0) {
        return 0;
    }
    if (c[0] < 0x80) {
        return 1;
    }
    if (c[0] < 0xc2) {
        return 0; /* a continuation, or the start of an overlong form */
    }
    if (c[0] < 0xe0) {
        return size >= 2 && continues(c[1]) ? 2 : 0;
    }
    if (c[0] < 0xf0) {
        unsigned low = c[0] == 0xe0 ? 0xa0 : 0x80;  /* shorter forms exist below */
        unsigned high = c[0] == 0xed ? 0x9f : 0xbf; /* surrogates above */
        return size >= 3 && c[1] >= low && c[1] <= high && continues(c[2]) ? 3 : 0;
    }
    if (c[0] < 0xf5) {
        unsigned low = c[0] == 0xf0 ? 0x90 : 0x80;
        unsigned high = c[0] == 0xf4 ? 0x8f : 0xbf; /* U+10FFFF */
        return size >= 4 && c[1] >= low && c[1] <= high && continues(c[2]) && continues(c[3]) ? 4
                                                                                              : 0;
    }
    return 0;
}

size_t vyre_utf8_check(const char *data, size_t size) {
    size_t at = 0;
    while (at < size) {
        uint64_t eight;
        if (size - at >= sizeof eight) {
            memcpy(&eight, data + at, sizeof eight);
            if (!(eight & 0x8080808080808080u)) {
                at += sizeof eight;
                continue;
            }
        }
        size_t bytes = vyre_utf8_size(data + at, size - at);
        if (bytes == 0) {
            return at;
        }
        at += bytes;
    }
    return size;
}

uint32_t vyre_utf8_read(const char *data) {
    const unsigned char *c = (const unsigned char *)data;
    if (c[0] < 0x80) {
        return c[0];
    }
    if (c[0] < 0xe0) {
        return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    }
    if (c[0] < 0xf0) {
        return (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    }
    return (c[0] & 7u) << 18 | (c[1] & 0x3fu) << 12 | (c[2] & 0x3fu) << 6 | (c[3] & 0x3fu);
}

size_t vyre_utf8_write(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000)) {
        return 0;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}
