#include "text/lexer.h"

#include <string.h>

#include <vyre/limits.h>

/* Keeps what is rare out of the short path through vyre_lexer_next. */
#if defined(__GNUC__)
#define OUT_OF_LINE __attribute__((noinline))
#else
#define OUT_OF_LINE
#endif

/* In this order: what may be skipped, what names are made of, the rest. A slash may start a
 * comment; a single is a token whatever follows. */
enum { OTHER, SPACE, NEWLINE, SLASH, LETTER, DIGIT, QUOTE, PUNCTUATION, SINGLE };

/* clang-format off */
#define LETTERS(X)                                                                                 \
    X('a') X('b') X('c') X('d') X('e') X('f') X('g') X('h') X('i') X('j') X('k') X('l') X('m')     \
    X('n') X('o') X('p') X('q') X('r') X('s') X('t') X('u') X('v') X('w') X('x') X('y') X('z')     \
    X('A') X('B') X('C') X('D') X('E') X('F') X('G') X('H') X('I') X('J') X('K') X('L') X('M')     \
    X('N') X('O') X('P') X('Q') X('R') X('S') X('T') X('U') X('V') X('W') X('X') X('Y') X('Z')     \
    X('_')

static const uint8_t classes[256] = {
#define ROW(c) [c] = LETTER,
    LETTERS(ROW)
#undef ROW
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT,
    ['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
    [' '] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, ['\n'] = NEWLINE, ['\''] = QUOTE,
    ['('] = SINGLE, [')'] = SINGLE, ['{'] = SINGLE, ['}'] = SINGLE, ['['] = SINGLE,
    [']'] = SINGLE, [','] = SINGLE, [';'] = SINGLE, [':'] = SINGLE, ['~'] = SINGLE,
    ['.'] = PUNCTUATION, ['-'] = PUNCTUATION, ['+'] = PUNCTUATION, ['*'] = PUNCTUATION,
    ['%'] = PUNCTUATION, ['&'] = PUNCTUATION, ['|'] = PUNCTUATION, ['^'] = PUNCTUATION,
    ['<'] = PUNCTUATION, ['>'] = PUNCTUATION, ['='] = PUNCTUATION, ['!'] = PUNCTUATION,
    ['/'] = SLASH,
};
/* clang-format on */

/* What a character is by itself, in front of `=`, twice, and twice in front of `=`; 0 where that is
 * no token of its own. */
static const struct {
    uint8_t alone, assigns, doubled, shifts;
} operators[128] = {
    ['('] = {.alone = VYRE_TOKEN_LEFT_PAREN},
    [')'] = {.alone = VYRE_TOKEN_RIGHT_PAREN},
    ['{'] = {.alone = VYRE_TOKEN_LEFT_BRACE},
    ['}'] = {.alone = VYRE_TOKEN_RIGHT_BRACE},
    ['['] = {.alone = VYRE_TOKEN_LEFT_BRACKET},
    [']'] = {.alone = VYRE_TOKEN_RIGHT_BRACKET},
    [','] = {.alone = VYRE_TOKEN_COMMA},
    [';'] = {.alone = VYRE_TOKEN_SEMICOLON},
    [':'] = {.alone = VYRE_TOKEN_COLON},
    ['~'] = {.alone = VYRE_TOKEN_COMPLEMENT},
    ['.'] = {.alone = VYRE_TOKEN_DOT, .doubled = VYRE_TOKEN_RANGE},
    ['+'] = {VYRE_TOKEN_PLUS, VYRE_TOKEN_ASSIGN_PLUS, 0, 0},
    ['-'] = {VYRE_TOKEN_MINUS, VYRE_TOKEN_ASSIGN_MINUS, 0, 0},
    ['*'] = {VYRE_TOKEN_STAR, VYRE_TOKEN_ASSIGN_STAR, 0, 0},
    ['/'] = {VYRE_TOKEN_SLASH, VYRE_TOKEN_ASSIGN_SLASH, 0, 0},
    ['%'] = {VYRE_TOKEN_PERCENT, VYRE_TOKEN_ASSIGN_PERCENT, 0, 0},
    ['^'] = {VYRE_TOKEN_XOR, VYRE_TOKEN_ASSIGN_XOR, 0, 0},
    ['='] = {VYRE_TOKEN_ASSIGN, VYRE_TOKEN_EQUAL, 0, 0},
    ['!'] = {VYRE_TOKEN_NOT, VYRE_TOKEN_NOT_EQUAL, 0, 0},
    ['&'] = {VYRE_TOKEN_AND, VYRE_TOKEN_ASSIGN_AND, VYRE_TOKEN_AND_AND, 0},
    ['|'] = {VYRE_TOKEN_OR, VYRE_TOKEN_ASSIGN_OR, VYRE_TOKEN_OR_OR, 0},
    ['<'] = {VYRE_TOKEN_LESS, VYRE_TOKEN_LESS_EQUAL, VYRE_TOKEN_SHIFT_LEFT,
             VYRE_TOKEN_ASSIGN_SHIFT_LEFT},
    ['>'] = {VYRE_TOKEN_GREATER, VYRE_TOKEN_GREATER_EQUAL, VYRE_TOKEN_SHIFT_RIGHT,
             VYRE_TOKEN_ASSIGN_SHIFT_RIGHT},
};

static uint8_t class_of(char c) {
    return classes[(unsigned char)c];
}

static const char *const texts[VYRE_TOKEN_COUNT] = {
    [VYRE_TOKEN_END] = "the end of the file", [VYRE_TOKEN_NAME] = "a name",
    [VYRE_TOKEN_NUMBER] = "a number",         [VYRE_TOKEN_TYPE] = "a type",
    [VYRE_TOKEN_STRING] = "a text",           [VYRE_TOKEN_COMMENT] = "a comment",
#define ROW(name, text) [VYRE_TOKEN_##name] = text,
    VYRE_PUNCTUATION(ROW) VYRE_KEYWORDS(ROW)
#undef ROW
};

vyre_token_kind vyre_token_of_word(uint32_t word) {
    static const uint8_t keywords[] = {
#define ROW(name, text) VYRE_TOKEN_##name,
        VYRE_KEYWORDS(ROW)
#undef ROW
    };
    const vyre_word *row = vyre_word_of(word);
    switch (row->class_of) {
    case VYRE_WORD_KEYWORD: return (vyre_token_kind)keywords[row->code];
    case VYRE_WORD_TYPE: return VYRE_TOKEN_TYPE;
    default: return VYRE_TOKEN_NAME;
    }
}

const char *vyre_token_text(vyre_token_kind kind) {
    return texts[kind];
}

/* Behind the `use` lines of a file. */
static const char *enter_part(vyre_lexer *lexer, const vyre_source_part *part) {
    lexer->line = part->body_line;
    lexer->line_start = part->body_line_start;
    return part->body;
}

void vyre_lexer_init(vyre_lexer *lexer, vyre_source *source, vyre_names *names) {
    *lexer = (vyre_lexer){source, names, source->text, source->text, 1, false, false};
    if (source->parts) {
        lexer->at = enter_part(lexer, &source->parts[0]);
    } else if (source->end - source->text >= 3 && !memcmp(source->text, "\xef\xbb\xbf", 3)) {
        lexer->at += 3; /* a byte order mark */
    }
}

static vyre_spot spot_of(const vyre_lexer *lexer, const char *at, size_t length) {
    return (vyre_spot){lexer->line, (uint32_t)(at - lexer->line_start) + 1, (uint32_t)length};
}

static void count_lines(vyre_lexer *lexer, const char *from, const char *to) {
    for (const char *next; (next = memchr(from, '\n', (size_t)(to - from))); from = next + 1) {
        lexer->line++;
        lexer->line_start = next + 1;
    }
}

/* The end of the comment at `at`, NULL if it has none. Comments in comments are skipped with it. */
static const char *block_comment_end(const char *at, const char *end) {
    size_t depth = 0;
    while (end - at >= 2) {
        if (at[0] == '/' && at[1] == '*') {
            depth++;
            at += 2;
        } else if (at[0] == '*' && at[1] == '/') {
            at += 2;
            if (--depth == 0) {
                return at;
            }
        } else {
            at++;
        }
    }
    return NULL;
}

/* The advice for characters that people bring from other languages. */
static const char *character_fix(char c) {
    switch (c) {
    case '#':
        return "start comments with //, and constants with `const NAME = number;`; there are no "
               "directives";
    case '?': return "write select(condition, a, b) for a choice between two values";
    case '@': return "remove it; attributes are words, such as `workgroup 256`";
    case '\\': return "remove it; a statement may continue on the next line";
    case '\0': return "remove the zero byte; this may not be a text file";
    default:
        return "remove it; outside comments only ASCII letters, digits and operators are "
               "allowed";
    }
}

/* Whether a # or @ is the first of the text. */
static bool is_first_mark(vyre_source *source, const char *at) {
    const char **mark = &source->marks[*at == '@'];
    *mark = *mark ? *mark : at;
    return *mark == at;
}

/* A whole run of characters that mean nothing is one mistake. */
static void skip_unexpected(vyre_lexer *lexer) {
    const char *at = lexer->at, *end = lexer->source->end;
    const char *after = at + 1;
    while (after < end && class_of(*after) == OTHER && *after != '"') {
        after++;
    }
    const char *line = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    after = line ? line : after; /* a comment or directive of other languages */
    size_t first = 1;
    while (at + first < after && (at[first] & 0xc0) == 0x80) {
        first++;
    }
    lexer->at = after;
    lexer->skipped = true;
    unsigned char c = (unsigned char)*at;
    if ((c == '#' || c == '@') && !is_first_mark(lexer->source, at)) {
        return;
    }
    vyre_spot spot = spot_of(lexer, at, (size_t)(after - at));
    if (c < 0x20 || c == 0x7f) {
        vyre_source_report(lexer->source, spot, 101, character_fix(*at),
                           "unexpected character with code %u", c);
    } else {
        vyre_source_report(lexer->source, spot, 101, character_fix(*at),
                           "unexpected character `%.*s`", (int)first, at);
    }
}

/* Behind white space, comments unless they are wanted, and characters that mean nothing; keeps
 * count of lines. */
static OUT_OF_LINE const char *skip_space(vyre_lexer *lexer, const char *at) {
    const char *end = lexer->source->end;
    for (; at < end; at++) {
        uint8_t class = class_of(*at);
        if (class == SPACE) {
            continue;
        }
        if (class == NEWLINE) {
            lexer->line++;
            lexer->line_start = at + 1;
            while (end - at > 4 && !memcmp(at + 1, "    ", 4)) {
                at += 4; /* indentation */
            }
            continue;
        }
        if (*at == VYRE_FILE_MARK && lexer->source->part_count > 1) {
            uint32_t part = vyre_source_part_at(lexer->source, at);
            at = enter_part(lexer, &lexer->source->parts[part]) - 1;
            continue;
        }
        if (class == OTHER && *at != '"') {
            lexer->at = at;
            skip_unexpected(lexer);
            at = lexer->at - 1;
            continue;
        }
        if (class != SLASH || end - at < 2 || (at[1] != '/' && at[1] != '*') || lexer->comments) {
            break;
        }
        if (at[1] == '/') {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            at = (newline ? newline : end) - 1;
            continue;
        }
        const char *file_end = vyre_source_end_at(lexer->source, at);
        const char *after = block_comment_end(at, file_end);
        if (!after) {
            vyre_source_report(lexer->source, spot_of(lexer, at, 2), 104,
                               "close it with */; comments nest, so each /* needs its own */",
                               "the comment that starts here is not closed");
            lexer->source->cut = true;
            after = file_end;
        }
        count_lines(lexer, at, after);
        at = after - 1;
    }
    return at;
}

static void lex_comment(vyre_lexer *lexer, vyre_token *token) {
    const char *at = lexer->at, *end = vyre_source_end_at(lexer->source, lexer->at);
    const char *after;
    if (at[1] == '/') {
        after = memchr(at, '\n', (size_t)(end - at));
    } else {
        after = block_comment_end(at, end);
    }
    after = after ? after : end;
    token->kind = VYRE_TOKEN_COMMENT;
    token->length = (uint32_t)(after - at);
    count_lines(lexer, at, after);
    lexer->at = after;
}

static bool is_name_part(char c) {
    return (uint8_t)(class_of(c) - LETTER) <= DIGIT - LETTER;
}

/* Behind the letters and digits at `at`. */
static const char *word_end(const char *at, const char *end) {
    while (end - at >= 8) {
        uint32_t count = vyre_name_start(at).count;
        at += count;
        if (count < 8) {
            return at;
        }
    }
    while (at < end && is_name_part(*at)) {
        at++;
    }
    return at;
}

/* Reports a name that is too long; only its start counts. */
static OUT_OF_LINE uint32_t cut_name(vyre_lexer *lexer, const char *at, vyre_token *token) {
    vyre_source_report(lexer->source, spot_of(lexer, at, token->length), 701, "shorten it",
                       "the name has %u bytes, and at most %d are allowed", token->length,
                       VYRE_LIMIT_NAME_BYTES);
    token->malformed = true;
    return VYRE_LIMIT_NAME_BYTES;
}

/* A name that was not met lately. */
static OUT_OF_LINE void lex_rare_name(vyre_lexer *lexer, const char *at, vyre_token *token) {
    const char *after = word_end(at, lexer->source->end);
    lexer->at = after;
    uint32_t length = token->length = (uint32_t)(after - at);
    if (length > VYRE_LIMIT_NAME_BYTES) {
        length = cut_name(lexer, at, token);
    }
    token->symbol = vyre_names_symbol(lexer->names, at, length);
    if (token->symbol == VYRE_NONE) {
        lexer->source->no_memory = true;
        lexer->at = lexer->source->end;
        token->kind = VYRE_TOKEN_END;
        return;
    }
    token->kind = lexer->names->symbols.items[token->symbol].token;
}

/* A file does not see the items of those that it does not use: there, their names are others. */
static OUT_OF_LINE void hide_item(vyre_lexer *lexer, const char *at, vyre_token *token) {
    const vyre_symbol *symbol = &lexer->names->symbols.items[token->symbol];
    const vyre_source_part *part = &lexer->source->parts[vyre_source_part_at(lexer->source, at)];
    if (symbol->item == VYRE_NONE || part->sees >> symbol->part & 1) {
        return;
    }
    uint32_t other = vyre_names_other(lexer->names, token->symbol);
    if (other == VYRE_NONE) {
        lexer->source->no_memory = true;
        lexer->at = lexer->source->end;
        token->kind = VYRE_TOKEN_END;
        return;
    }
    token->symbol = other;
}

static OUT_OF_LINE void lex_name(vyre_lexer *lexer, const char *at, vyre_token *token) {
    const vyre_recent_name *recent = vyre_names_recent(lexer->names, at);
    if (!recent) {
        lex_rare_name(lexer, at, token);
    } else {
        lexer->at = at + recent->length;
        token->length = recent->length;
        token->symbol = recent->symbol;
        token->kind = recent->token;
    }
    if (lexer->source->hides_items && token->symbol != VYRE_NONE) {
        hide_item(lexer, at, token);
    }
}

vyre_type vyre_token_type(const vyre_lexer *lexer, const vyre_token *token) {
    return (vyre_type)vyre_word_of(lexer->names->symbols.items[token->symbol].word)->code;
}

/* A point belongs to the number only in front of a digit, so that 0..n is a range; a sign only
 * behind the letter of an exponent. */
static const char *number_end(const char *at, const char *end) {
    bool hexadecimal = end - at > 1 && at[0] == '0' && at[1] == 'x';
    char exponent = hexadecimal ? 'p' : 'e';
    for (at++; at < end; at++) {
        uint8_t class = class_of(*at);
        if (class == DIGIT || class == LETTER) {
            continue;
        }
        bool digit_follows = end - at > 1 && class_of(at[1]) == DIGIT;
        bool hex_follows = hexadecimal && end - at > 1 &&
                           ((at[1] >= 'a' && at[1] <= 'f') || (at[1] >= 'A' && at[1] <= 'F'));
        bool is_point = *at == '.' && (digit_follows || hex_follows);
        if (!is_point &&
            !((*at == '+' || *at == '-') && (at[-1] | 0x20) == exponent && digit_follows)) {
            break;
        }
    }
    return at;
}

/* Behind most numbers: digits, perhaps a letter for the type. These are well formed. NULL for
 * others. */
static const char *short_number_end(const char *at, const char *end) {
    while (at < end && class_of(*at) == DIGIT) {
        at++;
    }
    at += at < end && (*at == 'u' || *at == 'i' || *at == 'f');
    bool has_fraction = end - at > 1 && *at == '.' && class_of(at[1]) == DIGIT;
    return has_fraction || (at < end && is_name_part(*at)) ? NULL : at;
}

/* Reports a literal that is no number or character. */
static void check_literal(vyre_lexer *lexer, const char *at, vyre_token *token) {
    vyre_literal literal;
    if (!vyre_literal_read((vyre_str){at, token->length}, &literal)) {
        vyre_source_report(lexer->source, spot_of(lexer, at, token->length), 103, literal.fix, "%s",
                           literal.problem);
        token->malformed = true;
    }
}

static void lex_number(vyre_lexer *lexer, vyre_token *token) {
    const char *at = lexer->at, *end = lexer->source->end;
    const char *after = short_number_end(at, end);
    lexer->at = after ? after : number_end(at, end);
    token->kind = VYRE_TOKEN_NUMBER;
    token->length = (uint32_t)(lexer->at - at);
    if (!after) {
        check_literal(lexer, at, token);
    }
}

/* Behind the closing quote, or at the end of the line where there is none. */
static const char *character_end(const char *at, const char *end) {
    for (at++; at < end && *at != '\n'; at++) {
        if (*at == '\'') {
            return at + 1;
        }
        at += *at == '\\' && end - at > 1 && at[1] != '\n';
    }
    return at;
}

static void lex_character(vyre_lexer *lexer, vyre_token *token) {
    const char *at = lexer->at;
    const char *after = character_end(at, lexer->source->end);
    bool closed = after - at > 1 && after[-1] == '\'';
    lexer->at = after;
    token->kind = VYRE_TOKEN_NUMBER;
    token->length = (uint32_t)(after - at);
    if (!closed) {
        vyre_source_report(lexer->source, spot_of(lexer, at, 1), 104,
                           "write one character between quotes, as in 'a'",
                           "the character that starts here has no closing quote");
        token->malformed = true;
    } else {
        check_literal(lexer, at, token);
    }
}

/* Behind a string; its line ends it at the latest. */
static const char *string_end(const char *at, const char *end) {
    const char *after = at + 1;
    while (after < end && *after != '\n' && *after != '"') {
        after += *after == '\\' && end - after > 1 && after[1] != '\n' ? 2 : 1;
    }
    return after + (after < end && *after == '"');
}

static void lex_string(vyre_lexer *lexer, vyre_token *token) {
    const char *at = lexer->at, *after = string_end(at, lexer->source->end);
    token->kind = VYRE_TOKEN_STRING;
    token->length = (uint32_t)(after - at);
    if (token->length < 2 || after[-1] != '"') {
        vyre_source_report(lexer->source, spot_of(lexer, at, 1), 104,
                           "end it with `\"` in the same line; \\n starts a new one",
                           "the text that starts here has no closing quote");
        token->malformed = true;
    }
    lexer->at = after;
}

/* Tokens that differ by what follows their first character. */
static vyre_token_kind punctuation(const char *at, size_t left, uint32_t *length) {
    unsigned char first = (unsigned char)*at;
    char second = left > 1 ? at[1] : '\0';
    if (second == '=' && operators[first].assigns) {
        *length = 2;
        return operators[first].assigns;
    }
    if (second == *at && operators[first].doubled) {
        bool shifts = left > 2 && at[2] == '=' && operators[first].shifts;
        *length = 2 + shifts;
        return shifts ? operators[first].shifts : operators[first].doubled;
    }
    bool is_arrow = (first == '-' || first == '=') && second == '>';
    *length = 1 + is_arrow;
    return !is_arrow      ? (vyre_token_kind)operators[first].alone
           : first == '-' ? VYRE_TOKEN_ARROW
                          : VYRE_TOKEN_GIVES;
}

/* Tokens that are neither names nor single characters. */
static OUT_OF_LINE void lex_other(vyre_lexer *lexer, const char *at, uint8_t class,
                                  vyre_token *token) {
    size_t left = (size_t)(lexer->source->end - at);
    lexer->at = at;
    switch (class) {
    case SPACE: /* all is skipped: the end */
        token->kind = VYRE_TOKEN_END;
        token->length = 0;
        return;
    case DIGIT: lex_number(lexer, token); return;
    case QUOTE: lex_character(lexer, token); return;
    case SLASH:
        if (lexer->comments && left > 1 && (at[1] == '/' || at[1] == '*')) {
            lex_comment(lexer, token);
            return;
        }
        break;
    case PUNCTUATION: break;
    default: lex_string(lexer, token); return;
    }
    token->kind = (uint8_t)punctuation(at, left, &token->length);
    lexer->at = at + token->length;
}

void vyre_lexer_next(vyre_lexer *lexer, vyre_token *out_token) {
    const char *at = lexer->at, *end = lexer->source->end;
    while (at < end && *at == ' ') {
        at++;
    }
    uint8_t class = at < end ? class_of(*at) : SPACE;
    if (class < LETTER) {
        at = skip_space(lexer, at);
        class = at < end ? class_of(*at) : SPACE;
    }
    out_token->malformed = lexer->skipped;
    lexer->skipped = false;
    out_token->offset = (uint32_t)(at - lexer->source->text);
    out_token->line = lexer->line;
    out_token->column = (uint32_t)(at - lexer->line_start) + 1;
    if (class == LETTER) {
        lex_name(lexer, at, out_token);
        return;
    }
    out_token->symbol = VYRE_NONE;
    if (class == SINGLE) {
        lexer->at = at + 1;
        out_token->kind = operators[(unsigned char)*at].alone;
        out_token->length = 1;
        return;
    }
    lex_other(lexer, at, class, out_token);
}

/* Whether only the end of another item stands before a word in its line. */
static bool follows_item(const vyre_lexer *lexer, const char *at) {
    while (at > lexer->line_start && class_of(at[-1]) == SPACE) {
        at--;
    }
    return at == lexer->line_start || at[-1] == ';' || at[-1] == '}' || at[-1] == '/';
}

/* Whether `struct` stands at `at` and starts an item: it may be a name elsewhere, so a name and a
 * brace follow. */
static bool starts_struct(const vyre_lexer *lexer, const char *at, bool deep) {
    const char *end = lexer->source->end;
    bool is_word = end - at >= 6 && !memcmp(at, "struct", 6) &&
                   !(at > lexer->source->text && is_name_part(at[-1])) &&
                   word_end(at, end) == at + 6;
    if (!is_word) {
        return false;
    }
    vyre_lexer ahead = *lexer;
    const char *next = skip_space(&ahead, at + 6);
    if ((deep && at != lexer->line_start) || next == end || class_of(*next) != LETTER) {
        return false;
    }
    next = skip_space(&ahead, word_end(next, end));
    return next < end && *next == '{';
}

/* Whether a word starts an item; `deep` inside of braces. A name has to follow. */
static bool starts_item(const vyre_lexer *lexer, const char *at, size_t length, bool deep) {
    bool is_const = length == 5 && !memcmp(at, "const", 5);
    if (!is_const && !(length == 2 && !memcmp(at, "fn", 2)) &&
        !(length == 7 && !memcmp(at, "program", 7))) {
        return false;
    }
    if (is_const && at != lexer->line_start && (deep || !follows_item(lexer, at))) {
        return false;
    }
    vyre_lexer ahead = *lexer;
    const char *next = skip_space(&ahead, at + length);
    return !deep || (next < lexer->source->end && class_of(*next) == LETTER);
}

/* What the search for items has to look at: all else is passed over. Of `struct` it sees the c, the
 * rarest of its letters. */
enum { STRUCT_C = 4 };

static const uint8_t interests[256] = {
    ['p'] = 1, ['f'] = 1,  ['c'] = 1, ['{'] = 1,  ['}'] = 1,
    ['/'] = 1, ['\''] = 1, ['"'] = 1, ['\n'] = 1,
};

void vyre_lexer_find_item(vyre_lexer *lexer) {
    const char *first = lexer->at, *end = lexer->source->end;
    size_t depth = 0;
    for (const char *at = first;; at++) {
        while (end - at >= 4 &&
               !(interests[(unsigned char)at[0]] | interests[(unsigned char)at[1]] |
                 interests[(unsigned char)at[2]] | interests[(unsigned char)at[3]])) {
            at += 4;
        }
        while (at < end && !interests[(unsigned char)*at]) {
            at++;
        }
        lexer->at = at;
        if (at == end) {
            return;
        }
        bool inside_word = at > first && is_name_part(at[-1]);
        switch (*at) {
        case '\n':
            lexer->line++;
            lexer->line_start = at + 1;
            break;
        case '\'': at = character_end(at, end) - 1; break;
        case '"': at = string_end(at, end) - 1; break;
        case '{': depth++; break;
        case '}': depth -= depth > 0; break;
        case '/':
            if (end - at > 1 && (at[1] == '/' || at[1] == '*')) {
                vyre_token comment;
                lex_comment(lexer, &comment);
                at = lexer->at - 1;
            }
            break;
        case 'c':
            if (inside_word && at - first >= STRUCT_C &&
                starts_struct(lexer, at - STRUCT_C, depth > 0)) {
                lexer->at = at - STRUCT_C;
                return;
            }
            /* fall through */
        default:
            if (!inside_word &&
                starts_item(lexer, at, (size_t)(word_end(at, end) - at), depth > 0)) {
                return;
            }
            break;
        }
    }
}
