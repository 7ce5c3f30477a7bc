/* PNG files: every kind, depth and filter, interlaced or not, is read as what was put in; what is
 * damaged or claims too much is refused before memory is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "tests/unit/failing_allocator.h"
#include "values/deflate.h"
#include "values/png.h"

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6, MOST = 4096 };

typedef struct picture {
    uint32_t width, height, depth, kind, channels;
    bool is_interlaced, has_alpha;
    uint32_t colours;       /* of the palette */
    uint16_t samples[MOST]; /* as the file has them */
    uint8_t palette[256][3], opacity[2];
} picture;

static void put_u32(vyre_strbuf *out, uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        vyre_strbuf_putc(out, (char)(number >> shift));
    }
}

static void put_chunk(vyre_strbuf *out, const char *name, const char *data, size_t size) {
    put_u32(out, (uint32_t)size);
    size_t at = out->size;
    vyre_strbuf_add(out, name, 4);
    vyre_strbuf_add(out, data, size);
    put_u32(out, values_crc32(0, out->data + at, out->size - at));
}

static void put_head(vyre_strbuf *out, uint32_t width, uint32_t height, uint32_t depth,
                     uint32_t kind, bool is_interlaced) {
    vyre_strbuf head = {0};
    put_u32(&head, width);
    put_u32(&head, height);
    const char rest[] = {(char)depth, (char)kind, 0, 0, (char)is_interlaced};
    vyre_strbuf_add(&head, rest, sizeof rest);
    vyre_strbuf_puts(out, "\x89PNG\r\n\x1a\n");
    put_chunk(out, "IHDR", head.data, head.size);
    vyre_strbuf_free(&head);
}

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Adds a row with the given filter; `above` is the row before it, without filter. */
static void put_row(vyre_strbuf *out, int filter, const uint8_t *row, const uint8_t *above,
                    size_t size, size_t pixel) {
    vyre_strbuf_putc(out, (char)filter);
    for (size_t i = 0; i < size; i++) {
        int left = i < pixel ? 0 : row[i - pixel], up = above ? above[i] : 0;
        int corner = i < pixel || !above ? 0 : above[i - pixel];
        int guesses[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
        vyre_strbuf_putc(out, (char)(row[i] - guesses[filter]));
    }
}

/* Some of the pixels: every step_x-th of every step_y-th row. */
static void put_pass(const picture *p, vyre_strbuf *out, uint32_t x0, uint32_t y0, uint32_t step_x,
                     uint32_t step_y) {
    static uint8_t rows[2][MOST * 2];
    uint8_t *row = rows[0], *above = NULL;
    for (uint32_t y = y0, number = 0; y < p->height && x0 < p->width; y += step_y, number++) {
        size_t bits = 0;
        memset(row, 0, sizeof rows[0]);
        for (uint32_t x = x0; x < p->width; x += step_x) {
            for (uint32_t c = 0; c < p->channels; c++) {
                uint32_t sample = p->samples[(y * p->width + x) * p->channels + c];
                if (p->depth == 16) {
                    row[bits / 8] = (uint8_t)(sample >> 8);
                    row[bits / 8 + 1] = (uint8_t)sample;
                } else {
                    row[bits / 8] |= (uint8_t)(sample << (8 - p->depth - bits % 8));
                }
                bits += p->depth;
            }
        }
        size_t pixel = p->channels * p->depth < 8 ? 1 : p->channels * p->depth / 8;
        put_row(out, (int)((number + y0 + x0) % 5), row, above, (bits + 7) / 8, pixel);
        above = row;
        row = row == rows[0] ? rows[1] : rows[0];
    }
}

static void put_passes(const picture *p, vyre_strbuf *out) {
    if (!p->is_interlaced) {
        put_pass(p, out, 0, 0, 1, 1);
        return;
    }
    put_pass(p, out, 0, 0, 8, 8);
    put_pass(p, out, 4, 0, 8, 8);
    put_pass(p, out, 0, 4, 4, 8);
    put_pass(p, out, 2, 0, 4, 4);
    put_pass(p, out, 0, 2, 2, 4);
    put_pass(p, out, 1, 0, 2, 2);
    put_pass(p, out, 0, 1, 1, 2);
}

static vyre_strbuf encode(const picture *p) {
    vyre_strbuf out = {0}, rows = {0}, data = {0};
    put_head(&out, p->width, p->height, p->depth, p->kind, p->is_interlaced);
    put_chunk(&out, "tEXt", "Title\0a text", 12);
    if (p->kind == PALETTE) {
        put_chunk(&out, "PLTE", (const char *)p->palette, (size_t)p->colours * 3);
    }
    if (p->has_alpha) {
        put_chunk(&out, "tRNS", (const char *)p->opacity, sizeof p->opacity);
    }
    put_passes(p, &rows);
    values_deflate(VALUES_WRAPPER_ZLIB, rows.data, rows.size, &data);
    put_chunk(&out, "IDAT", data.data, data.size / 2);
    put_chunk(&out, "IDAT", data.data + data.size / 2, data.size - data.size / 2);
    put_chunk(&out, "IEND", "", 0);
    assert_false(out.failed || rows.failed || data.failed);
    vyre_strbuf_free(&rows);
    vyre_strbuf_free(&data);
    return out;
}

static void fill(picture *p, uint64_t seed) {
    static const uint32_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    p->channels = channels[p->kind];
    p->colours = p->depth < 8 ? 1u << p->depth : 200;
    uint32_t most = p->kind == PALETTE ? p->colours : 1u << p->depth;
    for (uint32_t i = 0; i < p->width * p->height * p->channels; i++) {
        p->samples[i] = (uint16_t)(vyre_random(&seed) % most);
    }
    for (uint32_t i = 0; i < p->colours * 3; i++) {
        p->palette[i / 3][i % 3] = (uint8_t)vyre_random(&seed);
    }
    p->opacity[0] = 0;
    p->opacity[1] = 77;
}

/* The sample of a channel of a pixel, as it should be read. */
static uint32_t expected(const picture *p, uint32_t pixel, uint32_t channel) {
    uint32_t sample = p->samples[pixel * p->channels + (p->kind == PALETTE ? 0 : channel)];
    if (p->kind == PALETTE) {
        return channel < 3 ? p->palette[sample][channel] : sample < 2 ? p->opacity[sample] : 255;
    }
    return p->depth < 8 ? sample * 255 / ((1u << p->depth) - 1) : sample;
}

static void expect_pixels(const picture *p) {
    vyre_strbuf file = encode(p);
    values_shape shape = {0};
    vyre_type type = p->depth == 16 ? VYRE_TYPE_U16 : VYRE_TYPE_U8;
    vyre_status status = values_png_read(&file, "x.png", "x", type, &shape);
    if (status) {
        fail_msg("kind %u, depth %u: %s", p->kind, p->depth, vyre_status_text(status));
    }
    uint32_t channels = p->kind != PALETTE ? p->channels : p->has_alpha ? 4 : 3;
    assert_true(shape.is_known);
    assert_int_equal(shape.rank, channels > 1 ? 3 : 2);
    assert_int_equal(shape.sizes[0], p->height);
    assert_int_equal(shape.sizes[1], p->width);
    assert_int_equal(channels > 1 ? shape.sizes[2] : 1, channels);
    uint32_t count = p->width * p->height * channels;
    assert_int_equal(file.size, count * vyre_type_bytes(type));
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = (const uint8_t *)file.data + (size_t)i * vyre_type_bytes(type);
        uint32_t found = p->depth == 16 ? at[0] | (uint32_t)at[1] << 8 : at[0];
        assert_int_equal(found, expected(p, i / channels, i % channels));
    }
    vyre_strbuf_free(&file);
}

static void test_all_kinds(void **state) {
    (void)state;
    static const struct {
        uint32_t kind, depth;
    } forms[] = {{GREY, 1},    {GREY, 2},       {GREY, 4},        {GREY, 8},    {GREY, 16},
                 {RGB, 8},     {RGB, 16},       {PALETTE, 1},     {PALETTE, 2}, {PALETTE, 4},
                 {PALETTE, 8}, {GREY_ALPHA, 8}, {GREY_ALPHA, 16}, {RGBA, 8},    {RGBA, 16}};
    static const uint32_t sizes[][2] = {{1, 1}, {3, 2}, {2, 9}, {13, 17}, {8, 8}};
    static picture p;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            for (int way = 0; way < 4; way++) {
                p = (picture){.width = sizes[k][0],
                              .height = sizes[k][1],
                              .depth = forms[i].depth,
                              .kind = forms[i].kind,
                              .is_interlaced = way & 1,
                              .has_alpha = way & 2 && forms[i].kind == PALETTE};
                fill(&p, i * 100 + k);
                expect_pixels(&p);
            }
        }
    }
}

static void expect_error(vyre_strbuf file, vyre_type type, vyre_status_code code,
                         const char *part) {
    values_shape shape = {0};
    vyre_status status = values_png_read(&file, "x.png", "x", type, &shape);
    assert_non_null(status);
    if (!strstr(vyre_status_text(status), part)) {
        fail_msg("`%s` is not in: %s", part, vyre_status_text(status));
    }
    assert_int_equal(vyre_status_code_of(status), code);
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    assert_false(shape.is_known);
    vyre_status_free(status);
    vyre_strbuf_free(&file);
}

/* A file of a header and these rows. */
static vyre_strbuf make(uint32_t width, uint32_t height, uint32_t depth, uint32_t kind,
                        const char *rows, size_t size) {
    vyre_strbuf out = {0}, data = {0};
    put_head(&out, width, height, depth, kind, false);
    values_deflate(VALUES_WRAPPER_ZLIB, rows, size, &data);
    put_chunk(&out, "IDAT", data.data, data.size);
    put_chunk(&out, "IEND", "", 0);
    vyre_strbuf_free(&data);
    return out;
}

static void test_wrong_types(void **state) {
    (void)state;
    expect_error(make(1, 1, 8, GREY, "\0\1", 2), VYRE_TYPE_F32, VYRE_STATUS_INVALID_ARGUMENT,
                 "samples of 8 bits (u8), and the elements of `x` are f32. Fix: declare `x: "
                 "buffer<u8>`");
    expect_error(make(1, 1, 16, GREY, "\0\1\2", 3), VYRE_TYPE_U8, VYRE_STATUS_INVALID_ARGUMENT,
                 "declare `x: buffer<u16>`");
}

/* What a header claims is held against the file before memory is taken for it. */
static void test_large_claims(void **state) {
    (void)state;
    failing_allocator_start(0);
    expect_error(make(INT32_MAX, INT32_MAX, 8, GREY, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_LIMIT,
                 "2147483647 x 2147483647 pixels, more than");
    expect_error(make(60000, 60000, 8, GREY, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "more pixels than its data can hold");
    expect_error(make(0x80000000u, 1, 8, GREY, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "its header is not valid");
    expect_error(make(1, 0, 8, GREY, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "its header is not valid");
    assert_true(failing_allocator_largest() < 1 << 20);
    failing_allocator_stop();
}

/* A stream that gives more than the header states is cut off there. */
static void test_bomb(void **state) {
    (void)state;
    vyre_strbuf zeros = {0};
    vyre_strbuf_repeat(&zeros, 0, 16 << 20);
    vyre_strbuf bomb = make(2, 2, 8, GREY, zeros.data, zeros.size);
    vyre_strbuf_free(&zeros);
    failing_allocator_start(0);
    expect_error(bomb, VYRE_TYPE_U8, VYRE_STATUS_MALFORMED, "longer than its header states");
    assert_true(failing_allocator_largest() < 1 << 20);
    failing_allocator_end();
    expect_error(make(2, 2, 8, GREY, "\0\1\2", 3), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "shorter than its header states");
}

static void test_damage(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "no picture");
    expect_error(text, VYRE_TYPE_U8, VYRE_STATUS_MALFORMED, "does not start with \\x89PNG");
    expect_error((vyre_strbuf){0}, VYRE_TYPE_U8, VYRE_STATUS_MALFORMED, "does not start with");
    expect_error(make(1, 1, 3, GREY, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "its header is not valid");
    expect_error(make(1, 1, 4, RGB, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "its header is not valid");
    expect_error(make(1, 1, 8, PALETTE, "\0\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "it has no palette");
    expect_error(make(1, 1, 8, GREY, "\5\1", 2), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "a row has no valid filter");
    vyre_strbuf file = make(1, 1, 8, GREY, "\0\1", 2);
    file.data[20]++;
    expect_error(file, VYRE_TYPE_U8, VYRE_STATUS_MALFORMED, "a checksum is wrong");
    vyre_strbuf critical = {0};
    put_head(&critical, 1, 1, 8, GREY, false);
    put_chunk(&critical, "QQQQ", "", 0);
    expect_error(critical, VYRE_TYPE_U8, VYRE_STATUS_MALFORMED, "a part that vyre does not know");
    static picture p = {.width = 1, .height = 1, .depth = 8, .kind = PALETTE};
    fill(&p, 1);
    p.samples[0] = 200;
    expect_error(encode(&p), VYRE_TYPE_U8, VYRE_STATUS_MALFORMED,
                 "a colour that its palette lacks");
}

/* Corrects the sums of all chunks, so that damage reaches what is behind them. */
static void correct_sums(vyre_strbuf *file) {
    for (size_t at = 8; file->size >= at + 12;) {
        const uint8_t *head = (const uint8_t *)file->data + at;
        size_t size =
            (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
        if (size > file->size - at - 12) {
            return;
        }
        uint32_t sum = values_crc32(0, file->data + at + 4, size + 4);
        for (size_t i = 0; i < 4; i++) {
            file->data[at + 8 + size + i] = (char)(sum >> (24 - 8 * i));
        }
        at += size + 12;
    }
}

/* Cut anywhere, and with any byte changed, it is read or refused. */
static void test_every_cut_and_byte(void **state) {
    (void)state;
    static picture p = {.width = 5,
                        .height = 6,
                        .depth = 4,
                        .kind = PALETTE,
                        .has_alpha = true,
                        .is_interlaced = true};
    fill(&p, 3);
    vyre_strbuf whole = encode(&p);
    values_shape shape;
    for (size_t size = 0; size < whole.size; size++) {
        vyre_strbuf part = {0};
        vyre_strbuf_add(&part, whole.data, size);
        vyre_status status = values_png_read(&part, "x.png", "x", VYRE_TYPE_U8, &shape);
        assert_non_null(status);
        vyre_status_free(status);
        vyre_strbuf_free(&part);
    }
    for (size_t i = 0; i < whole.size; i++) {
        for (int byte = 0; byte < 256; byte += 15) {
            for (int corrected = 0; corrected < 2; corrected++) {
                vyre_strbuf copy = {0};
                vyre_strbuf_add(&copy, whole.data, whole.size);
                copy.data[i] = (char)byte;
                if (corrected) {
                    correct_sums(&copy);
                }
                vyre_status status = values_png_read(&copy, "x.png", "x", VYRE_TYPE_U8, &shape);
                assert_true(status || copy.size);
                vyre_status_free(status);
                vyre_strbuf_free(&copy);
            }
        }
    }
    vyre_strbuf_free(&whole);
}

static void test_no_memory(void **state) {
    (void)state;
    static picture p = {.width = 5, .height = 6, .depth = 8, .kind = RGB};
    fill(&p, 3);
    for (size_t n = 1;; n++) {
        vyre_strbuf file = encode(&p);
        values_shape shape;
        failing_allocator_start(n);
        vyre_status status = values_png_read(&file, "x.png", "x", VYRE_TYPE_U8, &shape);
        bool failed = failing_allocator_failed();
        assert_int_equal(vyre_status_code_of(status),
                         failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK);
        vyre_status_free(status);
        vyre_strbuf_free(&file);
        failing_allocator_end();
        if (!failed) {
            assert_true(n > 3);
            break;
        }
    }
}

/* What is written is read again. */
static void test_written(void **state) {
    (void)state;
    const uint8_t elements[24] = {0, 1, 2, 3, 250, 251, 252, 253, 254, 255, 9,  8,
                                  7, 6, 5, 4, 30,  31,  32,  33,  34,  35,  36, 37};
    static const vyre_type types[] = {VYRE_TYPE_U8, VYRE_TYPE_U16};
    for (size_t i = 0; i < 2; i++) {
        uint64_t count = 24 / vyre_type_bytes(types[i]);
        for (uint32_t channels = 1; channels <= 4; channels++) {
            values_png_layout layout, wanted = {.width = count / channels, .channels = channels};
            vyre_strbuf out = {0};
            values_shape shape;
            assert_null(values_png_lay_out("y", types[i], count, NULL, wanted, &layout));
            assert_int_equal(layout.height, 1);
            assert_null(values_png_make(&out, "y", types[i], elements, layout));
            assert_null(values_png_read(&out, "y.png", "x", types[i], &shape));
            assert_int_equal(shape.sizes[1], count / channels);
            assert_int_equal(out.size, 24);
            assert_memory_equal(out.data, elements, 24);
            vyre_strbuf_free(&out);
        }
    }
}

static void test_layouts(void **state) {
    (void)state;
    const values_shape rgb = {.is_known = true, .rank = 3, .sizes = {2, 4, 3}};
    const values_shape grey = {.is_known = true, .rank = 2, .sizes = {3, 8}};
    const values_shape other = {.is_known = true, .rank = 3, .sizes = {2, 2, 9}};
    static const values_png_layout none = {0};
    values_png_layout found;
    assert_null(values_png_lay_out("y", VYRE_TYPE_U8, 24, &rgb, none, &found));
    assert_true(found.width == 4 && found.height == 2 && found.channels == 3);
    assert_null(values_png_lay_out("y", VYRE_TYPE_U8, 24, &grey, none, &found));
    assert_true(found.width == 8 && found.height == 3 && found.channels == 1);
    assert_null(values_png_lay_out("y", VYRE_TYPE_U8, 36, &other, none, &found));
    assert_true(found.width == 6 && found.height == 6 && found.channels == 1);
    assert_null(values_png_lay_out("y", VYRE_TYPE_U8, 24, &rgb,
                                   (values_png_layout){.width = 12, .channels = 1}, &found));
    assert_true(found.width == 12 && found.height == 2 && found.channels == 1);
    static const values_png_layout wrong[] = {
        {.width = 5}, {.width = 24, .channels = 3}, {0}, {.width = UINT64_MAX, .channels = 4}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vyre_status status = values_png_lay_out("y", VYRE_TYPE_U8, 24, NULL, wrong[i], &found);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        vyre_status_free(status);
    }
    vyre_status status =
        values_png_lay_out("y", VYRE_TYPE_U8, UINT64_C(1) << 40, NULL, none, &found);
    assert_non_null(status);
    vyre_status_free(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds),    cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_large_claims), cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_every_cut_and_byte),
        cmocka_unit_test(test_no_memory),    cmocka_unit_test(test_written),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
