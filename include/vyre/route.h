/* Routing: which device runs an operation, by what was measured.
 *
 * A table of routes says which backend was the fastest for each operation, and how long the others
 * took. Certification fills it: every candidate runs the operation on the same inputs, once to warm
 * up and three times that count, their bytes are compared, and the best of those that are right
 * wins.
 *
 *     vyre_routes *table;
 *     status = vyre_routes_load(path, &table);
 *     status = vyre_routes_certify(table, "reduce.sum_u32", candidates, 2, inputs, 1, NULL,
 * &route); puts(route->backend); status = vyre_routes_save(table, path); vyre_routes_free(table);
 *
 * Beside that plain route stand measurements by class: by the size of the data, whether it comes
 * from the host or stays on the device, and by the identity of the device, so that small inputs may
 * go to one device and large ones to another, and machines may share a table.
 *
 * Whoever runs something on "auto" asks the router, which answers from the table of the process:
 *
 *     const vyre_routing *routing;
 *     status = vyre_route_acquire(&(vyre_route_request){.op = id, .bytes = bytes}, &routing);
 *     ... routing->device, routing->why ...
 *     vyre_routing_release(routing);
 *
 * docs/routing.md tells of the file. A table belongs to one thread at a time; the router may be
 * asked by any. */
#ifndef VYRE_ROUTE_H
#define VYRE_ROUTE_H

#include <vyre/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the data of a run is: it comes from the host and goes back, or stays on the device. */
#define VYRE_DATA_PLACES(X)                                                                        \
    X(HOST, "host")                                                                                \
    X(RESIDENT, "resident")

typedef enum vyre_data {
#define VYRE_DATA_ENUM(name, text) VYRE_DATA_##name,
    VYRE_DATA_PLACES(VYRE_DATA_ENUM)
#undef VYRE_DATA_ENUM
} vyre_data;

VYRE_API const char *vyre_data_name(vyre_data data);

/* The class of a size: floor(log2(bytes)), 0 also for no bytes. Bytes are those of all arguments of
 * a run, `out` buffers and scalars included, each once. */
VYRE_API uint32_t vyre_route_class(uint64_t bytes);

/* The identity of a device: two of the same are taken to be as fast, and as right, as one another.
 */
typedef struct vyre_identity {
    const char *backend; /* as vyre_device_name: "cuda", "cuda:1" */
    const char *device;  /* of its profile: "NVIDIA H200" */
    const char *driver;  /* of its profile; where that is empty, the version of the backend */
} vyre_identity;

/* Borrowed from the device. */
VYRE_API vyre_identity vyre_device_identity(const vyre_device *device);

/* The table. */

typedef struct vyre_latency {
    const char *backend; /* as vyre_device_name */
    uint64_t latency_ns; /* the median of three runs; at most INT64_MAX */
} vyre_latency;

/* Why a device may not win. X(name, text). */
#define VYRE_EXCLUSIONS(X)                                                                         \
    X(BYTES,                                                                                       \
      "bytes") /* its bytes are wrong, or nobody knows: it never runs that operation on auto */    \
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
    uint32_t size_class; /* where it was found; VYRE_NO_CLASS: when the plain route was certified */
    vyre_data data;      /* likewise */
} vyre_exclusion;

/* The decision for an operation. Observations are sorted by latency, then backend; all candidates
 * are among them. The first that is not excluded is the winner. A candidate that went over its time
 * budget appears with the time that it had taken by then. */
typedef struct vyre_route {
    const char *op;
    const char *backend; /* the winner; NULL where nobody may win. On disk that is "" */
    const vyre_latency *observations;
    size_t observation_count;
    const vyre_exclusion *excluded;
    size_t excluded_count;
} vyre_route;

/* A measurement by class. */
typedef struct vyre_class_row {
    vyre_identity who;
    vyre_data data;
    uint32_t size_class;
    uint64_t latency_ns; /* the median; at most INT64_MAX */
} vyre_class_row;

typedef struct vyre_routes vyre_routes;

VYRE_API VYRE_MUST_USE vyre_status vyre_routes_create(vyre_routes **out_table);
VYRE_API void vyre_routes_free(vyre_routes *table); /* NULL is allowed */

/* What a table holds. All of it lives until the table is certified, measured, saved or freed.
 * Routes, in byte order of their operations: */
VYRE_API size_t vyre_routes_count(const vyre_routes *table);
VYRE_API const vyre_route *vyre_routes_at(const vyre_routes *table, size_t index);
/* NULL if the operation is not known. */
VYRE_API const vyre_route *vyre_routes_find(const vyre_routes *table, const char *op);
/* The winner; NULL if the operation is not known, or nobody may win. */
VYRE_API const char *vyre_routes_fastest(const vyre_routes *table, const char *op);

/* Measurements by class of an operation, by data, class, latency and identity; and the exclusions
 * found with them. NULL behind the last. */
VYRE_API const vyre_class_row *vyre_routes_class_at(const vyre_routes *table, const char *op,
                                                    size_t index);
VYRE_API const vyre_exclusion *vyre_routes_class_excluded_at(const vyre_routes *table,
                                                             const char *op, size_t index);
/* The operations that have a route or a measurement by class, in byte order; NULL behind the last.
 */
VYRE_API const char *vyre_routes_op_at(const vyre_routes *table, size_t index);

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
    /* How long a candidate may take in all: compiling, warming up and the three runs. The timeout
     * of the first run, and looked at between the others, which nothing slows down. 0: any time. */
    uint64_t budget_ns;
    /* Who is right where candidates give different bytes: runs once, only then, within the same
     * budget. NULL, or where it runs out of time: then none of the candidates may win. It may be
     * one of the candidates. */
    const vyre_route_candidate *oracle;
    /* Asks it also where all agree, or there is one candidate alone: they may all be wrong. Where
     * it runs out of time then, they may win. */
    bool always_asks;
} vyre_certify_options;

/* Measures every candidate for an operation, and makes the route. What was there for that operation
 * is replaced, all else stays. Programs that no operation's id stands for have the key
 * vyre_route_key makes.
 *
 * Only what comes from the device's borrowed dispatch counts: one run to warm up, three that are
 * timed, and the median. Before anyone wins the bytes of all are compared, unless the program says
 * that they may differ (vyre_program_determinism). If all agree all may win. If some differ, those
 * who have the oracle's bytes may. Without an oracle nobody may: a majority proves nothing.
 *
 * Any error of a run but the end of a candidate's budget fails the certification, and the table
 * keeps what it had. So leave out devices whose vyre_device_compile refuses the program. An oracle
 * of the registry (`reference`) is a candidate like any other here: who passes it lets it win.
 *
 * `options` and `out_route` may be NULL. The route is the stored one, as vyre_routes_find gives it.
 */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_certify(vyre_routes *table, const char *op,
                                                       const vyre_route_candidate *candidates,
                                                       size_t count, const vyre_input *inputs,
                                                       size_t input_count,
                                                       const vyre_certify_options *options,
                                                       const vyre_route **out_route);

/* The same for inputs that the caller owns; they are only borrowed. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_certify_owned(
    vyre_routes *table, const char *op, const vyre_route_candidate *candidates, size_t count,
    const vyre_output *inputs, size_t input_count, const vyre_certify_options *options,
    const vyre_route **out_route);

/* Measures every candidate in the same way for the class of these inputs, and leaves the plain
 * route alone. Resident data is uploaded once and stays for all four runs, as far as the program
 * does not write what it reads: `inout` buffers are uploaded before each, outside of what is timed.
 * A row of the same data, class and identity is replaced; those of other devices, drivers and
 * classes stay. A candidate that may not win has no row, but an exclusion. One that cannot run this
 * (VYRE_STATUS_UNSUPPORTED, VYRE_STATUS_LIMIT) is excluded here, where certification would fail.
 * `out_class`, which class it was, may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status
vyre_routes_measure(vyre_routes *table, const char *op, vyre_data data,
                    const vyre_route_candidate *candidates, size_t count, const vyre_input *inputs,
                    size_t input_count, const vyre_certify_options *options, uint32_t *out_class);

/* The key of a program that is no operation of the library: `program:NAME:DIGEST`, the digest as 32
 * hexadecimal digits. A name that is too long is cut off. */
enum { VYRE_ROUTE_KEY_BYTES = 256 };
VYRE_API void vyre_route_key(const vyre_program *program, char out_key[VYRE_ROUTE_KEY_BYTES]);

/* Files. */

/* A file that does not exist gives an empty table. One that is damaged is an error. What a newer
 * version wrote into it and this one does not know is kept, and saved again. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_load(const char *path, vyre_routes **out_table);
/* Writes the table such that everyone, whatever happens, finds the old file or the new one. Others
 * may have saved meanwhile: what this table certified or measured since it was loaded or saved
 * wins, all else is as on disk, and so is the table afterwards. Makes folders that are missing.
 * Only one process saves at a time, by a lock on the file PATH.lock; waits for the others some
 * seconds. A damaged file is an error and stays. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_save(vyre_routes *table, const char *path);
/* $XDG_CONFIG_HOME/vyre/pgo.toml; $HOME/.config/vyre/pgo.toml without XDG_CONFIG_HOME, and
 * ./.config/vyre/pgo.toml without HOME. To be freed with vyre_routes_path_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_routes_default_path(char **out_path);
VYRE_API void vyre_routes_path_free(char *path); /* NULL is allowed */

/* The router. */

typedef struct vyre_route_request {
    const char *op;              /* the id of an operation; or NULL */
    const vyre_program *program; /* what stands for itself where `op` is NULL */
    uint64_t bytes;              /* as for vyre_route_class */
    vyre_data data;
    uint32_t grade; /* vyre_grade: the weakest that will do; exact by default */
} vyre_route_request;

/* What a decision went by. X(name, text). */
#define VYRE_ROUTE_SOURCES(X)                                                                      \
    X(CLASS, "measured for this size") /* or the nearest size that was */                          \
    X(ROUTE, "certified")              /* the plain route */                                       \
    X(PREFERRED, "preferred")          /* nothing measured helps: preferred selection */           \
    X(NAMED, "named")                  /* by the caller: never by the router */

typedef enum vyre_route_source {
#define VYRE_ROUTE_SOURCE_ENUM(name, text) VYRE_ROUTE_BY_##name,
    VYRE_ROUTE_SOURCES(VYRE_ROUTE_SOURCE_ENUM)
#undef VYRE_ROUTE_SOURCE_ENUM
} vyre_route_source;

VYRE_API const char *vyre_route_source_name(vyre_route_source source);

/* A decision. All of it lives until it is released. */
typedef struct vyre_routing {
    vyre_device *device;
    vyre_route_source source;
    uint32_t wanted_class, measured_class; /* the latter VYRE_NO_CLASS unless by class */
    uint64_t latency_ns;                   /* as measured; VYRE_NO_TIME by preference */
    const char *why;                       /* a sentence without a full stop */
    /* What the table says and could not be followed: a device that is not here, or has another
     * driver, or is excluded; a table that cannot be read. "" if there is nothing of the kind. */
    const char *note;
} vyre_routing;

/* Chooses a device for a run: the fastest for the nearest class that was measured on devices that
 * are here now with the same identity; else the winner of the plain route; else preferred
 * selection, among devices that are not known to give wrong bytes for this operation. Fails where
 * none is left. An oracle is chosen only where the table names it, because somebody had it
 * measured.
 *
 * The table is the file that VYRE_ROUTES names, else the default path; a change of the file is
 * noticed within a second. VYRE_ROUTES=off: there is none. Devices are kept by the process.
 * Deciding again for the same operation and class costs far less than a microsecond. */
VYRE_API VYRE_MUST_USE vyre_status vyre_route_acquire(const vyre_route_request *request,
                                                      const vyre_routing **out_routing);
VYRE_API void vyre_routing_release(const vyre_routing *routing); /* NULL is allowed */

/* Learning: times that runs on "auto" of vyre_run and vyre_run_operation take go into the table by
 * class, and now and then, for at most about a sixteenth of that time, the same inputs also run on
 * another device that is not measured for that class yet. Its bytes are compared; results always
 * come from the device that was chosen. Off, unless VYRE_LEARN is 1, or this turns it on. */
VYRE_API void vyre_route_learn(bool on);
/* Saves what was learned and is not saved yet, which else happens every few seconds. */
VYRE_API VYRE_MUST_USE vyre_status vyre_route_flush(void);

#ifdef __cplusplus
}
#endif

#endif
