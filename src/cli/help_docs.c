/* The topics diagnostics, limits and environment. */
#include <stdio.h>

#include <vyre/diagnostic.h>
#include <vyre/limits.h>

#include "backend/table.h"
#include "base/option.h"
#include "cli/help.h"

void cli_help_source(vyre_page *page, const char *file) {
    vyre_strbuf words = {0};
    vyre_strbuf_printf(&words, "`./dev docs` generates this page from `%s`.", file);
    if (page->is_markdown) {
        vyre_page_paragraph(page, vyre_strbuf_string(&words));
    }
    page->text->failed |= words.failed;
    vyre_strbuf_free(&words);
}

void cli_help_diagnostics(vyre_page *page) {
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
    vyre_page_title(page, "Diagnostics");
    vyre_page_paragraph(
        page, "The errors and warnings of `vyre check`. Each message shows its place in the "
              "source, what was found there, and a fix. The meaning of a code never changes.");
    for (size_t i = 0; i < count;) {
        uint32_t kind = rows[i].number / 100;
        vyre_table table = {.columns = 3};
        VYRE_TABLE_CELLS(&table, "code", "severity", "title");
        for (; i < count && rows[i].number / 100 == kind; i++) {
            vyre_table_add(&table, "V%04u", rows[i].number);
            VYRE_TABLE_CELLS(&table, rows[i].severity, rows[i].title);
        }
        vyre_page_heading(page, kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : "Others");
        vyre_page_table(page, &table);
    }
    cli_help_source(page, "include/vyre/diagnostic.h");
}

/* 4194304 as 4,194,304. */
static void add_number(vyre_table *table, uint64_t number) {
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
    vyre_table_add(table, "%s", grouped);
}

void cli_help_limits(vyre_page *page) {
    vyre_table table = {.columns = 3, .right = 2};
    VYRE_TABLE_CELLS(&table, "limit", "at most", "of what");
#define ROW(name, value, text)                                                                     \
    vyre_table_add(&table, "%s", #name);                                                           \
    add_number(&table, value);                                                                     \
    vyre_table_add(&table, "%s", text);
    VYRE_LIMITS(ROW)
#undef ROW
    vyre_page_title(page, "Limits");
    vyre_page_paragraph(
        page, "How large a program may be. Parser, builder, verifier and decoder share this table, "
              "so all of them accept the same programs. In C a limit is `VYRE_LIMIT_` plus its "
              "name.");
    vyre_page_table(page, &table);
    cli_help_source(page, "include/vyre/limits.h");
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
        {"HOME", "an absolute path", "", "the folder of the next two variables' defaults"},
        {"XDG_CONFIG_HOME", "an absolute path", "$HOME/.config",
         "the folder with the manifests of backends in vyre/backends.d, of dialects in "
         "vyre/dialects, and the routes in vyre/pgo.toml; a relative path is ignored"},
        {"XDG_CACHE_HOME", "an absolute path", "$HOME/.cache",
         "the folder with compiled programs in vyre/pipelines; a relative path is ignored"},
        {"NO_COLOR", "any text", "", "if set, vyre prints no colours, not even on a terminal"},
        {"TERM", "any text", "", "if unset or `dumb`, vyre prints no colours on a terminal"},
    };
    if (index >= sizeof others / sizeof others[0]) {
        return false;
    }
    *out_variable = others[index];
    return true;
}

void cli_help_environment(vyre_page *page) {
    vyre_table table = {.columns = 4, .code = 1};
    VYRE_TABLE_CELLS(&table, "variable", "values", "default", "meaning");
    cli_variable variable;
    for (size_t i = 0; cli_help_variable(i, &variable); i++) {
        VYRE_TABLE_CELLS(&table, variable.name, variable.values, variable.default_text,
                         variable.documentation);
    }
    vyre_page_title(page, "Environment");
    vyre_page_paragraph(
        page, "The environment variables that vyre reads. A variable with an invalid value is an "
              "error, or a warning if the run can go on without the cache. An empty variable "
              "counts as unset. A process that runs with more privileges than its user reads none "
              "of them.");
    vyre_page_table(page, &table);
    cli_help_source(page, "src/base/option.h");
}
