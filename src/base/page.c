#include "base/page.h"

#include <string.h>

#include "base/visible.h"

void vyre_page_wrap(vyre_strbuf *text, const char *words, size_t indent, size_t column) {
    bool at_start = true;
    while (*words) {
        size_t size = strcspn(words, " ");
        if (!at_start && column + 1 + size > VYRE_PAGE_WIDTH) {
            vyre_strbuf_putc(text, '\n');
            vyre_strbuf_repeat(text, ' ', indent);
            column = indent;
        } else if (!at_start) {
            vyre_strbuf_putc(text, ' ');
            column++;
        }
        vyre_strbuf_add(text, words, size);
        column += size;
        words += size;
        words += strspn(words, " ");
        at_start = false;
    }
    vyre_strbuf_putc(text, '\n');
}

/* An empty line between parts. */
static void start_part(vyre_page *page) {
    if (page->text->size) {
        vyre_strbuf_putc(page->text, '\n');
    }
}

void vyre_page_title(vyre_page *page, const char *title) {
    start_part(page);
    vyre_strbuf_printf(page->text, "%s%s\n", page->is_markdown ? "# " : "", title);
}

void vyre_page_heading(vyre_page *page, const char *heading) {
    start_part(page);
    vyre_strbuf_printf(page->text, "%s%s\n", page->is_markdown ? "## " : "", heading);
}

void vyre_page_paragraph(vyre_page *page, const char *paragraph) {
    start_part(page);
    vyre_page_wrap(page->text, paragraph, 0, 0);
}

void vyre_table_add(vyre_table *table, const char *format, ...) {
    if (!vyre_vec_push(&table->starts, table->cells.size)) {
        table->cells.failed = true;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    size_t start = table->cells.size;
    vyre_strbuf_vprintf(&table->cells, format, arguments);
    va_end(arguments);
    vyre_visible_clean(&table->cells, start, true);
    vyre_strbuf_putc(&table->cells, '\0');
}

void vyre_table_add_cells(vyre_table *table, size_t count, const char *const *cells) {
    table->columns = table->columns ? table->columns : count;
    for (size_t i = 0; i < count; i++) {
        vyre_table_add(table, "%s", cells[i] ? cells[i] : "");
    }
}

void vyre_table_add_strbuf(vyre_table *table, vyre_strbuf *cell) {
    vyre_table_add(table, "%s", vyre_strbuf_string(cell));
    table->cells.failed |= cell->failed;
    vyre_strbuf_cut(cell, 0);
}

static void write_markdown(vyre_strbuf *text, const vyre_table *table) {
    for (size_t i = 0; i < table->starts.count; i++) {
        bool code = i >= table->columns && table->code >> i % table->columns & 1;
        vyre_strbuf_puts(text, code ? "| `" : "| ");
        for (const char *c = table->cells.data + table->starts.items[i]; *c; c++) {
            vyre_strbuf_puts(text, *c == '|' ? "\\" : "");
            vyre_strbuf_putc(text, *c == '\n' ? ' ' : *c);
        }
        vyre_strbuf_puts(text, code ? "`" : "");
        bool last = (i + 1) % table->columns == 0;
        vyre_strbuf_puts(text, last ? " |\n" : " ");
        for (size_t k = 0; i + 1 == table->columns && k < table->columns; k++) {
            vyre_strbuf_puts(text, table->right >> k & 1 ? "|---:" : "|---");
            vyre_strbuf_puts(text, k + 1 == table->columns ? "|\n" : "");
        }
    }
}

static void write_text(vyre_strbuf *text, const vyre_table *table) {
    size_t widths[VYRE_TABLE_COLUMNS] = {0};
    for (size_t i = 0; i < table->starts.count; i++) {
        size_t size = strlen(table->cells.data + table->starts.items[i]);
        size_t *width = &widths[i % table->columns];
        *width = size > *width ? size : *width;
    }
    for (size_t i = 0; i < table->starts.count; i++) {
        const char *cell = table->cells.data + table->starts.items[i];
        size_t column = i % table->columns, left = widths[column] - strlen(cell);
        bool right = table->right >> column & 1, last = column + 1 == table->columns;
        vyre_strbuf_repeat(text, ' ', right ? left : 0);
        vyre_strbuf_puts(text, cell);
        vyre_strbuf_repeat(text, ' ', right || last ? 0 : left);
        vyre_strbuf_puts(text, last ? "\n" : "  ");
    }
}

/* As RFC 4180 says, but for its line ends. */
static void write_csv(vyre_strbuf *text, const vyre_table *table) {
    for (size_t i = 0; i < table->starts.count; i++) {
        const char *cell = table->cells.data + table->starts.items[i];
        bool quoted = strpbrk(cell, ",\"\r\n") != NULL;
        vyre_strbuf_puts(text, quoted ? "\"" : "");
        for (; *cell; cell++) {
            vyre_strbuf_puts(text, *cell == '"' ? "\"" : "");
            vyre_strbuf_putc(text, *cell);
        }
        vyre_strbuf_puts(text, quoted ? "\"" : "");
        vyre_strbuf_putc(text, (i + 1) % table->columns == 0 ? '\n' : ',');
    }
}

void vyre_table_write(vyre_strbuf *text, vyre_table *table, vyre_format format) {
    if (table->cells.failed) {
        text->failed = true;
    } else if (format == VYRE_FORMAT_MARKDOWN) {
        write_markdown(text, table);
    } else if (format == VYRE_FORMAT_CSV) {
        write_csv(text, table);
    } else {
        write_text(text, table);
    }
    vyre_vec_free(&table->starts);
    vyre_strbuf_free(&table->cells);
}

void vyre_page_table(vyre_page *page, vyre_table *table) {
    start_part(page);
    vyre_table_write(page->text, table,
                     page->is_markdown ? VYRE_FORMAT_MARKDOWN : VYRE_FORMAT_TEXT);
}

void vyre_page_paragraphs(vyre_strbuf *text, const char *paragraphs,
                          void (*write)(vyre_strbuf *text, const char *paragraph),
                          const char *between) {
    vyre_strbuf paragraph = {0};
    while (*paragraphs) {
        const char *end = strstr(paragraphs, "\n\n");
        size_t size = end ? (size_t)(end - paragraphs) : strlen(paragraphs);
        vyre_strbuf_cut(&paragraph, 0);
        vyre_strbuf_add(&paragraph, paragraphs, size);
        write(text, vyre_strbuf_string(&paragraph));
        vyre_strbuf_puts(text, end ? between : "");
        paragraphs += size + (end ? 2 : 0);
    }
    text->failed |= paragraph.failed;
    vyre_strbuf_free(&paragraph);
}
