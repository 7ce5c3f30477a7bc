/* What a manifest says: TOML into definitions that have no meaning yet. */
#include "dialect/manifest.h"

#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "dialect/sample.h"
#include "text/module.h"

/* Laws */

typedef enum law_operand { OPERAND_NONE, OPERAND_VALUE, OPERAND_OPERATION } law_operand;
static const law_operand operands[] = {
#define LAW_OPERAND(name, text, operand, meaning) [VYRE_LAW_##name] = OPERAND_##operand,
    VYRE_LAWS(LAW_OPERAND)
#undef LAW_OPERAND
};
static const char *const law_names[] = {
#define LAW_NAME(name, text, operand, meaning) text,
    VYRE_LAWS(LAW_NAME)
#undef LAW_NAME
        NULL};

static void read_law(manifest_reader *r, const vyre_toml_value *value, vyre_law *law) {
    static const char *const wanted[] = {
        [OPERAND_NONE] = "write its name alone",
        [OPERAND_VALUE] = "write a value in parentheses after it, as in identity(0)",
        [OPERAND_OPERATION] = "write an id in parentheses, as in inverse(hex.decode)"};
    vyre_str text = value->string, name = {text.data, strcspn(text.data, "(")};
    size_t kind = 0;
    while (law_names[kind] && !vyre_str_is(name, law_names[kind])) {
        kind++;
    }
    if (!law_names[kind]) {
        manifest_add(r, manifest_place(value), manifest_unknown("law", name, law_names));
        return;
    }
    bool has_operand = name.size < text.size;
    bool is_closed = text.size > name.size + 2 && text.data[text.size - 1] == ')';
    if (has_operand != (operands[kind] != OPERAND_NONE) || (has_operand && !is_closed)) {
        manifest_add(r, manifest_place(value),
                     vyre_status_make(VYRE_STATUS_MALFORMED, wanted[operands[kind]],
                                      "\"%s\" is not a valid form of the law `%s`", text.data,
                                      law_names[kind]));
        return;
    }
    law->kind = (vyre_law_kind)kind;
    if (has_operand) {
        law->operand =
            manifest_keep(r, (vyre_str){text.data + name.size + 1, text.size - name.size - 2});
    }
}

static void read_laws(manifest_reader *r, const vyre_toml_value *table, vyre_operation *operation) {
    const vyre_toml_value *value = manifest_find_array(r, table, "laws", VYRE_TOML_STRING);
    vyre_law *list = value ? manifest_take(r, value->array.count, sizeof *list) : NULL;
    for (size_t i = 0; list && i < value->array.count; i++) {
        read_law(r, &value->array.items[i], &list[i]);
        operation->law_count = i + 1;
    }
    operation->laws = list;
}

/* Variants and witnesses */

/* A name as the instance for a type has it, "gather<f32>"; the name itself without a type. */
static const char *keep_instance(manifest_reader *r, vyre_str name, const vyre_toml_value *type) {
    if (!type) {
        return manifest_keep(r, name);
    }
    vyre_strbuf text = {0};
    vyre_strbuf_add(&text, name.data, name.size);
    vyre_strbuf_printf(&text, "<%s>", type->string.data);
    if (text.failed && !r->status) {
        r->status = vyre_package_no_memory(r->package);
    }
    const char *copy = manifest_keep(r, (vyre_str){vyre_strbuf_string(&text), text.size});
    vyre_strbuf_free(&text);
    return copy;
}

static void read_variants(manifest_reader *r, const vyre_toml_value *table,
                          const vyre_toml_value *type, vyre_operation *operation,
                          vyre_package_row *row) {
    static const char *const known[] = {"entry", "suits", NULL};
    const vyre_toml_value *value = manifest_find_array(r, table, "variant", VYRE_TOML_TABLE);
    if (!value) {
        return;
    }
    vyre_variant *list = manifest_take(r, value->array.count, sizeof *list);
    row->variants = manifest_take(r, value->array.count, sizeof *row->variants);
    for (size_t i = 0; list && row->variants && i < value->array.count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        const vyre_toml_value *entry = manifest_find_text(r, item, "entry", true);
        manifest_check_keys(r, item, "key of a variant", known);
        row->variants[i] = manifest_place(entry ? entry : item);
        list[i].entry = entry ? keep_instance(r, entry->string, type) : "";
        const char *suits = manifest_text(r, item, "suits", true);
        list[i].suits = suits ? suits : "";
        operation->variant_count = i + 1;
    }
    operation->variants = list;
}

/* The words of `what`, a witness or a sample, separated by line feeds; NULL if there is none. */
static const char *read_words(manifest_reader *r, const vyre_toml_value *value, const char *what) {
    vyre_strbuf words = {0};
    for (size_t i = 0; value && i < value->array.count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        size_t name = manifest_name_size(item->string.data);
        if (!name || item->string.data[name] != '=' ||
            strcspn(item->string.data, "\n") != item->string.size) {
            manifest_add(r, manifest_place(item),
                         vyre_status_make(VYRE_STATUS_MALFORMED,
                                          "write NAME=VALUE on one line, as for `vyre run`",
                                          "\"%s\" is not of the form NAME=VALUE",
                                          item->string.data));
            continue;
        }
        if (item->string.data[name + 1] == '@') {
            manifest_add(r, manifest_place(item),
                         vyre_status_make(VYRE_STATUS_MALFORMED, "write the elements themselves",
                                          "\"%s\" names a file, and a %s cannot read files",
                                          item->string.data, what));
        }
        vyre_strbuf_printf(&words, "%s%s", words.size ? "\n" : "", item->string.data);
    }
    if (words.failed && !r->status) {
        r->status = vyre_package_no_memory(r->package);
    }
    const char *copy =
        value ? manifest_keep(r, (vyre_str){vyre_strbuf_string(&words), words.size}) : NULL;
    vyre_strbuf_free(&words);
    return copy;
}

static void read_witnesses(manifest_reader *r, const vyre_toml_value *table,
                           vyre_operation *operation, vyre_package_row *row) {
    static const char *const known[] = {"arguments", "expected", NULL};
    const vyre_toml_value *value = manifest_find_array(r, table, "witness", VYRE_TOML_TABLE);
    size_t count = value ? value->array.count : 0;
    vyre_witness *list = manifest_take(r, count, sizeof *list);
    row->witnesses = manifest_take(r, count, sizeof *row->witnesses);
    for (size_t i = 0; list && row->witnesses && i < count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        manifest_check_keys(r, item, "key of a witness", known);
        row->witnesses[i] = manifest_place(item);
        const vyre_toml_value *given = manifest_find_array(r, item, "arguments", VYRE_TOML_STRING);
        const vyre_toml_value *result = manifest_find_array(r, item, "expected", VYRE_TOML_STRING);
        const char *arguments = read_words(r, given, "witness");
        const char *expected = read_words(r, result, "witness");
        if (!expected || !*expected) {
            manifest_add(r, manifest_place(item),
                         vyre_status_make(VYRE_STATUS_MALFORMED,
                                          "add the expected output, as in expected = [\"total=6\"]",
                                          "a witness of `%s` has no expected output",
                                          operation->id));
        }
        list[i] = (vyre_witness){arguments ? arguments : "", expected ? expected : ""};
        operation->witness_count = i + 1;
    }
    operation->witnesses = list;
    if (!count) {
        manifest_add(
            r, row->place,
            vyre_status_make(VYRE_STATUS_MALFORMED,
                             "add [[operation.witness]] with arguments = [\"x=1,2,3\"] and "
                             "expected = [\"total=6\"]",
                             "`%s` has no witness", operation->id));
    }
}

/* Samples */

/* Holds an expression, or words with some, against the smallest and the largest size. */
static void check_sample(manifest_reader *r, const vyre_toml_value *value, bool is_word) {
    static const uint64_t sizes[] = {1, VYRE_SAMPLE_LARGEST};
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < 2 && !status; i++) {
        vyre_strbuf text = {0};
        uint64_t number;
        status = is_word ? vyre_sample_expand(value->string.data, sizes[i], &text)
                         : vyre_sample_number(value->string, sizes[i], &number);
        vyre_strbuf_free(&text);
    }
    manifest_add(r, manifest_place(value), status);
}

static void read_sample(manifest_reader *r, const vyre_toml_value *table, vyre_operation *operation,
                        vyre_package_row *row) {
    const vyre_toml_value *sample = manifest_find_array(r, table, "sample", VYRE_TOML_STRING);
    const vyre_toml_value *work = manifest_find_text(r, table, "work", false);
    operation->sample = read_words(r, sample, "sample");
    for (size_t i = 0; sample && i < sample->array.count; i++) {
        check_sample(r, &sample->array.items[i], true);
    }
    if (sample) {
        row->sample = manifest_place(sample);
    }
    if (work) {
        operation->work = manifest_keep(r, work->string);
        check_sample(r, work, false);
    }
}

/* Sources */

/* A file that a source uses: one of the same folder, read as sources are. */
static vyre_status read_used(void *user, const char *path, vyre_text_sink *sink) {
    const manifest_reader *r = user;
    const char *slash = strrchr(path, '/'), *own = strrchr(r->file->path, '/');
    size_t folder = own ? (size_t)(own - r->file->path) : 0;
    bool is_beside =
        slash ? (size_t)(slash - path) == folder && !memcmp(path, r->file->path, folder) : !own;
    const char *name = slash ? slash + 1 : path;
    if (!is_beside || *name == '.') {
        return vyre_status_make(VYRE_STATUS_MALFORMED, "use a file in the manifest's folder",
                                "a dialect uses only files of its own folder");
    }
    vyre_strbuf text = {0}, found = {0};
    vyre_status status = r->file->read(r->file->user, name, &text, &found);
    if (!status && (text.failed || found.failed)) {
        status = vyre_package_no_memory(r->package);
    }
    if (!status) {
        vyre_text_put(sink, text.data, text.size);
    }
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&found);
    return status;
}

/* The text of a source with the files that it uses in its place. */
static vyre_status join_files(manifest_reader *r, const vyre_strbuf *path, vyre_strbuf *text) {
    const vyre_text_reader files = {read_used, r};
    char *joined = NULL;
    size_t size;
    VYRE_TRY(vyre_text_join(&files, vyre_strbuf_string(path), vyre_strbuf_string(text), text->size,
                            NULL, &joined, &size));
    vyre_strbuf_cut(text, 0);
    vyre_strbuf_add(text, joined, size);
    vyre_string_free(joined);
    return VYRE_OK;
}

static void read_source(manifest_reader *r, const char *name, vyre_package_place place,
                        size_t *out) {
    vyre_package *package = r->package;
    for (*out = 0; *out < package->sources.count; ++*out) {
        if (!strcmp(package->sources.items[*out].name, name)) {
            return;
        }
    }
    vyre_strbuf text = {0}, path = {0};
    vyre_status status = VYRE_OK;
    if (strchr(name, '/') || *name == '.') {
        status = vyre_status_make(VYRE_STATUS_MALFORMED, "name a file in the manifest's folder",
                                  "the source \"%s\" is not the name of a file", name);
    } else {
        status = r->file->read(r->file->user, name, &text, &path);
        status = status ? status : join_files(r, &path, &text);
    }
    if (text.failed || path.failed) {
        vyre_status_free(status);
        status = vyre_package_no_memory(package);
    }
    vyre_package_source source = {
        .name = manifest_keep(r, vyre_str_of(name)),
        .path = manifest_keep(r, (vyre_str){vyre_strbuf_string(&path), path.size}),
        .text = status ? NULL : manifest_keep(r, (vyre_str){vyre_strbuf_string(&text), text.size}),
        .size = text.size};
    package->contents = package->contents * 31 + vyre_hash_128(text.data, text.size).low;
    if (!r->status && !vyre_vec_push(&package->sources, source)) {
        r->status = vyre_package_no_memory(package);
    }
    manifest_add(r, place, status);
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&path);
}

typedef struct outline {
    vyre_package *package;
    size_t source;
} outline;

static void note_item(void *user, vyre_str name, bool is_function) {
    const outline *o = user;
    for (size_t i = 0; i < o->package->operation_count; i++) {
        vyre_operation *operation = &o->package->operations[i];
        vyre_str stem = {operation->entry, strcspn(operation->entry, "<")};
        if (o->package->rows[i].source == o->source && name.size == stem.size &&
            !memcmp(name.data, stem.data, stem.size)) {
            operation->form = is_function ? VYRE_OPERATION_FUNCTION : VYRE_OPERATION_PROGRAM;
        }
    }
}

/* Which entries are programs and which are functions: others that call them must know. */
static void find_forms(manifest_reader *r) {
    for (size_t i = 0; i < r->package->sources.count && !r->status; i++) {
        const vyre_package_source *source = &r->package->sources.items[i];
        outline o = {r->package, i};
        if (source->text) {
            r->status = vyre_text_outline(source->text, source->size, note_item, &o);
        }
    }
}

/* Operations */

static void read_entry(manifest_reader *r, const vyre_toml_value *table,
                       const vyre_toml_value *type, vyre_operation *operation,
                       vyre_package_row *row) {
    const vyre_toml_value *entry = manifest_find_text(r, table, "entry", false);
    if (entry) {
        row->entry = manifest_place(entry);
        operation->entry = keep_instance(r, entry->string, type);
        return;
    }
    const char *point = strchr(operation->id, '.');
    const char *name = point ? point + 1 : operation->id;
    char *copy = (char *)(uintptr_t)manifest_keep(r, vyre_str_of(name));
    for (char *at = copy; !r->status && *at; at++) {
        *at = *at == '.' ? '_' : *at;
    }
    row->entry = row->place;
    operation->entry = copy;
}

/* `stem` is the id without types. */
static void check_id(manifest_reader *r, size_t index, const char *stem) {
    const vyre_operation *operations = r->package->operations;
    const char *id = operations[index].id, *dialect = r->package->dialect;
    if (*dialect && !manifest_is_id(stem, dialect)) {
        manifest_add(
            r, r->package->rows[index].place,
            vyre_status_make(VYRE_STATUS_MALFORMED,
                             "write the dialect, a dot and a name of letters, digits and _",
                             "`%s` is not a valid ID for an operation of `%s`", id, dialect));
    }
    for (size_t i = 0; i < index; i++) {
        if (!strcmp(operations[i].id, id)) {
            manifest_add(r, r->package->rows[index].place,
                         vyre_status_make(VYRE_STATUS_MALFORMED, "rename one of them",
                                          "`%s` is defined twice, first in line %u", id,
                                          r->package->rows[i].place.line));
            return;
        }
    }
}

/* The types that an operation has an instance for, NULL if it is not generic. */
static const vyre_toml_value *find_types(manifest_reader *r, const vyre_toml_value *table) {
    const vyre_toml_value *types = manifest_find_array(r, table, "types", VYRE_TOML_STRING);
    for (size_t i = 0; types && i < types->array.count; i++) {
        const vyre_toml_value *type = &types->array.items[i];
        if (vyre_type_from_name(type->string) == VYRE_TYPE_VOID) {
            manifest_add(r, manifest_place(type),
                         vyre_status_make(VYRE_STATUS_MALFORMED,
                                          "name a scalar type, such as \"f32\"",
                                          "\"%s\" is not a type", type->string.data));
        }
    }
    if (types && !types->array.count) {
        manifest_add(r, manifest_place(types),
                     vyre_status_make(VYRE_STATUS_MALFORMED, "name a type, or remove `types`",
                                      "an operation has no types"));
    }
    return types && types->array.count ? types : NULL;
}

/* An operation, or its instance for a type. */
static void read_operation(manifest_reader *r, const vyre_toml_value *table,
                           const vyre_toml_value *type, size_t index) {
    static const char *const known[] = {"id",      "source", "entry", "doc",   "laws", "variant",
                                        "witness", "sample", "work",  "types", NULL};
    vyre_operation *operation = &r->package->operations[index];
    vyre_package_row *row = &r->package->rows[index];
    manifest_check_keys(r, table, "key of an operation", known);
    const vyre_toml_value *id = manifest_find_text(r, table, "id", true);
    row->place = manifest_place(id ? id : table);
    *operation = (vyre_operation){.id = id ? keep_instance(r, id->string, type) : "",
                                  .dialect = r->package->dialect,
                                  .version = r->package->version,
                                  .doc = "",
                                  .category = VYRE_CATEGORY_COMPOSITE};
    if (id) {
        check_id(r, index, id->string.data);
    }
    const char *doc = manifest_text(r, table, "doc", true);
    operation->doc = doc ? doc : "";
    read_entry(r, table, type, operation, row);
    const vyre_toml_value *source = manifest_find_text(r, table, "source", false);
    vyre_strbuf name = {0};
    vyre_strbuf_printf(&name, "%s.vyre", r->package->dialect);
    if (name.failed && !r->status) {
        r->status = vyre_package_no_memory(r->package);
    }
    read_source(r, source ? source->string.data : vyre_strbuf_string(&name),
                source ? manifest_place(source) : row->place, &row->source);
    vyre_strbuf_free(&name);
    read_laws(r, table, operation);
    read_variants(r, table, type, operation, row);
    read_witnesses(r, table, operation, row);
    read_sample(r, table, operation, row);
    if (row->source < r->package->sources.count) {
        const vyre_package_source *found = &r->package->sources.items[row->source];
        operation->file = found->path;
        operation->text = found->text;
        operation->text_size = found->size;
    }
}

static void read_head(manifest_reader *r, const vyre_toml_value *root) {
    static const char *const known[] = {"dialect", "version", "doc", "operation", NULL};
    vyre_package *package = r->package;
    manifest_check_keys(r, root, "key of a manifest", known);
    const vyre_toml_value *dialect = manifest_find_text(r, root, "dialect", true);
    const vyre_toml_value *version = manifest_find_text(r, root, "version", true);
    const char *doc = manifest_text(r, root, "doc", true);
    package->dialect = dialect ? manifest_keep(r, dialect->string) : "";
    package->version = version ? manifest_keep(r, version->string) : "";
    package->doc = doc ? doc : "";
    if (dialect && !manifest_is_name(dialect->string.data)) {
        manifest_add(r, manifest_place(dialect),
                     vyre_status_make(VYRE_STATUS_MALFORMED,
                                      "use letters, digits and _, and start with a letter",
                                      "\"%s\" is not a valid name for a dialect",
                                      dialect->string.data));
    }
    if (version && !manifest_is_version(version->string.data)) {
        manifest_add(r, manifest_place(version),
                     vyre_status_make(VYRE_STATUS_MALFORMED, "write three numbers, as in \"1.0.0\"",
                                      "\"%s\" is not a version", version->string.data));
    }
}

static void read_document(manifest_reader *r, const vyre_toml_value *root) {
    vyre_package *package = r->package;
    read_head(r, root);
    const vyre_toml_value *list = manifest_find_array(r, root, "operation", VYRE_TOML_TABLE);
    size_t tables = list ? list->array.count : 0, count = tables;
    const vyre_toml_value **types = manifest_take(r, tables, sizeof *types);
    for (size_t i = 0; i < tables && types; i++) {
        types[i] = find_types(r, &list->array.items[i]);
        count += types[i] ? types[i]->array.count - 1 : 0;
    }
    if (!count && !package->mistakes.count) {
        manifest_add(r, (vyre_package_place){1, 1},
                     vyre_status_make(VYRE_STATUS_MALFORMED, "add [[operation]] with its id",
                                      "the dialect `%s` has no operation", package->dialect));
    }
    if (count > VYRE_MANIFEST_OPERATIONS) {
        manifest_add(r, manifest_place(list),
                     vyre_status_make(VYRE_STATUS_LIMIT, "split it into several dialects",
                                      "the manifest has %zu operations, and at most %d are allowed",
                                      count, VYRE_MANIFEST_OPERATIONS));
        return;
    }
    package->operations = manifest_take(r, count, sizeof *package->operations);
    package->rows = manifest_take(r, count, sizeof *package->rows);
    for (size_t i = 0; i < tables && !r->status; i++) {
        size_t instances = types[i] ? types[i]->array.count : 1;
        for (size_t k = 0; k < instances && !r->status; k++) {
            read_operation(r, &list->array.items[i], types[i] ? &types[i]->array.items[k] : NULL,
                           package->operation_count);
            package->operation_count++;
        }
    }
    find_forms(r);
}

vyre_status vyre_package_read(const vyre_package_file *file, vyre_package **out_package) {
    manifest_reader r = {.file = file, .package = vyre_alloc_zeroed(1, sizeof *r.package)};
    vyre_package *package = r.package;
    vyre_toml *document = NULL;
    *out_package = NULL;
    if (!package) {
        return vyre_no_memory("to read %s", file->path);
    }
    package->references = 1;
    package->dialect = package->version = package->doc = "";
    package->path = manifest_keep(&r, vyre_str_of(file->path));
    package->contents = vyre_hash_128(file->data, file->size).low;
    if (!r.status) {
        vyre_status mistake = vyre_toml_read(file->path, file->data, file->size, &document);
        manifest_add(&r, (vyre_package_place){0}, mistake);
    }
    if (!r.status && document) {
        read_document(&r, vyre_toml_root(document));
    }
    vyre_toml_free(document);
    if (r.status) {
        vyre_package_release(package);
        return r.status;
    }
    *out_package = package;
    return VYRE_OK;
}
