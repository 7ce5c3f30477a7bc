/* The OpenCL loader: opened at run time, when the first device is created, never closed. It finds
 * the drivers of the machine by the files of /etc/OpenCL/vendors. */
#ifndef VYRE_OPENCL_RUNTIME_DRIVER_H
#define VYRE_OPENCL_RUNTIME_DRIVER_H

#include <vyre/status.h>

#include "backend/opencl/runtime/table.h"

/* The entry points; or what is missing on this machine. */
VYRE_MUST_USE vyre_status opencl_driver_open(const opencl_table **out_table);

/* "CL_OUT_OF_RESOURCES (-5)" */
enum { OPENCL_ERROR_TEXT_BYTES = 64 };
void opencl_error_text(cl_int result, char out_text[OPENCL_ERROR_TEXT_BYTES]);

/* A device as the loader finds it. */
typedef struct opencl_found {
    cl_platform_id platform;
    cl_device_id device;
    cl_device_type type;
    char name[128], vendor[64], driver[96], platform_name[96];
    char identity[64]; /* of the device, where it has one: its UUID, or its place on the bus */
} opencl_found;

enum { OPENCL_MOST_DEVICES = 32 };

/* All devices that can compile and run, GPUs first, CPUs last, else by what they are: the order
 * does not depend on that of the drivers. */
VYRE_MUST_USE vyre_status opencl_driver_list(opencl_found out_devices[OPENCL_MOST_DEVICES],
                                             uint32_t *out_count);

/* Whether a device of a version, such as "OpenCL 3.0 PoCL", has all that is used: OpenCL 1.2. */
bool opencl_driver_suits(const char *version);

/* Whether the devices of the last process were all software, and still are. */
bool opencl_driver_known_software(void);

#endif
