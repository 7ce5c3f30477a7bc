#include "values/bind.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/near.h"
#include "base/status.h"
#include "base/units.h"
#include "ir/lookup.h"
#include "ir/print.h"
#include "ir/program.h"
#include "ir/size.h"
#include "values/buffer.h"
#include "values/element.h"

static const char *name_of(const vyre_ir *ir, uint32_t arg) {
    return ir->strings + ir->args[arg].name;
}

static vyre_status unknown_name(const values_binding *binding, vyre_str name) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    const char *program = vyre_program_name(binding->program);
    vyre_strbuf fix = {0};
    vyre_near near;
    vyre_near_init(&near, name);
    vyre_strbuf_printf(&fix, "`%s` takes", program);
    size_t count = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (!vyre_ir_is_out(ir, i)) {
            vyre_near_add(&near, (vyre_str){name_of(ir, i), strlen(name_of(ir, i))});
            vyre_strbuf_puts(&fix, count++ ? ", `" : " `");
            vyre_argument_print(&fix, ir, i);
            vyre_strbuf_putc(&fix, '`');
        }
    }
    vyre_strbuf_puts(&fix, count ? "" : " no argument");
    vyre_status status =
        vyre_near_refuse(&near, vyre_strbuf_string(&fix), "`%s` has no argument `%.*s`", program,
                         (int)name.size, name.data);
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status bind_value(values_binding *binding, uint32_t arg, const char *value) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    const char *name = name_of(ir, arg);
    vyre_type type = values_argument_type(ir, arg);
    vyre_strbuf *bytes = &binding->bytes[arg];
    if (vyre_ir_is_out(ir, arg)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                "`%s` is an `out` buffer, which starts as zeros and takes no value",
                                name);
    }
    if (binding->given[arg]) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give it once", "`%s` has two values",
                                name);
    }
    binding->given[arg] = true;
    if (ir->args[arg].resource == VYRE_NONE) {
        uint64_t bits;
        VYRE_TRY(values_element_parse(name, type, (vyre_str){value, strlen(value)}, &bits));
        values_element_store(bytes, type, bits);
        uint32_t unused = 64 - vyre_type_bytes(type) * 8;
        binding->numbers[arg] = vyre_type_class_of(type) == VYRE_CLASS_SIGNED
                                    ? (uint64_t)((int64_t)(bits << unused) >> unused)
                                    : bits;
    } else {
        static const char words[] = "words:";
        bool is_words = !strncmp(value, words, sizeof words - 1);
        uint32_t element_bytes = vyre_arg_bytes(ir, &ir->args[arg]);
        values_buffer_source source = {name,
                                       type,
                                       element_bytes / vyre_type_bytes(type),
                                       arg,
                                       &binding->stdin_used,
                                       &binding->shapes[arg]};
        binding->has_words |= is_words;
        VYRE_TRY(is_words ? values_words_make(name, type, value + sizeof words - 1, bytes,
                                              &binding->automaton)
                          : values_buffer_parse(&source, value, bytes, &binding->offsets[arg]));
        binding->numbers[arg] = (bytes->size - binding->offsets[arg]) / element_bytes;
    }
    return bytes->failed
               ? vyre_no_memory("for the arguments of `%s`", vyre_program_name(binding->program))
               : VYRE_OK;
}

static vyre_status bind_word(values_binding *binding, const char *word) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    vyre_str name = {word, strcspn(word, "=")};
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const char *here = name_of(ir, i);
        if (strlen(here) == name.size && !memcmp(here, name.data, name.size)) {
            return bind_value(binding, i, word + name.size + 1);
        }
    }
    return unknown_name(binding, name);
}

static vyre_status refuse_missing(values_binding *binding) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    vyre_strbuf list = {0}, fix = {0};
    size_t count = 0;
    vyre_strbuf_puts(&fix, "add, for instance,");
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (!vyre_ir_is_out(ir, i) && !binding->given[i]) {
            vyre_strbuf_puts(&list, count++ ? ", `" : "`");
            vyre_argument_print(&list, ir, i);
            vyre_strbuf_putc(&list, '`');
            vyre_strbuf_putc(&fix, ' ');
            values_bind_example(binding, i, &fix);
        }
    }
    vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                          "%zu argument%s of `%s` ha%s no value: %s", count,
                                          vyre_plural(count), vyre_program_name(binding->program),
                                          count == 1 ? "s" : "ve", vyre_strbuf_string(&list));
    vyre_strbuf_free(&list);
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status fill_missing(values_binding *binding) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    vyre_status status = VYRE_OK;
    vyre_strbuf word = {0};
    for (uint32_t i = 0; i < ir->arg_count && !status; i++) {
        if (!vyre_ir_is_out(ir, i) && !binding->given[i]) {
            vyre_strbuf_cut(&word, 0);
            values_bind_example(binding, i, &word);
            vyre_strbuf_printf(&binding->filled, "%s%s", binding->filled.size ? " " : "",
                               vyre_strbuf_string(&word));
            status = word.failed ? vyre_no_memory("for the arguments of `%s`",
                                                  vyre_program_name(binding->program))
                                 : bind_word(binding, vyre_strbuf_string(&word));
        }
    }
    vyre_strbuf_free(&word);
    return status;
}

/* Words come with the two numbers that belong to their automaton. */
static vyre_status bind_automaton(values_binding *binding) {
    const struct {
        const char *name;
        uint32_t number;
    } numbers[] = {{"accept", binding->automaton.accept}, {"overlap", binding->automaton.overlap}};
    const vyre_ir *ir = vyre_program_ir(binding->program);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            if (!binding->given[i] && ir->args[i].resource == VYRE_NONE &&
                !strcmp(name_of(ir, i), numbers[k].name)) {
                char text[16];
                snprintf(text, sizeof text, "%u", numbers[k].number);
                VYRE_TRY(bind_value(binding, i, text));
            }
        }
    }
    return VYRE_OK;
}

static vyre_status bind_missing(values_binding *binding, values_missing missing) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    bool complete = true;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        complete = complete && (vyre_ir_is_out(ir, i) || binding->given[i]);
    }
    if (complete) {
        return VYRE_OK;
    }
    values_bind_scale(binding);
    return missing == VALUES_MISSING_FILLED ? fill_missing(binding) : refuse_missing(binding);
}

vyre_status values_bind(values_binding *binding, const vyre_program *program,
                        const char *const *words, size_t count, bool stdin_used,
                        values_missing missing) {
    const vyre_ir *ir = vyre_program_ir(program);
    *binding = (values_binding){.program = program, .stdin_used = stdin_used};
    binding->bytes = vyre_alloc_zeroed(ir->arg_count, sizeof *binding->bytes);
    binding->offsets = vyre_alloc_zeroed(ir->arg_count, sizeof *binding->offsets);
    binding->given = vyre_alloc_zeroed(ir->arg_count, sizeof *binding->given);
    binding->numbers = vyre_alloc_zeroed(ir->arg_count, sizeof *binding->numbers);
    binding->shapes = vyre_alloc_zeroed(ir->arg_count, sizeof *binding->shapes);
    binding->inputs = vyre_alloc_zeroed(ir->arg_count, sizeof *binding->inputs);
    if (!binding->bytes || !binding->offsets || !binding->given || !binding->numbers ||
        !binding->shapes || !binding->inputs) {
        return vyre_no_memory("for the arguments of `%s`", vyre_program_name(binding->program));
    }
    for (size_t i = 0; i < count; i++) {
        VYRE_TRY(bind_word(binding, words[i]));
    }
    if (binding->has_words) {
        VYRE_TRY(bind_automaton(binding));
    }
    VYRE_TRY(bind_missing(binding, missing));
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (!vyre_ir_is_out(ir, i)) {
            const vyre_strbuf *bytes = &binding->bytes[i];
            size_t size = bytes->size - binding->offsets[i];
            binding->inputs[binding->input_count++] =
                (vyre_input){size ? bytes->data + binding->offsets[i] : NULL, size};
        }
    }
    return VYRE_OK;
}

vyre_status values_bind_length(const values_binding *binding, uint32_t arg, uint64_t *out) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    uint32_t size = ir->resources[ir->args[arg].resource].size;
    *out = binding->numbers[arg];
    return vyre_ir_is_out(ir, arg) && size != VYRE_NONE
               ? vyre_size_eval(binding->program, size, binding->numbers, out)
               : VYRE_OK;
}

/* Whether a declared length is that of another argument, for all values of the arguments. */
static bool is_length_of(const vyre_ir *ir, uint32_t size, uint32_t arg) {
    const vyre_size_node *node = &ir->sizes[size];
    if (node->op == VYRE_SIZE_LEN && node->a == arg) {
        return true;
    }
    uint32_t other = ir->resources[ir->args[arg].resource].size;
    if (other == VYRE_NONE) {
        return false;
    }
    vyre_strbuf here = {0}, there = {0};
    vyre_size_print(&here, ir, size);
    vyre_size_print(&there, ir, other);
    bool same = !here.failed && !there.failed &&
                !strcmp(vyre_strbuf_string(&here), vyre_strbuf_string(&there));
    vyre_strbuf_free(&here);
    vyre_strbuf_free(&there);
    return same;
}

const values_shape *values_bind_shape(const values_binding *binding, uint32_t arg) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    uint32_t size = ir->resources[ir->args[arg].resource].size;
    if (!vyre_ir_is_out(ir, arg)) {
        return binding->shapes[arg].is_known ? &binding->shapes[arg] : NULL;
    }
    for (uint32_t i = 0; size != VYRE_NONE && i < ir->arg_count; i++) {
        if (binding->shapes[i].is_known && is_length_of(ir, size, i)) {
            return &binding->shapes[i];
        }
    }
    return NULL;
}

void values_binding_deinit(values_binding *binding) {
    for (uint32_t i = 0; binding->bytes && i < vyre_program_ir(binding->program)->arg_count; i++) {
        vyre_strbuf_free(&binding->bytes[i]);
    }
    vyre_free(binding->bytes);
    vyre_free(binding->offsets);
    vyre_free(binding->given);
    vyre_free(binding->numbers);
    vyre_free(binding->shapes);
    vyre_free(binding->inputs);
    vyre_strbuf_free(&binding->filled);
    *binding = (values_binding){0};
}
