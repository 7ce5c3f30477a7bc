#include "backend/reference/findings.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct vyre_findings {
    vyre_arena arena; /* the texts */
    vyre_map map;     /* by kind and instructions */
    VYRE_VEC(vyre_finding) items;
};

static const struct {
    const char *name;
    bool is_error;
} kinds[] = {
#define ROW(name, text, is_error) {text, is_error},
    VYRE_FINDING_KINDS(ROW)
#undef ROW
};

const char *vyre_finding_kind_name(vyre_finding_kind kind) {
    return (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind].name : "?";
}

bool vyre_finding_is_error(vyre_finding_kind kind) {
    return (size_t)kind < sizeof kinds / sizeof *kinds && kinds[kind].is_error;
}

vyre_status vyre_findings_create(vyre_findings **out_findings) {
    *out_findings = vyre_alloc_zeroed(1, sizeof **out_findings);
    return *out_findings ? VYRE_OK : vyre_no_memory("for a list of findings");
}

void vyre_findings_free(vyre_findings *findings) {
    if (findings) {
        vyre_arena_deinit(&findings->arena);
        vyre_map_free(&findings->map);
        vyre_vec_free(&findings->items);
        vyre_free(findings);
    }
}

size_t vyre_findings_count(const vyre_findings *findings) {
    return findings->items.count;
}

const vyre_finding *vyre_findings_get(const vyre_findings *findings, size_t index) {
    return index < findings->items.count ? &findings->items.items[index] : NULL;
}

typedef struct finding_key {
    const vyre_finding *items, *found;
} finding_key;

static bool same_finding(const void *context, uint32_t index) {
    const finding_key *key = context;
    const vyre_finding *item = &key->items[index];
    return item->kind == key->found->kind && item->first.inst == key->found->first.inst &&
           item->second.inst == key->found->second.inst;
}

/* The program that a name belongs to may be gone before the findings are. */
static bool keep_name(vyre_findings *findings, const char **name) {
    if (*name) {
        *name = vyre_arena_copy(&findings->arena, *name, strlen(*name));
        return *name;
    }
    return true;
}

static bool keep_names(vyre_findings *findings, vyre_access_place *place) {
    return keep_name(findings, &place->file) && keep_name(findings, &place->function) &&
           keep_name(findings, &place->call_file);
}

static uint64_t hash_finding(const vyre_finding *found) {
    uint32_t words[3] = {(uint32_t)found->kind, found->first.inst, found->second.inst};
    return vyre_hash_key(words, sizeof words);
}

bool vyre_findings_again(vyre_findings *findings, const vyre_finding *found) {
    finding_key key = {findings->items.items, found};
    uint32_t *known = vyre_map_find(&findings->map, hash_finding(found), same_finding, &key);
    if (known) {
        findings->items.items[*known].count++;
    }
    return known || findings->items.count == VYRE_FINDINGS_LIMIT;
}

bool vyre_findings_add(vyre_findings *findings, const vyre_finding *found, const char *fix,
                       const char *format, ...) {
    vyre_strbuf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    vyre_finding item = *found;
    item.count = 1;
    item.message = text.failed
                       ? NULL
                       : vyre_arena_copy(&findings->arena, vyre_strbuf_string(&text), text.size);
    item.fix = vyre_arena_copy(&findings->arena, fix, strlen(fix));
    vyre_strbuf_free(&text);
    uint32_t index = (uint32_t)findings->items.count;
    if (!item.message || !item.fix || !keep_names(findings, &item.first) ||
        !keep_names(findings, &item.second) || !vyre_vec_reserve(&findings->items, 1) ||
        !vyre_map_add(&findings->map, hash_finding(found), index)) {
        return false;
    }
    findings->items.items[findings->items.count++] = item;
    return true;
}
