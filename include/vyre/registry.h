/* Registry: the backends of a process, and the choice of a device.
 *
 *     vyre_device *device;
 *     status = vyre_acquire("preferred", &device);  or a name: "cuda:1", "reference"
 *     ...
 *     vyre_device_release(device);
 *
 * Backends come from three sources: the library itself, the program (vyre_registry_add) and
 * plugins, which manifests name (docs/backends.md). The first query freezes the registry: nothing
 * can be added later, and queries are cheap. Any thread may make these calls.
 *
 * Preferred selection creates a device of every backend that dispatches and keeps the most capable
 * one. It compares capability score, timing score, memory bandwidth, rank, creation time and id, in
 * this order. It never chooses an oracle (`reference`, `cpu-ref`) or a software device; these run
 * only by name. */
#ifndef VYRE_REGISTRY_H
#define VYRE_REGISTRY_H

#include <vyre/backend.h>
#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_registry vyre_registry;
typedef struct vyre_device vyre_device; /* an acquired backend: device.h */

/* Returns the registry of the process, with built-in backends and plugins. It is never freed. */
VYRE_API vyre_registry *vyre_registry_default(void);

/* Makes an empty registry, for tests and for programs that choose backends themselves. Devices may
 * outlive it. Bundles must outlive it and its devices. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_create(vyre_registry **out_registry);
VYRE_API void vyre_registry_free(vyre_registry *registry); /* NULL is allowed */

/* Adds the rows of a bundle, which it does not copy. Ids consist of a-z, 0-9, '_' and '-'. If an id
 * occurs twice, the first registration wins, but the last rank and the last capability. Fails once
 * the registry is frozen. Call it from a constructor or early in main. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_add(vyre_registry *registry,
                                                     const vyre_bundle *bundle);

/* Sets the absolute path of llvmlite's library, `llvmlite/binding/libllvmlite.so`. The cpu backend
 * opens it if it finds no libLLVM, and neither VYRE_LLVM nor VYRE_LLVMLITE is set. Call it before
 * the first device of the cpu backend is created, from any thread. NULL removes the path.
 * INVALID_ARGUMENT if the path is not absolute. The first device reports a missing file. */
VYRE_API VYRE_MUST_USE vyre_status vyre_llvmlite_set(const char *path);

/* Returns all registrations, in no particular order. Every call returns the same list. It is empty
 * if memory ran out when it was built. */
VYRE_API const vyre_registration *const *vyre_registry_backends(vyre_registry *registry,
                                                                size_t *out_count);

/* Returns all registrations by ascending rank, then by id. The list is empty if memory ran out when
 * it was built. */
VYRE_API const vyre_registration *const *vyre_registry_by_rank(vyre_registry *registry,
                                                               size_t *out_count);
/* Like vyre_registry_by_rank, as a copy. The caller frees it with vyre_registry_list_free; an empty
 * one is NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_by_rank_copy(vyre_registry *registry,
                                                              const vyre_registration ***out_list,
                                                              size_t *out_count);
VYRE_API void vyre_registry_list_free(const vyre_registration **list);

/* Returns the first registration with that id; NULL without an error if there is none. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_find(vyre_registry *registry, const char *id,
                                                      const vyre_registration **out_registration);

/* These return false and VYRE_NO_RANK for an unknown id, and if the registry could not be built. */
VYRE_API bool vyre_registry_dispatches(vyre_registry *registry, const char *id);
VYRE_API uint32_t vyre_registry_rank(vyre_registry *registry, const char *id);

/* Returns all operations of the language: the set that a backend supports by default. */
VYRE_API const vyre_op_set *vyre_core_supported_ops(void);

/* Acquires a device, which the caller releases. `name` is `id`, `id:n` for device n of that
 * backend, or `preferred` for preferred selection. An unknown id fails with VYRE_STATUS_NOT_FOUND.
 * An error of the backend is returned unchanged. `auto` is refused: the router chooses a device for
 * a program (route.h). */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_acquire(vyre_registry *registry, const char *name,
                                                         vyre_device **out_device);

/* Like vyre_registry_acquire, for a registration. The registration's own `create` returns the bare
 * backend, without what the host adds. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registration_acquire(const vyre_registration *registration,
                                                             uint32_t device,
                                                             vyre_device **out_device);

/* Returns how many devices a backend has, at most 256. 0 means none or unknown; acquiring device 0
 * then says why. */
VYRE_API uint32_t vyre_registration_device_count(const vyre_registration *registration);

/* Preferred selection. */

typedef enum vyre_require {
    VYRE_REQUIRE_ANY,
    VYRE_REQUIRE_GPU /* fails rather than use a CPU */
} vyre_require;

/* Zero means the default. */
typedef struct vyre_selection {
    vyre_require require;
    const char *allow; /* ids with * and ?, separated by commas; NULL: all */
    const char *deny;  /* like `allow`, and takes precedence */
    uint32_t device;   /* the index of the device in each backend */
    vyre_grade grade;  /* the weakest that is acceptable */
    bool quick; /* leaves out drivers that had only software devices for an earlier process, without
                 * opening them. Such candidates have no scores and no reason */
} vyre_selection;

/* What preferred selection did with a backend. X(name, text). */
#define VYRE_FATES(X)                                                                              \
    X(CHOSEN, "chosen")                                                                            \
    X(OUTSCORED, "outscored")                                                                      \
    X(FAILED, "failed")                 /* could not be created; see `reason` */                   \
    X(REFERENCE, "reference")           /* an oracle */                                            \
    X(NO_DISPATCH, "does not dispatch") /* it only translates programs */                          \
    X(DENIED, "not allowed")            /* by `allow` or `deny` */                                 \
    X(SOFTWARE, "software device")      /* a CPU behind a GPU interface */                         \
    X(NO_GPU, "not a GPU")              /* a GPU is required */                                    \
    X(GRADE, "not exact enough")        /* for the grade that the caller asks for */

typedef enum vyre_fate {
#define VYRE_FATE_ENUM(name, text) VYRE_FATE_##name,
    VYRE_FATES(VYRE_FATE_ENUM)
#undef VYRE_FATE_ENUM
} vyre_fate;

typedef struct vyre_candidate {
    const char *id;
    vyre_fate fate;
    const char *reason; /* a sentence, or "" */
    uint32_t rank;
    /* The fields below are set only for backends that were created. */
    uint32_t capability_score;
    uint32_t timing_score;
    uint64_t memory_bandwidth_gbps;
    uint64_t acquisition_ns;
} vyre_candidate;

/* All candidates, in the order of selection. The registrations own the ids; the decision owns all
 * other strings. */
typedef struct vyre_decision {
    vyre_candidate *candidates;
    size_t count;
    size_t chosen; /* index of the winner; `count` if there is none */
    char *why; /* the winner and the deciding score, or why there is none; NULL if memory ran out */
} vyre_decision;

/* Frees what the decision owns, not the structure itself. */
VYRE_API void vyre_decision_free(vyre_decision *decision);
VYRE_API const char *vyre_fate_name(vyre_fate fate);

/* Runs preferred selection. `selection` and `out_decision` may be NULL. Fails with
 * VYRE_STATUS_UNAVAILABLE and the reason of each candidate if none is usable. The caller frees the
 * decision, also after an error. */
VYRE_API VYRE_MUST_USE vyre_status vyre_registry_acquire_preferred(vyre_registry *registry,
                                                                   const vyre_selection *selection,
                                                                   vyre_decision *out_decision,
                                                                   vyre_device **out_device);

/* Acquires a device from the default registry; see vyre_registry_acquire. */
VYRE_API VYRE_MUST_USE vyre_status vyre_acquire(const char *name, vyre_device **out_device);

#ifdef __cplusplus
}
#endif

#endif
