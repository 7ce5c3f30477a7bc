#define _GNU_SOURCE /* syscall */

#include "dialect/guard.h"

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/log.h"
#include "base/status.h"
#include "dialect/provider.h"
#include "dialect/registry.h"

/* The thread sanitizer sees what C says of atomics, and nothing of what the kernel does. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif

#if defined(__linux__) && defined(SYS_membarrier) && !defined(UNDER_THREAD_SANITIZER)
enum { MEMBARRIER_NOW = 1 << 3, MEMBARRIER_REGISTER = 1 << 4 }; /* private, expedited */
static bool membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}
#else
enum { MEMBARRIER_NOW, MEMBARRIER_REGISTER };
static bool membarrier(int command) {
    (void)command;
    return false;
}
#endif

enum { LINE_BYTES = 64, SLOTS = 5 };

/* What a thread reads, in a line of its own: guards beyond the slots count references instead. */
typedef struct reader {
    _Atomic(const vyre_dialects *) slots[SLOTS];
    uint32_t unused; /* slots, as bits; only the thread itself looks at them */
    struct reader *next;
    void *block; /* of memory that it lies in */
} reader;

_Static_assert(sizeof(reader) <= LINE_BYTES, "a reader shares its line with another");

/* Written by who installs alone, so that all readers have a copy of the line. */
static struct {
    _Alignas(LINE_BYTES) _Atomic(vyre_dialects *) current;
    atomic_bool light; /* readers need no barrier of their own, and nothing has to be told them */
    bool barriers;     /* who replaces makes them for all */
    bool conflict;     /* the language has another provider */
    atomic_ullong generation;
} force;

static struct {
    _Alignas(LINE_BYTES) pthread_mutex_t lock; /* of what follows; never held for long */
    reader *readers;
    vyre_dialects *replaced;
    bool stuck;        /* nothing is freed any more */
    atomic_bool busy;  /* a reader looks for what can be freed */
    atomic_bool again; /* and must look once more */
} behind = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local reader *own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool portable;
static pthread_key_t thread_ends;
static bool has_key;

static void end_thread(void *record) {
    reader *ended = record;
    own = NULL;
    pthread_mutex_lock(&behind.lock);
    for (reader **link = &behind.readers; *link; link = &(*link)->next) {
        if (*link == ended) {
            *link = ended->next;
            break;
        }
    }
    pthread_mutex_unlock(&behind.lock);
    vyre_free(ended->block);
}

static void before_fork(void) {
    pthread_mutex_lock(&behind.lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&behind.lock);
}

/* Of the threads only the one that forked is there. What the others read is read by nobody now. */
static void after_fork_child(void) {
    atomic_store(&behind.busy, false);
    behind.readers = own;
    if (own) {
        own->next = NULL;
    }
    if (force.barriers && !membarrier(MEMBARRIER_REGISTER)) {
        behind.stuck = true;
    }
    pthread_mutex_unlock(&behind.lock);
    vyre_dialects_forget_loading();
}

static void set_up(void) {
    vyre_status conflict = vyre_provider_install(&vyre_dialects_library);
    force.conflict = conflict;
    vyre_status_free(conflict);
    has_key = !pthread_key_create(&thread_ends, end_thread);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    force.barriers = !portable && membarrier(MEMBARRIER_REGISTER);
    atomic_store_explicit(&force.light, force.barriers && !force.conflict, memory_order_release);
}

/* A library that is closed would leave a function to call behind. */
__attribute__((destructor)) static void take_back_key(void) {
    if (has_key) {
        pthread_key_delete(thread_ends);
    }
}

void vyre_guards_portable(void) {
    portable = true;
}

/* The thread's own, made if need be; NULL without memory. */
static reader *find_own(void) {
    if (own || !has_key) {
        return own;
    }
    void *block = vyre_alloc_zeroed(2, LINE_BYTES);
    if (!block) {
        return NULL;
    }
    uintptr_t line = ((uintptr_t)block + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    reader *made = (reader *)line;
    made->unused = (1u << SLOTS) - 1;
    made->block = block;
    if (pthread_setspecific(thread_ends, made)) {
        vyre_free(block);
        return NULL;
    }
    pthread_mutex_lock(&behind.lock);
    made->next = behind.readers;
    behind.readers = made;
    pthread_mutex_unlock(&behind.lock);
    own = made;
    return made;
}

static bool is_read(const vyre_dialects *snapshot) {
    for (const reader *r = behind.readers; r; r = r->next) {
        for (size_t i = 0; i < SLOTS; i++) {
            if (atomic_load_explicit(&r->slots[i], memory_order_seq_cst) == snapshot) {
                return true;
            }
        }
    }
    return false;
}

/* Frees what was replaced and is read by nobody. `added` was replaced just now, or is NULL. */
static void sweep(vyre_dialects *added) {
    vyre_dialects *garbage = NULL;
    pthread_mutex_lock(&behind.lock);
    if (added && !added->replaced++) {
        added->next = behind.replaced;
        behind.replaced = added;
    }
    for (vyre_dialects **link = &behind.replaced; *link && !behind.stuck;) {
        vyre_dialects *old = *link;
        if (is_read(old)) {
            link = &old->next;
            continue;
        }
        *link = old->next;
        size_t references = old->replaced;
        old->replaced = 0;
        if (vyre_dialects_drop(old, references)) {
            old->next = garbage;
            garbage = old;
        }
    }
    pthread_mutex_unlock(&behind.lock);
    while (garbage) {
        vyre_dialects *next = garbage->next;
        vyre_dialects_free(garbage);
        garbage = next;
    }
}

/* The same for readers, who come in crowds whenever something is replaced: one of them does it,
 * again if others came meanwhile, and these do not wait. */
static void reclaim(void) {
    atomic_store(&behind.again, true);
    while (atomic_load(&behind.again) && !atomic_exchange(&behind.busy, true)) {
        atomic_store(&behind.again, false);
        sweep(NULL);
        atomic_store(&behind.busy, false);
    }
}

size_t vyre_guards_replaced(void) {
    size_t count = 0;
    pthread_mutex_lock(&behind.lock);
    for (const vyre_dialects *old = behind.replaced; old; old = old->next) {
        count++;
    }
    pthread_mutex_unlock(&behind.lock);
    return count;
}

bool vyre_guards_filled(void) {
    return atomic_load_explicit(&force.current, memory_order_acquire);
}

uint64_t vyre_guards_generation(void) {
    return atomic_load_explicit(&force.generation, memory_order_acquire);
}

void vyre_guards_first(vyre_dialects *snapshot) {
    pthread_once(&once, set_up);
    vyre_dialects *none = NULL;
    if (atomic_compare_exchange_strong(&force.current, &none, snapshot)) {
        atomic_fetch_add(&force.generation, 1);
    } else {
        vyre_dialects_release(snapshot);
    }
}

void vyre_dialects_install(vyre_dialects *snapshot) {
    pthread_once(&once, set_up);
    vyre_dialects *old = atomic_exchange(&force.current, snapshot);
    atomic_fetch_add(&force.generation, 1);
    if (old == snapshot) {
        vyre_dialects_release(snapshot);
    } else if (old) {
        if (force.barriers && !membarrier(MEMBARRIER_NOW)) {
            /* Forbidden since it was registered: readers cannot be seen, so all stays. */
            vyre_log(VYRE_LOG_WARNING, "dialects: the system refuses memory barriers, so replaced "
                                       "snapshots stay in memory. Fix: allow the system call "
                                       "membarrier");
            pthread_mutex_lock(&behind.lock);
            behind.stuck = true;
            pthread_mutex_unlock(&behind.lock);
        }
        sweep(old);
    }
}

/* Takes a slot for what is in force; false if nothing is. */
static inline bool hold(reader *self, bool light, vyre_dialects_guard *guard) {
    const vyre_dialects *seen = atomic_load_explicit(&force.current, memory_order_relaxed);
    if (!seen) {
        return false;
    }
    _Atomic(const vyre_dialects *) *slot = &self->slots[__builtin_ctz(self->unused)];
    self->unused &= self->unused - 1;
    atomic_signal_fence(memory_order_seq_cst); /* taken, should a signal come in between */
    bool moved = false;
    for (;;) {
        const vyre_dialects *now;
        if (light) {
            atomic_store_explicit(slot, seen, memory_order_release);
            atomic_signal_fence(memory_order_seq_cst);
            now = atomic_load_explicit(&force.current, memory_order_acquire);
        } else {
            atomic_store_explicit(slot, seen, memory_order_seq_cst);
            now = atomic_load_explicit(&force.current, memory_order_seq_cst);
        }
        if (now == seen) {
            break;
        }
        seen = now;
        moved = true;
    }
    guard->snapshot = seen;
    guard->held[0] = self;
    guard->held[1] = slot;
    if (moved) {
        reclaim(); /* who replaced the other one may have found it in the slot */
    }
    return true;
}

/* Under the lock nothing that was replaced is given up. */
static bool hold_counted(vyre_dialects_guard *guard) {
    pthread_mutex_lock(&behind.lock);
    vyre_dialects *now = atomic_load_explicit(&force.current, memory_order_seq_cst);
    if (now) {
        guard->held[1] = vyre_dialects_retain(now);
        guard->snapshot = now;
    }
    pthread_mutex_unlock(&behind.lock);
    return now;
}

/* Everything but the provider of the language. */
static vyre_status enter(vyre_dialects_guard *guard) {
    *guard = (vyre_dialects_guard){0};
    pthread_once(&once, set_up);
    if (!vyre_guards_filled()) {
        VYRE_TRY(vyre_dialects_prepare());
    }
    reader *self = find_own();
    if (!self || !self->unused || !hold(self, force.barriers, guard)) {
        hold_counted(guard);
    }
    return VYRE_OK;
}

static inline bool enter_lightly(vyre_dialects_guard *guard) {
    reader *self = own;
    return self && self->unused && atomic_load_explicit(&force.light, memory_order_relaxed) &&
           hold(self, true, guard);
}

static __attribute__((noinline)) const vyre_dialects *enter_and_log(vyre_dialects_guard *guard) {
    vyre_status status = enter(guard);
    if (status) {
        vyre_log(VYRE_LOG_ERROR, "dialects: no operation is known: %s", vyre_status_text(status));
        vyre_status_free(status);
        guard->snapshot = &vyre_dialects_empty;
    }
    if (force.conflict) {
        vyre_status conflict = vyre_provider_install(&vyre_dialects_library);
        vyre_log(VYRE_LOG_ERROR, "dialects: %s", vyre_status_text(conflict));
        vyre_status_free(conflict);
    }
    return guard->snapshot;
}

const vyre_dialects *vyre_dialects_enter(vyre_dialects_guard *guard) {
    return enter_lightly(guard) ? guard->snapshot : enter_and_log(guard);
}

vyre_status vyre_dialects_try_enter(vyre_dialects_guard *guard,
                                    const vyre_dialects **out_snapshot) {
    vyre_status status = VYRE_OK;
    if (!enter_lightly(guard)) {
        status = enter(guard);
        if (!status && force.conflict) {
            vyre_dialects_leave(guard);
            status = vyre_provider_install(&vyre_dialects_library);
        }
    }
    *out_snapshot = guard->snapshot;
    return status;
}

static __attribute__((noinline)) void leave_counted(vyre_dialects_guard *guard) {
    const vyre_dialects *counted = guard->held[1];
    *guard = (vyre_dialects_guard){0};
    vyre_dialects_release(counted);
}

void vyre_dialects_leave(vyre_dialects_guard *guard) {
    reader *self = guard->held[0];
    if (!self) {
        leave_counted(guard);
        return;
    }
    _Atomic(const vyre_dialects *) *slot = guard->held[1];
    const vyre_dialects *had = guard->snapshot;
    *guard = (vyre_dialects_guard){0};
    if (force.barriers) {
        atomic_store_explicit(slot, NULL, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        atomic_store_explicit(slot, NULL, memory_order_seq_cst);
    }
    self->unused |= 1u << (slot - self->slots);
    if (atomic_load_explicit(&force.current, memory_order_seq_cst) != had) {
        reclaim(); /* it may have been the last to read it */
    }
}
