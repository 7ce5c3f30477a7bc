/* Devices, as -b names them. */
#ifndef VYRE_CLI_DEVICE_H
#define VYRE_CLI_DEVICE_H

#include <vyre/device.h>
#include <vyre/reference.h>
#include <vyre/route.h>

#include "base/vec.h"
#include "cli/command.h"

/* Opens the device of a name that stands for one: the id of a backend, ID:N, or `gpu`, the
 * preferred one of all GPUs. */
VYRE_MUST_USE vyre_status cli_device_open(const char *name, vyre_device **out_device);

/* Acquires a device by its name; NULL is `preferred`. `out_why` says why it is that one, and is the
 * caller's to free. An error was told already: then the command ends with what is returned. */
cli_exit cli_device_acquire(const cli_command *command, const char *name, vyre_device **out_device,
                            vyre_strbuf *out_why);

/* The same for a program that is known: `auto`, which is also NULL, asks the router. Tells of
 * routes that cannot be followed. */
cli_exit cli_device_acquire_for(const cli_command *command, const char *name,
                                const vyre_router_request *request, vyre_device **out_device,
                                vyre_strbuf *out_why);
bool cli_device_is_auto(const char *name);

typedef struct cli_devices {
    VYRE_VEC(vyre_device *) list; /* each once */
} cli_devices;

/* Acquires the devices of a list with commas; NULL is all that there are and that dispatch, by
 * rank, but for oracles, which have to be named. At least one, or it fails. Errors as above.
 * Release them whatever comes out. */
cli_exit cli_devices_acquire(const cli_command *command, const char *names,
                             cli_devices *out_devices);
void cli_devices_release(cli_devices *devices);

/* Says on stderr that plugins were refused, if any were: one of them may be what is looked for. */
void cli_device_tell_refused(const cli_command *command);

#endif
