#include <string.h>

#include "base/log.h"
#include "base/near.h"
#include "base/status.h"
#include "registry/registry.h"
#include "runtime/device.h"

/* What a registration says of the operations without creating the backend must be what it has. */
static vyre_status check_promise(const vyre_registration *registration, const vyre_device *device) {
    const vyre_backend *backend = device->backend;
    const vyre_op_set *promised =
        registration->supported_ops ? registration->supported_ops() : NULL;
    return !promised || !memcmp(promised, backend->slots->supported_ops(backend), sizeof *promised)
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_BACKEND,
                                  "make `supported_ops` of its table return the registered set",
                                  "backend `%s` supports other operations than its registration "
                                  "says",
                                  registration->id);
}

vyre_status vyre_registration_acquire(const vyre_registration *registration, uint32_t device,
                                      vyre_device **out_device) {
    *out_device = NULL;
    if (!registration) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass a registration that vyre_registry_find returned",
                                "the registration is NULL");
    }
    vyre_backend made = {.host = vyre_host_services()};
    VYRE_TRY(registration->create(made.host, device, &made));
    VYRE_TRY(vyre_device_open(&made, registration->id, device, out_device));
    vyre_status status = check_promise(registration, *out_device);
    if (status) {
        vyre_device_release(*out_device);
        *out_device = NULL;
    }
    return status;
}

uint32_t vyre_registration_device_count(const vyre_registration *registration) {
    enum { MOST = 256 }; /* so that a number that cannot be does not keep a list from ending */
    uint32_t count =
        registration->device_count ? registration->device_count(vyre_host_services()) : 1;
    if (count > MOST) {
        vyre_log(VYRE_LOG_WARNING, "backend `%s` counts %u devices, of which %d are listed",
                 registration->id, count, MOST);
    }
    return count < MOST ? count : MOST;
}

/* Splits `id` or `id:n`; false if it is neither. */
static bool parse_name(const char *name, vyre_strbuf *id, uint32_t *device) {
    const char *colon = strchr(name, ':');
    vyre_strbuf_add(id, name, colon ? (size_t)(colon - name) : strlen(name));
    uint64_t number = 0;
    for (const char *c = colon ? colon + 1 : ""; *c; c++) {
        if (*c < '0' || *c > '9') {
            return false;
        }
        number = number * 10 + (uint64_t)(*c - '0');
        if (number > UINT32_MAX) {
            return false;
        }
    }
    *device = (uint32_t)number;
    return *name && colon != name && (!colon || colon[1]);
}

static vyre_status unknown(vyre_registry *registry, const char *id) {
    size_t count;
    const vyre_registration *const *list = vyre_registry_by_rank(registry, &count);
    vyre_near near;
    vyre_near_init(&near, (vyre_str){id, strlen(id)});
    vyre_strbuf fix = {0}, meant = {0};
    vyre_strbuf_puts(&fix, "link the driver that registers it or choose a registered id");
    for (size_t i = 0; i < count; i++) {
        vyre_near_add(&near, (vyre_str){list[i]->id, strlen(list[i]->id)});
        if (!i || strcmp(list[i]->id, list[i - 1]->id) != 0) {
            vyre_strbuf_printf(&fix, "%s%s", i ? ", " : ": ", list[i]->id);
        }
    }
    vyre_near_print(&near, &meant, "; did you mean ");
    vyre_strbuf_puts(&meant, near.count ? "?" : "");
    vyre_status status = vyre_status_make(VYRE_STATUS_NOT_FOUND, vyre_strbuf_string(&fix),
                                          "backend `%s` is not linked into this binary%s", id,
                                          vyre_strbuf_string(&meant));
    vyre_strbuf_free(&fix);
    vyre_strbuf_free(&meant);
    return status;
}

static vyre_status acquire_id(vyre_registry *registry, const char *id, uint32_t device,
                              vyre_device **out_device) {
    const vyre_registration *found;
    VYRE_TRY(vyre_registry_find(registry, id, &found));
    return found ? vyre_registration_acquire(found, device, out_device) : unknown(registry, id);
}

/* An id, or a word for a way to choose a device, which no backend has as its id. */
static vyre_status acquire_word(vyre_registry *registry, const char *id, uint32_t device,
                                vyre_device **out_device) {
    if (!strcmp(id, "auto")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "name a device, or use `preferred` for the most capable one; "
                                "`auto` works where a program is given",
                                "`auto` chooses a device for a program, and this call has no "
                                "program");
    }
    if (!strcmp(id, "preferred")) {
        const vyre_selection selection = {.device = device, .quick = true};
        return vyre_registry_acquire_preferred(registry, &selection, NULL, out_device);
    }
    return acquire_id(registry, id, device, out_device);
}

static vyre_status acquire(vyre_registry *registry, const char *name, bool takes_words,
                           vyre_device **out_device) {
    *out_device = NULL;
    vyre_strbuf id = {0};
    uint32_t device = 0;
    vyre_status status;
    if (!name || !parse_name(name, &id, &device)) {
        status = vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT,
            "write the ID of a backend, or an ID and the number of a device, as in cuda:1",
            "`%s` does not name a device", name ? name : "");
    } else if (id.failed) {
        status = vyre_no_memory("to find `%s`", name);
    } else {
        status = takes_words ? acquire_word(registry, vyre_strbuf_string(&id), device, out_device)
                             : acquire_id(registry, vyre_strbuf_string(&id), device, out_device);
    }
    vyre_strbuf_free(&id);
    return status;
}

vyre_status vyre_registry_acquire(vyre_registry *registry, const char *name,
                                  vyre_device **out_device) {
    return acquire(registry, name, true, out_device);
}

vyre_status vyre_registry_acquire_named(vyre_registry *registry, const char *name,
                                        vyre_device **out_device) {
    return acquire(registry, name, false, out_device);
}
