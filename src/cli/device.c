#include "cli/device.h"

#include <string.h>

#include "base/status.h"
#include "base/units.h"
#include "bench/routes.h"
#include "cli/output.h"
#include "registry/registry.h"
#include "registry/select.h"

void cli_device_tell_refused(const cli_command *command) {
    size_t count, refused = 0;
    const vyre_plugin_record *records = vyre_plugin_records(vyre_registry_default(), &count);
    for (size_t i = 0; i < count; i++) {
        refused += records[i].fate == VYRE_PLUGIN_REFUSED;
    }
    if (refused) {
        const char *s = vyre_plural(refused);
        cli_message_print("vyre %s: %zu plugin%s or plugin folder%s %s refused; `vyre doctor` says "
                          "why\n",
                          command->name, refused, s, s, refused == 1 ? "was" : "were");
    }
}

static vyre_status acquire_preferred(vyre_require require, vyre_device **out_device,
                                     vyre_strbuf *out_why) {
    vyre_selection selection = {.require = require, .quick = true};
    vyre_decision decision;
    vyre_status status =
        vyre_registry_acquire_preferred(vyre_registry_default(), &selection, &decision, out_device);
    if (!status) {
        vyre_strbuf_printf(out_why, "%s takes %s",
                           require == VYRE_REQUIRE_GPU ? "-b gpu" : "preferred selection",
                           decision.why);
    }
    vyre_decision_free(&decision);
    return status;
}

/* Why it is that one is appended, unless the name alone says so. */
static vyre_status open_named(const char *name, vyre_device **out_device, vyre_strbuf *out_why) {
    const vyre_registration *found = NULL;
    bool is_gpu = !strcmp(name, "gpu");
    if (is_gpu) { /* unless that is the id of a backend */
        VYRE_TRY(vyre_registry_find(vyre_registry_default(), name, &found));
    }
    return is_gpu && !found ? acquire_preferred(VYRE_REQUIRE_GPU, out_device, out_why)
                            : vyre_registry_acquire(vyre_registry_default(), name, out_device);
}

static bool is_preferred(const char *name) {
    return !name || !strcmp(name, "preferred");
}

vyre_status cli_device_open(const char *name, vyre_device **out_device) {
    vyre_strbuf why = {0};
    vyre_status status = is_preferred(name) ? acquire_preferred(VYRE_REQUIRE_ANY, out_device, &why)
                                            : open_named(name, out_device, &why);
    vyre_strbuf_free(&why);
    return status;
}

/* Tells why there is no device, and how to end because of it. */
static cli_exit tell_failure(const cli_command *command, vyre_status status, bool is_named) {
    vyre_status_code code = vyre_status_code_of(status);
    (void)cli_message_status(command, status);
    if (!is_named && code != VYRE_STATUS_INVALID_ARGUMENT) {
        cli_message_print("vyre %s: the reference backend, which is slow, runs only if you name "
                          "it: -b reference\n",
                          command->name);
    }
    if (code == VYRE_STATUS_INVALID_ARGUMENT) {
        return CLI_EXIT_USAGE;
    }
    cli_device_tell_refused(command);
    return CLI_EXIT_BACKEND;
}

bool cli_device_is_auto(const char *name) {
    return !name || !strcmp(name, "auto");
}

static vyre_status acquire_routed(const cli_command *command, const vyre_router_request *request,
                                  vyre_device **out_device, vyre_strbuf *out_why) {
    const vyre_router_choice *routing;
    VYRE_TRY(vyre_router_choose(request, &routing));
    *out_device = vyre_device_retain(routing->device);
    bench_route_explain(out_why, routing, request);
    if (*routing->note) {
        cli_message_note("vyre %s: note: %s\n", command->name, routing->note);
    }
    vyre_router_choice_release(routing);
    return VYRE_OK;
}

cli_exit cli_device_acquire_for(const cli_command *command, const char *name,
                                const vyre_router_request *request, vyre_device **out_device,
                                vyre_strbuf *out_why) {
    *out_device = NULL;
    bool is_routed = request && cli_device_is_auto(name);
    bool is_preferred = name ? !strcmp(name, "preferred") : !request;
    bool is_named = !is_routed && !is_preferred;
    vyre_status status = is_routed      ? acquire_routed(command, request, out_device, out_why)
                         : is_preferred ? acquire_preferred(VYRE_REQUIRE_ANY, out_device, out_why)
                                        : open_named(name, out_device, out_why);
    if (!status) {
        vyre_strbuf_puts(out_why, is_named && !out_why->size ? "named by -b" : "");
        return CLI_EXIT_DONE;
    }
    return tell_failure(command, status, is_named);
}

cli_exit cli_device_acquire(const cli_command *command, const char *name, vyre_device **out_device,
                            vyre_strbuf *out_why) {
    return cli_device_acquire_for(command, name, NULL, out_device, out_why);
}

/* Takes over the caller's reference. One that is there already is not added again. */
static vyre_status add_device(cli_devices *devices, vyre_device *device) {
    for (size_t i = 0; i < devices->list.count; i++) {
        if (!strcmp(vyre_device_name(devices->list.items[i]), vyre_device_name(device))) {
            vyre_device_release(device);
            return VYRE_OK;
        }
    }
    if (!vyre_vec_push(&devices->list, device)) {
        vyre_device_release(device);
        return vyre_no_memory("to list devices");
    }
    return VYRE_OK;
}

static vyre_status acquire_named(cli_devices *devices, const char *names) {
    vyre_strbuf name = {0};
    vyre_status status = VYRE_OK;
    while (!status && cli_list_next(&names, &name)) {
        vyre_device *device = NULL;
        if (name.failed) {
            status = vyre_no_memory("for the name of a device");
        } else if (!name.size && devices->list.count && !names) {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove the last comma",
                                      "-b ends with a comma");
        } else if (!name.size || !strcmp(vyre_strbuf_string(&name), "auto")) {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "name devices that `vyre backends` lists, separated by "
                                      "commas, or omit -b to use all",
                                      "-b takes devices, not `%s`", vyre_strbuf_string(&name));
        } else {
            status = cli_device_open(vyre_strbuf_string(&name), &device);
            status = status ? status : add_device(devices, device);
        }
    }
    vyre_strbuf_free(&name);
    return status;
}

static vyre_status acquire_all(cli_devices *devices) {
    const vyre_registration **list;
    size_t count;
    vyre_status status = vyre_registry_by_rank_copy(vyre_registry_default(), &list, &count);
    for (size_t i = 0; !status && i < count; i++) {
        bool takes_part = !vyre_is_oracle(list[i]->id) &&
                          vyre_registry_dispatches(vyre_registry_default(), list[i]->id);
        uint32_t number = takes_part ? vyre_registration_device_count(list[i]) : 0;
        for (uint32_t k = 0; k < number && !status; k++) {
            vyre_device *device;
            vyre_status failure = vyre_registration_acquire(list[i], k, &device);
            status = failure ? VYRE_OK : add_device(devices, device);
            vyre_status_free(failure); /* `vyre backends` tells */
        }
    }
    vyre_registry_list_free(list);
    if (!status && !devices->list.count) {
        status = vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                  "`vyre backends` says what each device lacks; to use the "
                                  "reference backend, name it: -b reference",
                                  "no device can be used");
    }
    return status;
}

cli_exit cli_devices_acquire(const cli_command *command, const char *names,
                             cli_devices *out_devices) {
    *out_devices = (cli_devices){0};
    vyre_status status = names ? acquire_named(out_devices, names) : acquire_all(out_devices);
    return status ? tell_failure(command, status, true) : CLI_EXIT_DONE;
}

void cli_devices_release(cli_devices *devices) {
    for (size_t i = 0; i < devices->list.count; i++) {
        vyre_device_release(devices->list.items[i]);
    }
    vyre_vec_free(&devices->list);
}
