/* Certificates: what a run of `vyre conform` found, as a file that can be checked again.
 *
 * TOML. The last table holds a digest of everything in front of it, so that a byte that was changed
 * shows; it is no signature, and keeps nobody from writing another certificate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/toml.h"
#include "conform/session.h"
#include "runtime/device.h"
#include "wire/layout.h"

static const char last_table[] = "\n[certificate]\n";

static const char *suite_name(uint32_t number) {
    return conform_suite_name((conform_suite_kind)number);
}

static const char *tag_name(uint32_t number) {
    return conform_tag_name((conform_tag)number);
}

/* Writing */

static void put_string(vyre_toml_writer *w, const char *key, const char *value) {
    vyre_toml_write_key(w, vyre_str_of(key));
    vyre_toml_write_string(w, vyre_str_of(value));
}

static void put_number(vyre_toml_writer *w, const char *key, uint64_t number) {
    vyre_toml_write_key(w, vyre_str_of(key));
    if (number <= INT64_MAX) {
        vyre_toml_write_integer(w, (int64_t)number);
        return;
    }
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    vyre_toml_write_string(w, vyre_str_of(digits));
}

static void put_version(vyre_toml_writer *w, const char *key, unsigned major, unsigned minor) {
    char text[32];
    snprintf(text, sizeof text, "%u.%u", major, minor);
    put_string(w, key, text);
}

static void put_digest(vyre_toml_writer *w, const char *key, uint64_t digest) {
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    put_string(w, key, text);
}

/* The words of a set, a bit each. */
static void put_words(vyre_toml_writer *w, const char *key, uint64_t set, uint32_t count,
                      const char *(*name)(uint32_t)) {
    vyre_toml_write_key(w, vyre_str_of(key));
    vyre_toml_write_array(w);
    for (uint32_t i = 0; i < count; i++) {
        if (set >> i & 1) {
            vyre_toml_write_string(w, vyre_str_of(name(i)));
        }
    }
    vyre_toml_write_array_end(w);
}

static void put_asked_for(const conform_session *c, vyre_toml_writer *w) {
    put_number(w, "seed", c->seed);
    put_number(w, "programs", c->programs);
    put_number(w, "runs", c->runs);
    put_number(w, "vectors", c->vectors);
    put_words(w, "suites_asked_for", c->suites, CONFORM_SUITE_COUNT, suite_name);
    put_words(w, "tags_asked_for", c->tags, CONFORM_TAG_COUNT, tag_name);
    put_string(w, "ids_asked_for", c->glob ? c->glob : "*");
}

static void put_sizes(vyre_toml_writer *w, const char *key, const uint32_t sizes[3]) {
    char text[48];
    snprintf(text, sizeof text, "%u x %u x %u", sizes[0], sizes[1], sizes[2]);
    put_string(w, key, text);
}

/* Who was tested, but for what is measured anew each time. */
static void put_profile(const vyre_profile *profile, vyre_toml_writer *w) {
    vyre_toml_write_header(w, (vyre_str[]){vyre_str_of("profile")}, 1);
    put_string(w, "timing_quality", vyre_timing_name(profile->timing_quality));
#define FLAG(name, bit, text)                                                                      \
    vyre_toml_write_key(w, vyre_str_of(text));                                                     \
    vyre_toml_write_bool(w, profile->flags &VYRE_PROFILE_##name);
    VYRE_PROFILE_FLAGS(FLAG)
#undef FLAG
#define NUMBER(field)                                                                              \
    if (strcmp(#field, "memory_bandwidth_gbps") != 0) {                                            \
        put_number(w, #field, profile->field);                                                     \
    }
    VYRE_PROFILE_NUMBERS(NUMBER)
#undef NUMBER
    put_sizes(w, "max_workgroup_size", profile->max_workgroup_size);
    put_sizes(w, "max_workgroups_per_dimension", profile->max_workgroups_per_dimension);
    put_sizes(w, "ideal_workgroup_tile", profile->ideal_workgroup_tile);
}

static void put_suite(const conform_session *c, conform_suite_kind kind, vyre_toml_writer *w) {
    const conform_tally *tally = &c->tallies[kind];
    vyre_toml_write_header(
        w, (vyre_str[]){vyre_str_of("suites"), vyre_str_of(conform_suite_name(kind))}, 2);
    for (conform_fate fate = 0; fate < CONFORM_FATE_COUNT; fate++) {
        put_number(w, conform_fate_name(fate), tally->counts[fate]);
    }
    put_digest(w, "digest", tally->digest);
    for (conform_fate fate = CONFORM_FATE_FAILED; fate < CONFORM_FATE_COUNT; fate++) {
        if (!tally->counts[fate]) {
            continue;
        }
        char key[40];
        snprintf(key, sizeof key, "%s_cases", conform_fate_name(fate));
        vyre_toml_write_key(w, vyre_str_of(key));
        vyre_toml_write_array(w);
        for (size_t i = 0; i < c->cases.count; i++) {
            const conform_case *one = &c->cases.items[i];
            if (one->suite == kind && one->fate == fate) {
                vyre_strbuf line = {0};
                vyre_strbuf_printf(&line, "%s: %s", one->id, one->text);
                vyre_toml_write_string(w, vyre_str_of(vyre_strbuf_string(&line)));
                w->text->failed |= line.failed;
                vyre_strbuf_free(&line);
            }
        }
        if (kind >= CONFORM_SUITE_SEEDED) {
            uint64_t seed;
            const char *reason = conform_seeds_reason(c, kind, fate, &seed);
            char line[640];
            snprintf(line, sizeof line, "%s.%llu: %s", conform_suite_name(kind),
                     (unsigned long long)seed, reason);
            vyre_toml_write_string(w, vyre_str_of(line));
        }
        vyre_toml_write_array_end(w);
    }
}

/* Of everything in front of the last table. */
static void print_digest(const char *data, size_t size, char out[40]) {
    vyre_hash128 digest = vyre_hash_128(data, size);
    snprintf(out, 40, "%016llx%016llx", (unsigned long long)digest.high,
             (unsigned long long)digest.low);
}

void conform_certificate_write(const conform_session *c, vyre_strbuf *text) {
    vyre_toml_writer w = {.text = text};
    vyre_profile profile;
    char digest[40];
    size_t start = text->size;
    vyre_device_profile(c->device, &profile);
    put_number(&w, "format", CONFORM_CERTIFICATE_FORMAT);
    put_string(&w, "vyre", VYRE_VERSION_STRING);
    put_number(&w, "semantics", VYRE_SEMANTICS);
    put_version(&w, "wire", WIRE_MAJOR, WIRE_MINOR);
    put_version(&w, "abi", VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
    put_string(&w, "backend", vyre_device_name(c->device));
    put_string(&w, "backend_version", vyre_device_version(c->device));
    put_string(&w, "device", profile.device);
    put_string(&w, "driver", profile.driver);
    put_string(&w, "grade", vyre_grade_name(profile.grade));
    if (c->against) {
        put_string(&w, "against", vyre_device_name(c->against));
    }
    put_string(&w, "verdict", conform_session_verdict(c));
    put_string(&w, "started", c->started);
    vyre_toml_write_key(&w, vyre_str_of("seconds"));
    vyre_toml_write_float(&w, c->seconds);
    put_asked_for(c, &w);
    put_profile(&profile, &w);
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_COUNT; kind++) {
        if (conform_session_has_cases(c, kind)) {
            put_suite(c, kind, &w);
        }
    }
    print_digest(text->data + start, text->failed ? 0 : text->size - start, digest);
    vyre_strbuf_puts(text, last_table);
    vyre_strbuf_printf(text, "digest = \"%s\"\n", digest);
}

/* Reading */

static vyre_status damaged(const char *path, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED,
                            "get the file again, or make a new one with `vyre conform --cert`",
                            "%s: %s", path, what);
}

static vyre_status check_digest(const char *path, const vyre_strbuf *text) {
    const char *at = NULL;
    for (const char *next = vyre_strbuf_string(text); (next = strstr(next, last_table)); next++) {
        at = next;
    }
    if (!at) {
        return damaged(path, "the file has no digest at its end: it is truncated, or not a "
                             "certificate");
    }
    char digest[40], line[64];
    print_digest(text->data, (size_t)(at - text->data), digest);
    snprintf(line, sizeof line, "digest = \"%s\"\n", digest);
    return strcmp(at + sizeof last_table - 1, line) == 0
               ? VYRE_OK
               : damaged(path, "the certificate was changed: its digest does not match its text");
}

static vyre_status is_no(const char *key, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED,
                            "make a new certificate with `vyre conform "
                            "--cert`",
                            "`%s` of the certificate is not a %s", key, what);
}

/* A number, or one beyond what TOML has, as a string. */
static vyre_status read_number(const vyre_toml_value *root, const char *key, uint64_t *out) {
    const vyre_toml_value *value = vyre_toml_find(root, key);
    if (value && value->type == VYRE_TOML_STRING) {
        char again[24];
        *out = strtoull(value->string.data, NULL, 10);
        snprintf(again, sizeof again, "%llu", (unsigned long long)*out);
        return strcmp(again, value->string.data) ? is_no(key, "valid number") : VYRE_OK;
    }
    vyre_status status = vyre_toml_get(root, key, VYRE_TOML_INTEGER, &value);
    *out = status ? 0 : (uint64_t)value->integer;
    return status || value->integer >= 0 ? status : is_no(key, "valid number");
}

static vyre_status read_words(const vyre_toml_value *root, const char *key, uint32_t count,
                              const char *(*name)(uint32_t), uint64_t *out) {
    const vyre_toml_value *value;
    *out = 0;
    VYRE_TRY(vyre_toml_get(root, key, VYRE_TOML_ARRAY, &value));
    for (size_t i = 0; i < value->array.count; i++) {
        const vyre_toml_value *item = &value->array.items[i];
        uint32_t k = 0;
        while (k < count &&
               (item->type != VYRE_TOML_STRING || strcmp(item->string.data, name(k)) != 0)) {
            k++;
        }
        if (k == count) {
            return is_no(key, "list of names that this vyre knows");
        }
        *out |= (uint64_t)1 << k;
    }
    return VYRE_OK;
}

static vyre_status read_string(const vyre_toml_value *root, const char *key, char **out) {
    const vyre_toml_value *value;
    VYRE_TRY(vyre_toml_get(root, key, VYRE_TOML_STRING, &value));
    *out = vyre_copy_string(value->string.data);
    return *out ? VYRE_OK : vyre_no_memory("for the certificate");
}

static vyre_status read_fields(const vyre_toml_value *root, conform_certificate *out) {
    uint64_t suites = 0;
    VYRE_TRY(read_string(root, "backend", &out->device));
    if (vyre_toml_find(root, "against")) {
        VYRE_TRY(read_string(root, "against", &out->against));
    }
    VYRE_TRY(read_string(root, "ids_asked_for", &out->glob));
    VYRE_TRY(read_number(root, "seed", &out->seed));
    VYRE_TRY(read_number(root, "programs", &out->programs));
    VYRE_TRY(read_number(root, "runs", &out->runs));
    VYRE_TRY(read_number(root, "vectors", &out->vectors));
    VYRE_TRY(read_words(root, "suites_asked_for", CONFORM_SUITE_COUNT, suite_name, &suites));
    out->suites = (uint32_t)suites;
    return read_words(root, "tags_asked_for", CONFORM_TAG_COUNT, tag_name, &out->tags);
}

/* It would vouch for other bytes. */
static vyre_status check_semantics(const char *name, const vyre_toml_value *root) {
    uint64_t semantics = 0;
    VYRE_TRY(read_number(root, "semantics", &semantics));
    return semantics == VYRE_SEMANTICS
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_MALFORMED, "make another with `vyre conform --cert`",
                                  "%s: the certificate is for version %llu of the semantics, and "
                                  "this vyre has version %d",
                                  name, (unsigned long long)semantics, VYRE_SEMANTICS);
}

vyre_status conform_certificate_parse(const char *name, vyre_str text, conform_certificate *out) {
    vyre_toml *document = NULL;
    vyre_strbuf copy = {0};
    uint64_t format = 0;
    *out = (conform_certificate){0};
    vyre_strbuf_add(&copy, text.data, text.size);
    /* The format first: another one may have another digest. */
    vyre_status status = copy.failed ? vyre_no_memory("for the certificate")
                                     : vyre_toml_read(name, text.data, text.size, &document);
    if (!status && !vyre_toml_find(vyre_toml_root(document), "format")) {
        status = damaged(name, "the file is not a certificate");
    }
    status = status ? status : read_number(vyre_toml_root(document), "format", &format);
    if (!status && format != CONFORM_CERTIFICATE_FORMAT) {
        status = vyre_status_make(VYRE_STATUS_MALFORMED,
                                  "check it with the vyre that made it, or with a newer one",
                                  "%s: the certificate has the format %llu, and this vyre reads %d",
                                  name, (unsigned long long)format, CONFORM_CERTIFICATE_FORMAT);
    }
    status = status ? status : check_digest(name, &copy);
    status = status ? status : check_semantics(name, vyre_toml_root(document));
    status = status ? status : read_fields(vyre_toml_root(document), out);
    vyre_toml_free(document);
    out->text = copy.data;
    out->size = copy.size;
    if (status) {
        conform_certificate_free(out);
    }
    return status;
}

vyre_status conform_certificate_read(const char *path, conform_certificate *out) {
    vyre_strbuf text = {0};
    *out = (conform_certificate){0};
    vyre_status status = vyre_file_read(path, VYRE_TOML_MAX_BYTES, &text);
    if (!status) {
        status =
            conform_certificate_parse(path, (vyre_str){vyre_strbuf_string(&text), text.size}, out);
    }
    vyre_strbuf_free(&text);
    return status;
}

void conform_certificate_free(conform_certificate *certificate) {
    vyre_free(certificate->text);
    vyre_free(certificate->device);
    vyre_free(certificate->against);
    vyre_free(certificate->glob);
    *certificate = (conform_certificate){0};
}

/* Comparing: every key of either, but for when it was made. */

typedef struct difference {
    vyre_strbuf *text;
    size_t count;
} difference;

static void put_value(vyre_strbuf *text, const vyre_toml_value *value) {
    vyre_toml_writer w = {.text = text};
    if (value) {
        w.after_key = true;
        vyre_toml_write_value(&w, value);
        while (text->size && text->data[text->size - 1] == '\n') {
            vyre_strbuf_cut(text, text->size - 1);
        }
    } else {
        vyre_strbuf_puts(text, "nothing");
    }
}

static bool is_passing(const char *key) {
    return !strcmp(key, "started") || !strcmp(key, "seconds") || !strcmp(key, "certificate");
}

static void compare_tables(difference *d, const char *path, const vyre_toml_value *left,
                           const vyre_toml_value *right) {
    for (int side = 0; side < 2; side++) {
        const vyre_toml_table *table = side ? right->table : left->table;
        for (const vyre_toml_entry *e = table->first; e; e = e->next) {
            const vyre_toml_value *other = vyre_toml_find(side ? left : right, e->key.data);
            if ((side && other) || is_passing(e->key.data)) {
                continue; /* seen from the other side */
            }
            vyre_strbuf name = {0}, was = {0}, is = {0};
            vyre_strbuf_printf(&name, "%s%s%s", path, *path ? "." : "", e->key.data);
            const vyre_toml_value *first = side ? other : &e->value;
            const vyre_toml_value *second = side ? &e->value : other;
            if (first && second && first->type == VYRE_TOML_TABLE &&
                second->type == VYRE_TOML_TABLE) {
                compare_tables(d, vyre_strbuf_string(&name), first, second);
            } else {
                bool is_table = e->value.type == VYRE_TOML_TABLE;
                put_value(&was, is_table ? NULL : first);
                put_value(&is, is_table ? NULL : second);
                if (is_table || strcmp(vyre_strbuf_string(&was), vyre_strbuf_string(&is)) != 0) {
                    d->count++;
                    vyre_strbuf_printf(d->text, "%s: %s in the certificate, now %s\n",
                                       vyre_strbuf_string(&name),
                                       is_table && first ? "a table" : vyre_strbuf_string(&was),
                                       is_table && second ? "a table" : vyre_strbuf_string(&is));
                }
            }
            d->text->failed |= name.failed || was.failed || is.failed;
            vyre_strbuf_free(&name);
            vyre_strbuf_free(&was);
            vyre_strbuf_free(&is);
        }
    }
}

vyre_status conform_certificate_compare(const conform_certificate *certificate,
                                        const conform_session *c, vyre_strbuf *text,
                                        size_t *out_count) {
    vyre_strbuf now = {0};
    vyre_toml *old = NULL, *new = NULL;
    difference d = {text, 0};
    conform_certificate_write(c, &now);
    vyre_status status =
        now.failed ? vyre_no_memory("for the certificate")
                   : vyre_toml_read("certificate", certificate->text, certificate->size, &old);
    status = status ? status : vyre_toml_read("certificate", now.data, now.size, &new);
    if (!status) {
        compare_tables(&d, "", vyre_toml_root(old), vyre_toml_root(new));
    }
    *out_count = d.count;
    vyre_toml_free(old);
    vyre_toml_free(new);
    vyre_strbuf_free(&now);
    return status;
}
