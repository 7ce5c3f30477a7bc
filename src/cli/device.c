#include "cli/device.h"

#include <string.h>

#include "cli/output.h"
#include "driver/registry.h"

bool cli_device_is_reference(const vyre_device *device) {
    return !strcmp(vyre_device_id(device), "reference");
}

void cli_device_tell_refused(const cli_command *command) {
    size_t count, refused = 0;
    const vyre_plugin_record *records = vyre_plugin_records(NULL, &count);
    for (size_t i = 0; i < count; i++) {
        refused += records[i].fate == VYRE_PLUGIN_REFUSED;
    }
    if (refused) {
        const char *s = cli_plural(refused);
        cli_message_print("vyre %s: %zu plugin%s or folder%s of plugins %s refused; `vyre doctor` "
                          "says why\n",
                          command->name, refused, s, s, refused == 1 ? "was" : "were");
    }
}

static vyre_status acquire_preferred(vyre_device **out_device, vyre_text *out_why) {
    vyre_decision decision;
    vyre_status status = vyre_registry_acquire_preferred(NULL, NULL, &decision, out_device);
    if (!status) {
        vyre_text_printf(out_why, "auto takes %s", decision.why);
    }
    vyre_decision_free(&decision);
    return status;
}

cli_exit cli_device_acquire(const cli_command *command, const char *name, vyre_device **out_device,
                            vyre_text *out_why) {
    *out_device = NULL;
    bool is_auto = !name || !strcmp(name, "auto");
    vyre_status status = is_auto ? acquire_preferred(out_device, out_why)
                                 : vyre_registry_acquire(NULL, name, out_device);
    if (!status) {
        vyre_text_puts(out_why, is_auto ? "" : "named by -b");
        return CLI_EXIT_DONE;
    }
    vyre_status_code code = vyre_status_code_of(status);
    (void)cli_message_status(command, status);
    if (is_auto) {
        cli_message_print("vyre %s: the reference backend, made to be right and not to be fast, "
                          "runs when it is named: -b reference\n",
                          command->name);
    }
    if (code == VYRE_STATUS_INVALID_ARGUMENT) {
        return CLI_EXIT_USAGE;
    }
    cli_device_tell_refused(command);
    return CLI_EXIT_BACKEND;
}
