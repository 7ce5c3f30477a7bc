/* vyre cache: compiled programs kept on disk. */
#include <stdio.h>
#include <time.h>

#include <vyre/cache.h>

#include "base/json.h"
#include "base/page.h"
#include "base/units.h"
#include "cli/describe.h"
#include "cli/output.h"

#define OPTIONS(X)                                                                                 \
    X(CLEAR, 0, "--clear", NULL, NULL, "remove all compiled programs")                             \
    CLI_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre cache", "list what the cache holds, and where it is"},
    {"vyre cache --clear", "empty the cache"},
    {NULL, NULL},
};

const cli_command cli_command_cache = {
    .name = "cache",
    .operands = "",
    .summary = "list or clear the compiled programs kept on disk",
    .text =
        "Lists the compiled programs that vyre keeps on disk for later processes: the backend and "
        "device of each, its size, and when it was last used. They are in "
        "$XDG_CACHE_HOME/vyre/pipelines or $HOME/.cache/vyre/pipelines. You may delete them at any "
        "time. The first lines count the hits and misses of all processes since the cache was last "
        "cleared.\n\n"
        "VYRE_CACHE_LIMIT sets how many bytes the cache may take; the least recently used programs "
        "are removed first. With 0 vyre keeps nothing.",
    CLI_COMMAND_PARTS,
};

/* X(field of vyre_cache_disk_counts, one, several) */
#define COUNTS(X)                                                                                  \
    X(hits, "hit", "hits")                                                                         \
    X(misses, "miss", "misses")                                                                    \
    X(stores, "store", "stores")                                                                   \
    X(evictions, "eviction", "evictions")                                                          \
    X(damaged, "damaged file", "damaged files")

enum { TIME_SIZE = 64 };

/* For people in the time of their place, for programs in UTC. */
static void write_time(char out[TIME_SIZE], int64_t used_ns, bool utc) {
    time_t seconds = (time_t)(used_ns / 1000000000);
    struct tm parts;
    if (!(utc ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts)) ||
        !strftime(out, TIME_SIZE, utc ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M", &parts)) {
        out[0] = '\0';
    }
}

static void put_entries(vyre_strbuf *text, const vyre_cache_list *list) {
    vyre_table table = {.columns = 6, .right = 1 << 4};
    vyre_page page = {.text = text};
    VYRE_TABLE_CELLS(&table, "backend", "device", "program", "digest", "bytes", "last use");
    for (size_t i = 0; i < list->entry_count; i++) {
        const vyre_cache_entry *entry = &list->entries[i];
        char used[TIME_SIZE];
        write_time(used, entry->used_ns, false);
        vyre_table_add(&table, "%s %s", entry->backend, entry->backend_version);
        VYRE_TABLE_CELLS(&table, entry->device, entry->program);
        vyre_table_add(&table, "%016llx%016llx", (unsigned long long)entry->digest.high,
                       (unsigned long long)entry->digest.low);
        vyre_table_add(&table, "%llu", (unsigned long long)entry->bytes);
        vyre_table_add(&table, "%s", used);
    }
    vyre_page_table(&page, &table);
}

static void put_counts(vyre_strbuf *text, const vyre_cache_disk_counts *counts) {
    vyre_strbuf_puts(text, "since it was last cleared:");
#define COUNT(field, one, several)                                                                 \
    vyre_strbuf_printf(text, " %llu %s,", (unsigned long long)counts->field,                       \
                       counts->field == 1 ? one : several);
    COUNTS(COUNT)
#undef COUNT
    vyre_strbuf_cut(text, text->size - 1);
    vyre_strbuf_putc(text, '\n');
}

static void put_text(vyre_strbuf *text, const vyre_cache_list *list) {
    if (!list->path) {
        vyre_strbuf_puts(text, "no cache: ");
        cli_describe_no_home(text, "XDG_CACHE_HOME");
        return;
    }
    cli_describe_cache(text, list);
    if (list->other_count) {
        vyre_strbuf_printf(text,
                           "%zu file%s damaged, left behind or from another version of vyre\n",
                           list->other_count, vyre_plural(list->other_count));
    }
    put_counts(text, &list->counts);
    if (list->entry_count) {
        put_entries(text, list);
    }
}

static void put_path(vyre_json *json, const vyre_cache_list *list) {
    vyre_json_add_string(json, "path", list->path);
}

static void put_json(vyre_strbuf *text, const vyre_cache_list *list) {
    vyre_json json = {.text = text};
    vyre_json_object(&json);
    put_path(&json, list);
    vyre_json_add_u64(&json, "limit_bytes", list->limit_bytes);
    vyre_json_add_u64(&json, "total_bytes", list->total_bytes);
    vyre_json_add_u64(&json, "other_files", list->other_count);
    vyre_json_add_object(&json, "counts");
#define COUNT(field, one, several) vyre_json_add_u64(&json, #field, list->counts.field);
    COUNTS(COUNT)
#undef COUNT
    vyre_json_object_end(&json);
    vyre_json_add_array(&json, "entries");
    for (size_t i = 0; i < list->entry_count; i++) {
        const vyre_cache_entry *entry = &list->entries[i];
        char digest[33], used[TIME_SIZE];
        snprintf(digest, sizeof digest, "%016llx%016llx", (unsigned long long)entry->digest.high,
                 (unsigned long long)entry->digest.low);
        write_time(used, entry->used_ns, true);
        vyre_json_object(&json);
        vyre_json_add_string(&json, "backend", entry->backend);
        vyre_json_add_string(&json, "backend_version", entry->backend_version);
        vyre_json_add_string(&json, "device", entry->device);
        vyre_json_add_string(&json, "driver_version", entry->driver_version);
        vyre_json_add_string(&json, "program", entry->program);
        vyre_json_add_string(&json, "digest", digest);
        vyre_json_add_u64(&json, "bytes", entry->bytes);
        vyre_json_add_string(&json, "last_use", used);
        vyre_json_object_end(&json);
    }
    vyre_json_array_end(&json);
    vyre_json_object_end(&json);
    vyre_strbuf_putc(text, '\n');
}

static void put_cleared(vyre_strbuf *text, bool as_json, uint64_t files, uint64_t bytes) {
    if (as_json) {
        vyre_json json = {.text = text};
        vyre_json_object(&json);
        vyre_json_add_u64(&json, "removed_files", files);
        vyre_json_add_u64(&json, "removed_bytes", bytes);
        vyre_json_object_end(&json);
        vyre_strbuf_putc(text, '\n');
    } else {
        vyre_strbuf_printf(text, "removed %llu file%s, %llu byte%s\n", (unsigned long long)files,
                           vyre_plural((size_t)files), (unsigned long long)bytes,
                           vyre_plural((size_t)bytes));
    }
}

static cli_exit run(const cli_arguments *arguments) {
    bool as_json = arguments->values[FORMAT].choice == VYRE_FORMAT_JSON;
    vyre_strbuf text = {0};
    vyre_status status;
    if (arguments->values[CLEAR].given) {
        uint64_t files, bytes;
        status = vyre_cache_clear(&files, &bytes);
        put_cleared(&text, as_json, files, bytes);
    } else {
        const vyre_cache_list *list;
        status = vyre_cache_list_read(&list);
        if (!status) {
            (as_json ? put_json : put_text)(&text, list);
        }
        vyre_cache_list_free(list);
    }
    if (status) {
        vyre_strbuf_free(&text);
        return cli_message_status(arguments->command, status);
    }
    cli_output_write(&text);
    return CLI_EXIT_DONE;
}
