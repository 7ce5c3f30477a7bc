/* vyre doctor: what vyre found on this machine, and what is wrong with it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <vyre/backend.h>
#include <vyre/cache.h>

#include "backend/table.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/option.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/routes.h"
#include "cli/describe.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/survey.h"
#include "dialect/folder.h"
#include "dialect/registry.h"
#include "registry/registry.h"
#include "route/route.h"

#define OPTIONS(X) CLI_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre doctor", "check everything"},
    {"VYRE_BACKEND_PATH=$PWD/build vyre doctor", "check that your own plugin loads"},
    {NULL, NULL},
};

const cli_command cli_command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "report what vyre finds on this machine, and any problems",
    .text = "Reports where vyre looked for plugins and dialects and which of them it loaded, which "
            "devices exist, where it keeps compiled programs, which routes `auto` uses, and which "
            "environment variables are in effect.\n\n"
            "A problem is marked with ! and comes with a fix. Problems are: a folder, plugin or "
            "dialect that was refused; a backend registered twice or incompletely; a device that "
            "fails although this machine has one; a cache or routes that cannot be used. The exit "
            "status is 1 if there is a problem.",
    CLI_COMMAND_PARTS,
};

typedef struct examination {
    const vyre_plugin_record *records;
    size_t record_count;
    cli_survey survey;
    vyre_registry_findings findings;
    vyre_folder_search dialects;
    vyre_status dialects_failure; /* why there are no operations at all */
    size_t operations;
    const vyre_cache_list *cache;
    vyre_status cache_failure; /* why it cannot be used */
    vyre_strbuf routes_path;   /* of the routes; empty: there are none */
    bool has_routes;           /* the file exists */
    vyre_status routes_failure;
    size_t routes, measurements, strange; /* what it holds; of the latter those of other devices */
    size_t problems;
} examination;

static bool is_problem_record(const vyre_plugin_record *record) {
    return record->fate == VYRE_PLUGIN_REFUSED;
}

/* A backend for which this machine has no device is none. */
static bool is_problem_row(const cli_survey_row *row) {
    vyre_status_code code = vyre_status_code_of(row->failure);
    return row->failure && code != VYRE_STATUS_UNAVAILABLE && code != VYRE_STATUS_NOT_FOUND;
}

/* Whether programs could be stored there; a folder that is not there yet would be made. */
static vyre_status check_writable(const char *path) {
    vyre_strbuf folder = {0};
    vyre_strbuf_puts(&folder, path);
    int error = 0;
    while (!folder.failed && access(vyre_strbuf_string(&folder), W_OK | X_OK) != 0) {
        char *slash = strrchr(folder.data, '/');
        error = errno;
        if (error != ENOENT || !slash || slash == folder.data) {
            break;
        }
        vyre_strbuf_cut(&folder, (size_t)(slash - folder.data));
        error = 0;
    }
    vyre_status status =
        error ? vyre_status_make(VYRE_STATUS_IO,
                                 "check that folder, or set VYRE_CACHE_LIMIT to 0 to run without a "
                                 "cache",
                                 "the cache of compiled programs in %s cannot be written: %s: %s",
                                 path, vyre_strbuf_string(&folder), strerror(error))
              : VYRE_OK;
    vyre_strbuf_free(&folder);
    return status;
}

static bool is_problem_manifest(const vyre_folder_record *record) {
    return record->fate == VYRE_FOLDER_REFUSED;
}

static bool is_here(const examination *x, const vyre_identity *who) {
    for (size_t i = 0; i < x->survey.rows.count; i++) {
        const vyre_device *device = x->survey.rows.items[i].device;
        const vyre_identity here = device ? vyre_device_identity(device) : *who;
        if (device && vyre_identity_same(who, &here)) {
            return true;
        }
    }
    return false;
}

static vyre_status examine_routes(examination *x) {
    vyre_routes *table = NULL;
    const vyre_class_row *row;
    const char *op;
    if (!strcmp(vyre_option_describe(VYRE_OPTION_ROUTES).text, "off")) {
        return VYRE_OK;
    }
    vyre_status status = bench_routes_path(NULL, &x->routes_path);
    if (vyre_status_code_of(status) == VYRE_STATUS_NOT_FOUND) {
        vyre_status_free(status);
        return VYRE_OK;
    }
    VYRE_TRY(status);
    x->routes_failure = vyre_routes_load(vyre_strbuf_string(&x->routes_path), &table);
    x->has_routes = access(vyre_strbuf_string(&x->routes_path), F_OK) == 0;
    for (; table && (op = vyre_routes_op_at(table, x->routes)); x->routes++) {
        for (size_t i = 0; (row = vyre_routes_class_at(table, op, i)); i++) {
            x->measurements++;
            x->strange += !is_here(x, &row->who);
        }
    }
    vyre_routes_free(table);
    x->problems += x->routes_failure != NULL;
    return VYRE_OK;
}

/* Looks for dialects as a process does that needs its first operation. */
static vyre_status examine_dialects(examination *x) {
    vyre_streams streams = {0};
    vyre_folder_list list = {0};
    vyre_status status = vyre_streams_read_fixed(&streams);
    status = status ? status : vyre_folder_list_usual(&list);
    status = status ? status : vyre_folder_search_run(&x->dialects, &list, NULL, &streams);
    status = status ? status : vyre_folder_search_give(&x->dialects, &streams);
    x->operations = streams.operations.count;
    vyre_streams_free(&streams);
    vyre_folder_list_deinit(&list);
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    x->dialects_failure = status;
    x->problems += status != NULL;
    for (size_t i = 0; i < x->dialects.records.count; i++) {
        x->problems += is_problem_manifest(&x->dialects.records.items[i]);
    }
    return VYRE_OK;
}

static vyre_status examine(examination *x) {
    /* Asking for devices freezes the registry, which looks for plugins then. */
    VYRE_TRY(cli_survey_take_all(&x->survey));
    VYRE_TRY(vyre_registry_inspect(vyre_registry_default(), &x->findings));
    x->records = vyre_plugin_records(vyre_registry_default(), &x->record_count);
    x->cache_failure = vyre_cache_list_read(&x->cache);
    if (!x->cache_failure && x->cache->path && x->cache->limit_bytes) {
        x->cache_failure = check_writable(x->cache->path);
    }
    x->problems += x->cache && x->cache->refused_count;
    for (size_t i = 0; i < x->record_count; i++) {
        x->problems += is_problem_record(&x->records[i]);
    }
    for (size_t i = 0; i < x->survey.rows.count; i++) {
        x->problems += is_problem_row(&x->survey.rows.items[i]);
    }
    x->problems += x->findings.count + (x->cache_failure != NULL);
    VYRE_TRY(examine_dialects(x));
    return examine_routes(x);
}

static void deinit(examination *x) {
    cli_survey_deinit(&x->survey);
    vyre_registry_findings_free(&x->findings);
    vyre_folder_search_deinit(&x->dialects);
    vyre_status_free(x->dialects_failure);
    vyre_cache_list_free(x->cache);
    vyre_status_free(x->cache_failure);
    vyre_strbuf_free(&x->routes_path);
    vyre_status_free(x->routes_failure);
}

/* A variable, and its value if it is set or has a default. */
static bool read_variable(size_t index, cli_variable *variable, const char **value, bool *is_set) {
    if (!cli_help_variable(index, variable)) {
        return false;
    }
    *value = vyre_environment_get(variable->name);
    *is_set = *value && **value;
    *value = *is_set ? *value : variable->default_text;
    return true;
}

/* Text */

static const char *mark(bool is_problem) {
    return is_problem ? "! " : "  ";
}

static void write_plugins(const examination *x, vyre_strbuf *text) {
    vyre_strbuf_puts(text, "\nplugins\n");
    for (size_t i = 0; i < x->record_count; i++) {
        const vyre_plugin_record *record = &x->records[i];
        const char *fate = vyre_plugin_fate_name(record->fate);
        vyre_strbuf_puts(text, mark(is_problem_record(record)));
        if (!record->is_folder) {
            vyre_strbuf_printf(text, "  %s: %s%s%s\n", record->path, fate,
                               *record->detail ? ": " : "", record->detail);
        } else if (record->fate == VYRE_PLUGIN_REFUSED) {
            vyre_strbuf_printf(text, "%s: %s: %s\n", record->path, fate, record->detail);
        } else {
            vyre_strbuf_printf(text, "%s: %s, named by %s\n", record->path, fate, record->detail);
        }
    }
}

static void write_backends(const examination *x, vyre_strbuf *text) {
    vyre_strbuf_puts(text, "\nbackends\n");
    for (size_t i = 0; i < x->survey.rows.count; i++) {
        const cli_survey_row *row = &x->survey.rows.items[i];
        const char *note = cli_survey_note(row);
        vyre_strbuf_printf(text, "%s%s, %s: %s%s%s\n", mark(is_problem_row(row)), row->name,
                           vyre_registry_origin(vyre_registry_default(), row->registration->id),
                           row->failure ? vyre_status_text(row->failure) : "available",
                           *note ? "; " : "", note);
    }
    for (size_t i = 0; i < x->findings.count; i++) {
        vyre_strbuf_printf(text, "%s%s\n", mark(true), x->findings.items[i].text);
    }
}

/* Lines of a reason, under the manifest that it is about. */
static void write_lines(vyre_strbuf *text, const char *lines) {
    while (*lines) {
        size_t size = strcspn(lines, "\n");
        vyre_strbuf_printf(text, "      %.*s\n", (int)size, lines);
        lines += size + (lines[size] == '\n');
    }
}

static void write_dialects(const examination *x, vyre_strbuf *text) {
    vyre_strbuf_puts(text, "\ndialects\n");
    if (x->dialects_failure) {
        vyre_strbuf_printf(text, "%s%s\n", mark(true), vyre_status_text(x->dialects_failure));
    } else {
        vyre_strbuf_printf(text, "%s%zu operation%s\n", mark(false), x->operations,
                           vyre_plural(x->operations));
    }
    for (size_t i = 0; i < x->dialects.records.count; i++) {
        const vyre_folder_record *record = &x->dialects.records.items[i];
        bool is_refused = is_problem_manifest(record);
        vyre_strbuf_printf(text, "%s%s%s: %s", mark(is_refused), record->is_folder ? "" : "  ",
                           record->path, vyre_folder_fate_name(record->fate));
        if (is_refused) {
            vyre_strbuf_puts(text, "\n");
            write_lines(text, record->detail);
        } else {
            vyre_strbuf_printf(text, record->is_folder ? ", named by %s\n" : ": %s\n",
                               record->detail);
        }
    }
}

static void write_cache(const examination *x, vyre_strbuf *text) {
    const vyre_cache_list *cache = x->cache;
    vyre_strbuf_puts(text, "\ncache of compiled programs\n");
    vyre_strbuf_puts(text, mark(x->cache_failure != NULL));
    if (x->cache_failure) {
        vyre_strbuf_printf(text, "%s\n", vyre_status_text(x->cache_failure));
    } else if (!cache->path) {
        vyre_strbuf_puts(text, "none: ");
        cli_describe_no_home(text, "XDG_CACHE_HOME");
    } else {
        cli_describe_cache(text, cache);
        if (cache->refused_count) {
            vyre_strbuf_printf(text, "%s%s", mark(true), cache->refusal);
            vyre_strbuf_printf(text, cache->refused_count > 1 ? "; and %zu like it\n" : "\n",
                               cache->refused_count - 1);
        }
    }
}

static void write_routes(const examination *x, vyre_strbuf *text) {
    const char *path = vyre_strbuf_string(&x->routes_path);
    vyre_strbuf_puts(text, "\nroutes\n");
    vyre_strbuf_puts(text, mark(x->routes_failure != NULL));
    if (x->routes_failure) {
        vyre_strbuf_printf(text, "%s\n", vyre_status_text(x->routes_failure));
    } else if (!x->routes_path.size) {
        if (!strcmp(vyre_option_describe(VYRE_OPTION_ROUTES).text, "off")) {
            vyre_strbuf_puts(text, "none, because VYRE_ROUTES is off\n");
        } else {
            vyre_strbuf_puts(text, "none: ");
            cli_describe_no_home(text, "XDG_CONFIG_HOME");
        }
    } else if (!x->has_routes) {
        vyre_strbuf_printf(text, "%s: does not exist yet; `vyre certify` writes it\n", path);
    } else {
        vyre_strbuf_printf(text, "%s: %zu operation%s, %zu measurement%s", path, x->routes,
                           vyre_plural(x->routes), x->measurements, vyre_plural(x->measurements));
        vyre_strbuf_printf(text,
                           x->strange ? ", %zu of devices or drivers that this machine does not "
                                        "have\n"
                                      : "\n",
                           x->strange);
    }
}

static void write_environment(vyre_strbuf *text) {
    cli_variable variable;
    const char *value;
    bool is_set;
    vyre_strbuf_printf(text, "\nenvironment%s\n",
                       vyre_environment_is_foreign()
                           ? ", not read: this process runs with more privileges than its user"
                           : "");
    for (size_t i = 0; read_variable(i, &variable, &value, &is_set); i++) {
        vyre_strbuf_printf(text, "  %s: ", variable.name);
        vyre_strbuf_printf(text,
                           is_set   ? "%s\n"
                           : *value ? "not set, so %s\n"
                                    : "not set%s\n",
                           value);
    }
}

static void write_text(const examination *x, vyre_strbuf *text) {
    vyre_strbuf_printf(text, "vyre %s, backend ABI %d.%d\n", vyre_version(), VYRE_ABI_MAJOR,
                       VYRE_ABI_MINOR);
    write_plugins(x, text);
    write_backends(x, text);
    write_dialects(x, text);
    write_cache(x, text);
    write_routes(x, text);
    write_environment(text);
    if (x->problems) {
        vyre_strbuf_printf(text, "\n%zu problem%s, marked with !\n", x->problems,
                           vyre_plural(x->problems));
    } else {
        vyre_strbuf_puts(text, "\nno problems\n");
    }
}

/* JSON */

static void json_plugins(const examination *x, vyre_json *json) {
    vyre_json_add_array(json, "plugins");
    for (size_t i = 0; i < x->record_count; i++) {
        const vyre_plugin_record *record = &x->records[i];
        vyre_json_object(json);
        vyre_json_add_string(json, record->is_folder ? "folder" : "manifest", record->path);
        vyre_json_add_string(json, "fate", vyre_plugin_fate_name(record->fate));
        if (!record->is_folder) {
            vyre_json_add_string(json, "library", record->library);
        }
        vyre_json_add_string(json, "detail", record->detail);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void json_backends(const examination *x, vyre_json *json) {
    vyre_json_add_array(json, "devices");
    for (size_t i = 0; i < x->survey.rows.count; i++) {
        const cli_survey_row *row = &x->survey.rows.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "name", row->name);
        vyre_json_add_string(json, "origin",
                             vyre_registry_origin(vyre_registry_default(), row->registration->id));
        vyre_json_add_bool(json, "available", row->device != NULL);
        vyre_json_add_string(json, "reason", row->failure ? vyre_status_text(row->failure) : NULL);
        const char *note = cli_survey_note(row);
        vyre_json_add_string(json, "note", *note ? note : NULL);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_add_array(json, "findings");
    for (size_t i = 0; i < x->findings.count; i++) {
        vyre_json_object(json);
        vyre_json_add_string(json, "id", x->findings.items[i].id);
        vyre_json_add_string(json, "finding", x->findings.items[i].text);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void json_dialects(const examination *x, vyre_json *json) {
    vyre_json_add_object(json, "dialects");
    vyre_json_add_u64(json, "operations", x->operations);
    if (x->dialects_failure) {
        vyre_json_add_string(json, "failure", vyre_status_text(x->dialects_failure));
    }
    vyre_json_add_array(json, "places");
    for (size_t i = 0; i < x->dialects.records.count; i++) {
        const vyre_folder_record *record = &x->dialects.records.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, record->is_folder ? "folder" : "manifest", record->path);
        vyre_json_add_string(json, "fate", vyre_folder_fate_name(record->fate));
        vyre_json_add_string(json, "detail", record->detail);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_object_end(json);
}

static void json_cache(const examination *x, vyre_json *json) {
    const vyre_cache_list *cache = x->cache;
    vyre_json_add_object(json, "cache");
    if (!x->cache_failure) {
        vyre_json_add_string(json, "path", cache->path);
        vyre_json_add_u64(json, "programs", cache->entry_count);
        vyre_json_add_u64(json, "bytes", cache->total_bytes);
        vyre_json_add_u64(json, "limit_bytes", cache->limit_bytes);
        vyre_json_add_u64(json, "refused", cache->refused_count);
        vyre_json_add_string(json, "refusal", cache->refusal);
    } else {
        vyre_json_add_string(json, "failure", vyre_status_text(x->cache_failure));
    }
    vyre_json_object_end(json);
}

static void json_routes(const examination *x, vyre_json *json) {
    vyre_json_add_object(json, "routes");
    vyre_json_add_string(json, "path",
                         x->routes_path.size ? vyre_strbuf_string(&x->routes_path) : NULL);
    if (x->routes_failure) {
        vyre_json_add_string(json, "failure", vyre_status_text(x->routes_failure));
    } else {
        vyre_json_add_bool(json, "exists", x->has_routes);
        vyre_json_add_u64(json, "operations", x->routes);
        vyre_json_add_u64(json, "measurements", x->measurements);
        vyre_json_add_u64(json, "strange", x->strange);
    }
    vyre_json_object_end(json);
}

static void json_environment(vyre_json *json) {
    cli_variable variable;
    const char *value;
    bool is_set;
    vyre_json_add_array(json, "environment");
    for (size_t i = 0; read_variable(i, &variable, &value, &is_set); i++) {
        vyre_json_object(json);
        vyre_json_add_string(json, "variable", variable.name);
        vyre_json_add_bool(json, "set", is_set);
        vyre_json_add_string(json, "value", value);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void write_json(const examination *x, vyre_strbuf *text) {
    vyre_json json = {.text = text};
    vyre_json_object(&json);
    vyre_json_add_string(&json, "version", vyre_version());
    vyre_json_add_array(&json, "abi");
    vyre_json_u64(&json, VYRE_ABI_MAJOR);
    vyre_json_u64(&json, VYRE_ABI_MINOR);
    vyre_json_array_end(&json);
    json_plugins(x, &json);
    json_backends(x, &json);
    json_dialects(x, &json);
    json_cache(x, &json);
    json_routes(x, &json);
    json_environment(&json);
    vyre_json_add_u64(&json, "problems", x->problems);
    vyre_json_object_end(&json);
    vyre_strbuf_putc(text, '\n');
}

static cli_exit run(const cli_arguments *arguments) {
    examination x = {0};
    vyre_strbuf text = {0};
    cli_exit result;
    vyre_status status = examine(&x);
    if (status) {
        result = cli_message_status(arguments->command, status);
    } else {
        if (arguments->values[FORMAT].choice == VYRE_FORMAT_JSON) {
            write_json(&x, &text);
        } else {
            write_text(&x, &text);
        }
        cli_output_write(&text);
        result = x.problems ? CLI_EXIT_NO : CLI_EXIT_DONE;
    }
    deinit(&x);
    return result;
}
