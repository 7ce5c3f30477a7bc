/* The registry: what is added, what can be asked, by one or by many at once. */
#include "tests/unit/tiny_backends.h"

#include <pthread.h>
#include <stdio.h>

#include "backend/table.h"
#include "registry/registry.h"
#include "tests/unit/failing_allocator.h"

static void dispatches_S1_S43_as_capability_entries_say(void **state) {
    (void)state;
    tiny_reset();
    tiny[1].emission_only = true;
    tiny[2].undeclared = true;
    vyre_registry *registry = tiny_registry(3);
    assert_true(vyre_registry_dispatches(registry, "a"));
    assert_false(vyre_registry_dispatches(registry, "b"));
    assert_false(vyre_registry_dispatches(registry, "c"));
    assert_false(vyre_registry_dispatches(registry, "nobody"));
    vyre_registry_free(registry);
}

static void rank_S3_S42_as_submitted_or_last(void **state) {
    (void)state;
    tiny_reset();
    tiny[1].unranked = true;
    tiny[2].rank = 0;
    vyre_registry *registry = tiny_registry(3);
    assert_int_equal(vyre_registry_rank(registry, "a"), 10);
    assert_int_equal(vyre_registry_rank(registry, "b"), 4294967295u);
    assert_int_equal(vyre_registry_rank(registry, "c"), 0);
    assert_int_equal(vyre_registry_rank(registry, "nobody"), 4294967295u);
    /* Lower is better, absent comes last. */
    size_t count;
    const vyre_registration *const *sorted = vyre_registry_by_rank(registry, &count);
    assert_int_equal(count, 3);
    assert_string_equal(sorted[0]->id, "c");
    assert_string_equal(sorted[1]->id, "a");
    assert_string_equal(sorted[2]->id, "b");
    vyre_registry_free(registry);
}

/* Fails every allocation from now on, or the next few. */
static void *refuse_resize(void *user, void *memory, size_t size) {
    (void)memory;
    (void)size;
    ++*(size_t *)user;
    return NULL;
}

static void *refuse_few(void *user, void *memory, size_t size) {
    return *(size_t *)user && (*(size_t *)user)-- ? NULL : realloc(memory, size);
}

static void plain_free(void *user, void *memory) {
    (void)user;
    free(memory);
}

static size_t refused, to_refuse;
static const vyre_allocator refusing = {refuse_resize, plain_free, &refused};
static const vyre_allocator refusing_few = {refuse_few, plain_free, &to_refuse};

static void queries_S2_S3_S6_a_failed_table_stays_failed_and_reads_as_absent(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(2);
    refused = 0;
    vyre_allocator_set(&refusing);
    bool dispatches = vyre_registry_dispatches(registry, "a");
    size_t after_first = refused;
    uint32_t rank = vyre_registry_rank(registry, "a");
    vyre_allocator_set(NULL);
    assert_true(after_first > 0);
    assert_int_equal(refused, after_first); /* the first question built all that there is */
    assert_false(dispatches);
    assert_int_equal(rank, 4294967295u);

    /* There is memory now, but nothing is tried again. */
    failing_allocator_start(0);
    assert_false(vyre_registry_dispatches(registry, "a"));
    assert_int_equal(vyre_registry_rank(registry, "a"), 4294967295u);
    assert_int_equal(failing_allocator_state.count, 0);
    failing_allocator_stop();
    bool capable = true;
    vyre_status first = vyre_registry_capable(registry, "a", &capable);
    vyre_status second = vyre_registry_capable(registry, "a", &capable);
    assert_false(capable);
    assert_string_equal(vyre_status_text(first), vyre_status_text(second));
    vyre_status_free(first);
    vyre_status_free(second);
    vyre_registry_free(registry);
}

/* The n-th allocation of building a table fails, for each n; `ask` says whether it was ready. */
typedef vyre_status (*question)(vyre_registry *registry);

static vyre_status ask_capability(vyre_registry *registry) {
    bool dispatches;
    return vyre_registry_capable(registry, "a", &dispatches);
}

static vyre_status ask_sorted(vyre_registry *registry) {
    const vyre_registration *const *list;
    size_t count;
    return vyre_registry_sorted(registry, &list, &count);
}

static vyre_status ask_by_id(vyre_registry *registry) {
    const vyre_registration *found;
    return vyre_registry_find(registry, "a", &found);
}

static void check_failure_text(question ask, const char *table, const char *cause) {
    char unavailable[128], initialization[128];
    snprintf(unavailable, sizeof unavailable, "backend registry %s is unavailable: ", table);
    snprintf(initialization, sizeof initialization,
             "unavailable: %s initialization failed: ", table);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        vyre_registry *registry = tiny_registry(2);
        failing_allocator_start(n);
        vyre_status status = ask(registry);
        failing_allocator_end();
        if (!failing_allocator_failed()) {
            expect_ok(status);
            vyre_registry_free(registry);
            break;
        }
        if (status) { /* else a reservation that may fail */
            failures++;
            vyre_status_free(status);
            status = ask(registry);
            assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
            const char *fix = vyre_status_fix(status);
            assert_non_null(strstr(fix, "reduce the linked backend inventory"));
            assert_non_null(strstr(fix, "increase available memory"));
            assert_non_null(strstr(fix, "split registry initialization"));
            const char *text = vyre_status_text(status);
            assert_ptr_equal(strstr(text, unavailable), text);
            assert_non_null(strstr(text, initialization));
            assert_non_null(strstr(text, cause));
            vyre_status_free(status);
        }
        vyre_registry_free(registry);
    }
    assert_true(failures > 0);
}

static void tables_S6_S7_failures_say_which_table_why_and_three_remedies(void **state) {
    (void)state;
    tiny_reset();
    check_failure_text(ask_capability, "dispatch capability table", "no memory for one more");
    check_failure_text(ask_by_id, "by-id table", "no memory for one more id");
    check_failure_text(ask_sorted, "sorted-by-precedence table", "no memory for one more");
}

static void tables_S7_the_sorted_table_names_the_precedence_table_that_failed(void **state) {
    (void)state;
    tiny_reset();
    size_t found = 0;
    for (size_t n = 1; n == 1 || failing_allocator_failed(); n++) {
        vyre_registry *registry = tiny_registry(2);
        failing_allocator_start(n);
        uint32_t rank = vyre_registry_rank(registry, "a");
        failing_allocator_end();
        if (rank == VYRE_NO_RANK) {
            found++;
            expect_fail(ask_sorted(registry), VYRE_STATUS_OUT_OF_MEMORY,
                        "backend registry sorted-by-precedence table is unavailable: "
                        "sorted-by-precedence table initialization failed: "
                        "backend registry precedence table is unavailable: "
                        "precedence table initialization failed: no memory");
        } else {
            assert_int_equal(rank, 10);
        }
        vyre_registry_free(registry);
    }
    assert_true(found > 0);
}

static const vyre_registration twice[] = {{"x", tiny_create_0, NULL, NULL},
                                          {"x", tiny_create_1, NULL, NULL}};
static const vyre_precedence ranks[] = {{"x", 5}, {"x", 3}};
static const vyre_capability says_no[] = {{"x", true}, {"x", false}};
static const vyre_capability says_yes[] = {{"x", true}};
static const vyre_bundle doubled = {VYRE_BUNDLE_HEAD, twice, 2, ranks, 2, says_no, 2};
static const vyre_bundle yes = {VYRE_BUNDLE_HEAD, NULL, 0, NULL, 0, says_yes, 1};

static void queries_S4_the_last_entry_counts(void **state) {
    (void)state;
    vyre_registry *registry;
    expect_ok(vyre_registry_create(&registry));
    expect_ok(vyre_registry_add(registry, &doubled));
    assert_false(vyre_registry_dispatches(registry, "x"));
    assert_int_equal(vyre_registry_rank(registry, "x"), 3);
    vyre_registry_free(registry);

    expect_ok(vyre_registry_create(&registry));
    expect_ok(vyre_registry_add(registry, &doubled));
    expect_ok(vyre_registry_add(registry, &yes));
    assert_true(vyre_registry_dispatches(registry, "x"));
    vyre_registry_free(registry);
}

static void find_S10_the_first_registration_counts(void **state) {
    (void)state;
    vyre_registry *registry;
    const vyre_registration *found;
    expect_ok(vyre_registry_create(&registry));
    expect_ok(vyre_registry_add(registry, &doubled));
    expect_ok(vyre_registry_find(registry, "x", &found));
    assert_ptr_equal(found, &twice[0]);
    size_t count;
    vyre_registry_backends(registry, &count);
    assert_int_equal(count, 2); /* both are there */
    vyre_registry_free(registry);
}

/* Later calls neither allocate nor look at the bundles again, whatever is in them by then. */
static void tables_S5_are_built_once(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(4);
    size_t count;
    const vyre_registration *found;
    const vyre_registration *const *sorted = vyre_registry_by_rank(registry, &count);
    tiny_capabilities[1].dispatches = false;
    tiny_precedences[1].rank = 99;
    tiny_registrations[1].id = "later";
    tiny_bundle.registration_count = 3;
    failing_allocator_start(0);
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(vyre_registry_by_rank(registry, &count), sorted);
        assert_int_equal(count, 4);
        for (size_t k = 0; k < 4; k++) {
            assert_ptr_equal(sorted[k], &tiny_registrations[k]);
        }
        assert_true(vyre_registry_dispatches(registry, "b"));
        assert_int_equal(vyre_registry_rank(registry, "b"), 20);
        expect_ok(vyre_registry_find(registry, "b", &found));
        assert_ptr_equal(found, &tiny_registrations[1]);
        expect_ok(vyre_registry_find(registry, "later", &found));
        assert_null(found);
    }
    assert_int_equal(failing_allocator_state.count, 0);
    failing_allocator_stop();
    vyre_registry_free(registry);
}

static void sorted_S8_by_rank_then_id_whatever_the_order(void **state) {
    (void)state;
    static const char *const expected[] = {"z", "a", "b", "b-2", "y"};
    static const struct {
        const char *id;
        uint32_t rank;
    } rows[5] = {{"y", 9}, {"b", 7}, {"a", 7}, {"b-2", 7}, {"z", 1}};
    for (size_t shift = 0; shift < 5; shift++) {
        tiny_reset();
        for (size_t i = 0; i < 5; i++) {
            tiny[i].id = rows[(i + shift) % 5].id;
            tiny[i].rank = rows[(i + shift) % 5].rank;
        }
        vyre_registry *registry = tiny_registry(5);
        size_t count;
        const vyre_registration *const *sorted = vyre_registry_by_rank(registry, &count);
        assert_int_equal(count, 5);
        for (size_t i = 0; i < 5; i++) {
            assert_string_equal(sorted[i]->id, expected[i]);
        }
        vyre_registry_free(registry);
    }
}

static void sorted_S9_has_all_and_creates_none(void **state) {
    (void)state;
    tiny_reset();
    tiny[0].emission_only = true;
    tiny[1].id = "reference";
    tiny[2].id = "cpu-ref";
    tiny[3].undeclared = true;
    tiny[3].unranked = true;
    vyre_registry *registry = tiny_registry(5);
    size_t count;
    const vyre_registration *const *sorted = vyre_registry_by_rank(registry, &count);
    assert_int_equal(count, 5);
    static const char *const expected[] = {"a", "reference", "cpu-ref", "e", "d"};
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(sorted[i]->id, expected[i]);
        assert_int_equal(tiny[i].created, 0);
    }
    vyre_registry_free(registry);
}

static void sorted_S11_is_empty_after_a_failure_and_the_copy_is_a_copy(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(3);
    size_t count, copied;
    const vyre_registration **copy;
    const vyre_registration *const *sorted = vyre_registry_by_rank(registry, &count);
    expect_ok(vyre_registry_by_rank_copy(registry, &copy, &copied));
    assert_int_equal(copied, 3);
    assert_ptr_not_equal(copy, sorted);
    assert_memory_equal(copy, sorted, 3 * sizeof *copy);
    vyre_registry_list_free(copy);
    failing_allocator_start(1);
    vyre_status status = vyre_registry_by_rank_copy(registry, &copy, &copied);
    failing_allocator_end();
    expect_fail(status, VYRE_STATUS_OUT_OF_MEMORY, "3 registrations");
    assert_null(copy);
    vyre_registry_free(registry);

    registry = tiny_registry(3);
    vyre_allocator_set(&refusing);
    vyre_registry_by_rank(registry, &count);
    vyre_allocator_set(NULL);
    assert_int_equal(count, 0);
    count = copied = 1;
    vyre_registry_by_rank(registry, &count);
    assert_int_equal(count, 0);
    expect_ok(vyre_registry_by_rank_copy(registry, &copy, &copied));
    assert_int_equal(copied, 0);
    vyre_registry_list_free(copy);
    vyre_registry_free(registry);
}

static void queries_S36_missing_ids_are_absent(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registries[] = {tiny_registry(2), tiny_registry(0), vyre_registry_default()};
    for (size_t i = 0; i < 3; i++) {
        static const char *const missing[] = {"missing-backend", "", "A", NULL};
        for (size_t k = 0; k < 4; k++) {
            bool dispatches = true;
            const vyre_registration *found = &twice[0];
            expect_ok(vyre_registry_capable(registries[i], missing[k], &dispatches));
            assert_false(dispatches);
            assert_false(vyre_registry_dispatches(registries[i], missing[k]));
            assert_int_equal(vyre_registry_rank(registries[i], missing[k]), UINT32_MAX);
            expect_ok(vyre_registry_find(registries[i], missing[k], &found));
            assert_null(found);
        }
    }
    vyre_registry_free(registries[0]);
    vyre_registry_free(registries[1]);
}

static void backends_S44_all_that_were_added(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(3);
    expect_ok(vyre_registry_add(registry, &doubled));
    size_t count;
    const vyre_registration *const *list = vyre_registry_backends(registry, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++) {
        const vyre_registration *wanted = i < 3 ? &tiny_registrations[i] : &twice[i - 3];
        size_t seen = 0;
        for (size_t k = 0; k < count; k++) {
            seen += list[k] == wanted;
        }
        assert_int_equal(seen, 1);
    }
    vyre_registry_free(registry);
}

static void backends_S45_the_first_call_freezes_the_list(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(3);
    size_t count, again;
    const vyre_registration *const *list = vyre_registry_backends(registry, &count);
    assert_int_equal(count, 3);
    tiny_bundle.registration_count = 1; /* nobody walks it again */
    failing_allocator_start(0);
    for (size_t i = 0; i < 100; i++) {
        assert_ptr_equal(vyre_registry_backends(registry, &again), list);
        assert_int_equal(again, 3);
    }
    assert_int_equal(failing_allocator_state.count, 0);
    failing_allocator_stop();
    expect_fail(vyre_registry_add(registry, &doubled), VYRE_STATUS_INVALID_ARGUMENT, "frozen");
    assert_ptr_equal(vyre_registry_backends(registry, &again), list);
    assert_int_equal(again, 3);
    vyre_registry_free(registry);
}

static void backends_S46_go_on_without_a_reservation(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(6);
    size_t count;
    failing_allocator_start(1); /* the reservation is the first */
    const vyre_registration *const *list = vyre_registry_backends(registry, &count);
    failing_allocator_end();
    assert_true(failing_allocator_failed());
    assert_int_equal(count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_ptr_equal(list[i], &tiny_registrations[i]);
    }
    vyre_registry_free(registry);

    /* Where there is none for growth either, the list is empty, and stays so. */
    registry = tiny_registry(6);
    to_refuse = 2; /* the reservation and the first entry */
    vyre_allocator_set(&refusing_few);
    vyre_registry_backends(registry, &count);
    vyre_allocator_set(NULL);
    assert_int_equal(count, 0);
    vyre_registry_backends(registry, &count);
    assert_int_equal(count, 0);
    expect_fail(
        ask_by_id(registry), VYRE_STATUS_OUT_OF_MEMORY,
        "by-id table initialization failed: backend registry registration list is unavailable");
    vyre_registry_free(registry);
}

static void freeze_on_any_question(void **state) {
    (void)state;
    tiny_reset();
    for (int i = 0; i < 7; i++) {
        vyre_registry *registry = tiny_registry(1);
        vyre_device *device = NULL;
        size_t count;
        const char *origin;
        switch (i) {
        case 0: vyre_registry_backends(registry, &count); break;
        case 1: vyre_registry_by_rank(registry, &count); break;
        case 2: assert_true(vyre_registry_dispatches(registry, "a")); break;
        case 3: assert_int_equal(vyre_registry_rank(registry, "a"), 10); break;
        case 4: expect_ok(vyre_registry_acquire(registry, "a", &device)); break;
        case 5: expect_ok(vyre_registry_acquire_preferred(registry, NULL, NULL, &device)); break;
        case 6: assert_non_null(vyre_registry_bundle(registry, 0, &origin)); break;
        }
        vyre_device_release(device);
        expect_fail(vyre_registry_add(registry, &doubled), VYRE_STATUS_INVALID_ARGUMENT, "frozen");
        vyre_registry_free(registry);
    }
}

static void add_refuses_bundles_that_make_no_sense(void **state) {
    (void)state;
    vyre_registry *registry;
    expect_ok(vyre_registry_create(&registry));
    vyre_registration row = {"x", tiny_create_0, NULL, NULL};
    vyre_precedence rank = {"x", 1};
    vyre_capability capability = {"x", true};
    const vyre_bundle good = {VYRE_BUNDLE_HEAD, &row, 1, &rank, 1, &capability, 1};
    expect_fail(vyre_registry_add(registry, NULL), VYRE_STATUS_INVALID_ARGUMENT,
                "the bundle is NULL");
    vyre_bundle bad = good;
    bad.abi = VYRE_ABI + (1 << 16);
    expect_fail(vyre_registry_add(registry, &bad), VYRE_STATUS_UNSUPPORTED, "ABI 1.");
    bad = good;
    bad.struct_size = 8;
    expect_fail(vyre_registry_add(registry, &bad), VYRE_STATUS_UNSUPPORTED, "8 bytes");
    bad = good;
    bad.registrations = NULL;
    expect_fail(vyre_registry_add(registry, &bad), VYRE_STATUS_INVALID_ARGUMENT, "a NULL pointer");
    bad = good;
    bad.precedences = NULL;
    expect_fail(vyre_registry_add(registry, &bad), VYRE_STATUS_INVALID_ARGUMENT, "a NULL pointer");
    bad = good;
    bad.capabilities = NULL;
    expect_fail(vyre_registry_add(registry, &bad), VYRE_STATUS_INVALID_ARGUMENT, "a NULL pointer");
    static const char *const ids[] = {NULL,  "",   "auto", "preferred", "a:b",
                                      "a,b", "a*", "a b",  "A",         "\xc3\xa4"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        row.id = ids[i];
        expect_fail(vyre_registry_add(registry, &good), VYRE_STATUS_INVALID_ARGUMENT, "ID");
        row.id = "x";
        rank.id = ids[i];
        expect_fail(vyre_registry_add(registry, &good), VYRE_STATUS_INVALID_ARGUMENT, "ID");
        rank.id = "x";
        capability.id = ids[i];
        expect_fail(vyre_registry_add(registry, &good), VYRE_STATUS_INVALID_ARGUMENT, "ID");
        capability.id = "x";
    }
    row.create = NULL;
    expect_fail(vyre_registry_add(registry, &good), VYRE_STATUS_INVALID_ARGUMENT,
                "`x` has no factory");
    size_t count;
    vyre_registry_backends(registry, &count);
    assert_int_equal(count, 0);
    vyre_registry_free(registry);
}

/* Whether a finding of a kind about an id is there, with a text in it. */
static bool has_finding(const vyre_registry_findings *findings, vyre_registry_finding_kind kind,
                        const char *id, const char *text) {
    for (size_t i = 0; i < findings->count; i++) {
        const vyre_registry_finding *finding = &findings->items[i];
        if (finding->kind == kind && !strcmp(finding->id, id) && strstr(finding->text, text)) {
            return true;
        }
    }
    return false;
}

static void inspect_finds_duplicates_and_strays(void **state) {
    (void)state;
    tiny_reset();
    tiny[2].undeclared = true;
    static const vyre_registration again[] = {{"a", tiny_create_5, NULL, NULL}};
    static const vyre_precedence stray_rank[] = {{"ghost", 1}, {"x", 4}};
    static const vyre_capability stray_capability[] = {{"phantom", true}};
    static const vyre_bundle strays = {VYRE_BUNDLE_HEAD, again, 1, stray_rank, 2,
                                       stray_capability, 1};
    vyre_registry_findings findings;

    vyre_registry *registry = tiny_registry(2);
    expect_ok(vyre_registry_inspect(registry, &findings));
    assert_int_equal(findings.count, 0);
    vyre_registry_findings_free(&findings);
    vyre_registry_free(registry);

    registry = tiny_registry(3);
    expect_ok(vyre_registry_add(registry, &doubled));
    expect_ok(vyre_registry_admit(registry, &strays, "/usr/lib/strays.so"));
    expect_ok(vyre_registry_inspect(registry, &findings));
    assert_int_equal(findings.count, 7);
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_DUPLICATE_REGISTRATION, "a",
                            "2 times (program, /usr/lib/strays.so); vyre uses the first one"));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_DUPLICATE_REGISTRATION, "x",
                            "2 times (program, program)"));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_DUPLICATE_CAPABILITY, "x",
                            "2 capability entries (program, program); vyre uses the last one"));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_DUPLICATE_PRECEDENCE, "x",
                            "3 precedence entries (program, program, /usr/lib/strays.so)"));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_STRAY_PRECEDENCE, "ghost",
                            "(/usr/lib/strays.so) names backend `ghost`, which is not registered"));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_STRAY_CAPABILITY, "phantom",
                            "a capability entry (/usr/lib/strays.so) names backend `phantom`"));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_NO_CAPABILITY, "c",
                            "`c` (program) has no capability entry"));
    vyre_registry_findings_free(&findings);
    for (size_t n = 1;; n++) {
        failing_allocator_start(n);
        vyre_status status = vyre_registry_inspect(registry, &findings);
        assert_true(!status == !failing_allocator_failed());
        assert_int_equal(findings.count, status ? 0 : 7);
        vyre_registry_findings_free(&findings);
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
    }
    vyre_registry_free(registry);
}

static void bundles_know_where_they_come_from(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(1);
    char path[] = "/usr/lib/twice.so";
    assert_string_equal(vyre_registry_origin(registry, "a"), "program");
    assert_null(vyre_registry_origin(registry, "x"));
    expect_ok(vyre_registry_admit(registry, &doubled, path));
    path[0] = '!'; /* it was copied */
    assert_string_equal(vyre_registry_origin(registry, "x"), "/usr/lib/twice.so");
    const char *origin;
    assert_ptr_equal(vyre_registry_bundle(registry, 0, &origin), &tiny_bundle);
    assert_string_equal(origin, "program");
    assert_ptr_equal(vyre_registry_bundle(registry, 1, &origin), &doubled);
    assert_string_equal(origin, "/usr/lib/twice.so");
    assert_null(vyre_registry_bundle(registry, 2, &origin));
    vyre_registry_free(registry);
    vyre_registry_free(NULL);
}

static void the_default_registry_begins_with_what_is_built_in(void **state) {
    (void)state;
    size_t count, built_in = 0;
    vyre_registry *registry = vyre_registry_default();
    assert_ptr_equal(registry, vyre_registry_default());
    vyre_registry_backends(registry, &count);
    for (size_t b = 0; vyre_builtins[b]; b++) {
        const char *origin;
        const vyre_bundle *bundle = vyre_builtins[b]->bundle;
        assert_ptr_equal(vyre_registry_bundle(registry, b, &origin), bundle);
        assert_string_equal(origin, "built in");
        for (size_t i = 0; i < bundle->registration_count; i++, built_in++) {
            const vyre_registration *found;
            const vyre_registration *row = &bundle->registrations[i];
            expect_ok(vyre_registry_find(registry, row->id, &found));
            assert_ptr_equal(found, row);
        }
    }
    assert_true(built_in > 2 && count >= built_in);
    expect_fail(vyre_registry_add(registry, &doubled), VYRE_STATUS_INVALID_ARGUMENT, "frozen");
    vyre_registry_findings findings;
    expect_ok(vyre_registry_inspect(registry, &findings));
    assert_int_equal(findings.count, 0);
    vyre_registry_findings_free(&findings);
    vyre_registry_free(vyre_registry_default()); /* does nothing */
    vyre_device *device;
    expect_fail(vyre_acquire("nobody-has-this", &device), VYRE_STATUS_NOT_FOUND,
                "`nobody-has-this`");
}

static vyre_status load_nothing(vyre_registry *registry) {
    (void)registry;
    return VYRE_OK;
}

/* What a plugin might do while it is loaded, and a search that fails in the end. */
static size_t loads;
static vyre_status load_meddlers(vyre_registry *registry) {
    loads++;
    size_t count = 9;
    const vyre_registration *found;
    const char *origin;
    vyre_device *device;
    vyre_registry_backends(registry, &count);
    assert_int_equal(count, 0);
    assert_false(vyre_registry_dispatches(registry, "a"));
    expect_fail(vyre_registry_find(registry, "a", &found), VYRE_STATUS_UNAVAILABLE,
                "while it loads plugins");
    expect_fail(vyre_registry_acquire_preferred(registry, NULL, NULL, &device),
                VYRE_STATUS_UNAVAILABLE, "while it loads plugins");
    assert_null(vyre_registry_bundle(registry, 0, &origin));
    expect_fail(vyre_registry_add(registry, &yes), VYRE_STATUS_INVALID_ARGUMENT, "frozen");
    static const vyre_bundle *const built_in[] = {&doubled, NULL};
    vyre_registry *other;
    expect_ok(vyre_registry_make(built_in, load_nothing, &other));
    expect_ok(vyre_registry_find(other, "x", &found));
    assert_ptr_equal(found, &twice[0]);
    vyre_registry_free(other);
    expect_fail(vyre_registry_find(registry, "a", &found), VYRE_STATUS_UNAVAILABLE,
                "while it loads plugins");
    expect_ok(vyre_registry_admit(registry, &doubled, "/usr/lib/doubled.so"));
    return vyre_status_make(VYRE_STATUS_IO, "mend it", "the search stopped");
}

static void plugins_are_loaded_once_and_cannot_wait_for_themselves(void **state) {
    (void)state;
    tiny_reset();
    loads = 0;
    const vyre_bundle *const built_in[] = {tiny_make_bundle(1), NULL};
    vyre_registry *registry;
    expect_ok(vyre_registry_make(built_in, load_meddlers, &registry));
    expect_ok(vyre_registry_add(registry, &yes));
    assert_int_equal(loads, 0);
    assert_true(vyre_registry_dispatches(registry, "a"));
    assert_int_equal(vyre_registry_rank(registry, "x"), 3);
    const vyre_registration *found;
    expect_ok(vyre_registry_find(registry, "x", &found));
    assert_ptr_equal(found, &twice[0]);
    assert_int_equal(loads, 1);

    const char *origin;
    assert_ptr_equal(vyre_registry_bundle(registry, 0, &origin), &tiny_bundle);
    assert_string_equal(origin, "built in");
    assert_ptr_equal(vyre_registry_bundle(registry, 1, &origin), &yes);
    assert_string_equal(origin, "program");
    assert_ptr_equal(vyre_registry_bundle(registry, 2, &origin), &doubled);
    assert_string_equal(origin, "/usr/lib/doubled.so");
    assert_null(vyre_registry_bundle(registry, 3, &origin));
    vyre_registry_findings findings;
    expect_ok(vyre_registry_inspect(registry, &findings));
    assert_true(has_finding(&findings, VYRE_REGISTRY_FINDING_PLUGINS, "",
                            "the search stopped. Fix: mend it"));
    vyre_registry_findings_free(&findings);
    vyre_registry_free(registry);
}

/* Threads that ask everything of a registry that nobody asked before. */
typedef struct asker {
    vyre_registry *registry;
    pthread_barrier_t *start;
    const vyre_registration *const *list;
    const vyre_registration *const *sorted;
    size_t wrong, number;
} asker;

static void *ask_everything(void *argument) {
    asker *self = argument;
    vyre_registry *registry = self->registry;
    pthread_barrier_wait(self->start);
    for (size_t i = self->number; i < self->number + 6; i++) {
        size_t count = 0;
        const vyre_registration *found = NULL;
        vyre_device *device = NULL;
        vyre_decision decision = {0};
        vyre_status status = NULL;
        switch (i % 6) {
        case 0:
            self->list = vyre_registry_backends(registry, &count);
            self->wrong += count != 4;
            break;
        case 1:
            self->sorted = vyre_registry_by_rank(registry, &count);
            self->wrong += count != 4 || strcmp(self->sorted[0]->id, "a") != 0;
            break;
        case 2:
            self->wrong +=
                !vyre_registry_dispatches(registry, "b") || vyre_registry_rank(registry, "c") != 30;
            break;
        case 3:
            status = vyre_registry_find(registry, "d", &found);
            self->wrong += !found || strcmp(found->id, "d") != 0;
            break;
        case 4: status = vyre_registry_acquire(registry, "b:1", &device); break;
        case 5:
            status = vyre_registry_acquire_preferred(registry, NULL, &decision, &device);
            self->wrong += decision.count != 4 || decision.chosen != 2;
            vyre_decision_free(&decision);
            break;
        }
        self->wrong += status != NULL;
        vyre_status_free(status);
        vyre_device_release(device);
        /* Too late for this one, however early it comes. */
        status = vyre_registry_add(registry, &yes);
        self->wrong += status == NULL;
        vyre_status_free(status);
    }
    return NULL;
}

static void threads_ask_a_fresh_registry_all_at_once(void **state) {
    (void)state;
    enum { THREADS = 16, ROUNDS = 20 };
    for (size_t round = 0; round < ROUNDS; round++) {
        tiny_reset();
        tiny[2].has_profile = true;
        tiny[2].profile.max_storage_buffer_bytes = 1;
        vyre_registry *registry = tiny_registry(4);
        pthread_barrier_t start;
        pthread_barrier_init(&start, NULL, THREADS);
        pthread_t threads[THREADS];
        asker askers[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            askers[i] = (asker){.registry = registry, .start = &start, .number = i};
            assert_int_equal(pthread_create(&threads[i], NULL, ask_everything, &askers[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(askers[i].wrong, 0);
            assert_ptr_equal(askers[i].list, askers[0].list);
            assert_ptr_equal(askers[i].sorted, askers[0].sorted);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(tiny[i].created, i == 1 ? 2 * THREADS : THREADS);
            assert_int_equal(tiny[i].destroyed, tiny[i].created);
        }
        pthread_barrier_destroy(&start);
        vyre_registry_free(registry);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatches_S1_S43_as_capability_entries_say),
        cmocka_unit_test(rank_S3_S42_as_submitted_or_last),
        cmocka_unit_test(queries_S2_S3_S6_a_failed_table_stays_failed_and_reads_as_absent),
        cmocka_unit_test(tables_S6_S7_failures_say_which_table_why_and_three_remedies),
        cmocka_unit_test(tables_S7_the_sorted_table_names_the_precedence_table_that_failed),
        cmocka_unit_test(queries_S4_the_last_entry_counts),
        cmocka_unit_test(find_S10_the_first_registration_counts),
        cmocka_unit_test(tables_S5_are_built_once),
        cmocka_unit_test(sorted_S8_by_rank_then_id_whatever_the_order),
        cmocka_unit_test(sorted_S9_has_all_and_creates_none),
        cmocka_unit_test(sorted_S11_is_empty_after_a_failure_and_the_copy_is_a_copy),
        cmocka_unit_test(queries_S36_missing_ids_are_absent),
        cmocka_unit_test(backends_S44_all_that_were_added),
        cmocka_unit_test(backends_S45_the_first_call_freezes_the_list),
        cmocka_unit_test(backends_S46_go_on_without_a_reservation),
        cmocka_unit_test(freeze_on_any_question),
        cmocka_unit_test(add_refuses_bundles_that_make_no_sense),
        cmocka_unit_test(inspect_finds_duplicates_and_strays),
        cmocka_unit_test(bundles_know_where_they_come_from),
        cmocka_unit_test(the_default_registry_begins_with_what_is_built_in),
        cmocka_unit_test(plugins_are_loaded_once_and_cannot_wait_for_themselves),
        cmocka_unit_test(threads_ask_a_fresh_registry_all_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
