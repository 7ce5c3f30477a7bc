/* A hostile plugin: which one of plugins.h is what VARIANT says. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/backend.h>

#include "tests/hostile/plugins.h"

enum {
#define NUMBER(name, when) IS_##name,
    HOSTILE(NUMBER)
#undef NUMBER
};

#define JOIN(a, b) a##b
#define NUMBER_OF(name) JOIN(IS_, name)
#define IS(name) (NUMBER_OF(VARIANT) == IS_##name)

__attribute__((visibility("default"))) const vyre_bundle *vyre_backend_query(uint32_t max_abi);

static volatile int zero;
static int *volatile nowhere;

static void sleep_for_ever(void) {
    for (;;) {
        pause();
    }
}

static int recurse(volatile char *before) {
    volatile char room[4096];
    room[0] = before[0];
    return (zero ? 0 : recurse(room)) + room[0]; /* it never is anything else */
}

__attribute__((constructor)) static void load(void) {
    if (IS(abort_at_load)) {
        abort();
    } else if (IS(crash_at_load)) {
        *nowhere = 1;
    } else if (IS(divide_at_load)) {
        raise(SIGFPE);
    } else if (IS(exit_at_load)) {
        exit(3);
    } else if (IS(exit_well_at_load)) {
        _exit(0);
    } else if (IS(sleep_at_load)) {
        sleep_for_ever();
    } else if (IS(overflow_at_load)) {
        volatile char first = 0;
        zero = recurse(&first);
    } else if (IS(signal_at_load)) {
        kill(getpid(), SIGKILL);
    } else if (IS(close_all_at_load)) {
        for (int file = 0; file < 1024; file++) {
            close(file);
        }
    }
}

static const char *id(const vyre_backend *backend) {
    static int calls;
    (void)backend;
    if (IS(null_id)) {
        return NULL;
    }
    return IS(other_id) || (IS(id_changes) && calls++) ? "another" : "hostile";
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    static uint8_t elsewhere[64];
    if (IS(null_message_in_run)) {
        return backend->host->status_make(VYRE_FAIL_BACKEND, NULL, NULL);
    }
    if (!call->output_count || !(IS(larger_outputs) || IS(smaller_outputs) || IS(moved_outputs))) {
        return backend->host->status_make(VYRE_FAIL_UNSUPPORTED, "run it on another backend",
                                          "this backend runs nothing");
    }
    outputs[0].size = IS(larger_outputs) ? (size_t)1 << 40 : IS(smaller_outputs) ? 1 : 64;
    outputs[0].data = IS(moved_outputs) ? elsewhere : outputs[0].data;
    return NULL;
}

static const char *version(const vyre_backend *backend) {
    static int calls;
    (void)backend;
    return IS(null_version) || (IS(version_vanishes) && calls++) ? NULL : "1";
}

static vyre_op_set all_operations(void) {
    vyre_op_set set;
    memset(&set, 0xff, sizeof set);
    return set;
}

static const vyre_op_set *supported_ops(const vyre_backend *backend) {
    static vyre_op_set set;
    static int calls;
    (void)backend;
    set = all_operations();
    if (IS(narrow)) {
        memset(&set, 0, sizeof set);
    }
    return IS(null_operations) || (IS(operations_vanish) && calls++) ? NULL : &set;
}

static uint32_t features(const vyre_backend *backend) {
    (void)backend;
    return IS(all_features) || IS(narrow) ? UINT32_MAX : 0;
}

static void max_workgroup_size(const vyre_backend *backend, uint32_t out_size[3]) {
    (void)backend;
    out_size[0] = out_size[1] = out_size[2] = IS(no_workgroups) ? 0 : 1024;
}

static uint32_t subgroup_size(const vyre_backend *backend) {
    (void)backend;
    return 32;
}

static uint64_t max_storage_buffer_bytes(const vyre_backend *backend) {
    (void)backend;
    return UINT64_MAX;
}

static void device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    (void)backend;
    if (IS(crash_in_profile)) {
        *nowhere = 1;
    }
    if (IS(narrow)) { /* the best score that there is */
        out_profile->flags = UINT64_MAX & ~(uint64_t)VYRE_PROFILE_IS_SOFTWARE;
        out_profile->timing_quality = VYRE_TIMING_HARDWARE_COUNTERS;
    }
    if (IS(wild_profile)) {
        memset(out_profile, 0xff, sizeof *out_profile);
        out_profile->device = "\033[31mred\033[0m \xff\xfe";
        out_profile->driver = NULL;
        out_profile->grade = 0;
    }
}

static vyre_status compile_native(const vyre_backend *backend, const vyre_compile *compile,
                                  vyre_native *out_native) {
    static const vyre_pipeline_slots other = {
        .struct_size = 8, .abi = 0x7fff0000, .reserved = {1, 2}};
    (void)backend, (void)compile;
    if (IS(bad_pipeline)) {
        out_native->slots = &other;
    } else if (IS(odd_artifact)) {
        out_native->artifact_size = (size_t)1 << 40;
    }
    return NULL;
}

static vyre_status dispatch_borrowed_async(const vyre_backend *backend, const vyre_call *call,
                                           vyre_output *outputs, vyre_pending_run *out_run) {
    static const vyre_run_slots other = {4, 0, NULL, NULL, NULL};
    (void)backend, (void)call, (void)outputs;
    *out_run = (vyre_pending_run){&other, NULL};
    return NULL;
}

static void destroy(const vyre_backend *backend) {
    (void)backend;
    if (IS(crash_in_destroy)) {
        *nowhere = 1;
    }
}

static vyre_backend_slots table = {
    VYRE_BACKEND_HEAD,
    .id = id,
    .dispatch = dispatch,
    .version = version,
    .supported_ops = supported_ops,
    .compile_native = compile_native,
    .features = features,
    .max_workgroup_size = max_workgroup_size,
    .max_workgroups_per_dimension = max_workgroup_size,
    .subgroup_size = subgroup_size,
    .max_storage_buffer_bytes = max_storage_buffer_bytes,
    .device_profile = device_profile,
    .destroy = destroy,
};

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    (void)device;
    if (IS(abort_in_create)) {
        abort();
    } else if (IS(crash_in_create)) {
        *nowhere = 1;
    } else if (IS(sleep_in_create)) {
        sleep_for_ever();
    } else if (IS(exit_in_create)) {
        exit(0);
    } else if (IS(null_message)) {
        return host->status_make(VYRE_FAIL_BACKEND, NULL, NULL);
    } else if (IS(odd_code)) {
        return host->status_make(4711, "", "");
    }
    table.marker = IS(no_marker) ? 7 : table.marker;
    table.struct_size = IS(short_table) ? 16 : table.struct_size;
    table.abi = IS(other_abi) ? 0x00020000 : table.abi;
    table.reserved[1] = IS(reserved_words) ? 1 : 0;
    table.dispatch = IS(no_dispatch) ? NULL : dispatch;
    table.dispatch_borrowed_async = IS(bad_pending_run) ? dispatch_borrowed_async : NULL;
    out_backend->slots = IS(no_table) ? NULL : &table;
    return NULL;
}

static uint32_t device_count(const vyre_host *host) {
    (void)host;
    if (IS(abort_in_count)) {
        abort();
    }
    return IS(endless_devices) ? UINT32_MAX : 1;
}

static char long_id[1 << 20];

static const char *registered_id(void) {
    memset(long_id, 'a', sizeof long_id - 1);
    return IS(no_id)           ? NULL
           : IS(wild_id)       ? (const char *)1
           : IS(long_id)       ? long_id
           : IS(escape_in_id)  ? "\033[31mred"
           : IS(id_of_another) ? "cpu"
           : IS(id_auto)       ? "auto"
                               : "hostile";
}

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static vyre_registration registration;
    static vyre_precedence precedence;
    static vyre_capability capability;
    static vyre_bundle bundle;
    (void)max_abi;
    if (IS(abort_in_query)) {
        abort();
    } else if (IS(sleep_in_query)) {
        sleep_for_ever();
    } else if (IS(exit_in_query)) {
        exit(0);
    }
    registration =
        (vyre_registration){registered_id(), IS(no_factory) ? NULL : create, NULL, device_count};
    precedence = (vyre_precedence){registration.id, 0};
    capability = (vyre_capability){registration.id, true};
    bundle = (vyre_bundle){VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1};
    if (IS(short_bundle)) {
        bundle.struct_size = 8;
    } else if (IS(endless_rows)) {
        bundle.registration_count = SIZE_MAX / sizeof registration;
    } else if (IS(missing_rows)) {
        bundle.capabilities = NULL;
    } else if (IS(wide_rows)) {
        bundle.registration_size = 0x7ffffff8;
        bundle.registration_count = 2;
    } else if (IS(odd_rows)) {
        bundle.precedence_size = 3;
    }
    return IS(query_gives_garbage)   ? (const vyre_bundle *)0x1000
           : IS(query_gives_nothing) ? NULL
                                     : &bundle;
}
