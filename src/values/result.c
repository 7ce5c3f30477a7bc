#include "values/result.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/near.h"
#include "base/page.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "values/element.h"
#include "values/npy.h"
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
    return vyre_arg_shown_type(&ir->args[argument_of(ir, output)]);
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

/* Whether a name of `size` letters ends like that. */
static bool has_end(const char *name, size_t size, const char *end) {
    return size > strlen(end) && !memcmp(name + size - strlen(end), end, strlen(end));
}

/* What a picture needs to know: FILE.png or FILE.png:640. */
static vyre_status read_picture(const vyre_program *program, values_request *request) {
    const char *path = request->path, *colon = strrchr(path, ':');
    bool has_width = colon && has_end(path, (size_t)(colon - path), ".png");
    size_t size = has_width ? (size_t)(colon - path) : strlen(path);
    if (!has_end(path, size, ".png")) {
        return VYRE_OK;
    }
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_type type = type_of(ir, request->output);
    request->path_size = size;
    if (!values_png_takes(type)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write it to a .npy file; an image needs u8, u32 or f32",
                                "--out: `%s` has elements of %s, which cannot be drawn as an image",
                                name_of(ir, request->output), vyre_type_name(type));
    }
    if (!has_width) {
        return VYRE_OK;
    }
    VYRE_TRY(values_number_parse("--out", colon + 1, &request->width));
    return request->width
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give a width of at least 1",
                                  "--out: the width of the image of `%s` is not a "
                                  "positive number",
                                  name_of(ir, request->output));
}

vyre_status values_request_out(const vyre_program *program, const char *text, values_request *out) {
    vyre_str name = {text, strcspn(text, "=")};
    *out = (values_request){0};
    if (!name.data[name.size] || !name.data[name.size + 1]) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write --out NAME=FILE",
                                "--out: `%s` names no file", text);
    }
    out->path = name.data + name.size + 1;
    VYRE_TRY(find_output(program, name, "--out", &out->output));
    return read_picture(program, out);
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
        if (!requests[i].path) {
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
        if (!requests[i].path && requests[i].output == output) {
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

vyre_status values_result_encode(const vyre_program *program, const vyre_outputs *outputs,
                                 const values_request *request, vyre_strbuf *out_path,
                                 vyre_strbuf *out_bytes) {
    const vyre_ir *ir = vyre_program_ir(program);
    const vyre_output *output = &outputs->items[request->output];
    vyre_type type = type_of(ir, request->output);
    uint64_t length = length_of(ir, outputs, request->output);
    if (request->path_size) {
        vyre_strbuf_add(out_path, request->path, request->path_size);
        VYRE_TRY(values_png_make(out_bytes, name_of(ir, request->output), type, output->data,
                                 length, request->width));
    } else {
        vyre_strbuf_puts(out_path, request->path);
        if (has_end(request->path, strlen(request->path), ".npy")) {
            values_npy_header(out_bytes, type, length);
        }
        vyre_strbuf_add(out_bytes, (const char *)output->data, output->size);
    }
    return out_path->failed ? vyre_no_memory("for the name of a file") : VYRE_OK;
}

static void show_element(vyre_strbuf *text, vyre_type type, const uint8_t *element) {
    values_element_print(text, type, element);
    vyre_strbuf_printf(text, " (0x%0*" PRIx64 ")", (int)vyre_type_bytes(type) * 2,
                       values_element_load(type, element));
}

bool values_result_compare(const vyre_program *program, const vyre_outputs *found,
                           const vyre_outputs *expected, vyre_strbuf *difference) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (size_t i = 0; i < expected->count; i++) {
        vyre_type type = type_of(ir, i);
        size_t width = vyre_type_bytes(type), size = expected->items[i].size, at = 0;
        const uint8_t *a = found->items[i].data, *b = expected->items[i].data;
        if (found->items[i].size != size) {
            vyre_strbuf_printf(difference,
                               "`%s` has %zu bytes, and the reference backend gives %zu",
                               name_of(ir, i), found->items[i].size, size);
            return false;
        }
        while (at < size && !memcmp(a + at, b + at, width)) {
            at += width;
        }
        if (at < size) {
            vyre_strbuf_printf(difference, "element %zu of `%s` is ", at / width, name_of(ir, i));
            show_element(difference, type, a + at);
            vyre_strbuf_puts(difference, ", and the reference backend gives ");
            show_element(difference, type, b + at);
            return false;
        }
    }
    return true;
}
