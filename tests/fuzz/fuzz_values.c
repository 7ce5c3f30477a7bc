/* Any bytes as a file of values: the first says of which format and type, the others are the file.
 * It gives elements that its shape accounts for, or a status that says what to do. */
#include <stdint.h>
#include <stdlib.h>

#include "values/csv.h"
#include "values/npy.h"
#include "values/npz.h"
#include "values/png.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) {
        abort();
    }
}

static vyre_status read(vyre_strbuf *bytes, unsigned format, vyre_type type, size_t *offset,
                        values_shape *shape) {
    if (format == 0) {
        return values_png_read(bytes, "x.png", "x", type, shape);
    }
    if (format == 1) {
        return values_csv_read(bytes, "x.csv", type == VYRE_TYPE_U16 ? "2" : NULL, type, shape);
    }
    vyre_status status = format == 2 ? values_npz_take(bytes, "x.npz", NULL, "x") : VYRE_OK;
    return status ? status : values_npy_read(bytes, "x.npy", "x", type, offset, shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const vyre_type types[] = {VYRE_TYPE_U8, VYRE_TYPE_U16, VYRE_TYPE_F32, VYRE_TYPE_I64};
    if (!size) {
        return 0;
    }
    vyre_type type = types[data[0] / 4 % 4];
    vyre_strbuf bytes = {0};
    values_shape shape = {0};
    size_t offset = 0;
    vyre_strbuf_add(&bytes, (const char *)data + 1, size - 1);
    vyre_status status = read(&bytes, data[0] % 4, type, &offset, &shape);
    if (!status) {
        uint64_t count = 1;
        for (uint32_t i = 0; i < shape.rank; i++) {
            count *= shape.sizes[i];
        }
        check(shape.is_known && (bytes.size - offset) == count * vyre_type_bytes(type));
    } else {
        check(*vyre_status_fix(status));
    }
    vyre_status_free(status);
    vyre_strbuf_free(&bytes);
    return 0;
}
