/* Patterns and automata in texts against plain searches. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

enum { MOST = 50000, MOST_STATES = 600 };

static uint8_t text[MOST];
static uint32_t positions[MOST], states[MOST];

/* Few different bytes, so that patterns almost stand everywhere. */
static void fill(uint64_t seed, uint32_t letters) {
    for (size_t k = 0; k < MOST; k++) {
        text[k] = (uint8_t)('a' + ops_random(&seed) % letters);
    }
}

static void expect_pattern(const uint8_t *pattern, size_t length, size_t size) {
    static uint8_t flags[MOST];
    uint32_t count = 0, position = (uint32_t)size;
    memset(positions, 0, sizeof positions);
    for (size_t k = 0; k < size; k++) {
        flags[k] = length && size - k >= length && !memcmp(text + k, pattern, length);
        if (flags[k]) {
            position = count ? position : (uint32_t)k;
            positions[count++] = (uint32_t)k;
        }
    }
    ops_values given = OPS(OPS_ARRAY(text, size), OPS_ARRAY(pattern, length));
    ops_expect("match.flags", given, OPS(OPS_ARRAY(flags, size)));
    ops_expect("match.count", given, OPS(OPS_SCALAR("count", count)));
    ops_expect("match.first", given, OPS(OPS_SCALAR("position", position)));
    ops_expect("match.find", given, OPS(OPS_ARRAY(positions, size), OPS_SCALAR("count", count)));
}

static const size_t sizes[] = {0, 1, 2, 5, 31, 32, 33, 64, 257, 8192, 8193, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void patterns(void **state) {
    (void)state;
    static const char *const known[] = {"", "a", "b", "ab", "aa", "aba", "aaaa", "abcabc", "zz"};
    for (size_t s = 0; s < SIZES; s++) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            fill(s * 16 + k, 1 + (uint32_t)k % 3);
            expect_pattern((const uint8_t *)known[k], strlen(known[k]), sizes[s]);
        }
    }
}

static void long_patterns(void **state) {
    (void)state;
    static uint8_t pattern[300];
    fill(99, 2);
    text[7] = 0;
    /* What stands at the end, over the bounds of words and groups, all of the text, and more. */
    static const struct {
        size_t from, length, size;
    } cases[] = {{MOST - 300, 300, MOST},
                 {8190, 37, MOST},
                 {31, 2, MOST},
                 {0, 40, 40},
                 {5, 3, 40},
                 {0, 41, 40},
                 {0, 300, 299},
                 {8160, 32, 8192},
                 {8161, 33, 8193},
                 {MOST - 1, 1, MOST}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memcpy(pattern, text + cases[k].from, cases[k].length);
        expect_pattern(pattern, cases[k].length, cases[k].size);
    }
    /* Zeros, as there are behind the end. */
    memset(text, 0, sizeof text);
    memset(pattern, 0, sizeof pattern);
    expect_pattern(pattern, 3, 100);
}

/* The automaton of Aho and Corasick for a set of words; accepting states have the highest numbers.
 */
typedef struct automaton {
    uint32_t next[MOST_STATES][256];
    uint32_t count, accept, longest;
} automaton;

static void build(automaton *out, const char *const *words, size_t count) {
    static int32_t child[MOST_STATES][256];
    static uint32_t fails[MOST_STATES], queue[MOST_STATES], number[MOST_STATES];
    static uint32_t moves[MOST_STATES][256];
    bool ends[MOST_STATES] = {false};
    uint32_t used = 1, head = 0, tail = 0;
    memset(child, -1, sizeof child);
    out->longest = 0;
    for (size_t w = 0; w < count; w++) {
        uint32_t at = 0;
        for (const char *c = words[w]; *c; c++) {
            int32_t *to = &child[at][(uint8_t)*c];
            if (*to < 0) {
                *to = (int32_t)used++;
            }
            at = (uint32_t)*to;
        }
        ends[at] = true;
        out->longest = strlen(words[w]) > out->longest ? (uint32_t)strlen(words[w]) : out->longest;
    }
    assert_true(used <= MOST_STATES);
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = queue[head++];
        ends[at] = ends[at] || ends[fails[at]];
        for (int c = 0; c < 256; c++) {
            uint32_t beside = at ? moves[fails[at]][c] : 0;
            if (child[at][c] < 0) {
                moves[at][c] = beside;
                continue;
            }
            moves[at][c] = (uint32_t)child[at][c];
            fails[moves[at][c]] = beside;
            queue[tail++] = moves[at][c];
        }
    }
    out->count = 0;
    for (int accepting = 0; accepting < 2; accepting++) {
        if (accepting) {
            out->accept = out->count;
        }
        for (uint32_t k = 0; k < used; k++) {
            if (ends[k] == (accepting == 1)) {
                number[k] = out->count++;
            }
        }
    }
    for (uint32_t k = 0; k < used; k++) {
        for (int c = 0; c < 256; c++) {
            out->next[number[k]][c] = number[moves[k][c]];
        }
    }
}

static void expect_automaton(const automaton *a, size_t size, uint32_t overlap) {
    static uint8_t narrow[65536];
    static uint16_t wide[MOST_STATES * 256];
    uint32_t count = 0, state = 0;
    memset(positions, 0, sizeof positions);
    memset(states, 0, sizeof states);
    for (size_t k = 0; k < size; k++) {
        state = a->next[state][text[k]];
        if (state >= a->accept) {
            positions[count] = (uint32_t)k;
            states[count++] = state;
        }
    }
    for (size_t k = 0; k < a->count * 256; k++) {
        wide[k] = (uint16_t)a->next[k / 256][k % 256];
        if (a->count <= 256) {
            narrow[k] = (uint8_t)wide[k];
        }
    }
    for (int is_wide = a->count > 256; is_wide < 2; is_wide++) {
        ops_value table = {"table", narrow, sizeof narrow};
        if (is_wide) {
            table = (ops_value){"table", wide, a->count * 256 * sizeof *wide};
        }
        ops_values given = OPS(OPS_ARRAY(text, size), table, OPS_SCALAR("accept", a->accept),
                               OPS_SCALAR("overlap", overlap));
        ops_expect(is_wide ? "match.dfa_count_u16" : "match.dfa_count_u8", given,
                   OPS(OPS_SCALAR("count", count)));
        ops_expect(
            is_wide ? "match.dfa_hits_u16" : "match.dfa_hits_u8", given,
            OPS(OPS_ARRAY(positions, size), OPS_ARRAY(states, size), OPS_SCALAR("count", count)));
    }
}

static automaton some;

static void automata(void **state) {
    (void)state;
    static const char *const words[] = {"ab", "abab", "bbb", "cabcabca", "c", "abcabcabcabcabca"};
    static const size_t lengths[] = {0, 1, 33, 1023, 1024, 1025, 2048, 5000, MOST};
    build(&some, words, 6);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        fill(k, 2 + k % 4);
        expect_automaton(&some, lengths[k], some.longest - 1);
        expect_automaton(&some, lengths[k], some.longest + 2000);
    }
    /* Hits everywhere, and nowhere. */
    memset(text, 'c', sizeof text);
    expect_automaton(&some, 3000, some.longest - 1);
    memset(text, 0, sizeof text);
    expect_automaton(&some, 3000, some.longest - 1);
    /* Words over the bounds of chunks. */
    memset(text, 'x', sizeof text);
    for (size_t k = 1; k < 40; k++) {
        memcpy(text + k * 1024 - k % 17, "abcabcabcabcabca", 16);
    }
    expect_automaton(&some, 41000, some.longest - 1);
}

static void automata_of_many_states(void **state) {
    (void)state;
    static char storage[60][12];
    const char *words[60];
    uint64_t seed = 6;
    for (size_t w = 0; w < 60; w++) {
        size_t length = 3 + ops_random(&seed) % 8;
        for (size_t k = 0; k < length; k++) {
            storage[w][k] = (char)('a' + ops_random(&seed) % 4);
        }
        words[w] = storage[w];
    }
    build(&some, words, 60);
    fill(7, 4);
    expect_automaton(&some, 20000, some.longest - 1);
    static char more[60][16];
    for (size_t w = 0; w < 60; w++) {
        snprintf(more[w], sizeof more[w], "%.7s%zu", storage[w], w * 7919);
        words[w] = more[w];
    }
    build(&some, words, 60);
    assert_true(some.count > 256);
    for (size_t k = 0; k + 20 < MOST; k += 11) {
        memcpy(text + k, more[k % 60], strlen(more[k % 60]));
    }
    expect_automaton(&some, 20000, some.longest - 1);
}

static void automata_on_records(void **state) {
    (void)state;
    static const char *const words[] = {"ab", "bca", "aaa"};
    static uint8_t table[65536];
    static uint32_t counts[MOST];
    static const struct {
        uint32_t size;
        size_t bytes;
    } cases[] = {{1, 0}, {4, 3}, {4, 4}, {16, 1000}, {64, 6400}, {1024, 40000}, {12, 49999}};
    build(&some, words, 3);
    for (size_t k = 0; k < some.count * 256; k++) {
        table[k] = (uint8_t)some.next[k / 256][k % 256];
    }
    fill(8, 3);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint32_t size = cases[k].size, size_words = size / 4;
        size_t records = cases[k].bytes / size;
        for (size_t r = 0; r < records; r++) {
            uint32_t at = 0;
            counts[r] = 0;
            for (size_t b = r * size; b < (r + 1) * size; b++) {
                at = some.next[at][text[b]];
                counts[r] += at >= some.accept;
            }
        }
        ops_expect("match.dfa_records",
                   OPS({"bytes", text, cases[k].bytes}, OPS_ARRAY(table, 65536),
                       OPS_SCALAR("accept", some.accept), OPS_SCALAR("size", size)),
                   OPS(OPS_ARRAY(counts, records)));
        if (size_words) {
            ops_expect("match.dfa_words",
                       OPS({"words", text, cases[k].bytes / 4 * 4}, OPS_ARRAY(table, 65536),
                           OPS_SCALAR("accept", some.accept), OPS_SCALAR("size", size_words)),
                       OPS(OPS_ARRAY(counts, records)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(long_patterns),
        cmocka_unit_test(automata),
        cmocka_unit_test(automata_of_many_states),
        cmocka_unit_test(automata_on_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
