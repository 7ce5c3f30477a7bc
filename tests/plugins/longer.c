/* Built against a later minor version, whose tables and rows are all longer than the host's: to a
 * host of today it says that it gets by with what there is. Of two backends the second is found
 * only by who goes by the size of a row. */
#define ID "longer"
#include "tests/plugins/plain.h"

enum { LATER_ABI = VYRE_ABI + 1 };

static vyre_status later(void) {
    return NULL;
}

static const char *second_id(const vyre_backend *backend) {
    (void)backend;
    return "longer-too";
}

typedef struct later_slots {
    vyre_backend_slots slots;
    vyre_status (*later[4])(void);
} later_slots;

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static later_slots table = {PLAIN_SLOTS, {later, later, later, later}};
    (void)device;
    if (!VYRE_HAS(host, program_release) || host->abi >= LATER_ABI) {
        return host->status_make(VYRE_FAIL_UNAVAILABLE, "use a host of this version",
                                 "this is not the host that was meant");
    }
    table.slots.struct_size = sizeof table;
    out_backend->slots = &table.slots;
    return NULL;
}

static vyre_status create_second(const vyre_host *host, uint32_t device,
                                 vyre_backend *out_backend) {
    static later_slots table = {PLAIN_SLOTS, {later, later, later, later}};
    (void)host, (void)device;
    table.slots.struct_size = sizeof table;
    table.slots.id = second_id;
    out_backend->slots = &table.slots;
    return NULL;
}

static uint32_t two_devices(const vyre_host *host) {
    (void)host;
    return 2;
}

typedef struct later_registration {
    vyre_registration row;
    const char *later[3];
} later_registration;

typedef struct later_precedence {
    vyre_precedence row;
    uint64_t later;
} later_precedence;

typedef struct later_capability {
    vyre_capability row;
    uint64_t later;
} later_capability;

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const later_registration registrations[] = {
        {{.id = ID, .create = create, .device_count = two_devices}, {"x", "y", "z"}},
        {{.id = "longer-too", .create = create_second}, {"x", "y", "z"}},
    };
    static const later_precedence precedences[] = {{{ID, 60}, 1}, {{"longer-too", 70}, 2}};
    static const later_capability capabilities[] = {{{ID, true}, 1}, {{"longer-too", true}, 2}};
    static struct {
        vyre_bundle bundle;
        const char *later[2];
    } made = {{
                  .struct_size = sizeof made,
                  .registration_size = sizeof *registrations,
                  .precedence_size = sizeof *precedences,
                  .capability_size = sizeof *capabilities,
                  .registrations = &registrations[0].row,
                  .registration_count = 2,
                  .precedences = &precedences[0].row,
                  .precedence_count = 2,
                  .capabilities = &capabilities[0].row,
                  .capability_count = 2,
              },
              {"x", "y"}};
    (void)plain_precedence, (void)plain_capability;
    made.bundle.abi = max_abi >= LATER_ABI ? LATER_ABI : VYRE_ABI;
    return &made.bundle;
}
