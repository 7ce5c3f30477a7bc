/* Reading PNG files: https://www.w3.org/TR/png-3/ */
#include <stdlib.h>
#include <string.h>

#include <vyre/reference.h>

#include "base/alloc.h"
#include "base/status.h"
#include "values/deflate.h"
#include "values/png.h"

enum { HEAD_BYTES = 13, PALETTE_MOST = 256, SIZE_MOST = INT32_MAX };
enum { KIND_GREY = 0, KIND_RGB = 2, KIND_PALETTE = 3, KIND_GREY_ALPHA = 4, KIND_RGBA = 6 };

typedef struct image {
    const char *name; /* of the file */
    uint64_t width, height;
    uint32_t depth, kind;             /* bits of a sample; what a pixel is */
    uint32_t channels;                /* samples of a pixel, in the file */
    uint32_t out_channels, out_bytes; /* in the buffer; bytes of a sample there */
    bool is_interlaced, has_head, has_end, has_alpha;
    uint32_t palette_count, alpha_count; /* colours, and those that have an opacity */
    uint8_t palette[PALETTE_MOST][4];    /* red, green, blue, opacity */
    size_t data_size;                    /* of the compressed pixels */
} image;

/* Interlaced files have seven images of some of the pixels. */
typedef struct pass {
    uint32_t x, y, step_x, step_y;
} pass;
static const pass whole = {0, 0, 1, 1};
static const pass passes[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                              {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

static vyre_status damaged(const image *at, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED,
                            "write it again; @raw:FILE reads the bytes of any file",
                            "cannot read %s as a .png file: %s", at->name, what);
}

static uint32_t get_u32(const char *data) {
    const uint8_t *byte = (const uint8_t *)data;
    return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

static vyre_status read_head(image *at, const char *data, size_t size) {
    static const struct {
        uint32_t kind, channels, depths; /* a bit for each depth */
    } kinds[] = {{KIND_GREY, 1, 1 | 2 | 4 | 8 | 16},
                 {KIND_RGB, 3, 8 | 16},
                 {KIND_PALETTE, 1, 1 | 2 | 4 | 8},
                 {KIND_GREY_ALPHA, 2, 8 | 16},
                 {KIND_RGBA, 4, 8 | 16}};
    if (size != HEAD_BYTES || at->has_head) {
        return damaged(at, "its header is not valid");
    }
    at->has_head = true;
    at->width = get_u32(data);
    at->height = get_u32(data + 4);
    at->depth = (uint8_t)data[8];
    at->kind = (uint8_t)data[9];
    at->is_interlaced = data[12] == 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool fits = kinds[i].kind == at->kind && (kinds[i].depths & at->depth) &&
                    !(at->depth & (at->depth - 1));
        at->channels = fits ? kinds[i].channels : at->channels;
    }
    if (!at->channels || data[10] || data[11] || (uint8_t)data[12] > 1 || !at->width ||
        !at->height || at->width > SIZE_MOST || at->height > SIZE_MOST) {
        return damaged(at, "its header is not valid");
    }
    at->out_channels = at->channels;
    at->out_bytes = at->depth == 16 ? 2 : 1;
    return VYRE_OK;
}

static vyre_status read_palette(image *at, const char *data, size_t size) {
    if (size % 3 || size / 3 > PALETTE_MOST || !size || at->palette_count) {
        return damaged(at, "its palette is not valid");
    }
    at->palette_count = (uint32_t)(size / 3);
    for (size_t i = 0; i < at->palette_count; i++) {
        memcpy(at->palette[i], data + 3 * i, 3);
        at->palette[i][3] = UINT8_MAX;
    }
    return VYRE_OK;
}

/* The opacity of the first colours of a palette. In other images it marks a colour as transparent,
 * whose samples are read as they are. */
static vyre_status read_opacity(image *at, const char *data, size_t size) {
    if (at->kind != KIND_PALETTE) {
        return VYRE_OK;
    }
    if (size > at->palette_count) {
        return damaged(at, "its palette is not valid");
    }
    at->has_alpha = true;
    for (size_t i = 0; i < size; i++) {
        at->palette[i][3] = (uint8_t)data[i];
    }
    return VYRE_OK;
}

/* One chunk; the compressed pixels of all of them are moved to the front of the file's bytes. */
static vyre_status read_chunk(image *at, char *bytes, const char *name, const char *data,
                              size_t size) {
    bool is_head = !memcmp(name, "IHDR", 4);
    if (!is_head && !at->has_head) {
        return damaged(at, "it does not start with a header");
    }
    if (is_head) {
        return read_head(at, data, size);
    }
    if (!memcmp(name, "PLTE", 4)) {
        return read_palette(at, data, size);
    }
    if (!memcmp(name, "tRNS", 4)) {
        return read_opacity(at, data, size);
    }
    if (!memcmp(name, "IDAT", 4)) {
        memmove(bytes + at->data_size, data, size);
        at->data_size += size;
        return VYRE_OK;
    }
    at->has_end = !memcmp(name, "IEND", 4);
    bool is_optional = name[0] & 0x20;
    return at->has_end || is_optional ? VYRE_OK
                                      : damaged(at, "it has a part that vyre does not know");
}

static vyre_status read_chunks(image *at, vyre_strbuf *bytes) {
    static const char magic[] = "\x89PNG\r\n\x1a\n";
    const size_t around = 12; /* length, name, sum */
    size_t place = sizeof magic - 1;
    if (bytes->size < place || memcmp(bytes->data, magic, place) != 0) {
        return damaged(at, "it does not start with \\x89PNG");
    }
    while (!at->has_end) {
        if (bytes->size - place < around) {
            return damaged(at, "it ends too early");
        }
        const char *start = bytes->data + place;
        size_t size = get_u32(start);
        if (size > bytes->size - place - around) {
            return damaged(at, "it ends too early");
        }
        if (values_crc32(0, start + 4, size + 4) != get_u32(start + 8 + size)) {
            return damaged(at, "a checksum is wrong");
        }
        VYRE_TRY(read_chunk(at, bytes->data, start + 4, start + 8, size));
        place += size + around;
    }
    if (at->kind == KIND_PALETTE && !at->palette_count) {
        return damaged(at, "it has no palette");
    }
    at->out_channels = at->kind != KIND_PALETTE ? at->channels : at->has_alpha ? 4 : 3;
    return VYRE_OK;
}

/* How large the image of a pass is. */
static uint64_t extent_of(uint64_t size, uint32_t first, uint32_t step) {
    return size > first ? (size - first + step - 1) / step : 0;
}

static uint64_t row_bytes(const image *at, uint64_t width) {
    return (width * at->channels * at->depth + 7) / 8;
}

static size_t pass_count(const image *at) {
    return at->is_interlaced ? PASS_COUNT : 1;
}

static const pass *pass_at(const image *at, size_t index) {
    return at->is_interlaced ? &passes[index] : &whole;
}

/* Bytes of all rows, each with its filter in front. */
static uint64_t filtered_bytes(const image *at) {
    uint64_t sum = 0;
    for (size_t i = 0; i < pass_count(at); i++) {
        const pass *p = pass_at(at, i);
        uint64_t width = extent_of(at->width, p->x, p->step_x);
        sum += width ? extent_of(at->height, p->y, p->step_y) * (1 + row_bytes(at, width)) : 0;
    }
    return sum;
}

static uint8_t paeth(int left, int above, int corner) {
    int guess = left + above - corner;
    int to_left = abs(guess - left), to_above = abs(guess - above), to_corner = abs(guess - corner);
    return (uint8_t)(to_left <= to_above && to_left <= to_corner ? left
                     : to_above <= to_corner                     ? above
                                                                 : corner);
}

/* Undoes the filter of a row; `above` is the row before, NULL for the first. `pixel` is how many
 * bytes back the pixel before lies. */
static bool unfilter(uint8_t filter, uint8_t *row, const uint8_t *above, size_t size,
                     size_t pixel) {
    if (filter > 4) {
        return false;
    }
    for (size_t i = 0; filter && i < size; i++) {
        uint8_t left = i < pixel ? 0 : row[i - pixel], up = above ? above[i] : 0;
        uint8_t corner = i < pixel || !above ? 0 : above[i - pixel];
        switch (filter) {
        case 1: row[i] = (uint8_t)(row[i] + left); break;
        case 2: row[i] = (uint8_t)(row[i] + up); break;
        case 3: row[i] = (uint8_t)(row[i] + (left + up) / 2); break;
        default: row[i] = (uint8_t)(row[i] + paeth(left, up, corner)); break;
        }
    }
    return true;
}

/* Writes the pixel `x` of a row; false where it is a colour that the palette does not have. */
static bool put_pixel(const image *at, const uint8_t *row, uint64_t x, uint8_t *out) {
    if (at->depth == 16) {
        for (size_t i = 0; i < at->channels; i++) {
            const uint8_t *sample = row + (x * at->channels + i) * 2;
            out[2 * i] = sample[1];
            out[2 * i + 1] = sample[0];
        }
        return true;
    }
    if (at->depth == 8 && at->kind != KIND_PALETTE) {
        memcpy(out, row + x * at->channels, at->channels);
        return true;
    }
    uint64_t bit = x * at->depth;
    uint32_t most = (1u << at->depth) - 1;
    uint32_t number = (uint32_t)row[bit / 8] >> (8 - at->depth - bit % 8) & most;
    if (at->kind == KIND_PALETTE) {
        bool exists = number < at->palette_count;
        memcpy(out, at->palette[exists ? number : 0], at->out_channels);
        return exists;
    }
    out[0] = (uint8_t)(number * (UINT8_MAX / most));
    return true;
}

/* Undoes the filters of a pass and puts its pixels where they belong; what it returns is behind
 * them. */
static uint8_t *read_pass(const image *at, const pass *p, uint8_t *rows, uint8_t *out,
                          const char **problem) {
    uint64_t width = extent_of(at->width, p->x, p->step_x);
    uint64_t height = width ? extent_of(at->height, p->y, p->step_y) : 0;
    size_t size = (size_t)row_bytes(at, width);
    size_t pixel = at->channels * at->depth < 8 ? 1 : at->channels * at->depth / 8;
    size_t out_pixel = (size_t)at->out_channels * at->out_bytes;
    uint8_t *above = NULL;
    for (uint64_t y = 0; y < height && !*problem; y++) {
        uint8_t filter = *rows++;
        *problem = unfilter(filter, rows, above, size, pixel) ? NULL : "a row has no valid filter";
        uint64_t line = (p->y + y * p->step_y) * at->width;
        for (uint64_t x = 0; x < width && !*problem; x++) {
            uint64_t place = line + p->x + x * p->step_x;
            *problem = put_pixel(at, rows, x, out + place * out_pixel)
                           ? NULL
                           : "a pixel has a colour that its palette lacks";
        }
        above = rows;
        rows += size;
    }
    return rows;
}

static vyre_status decode(const image *at, const vyre_strbuf *bytes, vyre_strbuf *out) {
    uint64_t filtered = filtered_bytes(at);
    uint64_t size = at->width * at->height * at->out_channels * at->out_bytes;
    if (!values_inflate_can_give(at->data_size, filtered)) {
        return damaged(at, "its header states more pixels than its data can hold");
    }
    uint8_t *rows = vyre_alloc((size_t)filtered);
    vyre_strbuf_repeat(out, 0, (size_t)size);
    if (!rows || out->failed) {
        vyre_free(rows);
        return vyre_no_memory("for the pixels of %s", at->name);
    }
    vyre_status status = values_inflate(VALUES_WRAPPER_ZLIB, at->name, bytes->data, at->data_size,
                                        (char *)rows, (size_t)filtered);
    const char *problem = NULL;
    uint8_t *rest = rows;
    for (size_t i = 0; !status && !problem && i < pass_count(at); i++) {
        rest = read_pass(at, pass_at(at, i), rest, (uint8_t *)out->data, &problem);
    }
    vyre_free(rows);
    return problem ? damaged(at, problem) : status;
}

static vyre_status check_use(const image *at, const char *argument, vyre_type type) {
    vyre_type held = at->out_bytes == 2 ? VYRE_TYPE_U16 : VYRE_TYPE_U8;
    if (held != type) {
        vyre_strbuf fix = {0};
        vyre_strbuf_printf(&fix, "declare `%s: buffer<%s>`, and convert in the kernel", argument,
                           vyre_type_name(held));
        vyre_status status = vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
            "%s holds samples of %u bits (%s), and the elements of `%s` are %s", at->name,
            at->depth, vyre_type_name(held), argument, vyre_type_name(type));
        vyre_strbuf_free(&fix);
        return status;
    }
    uint64_t pixel = (uint64_t)at->out_channels * at->out_bytes;
    return at->width * at->height <= VYRE_REFERENCE_MEMORY_BYTES / pixel
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_LIMIT, "scale it down",
                                  "%s has %llu x %llu pixels, more than the %llu bytes that a run "
                                  "may use",
                                  at->name, (unsigned long long)at->width,
                                  (unsigned long long)at->height,
                                  (unsigned long long)VYRE_REFERENCE_MEMORY_BYTES);
}

vyre_status values_png_read(vyre_strbuf *bytes, const char *name, const char *argument,
                            vyre_type type, values_shape *out_shape) {
    image at = {.name = name};
    vyre_strbuf pixels = {0};
    VYRE_TRY(read_chunks(&at, bytes));
    VYRE_TRY(check_use(&at, argument, type));
    vyre_status status = decode(&at, bytes, &pixels);
    if (status) {
        vyre_strbuf_free(&pixels);
        return status;
    }
    vyre_strbuf_free(bytes);
    *bytes = pixels;
    *out_shape = (values_shape){.is_known = true,
                                .rank = at.out_channels > 1 ? 3 : 2,
                                .sizes = {at.height, at.width, at.out_channels}};
    return VYRE_OK;
}
