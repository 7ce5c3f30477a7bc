/* A run: where it was done, and on which devices. */
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "bench/bench.h"

static void put_processor(vyre_strbuf *text) {
    vyre_strbuf contents = {0};
    vyre_status status = vyre_file_read("/proc/cpuinfo", 1 << 22, &contents);
    const char *name = status ? NULL : strstr(vyre_strbuf_string(&contents), "model name");
    name = name ? strchr(name, ':') : NULL;
    if (name) {
        name += strspn(name, ": \t");
        vyre_strbuf_puts(text, ", ");
        vyre_strbuf_add(text, name, strcspn(name, "\n"));
    }
    vyre_status_free(status);
    vyre_strbuf_free(&contents);
}

vyre_status bench_run_describe(bench_run *run) {
    struct utsname system;
    vyre_strbuf machine = {0};
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (uname(&system) == 0) {
        vyre_strbuf_printf(&machine, "%s %s %s", system.sysname, system.release, system.machine);
    }
    put_processor(&machine);
    if (gmtime_r(&now, &parts)) {
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    run->threads = threads > 0 ? (uint32_t)threads : 1;
    run->machine = machine.failed ? NULL : machine.data;
    run->date = vyre_copy_string(date);
    run->version = vyre_copy_string(vyre_version());
    return run->machine && run->date && run->version ? VYRE_OK
                                                     : vyre_no_memory("to describe the run");
}

vyre_status bench_run_add(bench_run *run, const char *name, vyre_device *device,
                          const char *reason) {
    if (run->device_count == BENCH_DEVICES) {
        vyre_device_release(device);
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name fewer devices with -b",
                                "a report takes at most %d devices, and there are more",
                                BENCH_DEVICES);
    }
    for (size_t i = 0; i < run->device_count; i++) {
        if (!strcmp(run->devices[i].name, name)) {
            vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name it once",
                                                  "-b names `%s` twice", name);
            vyre_device_release(device); /* whose name it may be */
            return status;
        }
    }
    bench_device *out = &run->devices[run->device_count++];
    *out = (bench_device){.name = vyre_copy_string(name), .device = device};
    out->is_auto = !device && !reason;
    out->reason = reason ? vyre_copy_string(reason) : NULL;
    if (device) {
        vyre_profile profile;
        vyre_strbuf text = {0};
        vyre_device_profile(device, &profile);
        vyre_strbuf_printf(&text, "%s%s%s%s%s%s %s", profile.device, *profile.device ? ", " : "",
                           *profile.driver ? "driver " : "", profile.driver,
                           *profile.driver ? ", " : "", vyre_device_id(device),
                           vyre_device_version(device));
        out->hardware = text.failed ? NULL : text.data;
    }
    return out->name && (out->hardware || !device) && (out->reason || !reason)
               ? VYRE_OK
               : vyre_no_memory("to describe the run");
}

vyre_status bench_run_check(const bench_run *run) {
    vyre_strbuf reasons = {0};
    for (size_t i = 0; i < run->device_count; i++) {
        if (!run->devices[i].reason) {
            vyre_strbuf_free(&reasons);
            return VYRE_OK;
        }
        vyre_strbuf_printf(&reasons, "%s%s: %s", i ? "; " : ": ", run->devices[i].name,
                           run->devices[i].reason);
    }
    /* The reasons have their fixes. */
    vyre_status status =
        vyre_status_make(VYRE_STATUS_UNAVAILABLE, run->device_count ? NULL : "name one with -b",
                         "no device can be measured except the oracle, which -b must name%s",
                         vyre_strbuf_string(&reasons));
    vyre_strbuf_free(&reasons);
    return status;
}

void bench_run_deinit(bench_run *run) {
    for (size_t i = 0; i < run->rows.count; i++) {
        bench_row *row = &run->rows.items[i];
        vyre_free(row->operation);
        for (size_t k = 0; k < BENCH_DEVICES; k++) {
            vyre_free(row->cells[k].note);
            vyre_free(row->cells[k].ran_on);
        }
    }
    vyre_vec_free(&run->rows);
    for (size_t i = 0; i < run->device_count; i++) {
        bench_device *device = &run->devices[i];
        vyre_device_release(device->device);
        vyre_free(device->name);
        vyre_free(device->hardware);
        vyre_free(device->reason);
    }
    vyre_free(run->version);
    vyre_free(run->date);
    vyre_free(run->machine);
    vyre_free(run->table);
    *run = (bench_run){0};
}
