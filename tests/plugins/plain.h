/* The least that a backend is, for plugins that get something else wrong: it refuses every program.
 * Each plugin defines ID before it includes this. */
#ifndef VYRE_TESTS_PLUGINS_PLAIN_H
#define VYRE_TESTS_PLUGINS_PLAIN_H

#include <vyre/backend.h>

#define PLUGIN_API __attribute__((visibility("default"), unused))

PLUGIN_API const vyre_bundle *vyre_backend_query(uint32_t max_abi);

__attribute__((unused)) static const char *plain_id(const vyre_backend *backend) {
    (void)backend;
    return ID;
}

__attribute__((unused)) static vyre_status
plain_dispatch(const vyre_backend *backend, const vyre_call *call, vyre_output *outputs) {
    (void)call, (void)outputs;
    return backend->host->status_make(VYRE_FAIL_UNSUPPORTED, "run it on another backend",
                                      "this backend runs nothing");
}

#define PLAIN_SLOTS                                                                                \
    { VYRE_BACKEND_HEAD, .id = plain_id, .dispatch = plain_dispatch }

__attribute__((unused)) static vyre_status plain_create(const vyre_host *host, uint32_t device,
                                                        vyre_backend *out_backend) {
    static const vyre_backend_slots slots = PLAIN_SLOTS;
    (void)host, (void)device;
    out_backend->slots = &slots;
    return NULL;
}

static const vyre_precedence plain_precedence = {ID, 50};
static const vyre_capability plain_capability = {ID, true};

/* A bundle of one registration, but for its head. */
#define PLAIN_ROWS(registration)                                                                   \
    .registrations = (registration), .registration_count = 1, .precedences = &plain_precedence,    \
    .precedence_count = 1, .capabilities = &plain_capability, .capability_count = 1

/* The whole plugin, given its factory, and what else its registration has. */
#define PLAIN_PLUGIN(...)                                                                          \
    const vyre_bundle *vyre_backend_query(uint32_t max_abi) {                                      \
        static const vyre_registration registration = {.id = ID, __VA_ARGS__};                     \
        static const vyre_bundle bundle = {VYRE_BUNDLE_HEAD, PLAIN_ROWS(&registration)};           \
        (void)max_abi;                                                                             \
        return &bundle;                                                                            \
    }

#endif
