#include <string.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "registry/registry.h"

typedef enum bundle_stream { REGISTRATIONS, CAPABILITIES, PRECEDENCES } bundle_stream;

static size_t stream_count(const vyre_bundle *bundle, bundle_stream stream) {
    switch (stream) {
    case REGISTRATIONS: return bundle->registration_count;
    case CAPABILITIES: return bundle->capability_count;
    case PRECEDENCES: return bundle->precedence_count;
    }
    return 0;
}

static const char *stream_id(const vyre_bundle *bundle, bundle_stream stream, size_t i) {
    switch (stream) {
    case REGISTRATIONS: return vyre_bundle_registration(bundle, i)->id;
    case CAPABILITIES: return vyre_bundle_capability(bundle, i)->id;
    case PRECEDENCES: return vyre_bundle_precedence(bundle, i)->id;
    }
    return "";
}

/* How many entries a stream has for an id; those before bundle `end_bundle`, entry `end_entry`
 * alone, if that is not past the last. `origins`, if any, gets where they come from. */
static size_t occurrences(vyre_registry *registry, bundle_stream stream, const char *id,
                          size_t end_bundle, size_t end_entry, vyre_strbuf *origins) {
    size_t found = 0;
    const char *origin;
    for (size_t b = 0; b <= end_bundle; b++) {
        const vyre_bundle *bundle = vyre_registry_bundle(registry, b, &origin);
        size_t count = bundle ? stream_count(bundle, stream) : 0;
        count = b == end_bundle && end_entry < count ? end_entry : count;
        for (size_t i = 0; i < count; i++) {
            if (!strcmp(stream_id(bundle, stream, i), id)) {
                if (origins) {
                    vyre_strbuf_puts(origins, found ? ", " : "");
                    vyre_strbuf_puts(origins, origin);
                }
                found++;
            }
        }
        if (!bundle) {
            break;
        }
    }
    return found;
}

static size_t all_occurrences(vyre_registry *registry, bundle_stream stream, const char *id,
                              vyre_strbuf *origins) {
    return occurrences(registry, stream, id, SIZE_MAX - 1, SIZE_MAX, origins);
}

static bool add(vyre_registry_findings *findings, vyre_registry_finding_kind kind, const char *id,
                vyre_strbuf *text) {
    vyre_registry_finding finding = {kind, id, text->data};
    if (text->failed || !vyre_vec_push(findings, finding)) {
        vyre_strbuf_free(text);
        return false;
    }
    return true;
}

/* What is wrong with the entries for one id in a stream. */
static bool inspect_id(vyre_registry *registry, bundle_stream stream, const char *id,
                       vyre_registry_findings *findings) {
    static const struct {
        vyre_registry_finding_kind duplicate;
        const char *has, *entries, *winner;
    } rows[] = {
        [REGISTRATIONS] = {VYRE_REGISTRY_FINDING_DUPLICATE_REGISTRATION, "is registered", "times",
                           "first"},
        [CAPABILITIES] = {VYRE_REGISTRY_FINDING_DUPLICATE_CAPABILITY, "has", "capability entries",
                          "last"},
        [PRECEDENCES] = {VYRE_REGISTRY_FINDING_DUPLICATE_PRECEDENCE, "has", "precedence entries",
                         "last"},
    };
    vyre_strbuf origins = {0}, text = {0};
    bool done = true;
    size_t count = all_occurrences(registry, stream, id, &origins);
    if (count > 1) {
        vyre_strbuf_printf(&text,
                           "backend `%s` %s %zu %s (%s); vyre uses the %s one. Fix: keep one of "
                           "them",
                           id, rows[stream].has, count, rows[stream].entries,
                           vyre_strbuf_string(&origins), rows[stream].winner);
        done = add(findings, rows[stream].duplicate, id, &text);
        text = (vyre_strbuf){0};
    }
    if (done && stream == REGISTRATIONS && !all_occurrences(registry, CAPABILITIES, id, NULL)) {
        vyre_strbuf_printf(
            &text,
            "backend `%s` (%s) has no capability entry, so vyre assumes that it does not dispatch. "
            "Fix: add one to its bundle",
            id, vyre_strbuf_string(&origins));
        done = add(findings, VYRE_REGISTRY_FINDING_NO_CAPABILITY, id, &text);
    } else if (done && stream != REGISTRATIONS &&
               !all_occurrences(registry, REGISTRATIONS, id, NULL)) {
        vyre_strbuf_printf(&text,
                           "a %s entry (%s) names backend `%s`, which is not registered. Fix: "
                           "register it, or remove the entry",
                           stream == CAPABILITIES ? "capability" : "precedence",
                           vyre_strbuf_string(&origins), id);
        done = add(findings,
                   stream == CAPABILITIES ? VYRE_REGISTRY_FINDING_STRAY_CAPABILITY
                                          : VYRE_REGISTRY_FINDING_STRAY_PRECEDENCE,
                   id, &text);
    }
    done = done && !origins.failed;
    vyre_strbuf_free(&origins);
    return done;
}

vyre_status vyre_registry_inspect(vyre_registry *registry, vyre_registry_findings *out_findings) {
    *out_findings = (vyre_registry_findings){0};
    bool done = true;
    const char *origin;
    const vyre_bundle *bundle;
    for (size_t b = 0; (bundle = vyre_registry_bundle(registry, b, &origin)) != NULL; b++) {
        for (bundle_stream stream = REGISTRATIONS; stream <= PRECEDENCES; stream++) {
            for (size_t i = 0; done && i < stream_count(bundle, stream); i++) {
                const char *id = stream_id(bundle, stream, i);
                if (!occurrences(registry, stream, id, b, i, NULL)) {
                    done = inspect_id(registry, stream, id, out_findings);
                }
            }
        }
    }
    vyre_status plugins = vyre_registry_plugins_status(registry);
    if (done && plugins) {
        vyre_strbuf text = {0};
        vyre_strbuf_puts(&text, vyre_status_text(plugins));
        done = add(out_findings, VYRE_REGISTRY_FINDING_PLUGINS, "", &text);
    }
    if (!done) {
        vyre_registry_findings_free(out_findings);
        return vyre_no_memory("to list the problems of the registry");
    }
    return VYRE_OK;
}

void vyre_registry_findings_free(vyre_registry_findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        vyre_free(findings->items[i].text);
    }
    vyre_vec_free(findings);
}
