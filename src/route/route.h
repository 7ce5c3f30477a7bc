/* The inside of routes.
 *
 *   routes.c   what they hold                  time.c      how long one device takes
 *   toml.c     routes as text                  certify.c   which device wins
 *   file.c     reading, merging and saving     router*.c   choosing, and learning
 */
#ifndef VYRE_ROUTE_ROUTE_H
#define VYRE_ROUTE_ROUTE_H

#include <vyre/route.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* Nanoseconds that never go back. */
typedef struct vyre_route_clock {
    uint64_t (*now)(void *user); /* NULL: that of the machine */
    void *user;
} vyre_route_clock;

/* `extra` are keys that this version does not know, as lines of TOML; "" if there are none.
 * `is_new`: not yet saved. */
typedef struct vyre_route_measured {
    vyre_class_row row;
    const char *extra;
    bool is_new;
} vyre_route_measured;

typedef struct vyre_route_banned {
    vyre_exclusion exclusion;
    const char *extra;
    bool is_new;
} vyre_route_banned;

/* What is known of an operation. */
typedef struct vyre_route_entry {
    bool has_route, is_new; /* of the route */
    vyre_route route;       /* `op` and `excluded` also without a route */
    const char *extra;
    const char *const *observation_extras; /* by observation */
    const char *const *excluded_extras;
    VYRE_VEC(vyre_route_measured) rows;
    VYRE_VEC(vyre_route_banned) bans; /* by class */
} vyre_route_entry;

struct vyre_routes {
    vyre_arena arena;
    VYRE_VEC(const char *) strings; /* each once, in the arena */
    vyre_map index;                 /* of them */
    VYRE_VEC(vyre_route_entry *) entries;
    const char *extra;
    vyre_route_clock clock;
};

uint64_t vyre_route_now(const vyre_route_clock *clock);

/* Their own copy of a string; NULL without memory. */
const char *vyre_routes_string(vyre_routes *routes, const char *string);

/* NULL if nothing is known of the operation. */
vyre_route_entry *vyre_routes_entry(const vyre_routes *routes, const char *op);

/* Put copies in place of what is known of the same. Each does all or nothing.
 * Extras may be NULL, a list of them too. */
VYRE_MUST_USE vyre_status vyre_routes_put_route(vyre_routes *routes, const vyre_route *route,
                                                const char *extra,
                                                const char *const *observation_extras, bool is_new);
VYRE_MUST_USE vyre_status vyre_routes_put_excluded(vyre_routes *routes, const char *op,
                                                   const vyre_exclusion *excluded, size_t count,
                                                   const char *const *extras);
/* All rows and exclusions of one measurement. */
VYRE_MUST_USE vyre_status vyre_routes_put_classes(vyre_routes *routes, const char *op,
                                                  const vyre_route_measured *rows, size_t row_count,
                                                  const vyre_route_banned *bans, size_t ban_count);

bool vyre_identity_same(const vyre_identity *left, const vyre_identity *right);

/* Puts all that is new in `routes` into `into`, where it stays new. */
VYRE_MUST_USE vyre_status vyre_routes_overlay(vyre_routes *into, const vyre_routes *routes);
bool vyre_routes_has_new(const vyre_routes *routes);

/* As vyre_routes_save, but waits for nobody: VYRE_STATUS_TIMEOUT while another process saves. */
VYRE_MUST_USE vyre_status vyre_routes_try_save(vyre_routes *routes, const char *path);

/* Routes as text and back. `path` is for errors. A text that is none of routes is MALFORMED. */
VYRE_MUST_USE vyre_status vyre_routes_decode(const char *path, const char *data, size_t size,
                                             vyre_routes *routes);
VYRE_MUST_USE vyre_status vyre_routes_encode(const vyre_routes *routes, vyre_strbuf *out);

/* What became of a candidate. */
typedef struct vyre_route_trial {
    uint64_t latency_ns;
    const vyre_outputs *same; /* its bytes, where another has the same; or NULL */
    vyre_outputs outputs;     /* of its last run; of its first with data of the host */
    bool is_excluded;
    vyre_exclusion_cause cause;
    vyre_strbuf reason;
} vyre_route_trial;

/* What candidates are run with. */
typedef struct vyre_route_work {
    vyre_route_clock clock;
    vyre_data data;
    const vyre_input *inputs;
    size_t input_count;
    vyre_dispatch_config config;
    uint64_t budget_ns;     /* 0: any time */
    bool excludes_refusals; /* else they fail the whole */
} vyre_route_work;

/* Times one: a run to warm up and three that count. The trial is to be freed whatever comes out. */
VYRE_MUST_USE vyre_status vyre_route_time(const vyre_route_work *work,
                                          const vyre_route_candidate *candidate,
                                          vyre_route_trial *out_trial);
void vyre_route_trial_free(vyre_route_trial *trial);

/* The bytes of all arguments of a run, `out` buffers too. `config` may be NULL. */
VYRE_MUST_USE vyre_status vyre_route_count_bytes(const vyre_program *program,
                                                 const vyre_input *inputs, size_t input_count,
                                                 const vyre_dispatch_config *config,
                                                 uint64_t *out_bytes);

/* Whether a program's bytes are the same everywhere. */
bool vyre_route_is_comparable(const vyre_program *program);
/* Whether outputs are the same; else says where they differ. */
bool vyre_route_same_outputs(const vyre_outputs *found, const vyre_outputs *expected,
                             vyre_strbuf *out_where);

/* The middle one of a few, which it sorts. */
uint64_t vyre_route_median(uint64_t *times, size_t count);

#endif
