/* Certification: what is measured, who wins, who may not, and what the table keeps. */
#define _DEFAULT_SOURCE /* mkdtemp */

#include "tests/unit/route_check.h"

static vyre_route_candidate candidate(runner *r) {
    return (vyre_route_candidate){r->device, program};
}

/* Certifies TWICE on some runners, all with the same options. */
static vyre_status certify(vyre_routes *table, const char *op, runner *const *list, size_t count,
                           const vyre_certify_options *options, const vyre_route **out_route) {
    vyre_route_candidate candidates[RUNNERS];
    for (size_t i = 0; i < count; i++) {
        candidates[i] = candidate(list[i]);
    }
    return vyre_routes_certify(table, op, candidates, count, &route_input, 1, options, out_route);
}

#define CERTIFY(table, op, options, out, ...)                                                      \
    certify(table, op, (runner *const[]){__VA_ARGS__},                                             \
            sizeof((runner *const[]){__VA_ARGS__}) / sizeof(runner *), options, out)

static void table_S105_is_ordered_by_op_id_in_byte_order(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *one = runner_open(&(mock_spec){.id = "one"}, 7);
    static const char *const given[] = {"b.x", "a", "\xc3\xa9", "a.b", "B", "a-b"};
    static const char *const ordered[] = {"B", "a", "a-b", "a.b", "b.x", "\xc3\xa9"};
    for (size_t i = 0; i < 6; i++) {
        expect_ok(CERTIFY(table, given[i], NULL, NULL, one));
    }
    assert_int_equal(vyre_routes_count(table), 6);
    for (size_t i = 0; i < 6; i++) {
        const vyre_route *route = vyre_routes_at(table, i);
        assert_string_equal(route->op, ordered[i]);
        assert_string_equal(route->backend, "one");
        assert_int_equal(route->observation_count, 1);
        assert_string_equal(route->observations[0].backend, "one");
        assert_int_equal(route->observations[0].latency_ns, 7);
        assert_string_equal(vyre_routes_op_at(table, i), ordered[i]);
    }
    assert_null(vyre_routes_at(table, 6));
    assert_null(vyre_routes_op_at(table, 6));
    vyre_routes_free(table);
}

static void certify_S106_no_backends_names_the_op_and_says_to_pass_every_one(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    const vyre_route *route;
    vyre_status status =
        vyre_routes_certify(table, "some.op", NULL, 0, &route_input, 1, NULL, &route);
    assert_non_null(status);
    assert_non_null(strstr(vyre_status_message(status), "`some.op` received no backends"));
    assert_non_null(strstr(vyre_status_fix(status), "pass every available backend"));
    vyre_status_free(status);
    assert_null(route);
    assert_int_equal(vyre_routes_count(table), 0);
    runner *one = runner_open(&(mock_spec){.id = "one"}, 7);
    expect_fail(CERTIFY(table, "", NULL, NULL, one), VYRE_STATUS_INVALID_ARGUMENT, "no operation");
    vyre_routes_free(table);
}

static void certify_S107_warms_up_once_and_takes_the_median_of_three(void **state) {
    (void)state;
    static const int orders[6][3] = {{10, 20, 30}, {10, 30, 20}, {20, 10, 30},
                                     {20, 30, 10}, {30, 10, 20}, {30, 20, 10}};
    vyre_routes *table = route_table();
    runner *one = runner_open(&(mock_spec){.id = "one"}, 0);
    const vyre_route *route;
    for (size_t i = 0; i < 6; i++) {
        for (int warm_up = 0; warm_up <= 1000; warm_up += 500) {
            runner_times(one, 4, warm_up, orders[i][0], orders[i][1], orders[i][2]);
            expect_ok(CERTIFY(table, "some.op", NULL, &route, one));
            assert_int_equal(one->next, 4);
            assert_int_equal(route->observations[0].latency_ns, 20);
        }
    }
    runner_times(one, 4, 1, 5, 5, 900);
    expect_ok(CERTIFY(table, "some.op", NULL, &route, one));
    assert_int_equal(route->observations[0].latency_ns, 5);
    vyre_routes_free(table);
}

static void expect_borrowed_calls(mock *m) {
    assert_int_equal(mock_count(m, MOCK_dispatch_borrowed), 4);
    assert_int_equal(mock_count(m, MOCK_dispatch), 0);
    assert_int_equal(mock_count(m, MOCK_dispatch_borrowed_timed), 0);
    assert_int_equal(mock_count(m, MOCK_dispatch_borrowed_into), 0);
    assert_int_equal(mock_count(m, MOCK_dispatch_async), 0);
    assert_int_equal(mock_count(m, MOCK_dispatch_borrowed_async), 0);
}

static void certify_S108_calls_borrowed_dispatch_four_times_and_owned_never(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    const uint64_t slots = MOCK_ASYNC | MOCK_BIT(dispatch_borrowed_timed) |
                           MOCK_BIT(dispatch_borrowed_into); /* which may be called by mistake */
    runner *a = runner_open(&(mock_spec){.id = "a", .slots = slots}, 5);
    runner *b = runner_open(&(mock_spec){.id = "b", .slots = slots}, 6);
    expect_ok(CERTIFY(table, "some.op", NULL, NULL, a, b));
    expect_borrowed_calls(a->m);
    expect_borrowed_calls(b->m);
    mock_forget(a->m);
    expect_ok(CERTIFY(table, "some.op", NULL, NULL, a)); /* each time anew */
    expect_borrowed_calls(a->m);
    vyre_routes_free(table);
}

static void certify_S109_the_owned_form_borrows_its_inputs_and_does_the_same(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 5);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_output owned = {(uint8_t *)x, sizeof x};
    const vyre_route_candidate one = candidate(a);
    const vyre_route *route;
    expect_ok(vyre_routes_certify_owned(table, "some.op", &one, 1, &owned, 1, NULL, &route));
    expect_borrowed_calls(a->m);
    assert_ptr_equal(mock_last(a->m, MOCK_dispatch_borrowed).inputs[0].data, x);
    assert_int_equal(mock_last(a->m, MOCK_dispatch_borrowed).inputs[0].size, sizeof x);
    expect_numbers(x, CONTRACT_LENGTH, 1); /* a mock overwrites what it owns */
    assert_string_equal(route->backend, "a");
    assert_int_equal(route->observations[0].latency_ns, 5);
    assert_ptr_equal(route, vyre_routes_find(table, "some.op"));
    expect_fail(vyre_routes_certify_owned(table, "other.op", NULL, 0, &owned, 1, NULL, &route),
                VYRE_STATUS_INVALID_ARGUMENT, "`other.op`");
    assert_null(route);
    vyre_routes_free(table);
}

static void certify_S110_sorts_by_latency_then_id_and_the_first_wins(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *d = runner_open(&(mock_spec){.id = "d"}, 50);
    runner *c = runner_open(&(mock_spec){.id = "c"}, 40);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 40);
    runner *a = runner_open(&(mock_spec){.id = "a"}, 60);
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", NULL, &route, d, c, b, a));
    static const char *const ids[] = {"b", "c", "d", "a"};
    static const uint64_t times[] = {40, 40, 50, 60};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(route->observations[i].backend, ids[i]);
        assert_int_equal(route->observations[i].latency_ns, times[i]);
    }
    assert_string_equal(route->backend, "b");
    expect_ok(CERTIFY(table, "some.op", NULL, &route, b, c));
    assert_string_equal(route->backend, "b");
    expect_ok(CERTIFY(table, "some.op", NULL, &route, c, b));
    assert_string_equal(route->backend, "b");
    vyre_routes_free(table);
}

static void certify_S111_all_backends_are_among_the_observations(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *fast = runner_open(&(mock_spec){.id = "fast"}, 1);
    runner *slow = runner_open(&(mock_spec){.id = "slow"}, 1000);
    runner *wrong = runner_open(&(mock_spec){.id = "wrong"}, 500);
    runner *late = runner_open(&(mock_spec){.id = "late"}, 9000);
    wrong->wrong_byte = 3;
    const vyre_route_candidate oracle = candidate(fast);
    const vyre_certify_options options = {.budget_ns = 20000, .oracle = &oracle};
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", &options, &route, slow, late, wrong, fast));
    assert_int_equal(route->observation_count, 4);
    static const char *const ids[] = {"fast", "wrong", "slow", "late"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(route->observations[i].backend, ids[i]);
    }
    assert_int_equal(route->excluded_count, 2);
    vyre_routes_free(table);
}

static void certify_S112_the_first_error_aborts_and_the_table_keeps_what_it_had(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 10);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 20);
    runner *c = runner_open(&(mock_spec){.id = "c"}, 30);
    const vyre_route *before, *route;
    for (uint64_t n = 1; n <= 4; n++) { /* the warm-up too */
        vyre_routes_free(table);
        table = route_table();
        mock_forget(c->m);
        mock_fail(b->m, MOCK_dispatch_borrowed, n, VYRE_FAIL_BACKEND, "the bridge is out");
        expect_fail(CERTIFY(table, "some.op", NULL, &route, a, b, c), VYRE_STATUS_BACKEND,
                    "the bridge is out");
        assert_null(route);
        assert_int_equal(vyre_routes_count(table), 0);
        assert_null(vyre_routes_fastest(table, "some.op"));
        assert_int_equal(mock_count(c->m, MOCK_dispatch_borrowed), 0);
        expect_ok(CERTIFY(table, "some.op", NULL, &before, a, b));
        a->usual_ns = 5;
        mock_fail(b->m, MOCK_dispatch_borrowed, n, VYRE_FAIL_BACKEND, "the bridge is out");
        expect_fail(CERTIFY(table, "some.op", NULL, NULL, a, b, c), VYRE_STATUS_BACKEND, "bridge");
        route = vyre_routes_find(table, "some.op");
        assert_ptr_equal(route, before);
        assert_string_equal(route->backend, "a");
        assert_int_equal(route->observation_count, 2);
        assert_int_equal(route->observations[0].latency_ns, 10);
        a->usual_ns = 10;
    }
    /* A timeout that is not the budget's is an error like any other. */
    mock_fail(b->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_TIMEOUT, "no answer");
    expect_fail(CERTIFY(table, "some.op", NULL, NULL, a, b), VYRE_STATUS_TIMEOUT, "no answer");
    vyre_routes_free(table);
}

static void certify_S113_certifying_again_replaces_that_op_alone(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 10);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 20);
    expect_ok(CERTIFY(table, "one", NULL, NULL, a, b));
    expect_ok(CERTIFY(table, "two", NULL, NULL, a, b));
    b->usual_ns = 3;
    expect_ok(CERTIFY(table, "one", NULL, NULL, b));
    assert_int_equal(vyre_routes_count(table), 2);
    const vyre_route *one = vyre_routes_find(table, "one"), *two = vyre_routes_find(table, "two");
    assert_string_equal(one->backend, "b");
    assert_int_equal(one->observation_count, 1);
    assert_int_equal(one->observations[0].latency_ns, 3);
    assert_string_equal(two->backend, "a");
    assert_int_equal(two->observation_count, 2);
    assert_int_equal(two->observations[1].latency_ns, 20);
    vyre_routes_free(table);
}

static void certify_S114_gives_the_stored_decision_and_fastest_knows_it(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 10);
    const vyre_route *route;
    assert_null(vyre_routes_find(table, "some.op"));
    assert_null(vyre_routes_fastest(table, "some.op"));
    expect_ok(CERTIFY(table, "some.op", NULL, &route, a));
    assert_ptr_equal(route, vyre_routes_find(table, "some.op"));
    assert_ptr_equal(route, vyre_routes_at(table, 0));
    assert_string_equal(vyre_routes_fastest(table, "some.op"), "a");
    assert_null(vyre_routes_fastest(table, "some.o"));
    assert_null(vyre_routes_fastest(table, "some.op2"));
    vyre_routes_free(table);
}

static void latency_R7_beyond_i64_is_refused_with_a_fix(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, (uint64_t)INT64_MAX);
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", NULL, &route, a));
    assert_true(route->observations[0].latency_ns == INT64_MAX);
    a->usual_ns++;
    expect_fail(CERTIFY(table, "some.op", NULL, NULL, a), VYRE_STATUS_LIMIT, "9223372036854775808");
    assert_true(vyre_routes_find(table, "some.op")->observations[0].latency_ns == INT64_MAX);
    vyre_routes_free(table);
}

static const vyre_exclusion *excluded(const vyre_route *route, const char *backend) {
    for (size_t i = 0; i < route->excluded_count; i++) {
        if (!strcmp(route->excluded[i].who.backend, backend)) {
            return &route->excluded[i];
        }
    }
    return NULL;
}

static void bytes_R13_a_fast_wrong_backend_never_wins(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *wrong = runner_open(&(mock_spec){.id = "wrong"}, 1);
    runner *right = runner_open(&(mock_spec){.id = "right"}, 100);
    runner *oracle = runner_open(&(mock_spec){.id = "oracle"}, 5000);
    const vyre_route_candidate of_oracle = candidate(oracle);
    const vyre_certify_options options = {.oracle = &of_oracle};
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", &options, &route, wrong, right));
    assert_string_equal(route->backend, "wrong"); /* not wrong yet */
    assert_int_equal(oracle->runs, 0);            /* and nobody to decide about */
    wrong->wrong_byte = 6;
    expect_ok(CERTIFY(table, "some.op", &options, &route, wrong, right));
    assert_string_equal(route->backend, "right");
    assert_string_equal(route->observations[0].backend, "wrong");
    assert_int_equal(oracle->runs, 1);
    assert_int_equal(route->excluded_count, 1);
    const vyre_exclusion *why = excluded(route, "wrong");
    assert_int_equal(why->cause, VYRE_EXCLUDED_BYTES);
    assert_int_equal(why->size_class, VYRE_NO_CLASS);
    assert_string_equal(why->reason, "its bytes differ from those of `oracle`: byte 5 of output 0 "
                                     "is 0x80, not 0x00");
    /* The other way round, and with the oracle among the candidates. */
    wrong->wrong_byte = 0;
    right->wrong_byte = 1;
    expect_ok(CERTIFY(table, "some.op", &options, &route, right, wrong, oracle));
    assert_string_equal(route->backend, "wrong");
    assert_int_equal(oracle->runs, 5); /* four as a candidate, none to decide */
    assert_non_null(excluded(route, "right"));
    /* The reason goes with the next certification that is right. */
    right->wrong_byte = 0;
    expect_ok(CERTIFY(table, "some.op", &options, &route, right, wrong));
    assert_int_equal(route->excluded_count, 0);
    vyre_routes_free(table);
}

static void bytes_R13_without_an_oracle_nobody_wins_where_some_differ(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 1);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 2);
    runner *c = runner_open(&(mock_spec){.id = "c"}, 3);
    b->wrong_byte = 1;
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", NULL, &route, a, b, c));
    assert_null(route->backend);
    assert_null(vyre_routes_fastest(table, "some.op"));
    assert_int_equal(route->observation_count, 3);
    assert_int_equal(route->excluded_count, 3); /* two of three prove nothing */
    assert_string_equal(excluded(route, "a")->reason,
                        "its bytes differ from those of `b`: byte 0 of output 0 is 0x02, not 0x82, "
                        "and there is no oracle to say which are right");
    assert_non_null(strstr(excluded(route, "b")->reason, "`a`"));
    assert_non_null(strstr(excluded(route, "c")->reason, "`b`"));
    /* An oracle that runs out of its time is none, one that fails fails it all. */
    runner *oracle = runner_open(&(mock_spec){.id = "oracle"}, 1);
    const vyre_route_candidate of_oracle = candidate(oracle);
    vyre_certify_options options = {.oracle = &of_oracle, .budget_ns = 1000};
    mock_fail(oracle->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_TIMEOUT, "too long");
    expect_ok(CERTIFY(table, "some.op", &options, &route, a, b));
    assert_null(route->backend);
    assert_non_null(strstr(excluded(route, "a")->reason, "the oracle ran out of time"));
    assert_int_equal(mock_last(oracle->m, MOCK_dispatch_borrowed).config.timeout_ns, 1000);
    mock_fail(oracle->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_BACKEND, "the oracle is ill");
    expect_fail(CERTIFY(table, "some.op", &options, NULL, a, b), VYRE_STATUS_BACKEND,
                "the oracle is ill");
    assert_int_equal(vyre_routes_find(table, "some.op")->observation_count, 2);
    vyre_routes_free(table);
}

static void bytes_R13_all_may_be_wrong_in_the_same_way(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 1);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 2);
    runner *oracle = runner_open(&(mock_spec){.id = "oracle"}, 1);
    a->wrong_byte = b->wrong_byte = 3;
    const vyre_route_candidate of_oracle = candidate(oracle);
    vyre_certify_options options = {.oracle = &of_oracle, .budget_ns = 1000};
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", &options, &route, a, b));
    assert_string_equal(route->backend, "a"); /* they agree, and nobody asks */
    assert_int_equal(mock_count(oracle->m, MOCK_dispatch_borrowed), 0);
    options.always_asks = true;
    expect_ok(CERTIFY(table, "some.op", &options, &route, a, b));
    assert_null(route->backend);
    assert_int_equal(route->excluded_count, 2);
    assert_non_null(strstr(excluded(route, "b")->reason, "differ from those of `oracle`"));
    /* One alone is asked about, too; an oracle without time excludes nobody who agrees. */
    expect_ok(CERTIFY(table, "some.op", &options, &route, a));
    assert_null(route->backend);
    mock_fail(oracle->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_TIMEOUT, "too long");
    expect_ok(CERTIFY(table, "some.op", &options, &route, a, b));
    assert_string_equal(route->backend, "a");
    vyre_routes_free(table);
}

static void bytes_R13_a_backend_that_differs_from_itself_may_not_win(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 1);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 2);
    a->wrong_byte = 2;
    a->is_unsteady = true;
    const vyre_route *route;
    expect_ok(CERTIFY(table, "some.op", NULL, &route, a, b));
    assert_string_equal(route->backend, "b");
    assert_int_equal(mock_count(a->m, MOCK_dispatch_borrowed), 4);
    assert_non_null(
        strstr(excluded(route, "a")->reason, "its bytes differ from run to run: in run 2"));
    /* Who is late besides is still excluded for its bytes, which count everywhere. */
    static const int late[][4] = {{97, 1, 1, 2}, {60, 45, 1, 1}};
    for (size_t i = 0; i < 2; i++) {
        runner_times(a, 4, late[i][0], late[i][1], late[i][2], late[i][3]);
        expect_ok(
            CERTIFY(table, "some.op", &(vyre_certify_options){.budget_ns = 100}, &route, a, b));
        assert_string_equal(route->backend, "b");
        assert_int_equal(excluded(route, "a")->cause, VYRE_EXCLUDED_BYTES);
        assert_null(strstr(excluded(route, "a")->reason, "budget"));
        assert_true(route->observations[1].latency_ns > 100);
    }
    vyre_routes_free(table);
}

static void bytes_R13_of_programs_that_may_differ_are_not_compared(void **state) {
    (void)state;
    vyre_program *racy =
        contract_program("program racy(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {"
                         " let i = atomic_add(y[0], 1u32); y[gid] = i; }");
    assert_int_equal(vyre_program_determinism(racy), VYRE_SCHEDULE_DEPENDENT);
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 1);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 2);
    a->wrong_byte = 2;
    a->is_unsteady = true;
    const vyre_route_candidate both[] = {{a->device, racy}, {b->device, racy}};
    const vyre_route *route;
    expect_ok(vyre_routes_certify(table, "racy", both, 2, &route_input, 1, NULL, &route));
    assert_string_equal(route->backend, "a");
    vyre_program_release(racy);
    vyre_routes_free(table);
}

static void budget_R13_who_exceeds_it_is_excluded_with_a_reason(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *late = runner_open(&(mock_spec){.id = "late"}, 10);
    runner *good = runner_open(&(mock_spec){.id = "good"}, 20);
    const vyre_certify_options options = {.budget_ns = 100};
    const vyre_route *route;
    /* Between runs: the third would begin when the time is over. */
    runner_times(late, 4, 60, 45, 1, 1);
    expect_ok(CERTIFY(table, "some.op", &options, &route, late, good));
    assert_int_equal(mock_count(late->m, MOCK_dispatch_borrowed), 2);
    assert_string_equal(route->backend, "good");
    assert_int_equal(route->observations[1].latency_ns, 105); /* what it had taken by then */
    assert_int_equal(excluded(route, "late")->cause, VYRE_EXCLUDED_TIME);
    assert_non_null(strstr(excluded(route, "late")->reason, "budget of 100 ns: 105 ns"));
    /* At the very end. */
    runner_times(late, 4, 97, 1, 1, 2);
    expect_ok(CERTIFY(table, "some.op", &options, &route, late, good));
    assert_string_equal(route->backend, "good");
    assert_non_null(strstr(excluded(route, "late")->reason, "101 ns"));
    /* Just within. */
    runner_times(late, 4, 97, 1, 1, 1);
    expect_ok(CERTIFY(table, "some.op", &options, &route, late, good));
    assert_string_equal(route->backend, "late");
    assert_int_equal(route->excluded_count, 0);
    /* Runs that count are not watched, which could slow them down. */
    assert_int_equal(mock_last(late->m, MOCK_dispatch_borrowed).config.timeout_ns, 0);
    /* The first one has the budget as its timeout, whose end is not an error. */
    mock_forget(late->m);
    runner_times(late, 4, 30, 20, 50, 1);
    mock_fail(late->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_TIMEOUT, "over");
    expect_ok(CERTIFY(table, "some.op", &options, &route, late, good));
    assert_int_equal(mock_last(late->m, MOCK_dispatch_borrowed).config.timeout_ns, 100);
    assert_string_equal(route->backend, "good");
    assert_non_null(strstr(excluded(route, "late")->reason, "stopped"));
    /* A tighter timeout of the caller's own stays, and stays an error. */
    const vyre_dispatch_config config = {.timeout_ns = 40};
    const vyre_certify_options tight = {.budget_ns = 100, .config = &config};
    runner_times(late, 4, 1, 1, 1, 1);
    mock_fail(late->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_TIMEOUT, "over");
    expect_fail(CERTIFY(table, "some.op", &tight, NULL, late, good), VYRE_STATUS_TIMEOUT, "over");
    assert_int_equal(mock_last(late->m, MOCK_dispatch_borrowed).config.timeout_ns, 40);
    vyre_routes_free(table);
}

/* Classes. */

static vyre_profile profile_of(const char *device, const char *driver) {
    return (vyre_profile){.device = device, .driver = driver};
}

static void a_class_is_the_logarithm_of_the_bytes(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t size_class;
    } rows[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {1023, 9}, {1024, 10}, {UINT64_MAX, 63}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(vyre_route_class(rows[i].bytes), rows[i].size_class);
    }
}

static const vyre_class_row *row_at(const vyre_routes *table, size_t i) {
    return vyre_routes_class_at(table, "some.op", i);
}

static void rows_of_the_same_class_and_identity_are_replaced(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *old = runner_open(&(mock_spec){.id = "gpu", .profile = profile_of("G1", "1.0")}, 40);
    runner *new = runner_open(&(mock_spec){.id = "gpu", .profile = profile_of("G1", "2.0")}, 30);
    runner *cpu = runner_open(&(mock_spec){.id = "cpu", .version = "16"}, 20);
    const vyre_route_candidate all[] = {candidate(old), candidate(new), candidate(cpu)};
    uint32_t size_class = 0;
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_HOST, all, 3, &route_input, 1, NULL,
                                  &size_class));
    assert_int_equal(size_class, TWICE_CLASS);
    assert_int_equal(mock_count(old->m, MOCK_dispatch_borrowed), 4);
    assert_string_equal(row_at(table, 0)->who.backend, "cpu");
    assert_string_equal(row_at(table, 0)->who.driver, "16"); /* it has no driver but itself */
    assert_string_equal(row_at(table, 1)->who.driver, "2.0");
    assert_string_equal(row_at(table, 2)->who.driver, "1.0");
    assert_null(row_at(table, 3));
    assert_null(vyre_routes_find(table, "some.op")); /* the plain route is another thing */
    new->usual_ns = 50;
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_HOST, &all[1], 1, &route_input, 1,
                                  NULL, NULL));
    assert_string_equal(row_at(table, 1)->who.driver, "1.0");
    assert_int_equal(row_at(table, 1)->latency_ns, 40);
    assert_string_equal(row_at(table, 2)->who.driver, "2.0");
    assert_int_equal(row_at(table, 2)->latency_ns, 50);
    assert_null(row_at(table, 3));
    const vyre_input half = {route_numbers, 4};
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_HOST, &all[1], 1, &half, 1, NULL,
                                  &size_class));
    assert_int_equal(size_class, 3);
    assert_int_equal(row_at(table, 0)->size_class, 3); /* by class first */
    assert_non_null(row_at(table, 3));
    assert_null(row_at(table, 4));
    vyre_routes_free(table);
}

static void resident_data_is_uploaded_once_and_stays(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a", .slots = MOCK_RESIDENT}, 0);
    runner *none = runner_open(&(mock_spec){.id = "none"}, 0);
    const vyre_route_candidate both[] = {candidate(a), candidate(none)};
    runner_times(a, 4, 100, 3, 1, 2);
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_RESIDENT, both, 2, &route_input, 1,
                                  NULL, NULL));
    assert_int_equal(mock_count(a->m, MOCK_resident_dispatch_timed), 4);
    assert_int_equal(mock_count(a->m, MOCK_resident_upload), 1);
    assert_int_equal(mock_count(a->m, MOCK_dispatch_borrowed), 0);
    assert_int_equal(mock_residents(a->m), 0);
    assert_int_equal(row_at(table, 0)->data, VYRE_DATA_RESIDENT);
    assert_int_equal(row_at(table, 0)->latency_ns, 2);
    assert_int_equal(row_at(table, 0)->size_class, TWICE_CLASS);
    assert_null(row_at(table, 1));
    /* Who has no such buffers is left out, and says so. */
    const vyre_exclusion *why = vyre_routes_class_excluded_at(table, "some.op", 0);
    assert_int_equal(why->cause, VYRE_EXCLUDED_REFUSED);
    assert_string_equal(why->who.backend, "none");
    assert_int_equal(why->size_class, TWICE_CLASS);
    assert_int_equal(why->data, VYRE_DATA_RESIDENT);
    assert_null(vyre_routes_class_excluded_at(table, "some.op", 1));
    vyre_routes_free(table);
}

static void resident_data_that_is_overwritten_is_uploaded_again(void **state) {
    (void)state;
    vyre_program *add = contract_program(ADD);
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a", .slots = MOCK_RESIDENT}, 3);
    runner *b = runner_open(&(mock_spec){.id = "b", .slots = MOCK_RESIDENT}, 4);
    const vyre_route_candidate both[] = {{a->device, add}, {b->device, add}};
    const uint32_t k = 3;
    const vyre_input inputs[] = {{&k, sizeof k}, route_input, route_input};
    uint32_t size_class;
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_RESIDENT, both, 2, inputs, 3, NULL,
                                  &size_class));
    assert_int_equal(size_class, vyre_route_class(4 + 2 * sizeof route_numbers));
    assert_int_equal(mock_count(a->m, MOCK_resident_upload), 2 + 3);
    assert_int_equal(row_at(table, 1)->latency_ns, 4);
    mock_fail(b->m, MOCK_resident_upload, 4, VYRE_FAIL_BACKEND, "the bus is full");
    expect_fail(
        vyre_routes_measure(table, "some.op", VYRE_DATA_RESIDENT, both, 2, inputs, 3, NULL, NULL),
        VYRE_STATUS_BACKEND, "the bus is full");
    assert_int_equal(mock_residents(b->m), 0);
    vyre_program_release(add);
    vyre_routes_free(table);
}

static void a_class_excludes_and_forgives(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 3);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 4);
    const vyre_route_candidate both[] = {candidate(a), candidate(b)}, oracle = candidate(b);
    const vyre_certify_options options = {.oracle = &oracle};
    a->wrong_byte = 1;
    for (int i = 0; i < 2; i++) {
        expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_HOST, both, 2, &route_input, 1,
                                      &options, NULL));
        assert_string_equal(row_at(table, 0)->who.backend, "b");
        assert_null(row_at(table, 1));
        const vyre_exclusion *why = vyre_routes_class_excluded_at(table, "some.op", 0);
        assert_string_equal(why->who.backend, "a");
        assert_int_equal(why->cause, VYRE_EXCLUDED_BYTES);
        assert_null(vyre_routes_class_excluded_at(table, "some.op", 1));
    }
    a->wrong_byte = 0;
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_HOST, both, 2, &route_input, 1,
                                  &options, NULL));
    assert_string_equal(row_at(table, 0)->who.backend, "a");
    assert_null(vyre_routes_class_excluded_at(table, "some.op", 0));
    a->wrong_byte = 1; /* and what was measured goes when it turns out wrong */
    expect_ok(vyre_routes_measure(table, "some.op", VYRE_DATA_HOST, both, 2, &route_input, 1,
                                  &options, NULL));
    assert_string_equal(row_at(table, 0)->who.backend, "b");
    assert_null(row_at(table, 1));
    vyre_routes_free(table);
}

static void a_program_without_id_has_a_key(void **state) {
    (void)state;
    char key[VYRE_ROUTE_KEY_BYTES], expected[VYRE_ROUTE_KEY_BYTES];
    vyre_digest digest = vyre_program_digest(program);
    vyre_route_key(program, key);
    snprintf(expected, sizeof expected, "program:twice:%016llx%016llx",
             (unsigned long long)digest.high, (unsigned long long)digest.low);
    assert_string_equal(key, expected);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, route_set_up, route_tear_down)
        TEST(table_S105_is_ordered_by_op_id_in_byte_order),
        TEST(certify_S106_no_backends_names_the_op_and_says_to_pass_every_one),
        TEST(certify_S107_warms_up_once_and_takes_the_median_of_three),
        TEST(certify_S108_calls_borrowed_dispatch_four_times_and_owned_never),
        TEST(certify_S109_the_owned_form_borrows_its_inputs_and_does_the_same),
        TEST(certify_S110_sorts_by_latency_then_id_and_the_first_wins),
        TEST(certify_S111_all_backends_are_among_the_observations),
        TEST(certify_S112_the_first_error_aborts_and_the_table_keeps_what_it_had),
        TEST(certify_S113_certifying_again_replaces_that_op_alone),
        TEST(certify_S114_gives_the_stored_decision_and_fastest_knows_it),
        TEST(latency_R7_beyond_i64_is_refused_with_a_fix),
        TEST(bytes_R13_a_fast_wrong_backend_never_wins),
        TEST(bytes_R13_without_an_oracle_nobody_wins_where_some_differ),
        TEST(bytes_R13_all_may_be_wrong_in_the_same_way),
        TEST(bytes_R13_a_backend_that_differs_from_itself_may_not_win),
        TEST(bytes_R13_of_programs_that_may_differ_are_not_compared),
        TEST(budget_R13_who_exceeds_it_is_excluded_with_a_reason),
        TEST(a_class_is_the_logarithm_of_the_bytes),
        TEST(rows_of_the_same_class_and_identity_are_replaced),
        TEST(resident_data_is_uploaded_once_and_stays),
        TEST(resident_data_that_is_overwritten_is_uploaded_again),
        TEST(a_class_excludes_and_forgives),
        TEST(a_program_without_id_has_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
