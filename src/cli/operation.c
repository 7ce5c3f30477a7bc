#include "cli/operation.h"

#include <string.h>

#include <vyre/emit.h>
#include <vyre/run.h>

#include "base/near.h"
#include "base/page.h"
#include "dialect/law.h"
#include "dialect/target.h"
#include "ir/size.h"

bool cli_operation_is_id(const char *word) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    const char *last = strrchr(word, '.');
    if (!last || !strcmp(last, ".vyre") || !strcmp(last, ".vyreb")) {
        return false;
    }
    for (;;) {
        size_t size = strspn(word, letters);
        if (size && word[size] == '<') { /* the types of an instance */
            return strspn(word + size, "<>,abcdefghijklmnopqrstuvwxyz0123456789") ==
                       strlen(word + size) &&
                   word[strlen(word) - 1] == '>';
        }
        if (!size || (word[size] && word[size] != '.')) {
            return false;
        }
        if (!word[size]) {
            return true;
        }
        word += size + 1;
    }
}

vyre_status cli_operation_opaque(const vyre_operation *operation) {
    bool is_host = operation->category == VYRE_CATEGORY_INTRINSIC;
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            is_host ? "run it with `vyre run`" : "register it with a program",
                            "`%s` has no program: %s", operation->id,
                            is_host ? "the host executes it" : "it was registered without one");
}

static vyre_status unknown_variant(const vyre_operation *operation, const char *variant) {
    vyre_strbuf fix = {0};
    vyre_near near;
    vyre_near_init(&near, (vyre_str){variant, strlen(variant)});
    vyre_near_add(&near, (vyre_str){operation->entry, strlen(operation->entry)});
    vyre_strbuf_printf(&fix, "there is `%s`", operation->entry);
    for (size_t i = 0; i < operation->variant_count; i++) {
        const char *entry = operation->variants[i].entry;
        vyre_near_add(&near, (vyre_str){entry, strlen(entry)});
        vyre_strbuf_printf(&fix, ", `%s`", entry);
    }
    vyre_near_print(&near, &fix, "; perhaps ");
    vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                          "`%s` has no variant `%s`", operation->id, variant);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status cli_operation_program(const vyre_operation *operation, const char *variant,
                                  const vyre_device *device, const vyre_program **out_program) {
    *out_program = NULL;
    if (!vyre_operation_has_program(operation)) {
        return cli_operation_opaque(operation);
    }
    if (!variant && device) {
        return vyre_operation_choose(operation, device, out_program);
    }
    if (!variant || !strcmp(variant, operation->entry)) {
        return vyre_operation_program(operation, NULL, out_program);
    }
    for (size_t i = 0; i < operation->variant_count; i++) {
        if (!strcmp(variant, operation->variants[i].entry)) {
            return vyre_operation_program(operation, &operation->variants[i], out_program);
        }
    }
    return unknown_variant(operation, variant);
}

/* Describing */

void cli_describe_length(vyre_strbuf *text, const vyre_operation *operation, size_t index) {
    const vyre_parameter *parameter = &operation->parameters[index];
    const vyre_program *program;
    vyre_status status = vyre_operation_program(operation, NULL, &program);
    const vyre_ir *ir = program ? vyre_program_ir(program) : NULL;
    for (uint32_t i = 0; parameter->is_buffer && ir && i < ir->arg_count; i++) {
        const vyre_arg *arg = &ir->args[i];
        if (arg->resource != VYRE_NONE && ir->resources[arg->resource].size != VYRE_NONE &&
            !strcmp(ir->strings + arg->name, parameter->name)) {
            vyre_size_print(text, ir, ir->resources[arg->resource].size);
        }
    }
    text->failed |= status != NULL;
    vyre_status_free(status);
}

static void describe(vyre_strbuf *text, const vyre_operation *operation, size_t index,
                     const char *access) {
    const vyre_parameter *parameter = &operation->parameters[index];
    vyre_strbuf length = {0};
    cli_describe_length(&length, operation, index);
    vyre_strbuf_printf(text, "%s: %s", parameter->name, access);
    vyre_strbuf_printf(text, parameter->is_buffer ? "buffer<%s>" : "%s",
                       vyre_type_name(parameter->type));
    vyre_strbuf_printf(text, length.size ? "[%s]" : "%s", vyre_strbuf_string(&length));
    text->failed |= length.failed;
    vyre_strbuf_free(&length);
}

static const char *access_of(const vyre_parameter *parameter) {
    return parameter->role == VYRE_ROLE_UPDATED                          ? "inout "
           : parameter->role == VYRE_ROLE_OUTPUT && parameter->is_buffer ? "out "
                                                                         : "";
}

void cli_describe_parameter(vyre_strbuf *text, const vyre_operation *operation, size_t index) {
    describe(text, operation, index, access_of(&operation->parameters[index]));
}

void cli_describe_signature(vyre_strbuf *text, const vyre_operation *operation) {
    for (int out = 0; out < 2; out++) {
        size_t count = 0;
        for (size_t i = 0; i < operation->parameter_count; i++) {
            const vyre_parameter *parameter = &operation->parameters[i];
            if ((parameter->role == VYRE_ROLE_OUTPUT) == out) {
                vyre_strbuf_puts(text, count++ ? ", " : out ? " -> (" : "(");
                describe(text, operation, i, out ? "" : access_of(parameter));
            }
        }
        vyre_strbuf_puts(text, count ? ")" : out ? "" : "()");
    }
}

void cli_describe_operation(vyre_strbuf *text, const vyre_operation *operation, size_t indent,
                            size_t column) {
    enum { KEPT = '\x1f' }; /* in place of a space at which no line may end */
    vyre_strbuf words = {0};
    int depth = 0;
    size_t start = text->size;
    vyre_strbuf_puts(&words, operation->id);
    cli_describe_signature(&words, operation);
    for (char *at = words.data; at && *at; at++) {
        depth += (*at == '[') - (*at == ']');
        bool may_end = !depth && at > words.data && (at[-1] == ',' || at[1] == '-');
        *at = *at == ' ' && !may_end ? KEPT : *at;
    }
    vyre_page_wrap(text, vyre_strbuf_string(&words), indent, column);
    for (size_t i = start; i < text->size; i++) {
        text->data[i] = text->data[i] == KEPT ? ' ' : text->data[i];
    }
    text->failed |= words.failed;
    vyre_strbuf_free(&words);
}

void cli_describe_laws(vyre_strbuf *text, const vyre_operation *operation) {
    for (size_t i = 0; i < operation->law_count; i++) {
        vyre_strbuf_puts(text, i ? ", " : "");
        vyre_law_print(text, &operation->laws[i]);
    }
}

static void add_target(const char *id, cli_targets *targets) {
    for (size_t i = 0; i < targets->count; i++) {
        if (!strcmp(targets->ids[i], id)) {
            return;
        }
    }
    if (targets->count < CLI_TARGETS_MAX) {
        targets->ids[targets->count++] = id;
    }
}

/* As vyre_dialects_get_lowering finds them, without building a program for it. */
void cli_operation_targets(const vyre_operation *operation, cli_targets *out_targets) {
    bool has_program = vyre_operation_has_program(operation);
    const vyre_emitter *emitter;
    *out_targets = (cli_targets){0};
    for (int kind = 0; kind < VYRE_TARGET_EXTENSION && has_program; kind++) {
        const char *id = vyre_target_id((vyre_target){.kind = (vyre_target_kind)kind});
        if (vyre_emitter_find(id)) {
            add_target(id, out_targets);
        }
    }
    for (size_t i = 0; has_program && (emitter = vyre_emitter_at(i)); i++) {
        add_target(emitter->target, out_targets);
    }
    add_target(vyre_target_id((vyre_target){.kind = VYRE_TARGET_REFERENCE_BACKEND}), out_targets);
    for (size_t i = 0; i < operation->lowering_count; i++) {
        add_target(vyre_target_id(operation->lowerings[i].target), out_targets);
    }
}

void cli_describe_targets(vyre_strbuf *text, const vyre_operation *operation) {
    cli_targets targets;
    cli_operation_targets(operation, &targets);
    for (size_t i = 0; i < targets.count; i++) {
        vyre_strbuf_printf(text, "%s%s", i ? ", " : "",
                           vyre_target_words(vyre_target_read(targets.ids[i])));
    }
}

const char *cli_category_name(vyre_category category) {
    static const char *const names[] = {
#define NAME(name, text) [VYRE_CATEGORY_##name] = text,
        VYRE_CATEGORIES(NAME)
#undef NAME
    };
    return names[category];
}

const char *cli_form_name(vyre_operation_form form) {
    static const char *const names[] = {[VYRE_OPERATION_NAME] = "name",
                                        [VYRE_OPERATION_PROGRAM] = "program",
                                        [VYRE_OPERATION_FUNCTION] = "function"};
    return names[form];
}
