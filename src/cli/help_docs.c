/* The topics diagnostics, limits and environment. */
#include <stdio.h>

#include <vyre/diagnostic.h>
#include <vyre/limits.h>

#include "backend/table.h"
#include "base/option.h"
#include "cli/help.h"

void cli_help_diagnostics(cli_page *page) {
    static const struct {
        uint32_t number;
        const char *severity, *title;
    } rows[] = {
#define ERROR_TEXT "error"
#define WARNING_TEXT "warning"
#define ROW(number, severity, title) {number, severity##_TEXT, title},
        VYRE_DIAGNOSTICS(ROW)
#undef ROW
#undef ERROR_TEXT
#undef WARNING_TEXT
    };
    static const char *const kinds[] = {
        [1] = "Characters and syntax",
        [2] = "Names",
        [3] = "Types",
        [4] = "Memory",
        [5] = "Control flow",
        [6] = "Domains, sizes and phases",
        [7] = "Limits",
        [8] = "Warnings",
    };
    size_t count = sizeof rows / sizeof rows[0];
    cli_page_title(page, "Diagnostics");
    cli_page_paragraph(
        page, "What `vyre check` may say about a program. Each comes with its place, what was "
              "found there, and a fix. A code keeps its meaning for ever.");
    for (size_t i = 0; i < count;) {
        uint32_t kind = rows[i].number / 100;
        cli_table table = {.columns = 3};
        cli_table_add(&table, "code");
        cli_table_add(&table, "severity");
        cli_table_add(&table, "title");
        for (; i < count && rows[i].number / 100 == kind; i++) {
            cli_table_add(&table, "V%04u", rows[i].number);
            cli_table_add(&table, "%s", rows[i].severity);
            cli_table_add(&table, "%s", rows[i].title);
        }
        cli_page_heading(page, kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : "Others");
        cli_page_table(page, &table);
    }
    cli_page_source(page, "include/vyre/diagnostic.h");
}

/* 4194304 as 4,194,304. */
static void add_number(cli_table *table, uint64_t number) {
    char digits[32], grouped[48];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0) {
            grouped[at++] = ',';
        }
        grouped[at++] = digits[i];
    }
    grouped[at] = '\0';
    cli_table_add(table, "%s", grouped);
}

void cli_help_limits(cli_page *page) {
    cli_table table = {.columns = 3, .right = 2};
    cli_table_add(&table, "limit");
    cli_table_add(&table, "at most");
    cli_table_add(&table, "of what");
#define ROW(name, value, text)                                                                     \
    cli_table_add(&table, "%s", #name);                                                            \
    add_number(&table, value);                                                                     \
    cli_table_add(&table, "%s", text);
    VYRE_LIMITS(ROW)
#undef ROW
    cli_page_title(page, "Limits");
    cli_page_paragraph(
        page, "How large a program may be. Parser, builder, verifier and decoder share this "
              "table, so that what one accepts the others do not refuse. In C a limit is "
              "`VYRE_LIMIT_` and its name.");
    cli_page_table(page, &table);
    cli_page_source(page, "include/vyre/limits.h");
}

static const vyre_option *step(const vyre_option *const *list, size_t *index) {
    while (list && *list) {
        if (!(*index)--) {
            return *list;
        }
        list++;
    }
    return NULL;
}

/* Those of the whole stack, then those of each built-in backend. Past the last it is NULL, and the
 * index counts from there. */
static const vyre_option *option_at(size_t *index) {
    const vyre_option *found = step(vyre_options, index);
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in && !found; built_in++) {
        found = step((*built_in)->options, index);
    }
    return found;
}

bool cli_help_variable(size_t index, cli_variable *out_variable) {
    const vyre_option *option = option_at(&index);
    if (option) {
        *out_variable = (cli_variable){option->variable, option->allowed, option->default_text,
                                       option->documentation};
        return true;
    }
    /* Those that are not ours. */
    static const cli_variable others[] = {
        {"HOME", "an absolute path", "", "the defaults of the next two lie there"},
        {"XDG_CONFIG_HOME", "an absolute path", "$HOME/.config",
         "manifests of backends are looked for in vyre/backends.d there, of dialects in "
         "vyre/dialects"},
        {"XDG_CACHE_HOME", "an absolute path", "$HOME/.cache",
         "compiled programs are kept in vyre/pipelines there; a relative path does not count"},
        {"NO_COLOR", "any text", "", "no colours, not even on a terminal"},
        {"TERM", "any text", "", "no colours on a terminal where it is `dumb` or not set"},
    };
    if (index >= sizeof others / sizeof others[0]) {
        return false;
    }
    *out_variable = others[index];
    return true;
}

void cli_help_environment(cli_page *page) {
    cli_table table = {.columns = 4, .code = 1};
    cli_table_add(&table, "variable");
    cli_table_add(&table, "values");
    cli_table_add(&table, "default");
    cli_table_add(&table, "meaning");
    cli_variable variable;
    for (size_t i = 0; cli_help_variable(i, &variable); i++) {
        cli_table_add(&table, "%s", variable.name);
        cli_table_add(&table, "%s", variable.values);
        cli_table_add(&table, "%s", variable.default_text);
        cli_table_add(&table, "%s", variable.documentation);
    }
    cli_page_title(page, "Environment");
    cli_page_paragraph(
        page, "The environment variables that are read. One that is set to a value it cannot "
              "have is an error, or a warning where a run goes on without the cache; an empty one "
              "counts as not set. A process with more rights than its user reads none.");
    cli_page_table(page, &table);
    cli_page_source(page, "src/base/option.h");
}
