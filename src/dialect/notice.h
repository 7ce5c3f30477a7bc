/* Notice: waits until something happens in some folders.
 *
 * Through inotify where there is one; elsewhere, and when a folder went away, by looking at the
 * names, times and sizes in them many times a second. Inotify tells of folders that are there when
 * it starts. */
#ifndef VYRE_DIALECT_NOTICE_H
#define VYRE_DIALECT_NOTICE_H

#include "dialect/folder.h"

typedef struct vyre_notice {
    const vyre_folder_list *list; /* borrowed */
    int descriptor;               /* of inotify; -1: looks by itself */
    uint64_t seen;                /* what the folders looked like */
} vyre_notice;

/* `looks` has it look by itself in any case. */
void vyre_notice_open(vyre_notice *notice, const vyre_folder_list *list, bool looks);
void vyre_notice_close(vyre_notice *notice);

/* Waits until something happened and, for a moment, nothing more does: editors write a file in
 * several steps. False if the time is over. */
bool vyre_notice_wait(vyre_notice *notice, uint32_t timeout_ms);

#endif
