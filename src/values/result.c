#include "values/result.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/near.h"
#include "base/page.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "values/csv.h"
#include "values/element.h"
#include "values/npy.h"
#include "values/npz.h"
#include "values/png.h"

/* The argument behind an output, VYRE_NONE beyond the last one. */
static uint32_t argument_of(const vyre_ir *ir, size_t output) {
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        uint32_t resource = ir->args[i].resource;
        if (resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN &&
            output-- == 0) {
            return i;
        }
    }
    return VYRE_NONE;
}

static const char *name_of(const vyre_ir *ir, size_t output) {
    return ir->strings + ir->args[argument_of(ir, output)].name;
}

static vyre_type type_of(const vyre_ir *ir, size_t output) {
    return values_argument_type(ir, argument_of(ir, output));
}

static vyre_status find_output(const vyre_program *program, vyre_str name, const char *option,
                               size_t *out) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_strbuf fix = {0};
    vyre_near near;
    vyre_near_init(&near, name);
    vyre_strbuf_printf(&fix, "`%s` writes", vyre_program_name(program));
    for (*out = 0; argument_of(ir, *out) != VYRE_NONE; ++*out) {
        const char *here = name_of(ir, *out);
        if (strlen(here) == name.size && !memcmp(here, name.data, name.size)) {
            vyre_strbuf_free(&fix);
            return VYRE_OK;
        }
        vyre_near_add(&near, (vyre_str){here, strlen(here)});
        vyre_strbuf_printf(&fix, "%s `%s`", *out ? "," : "", here);
    }
    vyre_strbuf_puts(&fix, *out ? "" : " nothing");
    vyre_status status =
        vyre_near_refuse(&near, vyre_strbuf_string(&fix), "%s: `%.*s` is not an output", option,
                         (int)name.size, name.data);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status values_request_print(const vyre_program *program, const char *text,
                                 values_request *out) {
    vyre_str name = {text, strcspn(text, ":")};
    *out = (values_request){.most = VALUES_PRINT_DEFAULT};
    if (name.data[name.size] && !strcmp(name.data + name.size + 1, "all")) {
        out->most = UINT64_MAX;
    } else if (name.data[name.size]) {
        VYRE_TRY(values_number_parse("--print", name.data + name.size + 1, &out->most));
    }
    return find_output(program, name, "--print", &out->output);
}

static vyre_status wrong_width(const char *name, const char *detail, const char *fix) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix,
                            "--out: `%s` is not a width for `%s`", detail, name);
}

/* WIDTH of a table, WIDTH[xCHANNELS] of an image. */
static vyre_status read_width(values_request *request, const char *name, bool is_image) {
    const char *detail = request->file.detail;
    const char *fix = is_image ? "write a width of at least 1, as in FILE.png:640, and 1 to 4 "
                                 "samples of a pixel, as in FILE.png:640x3"
                               : "write at least 1 column, as in FILE.csv:4";
    size_t size = is_image ? strcspn(detail, "x") : strlen(detail);
    uint64_t channels = 0;
    vyre_status status =
        values_element_parse("", VYRE_TYPE_U64, (vyre_str){detail, size}, &request->width);
    if (!status && detail[size]) {
        status = values_number_parse("", detail + size + 1, &channels);
    }
    bool fits = !status && request->width && (!detail[size] || (channels >= 1 && channels <= 4));
    vyre_status_free(status);
    request->channels = (uint32_t)channels;
    return fits ? VYRE_OK : wrong_width(name, detail, fix);
}

static vyre_status check_image(const values_request *request, const char *name, vyre_type type) {
    if (!values_png_takes(type)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write it to a .npy file; an image needs u8, u16, u32 or f32",
                                "--out: `%s` has elements of %s, which cannot be drawn as an image",
                                name, vyre_type_name(type));
    }
    if (type == VYRE_TYPE_U32 && request->channels > 1) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write the width alone",
                                "--out: `%s` has elements of u32, each of which is a pixel", name);
    }
    return VYRE_OK;
}

vyre_status values_request_out(const vyre_program *program, const char *text, values_request *out) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_str name = {text, strcspn(text, "=")};
    *out = (values_request){.is_file = true};
    if (!name.data[name.size] || !name.data[name.size + 1]) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write --out NAME=FILE",
                                "--out: `%s` names no file", text);
    }
    VYRE_TRY(find_output(program, name, "--out", &out->output));
    VYRE_TRY(values_path_parse_output("--out", name.data + name.size + 1, &out->file));
    const char *output = name_of(ir, out->output);
    bool is_image = out->file.format == VALUES_FORMAT_PNG;
    if (out->file.format == VALUES_FORMAT_NPZ) {
        bool has_name = !out->file.detail || *out->file.detail;
        return has_name
                   ? VYRE_OK
                   : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "write FILE.npz:MEMBER, or FILE.npz for the output's name",
                                      "--out: `%s` names no member", text);
    }
    if (out->file.detail) {
        VYRE_TRY(read_width(out, output, is_image));
    }
    return is_image ? check_image(out, output, type_of(ir, out->output)) : VYRE_OK;
}

static vyre_status lay_out_image(const vyre_ir *ir, const values_request *request, uint64_t length,
                                 values_png_layout *out) {
    values_png_layout wanted = {.width = request->width, .channels = request->channels};
    return values_png_lay_out(name_of(ir, request->output), type_of(ir, request->output), length,
                              request->shape, wanted, out);
}

static vyre_status count_columns(const vyre_ir *ir, const values_request *request, uint64_t length,
                                 uint64_t *out) {
    return values_csv_columns(name_of(ir, request->output), length, request->shape, request->width,
                              out);
}

vyre_status values_request_settle(values_request *request, const values_binding *binding) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    uint32_t arg = argument_of(ir, request->output);
    values_png_layout layout;
    uint64_t length = 0, columns;
    if (!request->is_file) {
        return VYRE_OK;
    }
    VYRE_TRY(values_bind_length(binding, arg, &length));
    request->shape = values_bind_shape(binding, arg);
    switch (request->file.format) {
    case VALUES_FORMAT_PNG: return lay_out_image(ir, request, length, &layout);
    case VALUES_FORMAT_CSV:
    case VALUES_FORMAT_TSV: return count_columns(ir, request, length, &columns);
    default: return VYRE_OK;
    }
}

static uint64_t length_of(const vyre_ir *ir, const vyre_outputs *outputs, size_t output) {
    return outputs->items[output].size / vyre_type_bytes(type_of(ir, output));
}

/* A line that says what it is, then the elements, as many in a line as fit. */
static void print_output(const vyre_ir *ir, const vyre_outputs *outputs, size_t output,
                         uint64_t most, vyre_strbuf *text) {
    const size_t indent = 4;
    vyre_type type = type_of(ir, output);
    uint64_t length = length_of(ir, outputs, output);
    uint64_t shown = length < most ? length : most;
    vyre_strbuf element = {0};
    vyre_strbuf_printf(text, "%s: %s[%" PRIu64 "]", name_of(ir, output), vyre_type_name(type),
                       length);
    size_t column = VYRE_PAGE_WIDTH;
    for (uint64_t i = 0; i < shown; i++) {
        vyre_strbuf_cut(&element, 0);
        values_element_print(&element, type,
                             outputs->items[output].data + i * vyre_type_bytes(type));
        if (column + 1 + element.size > VYRE_PAGE_WIDTH) {
            vyre_strbuf_putc(text, '\n');
            vyre_strbuf_repeat(text, ' ', indent);
            column = indent;
        } else {
            vyre_strbuf_putc(text, ' ');
            column++;
        }
        vyre_strbuf_add(text, element.data, element.size);
        column += element.size;
    }
    vyre_strbuf_putc(text, '\n');
    if (shown < length) {
        vyre_strbuf_printf(text, "%*sand %" PRIu64 " more (--print %s:all)\n", (int)indent, "",
                           length - shown, name_of(ir, output));
    }
    text->failed |= element.failed;
    vyre_strbuf_free(&element);
}

void values_result_print(const vyre_program *program, const vyre_outputs *outputs,
                         const values_request *requests, size_t count, vyre_strbuf *text) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (size_t i = 0; i < count; i++) {
        if (!requests[i].is_file) {
            print_output(ir, outputs, requests[i].output, requests[i].most, text);
        }
    }
    for (size_t i = 0; !count && i < outputs->count; i++) {
        print_output(ir, outputs, i, VALUES_PRINT_DEFAULT, text);
    }
}

/* How many elements of an output are asked for; false if none is. */
static bool is_printed(const values_request *requests, size_t count, size_t output,
                       uint64_t *most) {
    bool found = !count;
    *most = count ? 0 : VALUES_PRINT_DEFAULT;
    for (size_t i = 0; i < count; i++) {
        if (!requests[i].is_file && requests[i].output == output) {
            *most = requests[i].most > *most ? requests[i].most : *most;
            found = true;
        }
    }
    return found;
}

void values_result_json(vyre_json *json, const vyre_program *program, const vyre_outputs *outputs,
                        const values_request *requests, size_t count) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_json_array(json);
    for (size_t i = 0; i < outputs->count; i++) {
        vyre_type type = type_of(ir, i);
        uint64_t length = length_of(ir, outputs, i), most;
        vyre_hash128 hash = vyre_hash_128(outputs->items[i].data, outputs->items[i].size);
        vyre_strbuf digest = {0};
        vyre_strbuf_printf(&digest, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
        vyre_json_object(json);
        vyre_json_add_string(json, "name", name_of(ir, i));
        vyre_json_add_string(json, "type", vyre_type_name(type));
        vyre_json_add_u64(json, "length", length);
        vyre_json_add_strbuf(json, "digest", &digest);
        if (is_printed(requests, count, i, &most)) {
            vyre_json_add_array(json, "values");
            for (uint64_t k = 0; k < length && k < most; k++) {
                values_element_json(json, type, outputs->items[i].data + k * vyre_type_bytes(type));
            }
            vyre_json_array_end(json);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static vyre_str member_of(const vyre_ir *ir, const values_request *request) {
    return vyre_str_of(request->file.detail ? request->file.detail : name_of(ir, request->output));
}

bool values_request_is_joined(const values_request *a, const values_request *b) {
    return a->is_file && b->is_file && a->file.format == VALUES_FORMAT_NPZ &&
           b->file.format == VALUES_FORMAT_NPZ && a->file.path.size == b->file.path.size &&
           !memcmp(a->file.path.data, b->file.path.data, a->file.path.size);
}

bool values_request_is_member(const vyre_program *program, const values_request *a,
                              const values_request *b) {
    const vyre_ir *ir = vyre_program_ir(program);
    return values_request_is_joined(a, b) && vyre_str_is(member_of(ir, a), member_of(ir, b).data);
}

static void encode_npy(const vyre_ir *ir, const vyre_outputs *outputs,
                       const values_request *request, vyre_strbuf *out) {
    const vyre_output *output = &outputs->items[request->output];
    values_shape vector = values_shape_vector(length_of(ir, outputs, request->output));
    values_npy_header(out, type_of(ir, request->output), request->shape ? request->shape : &vector);
    vyre_strbuf_add(out, (const char *)output->data, output->size);
}

static vyre_status encode_npz(const vyre_ir *ir, const vyre_outputs *outputs,
                              const values_request *requests, size_t count, size_t index,
                              vyre_strbuf *out) {
    values_npz archive = {0};
    vyre_status status = VYRE_OK;
    for (size_t i = index; i < count && !status; i++) {
        vyre_strbuf array = {0};
        if (!values_request_is_joined(&requests[i], &requests[index])) {
            continue;
        }
        encode_npy(ir, outputs, &requests[i], &array);
        archive.bytes.failed |= array.failed;
        if (!values_npz_add(&archive, member_of(ir, &requests[i]), vyre_strbuf_string(&array),
                            array.size)) {
            status = vyre_status_make(VYRE_STATUS_LIMIT, "write each output to a .npy file",
                                      "a .npz file has at most 4 GiB and 65535 members: %.*s",
                                      (int)requests[i].file.path.size, requests[i].file.path.data);
        }
        vyre_strbuf_free(&array);
    }
    values_npz_end(&archive);
    vyre_strbuf_free(out);
    *out = archive.bytes;
    archive.bytes = (vyre_strbuf){0};
    values_npz_free(&archive);
    return status;
}

static vyre_status encode_image(const vyre_ir *ir, const vyre_outputs *outputs,
                                const values_request *request, vyre_strbuf *out) {
    values_png_layout layout;
    VYRE_TRY(lay_out_image(ir, request, length_of(ir, outputs, request->output), &layout));
    return values_png_make(out, name_of(ir, request->output), type_of(ir, request->output),
                           outputs->items[request->output].data, layout);
}

static vyre_status encode_table(const vyre_ir *ir, const vyre_outputs *outputs,
                                const values_request *request, vyre_strbuf *out) {
    uint64_t length = length_of(ir, outputs, request->output), columns = 1;
    VYRE_TRY(count_columns(ir, request, length, &columns));
    values_csv_write(out, type_of(ir, request->output), outputs->items[request->output].data,
                     length, columns, request->file.format == VALUES_FORMAT_CSV ? ',' : '\t');
    return VYRE_OK;
}

vyre_status values_result_encode(const vyre_program *program, const vyre_outputs *outputs,
                                 const values_request *requests, size_t count, size_t index,
                                 vyre_strbuf *out_path, vyre_strbuf *out_bytes) {
    const vyre_ir *ir = vyre_program_ir(program);
    const values_request *request = &requests[index];
    const vyre_output *output = &outputs->items[request->output];
    vyre_strbuf_add(out_path, request->file.path.data, request->file.path.size);
    if (out_path->failed) {
        return vyre_no_memory("for the name of a file");
    }
    switch (request->file.format) {
    case VALUES_FORMAT_RAW:
        vyre_strbuf_add(out_bytes, (const char *)output->data, output->size);
        break;
    case VALUES_FORMAT_NPY: encode_npy(ir, outputs, request, out_bytes); break;
    case VALUES_FORMAT_NPZ: return encode_npz(ir, outputs, requests, count, index, out_bytes);
    case VALUES_FORMAT_PNG: return encode_image(ir, outputs, request, out_bytes);
    case VALUES_FORMAT_CSV:
    case VALUES_FORMAT_TSV: return encode_table(ir, outputs, request, out_bytes);
    }
    return VYRE_OK;
}

static void show_element(vyre_strbuf *text, vyre_type type, const uint8_t *element) {
    values_element_print(text, type, element);
    vyre_strbuf_printf(text, " (0x%0*" PRIx64 ")", (int)vyre_type_bytes(type) * 2,
                       values_element_load(type, element));
}

bool values_result_compare(const vyre_program *program, const vyre_outputs *found,
                           const vyre_outputs *expected, const char *whose,
                           vyre_strbuf *difference) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (size_t i = 0; i < expected->count; i++) {
        vyre_type type = type_of(ir, i);
        size_t width = vyre_type_bytes(type), size = expected->items[i].size, at = 0;
        const uint8_t *a = found->items[i].data, *b = expected->items[i].data;
        if (found->items[i].size != size) {
            vyre_strbuf_printf(difference, "`%s` has %zu bytes, and %s gives %zu", name_of(ir, i),
                               found->items[i].size, whose, size);
            return false;
        }
        while (at < size && !memcmp(a + at, b + at, width)) {
            at += width;
        }
        if (at < size) {
            vyre_strbuf_printf(difference, "element %zu of `%s` is ", at / width, name_of(ir, i));
            show_element(difference, type, a + at);
            vyre_strbuf_printf(difference, ", and %s gives ", whose);
            show_element(difference, type, b + at);
            return false;
        }
    }
    return true;
}
