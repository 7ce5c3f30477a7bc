/* Lexer: text into tokens, one at a time, so that no list of them is ever held.
 *
 * A lexer is a small value: a copy of it is a place to come back to. Characters that mean nothing
 * are reported and passed over; reporting one place twice is harmless. */
#ifndef VYRE_TEXT_LEXER_H
#define VYRE_TEXT_LEXER_H

#include "ir/word.h"
#include "text/names.h"
#include "text/source.h"

/* X(name, text) */
#define VYRE_PUNCTUATION(X)                                                                        \
    X(LEFT_PAREN, "(")                                                                             \
    X(RIGHT_PAREN, ")")                                                                            \
    X(LEFT_BRACE, "{")                                                                             \
    X(RIGHT_BRACE, "}")                                                                            \
    X(LEFT_BRACKET, "[")                                                                           \
    X(RIGHT_BRACKET, "]")                                                                          \
    X(COMMA, ",")                                                                                  \
    X(SEMICOLON, ";")                                                                              \
    X(COLON, ":")                                                                                  \
    X(DOT, ".")                                                                                    \
    X(RANGE, "..")                                                                                 \
    X(ARROW, "->")                                                                                 \
    X(GIVES, "=>")                                                                                 \
    X(PLUS, "+")                                                                                   \
    X(MINUS, "-")                                                                                  \
    X(STAR, "*")                                                                                   \
    X(SLASH, "/")                                                                                  \
    X(PERCENT, "%")                                                                                \
    X(AND, "&")                                                                                    \
    X(OR, "|")                                                                                     \
    X(XOR, "^")                                                                                    \
    X(SHIFT_LEFT, "<<")                                                                            \
    X(SHIFT_RIGHT, ">>")                                                                           \
    X(EQUAL, "==")                                                                                 \
    X(NOT_EQUAL, "!=")                                                                             \
    X(LESS, "<")                                                                                   \
    X(LESS_EQUAL, "<=")                                                                            \
    X(GREATER, ">")                                                                                \
    X(GREATER_EQUAL, ">=")                                                                         \
    X(AND_AND, "&&")                                                                               \
    X(OR_OR, "||")                                                                                 \
    X(NOT, "!")                                                                                    \
    X(COMPLEMENT, "~")                                                                             \
    X(ASSIGN, "=")                                                                                 \
    X(ASSIGN_PLUS, "+=")                                                                           \
    X(ASSIGN_MINUS, "-=")                                                                          \
    X(ASSIGN_STAR, "*=")                                                                           \
    X(ASSIGN_SLASH, "/=")                                                                          \
    X(ASSIGN_PERCENT, "%=")                                                                        \
    X(ASSIGN_AND, "&=")                                                                            \
    X(ASSIGN_OR, "|=")                                                                             \
    X(ASSIGN_XOR, "^=")                                                                            \
    X(ASSIGN_SHIFT_LEFT, "<<=")                                                                    \
    X(ASSIGN_SHIFT_RIGHT, ">>=")

typedef enum vyre_token_kind {
    VYRE_TOKEN_END,
    VYRE_TOKEN_NAME,
    VYRE_TOKEN_NUMBER,
    VYRE_TOKEN_TYPE,
    VYRE_TOKEN_STRING,  /* the text of a message, in quotes */
    VYRE_TOKEN_COMMENT, /* only where they are asked for */
#define VYRE_TOKEN_ENUM(name, text) VYRE_TOKEN_##name,
    VYRE_PUNCTUATION(VYRE_TOKEN_ENUM) VYRE_KEYWORDS(VYRE_TOKEN_ENUM)
#undef VYRE_TOKEN_ENUM
        VYRE_TOKEN_COUNT
} vyre_token_kind;

typedef struct vyre_token {
    uint8_t kind;   /* vyre_token_kind */
    bool malformed; /* something here or in front of it was reported; a number means nothing then */
    uint32_t symbol; /* of names, types and keywords; else VYRE_NONE */
    uint32_t offset, length;
    uint32_t line, column;
} vyre_token;

typedef struct vyre_lexer {
    vyre_source *source;
    vyre_names *names; /* where names are looked up */
    const char *at, *line_start;
    uint32_t line;
    bool comments; /* hand them out as tokens */
    bool skipped;  /* something in front of the next token was reported */
} vyre_lexer;

void vyre_lexer_init(vyre_lexer *lexer, vyre_source *source, vyre_names *names);

void vyre_lexer_next(vyre_lexer *lexer, vyre_token *out_token);

/* Goes on to the next `program`, `fn`, `const` or `struct` that starts an item, or to the end of
 * the text, without reporting anything. Those words have no other use in front of a name, so that
 * each of them starts an item whatever is wrong before it; only a `const` or `struct` inside braces
 * has to stand at the start of a line, and a brace follows a struct's name. */
void vyre_lexer_find_item(vyre_lexer *lexer);

/* The type that a TYPE token names. */
vyre_type vyre_token_type(const vyre_lexer *lexer, const vyre_token *token);

/* The kind of token that a word makes; 0, a name that is none, makes a name. */
vyre_token_kind vyre_token_of_word(uint32_t word);

/* How a kind of token is written, "a name" where there is no one way. */
const char *vyre_token_text(vyre_token_kind kind);

static inline bool vyre_token_is_comparison(vyre_token_kind kind) {
    return kind >= VYRE_TOKEN_EQUAL && kind <= VYRE_TOKEN_GREATER_EQUAL;
}

static inline bool vyre_token_is_shift(vyre_token_kind kind) {
    return kind == VYRE_TOKEN_SHIFT_LEFT || kind == VYRE_TOKEN_SHIFT_RIGHT;
}

/* How a number is written: the parts of its text only; plain.h makes a value of it. */
typedef struct vyre_literal {
    uint32_t base;    /* 2, 10 or 16; 0 for a character, whose number is in `character` */
    bool real;        /* has a point or an exponent */
    vyre_type suffix; /* void: none */
    uint32_t body;    /* bytes in front of the suffix */
    uint32_t character;
    const char *problem, *fix; /* why it is malformed */
} vyre_literal;

/* False if the text is no number; `problem` and `fix` then say why. */
bool vyre_literal_read(vyre_str text, vyre_literal *out_literal);

static inline vyre_spot vyre_token_spot(const vyre_token *token) {
    return (vyre_spot){token->line, token->column, token->length};
}

#endif
