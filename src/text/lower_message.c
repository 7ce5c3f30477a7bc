/* print("x = {}, v = {}", x, v); and assert(x < n, "x = {}", x); The IR shows scalars alone, so the
 * place of a vector or struct becomes one for each of its scalars. */
#include "text/lower_message.h"
#include "ir/message.h"
#include "text/lower.h"
#include "text/lower_let.h"

vyre_context_word lower_message_word(const vyre_lower *lower, vyre_node call) {
    if (call.kind != VYRE_NODE_CALL) {
        return VYRE_WORD_NO_CONTEXT;
    }
    const vyre_symbol *row = &lower->unit->names.symbols.items[call.a];
    bool hidden = row->item != VYRE_NONE || vyre_names_find(&lower->unit->names, call.a);
    bool is_message = row->word == VYRE_WORD_PRINT || row->word == VYRE_WORD_ASSERT;
    return is_message && !hidden ? (vyre_context_word)row->word : VYRE_WORD_NO_CONTEXT;
}

/* A message under construction. */
typedef struct message {
    vyre_lower *lower;
    vyre_node call;
    vyre_strbuf text;
    size_t first;  /* of its values, in lower->values */
    uint32_t next; /* argument that the next place shows */
    uint32_t count;
    bool valid;
} message;

/* The characters between the quotes, without escapes. */
static bool read_string(vyre_lower *lower, vyre_node node, vyre_strbuf *out) {
    const char *at = lower->unit->source.text + node.a + 1, *end = at + node.b - 2;
    for (; at < end; at++) {
        if (*at != '\\') {
            vyre_strbuf_putc(out, *at);
            continue;
        }
        at++;
        if (*at != 'n' && *at != 't' && *at != '"' && *at != '\\') {
            lower_report(lower, vyre_node_spot(&node), 101, "use one of \\n \\t \\\" \\\\",
                         "the text has the unknown escape \\%c", *at);
            return false;
        }
        vyre_strbuf_putc(out, *at == 'n' ? '\n' : *at == 't' ? '\t' : *at);
    }
    return true;
}

/* The places of all scalars of a type, as the language writes a value of it. */
static void add_places(message *m, vyre_value_type type, vyre_str place) {
    if (vyre_type_is_scalar(type)) {
        vyre_strbuf_add(&m->text, place.data, place.size);
        return;
    }
    bool is_vector = vyre_type_is_vector(type);
    const vyre_types *types = &m->lower->types;
    const vyre_struct *row = is_vector ? NULL : vyre_struct_of(types, type);
    uint32_t count = is_vector ? vyre_vector_count(type) : row->field_count;
    if (is_vector) {
        vyre_strbuf_printf(&m->text, "vec%u(", count);
    } else {
        vyre_strbuf_printf(&m->text, "%.*s(", (int)row->name.size, row->name.data);
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_puts(&m->text, i ? ", " : "");
        add_places(m, is_vector ? vyre_scalar_of(type) : types->fields.items[row->fields + i].type,
                   place);
    }
    vyre_strbuf_putc(&m->text, ')');
}

/* Shows the next argument at a place. */
static void add_value(message *m, vyre_str place) {
    vyre_lower *lower = m->lower;
    if (m->next >= m->count) {
        m->next++; /* counted for the report */
        return;
    }
    uint32_t node = vyre_parser_item(&lower->parser, m->call.b, m->next++);
    vyre_operand operand = lower_expression(lower, node, VYRE_TYPE_VOID);
    lower_forget_read(lower, node); /* any type will do */
    if (operand.kind == VYRE_OPERAND_PLAIN) {
        lower_settle_plain(lower, &operand, VYRE_TYPE_VOID, lower_spot(lower, node));
    }
    m->valid &= operand.kind == VYRE_OPERAND_VALUE || operand.kind == VYRE_OPERAND_COMPOSITE;
    if (m->valid) {
        add_places(m, operand.type, place);
        m->valid = lower_push_operand(lower, operand, operand.type);
    }
}

/* How long the place at the start of a text is; 0 if there is none. */
static size_t place_size(vyre_str text) {
    bool has_form = text.size > 3 && text.data[1] == ':' && text.data[2] == 'x';
    size_t size = has_form ? 4 : 2;
    return text.size >= size && *text.data == '{' && text.data[size - 1] == '}' ? size : 0;
}

static void refuse_brace(message *m, char brace, vyre_spot spot) {
    lower_report(m->lower, spot, 309,
                 brace == '{' ? "write `{}` or `{:x}` for a value, and `{{` for a brace"
                              : "write `}}` for a brace",
                 "the text has a single `%c`", brace);
    m->valid = false;
}

static void add_text(message *m, vyre_str text, vyre_spot spot) {
    for (size_t at = 0; at < text.size && m->valid;) {
        vyre_str rest = {text.data + at, text.size - at};
        size_t size = place_size(rest);
        bool is_brace = *rest.data == '{' || *rest.data == '}';
        bool is_double = is_brace && rest.size > 1 && rest.data[0] == rest.data[1];
        if (size && !is_double) {
            add_value(m, (vyre_str){rest.data, size});
        } else if (is_brace && !is_double) {
            refuse_brace(m, *rest.data, spot);
        } else {
            size = is_double ? 2 : 1;
            vyre_strbuf_add(&m->text, rest.data, size);
        }
        at += size;
    }
}

/* Lowers text and values, the text being argument `at`. */
static void read_message(message *m, uint32_t at, const char *name) {
    static const char *const fixes[] = {"write print(\"x = {}\", x)",
                                        "write assert(x < n, \"x = {}\", x)"};
    vyre_lower *lower = m->lower;
    vyre_node node = {0};
    if (at < m->count) {
        node = lower_node(lower, vyre_parser_item(&lower->parser, m->call.b, at));
    }
    m->valid &= node.kind == VYRE_NODE_STRING;
    if (!m->valid) {
        if (at >= m->count || node.kind != VYRE_NODE_ERROR) {
            lower_report(lower, vyre_node_spot(at < m->count ? &node : &m->call), 309, fixes[at],
                         "argument %u of `%s` is not a text in quotes", at + 1, name);
        }
        lower_look_through(lower, m->call);
        return;
    }
    vyre_strbuf text = {0};
    m->valid = read_string(lower, node, &text);
    m->next = at + 1;
    add_text(m, (vyre_str){vyre_strbuf_string(&text), text.size}, vyre_node_spot(&node));
    if (text.failed || m->text.failed) {
        lower_no_memory(lower);
        m->valid = false;
    }
    if (m->valid && m->next != m->count) {
        uint32_t given = m->count - at - 1, places = m->next - at - 1;
        lower_report(lower, vyre_node_spot(&node), 303, "write one `{}` for each value",
                     "the text has %u placeholder%s for %u value%s", places, places == 1 ? "" : "s",
                     given, given == 1 ? "" : "s");
        m->valid = false;
    }
    vyre_strbuf_free(&text);
}

static void build(message *m, vyre_context_word word, uint32_t condition) {
    vyre_lower *lower = m->lower;
    uint32_t count = (uint32_t)(lower->values.count - m->first);
    const uint32_t *values = lower->values.items + m->first;
    const char *text = vyre_strbuf_string(&m->text);
    if (m->text.failed) {
        lower_no_memory(lower);
        return;
    }
    lower_at(lower, vyre_node_spot(&m->call));
    if (word == VYRE_WORD_PRINT) {
        vyre_build_print(lower->builder, text, count, count ? values : NULL);
    } else {
        vyre_build_assert(lower->builder, condition, text, count, count ? values : NULL);
    }
}

void lower_message(vyre_lower *lower, vyre_node call) {
    vyre_context_word word = lower_message_word(lower, call);
    bool is_assert = word == VYRE_WORD_ASSERT;
    message m = {.lower = lower, .call = call, .first = lower->values.count, .valid = true};
    uint32_t condition = VYRE_NONE;
    m.count = vyre_parser_count(&lower->parser, call.b);
    if (is_assert && m.count) {
        condition =
            lower_value(lower, vyre_parser_item(&lower->parser, call.b, 0), VYRE_TYPE_BOOL, NULL);
        m.valid = condition != VYRE_NONE;
    }
    if (is_assert && m.count == 1) {
        vyre_strbuf_puts(&m.text, "assertion failed");
    } else if (m.valid) {
        read_message(&m, is_assert, vyre_word_of(word)->text);
    }
    if (m.valid) {
        build(&m, word, condition);
    }
    vyre_strbuf_free(&m.text);
    lower->values.count = m.first;
}
