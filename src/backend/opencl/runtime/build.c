#include "backend/opencl/runtime/build.h"

#include <string.h>

#include "backend/opencl/runtime/backend.h"
#include "base/alloc.h"
#include "base/status.h"

/* The compiler's log, made one line of and cut. */
static vyre_status refuse(opencl_device *device, cl_program code, cl_int result, const char *name) {
    enum { MOST = 2000 };
    const opencl_table *cl = device->cl;
    char error[OPENCL_ERROR_TEXT_BYTES];
    size_t size = 0;
    opencl_error_text(result, error);
    cl->clGetProgramBuildInfo(code, device->info.found.device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                              &size);
    char *log = vyre_alloc_zeroed(size + 1, 1);
    if (log) {
        cl->clGetProgramBuildInfo(code, device->info.found.device, CL_PROGRAM_BUILD_LOG, size, log,
                                  NULL);
        log[size < MOST ? size : MOST] = '\0';
        for (char *c = log; *c; c++) {
            *c = *c == '\n' || *c == '\t' ? ' ' : *c;
        }
    }
    vyre_status status = vyre_status_make(
        VYRE_STATUS_BACKEND,
        vyre_option_describe(VYRE_OPTION_OPENCL_OPTIONS).from_environment
            ? "unset VYRE_OPENCL_OPTIONS; if it persists, install a newer driver, or run it on "
              "another device"
            : "install a newer driver, or run it on another device; `vyre show --stage opencl` "
              "shows the code",
        "the compiler of %s refuses `%s`: %s: %s", device->info.found.name, name, error,
        log ? log : "");
    vyre_free(log);
    return status;
}

/* Takes the program over where it fails. */
static vyre_status build(opencl_device *device, cl_program code, const char *name,
                         cl_program *out_code) {
    const opencl_table *cl = device->cl;
    cl_int result =
        cl->clBuildProgram(code, 1, &device->info.found.device, device->info.options, NULL, NULL);
    if (result) {
        bool is_refused = result == CL_BUILD_PROGRAM_FAILURE || result == CL_INVALID_BINARY ||
                          result == CL_INVALID_BUILD_OPTIONS;
        vyre_status status = is_refused ? refuse(device, code, result, name)
                                        : opencl_check(device, result, "compiling `%s`", name);
        cl->clReleaseProgram(code);
        return status;
    }
    *out_code = code;
    return VYRE_OK;
}

vyre_status opencl_build_text(opencl_device *device, const vyre_strbuf *text, const char *name,
                              cl_program *out_code) {
    cl_int result;
    const char *string = vyre_strbuf_string(text);
    cl_program code =
        device->cl->clCreateProgramWithSource(device->context, 1, &string, &text->size, &result);
    VYRE_TRY(opencl_check(device, result, "compiling `%s`", name));
    return build(device, code, name, out_code);
}

vyre_status opencl_build_binary(opencl_device *device, const uint8_t *binary, size_t size,
                                const char *name, cl_program *out_code) {
    cl_int result, status = CL_SUCCESS;
    cl_program code = device->cl->clCreateProgramWithBinary(
        device->context, 1, &device->info.found.device, &size, &binary, &status, &result);
    VYRE_TRY(opencl_check(device, result ? result : status, "loading `%s`", name));
    return build(device, code, name, out_code);
}

bool opencl_build_stores(const opencl_device *device) {
    /* PoCL compiles when a kernel is launched, for the workgroups of the launch, and keeps that
     * itself. Its binaries hold other code. */
    return !device->info.is_pocl;
}

bool opencl_build_get_binary(opencl_device *device, cl_program code, vyre_strbuf *out_binary) {
    const opencl_table *cl = device->cl;
    size_t size = 0;
    if (cl->clGetProgramInfo(code, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size) {
        return false;
    }
    unsigned char *bytes = vyre_alloc(size);
    bool got =
        bytes && !cl->clGetProgramInfo(code, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL);
    if (got) {
        vyre_strbuf_add(out_binary, (const char *)bytes, size);
    }
    vyre_free(bytes);
    return got && !out_binary->failed;
}
