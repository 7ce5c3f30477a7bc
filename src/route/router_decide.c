/* How the router chooses: by what was measured for the nearest class, else by the route of the
 * operation, else by preferred selection. Routes that cannot be followed become a note, and so do
 * devices that cannot run the program. */
#include <string.h>

#include <vyre/run.h>

#include "base/alloc.h"
#include "base/status.h"
#include "registry/select.h"
#include "route/router.h"
#include "runtime/device.h"

typedef struct deciding {
    vyre_router *router;
    const vyre_router_request *request; /* NULL: of no program */
    const vyre_router_key *key;
    const char *op;
    const vyre_route_entry *entry; /* what the routes know of it; or NULL */
    vyre_router_choice facts;      /* with a device once there is one */
    vyre_strbuf why, note;
    size_t note_count;
} deciding;

/* What was said before, as of a device that several rows and the route name, is not said again; nor
 * does a file of many machines make a book of it. */
static void VYRE_PRINTF(2, 3) add_note(deciding *c, const char *format, ...) {
    enum { MOST_NOTES = 8 };
    if (c->note_count >= MOST_NOTES) {
        vyre_strbuf_puts(&c->note, c->note_count++ == MOST_NOTES ? "; and more" : "");
        return;
    }
    vyre_strbuf more = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&more, format, arguments);
    va_end(arguments);
    if (!strstr(vyre_strbuf_string(&c->note), vyre_strbuf_string(&more))) {
        vyre_strbuf_printf(&c->note, "%s%s", c->note.size ? "; " : "", vyre_strbuf_string(&more));
        c->note_count++;
    }
    c->note.failed |= more.failed;
    vyre_strbuf_free(&more);
}

const vyre_exclusion *vyre_router_banned(const vyre_router *router, const char *op, vyre_data data,
                                         uint32_t size_class, const vyre_identity *who) {
    const vyre_route_entry *entry = vyre_routes_entry(router->routes, op);
    for (size_t i = 0; entry && i < entry->route.excluded_count; i++) {
        const vyre_exclusion *ban = &entry->route.excluded[i];
        if (ban->cause == VYRE_EXCLUDED_BYTES && vyre_identity_same(&ban->who, who)) {
            return ban;
        }
    }
    for (size_t i = 0; entry && i < entry->bans.count; i++) {
        const vyre_exclusion *ban = &entry->bans.items[i].exclusion;
        if ((ban->cause == VYRE_EXCLUDED_BYTES ||
             (ban->data == data && ban->size_class == size_class)) &&
            vyre_identity_same(&ban->who, who)) {
            return ban;
        }
    }
    return NULL;
}

static const vyre_exclusion *find_ban(const deciding *c, const vyre_identity *who) {
    return vyre_router_banned(c->router, c->op, c->key->data, c->key->size_class, who);
}

/* Whether a device has the operations and the limits for what is asked; else a note. An operation
 * that is not known is refused by the run itself. */
static vyre_status check_runs(deciding *c, vyre_device *device, bool *out_runs) {
    const vyre_program *program = c->request ? c->request->program : NULL;
    vyre_dialects_guard guard = {0};
    const vyre_dialects *now = NULL;
    *out_runs = true;
    if (c->request && c->key->op.size) {
        VYRE_TRY(vyre_dialects_try_enter(&guard, &now));
        const vyre_operation *operation = vyre_dialects_find(now, c->request->op);
        vyre_status status =
            operation ? vyre_operation_choose(operation, device, &program) : VYRE_OK;
        if (status) {
            vyre_dialects_leave(&guard);
            return status;
        }
    }
    vyre_status refusal = program ? vyre_device_check_program(device, program) : VYRE_OK;
    if (refusal) {
        add_note(c, "`%s` is skipped: %s", vyre_device_name(device), vyre_status_text(refusal));
        *out_runs = false;
    }
    vyre_status_free(refusal);
    if (now) {
        vyre_dialects_leave(&guard);
    }
    return VYRE_OK;
}

/* Oracles run only when they are named. */
static bool names_oracle(const char *name) {
    size_t size = strcspn(name, ":");
    char id[16];
    if (size >= sizeof id) {
        return false;
    }
    memcpy(id, name, size);
    id[size] = '\0';
    return vyre_is_oracle(id);
}

/* A device of a route, if it is here and may run this; else NULL and a note. `who` is NULL where
 * the route has its name alone. */
static vyre_status find_device(deciding *c, const char *name, const vyre_identity *who,
                               vyre_device **out_device) {
    vyre_router_device *kept;
    *out_device = NULL;
    if (names_oracle(name)) {
        add_note(c, "a route names the oracle `%s`, which runs only when it is named", name);
        return VYRE_OK;
    }
    VYRE_TRY(vyre_router_keep(c->router, name, &kept));
    if (!kept->device) {
        add_note(c, "a route names `%s`, which is not available: %s", name, kept->failure);
        return VYRE_OK;
    }
    vyre_identity here = vyre_device_identity(kept->device);
    if (who && strcmp(who->device, here.device) != 0) {
        add_note(c, "the routes have times of `%s` on \"%s\", and this device is \"%s\"", name,
                 who->device, here.device);
        return VYRE_OK;
    }
    if (who && strcmp(who->driver, here.driver) != 0) {
        add_note(c, "the routes have times of `%s` with driver %s, and this driver is %s", name,
                 who->driver, here.driver);
        return VYRE_OK;
    }
    const vyre_exclusion *ban = find_ban(c, &here);
    if (ban) {
        add_note(c, "`%s` is excluded: %s", name, ban->reason);
        return VYRE_OK;
    }
    if (kept->device->profile.grade > c->key->grade) {
        add_note(c, "`%s` has the grade %s, and the run requires %s", name,
                 vyre_grade_name(kept->device->profile.grade), vyre_grade_name(c->key->grade));
        return VYRE_OK;
    }
    bool runs;
    VYRE_TRY(check_runs(c, kept->device, &runs));
    *out_device = runs ? kept->device : NULL;
    return VYRE_OK;
}

static uint32_t distance(uint32_t left, uint32_t right) {
    return left > right ? left - right : right - left;
}

/* Whether a row comes before another: the nearer class, of two as near the larger one, then by
 * latency, which is how rows are sorted. */
static bool is_better(const deciding *c, const vyre_class_row *row, const vyre_class_row *best) {
    uint32_t wanted = c->key->size_class;
    uint32_t a = distance(row->size_class, wanted), b = distance(best->size_class, wanted);
    return a != b ? a < b : row->size_class > best->size_class;
}

static const vyre_route_measured *next_row(const deciding *c, const bool *rejected) {
    const vyre_route_measured *best = NULL;
    for (size_t i = 0; i < c->entry->rows.count; i++) {
        const vyre_route_measured *row = &c->entry->rows.items[i];
        if (row->row.data == c->key->data && !rejected[i] &&
            (!best || is_better(c, &row->row, &best->row))) {
            best = row;
        }
    }
    return best;
}

static void explain_class(deciding *c, const vyre_class_row *row) {
    const char *nearest = row->size_class == c->key->size_class ? "" : ", the nearest to class ";
    vyre_strbuf_printf(&c->why, "%s: %llu ns, the fastest measured for %s data of class %u",
                       row->who.backend, (unsigned long long)row->latency_ns,
                       vyre_data_name(row->data), row->size_class);
    if (*nearest) {
        vyre_strbuf_printf(&c->why, "%s%u", nearest, c->key->size_class);
    }
}

static vyre_status choose_by_class(deciding *c) {
    size_t count = c->entry ? c->entry->rows.count : 0;
    bool *rejected = vyre_alloc_zeroed(count, sizeof *rejected);
    vyre_status status = rejected ? VYRE_OK : vyre_no_memory("to route a run");
    while (!status && count && !c->facts.device) {
        const vyre_route_measured *found = next_row(c, rejected);
        if (!found) {
            break;
        }
        const vyre_class_row *row = &found->row;
        status = find_device(c, row->who.backend, &row->who, &c->facts.device);
        if (!status && c->facts.device) {
            c->facts.source = VYRE_ROUTER_BY_CLASS;
            c->facts.measured_class = row->size_class;
            c->facts.latency_ns = row->latency_ns;
            explain_class(c, row);
        }
        for (size_t i = 0; i < count; i++) { /* what is wrong with it is said once */
            rejected[i] =
                rejected[i] || vyre_identity_same(&c->entry->rows.items[i].row.who, &row->who);
        }
    }
    vyre_free(rejected);
    return status;
}

/* Whether measurements are of a device that the router keeps. */
static bool is_kept(const vyre_router *router, const vyre_identity *who) {
    bool same = false;
    for (size_t i = 0; i < router->devices.count && !same; i++) {
        const vyre_device *device = router->devices.items[i].device;
        const vyre_identity here = device ? vyre_device_identity(device) : *who;
        same = device && vyre_identity_same(who, &here);
    }
    return same;
}

/* Which device won the route. Where the route does not say so, measurements of the same name may:
 * they are of the machines that share the file. */
static bool find_winner(const deciding *c, vyre_identity *out_who) {
    const vyre_route *route = &c->entry->route;
    if (route->device) {
        *out_who = (vyre_identity){route->backend, route->device, route->driver};
        return true;
    }
    bool found = false;
    for (size_t i = 0; i < c->entry->rows.count; i++) {
        const vyre_identity *who = &c->entry->rows.items[i].row.who;
        if (!strcmp(who->backend, route->backend) && (!found || is_kept(c->router, who))) {
            *out_who = *who;
            found = true;
        }
    }
    return found;
}

static vyre_status choose_by_route(deciding *c) {
    if (!c->entry || !c->entry->has_route) {
        return VYRE_OK;
    }
    const vyre_route *route = &c->entry->route;
    if (!route->backend) {
        add_note(c, "no device could be certified");
        for (size_t i = 0; i < route->excluded_count; i++) {
            add_note(c, "`%s`: %s", route->excluded[i].who.backend, route->excluded[i].reason);
        }
        return VYRE_OK;
    }
    vyre_identity who;
    bool known = find_winner(c, &who);
    vyre_status status = find_device(c, route->backend, known ? &who : NULL, &c->facts.device);
    if (status || !c->facts.device) {
        return status;
    }
    if (!known) {
        add_note(c, "the route to `%s` does not say which device it was measured on",
                 route->backend);
    }
    c->facts.source = VYRE_ROUTER_BY_ROUTE;
    for (size_t i = 0; i < route->observation_count; i++) {
        if (!strcmp(route->observations[i].backend, route->backend)) {
            c->facts.latency_ns = route->observations[i].latency_ns;
            break;
        }
    }
    vyre_strbuf_printf(&c->why, "%s: certified as the fastest of %zu", route->backend,
                       route->observation_count);
    if (c->facts.latency_ns != VYRE_NO_TIME) {
        vyre_strbuf_printf(&c->why, ", with %llu ns", (unsigned long long)c->facts.latency_ns);
    }
    vyre_strbuf_puts(&c->why, "; there is no better match for this size");
    return VYRE_OK;
}

/* A device that preferred selection made, or the one of that name which is kept already. */
static vyre_status adopt(vyre_router *router, vyre_device *made, vyre_device **out_kept) {
    const char *name = vyre_device_name(made);
    for (size_t i = 0; i < router->devices.count; i++) {
        vyre_router_device *row = &router->devices.items[i];
        if (!strcmp(row->name, name)) {
            if (row->device && vyre_device_lost(row->device)) {
                vyre_router_drop(router, row);
            }
            row->device = row->device ? row->device : vyre_device_retain(made);
            *out_kept = row->device;
            return VYRE_OK;
        }
    }
    size_t size = strlen(name) + 1;
    vyre_router_device row = {.name = vyre_alloc(size), .device = made};
    if (!row.name || !vyre_vec_push(&router->devices, row)) {
        vyre_free(row.name);
        return vyre_no_memory("to route a run");
    }
    memcpy(row.name, name, size);
    *out_kept = vyre_device_retain(made); /* for the list */
    return VYRE_OK;
}

/* Preferred selection, without those that `deny` names. What it gives without any is kept. */
static vyre_status prefer(deciding *c, const char *deny, vyre_device **out_device) {
    vyre_router *router = c->router;
    bool is_plain = !*deny && c->key->grade == VYRE_GRADE_EXACT;
    if (is_plain && router->preferred && !vyre_device_lost(router->preferred)) {
        *out_device = router->preferred;
        vyre_strbuf_puts(&c->why, router->preferred_why);
        return VYRE_OK;
    }
    vyre_decision decision;
    vyre_device *made;
    const vyre_selection selection = {
        .deny = *deny ? deny : NULL, .grade = (vyre_grade)c->key->grade, .quick = true};
    vyre_status status =
        vyre_registry_acquire_preferred(router->registry, &selection, &decision, &made);
    *out_device = NULL;
    if (!status) {
        vyre_strbuf_puts(&c->why, decision.why ? decision.why : vyre_device_name(made));
        status = adopt(router, made, out_device);
        if (is_plain && !status && !c->why.failed) {
            vyre_free(router->preferred_why);
            router->preferred_why = decision.why;
            router->preferred = decision.why ? *out_device : NULL;
            decision.why = NULL;
        }
        vyre_device_release(made);
    }
    vyre_decision_free(&decision);
    return status;
}

vyre_status vyre_router_prefer(vyre_router *router, vyre_device **out_device) {
    const vyre_router_key key = {.grade = VYRE_GRADE_EXACT};
    deciding c = {.router = router, .key = &key};
    vyre_status status = prefer(&c, "", out_device);
    vyre_strbuf_free(&c.why);
    return status;
}

static vyre_status none_is_right(const deciding *c, vyre_status status) {
    vyre_status told = vyre_status_make(
        VYRE_STATUS_UNAVAILABLE, "certify it again with an oracle, or name the device to run on",
        "no device may run `%s` on auto (%s)", c->op, vyre_strbuf_string(&c->note));
    vyre_status_free(status);
    return told;
}

static vyre_status choose_preferred(deciding *c) {
    vyre_strbuf denied = {0};
    vyre_status status = VYRE_OK;
    vyre_device *device = NULL;
    bool was_refused = c->note.size;
    while (!status && !c->facts.device) {
        vyre_strbuf_cut(&c->why, 0);
        status = prefer(c, vyre_strbuf_string(&denied), &device);
        if (status) {
            if (denied.size && vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE) {
                status = none_is_right(c, status);
            }
            break;
        }
        const vyre_identity who = vyre_device_identity(device);
        const vyre_exclusion *ban = find_ban(c, &who);
        if (ban) {
            add_note(c, "`%s` is excluded: %s", who.backend, ban->reason);
            was_refused = true;
        }
        bool runs;
        status = check_runs(c, device, &runs);
        if (status) {
            break;
        }
        /* One that is slow is better than none. */
        if (!runs || (ban && ban->cause != VYRE_EXCLUDED_TIME)) {
            vyre_strbuf_printf(&denied, "%s%s", denied.size ? "," : "", vyre_device_id(device));
            status = denied.failed ? vyre_no_memory("to route a run") : VYRE_OK;
        } else {
            c->facts.device = device;
        }
    }
    if (!status) {
        c->facts.source = VYRE_ROUTER_BY_PREFERRED;
        vyre_strbuf before = c->why;
        c->why = (vyre_strbuf){0};
        vyre_strbuf_printf(&c->why, "%s; preferred selection takes %s",
                           was_refused ? "no device of the routes can be used"
                                       : "there are no measurements for it",
                           vyre_strbuf_string(&before));
        vyre_strbuf_free(&before);
    }
    vyre_strbuf_free(&denied);
    return status;
}

vyre_status vyre_router_decide(vyre_router *router, const vyre_router_request *request,
                               const vyre_router_key *key, const char *op,
                               vyre_router_kept **out_kept) {
    deciding c = {.router = router, .request = request, .key = key, .op = op};
    c.entry = vyre_routes_entry(router->routes, op);
    c.facts = (vyre_router_choice){.wanted_class = key->size_class,
                                   .measured_class = VYRE_NO_CLASS,
                                   .latency_ns = VYRE_NO_TIME};
    *out_kept = NULL;
    if (router->problem) {
        add_note(&c, "%s", router->problem);
    }
    vyre_status status = choose_by_class(&c);
    if (!status && !c.facts.device) {
        status = choose_by_route(&c);
    }
    if (!status && !c.facts.device) {
        status = choose_preferred(&c);
    }
    if (!status && (c.why.failed || c.note.failed)) {
        status = vyre_no_memory("to route a run");
    }
    if (!status) {
        c.facts.why = vyre_strbuf_string(&c.why);
        c.facts.note = vyre_strbuf_string(&c.note);
        status = vyre_router_make_choice(&c.facts, key, out_kept);
    }
    vyre_strbuf_free(&c.why);
    vyre_strbuf_free(&c.note);
    return status;
}
