/* Plants mistakes into copies of sources, for run.sh:
 *
 *     plant FOLDER LIST...
 *
 * A list is a TOML file of mutants, each with its name, the file, a text that stands there exactly
 * once and what replaces it; where the text stands there more often, `at` is a longer one around
 * it. FOLDER gets a copy of each file with all of its mistakes side by side, and mutants.c, which
 * chooses one of them by the name in the environment variable MUTANT, or none. A text that ends
 * like a statement is replaced as one, any other as an expression. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/toml.h"
#include "base/vec.h"

enum { MOST_BYTES = 1 << 20 };

typedef struct mutant {
    const char *list, *name, *file, *before, *after;
    size_t offset; /* of `before` in the file */
} mutant;

static VYRE_VEC(mutant) mutants;

static bool failed;

static void fail(const mutant *m, const char *what) {
    fprintf(stderr, "%s: mutant `%s`: %s. Fix: bring the list in step with `%s`\n", m->list,
            m->name, what, m->file);
    failed = true;
}

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        exit(1);
    }
}

static const char *text_of(const vyre_toml_value *table, const char *key, const char *otherwise) {
    const vyre_toml_value *value;
    check(otherwise ? vyre_toml_get_optional(table, key, VYRE_TOML_STRING, &value)
                    : vyre_toml_get(table, key, VYRE_TOML_STRING, &value));
    return value ? value->string.data : otherwise;
}

static void read_file(const char *path, vyre_strbuf *out) {
    *out = (vyre_strbuf){0};
    check(vyre_file_read(path, MOST_BYTES, out));
}

/* The only place of a text; where there is no such place, that is told. */
static size_t find_once(const mutant *m, const char *text, const char *wanted, const char *what) {
    const char *found = strstr(text, wanted);
    char message[96];
    if (!found || strstr(found + 1, wanted)) {
        snprintf(message, sizeof message, "%s is found %s", what,
                 found ? "more than once" : "nowhere");
        fail(m, message);
        return 0;
    }
    return (size_t)(found - text);
}

static void read_list(const char *path) {
    vyre_strbuf text;
    vyre_toml *document; /* kept: all names point into it */
    const vyre_toml_value *all;
    read_file(path, &text);
    check(vyre_toml_read(path, vyre_strbuf_string(&text), text.size, &document));
    vyre_strbuf_free(&text);
    check(vyre_toml_get(vyre_toml_root(document), "mutant", VYRE_TOML_ARRAY, &all));
    for (size_t i = 0; i < all->array.count; i++) {
        const vyre_toml_value *row = &all->array.items[i];
        mutant m = {.list = path,
                    .name = text_of(row, "name", NULL),
                    .file = text_of(row, "file", NULL),
                    .before = text_of(row, "old", NULL),
                    .after = text_of(row, "new", NULL)};
        const char *around = text_of(row, "at", m.before);
        read_file(m.file, &text);
        m.offset = find_once(&m, vyre_strbuf_string(&text), around, "its text");
        m.offset += find_once(&m, around, m.before, "`old` in `at`");
        vyre_strbuf_free(&text);
        for (size_t k = 0; k < mutants.count; k++) {
            if (!strcmp(mutants.items[k].name, m.name)) {
                fail(&m, "there is another one of that name");
            }
        }
        if (!vyre_vec_push(&mutants, m)) {
            exit(1);
        }
    }
}

static int by_place(const void *left, const void *right) {
    const mutant *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Mutants of the same text: those from `first` on, of which there are `count`. */
static void put_choice(vyre_strbuf *to, size_t first, size_t count) {
    const char *before = mutants.items[first].before;
    size_t size = strlen(before);
    char last = size ? before[size - 1] : 0;
    bool is_statement = last == ';' || last == '}';
    vyre_strbuf_puts(to, is_statement ? "" : "(");
    for (size_t i = first; i < first + count; i++) {
        vyre_strbuf_printf(
            to, is_statement ? "if (mutant == %zu) {%s} else " : "mutant == %zu ? (%s) : ", i + 1,
            mutants.items[i].after);
    }
    vyre_strbuf_printf(to, is_statement ? "{%s}" : "(%s))", before);
}

static bool same_text(const mutant *left, const mutant *right) {
    return !strcmp(left->file, right->file) && left->offset == right->offset &&
           !strcmp(left->before, right->before);
}

static void write_file(const char *folder, const char *file, const vyre_strbuf *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    check(vyre_file_replace(path, vyre_strbuf_string(text), text->size));
}

/* The mutants of one file, from number `first` on; gives the number behind the last. */
static size_t plant(const char *folder, size_t first) {
    const char *file = mutants.items[first].file;
    vyre_strbuf from, to = {0};
    read_file(file, &from);
    vyre_strbuf_puts(&to, "extern int mutant;\n");
    size_t at = 0, i = first;
    for (; i < mutants.count && !strcmp(mutants.items[i].file, file); i++) {
        const mutant *m = &mutants.items[i];
        if (m->offset < at) {
            fail(m, "its text overlaps with that of another one");
            continue;
        }
        size_t count = 1;
        while (i + count < mutants.count && same_text(m, &mutants.items[i + count])) {
            count++;
        }
        vyre_strbuf_add(&to, from.data + at, m->offset - at);
        put_choice(&to, i, count);
        at = m->offset + strlen(m->before);
        i += count - 1;
    }
    vyre_strbuf_add(&to, from.data + at, from.size - at);
    write_file(folder, file, &to);
    vyre_strbuf_free(&from);
    vyre_strbuf_free(&to);
    return i;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: plant FOLDER LIST...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        read_list(argv[i]);
    }
    qsort(mutants.items, mutants.count, sizeof *mutants.items, by_place);
    for (size_t i = 0; i < mutants.count && !failed;) {
        i = plant(argv[1], i);
    }
    if (failed) {
        return 1;
    }
    vyre_strbuf choice = {0};
    vyre_strbuf_puts(&choice, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
                              "extern int mutant;\nint mutant;\n\n"
                              "static const char *const names[] = {\n");
    for (size_t i = 0; i < mutants.count; i++) {
        vyre_strbuf_printf(&choice, "    \"%s\",\n", mutants.items[i].name);
    }
    vyre_strbuf_puts(
        &choice,
        "};\n\n__attribute__((constructor)) static void choose(void) {\n"
        "    const char *name = getenv(\"MUTANT\");\n"
        "    for (size_t i = 0; name && *name && i < sizeof names / sizeof *names; i++) {\n"
        "        mutant = !strcmp(names[i], name) ? (int)i + 1 : mutant;\n"
        "    }\n"
        "    if (name && *name && !mutant) {\n"
        "        fprintf(stderr, \"no mutant is called `%s`\\n\", name);\n"
        "        exit(2);\n    }\n}\n");
    write_file(argv[1], "mutants.c", &choice);
    vyre_strbuf_free(&choice);
    vyre_vec_free(&mutants);
    return 0;
}
