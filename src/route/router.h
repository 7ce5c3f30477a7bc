/* The router: it chooses devices by routes, and keeps the devices and its choices.
 *
 *   router.c         asking it, what it keeps, and when it reads the file again
 *   router_decide.c  how it chooses
 *   router_learn.c   what it learns from running times
 */
#ifndef VYRE_ROUTE_ROUTER_H
#define VYRE_ROUTE_ROUTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include <vyre/dialect.h>

#include "route/route.h"

/* A choice that is kept, found again by what was asked: */
typedef struct vyre_router_key {
    vyre_str op;        /* empty: a program */
    vyre_digest digest; /* of the program */
    uint32_t size_class, grade;
    vyre_data data;
} vyre_router_key;

typedef struct vyre_router_kept {
    vyre_router_choice choice; /* first: what callers have */
    atomic_uint references;
    atomic_bool is_told; /* its note */
    vyre_router_key key;
    uint64_t hash;
    char texts[]; /* op, why, note */
} vyre_router_kept;

/* A device by its name, as it was found when it was first asked for. */
typedef struct vyre_router_device {
    char *name;
    vyre_device *device; /* NULL: it is not here */
    char *failure;       /* why */
} vyre_router_device;

/* The last few times of a device, for one operation, data and class. */
enum { VYRE_LEARN_WINDOW = 5, VYRE_LEARN_ENOUGH = 3 };
typedef struct vyre_router_times {
    char *op;
    vyre_data data;
    uint32_t size_class;
    const vyre_device *device; /* one that is kept */
    uint64_t times[VYRE_LEARN_WINDOW];
    uint32_t count; /* of all so far */
} vyre_router_times;

/* What tells whether a file changed. */
typedef struct vyre_router_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
} vyre_router_stamp;

typedef struct vyre_router {
    vyre_registry *registry;
    char *path; /* of the file; NULL: none */
    vyre_route_clock clock;
    atomic_bool learns;
    uint32_t forks; /* vyre_fork_count when it was made: a child has one of its own */

    pthread_rwlock_t lock; /* all below */
    vyre_routes *routes;
    vyre_router_stamp stamp;
    uint64_t checked_ns; /* when the file was last looked at */
    char *problem;       /* why the file cannot be read; NULL if it can */
    VYRE_VEC(vyre_router_kept *) choices;
    vyre_map index; /* of them */
    VYRE_VEC(vyre_router_device) devices;
    vyre_device *preferred; /* one of those that are kept, by plain preferred selection */
    char *preferred_why;

    VYRE_VEC(vyre_router_times) times;
    uint64_t running_ns, exploring_ns;
    uint64_t saved_ns;
    bool is_exploring; /* somebody does, without the lock */
    bool has_surveyed; /* all devices were asked for */
} vyre_router;

/* `registry` NULL is the default one, `path` NULL is no file. Nothing is read before the first
 * question. */
VYRE_MUST_USE vyre_status vyre_router_create(vyre_registry *registry, const char *path,
                                             vyre_route_clock clock, vyre_router **out_router);
void vyre_router_free(vyre_router *router); /* NULL is allowed */

/* That of the process, as its environment says. */
VYRE_MUST_USE vyre_status vyre_router_default(vyre_router **out_router);

VYRE_MUST_USE vyre_status vyre_router_ask(vyre_router *router, const vyre_router_request *request,
                                          const vyre_router_choice **out_choice);
/* A device by its name, or `preferred`, which is kept: a reference of the caller's own. */
VYRE_MUST_USE vyre_status vyre_router_name(vyre_router *router, const char *name,
                                           vyre_device **out_device);
/* Logs the note of a choice that nobody asked to see, the first time. */
void vyre_router_choice_log(const vyre_router_choice *choice);

/* With the lock held for writing. */

/* Why a device should not run an operation on data of that class; NULL if it may. Wrong bytes count
 * whatever the class. */
const vyre_exclusion *vyre_router_banned(const vyre_router *router, const char *op, vyre_data data,
                                         uint32_t size_class, const vyre_identity *who);
VYRE_MUST_USE vyre_status vyre_router_keep(vyre_router *router, const char *name,
                                           vyre_router_device **out_device);
/* The device of preferred selection, which is kept, too. */
VYRE_MUST_USE vyre_status vyre_router_prefer(vyre_router *router, vyre_device **out_device);
/* A device that is lost, with all that goes by it. */
void vyre_router_drop(vyre_router *router, vyre_router_device *row);
/* `op` is what the routes know it by. */
VYRE_MUST_USE vyre_status vyre_router_decide(vyre_router *router,
                                             const vyre_router_request *request,
                                             const vyre_router_key *key, const char *op,
                                             vyre_router_kept **out_kept);
VYRE_MUST_USE vyre_status vyre_router_make_choice(const vyre_router_choice *facts,
                                                  const vyre_router_key *key,
                                                  vyre_router_kept **out_kept);
void vyre_router_forget(vyre_router *router); /* all choices */
vyre_router_stamp vyre_router_look(const char *path);

/* A run on a device that the router chose, and what came out. */
typedef struct vyre_router_run {
    const vyre_router_request *request;
    const vyre_router_choice *choice;
    const vyre_operation *operation; /* NULL: `program` runs everywhere */
    const vyre_program *program;
    const vyre_input *inputs;
    size_t input_count;
    const vyre_dispatch_config *config; /* may be NULL */
    const vyre_outputs *outputs; /* NULL: the inputs are overwritten, so nothing is explored */
    uint64_t ns;
} vyre_router_run;

/* Learns from a run, explores and saves as the time allows. Trouble is logged. */
void vyre_router_observe(vyre_router *router, const vyre_router_run *run);
/* Whether the router may explore after a run, which then must not overwrite its inputs. */
bool vyre_router_may_explore(vyre_router *router, const vyre_router_request *request,
                             const vyre_router_choice *choice);
VYRE_MUST_USE vyre_status vyre_router_save(vyre_router *router);
void vyre_router_times_free(vyre_router *router);

#endif
