#include "route/texts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <vyre/text.h>

#include "base/alloc.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/status.h"
#include "dialect/guard.h"

/* Bounded, because a program may write a new text for every run: new texts replace old ones. */
enum { SETS = 64, WAYS = 4, MOST_TEXT_BYTES = 1 << 16 };

typedef struct kept {
    uint64_t hash, generation; /* of the text; of the library, before the text was parsed */
    size_t size;
    char *text; /* NULL: a free place */
    vyre_program *program;
} kept;

typedef struct texts {
    uint32_t forks; /* vyre_fork_count when this was made: a child process makes its own */
    pthread_rwlock_t lock;
    struct {
        kept ways[WAYS];
        uint32_t oldest;
    } sets[SETS];
} texts;

/* NULL without memory; every text is parsed then. */
static texts *texts_of_process(void) {
    static _Atomic(texts *) made;
    texts *now = atomic_load_explicit(&made, memory_order_acquire);
    if (now && now->forks == vyre_fork_count()) {
        return now;
    }
    texts *own = vyre_alloc_zeroed(1, sizeof *own);
    if (!own) {
        return NULL;
    }
    own->forks = vyre_fork_count();
    pthread_rwlock_init(&own->lock, NULL);
    if (atomic_compare_exchange_strong(&made, &now, own)) {
        return own;
    }
    pthread_rwlock_destroy(&own->lock); /* another thread was faster */
    vyre_free(own);
    return now;
}

static vyre_program *find(texts *all, const kept *wanted) {
    vyre_program *found = NULL;
    pthread_rwlock_rdlock(&all->lock);
    const kept *ways = all->sets[wanted->hash % SETS].ways;
    for (uint32_t i = 0; i < WAYS && !found; i++) {
        bool same = ways[i].text && ways[i].hash == wanted->hash && ways[i].size == wanted->size &&
                    ways[i].generation == wanted->generation &&
                    !memcmp(ways[i].text, wanted->text, wanted->size);
        found = same ? vyre_program_retain(ways[i].program) : NULL;
    }
    pthread_rwlock_unlock(&all->lock);
    return found;
}

/* Without memory it keeps nothing, and the next run parses the text again. */
static void keep(texts *all, kept made) {
    char *text = vyre_alloc(made.size + 1);
    if (!text) {
        return;
    }
    made.text = memcpy(text, made.text, made.size);
    made.program = vyre_program_retain(made.program);
    pthread_rwlock_wrlock(&all->lock);
    uint32_t *oldest = &all->sets[made.hash % SETS].oldest;
    kept *place = &all->sets[made.hash % SETS].ways[*oldest];
    const kept gone = *place;
    *place = made;
    *oldest = (*oldest + 1) % WAYS;
    pthread_rwlock_unlock(&all->lock);
    vyre_free(gone.text);
    vyre_program_release(gone.program);
}

static vyre_status parse(const char *text, size_t size, vyre_program **out_program) {
    vyre_module *module;
    VYRE_TRY(vyre_module_parse(NULL, text, size, NULL, &module));
    size_t count = vyre_module_count(module);
    if (count == 1) {
        *out_program = vyre_program_retain(vyre_module_program(module, 0));
    }
    vyre_module_free(module);
    return count == 1 ? VYRE_OK
                      : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                         "pass a text with one program, or use vyre_module_parse",
                                         "the text has %zu programs", count);
}

vyre_status vyre_texts_program(const char *text, vyre_program **out_program) {
    kept wanted = {.size = strlen(text),
                   .text = (char *)(uintptr_t)text, /* only read */
                   .generation = vyre_guards_generation()};
    texts *all = wanted.size <= MOST_TEXT_BYTES ? texts_of_process() : NULL;
    *out_program = NULL;
    if (all) {
        wanted.hash = vyre_hash_key(text, wanted.size);
        *out_program = find(all, &wanted);
    }
    if (*out_program) {
        return VYRE_OK;
    }
    VYRE_TRY(parse(text, wanted.size, out_program));
    if (all) {
        wanted.program = *out_program;
        keep(all, wanted);
    }
    return VYRE_OK;
}
