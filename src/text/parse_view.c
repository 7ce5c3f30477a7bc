#include "text/parse.h"

bool parse_at_view(const vyre_parser *parser) {
    return parse_at_word(parser, VYRE_WORD_VIEW) && parse_peek(parser).symbol != VYRE_NONE;
}

/* "view" NAME ":" [ "inout" ] "buffer" "<" type ">" { "[" size "]" } "=" NAME */
uint32_t parse_view(vyre_parser *parser, vyre_spot spot) {
    static const char fix[] = "write it as in `view words: buffer<u32> = bytes;`";
    parse_advance(parser);
    uint32_t argument = parse_argument(parser, "a view", true);
    vyre_argument_kind kind = (vyre_argument_kind)vyre_parser_node(parser, argument).detail;
    if (!parser->lost && kind == VYRE_ARGUMENT_SCALAR) {
        parse_error(parser, spot, 102, fix, "a view is not of type `buffer`");
    }
    if (!parser->lost && kind == VYRE_ARGUMENT_OUT) {
        parse_error(parser, spot, 108, "write `inout buffer`", "a view cannot be `out`");
    }
    parse_expect(parser, VYRE_TOKEN_ASSIGN, fix);
    uint32_t array = parser->lost ? VYRE_NONE : parse_name(parser, "an array");
    return parse_node(parser, VYRE_NODE_VIEW, spot, 0, argument, array);
}

uint32_t parse_stray_view(vyre_parser *parser) {
    parse_error(parser, vyre_token_spot(&parser->state.token), 108,
                "move it out of the block, to the start of the program",
                "`view` is inside a phase or function");
    return parse_skip(parser);
}
