/* A host that knows programs of one phase alone: it runs the steps of any program by phases taken
 * out of it, one by one, and must come to the same bytes as the whole. */
#include <vyre/builder.h>

#include "base/alloc.h"
#include "base/random.h"
#include "conform/trial.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/phase.h"
#include "pass/split.h"
#include "runtime/plan.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

enum { MOST_RESOURCES = 512, MOST_STEPS = 512 };

typedef struct host {
    const vyre_program *program;
    const vyre_ir *ir;
    check_list inputs;
    vyre_plan plan;
    uint64_t seed;
    uint8_t *arrays[MOST_RESOURCES];
    size_t sizes[MOST_RESOURCES];      /* bytes */
    uint32_t iterations[MOST_STEPS];   /* by step */
    vyre_phase_part parts[MOST_STEPS]; /* by phase, once taken out */
    uint64_t runs;
} host;

static uint32_t input_of(const host *h, uint32_t arg) {
    uint32_t input = 0;
    while (h->plan.inputs[input] != arg) {
        input++;
    }
    return input;
}

static int64_t read_element(const host *h, uint32_t resource, uint64_t index) {
    vyre_type type = (vyre_type)h->ir->resources[resource].type;
    uint32_t bytes = vyre_type_bytes(type);
    uint64_t value = 0;
    if (index >= h->sizes[resource] / bytes) {
        return 0;
    }
    for (uint32_t i = bytes; i-- > 0;) {
        value = value << 8 | h->arrays[resource][index * bytes + i];
    }
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    if (is_signed && bytes < 8 && value >> (8 * bytes - 1)) {
        value |= ~(uint64_t)0 << 8 * bytes;
    }
    /* A u64 beyond is as good as any large number. */
    return !is_signed && value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* The program of the phase takes what it should, and nothing else. */
static void check_part(const host *h, uint32_t phase) {
    const vyre_phase_part *part = &h->parts[phase];
    const vyre_ir *ir = vyre_program_ir(part->program);
    assert_int_equal(ir->phase_count, 1);
    assert_int_equal(ir->step_count, 1);
    assert_int_equal(ir->arg_count, part->binding_count);
    assert_int_equal(ir->phases[0].from_resource, VYRE_NONE);
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        assert_int_not_equal(ir->resources[i].kind, VYRE_RESOURCE_SCRATCH);
    }
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_phase_binding *binding = &part->bindings[i];
        bool is_array = binding->kind == VYRE_PHASE_RESOURCE;
        assert_int_equal(is_array, ir->args[i].resource != VYRE_NONE);
        if (is_array) {
            const vyre_resource *row = &ir->resources[ir->args[i].resource];
            const vyre_resource *from = &h->ir->resources[binding->index];
            assert_int_equal(row->size, VYRE_NONE);
            assert_int_equal(row->access, binding->access);
            assert_int_not_equal(row->access, VYRE_ACCESS_OUT);
            assert_int_equal(row->type, from->type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : from->type);
        } else if (binding->kind == VYRE_PHASE_SCALAR) {
            assert_int_equal(ir->args[i].type, h->ir->args[binding->index].type);
        }
    }
}

static void run_phase(host *h, uint32_t phase) {
    const vyre_phase *row = &h->ir->phases[phase];
    vyre_phase_part *part = &h->parts[phase];
    if (!part->program) {
        vyre_status status = vyre_phase_extract(h->program, phase, false, part);
        if (status) {
            fail_msg("%s", vyre_status_text(status));
        }
        check_part(h, phase);
    }
    const vyre_call call = vyre_plan_call(&h->plan, NULL, NULL);
    int64_t counts[3] = {0};
    for (uint32_t i = 0; i < row->dimensions && row->from_resource != VYRE_NONE; i++) {
        uint64_t index = vyre_call_size(h->ir, &call, row->from_index, h->iterations);
        counts[i] = read_element(h, row->from_resource, index + i);
    }
    vyre_grid grid = vyre_call_grid(h->ir, &call, phase, h->iterations, counts);
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < part->binding_count; i++) {
        uint32_t index = part->bindings[i].index;
        switch (part->bindings[i].kind) {
        case VYRE_PHASE_SCALAR: inputs[i] = h->inputs.items[input_of(h, index)]; break;
        case VYRE_PHASE_RESOURCE:
            inputs[i] = (vyre_input){h->arrays[index], h->sizes[index]};
            break;
        case VYRE_PHASE_ITERATION: inputs[i] = (vyre_input){&h->iterations[index], 4}; break;
        case VYRE_PHASE_DOMAIN: inputs[i] = (vyre_input){&grid.domain[index], 8}; break;
        }
    }
    vyre_outputs outputs =
        check_run_seed(part->program, (check_list){inputs, part->binding_count}, h->seed);
    size_t output = 0;
    for (uint32_t i = 0; i < part->binding_count; i++) {
        if (part->bindings[i].access == VYRE_ACCESS_INOUT) {
            uint32_t resource = part->bindings[i].index;
            assert_int_equal(outputs.items[output].size, h->sizes[resource]);
            if (h->sizes[resource]) {
                memcpy(h->arrays[resource], outputs.items[output].data, h->sizes[resource]);
            }
            output++;
        }
    }
    assert_int_equal(output, outputs.count);
    vyre_outputs_free(&outputs);
    h->runs++;
}

static void run_steps(host *h, uint32_t first, uint32_t end) {
    bool taken = false;
    for (uint32_t i = first; i < end; i = h->ir->steps[i].end) {
        const vyre_step *step = &h->ir->steps[i];
        if (step->kind == VYRE_STEP_PHASE) {
            run_phase(h, step->size);
            continue;
        }
        if (step->kind == VYRE_STEP_SWAP) {
            uint8_t *kept = h->arrays[step->resource];
            h->arrays[step->resource] = h->arrays[step->size];
            h->arrays[step->size] = kept;
            continue;
        }
        if (step->kind == VYRE_STEP_ELSE) {
            if (!taken) {
                run_steps(h, i + 1, step->end);
            }
            continue;
        }
        const vyre_call call = vyre_plan_call(&h->plan, NULL, NULL);
        uint64_t size = vyre_call_size(h->ir, &call, step->size, h->iterations);
        if (step->kind == VYRE_STEP_IF) {
            taken = read_element(h, step->resource, size) != 0;
            if (taken) {
                run_steps(h, i + 1, step->end);
            }
            continue;
        }
        h->iterations[i] = 0;
        for (uint64_t turn = 0;
             step->kind == VYRE_STEP_REPEAT_COUNT ? turn < size
                                                  : read_element(h, step->resource, size) != 0;
             turn++) {
            h->iterations[i] = (uint32_t)turn;
            run_steps(h, i + 1, step->end);
        }
    }
}

/* Runs the program by its phases and compares with what is expected. Gives how many there were. */
static uint64_t check_host(const vyre_program *program, check_list inputs, uint64_t seed,
                           const vyre_outputs *expected) {
    host *h = calloc(1, sizeof *h);
    assert_non_null(h);
    *h = (host){.program = program, .ir = vyre_program_ir(program), .inputs = inputs, .seed = seed};
    vyre_dispatch_config config = {0};
    assert_null(vyre_plan_init(&h->plan, program, inputs.items, inputs.count, &config));
    assert_true(h->ir->resource_count <= MOST_RESOURCES && h->ir->step_count <= MOST_STEPS);
    for (uint32_t i = 0; i < h->ir->resource_count; i++) {
        if (h->ir->resources[i].kind <= VYRE_RESOURCE_SCRATCH) {
            h->sizes[i] =
                vyre_plan_length(&h->plan, i) * vyre_resource_stride(h->ir, &h->ir->resources[i]);
            h->arrays[i] = calloc(h->sizes[i] + 1, 1);
        }
    }
    for (uint32_t i = 0; i < h->plan.input_count; i++) {
        uint32_t resource = h->ir->args[h->plan.inputs[i]].resource;
        if (resource != VYRE_NONE && h->sizes[resource]) {
            memcpy(h->arrays[resource], inputs.items[i].data, h->sizes[resource]);
        }
    }
    run_steps(h, 0, h->ir->step_count);
    assert_int_equal(h->plan.output_count, expected->count);
    for (uint32_t i = 0; i < h->plan.output_count; i++) {
        uint32_t resource = h->ir->args[h->plan.outputs[i]].resource;
        vyre_output found = {h->arrays[resource], h->sizes[resource]};
        vyre_input wanted = {expected->items[i].data, expected->items[i].size};
        check_bytes(program, seed, i, &found, &wanted);
    }
    uint64_t runs = h->runs;
    for (uint32_t i = 0; i < h->ir->resource_count; i++) {
        free(h->arrays[i]);
    }
    for (uint32_t i = 0; i < h->ir->phase_count; i++) {
        vyre_phase_part_free(&h->parts[i]);
    }
    vyre_plan_deinit(&h->plan);
    free(h);
    return runs;
}

static void check_text(const char *text, check_list inputs, uint64_t runs) {
    vyre_program *program = check_parse(text), *whole = NULL;
    assert_null(vyre_split_grid_barriers(program, &whole));
    vyre_outputs expected = check_run_seed(program, inputs, 0);
    assert_int_equal(check_host(program, inputs, 0, &expected), runs);
    if (whole) {
        check_host(whole, inputs, 1, &expected);
        vyre_program_release(whole);
    }
    vyre_outputs_free(&expected);
    vyre_program_release(program);
}

static uint32_t numbers[50];

static void phases_and_repeats(void **state) {
    (void)state;
    check_text("program p(k: u16, x: buffer<u32>, y: out buffer<u32>[len(x) * 2], z: inout "
               "buffer<i8>) {"
               "  scratch flags: bool[len(x)]; scratch left: i64[2]; scratch never: u32[5];"
               "  phase over 1 { left[1] = 3; }"
               "  repeat turn while left[1] { repeat i in k {"
               "    phase over (len(x), 2) { y[gid.x * 2 + gid.y] += turn * 10 + i + len(never);"
               "      if gid.y == 0 { flags[gid.x] = x[gid.x] % 3 == i; } } }"
               "    phase over left[1] max 40 workgroup 8 { shared t: u32[8];"
               "      t[lid] = gid; barrier;"
               "      if flags[gid] && in_domain { z[gid] += i8(t[lid]); } }"
               "    phase over 1 { left[1] -= 1; } } }",
               LIST({(uint16_t[]){2}, 2}, BYTES(numbers), BYTES(numbers)), 1 + 3 * (2 + 1 + 1));
}

static void grid_barriers(void **state) {
    (void)state;
    check_text("program p(c: buffer<u32>, y: inout buffer<u32>) {"
               "  repeat k in 2 { phase over c[0] max len(y) workgroup 8 {"
               "    let odd = y[gid] % 2 == 1;"
               "    for i in 0..k + 2 { y[gid] += i; grid_barrier; }"
               "    if odd { y[gid] += 1000; } } } }",
               LIST({(uint32_t[]){30}, 4}, BYTES(numbers)), 2);
}

static void names_of_arguments(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(domain_x: u32, a: buffer<u32>, b: out buffer<u32>[3], unused: buffer<u8>) {"
        "  scratch kept: u32[4]; scratch d: bool[domain_x];"
        "  repeat turn in 3 { phase work over (len(unused), 7) {"
        "    d[gid.x] = kept[gid.y] == a[turn]; b[0] = domain_x; } } }");
    vyre_phase_part part;
    assert_null(vyre_phase_extract(program, 0, false, &part));
    char *text;
    size_t size;
    assert_null(vyre_program_print(part.program, &text, &size));
    assert_string_equal(
        text, "program p(domain_x: u32, a: buffer<u32>, b: inout buffer<u32>, kept: buffer<u32>, "
              "d: inout buffer<u8>, turn: u32, domain_x_1: u64, domain_y: u64) over (domain_x_1, "
              "domain_y) {\n"
              "    let v0 = gid.x;\n"
              "    let v1 = gid.y;\n"
              "    let v2 = kept[v1];\n"
              "    let v3 = turn;\n"
              "    let v4 = a[v3];\n"
              "    let v5 = v2 == v4;\n"
              "    let v6 = u8(v5);\n"
              "    d[v0] = v6;\n"
              "    let v8 = domain_x;\n"
              "    b[0u] = v8;\n"
              "}\n");
    vyre_string_free(text);
    static const vyre_phase_binding expected[] = {
        {VYRE_PHASE_SCALAR, 0, VYRE_ACCESS_IN},      {VYRE_PHASE_RESOURCE, 0, VYRE_ACCESS_IN},
        {VYRE_PHASE_RESOURCE, 1, VYRE_ACCESS_INOUT}, {VYRE_PHASE_RESOURCE, 3, VYRE_ACCESS_IN},
        {VYRE_PHASE_RESOURCE, 4, VYRE_ACCESS_INOUT}, {VYRE_PHASE_ITERATION, 0, VYRE_ACCESS_IN},
        {VYRE_PHASE_DOMAIN, 0, VYRE_ACCESS_IN},      {VYRE_PHASE_DOMAIN, 1, VYRE_ACCESS_IN}};
    assert_int_equal(part.binding_count, 8);
    assert_memory_equal(part.bindings, expected, sizeof expected);
    vyre_phase_part_free(&part);
    vyre_program_release(program);
}

/* Names that are no names of the language, or mean something there, or none at all. */
static void names_of_people(void **state) {
    (void)state;
    static const char *const given[] = {"two words", "3d", "kept", "gid", "", NULL, "_", "kept"};
    static const char *const expected[] = {"kept",   "kept_1", "kept_2", "gid_1",
                                           "kept_3", "kept_4", "__1",    "kept_5"};
    vyre_builder *b;
    assert_null(vyre_builder_create("p", &b));
    uint32_t arrays[8];
    for (int i = 0; i < 8; i++) {
        arrays[i] = vyre_build_scratch(b, given[i], VYRE_TYPE_U32, vyre_build_size_const(b, 1));
    }
    vyre_build_repeat(b, "a turn", vyre_build_size_const(b, 2));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 1)}});
    for (int i = 0; i < 8; i++) {
        vyre_build_store(b, arrays[i], vyre_build_u32(b, 0), vyre_build_iteration(b, 0));
    }
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
    vyre_program *program;
    assert_null(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    vyre_phase_part part;
    vyre_status status = vyre_phase_extract(program, 0, false, &part);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    const vyre_ir *ir = vyre_program_ir(part.program);
    assert_int_equal(ir->arg_count, 10);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(ir->strings + ir->args[i].name, expected[i]);
    }
    assert_string_equal(ir->strings + ir->args[8].name, "iteration");
    vyre_phase_part_free(&part);
    vyre_program_release(program);
}

static void too_many_arguments(void **state) {
    (void)state;
    char text[20000] = "program p(y: inout buffer<u32>) {";
    size_t size = strlen(text);
    for (int i = 0; i < 256; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "scratch s%d: u32[1];", i);
    }
    size += (size_t)snprintf(text + size, sizeof text - size, "phase over y {");
    for (int i = 0; i < 256; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "y[gid] += s%d[0];", i);
    }
    snprintf(text + size, sizeof text - size, "} }");
    vyre_program *program = check_parse(text);
    vyre_phase_part part;
    vyre_status status = vyre_phase_extract(program, 0, false, &part);
    assert_non_null(status);
    assert_null(part.program);
    assert_non_null(strstr(vyre_status_text(status), "256"));
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
    vyre_program_release(program);
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "program p(n: u32, c: buffer<u32>, y: inout buffer<u32>) { scratch f: bool[n];"
        "  repeat i in 2 { phase over c[0] max len(y) workgroup 32 { shared s: u32[32];"
        "    s[lid] = i; barrier; f[gid] = s[31 - lid] == n; if f[gid] { y[gid] = 1; } } } }");
    size_t n = 1;
    for (;; n++) {
        failing_allocator_start(n);
        vyre_phase_part part;
        vyre_status status = vyre_phase_extract(program, 0, false, &part);
        bool failed = failing_allocator_failed();
        assert_int_equal(!status, part.program != NULL);
        assert_int_equal(vyre_status_code_of(status),
                         failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK);
        vyre_status_free(status);
        vyre_phase_part_free(&part);
        failing_allocator_stop();
        if (!failed) {
            break;
        }
    }
    assert_true(n > 20);
    vyre_program_release(program);
}

static void random_programs(void **state) {
    (void)state;
    uint32_t programs = 0, splits = 0, repeats = 0;
    uint64_t runs = 0;
    for (uint64_t seed = 1; programs < test_work(800, 100); seed++) {
        conform_trial trial;
        assert_null(trial_generate(seed, &trial));
        vyre_program *whole;
        assert_null(vyre_split_grid_barriers(trial.program, &whole));
        const vyre_ir *ir = vyre_program_ir(trial.program);
        if (ir->step_count > 1 || whole) {
            check_list inputs = {0};
            vyre_input *items = conform_trial_inputs(&trial, trial.program, &inputs.count);
            inputs.items = items;
            uint64_t random = seed;
            uint64_t schedule = seed % 2 ? vyre_random(&random) : 0;
            vyre_outputs expected = check_run_seed(trial.program, inputs, 0);
            runs += check_host(trial.program, inputs, schedule, &expected);
            if (whole) {
                runs += check_host(whole, inputs, schedule, &expected);
            }
            vyre_outputs_free(&expected);
            vyre_free(items);
            programs++;
            splits += whole != NULL;
            repeats += ir->step_count > ir->phase_count;
        }
        vyre_program_release(whole);
        conform_trial_free(&trial);
    }
    printf("%u programs, %u with repeats, %u split at grid barriers, %llu phases run\n", programs,
           repeats, splits, (unsigned long long)runs);
    assert_true(splits * 10 > programs && repeats * 10 > programs);
}

int main(void) {
    for (uint32_t i = 0; i < 50; i++) {
        numbers[i] = i * 7919 % 101;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_and_repeats), cmocka_unit_test(grid_barriers),
        cmocka_unit_test(names_of_arguments), cmocka_unit_test(names_of_people),
        cmocka_unit_test(too_many_arguments), cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
