#define _GNU_SOURCE /* inotify_init1, st_mtim */

#include "dialect/notice.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/inotify.h>
#endif

#include "base/clock.h"
#include "base/hash.h"

/* From the first change to the load: as long as changes follow each other within QUIET, at most
 * LONGEST. */
enum { QUIET_MS = 15, LONGEST_MS = 60, LOOK_MS = 20 };

/* Looking */

static uint64_t mix(uint64_t sum, const void *data, size_t size) {
    return sum + vyre_hash_128(data, size).low; /* in whatever order names come */
}

/* A number that changes with any file of a folder. */
static uint64_t look_into(const char *path) {
    typedef struct facts {
        uint64_t name, device, number, size, seconds, nanoseconds;
    } facts;
    uint64_t sum = 1;
    DIR *folder = opendir(path);
    for (const struct dirent *item; folder && (item = readdir(folder));) {
        struct stat about;
        if (*item->d_name != '.' && fstatat(dirfd(folder), item->d_name, &about, 0) == 0) {
            facts found = {.name = vyre_hash_128(item->d_name, strlen(item->d_name)).low,
                           .device = (uint64_t)about.st_dev,
                           .number = (uint64_t)about.st_ino,
                           .size = (uint64_t)about.st_size,
                           .seconds = (uint64_t)about.st_mtim.tv_sec,
                           .nanoseconds = (uint64_t)about.st_mtim.tv_nsec};
            sum = mix(sum, &found, sizeof found);
        }
    }
    if (folder) {
        closedir(folder);
        return sum;
    }
    return 0;
}

static uint64_t look(const vyre_folder_list *list) {
    uint64_t sum = 0;
    for (size_t i = 0; i < list->folders.count; i++) {
        sum = sum * 31 + look_into(list->folders.items[i].path);
    }
    return sum;
}

static void pause_ms(uint32_t milliseconds) {
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Inotify */

#ifdef __linux__

static void listen(vyre_notice *notice) {
    const uint32_t what = IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                          IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR;
    notice->descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    for (size_t i = 0; i < notice->list->folders.count && notice->descriptor >= 0; i++) {
        const char *path = notice->list->folders.items[i].path;
        if (inotify_add_watch(notice->descriptor, path, what) < 0 && errno != ENOENT &&
            errno != ENOTDIR && errno != EACCES) {
            vyre_notice_close(notice); /* the kernel has no more of these: look */
        }
    }
}

/* Takes what has happened; a folder that went away ends this. */
static bool drain(vyre_notice *notice) {
    union {
        struct inotify_event event;
        char bytes[4096];
    } buffer;
    bool any = false, lost = false;
    for (ssize_t size; (size = read(notice->descriptor, &buffer, sizeof buffer)) > 0;) {
        any = true;
        for (ssize_t at = 0; at < size;) {
            struct inotify_event event;
            memcpy(&event, buffer.bytes + at, sizeof event);
            lost |= (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0;
            at += (ssize_t)(sizeof event + event.len);
        }
    }
    if (lost) {
        vyre_notice_close(notice);
        notice->seen = look(notice->list);
    }
    return any;
}

static bool wait_for_event(vyre_notice *notice, uint32_t milliseconds) {
    struct pollfd waited = {.fd = notice->descriptor, .events = POLLIN};
    return poll(&waited, 1, (int)milliseconds) > 0 && drain(notice);
}

#else

static void listen(vyre_notice *notice) {
    (void)notice;
}

static bool wait_for_event(vyre_notice *notice, uint32_t milliseconds) {
    (void)notice;
    pause_ms(milliseconds);
    return false;
}

#endif

/* Waits for one change. */
static bool wait_once(vyre_notice *notice, uint32_t milliseconds) {
    if (notice->descriptor >= 0) {
        return wait_for_event(notice, milliseconds);
    }
    uint64_t end = vyre_now_ns() + (uint64_t)milliseconds * 1000000;
    for (;;) {
        uint64_t now = look(notice->list);
        if (now != notice->seen) {
            notice->seen = now;
            return true;
        }
        uint64_t time = vyre_now_ns();
        if (time >= end) {
            return false;
        }
        uint64_t left = (end - time) / 1000000 + 1;
        pause_ms(left < LOOK_MS ? (uint32_t)left : LOOK_MS);
    }
}

void vyre_notice_open(vyre_notice *notice, const vyre_folder_list *list, bool looks) {
    *notice = (vyre_notice){.list = list, .descriptor = -1};
    if (!looks) {
        listen(notice);
    }
    notice->seen = look(list);
}

void vyre_notice_close(vyre_notice *notice) {
    if (notice->descriptor >= 0) {
        close(notice->descriptor);
        notice->descriptor = -1;
    }
}

bool vyre_notice_wait(vyre_notice *notice, uint32_t timeout_ms) {
    const uint32_t longest = 1u << 30;
    if (!wait_once(notice, timeout_ms < longest ? timeout_ms : longest)) {
        return false;
    }
    uint64_t end = vyre_now_ns() + (uint64_t)LONGEST_MS * 1000000;
    while (vyre_now_ns() < end && wait_once(notice, QUIET_MS)) {
    }
    return true;
}
