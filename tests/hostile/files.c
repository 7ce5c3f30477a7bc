/* Hostile files: damages of the cache, mutants of the binary form and of texts. None may end a
 * process by a signal, hang, or give a wrong byte.
 *
 *     hostile_files [CACHE WIRE TEXT [SEED]]     2000 20000 6000 1 if not given
 *
 * runs in the root of the tree, with VYRE naming the command. The checks of the two kinds of
 * mutants are those of tests/fuzz, compiled into this program: each mutant is decoded or parsed,
 * and what is accepted must survive encoding, printing, formatting and running. They run in a
 * process of their own, which is started again behind a mutant that ended it; that one is kept, and
 * named. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, setitimer */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/hostile/cache.h"
#include "tests/hostile/mutate.h"

enum { MOST_BYTES = 1 << 16, SECONDS = 60 }; /* of a processor, for one mutant */

/* Of tests/fuzz. */
int hostile_wire_check(const uint8_t *data, size_t size);
size_t hostile_wire_mutate(uint8_t *data, size_t size, size_t most, unsigned seed);
int hostile_text_check(const uint8_t *data, size_t size);
int hostile_run_check(const uint8_t *data, size_t size);

/* What the process that tries mutants shares with the one that watches it. */
typedef struct shared {
    size_t next, size;
    uint64_t random;
    uint8_t data[MOST_BYTES];
} shared;

typedef struct kind {
    const char *name;
    hostile_seeds seeds, words;
    void (*mutate)(const struct kind *kind, shared *now);
    void (*check)(const shared *now);
} kind;

static void mutate_wire(const kind *of, shared *now) {
    (void)of;
    for (unsigned i = (unsigned)(now->next % 4) + 1; i > 0; i--) {
        now->size = hostile_wire_mutate(now->data, now->size, MOST_BYTES,
                                        (unsigned)vyre_random(&now->random));
    }
}

static void check_wire(const shared *now) {
    hostile_wire_check(now->data, now->size);
}

static void mutate_text(const kind *of, shared *now) {
    now->size = hostile_mutate_text(now->data, now->size, MOST_BYTES, &of->words, &of->seeds);
}

static void check_text(const shared *now) {
    hostile_text_check(now->data, now->size);
    hostile_run_check(now->data, now->size);
}

static void limit_time(long seconds) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

/* Tries mutants from now->next on; the number of a mutant is all that decides about it. */
static void try_mutants(const kind *of, shared *now, size_t count, uint64_t seed) {
    for (; now->next < count; now->next++) {
        now->random = seed << 32 ^ now->next;
        const hostile_seed *from =
            &of->seeds.items[vyre_random_below(&now->random, of->seeds.count)];
        now->size = from->size < MOST_BYTES ? from->size : MOST_BYTES;
        memcpy(now->data, from->data, now->size);
        hostile_mutate_start(now->random);
        of->mutate(of, now);
        limit_time(SECONDS);
        of->check(now);
    }
    limit_time(0);
}

static void keep(const kind *of, const shared *now, int ended) {
    char path[256];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/hostile-%s-%zu", folder ? folder : P_tmpdir, of->name,
             now->next);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    bool kept = file >= 0 && write(file, now->data, now->size) == (ssize_t)now->size;
    if (file >= 0) {
        close(file);
    }
    printf("FAILED: %s mutant %zu ended with %s %d; %s %s\n", of->name, now->next,
           WIFSIGNALED(ended) ? "signal" : "status",
           WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended),
           kept ? "it is kept in" : "it could not be kept in", path);
}

/* Returns how many mutants failed. */
static size_t run_kind(const kind *of, size_t count, uint64_t seed) {
    shared *now =
        mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t failed = 0;
    if (now == MAP_FAILED) {
        perror("hostile_files");
        exit(1);
    }
    while (now->next < count) {
        int ended = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            try_mutants(of, now, count, seed);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &ended, 0) != child) {
            perror("hostile_files");
            exit(1);
        }
        if (ended) {
            keep(of, now, ended);
            failed++;
            now->next++;
        }
    }
    munmap(now, sizeof *now);
    printf("%zu %s mutants, %zu failed\n", count, of->name, failed);
    return failed;
}

static size_t number(int count, char **words, int index, size_t otherwise) {
    char *end = NULL;
    unsigned long long value = index < count ? strtoull(words[index], &end, 10) : otherwise;
    if (end && (*end || end == words[index])) {
        fprintf(stderr, "usage: hostile_files [CACHE WIRE TEXT [SEED]]\n");
        exit(2);
    }
    return (size_t)value;
}

int main(int count, char **words) {
    size_t caches = number(count, words, 1, 2000), wires = number(count, words, 2, 20000);
    size_t texts = number(count, words, 3, 6000), seed = number(count, words, 4, 1);
    kind wire = {.name = "wire", .mutate = mutate_wire, .check = check_wire};
    kind text = {.name = "text", .mutate = mutate_text, .check = check_text};
    const char *note = NULL, *command = getenv("VYRE");
    wire.seeds = hostile_seeds_read("tests/fuzz/corpus/wire");
    text.seeds = hostile_seeds_read("tests/fuzz/corpus/text");
    text.words = hostile_words_read("tests/fuzz/text.dict");
    size_t failed = run_kind(&wire, wires, seed) + run_kind(&text, texts, seed);
    if (!command) {
        fprintf(stderr, "VYRE must name the command\n");
        return 2;
    }
    failed += hostile_cache_run(command, caches, seed, &note);
    if (note) {
        printf("unavailable: %s\n", note);
    }
    return failed != 0;
}
