#include "dialect/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/near.h"
#include "base/status.h"
#include "dialect/library.h"

vyre_dialects vyre_dialects_empty = {.references = 1};

vyre_status vyre_dialects_no_room(size_t count, const char *kind) {
    return vyre_status_make(count > UINT32_MAX ? VYRE_STATUS_LIMIT : VYRE_STATUS_OUT_OF_MEMORY,
                            "reduce the inventory of operations, increase available memory, or "
                            "split registry initialization",
                            "the registry of operations could not reserve %zu %s slot(s)", count,
                            kind);
}

vyre_dialects *vyre_dialects_retain(const vyre_dialects *snapshot) {
    vyre_dialects *kept = (vyre_dialects *)(uintptr_t)snapshot;
    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

bool vyre_dialects_drop(vyre_dialects *snapshot, size_t count) {
    return atomic_fetch_sub_explicit(&snapshot->references, count, memory_order_acq_rel) == count;
}

void vyre_dialects_free(vyre_dialects *snapshot) {
    for (size_t i = 0; i < snapshot->programs.count; i++) {
        vyre_program_release(snapshot->programs.items[i]);
    }
    vyre_vec_free(&snapshot->programs);
    vyre_arena_deinit(&snapshot->arena);
    vyre_free(snapshot);
}

void vyre_dialects_release(const vyre_dialects *snapshot) {
    vyre_dialects *given = (vyre_dialects *)(uintptr_t)snapshot;
    if (given && vyre_dialects_drop(given, 1)) {
        vyre_dialects_free(given);
    }
}

static const char *registrant(const vyre_operation *operation) {
    return operation->dialect && *operation->dialect ? operation->dialect : "<unknown dialect>";
}

static const char *or_empty(const char *text) {
    return text ? text : "";
}

typedef struct wanted_id {
    const vyre_operation *const *operations;
    const char *id;
} wanted_id;

static bool same_id(const void *context, uint32_t value) {
    const wanted_id *wanted = context;
    return !strcmp(wanted->operations[value]->id, wanted->id);
}

vyre_status vyre_dialects_validate(const vyre_operation *const *operations, size_t count,
                                   vyre_duplicate *out_duplicate) {
    vyre_duplicate found = {0};
    vyre_status status =
        count > UINT32_MAX ? vyre_dialects_no_room(count, "operation id") : VYRE_OK;
    vyre_map seen = {0};
    for (size_t i = 0; i < count && !status; i++) {
        const char *id = operations[i]->id;
        if (!id || !*id) {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give each operation an ID",
                                      "an operation of dialect `%s` has no ID",
                                      registrant(operations[i]));
            break;
        }
        wanted_id wanted = {operations, id};
        uint64_t hash = vyre_hash_key(id, strlen(id));
        const uint32_t *first = vyre_map_find(&seen, hash, same_id, &wanted);
        if (first) {
            found = (vyre_duplicate){id, registrant(operations[*first]), registrant(operations[i])};
            status = vyre_status_make(
                VYRE_STATUS_INVALID_ARGUMENT,
                "keep one owner of the ID, and rename or remove the other operation",
                "the operation ID `%s` is registered twice: first by `%s`, then by `%s`", found.id,
                found.first, found.second);
        } else if (!vyre_map_add(&seen, hash, (uint32_t)i)) {
            status = vyre_dialects_no_room(count, "operation id");
        }
    }
    vyre_map_free(&seen);
    if (out_duplicate) {
        *out_duplicate = found;
    }
    return status;
}

typedef struct copied_text {
    const char *from, *to;
} copied_text;

/* A copy under way. Without memory `failed` is set, and what follows does nothing useful. */
typedef struct copier {
    vyre_dialects *to;
    vyre_map texts; /* of sources that were copied: many operations share one */
    VYRE_VEC(copied_text) copies;
    bool failed;
} copier;

static void *copy_bytes(copier *c, const void *from, size_t count, size_t size) {
    if (!count) {
        return NULL;
    }
    void *to = count <= SIZE_MAX / size ? vyre_arena_alloc(&c->to->arena, count * size) : NULL;
    if (!to) {
        c->failed = true;
        return NULL;
    }
    return memcpy(to, from, count * size);
}

static const char *copy_string(copier *c, const char *from) {
    return from ? copy_bytes(c, from, strlen(from) + 1, 1) : NULL;
}

typedef struct wanted_text {
    const copier *c;
    const char *from;
} wanted_text;

static bool same_text(const void *context, uint32_t value) {
    const wanted_text *wanted = context;
    return wanted->c->copies.items[value].from == wanted->from;
}

/* Ends with a NUL behind its size. */
static const char *copy_text(copier *c, const char *from, size_t size) {
    if (!from) {
        return NULL;
    }
    wanted_text wanted = {c, from};
    uint64_t hash = vyre_hash_key(&from, sizeof from);
    const uint32_t *known = vyre_map_find(&c->texts, hash, same_text, &wanted);
    if (known) {
        return c->copies.items[*known].to;
    }
    char *to = vyre_arena_copy(&c->to->arena, from, size);
    if (!to || !vyre_map_add(&c->texts, hash, (uint32_t)c->copies.count) ||
        !vyre_vec_push(&c->copies, (copied_text){from, to})) {
        c->failed = true;
    }
    return to;
}

static void keep_program(copier *c, const vyre_program *program) {
    if (!program) {
        return;
    }
    if (!vyre_vec_reserve(&c->to->programs, 1)) {
        c->failed = true;
        return;
    }
    c->to->programs.items[c->to->programs.count++] =
        vyre_program_retain((vyre_program *)(uintptr_t)program);
}

static void copy_lists(copier *c, vyre_operation *to) {
    vyre_parameter *parameters =
        copy_bytes(c, to->parameters, to->parameter_count, sizeof *parameters);
    vyre_law *laws = copy_bytes(c, to->laws, to->law_count, sizeof *laws);
    vyre_witness *witnesses = copy_bytes(c, to->witnesses, to->witness_count, sizeof *witnesses);
    vyre_variant *variants = copy_bytes(c, to->variants, to->variant_count, sizeof *variants);
    vyre_lowering *lowerings = copy_bytes(c, to->lowerings, to->lowering_count, sizeof *lowerings);
    for (size_t i = 0; i < to->parameter_count && !c->failed; i++) {
        parameters[i].name = copy_string(c, parameters[i].name);
    }
    for (size_t i = 0; i < to->law_count && !c->failed; i++) {
        laws[i].operand = copy_string(c, laws[i].operand);
    }
    for (size_t i = 0; i < to->witness_count && !c->failed; i++) {
        witnesses[i].arguments = copy_string(c, witnesses[i].arguments);
        witnesses[i].expected = copy_string(c, witnesses[i].expected);
    }
    for (size_t i = 0; i < to->variant_count && !c->failed; i++) {
        variants[i].entry = copy_string(c, variants[i].entry);
        variants[i].suits = copy_string(c, variants[i].suits);
        keep_program(c, variants[i].built);
    }
    for (size_t i = 0; i < to->lowering_count && !c->failed; i++) {
        lowerings[i].target.extension = copy_string(c, lowerings[i].target.extension);
        keep_program(c, lowerings[i].program);
    }
    to->parameters = parameters;
    to->laws = laws;
    to->witnesses = witnesses;
    to->variants = variants;
    to->lowerings = lowerings;
}

static void copy_operation(copier *c, const vyre_operation *from, vyre_operation *to) {
    *to = *from;
    if (vyre_library_has(from)) {
        return;
    }
    to->id = copy_string(c, from->id);
    to->dialect = copy_string(c, or_empty(from->dialect));
    to->version = copy_string(c, or_empty(from->version));
    to->doc = copy_string(c, or_empty(from->doc));
    to->file = copy_string(c, from->file);
    to->entry = copy_string(c, from->entry);
    to->sample = copy_string(c, from->sample);
    to->work = copy_string(c, from->work);
    to->text = copy_text(c, from->text, from->text_size);
    keep_program(c, from->built);
    copy_lists(c, to);
}

static int compare_operations(const void *left_item, const void *right_item) {
    const vyre_operation *left = *(const vyre_operation *const *)left_item;
    const vyre_operation *right = *(const vyre_operation *const *)right_item;
    int order = strcmp(or_empty(left->dialect), or_empty(right->dialect));
    return order ? order : strcmp(or_empty(left->id), or_empty(right->id));
}

static vyre_status copy_operations(vyre_dialects *snapshot, const vyre_operation *const *sorted) {
    size_t count = snapshot->count;
    copier c = {.to = snapshot};
    snapshot->operations = vyre_arena_alloc(&snapshot->arena, count * sizeof *snapshot->operations);
    c.failed = !snapshot->operations;
    for (size_t i = 0; i < count && !c.failed; i++) {
        copy_operation(&c, sorted[i], &snapshot->operations[i]);
    }
    vyre_map_free(&c.texts);
    vyre_vec_free(&c.copies);
    return c.failed ? vyre_dialects_no_room(count, "operation definition") : VYRE_OK;
}

/* The array that finds them by name. */
static vyre_status index_names(vyre_dialects *snapshot) {
    size_t count = snapshot->count;
    uint32_t lowest = UINT32_MAX, highest = 0;
    uint32_t *names = vyre_alloc_array(count, sizeof *names);
    vyre_status status = names ? VYRE_OK : vyre_dialects_no_room(count, "operation name");
    for (size_t i = 0; i < count && !status; i++) {
        vyre_status unnamed = vyre_intern(vyre_str_of(snapshot->operations[i].id), &names[i]);
        if (unnamed) {
            vyre_status_free(unnamed);
            status = vyre_dialects_no_room(count, "operation name");
            break;
        }
        lowest = names[i] < lowest ? names[i] : lowest;
        highest = names[i] > highest ? names[i] : highest;
    }
    if (!status && count) {
        uint32_t between = highest - lowest + 1;
        snapshot->by_name = vyre_arena_alloc(&snapshot->arena, between * sizeof *snapshot->by_name);
        if (snapshot->by_name) {
            memset(snapshot->by_name, 0, between * sizeof *snapshot->by_name);
            snapshot->first_name = lowest;
            snapshot->name_count = between;
        } else {
            status = vyre_dialects_no_room(between, "operation lookup");
        }
    }
    for (size_t i = 0; i < count && !status; i++) {
        snapshot->by_name[names[i] - lowest] = &snapshot->operations[i];
    }
    vyre_free(names);
    return status;
}

static vyre_status fill(vyre_dialects *snapshot, const vyre_operation *const *operations,
                        const vyre_operation **sorted) {
    size_t count = snapshot->count;
    if (count) {
        memcpy(sorted, operations, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_operations);
    }
    VYRE_TRY(vyre_dialects_validate(sorted, count, NULL));
    VYRE_TRY(copy_operations(snapshot, sorted));
    return index_names(snapshot);
}

vyre_status vyre_dialects_make(const vyre_operation *const *operations, size_t count,
                               vyre_dialects **out_snapshot) {
    *out_snapshot = NULL;
    if (count > UINT32_MAX) {
        return vyre_dialects_no_room(count, "operation definition");
    }
    vyre_dialects *snapshot = vyre_alloc_zeroed(1, sizeof *snapshot);
    const vyre_operation **sorted = vyre_alloc_array(count, sizeof *sorted);
    vyre_status status = VYRE_OK;
    if (snapshot) {
        atomic_init(&snapshot->references, 1);
        snapshot->count = count;
    }
    if (snapshot && sorted) {
        status = fill(snapshot, operations, sorted);
    } else {
        status = vyre_dialects_no_room(count, "operation definition");
    }
    vyre_free(sorted);
    if (status) {
        vyre_dialects_release(snapshot);
    } else {
        *out_snapshot = snapshot;
    }
    return status;
}

const vyre_operation *vyre_dialects_lookup(const vyre_dialects *snapshot, uint32_t name) {
    uint32_t at = name - snapshot->first_name;
    return at < snapshot->name_count ? snapshot->by_name[at] : NULL;
}

const vyre_operation *vyre_dialects_find(const vyre_dialects *snapshot, const char *id) {
    return vyre_dialects_lookup(snapshot, vyre_intern_find(vyre_str_of(id)));
}

bool vyre_operation_has_program(const vyre_operation *operation) {
    return operation->built || operation->library;
}

vyre_status vyre_operation_program(const vyre_operation *operation, const vyre_variant *variant,
                                   const vyre_program **out_program) {
    *out_program = variant ? variant->built : operation->built;
    return *out_program || !operation->library
               ? VYRE_OK
               : vyre_library_program(operation, variant, out_program);
}

size_t vyre_dialects_count(const vyre_dialects *snapshot) {
    return snapshot->count;
}

const vyre_operation *vyre_dialects_at(const vyre_dialects *snapshot, size_t index) {
    return index < snapshot->count ? &snapshot->operations[index] : NULL;
}

vyre_status vyre_dialects_unknown(const vyre_dialects *snapshot, const char *what, const char *id) {
    vyre_near near;
    vyre_strbuf message = {0};
    vyre_near_init(&near, vyre_str_of(id));
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        vyre_near_add(&near, vyre_str_of(vyre_dialects_at(snapshot, i)->id));
    }
    vyre_strbuf_printf(&message, "there is no %s `%s`", what, id);
    vyre_near_print(&near, &message, "; did you mean ");
    vyre_strbuf_puts(&message, near.count ? "?" : "");
    vyre_status status = vyre_status_make(VYRE_STATUS_NOT_FOUND, "`vyre ops` lists the operations",
                                          "%s", vyre_strbuf_string(&message));
    vyre_strbuf_free(&message);
    return status;
}
