#include "base/option.h"

#include <string.h>

#include "base/environment.h"
#include "base/near.h"
#include "base/number.h"

typedef struct choice {
    const char *text;
    int number;
} choice;

typedef struct row {
    const char *variable, *allowed, *default_text, *documentation;
    const choice *choices;
    size_t choice_count;
    uint32_t least, most;
} row;

/* A kind of option makes the list of its allowed values, and names what its row holds. */
#define CHOICE_ENTRY(name, number, text) {text, number},
#define CHOICE_TEXT(name, number, text) ", " text
#define CHOICE_VALUES(option, values)                                                              \
    static const choice option##_values[] = {values(CHOICE_ENTRY)};
#define CHOICE_ROW(option, values)                                                                 \
    .allowed = &("" values(CHOICE_TEXT))[2], .choices = option##_values,                           \
    .choice_count = sizeof option##_values / sizeof option##_values[0]
#define SIZE_VALUES(option, values)
#define SIZE_ROW(option, values) .allowed = values
#define NUMBER_VALUES(option, values)
#define NUMBER_RANGE(least_, most_)                                                                \
    .allowed = "a number from " #least_ " to " #most_, .least = least_, .most = most_
#define NUMBER_ROW(option, values) NUMBER_RANGE values
#define PATHS_VALUES(option, values)
#define PATHS_ROW(option, values) .allowed = values

#define OPTION_VALUES(name, kind, values, default_text_, documentation_) kind##_VALUES(name, values)
#define OPTION_ROW(name, kind, values, default_text_, documentation_)                              \
    [VYRE_OPTION_##name] = {.variable = "VYRE_" #name,                                             \
                            .default_text = default_text_,                                         \
                            .documentation = documentation_,                                       \
                            kind##_ROW(name, values)},

VYRE_OPTIONS(OPTION_VALUES)
static const row rows[VYRE_OPTION_COUNT] = {VYRE_OPTIONS(OPTION_ROW)};

vyre_option_info vyre_option_describe(vyre_option option) {
    const row *r = &rows[option];
    const char *set = vyre_environment_get(r->variable);
    bool from_environment = set && *set;
    return (vyre_option_info){
        .variable = r->variable,
        .allowed = r->allowed,
        .default_text = r->default_text,
        .documentation = r->documentation,
        .text = from_environment ? set : r->default_text,
        .from_environment = from_environment,
    };
}

static vyre_status wrong_value(const vyre_option_info *info, const vyre_strbuf *fix) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(fix),
                            "the environment variable %s is \"%s\", which is not a value it can "
                            "have",
                            info->variable, info->text);
}

static vyre_status not_allowed(const vyre_option_info *info) {
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "set it to %s, or unset it", info->allowed);
    vyre_status status = wrong_value(info, &fix);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status vyre_option_choice(vyre_option option, int *out_number) {
    const row *r = &rows[option];
    vyre_option_info info = vyre_option_describe(option);
    vyre_near near;
    vyre_near_init(&near, (vyre_str){info.text, strlen(info.text)});
    for (size_t i = 0; i < r->choice_count; i++) {
        const choice *c = &r->choices[i];
        if (strcmp(c->text, info.text) == 0) {
            *out_number = c->number;
            return VYRE_OK;
        }
        vyre_near_add(&near, (vyre_str){c->text, strlen(c->text)});
    }
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "set it to one of %s", r->allowed);
    vyre_near_print(&near, &fix, ", perhaps ");
    vyre_strbuf_puts(&fix, ", or unset it");
    vyre_status status = wrong_value(&info, &fix);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status vyre_option_size(vyre_option option, uint64_t *out_bytes) {
    static const char units[] = "KMGT";
    vyre_option_info info = vyre_option_describe(option);
    size_t size = strlen(info.text);
    const char *unit = size ? strchr(units, info.text[size - 1]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t number;
    bool overflow = false;
    if (vyre_u64_parse(info.text, size - (unit != NULL), 10, &number, &overflow) && !overflow &&
        number <= UINT64_MAX >> shift) {
        *out_bytes = number << shift;
        return VYRE_OK;
    }
    return not_allowed(&info);
}

vyre_status vyre_option_number(vyre_option option, uint32_t *out_number) {
    const row *r = &rows[option];
    vyre_option_info info = vyre_option_describe(option);
    uint64_t number;
    bool overflow = false;
    if (vyre_u64_parse(info.text, strlen(info.text), 10, &number, &overflow) && !overflow &&
        number >= r->least && number <= r->most) {
        *out_number = (uint32_t)number;
        return VYRE_OK;
    }
    return not_allowed(&info);
}
