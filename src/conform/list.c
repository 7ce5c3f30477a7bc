#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/status.h"
#include "conform/session.h"
#include "registry/select.h"

const char *conform_fate_name(conform_fate fate) {
    static const char *const names[] = {
#define NAME(name, text) text,
        CONFORM_FATES(NAME)
#undef NAME
    };
    return names[fate];
}

bool conform_session_has_suite(const conform_session *c, conform_suite_kind kind) {
    return c->suites >> kind & 1;
}

/* Whether the words of the command line choose it. */
static bool is_chosen(const conform_session *c, const char *id, uint64_t tags) {
    return (!c->glob || vyre_id_matches(c->glob, id)) && (!c->tags || c->tags & tags);
}

bool conform_session_has_seed(const conform_session *c, conform_suite_kind suite, uint64_t seed) {
    char id[40];
    snprintf(id, sizeof id, "%s.%llu", conform_suite_name(suite), (unsigned long long)seed);
    return is_chosen(c, id, CONFORM_TAG_BIT(CONFORM_TAG_RANDOM));
}

vyre_status conform_session_add(conform_session *c, conform_case one, const char *format, ...) {
    vyre_strbuf id = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&id, format, arguments);
    va_end(arguments);
    bool stored = !id.failed;
    if (stored && is_chosen(c, id.data, one.tags)) {
        one.id = id.data;
        stored = vyre_vec_push(&c->cases, one);
        id = stored ? (vyre_strbuf){0} : id;
    }
    vyre_strbuf_free(&id);
    return stored ? VYRE_OK : vyre_no_memory("for the cases");
}

static vyre_status list_fixed(conform_session *c, conform_suite_kind kind) {
    conform_suite *suite = &c->fixed[kind];
    VYRE_TRY(conform_suite_make(kind, suite));
    suite->vectors = c->vectors ? c->vectors : CONFORM_VECTORS;
    for (size_t i = 0; i < suite->case_count; i++) {
        const conform_suite_case *fixed = &suite->cases[i];
        conform_case one = {.tags = fixed->tags, .suite = kind, .fixed = fixed};
        VYRE_TRY(conform_session_add(c, one, "%s", fixed->id));
    }
    return VYRE_OK;
}

uint64_t conform_session_count_seeds(const conform_session *c, conform_suite_kind suite) {
    uint64_t count = 0;
    if (!conform_session_has_suite(c, suite) ||
        (c->tags && !(c->tags & CONFORM_TAG_BIT(CONFORM_TAG_RANDOM)))) {
        return 0;
    }
    if (!c->glob) {
        return c->programs;
    }
    for (uint64_t i = 0; i < c->programs; i++) {
        count += conform_session_has_seed(c, suite, c->seed + i);
    }
    return count;
}

uint64_t conform_session_count(const conform_session *c) {
    uint64_t count = c->cases.count;
    for (conform_suite_kind suite = CONFORM_SUITE_SEEDED; suite < CONFORM_SUITE_COUNT; suite++) {
        count += conform_session_count_seeds(c, suite);
    }
    return count;
}

/* Nothing is chosen: which ids are near. */
static vyre_status nothing(const conform_session *c) {
    if (!c->glob) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "`vyre conform --list` shows the cases and their tags",
                                "no case of these suites has one of these tags");
    }
    vyre_strbuf fix = {0};
    vyre_near near;
    vyre_near_init(&near, vyre_str_of(c->glob));
    conform_session all = {.suites = c->suites, .programs = 1, .seed = c->seed};
    vyre_status status = conform_session_list(&all);
    for (size_t i = 0; i < all.cases.count && !status; i++) {
        vyre_near_add(&near, vyre_str_of(all.cases.items[i].id));
    }
    vyre_strbuf_puts(&fix, "`vyre conform --list` shows the cases");
    vyre_near_print(&near, &fix, "; did you mean ");
    if (!status) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                  "no case of these suites is called `%s`", c->glob);
    }
    vyre_strbuf_free(&fix);
    conform_session_deinit(&all);
    return status;
}

vyre_status conform_session_list(conform_session *c) {
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_FIXED; kind++) {
        if (conform_session_has_suite(c, kind)) {
            VYRE_TRY(list_fixed(c, kind));
        }
    }
    VYRE_TRY(conform_library_list(c));
    return conform_session_count(c) ? VYRE_OK : nothing(c);
}

static void free_failure(conform_failure *failure) {
    vyre_free(failure->id);
    vyre_string_free(failure->text);
    conform_trial_free(&failure->trial);
    *failure = (conform_failure){0};
}

void conform_case_forget(conform_case *one) {
    vyre_free(one->text);
    one->text = NULL;
    one->digest = 0;
    one->fate = CONFORM_FATE_PASSED;
}

vyre_status conform_case_settle(conform_case *one, conform_fate fate, const char *text) {
    vyre_free(one->text);
    one->fate = fate;
    one->text = vyre_copy_string(text);
    return one->text ? VYRE_OK : vyre_no_memory("for the cases");
}

void conform_session_forget(conform_session *c) {
    for (size_t i = 0; i < c->cases.count; i++) {
        conform_case_forget(&c->cases.items[i]);
    }
    memset(c->tallies, 0, sizeof c->tallies);
    for (size_t i = 0; i < CONFORM_SEEDED; i++) {
        vyre_free(c->seeded[i].refusal);
        vyre_free(c->seeded[i].failure);
        c->seeded[i] = (conform_seeded){0};
    }
    c->instructions = 0;
    free_failure(&c->failure);
}

void conform_session_deinit(conform_session *c) {
    conform_session_forget(c);
    conform_jobs_end(&c->jobs);
    vyre_device_release(c->against);
    for (size_t i = 0; i < c->cases.count; i++) {
        vyre_free(c->cases.items[i].id);
    }
    vyre_vec_free(&c->cases);
    for (size_t i = 0; i < CONFORM_SUITE_FIXED; i++) {
        conform_suite_free(&c->fixed[i]);
    }
    vyre_dialects_release(c->snapshot);
    *c = (conform_session){0};
}
