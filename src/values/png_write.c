#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "values/deflate.h"
#include "values/png.h"

enum { WHEEL = 64, CHANNELS_MOST = 4 };
enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };
#define MOST_BYTES (UINT64_C(1) << 30) /* one chunk has room for twice as much */

/* Colours of the wheel at their places; those between are mixed. */
static const struct {
    int at, red, green, blue;
} stops[] = {{0, 0, 7, 100},    {10, 32, 107, 203}, {27, 237, 255, 255},
             {41, 255, 170, 0}, {55, 60, 6, 20},    {WHEEL, 0, 7, 100}};

bool values_png_takes(vyre_type type) {
    return type == VYRE_TYPE_U8 || type == VYRE_TYPE_U16 || type == VYRE_TYPE_U32 ||
           type == VYRE_TYPE_F32;
}

static void put_u32(vyre_strbuf *out, uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        vyre_strbuf_putc(out, (char)(number >> shift));
    }
}

/* The sum is that of the name and the contents, which come last in `out`. */
static void end_chunk(vyre_strbuf *out, size_t name_at) {
    put_u32(out, out->failed ? 0 : values_crc32(0, out->data + name_at, out->size - name_at));
}

static void put_chunk(vyre_strbuf *out, const char name[5], const char *data, size_t size) {
    put_u32(out, (uint32_t)size);
    size_t at = out->size;
    vyre_strbuf_add(out, name, 4);
    vyre_strbuf_add(out, data, size);
    end_chunk(out, at);
}

/* The rows, each behind a filter of 0, compressed. */
static void put_rows(vyre_strbuf *out, const uint8_t *pixels, uint64_t row_bytes, uint64_t rows) {
    vyre_strbuf filtered = {0}, data = {0};
    for (uint64_t row = 0; row < rows; row++) {
        vyre_strbuf_putc(&filtered, 0);
        vyre_strbuf_add(&filtered, (const char *)pixels + row * row_bytes, (size_t)row_bytes);
    }
    if (!filtered.failed) {
        values_deflate(VALUES_WRAPPER_ZLIB, filtered.data, filtered.size, &data);
    }
    out->failed |= filtered.failed || data.failed;
    vyre_strbuf_free(&filtered);
    put_chunk(out, "IDAT", vyre_strbuf_string(&data), data.size);
    vyre_strbuf_free(&data);
}

static void put_palette(vyre_strbuf *out) {
    vyre_strbuf colours = {0};
    for (int i = 0, stop = 0; i < WHEEL; i++) {
        stop += i == stops[stop + 1].at;
        int from = stops[stop].at, length = stops[stop + 1].at - from, way = i - from;
#define MIX(field) ((stops[stop].field * (length - way) + stops[stop + 1].field * way) / length)
        vyre_strbuf_putc(&colours, (char)MIX(red));
        vyre_strbuf_putc(&colours, (char)MIX(green));
        vyre_strbuf_putc(&colours, (char)MIX(blue));
#undef MIX
    }
    vyre_strbuf_repeat(&colours, 0, 3); /* the last one is black */
    out->failed |= colours.failed;
    put_chunk(out, "PLTE", vyre_strbuf_string(&colours), colours.size);
    vyre_strbuf_free(&colours);
}

static void make_pixels(uint8_t *pixels, vyre_type type, const uint8_t *elements, uint64_t count) {
    uint32_t largest = 0;
    for (uint64_t i = 0; i < count && type == VYRE_TYPE_U32; i++) {
        uint32_t number;
        memcpy(&number, elements + 4 * i, 4);
        largest = number > largest ? number : largest;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number;
        float value;
        switch (type) {
        case VYRE_TYPE_U32:
            memcpy(&number, elements + 4 * i, 4);
            pixels[i] = number == largest ? WHEEL : (uint8_t)(number % WHEEL);
            break;
        case VYRE_TYPE_F32:
            memcpy(&value, elements + 4 * i, 4);
            value = value > 0 ? value : 0; /* NaN, too */
            pixels[i] = (uint8_t)((value < 1 ? value : 1) * 255 + 0.5F);
            break;
        case VYRE_TYPE_U16: /* the file has the high byte first */
            pixels[2 * i] = elements[2 * i + 1];
            pixels[2 * i + 1] = elements[2 * i];
            break;
        default: pixels[i] = elements[i]; break;
        }
    }
}

static uint64_t root_of(uint64_t count) {
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 16; bit; bit >>= 1) {
        root += (root + bit) * (root + bit) <= count ? bit : 0;
    }
    return root;
}

/* Whether a shape is that of an image: rows, columns and perhaps samples. */
static bool is_image(const values_shape *shape, vyre_type type) {
    return shape && shape->is_known &&
           (shape->rank == 2 || (shape->rank == 3 && type != VYRE_TYPE_U32 &&
                                 shape->sizes[2] >= 1 && shape->sizes[2] <= CHANNELS_MOST));
}

static uint32_t sample_bytes(vyre_type type) {
    return type == VYRE_TYPE_U16 ? 2 : 1;
}

vyre_status values_png_lay_out(const char *name, vyre_type type, uint64_t count,
                               const values_shape *shape, values_png_layout wanted,
                               values_png_layout *out) {
    bool has_shape = is_image(shape, type), is_square = !wanted.width && !has_shape;
    uint64_t channels = wanted.channels                 ? wanted.channels
                        : has_shape && shape->rank == 3 ? shape->sizes[2]
                                                        : 1;
    uint64_t width = wanted.width ? wanted.width
                     : has_shape  ? shape->sizes[1]
                                  : root_of(count / channels);
    uint64_t most = MOST_BYTES / channels;
    uint64_t height = width && width <= most ? count / (width * channels) : 0;
    *out = (values_png_layout){width, height, (uint32_t)channels};
    if (!height || width * channels * height != count || (is_square && width != height)) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT,
            "give a width that divides the number of elements, as in --out NAME=FILE.png:640, and "
            "the samples of a pixel if they are not 1, as in FILE.png:640x3",
            is_square ? "the %llu elements of `%s` do not form a square image"
                      : "the %llu elements of `%s` do not form rows of %llu pixels",
            (unsigned long long)count, name, (unsigned long long)width);
    }
    if (count * sample_bytes(type) + height > MOST_BYTES || width > INT32_MAX) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "write it to a .npy file",
                                "`%s` has %llu elements, too many for an image", name,
                                (unsigned long long)count);
    }
    return VYRE_OK;
}

static void put_head(vyre_strbuf *out, const values_png_layout *layout, uint32_t depth,
                     uint32_t kind) {
    vyre_strbuf head = {0};
    put_u32(&head, (uint32_t)layout->width);
    put_u32(&head, (uint32_t)layout->height);
    const char rest[] = {(char)depth, (char)kind, 0, 0, 0};
    vyre_strbuf_add(&head, rest, sizeof rest);
    out->failed |= head.failed;
    put_chunk(out, "IHDR", vyre_strbuf_string(&head), head.size);
    vyre_strbuf_free(&head);
}

vyre_status values_png_make(vyre_strbuf *out, const char *name, vyre_type type,
                            const uint8_t *elements, values_png_layout layout) {
    static const uint32_t kinds[CHANNELS_MOST + 1] = {0, GREY, GREY_ALPHA, RGB, RGBA};
    bool is_counts = type == VYRE_TYPE_U32;
    uint64_t row_bytes = layout.width * layout.channels * sample_bytes(type);
    uint8_t *pixels = vyre_alloc((size_t)(row_bytes * layout.height));
    if (!pixels) {
        return vyre_no_memory("for an image of `%s`", name);
    }
    make_pixels(pixels, type, elements, layout.width * layout.channels * layout.height);
    vyre_strbuf_puts(out, "\x89PNG\r\n\x1a\n");
    put_head(out, &layout, 8 * sample_bytes(type), is_counts ? PALETTE : kinds[layout.channels]);
    if (is_counts) {
        put_palette(out);
    }
    put_rows(out, pixels, row_bytes, layout.height);
    put_chunk(out, "IEND", "", 0);
    vyre_free(pixels);
    return VYRE_OK;
}
