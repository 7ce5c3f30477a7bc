#include "backend/opencl/runtime/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/runtime/backend.h"
#include "base/status.h"
#include "store/recall.h"

static const char library_name[] = "libOpenCL.so.1";

/* Written once, by whoever comes first, then read alone. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static opencl_table table;
static bool is_open;
static const char *fix;
static char why_not[320];

/* Finds every function; the name of one that is missing, or NULL. */
static const char *resolve(void *library) {
#define OPENCL_RESOLVE(name)                                                                       \
    *(void **)(void *)&table.name = dlsym(library, #name);                                         \
    if (!table.name) {                                                                             \
        return #name;                                                                              \
    }
    OPENCL_FUNCTIONS(OPENCL_RESOLVE)
#undef OPENCL_RESOLVE
    return NULL;
}

static void open_once(void) {
    vyre_option_info chosen = vyre_option_describe(VYRE_OPTION_OPENCL);
    const char *name = chosen.from_environment ? chosen.text : library_name;
    if (chosen.from_environment && !strcmp(name, "none")) {
        fix = "unset VYRE_OPENCL to use OpenCL devices";
        snprintf(why_not, sizeof why_not, "VYRE_OPENCL is `none`: no loader is opened");
        return;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fix = chosen.from_environment
                  ? "set VYRE_OPENCL to an OpenCL loader, or unset it"
                  : "install it (on Debian `apt install ocl-icd-libopencl1`), and a driver for the "
                    "device (nvidia-opencl-icd, mesa-opencl-icd, intel-opencl-icd, or "
                    "pocl-opencl-icd for the CPU)";
        snprintf(why_not, sizeof why_not, "the OpenCL loader `%s` cannot be opened", name);
        return;
    }
    const char *missing = resolve(library);
    if (missing) {
        fix = "install a loader for OpenCL 1.2 or later (on Debian `apt install "
              "ocl-icd-libopencl1`)";
        snprintf(why_not, sizeof why_not, "the OpenCL loader `%s` is too old: it lacks %s", name,
                 missing);
        return;
    }
    is_open = true;
}

vyre_status opencl_driver_open(const opencl_table **out_table) {
    *out_table = &table;
    pthread_once(&once, open_once);
    return is_open ? VYRE_OK
                   : vyre_status_make(VYRE_STATUS_UNAVAILABLE, fix,
                                      "backend `opencl` runs on OpenCL devices, and %s", why_not);
}

void opencl_error_text(cl_int result, char out_text[OPENCL_ERROR_TEXT_BYTES]) {
    static const struct {
        cl_int number;
        const char *name;
    } rows[] = {
#define ERROR(name) {name, #name},
        ERROR(CL_DEVICE_NOT_FOUND) ERROR(CL_DEVICE_NOT_AVAILABLE) ERROR(CL_COMPILER_NOT_AVAILABLE)
            ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE) ERROR(CL_OUT_OF_RESOURCES)
                ERROR(CL_OUT_OF_HOST_MEMORY) ERROR(CL_BUILD_PROGRAM_FAILURE)
                    ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) ERROR(CL_INVALID_VALUE)
                        ERROR(CL_INVALID_DEVICE) ERROR(CL_INVALID_CONTEXT)
                            ERROR(CL_INVALID_COMMAND_QUEUE) ERROR(CL_INVALID_MEM_OBJECT)
                                ERROR(CL_INVALID_BINARY) ERROR(CL_INVALID_BUILD_OPTIONS)
                                    ERROR(CL_INVALID_PROGRAM_EXECUTABLE)
                                        ERROR(CL_INVALID_KERNEL_NAME) ERROR(CL_INVALID_KERNEL)
                                            ERROR(CL_INVALID_ARG_VALUE) ERROR(CL_INVALID_ARG_SIZE)
                                                ERROR(CL_INVALID_KERNEL_ARGS)
                                                    ERROR(CL_INVALID_WORK_GROUP_SIZE)
                                                        ERROR(CL_INVALID_BUFFER_SIZE)
#undef ERROR
    };
    const char *name = "error";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        name = rows[i].number == result ? rows[i].name : name;
    }
    name = result == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR" : name;
    snprintf(out_text, OPENCL_ERROR_TEXT_BYTES, "%s (%d)", name, result);
}

/* Devices */

static void read_text(cl_device_id device, cl_device_info what, char *out, size_t size) {
    out[0] = '\0';
    if (table.clGetDeviceInfo(device, what, size, out, NULL)) {
        out[0] = '\0';
    }
    out[size - 1] = '\0';
}

/* By the extensions that say so; the numbers are those of cl_khr_device_uuid and
 * cl_khr_pci_bus_info. */
static void read_identity(opencl_found *found) {
    enum { UUID_BYTES = 16, DEVICE_UUID = 0x106A, BUS_INFO = 0x410F };
    unsigned char uuid[UUID_BYTES];
    cl_uint place[4];
    if (!table.clGetDeviceInfo(found->device, DEVICE_UUID, sizeof uuid, uuid, NULL)) {
        for (size_t i = 0; i < UUID_BYTES; i++) {
            snprintf(found->identity + 2 * i, 3, "%02x", uuid[i]);
        }
    } else if (!table.clGetDeviceInfo(found->device, BUS_INFO, sizeof place, place, NULL)) {
        snprintf(found->identity, sizeof found->identity, "%04x:%02x:%02x.%x", place[0], place[1],
                 place[2], place[3]);
    }
}

bool opencl_driver_suits(const char *version) {
    static const char before[] = "OpenCL ";
    if (strncmp(version, before, sizeof before - 1) != 0) {
        return false;
    }
    char *end;
    unsigned long major = strtoul(version + sizeof before - 1, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major > 1 || (major == 1 && minor >= 2);
}

/* False for one that cannot run what is compiled here. */
static bool look_at(cl_platform_id platform, cl_device_id device, opencl_found *out) {
    cl_bool available = CL_FALSE, compiles = CL_FALSE, little = CL_FALSE;
    char version[256];
    *out = (opencl_found){.platform = platform, .device = device};
    table.clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    table.clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiles, &compiles, NULL);
    table.clGetDeviceInfo(device, CL_DEVICE_ENDIAN_LITTLE, sizeof little, &little, NULL);
    table.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof out->type, &out->type, NULL);
    read_text(device, CL_DEVICE_NAME, out->name, sizeof out->name);
    read_text(device, CL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
    read_text(device, CL_DRIVER_VERSION, out->driver, sizeof out->driver);
    table.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof out->platform_name - 1,
                            out->platform_name, NULL);
    read_text(device, CL_DEVICE_VERSION, version, sizeof version);
    if (!opencl_driver_suits(version)) { /* it may not have all of the functions */
        return false;
    }
    read_identity(out);
    return available && compiles && little && out->name[0];
}

static int class_of(const opencl_found *found) {
    return found->type & CL_DEVICE_TYPE_GPU ? 0 : found->type & CL_DEVICE_TYPE_CPU ? 2 : 1;
}

static int compare(const void *left, const void *right) {
    const opencl_found *a = left, *b = right;
    int by_class = class_of(a) - class_of(b);
    int by_platform = strcmp(a->platform_name, b->platform_name);
    int by_name = strcmp(a->name, b->name);
    return by_class      ? by_class
           : by_platform ? by_platform
           : by_name     ? by_name
                         : strcmp(a->identity, b->identity);
}

static vyre_status no_devices(cl_int result, cl_uint platforms) {
    char error[OPENCL_ERROR_TEXT_BYTES];
    opencl_error_text(result, error);
    return vyre_status_make(
        VYRE_STATUS_UNAVAILABLE,
        platforms
            ? "make a device visible to this process, or install the driver of one (on Debian "
              "`apt install pocl-opencl-icd` for the CPU)"
            : "install a driver (on Debian nvidia-opencl-icd, mesa-opencl-icd, "
              "intel-opencl-icd, or pocl-opencl-icd for the CPU), or in a container mount its "
              "file of /etc/OpenCL/vendors",
        "backend `opencl` runs on OpenCL devices, and the loader finds %s: %s",
        platforms ? "no device that compiles and runs kernels" : "no driver",
        platforms ? "the drivers report none" : error);
}

static const char *const variables[] = {"VYRE_OPENCL",     "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES",
                                        "LD_LIBRARY_PATH", "POCL_DEVICES",    NULL};
static const char *const paths[] = {"/etc/ld.so.cache", "/etc/OpenCL/vendors", "/dev/dri",
                                    "/dev/kfd",         "/dev/nvidiactl",      NULL};
static const vyre_finder finder = {"opencl", variables, paths};

bool opencl_driver_known_software(void) {
    return vyre_recall_software(&finder);
}

vyre_status opencl_driver_list(opencl_found out_devices[OPENCL_MOST_DEVICES], uint32_t *out_count) {
    enum { MOST_PLATFORMS = 16 };
    const opencl_table *cl;
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    *out_count = 0;
    VYRE_TRY(opencl_driver_open(&cl));
    cl_int result = cl->clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count);
    platform_count = result ? 0 : platform_count;
    platform_count = platform_count < MOST_PLATFORMS ? platform_count : MOST_PLATFORMS;
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device_id ids[OPENCL_MOST_DEVICES];
        cl_uint count = 0;
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, OPENCL_MOST_DEVICES, ids,
                               &count)) {
            continue;
        }
        for (cl_uint d = 0; d < count && d < OPENCL_MOST_DEVICES; d++) {
            if (*out_count < OPENCL_MOST_DEVICES &&
                look_at(platforms[p], ids[d], &out_devices[*out_count])) {
                (*out_count)++;
            }
        }
    }
    if (!*out_count) {
        return no_devices(result, platform_count);
    }
    qsort(out_devices, *out_count, sizeof *out_devices, compare);
    vyre_remember_software(&finder, class_of(&out_devices[0]) == 2); /* CPUs are last */
    return VYRE_OK;
}
