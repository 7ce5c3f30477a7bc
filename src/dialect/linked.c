/* What is linked in. A new part is a row of the table. */
#include "dialect/linked.h"

#include "dialect/library.h"

/* The registry knows them by name; they move bytes between a file and a buffer of the host. */
static vyre_status read_io(vyre_streams *streams) {
    static const vyre_parameter from_parameters[] = {
        {"path", VYRE_ROLE_INPUT, VYRE_TYPE_U8, true},
        {"offset", VYRE_ROLE_ATTRIBUTE, VYRE_TYPE_U64, false},
        {"size", VYRE_ROLE_ATTRIBUTE, VYRE_TYPE_U64, false},
        {"bytes", VYRE_ROLE_OUTPUT, VYRE_TYPE_U8, true},
    };
    static const vyre_operation from = {
        .id = "io.dma_from_nvme",
        .dialect = "io",
        .version = VYRE_VERSION_STRING,
        .doc = "A range of a file's bytes into a buffer.",
        .category = VYRE_CATEGORY_INTRINSIC,
        .parameters = from_parameters,
        .parameter_count = sizeof from_parameters / sizeof *from_parameters,
    };
    return vyre_streams_add(streams, &from);
}

const vyre_linked_part vyre_linked[] = {read_io, vyre_linked_library, NULL};
