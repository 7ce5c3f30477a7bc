#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/parse.h"

typedef struct reading {
    vyre_source source;
    vyre_names names;
    vyre_parser parser;
} reading;

static void start(reading *r, const char *text, size_t size) {
    memset(r, 0, sizeof *r);
    vyre_status status = vyre_words_prepare();
    assert_null(status);
    r->source = (vyre_source){.name = "test", .text = text, .end = text + size};
    status = vyre_diagnostics_create(&r->source.diagnostics);
    assert_null(status);
    vyre_names_init(&r->names, text, text + size);
    vyre_parser_init(&r->parser, &r->source, &r->names);
    vyre_lexer place;
    vyre_lexer_init(&place, &r->source, &r->names);
    vyre_parser_open(&r->parser, &place);
}

static void stop(reading *r) {
    vyre_parser_deinit(&r->parser);
    vyre_names_deinit(&r->names);
    vyre_diagnostics_free(r->source.diagnostics);
}

static const char *const names[] = {
#define NAME(name) #name,
    VYRE_NODES(NAME)
#undef NAME
};

/* The kinds of an item's nodes, an END with the kind it closes. */
static void check_events(const char *text, const char *expected) {
    reading r;
    start(&r, text, strlen(text));
    char found[1024] = "";
    uint32_t item = vyre_parse_item(&r.parser);
    vyre_node_kind kind = vyre_parser_node(&r.parser, item).kind;
    strcat(found, names[kind]);
    if (kind == VYRE_NODE_FUNCTION) {
        vyre_parse_body(&r.parser);
    }
    for (uint32_t node; (node = vyre_parse_next(&r.parser)) != VYRE_NONE;) {
        vyre_node head = vyre_parser_node(&r.parser, node);
        assert_true(strlen(found) < 900);
        strcat(strcat(found, " "), head.kind == VYRE_NODE_END ? "/" : names[head.kind]);
        if (head.kind == VYRE_NODE_END) {
            strcat(found, names[head.detail]);
        }
    }
    assert_string_equal(found, expected);
    assert_true(parse_at_item(&r.parser));
    stop(&r);
}

static void statements_come_in_order(void **state) {
    (void)state;
    check_events("fn f() { let a = 1; var b = 2; f(); a[0] += 1; return; }",
                 "FUNCTION LET VAR EVALUATE ASSIGN RETURN /FUNCTION");
    check_events("program p() over 1 { barrier; shared s: u32[4]; }",
                 "PROGRAM BARRIER SHARED /PHASE /PROGRAM");
    check_events("program p() { scratch s: u32[1]; repeat 3 { phase x over 1 { } } }",
                 "PROGRAM SCRATCH REPEAT PHASE /PHASE /REPEAT /PROGRAM");
    check_events("const N = 3;", "CONSTANT");
}

static void blocks_open_and_close(void **state) {
    (void)state;
    check_events("fn f() { if a { b = 1; } else if c { } else { { } } }",
                 "FUNCTION IF ASSIGN ELSE IF ELSE BLOCK /BLOCK /ELSE /ELSE /FUNCTION");
    check_events("fn f() { for i in 0..3 { while true { break; } } loop { continue; } }",
                 "FUNCTION FOR WHILE BREAK /WHILE /FOR LOOP CONTINUE /LOOP /FUNCTION");
    check_events("fn f() { let (a, b) = if c { yield 1, 2; } else { yield 3, 4; }; inline { } }",
                 "FUNCTION IF YIELD ELSE YIELD /ELSE INLINE /INLINE /FUNCTION");
}

static void mistakes_keep_blocks_in_pairs(void **state) {
    (void)state;
    check_events("fn f() { if { } }", "FUNCTION IF /IF /FUNCTION");
    check_events("fn f() { let = 3; let b = 4; }", "FUNCTION LET LET /FUNCTION");
    check_events("fn f() { if a { loop { x = 1;", "FUNCTION IF LOOP ASSIGN /LOOP /IF /FUNCTION");
    check_events("fn f() { if a { } else let b = 3; }", "FUNCTION IF ELSE /ELSE LET /FUNCTION");
    check_events("fn f( { }", "ERROR");
}

static bool closes(const vyre_node *end, const vyre_node *head) {
    vyre_node_kind opened = head->kind == VYRE_NODE_REPEAT_WHILE ? VYRE_NODE_REPEAT : head->kind;
    return end->detail == opened;
}

/* Tokens in any order: every head has its END, and reading comes to the end of the text. */
static void any_tokens_give_pairs(void **state) {
    (void)state;
    static const char *const words[] = {"program p() over 1 {",
                                        "fn f() {",
                                        "const A = 1;",
                                        "{",
                                        "}",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        ";",
                                        ",",
                                        "if",
                                        "else",
                                        "else if",
                                        "for i in 0..3",
                                        "loop",
                                        "while",
                                        "let",
                                        "var",
                                        "a",
                                        "=",
                                        "1",
                                        "+",
                                        "yield",
                                        "break",
                                        "return",
                                        "phase",
                                        "repeat",
                                        "over",
                                        "inline",
                                        "let (a) = ",
                                        "with",
                                        "u32",
                                        ":",
                                        "barrier;",
                                        "a[0] = 1;",
                                        "@",
                                        "'",
                                        "in",
                                        "..",
                                        "{ }",
                                        "a(",
                                        "scratch s: u32[1];",
                                        "shared"};
    enum { WORDS = sizeof words / sizeof *words };
    uint32_t random = 7;
    for (int turn = 0; turn < 3000; turn++) {
        char text[1024] = "";
        for (int i = 0; i < 40; i++) {
            random = random * 1664525 + 1013904223;
            strcat(strcat(text, words[(random >> 12) % WORDS]), " ");
        }
        reading r;
        start(&r, text, strlen(text));
        size_t items = 0;
        while (r.parser.state.token.kind != VYRE_TOKEN_END) {
            assert_true(++items < 200);
            vyre_node open[64];
            size_t depth = 0;
            vyre_node item = vyre_parser_node(&r.parser, vyre_parse_item(&r.parser));
            if (item.kind == VYRE_NODE_FUNCTION) {
                vyre_parse_body(&r.parser);
            }
            if (r.parser.blocks.count) {
                open[depth++] = item;
                if (item.kind == VYRE_NODE_PROGRAM && r.parser.blocks.count == 2) {
                    open[depth++] = (vyre_node){.kind = VYRE_NODE_PHASE};
                }
            }
            for (uint32_t node; (node = vyre_parse_next(&r.parser)) != VYRE_NONE;) {
                vyre_node head = vyre_parser_node(&r.parser, node);
                if (head.kind == VYRE_NODE_END) {
                    assert_true(depth > 0 && closes(&head, &open[depth - 1]));
                    depth--;
                } else if (head.kind == VYRE_NODE_ELSE) {
                    assert_true(depth > 0 && open[depth - 1].kind == VYRE_NODE_IF);
                    open[depth - 1].kind = VYRE_NODE_ELSE;
                } else if (r.parser.blocks.count > depth) {
                    assert_true(depth < 60);
                    open[depth++] = head;
                }
                assert_int_equal(r.parser.blocks.count, depth);
            }
            assert_int_equal(depth, 0);
        }
        stop(&r);
    }
}

static void statements_do_not_pile_up(void **state) {
    (void)state;
    char text[200000] = "fn f() {\n";
    size_t size = strlen(text);
    static const char line[] = "a[i * 3 + 1] = min(b, c[4]) + (d - 1) * f(2, 3);\n";
    while (size < sizeof text - sizeof line - 2) {
        memcpy(text + size, line, sizeof line - 1);
        size += sizeof line - 1;
    }
    text[size++] = '}';
    reading r;
    start(&r, text, size);
    vyre_parse_item(&r.parser);
    vyre_parse_body(&r.parser);
    size_t statements = 0;
    while (vyre_parse_next(&r.parser) != VYRE_NONE) {
        assert_true(r.parser.syntax.nodes.count < 64);
        statements++;
    }
    assert_true(statements > 3000);
    assert_int_equal(vyre_diagnostics_count(r.source.diagnostics), 0);
    stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_come_in_order),      cmocka_unit_test(blocks_open_and_close),
        cmocka_unit_test(mistakes_keep_blocks_in_pairs), cmocka_unit_test(any_tokens_give_pairs),
        cmocka_unit_test(statements_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
