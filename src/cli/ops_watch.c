/* vyre ops watch: a folder of manifests, and each change of what they define. */

#include "base/clock.h"
#include "base/page.h"
#include "base/units.h"
#include "cli/operation.h"
#include "cli/ops.h"
#include "cli/output.h"

typedef struct observer {
    vyre_format format;
    size_t events;
} observer;

static const char *event_name(vyre_dialect_event_kind kind) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_DIALECT_EVENT_##name] = text,
        VYRE_DIALECT_EVENTS(NAME)
#undef NAME
    };
    return names[kind];
}

static void write_text(vyre_strbuf *text, const vyre_dialect_event *event) {
    vyre_strbuf_printf(text, "%s %s", event_name(event->kind), event->name);
    const vyre_operation *operation =
        event->kind == VYRE_DIALECT_EVENT_ADDED || event->kind == VYRE_DIALECT_EVENT_CHANGED
            ? vyre_dialects_find(event->snapshot, event->name)
            : NULL;
    if (operation) {
        cli_describe_signature(text, operation);
    }
    if (event->kind == VYRE_DIALECT_EVENT_REFUSED) {
        vyre_strbuf_puts(text, event->is_kept ? "; the operations stay as they were\n" : "\n");
        for (const char *at = event->detail; *at;) {
            size_t size = 0;
            while (at[size] && at[size] != '\n') {
                size++;
            }
            vyre_strbuf_printf(text, "    %.*s%s", (int)size, at, at[size] ? "\n" : "");
            at += size + (at[size] == '\n');
        }
    }
    vyre_strbuf_puts(text, "\n");
}

/* One object a line, so that a reader can take each as it comes. */
static void write_json(vyre_strbuf *text, const vyre_dialect_event *event) {
    vyre_strbuf indented = {0};
    vyre_json json = {.text = &indented};
    vyre_json_object(&json);
    vyre_json_add_string(&json, "event", event_name(event->kind));
    vyre_json_add_string(&json, "name", event->name);
    if (event->kind == VYRE_DIALECT_EVENT_REFUSED) {
        vyre_json_add_string(&json, "detail", event->detail);
        vyre_json_add_bool(&json, "kept", event->is_kept);
    }
    vyre_json_object_end(&json);
    bool at_start = false;
    for (size_t i = 0; i < indented.size; i++) {
        char c = indented.data[i];
        at_start = c == '\n' || (at_start && c == ' ');
        if (!at_start) {
            vyre_strbuf_putc(text, c);
        }
    }
    vyre_strbuf_puts(text, "\n");
    text->failed |= indented.failed;
    vyre_strbuf_free(&indented);
}

static void tell(void *user, const vyre_dialect_event *event) {
    observer *o = user;
    vyre_strbuf text = {0};
    o->events++;
    if (o->format == VYRE_FORMAT_JSON) {
        write_json(&text, event);
    } else {
        write_text(&text, event);
    }
    cli_output_write(&text);
}

cli_exit cli_ops_watch(const cli_command *command, const char *folder, uint64_t timeout_ns,
                       vyre_format format) {
    const uint64_t iteration_ns = 1000000000u, ms = 1000000u;
    uint64_t start = vyre_now_ns();
    observer o = {.format = format};
    vyre_dialects_watch *watch;
    if (format != VYRE_FORMAT_TEXT && format != VYRE_FORMAT_JSON) {
        return cli_message_status(
            command, vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "use --format text or json",
                                      "changes cannot be printed as a table"));
    }
    vyre_status status = vyre_dialects_watch_open(&folder, 1, &watch);
    if (status) {
        return cli_message_status(command, status);
    }
    status = vyre_dialects_watch_wait(watch, 0, tell, &o);
    cli_message_note("vyre ops: watching %s, %zu change%s at the start\n", folder, o.events,
                     vyre_plural(o.events));
    while (!status && cli_output_is_open()) {
        uint64_t passed = vyre_now_ns() - start;
        if (passed >= timeout_ns) {
            break;
        }
        uint64_t left = timeout_ns - passed;
        status = vyre_dialects_watch_wait(
            watch, (uint32_t)((left < iteration_ns ? left : iteration_ns) / ms + 1), tell, &o);
    }
    vyre_dialects_watch_close(watch);
    return status ? cli_message_status(command, status) : CLI_EXIT_DONE;
}
