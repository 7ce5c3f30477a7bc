/* Pages: titles, paragraphs and tables, as plain text for a terminal or as Markdown for docs/. */
#ifndef VYRE_CLI_PAGE_H
#define VYRE_CLI_PAGE_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/command.h"

enum { CLI_PAGE_WIDTH = 80, CLI_TABLE_COLUMNS = 64 };

typedef struct cli_page {
    vyre_strbuf *text;
    bool is_markdown;
} cli_page;

void cli_page_title(cli_page *page, const char *title);
void cli_page_heading(cli_page *page, const char *heading);
void cli_page_paragraph(cli_page *page, const char *paragraph);

/* The last line of a page in Markdown: which table of the sources it comes from. */
void cli_page_source(cli_page *page, const char *file);

/* A table is filled cell by cell, row by row; the first row are the headings. */
typedef struct cli_table {
    size_t columns;    /* at most CLI_TABLE_COLUMNS */
    uint64_t right;    /* a bit a column: it holds numbers */
    uint64_t code;     /* a bit a column: it holds code */
    vyre_strbuf cells; /* a NUL after each */
    VYRE_VEC(size_t) starts;
} cli_table;

void cli_table_add(cli_table *table, const char *format, ...) VYRE_PRINTF(2, 3);

/* Appends the table and frees it. */
void cli_page_table(cli_page *page, cli_table *table);

/* The same for a table that is an answer, in any format but JSON. */
void cli_table_write(vyre_strbuf *text, cli_table *table, cli_format format);

/* Hands each of some paragraphs, which empty lines part, to `write` and appends `between` them. */
void cli_paragraphs(vyre_strbuf *text, const char *paragraphs,
                    void (*write)(vyre_strbuf *text, const char *paragraph), const char *between);

/* Appends words and breaks lines before CLI_PAGE_WIDTH; new lines start with `indent` spaces.
 * `column` is where the first one stands. Ends the last line. */
void cli_wrap(vyre_strbuf *text, const char *words, size_t indent, size_t column);

#endif
