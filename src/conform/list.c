#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/status.h"
#include "conform/conform.h"
#include "registry/select.h"

const char *cli_fate_name(cli_fate fate) {
    static const char *const names[] = {
#define NAME(name, text) text,
        CLI_FATES(NAME)
#undef NAME
    };
    return names[fate];
}

vyre_status cli_conform_no_memory(void) {
    return vyre_no_memory("for the cases");
}

bool cli_conform_has_suite(const cli_conform *c, vyre_suite_kind kind) {
    return c->suites >> kind & 1;
}

/* Whether the words of the command line choose it. */
static bool is_chosen(const cli_conform *c, const char *id, uint64_t tags) {
    return (!c->glob || vyre_id_matches(c->glob, id)) && (!c->tags || c->tags & tags);
}

bool cli_conform_has_seed(const cli_conform *c, vyre_suite_kind suite, uint64_t seed) {
    char id[40];
    snprintf(id, sizeof id, "%s.%llu", vyre_suite_name(suite), (unsigned long long)seed);
    return is_chosen(c, id, VYRE_TAG_BIT(VYRE_TAG_RANDOM));
}

char *cli_conform_copy(const char *text) {
    vyre_strbuf copy = {0};
    vyre_strbuf_puts(&copy, text);
    if (copy.failed) {
        vyre_strbuf_free(&copy);
    }
    return copy.data;
}

vyre_status cli_conform_add(cli_conform *c, cli_conform_case one, const char *format, ...) {
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
    return stored ? VYRE_OK : cli_conform_no_memory();
}

static vyre_status list_fixed(cli_conform *c, vyre_suite_kind kind) {
    vyre_suite *suite = &c->fixed[kind];
    vyre_status status = vyre_suite_make(kind, suite);
    for (size_t i = 0; i < suite->case_count && !status; i++) {
        const vyre_case *fixed = &suite->cases[i];
        cli_conform_case one = {.tags = fixed->tags, .suite = kind, .fixed = fixed};
        status = cli_conform_add(c, one, "%s", fixed->id);
    }
    return status;
}

uint64_t cli_conform_count_seeds(const cli_conform *c, vyre_suite_kind suite) {
    uint64_t count = 0;
    if (!cli_conform_has_suite(c, suite) ||
        (c->tags && !(c->tags & VYRE_TAG_BIT(VYRE_TAG_RANDOM)))) {
        return 0;
    }
    if (!c->glob) {
        return c->programs;
    }
    for (uint64_t i = 0; i < c->programs; i++) {
        count += cli_conform_has_seed(c, suite, c->seed + i);
    }
    return count;
}

uint64_t cli_conform_count(const cli_conform *c) {
    uint64_t count = c->cases.count;
    for (vyre_suite_kind suite = VYRE_SUITE_SEEDED; suite < VYRE_SUITE_COUNT; suite++) {
        count += cli_conform_count_seeds(c, suite);
    }
    return count;
}

/* Nothing is chosen: which ids are near. */
static vyre_status nothing(const cli_conform *c) {
    if (!c->glob) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "`vyre conform --list` shows the cases and their tags",
                                "no case of these suites has such a tag");
    }
    vyre_strbuf fix = {0};
    vyre_near near;
    vyre_near_init(&near, (vyre_str){c->glob, strlen(c->glob)});
    cli_conform all = {.suites = c->suites, .programs = 1, .seed = c->seed};
    vyre_status status = cli_conform_list(&all);
    for (size_t i = 0; i < all.cases.count && !status; i++) {
        vyre_near_add(&near, (vyre_str){all.cases.items[i].id, strlen(all.cases.items[i].id)});
    }
    vyre_strbuf_puts(&fix, "`vyre conform --list` shows the cases");
    vyre_near_print(&near, &fix, "; did you mean ");
    if (!status) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                  "no case of these suites is called `%s`", c->glob);
    }
    vyre_strbuf_free(&fix);
    cli_conform_deinit(&all);
    return status;
}

vyre_status cli_conform_list(cli_conform *c) {
    vyre_status status = VYRE_OK;
    for (vyre_suite_kind kind = 0; kind < VYRE_SUITE_FIXED && !status; kind++) {
        if (cli_conform_has_suite(c, kind)) {
            status = list_fixed(c, kind);
        }
    }
    status = status ? status : cli_conform_library_list(c);
    return status || cli_conform_count(c) ? status : nothing(c);
}

static void free_failure(cli_conform_failure *failure) {
    vyre_free(failure->id);
    vyre_string_free(failure->text);
    vyre_trial_free(&failure->trial);
    *failure = (cli_conform_failure){0};
}

void cli_conform_forget(cli_conform *c) {
    for (size_t i = 0; i < c->cases.count; i++) {
        cli_conform_case *one = &c->cases.items[i];
        vyre_free(one->text);
        one->text = NULL;
        one->digest = 0;
        one->fate = CLI_FATE_PASSED;
    }
    memset(c->tallies, 0, sizeof c->tallies);
    for (size_t i = 0; i < CLI_SEEDED; i++) {
        vyre_free(c->seeded[i].refusal);
        vyre_free(c->seeded[i].failure);
        c->seeded[i] = (cli_conform_seeded){0};
    }
    c->instructions = 0;
    free_failure(&c->failure);
}

void cli_conform_deinit(cli_conform *c) {
    cli_conform_forget(c);
    vyre_device_release(c->against);
    for (size_t i = 0; i < c->cases.count; i++) {
        vyre_free(c->cases.items[i].id);
    }
    vyre_vec_free(&c->cases);
    for (size_t i = 0; i < VYRE_SUITE_FIXED; i++) {
        vyre_suite_free(&c->fixed[i]);
    }
    vyre_dialects_release(c->snapshot);
    *c = (cli_conform){0};
}
