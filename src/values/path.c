#include "values/path.h"

#include <string.h>

#include "base/status.h"

static const char *const names[] = {
#define NAME(name, text) [VALUES_FORMAT_##name] = text,
    VALUES_FORMATS(NAME)
#undef NAME
};
enum { FORMAT_COUNT = sizeof names / sizeof *names };

/* Suffixes of formats that vyre neither reads nor writes: their bytes are not elements. */
static const struct {
    bool is_text;         /* its bytes may be what a buffer of u8 wants */
    const char *suffixes; /* each between spaces */
    const char *fix_in, *fix_out;
} foreigners[] = {
    {false, " jpg jpeg gif bmp webp tif tiff heic avif jxl exr pgm ppm pnm svg pdf ",
     "convert it to .png; @raw:FILE reads the bytes of any file",
     "write a .png file; raw:FILE writes the bytes alone"},
    {false, " h5 hdf5 mat parquet feather arrow pt pth pkl pickle safetensors xls xlsx ods ",
     "save it as .npy or .csv; @raw:FILE reads the bytes of any file",
     "write a .npy or .csv file; raw:FILE writes the bytes alone"},
    {false, " gz bz2 xz zst lz4 zip 7z tar tgz rar ",
     "unpack it first; @raw:FILE reads the bytes of any file",
     "write a .npy file and pack it afterwards; raw:FILE writes the bytes alone"},
    {true, " txt text json jsonl yaml yml toml xml html md ",
     "read numbers with @csv:FILE; @raw:FILE reads the bytes of any file",
     "write a .csv file; raw:FILE writes the bytes alone"},
};

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether they are the same but for upper and lower case; `word` is in lower case. */
static bool is_word(const char *text, size_t size, const char *word) {
    bool same = strlen(word) == size;
    for (size_t i = 0; same && i < size; i++) {
        same = lower(text[i]) == word[i];
    }
    return same;
}

/* What is behind the last point of the last part of a path; empty where there is none. */
static vyre_str suffix_of(vyre_str path) {
    for (size_t i = path.size; i-- > 0 && path.data[i] != '/';) {
        if (path.data[i] == '.' && i > 0 && path.data[i - 1] != '/') {
            return (vyre_str){path.data + i + 1, path.size - i - 1};
        }
    }
    return (vyre_str){path.data + path.size, 0};
}

static values_format format_of(vyre_str suffix) {
    for (int i = VALUES_FORMAT_RAW + 1; i < FORMAT_COUNT; i++) {
        if (is_word(suffix.data, suffix.size, names[i])) {
            return (values_format)i;
        }
    }
    return VALUES_FORMAT_RAW;
}

static int foreigner_of(vyre_str suffix) {
    const int count = (int)(sizeof foreigners / sizeof *foreigners);
    for (int i = 0; i < count; i++) {
        for (const char *at = foreigners[i].suffixes + 1; *at;) {
            size_t size = strcspn(at, " ");
            char word[16] = {0};
            memcpy(word, at, size < sizeof word ? size : sizeof word - 1);
            if (is_word(suffix.data, suffix.size, word)) {
                return i;
            }
            at += size + 1;
        }
    }
    return -1;
}

/* FORMAT: at the start; the rest is a path. */
static bool take_format(const char **text, values_format *out) {
    size_t size = strcspn(*text, ":");
    for (int i = 0; (*text)[size] && i < FORMAT_COUNT; i++) {
        if (is_word(*text, size, names[i])) {
            *out = (values_format)i;
            *text += size + 1;
            return true;
        }
    }
    return false;
}

/* Splits PATH.npz:DETAIL, or PATH:DETAIL where the format is known already. */
static void split(values_path *file, const char *text, bool is_named) {
    size_t size = strlen(text);
    *file = (values_path){.format = file->format, .path = {text, size}};
    if (is_named) {
        const char *colon = file->format > VALUES_FORMAT_NPY ? strrchr(text, ':') : NULL;
        file->path.size = colon ? (size_t)(colon - text) : size;
        file->detail = colon ? colon + 1 : NULL;
        return;
    }
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        vyre_str path = {text, (size_t)(colon - text)};
        values_format format = format_of(suffix_of(path));
        if (format > VALUES_FORMAT_NPY) {
            *file = (values_path){format, path, colon + 1};
            return;
        }
    }
    file->format = format_of(suffix_of(file->path));
}

/* The row of `foreigners` that the suffix is in, -1 where the format is known. */
static int parse(const char *text, values_path *out) {
    *out = (values_path){0};
    bool is_named = take_format(&text, &out->format);
    split(out, text, is_named);
    return is_named || out->format != VALUES_FORMAT_RAW ? -1 : foreigner_of(suffix_of(out->path));
}

static vyre_status refuse(const char *subject, const values_path *file, const char *does,
                          const char *fix) {
    vyre_str suffix = suffix_of(file->path);
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix,
                            "%s: vyre does not %s .%.*s files: %.*s", subject, does,
                            (int)suffix.size, suffix.data, (int)file->path.size, file->path.data);
}

vyre_status values_path_parse_input(const char *subject, const char *text, vyre_type type,
                                    values_path *out) {
    int found = parse(text, out);
    if (!out->path.size) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write the file's name after the @, or - for stdin",
                                "%s: `@%s` names no file", subject, text);
    }
    if (found >= 0 && (!foreigners[found].is_text || type != VYRE_TYPE_U8)) {
        return refuse(subject, out, "read", foreigners[found].fix_in);
    }
    return VYRE_OK;
}

vyre_status values_path_parse_output(const char *subject, const char *text, values_path *out) {
    int found = parse(text, out);
    if (!out->path.size) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "write --out NAME=FILE",
                                "%s: `%s` names no file", subject, text);
    }
    if (found >= 0) {
        return refuse(subject, out, "write", foreigners[found].fix_out);
    }
    return VYRE_OK;
}
