/* Subgroup operations by shared arrays and barriers: what the reference computes with its own
 * subgroups, it computes for the program without them, in any schedule and without data races. */
#include "base/random.h"
#include "ir/lookup.h"
#include "pass/subgroup.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

enum { LANES = 256, RACES_EVERY = 16 };

static const char *const types[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                    "i64", "u64", "f16", "bf16", "f32", "f64"};
enum { TYPES = sizeof types / sizeof *types, FLOATS_FROM = 8 };
static const uint32_t widths[] = {8, 16, 32, 64};

static void fail_program(const char *what, const vyre_program *before, const vyre_program *after) {
    char *text, *other = NULL;
    size_t size;
    assert_null(vyre_program_print(before, &text, &size));
    if (after) {
        assert_null(vyre_program_print(after, &other, &size));
    }
    fail_msg("%s\n%s\nafter it:\n%s", what, text, other ? other : "");
}

static void check_races(const vyre_program *before, const vyre_program *after, check_list inputs) {
    vyre_findings *findings;
    vyre_sanitize_options options = {.seed = 1, .max_steps = CHECK_STEPS};
    assert_null(vyre_sanitize(after, inputs.items, inputs.count, &options, &findings));
    for (size_t i = 0; i < vyre_findings_count(findings); i++) {
        const vyre_finding *finding = vyre_findings_get(findings, i);
        if (vyre_finding_is_error(finding->kind)) {
            fail_program(finding->message, before, after);
        }
    }
    vyre_findings_free(findings);
}

static bool has_subgroups(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool any = false;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        any |= vyre_inst_effects(inst) & VYRE_EFFECT_SUBGROUP || inst->op == VYRE_OP_LANE ||
               inst->op == VYRE_OP_SUBGROUP_ID;
    }
    return any;
}

static void check_same(const vyre_program *program, const vyre_program *shared, check_list inputs,
                       bool looks_for_races) {
    vyre_outputs expected = check_run_seed(program, inputs, 0);
    for (uint64_t seed = 0; seed < 3; seed++) {
        vyre_outputs found = check_run_seed(shared, inputs, seed * 77);
        bool same = found.count == expected.count;
        for (size_t i = 0; same && i < found.count; i++) {
            same = found.items[i].size == expected.items[i].size &&
                   !memcmp(found.items[i].data, expected.items[i].data, found.items[i].size);
        }
        if (!same) {
            fail_program("the outputs differ", program, shared);
        }
        vyre_outputs_free(&found);
    }
    if (looks_for_races) {
        check_races(program, shared, inputs);
    }
    vyre_outputs_free(&expected);
}

/* The program of a text loses its subgroups and keeps its meaning. */
static void check_text(const char *text, check_list inputs, bool looks_for_races) {
    vyre_program *program = check_parse(text), *shared;
    vyre_status status = vyre_subgroups_share(program, 0, &shared);
    if (status) {
        fail_program(vyre_status_text(status), program, NULL);
    }
    assert_non_null(shared);
    assert_false(has_subgroups(shared));
    check_same(program, shared, inputs, looks_for_races);
    vyre_program_release(shared);
    vyre_program_release(program);
}

static uint64_t random_state = 1;

/* Any bits, NaNs and infinities among them; some floats near 1, so that the order of sums shows. */
static void fill(uint64_t data[LANES], size_t type) {
    for (size_t i = 0; i < LANES; i++) {
        data[i] = vyre_random(&random_state);
    }
    if (type < FLOATS_FROM || data[0] % 4 == 0) {
        return;
    }
    for (size_t i = 0; i < LANES; i++) {
        uint64_t d = data[i];
        data[i] = type == 8    ? (d & 0x83ff83ff83ff83ff) | 0x3800380034003c00
                  : type == 9  ? (d & 0x807f807f807f807f) | 0x3f003f803e803f00
                  : type == 10 ? (d & 0x807fffff807fffff) | 0x3f0000003f800000
                               : (d & 0x800fffffffffffff) | 0x3fe0000000000000;
    }
}

static void values_are_combined(void **state) {
    (void)state;
    static const char *const names[] = {"add", "mul", "min", "max", "and", "or", "xor"};
    for (size_t w = 0; w < 4; w++) {
        for (size_t t = 0; t < TYPES; t++) {
            for (size_t c = 0; c < (t < FLOATS_FROM ? 7 : 4); c++) {
                uint64_t x[LANES];
                char text[600];
                bool is_whole = (t + c) % 3 == 0; /* one subgroup a workgroup */
                fill(x, t);
                snprintf(text, sizeof text,
                         "program p(x: buffer<%s>, a: out buffer<%s>[256], b: out "
                         "buffer<%s>[256],\n"
                         "    c: out buffer<%s>[256]) over 256 workgroup %u subgroup %u {\n"
                         "    a[gid] = subgroup_%s(x[gid]);\n"
                         "    b[gid] = subgroup_inclusive_%s(x[gid]);\n"
                         "    c[gid] = subgroup_exclusive_%s(x[gid]);\n"
                         "}\n",
                         types[t], types[t], types[t], types[t],
                         is_whole ? (unsigned)widths[w] : 128u, (unsigned)widths[w], names[c],
                         names[c], names[c]);
                check_text(text, LIST(BYTES(x)), (t + c + w) % RACES_EVERY == 0);
            }
        }
    }
}

static void values_are_shuffled(void **state) {
    (void)state;
    static const char *const names[] = {"shuffle", "shuffle_xor", "shuffle_up", "shuffle_down",
                                        "broadcast"};
    for (size_t w = 0; w < 4; w++) {
        for (size_t t = 0; t < TYPES; t++) {
            for (size_t way = 0; way < 5; way++) {
                uint64_t x[LANES];
                uint32_t k[LANES];
                char text[400];
                fill(x, t);
                for (size_t i = 0; i < LANES; i++) {
                    uint64_t drawn = vyre_random(&random_state);
                    uint32_t near = (uint32_t)(drawn >> 8) % (widths[w] + 3);
                    k[i] = drawn % 7 ? near : drawn % 2 ? UINT32_MAX - near : 0x80000000u + near;
                }
                snprintf(text, sizeof text,
                         "program p(x: buffer<%s>, k: buffer<u32>, y: out buffer<%s>[256])\n"
                         "over 256 workgroup 64 subgroup %u {\n"
                         "    y[gid] = subgroup_%s(x[gid], k[%s]);\n"
                         "}\n",
                         types[t], types[t], (unsigned)widths[w], names[way],
                         way == 4 ? "subgroup_id" : "gid");
                check_text(text, LIST(BYTES(x), BYTES(k)), (t + w) % RACES_EVERY == 0);
            }
        }
    }
}

static void lanes_vote(void **state) {
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        for (uint32_t rare = 1; rare <= 81; rare *= 9) {
            uint32_t x[LANES];
            char text[600];
            for (size_t i = 0; i < LANES; i++) {
                x[i] = (uint32_t)(vyre_random(&random_state) % rare == 0) ^ (rare == 81 && i > 99);
            }
            const char *word = widths[w] == 64 ? "u64" : "u32";
            snprintf(text, sizeof text,
                     "program p(x: buffer<u32>, a: out buffer<%s>[256], b: out buffer<u32>[256],\n"
                     "    c: out buffer<u32>[256]) over (16, 16) workgroup 16, 8 subgroup %u {\n"
                     "    let at = gid.y * 16 + gid.x;\n"
                     "    a[at] = subgroup_ballot(x[at] != 0);\n"
                     "    b[at] = u32(subgroup_any(x[at] != 0)) + 2 * u32(subgroup_all(x[at] != "
                     "0));\n"
                     "    c[at] = lane + 100 * subgroup_id + u32(subgroup_shuffle_xor(x[at] != 0, "
                     "3));\n"
                     "}\n",
                     word, (unsigned)widths[w]);
            check_text(text, LIST(BYTES(x)), true);
        }
    }
}

/* Where the workgroup is one subgroup, its operations may stand wherever a subgroup gets to. */
static void one_subgroup_may_branch(void **state) {
    (void)state;
    uint32_t x[LANES];
    for (size_t i = 0; i < LANES; i++) {
        x[i] = (uint32_t)vyre_random(&random_state) % 40;
    }
    check_text("program p(x: buffer<u32>, y: out buffer<u32>[256]) over 256 workgroup 32 {\n"
               "    var sum = 0u;\n"
               "    var left = x[gid];\n"
               "    while subgroup_any(left > 3) {\n"
               "        let most = subgroup_max(left);\n"
               "        if subgroup_broadcast(left, most % 32) > 7 {\n"
               "            sum += subgroup_inclusive_add(left);\n"
               "        }\n"
               "        if subgroup_ballot(left > 20) == 0 && subgroup_id == 0 {\n"
               "            sum ^= subgroup_shuffle_down(left, 1);\n"
               "        }\n"
               "        left = left / 2;\n"
               "    }\n"
               "    y[gid] = sum;\n"
               "}\n",
               LIST(BYTES(x)), true);
}

/* What all lanes agree on needs no exchange, and whole workgroups may branch by the result. */
static void agreed_values_stay_uniform(void **state) {
    (void)state;
    static const char *const combinations[] = {"add", "mul", "min", "max", "and", "or", "xor"};
    uint64_t x[LANES];
    for (size_t w = 0; w < 4; w++) {
        for (size_t t = 0; t < TYPES; t++) {
            const char *type = types[t];
            char text[1000];
            fill(x, t);
            snprintf(
                text, sizeof text,
                "program p(x: buffer<%s>, k: u32, y: out buffer<%s>[256],\n"
                "    m: out buffer<%s>[256], n: out buffer<u32>[256])\n"
                "over 256 workgroup 128 subgroup %u {\n"
                "    let mine = x[subgroup_id];\n"
                "    let ours = x[wid.x + 9];\n"
                "    var sum = subgroup_%s(ours);\n"
                "    if subgroup_any(k > 2) { sum = subgroup_add(x[gid]); }\n"
                "    if subgroup_ballot(k > 3) > 1 { n[gid] = u32(subgroup_all(gid > 9)); }\n"
                "    if !subgroup_all(wid.x == 0) { sum = subgroup_max(sum); }\n"
                "    if subgroup_broadcast(k, 3) > 4 { sum = subgroup_min(x[gid]); }\n"
                "    if subgroup_broadcast(k, 64) > 4 { sum = subgroup_min(sum); }\n"
                "    if subgroup_xor(k) == 0 { y[gid] = subgroup_shuffle_down(sum, 1); }\n"
                "    n[gid] = n[gid] + subgroup_shuffle_up(k, 2) + subgroup_add(subgroup_id);\n"
                "    m[gid] = subgroup_%s(mine);\n"
                "}\n",
                type, type, type, (unsigned)widths[w], combinations[t % (t < FLOATS_FROM ? 7 : 4)],
                combinations[w]);
            for (uint32_t k = 2; k < 6; k++) {
                check_text(text, LIST(BYTES(x), {&k, sizeof k}), false);
            }
        }
    }
}

static void flow_of_subgroups_is_refused(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(x: buffer<u32>, y: out buffer<u32>[256]) over 256 workgroup 64 {\n"
                    "    var sum = x[gid];\n"
                    "    if subgroup_any(sum > 3) { sum = subgroup_add(sum); }\n"
                    "    y[gid] = sum;\n"
                    "}\n");
    vyre_program *shared;
    vyre_status status = vyre_subgroups_share(program, 8 | 16 | 64, &shared);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    assert_null(shared);
    vyre_status_free(status);
    assert_null(vyre_subgroups_share(program, 32, &shared));
    assert_null(shared);
    vyre_program_release(program);
}

static void full_shared_memory_is_refused(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(x: buffer<u32>, y: out buffer<u32>[256]) over 256 workgroup 64 {\n"
                    "    shared most: u32[65400];\n"
                    "    most[lid] = subgroup_add(x[gid]);\n"
                    "    y[gid] = most[lid];\n"
                    "}\n");
    vyre_program *shared;
    vyre_status status = vyre_subgroups_share(program, 0, &shared);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_null(shared);
    vyre_status_free(status);
    vyre_program_release(program);
}

/* On a device that has the width, floats are combined by its shuffles. */
static void kept_widths_combine_floats_by_shuffles(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(x: buffer<f32>, y: out buffer<f32>[256], z: out buffer<u32>[256]) over 256\n"
        "workgroup 64 {\n"
        "    y[gid] = subgroup_add(x[gid]) + subgroup_exclusive_mul(x[gid]);\n"
        "    z[gid] = subgroup_add(gid);\n"
        "}\n");
    uint64_t x[LANES];
    fill(x, 10);
    vyre_program *shared;
    assert_null(vyre_subgroups_share(program, 32, &shared));
    const vyre_ir *ir = vyre_program_ir(shared);
    uint32_t sums = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        assert_int_not_equal(inst->op, VYRE_OP_BARRIER);
        sums += inst->op == VYRE_OP_REDUCE;
        assert_false(inst->op == VYRE_OP_REDUCE && inst->type != VYRE_TYPE_U32);
    }
    assert_int_equal(sums, 1);
    check_same(program, shared, LIST(BYTES(x)), false);
    vyre_program_release(shared);
    vyre_program_release(program);
}

static void tiles_multiply(void **state) {
    (void)state;
    uint32_t a[256], b[256];
    int32_t c[512];
    for (size_t i = 0; i < 256; i++) {
        a[i] = (uint32_t)vyre_random(&random_state);
        b[i] = (uint32_t)vyre_random(&random_state) | (i % 5 ? 0 : 0x80808080);
        c[i] = c[i + 256] = (int32_t)vyre_random(&random_state);
    }
    for (uint32_t workgroup = 32; workgroup <= 96; workgroup += 32) {
        char text[900];
        snprintf(
            text, sizeof text,
            "program p(a: buffer<u32>, b: buffer<u32>, c: buffer<i32>, d: out "
            "buffer<i32>[len(c)])\n"
            "over len(c) / 4 workgroup %u {\n"
            "    let (w, x, y, z) = subgroup_matrix_mad(a[gid], a[gid + 64], a[gid ^ 5], a[gid "
            "* 3],\n"
            "        b[gid], b[gid + 31], c[gid], c[gid + 1], c[gid + 2], c[gid + 3]);\n"
            "    d[gid * 4] = w;\n    d[gid * 4 + 1] = x;\n    d[gid * 4 + 2] = y;\n"
            "    d[gid * 4 + 3] = z;\n"
            "}\n",
            (unsigned)workgroup);
        check_text(text, LIST(BYTES(a), BYTES(b), BYTES(c)), workgroup == 64);
    }
}

typedef struct tally {
    uint32_t with, changed, refused;
} tally;

static void check_trial(uint64_t seed, conform_trial *trial, tally *counts) {
    check_list inputs = {0};
    vyre_input *items = conform_trial_inputs(trial, trial->program, &inputs.count);
    inputs.items = items;
    vyre_program *shared;
    vyre_status status = vyre_subgroups_share(trial->program, 0, &shared);
    counts->with += has_subgroups(trial->program);
    counts->refused += status != NULL;
    if (status) {
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
        vyre_status_free(status);
    } else if (shared) {
        counts->changed++;
        assert_false(has_subgroups(shared));
        check_same(trial->program, shared, inputs, seed % RACES_EVERY == 0);
    } else {
        assert_false(has_subgroups(trial->program));
    }
    vyre_program_release(shared);
    vyre_free(items);
    conform_trial_free(trial);
}

static void random_programs(void **state) {
    (void)state;
    tally counts = {0};
    for (uint64_t seed = 1; seed <= test_work(500, 60); seed++) {
        conform_trial trial;
        assert_null(trial_generate(seed, &trial));
        check_trial(seed, &trial, &counts);
    }
    printf("%u programs with subgroups, %u changed, %u refused\n", counts.with, counts.changed,
           counts.refused);
    assert_true(counts.changed > counts.refused);
    assert_int_equal(counts.with, counts.changed + counts.refused);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(x: buffer<f32>, y: out buffer<f32>[256]) over 256 workgroup 32 {\n"
                    "    if subgroup_any(x[gid] > 1) { y[gid] = subgroup_inclusive_add(x[gid]); }\n"
                    "    else { y[gid] = f32(subgroup_add(lane)); }\n"
                    "}\n");
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        vyre_program *shared;
        failing_allocator_start(n);
        vyre_status status = vyre_subgroups_share(program, 0, &shared);
        failed = failing_allocator_failed();
        assert_true(failed ? !shared : !status && shared);
        assert_true(!failed || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY);
        vyre_status_free(status);
        vyre_program_release(shared);
        failing_allocator_stop();
    }
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_combined),
        cmocka_unit_test(values_are_shuffled),
        cmocka_unit_test(lanes_vote),
        cmocka_unit_test(one_subgroup_may_branch),
        cmocka_unit_test(agreed_values_stay_uniform),
        cmocka_unit_test(flow_of_subgroups_is_refused),
        cmocka_unit_test(full_shared_memory_is_refused),
        cmocka_unit_test(kept_widths_combine_floats_by_shuffles),
        cmocka_unit_test(tiles_multiply),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
