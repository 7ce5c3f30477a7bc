/* Certificates of conformance: what is read from one, what is refused, and that a comparison names
 * what differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/reference/backend.h"
#include "base/hash.h"
#include "conform/session.h"

static vyre_device *device;
static conform_session conform;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static int run_once(void **state) {
    (void)state;
    const vyre_reference_options plain = {0};
    conform = (conform_session){.suites = 1u << CONFORM_SUITE_SIZES | 1u << CONFORM_SUITE_RANDOM,
                                .seed = 3,
                                .programs = 2,
                                .runs = 1,
                                .glob = "sizes.repeat.*,random.*"};
    expect_ok(vyre_reference_open(&plain, &device));
    expect_ok(conform_session_list(&conform));
    expect_ok(conform_session_run(&conform, device));
    return 0;
}

static int end(void **state) {
    (void)state;
    conform_session_deinit(&conform);
    vyre_device_release(device);
    return 0;
}

static vyre_strbuf make(void) {
    vyre_strbuf text = {0};
    conform_certificate_write(&conform, &text);
    assert_false(text.failed);
    return text;
}

/* Reads it with `from` replaced, and with the digest of what is there then. */
static vyre_status read_forged(const char *from, const char *to, conform_certificate *out) {
    vyre_strbuf text = make(), forged = {0};
    char *end_of_text = strstr(text.data, "\n[certificate]\n"), *at = strstr(text.data, from);
    assert_true(end_of_text && at && at < end_of_text);
    vyre_strbuf_add(&forged, text.data, (size_t)(at - text.data));
    vyre_strbuf_puts(&forged, to);
    vyre_strbuf_add(&forged, at + strlen(from), (size_t)(end_of_text - at) - strlen(from));
    vyre_hash128 digest = vyre_hash_128(forged.data, forged.size);
    vyre_strbuf_printf(&forged, "\n[certificate]\ndigest = \"%016llx%016llx\"\n",
                       (unsigned long long)digest.high, (unsigned long long)digest.low);
    vyre_status status =
        conform_certificate_parse("forged", (vyre_str){forged.data, forged.size}, out);
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&forged);
    return status;
}

static void expect_differences(const char *from, const char *to, const char *expected) {
    conform_certificate certificate;
    vyre_strbuf lines = {0};
    size_t count = 0;
    expect_ok(read_forged(from, to, &certificate));
    expect_ok(conform_certificate_compare(&certificate, &conform, &lines, &count));
    assert_string_equal(vyre_strbuf_string(&lines), expected);
    assert_int_equal(count, *expected ? 1 : 0);
    vyre_strbuf_free(&lines);
    conform_certificate_free(&certificate);
}

static void what_differs_is_named(void **state) {
    (void)state;
    char line[256];
    expect_differences("seed = 3", "seed = 3", "");
    expect_differences("\nstarted = \"2", "\nstarted = \"1", "");
    expect_differences("device = \"\"", "device = \"another\"",
                       "device: \"another\" in the certificate, now \"\"\n");
    expect_differences("driver = \"\"", "driver = \"550.1\"",
                       "driver: \"550.1\" in the certificate, now \"\"\n");
    expect_differences("grade = \"exact\"", "grade = \"normal-range\"",
                       "grade: \"normal-range\" in the certificate, now \"exact\"\n");
    snprintf(line, sizeof line, "vyre: \"0.0.1\" in the certificate, now \"%s\"\n",
             VYRE_VERSION_STRING);
    expect_differences("vyre = \"" VYRE_VERSION_STRING, "vyre = \"0.0.1", line);
    expect_differences("passed = 5", "passed = 4",
                       "suites.sizes.passed: 4 in the certificate, now 5\n");
    char digest[64], changed[64];
    snprintf(digest, sizeof digest, "digest = \"%016llx\"",
             (unsigned long long)conform.tallies[CONFORM_SUITE_RANDOM].digest);
    snprintf(changed, sizeof changed, "digest = \"0123456789abcdef\"");
    snprintf(line, sizeof line,
             "suites.random.digest: \"0123456789abcdef\" in the certificate, now \"%016llx\"\n",
             (unsigned long long)conform.tallies[CONFORM_SUITE_RANDOM].digest);
    expect_differences(digest, changed, line);
    expect_differences("is_gpu = ", "is_gpu_too = 1\nis_gpu = ",
                       "profile.is_gpu_too: 1 in the certificate, now nothing\n");
    expect_differences("is_gpu = false\n", "",
                       "profile.is_gpu: nothing in the certificate, now false\n");
}

/* It vouches for bytes that programs no longer give. */
static void a_certificate_of_other_semantics_is_refused(void **state) {
    (void)state;
    char now[32];
    snprintf(now, sizeof now, "semantics = %d", VYRE_SEMANTICS);
    static const char *const others[] = {"semantics = 1", "semantics = 99", "",
                                         "semantics = \"x\""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        conform_certificate certificate;
        vyre_status status = read_forged(now, others[i], &certificate);
        assert_non_null(status);
        assert_non_null(strstr(vyre_status_text(status), "semantics"));
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        assert_null(certificate.text);
        vyre_status_free(status);
    }
}

/* A right digest does not make sense of what it is over. */
static void wrong_types_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *what;
    } rows[] = {
        {"seed = 3", "seed = -3", "seed"},
        {"seed = 3", "seed = \"three\"", "seed"},
        {"seed = 3", "seed = \"18446744073709551616\"", "seed"},
        {"seed = 3", "seed = 3.5", "seed"},
        {"seed = 3", "", "seed"},
        {"programs = 2", "programs = [2]", "programs"},
        {"runs = 1", "runs = true", "runs"},
        {"[\"sizes\", \"random\"]", "[\"sizes\", \"ranom\"]", "suites_asked_for"},
        {"[\"sizes\", \"random\"]", "[1]", "suites_asked_for"},
        {"[\"sizes\", \"random\"]", "\"sizes\"", "suites_asked_for"},
        {"tags_asked_for = []", "tags_asked_for = [\"none\", \"f31\"]", "tags_asked_for"},
        {"backend = \"reference\"", "backend = 7", "backend"},
        {"backend = \"reference\"", "backend = \"reference\"\nagainst = 7", "against"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conform_certificate certificate;
        vyre_status status = read_forged(rows[i].from, rows[i].to, &certificate);
        if (!status || !strstr(vyre_status_text(status), rows[i].what) ||
            !strstr(vyre_status_text(status), "Fix: ")) {
            fail_msg("%s: %s", rows[i].to, vyre_status_text(status));
        }
        vyre_status_free(status);
        assert_null(certificate.text);
        assert_null(certificate.device);
    }
}

static void what_was_asked_for_comes_back(void **state) {
    (void)state;
    vyre_strbuf text = make();
    conform_certificate read;
    expect_ok(conform_certificate_parse("certificate", (vyre_str){text.data, text.size}, &read));
    assert_string_equal(read.device, "reference");
    assert_string_equal(read.glob, "sizes.repeat.*,random.*");
    assert_int_equal(read.suites, conform.suites);
    assert_int_equal(read.tags, 0);
    assert_int_equal(read.seed, 3);
    assert_int_equal(read.programs, 2);
    assert_int_equal(read.runs, 1);
    conform_certificate_free(&read);
    vyre_strbuf_free(&text);
}

/* Each byte changed, and each place it may be cut off at. */
static void every_changed_byte_and_every_cut_is_refused(void **state) {
    (void)state;
    vyre_strbuf text = make();
    for (size_t i = 0; i < text.size; i++) {
        for (int cut = 0; cut < 2; cut++) {
            conform_certificate read;
            char before = text.data[i];
            text.data[i] = cut ? before : (char)(before ^ 1);
            vyre_str now = {text.data, cut ? i : text.size};
            vyre_status status = conform_certificate_parse("changed", now, &read);
            if (!status) {
                fail_msg("byte %zu, %s, is not noticed", i, cut ? "truncated" : "changed");
            }
            assert_int_not_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
            vyre_status_free(status);
            text.data[i] = before;
        }
    }
    vyre_strbuf_free(&text);
}

static void the_same_run_gives_the_same_certificate(void **state) {
    (void)state;
    vyre_strbuf before = make();
    conform_certificate read;
    vyre_strbuf lines = {0};
    size_t count = 0;
    expect_ok(conform_certificate_parse("before", (vyre_str){before.data, before.size}, &read));
    expect_ok(conform_session_run(&conform, device));
    expect_ok(conform_certificate_compare(&read, &conform, &lines, &count));
    assert_string_equal(vyre_strbuf_string(&lines), "");
    assert_int_equal(count, 0);
    vyre_strbuf_free(&lines);
    vyre_strbuf_free(&before);
    conform_certificate_free(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_for_comes_back),
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(a_certificate_of_other_semantics_is_refused),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(every_changed_byte_and_every_cut_is_refused),
        cmocka_unit_test(the_same_run_gives_the_same_certificate),
    };
    return cmocka_run_group_tests(tests, run_once, end);
}
