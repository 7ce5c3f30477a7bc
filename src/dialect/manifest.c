/* What a manifest says: TOML into definitions that have no meaning yet. */
#include <string.h>

#include "base/hash.h"
#include "base/near.h"
#include "base/toml.h"
#include "dialect/package.h"
#include "text/module.h"

/* Reading goes on behind a mistake; `status` ends it. */
typedef struct reader {
    vyre_package *package;
    const vyre_package_file *file;
    vyre_status status;
} reader;

vyre_package *vyre_package_retain(vyre_package *package) {
    package->references++;
    return package;
}

void vyre_package_forgive(vyre_package *package) {
    while (package->mistakes.count) {
        vyre_status_free(package->mistakes.items[--package->mistakes.count]);
    }
}

void vyre_package_release(vyre_package *package) {
    if (package && --package->references == 0) {
        vyre_package_unresolve(package);
        vyre_package_forgive(package);
        vyre_vec_free(&package->mistakes);
        vyre_vec_free(&package->sources);
        vyre_arena_deinit(&package->arena);
        vyre_free(package);
    }
}

static vyre_status no_memory(const vyre_package *package) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory, then try again",
                            "no memory to read %s", package->path ? package->path : "a manifest");
}

vyre_status vyre_package_mistake(vyre_package *package, vyre_package_place place,
                                 vyre_status mistake) {
    if (!mistake || vyre_status_code_of(mistake) == VYRE_STATUS_OUT_OF_MEMORY) {
        return mistake;
    }
    if (place.line) {
        mistake = vyre_status_at(mistake, package->path, place.line, place.column);
    }
    if (package->mistakes.count >= VYRE_PACKAGE_MISTAKES) {
        vyre_status_free(mistake);
        return VYRE_OK;
    }
    if (!vyre_vec_push(&package->mistakes, mistake)) {
        vyre_status_free(mistake);
        return no_memory(package);
    }
    return VYRE_OK;
}

void vyre_package_describe(const vyre_package *package, vyre_text *text) {
    for (size_t i = 0; i < package->mistakes.count; i++) {
        vyre_text_printf(text, "%s%s", i ? "\n" : "", vyre_status_text(package->mistakes.items[i]));
    }
    if (package->mistakes.count >= VYRE_PACKAGE_MISTAKES) {
        vyre_text_puts(text, "\nand perhaps more");
    }
}

/* Mistakes */

static vyre_package_place place_of(const vyre_toml_value *value) {
    return (vyre_package_place){value->line, value->column};
}

static void add(reader *r, vyre_package_place place, vyre_status mistake) {
    if (r->status) {
        vyre_status_free(mistake);
    } else {
        r->status = vyre_package_mistake(r->package, place, mistake);
    }
}

static const char *keep(reader *r, vyre_str text) {
    const char *copy = vyre_arena_copy(&r->package->arena, text.data, text.size);
    if (!copy && !r->status) {
        r->status = no_memory(r->package);
    }
    return copy ? copy : "";
}

static void *take(reader *r, size_t count, size_t size) {
    void *memory = vyre_arena_alloc(&r->package->arena, (count + 1) * size);
    if (!memory && !r->status) {
        r->status = no_memory(r->package);
    }
    if (memory) {
        memset(memory, 0, (count + 1) * size);
    }
    return memory;
}

/* Tells of a word that means nothing in its place; `names` ends with NULL. */
static vyre_status unknown(const char *what, vyre_str word, const char *const *names) {
    vyre_text fix = {0};
    vyre_near near;
    vyre_near_init(&near, word);
    vyre_text_puts(&fix, "write one of ");
    for (size_t i = 0; names[i]; i++) {
        vyre_text_printf(&fix, "%s%s", i ? ", " : "", names[i]);
        vyre_near_add(&near, (vyre_str){names[i], strlen(names[i])});
    }
    vyre_near_print(&near, &fix, "; perhaps ");
    vyre_status status =
        vyre_status_make(VYRE_STATUS_MALFORMED, vyre_text_string(&fix), "there is no %s \"%.*s\"",
                         what, (int)word.size, word.data);
    vyre_text_free(&fix);
    return status;
}

static void check_keys(reader *r, const vyre_toml_value *table, const char *what,
                       const char *const *known) {
    for (const vyre_toml_entry *entry = table->table->first; entry; entry = entry->next) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], entry->key.data) != 0) {
            i++;
        }
        if (!known[i]) {
            add(r, (vyre_package_place){entry->line, entry->column},
                unknown(what, entry->key, known));
        }
    }
}

/* Values */

/* The text of a key, NULL if it is missing or wrong, which is told. */
static const vyre_toml_value *find_text(reader *r, const vyre_toml_value *table, const char *key,
                                        bool is_needed) {
    const vyre_toml_value *value = NULL;
    vyre_status status = is_needed ? vyre_toml_get(table, key, VYRE_TOML_STRING, &value)
                                   : vyre_toml_get_optional(table, key, VYRE_TOML_STRING, &value);
    if (status) {
        add(r, (vyre_package_place){0}, status);
        return NULL;
    }
    if (value && (!value->string.size || strlen(value->string.data) != value->string.size)) {
        add(r, place_of(value),
            vyre_status_make(VYRE_STATUS_MALFORMED, "write some text", "`%s` is %s", key,
                             value->string.size ? "cut by a NUL" : "empty"));
        return NULL;
    }
    return value;
}

static const char *text_of(reader *r, const vyre_toml_value *table, const char *key,
                           bool is_needed) {
    const vyre_toml_value *value = find_text(r, table, key, is_needed);
    return value ? keep(r, value->string) : NULL;
}

/* The array of a key, NULL if it is missing or wrong, which is told. Its items have the type. */
static const vyre_toml_value *find_array(reader *r, const vyre_toml_value *table, const char *key,
                                         vyre_toml_type type, const vyre_toml *document) {
    const vyre_toml_value *value = NULL;
    vyre_status status = vyre_toml_get_optional(table, key, VYRE_TOML_ARRAY, &value);
    if (status) {
        add(r, (vyre_package_place){0}, status);
        return NULL;
    }
    for (size_t i = 0; value && i < value->array.count; i++) {
        status = vyre_toml_expect(document, &value->array.items[i], type);
        if (status) {
            add(r, (vyre_package_place){0}, status);
            return NULL;
        }
    }
    return value;
}

/* A name of the language: a letter or _, then digits, too. How many bytes of it there are. */
static size_t name_size(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text >= '0' && *text <= '9' ? 0 : strspn(text, letters);
}

static bool is_name(const char *text) {
    size_t size = name_size(text);
    return size && !text[size];
}

/* Names with points between them, of which the first is the dialect's. */
static bool is_id(const char *id, const char *dialect) {
    size_t size = strlen(dialect), parts = 0;
    if (strncmp(id, dialect, size) != 0 || id[size] != '.') {
        return false;
    }
    for (const char *at = id;; parts++) {
        size_t part = name_size(at);
        if (!part) {
            return false;
        }
        at += part;
        if (*at != '.') {
            return !*at && parts;
        }
        at++;
    }
}

static bool is_version(const char *text) {
    const char *at = text;
    for (int part = 0; part < 3; part++) {
        size_t digits = strspn(at, "0123456789");
        if (!digits || digits > 9 || at[digits] != (part < 2 ? '.' : '\0')) {
            return false;
        }
        at += digits + 1;
    }
    return true;
}

int vyre_version_compare(const char *left, const char *right) {
    while (*left || *right) {
        /* Without zeros in front the longer number is the larger one. */
        left += strspn(left, "0");
        right += strspn(right, "0");
        size_t a = strspn(left, "0123456789"), b = strspn(right, "0123456789");
        int order = a != b ? (a > b ? 1 : -1) : memcmp(left, right, a);
        if (order) {
            return order < 0 ? -1 : 1;
        }
        left += a + (left[a] == '.');
        right += b + (right[b] == '.');
        if ((*left && !strchr("0123456789", *left)) || (*right && !strchr("0123456789", *right))) {
            break; /* no version */
        }
    }
    return 0;
}

/* Laws */

typedef enum law_operand { OPERAND_NONE, OPERAND_VALUE, OPERAND_OPERATION } law_operand;
typedef struct law_row {
    const char *text;
    law_operand operand;
} law_row;

static const law_row laws[] = {
#define LAW_ROW(name, text, operand, meaning) [VYRE_LAW_##name] = {text, OPERAND_##operand},
    VYRE_LAWS(LAW_ROW)
#undef LAW_ROW
};
static const char *const law_names[] = {
#define LAW_NAME(name, text, operand, meaning) text,
    VYRE_LAWS(LAW_NAME)
#undef LAW_NAME
        NULL};

static void read_law(reader *r, const vyre_toml_value *value, vyre_law *law) {
    static const char *const wanted[] = {
        [OPERAND_NONE] = "write its name alone",
        [OPERAND_VALUE] = "write the value behind it in parentheses, as in identity(0)",
        [OPERAND_OPERATION] = "write an operation's id behind it in parentheses, as in "
                              "inverse(hex.decode)"};
    vyre_str text = value->string, name = {text.data, strcspn(text.data, "(")};
    size_t kind = 0;
    while (law_names[kind] && (strlen(law_names[kind]) != name.size ||
                               memcmp(law_names[kind], name.data, name.size) != 0)) {
        kind++;
    }
    if (!law_names[kind]) {
        add(r, place_of(value), unknown("law", name, law_names));
        return;
    }
    bool has_operand = name.size < text.size;
    bool is_closed = text.size > name.size + 2 && text.data[text.size - 1] == ')';
    if (has_operand != (laws[kind].operand != OPERAND_NONE) || (has_operand && !is_closed)) {
        add(r, place_of(value),
            vyre_status_make(VYRE_STATUS_MALFORMED, wanted[laws[kind].operand],
                             "\"%s\" is not how the law `%s` is written", text.data,
                             law_names[kind]));
        return;
    }
    law->kind = (vyre_law_kind)kind;
    if (has_operand) {
        law->operand = keep(r, (vyre_str){text.data + name.size + 1, text.size - name.size - 2});
    }
}

static void read_laws(reader *r, const vyre_toml_value *table, const vyre_toml *document,
                      vyre_operation *operation) {
    const vyre_toml_value *value = find_array(r, table, "laws", VYRE_TOML_STRING, document);
    vyre_law *list = value ? take(r, value->array.count, sizeof *list) : NULL;
    for (size_t i = 0; list && i < value->array.count; i++) {
        read_law(r, &value->array.items[i], &list[i]);
        operation->law_count = i + 1;
    }
    operation->laws = list;
}

/* Variants and witnesses */

static void read_variants(reader *r, const vyre_toml_value *table, const vyre_toml *document,
                          vyre_operation *operation, vyre_package_row *row) {
    static const char *const known[] = {"entry", "suits", NULL};
    const vyre_toml_value *value = find_array(r, table, "variant", VYRE_TOML_TABLE, document);
    if (!value) {
        return;
    }
    vyre_variant *list = take(r, value->array.count, sizeof *list);
    row->variants = take(r, value->array.count, sizeof *row->variants);
    for (size_t i = 0; list && row->variants && i < value->array.count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        const vyre_toml_value *entry = find_text(r, item, "entry", true);
        check_keys(r, item, "key of a variant", known);
        row->variants[i] = place_of(entry ? entry : item);
        list[i].entry = entry ? keep(r, entry->string) : "";
        const char *suits = text_of(r, item, "suits", true);
        list[i].suits = suits ? suits : "";
        operation->variant_count = i + 1;
    }
    operation->variants = list;
}

/* The words of a witness, separated by line feeds; NULL if there is none. */
static const char *read_words(reader *r, const vyre_toml_value *table, const vyre_toml *document,
                              const char *key) {
    const vyre_toml_value *value = find_array(r, table, key, VYRE_TOML_STRING, document);
    vyre_text words = {0};
    for (size_t i = 0; value && i < value->array.count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        size_t name = name_size(item->string.data);
        if (!name || item->string.data[name] != '=' ||
            strcspn(item->string.data, "\n") != item->string.size) {
            add(r, place_of(item),
                vyre_status_make(VYRE_STATUS_MALFORMED,
                                 "write NAME=VALUE in one line, as for `vyre run`",
                                 "\"%s\" gives no argument a value", item->string.data));
            continue;
        }
        if (item->string.data[name + 1] == '@') {
            add(r, place_of(item),
                vyre_status_make(VYRE_STATUS_MALFORMED, "write the elements themselves",
                                 "\"%s\" is in a file, where a witness cannot look",
                                 item->string.data));
        }
        vyre_text_printf(&words, "%s%s", words.size ? "\n" : "", item->string.data);
    }
    if (words.failed && !r->status) {
        r->status = no_memory(r->package);
    }
    const char *copy = value ? keep(r, (vyre_str){vyre_text_string(&words), words.size}) : NULL;
    vyre_text_free(&words);
    return copy;
}

static void read_witnesses(reader *r, const vyre_toml_value *table, const vyre_toml *document,
                           vyre_operation *operation, vyre_package_row *row) {
    static const char *const known[] = {"arguments", "expected", NULL};
    const vyre_toml_value *value = find_array(r, table, "witness", VYRE_TOML_TABLE, document);
    size_t count = value ? value->array.count : 0;
    vyre_witness *list = take(r, count, sizeof *list);
    row->witnesses = take(r, count, sizeof *row->witnesses);
    for (size_t i = 0; list && row->witnesses && i < count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        check_keys(r, item, "key of a witness", known);
        row->witnesses[i] = place_of(item);
        const char *arguments = read_words(r, item, document, "arguments");
        const char *expected = read_words(r, item, document, "expected");
        if (!expected || !*expected) {
            add(r, place_of(item),
                vyre_status_make(VYRE_STATUS_MALFORMED,
                                 "add what comes out, as in expected = [\"total=6\"]",
                                 "a witness of `%s` expects nothing", operation->id));
        }
        list[i] = (vyre_witness){arguments ? arguments : "", expected ? expected : ""};
        operation->witness_count = i + 1;
    }
    operation->witnesses = list;
    if (!count) {
        add(r, row->place,
            vyre_status_make(VYRE_STATUS_MALFORMED,
                             "add [[operation.witness]] with arguments = [\"x=1,2,3\"] and "
                             "expected = [\"total=6\"]",
                             "`%s` has no witness", operation->id));
    }
}

/* Sources */

static void read_source(reader *r, const char *name, vyre_package_place place, size_t *out) {
    vyre_package *package = r->package;
    for (*out = 0; *out < package->sources.count; ++*out) {
        if (!strcmp(package->sources.items[*out].name, name)) {
            return;
        }
    }
    vyre_text text = {0}, path = {0};
    vyre_status status = VYRE_OK;
    if (strchr(name, '/') || *name == '.') {
        status = vyre_status_make(VYRE_STATUS_MALFORMED, "name a file beside the manifest",
                                  "the source \"%s\" is not the name of a file", name);
    } else {
        status = r->file->read(r->file->user, name, &text, &path);
    }
    if (text.failed || path.failed) {
        vyre_status_free(status);
        status = no_memory(package);
    }
    vyre_package_source source = {
        .name = keep(r, (vyre_str){name, strlen(name)}),
        .path = keep(r, (vyre_str){vyre_text_string(&path), path.size}),
        .text = status ? NULL : keep(r, (vyre_str){vyre_text_string(&text), text.size}),
        .size = text.size};
    package->contents = package->contents * 31 + vyre_hash_128(text.data, text.size).low;
    if (!r->status && !vyre_vec_push(&package->sources, source)) {
        r->status = no_memory(package);
    }
    add(r, place, status);
    vyre_text_free(&text);
    vyre_text_free(&path);
}

typedef struct outline {
    vyre_package *package;
    size_t source;
} outline;

static void note_item(void *user, vyre_str name, bool is_function) {
    const outline *o = user;
    for (size_t i = 0; i < o->package->operation_count; i++) {
        vyre_operation *operation = &o->package->operations[i];
        if (o->package->rows[i].source == o->source && strlen(operation->entry) == name.size &&
            !memcmp(operation->entry, name.data, name.size)) {
            operation->form = is_function ? VYRE_OPERATION_FUNCTION : VYRE_OPERATION_PROGRAM;
        }
    }
}

/* Which entries are programs and which are functions: others that call them must know. */
static void find_forms(reader *r) {
    for (size_t i = 0; i < r->package->sources.count && !r->status; i++) {
        const vyre_package_source *source = &r->package->sources.items[i];
        outline o = {r->package, i};
        if (source->text) {
            r->status = vyre_text_outline(source->text, source->size, note_item, &o);
        }
    }
}

/* Operations */

static void read_entry(reader *r, const vyre_toml_value *table, vyre_operation *operation,
                       vyre_package_row *row) {
    const vyre_toml_value *entry = find_text(r, table, "entry", false);
    if (entry) {
        row->entry = place_of(entry);
        operation->entry = keep(r, entry->string);
        return;
    }
    const char *point = strchr(operation->id, '.');
    const char *name = point ? point + 1 : operation->id;
    char *copy = (char *)(uintptr_t)keep(r, (vyre_str){name, strlen(name)});
    for (char *at = copy; !r->status && *at; at++) {
        *at = *at == '.' ? '_' : *at;
    }
    row->entry = row->place;
    operation->entry = copy;
}

static void check_id(reader *r, size_t index) {
    const vyre_operation *operations = r->package->operations;
    const char *id = operations[index].id, *dialect = r->package->dialect;
    if (*dialect && !is_id(id, dialect)) {
        add(r, r->package->rows[index].place,
            vyre_status_make(VYRE_STATUS_MALFORMED,
                             "write the dialect, a point and a name of letters, digits and _",
                             "`%s` is not the id of an operation of `%s`", id, dialect));
    }
    for (size_t i = 0; i < index; i++) {
        if (!strcmp(operations[i].id, id)) {
            add(r, r->package->rows[index].place,
                vyre_status_make(VYRE_STATUS_MALFORMED, "rename one of them",
                                 "`%s` is there twice, first in line %u", id,
                                 r->package->rows[i].place.line));
            return;
        }
    }
}

static void read_operation(reader *r, const vyre_toml_value *table, const vyre_toml *document,
                           size_t index) {
    static const char *const known[] = {"id",   "source",  "entry",   "doc",
                                        "laws", "variant", "witness", NULL};
    vyre_operation *operation = &r->package->operations[index];
    vyre_package_row *row = &r->package->rows[index];
    check_keys(r, table, "key of an operation", known);
    const vyre_toml_value *id = find_text(r, table, "id", true);
    row->place = place_of(id ? id : table);
    *operation = (vyre_operation){.id = id ? keep(r, id->string) : "",
                                  .dialect = r->package->dialect,
                                  .version = r->package->version,
                                  .doc = "",
                                  .category = VYRE_CATEGORY_COMPOSITE};
    if (id) {
        check_id(r, index);
    }
    const char *doc = text_of(r, table, "doc", true);
    operation->doc = doc ? doc : "";
    read_entry(r, table, operation, row);
    const vyre_toml_value *source = find_text(r, table, "source", false);
    vyre_text name = {0};
    vyre_text_printf(&name, "%s.vyre", r->package->dialect);
    if (name.failed && !r->status) {
        r->status = no_memory(r->package);
    }
    read_source(r, source ? source->string.data : vyre_text_string(&name),
                source ? place_of(source) : row->place, &row->source);
    vyre_text_free(&name);
    read_laws(r, table, document, operation);
    read_variants(r, table, document, operation, row);
    read_witnesses(r, table, document, operation, row);
    if (row->source < r->package->sources.count) {
        const vyre_package_source *found = &r->package->sources.items[row->source];
        operation->file = found->path;
        operation->text = found->text;
        operation->text_size = found->size;
    }
}

static void read_head(reader *r, const vyre_toml_value *root) {
    static const char *const known[] = {"dialect", "version", "doc", "operation", NULL};
    vyre_package *package = r->package;
    check_keys(r, root, "key of a manifest", known);
    const vyre_toml_value *dialect = find_text(r, root, "dialect", true);
    const vyre_toml_value *version = find_text(r, root, "version", true);
    const char *doc = text_of(r, root, "doc", true);
    package->dialect = dialect ? keep(r, dialect->string) : "";
    package->version = version ? keep(r, version->string) : "";
    package->doc = doc ? doc : "";
    if (dialect && !is_name(dialect->string.data)) {
        add(r, place_of(dialect),
            vyre_status_make(VYRE_STATUS_MALFORMED,
                             "use letters, digits and _, and start with a letter",
                             "\"%s\" cannot be the name of a dialect", dialect->string.data));
    }
    if (version && !is_version(version->string.data)) {
        add(r, place_of(version),
            vyre_status_make(VYRE_STATUS_MALFORMED, "write three numbers, as in \"1.0.0\"",
                             "\"%s\" is no version", version->string.data));
    }
}

static void read_document(reader *r, const vyre_toml *document) {
    const vyre_toml_value *root = vyre_toml_root(document);
    vyre_package *package = r->package;
    read_head(r, root);
    const vyre_toml_value *list = find_array(r, root, "operation", VYRE_TOML_TABLE, document);
    size_t count = list ? list->array.count : 0;
    if (!count && !package->mistakes.count) {
        add(r, (vyre_package_place){1, 1},
            vyre_status_make(VYRE_STATUS_MALFORMED, "add [[operation]] with its id",
                             "the dialect `%s` has no operation", package->dialect));
    }
    if (count > VYRE_MANIFEST_OPERATIONS) {
        add(r, place_of(list),
            vyre_status_make(VYRE_STATUS_LIMIT, "make several dialects of it",
                             "%zu operations are more than the %d that a manifest may have", count,
                             VYRE_MANIFEST_OPERATIONS));
        return;
    }
    package->operations = take(r, count, sizeof *package->operations);
    package->rows = take(r, count, sizeof *package->rows);
    for (size_t i = 0; i < count && !r->status; i++) {
        read_operation(r, &list->array.items[i], document, i);
        package->operation_count = i + 1;
    }
    find_forms(r);
}

vyre_status vyre_package_read(const vyre_package_file *file, vyre_package **out_package) {
    reader r = {.file = file, .package = vyre_alloc_zeroed(1, sizeof *r.package)};
    vyre_package *package = r.package;
    vyre_toml *document = NULL;
    *out_package = NULL;
    if (!package) {
        return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory, then try again",
                                "no memory to read %s", file->path);
    }
    package->references = 1;
    package->dialect = package->version = package->doc = "";
    vyre_arena_init(&package->arena);
    vyre_arena_init(&package->resolved);
    package->path = keep(&r, (vyre_str){file->path, strlen(file->path)});
    package->contents = vyre_hash_128(file->data, file->size).low;
    if (!r.status) {
        vyre_status mistake = vyre_toml_read(file->path, file->data, file->size, &document);
        add(&r, (vyre_package_place){0}, mistake);
    }
    if (!r.status && document) {
        read_document(&r, document);
    }
    vyre_toml_free(document);
    if (r.status) {
        vyre_package_release(package);
        return r.status;
    }
    *out_package = package;
    return VYRE_OK;
}
