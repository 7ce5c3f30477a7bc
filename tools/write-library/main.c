/* write-library: the operations of ops/ as numbers and strings, for the build.
 *
 *   write-library FOLDER FILE     reads the manifests and sources of FOLDER, checks them as any
 *                                 dialect is checked, and writes FILE, a source in C
 *
 * It is linked with a library that has no operations yet. src/dialect/library.c reads what it
 * writes, in the same order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "dialect/folder.h"
#include "dialect/library.h"

const uint32_t vyre_library_numbers[] = {0};
const char vyre_library_strings[] = "", vyre_library_texts[] = "";
_Atomic(vyre_program *) vyre_library_built[1];

static void check(vyre_status status) {
    if (status) {
        fprintf(stderr, "write-library: %s\n", vyre_status_text(status));
        exit(1);
    }
}

static void *require(void *memory) {
    if (!memory) {
        fprintf(stderr, "write-library: no memory. Fix: free memory and try again\n");
        exit(1);
    }
    return memory;
}

typedef struct writer {
    vyre_strbuf numbers, strings, texts;
    size_t programs;
} writer;

static void put_number(writer *w, size_t number) {
    vyre_strbuf_printf(&w->numbers, "%zu,", number);
}

/* The pool has each string once, with its NUL, behind an empty one that stands for none. */
static void put_string(writer *w, const char *string) {
    size_t at = string ? 1 : 0;
    while (string && at < w->strings.size && strcmp(w->strings.data + at, string) != 0) {
        at += strlen(w->strings.data + at) + 1;
    }
    if (at == w->strings.size) {
        vyre_strbuf_add(&w->strings, string, strlen(string) + 1);
        require(w->strings.failed ? NULL : w);
    }
    put_number(w, at);
}

static void put_lists(writer *w, const vyre_operation *operation) {
    put_number(w, operation->parameter_count);
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        put_string(w, parameter->name);
        put_number(w, parameter->role);
        put_number(w, parameter->type);
        put_number(w, parameter->is_buffer);
    }
    put_number(w, operation->law_count);
    for (size_t i = 0; i < operation->law_count; i++) {
        put_number(w, operation->laws[i].kind);
        put_string(w, operation->laws[i].operand);
    }
    put_number(w, operation->witness_count);
    for (size_t i = 0; i < operation->witness_count; i++) {
        put_string(w, operation->witnesses[i].arguments);
        put_string(w, operation->witnesses[i].expected);
    }
}

static void put_programs(writer *w, const vyre_operation *operation, size_t size) {
    put_number(w, operation->variant_count);
    put_number(w, size);
    put_string(w, vyre_program_name(operation->built));
    for (size_t i = 0; i < operation->variant_count; i++) {
        put_string(w, operation->variants[i].entry);
        put_string(w, operation->variants[i].suits);
        put_string(w, vyre_program_name(operation->variants[i].built));
    }
    w->programs += 1 + operation->variant_count;
}

/* An operation, and where its source stands among the texts. */
typedef struct row {
    const vyre_operation *operation;
    const vyre_package_source *source;
    size_t text;
} row;

static void put_operation(writer *w, const row *at) {
    const vyre_operation *operation = at->operation;
    put_string(w, operation->id);
    put_string(w, operation->dialect);
    put_string(w, operation->version);
    put_string(w, operation->doc);
    put_number(w, operation->category);
    put_number(w, operation->form);
    put_string(w, operation->file);
    put_string(w, operation->entry);
    put_string(w, operation->sample);
    put_string(w, operation->work);
    put_number(w, at->text);
    put_number(w, at->source->size);
    put_lists(w, operation);
    put_programs(w, operation, at->source->extended_size);
    vyre_strbuf_puts(&w->numbers, "\n");
}

static int compare_rows(const void *left, const void *right) {
    return strcmp(((const row *)left)->operation->id, ((const row *)right)->operation->id);
}

static void put_operations(writer *w, const vyre_folder_search *found) {
    VYRE_VEC(row) rows = {0};
    vyre_strbuf_add(&w->strings, "", 1);
    for (size_t i = 0; i < found->packages.count; i++) {
        const vyre_package *package = found->packages.items[i];
        size_t first = w->texts.size;
        for (size_t k = 0; k < package->operation_count; k++) {
            const vyre_package_source *source = package->sources.items;
            row at = {&package->operations[k], NULL, first};
            for (size_t s = 0; s < package->rows[k].source; s++, source++) {
                at.text += source->extended_size + 1;
            }
            at.source = source;
            require(vyre_vec_push(&rows, at) ? w : NULL);
        }
        for (size_t s = 0; s < package->sources.count; s++) {
            const vyre_package_source *source = &package->sources.items[s];
            vyre_strbuf_add(&w->texts, source->extended, source->extended_size);
            vyre_strbuf_add(&w->texts, "", 1);
        }
    }
    qsort(rows.items, rows.count, sizeof *rows.items, compare_rows);
    put_number(w, rows.count);
    for (size_t i = 0; i < rows.count; i++) {
        put_operation(w, &rows.items[i]);
    }
    vyre_vec_free(&rows);
}

/* A literal of this length would be more than C promises to take. */
static void put_bytes(vyre_strbuf *file, const char *name, const vyre_strbuf *bytes) {
    vyre_strbuf_printf(file, "const char %s[] = {", name);
    for (size_t i = 0; i < bytes->size; i++) {
        unsigned byte = (unsigned char)bytes->data[i];
        vyre_strbuf_printf(file, byte < 128 ? "%s%u," : "%s'\\%o',", i % 24 ? "" : "\n", byte);
    }
    vyre_strbuf_puts(file, "};\n");
}

static void write_file(const vyre_folder_search *found, const char *path) {
    writer w = {0};
    vyre_strbuf file = {0};
    put_operations(&w, found);
    vyre_strbuf_puts(&file, "/* Written by tools/write-library. */\n"
                            "#include \"dialect/library.h\"\n");
    vyre_strbuf_printf(&file, "const uint32_t vyre_library_numbers[] = {%s};\n",
                       vyre_strbuf_string(&w.numbers));
    put_bytes(&file, "vyre_library_strings", &w.strings);
    put_bytes(&file, "vyre_library_texts", &w.texts);
    vyre_strbuf_printf(&file, "_Atomic(vyre_program *) vyre_library_built[%zu];\n", w.programs + 1);
    require(file.failed || w.numbers.failed || w.texts.failed ? NULL : &w);
    check(vyre_file_replace(path, file.data, file.size));
    vyre_strbuf_free(&file);
    vyre_strbuf_free(&w.numbers);
    vyre_strbuf_free(&w.strings);
    vyre_strbuf_free(&w.texts);
}

/* Everything that was refused, with its reasons. */
static bool tell_refused(const vyre_folder_search *found) {
    bool refused = false;
    for (size_t i = 0; i < found->records.count; i++) {
        const vyre_folder_record *record = &found->records.items[i];
        if (record->fate != VYRE_FOLDER_ADMITTED && record->fate != VYRE_FOLDER_SEARCHED) {
            fprintf(stderr, "%s: %s\n%s\n", record->path, vyre_folder_fate_name(record->fate),
                    record->detail);
            refused = true;
        }
    }
    return refused;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: write-library FOLDER FILE\n");
        return 2;
    }
    vyre_folder_list list = {0};
    vyre_folder_search found;
    vyre_streams streams = {0};
    check(vyre_folder_list_add(&list, argv[1], "the build", true));
    check(vyre_folder_search_run(&found, &list, NULL, &streams));
    bool refused = tell_refused(&found);
    if (!refused) {
        write_file(&found, argv[2]);
    }
    vyre_folder_search_deinit(&found);
    vyre_folder_list_deinit(&list);
    return refused;
}
