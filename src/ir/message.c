#include "ir/message.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "ir/lookup.h"
#include "ir/print.h"

uint32_t vyre_messages_of(const vyre_ir *ir) {
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < ir->inst_count && ir->data_bytes; i++) {
        kinds |= vyre_message_kind(ir->insts[i].op);
    }
    return kinds;
}

bool vyre_message_is_text(const vyre_ir *ir, uint32_t resource) {
    const vyre_resource *row = &ir->resources[resource];
    return row->kind == VYRE_RESOURCE_CONSTANT && row->type == VYRE_TYPE_U8;
}

vyre_str vyre_message_text(const vyre_ir *ir, const vyre_inst *inst) {
    const vyre_resource *row = vyre_access_array(ir, inst);
    return (vyre_str){(const char *)vyre_constant_data(ir, row), row->length};
}

/* The parts of a text */

typedef enum part_kind { PART_END, PART_TEXT, PART_VALUE, PART_HEX, PART_WRONG } part_kind;

typedef struct part {
    part_kind kind;
    size_t at, size; /* of text: what appears */
} part;

static bool stands_at(vyre_str text, size_t at, const char *what) {
    size_t size = strlen(what);
    return at + size <= text.size && !memcmp(text.data + at, what, size);
}

/* The part at `*at`, which goes on behind it. */
static part next_part(vyre_str text, size_t *at) {
    size_t first = *at;
    if (first == text.size) {
        return (part){PART_END, first, 0};
    }
    if (stands_at(text, first, "{{") || stands_at(text, first, "}}")) {
        *at += 2;
        return (part){PART_TEXT, first, 1};
    }
    if (stands_at(text, first, "{}") || stands_at(text, first, "{:x}")) {
        bool is_hex = text.data[first + 1] == ':';
        *at += is_hex ? 4 : 2;
        return (part){is_hex ? PART_HEX : PART_VALUE, first, 0};
    }
    while (*at < text.size && text.data[*at] != '{' && text.data[*at] != '}') {
        ++*at;
    }
    return (part){*at == first ? PART_WRONG : PART_TEXT, first, *at - first};
}

/* Checks */

#define FAIL(error, number, advice, ...)                                                           \
    (snprintf((error)->message, sizeof(error)->message, __VA_ARGS__),                              \
     snprintf((error)->fix, sizeof(error)->fix, "%s", (advice)), (error)->code = (number), false)

static bool check_text(vyre_str text, vyre_rule_error *error) {
    if (!text.size) {
        return FAIL(error, 309, "write what it is about", "the text of a message is empty");
    }
    if (text.size > VYRE_LIMIT_MESSAGE_BYTES) {
        return FAIL(error, 701, "shorten it, or use several", "the text has %zu bytes, at most %d",
                    text.size, VYRE_LIMIT_MESSAGE_BYTES);
    }
    size_t wrong = vyre_utf8_check(text.data, text.size);
    for (size_t i = 0; i < wrong; i++) {
        unsigned char c = (unsigned char)text.data[i];
        wrong = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? i : wrong;
    }
    return wrong == text.size || FAIL(error, 105, "write it in UTF-8, with \\n and \\t alone",
                                      "byte %zu of the text cannot be shown", wrong);
}

static bool check_values(vyre_str text, const vyre_type *types, uint32_t count,
                         vyre_rule_error *error) {
    uint32_t places = 0;
    part found;
    for (size_t at = 0; (found = next_part(text, &at)).kind != PART_END;) {
        if (found.kind == PART_WRONG) {
            bool opens = text.data[found.at] == '{';
            return FAIL(error, 309,
                        opens ? "write `{}` or `{:x}` for a value, and `{{` for a brace"
                              : "write `}}` for a brace",
                        "the text has a single `%c`", opens ? '{' : '}');
        }
        if (found.kind == PART_HEX && places < count &&
            !(vyre_lookup_class(types[places]) & VYRE_CLASS_INTEGER)) {
            return FAIL(error, 301, "write `{}`, or convert the value",
                        "`{:x}` shows integers, and "
                        "value %u is %s",
                        places + 1, vyre_type_name(types[places]));
        }
        places += found.kind != PART_TEXT;
    }
    return places == count || FAIL(error, 303, "write one `{}` for each value",
                                   "the text has %u placeholder%s for %u value%s", places,
                                   places == 1 ? "" : "s", count, count == 1 ? "" : "s");
}

bool vyre_message_check(vyre_op op, vyre_str text, const vyre_type *types, uint32_t count,
                        vyre_rule_error *error) {
    uint32_t head = vyre_message_head(op);
    *error = (vyre_rule_error){0};
    if (count < head || (head && types[0] != VYRE_TYPE_BOOL)) {
        return FAIL(error, 301, "write a condition, as in `assert(i < n, \"i = {}\", i);`",
                    "the condition of `assert` is %s, expected bool",
                    count < head ? "missing" : vyre_type_name(types[0]));
    }
    if (count - head > VYRE_LIMIT_MESSAGE_VALUES) {
        return FAIL(error, 701, "show fewer, or use several", "there are %u values, at most %d",
                    count - head, VYRE_LIMIT_MESSAGE_VALUES);
    }
    return check_text(text, error) && check_values(text, types + head, count - head, error);
}

/* Output */

void vyre_bits_print(vyre_strbuf *out, vyre_type type, uint64_t bits) {
    vyre_type_class kind = vyre_lookup_class(type);
    uint64_t number = vyre_const_extended(&(vyre_const){.bits = bits, .type = type});
    bool is_negative = kind == VYRE_CLASS_SIGNED && number >> 63;
    if (kind == VYRE_CLASS_BOOL) {
        vyre_strbuf_puts(out, bits ? "true" : "false");
    } else if (kind == VYRE_CLASS_FLOAT) {
        vyre_float_print(out, vyre_type_format(type), bits);
    } else {
        vyre_strbuf_puts(out, is_negative ? "-" : "");
        vyre_strbuf_u64(out, is_negative ? 0 - number : number);
    }
}

void vyre_message_format(vyre_strbuf *out, vyre_str text, const vyre_type *types,
                         const uint64_t *bits) {
    uint32_t value = 0;
    part found;
    for (size_t at = 0; (found = next_part(text, &at)).kind != PART_END;) {
        if (found.kind == PART_TEXT) {
            vyre_strbuf_add(out, text.data + found.at, found.size);
        } else if (found.kind == PART_HEX) {
            vyre_strbuf_printf(out, "0x%llx", (unsigned long long)bits[value++]);
        } else {
            vyre_bits_print(out, types[value], bits[value]);
            value++;
        }
    }
}

void vyre_message_quote(vyre_strbuf *out, vyre_str text) {
    vyre_strbuf_putc(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '\n' || c == '\t') {
            vyre_strbuf_puts(out, c == '\n' ? "\\n" : "\\t");
            continue;
        }
        vyre_strbuf_puts(out, c == '"' || c == '\\' ? "\\" : "");
        vyre_strbuf_putc(out, c);
    }
    vyre_strbuf_putc(out, '"');
}

bool vyre_message_is_table(const vyre_ir *ir, uint32_t resource) {
    bool found = false;
    for (uint32_t i = 0; i < ir->inst_count && !found; i++) {
        const vyre_inst *inst = &ir->insts[i];
        found = vyre_inst_has_resource(inst) && !vyre_op_is_message(inst->op) &&
                vyre_access_resource(inst) == resource;
    }
    return found;
}

void vyre_message_find_tables(const vyre_ir *ir, bool *out_is_table) {
    memset(out_is_table, 0, ir->resource_count * sizeof *out_is_table);
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        if (vyre_inst_has_resource(inst) && !vyre_op_is_message(inst->op)) {
            out_is_table[vyre_access_resource(inst)] = true;
        }
    }
}
