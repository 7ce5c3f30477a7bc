/* Route: measures which device is fastest for an operation, and chooses it.
 *
 *     vyre_routes *routes;
 *     status = vyre_routes_load(path, &routes);
 *     status = vyre_routes_certify(routes, "reduce.sum_u32", candidates, 2, inputs, 1, NULL,
 *                                  &route);
 *     puts(route->backend);
 *     status = vyre_routes_save(routes, path);
 *     vyre_routes_free(routes);
 *
 * A route names the fastest backend for an operation and the latencies of all candidates. Routes
 * are saved in a file. Certification makes a route: every candidate runs the operation on the same
 * inputs, once to warm up and three times timed. The fastest candidate with the right bytes wins.
 *
 * A file also holds measurements by class: by the size of the data, its location (host or device)
 * and the identity of the device. So small and large inputs may go to different devices, and
 * machines may share a file.
 *
 * The router uses the routes of the process to choose a device for each run on "auto":
 *
 *     const vyre_router_choice *choice;
 *     status = vyre_router_choose(&(vyre_router_request){.op = id, .bytes = bytes}, &choice);
 *     ... choice->device, choice->why ...
 *     vyre_router_choice_release(choice);
 *
 * docs/routing.md describes the file. One thread at a time may use a vyre_routes; any thread may
 * call the router. */
#ifndef VYRE_ROUTE_H
#define VYRE_ROUTE_H

#include <vyre/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a run's data is before and after it: on the host or on the device. X(name, text). */
#define VYRE_DATA_PLACES(X)                                                                        \
    X(HOST, "host")                                                                                \
    X(RESIDENT, "resident")

typedef enum vyre_data {
#define VYRE_DATA_ENUM(name, text) VYRE_DATA_##name,
    VYRE_DATA_PLACES(VYRE_DATA_ENUM)
#undef VYRE_DATA_ENUM
} vyre_data;

VYRE_API const char *vyre_data_name(vyre_data data);

/* Returns the class of a size: floor(log2(bytes)), 0 for no bytes. The size is that of all
 * arguments, each counted once, including `out` buffers and scalars. */
VYRE_API uint32_t vyre_route_class(uint64_t bytes);

/* The identity of a device. Devices with the same identity are assumed to be equally fast and to
 * give the same bytes. */
typedef struct vyre_identity {
    const char *backend; /* the device's name: "cuda", "cuda:1" */
    const char *device;  /* from its profile: "NVIDIA H200" */
    const char *driver;  /* from its profile; if empty, the version of the backend */
} vyre_identity;

/* The strings belong to the device. */
VYRE_API vyre_identity vyre_device_identity(const vyre_device *device);

/* Routes. */

typedef struct vyre_latency {
    const char *backend; /* the device's name */
    uint64_t latency_ns; /* median of three runs, at most INT64_MAX */
} vyre_latency;

/* Why a candidate cannot win. X(name, text). */
#define VYRE_EXCLUSIONS(X)                                                                         \
    X(BYTES, "bytes")     /* wrong or unproven bytes: the router never chooses it */               \
    X(TIME, "time")       /* it exceeded its time budget */                                        \
    X(REFUSED, "refused") /* it cannot run the program; only in measurements by class */

typedef enum vyre_exclusion_cause {
#define VYRE_EXCLUSION_ENUM(name, text) VYRE_EXCLUDED_##name,
    VYRE_EXCLUSIONS(VYRE_EXCLUSION_ENUM)
#undef VYRE_EXCLUSION_ENUM
} vyre_exclusion_cause;

VYRE_API const char *vyre_exclusion_cause_name(vyre_exclusion_cause cause);

#define VYRE_NO_CLASS UINT32_MAX

typedef struct vyre_exclusion {
    vyre_identity who;
    vyre_exclusion_cause cause;
    const char *reason;  /* a sentence */
    uint32_t size_class; /* the measured class; VYRE_NO_CLASS: found by certification */
    vyre_data data;      /* only with a class */
} vyre_exclusion;

/* The route of an operation. Observations include all candidates, sorted by latency, then by
 * backend. The winner is the first that is not excluded. The latency of a candidate over its time
 * budget is the time it had used by then. */
typedef struct vyre_route {
    const char *op;
    const char *backend; /* the winner; NULL if there is none, "" in the file */
    const vyre_latency *observations;
    size_t observation_count;
    const vyre_exclusion *excluded;
    size_t excluded_count;
    /* The rest of the winner's identity; NULL where the file does not say. The router follows a
     * route only on a device of that identity. */
    const char *device, *driver;
} vyre_route;

/* A measurement by class. */
typedef struct vyre_class_row {
    vyre_identity who;
    vyre_data data;
    uint32_t size_class;
    uint64_t latency_ns; /* median, at most INT64_MAX */
} vyre_class_row;

typedef struct vyre_routes vyre_routes;

VYRE_API VYRE_MUST_USE vyre_status vyre_routes_create(vyre_routes **out_routes);
VYRE_API void vyre_routes_free(vyre_routes *routes); /* NULL is allowed */

/* Lookups return pointers that are valid until the routes are certified, measured, saved or freed.
 * Routes are sorted by operation, in byte order. */
VYRE_API size_t vyre_routes_count(const vyre_routes *routes);
VYRE_API const vyre_route *vyre_routes_at(const vyre_routes *routes, size_t index);
/* Returns NULL for an unknown operation. */
VYRE_API const vyre_route *vyre_routes_find(const vyre_routes *routes, const char *op);
/* Returns the winner; NULL for an unknown operation and if there is no winner. */
VYRE_API const char *vyre_routes_fastest(const vyre_routes *routes, const char *op);

/* Enumerate an operation's measurements by class, sorted by data, class, latency and identity, and
 * the exclusions found with them. Both return NULL past the last. */
VYRE_API const vyre_class_row *vyre_routes_class_at(const vyre_routes *routes, const char *op,
                                                    size_t index);
VYRE_API const vyre_exclusion *vyre_routes_class_excluded_at(const vyre_routes *routes,
                                                             const char *op, size_t index);
/* Enumerates the operations with a route or a measurement by class, in byte order. Returns NULL
 * past the last. */
VYRE_API const char *vyre_routes_op_at(const vyre_routes *routes, size_t index);

/* Certification. */

/* A device and the program it runs: the variant of the operation that suits it
 * (vyre_operation_choose). Variants differ in how they compute, not in arguments or results. */
typedef struct vyre_route_candidate {
    vyre_device *device;
    const vyre_program *program;
} vyre_route_candidate;

/* Zero means the default. */
typedef struct vyre_certify_options {
    const vyre_dispatch_config *config; /* of each run; may be NULL */
    /* Total time for a candidate: compiling, the warm-up and three runs. It is the timeout of the
     * first run and is checked between the others. 0: no limit. */
    uint64_t budget_ns;
    /* Decides which bytes are right if candidates differ. It runs once, within the same budget. If
     * it is NULL or runs out of time, no candidate wins. It may itself be a candidate. */
    const vyre_route_candidate *oracle;
    /* Runs the oracle even if all candidates agree, because all may be wrong. If it then runs out
     * of time, they may still win. */
    bool always_asks;
} vyre_certify_options;

/* Measures every candidate and replaces the route of the operation. `op` is the id of an operation,
 * or the key that vyre_route_key makes for any other program.
 *
 * Each candidate runs once to warm up and three times timed, by borrowed dispatch; the median
 * counts. If the candidates' bytes differ, only those with the oracle's bytes can win. Without an
 * oracle nobody wins, because a majority proves nothing. Bytes are not compared if the program may
 * give different ones on each run (vyre_program_determinism).
 *
 * An error of a run fails the certification and leaves the routes unchanged, unless the candidate
 * ran out of its budget. Leave out devices whose vyre_device_compile refuses the program. The
 * `reference` device is a candidate like any other and may win, but the router never chooses it.
 *
 * `options` and `out_route` may be NULL. `out_route` receives the stored route. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_certify(vyre_routes *routes, const char *op,
                                                       const vyre_route_candidate *candidates,
                                                       size_t count, const vyre_input *inputs,
                                                       size_t input_count,
                                                       const vyre_certify_options *options,
                                                       const vyre_route **out_route);

/* Like vyre_routes_certify, for inputs that the caller owns. They are only read. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_certify_owned(
    vyre_routes *routes, const char *op, const vyre_route_candidate *candidates, size_t count,
    const vyre_output *inputs, size_t input_count, const vyre_certify_options *options,
    const vyre_route **out_route);

/* Measures every candidate for the class of these inputs and leaves the route unchanged.
 *
 * Resident data is uploaded once, except that `inout` buffers are uploaded before each run,
 * untimed. A new measurement replaces one with the same data, class and identity. A candidate that
 * cannot win gets an exclusion instead; so does one that cannot run the program
 * (VYRE_STATUS_UNSUPPORTED, VYRE_STATUS_LIMIT).
 *
 * `options` and `out_class`, which receives the measured class, may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status
vyre_routes_measure(vyre_routes *routes, const char *op, vyre_data data,
                    const vyre_route_candidate *candidates, size_t count, const vyre_input *inputs,
                    size_t input_count, const vyre_certify_options *options, uint32_t *out_class);

/* Writes the key of a program that is not an operation of the library: `program:NAME:DIGEST`, with
 * 32 hexadecimal digits. A long name is truncated. */
enum { VYRE_ROUTE_KEY_BYTES = 256 };
VYRE_API void vyre_route_key(const vyre_program *program, char out_key[VYRE_ROUTE_KEY_BYTES]);

/* Files. */

/* Reads a file. A missing file gives empty routes. A damaged file is an error, and so is a file
 * that anyone except root and the user of the process owns or can write to, itself or its folder.
 * Keys of newer versions are kept and saved again. The caller frees the routes. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_load(const char *path, vyre_routes **out_routes);
/* Merges the routes into the file and replaces it atomically. What was certified or measured here
 * wins; everything else stays as it is on disk, and the routes then hold the result.
 *
 * Creates missing folders. A lock on PATH.lock serializes processes; the call waits some seconds
 * for it. A damaged file is an error and is left as it is. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_save(vyre_routes *routes, const char *path);
/* Returns $XDG_CONFIG_HOME/vyre/pgo.toml; without an absolute XDG_CONFIG_HOME,
 * $HOME/.config/vyre/pgo.toml. Returns NULL if neither is an absolute path, and in a process with
 * more rights than its user: there are no routes then. The caller frees it with
 * vyre_routes_path_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_default_path(char **out_path);
VYRE_API void vyre_routes_path_free(char *path); /* NULL is allowed */

/* The router. */

typedef struct vyre_router_request {
    const char *op;              /* an operation's id, or NULL */
    const vyre_program *program; /* used if `op` is NULL */
    uint64_t bytes;              /* as for vyre_route_class */
    vyre_data data;
    uint32_t grade; /* vyre_grade: the weakest that is acceptable; exact by default */
} vyre_router_request;

/* The reason for a choice. X(name, text). */
#define VYRE_ROUTER_SOURCES(X)                                                                     \
    X(CLASS, "measured for this size") /* or for the nearest measured size */                      \
    X(ROUTE, "certified")              /* the route of the operation */                            \
    X(PREFERRED, "preferred")          /* no route applies: preferred selection */

typedef enum vyre_router_source {
#define VYRE_ROUTER_SOURCE_ENUM(name, text) VYRE_ROUTER_BY_##name,
    VYRE_ROUTER_SOURCES(VYRE_ROUTER_SOURCE_ENUM)
#undef VYRE_ROUTER_SOURCE_ENUM
} vyre_router_source;

VYRE_API const char *vyre_router_source_name(vyre_router_source source);

/* The chosen device and the reason. Everything in it is valid until it is released. */
typedef struct vyre_router_choice {
    vyre_device *device;
    vyre_router_source source;
    uint32_t wanted_class, measured_class; /* measured_class: VYRE_NO_CLASS if not by class */
    uint64_t latency_ns;                   /* as measured; VYRE_NO_TIME by preference */
    const char *why;                       /* a sentence without a full stop */
    /* Why the router ignored a route: its device is missing, excluded or has another driver, or the
     * file cannot be read. "" if it ignored none. */
    const char *note;
} vyre_router_choice;

/* Chooses a device for a run. The router tries, in this order:
 *
 *   - the fastest device in the nearest measured class, among devices present with the same
 *     identity;
 *   - the winner of the operation's route;
 *   - preferred selection, among devices not known to give wrong bytes for the operation.
 *
 * It fails if none is left. It chooses an oracle only if a route names it. The caller releases the
 * choice.
 *
 * The routes come from the file that VYRE_ROUTES names, or else from the default path;
 * VYRE_ROUTES=off means none. The router notices a changed file within a second. The process keeps
 * the devices. A repeated choice takes far less than a microsecond. */
VYRE_API VYRE_MUST_USE vyre_status vyre_router_choose(const vyre_router_request *request,
                                                      const vyre_router_choice **out_choice);
VYRE_API void vyre_router_choice_release(const vyre_router_choice *choice); /* NULL is allowed */

/* Turns learning on or off. The default is off, unless VYRE_LEARN is 1. While it is on, the router
 * records the latencies of vyre_run, vyre_run_program and vyre_run_operation on "auto" by class.
 *
 * For about a sixteenth of that time at most, it also runs the same inputs on devices that it has
 * not measured for the class, and compares the bytes. The caller always gets the result of the
 * chosen device. */
VYRE_API void vyre_router_learn(bool on);
VYRE_API bool vyre_router_learns(void);
/* Saves what was learned since the last save. The router itself saves every few seconds; call this
 * before the process exits. */
VYRE_API VYRE_MUST_USE vyre_status vyre_router_flush(void);

#ifdef __cplusplus
}
#endif

#endif
