/* Three devices, of which the second fails, with names that need quoting. */
#define ID "several"
#include "tests/plugins/plain.h"

static const char *version(const vyre_backend *backend) {
    (void)backend;
    return "1.2";
}

static uint32_t features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_SUBGROUP_OPS | VYRE_FEATURE_F16;
}

static uint32_t max_invocations(const vyre_backend *backend) {
    (void)backend;
    return 256;
}

static void device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    (void)backend;
    out_profile->device = "Card \"A\", 8|16 lanes";
    out_profile->driver = "550.1";
    out_profile->flags = VYRE_PROFILE_IS_GPU;
    out_profile->memory_bandwidth_gbps = 900;
    out_profile->timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS;
    out_profile->grade = VYRE_GRADE_NORMAL_RANGE;
}

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static const vyre_backend_slots slots = {
        VYRE_BACKEND_HEAD,
        .id = plain_id,
        .dispatch = plain_dispatch,
        .version = version,
        .features = features,
        .device_profile = device_profile,
        .max_invocations_per_workgroup = max_invocations,
    };
    if (device == 1) {
        return host->status_make(VYRE_FAIL_BACKEND, "let it cool", "device 1 does not answer");
    }
    if (device > 2) {
        return host->status_make(VYRE_FAIL_NOT_FOUND, "count from 0 to 2",
                                 "there is no such device");
    }
    out_backend->slots = &slots;
    return NULL;
}

static uint32_t device_count(const vyre_host *host) {
    (void)host;
    return 3;
}

PLAIN_PLUGIN(.create = create, .device_count = device_count)
