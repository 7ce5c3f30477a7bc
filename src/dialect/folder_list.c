/* Which folders are looked into. */
#include <string.h>

#include "base/home.h"
#include "base/log.h"
#include "base/option.h"
#include "base/status.h"
#include "dialect/folder.h"

void vyre_folder_list_deinit(vyre_folder_list *list) {
    vyre_vec_free(&list->folders);
    vyre_arena_deinit(&list->arena);
}

static vyre_status add(vyre_folder_list *list, vyre_str path, vyre_folder folder) {
    folder.path = vyre_arena_copy(&list->arena, path.data, path.size);
    bool stored = folder.path && vyre_vec_push(&list->folders, folder);
    return stored ? VYRE_OK : vyre_no_memory("to look for dialects");
}

vyre_status vyre_folder_list_add(vyre_folder_list *list, const char *path, const char *origin,
                                 bool is_named) {
    return add(list, (vyre_str){path, strlen(path)},
               (vyre_folder){.origin = origin, .is_named = is_named});
}

static vyre_status add_user(vyre_folder_list *list) {
    vyre_strbuf path = {0};
    const char *origin = vyre_home_path(VYRE_HOME_CONFIG, "dialects", &path);
    vyre_status status = path.failed ? vyre_no_memory("to look for dialects")
                         : origin    ? vyre_folder_list_add(list, path.data, origin, false)
                                     : VYRE_OK;
    vyre_strbuf_free(&path);
    return status;
}

vyre_status vyre_folder_list_usual(vyre_folder_list *list) {
    vyre_option_info info = vyre_option_describe(VYRE_OPTION_DIALECT_PATH);
    if (!info.from_environment) {
        VYRE_TRY(add_user(list));
        return vyre_folder_list_add(list, "/etc/vyre/dialects", "the system", false);
    }
    for (const char *at = strcmp(info.text, "none") ? info.text : ""; *at;) {
        size_t size = strcspn(at, ":");
        if (size) {
            VYRE_TRY(add(list, (vyre_str){at, size}, (vyre_folder){.origin = info.variable}));
        }
        at += size + (at[size] == ':');
    }
    return VYRE_OK;
}

vyre_status vyre_folder_read(vyre_streams *streams) {
    vyre_folder_list list = {0};
    vyre_folder_search found = {0};
    vyre_status status = vyre_folder_list_usual(&list);
    if (!status) {
        status = vyre_folder_search_run(&found, &list, NULL, streams);
    }
    for (size_t i = 0; i < found.records.count && !status; i++) {
        const vyre_folder_record *row = &found.records.items[i];
        if (row->fate == VYRE_FOLDER_REFUSED) {
            vyre_log(VYRE_LOG_WARNING, "dialects in %s are refused: %s", row->path, row->detail);
        }
    }
    status = status ? status : vyre_folder_search_give(&found, streams);
    vyre_folder_search_deinit(&found);
    vyre_folder_list_deinit(&list);
    return status;
}
