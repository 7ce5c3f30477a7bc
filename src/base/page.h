/* Pages: titles, paragraphs and tables, as plain text for a terminal or as Markdown for docs/. */
#ifndef VYRE_BASE_PAGE_H
#define VYRE_BASE_PAGE_H

#include "base/strbuf.h"
#include "base/vec.h"

/* The forms of an answer. Tables have all but JSON, other pages text and Markdown. */
typedef enum vyre_format {
    VYRE_FORMAT_TEXT,
    VYRE_FORMAT_JSON,
    VYRE_FORMAT_CSV,
    VYRE_FORMAT_MARKDOWN
} vyre_format;

enum { VYRE_PAGE_WIDTH = 80, VYRE_TABLE_COLUMNS = 64 };

typedef struct vyre_page {
    vyre_strbuf *text;
    bool is_markdown;
} vyre_page;

void vyre_page_title(vyre_page *page, const char *title);
void vyre_page_heading(vyre_page *page, const char *heading);
void vyre_page_paragraph(vyre_page *page, const char *paragraph);

/* A table is filled cell by cell, row by row; the first row are the headings. */
typedef struct vyre_table {
    size_t columns;    /* at most VYRE_TABLE_COLUMNS */
    uint64_t right;    /* a bit a column: it holds numbers */
    uint64_t code;     /* a bit a column: it holds code */
    vyre_strbuf cells; /* a NUL after each */
    VYRE_VEC(size_t) starts;
} vyre_table;

void vyre_table_add(vyre_table *table, const char *format, ...) VYRE_PRINTF(2, 3);
/* Cells that are strings; NULL is an empty one. The first ones, as headings, say how many columns
 * there are. */
#define VYRE_TABLE_CELLS(table, ...)                                                               \
    vyre_table_add_cells(table, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),       \
                         (const char *const[]){__VA_ARGS__})
void vyre_table_add_cells(vyre_table *table, size_t count, const char *const *cells);
/* Empties the buffer; one that ran out of memory fails the table, too. */
void vyre_table_add_strbuf(vyre_table *table, vyre_strbuf *cell);

/* Appends the table and frees it. */
void vyre_page_table(vyre_page *page, vyre_table *table);

/* The same for a table that is an answer by itself. */
void vyre_table_write(vyre_strbuf *text, vyre_table *table, vyre_format format);

/* Hands each of some paragraphs, which empty lines part, to `write` and appends `between` them. */
void vyre_page_paragraphs(vyre_strbuf *text, const char *paragraphs,
                          void (*write)(vyre_strbuf *text, const char *paragraph),
                          const char *between);

/* Appends words and breaks lines before VYRE_PAGE_WIDTH; new lines start with `indent` spaces.
 * `column` is where the first one stands. Ends the last line. */
void vyre_page_wrap(vyre_strbuf *text, const char *words, size_t indent, size_t column);

#endif
