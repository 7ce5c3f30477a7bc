#include "registry/plugin.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/home.h"
#include "base/option.h"
#include "base/status.h"
#include "registry/plugin_parts.h"
#include "registry/registry.h"

typedef struct folder_key {
    dev_t device;
    ino_t number;
} folder_key;

typedef struct search {
    vyre_registry *registry;
    vyre_plugin_list *list;
    vyre_plugin_self self;
    VYRE_VEC(folder_key) seen; /* folders that were searched */
} search;

/* Records */

void vyre_plugin_list_init(vyre_plugin_list *list) {
    *list = (vyre_plugin_list){0};
    vyre_arena_init(&list->arena);
}

void vyre_plugin_list_deinit(vyre_plugin_list *list) {
    vyre_vec_free(&list->records);
    vyre_arena_deinit(&list->arena);
}

const vyre_plugin_record *vyre_plugin_records(vyre_registry *registry, size_t *out_count) {
    const vyre_plugin_list *list = vyre_registry_plugin_list(registry);
    *out_count = list->records.count;
    return list->records.items;
}

const char *vyre_plugin_fate_name(vyre_plugin_fate fate) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_PLUGIN_##name] = text,
        VYRE_PLUGIN_FATES(NAME)
#undef NAME
    };
    return names[fate];
}

static vyre_status record(search *s, vyre_plugin_record row) {
    const char **const texts[] = {&row.path, &row.library, &row.detail};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = vyre_arena_copy(&s->list->arena, *texts[i], strlen(*texts[i]));
        if (!*texts[i]) {
            return vyre_no_memory("to look for backends");
        }
    }
    return vyre_vec_push(&s->list->records, row) ? VYRE_OK : vyre_no_memory("to look for backends");
}

/* Writes down why a folder or a manifest is refused, and frees the reason. What is missing for want
 * of memory is not the plugin's fault, and is passed on. */
static vyre_status record_refusal(search *s, bool is_folder, const char *path, const char *library,
                                  vyre_status reason) {
    if (vyre_status_code_of(reason) == VYRE_STATUS_OUT_OF_MEMORY) {
        return reason;
    }
    vyre_status status = record(s, (vyre_plugin_record){.fate = VYRE_PLUGIN_REFUSED,
                                                        .is_folder = is_folder,
                                                        .path = path,
                                                        .library = library,
                                                        .detail = vyre_status_text(reason)});
    vyre_status_free(reason);
    return status;
}

/* Manifests */

static vyre_status admit(search *s, const vyre_bundle *bundle, const char *path,
                         const char *library) {
    vyre_strbuf ids = {0};
    for (size_t i = 0; i < bundle->registration_count; i++) {
        vyre_strbuf_printf(&ids, "%s%s", i ? ", " : "", vyre_bundle_registration(bundle, i)->id);
    }
    /* Written down first: an admission cannot be taken back. */
    vyre_status status = ids.failed ? vyre_no_memory("to look for backends")
                                    : record(s, (vyre_plugin_record){.fate = VYRE_PLUGIN_ADMITTED,
                                                                     .path = path,
                                                                     .library = library,
                                                                     .detail = ids.data});
    vyre_strbuf_free(&ids);
    if (!status) {
        const vyre_plugin_record *row = &s->list->records.items[s->list->records.count - 1];
        status = vyre_registry_admit(s->registry, bundle, row->library);
        s->list->records.count -= status != NULL;
    }
    return status;
}

static vyre_status load_manifest(search *s, const char *folder, const char *name) {
    vyre_strbuf path = {0};
    vyre_manifest manifest;
    const vyre_bundle *bundle;
    vyre_status status = vyre_manifest_read(&s->self, folder, name, &manifest);
    const char *library = vyre_strbuf_string(&manifest.library);
    vyre_strbuf_printf(&path, "%s/%s", folder, name);
    if (path.failed) {
        vyre_status_free(status);
        status = vyre_no_memory("to look for backends");
        goto done;
    }
    if (!status && !manifest.enabled) {
        status = record(s, (vyre_plugin_record){.fate = VYRE_PLUGIN_DISABLED,
                                                .path = path.data,
                                                .library = library,
                                                .detail = ""});
        goto done;
    }
    if (!status) {
        status = vyre_plugin_open(&s->self, library, &bundle);
    }
    if (!status) {
        status = vyre_plugin_check_bundle(s->registry, bundle);
    }
    if (!status) {
        status = admit(s, bundle, path.data, library);
    }
    if (status) {
        status = record_refusal(s, false, path.data, library, status);
    }
done:
    vyre_strbuf_free(&path);
    vyre_manifest_free(&manifest);
    return status;
}

/* Folders */

typedef struct name_list {
    vyre_arena arena;
    VYRE_VEC(const char *) list;
} name_list;

static bool is_manifest(const char *name) {
    size_t size = strlen(name);
    return *name != '.' && size > 5 && strcmp(name + size - 5, ".toml") == 0;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The manifests of a folder, in the order of the bytes of their names. */
static vyre_status list_manifests(DIR *folder, name_list *names) {
    for (const struct dirent *item; (item = readdir(folder));) {
        if (!is_manifest(item->d_name)) {
            continue;
        }
        const char *copy = vyre_arena_copy(&names->arena, item->d_name, strlen(item->d_name));
        if (!copy || !vyre_vec_push(&names->list, copy)) {
            return vyre_no_memory("to look for backends");
        }
    }
    if (names->list.count) {
        qsort(names->list.items, names->list.count, sizeof *names->list.items, compare_names);
    }
    return VYRE_OK;
}

/* Two places may be one folder, whose plugins would be duplicates of themselves. */
static bool was_seen(const search *s, const struct stat *about) {
    for (size_t i = 0; i < s->seen.count; i++) {
        if (s->seen.items[i].device == about->st_dev && s->seen.items[i].number == about->st_ino) {
            return true;
        }
    }
    return false;
}

static vyre_status load_names(search *s, const char *path, const char *origin, DIR *folder) {
    name_list names = {0};
    vyre_arena_init(&names.arena);
    vyre_status status = record(s, (vyre_plugin_record){.fate = VYRE_PLUGIN_SEARCHED,
                                                        .is_folder = true,
                                                        .path = path,
                                                        .library = "",
                                                        .detail = origin});
    if (!status) {
        status = list_manifests(folder, &names);
    }
    for (size_t i = 0; !status && i < names.list.count; i++) {
        status = load_manifest(s, path, names.list.items[i]);
    }
    vyre_vec_free(&names.list);
    vyre_arena_deinit(&names.arena);
    return status;
}

/* Searches a folder; `origin` says who names it. */
static vyre_status load_folder(search *s, const char *path, const char *origin) {
    struct stat about;
    if (*path != '/') {
        return record_refusal(
            s, true, path, "",
            vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write an absolute path",
                             "%s has a relative path, and vyre searches only absolute ones",
                             origin));
    }
    DIR *folder = opendir(path);
    if (!folder && errno == ENOTDIR && stat(path, &about) == 0) {
        return record_refusal(s, true, path, "",
                              vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                               "name the folder that holds the manifest",
                                               "it is a file, not a folder"));
    }
    if (!folder && (errno == ENOENT || errno == ENOTDIR)) {
        return record(s, (vyre_plugin_record){.fate = VYRE_PLUGIN_ABSENT,
                                              .is_folder = true,
                                              .path = path,
                                              .library = "",
                                              .detail = origin});
    }
    if (!folder || fstat(dirfd(folder), &about) != 0) {
        int error = errno;
        if (folder) {
            closedir(folder);
        }
        return record_refusal(s, true, path, "",
                              vyre_status_make(VYRE_STATUS_IO,
                                               "give this user permission to read it",
                                               "cannot read the folder: %s", strerror(error)));
    }
    vyre_status status = VYRE_OK;
    if (!was_seen(s, &about)) {
        vyre_status reason = vyre_plugin_check_owner(&s->self, path, &about);
        if (reason) {
            status = record_refusal(s, true, path, "", reason);
        } else if (!vyre_vec_push(&s->seen, (folder_key){about.st_dev, about.st_ino})) {
            status = vyre_no_memory("to look for backends");
        } else {
            status = load_names(s, path, origin, folder);
        }
    }
    closedir(folder);
    return status;
}

/* A folder whose name has two parts. */
static vyre_status load_below(search *s, const char *path, size_t path_size, const char *rest,
                              const char *origin) {
    vyre_strbuf joined = {0};
    vyre_strbuf_add(&joined, path, path_size);
    vyre_strbuf_puts(&joined, rest);
    vyre_status status = joined.failed ? vyre_no_memory("to look for backends")
                                       : load_folder(s, vyre_strbuf_string(&joined), origin);
    vyre_strbuf_free(&joined);
    return status;
}

static vyre_status load_listed(search *s) {
    vyre_option_info info = vyre_option_describe(VYRE_OPTION_BACKEND_PATH);
    vyre_status status = VYRE_OK;
    for (const char *at = info.text; !status && *at;) {
        size_t size = strcspn(at, ":");
        if (size) {
            status = load_below(s, at, size, "", info.variable);
        }
        at += size + (at[size] == ':');
    }
    return status;
}

/* Records the refusal of a relative path; returns whether the variable has an absolute one. */
static vyre_status refuse_relative(search *s, const char *variable, const char *rest,
                                   bool *is_absolute) {
    const char *path = *is_absolute ? NULL : vyre_environment_get(variable);
    *is_absolute |= path && *path == '/';
    return path && *path && *path != '/' ? load_below(s, path, strlen(path), rest, variable)
                                         : VYRE_OK;
}

static vyre_status load_user(search *s) {
    vyre_strbuf path = {0};
    bool is_absolute = false;
    VYRE_TRY(refuse_relative(s, "XDG_CONFIG_HOME", "/vyre/backends.d", &is_absolute));
    VYRE_TRY(refuse_relative(s, "HOME", "/.config/vyre/backends.d", &is_absolute));
    const char *origin = vyre_home_path(VYRE_HOME_CONFIG, "backends.d", &path);
    vyre_status status = path.failed ? vyre_no_memory("to look for backends")
                         : origin    ? load_folder(s, path.data, origin)
                                     : VYRE_OK;
    vyre_strbuf_free(&path);
    return status;
}

static size_t parent_size(const char *path, size_t size) {
    while (size && path[--size] != '/') {
    }
    return size;
}

/* The installation, which may have been moved: beside libvyre, or in the library folder that
 * belongs to a program that libvyre is linked into. */
static vyre_status load_installed(search *s) {
    const char *path = s->self.path, *rest = "/vyre/backends.d";
    if (!*path) {
        return record_refusal(
            s, true, "vyre/backends.d", "",
            vyre_status_make(VYRE_STATUS_NOT_FOUND,
                             "use absolute paths in LD_LIBRARY_PATH and other library search paths",
                             "cannot find the installation from the location of libvyre"));
    }
    size_t size = parent_size(path, strlen(path));
    if (s->self.is_program) {
        rest = "/" VYRE_LIBRARY_FROM_PROGRAM "/vyre/backends.d";
    }
    for (; strncmp(rest, "/../", 4) == 0; rest += 3) {
        size = parent_size(path, size); /* there are no links in it */
    }
    return load_below(s, path, size, rest, "the installation");
}

vyre_status vyre_plugins_load(vyre_registry *registry) {
    search s = {.registry = registry, .list = vyre_registry_plugin_list(registry)};
    vyre_plugin_find_self(&s.self);
    vyre_status status = load_listed(&s);
    if (!status) {
        status = load_user(&s);
    }
    if (!status) {
        status = load_folder(&s, "/etc/vyre/backends.d", "the system");
    }
    if (!status) {
        status = load_installed(&s);
    }
    vyre_vec_free(&s.seen);
    return status;
}
