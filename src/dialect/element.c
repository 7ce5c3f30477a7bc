#include "dialect/element.h"

#include <string.h>

static vyre_type stored(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}

static bool is_taken(const vyre_module_function *function, const char *name) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        if (!strcmp(function->parameters[i].name, name)) {
            return true;
        }
    }
    return false;
}

void vyre_element_result(vyre_strbuf *text, const vyre_module_function *function, uint32_t result) {
    vyre_strbuf name = {0};
    vyre_strbuf_puts(&name, "result");
    if (function->result_count > 1) {
        vyre_strbuf_u64(&name, result);
    }
    while (!name.failed && is_taken(function, name.data)) {
        vyre_strbuf_putc(&name, '_');
    }
    vyre_strbuf_puts(text, vyre_strbuf_string(&name));
    text->failed |= name.failed;
    vyre_strbuf_free(&name);
}

/* The first parameter that has an element each invocation. */
static const char *leader(const vyre_module_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        if (!function->parameters[i].is_buffer) {
            return function->parameters[i].name;
        }
    }
    return NULL;
}

static void print_size(vyre_strbuf *text, const char *first) {
    if (first) {
        vyre_strbuf_printf(text, "[len(%s)]", first);
    } else {
        vyre_strbuf_puts(text, "[1]");
    }
}

static void print_arguments(vyre_strbuf *text, const vyre_module_function *function,
                            const char *first) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const vyre_module_value *parameter = &function->parameters[i];
        vyre_strbuf_printf(text, "%s%s: %sbuffer<%s>", i ? ", " : "", parameter->name,
                           parameter->is_written ? "inout " : "",
                           vyre_type_name(stored(parameter->type)));
        if (!parameter->is_buffer && parameter->name != first) {
            print_size(text, first);
        }
    }
    for (uint32_t i = 0; i < function->result_count; i++) {
        vyre_strbuf_puts(text, i || function->parameter_count ? ", " : "");
        vyre_element_result(text, function, i);
        vyre_strbuf_printf(text, ": out buffer<%s>",
                           vyre_type_name(stored(function->results[i].type)));
        print_size(text, first);
    }
}

static void print_call(vyre_strbuf *text, const vyre_module_function *function) {
    vyre_strbuf_printf(text, "%s(", function->name);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const vyre_module_value *parameter = &function->parameters[i];
        bool is_bool = parameter->type == VYRE_TYPE_BOOL;
        vyre_strbuf_printf(text, "%s%s%s%s", i ? ", " : "", parameter->name,
                           parameter->is_buffer ? "" : "[gid]",
                           is_bool && !parameter->is_buffer ? " != 0" : "");
    }
    vyre_strbuf_puts(text, ");");
}

void vyre_element_print(vyre_strbuf *text, const vyre_module_function *function, const char *name) {
    const char *first = leader(function);
    vyre_strbuf_printf(text, "program %s(", name);
    print_arguments(text, function, first);
    vyre_strbuf_printf(text, ") over %s {\n    ", first ? first : "1");
    for (uint32_t i = 0; i < function->result_count; i++) {
        vyre_strbuf_puts(text, i ? ", " : function->result_count > 1 ? "let (" : "let ");
        vyre_strbuf_printf(text, "value%u_", i);
    }
    vyre_strbuf_puts(text, function->result_count > 1 ? ") = "
                           : function->result_count   ? " = "
                                                      : "");
    print_call(text, function);
    for (uint32_t i = 0; i < function->result_count; i++) {
        bool is_bool = function->results[i].type == VYRE_TYPE_BOOL;
        vyre_strbuf_puts(text, "\n    ");
        vyre_element_result(text, function, i);
        vyre_strbuf_printf(text, is_bool ? "[gid] = u8(value%u_);" : "[gid] = value%u_;", i);
    }
    vyre_strbuf_puts(text, "\n}\n");
}
