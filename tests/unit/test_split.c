/* Programs with grid barriers give the same bytes when they are split at them. */
#include "pass/split.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"

#include "conform/trial.h"

static vyre_program *split(const vyre_program *program) {
    vyre_program *result;
    vyre_status status = vyre_split_grid_barriers(program, &result);
    if (status) {
        char *text;
        size_t size;
        vyre_status printed = vyre_program_print(program, &text, &size);
        fail_msg("%s\n%s", vyre_status_text(status), printed ? "" : text);
    }
    if (result) {
        assert_int_equal(vyre_program_stats(result).grid_barriers, 0);
        assert_true(vyre_program_determinism(result) <= vyre_program_determinism(program));
        assert_int_equal(vyre_program_ir(result)->flags, vyre_program_ir(program)->flags);
        assert_string_equal(vyre_program_name(result), vyre_program_name(program));
    }
    return result;
}

static void fail_showing(const char *what, const vyre_program *program,
                         const vyre_program *result) {
    char *before, *after;
    size_t size;
    assert_null(vyre_program_print(program, &before, &size));
    assert_null(vyre_program_print(result, &after, &size));
    fail_msg("%s\n%s\nbecame\n%s", what, before, after);
}

static void check_races(const vyre_program *program, const vyre_program *result, check_list inputs,
                        uint64_t seed) {
    vyre_findings *findings;
    vyre_sanitize_options options = {.seed = seed, .max_steps = CHECK_STEPS};
    vyre_status status = vyre_sanitize(result, inputs.items, inputs.count, &options, &findings);
    if (status) {
        fail_showing(vyre_status_text(status), program, result);
    }
    for (size_t i = 0; i < vyre_findings_count(findings); i++) {
        const vyre_finding *finding = vyre_findings_get(findings, i);
        if (vyre_finding_is_error(finding->kind)) {
            fail_showing(finding->message, program, result);
        }
    }
    vyre_findings_free(findings);
}

/* Runs both under a seed each. */
static void check_same(const vyre_program *program, const vyre_program *result, check_list inputs,
                       uint64_t seed, uint64_t result_seed) {
    vyre_outputs expected = check_run_seed(program, inputs, seed);
    vyre_outputs found = check_run_seed(result, inputs, result_seed);
    assert_int_equal(expected.count, found.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(expected.items[i].size, found.items[i].size);
        if (memcmp(expected.items[i].data, found.items[i].data, found.items[i].size) != 0) {
            fail_showing("the outputs differ", program, result);
        }
    }
    vyre_outputs_free(&expected);
    vyre_outputs_free(&found);
}

/* A kernel with grid barriers, in the shape of phases and repeats that is given: "pp" are two
 * phases, "p(p)" one and a repeat of one. */
static void check_split(const char *text, check_list inputs, const char *shape) {
    vyre_program *program = check_parse(text), *result = split(program);
    assert_non_null(result);
    for (uint64_t seed = 0; seed < 5; seed++) {
        check_same(program, result, inputs, seed, seed);
        check_races(program, program, inputs, seed);
        check_races(program, result, inputs, seed);
    }
    const vyre_ir *ir = vyre_program_ir(result);
    char found[256] = "";
    uint32_t ends[VYRE_LIMIT_REPEATS], depth = 0;
    size_t length = 0;
    for (uint32_t i = 0; i <= ir->step_count; i++) {
        for (; depth && ends[depth - 1] == i; depth--) {
            found[length++] = ')';
        }
        if (i == ir->step_count) {
            break;
        }
        assert_true(length < 200);
        if (ir->steps[i].kind == VYRE_STEP_PHASE) {
            found[length++] = 'p';
        } else {
            found[length++] = '(';
            ends[depth++] = ir->steps[i].end;
        }
    }
    assert_string_equal(found, shape);
    vyre_program_release(result);
    vyre_program_release(program);
}

/* Programs that are not split */

static void nothing_to_split(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(y: inout buffer<u32>) over y workgroup 8 { barrier; y[gid] = 1; }");
    assert_null(split(program));
    vyre_program_release(program);
}

/* Rows of phases */

static uint32_t numbers[100];

static void barriers_in_a_row(void **state) {
    (void)state;
    check_split("program p(x: buffer<u32>, y: out buffer<u32>[len(x)], z: out buffer<u32>[len(x)])"
                "over x workgroup 32 {"
                "  let a = x[gid] * 3; y[gid] = a; grid_barrier;"
                "  let b = y[(gid + 33) % len(x)]; grid_barrier;"
                "  y[gid] = a + b; z[gid] = b; }",
                LIST(BYTES(numbers)), "ppp");
}

static void atomics_are_not_repeated(void **state) {
    (void)state;
    check_split("program p(x: buffer<u32>, n: out buffer<u32>[3], y: out buffer<u32>[len(x)])"
                "deterministic over x workgroup 16 {"
                "  atomic_add(n[0], x[gid]);"
                "  let old = atomic_exchange(y[gid], 7); grid_barrier;"
                "  if gid < 40 { y[gid] = old + n[0]; } grid_barrier;"
                "  atomic_max(n[1], y[gid]); atomic_add(n[2], 1); }",
                LIST(BYTES(numbers)), "ppp");
}

static void barrier_at_the_end(void **state) {
    (void)state;
    check_split("program p(y: inout buffer<u32>) over y workgroup 8 { y[gid] = 1; grid_barrier; }",
                LIST(BYTES(numbers)), "p");
}

/* Code that never reaches its end. */
static void ends_on_all_ways(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 8 { y[gid] = 1;"
                "  grid_barrier; let v = y[(gid + 1) % len(y)]; grid_barrier;"
                "  if n == 0 { grid_barrier; }"
                "  if gid < 9 { y[gid] = v + 1; return; } else { loop { y[gid] += v; return; } } }",
                LIST({(uint32_t[]){0}, 4}, BYTES(numbers)), "pppp");
}

static void domains_of_three_dimensions(void **state) {
    (void)state;
    check_split("program p(w: u32, y: inout buffer<u32>) over (w, 5, 3) workgroup 4, 2, 2 {"
                "  let at = (gid.z * 8 + gid.y) * 16 + gid.x;"
                "  let keep = y[at % len(y)] + lid.x; let inside = in_domain; grid_barrier;"
                "  if inside && at < len(y) { y[at] = keep + num_workgroups.y; } }",
                LIST({(uint32_t[]){7}, 4}, BYTES(numbers)), "pp");
}

static void phases_without_workgroups(void **state) {
    (void)state;
    check_split("program p(y: inout buffer<u32>) over y { let a = y[gid]; y[gid] = 1; grid_barrier;"
                "  for i in 0..3u { y[gid] += y[gid] * i + a; grid_barrier; }"
                "  if gid % 3 == 0 { return; } y[gid] += a; }",
                LIST(BYTES(numbers)), "pp(p)p");
    check_split("program p(w: u32, y: inout buffer<u32>) over (w, w + 2, 2) {"
                "  let at = (gid.z * (w + 2) + gid.y) * w + gid.x; var a: u32[3]; a[gid.x] = at;"
                "  let b = y[at]; grid_barrier; y[(at + 9) % 30] = b + a[gid.x] + a[1]; }",
                LIST({(uint32_t[]){3}, 4}, BYTES(numbers)), "pp");
    check_split("program p(c: inout buffer<u8>, y: inout buffer<u32>) over c[1] max 40 {"
                "  let b = y[gid]; c[gid] = 0; grid_barrier; y[gid] = b + 5; }",
                LIST({(uint8_t[]){1, 20, 3}, 3}, BYTES(numbers)), "ppp");
}

static void empty_domains(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over n workgroup 8 {"
                "  for i in 0..4u { y[gid] = i; grid_barrier; } y[gid] = y[gid] + 1; }",
                LIST({(uint32_t[]){0}, 4}, BYTES(numbers)), "p(p)p");
}

/* Loops */

static void barriers_in_loops(void **state) {
    (void)state;
    check_split("program p(n: u32, x: buffer<u32>, y: inout buffer<u32>) over y workgroup 32 {"
                "  let a = x[gid] * 3; var acc = a;"
                "  for i in 0..n {"
                "    y[gid] = acc + i; grid_barrier;"
                "    acc = acc + y[(gid + 1) % len(y)]; grid_barrier; }"
                "  y[gid] = acc + a; }",
                LIST({(uint32_t[]){5}, 4}, BYTES(numbers), BYTES(numbers)), "p(pp)p");
}

static void ranges_of_every_kind(void **state) {
    (void)state;
    static const char *const ranges[] = {"u8 250u8..255u8 step 3u8",
                                         "i8 -128i8..127i8 step 100i8",
                                         "i32 3i..-5i step -2i",
                                         "i32 3i..bits<i32>(0xfffffffb) step 1i",
                                         "i32 0i..9i step bits<i32>(0)",
                                         "i32 0i..9i step bits<i32>(0xffffffff)",
                                         "u64 5u64..9u64 step 2u64",
                                         "i16 -5i16..6i16 step 5i16",
                                         "u32 1u..2u step 4294967295u",
                                         "i64 -3i64..0i64 step 1i64",
                                         "u32 4294967290u..4294967295u step 2u"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        char text[512], type[4];
        int at;
        assert_int_equal(sscanf(ranges[i], "%3s%n", type, &at), 1);
        snprintf(
            text, sizeof text,
            "program p(y: inout buffer<u32>) over y workgroup 16 { var k = 0u; var last: %s = "
            "0; for i in %s { y[gid] = y[gid] * 3 + u32(i); last = i; grid_barrier; k = k + 1; "
            "} y[gid] += k * 1000 + u32(last); }",
            type, ranges[i] + at);
        check_split(text, LIST(BYTES(numbers)), "p(pp)p");
    }
}

static void loops_that_are_left_early(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                "  var i = 0u;"
                "  while i < n {"
                "    y[gid] = y[gid] + i; grid_barrier;"
                "    let z = uniform_load(y[0]); grid_barrier;"
                "    if z > 40 { break; }"
                "    i = i + 1;"
                "    if z % 2 == 1 { y[gid] += 1; grid_barrier; continue; }"
                "    grid_barrier;"
                "    y[gid] += 2; grid_barrier; }"
                "  y[gid] = y[gid] * 2 + i; }",
                LIST({(uint32_t[]){9}, 4}, BYTES(numbers)), "p(p(p)(p)(p)(p))p");
}

static void loops_in_loops(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                "  var sum = gid;"
                "  for i in 0..n {"
                "    sum += 1;"
                "    for k in 0..i { y[gid] = sum + k; grid_barrier;"
                "      sum += y[(gid + k) % len(y)]; grid_barrier; }"
                "    y[gid] = sum * i; grid_barrier; sum ^= y[(gid + 7) % len(y)]; grid_barrier; }"
                "  y[gid] = sum; }",
                LIST({(uint32_t[]){4}, 4}, BYTES(numbers)), "p((p)(p)(p)(p)(p))p");
}

static void values_of_loops(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                "  let (a, b) = loop (v = gid, c = 0u) {"
                "    if c >= n { break v, c; }"
                "    y[gid] = v; grid_barrier;"
                "    let w = y[(gid + 1) % len(y)]; grid_barrier;"
                "    continue v + w, c + 1; };"
                "  y[gid] = a * 2 + b; }",
                LIST({(uint32_t[]){4}, 4}, BYTES(numbers)), "p(p(p)(p))p");
}

/* Branches and calls */

static void barriers_in_branches(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 3; n++) {
        check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                    "  let a = y[gid];"
                    "  let r = if n == 1 { y[gid] = a + 1; grid_barrier;"
                    "      let v = y[(gid + 9) % len(y)]; grid_barrier; yield v; }"
                    "    else { yield a * 2; };"
                    "  if n == 2 { grid_barrier; y[gid] = 5; }"
                    "  y[gid] = r + a; }",
                    LIST({&n, 4}, BYTES(numbers)), "p(p)p(p)p");
    }
}

static void barriers_in_calls(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 3; n++) {
        check_split("fn f(n: u32, g: u32, y: inout buffer<u32>) -> u32 {"
                    "  if n == 0 { return 11; }"
                    "  y[g] = n; grid_barrier;"
                    "  if n == 1 { return y[(g + 3) % len(y)]; }"
                    "  let v = y[(g + 5) % len(y)]; grid_barrier; return v + 1; }"
                    "program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                    "  let a = f(n, gid, y); let b = y[gid]; grid_barrier; y[gid] = a + b; }",
                    LIST({&n, 4}, BYTES(numbers)), "p(p)(p)pp");
    }
}

/* Some return where no barrier follows; the others go on. */
static void some_leave(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 3; n++) {
        check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                    "  y[gid] = 1;"
                    "  if n > 0 { grid_barrier; let v = y[(gid + 1) % len(y)]; grid_barrier;"
                    "    if v + gid < 20 || n == 2 { return; } y[gid] = v + 7; }"
                    "  y[gid] += 100; }",
                    LIST({&n, 4}, BYTES(numbers)), "p(p)(p)(p)");
    }
}

/* Whole workgroups leave, the others still have barriers and share. */
static void some_workgroups_leave(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 subgroup 8 {"
                "  shared part: u32[32]; let k = wid * 3;"
                "  if n > 0 { grid_barrier; if wid == 1 { return; } y[gid] += 7; }"
                "  part[lid] = y[gid] + k; barrier;"
                "  let v = part[31 - lid];"
                "  if k == 0 { barrier; y[gid] = subgroup_add(v); } else { y[gid] = v; } }",
                LIST({(uint32_t[]){1}, 4}, BYTES(numbers)), "p(p)(p)");
}

static void some_subgroups_leave(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 subgroup 8 {"
                "  let k = subgroup_max(y[gid]);"
                "  if n > 0 { grid_barrier; if subgroup_id == 1 { return; } y[gid] += 7; }"
                "  let v = subgroup_add(y[gid]);"
                "  if k > 40 { y[gid] = subgroup_min(v + lid); } else { y[gid] = v; } }",
                LIST({(uint32_t[]){1}, 4}, BYTES(numbers)), "p(p)(p)");
}

/* They part behind the last barrier of a block and meet again behind the call. */
static void some_return_earlier(void **state) {
    (void)state;
    check_split("fn f(g: u32, y: inout buffer<u32>) -> u32 {"
                "  loop { y[g] += 1; grid_barrier;"
                "    if g % 3 == 0 { break; }"
                "    if g % 3 == 1 { return y[(g + 1) % len(y)]; }"
                "    return 5; }"
                "  return y[g] * 2; }"
                "program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                "  for i in 0..n { let a = f(gid, y); grid_barrier; y[gid] = a + i; grid_barrier; }"
                "  y[gid] += 3; }",
                LIST({(uint32_t[]){4}, 4}, BYTES(numbers)), "p(ppp(p)pp)p");
}

/* The same at the end of a loop: nobody goes back before all have come. */
static void some_return_earlier_in_loops(void **state) {
    (void)state;
    check_split("fn f(g: u32, y: inout buffer<u32>) {"
                "  loop { y[g] += 1; grid_barrier; if g % 3 == 1 { break; } return; }"
                "  y[g] = y[g] * 2; }"
                "program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                "  for i in 0..n {"
                "    for k in 0..2u { y[gid] += k + i; grid_barrier; } f(gid, y); }"
                "  y[gid] += 3; }",
                LIST({(uint32_t[]){4}, 4}, BYTES(numbers)), "p((p)(p)(p)(p)(p)(p)(p))p");
}

/* Uniform values */

static void conditions_of_before(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 subgroup 16 {"
                "  shared s: u32[32];"
                "  let g = uniform_load(y[0]); let w = wid * 2;"
                "  let c = g > 7; let d = w == 2;"
                "  let u = subgroup_add(y[gid]); let v = y[gid];"
                "  grid_barrier;"
                "  if g % 2 == 0 { s[lid] = v; barrier; y[gid] = s[31 - lid]; }"
                "  if w == 2 { barrier; } if d { barrier; y[gid] += 3; }"
                "  if u > 500 { y[gid] += subgroup_max(v); }"
                "  grid_barrier;"
                "  if c { y[gid] += subgroup_broadcast(v, u % 16); } }",
                LIST({(uint32_t[]){4}, 4}, BYTES(numbers)), "ppp");
}

/* Arrays of the phase */

static void private_arrays(void **state) {
    (void)state;
    check_split("program p(n: i32, y: inout buffer<u32>) {"
                "  repeat 2 { phase over y workgroup 32 {"
                "    var a: u32[5]; var once: u16[3];"
                "    a[n] = gid; a[y[gid]] = 3; a[i64(n) - 1] += 2; once[1] = 9;"
                "    grid_barrier;"
                "    a[2] += a[1]; let k = len(a);"
                "    for i in 0..3u { a[i + 3] += i; y[gid] += a[i]; var b: u8[4]; b[i] += 1;"
                "      grid_barrier; y[gid] += u32(b[i]) + u32(b[(i + 1) & 3]); }"
                "    y[gid] += a[n] + a[4] + a[5] + a[n + 70] + k; } } }",
                LIST({(int32_t[]){3}, 4}, BYTES(numbers)), "(pp(pp)p)");
}

/* One that a single segment uses, again and again. */
static void private_arrays_in_loops(void **state) {
    (void)state;
    check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                "  var a: u32[2];"
                "  for i in 0..n { a[i & 1] += i + gid; y[gid] += a[0]; grid_barrier; } }",
                LIST({(uint32_t[]){5}, 4}, BYTES(numbers)), "p(p)");
}

static void shared_arrays_are_empty_again(void **state) {
    (void)state;
    check_split("program p(y: inout buffer<u32>) over y workgroup 32 {"
                "  shared s: u32[32]; shared t: u32[8];"
                "  s[lid] = y[gid]; barrier; let v = s[31 - lid]; grid_barrier;"
                "  s[lid + 16] = 1; atomic_add(t[lid & 7], 1); barrier;"
                "  y[gid] = s[lid] + v + t[0]; }",
                LIST(BYTES(numbers)), "pp");
}

/* The cut behind the branch is no barrier: what is shared stays. */
static void shared_arrays_cross_cuts(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        check_split("program p(n: u32, y: inout buffer<u32>) { repeat k in 2 {"
                    "  phase over y workgroup 32 {"
                    "    shared s: u32[33]; shared t: u32[2];"
                    "    s[lid] = y[gid]; atomic_max(s[32], y[gid]);"
                    "    if n == 1 { grid_barrier; s[31 - lid] = 1; t[k + lid] = 3; }"
                    "    barrier; let all = uniform_load(s[32]);"
                    "    if all > 9 { barrier; y[gid] += 1; }"
                    "    y[gid] += s[31 - lid] + s[34] + all + len(s); } } }",
                    LIST({&n, 4}, BYTES(numbers)), "(p(p)p)");
    }
}

static void shared_arrays_cross_several_cuts(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 5; n++) {
        check_split("program p(n: u32, y: inout buffer<u32>) over y workgroup 32 {"
                    "  shared s: u32[32]; s[lid] = y[gid] + 1;"
                    "  if n == 1 { grid_barrier; s[lid] = 1; } y[gid] += 3;"
                    "  if n == 2 { grid_barrier; s[lid] = 2; } y[gid] *= 2;"
                    "  if n == 3 { grid_barrier; s[lid] = 3; } y[gid] += 5;"
                    "  if n == 4 { grid_barrier; s[lid] = 4; }"
                    "  barrier; y[gid] += s[31 - lid]; }",
                    LIST({&n, 4}, BYTES(numbers)), "p(p)p(p)p(p)p(p)p");
    }
}

/* Steps */

static void domains_from_memory(void **state) {
    (void)state;
    for (int32_t n = -1; n < 100; n += 33) {
        int32_t counts[] = {7, n};
        check_split("program p(i: u16, c: inout buffer<i32>, y: inout buffer<u32>) {"
                    "  repeat 2 { phase over c[ceil_div(i, 3) + min(i, 8) - len(c)] max len(y) "
                    "workgroup 32 {"
                    "    if gid == 0 { c[1] = c[1] - 20; } y[gid] += 1; grid_barrier;"
                    "    if gid == 0 { c[0] = 3; c[1] += 5; }"
                    "    if in_domain { y[gid] += 10; } grid_barrier; y[gid] += 100; } } }",
                    LIST({(uint16_t[]){2}, 2}, BYTES(counts), BYTES(numbers)), "(pppp)");
    }
}

static void phases_in_repeats(void **state) {
    (void)state;
    check_split("program p(y: inout buffer<u32>, z: inout buffer<u32>) {"
                "  scratch more: u32[1];"
                "  phase first over 1 { more[0] = 3; }"
                "  repeat turn while more[0] { repeat i in 2 {"
                "    phase work_s0 over y workgroup 32 {"
                "      let a = y[gid] + turn * 10 + i;"
                "      for k in 0..turn + i { z[gid] = a + k; grid_barrier;"
                "        y[gid] += z[(gid + 1) % len(z)]; grid_barrier; }"
                "      if turn == 1 { grid_barrier; z[gid] = a; }"
                "      y[gid] += a; } }"
                "    phase last over 1 { more[0] = more[0] - 1; } } }",
                LIST(BYTES(numbers), BYTES(numbers)), "p((p(pp)p(p)p)p)");
}

static void check_refused(const vyre_program *program, const char *reason) {
    vyre_program *result;
    vyre_status status = vyre_split_grid_barriers(program, &result);
    assert_non_null(status);
    assert_null(result);
    if (!strstr(vyre_status_text(status), reason) || !strstr(vyre_status_text(status), "Fix: ")) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

static void programs_too_large(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(y: inout buffer<u32>) {"
                    "repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 {"
                    "  phase over y workgroup 32 { var n = 3u;"
                    "    while n > 0 { n = n - 1; grid_barrier; y[gid] += 1; grid_barrier; } }"
                    "} } } } } } } }");
    check_refused(program, "more than 8 repeats are nested");
    vyre_program_release(program);
    /* Barriers in a row, as many as there can be phases, and one value that lives over each. */
    for (uint32_t count = 4000; count <= 5000; count += 1000) {
        char *text = malloc((size_t)count * 100);
        size_t size = (size_t)sprintf(text, "program p(y: inout buffer<u32>) over y workgroup 8 {");
        for (uint32_t i = 0; i < count; i++) {
            size += (size_t)sprintf(text + size,
                                    "let v%u = y[gid] + 1; grid_barrier; y[gid] = v%u;", i, i);
        }
        strcpy(text + size, "}");
        program = check_parse(text);
        free(text);
        if (count > 4096) {
            check_refused(program, "4096");
        } else {
            vyre_program *result = split(program);
            assert_int_equal(vyre_program_stats(result).phases, count + 1);
            vyre_program_release(result);
        }
        vyre_program_release(program);
    }
}

/* For people */

static void names_and_places_stay(void **state) {
    (void)state;
    vyre_program *program = check_parse("program p(y: inout buffer<u32>) {\n"
                                        "  phase work over y workgroup 8 {\n"
                                        "    let kept = y[gid] * 2;\n"
                                        "    grid_barrier;\n"
                                        "    y[gid] = kept;\n"
                                        "  }\n}");
    vyre_program *result = split(program);
    char *text;
    size_t size;
    assert_null(vyre_program_print(result, &text, &size));
    assert_string_equal(text, "program p(y: inout buffer<u32>) {\n"
                              "    scratch kept_m1: u32[ceil_div(len(y), 8) * 8];\n"
                              "    phase work_s0 over len(y) workgroup 8 {\n"
                              "        let v0 = wid.x;\n"
                              "        let v1 = lid.x;\n"
                              "        let v2 = v0 * 8u;\n"
                              "        let v3 = v2 + v1;\n"
                              "        let v4 = gid.x;\n"
                              "        let v5 = y[v4];\n"
                              "        let kept_6 = v5 * 2u;\n"
                              "        kept_m1[v3] = kept_6;\n"
                              "    }\n"
                              "    phase work_s1 over len(y) workgroup 8 {\n"
                              "        let v9 = wid.x;\n"
                              "        let v10 = lid.x;\n"
                              "        let v11 = v9 * 8u;\n"
                              "        let v12 = v11 + v10;\n"
                              "        let kept_13 = kept_m1[v12];\n"
                              "        let v14 = gid.x;\n"
                              "        y[v14] = kept_13;\n"
                              "    }\n"
                              "}\n");
    vyre_string_free(text);
    const vyre_ir *ir = vyre_program_ir(result);
    assert_int_equal(VYRE_PLACE_LINE(ir->places[6]), 3);
    assert_int_equal(VYRE_PLACE_LINE(ir->places[15]), 5);
    vyre_program_release(result);
    vyre_program_release(program);
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(n: u32, c: buffer<u32>, y: inout buffer<u32>) {"
                    "  repeat 2 { phase over c[0] max len(y) workgroup 32 { shared s: u32[32];"
                    "    var a: u32[5]; a[n] = y[gid]; s[lid] = 2;"
                    "    for i in 0..n { y[gid] += s[lid]; if i == 3 { grid_barrier; a[1] = 2; "
                    "s[lid] = 1; continue; }"
                    "      if n == 7 { grid_barrier; if gid < 3 { return; } y[gid] = 4; break; } }"
                    "    s[lid] = 3; y[gid] = a[1] + s[lid]; } } }");
    size_t n = 1;
    for (;; n++) {
        failing_allocator_start(n);
        vyre_program *result;
        vyre_status status = vyre_split_grid_barriers(program, &result);
        bool failed = failing_allocator_failed();
        assert_true(!status == (result != NULL));
        if (failed) {
            if (vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
                fail_msg("allocation %zu: %s", n, vyre_status_text(status));
            }
        }
        vyre_status_free(status);
        vyre_program_release(result);
        failing_allocator_stop();
        if (!failed) {
            assert_null(status);
            break;
        }
    }
    assert_true(n > 30);
    vyre_program_release(program);
}

int main(void) {
    for (uint32_t i = 0; i < 100; i++) {
        numbers[i] = i * 7919 % 101;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_split),
        cmocka_unit_test(barriers_in_a_row),
        cmocka_unit_test(atomics_are_not_repeated),
        cmocka_unit_test(barrier_at_the_end),
        cmocka_unit_test(ends_on_all_ways),
        cmocka_unit_test(domains_of_three_dimensions),
        cmocka_unit_test(phases_without_workgroups),
        cmocka_unit_test(empty_domains),
        cmocka_unit_test(barriers_in_loops),
        cmocka_unit_test(ranges_of_every_kind),
        cmocka_unit_test(loops_that_are_left_early),
        cmocka_unit_test(loops_in_loops),
        cmocka_unit_test(values_of_loops),
        cmocka_unit_test(barriers_in_branches),
        cmocka_unit_test(barriers_in_calls),
        cmocka_unit_test(some_leave),
        cmocka_unit_test(some_workgroups_leave),
        cmocka_unit_test(some_subgroups_leave),
        cmocka_unit_test(some_return_earlier),
        cmocka_unit_test(some_return_earlier_in_loops),
        cmocka_unit_test(conditions_of_before),
        cmocka_unit_test(private_arrays),
        cmocka_unit_test(private_arrays_in_loops),
        cmocka_unit_test(shared_arrays_are_empty_again),
        cmocka_unit_test(shared_arrays_cross_cuts),
        cmocka_unit_test(shared_arrays_cross_several_cuts),
        cmocka_unit_test(domains_from_memory),
        cmocka_unit_test(phases_in_repeats),
        cmocka_unit_test(programs_too_large),
        cmocka_unit_test(names_and_places_stay),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
