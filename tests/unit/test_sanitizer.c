/* The sanitizer finds what is wrong, names both lines, and says nothing about what is right: small
 * kernels with one mistake each, and the same ones without it, under several schedules.
 *
 * Buffers have 256 elements, element i being i modulo 8; scalars are 5. */
#include "base/strbuf.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/sanitizer_kernels.h"

enum { LENGTH = 256, SEEDS = 10 };

/* Arguments as the head of this file says. */
typedef struct arguments {
    uint8_t data[8][LENGTH * 8];
    vyre_input inputs[8];
    size_t count;
} arguments;

static void bind(const vyre_program *program, arguments *a) {
    const vyre_ir *ir = vyre_program_ir(program);
    memset(a, 0, sizeof *a);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        uint32_t resource = ir->args[i].resource,
                 bytes = vyre_type_bytes((vyre_type)ir->args[i].type);
        if (resource != VYRE_NONE && ir->resources[resource].access == VYRE_ACCESS_OUT) {
            continue;
        }
        assert_true(a->count < 8);
        uint8_t *to = a->data[a->count];
        size_t length = resource == VYRE_NONE ? 1 : LENGTH;
        for (size_t k = 0; k < length; k++) {
            to[k * bytes] = (uint8_t)(resource == VYRE_NONE ? 5 : k % 8);
        }
        a->inputs[a->count++] = (vyre_input){to, length * bytes};
    }
}

static vyre_findings *sanitize(const char *name, const char *text, uint64_t seed) {
    vyre_program *program = check_parse(text);
    arguments a;
    bind(program, &a);
    vyre_findings *findings;
    vyre_sanitize_options options = {.seed = seed, .max_steps = 200000000};
    vyre_status status = vyre_sanitize(program, a.inputs, a.count, &options, &findings);
    if (status) {
        fail_msg("%s, seed %llu: %s", name, (unsigned long long)seed, vyre_status_text(status));
    }
    vyre_program_release(program);
    return findings;
}

static bool is_expected(const mistake *r, const vyre_finding *f) {
    return f->kind == r->kind && f->first.line == r->first && f->second.line == r->second;
}

/* Whatever is found says who, where and what to do. */
static void check_finding(const mistake *r, const vyre_finding *f) {
    char line[32];
    snprintf(line, sizeof line, "line %u", f->first.line);
    if (!strstr(f->message, line) || !*f->fix || !f->count || f->first.lane >= 256 ||
        f->first.workgroup >= 4) {
        fail_msg("%s: the finding is badly put: %s", r->name, f->message);
    }
    snprintf(line, sizeof line, "line %u", f->second.line);
    if (f->second.line &&
        (!strstr(f->message, line) || f->second.lane >= 256 || f->second.workgroup >= 4)) {
        fail_msg("%s: the finding is badly put: %s", r->name, f->message);
    }
    if (f->kind == VYRE_FINDING_RACE) {
        assert_true(f->second.inst != VYRE_NONE);
        assert_true(f->first.inst <= f->second.inst);
        assert_false(f->first.lane == f->second.lane && f->first.workgroup == f->second.workgroup);
    }
    assert_true(f->first.column > 0);
}

static void mistakes_are_found(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            vyre_findings *findings = sanitize(mistakes[i].name, mistakes[i].text, seed);
            size_t count = vyre_findings_count(findings);
            bool found = false;
            char others[1024] = "nothing";
            for (size_t k = 0, used = 0; k < count; k++) {
                const vyre_finding *f = vyre_findings_get(findings, k);
                check_finding(&mistakes[i], f);
                found |= is_expected(&mistakes[i], f);
                used += (size_t)snprintf(others + used, sizeof others - used, "\n  %s: %s",
                                         vyre_finding_kind_name(f->kind), f->message);
                used = used < sizeof others ? used : sizeof others - 1;
            }
            if (!found) {
                fail_msg("%s: not found under seed %llu, but %s", mistakes[i].name,
                         (unsigned long long)seed, others);
            }
            vyre_findings_free(findings);
        }
    }
}

static void sound_programs_give_no_findings(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            vyre_findings *findings = sanitize(sound[i].name, sound[i].text, seed);
            if (vyre_findings_count(findings)) {
                const vyre_finding *f = vyre_findings_get(findings, 0);
                fail_msg("%s: found under seed %llu: %s: %s", sound[i].name,
                         (unsigned long long)seed, vyre_finding_kind_name(f->kind), f->message);
            }
            vyre_findings_free(findings);
        }
    }
}

/* A place in a function says which, and where it was called. */
static void functions_are_named(void **state) {
    (void)state;
    vyre_findings *findings = sanitize("functions",
                                       "fn put(to: inout buffer<u32>, i: u32) {\n"
                                       "    to[i / 2] = i;\n"
                                       "}\n"
                                       "program p(y: inout buffer<u32>) over y {\n"
                                       "    put(y, gid);\n"
                                       "}\n",
                                       0);
    assert_int_equal(vyre_findings_count(findings), 1);
    const vyre_finding *f = vyre_findings_get(findings, 0);
    assert_int_equal(f->first.line, 2);
    assert_string_equal(f->first.function, "put");
    assert_int_equal(f->first.call_line, 5);
    assert_int_equal(f->count, LENGTH / 2);
    assert_null(vyre_findings_get(findings, 1));
    vyre_findings_free(findings);
}

/* Several mistakes at a time, each pair of instructions once, whatever the schedule. */
static void several_mistakes_are_found_together(void **state) {
    (void)state;
    static const char text[] = "program p(x: buffer<u32>, y: inout buffer<u32>)\n"
                               "over x workgroup 64 {\n"
                               "    atomic_add(y[x[gid]], 1);\n"
                               "    y[gid] = x[gid + 1];\n"
                               "    y[lid] = 5;\n"
                               "}\n";
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        vyre_findings *findings = sanitize("several", text, seed);
        uint32_t seen[6][6] = {{0}};
        for (size_t i = 0; i < vyre_findings_count(findings); i++) {
            const vyre_finding *f = vyre_findings_get(findings, i);
            assert_true(f->first.line < 6 && f->second.line < 6);
            assert_true(vyre_finding_is_error(f->kind) == (f->kind == VYRE_FINDING_RACE));
            assert_int_equal(++seen[f->first.line][f->second.line], 1);
        }
        assert_int_equal(seen[5][5], 1);
        assert_int_equal(seen[4][0], 1);
        assert_int_equal(seen[3][4] | seen[3][5], 1);
        vyre_findings_free(findings);
    }
}

static void so_many_findings_are_kept(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "program p(y: inout buffer<u32>) over y {\n");
    for (int i = 0; i < VYRE_FINDINGS_LIMIT + 10; i++) {
        vyre_strbuf_puts(&text, "    y[gid / 2] = gid;\n");
    }
    vyre_strbuf_puts(&text, "}\n");
    assert_false(text.failed);
    vyre_findings *findings = sanitize("many", vyre_strbuf_string(&text), 0);
    assert_int_equal(vyre_findings_count(findings), VYRE_FINDINGS_LIMIT);
    vyre_findings_free(findings);
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_found),
        cmocka_unit_test(sound_programs_give_no_findings),
        cmocka_unit_test(functions_are_named),
        cmocka_unit_test(several_mistakes_are_found_together),
        cmocka_unit_test(so_many_findings_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
