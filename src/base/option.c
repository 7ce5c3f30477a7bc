#include "base/option.h"

#include <string.h>

#include "base/environment.h"
#include "base/near.h"
#include "base/number.h"

VYRE_OPTIONS(VYRE_OPTION_DEFINE)
const vyre_option *const vyre_options[] = {VYRE_OPTIONS(VYRE_OPTION_LIST) NULL};

vyre_option_info vyre_option_describe(const vyre_option *option) {
    const char *set = vyre_environment_get(option->variable);
    bool from_environment = set && *set;
    return (vyre_option_info){option->variable, from_environment ? set : option->default_text,
                              from_environment};
}

static vyre_status wrong_value(const vyre_option *option, const vyre_strbuf *fix) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(fix),
                            "the environment variable %s is \"%s\", which is not a valid value",
                            option->variable, vyre_option_describe(option).text);
}

static vyre_status not_allowed(const vyre_option *option) {
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "set it to %s, or unset it", option->allowed);
    vyre_status status = wrong_value(option, &fix);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status vyre_option_choice(const vyre_option *option, int *out_number) {
    const char *text = vyre_option_describe(option).text;
    vyre_near near;
    vyre_near_init(&near, vyre_str_of(text));
    for (const vyre_option_choice_row *c = option->choices; c->text; c++) {
        if (strcmp(c->text, text) == 0) {
            *out_number = c->number;
            return VYRE_OK;
        }
        vyre_near_add(&near, vyre_str_of(c->text));
    }
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "set it to one of %s", option->allowed);
    vyre_near_print(&near, &fix, ", perhaps ");
    vyre_strbuf_puts(&fix, ", or unset it");
    vyre_status status = wrong_value(option, &fix);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status vyre_option_size(const vyre_option *option, uint64_t *out_bytes) {
    static const char units[] = "KMGT";
    const char *text = vyre_option_describe(option).text;
    size_t size = strlen(text);
    const char *unit = size ? strchr(units, text[size - 1]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t number;
    bool overflow = false;
    if (vyre_u64_parse(text, size - (unit != NULL), 10, &number, &overflow) && !overflow &&
        number <= UINT64_MAX >> shift) {
        *out_bytes = number << shift;
        return VYRE_OK;
    }
    return not_allowed(option);
}

vyre_status vyre_option_number(const vyre_option *option, uint32_t *out_number) {
    const char *text = vyre_option_describe(option).text;
    uint64_t number;
    bool overflow = false;
    if (vyre_u64_parse(text, strlen(text), 10, &number, &overflow) && !overflow &&
        number >= option->least && number <= option->most) {
        *out_number = (uint32_t)number;
        return VYRE_OK;
    }
    return not_allowed(option);
}
