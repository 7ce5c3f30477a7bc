/* What is wrong with a library, and with what it answers. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp, realpath */

#include <link.h>

#include <vyre/device.h>

#include "runtime/slots.h"
#include "tests/unit/plugin_check.h"

/* Every broken plugin in one folder with two that are well: the first in its order and the last. */
static void library_refused_with_reason_and_fix(void **state) {
    (void)state;
    static const struct {
        const char *name, *reason, *fix;
    } rows[] = {
        {"wrong_major", "ABI 2.0, whose major number differs from that of 1.3", "build it against"},
        {"wrong_minor", "needs ABI 1.4, and this version of vyre has 1.3", "upgrade vyre"},
        {"short_bundle", "bundle", "VYRE_BUNDLE_HEAD"},
        {"short_rows", "rows of 8, 16 and 16 bytes", "VYRE_BUNDLE_HEAD"},
        {"no_symbol", "has no symbol vyre_backend_query", "default visibility"},
        {"no_answer", "does not support ABI 1.3", "upgrade vyre"},
        {"unresolved", "nobody_defines_this", "run ldd"},
        {"bad_letters", "`Bad:Letters`", "a-z, digits"},
        {"no_id", "no ID", "set the backend's ID in every entry"},
        {"no_backend", "registers no backend", "add a registration"},
        {"twice", "registers `twice` twice", "its own ID"},
        {"meddler", "ranks `good`, which it does not register", "remove that row"},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    plugin_install("all", "0-good", "good");
    plugin_install("all", "z-other", "other");
    for (size_t i = 0; i < COUNT; i++) {
        plugin_install("all", rows[i].name, rows[i].name);
    }
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    for (size_t i = 0; i < COUNT; i++) {
        assert_refused(below("all/%s.toml", rows[i].name) + strlen(place) + 1, rows[i].reason,
                       rows[i].fix);
        assert_string_equal(
            plugin_record(below("all/%s.toml", rows[i].name) + strlen(place) + 1)->library,
            below("all/%s.so", rows[i].name));
    }
    assert_admitted("all/0-good.toml", "good");
    assert_admitted("all/z-other.toml", "other");
    size_t count;
    vyre_registry_backends(registry, &count);
    assert_int_equal(count, 2);
    assert_int_equal(vyre_registry_rank(registry, "good"), 50); /* not what the meddler says */
    assert_true(vyre_registry_dispatches(registry, "other"));
}

static void library_of_a_duplicate_is_refused_whole(void **state) {
    (void)state;
    plugin_install("first", "a", "good");
    plugin_install("second", "a", "good");
    plugin_install("second", "b", "other");
    char paths[2 * PLUGIN_PATH];
    snprintf(paths, sizeof paths, "%s:%s", below("first"), below("second"));
    setenv("VYRE_BACKEND_PATH", paths, 1);
    plugin_search();
    assert_admitted("first/a.toml", "good");
    assert_refused("second/a.toml", "a backend `good` is already registered, from",
                   "remove one of");
    assert_non_null(strstr(plugin_record("second/a.toml")->detail, below("first/good.so")));
    assert_admitted("second/b.toml", "other");
    size_t count;
    vyre_registry_backends(registry, &count);
    assert_int_equal(count, 2);
    assert_string_equal(vyre_registry_origin(registry, "good"), below("first/good.so"));
}

static vyre_status make_nothing(const vyre_host *host, uint32_t device, vyre_backend *out) {
    (void)device, (void)out;
    return host->status_make(VYRE_FAIL_UNAVAILABLE, NULL, "not here");
}

static void library_does_not_replace_a_backend_of_the_program(void **state) {
    (void)state;
    static const vyre_registration registration = {.id = "good", .create = make_nothing};
    static const vyre_bundle bundle = {VYRE_BUNDLE_HEAD, .registrations = &registration,
                                       .registration_count = 1};
    plugin_install("all", "a", "good");
    set_folder("VYRE_BACKEND_PATH", "all");
    assert_null(vyre_registry_create(&registry));
    assert_null(vyre_registry_add(registry, &bundle));
    assert_null(vyre_plugins_load(registry));
    assert_refused("all/a.toml", "a backend `good` is already registered, from program", "remove");
}

/* Writes a file that a manifest `name`.toml calls a library. */
static void install_bytes(const char *name, const void *data, size_t size) {
    char text[256];
    make_folder(below("all"));
    write_file(below("all/%s.so", name), data, size);
    snprintf(text, sizeof text, "library = \"%s.so\"\n", name);
    write_text(below("all/%s.toml", name), text);
}

/* Where the last part of a library ends that is loaded. */
static size_t loaded_size(const char *library) {
    const ElfW(Ehdr) *header = (const void *)library;
    const ElfW(Phdr) *segments = (const void *)(library + header->e_phoff);
    size_t end = 0;
    for (size_t i = 0; i < header->e_phnum; i++) {
        size_t last = segments[i].p_offset + segments[i].p_filesz;
        end = segments[i].p_type == PT_LOAD && last > end ? last : end;
    }
    return end;
}

static void library_that_is_no_library_is_refused(void **state) {
    (void)state;
    vyre_strbuf good = read_library("good");
    Elf64_Ehdr *header = (void *)good.data; /* the fields that matter lie alike in both classes */
    install_bytes("text", "#!/bin/sh\nexit 0\n", 17);
    install_bytes("empty", "", 0);
    install_bytes("magic", ELFMAG, SELFMAG);
    install_bytes("ident", good.data, EI_NIDENT);
    install_bytes("header", good.data, sizeof *header);
    install_bytes("half", good.data, loaded_size(good.data) / 2);
    unsigned char class = header->e_ident[EI_CLASS];
    header->e_ident[EI_CLASS] = class == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    install_bytes("class", good.data, good.size);
    header->e_ident[EI_CLASS] = class;
    Elf64_Half machine = header->e_machine;
    header->e_machine = EM_SPARC;
    install_bytes("machine", good.data, good.size);
    header->e_machine = machine;
    header->e_phoff = UINT64_MAX - 8;
    install_bytes("wild", good.data, good.size);
    vyre_strbuf_free(&good);
    write_text(below("all/absent.toml"), "library = \"absent.so\"\n");
    write_text(below("all/folder.toml"), "library = \".\"\n");
    plugin_install("all", "z", "good");

    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    assert_refused("all/text.toml", "text.so is not an ELF file", "name a shared library");
    assert_refused("all/empty.toml", "empty.so is not an ELF file", "name a shared library");
    assert_refused("all/magic.toml", "magic.so is not an ELF file", "name a shared library");
    assert_refused("all/ident.toml", "ident.so is truncated or damaged",
                   "build or install it again");
    assert_refused("all/header.toml", "header.so is truncated or damaged", "again");
    assert_refused("all/half.toml", "half.so is truncated or damaged", "again");
    assert_refused("all/wild.toml", "wild.so is truncated or damaged", "again");
    assert_refused("all/class.toml", class == ELFCLASS64 ? "a 32-bit library" : "a 64-bit library",
                   "word size");
    assert_refused("all/machine.toml", "is built for ELF machine 2", "this machine");
    assert_refused("all/absent.toml", "No such file", "create it, or remove the manifest");
    assert_refused("all/folder.toml", "is not a regular file", "replace it with a regular file");
    assert_admitted("all/z.toml", "good");
}

static void library_cut_anywhere_is_refused(void **state) {
    (void)state;
    vyre_strbuf good = read_library("good");
    size_t end = loaded_size(good.data);
    set_folder("VYRE_BACKEND_PATH", "all");
    for (size_t size = 0; size < end; size += size < 1024 ? 37 : 911) {
        install_bytes("cut", good.data, size);
        plugin_search();
        assert_int_equal(plugin_record("all/cut.toml")->fate, VYRE_PLUGIN_REFUSED);
    }
    vyre_strbuf_free(&good);
}

static void acquire_refused(const char *id, vyre_status_code code, const char *reason) {
    vyre_device *device = NULL;
    vyre_status status = vyre_registry_acquire(registry, id, &device);
    assert_null(device);
    assert_non_null(status);
    if (vyre_status_code_of(status) != code || !strstr(vyre_status_text(status), reason)) {
        print_message("%s: %s\n", id, vyre_status_text(status));
    }
    assert_int_equal(vyre_status_code_of(status), code);
    assert_non_null(strstr(vyre_status_text(status), reason));
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
}

/* What shows only when a device is asked for, and leaves the others alone. */
static void library_whose_backend_is_broken_fails_when_acquired(void **state) {
    (void)state;
    plugin_install("all", "a", "bad_marker");
    plugin_install("all", "b", "other_id");
    plugin_install("all", "c", "failing_create");
    plugin_install("all", "d", "good");
    plugin_install("all", "e", "wrong_bytes");
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    acquire_refused("bad-marker", VYRE_STATUS_BACKEND, "marker");
    acquire_refused("other-id", VYRE_STATUS_BACKEND, "gives the ID `another`");
    acquire_refused("failing-create", VYRE_STATUS_UNAVAILABLE, "there is no device");
    vyre_device *device;
    assert_null(vyre_registry_acquire(registry, "good", &device));
    assert_string_equal(vyre_device_id(device), "good");
    vyre_device_release(device);
    assert_null(vyre_registry_acquire(registry, "wrong-bytes", &device));
    vyre_device_release(device);
}

/* Tables of an older and of a newer version than the host's, in both of which the host finds what
 * it knows. */
static void library_of_another_minor_version_is_used(void **state) {
    (void)state;
    plugin_install("all", "a", "longer");
    plugin_install("all", "b", "shorter");
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    assert_admitted("all/a.toml", "longer, longer-too");
    assert_admitted("all/b.toml", "shorter");
    static const struct {
        const char *id, *version;
        uint32_t rank, devices;
    } rows[] = {{"longer", "unspecified", 60, 2},
                {"longer-too", "unspecified", 70, 1},
                {"shorter", "old", 50, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const vyre_registration *found;
        vyre_device *device;
        assert_int_equal(vyre_registry_rank(registry, rows[i].id), rows[i].rank);
        assert_true(vyre_registry_dispatches(registry, rows[i].id));
        assert_null(vyre_registry_find(registry, rows[i].id, &found));
        assert_int_equal(vyre_registration_device_count(found), rows[i].devices);
        assert_null(vyre_registry_acquire(registry, rows[i].id, &device));
        assert_string_equal(vyre_device_version(device), rows[i].version);
        assert_int_equal(vyre_device_features(device), 0);
        vyre_profile profile;
        vyre_device_profile(device, &profile);
        assert_int_equal(profile.subgroup_size, 0);
        assert_false(vyre_device_lost(device));
        vyre_device_release(device);
    }
}

/* A newer host takes older plugins, an older one refuses newer ones, and majors never mix. */
static void abi_numbers_suit_or_do_not(void **state) {
    (void)state;
    static const struct {
        uint32_t needed, host;
        bool suits;
    } rows[] = {
        {0x10000, 0x10000, true},  {0x10000, 0x10001, true},  {0x10003, 0x10007, true},
        {0x10001, 0x10000, false}, {0x10007, 0x10003, false}, {0x10000, 0x20000, false},
        {0x20000, 0x10005, false}, {0x00001, 0x10000, false}, {0x1ffff, 0x1ffff, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(vyre_abi_suits(rows[i].needed, rows[i].host), rows[i].suits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLUGIN_TEST(library_refused_with_reason_and_fix),
        PLUGIN_TEST(library_of_another_minor_version_is_used),
        cmocka_unit_test(abi_numbers_suit_or_do_not),
        PLUGIN_TEST(library_of_a_duplicate_is_refused_whole),
        PLUGIN_TEST(library_does_not_replace_a_backend_of_the_program),
        PLUGIN_TEST(library_that_is_no_library_is_refused),
        PLUGIN_TEST(library_cut_anywhere_is_refused),
        PLUGIN_TEST(library_whose_backend_is_broken_fails_when_acquired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
