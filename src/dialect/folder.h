/* Folders of manifests: the third stream of the registry.
 *
 * Folders are read in the order of a list, the manifests in one by the bytes of their names. What
 * came of each is written down for people: one that is broken is refused with its reasons, and
 * takes nothing else with it. */
#ifndef VYRE_DIALECT_FOLDER_H
#define VYRE_DIALECT_FOLDER_H

#include "dialect/package.h"

/* Adds the definitions of all manifests in the folders of VYRE_DIALECT_PATH, or in those that are
 * looked at where it is not set. `streams` has the linked and extern ones already, which sources
 * may call. What is refused is logged. */
VYRE_MUST_USE vyre_status vyre_folder_read(vyre_streams *streams);

/* A folder to look into. */
typedef struct vyre_folder {
    const char *path;
    const char *origin; /* who names it: "VYRE_DIALECT_PATH" */
    bool is_named;      /* by the user, here and now: who else may write to it is his affair */
} vyre_folder;

typedef struct vyre_folder_list {
    vyre_arena arena;
    VYRE_VEC(vyre_folder) folders;
} vyre_folder_list;

void vyre_folder_list_deinit(vyre_folder_list *list);
VYRE_MUST_USE vyre_status vyre_folder_list_add(vyre_folder_list *list, const char *path,
                                               const char *origin, bool is_named);
/* Those that are looked into where nobody names any. */
VYRE_MUST_USE vyre_status vyre_folder_list_usual(vyre_folder_list *list);

/* What became of a folder or a manifest. X(name, text). */
#define VYRE_FOLDER_FATES(X)                                                                       \
    X(SEARCHED, "searched") /* a folder; its manifests follow */                                   \
    X(ABSENT, "not there")  /* a folder */                                                         \
    X(ADMITTED, "admitted") /* a manifest: its operations are known */                             \
    X(OLDER, "older")       /* a manifest: another has the same dialect in a higher version */     \
    X(KEPT, "kept")         /* a manifest: it has mistakes, and what it said before holds */       \
    X(REFUSED, "refused")   /* a folder or a manifest */

typedef enum vyre_folder_fate {
#define VYRE_FOLDER_FATE_ENUM(name, text) VYRE_FOLDER_##name,
    VYRE_FOLDER_FATES(VYRE_FOLDER_FATE_ENUM)
#undef VYRE_FOLDER_FATE_ENUM
} vyre_folder_fate;
const char *vyre_folder_fate_name(vyre_folder_fate fate);

typedef struct vyre_folder_record {
    vyre_folder_fate fate;
    bool is_folder;
    const char *path;
    /* Admitted: the dialect and its version. Refused and kept: the reasons, one a line, each with
     * its "Fix: ". Older: the path of the other. A folder: who names it. */
    const char *detail;
} vyre_folder_record;

/* What a search found. */
typedef struct vyre_folder_search {
    vyre_arena arena;
    VYRE_VEC(vyre_folder_record) records; /* in the order of the search */
    VYRE_VEC(vyre_package *) packages;    /* those that give operations */
} vyre_folder_search;

/* Looks into the folders. `previous`, which may be NULL, is an earlier search: a manifest that was
 * admitted then, and has mistakes now, stays as it was. Deinit the search whatever comes out. */
VYRE_MUST_USE vyre_status vyre_folder_search_run(vyre_folder_search *out,
                                                 const vyre_folder_list *list,
                                                 const vyre_folder_search *previous,
                                                 const vyre_streams *streams);
void vyre_folder_search_deinit(vyre_folder_search *found);

/* Adds what was found. */
VYRE_MUST_USE vyre_status vyre_folder_search_give(const vyre_folder_search *found,
                                                  vyre_streams *streams);

#endif
