/* The public TOML test corpus (toml-test): every valid file must read as its JSON says and survive
 * writing and reading again, every invalid one must be refused with a place and a Fix.
 *
 * The corpus comes with the Debian package golang-github-burntsushi-toml-dev; TOML_TEST names the
 * folder of another copy, the one that holds valid/ and invalid/. Where a copy lists the files of
 * TOML 1.1 (files-toml-1.1.0), only those count; an older one has none, and its invalid files that
 * 1.1 accepts are left out. Without a corpus the test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/toml.h"
#include "base/utf8.h"
#include "tests/unit/toml_equal.h"

enum { SKIPPED = 77, MAX_FILE = 1 << 20 };

static const char packaged[] =
    "/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests";
static const char *folder;
static vyre_strbuf listed; /* the list of TOML 1.1, empty if there is none */

/* JSON as far as the corpus needs it: objects, arrays, strings. */
typedef struct json_node {
    char kind; /* '{' '[' '"' */
    vyre_str text;
    struct json_node *first, *next;
    vyre_str key;
} json_node;

typedef struct json_parser {
    vyre_arena arena;
    const char *at;
} json_parser;

static void skip_json_space(json_parser *parser) {
    parser->at += strspn(parser->at, " \t\r\n");
}

static vyre_str parse_json_string(json_parser *parser) {
    vyre_strbuf text = {0};
    assert_int_equal(*parser->at++, '"');
    while (*parser->at != '"') {
        if (*parser->at != '\\') {
            assert_int_not_equal(*parser->at, '\0');
            vyre_strbuf_putc(&text, *parser->at++);
            continue;
        }
        static const char letters[] = "bfnrt\"\\/", meanings[] = "\b\f\n\r\t\"\\/";
        char c = parser->at[1];
        parser->at += 2;
        if (c != 'u') {
            const char *letter = strchr(letters, c);
            assert_non_null(letter);
            vyre_strbuf_putc(&text, meanings[letter - letters]);
            continue;
        }
        unsigned code, low;
        assert_int_equal(sscanf(parser->at, "%4x", &code), 1);
        parser->at += 4;
        if (code >= 0xd800 && code < 0xdc00) {
            assert_int_equal(sscanf(parser->at, "\\u%4x", &low), 1);
            parser->at += 6;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        char bytes[4];
        vyre_strbuf_add(&text, bytes, vyre_utf8_write(code, bytes));
    }
    parser->at++;
    vyre_str result = {vyre_arena_copy(&parser->arena, vyre_strbuf_string(&text), text.size),
                       text.size};
    vyre_strbuf_free(&text);
    return result;
}

static json_node *parse_json(json_parser *parser) {
    json_node *node = vyre_arena_alloc(&parser->arena, sizeof *node);
    json_node **link = &node->first;
    skip_json_space(parser);
    *node = (json_node){.kind = *parser->at};
    if (node->kind == '"') {
        node->text = parse_json_string(parser);
        skip_json_space(parser);
        return node;
    }
    assert_true(node->kind == '{' || node->kind == '[');
    char close = node->kind == '{' ? '}' : ']';
    parser->at++;
    skip_json_space(parser);
    while (*parser->at != close) {
        vyre_str key = {0};
        if (node->kind == '{') {
            key = parse_json_string(parser);
            skip_json_space(parser);
            assert_int_equal(*parser->at++, ':');
        }
        *link = parse_json(parser);
        (*link)->key = key;
        link = &(*link)->next;
        if (*parser->at == ',') {
            parser->at++;
            skip_json_space(parser);
        }
    }
    parser->at++;
    skip_json_space(parser);
    return node;
}

static const json_node *member(const json_node *node, const char *key) {
    for (const json_node *child = node->first; child; child = child->next) {
        if (toml_str_equal(child->key, (vyre_str){key, strlen(key)})) {
            return child;
        }
    }
    return NULL;
}

/* A value that is not a table is an object of two strings, type and value. */
static bool is_tagged(const json_node *node) {
    const json_node *type = member(node, "type"), *value = member(node, "value");
    return node->kind == '{' && type && value && type->kind == '"' && value->kind == '"';
}

static bool time_matches(const vyre_toml_value *value, const char *text) {
    unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    int size = 0;
    long nanosecond = 0;
    if (value->type != VYRE_TOML_LOCAL_TIME) {
        if (sscanf(text, "%4u-%2u-%2u%n", &year, &month, &day, &size) != 3) {
            return false;
        }
        text += size;
        text += *text == 'T' || *text == ' ' || *text == 't';
    }
    if (value->type != VYRE_TOML_LOCAL_DATE) {
        if (sscanf(text, "%2u:%2u:%2u%n", &hour, &minute, &second, &size) != 3) {
            return false;
        }
        text += size;
        if (*text == '.') {
            char digits[10] = "000000000";
            size_t count = strspn(text + 1, "0123456789");
            memcpy(digits, text + 1, count < 9 ? count : 9);
            nanosecond = strtol(digits, NULL, 10);
            text += count + 1;
        }
    }
    int offset = 0;
    if (value->type == VYRE_TOML_OFFSET_DATE_TIME) {
        int hours = 0, minutes = 0;
        if (*text != 'Z' && *text != 'z') {
            if (sscanf(text + 1, "%2d:%2d", &hours, &minutes) != 2) {
                return false;
            }
            offset = (hours * 60 + minutes) * (*text == '-' ? -1 : 1);
            text += 6;
        } else {
            text++;
        }
    }
    const vyre_toml_time *time = &value->time;
    return *text == '\0' && time->year == year && time->month == month && time->day == day &&
           time->hour == hour && time->minute == minute && time->second == second &&
           time->nanosecond == nanosecond && time->offset_minutes == offset;
}

static bool float_matches(double number, const char *text) {
    if (strstr(text, "nan")) {
        return number != number;
    }
    double wanted = strtod(text, NULL);
    return wanted == number;
}

static bool scalar_matches(const vyre_toml_value *value, const char *type, vyre_str text) {
    switch (value->type) {
    case VYRE_TOML_STRING:
        return strcmp(type, "string") == 0 && toml_str_equal(value->string, text);
    case VYRE_TOML_INTEGER:
        return strcmp(type, "integer") == 0 && value->integer == strtoll(text.data, NULL, 10);
    case VYRE_TOML_FLOAT:
        return strcmp(type, "float") == 0 && float_matches(value->number, text.data);
    case VYRE_TOML_BOOL:
        return strcmp(type, "bool") == 0 &&
               strcmp(text.data, value->boolean ? "true" : "false") == 0;
    case VYRE_TOML_OFFSET_DATE_TIME:
        return strcmp(type, "datetime") == 0 && time_matches(value, text.data);
    case VYRE_TOML_LOCAL_DATE_TIME:
        return strcmp(type, "datetime-local") == 0 && time_matches(value, text.data);
    case VYRE_TOML_LOCAL_DATE:
        return strcmp(type, "date-local") == 0 && time_matches(value, text.data);
    case VYRE_TOML_LOCAL_TIME:
        return strcmp(type, "time-local") == 0 && time_matches(value, text.data);
    default: return false;
    }
}

static bool matches(const vyre_toml_value *value, const json_node *node) {
    if (is_tagged(node)) {
        return scalar_matches(value, member(node, "type")->text.data, member(node, "value")->text);
    }
    size_t count = 0;
    for (const json_node *child = node->first; child; child = child->next, count++) {
        const vyre_toml_value *found = NULL;
        if (node->kind == '{' && value->type == VYRE_TOML_TABLE) {
            const vyre_toml_entry *entry = vyre_toml_find_entry(value->table, child->key);
            found = entry ? &entry->value : NULL;
        } else if (node->kind == '[' && value->type == VYRE_TOML_ARRAY) {
            found = count < value->array.count ? &value->array.items[count] : NULL;
        }
        if (!found || !matches(found, child)) {
            return false;
        }
    }
    return node->kind == '{' ? value->type == VYRE_TOML_TABLE && value->table->count == count
                             : value->type == VYRE_TOML_ARRAY && value->array.count == count;
}

static bool survives_writing(const vyre_toml *document) {
    vyre_strbuf text = {0};
    vyre_toml *again = NULL;
    toml_write_all(&text, document);
    vyre_status status = vyre_toml_read("written", vyre_strbuf_string(&text), text.size, &again);
    bool same =
        !text.failed && !status && toml_equal(vyre_toml_root(document), vyre_toml_root(again));
    if (!same) {
        print_error("written as\n%s%s\n", vyre_strbuf_string(&text), vyre_status_text(status));
    }
    vyre_status_free(status);
    vyre_toml_free(again);
    vyre_strbuf_free(&text);
    return same;
}

static bool valid_file_passes(const char *path, vyre_str contents) {
    vyre_toml *document = NULL;
    vyre_status status = vyre_toml_read(path, contents.data, contents.size, &document);
    if (status) {
        print_error("%s\n", vyre_status_text(status));
        vyre_status_free(status);
        return false;
    }
    vyre_strbuf expected = {0};
    char json_path[1024];
    snprintf(json_path, sizeof json_path, "%.*sjson", (int)strlen(path) - 4, path);
    assert_null(vyre_file_read(json_path, MAX_FILE, &expected));
    json_parser parser = {.at = vyre_strbuf_string(&expected)};
    vyre_arena_init(&parser.arena);
    json_node *node = parse_json(&parser);
    assert_int_equal(*parser.at, '\0');
    bool passes = matches(vyre_toml_root(document), node) && survives_writing(document);
    vyre_arena_deinit(&parser.arena);
    vyre_strbuf_free(&expected);
    vyre_toml_free(document);
    return passes;
}

static bool invalid_file_passes(const char *path, vyre_str contents) {
    vyre_toml *document = NULL;
    vyre_status status = vyre_toml_read(path, contents.data, contents.size, &document);
    const char *file;
    uint32_t line = 0, column = 0;
    bool passes = status && !document && vyre_status_code_of(status) == VYRE_STATUS_MALFORMED &&
                  vyre_status_place(status, &file, &line, &column) && line && column &&
                  strstr(vyre_status_text(status), "Fix: ");
    vyre_status_free(status);
    vyre_toml_free(document);
    return passes;
}

typedef bool (*file_test)(const char *path, vyre_str contents);

typedef struct tally {
    size_t files, failures;
} tally;

/* Invalid files of a copy for TOML 1.0 that 1.1 accepts. */
static const char accepted[] = "\ninvalid/string/basic-byte-escapes.toml\n"
                               "invalid/inline-table/linebreak-1.toml\n"
                               "invalid/inline-table/linebreak-2.toml\n"
                               "invalid/inline-table/linebreak-3.toml\n"
                               "invalid/inline-table/linebreak-4.toml\n"
                               "invalid/inline-table/trailing-comma.toml\n"
                               "invalid/datetime/no-secs.toml\n";

/* Whether a file is about TOML 1.1. */
static bool is_listed(const char *path) {
    const char *name = path + strlen(folder) + 1;
    char line[1024];
    snprintf(line, sizeof line, "\n%s\n", name);
    if (listed.size == 0) {
        return strstr(accepted, line) == NULL;
    }
    return strstr(vyre_strbuf_string(&listed), line) != NULL;
}

static void walk(const char *path, file_test test, tally *counts) {
    DIR *opened = opendir(path);
    assert_non_null(opened);
    for (struct dirent *item; (item = readdir(opened));) {
        char inside[1024];
        size_t size = (size_t)snprintf(inside, sizeof inside, "%s/%s", path, item->d_name);
        struct stat about;
        assert_true(size < sizeof inside);
        assert_int_equal(stat(inside, &about), 0);
        if (S_ISDIR(about.st_mode) && item->d_name[0] != '.') {
            walk(inside, test, counts);
        } else if (size > 5 && strcmp(inside + size - 5, ".toml") == 0 && is_listed(inside)) {
            vyre_strbuf contents = {0};
            assert_null(vyre_file_read(inside, MAX_FILE, &contents));
            counts->files++;
            if (!test(inside, (vyre_str){vyre_strbuf_string(&contents), contents.size})) {
                counts->failures++;
                print_error("failed: %s\n", inside);
            }
            vyre_strbuf_free(&contents);
        }
    }
    closedir(opened);
}

static void walk_all(const char *kind, file_test test) {
    char path[1024];
    tally counts = {0};
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    walk(path, test, &counts);
    print_message("%zu %s files\n", counts.files, kind);
    assert_true(counts.files > 90);
    assert_int_equal(counts.failures, 0);
}

static void toml_corpus_valid_files_read_as_expected_and_survive_writing(void **state) {
    (void)state;
    walk_all("valid", valid_file_passes);
}

static void toml_corpus_invalid_files_are_refused_with_a_place(void **state) {
    (void)state;
    walk_all("invalid", invalid_file_passes);
}

int main(void) {
    struct stat about;
    char list[1024];
    folder = getenv("TOML_TEST") ? getenv("TOML_TEST") : packaged;
    if (stat(folder, &about) != 0) {
        fprintf(stderr,
                "skipped: no TOML corpus in %s; install golang-github-burntsushi-toml-dev\n",
                folder);
        return SKIPPED;
    }
    snprintf(list, sizeof list, "%s/files-toml-1.1.0", folder);
    vyre_strbuf_putc(&listed, '\n');
    if (stat(list, &about) == 0) {
        vyre_strbuf files = {0};
        vyre_status status = vyre_file_read(list, MAX_FILE, &files);
        vyre_strbuf_puts(&listed, vyre_strbuf_string(&files));
        vyre_strbuf_free(&files);
        if (status) {
            fprintf(stderr, "%s\n", vyre_status_text(status));
            return 1;
        }
    } else {
        vyre_strbuf_cut(&listed, 0);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toml_corpus_valid_files_read_as_expected_and_survive_writing),
        cmocka_unit_test(toml_corpus_invalid_files_are_refused_with_a_place),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    vyre_strbuf_free(&listed);
    return failures;
}
