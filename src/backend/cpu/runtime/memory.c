#define _GNU_SOURCE /* MADV_HUGEPAGE */

#include "backend/cpu/runtime/memory.h"

#include <pthread.h>

#include <sys/mman.h>

#include "base/alloc.h"

/* Stands right in front of the memory that is given out. */
typedef struct head {
    void *block; /* what is to be freed */
    size_t size; /* that can be used */
    struct head *next;
} head;

enum { MOST_KEPT = 64, PAGE = 4096, HUGE_PAGE = 2 << 20 };
static const size_t most_bytes = (size_t)256 << 20, huge_bytes = (size_t)4 << 20;

/* What is kept, the last one given back first. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static head *kept;
static size_t kept_bytes, kept_count;

static void lock_list(void) {
    pthread_mutex_lock(&lock);
}

static void unlock_list(void) {
    pthread_mutex_unlock(&lock);
}

/* Whoever holds the lock while another thread forks would hold it in the child for good. */
static void init(void) {
    pthread_atfork(lock_list, unlock_list, unlock_list);
}

static head *head_of(uint8_t *memory) {
    return (head *)(void *)(memory - CPU_ALIGNMENT);
}

/* Takes the best one out of what is kept: large enough, and not far too large. */
static head *find_kept(size_t size) {
    head **best = NULL;
    for (head **at = &kept; *at; at = &(*at)->next) {
        if ((*at)->size >= size && (*at)->size / 2 <= size &&
            (!best || (*at)->size < (*best)->size)) {
            best = at;
        }
    }
    head *found = best ? *best : NULL;
    if (found) {
        *best = found->next;
        kept_bytes -= found->size;
        kept_count--;
    }
    return found;
}

/* Large blocks begin where a huge page does, so that few entries of the CPU's tables cover them. */
static head *make(size_t size) {
    bool is_huge = size >= huge_bytes;
    const size_t alignment = is_huge ? HUGE_PAGE : CPU_ALIGNMENT, more = alignment + CPU_ALIGNMENT;
    uint8_t *block = size <= SIZE_MAX - more ? vyre_alloc(size + more) : NULL;
    if (!block) {
        return NULL;
    }
    uint8_t *memory = block + CPU_ALIGNMENT;
    memory += (alignment - (uintptr_t)memory % alignment) % alignment;
    if (is_huge) { /* only advice, about whole pages; no matter if it is not taken */
        madvise(memory, size / PAGE * PAGE, MADV_HUGEPAGE);
    }
    *head_of(memory) = (head){block, size, NULL};
    return head_of(memory);
}

uint8_t *cpu_memory_take(size_t size) {
    size = size < CPU_ALIGNMENT ? CPU_ALIGNMENT : size;
    pthread_once(&once, init);
    lock_list();
    head *found = find_kept(size);
    unlock_list();
    found = found ? found : make(size);
    return found ? (uint8_t *)found + CPU_ALIGNMENT : NULL;
}

/* Cuts the list behind what may stay; returns the rest. */
static head *cut(size_t count_limit, size_t byte_limit) {
    head **at = &kept;
    size_t count = 0, bytes = 0;
    while (*at && count < count_limit && bytes + (*at)->size <= byte_limit) {
        count++;
        bytes += (*at)->size;
        at = &(*at)->next;
    }
    head *rest = *at;
    *at = NULL;
    kept_count = count;
    kept_bytes = bytes;
    return rest;
}

static void free_all(head *list) {
    while (list) {
        head *next = list->next;
        vyre_free(list->block);
        list = next;
    }
}

void cpu_memory_give(uint8_t *memory) {
    if (!memory) {
        return;
    }
    head *given = head_of(memory), *rest = NULL;
    lock_list();
    given->next = kept;
    kept = given;
    kept_bytes += given->size;
    kept_count++;
    if (kept_count > MOST_KEPT || kept_bytes > most_bytes) {
        rest = cut(MOST_KEPT, most_bytes);
    }
    unlock_list();
    free_all(rest);
}

void cpu_memory_trim(void) {
    lock_list();
    head *rest = cut(0, 0);
    unlock_list();
    free_all(rest);
}
