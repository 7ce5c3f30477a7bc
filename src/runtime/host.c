/* The services that backends find in vyre_host. */
#include <assert.h>

#include <vyre/wire.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/slots.h"

#define SAME(name)                                                                                 \
    static_assert((int)VYRE_FAIL_##name == (int)VYRE_STATUS_##name, "codes are those of "          \
                                                                    "status.h");
SAME(INVALID_ARGUMENT)
SAME(MALFORMED)
SAME(LIMIT)
SAME(OUT_OF_MEMORY)
SAME(NOT_FOUND)
SAME(UNSUPPORTED)
SAME(IO)
SAME(TIMEOUT)
SAME(DEVICE_LOST)
SAME(UNAVAILABLE)
SAME(BACKEND)

static vyre_status status_make(uint32_t code, const char *fix, const char *message) {
    bool known = code && code <= VYRE_STATUS_BACKEND;
    return vyre_status_make(known ? (vyre_status_code)code : VYRE_STATUS_BACKEND, fix, "%s",
                            message ? message : "the backend failed and gave no message");
}

static uint32_t status_code(vyre_status status) {
    return (uint32_t)vyre_status_code_of(status);
}

static void log_line(uint32_t level, const char *message) {
    vyre_log(level < VYRE_LOG_TRACE ? (vyre_log_level)level : VYRE_LOG_TRACE, "%s",
             message ? message : "a line without a text");
}

static vyre_status program_wire(const vyre_program *program, uint8_t **out_bytes,
                                size_t *out_size) {
    return vyre_wire_encode(program, VYRE_WIRE_NO_DEBUG, out_bytes, out_size);
}

static void program_digest(const vyre_program *program, uint64_t out_digest[2]) {
    vyre_digest digest = vyre_program_digest(program);
    out_digest[0] = digest.low;
    out_digest[1] = digest.high;
}

/* The count of references is no part of a program's value. */
static const vyre_program *program_retain(const vyre_program *program) {
    return vyre_program_retain((vyre_program *)(uintptr_t)program);
}

static void program_release(const vyre_program *program) {
    vyre_program_release((vyre_program *)(uintptr_t)program);
}

const vyre_host *vyre_host_services(void) {
    static const vyre_host host = {
        .struct_size = sizeof host,
        .abi = VYRE_ABI,
        .status_make = status_make,
        .status_code = status_code,
        .status_text = vyre_status_text,
        .status_free = vyre_status_free,
        .alloc = vyre_alloc,
        .free = vyre_free,
        .log = log_line,
        .program_wire = program_wire,
        .program_name = vyre_program_name,
        .program_digest = program_digest,
        .program_retain = program_retain,
        .program_release = program_release,
    };
    return &host;
}
