/* Registry: which backends there are, and which of them to use.
 *
 * Backends come from three places: those built into the library, those of the program itself, added
 * with vyre_registry_add (from a constructor or at the start of main), and plugins, found through
 * manifests (docs/backends.md). The first question freezes the registry; what is asked afterwards
 * costs next to nothing, and nothing can be added any more. Every call may come from any thread.
 *
 *     vyre_device *device;
 *     status = vyre_acquire("preferred", &device);  or a name: "cuda:1", "reference"
 *     ...
 *     vyre_device_release(device);
 *
 * Preferred selection creates every backend that dispatches and keeps the most capable device: by
 * capability score, then timing, memory bandwidth, rank, the time it took to create, and id. It
 * never takes an oracle (`reference`, `cpu-ref`) or a software device, which run only when they are
 * named.
 */
#ifndef VYRE_REGISTRY_H
#define VYRE_REGISTRY_H

#include <vyre/backend.h>
#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_registry vyre_registry;
typedef struct vyre_device vyre_device; /* a backend that was acquired: device.h */

/* The registry of the process, with what is built in and all plugins. Lives as long as the
 * process. */
VYRE_API vyre_registry *vyre_registry_default(void);

/* A registry without any backend, for tests and for programs that choose backends themselves.
 * Devices that were acquired from it outlive it; bundles must outlive both. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_create(vyre_registry **out_registry);
VYRE_API void vyre_registry_free(vyre_registry *registry); /* NULL is allowed */

/* Adds what a bundle brings. The bundle is not copied. Ids are made of a-z, 0-9, '_' and '-'. An id
 * may come twice: of registrations the first counts, of ranks and capabilities the last. Refused
 * once the registry is frozen. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_add(vyre_registry *registry,
                                                     const vyre_bundle *bundle);

/* All registrations, in no order. The same list on every call, from the first on; empty if there
 * was no memory for it then. */
VYRE_API const vyre_registration *const *vyre_registry_backends(vyre_registry *registry,
                                                                size_t *out_count);

/* All registrations by ascending rank, those of the same rank by id; an empty list if it could not
 * be made. */
VYRE_API const vyre_registration *const *vyre_registry_by_rank(vyre_registry *registry,
                                                               size_t *out_count);
/* The same as an array of the caller's, to be freed with vyre_registry_list_free; NULL if empty. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_by_rank_copy(vyre_registry *registry,
                                                              const vyre_registration ***out_list,
                                                              size_t *out_count);
VYRE_API void vyre_registry_list_free(const vyre_registration **list);

/* The first registration of that id; NULL, and no error, if there is none. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_find(vyre_registry *registry, const char *id,
                                                      const vyre_registration **out_registration);

/* False and VYRE_NO_RANK also where the question cannot be answered. */
VYRE_API bool vyre_registry_dispatches(vyre_registry *registry, const char *id);
VYRE_API uint32_t vyre_registry_rank(vyre_registry *registry, const char *id);

/* The operations of the language, which is what a backend supports if it says nothing else. */
VYRE_API const vyre_op_set *vyre_core_supported_ops(void);

/* Acquires a device by its name: `id`, or `id:n` for device n of the backend; or `preferred`, which
 * runs preferred selection. An id that nobody registers is VYRE_STATUS_NOT_FOUND; an error of the
 * factory is passed on as it is. `auto` is refused: the router chooses for a program (route.h). */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_acquire(vyre_registry *registry, const char *name,
                                                         vyre_device **out_device);

/* The same for a registration that was found. Its `create` gives the bare backend. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registration_acquire(const vyre_registration *registration,
                                                             uint32_t device,
                                                             vyre_device **out_device);

/* How many devices a registration has, at most 256; 0 if there is none, or it cannot be told:
 * acquiring device 0 then says why. */
VYRE_API uint32_t vyre_registration_device_count(const vyre_registration *registration);

/* Preferred selection, and what it went by. */

typedef enum vyre_require {
    VYRE_REQUIRE_ANY,
    VYRE_REQUIRE_GPU /* never anything else */
} vyre_require;

/* Zero means the default. */
typedef struct vyre_selection {
    vyre_require require;
    const char *allow; /* ids with * and ?, separated by commas; NULL: all */
    const char *deny;  /* the same, and stronger */
    uint32_t device;   /* which device of each backend */
    vyre_grade grade;  /* the weakest that will do */
} vyre_selection;

/* What became of a backend. X(name, text). */
#define VYRE_FATES(X)                                                                              \
    X(CHOSEN, "chosen")                                                                            \
    X(OUTSCORED, "outscored")                                                                      \
    X(FAILED, "failed")                 /* to be created; the reason says why */                   \
    X(REFERENCE, "reference")           /* an oracle, never preferred */                           \
    X(NO_DISPATCH, "does not dispatch") /* it only translates */                                   \
    X(DENIED, "not allowed")            /* by the globs */                                         \
    X(SOFTWARE, "software device")      /* a CPU behind the interface of a GPU */                  \
    X(NO_GPU, "not a GPU")              /* where one is required */                                \
    X(GRADE, "not exact enough")        /* for the grade that is asked for */

typedef enum vyre_fate {
#define VYRE_FATE_ENUM(name, text) VYRE_FATE_##name,
    VYRE_FATES(VYRE_FATE_ENUM)
#undef VYRE_FATE_ENUM
} vyre_fate;

typedef struct vyre_candidate {
    const char *id;
    vyre_fate fate;
    const char *reason; /* for people; "" where the fate says it all */
    uint32_t rank;
    /* The rest only of those that were created. */
    uint32_t capability_score;
    uint32_t timing_score;
    uint64_t memory_bandwidth_gbps;
    uint64_t acquisition_ns;
} vyre_candidate;

/* Every registration in the order in which it was looked at. Ids are those of the registrations,
 * all other texts go with the decision. */
typedef struct vyre_decision {
    vyre_candidate *candidates;
    size_t count;
    size_t chosen; /* its index; `count` if none was */
    char *why;     /* which one and what decided, or why there is none; NULL without memory */
} vyre_decision;

VYRE_API void vyre_decision_free(vyre_decision *decision);
VYRE_API const char *vyre_fate_name(vyre_fate fate);

/* `selection` and `out_decision` may be NULL. VYRE_STATUS_UNAVAILABLE if nothing can be used, with
 * the reason of each that failed. The decision is given then too, unless memory ran out; it is to
 * be freed in any case. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_acquire_preferred(vyre_registry *registry,
                                                                   const vyre_selection *selection,
                                                                   vyre_decision *out_decision,
                                                                   vyre_device **out_device);

/* vyre_registry_acquire from the default registry. */
VYRE_API VYRE_MUST_USE vyre_status vyre_acquire(const char *name, vyre_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
