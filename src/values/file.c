#include "values/file.h"

#include <unistd.h>

#include <vyre/reference.h>

#include "base/file.h"
#include "base/status.h"
#include "values/csv.h"
#include "values/npy.h"
#include "values/npz.h"
#include "values/path.h"
#include "values/png.h"

static vyre_status read_bytes(const values_buffer_source *source, const char *path,
                              vyre_strbuf *out) {
    const size_t header_room = 1 << 20;
    size_t limit = (size_t)VYRE_REFERENCE_MEMORY_BYTES + header_room;
    if (strcmp(path, "-") != 0) {
        return vyre_file_read(path, limit, out);
    }
    if (*source->stdin_used) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "read one of them from a file",
                                "`%s` reads stdin, and so does another input", source->argument);
    }
    *source->stdin_used = true;
    return vyre_file_read_open(STDIN_FILENO, "<stdin>", limit, out);
}

/* Bytes without a header. */
static vyre_status check_raw(const values_buffer_source *source, const char *name, size_t size) {
    size_t width = vyre_type_bytes(source->type);
    return size % width
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "check that the file holds elements of that type and is complete",
                                  "%s has %zu bytes, which is not a multiple of the element size "
                                  "of `%s`: %s has %zu",
                                  name, size, source->argument, vyre_type_name(source->type), width)
               : VYRE_OK;
}

static vyre_status decode(const values_buffer_source *source, const values_path *file,
                          const char *name, vyre_strbuf *bytes, size_t *offset,
                          values_shape *shape) {
    const char *argument = source->argument;
    vyre_type type = source->type;
    switch (file->format) {
    case VALUES_FORMAT_RAW: return check_raw(source, name, bytes->size);
    case VALUES_FORMAT_NPZ: VYRE_TRY(values_npz_take(bytes, name, file->detail, argument)); break;
    case VALUES_FORMAT_NPY: break;
    case VALUES_FORMAT_PNG: return values_png_read(bytes, name, argument, type, shape);
    case VALUES_FORMAT_CSV:
    case VALUES_FORMAT_TSV: return values_csv_read(bytes, name, file->detail, type, shape);
    }
    return values_npy_read(bytes, name, argument, type, offset, shape);
}

vyre_status values_file_read(const values_buffer_source *source, const char *text,
                             vyre_strbuf *out_bytes, size_t *out_offset) {
    values_path file;
    values_shape shape = {0};
    vyre_strbuf path = {0};
    vyre_strbuf subject = {0};
    vyre_strbuf_printf(&subject, "`%s`", source->argument);
    vyre_status status =
        values_path_parse_input(vyre_strbuf_string(&subject), text, source->type, &file);
    vyre_strbuf_free(&subject);
    if (!status && file.format == VALUES_FORMAT_PNG && file.detail) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                  "`%s`: an image that is read takes no `:%s`", source->argument,
                                  file.detail);
    }
    if (!status) {
        vyre_strbuf_add(&path, file.path.data, file.path.size);
        status = path.failed ? vyre_no_memory("for the name of a file")
                             : read_bytes(source, path.data, out_bytes);
    }
    if (!status) {
        const char *name = strcmp(path.data, "-") != 0 ? path.data : "<stdin>";
        status = decode(source, &file, name, out_bytes, out_offset, &shape);
    }
    vyre_strbuf_free(&path);
    if (!status && source->shape) {
        *source->shape = shape;
    }
    return status;
}
