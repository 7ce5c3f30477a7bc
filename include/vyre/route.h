/* Routing: which device runs an operation, by measurement.
 *
 * A route says which backend was the fastest for an operation, and how long the others took. Routes
 * are kept together in a file. Certification makes a route: every candidate runs the operation on
 * the same inputs, once to warm up and three times that count. Their bytes are compared, and the
 * fastest of those with the right bytes wins.
 *
 *     vyre_routes *routes;
 *     status = vyre_routes_load(path, &routes);
 *     status = vyre_routes_certify(routes, "reduce.sum_u32", candidates, 2, inputs, 1, NULL,
 *                                  &route);
 *     puts(route->backend);
 *     status = vyre_routes_save(routes, path);
 *     vyre_routes_free(routes);
 *
 * Beside the route of an operation stand measurements by class: by the size of the data, by whether
 * it comes from the host or stays on the device, and by the identity of the device. Small inputs
 * may then go to one device and large ones to another, and machines may share a file.
 *
 * The router chooses the device of a run on "auto", from the routes of the process:
 *
 *     const vyre_router_choice *choice;
 *     status = vyre_router_choose(&(vyre_router_request){.op = id, .bytes = bytes}, &choice);
 *     ... choice->device, choice->why ...
 *     vyre_router_choice_release(choice);
 *
 * docs/routing.md describes the file. One thread at a time may use a vyre_routes; any thread may
 * ask the router. */
#ifndef VYRE_ROUTE_H
#define VYRE_ROUTE_H

#include <vyre/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the data of a run is: on the host, before and after it, or on the device. */
#define VYRE_DATA_PLACES(X)                                                                        \
    X(HOST, "host")                                                                                \
    X(RESIDENT, "resident")

typedef enum vyre_data {
#define VYRE_DATA_ENUM(name, text) VYRE_DATA_##name,
    VYRE_DATA_PLACES(VYRE_DATA_ENUM)
#undef VYRE_DATA_ENUM
} vyre_data;

VYRE_API const char *vyre_data_name(vyre_data data);

/* The class of a size: floor(log2(bytes)); 0 for no bytes. The size is that of all arguments of a
 * run, each counted once, `out` buffers and scalars included. */
VYRE_API uint32_t vyre_route_class(uint64_t bytes);

/* The identity of a device. Devices of the same identity are taken to be equally fast and to give
 * the same bytes. */
typedef struct vyre_identity {
    const char *backend; /* as vyre_device_name: "cuda", "cuda:1" */
    const char *device;  /* of its profile: "NVIDIA H200" */
    const char *driver;  /* of its profile; where that is empty, the version of the backend */
} vyre_identity;

/* Borrowed from the device. */
VYRE_API vyre_identity vyre_device_identity(const vyre_device *device);

/* Routes. */

typedef struct vyre_latency {
    const char *backend; /* as vyre_device_name */
    uint64_t latency_ns; /* the median of three runs; at most INT64_MAX */
} vyre_latency;

/* Why a device may not win. X(name, text). */
#define VYRE_EXCLUSIONS(X)                                                                         \
    X(BYTES, "bytes")     /* its bytes are wrong, or nobody knows: the router never chooses it */  \
    X(TIME, "time")       /* it took longer than its budget */                                     \
    X(REFUSED, "refused") /* it cannot run this; only where classes are measured */

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
    const char *reason;  /* for people */
    uint32_t size_class; /* that was measured; VYRE_NO_CLASS: found when the route was certified */
    vyre_data data;      /* likewise */
} vyre_exclusion;

/* The route of an operation. Observations are sorted by latency, then backend, and include all
 * candidates. The first that is not excluded is the winner. A candidate over its time budget has
 * the time that it had taken by then. */
typedef struct vyre_route {
    const char *op;
    const char *backend; /* the winner; NULL where nobody may win. On disk that is "" */
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
    uint64_t latency_ns; /* the median; at most INT64_MAX */
} vyre_class_row;

typedef struct vyre_routes vyre_routes;

VYRE_API VYRE_MUST_USE vyre_status vyre_routes_create(vyre_routes **out_routes);
VYRE_API void vyre_routes_free(vyre_routes *routes); /* NULL is allowed */

/* What is returned lives until the routes are certified, measured, saved or freed. Routes are in
 * byte order of their operations. */
VYRE_API size_t vyre_routes_count(const vyre_routes *routes);
VYRE_API const vyre_route *vyre_routes_at(const vyre_routes *routes, size_t index);
/* NULL if the operation is not known. */
VYRE_API const vyre_route *vyre_routes_find(const vyre_routes *routes, const char *op);
/* The winner; NULL if the operation is not known, or nobody may win. */
VYRE_API const char *vyre_routes_fastest(const vyre_routes *routes, const char *op);

/* The measurements by class of an operation, sorted by data, class, latency and identity, and the
 * exclusions found with them. NULL behind the last. */
VYRE_API const vyre_class_row *vyre_routes_class_at(const vyre_routes *routes, const char *op,
                                                    size_t index);
VYRE_API const vyre_exclusion *vyre_routes_class_excluded_at(const vyre_routes *routes,
                                                             const char *op, size_t index);
/* The operations that have a route or a measurement by class, in byte order; NULL behind the last.
 */
VYRE_API const char *vyre_routes_op_at(const vyre_routes *routes, size_t index);

/* Certification. */

/* A device, and the form of the operation that suits it (vyre_operation_choose): forms differ in
 * how they compute, not in arguments or bytes. */
typedef struct vyre_route_candidate {
    vyre_device *device;
    const vyre_program *program;
} vyre_route_candidate;

/* Zero means the default, for every field. */
typedef struct vyre_certify_options {
    const vyre_dispatch_config *config; /* of each run; may be NULL */
    /* How long a candidate may take in all: compiling, warming up and three runs. It is the timeout
     * of the first run and is checked between the others. 0: any time. */
    uint64_t budget_ns;
    /* Decides which bytes are right where candidates differ. It then runs once, within the same
     * budget. If it is NULL or runs out of time, no candidate may win. It may be a candidate. */
    const vyre_route_candidate *oracle;
    /* Runs the oracle also where all candidates agree, since they may all be wrong. If it runs out
     * of time then, they may win. */
    bool always_asks;
} vyre_certify_options;

/* Measures every candidate for an operation and replaces its route; all others stay. A program that
 * is no operation of the library has the key that vyre_route_key makes.
 *
 * Runs go through the device's borrowed dispatch: one to warm up, three that are timed. The median
 * counts. The bytes of all candidates are compared, unless the program says that they may differ
 * (vyre_program_determinism). If all agree, all may win. If some differ, those with the oracle's
 * bytes may win; without an oracle nobody may, because a majority proves nothing.
 *
 * Any error of a run, except the end of a candidate's budget, fails the certification, and the
 * routes stay as they were. Leave out devices whose vyre_device_compile refuses the program. An
 * oracle of the registry (`reference`) is a candidate like any other here, but the router never
 * chooses it.
 *
 * `options` and `out_route` may be NULL. `out_route` is the stored route, as vyre_routes_find gives
 * it. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_certify(vyre_routes *routes, const char *op,
                                                       const vyre_route_candidate *candidates,
                                                       size_t count, const vyre_input *inputs,
                                                       size_t input_count,
                                                       const vyre_certify_options *options,
                                                       const vyre_route **out_route);

/* The same for inputs that the caller owns; they are only read. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_certify_owned(
    vyre_routes *routes, const char *op, const vyre_route_candidate *candidates, size_t count,
    const vyre_output *inputs, size_t input_count, const vyre_certify_options *options,
    const vyre_route **out_route);

/* Measures every candidate in the same way for the class of these inputs, and leaves the route
 * alone. Resident data is uploaded once for all four runs; `inout` buffers are uploaded before each
 * run, outside of the timed part. A measurement of the same data, class and identity is replaced;
 * all others stay. A candidate that may not win gets an exclusion in place of a measurement. One
 * that cannot run the program (VYRE_STATUS_UNSUPPORTED, VYRE_STATUS_LIMIT) is excluded, where
 * certification would fail. `out_class`, the class that was measured, may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status
vyre_routes_measure(vyre_routes *routes, const char *op, vyre_data data,
                    const vyre_route_candidate *candidates, size_t count, const vyre_input *inputs,
                    size_t input_count, const vyre_certify_options *options, uint32_t *out_class);

/* The key of a program that is no operation of the library: `program:NAME:DIGEST`, the digest as 32
 * hexadecimal digits. A name that is too long is cut off. */
enum { VYRE_ROUTE_KEY_BYTES = 256 };
VYRE_API void vyre_route_key(const vyre_program *program, char out_key[VYRE_ROUTE_KEY_BYTES]);

/* Files. */

/* A file that does not exist gives no routes. A damaged one is an error. Keys that a newer version
 * wrote and this one does not know are kept and saved again. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_load(const char *path, vyre_routes **out_routes);
/* Replaces the file at once: readers find the old file or the new one. Others may have saved since
 * the routes were loaded: what was certified or measured here wins, all else is as on disk, and the
 * routes hold the result afterwards. Makes missing folders. A lock on the file PATH.lock lets one
 * process save at a time; the call waits some seconds for it. A damaged file is an error and stays
 * as it is. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_save(vyre_routes *routes, const char *path);
/* $XDG_CONFIG_HOME/vyre/pgo.toml; $HOME/.config/vyre/pgo.toml without XDG_CONFIG_HOME, and
 * ./.config/vyre/pgo.toml without HOME. To be freed with vyre_routes_path_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_default_path(char **out_path);
VYRE_API void vyre_routes_path_free(char *path); /* NULL is allowed */

/* The router. */

typedef struct vyre_router_request {
    const char *op;              /* the id of an operation; or NULL */
    const vyre_program *program; /* what stands for itself where `op` is NULL */
    uint64_t bytes;              /* as for vyre_route_class */
    vyre_data data;
    uint32_t grade; /* vyre_grade: the weakest that will do; exact by default */
} vyre_router_request;

/* What a choice is based on. X(name, text). */
#define VYRE_ROUTER_SOURCES(X)                                                                     \
    X(CLASS, "measured for this size") /* or for the nearest size */                               \
    X(ROUTE, "certified")              /* the route of the operation */                            \
    X(PREFERRED, "preferred")          /* no route can be followed: preferred selection */         \
    X(NAMED, "named")                  /* the caller named the device */

typedef enum vyre_router_source {
#define VYRE_ROUTER_SOURCE_ENUM(name, text) VYRE_ROUTER_BY_##name,
    VYRE_ROUTER_SOURCES(VYRE_ROUTER_SOURCE_ENUM)
#undef VYRE_ROUTER_SOURCE_ENUM
} vyre_router_source;

VYRE_API const char *vyre_router_source_name(vyre_router_source source);

/* The device that the router chose, and why. All of it lives until it is released. */
typedef struct vyre_router_choice {
    vyre_device *device;
    vyre_router_source source;
    uint32_t wanted_class, measured_class; /* the latter VYRE_NO_CLASS unless by class */
    uint64_t latency_ns;                   /* as measured; VYRE_NO_TIME by preference */
    const char *why;                       /* a sentence without a full stop */
    /* Why routes could not be followed: a device that is not here, has another driver or is
     * excluded; a file that cannot be read. "" if there is nothing of the kind. */
    const char *note;
} vyre_router_choice;

/* Chooses a device for a run: the fastest in the nearest class that was measured on devices that
 * are here now with the same identity; else the winner of the operation's route; else the device of
 * preferred selection, among those not known to give wrong bytes for this operation. Fails where
 * none is left. An oracle is chosen only where a route names it.
 *
 * The routes are those of the file that VYRE_ROUTES names, else of the default path. A change of
 * the file is noticed within a second. With VYRE_ROUTES=off there are none. The process keeps the
 * devices. Choosing again for the same operation and class takes far less than a microsecond. */
VYRE_API VYRE_MUST_USE vyre_status vyre_router_choose(const vyre_router_request *request,
                                                      const vyre_router_choice **out_choice);
VYRE_API void vyre_router_choice_release(const vyre_router_choice *choice); /* NULL is allowed */

/* Turns learning on or off; it is off unless VYRE_LEARN is 1. The router then measures runs on
 * "auto" of vyre_run and vyre_run_operation by class. For at most about a sixteenth of that time it
 * also runs the same inputs on a device that is not measured for the class yet, and compares the
 * bytes. Results always come from the device that was chosen. */
VYRE_API void vyre_router_learn(bool on);
/* Saves what was learned since the last save, which otherwise happens every few seconds. */
VYRE_API VYRE_MUST_USE vyre_status vyre_router_flush(void);

#ifdef __cplusplus
}
#endif

#endif
