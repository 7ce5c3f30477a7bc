#include "registry/select.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "registry/registry.h"
#include "runtime/device.h"

uint32_t vyre_capability_score(const vyre_profile *profile) {
    const struct {
        bool has;
        uint32_t weight;
    } terms[] = {
        {profile->max_storage_buffer_bytes > 0, 16},
        {profile->max_invocations_per_workgroup >= 64, 8},
        {profile->max_invocations_per_workgroup >= 256, 4},
        {profile->subgroup_size > 0, 8},
        {profile->flags & VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS, 8},
        {profile->flags & VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE, 4},
        {profile->flags & VYRE_PROFILE_HAS_SHARED_MEMORY, 4},
        {profile->flags & VYRE_PROFILE_SUPPORTS_F16, 2},
        {profile->flags & VYRE_PROFILE_SUPPORTS_BF16, 2},
        {profile->flags & VYRE_PROFILE_SUPPORTS_TENSOR_CORES, 4},
        {profile->flags & VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH, 2},
        {profile->flags & VYRE_PROFILE_SUPPORTS_DEVICE_TIMESTAMPS, 2},
        {profile->flags & VYRE_PROFILE_SUPPORTS_HARDWARE_COUNTERS, 2},
    };
    uint32_t score = 0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        score += terms[i].has ? terms[i].weight : 0;
    }
    return score;
}

uint32_t vyre_timing_score(uint32_t timing_quality) {
    switch (timing_quality) {
    case VYRE_TIMING_HOST_ENQUEUE_WAIT: return 1;
    case VYRE_TIMING_DEVICE_TIMESTAMPS: return 2;
    case VYRE_TIMING_HARDWARE_COUNTERS: return 3;
    }
    return 0;
}

/* What candidates are compared by, most important first. X(field, less, text): `less` is what the
 * comparison says of one that has less of it, -1 where that is better. The id comes last. */
#define CRITERIA(X)                                                                                \
    X(capability_score, 1, "capability score")                                                     \
    X(timing_score, 1, "timing score")                                                             \
    X(memory_bandwidth_gbps, 1, "memory bandwidth in GB/s")                                        \
    X(rank, -1, "rank")                                                                            \
    X(acquisition_ns, -1, "acquisition time in ns")

int vyre_candidate_compare(const vyre_candidate *left, const vyre_candidate *right) {
#define COMPARE(field, less, text)                                                                 \
    if (left->field != right->field) {                                                             \
        return left->field < right->field ? (less) : -(less);                                      \
    }
    CRITERIA(COMPARE)
#undef COMPARE
    return strcmp(left->id, right->id);
}

/* By what the first won over the second. */
static void print_advantage(vyre_strbuf *text, const vyre_candidate *winner,
                            const vyre_candidate *other) {
#define PRINT(field, less, name)                                                                   \
    if (winner->field != other->field) {                                                           \
        vyre_strbuf_puts(text, name " ");                                                          \
        vyre_strbuf_u64(text, winner->field);                                                      \
        vyre_strbuf_puts(text, " against ");                                                       \
        vyre_strbuf_u64(text, other->field);                                                       \
        return;                                                                                    \
    }
    CRITERIA(PRINT)
#undef PRINT
    vyre_strbuf_puts(text, "all else is equal, and its ID comes first");
}

bool vyre_is_oracle(const char *id) {
    return !strcmp(id, "cpu-ref") || !strcmp(id, "reference");
}

static bool matches(const char *pattern, size_t size, const char *id) {
    size_t at = 0, star = SIZE_MAX;
    const char *retry = id;
    while (*id) {
        if (at < size && pattern[at] == '*') {
            star = at++;
            retry = id;
        } else if (at < size && (pattern[at] == '?' || pattern[at] == *id)) {
            at++;
            id++;
        } else if (star != SIZE_MAX) {
            at = star + 1; /* the star takes one more */
            id = ++retry;
        } else {
            return false;
        }
    }
    while (at < size && pattern[at] == '*') {
        at++;
    }
    return at == size;
}

bool vyre_id_matches(const char *patterns, const char *id) {
    while (*patterns) {
        patterns += strspn(patterns, ", ");
        size_t size = strcspn(patterns, ", ");
        if (size && matches(patterns, size, id)) {
            return true;
        }
        patterns += size;
    }
    return false;
}

uint64_t vyre_elapsed_ns(struct timespec begin, struct timespec end) {
    int64_t seconds, whole;
    if (__builtin_sub_overflow((int64_t)end.tv_sec, (int64_t)begin.tv_sec, &seconds)) {
        return end.tv_sec < begin.tv_sec ? 0 : UINT64_MAX;
    }
    int64_t rest = (int64_t)end.tv_nsec - (int64_t)begin.tv_nsec;
    if (seconds < 0 || (seconds == 0 && rest < 0)) {
        return 0;
    }
    uint64_t ns;
    whole = rest < 0 ? seconds - 1 : seconds;
    rest = rest < 0 ? rest + 1000000000 : rest;
    return __builtin_mul_overflow((uint64_t)whole, UINT64_C(1000000000), &ns) ||
                   __builtin_add_overflow(ns, (uint64_t)rest, &ns)
               ? UINT64_MAX
               : ns;
}

/* A registration that was looked at. */
typedef struct selection_attempt {
    vyre_candidate facts;
    vyre_profile profile;
    vyre_device *device; /* of those that were created */
    vyre_status failure; /* of those that failed */
} selection_attempt;

typedef struct selection_search {
    selection_attempt *attempts;
    size_t count;
    selection_attempt *chosen, *second; /* NULL if there is none */
} selection_search;

static bool is_allowed(const vyre_selection *selection, const char *id) {
    return (!selection->allow || vyre_id_matches(selection->allow, id)) &&
           (!selection->deny || !vyre_id_matches(selection->deny, id));
}

static vyre_fate fate_of(const vyre_selection *selection, const vyre_profile *profile) {
    if (profile->flags & VYRE_PROFILE_IS_SOFTWARE) {
        return VYRE_FATE_SOFTWARE;
    }
    if (selection->require == VYRE_REQUIRE_GPU && !(profile->flags & VYRE_PROFILE_IS_GPU)) {
        return VYRE_FATE_NO_GPU;
    }
    return profile->grade > (uint32_t)selection->grade ? VYRE_FATE_GRADE : VYRE_FATE_OUTSCORED;
}

static void create(const vyre_registration *registration, const vyre_selection *selection,
                   selection_attempt *attempt) {
    vyre_candidate *facts = &attempt->facts;
    struct timespec begin = {0}, end = {0};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    attempt->failure = vyre_registration_acquire(registration, selection->device, &attempt->device);
    if (attempt->failure) {
        facts->fate = VYRE_FATE_FAILED;
        vyre_log(VYRE_LOG_TRACE, "preferred selection: backend `%s` failed to initialize: %s",
                 facts->id, vyre_status_text(attempt->failure));
        return;
    }
    vyre_device_profile(attempt->device, &attempt->profile);
    facts->capability_score = vyre_capability_score(&attempt->profile);
    facts->timing_score = vyre_timing_score(attempt->profile.timing_quality);
    facts->memory_bandwidth_gbps = attempt->profile.memory_bandwidth_gbps;
    clock_gettime(CLOCK_MONOTONIC, &end);
    facts->acquisition_ns = vyre_elapsed_ns(begin, end);
    facts->fate = fate_of(selection, &attempt->profile);
}

static vyre_status look_at(vyre_registry *registry, const vyre_registration *registration,
                           const vyre_selection *selection, selection_attempt *attempt) {
    attempt->facts.id = registration->id;
    attempt->facts.rank = vyre_registry_rank(registry, registration->id);
    bool dispatches;
    VYRE_TRY(vyre_registry_capable(registry, registration->id, &dispatches));
    if (!dispatches) {
        attempt->facts.fate = VYRE_FATE_NO_DISPATCH;
    } else if (vyre_is_oracle(registration->id)) {
        attempt->facts.fate = VYRE_FATE_REFERENCE;
    } else if (!is_allowed(selection, registration->id)) {
        attempt->facts.fate = VYRE_FATE_DENIED;
    } else if (selection->quick &&
               vyre_registry_knows_software(registry, registration->id, selection->device)) {
        attempt->facts.fate = VYRE_FATE_SOFTWARE;
    } else {
        create(registration, selection, attempt);
    }
    return VYRE_OK;
}

static void choose(selection_search *search) {
    for (size_t i = 0; i < search->count; i++) {
        selection_attempt *next = &search->attempts[i];
        if (next->facts.fate != VYRE_FATE_OUTSCORED) {
            continue;
        }
        if (!search->chosen || vyre_candidate_compare(&next->facts, &search->chosen->facts) < 0) {
            search->second = search->chosen;
            search->chosen = next;
        } else if (!search->second ||
                   vyre_candidate_compare(&next->facts, &search->second->facts) < 0) {
            search->second = next;
        }
    }
    if (search->chosen) {
        const vyre_candidate *facts = &search->chosen->facts;
        search->chosen->facts.fate = VYRE_FATE_CHOSEN;
        vyre_log(VYRE_LOG_TRACE,
                 "preferred selection: selected backend `%s` with capability_score=%u "
                 "timing_score=%u rank=%u acquisition_ns=%llu",
                 facts->id, (unsigned)facts->capability_score, (unsigned)facts->timing_score,
                 (unsigned)facts->rank, (unsigned long long)facts->acquisition_ns);
    }
}

static size_t count_fate(const selection_search *search, vyre_fate fate) {
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++) {
        count += search->attempts[i].facts.fate == fate;
    }
    return count;
}

/* The ids of those with a fate, after a text that says what they have in common; nothing where
 * there are none. */
static void print_fate(vyre_strbuf *text, const selection_search *search, vyre_fate fate,
                       const char *before) {
    const char *separator = text->size ? "; " : "";
    for (size_t i = 0; i < search->count; i++) {
        if (search->attempts[i].facts.fate == fate) {
            vyre_strbuf_puts(text, separator);
            vyre_strbuf_puts(text, before);
            vyre_strbuf_puts(text, search->attempts[i].facts.id);
            separator = ", ";
            before = "";
        }
    }
}

/* Why none could be chosen. */
static void print_detail(vyre_strbuf *text, const selection_search *search) {
    size_t software = count_fate(search, VYRE_FATE_SOFTWARE);
    size_t unfit = count_fate(search, VYRE_FATE_NO_GPU) + count_fate(search, VYRE_FATE_GRADE);
    size_t denied = count_fate(search, VYRE_FATE_DENIED);
    bool only_software = software && !unfit && !count_fate(search, VYRE_FATE_FAILED);
    for (size_t i = 0; i < search->count; i++) {
        const selection_attempt *attempt = &search->attempts[i];
        if (attempt->failure) {
            vyre_strbuf_printf(text, "%s%s: %s", text->size ? "; " : "", attempt->facts.id,
                               vyre_status_text(attempt->failure));
        }
    }
    if (only_software) {
        print_fate(text, search, VYRE_FATE_SOFTWARE, "only software devices were left: ");
    } else if (!text->size && count_fate(search, VYRE_FATE_REFERENCE)) {
        print_fate(text, search, VYRE_FATE_REFERENCE,
                   "only reference oracle backend(s) were available: ");
    } else if (!text->size && !software && !unfit && !denied) {
        vyre_strbuf_puts(text, "no dispatch-capable backend is linked into this binary");
    }
    if (!only_software) {
        print_fate(text, search, VYRE_FATE_SOFTWARE, "dropped as software devices: ");
    }
    print_fate(text, search, VYRE_FATE_DENIED, "excluded by the caller's rules: ");
    print_fate(text, search, VYRE_FATE_NO_GPU, "not a GPU, which the caller requires: ");
    print_fate(text, search, VYRE_FATE_GRADE, "less exact than the caller requires: ");
}

static vyre_status no_memory(void) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                            "reduce the linked backends, or request a backend by id",
                            "no memory to explain preferred selection");
}

static vyre_status none_usable(const selection_search *search) {
    vyre_strbuf detail = {0}, fix = {0};
    print_detail(&detail, search);
    vyre_strbuf_puts(&fix,
                     "link a dispatch-capable GPU backend and repair the driver probe; the CPU "
                     "reference is explicit oracle infrastructure only");
    if (count_fate(search, VYRE_FATE_SOFTWARE)) {
        vyre_strbuf_puts(&fix, "; to run on a software device, name it");
    }
    if (count_fate(search, VYRE_FATE_DENIED) + count_fate(search, VYRE_FATE_NO_GPU) +
        count_fate(search, VYRE_FATE_GRADE)) {
        vyre_strbuf_puts(&fix, "; or relax the requirements");
    }
    vyre_status status = detail.failed || fix.failed
                             ? no_memory()
                             : vyre_status_make(VYRE_STATUS_UNAVAILABLE, vyre_strbuf_string(&fix),
                                                "no usable GPU dispatch backend is available (%s)",
                                                vyre_strbuf_string(&detail));
    vyre_strbuf_free(&detail);
    vyre_strbuf_free(&fix);
    return status;
}

static void print_why(vyre_strbuf *text, const selection_search *search) {
    if (!search->chosen) {
        vyre_strbuf_puts(text, "none: ");
        vyre_strbuf detail = {0};
        print_detail(&detail, search);
        vyre_strbuf_puts(text, vyre_strbuf_string(&detail));
        text->failed = text->failed || detail.failed;
        vyre_strbuf_free(&detail);
    } else if (!search->second) {
        vyre_strbuf_printf(text, "`%s`: the only usable backend", search->chosen->facts.id);
    } else {
        vyre_strbuf_printf(text, "`%s` before `%s`: ", search->chosen->facts.id,
                           search->second->facts.id);
        print_advantage(text, &search->chosen->facts, &search->second->facts);
    }
}

static void print_reason(vyre_strbuf *text, const selection_attempt *attempt) {
    if (attempt->failure) {
        vyre_strbuf_puts(text, vyre_status_text(attempt->failure));
    } else if (attempt->facts.fate == VYRE_FATE_SOFTWARE && attempt->profile.device) {
        vyre_strbuf_puts(text, attempt->profile.device);
    } else if (attempt->facts.fate == VYRE_FATE_GRADE) {
        vyre_strbuf_printf(text, "its grade is %s", vyre_grade_name(attempt->profile.grade));
    }
}

/* All texts of a decision lie in one block, that of `why`, one after the other. */
static vyre_status make_decision(const selection_search *search, vyre_decision *out) {
    vyre_strbuf texts = {0};
    vyre_candidate *candidates = vyre_alloc_array(search->count, sizeof *candidates);
    print_why(&texts, search);
    vyre_strbuf_putc(&texts, '\0');
    for (size_t i = 0; i < search->count; i++) {
        print_reason(&texts, &search->attempts[i]);
        vyre_strbuf_putc(&texts, '\0');
    }
    if (!candidates || texts.failed) {
        vyre_free(candidates);
        vyre_strbuf_free(&texts);
        return no_memory();
    }
    *out = (vyre_decision){candidates, search->count, search->count, texts.data};
    const char *reason = texts.data;
    for (size_t i = 0; i < search->count; i++) {
        reason += strlen(reason) + 1;
        candidates[i] = search->attempts[i].facts;
        candidates[i].reason = reason;
        out->chosen = &search->attempts[i] == search->chosen ? i : out->chosen;
    }
    return VYRE_OK;
}

void vyre_decision_free(vyre_decision *decision) {
    vyre_free(decision->candidates);
    vyre_free(decision->why);
    *decision = (vyre_decision){0};
}

const char *vyre_fate_name(vyre_fate fate) {
    switch (fate) {
#define NAME(name, text)                                                                           \
    case VYRE_FATE_##name: return text;
        VYRE_FATES(NAME)
#undef NAME
    }
    return "unknown";
}

vyre_status vyre_registry_acquire_preferred(vyre_registry *registry,
                                            const vyre_selection *selection,
                                            vyre_decision *out_decision, vyre_device **out_device) {
    static const vyre_selection plain = {0};
    selection = selection ? selection : &plain;
    *out_device = NULL;
    if (out_decision) {
        *out_decision = (vyre_decision){0};
    }
    const vyre_registration *const *list;
    selection_search search = {0};
    vyre_status status = vyre_registry_sorted(registry, &list, &search.count);
    if (status) {
        return status;
    }
    search.attempts = vyre_alloc_zeroed(search.count, sizeof *search.attempts);
    if (!search.attempts) {
        return vyre_status_make(
            VYRE_STATUS_OUT_OF_MEMORY, "reduce the linked backends, or request a backend by id",
            "preferred selection has no memory for %zu candidates", search.count);
    }
    for (size_t i = 0; !status && i < search.count; i++) {
        status = look_at(registry, list[i], selection, &search.attempts[i]);
    }
    if (!status) {
        choose(&search);
        status = out_decision ? make_decision(&search, out_decision) : VYRE_OK;
    }
    if (!status && !search.chosen) {
        status = none_usable(&search);
    }
    if (!status) {
        *out_device = search.chosen->device;
        search.chosen->device = NULL;
    }
    for (size_t i = 0; i < search.count; i++) {
        vyre_device_release(search.attempts[i].device);
        vyre_status_free(search.attempts[i].failure);
    }
    vyre_free(search.attempts);
    return status;
}
