/* prove-math: shows that src/pass/math.vyre computes what docs/semantics.md says, by trying. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evaluate.h"
#include "oracle.h"

static const char usage[] =
    "prove-math [OPTIONS] [FUNCTION...]\n"
    "\n"
    "Runs the expansions of elementary functions, all of them or the named ones, on every f32, "
    "f16\n"
    "and bf16 and compares with the correctly rounded result. Functions of two arguments run on "
    "all\n"
    "pairs of f16 and of bf16, and on 2^32 samples of f32. On f64 all run on 2^28 samples.\n"
    "\n"
    "  --type TYPE     f32, f16, bf16 or f64; all of them by default\n"
    "  --cases FILE    the operands in FILE, on f64: one or two numbers a line\n"
    "  --count N       at most the first N inputs of each kind\n"
    "  --sample        special values, all exponents and a million random ones\n"
    "  --noise         let operations give NaNs of all kinds, which must not matter\n"
    "  --threads N     as many at once; all processors by default\n"
    "  --file PATH     the expansions but those of f64; src/pass/math.vyre by default\n"
    "  --help          this text\n"
    "\n"
    "Exit status: 0 if all is as it should be, 1 if a result is wrong, 2 for anything else.\n";

typedef struct options {
    const math_format *format; /* NULL: all */
    bool sample;
    const executor *how;
    unsigned threads;
    uint64_t most; /* 0: all */
    const char *path, *cases;
} options;

static void print_row(const math_function *function, const math_format *format, const char *what,
                      const proof_result *result) {
    printf("%-6s %-4s %-8s %10llu inputs  %7llu asked of MPFR  %llu differences", function->name,
           format->name, what, (unsigned long long)result->inputs,
           (unsigned long long)result->uncertain, (unsigned long long)result->inexact);
    if (result->worst_ulp == UINT64_MAX) {
        printf(", some no number or of the wrong sign");
    } else if (result->worst_ulp) {
        printf(", at most %llu ULP", (unsigned long long)result->worst_ulp);
    }
    printf("  %.1f s\n", result->seconds);
    for (size_t i = 0; i < result->shown_count; i++) {
        const proof_difference *d = &result->shown[i];
        printf("    %s(%a", function->name, format_number(format, d->x));
        if (function->operands == 2) {
            printf(", %a", format_number(format, d->y));
        }
        printf(") gives %a, nearest is %a\n", format_number(format, d->found),
               format_number(format, d->truth));
    }
    fflush(stdout);
}

/* The number of results that are wrong; -1 if it could not be tried. */
static int64_t prove_cases(const math_function *function, const vyre_program *program,
                           const options *how) {
    proof_cases cases;
    proof_result result;
    vyre_status status = proof_cases_read(how->cases, &cases);
    if (!status) {
        status = proof_run_cases(function, how->how, program, &cases, how->threads, &result);
    }
    proof_cases_free(&cases);
    if (status) {
        fprintf(stderr, "prove-math: %s: %s\n", function->name, vyre_status_text(status));
        vyre_status_free(status);
        return -1;
    }
    print_row(function, &math_formats[FORMAT_F64], "cases", &result);
    return (int64_t)result.failures;
}

/* The same for the operands that prove-math makes itself. */
static int64_t prove(const math_function *function, const math_format *format,
                     const vyre_program *program, const options *how) {
    static const char *const names[] = {"special", "random", "full"};
    int64_t failures = 0;
    proof_size size = proof_program_size(program);
    printf("%-6s %-4s %u operations", function->name, format->name, size.always);
    printf(size.in_branches ? ", %u in branches\n" : "\n", size.in_branches);
    for (input_extent extent = INPUTS_SPECIAL; extent <= INPUTS_FULL; extent++) {
        bool is_narrow = format->operands > 0;
        if (extent == (how->sample ? INPUTS_FULL : INPUTS_RANDOM) ||
            (is_narrow && extent == INPUTS_SPECIAL)) {
            continue;
        }
        proof_result result;
        vyre_status status = proof_run(function, format, how->how, program, extent, how->most,
                                       how->threads, &result);
        if (status) {
            fprintf(stderr, "prove-math: %s: %s\n", function->name, vyre_status_text(status));
            vyre_status_free(status);
            return -1;
        }
        print_row(function, format, names[extent], &result);
        failures += (int64_t)result.failures;
    }
    return failures;
}

/* NULL if there is none of that name. */
static const math_format *find_format(const char *name) {
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (!strcmp(math_formats[i].name, name)) {
            return &math_formats[i];
        }
    }
    return NULL;
}

static int read_options(int count, char **words, options *out) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (options){.how = &evaluator_executor,
                     .threads = processors > 0 ? (unsigned)processors : 1,
                     .path = "src/pass/math.vyre"};
    int at = 1;
    for (; at < count && !strncmp(words[at], "--", 2); at++) {
        if (!strcmp(words[at], "--sample")) {
            out->sample = true;
        } else if (!strcmp(words[at], "--type") && at + 1 < count && find_format(words[at + 1])) {
            out->format = find_format(words[++at]);
        } else if (!strcmp(words[at], "--noise")) {
            out->how = &noisy_executor;
        } else if (!strcmp(words[at], "--threads") && at + 1 < count) {
            out->threads = (unsigned)strtoul(words[++at], NULL, 10);
        } else if (!strcmp(words[at], "--count") && at + 1 < count) {
            out->most = strtoull(words[++at], NULL, 0);
        } else if (!strcmp(words[at], "--cases") && at + 1 < count) {
            out->cases = words[++at];
            out->format = &math_formats[FORMAT_F64];
        } else if (!strcmp(words[at], "--file") && at + 1 < count) {
            out->path = words[++at];
        } else if (!strcmp(words[at], "--help")) {
            fputs(usage, stdout);
            exit(0);
        } else {
            fprintf(stderr, "prove-math: what is %s? Fix: see prove-math --help\n", words[at]);
            return -1;
        }
    }
    return at;
}

int main(int count, char **words) {
    options how;
    int first = read_options(count, words, &how);
    if (first < 0) {
        return 2;
    }
    for (int i = first; i < count; i++) {
        if (!math_function_find(words[i])) {
            fprintf(stderr, "prove-math: no function is called %s. Fix: see docs/semantics.md\n",
                    words[i]);
            return 2;
        }
    }
    vyre_module *narrow = NULL, *wide = NULL;
    vyre_status status = proof_module(how.path, &narrow);
    if (!status) {
        status = proof_module_f64("src/pass/polynomials.vyre", "src/pass/math_f64.vyre", &wide);
    }
    if (status) {
        fprintf(stderr, "prove-math: %s\n", vyre_status_text(status));
        vyre_status_free(status);
        return 2;
    }
    int64_t wrong = 0;
    for (size_t k = 0; k < FORMAT_COUNT * math_function_count && wrong >= 0; k++) {
        const math_function *function = &math_functions[k % math_function_count];
        const math_format *format = &math_formats[k / math_function_count];
        bool wanted = first == count;
        for (int i = first; i < count; i++) {
            wanted |= math_function_find(words[i]) == function;
        }
        if (wanted && (!how.format || how.format == format)) {
            const vyre_module *module = format->bits == 53 ? wide : narrow;
            const vyre_program *program = proof_program(module, function, format);
            int64_t failures = how.cases ? prove_cases(function, program, &how)
                                         : prove(function, format, program, &how);
            wrong = failures < 0 ? -1 : wrong + failures;
        }
    }
    vyre_module_free(narrow);
    vyre_module_free(wide);
    if (wrong == 0) {
        puts("All results are as they should be.");
    } else if (wrong > 0) {
        printf("%lld results are wrong.\n", (long long)wrong);
    }
    return wrong < 0 ? 2 : wrong > 0;
}
