#include "values/png.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { WHEEL = 64, GREY = 0, PALETTE = 3, BLOCK = 65535 };
#define MOST_BYTES (UINT64_C(1) << 30) /* one chunk has room for twice as much */

/* Colours of the wheel at their places; those between are mixed. */
static const struct {
    int at, red, green, blue;
} stops[] = {{0, 0, 7, 100},    {10, 32, 107, 203}, {27, 237, 255, 255},
             {41, 255, 170, 0}, {55, 60, 6, 20},    {WHEEL, 0, 7, 100}};

bool values_png_takes(vyre_type type) {
    return type == VYRE_TYPE_U8 || type == VYRE_TYPE_U32 || type == VYRE_TYPE_F32;
}

static uint32_t crc(uint32_t state, const char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        state ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++) {
            state = state >> 1 ^ (0xedb88320u & (0u - (state & 1)));
        }
    }
    return state;
}

static void put_u32(vyre_strbuf *out, uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        vyre_strbuf_putc(out, (char)(number >> shift));
    }
}

static void put_u16_little(vyre_strbuf *out, uint32_t number) {
    vyre_strbuf_putc(out, (char)number);
    vyre_strbuf_putc(out, (char)(number >> 8));
}

/* The sum is that of the name and the contents, which come last in `out`. */
static void end_chunk(vyre_strbuf *out, size_t name_at) {
    put_u32(out, out->failed ? 0 : ~crc(~0u, out->data + name_at, out->size - name_at));
}

static void put_chunk(vyre_strbuf *out, const char name[5], const char *data, size_t size) {
    put_u32(out, (uint32_t)size);
    size_t at = out->size;
    vyre_strbuf_add(out, name, 4);
    vyre_strbuf_add(out, data, size);
    end_chunk(out, at);
}

/* The rows, each behind a filter of 0, in blocks that are not compressed. */
static void put_rows(vyre_strbuf *out, const uint8_t *pixels, uint32_t width, uint32_t height) {
    uint64_t rest = (uint64_t)height * (width + UINT64_C(1));
    uint64_t blocks = (rest + BLOCK - 1) / BLOCK;
    put_u32(out, (uint32_t)(rest + 5 * blocks + 6));
    size_t name_at = out->size;
    vyre_strbuf_puts(out, "IDAT\x78\x01");
    uint32_t low = 1, high = 0, in_block = 0;
    for (uint32_t row = 0; row < height; row++) {
        for (uint64_t column = 0; column <= width; column++) {
            if (!in_block) {
                in_block = rest < BLOCK ? (uint32_t)rest : BLOCK;
                vyre_strbuf_putc(out, in_block == rest);
                put_u16_little(out, in_block);
                put_u16_little(out, ~in_block);
            }
            uint8_t byte = column ? pixels[(uint64_t)row * width + column - 1] : 0;
            vyre_strbuf_putc(out, (char)byte);
            low = (low + byte) % 65521;
            high = (high + low) % 65521;
            in_block--;
            rest--;
        }
    }
    put_u32(out, high << 16 | low);
    end_chunk(out, name_at);
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

vyre_status values_png_make(vyre_strbuf *out, const char *name, vyre_type type,
                            const uint8_t *elements, uint64_t count, uint64_t width) {
    bool is_square = !width;
    width = width ? width : root_of(count);
    uint64_t height = width ? count / width : 0;
    if (!height || width * height != count || (is_square && width != height)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "give a width that divides the number of elements, as in "
                                "--out NAME=FILE.png:640",
                                is_square ? "the %llu elements of `%s` do not form a square image"
                                          : "the %llu elements of `%s` do not form rows of %llu",
                                (unsigned long long)count, name, (unsigned long long)width);
    }
    if (count + height > MOST_BYTES || width > INT32_MAX) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "write it to a .npy file",
                                "`%s` has %llu elements, too many for an image", name,
                                (unsigned long long)count);
    }
    uint8_t *pixels = vyre_alloc((size_t)count);
    if (!pixels) {
        return vyre_no_memory("for an image of `%s`", name);
    }
    make_pixels(pixels, type, elements, count);
    bool is_grey = type != VYRE_TYPE_U32;
    vyre_strbuf head = {0};
    put_u32(&head, (uint32_t)width);
    put_u32(&head, (uint32_t)height);
    const char kind[] = {8, (char)(is_grey ? GREY : PALETTE), 0, 0, 0};
    vyre_strbuf_add(&head, kind, sizeof kind);
    out->failed |= head.failed;
    vyre_strbuf_puts(out, "\x89PNG\r\n\x1a\n");
    put_chunk(out, "IHDR", vyre_strbuf_string(&head), head.size);
    if (!is_grey) {
        put_palette(out);
    }
    put_rows(out, pixels, (uint32_t)width, (uint32_t)height);
    put_chunk(out, "IEND", "", 0);
    vyre_strbuf_free(&head);
    vyre_free(pixels);
    return VYRE_OK;
}
