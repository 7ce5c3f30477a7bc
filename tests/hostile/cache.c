#define _GNU_SOURCE /* mkdtemp, environ */

#include "tests/hostile/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "store/entry.h"

enum { KERNELS = 3, LIMIT = 1 << 24, OTHER_USER = 65534, TRIES = 12000, PAUSE_NS = 10000000 };

static const char *const texts[KERNELS] = {
    "program k(x: buffer<f32>, y: inout buffer<f32>) over y {\n"
    "    y[gid] = x[gid] * 3 + y[gid];\n}\n",
    "program k(x: buffer<u32>, y: inout buffer<u32>) over y {\n"
    "    var h = x[gid];\n"
    "    for i in 0..7 { h = (h ^ (h >> 3)) * 2654435761u + u32(i); }\n"
    "    y[gid] = h;\n}\n",
    "program k(x: buffer<u32>, y: inout buffer<u32>) over y workgroup 64 {\n"
    "    shared part: u32[64];\n"
    "    part[lid] = x[gid];\n"
    "    barrier;\n"
    "    y[gid] = part[63 - lid] + y[gid];\n}\n",
};

/* A file of the cache as the command wrote it. */
typedef struct entry {
    char name[VYRE_STORE_NAME_SIZE + 1];
    vyre_strbuf bytes;
} entry;

typedef struct trial {
    const char *command;
    char home[64], folder[128];
    vyre_strbuf expected[KERNELS];
    entry entries[KERNELS];
    vyre_strbuf ledger;
    uint64_t random;
} trial;

static void die(const char *what) {
    fprintf(stderr, "hostile cache: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "hostile cache: %s\n", vyre_status_text(status));
        exit(1);
    }
}

static uint64_t draw(trial *t, uint64_t bound) {
    return vyre_random_below(&t->random, bound);
}

static void path_of(const trial *t, const char *name, char path[512]) {
    snprintf(path, 512, "%s/%s", t->folder, name);
}

/* The command */

/* Waits, but not for ever: what blocks is no signal that a limit on time of a processor sees. */
static int wait_for(pid_t child) {
    int ended = 0;
    for (int i = 0; waitpid(child, &ended, WNOHANG) == 0; i++) {
        if (i == TRIES) {
            kill(child, SIGKILL);
            waitpid(child, &ended, 0);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return ended;
}

/* Runs a kernel on a backend. Its status as waitpid gives it, -1 where it hangs; `out` gets y. */
static int run(const trial *t, const char *backend, int kernel, vyre_strbuf *out) {
    char file[128], result[160], option[176];
    snprintf(file, sizeof file, "%s/%d.vyre", t->home, kernel);
    snprintf(result, sizeof result, "%s/result", t->home);
    snprintf(option, sizeof option, "y=%s", result);
    unlink(result);
    pid_t child = fork();
    if (child < 0) {
        die("fork");
    }
    if (child == 0) {
        char messages[160];
        snprintf(messages, sizeof messages, "%s/messages", t->home);
        int log = open(messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execl(t->command, t->command, "run", "-b", backend, file, "x=iota:256", "y=iota:256",
              "--out", option, (char *)NULL);
        _exit(127);
    }
    int ended = wait_for(child);
    if (ended == 0) {
        check(vyre_file_read(result, LIMIT, out));
    }
    return ended;
}

/* The state before each damage */

static void clear_folder(const trial *t) {
    char path[512];
    DIR *opened = opendir(t->folder);
    for (struct dirent *item; opened && (item = readdir(opened));) {
        path_of(t, item->d_name, path);
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0 &&
            unlink(path) != 0 && rmdir(path) != 0) {
            die(path);
        }
    }
    if (opened) {
        closedir(opened);
    }
}

static void write_bytes(const trial *t, const char *name, const char *data, size_t size) {
    char path[512];
    path_of(t, name, path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (file < 0 || vyre_file_write_open(file, data, size) || close(file)) {
        die(path);
    }
}

static void restore(const trial *t) {
    clear_folder(t);
    for (int i = 0; i < KERNELS; i++) {
        const entry *one = &t->entries[i];
        write_bytes(t, one->name, one->bytes.data, one->bytes.size);
    }
    write_bytes(t, "lock", t->ledger.data, t->ledger.size);
}

/* Finds the entry that a run just made. */
static bool find_entry(const trial *t, entry *out) {
    DIR *opened = opendir(t->folder);
    bool found = false;
    for (struct dirent *item; opened && (item = readdir(opened));) {
        char path[512];
        path_of(t, item->d_name, path);
        vyre_strbuf bytes = {0};
        vyre_store_entry decoded;
        if (strlen(item->d_name) != VYRE_STORE_NAME_SIZE) {
            continue;
        }
        check(vyre_file_read(path, LIMIT, &bytes));
        if (vyre_store_entry_decode((vyre_str){bytes.data, bytes.size}, &decoded) !=
            VYRE_STORE_VALID) {
            vyre_strbuf_free(&bytes); /* a measurement of the machine */
            continue;
        }
        memcpy(out->name, item->d_name, sizeof out->name);
        out->bytes = bytes;
        found = true;
    }
    if (opened) {
        closedir(opened);
    }
    return found;
}

static void set_up(trial *t) {
    char path[512];
    snprintf(t->home, sizeof t->home, "%s", P_tmpdir "/vyre-hostile-XXXXXX");
    if (!mkdtemp(t->home)) {
        die("mkdtemp");
    }
    snprintf(t->folder, sizeof t->folder, "%s/.cache/vyre/pipelines", t->home);
    setenv("HOME", t->home, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("VYRE_CACHE_LIMIT");
    for (int i = 0; i < KERNELS; i++) {
        snprintf(path, sizeof path, "%s/%d.vyre", t->home, i);
        check(vyre_file_replace(path, texts[i], strlen(texts[i])));
        if (run(t, "reference", i, &t->expected[i]) != 0) {
            die("the reference backend");
        }
    }
}

/* Fills the cache; false where the cpu backend cannot be used. */
static bool fill(trial *t) {
    char path[512];
    for (int i = 0; i < KERNELS; i++) {
        vyre_strbuf found = {0};
        clear_folder(t);
        bool right = run(t, "cpu", i, &found) == 0 && found.size == t->expected[i].size &&
                     !memcmp(found.data, t->expected[i].data, found.size);
        vyre_strbuf_free(&found);
        if (!right || !find_entry(t, &t->entries[i])) {
            return false;
        }
    }
    path_of(t, "lock", path);
    check(vyre_file_read(path, LIMIT, &t->ledger));
    return true;
}

static void tear_down(trial *t) {
    char command[128];
    for (int i = 0; i < KERNELS; i++) {
        vyre_strbuf_free(&t->expected[i]);
        vyre_strbuf_free(&t->entries[i].bytes);
    }
    vyre_strbuf_free(&t->ledger);
    snprintf(command, sizeof command, "rm -rf '%s'", t->home);
    if (system(command) != 0) {
        die(t->home);
    }
}

/* Damages */

static void sign(vyre_strbuf *file) {
    const size_t bytes = 8;
    if (file->size >= bytes) {
        uint64_t sum = vyre_hash(file->data, file->size - bytes);
        for (size_t i = 0; i < bytes; i++) {
            file->data[file->size - bytes + i] = (char)(sum >> 8 * i);
        }
    }
}

static void flip(trial *t, vyre_strbuf *file, size_t from, size_t to) {
    for (uint64_t i = 1 + draw(t, 8); i > 0 && from < to; i--) {
        file->data[from + draw(t, to - from)] ^= (char)(1 << draw(t, 8));
    }
}

/* The entry as an attacker would forge it: the key of one program, the code of another, all sums
 * right. Only the check of owner and mode stops that. */
static void forge(const trial *t, int kernel, vyre_strbuf *file) {
    const vyre_strbuf *other = &t->entries[(kernel + 1) % KERNELS].bytes;
    vyre_store_entry mine, theirs;
    vyre_store_entry_decode((vyre_str){t->entries[kernel].bytes.data, file->size}, &mine);
    vyre_store_entry_decode((vyre_str){other->data, other->size}, &theirs);
    mine.payload = theirs.payload;
    vyre_strbuf_cut(file, 0);
    vyre_store_entry_encode(&mine, file);
}

/* X(name, what is done to an entry) */
#define DAMAGES(X)                                                                                 \
    X(FLIP, "bits turned over")                                                                    \
    X(FLIP_SIGNED, "bits of the code turned over, the sum of the file right")                      \
    X(FLIP_HEADER_SIGNED, "the same in front of it")                                               \
    X(TRUNCATE, "the end is missing")                                                              \
    X(TRUNCATE_SIGNED, "the same, the sum right")                                                  \
    X(EXTEND, "bytes behind the end")                                                              \
    X(ZERO, "a range of zeros")                                                                    \
    X(EMPTY, "no byte")                                                                            \
    X(SWAP, "the file of another program")                                                         \
    X(VERSION, "of another version of the format")                                                 \
    X(NOISE, "random bytes")                                                                       \
    X(WRITABLE, "forged, and others may write to it")                                              \
    X(OWNER, "forged, and of another user")                                                        \
    X(LINK, "a symbolic link")                                                                     \
    X(PIPE, "a pipe that nobody writes to")                                                        \
    X(FOLDER, "a folder")                                                                          \
    X(HUGE, "up to a terabyte long")                                                               \
    X(LEDGER, "the counts beside the entries are damaged")                                         \
    X(LEFT_BEHIND, "half of a file that a process left")

typedef enum damage {
#define ROW(name, text) DAMAGE_##name,
    DAMAGES(ROW)
#undef ROW
        DAMAGE_COUNT
} damage;

static const char *const damage_texts[] = {
#define ROW(name, text) text,
    DAMAGES(ROW)
#undef ROW
};

static void damage_bytes(trial *t, damage how, int kernel, vyre_strbuf *file) {
    const entry *other = &t->entries[(kernel + 1 + (int)draw(t, KERNELS - 1)) % KERNELS];
    const size_t header = 32;
    switch (how) {
    case DAMAGE_FLIP: flip(t, file, 0, file->size); break;
    case DAMAGE_FLIP_SIGNED: { /* in the code, which has a sum of its own */
        vyre_store_entry decoded;
        vyre_store_entry_decode((vyre_str){file->data, file->size}, &decoded);
        size_t from = (size_t)(decoded.payload.data - file->data);
        flip(t, file, from, from + decoded.payload.size);
        sign(file);
        break;
    }
    case DAMAGE_FLIP_HEADER_SIGNED:
        flip(t, file, 0, header);
        sign(file);
        break;
    case DAMAGE_TRUNCATE: vyre_strbuf_cut(file, draw(t, file->size)); break;
    case DAMAGE_TRUNCATE_SIGNED:
        vyre_strbuf_cut(file, draw(t, file->size));
        sign(file);
        break;
    case DAMAGE_EXTEND: vyre_strbuf_repeat(file, (char)draw(t, 256), 1 + draw(t, 5000)); break;
    case DAMAGE_ZERO: {
        size_t from = draw(t, file->size);
        memset(file->data + from, 0, 1 + draw(t, file->size - from));
        break;
    }
    case DAMAGE_SWAP:
        vyre_strbuf_cut(file, 0);
        vyre_strbuf_add(file, other->bytes.data, other->bytes.size);
        break;
    case DAMAGE_VERSION: /* behind the magic number */
        file->data[8] = (char)draw(t, 256);
        file->data[9] = (char)draw(t, 256);
        sign(file);
        break;
    case DAMAGE_NOISE:
        for (size_t i = 0; i < file->size; i++) {
            file->data[i] = (char)draw(t, 256);
        }
        break;
    case DAMAGE_EMPTY: vyre_strbuf_cut(file, 0); break;
    case DAMAGE_WRITABLE:
    case DAMAGE_OWNER: forge(t, kernel, file); break;
    default: break;
    }
}

/* What is done to names and rights; the file is written by now. */
static void damage_file(trial *t, damage how, int kernel) {
    static const mode_t modes[] = {0620, 0602, 0622, 0660, 0666, 0777};
    char path[512], other[512];
    path_of(t, t->entries[kernel].name, path);
    path_of(t, t->entries[(kernel + 1) % KERNELS].name, other);
    int error = 0;
    switch (how) {
    case DAMAGE_WRITABLE: error = chmod(path, modes[draw(t, sizeof modes / sizeof *modes)]); break;
    case DAMAGE_OWNER: error = chown(path, OTHER_USER, OTHER_USER); break;
    case DAMAGE_LINK: error = unlink(path) || symlink(draw(t, 2) ? other : "nowhere", path); break;
    case DAMAGE_PIPE: error = unlink(path) || mkfifo(path, 0600); break;
    case DAMAGE_FOLDER: error = unlink(path) || mkdir(path, 0700); break;
    case DAMAGE_HUGE: error = truncate(path, (off_t)1 << (20 + draw(t, 20))); break;
    case DAMAGE_LEDGER: {
        vyre_strbuf ledger = {0};
        vyre_strbuf_add(&ledger, t->ledger.data, t->ledger.size);
        flip(t, &ledger, 0, ledger.size);
        vyre_strbuf_cut(&ledger, draw(t, ledger.size + 1));
        write_bytes(t, "lock", vyre_strbuf_string(&ledger), ledger.size);
        vyre_strbuf_free(&ledger);
        break;
    }
    case DAMAGE_LEFT_BEHIND: {
        char name[VYRE_STORE_NAME_SIZE + 16];
        snprintf(name, sizeof name, "%s.%u-0.new", t->entries[kernel].name, (unsigned)draw(t, 9));
        write_bytes(t, name, t->entries[kernel].bytes.data, draw(t, 100));
        break;
    }
    default: break;
    }
    if (error) {
        die(path);
    }
}

/* True if the run gave the right bytes. */
static bool try_damage(trial *t, size_t number, damage how, int kernel) {
    vyre_strbuf file = {0}, found = {0};
    const entry *one = &t->entries[kernel];
    restore(t);
    vyre_strbuf_add(&file, one->bytes.data, one->bytes.size);
    damage_bytes(t, how, kernel, &file);
    write_bytes(t, one->name, vyre_strbuf_string(&file), file.size);
    damage_file(t, how, kernel);
    int ended = run(t, "cpu", kernel, &found);
    bool right = ended == 0 && found.size == t->expected[kernel].size &&
                 !memcmp(found.data, t->expected[kernel].data, found.size);
    if (!right) {
        printf("FAILED: cache damage %zu of kernel %d, %s: %s, status %d\n", number, kernel,
               damage_texts[how],
               ended == -1 ? "it hangs"
               : ended     ? "it ends"
                           : "wrong bytes",
               ended);
    }
    vyre_strbuf_free(&file);
    vyre_strbuf_free(&found);
    return right;
}

size_t hostile_cache_run(const char *command, size_t count, uint64_t seed, const char **out_note) {
    trial t = {.command = command, .random = seed ^ 0xcac4e};
    size_t failed = 0, tried = 0;
    set_up(&t);
    if (!fill(&t)) {
        *out_note = "the cpu backend has no cache here, so that nothing of it was damaged";
        count = 0;
    } else if (geteuid() != 0) {
        *out_note = "only root can give a file to another user, so that no owner was changed";
    }
    for (size_t i = 0; i < count; i++) {
        damage how = (damage)(i % DAMAGE_COUNT);
        if (how == DAMAGE_OWNER && geteuid() != 0) {
            continue;
        }
        failed += !try_damage(&t, i, how, (int)draw(&t, KERNELS));
        tried++;
    }
    tear_down(&t);
    printf("%zu damages of the cache, %zu failed\n", tried, failed);
    return failed;
}
