#include "values/npz.h"

#include <inttypes.h>
#include <string.h>

#include <vyre/reference.h>

#include "base/status.h"
#include "values/deflate.h"

enum {
    END_BYTES = 22,     /* of the record that ends an archive, before its comment */
    END64_BYTES = 56,   /* of the one of an archive of more than 4 GiB or 65535 members */
    LOCATOR_BYTES = 20, /* of what says where that is */
    ENTRY_BYTES = 46,   /* of a member in the directory, before its name */
    LOCAL_BYTES = 30,   /* of what stands in front of a member, before its name */
    COMMENT_MOST = 65535,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    FLAG_ENCRYPTED = 1,
    EXTRA_SIZES = 1 /* the field of sizes that need 64 bits */
};

typedef struct archive {
    const char *name, *data;
    size_t size;
    uint64_t directory, directory_size, count;
} archive;

typedef struct entry {
    vyre_str name;
    uint32_t flags, method, sum;
    uint64_t packed, size, place;
} entry;

static vyre_status damaged(const archive *a, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED, "write it again with numpy.savez",
                            "cannot read %s as a .npz file: %s", a->name, what);
}

static uint64_t get(const char *data, size_t bytes) {
    uint64_t number = 0;
    while (bytes-- > 0) {
        number = number << 8 | (uint8_t)data[bytes];
    }
    return number;
}

/* Whether `size` bytes from `place` on are all in the archive. */
static bool holds(const archive *a, uint64_t place, uint64_t size) {
    return place <= a->size && size <= a->size - place;
}

/* Archives with more than 65535 members or 4 GiB say where a larger record is. */
static vyre_status find_directory_64(archive *a, size_t end) {
    if (end < LOCATOR_BYTES || memcmp(a->data + end - LOCATOR_BYTES, "PK\x06\x07", 4) != 0) {
        return VYRE_OK;
    }
    uint64_t place = get(a->data + end - LOCATOR_BYTES + 8, 8);
    if (!holds(a, place, END64_BYTES) || memcmp(a->data + place, "PK\x06\x06", 4) != 0) {
        return damaged(a, "its directory is not where the end of the file says");
    }
    a->count = get(a->data + place + 32, 8);
    a->directory_size = get(a->data + place + 40, 8);
    a->directory = get(a->data + place + 48, 8);
    return VYRE_OK;
}

/* The end of an archive is a record with a comment behind it, mostly an empty one. */
static vyre_status find_directory(archive *a) {
    size_t least = a->size > END_BYTES + COMMENT_MOST ? a->size - END_BYTES - COMMENT_MOST : 0;
    for (size_t at = a->size < END_BYTES ? 0 : a->size - END_BYTES + 1; at-- > least;) {
        const char *end = a->data + at;
        if (!memcmp(end, "PK\x05\x06", 4) && at + END_BYTES + get(end + 20, 2) == a->size) {
            a->count = get(end + 10, 2);
            a->directory_size = get(end + 12, 4);
            a->directory = get(end + 16, 4);
            VYRE_TRY(find_directory_64(a, at));
            return holds(a, a->directory, a->directory_size)
                       ? VYRE_OK
                       : damaged(a, "its directory lies beyond its end");
        }
    }
    return damaged(a, "it is not a ZIP archive, or ends too early");
}

/* Sizes that 32 bits cannot hold are all ones, and stand in a field of their own, in this order. */
static bool read_large_sizes(entry *e, const char *extra, size_t size) {
    uint64_t *numbers[] = {&e->size, &e->packed, &e->place};
    while (size >= 4) {
        size_t id = (size_t)get(extra, 2), length = (size_t)get(extra + 2, 2);
        if (length > size - 4) {
            return false;
        }
        const char *at = extra + 4, *end = at + length;
        for (size_t i = 0; id == EXTRA_SIZES && i < 3; i++) {
            if (*numbers[i] == UINT32_MAX && end - at >= 8) {
                *numbers[i] = get(at, 8);
                at += 8;
            }
        }
        extra = end;
        size -= 4 + length;
    }
    return true;
}

/* The member at a place of the directory; moves the place behind it. */
static vyre_status read_entry(const archive *a, uint64_t *place, entry *e) {
    uint64_t end = a->directory + a->directory_size;
    const char *at = a->data + *place;
    if (end - *place < ENTRY_BYTES || memcmp(at, "PK\x01\x02", 4) != 0) {
        return damaged(a, "its directory is damaged");
    }
    size_t name = (size_t)get(at + 28, 2), extra = (size_t)get(at + 30, 2);
    size_t all = ENTRY_BYTES + name + extra + (size_t)get(at + 32, 2);
    if (end - *place < all) {
        return damaged(a, "its directory is damaged");
    }
    *e = (entry){.name = {at + ENTRY_BYTES, name},
                 .flags = (uint32_t)get(at + 8, 2),
                 .method = (uint32_t)get(at + 10, 2),
                 .sum = (uint32_t)get(at + 16, 4),
                 .packed = get(at + 20, 4),
                 .size = get(at + 24, 4),
                 .place = get(at + 42, 4)};
    *place += all;
    return read_large_sizes(e, at + ENTRY_BYTES + name, extra)
               ? VYRE_OK
               : damaged(a, "its directory is damaged");
}

/* The name without .npy, as numpy.load shows it. */
static vyre_str short_name(vyre_str name) {
    const char end[] = ".npy";
    size_t size = sizeof end - 1;
    bool has_end = name.size > size && !memcmp(name.data + name.size - size, end, size);
    return (vyre_str){name.data, has_end ? name.size - size : name.size};
}

static bool is_member(const entry *e, const char *name) {
    return vyre_str_is(e->name, name) || vyre_str_is(short_name(e->name), name);
}

static vyre_status no_member(const archive *a, const char *member, const char *argument,
                             const vyre_strbuf *list) {
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix,
                       list->size ? "name one of its members, as in %s=@%s:NAME: %s"
                                  : "write it again with numpy.savez",
                       argument, a->name, vyre_strbuf_string(list));
    vyre_status status =
        member ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                  "%s has no member `%s`", a->name, member)
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                  "%s has %" PRIu64 " members, and none is named `%s`", a->name,
                                  a->count, argument);
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status find_member(const archive *a, const char *member, const char *argument,
                               entry *out) {
    enum { LISTED = 20 };
    const char *wanted = member ? member : argument;
    uint64_t place = a->directory;
    bool found = false;
    vyre_strbuf list = {0};
    vyre_status status = VYRE_OK;
    for (uint64_t i = 0; i < a->count && !status && !found; i++) {
        status = read_entry(a, &place, out);
        found = !status && (is_member(out, wanted) || (!member && a->count == 1));
        if (!status && !found && i < LISTED) {
            vyre_str name = short_name(out->name);
            vyre_strbuf_printf(&list, "%s%.*s", i ? ", " : "", (int)name.size, name.data);
            vyre_strbuf_puts(&list, i + 1 == LISTED && i + 1 < a->count ? " and more" : "");
        }
    }
    if (!status && !found) {
        status = no_member(a, member, argument, &list);
    }
    vyre_strbuf_free(&list);
    return status;
}

/* Where the bytes of a member are: behind a header, whose name and extra field may be others. */
static vyre_status find_bytes(const archive *a, const entry *e, const char **out) {
    if (!holds(a, e->place, LOCAL_BYTES) || memcmp(a->data + e->place, "PK\x03\x04", 4) != 0) {
        return damaged(a, "a member is not where its directory says");
    }
    const char *local = a->data + e->place;
    uint64_t start = e->place + LOCAL_BYTES + get(local + 26, 2) + get(local + 28, 2);
    if (!holds(a, start, e->packed)) {
        return damaged(a, "a member lies beyond its end");
    }
    *out = a->data + start;
    return VYRE_OK;
}

static vyre_status check_entry(const archive *a, const entry *e) {
    const uint64_t header_room = 1 << 20;
    bool is_stored = e->method == METHOD_STORED;
    if ((!is_stored && e->method != METHOD_DEFLATED) || (e->flags & FLAG_ENCRYPTED)) {
        return vyre_status_make(
            VYRE_STATUS_MALFORMED, "write it again with numpy.savez or numpy.savez_compressed",
            "%s: member `%.*s` is %s, which vyre does not read", a->name, (int)e->name.size,
            e->name.data,
            e->flags & FLAG_ENCRYPTED ? "encrypted" : "compressed by another method than deflate");
    }
    if (is_stored ? e->packed != e->size : !values_inflate_can_give(e->packed, e->size)) {
        return damaged(a, "a member states a size that its data cannot have");
    }
    return e->size <= VYRE_REFERENCE_MEMORY_BYTES + header_room
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_LIMIT, "use a smaller array",
                                  "%s: member `%.*s` has %" PRIu64
                                  " bytes, more than the %llu bytes that a run may use",
                                  a->name, (int)e->name.size, e->name.data, e->size,
                                  (unsigned long long)VYRE_REFERENCE_MEMORY_BYTES);
}

static vyre_status unpack(const archive *a, const entry *e, vyre_strbuf *out) {
    const char *data = NULL;
    VYRE_TRY(check_entry(a, e));
    VYRE_TRY(find_bytes(a, e, &data));
    if (e->method == METHOD_STORED) {
        vyre_strbuf_add(out, data, (size_t)e->size);
    } else {
        vyre_strbuf_repeat(out, 0, (size_t)e->size);
    }
    if (out->failed) {
        return vyre_no_memory("for a member of %s", a->name);
    }
    if (e->method == METHOD_DEFLATED) {
        VYRE_TRY(values_inflate(VALUES_WRAPPER_NONE, a->name, data, (size_t)e->packed, out->data,
                                (size_t)e->size));
    }
    return values_crc32(0, out->data, out->size) == e->sum ? VYRE_OK
                                                           : damaged(a, "a checksum is wrong");
}

vyre_status values_npz_take(vyre_strbuf *bytes, const char *name, const char *member,
                            const char *argument) {
    archive a = {.name = name, .data = bytes->data, .size = bytes->size};
    entry found = {0};
    vyre_strbuf out = {0};
    VYRE_TRY(find_directory(&a));
    VYRE_TRY(find_member(&a, member, argument, &found));
    vyre_status status = unpack(&a, &found, &out);
    if (status) {
        vyre_strbuf_free(&out);
        return status;
    }
    vyre_strbuf_free(bytes);
    *bytes = out;
    return VYRE_OK;
}
