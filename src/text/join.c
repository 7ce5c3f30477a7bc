/* A text and the files that it uses, joined to one text. */
#include <string.h>

#include <vyre/text.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/status.h"
#include "ir/diagnostic.h"
#include "text/use.h"

struct vyre_text_sink {
    vyre_strbuf text;
};

typedef struct joined_file {
    const char *name; /* its path; of the text what the caller calls it, or NULL */
    const char *path; /* the name as other files find it */
    vyre_text_sink sink;
    const char *data;
    size_t size;
    size_t user;  /* the file that named it first */
    bool is_open; /* its own files are being read */
} joined_file;

typedef struct joiner {
    const vyre_text_reader *reader;
    vyre_diagnostics *diagnostics;
    VYRE_VEC(joined_file) files;
    vyre_arena arena; /* of names */
    size_t bytes;     /* of all */
} joiner;

void vyre_text_put(vyre_text_sink *sink, const char *bytes, size_t size) {
    vyre_strbuf_add(&sink->text, bytes, size);
}

vyre_status vyre_text_read_file(void *user, const char *path, vyre_text_sink *sink) {
    (void)user;
    return vyre_file_read(path, VYRE_LIMIT_TEXT_BYTES, &sink->text);
}

static vyre_status no_memory(void) {
    return vyre_no_memory("to read the files that a text uses");
}

static vyre_source source_of(const joiner *j, size_t file) {
    const joined_file *row = &j->files.items[file];
    return (vyre_source){.name = row->name,
                         .text = row->data,
                         .end = row->data + row->size,
                         .diagnostics = j->diagnostics,
                         .foreign = file > 0};
}

/* The `use` lines of a file whose text is checked. The parser reports what is wrong with others. */
static vyre_status read_uses(vyre_source source, vyre_uses *uses) {
    vyre_names names;
    vyre_lexer lexer;
    VYRE_TRY(vyre_diagnostics_create(&source.diagnostics));
    vyre_names_init(&names, source.text, source.end);
    vyre_lexer_init(&lexer, &source, &names);
    bool stored = vyre_use_read(&lexer, 0, uses);
    vyre_names_deinit(&names);
    vyre_diagnostics_free(source.diagnostics);
    return stored ? VYRE_OK : no_memory();
}

static size_t find_file(const joiner *j, const char *path) {
    for (size_t i = 0; i < j->files.count; i++) {
        if (!strcmp(j->files.items[i].path, path)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* A file that is used by itself, perhaps through others. */
static vyre_status refuse_cycle(const joiner *j, vyre_source *source, vyre_spot spot, size_t from,
                                size_t to) {
    VYRE_VEC(const char *) names = {0};
    vyre_strbuf chain = {0};
    bool stored = true;
    for (size_t file = from; stored && file != to; file = j->files.items[file].user) {
        stored = vyre_vec_push(&names, j->files.items[file].path);
    }
    vyre_strbuf_puts(&chain, j->files.items[to].path);
    for (size_t i = names.count; i-- > 0;) {
        vyre_strbuf_printf(&chain, " uses %s", names.items[i]);
    }
    vyre_strbuf_printf(&chain, " uses %s", j->files.items[to].path);
    vyre_source_report(source, spot, 209,
                       "move what both need into a file that uses neither of them",
                       "the files use each other in a cycle: %s", vyre_strbuf_string(&chain));
    stored &= !chain.failed;
    vyre_vec_free(&names);
    vyre_strbuf_free(&chain);
    return stored ? VYRE_OK : no_memory();
}

/* What the reader said, as a mistake of the line that names the file. */
static vyre_status refuse_file(vyre_source *source, vyre_spot spot, const char *path,
                               vyre_status status) {
    vyre_status_code code = vyre_status_code_of(status);
    if (code == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    if (code == VYRE_STATUS_NOT_FOUND) {
        vyre_source_report(source, spot, 209,
                           "create it, or correct the path, which is relative to this file",
                           "there is no file %s", path);
    } else {
        vyre_source_report(source, spot, 209, vyre_status_fix(status), "%s cannot be used: %s",
                           path, vyre_status_message(status));
    }
    vyre_status_free(status);
    return VYRE_OK;
}

/* Whether a file that was read can be joined; reports if not. */
static bool check_file(const joiner *j, vyre_source *source, vyre_spot spot,
                       const joined_file *file) {
    if (j->bytes > VYRE_LIMIT_TEXT_BYTES) {
        vyre_source_report(source, spot, 701, "use fewer or smaller files",
                           "the text and the files that it uses have %zu bytes, and at most %d are "
                           "allowed",
                           j->bytes, VYRE_LIMIT_TEXT_BYTES);
        return false;
    }
    if (memchr(file->data, VYRE_FILE_MARK, file->size)) {
        vyre_source_report(source, spot, 209, "remove it", "%s has a byte 0x1c", file->path);
        return false;
    }
    vyre_source own = {.name = file->name,
                       .text = file->data,
                       .end = file->data + file->size,
                       .diagnostics = j->diagnostics,
                       .foreign = true};
    return vyre_source_check(&own);
}

/* Whether a path may be used; reports if not. */
static bool check_path(const joiner *j, vyre_source *source, vyre_spot spot, const char *path) {
    if (j->files.count > VYRE_LIMIT_FILES) {
        vyre_source_report(source, spot, 701, "join some of the files",
                           "more than %d files are used", VYRE_LIMIT_FILES);
        return false;
    }
    if (strpbrk(path, "\n\x1c")) { /* from the name of the text itself */
        vyre_source_report(source, spot, 209, "rename the folder",
                           "the name of the file's folder has a control character");
        return false;
    }
    return true;
}

/* Reads a file as the last one; it is not there if something is wrong, which was reported. */
static vyre_status add_file(joiner *j, vyre_source *source, vyre_spot spot, const char *path,
                            size_t user) {
    if (!check_path(j, source, spot, path)) {
        return VYRE_OK;
    }
    const char *name = vyre_arena_copy(&j->arena, path, strlen(path));
    joined_file file = {.name = name, .path = name, .user = user, .is_open = true};
    vyre_status status = name ? j->reader->read(j->reader->user, name, &file.sink) : no_memory();
    if (!status && file.sink.text.failed) {
        status = no_memory();
    }
    file.data = vyre_strbuf_string(&file.sink.text);
    file.size = file.sink.text.size;
    j->bytes += file.size;
    bool is_right = !status && check_file(j, source, spot, &file);
    bool is_stored = is_right && vyre_vec_push(&j->files, file);
    if (!is_stored) {
        vyre_strbuf_free(&file.sink.text);
    }
    if (status) {
        return refuse_file(source, spot, path, status);
    }
    return is_right && !is_stored ? no_memory() : VYRE_OK;
}

static vyre_status visit(joiner *j, size_t file);

static vyre_status follow(joiner *j, size_t from, vyre_source *source, const vyre_use *use) {
    vyre_strbuf path = {0};
    vyre_use_path(j->files.items[from].name, vyre_use_name(source, use), &path);
    vyre_status status = path.failed ? no_memory() : VYRE_OK;
    size_t known = status ? 0 : find_file(j, path.data ? path.data : "");
    if (!status && known == SIZE_MAX) {
        size_t count = j->files.count;
        status = add_file(j, source, use->spot, vyre_strbuf_string(&path), from);
        if (!status && j->files.count > count) {
            status = visit(j, count);
        }
    } else if (!status && j->files.items[known].is_open) {
        status = refuse_cycle(j, source, use->spot, from, known);
    }
    vyre_strbuf_free(&path);
    return status;
}

/* The files that a file uses, in its order, each before what comes next; at most as deep as there
 * are files. */
static vyre_status visit(joiner *j, size_t file) {
    vyre_source source = source_of(j, file);
    vyre_uses uses = {0};
    vyre_status status = read_uses(source, &uses);
    for (size_t i = 0; i < uses.count && !status; i++) {
        if (uses.items[i].kind == VYRE_USE_FILE) {
            status = follow(j, file, &source, &uses.items[i]);
        }
    }
    j->files.items[file].is_open = false;
    vyre_vec_free(&uses);
    return status;
}

static vyre_status start(joiner *j, const char *name, const char *text, size_t size) {
    vyre_strbuf path = {0};
    const char *base = name ? strrchr(name, '/') : NULL;
    base = base ? base + 1 : vyre_source_name(name);
    vyre_use_path(name, vyre_str_of(base), &path);
    joined_file file = {.name = name,
                        .path = vyre_arena_copy(&j->arena, vyre_strbuf_string(&path), path.size),
                        .data = text,
                        .size = size,
                        .is_open = true};
    bool stored = !path.failed && file.path && vyre_vec_push(&j->files, file);
    vyre_strbuf_free(&path);
    return stored ? VYRE_OK : no_memory();
}

/* The text first, so that its lines keep their numbers. */
static vyre_status write_files(const joiner *j, char **out_text, size_t *out_size) {
    vyre_strbuf out = {0};
    vyre_strbuf_add(&out, j->files.items[0].data, j->files.items[0].size);
    for (size_t i = 1; i < j->files.count; i++) {
        const joined_file *file = &j->files.items[i];
        vyre_strbuf_printf(&out, "\n%c%s\n", VYRE_FILE_MARK, file->name);
        vyre_strbuf_add(&out, file->data, file->size);
    }
    vyre_strbuf_add(&out, "", 0); /* a string even where there is nothing */
    if (out.failed || !out.data) {
        vyre_strbuf_free(&out);
        return no_memory();
    }
    *out_text = out.data;
    *out_size = out.size;
    return VYRE_OK;
}

vyre_status vyre_text_join(const vyre_text_reader *reader, const char *name, const char *text,
                           size_t size, vyre_diagnostics *diagnostics, char **out_text,
                           size_t *out_size) {
    vyre_diagnostics *own = NULL;
    joiner j = {.reader = reader, .bytes = size};
    *out_text = NULL;
    *out_size = 0;
    text = text ? text : ""; /* of 0 bytes */
    vyre_status status = vyre_words_prepare();
    if (!status && !diagnostics) {
        status = vyre_diagnostics_create(&own);
    }
    if (status) {
        return status;
    }
    j.diagnostics = diagnostics ? diagnostics : own;
    status = start(&j, name, text, size);
    vyre_source first = status ? (vyre_source){0} : source_of(&j, 0);
    if (!status && memchr(text, VYRE_FILE_MARK, size)) {
        vyre_source_report(&first, (vyre_spot){0}, 101, "remove it", "the text has a byte 0x1c");
    } else if (!status && vyre_source_check(&first)) {
        status = visit(&j, 0);
    }
    status = status ? status : vyre_diagnostics_status(j.diagnostics, vyre_source_name(name));
    status = status ? status : write_files(&j, out_text, out_size);
    for (size_t i = 0; i < j.files.count; i++) {
        vyre_strbuf_free(&j.files.items[i].sink.text);
    }
    vyre_vec_free(&j.files);
    vyre_arena_deinit(&j.arena);
    vyre_diagnostics_free(own);
    return status;
}
