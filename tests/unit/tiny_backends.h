/* Backends that do nothing but be there: for tests of who is registered and who is chosen.
 *
 *     tiny_reset();
 *     tiny[0].id = "fast";
 *     tiny[0].profile.max_storage_buffer_bytes = 1;
 *     tiny[1].failure = "no such device";
 *     vyre_registry *registry = tiny_registry(2);              the first two, by their ranks
 *
 * Each counts how often it was created and destroyed. */
#ifndef VYRE_TESTS_TINY_BACKENDS_H
#define VYRE_TESTS_TINY_BACKENDS_H

#include <stdatomic.h>
#include <time.h>

#include <vyre/device.h>

#include "tests/unit/contract_check.h"

enum { TINY_COUNT = 6 };

static struct tiny {
    const char *id;      /* of the registration */
    const char *own_id;  /* of the backend; NULL: the same */
    const char *failure; /* NULL: it can be created; else the status that it returns */
    uint32_t rank;
    bool unranked, emission_only, undeclared;
    bool has_profile;
    vyre_profile profile;
    uint64_t create_ns, profile_ns; /* how long it sleeps there */
    atomic_int created, destroyed, last_device;
    atomic_int created_at, destroyed_at; /* numbers that grow with each such event */
    vyre_status returned;                /* the last failure, for comparison alone */
} tiny[TINY_COUNT];
static atomic_int tiny_events;

static void tiny_sleep(uint64_t ns) {
    if (ns) {
        nanosleep(&(struct timespec){0, (long)ns}, NULL);
    }
}

static const char *tiny_id(const vyre_backend *backend) {
    const struct tiny *self = backend->state;
    return self->own_id ? self->own_id : self->id;
}

static vyre_status tiny_dispatch(const vyre_backend *backend, const vyre_call *call,
                                 vyre_output *outputs) {
    for (size_t i = 0; i < call->output_count; i++) {
        memset(outputs[i].data, 0, outputs[i].size);
    }
    (void)backend;
    return NULL;
}

static void tiny_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    const struct tiny *self = backend->state;
    tiny_sleep(self->profile_ns);
    *out_profile = self->profile;
}

/* What the host asks slots of their own for, from the profile, too. */
static uint32_t tiny_features(const vyre_backend *backend) {
    static const struct {
        uint64_t flag;
        uint32_t feature;
    } rows[] = {
        {VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS, VYRE_FEATURE_SUBGROUP_OPS},
        {VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH, VYRE_FEATURE_INDIRECT_DISPATCH},
        {VYRE_PROFILE_SUPPORTS_F16, VYRE_FEATURE_F16},
        {VYRE_PROFILE_SUPPORTS_BF16, VYRE_FEATURE_BF16},
        {VYRE_PROFILE_SUPPORTS_TENSOR_CORES, VYRE_FEATURE_TENSOR_CORES},
    };
    const struct tiny *self = backend->state;
    uint32_t features = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        features |= self->profile.flags & rows[i].flag ? rows[i].feature : 0;
    }
    return features;
}

static uint32_t tiny_invocations(const vyre_backend *backend) {
    return (uint32_t)((const struct tiny *)backend->state)->profile.max_invocations_per_workgroup;
}

static uint32_t tiny_subgroup_size(const vyre_backend *backend) {
    return (uint32_t)((const struct tiny *)backend->state)->profile.subgroup_size;
}

static uint64_t tiny_storage_bytes(const vyre_backend *backend) {
    return ((const struct tiny *)backend->state)->profile.max_storage_buffer_bytes;
}

static void tiny_destroy(const vyre_backend *backend) {
    struct tiny *self = backend->state;
    atomic_fetch_add(&self->destroyed, 1);
    atomic_store(&self->destroyed_at, atomic_fetch_add(&tiny_events, 1) + 1);
}

/* Those without a profile have one made of defaults. */
static const vyre_backend_slots tiny_plain_slots = {
    VYRE_BACKEND_HEAD,
    .id = tiny_id,
    .dispatch = tiny_dispatch,
    .destroy = tiny_destroy,
};
static const vyre_backend_slots tiny_slots = {
    VYRE_BACKEND_HEAD,
    .id = tiny_id,
    .dispatch = tiny_dispatch,
    .features = tiny_features,
    .max_invocations_per_workgroup = tiny_invocations,
    .subgroup_size = tiny_subgroup_size,
    .max_storage_buffer_bytes = tiny_storage_bytes,
    .device_profile = tiny_profile,
    .destroy = tiny_destroy,
};

static vyre_status tiny_create(struct tiny *self, const vyre_host *host, uint32_t device,
                               vyre_backend *out_backend) {
    atomic_fetch_add(&self->created, 1);
    atomic_store(&self->last_device, (int)device);
    atomic_store(&self->created_at, atomic_fetch_add(&tiny_events, 1) + 1);
    tiny_sleep(self->create_ns);
    if (self->failure) {
        self->returned = host->status_make(VYRE_FAIL_UNAVAILABLE, NULL, self->failure);
        return self->returned;
    }
    out_backend->slots = self->has_profile ? &tiny_slots : &tiny_plain_slots;
    out_backend->state = self;
    return NULL;
}

#define TINY_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define TINY_CREATE(n)                                                                             \
    static vyre_status tiny_create_##n(const vyre_host *host, uint32_t device,                     \
                                       vyre_backend *out_backend) {                                \
        return tiny_create(&tiny[n], host, device, out_backend);                                   \
    }
TINY_EACH(TINY_CREATE)

/* Rows of a bundle, filled by tiny_registry. */
static vyre_registration tiny_registrations[TINY_COUNT] = {
#define TINY_ROW(n) {.create = tiny_create_##n},
    TINY_EACH(TINY_ROW)
#undef TINY_ROW
};
static vyre_precedence tiny_precedences[TINY_COUNT];
static vyre_capability tiny_capabilities[TINY_COUNT];
static vyre_bundle tiny_bundle;

static inline void tiny_reset(void) {
    static const char *const ids[TINY_COUNT] = {"a", "b", "c", "d", "e", "f"};
    memset(tiny, 0, sizeof tiny);
    for (uint32_t i = 0; i < TINY_COUNT; i++) {
        tiny[i].id = ids[i];
        tiny[i].rank = 10 * (i + 1);
    }
}

/* The bundle of the first `count`. */
static inline const vyre_bundle *tiny_make_bundle(size_t count) {
    tiny_bundle = (vyre_bundle){
        VYRE_BUNDLE_HEAD, tiny_registrations, count, tiny_precedences, 0, tiny_capabilities, 0};
    for (size_t i = 0; i < count; i++) {
        tiny_registrations[i].id = tiny[i].id;
        if (!tiny[i].unranked) {
            tiny_precedences[tiny_bundle.precedence_count++] =
                (vyre_precedence){tiny[i].id, tiny[i].rank};
        }
        if (!tiny[i].undeclared) {
            tiny_capabilities[tiny_bundle.capability_count++] =
                (vyre_capability){tiny[i].id, !tiny[i].emission_only};
        }
    }
    return &tiny_bundle;
}

static inline vyre_registry *tiny_registry(size_t count) {
    vyre_registry *registry;
    expect_ok(vyre_registry_create(&registry));
    expect_ok(vyre_registry_add(registry, tiny_make_bundle(count)));
    return registry;
}

#endif
