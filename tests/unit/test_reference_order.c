/* Invocations that wait for one another: barriers, locks, scans, grid barriers. All of it under
 * every seed, with the same bytes. */
#include "tests/unit/reference_check.h"

enum { N = 1000 };

static uint32_t x[N], y[N];

static void fill(void) {
    for (uint32_t i = 0; i < N; i++) {
        x[i] = (i * 2654435761u) >> 20;
    }
}

static void a_reduction_in_shared_memory(void **state) {
    (void)state;
    fill();
    uint32_t sums[8] = {0};
    for (uint32_t i = 0; i < N; i++) {
        sums[i / 128] += x[i];
    }
    check_run("program p(x: buffer<u32>, y: out buffer<u32>[8]) over x workgroup 128 {\n"
              "    shared s: u32[128];\n"
              "    s[lid] = x[gid];\n"
              "    barrier;\n"
              "    for k in 0..7 {\n"
              "        let d = 64u >> k;\n"
              "        if lid < d { s[lid] += s[lid + d]; }\n"
              "        barrier;\n"
              "    }\n"
              "    if lid == 0 { y[wid] = s[0]; }\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(sums)));
}

static void a_transposition_through_shared_memory(void **state) {
    (void)state;
    uint16_t from[24 * 40], to[24 * 40];
    for (uint32_t i = 0; i < 24 * 40; i++) {
        from[i] = (uint16_t)(i * 7);
        to[i % 40 * 24 + i / 40] = from[i];
    }
    check_run("program p(a: buffer<u16>, b: out buffer<u16>[960]) over (40, 24) workgroup 8, 8 {\n"
              "    shared tile: u16[72];\n"
              "    tile[lid.y * 9 + lid.x] = a[gid.y * 40 + gid.x];\n"
              "    barrier;\n"
              "    b[(wid.x * 8 + lid.y) * 24 + wid.y * 8 + lid.x] = tile[lid.x * 9 + lid.y];\n"
              "}\n",
              LIST(BYTES(from)), LIST(BYTES(to)));
}

static void a_uniform_load_is_what_another_lane_wrote(void **state) {
    (void)state;
    uint32_t out[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t turns = i / 64 + 2;
        out[i] = turns * 1000 + turns;
    }
    check_run("program p(y: out buffer<u32>[256]) over 256 workgroup 64 {\n"
              "    shared s: u32[2];\n"
              "    var turns = 0u;\n"
              "    loop {\n"
              "        if lid == 17 { s[1] += 1; }\n"
              "        turns += 1;\n"
              "        if uniform_load(s[1]) == wid + 2 { break; }\n"
              "    }\n"
              "    y[gid] = turns * 1000 + s[1];\n"
              "}\n",
              NOTHING, LIST(BYTES(out)));
}

static void a_lock_keeps_others_out(void **state) {
    (void)state;
    uint32_t zero[2] = {0}, expected[2] = {0, 50 * 3};
    check_run("program p(lock: inout buffer<u32>) deterministic over 1600 workgroup 32 {\n"
              "    if lid == 7 {\n"
              "        for k in 0..3 {\n"
              "            loop { if atomic_cas(lock[0], 0, 1, acquire) == 0 { break; } }\n"
              "            let v = lock[1];\n"
              "            lock[1] = v + 1;\n"
              "            atomic_store(lock[0], 0, release);\n"
              "        }\n"
              "    }\n"
              "}\n",
              LIST(BYTES(zero)), LIST(BYTES(expected)));
}

static void a_ticket_lock_serves_in_order(void **state) {
    (void)state;
    uint32_t zero[3] = {0}, expected[3] = {40, 40, 40};
    check_run("program p(t: inout buffer<u32>) deterministic over 40 workgroup 1 {\n"
              "    let mine = atomic_add(t[0], 1);\n"
              "    loop { if atomic_load(t[1], acquire) == mine { break; } }\n"
              "    t[2] += 1;\n"
              "    atomic_add(t[1], 1, release);\n"
              "}\n",
              LIST(BYTES(zero)), LIST(BYTES(expected)));
}

/* Each workgroup waits for the one before it, as docs/semantics.md allows. */
static void a_scan_in_one_pass(void **state) {
    (void)state;
    fill();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        y[i] = sum += x[i];
    }
    check_run("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) deterministic {\n"
              "    scratch sums: u32[ceil_div(len(x), 64)];\n"
              "    scratch ready: u32[ceil_div(len(x), 64)];\n"
              "    phase over x workgroup 64 {\n"
              "        shared before: u32[1];\n"
              "        shared parts: u32[2];\n"
              "        let v = subgroup_inclusive_add(x[gid]);\n"
              "        if lane == 31 { parts[subgroup_id] = v; }\n"
              "        barrier;\n"
              "        let within = v + select(subgroup_id == 1, parts[0], 0);\n"
              "        if lid == 63 {\n"
              "            var sum = 0u;\n"
              "            if wid > 0 {\n"
              "                loop { if atomic_load(ready[wid - 1], acquire) == 1 { break; } }\n"
              "                sum = sums[wid - 1];\n"
              "            }\n"
              "            before[0] = sum;\n"
              "            sums[wid] = sum + within;\n"
              "            atomic_store(ready[wid], 1, release);\n"
              "        }\n"
              "        barrier;\n"
              "        y[gid] = before[0] + within;\n"
              "    }\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y)));
}

static void the_last_workgroup_sums_up(void **state) {
    (void)state;
    fill();
    uint32_t sum[1] = {0};
    for (uint32_t i = 0; i < N; i++) {
        sum[0] += x[i];
    }
    check_run("program p(x: buffer<u32>, y: out buffer<u32>[1]) deterministic {\n"
              "    scratch parts: u32[32];\n"
              "    scratch ticket: u32[1];\n"
              "    phase over x workgroup 32 {\n"
              "        let part = subgroup_add(x[gid]);\n"
              "        if lid == 0 {\n"
              "            parts[wid] = part;\n"
              "            if atomic_add(ticket[0], 1, acq_rel) == num_workgroups - 1 {\n"
              "                var sum = 0u;\n"
              "                for i in 0..num_workgroups { sum += parts[i]; }\n"
              "                y[0] = sum;\n"
              "            }\n"
              "        }\n"
              "    }\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(sum)));
}

/* Neighbours of all workgroups, step by step. Shared memory is empty behind each barrier. */
static void grid_barriers_order_the_grid(void **state) {
    (void)state;
    fill();
    static uint32_t now[N], next[N];
    memcpy(now, x, sizeof now);
    for (int turn = 0; turn < 9; turn++) {
        for (uint32_t i = 0; i < N; i++) {
            next[i] = now[(i + 1) % N] + 3 * now[(i + N - 1) % N] + now[i];
        }
        memcpy(now, next, sizeof now);
    }
    check_run("program p(x: buffer<u32>, n: u32, y: out buffer<u32>[len(x)]) {\n"
              "    scratch a: u32[len(x)];\n"
              "    phase over x workgroup 50 {\n"
              "        shared s: u32[51];\n"
              "        a[gid] = x[gid];\n"
              "        var v = x[gid];\n"
              "        for turn in 0..n {\n"
              "            grid_barrier;\n"
              "            v = a[(gid + 1) % len(x)] + 3 * a[(gid + len(x) - 1) % len(x)] + v;\n"
              "            if lid == 0 { s[0] = 7; }\n"
              "            grid_barrier;\n"
              "            s[lid + 1] = 7;\n"
              "            a[gid] = v + s[0];\n"
              "        }\n"
              "        y[gid] = v;\n"
              "    }\n"
              "}\n",
              LIST(BYTES(x), {&(uint32_t){9}, 4}), LIST(BYTES(now)));
}

/* Behind a grid barrier all workgroups have started: an earlier one may wait for a later one. */
static void anybody_may_be_waited_for_behind_a_grid_barrier(void **state) {
    (void)state;
    uint32_t out[20];
    for (uint32_t i = 0; i < 20; i++) {
        out[i] = 19 - i;
    }
    check_run("program p(y: out buffer<u32>[20]) deterministic {\n"
              "    scratch turn: u32[1];\n"
              "    phase over 20 workgroup 1 {\n"
              "        grid_barrier;\n"
              "        loop { if atomic_load(turn[0], acquire) == 19 - wid { break; } }\n"
              "        y[wid] = 19 - wid;\n"
              "        atomic_add(turn[0], 1, release);\n"
              "    }\n"
              "}\n",
              NOTHING, LIST(BYTES(out)));
}

/* Seed 0 runs workgroups one after the other, behind a grid barrier as well. */
static void the_first_schedule_goes_in_order(void **state) {
    (void)state;
    uint32_t found[40];
    check_output("program p(y: out buffer<u32>[40]) {\n"
                 "    scratch next: u32[1];\n"
                 "    phase over 20 workgroup 1 {\n"
                 "        y[atomic_add(next[0], 1)] = wid;\n"
                 "        grid_barrier;\n"
                 "        y[atomic_add(next[0], 1)] = wid;\n"
                 "    }\n"
                 "}\n",
                 NOTHING, found, sizeof found);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(found[i], i % 20);
    }
}

/* Work that workgroups take from a queue until it is empty. */
static void a_queue_is_emptied(void **state) {
    (void)state;
    uint32_t out[200];
    for (uint32_t i = 0; i < 200; i++) {
        out[i] = i * i;
    }
    check_run("program p(y: out buffer<u32>[200]) deterministic {\n"
              "    scratch head: u32[1];\n"
              "    phase over 56 workgroup 8 {\n"
              "        shared at: u32[1];\n"
              "        loop {\n"
              "            if lid == 0 { at[0] = atomic_add(head[0], 8); }\n"
              "            let first = uniform_load(at[0]);\n"
              "            if first >= 200 { break; }\n"
              "            y[first + lid] = (first + lid) * (first + lid);\n"
              "            barrier;\n"
              "        }\n"
              "    }\n"
              "}\n",
              NOTHING, LIST(BYTES(out)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reduction_in_shared_memory),
        cmocka_unit_test(a_transposition_through_shared_memory),
        cmocka_unit_test(a_uniform_load_is_what_another_lane_wrote),
        cmocka_unit_test(a_lock_keeps_others_out),
        cmocka_unit_test(a_ticket_lock_serves_in_order),
        cmocka_unit_test(a_scan_in_one_pass),
        cmocka_unit_test(the_last_workgroup_sums_up),
        cmocka_unit_test(grid_barriers_order_the_grid),
        cmocka_unit_test(anybody_may_be_waited_for_behind_a_grid_barrier),
        cmocka_unit_test(the_first_schedule_goes_in_order),
        cmocka_unit_test(a_queue_is_emptied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
