/* How fast text becomes programs and text again, and how much memory that takes.
 *
 *     bench_parse [FILE...]       without files, those of examples/
 *
 * Three texts: a generated one of a few megabytes with many functions and programs, the given
 * files, and one very large program. Rates are those of the best of several runs, in megabytes
 * (10^6 bytes) of text a second of processor time. Memory is what passes through the allocator
 * hook. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vyre/vyre.h>

#include "base/file.h"
#include "base/vec.h"

enum { GENERATED_BYTES = 6000000, LARGE_LINES = 400000, MIN_RUNS = 3, HEADER = 16 };

static const double MIN_SECONDS = 1.0, BAR_PARSE = 40.0;

/* An allocator that counts: the size stands in front of each piece. */
static struct { size_t now, peak; } memory;

static void *count_resize(void *user, void *piece, size_t size) {
    (void)user;
    size_t before = 0;
    char *old = piece ? (char *)piece - HEADER : NULL;
    if (old) {
        memcpy(&before, old, sizeof before);
    }
    char *start = realloc(old, size + HEADER);
    if (!start) {
        return NULL;
    }
    memcpy(start, &size, sizeof size);
    memory.now += size - before;
    memory.peak = memory.now > memory.peak ? memory.now : memory.peak;
    return start + HEADER;
}

static void count_free(void *user, void *piece) {
    (void)user;
    if (piece) {
        size_t size;
        memcpy(&size, (char *)piece - HEADER, sizeof size);
        memory.now -= size;
        free((char *)piece - HEADER);
    }
}

/* Of this process alone, so that others on the machine do not count. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fail(vyre_status status) {
    fprintf(stderr, "bench_parse: %s\n", vyre_status_text(status));
    exit(4);
}

static const char *const items[] = {
    "// Mixes the bits of a word.\n"
    "fn mix_%zu(word: u32, key: u32) -> u32 {\n"
    "    var h = word ^ (key * 0x9e3779b9);\n"
    "    h ^= h >> 16;\n"
    "    h *= 0x7feb352d;\n"
    "    h ^= h >> 15;\n"
    "    h *= 0x846ca68b;\n"
    "    return h ^ (h >> 16);\n"
    "}\n\n",
    "fn smooth_%zu(x: buffer<f32>, at: u32, width: u32) -> f32 {\n"
    "    var sum = 0.0f;\n"
    "    for i in 0..width {\n"
    "        sum += x[at + i] * 0.25;\n"
    "    }\n"
    "    return select(sum > 1.0, sqrt(sum), sum);\n"
    "}\n\n",
    "program axpy_%zu(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {\n"
    "    // One invocation an element.\n"
    "    y[gid] = fma(a, x[gid], y[gid]);\n"
    "}\n\n",
    "program histogram_%zu(words: buffer<u32>, bins: out buffer<u32>[256]) over words {\n"
    "    var word = words[gid];\n"
    "    for i in 0u..4u {\n"
    "        atomic_add(bins[word & 0xff], 1);\n"
    "        word >>= 8;\n"
    "    }\n"
    "}\n\n",
    "program total_%zu(x: buffer<u32>, sum: out buffer<u32>[1]) over x workgroup 256 {\n"
    "    shared part: u32[256];\n"
    "    part[lid] = x[gid];\n"
    "    barrier;\n"
    "    var half = 128u;\n"
    "    while half > 0 {\n"
    "        if lid < half {\n"
    "            part[lid] = part[lid] + part[lid + half];\n"
    "        }\n"
    "        barrier;\n"
    "        half = half >> 1;\n"
    "    }\n"
    "    if lid == 0 {\n"
    "        atomic_add(sum[0], part[0]);\n"
    "    }\n"
    "}\n\n",
    "program matmul_%zu(n: u32, a: buffer<f32>, b: buffer<f32>, c: out buffer<f32>[n * n])\n"
    "    over (n, n) workgroup 16, 16 {\n"
    "    shared left: f32[256];\n"
    "    shared right: f32[256];\n"
    "    let slot = lid.y * 16 + lid.x;\n"
    "    var sum = 0.0f;\n"
    "    for tile in 0u..(n + 15) / 16 {\n"
    "        left[slot] = a[gid.y * n + tile * 16 + lid.x];\n"
    "        right[slot] = b[(tile * 16 + lid.y) * n + gid.x];\n"
    "        barrier;\n"
    "        for k in 0u..16u {\n"
    "            sum = fma(left[lid.y * 16 + k], right[k * 16 + lid.x], sum);\n"
    "        }\n"
    "        barrier;\n"
    "    }\n"
    "    if in_domain {\n"
    "        c[gid.y * n + gid.x] = sum;\n"
    "    }\n"
    "}\n\n",
    "program mandelbrot_%zu(width: u32, height: u32, steps: u32, image: out buffer<u8>[width * "
    "height])\n"
    "    over (width, height) {\n"
    "    let cx = f32(gid.x) / f32(width) * 3.5 - 2.5;\n"
    "    let cy = f32(gid.y) / f32(height) * 2.0 - 1.0;\n"
    "    var x = 0.0f;\n"
    "    var y = 0.0f;\n"
    "    var n = 0u;\n"
    "    while n < steps && x * x + y * y <= 4.0 {\n"
    "        let t = x * x - y * y + cx;\n"
    "        y = 2.0 * x * y + cy;\n"
    "        x = t;\n"
    "        n += 1;\n"
    "    }\n"
    "    image[gid.y * width + gid.x] = u8(n & 255);\n"
    "}\n\n",
    "program jacobi_%zu(steps: u32, x: buffer<f32>, y: out buffer<f32>[len(x)]) {\n"
    "    scratch other: f32[len(x)];\n"
    "    phase start over x {\n"
    "        y[gid] = x[gid];\n"
    "    }\n"
    "    repeat steps {\n"
    "        phase there over x {\n"
    "            other[gid] = (y[gid - 1] + y[gid + 1]) * 0.5 + x[gid];\n"
    "        }\n"
    "        phase back over x {\n"
    "            y[gid] = (other[gid - 1] + other[gid + 1]) * 0.5 + x[gid];\n"
    "        }\n"
    "    }\n"
    "}\n\n",
};

/* Uses the functions of its turn. */
static const char caller[] =
    "program calls_%zu(x: buffer<f32>, keys: buffer<u32>, out_x: out buffer<f32>[len(x)],\n"
    "    out_keys: out buffer<u32>[len(keys)]) over max(len(x), len(keys)) {\n"
    "    out_keys[gid] = mix_%zu(keys[gid], mix_%zu(gid, 7));\n"
    "    out_x[gid] = smooth_%zu(x, gid, 4) + exp(-abs(x[gid]));\n"
    "}\n\n";

static void generate_many(vyre_strbuf *text) {
    for (size_t turn = 0; text->size < GENERATED_BYTES && !text->failed; turn++) {
        for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
            vyre_strbuf_printf(text, items[i], turn);
        }
        vyre_strbuf_printf(text, caller, turn, turn, turn, turn);
    }
}

/* One program with as many statements. */
static void generate_large(vyre_strbuf *text) {
    vyre_strbuf_puts(text, "program large(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
                           "    var a = x[gid];\n"
                           "    var b = gid;\n");
    for (size_t i = 0; i < LARGE_LINES; i += 4) {
        vyre_strbuf_printf(text,
                           "    a = a * %zuu + (b ^ %zuu);\n"
                           "    if a > b {\n"
                           "        b += x[a & %zuu] >> 3;\n"
                           "    }\n",
                           i % 1021 + 3, i % 509, i % 4093);
    }
    vyre_strbuf_puts(text, "    y[gid] = a + b;\n}\n");
}

typedef struct figures {
    double parse_seconds, format_seconds, print_seconds;
    size_t text_bytes, printed_bytes, wire_bytes, peak_bytes, programs, insts;
} figures;

static void look_at(const vyre_program *program, figures *sum) {
    uint8_t *bytes;
    char *printed;
    size_t size;
    vyre_status status = vyre_wire_encode(program, 0, &bytes, &size);
    if (status) {
        fail(status);
    }
    sum->wire_bytes += size;
    vyre_bytes_free(bytes);
    double start = now();
    status = vyre_program_print(program, &printed, &size);
    sum->print_seconds += now() - start;
    if (status) {
        fail(status);
    }
    sum->printed_bytes += size;
    vyre_string_free(printed);
    sum->programs++;
    sum->insts += vyre_program_stats(program).insts;
}

static void run_once(const char *name, const vyre_strbuf *text, figures *sum) {
    vyre_module *module;
    size_t before = memory.now;
    memory.peak = before;
    double start = now();
    vyre_status status = vyre_module_parse(name, text->data, text->size, NULL, &module);
    sum->parse_seconds += now() - start;
    if (status) {
        fail(status);
    }
    size_t peak = memory.peak - before;
    sum->peak_bytes = peak > sum->peak_bytes ? peak : sum->peak_bytes;
    sum->text_bytes += text->size;
    for (size_t i = 0; i < vyre_module_count(module); i++) {
        look_at(vyre_module_program(module, i), sum);
    }
    vyre_module_free(module);

    char *formatted;
    size_t size;
    start = now();
    status = vyre_text_format(name, text->data, text->size, NULL, &formatted, &size);
    sum->format_seconds += now() - start;
    if (status) {
        fail(status);
    }
    vyre_string_free(formatted);
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

/* A run goes over all texts. */
static figures measure(const char *const *names, const vyre_strbuf *texts, size_t count) {
    figures best = {.parse_seconds = 1e9, .format_seconds = 1e9, .print_seconds = 1e9};
    double begin = now();
    for (int run = 0; run < MIN_RUNS || now() - begin < MIN_SECONDS; run++) {
        figures sum = {0};
        for (size_t i = 0; i < count; i++) {
            run_once(names[i], &texts[i], &sum);
        }
        sum.parse_seconds = smaller(sum.parse_seconds, best.parse_seconds);
        sum.format_seconds = smaller(sum.format_seconds, best.format_seconds);
        sum.print_seconds = smaller(sum.print_seconds, best.print_seconds);
        best = sum;
    }
    return best;
}

static double rate(size_t bytes, double seconds) {
    return (double)bytes / 1e6 / seconds;
}

static void report(const char *what, const figures *f) {
    printf("%-10s %9.3f %9zu %9zu %9.1f %9.1f %9.1f %9.3f %9.3f\n", what,
           (double)f->text_bytes / 1e6, f->programs, f->insts,
           rate(f->text_bytes, f->parse_seconds), rate(f->text_bytes, f->format_seconds),
           rate(f->printed_bytes, f->print_seconds), (double)f->wire_bytes / 1e6,
           (double)f->peak_bytes / 1e6);
}

int main(int argc, char **argv) {
    vyre_allocator_set(&(vyre_allocator){.resize = count_resize, .free = count_free});
    glob_t found = {0};
    size_t count = argc > 1 ? (size_t)argc - 1 : 0;
    char **names = argv + 1;
    if (!count && glob("examples/*.vyre", 0, NULL, &found) == 0) {
        count = found.gl_pathc;
        names = found.gl_pathv;
    }
    printf("%-10s %9s %9s %9s %9s %9s %9s %9s %9s\n", "text", "MB", "programs", "insts", "parse",
           "format", "print", "wire MB", "peak MB");
    vyre_strbuf many = {0}, large = {0};
    generate_many(&many);
    generate_large(&large);
    figures generated = measure((const char *const[]){"generated"}, &many, 1);
    report("generated", &generated);
    vyre_strbuf *texts = vyre_alloc_zeroed(count, sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        vyre_status status = vyre_file_read(names[i], VYRE_LIMIT_TEXT_BYTES, &texts[i]);
        if (status) {
            fail(status);
        }
    }
    if (count) {
        figures files = measure((const char *const *)names, texts, count);
        report("files", &files);
    }
    figures single = measure((const char *const[]){"large"}, &large, 1);
    report("large", &single);
    double ratio = (double)single.peak_bytes / (double)single.wire_bytes;
    printf("\nparse, format and print in MB/s of text; the bar for parsing is %.0f: %s\n",
           BAR_PARSE,
           rate(generated.text_bytes, generated.parse_seconds) >= BAR_PARSE ? "met" : "missed");
    printf(
        "peak memory while parsing one large program: %.2f times its wire size; the bar is 4: %s\n",
        ratio, ratio <= 4 ? "met" : "missed");
    for (size_t i = 0; i < count; i++) {
        vyre_strbuf_free(&texts[i]);
    }
    vyre_free(texts);
    vyre_strbuf_free(&many);
    vyre_strbuf_free(&large);
    globfree(&found);
    return 0;
}
