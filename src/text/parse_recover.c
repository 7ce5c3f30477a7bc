/* Going on behind a mistake: what is skipped, and where parsing starts again. */
#include "text/parse.h"

/* Tokens that only ever start a statement or a step: where skipping stops. */
static bool starts_statement(vyre_token_kind kind) {
    switch (kind) {
    case VYRE_TOKEN_LET:
    case VYRE_TOKEN_VAR:
    case VYRE_TOKEN_SHARED:
    case VYRE_TOKEN_SCRATCH:
    case VYRE_TOKEN_PHASE:
    case VYRE_TOKEN_REPEAT:
    case VYRE_TOKEN_BARRIER:
    case VYRE_TOKEN_GRID_BARRIER:
    case VYRE_TOKEN_IF:
    case VYRE_TOKEN_FOR:
    case VYRE_TOKEN_WHILE:
    case VYRE_TOKEN_LOOP:
    case VYRE_TOKEN_BREAK:
    case VYRE_TOKEN_CONTINUE:
    case VYRE_TOKEN_YIELD:
    case VYRE_TOKEN_RETURN: return true;
    default: return false;
    }
}

/* Skips a block with everything in it; the next token is its opening brace. */
void parse_skip_block(vyre_parser *parser) {
    uint32_t open = 0;
    do {
        open += parse_at(parser, VYRE_TOKEN_LEFT_BRACE);
        open -= parse_at(parser, VYRE_TOKEN_RIGHT_BRACE);
        parse_advance(parser);
    } while (open && !parse_at_item(parser));
}

void parse_recover(vyre_parser *parser) {
    uint32_t bracket = 0; /* the line of an open one, as in [0.0; 4] */
    for (;;) {
        vyre_token_kind kind = parser->state.token.kind;
        if (kind == VYRE_TOKEN_LEFT_BRACKET || kind == VYRE_TOKEN_RIGHT_BRACKET) {
            bracket = kind == VYRE_TOKEN_LEFT_BRACKET ? parser->state.token.line : 0;
        }
        if (kind == VYRE_TOKEN_SEMICOLON && bracket != parser->state.token.line) {
            parse_advance(parser);
            return;
        }
        if (kind == VYRE_TOKEN_LEFT_BRACE) {
            parse_skip_block(parser);
            parse_take(parser, VYRE_TOKEN_SEMICOLON);
            return;
        }
        if (kind == VYRE_TOKEN_RIGHT_BRACE || parse_at_item(parser) || starts_statement(kind)) {
            return;
        }
        parse_advance(parser);
    }
}

void parse_skip_values(vyre_parser *parser) {
    parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                "name the block's value first, as in `let a = if ... ;`, and use the name",
                "expected an operand, found `%s`", vyre_token_text(parser->state.token.kind));
    parser->lost = true;
    parse_skip_blocks(parser, 0);
}

void parse_skip_blocks(vyre_parser *parser, uint32_t open) {
    while (open && !parse_at_item(parser)) {
        open += parse_at(parser, VYRE_TOKEN_LEFT_BRACE);
        open -= parse_at(parser, VYRE_TOKEN_RIGHT_BRACE);
        parse_advance(parser);
    }
    while (!parse_at(parser, VYRE_TOKEN_SEMICOLON) && !parse_at(parser, VYRE_TOKEN_RIGHT_BRACE) &&
           !parse_at_item(parser)) {
        if (parse_at(parser, VYRE_TOKEN_LEFT_BRACE)) {
            parse_skip_block(parser);
        } else {
            parse_advance(parser);
        }
    }
}

uint32_t parse_skip(vyre_parser *parser) {
    parse_advance(parser);
    parse_recover(parser);
    return 0;
}

bool parse_recover_block(vyre_parser *parser) {
    for (;;) {
        vyre_token_kind kind = parser->state.token.kind;
        if (kind == VYRE_TOKEN_LEFT_BRACE) {
            return true;
        }
        if (kind == VYRE_TOKEN_SEMICOLON) {
            parse_advance(parser);
            return false;
        }
        if (kind == VYRE_TOKEN_RIGHT_BRACE || parse_at_item(parser) || starts_statement(kind)) {
            return false;
        }
        parse_advance(parser);
    }
}
