/* Every pure operation as LLVM IR on every type it takes, scalar and in vectors, for this machine
 * and for older ones: compiled, run, and held byte for byte against the evaluators of
 * src/ir/eval.h. 8 bits and all unary operations of 16 bits in full, otherwise special and random
 * operands. */
#include "tests/unit/eval_number.h"

#include "backend/cpu/codegen/llvm.h"
#include "backend/cpu/codegen/write.h"
#include "backend/cpu/runtime/code.h"
#include "backend/cpu/runtime/pool.h"
#include "pass/nan.h"
#include "tests/unit/settings.h"

/* A multiple of all lane counts. */
enum { FULL = 0x10000, MOST_CASES = 1024, RESULT = 3, SPECIALS = 400 };

/* A machine to write for. */
typedef struct machine {
    const char *name;
    const char *attributes; /* of functions: what LLVM may use */
    const char *needs[4];   /* features that this CPU must have to run it */
    uint32_t lanes;
    bool has_half, has_long;
} machine;

#define TARGET(cpu) "\"target-cpu\"=\"" cpu "\" \"target-features\"=\"+cx16\""

static eval_case cases[MOST_CASES];
static uint32_t case_count;
static uint64_t operands[3][FULL];
static uint64_t memory[4][FULL]; /* three operands and the result, in memory form */
static uint64_t expected[FULL];

static void collect_cases(void) {
    eval_case c = {0};
    case_count = 0;
    while (eval_next(&c)) {
        assert_true(case_count < MOST_CASES);
        cases[case_count++] = c;
    }
}

static cpu_type_text memory_type(vyre_type type, uint32_t lanes) {
    return cpu_type(type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type, lanes);
}

/* %tN of `lanes` elements of array `array` at %i. */
static uint32_t write_load(cpu_writer *w, vyre_type type, uint32_t lanes, uint32_t array) {
    vyre_strbuf_printf(&w->code, "  %%g%u = getelementptr %s, ptr %%a%u, i64 %%i\n", array,
                       memory_type(type, 1).text, array);
    uint32_t value = w->next++;
    vyre_strbuf_printf(&w->code, "  %%t%u = load volatile %s, ptr %%g%u, align %u\n", value,
                       memory_type(type, lanes).text, array, vyre_type_bytes(type));
    if (type == VYRE_TYPE_BOOL) {
        uint32_t byte = value;
        value = w->next++;
        vyre_strbuf_printf(&w->code, "  %%t%u = trunc %s %%t%u to %s\n", value,
                           memory_type(type, lanes).text, byte, cpu_type(type, lanes).text);
    }
    return value;
}

static void write_store(cpu_writer *w, vyre_type type, uint32_t lanes, uint32_t value,
                        uint64_t offset) {
    if (type == VYRE_TYPE_BOOL) {
        uint32_t bit = value;
        value = w->next++;
        vyre_strbuf_printf(&w->code, "  %%t%u = zext %s %%t%u to %s\n", value,
                           cpu_type(type, lanes).text, bit, memory_type(type, lanes).text);
    }
    uint32_t at = w->next++;
    vyre_strbuf_printf(&w->code, "  %%o%u = add i64 %%i, %llu\n", at, (unsigned long long)offset);
    vyre_strbuf_printf(&w->code, "  %%g%u = getelementptr %s, ptr %%a%u, i64 %%o%u\n", at + 100,
                       memory_type(type, 1).text, (unsigned)RESULT, at);
    vyre_strbuf_printf(&w->code, "  store volatile %s %%t%u, ptr %%g%u, align %u\n",
                       memory_type(type, lanes).text, value, at + 100, vyre_type_bytes(type));
}

static uint32_t write_case(cpu_writer *w, const eval_case *c, uint32_t lanes, const uint32_t *x) {
    uint32_t value =
        cpu_write_op(w, (vyre_op)c->op, c->types[0], c->result, lanes, x[0], x[1], x[2]);
    return vyre_nan_is_made((vyre_op)c->op, c->result)
               ? cpu_write_canonical(w, c->result, lanes, value)
               : value;
}

static void write_head(cpu_writer *w, uint32_t phase) {
    vyre_strbuf_printf(
        &w->code,
        "define void @phase_%u(ptr %%frame, i64 %%first, i64 %%end, ptr %%storage) #0 "
        "{\nentry:\n  %%arrays = load ptr, ptr %%frame\n",
        phase);
    for (uint32_t i = 0; i < 4; i++) {
        vyre_strbuf_printf(&w->code,
                           "  %%p%u = getelementptr ptr, ptr %%arrays, i64 %u\n"
                           "  %%a%u = load ptr, ptr %%p%u\n",
                           i, i, i, i);
    }
    vyre_strbuf_puts(&w->code, "  br label %loop\nloop:\n"
                               "  %i = phi i64 [ %first, %entry ], [ %n, %loop ]\n");
}

static void write_tail(cpu_writer *w, uint32_t step) {
    vyre_strbuf_printf(&w->code,
                       "  %%n = add i64 %%i, %u\n  %%more = icmp ult i64 %%n, %%end\n"
                       "  br i1 %%more, label %%loop, label %%done\ndone:\n  ret void\n}\n",
                       step);
}

static void finish(cpu_writer *w, const machine *m, vyre_strbuf *ir) {
    vyre_strbuf_puts(ir, vyre_strbuf_string(&w->declarations));
    vyre_strbuf_puts(ir, vyre_strbuf_string(&w->code));
    vyre_strbuf_printf(ir, "attributes #0 = { nounwind %s }\n", m->attributes);
    assert_false(w->code.failed || w->declarations.failed || ir->failed);
    vyre_strbuf_free(&w->code);
    vyre_strbuf_free(&w->declarations);
}

/* One function a case. */
static void write_all(const machine *m, vyre_strbuf *ir) {
    cpu_writer w = {.has_half = m->has_half, .has_long = m->has_long};
    for (uint32_t k = 0; k < case_count; k++) {
        const eval_case *c = &cases[k];
        uint32_t x[3] = {0};
        w.next = 0;
        write_head(&w, k);
        for (uint32_t i = 0; i < c->operands; i++) {
            x[i] = write_load(&w, c->types[i], m->lanes, i);
        }
        write_store(&w, c->result, m->lanes, write_case(&w, c, m->lanes, x), 0);
        write_tail(&w, m->lanes);
    }
    finish(&w, m, ir);
}

static void check(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_message(status));
    }
}

static cpu_code load(const vyre_strbuf *ir, uint32_t count, cpu_kernel *kernels) {
    vyre_strbuf object = {0};
    cpu_code code = {0};
    cpu_llvm_threads threads;
    check(cpu_pool_lend(&threads));
    check(cpu_llvm_compile(ir, CPU_LLVM_OBJECT, &threads, &object));
    check(cpu_code_load((const uint8_t *)object.data, object.size, count, &code, kernels));
    vyre_strbuf_free(&object);
    return code;
}

static void run(cpu_kernel kernel, uint64_t end) {
    uint8_t *const arrays[] = {(uint8_t *)memory[0], (uint8_t *)memory[1], (uint8_t *)memory[2],
                               (uint8_t *)memory[3]};
    cpu_frame frame = {.arrays = arrays};
    memset(memory[RESULT], 0xa5, sizeof memory[RESULT]);
    kernel(&frame, 0, end, NULL);
}

static void compare(const eval_case *c, const char *where, uint32_t lanes, uint64_t count) {
    uint32_t bytes = vyre_type_bytes(c->result);
    if (!memcmp(memory[RESULT], expected, count * bytes)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t found = eval_get(memory[RESULT], i, bytes), right = eval_get(expected, i, bytes);
        if (found != right) {
            char text[160];
            eval_describe(c, text, sizeof text);
            fail_msg("%s of %llx %llx %llx is %llx, not %llx, for %s in %u lanes", text,
                     (unsigned long long)operands[0][i], (unsigned long long)operands[1][i],
                     (unsigned long long)operands[2][i], (unsigned long long)found,
                     (unsigned long long)right, where, lanes);
        }
    }
}

static bool is_float(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
}

/* Powers of two and their neighbours; of floats, special values and the ends of integer types. */
static size_t specials_of(vyre_type type, uint64_t *to) {
    size_t count = 0;
    int width = (int)vyre_type_bytes(type) * 8;
    if (type == VYRE_TYPE_BOOL) {
        to[0] = 0;
        to[1] = 1;
        return 2;
    }
    if (is_float(type)) {
        count = number_specials(type, to);
        static const int ends[] = {7, 8, 15, 16, 31, 32, 63, 64};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            uint64_t power = number_make(type, false, ends[i], 0);
            for (uint64_t near = 0; near < 5; near++) {
                to[count++] = power + near - 2;
                to[count++] = (power + near - 2) | number_sign(type);
            }
        }
    } else {
        for (int i = 0; i < width; i++) {
            for (uint64_t near = 0; near < 3; near++) {
                uint64_t value = ((uint64_t)1 << i) + near - 1;
                to[count++] = value & eval_mask(type);
                to[count++] = ~value & eval_mask(type);
            }
        }
    }
    assert_true(count <= SPECIALS);
    return count;
}

/* Of any size, and often of few digits, or with a tail of equal ones. */
static uint64_t random_integer(vyre_type type) {
    int width = (int)vyre_type_bytes(type) * 8;
    uint64_t any = eval_random() & eval_mask(type), tail = 0;
    any >>= eval_random_in(0, width - 1);
    tail = ((uint64_t)1 << eval_random_in(0, width - 1)) - 1;
    switch (eval_random_in(0, 7)) {
    case 0: any |= tail; break;
    case 1: any &= ~tail; break;
    case 2: any = (any & ~tail) | (tail / 2 + 1); break;
    case 3: any = ((any & ~tail) | (tail / 2 + 1)) + 1; break;
    case 4: any = ((any & ~tail) | (tail / 2 + 1)) - 1; break;
    default: break;
    }
    return (eval_random() & 1 ? 0 - any : any) & eval_mask(type);
}

static void random_operands(const eval_case *c, uint64_t *x) {
    vyre_type type = c->types[c->operands - 1];
    if (is_float(type)) {
        number_operands(c->op, type, x);
    }
    for (uint32_t i = 0; i < c->operands; i++) {
        if (c->types[i] == VYRE_TYPE_BOOL) {
            x[i] = eval_random() & 1;
        } else if (!is_float(type)) {
            x[i] = random_integer(c->types[i]);
        }
    }
    if (c->operands == 2 && c->types[0] == c->types[1] && type != VYRE_TYPE_BOOL &&
        eval_random_in(0, 7) == 0) {
        x[1] = (x[0] + (uint64_t)eval_random_in(-1, 1)) & eval_mask(type);
    }
}

/* All there are if that is enough; else half of them special, the others random. */
static void choose_operands(const eval_case *c, size_t count) {
    static uint64_t lists[3][SPECIALS];
    size_t counts[3] = {1, 1, 1}, all = 1;
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < c->operands; k++) {
        counts[k] = specials_of(c->types[k], lists[k]);
        all *= counts[k];
        bytes += vyre_type_bytes(c->types[k]);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t x[3] = {0}, pick = all <= count / 2 ? i : eval_random();
        if (bytes <= 2 && count == FULL) {
            x[0] = c->operands == 1 ? i : i & 0xff;
            x[1] = i >> 8;
        } else if (i < all && i < count / 2) {
            for (uint32_t k = 0; k < c->operands; k++) {
                x[k] = lists[k][pick % counts[k]];
                pick /= counts[k];
            }
        } else {
            random_operands(c, x);
        }
        for (uint32_t k = 0; k < 3; k++) {
            bool flag = c->types[k] == VYRE_TYPE_BOOL;
            operands[k][i] = k >= c->operands ? 0 : x[k] & (flag ? 1 : eval_mask(c->types[k]));
        }
    }
    for (uint32_t k = 0; k < c->operands; k++) {
        for (size_t i = 0; i < count; i++) {
            eval_put(memory[k], i, vyre_type_bytes(c->types[k]), operands[k][i]);
        }
    }
    c->evaluate(expected, memory[0], memory[1], memory[2], count);
}

static bool llvm_is_missing(cpu_llvm_info *info) {
    vyre_status status = cpu_llvm_open(info);
    if (status) {
        print_message("skipped: %s\n", vyre_status_message(status));
        vyre_status_free(status);
    }
    return status;
}

static bool can_run(const cpu_llvm_info *info, const machine *m) {
    for (size_t i = 0; i < sizeof m->needs / sizeof *m->needs && m->needs[i]; i++) {
        if (!cpu_llvm_has_feature(info, m->needs[i])) {
            print_message("%s in %u lanes is not run: no %s\n", m->name, m->lanes, m->needs[i]);
            return false;
        }
    }
    return true;
}

static const machine machines[] = {
    {"this machine, plain", "", {0}, 1, false, false},
    {"this machine, plain", "", {0}, 16, false, false},
#ifdef __x86_64__
    {"x86-64", TARGET("x86-64"), {0}, 1, false, false},
    {"x86-64", TARGET("x86-64"), {0}, 4, false, false},
    {"x86-64-v2", TARGET("x86-64-v2"), {0}, 8, false, false},
    {"x86-64-v3", TARGET("x86-64-v3"), {"avx2", "fma", "f16c"}, 1, true, false},
    {"x86-64-v3", TARGET("x86-64-v3"), {"avx2", "fma", "f16c"}, 8, true, false},
    {"x86-64-v3", TARGET("x86-64-v3"), {"avx2", "fma", "f16c"}, 32, true, false},
    {"x86-64-v4", TARGET("x86-64-v4"), {"avx512vl", "avx512dq", "avx512bw"}, 1, true, true},
    {"x86-64-v4", TARGET("x86-64-v4"), {"avx512vl", "avx512dq", "avx512bw"}, 8, true, true},
    {"x86-64-v4", TARGET("x86-64-v4"), {"avx512vl", "avx512dq", "avx512bw"}, 16, true, true},
    {"x86-64-v4", TARGET("x86-64-v4"), {"avx512vl", "avx512dq", "avx512bw"}, 64, true, true},
#endif
#ifdef __aarch64__
    {"aarch64", "", {0}, 1, true, true},
    {"aarch64", "", {0}, 4, true, true},
    {"aarch64", "", {0}, 8, true, true},
#endif
};
enum { MACHINES = sizeof machines / sizeof *machines };

static void operations_give_the_bytes_of_the_evaluators(void **state) {
    (void)state;
    static cpu_kernel kernels[MACHINES][MOST_CASES];
    cpu_code codes[MACHINES] = {{0}};
    cpu_llvm_info info;
    if (llvm_is_missing(&info)) {
        skip();
    }
    collect_cases();
    for (size_t i = 0; i < MACHINES; i++) {
        if (can_run(&info, &machines[i])) {
            vyre_strbuf ir = {0};
            write_all(&machines[i], &ir);
            codes[i] = load(&ir, case_count, kernels[i]);
            vyre_strbuf_free(&ir);
        }
    }
    uint64_t compared = 0, wanted = test_work(FULL, 0x800);
    uint64_t count = wanted < FULL ? (wanted + 63) / 64 * 64 : FULL; /* whole vectors */
    for (uint32_t k = 0; k < case_count; k++) {
        choose_operands(&cases[k], count);
        for (size_t i = 0; i < MACHINES; i++) {
            if (codes[i].mapping) {
                run(kernels[i][k], count);
                compare(&cases[k], machines[i].name, machines[i].lanes, count);
                compared += count;
            }
        }
    }
    for (size_t i = 0; i < MACHINES; i++) {
        if (codes[i].mapping) {
            cpu_code_unload(&codes[i]);
        }
    }
    print_message("%u operations and types, %llu results compared\n", case_count,
                  (unsigned long long)compared);
}

/* With constants for operands: those that LLVM computes itself, and those that it makes other code
 * of. `fixed` has a bit for each operand that is one. */
enum { CONSTANTS = 32 };

static void with_constants(const machine *m, uint32_t fixed) {
    static cpu_kernel kernels[MOST_CASES];
    static uint64_t chosen[MOST_CASES][3][CONSTANTS];
    cpu_llvm_info info;
    if (llvm_is_missing(&info)) {
        skip();
    }
    collect_cases();
    cpu_writer w = {.has_half = m->has_half, .has_long = m->has_long};
    for (uint32_t k = 0; k < case_count; k++) {
        const eval_case *c = &cases[k];
        choose_operands(c, CONSTANTS);
        w.next = 0;
        write_head(&w, k);
        uint32_t x[3] = {0}, loaded[3] = {0};
        for (uint32_t i = 0; i < c->operands; i++) {
            loaded[i] = fixed >> i & 1 ? 0 : write_load(&w, c->types[i], m->lanes, i);
        }
        for (uint32_t n = 0; n < CONSTANTS; n++) {
            for (uint32_t i = 0; i < c->operands; i++) {
                chosen[k][i][n] = operands[i][n];
                x[i] = fixed >> i & 1 ? cpu_write_const(&w, c->types[i], m->lanes, operands[i][n])
                                      : loaded[i];
            }
            write_store(&w, c->result, m->lanes, write_case(&w, c, m->lanes, x), n * m->lanes);
        }
        write_tail(&w, CONSTANTS * m->lanes);
    }
    vyre_strbuf ir = {0};
    finish(&w, m, &ir);
    cpu_code code = load(&ir, case_count, kernels);
    vyre_strbuf_free(&ir);
    for (uint32_t k = 0; k < case_count; k++) {
        const eval_case *c = &cases[k];
        uint64_t count = CONSTANTS * m->lanes;
        choose_operands(c, count); /* of which the first are what is loaded */
        for (uint64_t at = 0; at < count; at++) {
            for (uint32_t i = 0; i < c->operands; i++) {
                operands[i][at] =
                    fixed >> i & 1 ? chosen[k][i][at / m->lanes] : operands[i][at % m->lanes];
                eval_put(memory[i], at, vyre_type_bytes(c->types[i]), operands[i][at]);
            }
        }
        c->evaluate(expected, memory[0], memory[1], memory[2], count);
        run(kernels[k], 1);
        compare(c, "constants", m->lanes, count);
    }
    cpu_code_unload(&code);
}

static void constants_fold_to_the_same(void **state) {
    (void)state;
    with_constants(&machines[0], 7);
}

static void constants_in_vectors_fold_to_the_same(void **state) {
    (void)state;
    with_constants(&machines[1], 7);
}

static void a_constant_second_operand_gives_the_same(void **state) {
    (void)state;
    with_constants(&machines[1], 2);
}

static void splats_and_lane_numbers_fill_the_lanes(void **state) {
    (void)state;
    cpu_llvm_info info;
    if (llvm_is_missing(&info)) {
        skip();
    }
    static const uint32_t lanes[] = {1, 4, 8, 16, 32, 64};
    enum { FUNCTIONS = sizeof lanes / sizeof *lanes };
    cpu_kernel kernels[FUNCTIONS];
    const vyre_type u32 = VYRE_TYPE_U32;
    cpu_writer w = {0};
    for (uint32_t k = 0; k < FUNCTIONS; k++) {
        w.next = 0;
        write_head(&w, k);
        uint32_t seed = cpu_write_splat(&w, u32, lanes[k], write_load(&w, u32, 1, 0));
        uint32_t numbers = cpu_write_lane_numbers(&w, lanes[k]);
        uint32_t sum = cpu_write_op(&w, VYRE_OP_ADD, u32, u32, lanes[k], seed, numbers, 0);
        write_store(&w, u32, lanes[k], sum, 0);
        write_tail(&w, lanes[k]);
    }
    vyre_strbuf ir = {0};
    finish(&w, &machines[0], &ir);
    cpu_code code = load(&ir, FUNCTIONS, kernels);
    vyre_strbuf_free(&ir);
    for (uint32_t k = 0; k < FUNCTIONS; k++) {
        eval_put(memory[0], 0, 4, 1000);
        run(kernels[k], 1);
        for (uint32_t i = 0; i < lanes[k]; i++) {
            assert_int_equal(eval_get(memory[RESULT], i, 4), 1000 + i);
        }
        assert_int_equal(eval_get(memory[RESULT], lanes[k], 4), 0xa5a5a5a5);
    }
    cpu_code_unload(&code);
}

static void intrinsics_are_declared_once(void **state) {
    (void)state;
    cpu_writer w = {0};
    cpu_write_declare(&w, "declare i8 @llvm.ctpop.i8(i8)");
    cpu_write_declare(&w, "declare i8 @llvm.ctpop.i8(i8)");
    cpu_write_declare(&w, "declare i16 @llvm.ctpop.i16(i16)");
    cpu_write_declare(&w, "declare i8 @llvm.ctpop.i8(i8)");
    assert_string_equal(w.declarations.data,
                        "declare i8 @llvm.ctpop.i8(i8)\ndeclare i16 @llvm.ctpop.i16(i16)\n");
    vyre_strbuf_free(&w.declarations);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_give_the_bytes_of_the_evaluators),
        cmocka_unit_test(constants_fold_to_the_same),
        cmocka_unit_test(constants_in_vectors_fold_to_the_same),
        cmocka_unit_test(a_constant_second_operand_gives_the_same),
        cmocka_unit_test(splats_and_lane_numbers_fill_the_lanes),
        cmocka_unit_test(intrinsics_are_declared_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
