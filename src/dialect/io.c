/* The operations of the dialect `io`: the host does them, no program can. */
#include <string.h>

#include <vyre/io.h>

#include "base/alloc.h"
#include "base/status.h"
#include "dialect/library.h"

static vyre_status wrong_inputs(const vyre_operation *operation) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "pass the path, the offset and the third argument; a number takes 8 "
                            "bytes",
                            "the inputs do not match those of `%s`", operation->id);
}

/* Copies the path, which has no NUL behind it. */
static vyre_status read_path(const vyre_operation *operation, vyre_input input, char **out_path) {
    *out_path = NULL;
    if (!input.size || memchr(input.data, 0, input.size)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass the bytes of a path",
                                "the path for `%s` is %s", operation->id,
                                input.size ? "interrupted by a NUL" : "empty");
    }
    *out_path = vyre_alloc(input.size + 1);
    if (!*out_path) {
        return vyre_no_memory("for `%s`", operation->id);
    }
    memcpy(*out_path, input.data, input.size);
    (*out_path)[input.size] = '\0';
    return VYRE_OK;
}

/* Scalars are little-endian. */
static uint64_t read_number(vyre_input input) {
    const uint8_t *bytes = input.data;
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof number; i++) {
        number |= (uint64_t)bytes[i] << 8 * i;
    }
    return number;
}

static vyre_status dma_from_nvme(const vyre_operation *operation, const vyre_input *inputs,
                                 size_t input_count, vyre_outputs *out_outputs) {
    char *path;
    *out_outputs = (vyre_outputs){0};
    if (input_count != 3 || inputs[1].size != 8 || inputs[2].size != 8) {
        return wrong_inputs(operation);
    }
    uint64_t offset = read_number(inputs[1]), size = read_number(inputs[2]);
    vyre_status status = read_path(operation, inputs[0], &path);
    if (!status) {
        vyre_outputs outputs = {vyre_alloc_zeroed(1, sizeof *outputs.items), 1};
        uint8_t *data = size < SIZE_MAX ? vyre_alloc((size_t)size) : NULL;
        status = outputs.items && data ? vyre_io_read(data, (size_t)size, path, offset, NULL)
                                       : vyre_no_memory("for `%s`", operation->id);
        if (status) {
            vyre_free(data);
            vyre_free(outputs.items);
        } else {
            outputs.items[0] = (vyre_output){data, (size_t)size};
            *out_outputs = outputs;
        }
    }
    vyre_free(path);
    return status;
}

static vyre_status write_back_to_nvme(const vyre_operation *operation, const vyre_input *inputs,
                                      size_t input_count, vyre_outputs *out_outputs) {
    char *path;
    *out_outputs = (vyre_outputs){0};
    if (input_count != 3 || inputs[1].size != 8) {
        return wrong_inputs(operation);
    }
    VYRE_TRY(read_path(operation, inputs[0], &path));
    vyre_status status =
        vyre_io_write(inputs[2].data, inputs[2].size, path, read_number(inputs[1]), NULL);
    vyre_free(path);
    return status;
}

vyre_status vyre_linked_io(vyre_streams *streams) {
    static const vyre_parameter from_parameters[] = {
        {"path", VYRE_ROLE_INPUT, VYRE_TYPE_U8, true},
        {"offset", VYRE_ROLE_ATTRIBUTE, VYRE_TYPE_U64, false},
        {"size", VYRE_ROLE_ATTRIBUTE, VYRE_TYPE_U64, false},
        {"bytes", VYRE_ROLE_OUTPUT, VYRE_TYPE_U8, true},
    };
    static const vyre_parameter back_parameters[] = {
        {"path", VYRE_ROLE_INPUT, VYRE_TYPE_U8, true},
        {"offset", VYRE_ROLE_ATTRIBUTE, VYRE_TYPE_U64, false},
        {"bytes", VYRE_ROLE_INPUT, VYRE_TYPE_U8, true},
    };
    static const vyre_lowering from_lowerings[] = {
        {{VYRE_TARGET_REFERENCE_BACKEND, NULL}, NULL, dma_from_nvme}};
    static const vyre_lowering back_lowerings[] = {
        {{VYRE_TARGET_REFERENCE_BACKEND, NULL}, NULL, write_back_to_nvme}};
    static const vyre_operation operations[] = {
        {
            .id = "io.dma_from_nvme",
            .dialect = "io",
            .version = VYRE_VERSION_STRING,
            .doc = "Reads a range of a file into a buffer, bypassing the page cache if the file "
                   "system allows it.",
            .category = VYRE_CATEGORY_INTRINSIC,
            .parameters = from_parameters,
            .parameter_count = sizeof from_parameters / sizeof *from_parameters,
            .lowerings = from_lowerings,
            .lowering_count = 1,
        },
        {
            .id = "io.write_back_to_nvme",
            .dialect = "io",
            .version = VYRE_VERSION_STRING,
            .doc = "Writes a buffer to a file at an offset, bypassing the page cache if the file "
                   "system allows it.",
            .category = VYRE_CATEGORY_INTRINSIC,
            .parameters = back_parameters,
            .parameter_count = sizeof back_parameters / sizeof *back_parameters,
            .lowerings = back_lowerings,
            .lowering_count = 1,
        },
    };
    VYRE_TRY(vyre_streams_add(streams, &operations[0]));
    return vyre_streams_add(streams, &operations[1]);
}
