#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/lexer.h"

typedef struct reading {
    vyre_source source;
    vyre_names names;
    vyre_lexer lexer;
} reading;

static void start(reading *r, const char *text, size_t size) {
    memset(r, 0, sizeof *r);
    vyre_status status = vyre_words_prepare();
    assert_null(status);
    r->source = (vyre_source){.name = "test", .text = text, .end = text + size};
    status = vyre_diagnostics_create(&r->source.diagnostics);
    assert_null(status);
    vyre_names_init(&r->names, text, text + size);
    vyre_lexer_init(&r->lexer, &r->source, &r->names);
}

static void stop(reading *r) {
    vyre_names_deinit(&r->names);
    vyre_diagnostics_free(r->source.diagnostics);
}

/* The kinds of a text's tokens, VYRE_TOKEN_END last. */
static void check_kinds(const char *text, const vyre_token_kind *kinds) {
    reading r;
    start(&r, text, strlen(text));
    size_t i = 0;
    vyre_token token;
    do {
        vyre_lexer_next(&r.lexer, &token);
        if (token.kind != kinds[i]) {
            fail_msg("`%s`: token %zu is %s, expected %s", text, i, vyre_token_text(token.kind),
                     vyre_token_text(kinds[i]));
        }
    } while (kinds[i++] != VYRE_TOKEN_END);
    assert_int_equal(vyre_diagnostics_count(r.source.diagnostics), 0);
    stop(&r);
}

#define KINDS(text, ...) check_kinds(text, (const vyre_token_kind[]){__VA_ARGS__, VYRE_TOKEN_END})
#define T(name) VYRE_TOKEN_##name

static void every_punctuation_is_a_token(void **state) {
    (void)state;
#define CHECK(name, text) KINDS(text, VYRE_TOKEN_##name);
    VYRE_PUNCTUATION(CHECK)
    VYRE_KEYWORDS(CHECK)
#undef CHECK
    KINDS("", VYRE_TOKEN_END);
}

static void the_longest_token_wins(void **state) {
    (void)state;
    KINDS("a<<=b>>=c", T(NAME), T(ASSIGN_SHIFT_LEFT), T(NAME), T(ASSIGN_SHIFT_RIGHT), T(NAME));
    KINDS("&&&|||", T(AND_AND), T(AND), T(OR_OR), T(OR));
    KINDS("-->=-=", T(MINUS), T(ARROW), T(ASSIGN), T(ASSIGN_MINUS));
    KINDS("!===!", T(NOT_EQUAL), T(EQUAL), T(NOT));
    KINDS("a.x..b", T(NAME), T(DOT), T(NAME), T(RANGE), T(NAME));
}

static void a_range_is_no_number(void **state) {
    (void)state;
    KINDS("0..n", T(NUMBER), T(RANGE), T(NAME));
    KINDS("1.5..2.5", T(NUMBER), T(RANGE), T(NUMBER));
    KINDS("1e5-2", T(NUMBER), T(MINUS), T(NUMBER));
    KINDS("1e-5", T(NUMBER));
    KINDS("0x1p-3", T(NUMBER));
    KINDS("0xe-3", T(NUMBER), T(MINUS), T(NUMBER));
    KINDS("'a''\\'''\\\\'", T(NUMBER), T(NUMBER), T(NUMBER));
}

static void comments_and_space_separate(void **state) {
    (void)state;
    KINDS("a//b\nc", T(NAME), T(NAME));
    KINDS("a/* b /* c */ d */e", T(NAME), T(NAME));
    KINDS("\xef\xbb\xbf\t\r\n fn", T(FN));
    KINDS("a/b", T(NAME), T(SLASH), T(NAME));
    KINDS("// ends here", VYRE_TOKEN_END);
}

static void types_and_words_are_known(void **state) {
    (void)state;
    KINDS("u32 f16 bool void sqrt gid buffer x", T(TYPE), T(TYPE), T(TYPE), T(NAME), T(NAME),
          T(NAME), T(NAME), T(NAME));
    assert_int_equal(vyre_word_of(vyre_word_find((vyre_str){"sqrt", 4}))->class_of, VYRE_WORD_OP);
    assert_int_equal(vyre_word_of(vyre_word_find((vyre_str){"add", 3}))->class_of,
                     VYRE_WORD_OPERATOR);
    assert_int_equal(vyre_word_find((vyre_str){"out", 3}), VYRE_WORD_OUT);
    assert_int_equal(vyre_word_find((vyre_str){"load", 4}), 0);
    assert_int_equal(vyre_word_find((vyre_str){"nothing", 7}), 0);
    const vyre_word *scan = vyre_word_of(vyre_word_find((vyre_str){"subgroup_exclusive_xor", 22}));
    assert_int_equal(scan->code, VYRE_OP_SCAN_EXCLUSIVE);
    assert_int_equal(scan->extra, VYRE_COMBINE_XOR);
}

static void places_count_lines_and_bytes(void **state) {
    (void)state;
    reading r;
    const char text[] = "a\n  b /* \xc3\xa4 */ c\n/*\n\n*/d";
    static const uint32_t places[][2] = {{1, 1}, {2, 3}, {2, 14}, {5, 3}, {5, 4}};
    start(&r, text, strlen(text));
    for (size_t i = 0; i < 5; i++) {
        vyre_token token;
        vyre_lexer_next(&r.lexer, &token);
        assert_int_equal(token.line, places[i][0]);
        assert_int_equal(token.column, places[i][1]);
    }
    stop(&r);
}

static void the_same_name_is_the_same_symbol(void **state) {
    (void)state;
    reading r;
    const char text[] =
        "alpha beta alpha a_name_that_is_longer_than_sixteen beta alph "
        "a_name_that_is_longer_than_sixteen exactly_16_bytes exactly_16_bytes alpha";
    static const size_t same_as[] = {0, 1, 0, 3, 1, 5, 3, 7, 7, 0};
    uint32_t symbols[10];
    start(&r, text, strlen(text));
    for (size_t i = 0; i < 10; i++) {
        vyre_token token;
        vyre_lexer_next(&r.lexer, &token);
        symbols[i] = token.symbol;
        assert_int_equal(symbols[i], symbols[same_as[i]]);
        vyre_str name = vyre_symbol_text(&r.names, token.symbol);
        assert_int_equal(name.size, token.length);
        assert_memory_equal(name.data, text + token.offset, name.size);
    }
    assert_int_equal(r.names.symbols.count, 5);
    stop(&r);
}

/* Any bytes give tokens that move on and an end. */
/* Names are read eight bytes at a time where there are as many: wherever one ends, and whatever
 * follows, that is where it ends, the second time too. */
static void names_end_at_any_byte(void **state) {
    (void)state;
    char text[64];
    for (size_t length = 1; length <= 26; length++) {
        for (int byte = 0; byte < 256; byte++) {
            bool is_part = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= '0' && byte <= '9') || byte == '_';
            for (size_t rest = 0; rest < 20; rest += 19) {
                size_t size = length + 1 + rest;
                memcpy(text, "azAZ_09bcdefghijklmnopqrst", length);
                text[length] = (char)byte;
                memset(text + length + 1, '~', rest);
                reading r;
                start(&r, text, size);
                vyre_lexer again = r.lexer;
                vyre_token first, second;
                vyre_lexer_next(&r.lexer, &first);
                vyre_lexer_next(&again, &second);
                assert_int_equal(first.kind, VYRE_TOKEN_NAME);
                assert_int_equal(first.length, length + is_part);
                assert_int_equal(second.kind, VYRE_TOKEN_NAME);
                assert_int_equal(second.length, first.length);
                assert_int_equal(second.symbol, first.symbol);
                assert_ptr_equal(again.at, r.lexer.at);
                stop(&r);
            }
        }
    }
}

static void any_bytes_come_to_an_end(void **state) {
    (void)state;
    uint32_t random = 1;
    for (int turn = 0; turn < 2000; turn++) {
        char text[64];
        static const char alphabet[] = "a0.x'\"\\/*\n {}<>=&|-+e_u#\x80\xc3\0@";
        for (size_t i = 0; i < sizeof text; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = alphabet[(random >> 16) % (sizeof alphabet - 1)];
        }
        reading r;
        start(&r, text, sizeof text);
        vyre_token token;
        uint32_t before = 0;
        do {
            vyre_lexer_next(&r.lexer, &token);
            assert_true(token.offset >= before);
            assert_true(token.kind == VYRE_TOKEN_END || token.length > 0);
            before = token.offset + token.length;
        } while (token.kind != VYRE_TOKEN_END);
        stop(&r);
    }
}

static void items_are_found_whatever_is_around(void **state) {
    (void)state;
    const char text[] = "const A = 1; const B = 2; // fn no\n"
                        "/* program no */ fn f() { 'f' ; fnord; const C = 3; let fn = 2;\n"
                        "const D = 4;\n"
                        "} } program p() {}\n"
                        "fn";
    static const char *const found[] = {"const A", "const B", "fn f", "const D", "program p", "fn"};
    reading r;
    start(&r, text, strlen(text));
    for (size_t i = 0; i < 6; i++) {
        vyre_lexer_find_item(&r.lexer);
        size_t length = strlen(found[i]);
        assert_true((size_t)(r.source.end - r.lexer.at) >= length);
        assert_memory_equal(r.lexer.at, found[i], length);
        vyre_token token;
        vyre_lexer_next(&r.lexer, &token);
    }
    vyre_lexer_find_item(&r.lexer);
    assert_ptr_equal(r.lexer.at, r.source.end);
    assert_int_equal(r.lexer.line, 5);
    stop(&r);
}

/* The colours of the editor cover every word of the language. */
static void the_editor_knows_every_word(void **state) {
    (void)state;
    static char text[65536] = " ";
    FILE *file = fopen("editors/vim/syntax/vyre.vim", "rb");
    assert_non_null(file);
    size_t size = 1 + fread(text + 1, 1, sizeof text - 2, file);
    fclose(file);
    for (size_t i = 0; i < size; i++) { /* words stand between spaces then */
        bool part = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
                    text[i] == '_';
        text[i] = part ? text[i] : ' ';
    }
    vyre_status status = vyre_words_prepare();
    assert_null(status);
    for (uint32_t i = 1; i < vyre_word_count(); i++) {
        const vyre_word *word = vyre_word_of(i);
        char wanted[64];
        snprintf(wanted, sizeof wanted, " %s ", word->text);
        bool free = word->class_of == VYRE_WORD_OPERATOR ||
                    vyre_word_find((vyre_str){word->text, strlen(word->text)}) != i;
        if (!free && !strstr(text, wanted)) {
            fail_msg("editors/vim/syntax/vyre.vim does not know `%s`", word->text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_punctuation_is_a_token),
        cmocka_unit_test(the_longest_token_wins),
        cmocka_unit_test(a_range_is_no_number),
        cmocka_unit_test(comments_and_space_separate),
        cmocka_unit_test(types_and_words_are_known),
        cmocka_unit_test(places_count_lines_and_bytes),
        cmocka_unit_test(the_same_name_is_the_same_symbol),
        cmocka_unit_test(names_end_at_any_byte),
        cmocka_unit_test(any_bytes_come_to_an_end),
        cmocka_unit_test(items_are_found_whatever_is_around),
        cmocka_unit_test(the_editor_knows_every_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
