/* What the sources of a package say: signatures, and the programs that operations mean. */
#include "dialect/package.h"

#include <string.h>

#include "base/near.h"
#include "base/status.h"
#include "dialect/element.h"
#include "ir/program.h"
#include "text/module.h"

/* A source, read twice where functions of it are operations: as it is, and what stands behind it
 * then, a program for each of them. */
typedef struct reading {
    vyre_package *package;
    const vyre_library *library; /* what the source may call */
    const vyre_package_source *source;
    vyre_module *module, *extended;
    vyre_strbuf text;                 /* with those programs */
    VYRE_VEC(const char *) instances; /* of generic programs, among the entries */
} reading;

void vyre_package_unresolve(vyre_package *package) {
    for (size_t i = 0; i < package->programs.count; i++) {
        vyre_program_release(package->programs.items[i]);
    }
    vyre_vec_free(&package->programs);
    vyre_arena_deinit(&package->resolved);
    for (size_t i = 0; i < package->operation_count; i++) {
        vyre_operation *operation = &package->operations[i];
        operation->parameters = NULL;
        operation->parameter_count = 0;
        operation->built = NULL;
        for (size_t k = 0; k < operation->variant_count; k++) {
            ((vyre_variant *)(uintptr_t)operation->variants)[k].built = NULL;
        }
    }
}

/* Text into a module; what is wrong with it becomes mistakes of the package, and there is none. */
static vyre_status parse(reading *r, const char *text, size_t size, size_t from,
                         vyre_module **out_module) {
    vyre_package *package = r->package;
    const char *path = r->source->path;
    vyre_diagnostics *diagnostics;
    VYRE_TRY(vyre_diagnostics_create(&diagnostics));
    vyre_status status = VYRE_OK;
    vyre_parse_options options = {.library = r->library,
                                  .from = from,
                                  .instances = r->instances.items,
                                  .instance_count = from ? 0 : r->instances.count};
    vyre_status failure =
        vyre_module_parse_with(&options, path, text, size, diagnostics, out_module);
    if (failure && (vyre_status_code_of(failure) == VYRE_STATUS_OUT_OF_MEMORY ||
                    !vyre_diagnostics_errors(diagnostics))) {
        status = vyre_package_mistake(package, (vyre_package_place){0}, failure);
        failure = VYRE_OK;
    }
    for (size_t i = 0; i < vyre_diagnostics_count(diagnostics) && failure && !status; i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(diagnostics, i);
        if (item->severity == VYRE_SEVERITY_ERROR) {
            vyre_status mistake = vyre_status_make(VYRE_STATUS_INVALID_PROGRAM, item->fix,
                                                   "V%04u: %s", item->code, item->message);
            mistake =
                vyre_status_at(mistake, item->file ? item->file : path, item->line, item->column);
            status = vyre_package_mistake(package, (vyre_package_place){0}, mistake);
        }
    }
    vyre_status_free(failure);
    vyre_diagnostics_free(diagnostics);
    return status;
}

static vyre_status no_entry(const reading *r, const char *entry) {
    vyre_near near;
    vyre_strbuf fix = {0};
    vyre_near_init(&near, vyre_str_of(entry));
    for (size_t i = 0; i < vyre_module_count(r->module); i++) {
        vyre_near_add(&near, vyre_str_of(vyre_program_name(vyre_module_program(r->module, i))));
    }
    const vyre_module_function *function;
    for (size_t i = 0; (function = vyre_module_function_at(r->module, i)); i++) {
        vyre_near_add(&near, vyre_str_of(function->name));
    }
    vyre_strbuf_puts(&fix, "name a program or fn of that file with `entry`");
    vyre_near_print(&near, &fix, ", perhaps ");
    vyre_status status =
        vyre_status_make(VYRE_STATUS_NOT_FOUND, vyre_strbuf_string(&fix),
                         "%s has neither a program nor a fn `%s`", r->source->path, entry);
    vyre_strbuf_free(&fix);
    return status;
}

/* The name of the program for a function, one that the file does not have. */
static void print_element_name(vyre_strbuf *text, const reading *r, const vyre_operation *operation,
                               const vyre_variant *variant) {
    vyre_strbuf name = {0};
    vyre_strbuf_printf(&name, "%s%s%s", operation->id, variant ? "_" : "",
                       variant ? variant->entry : "");
    for (size_t i = 0; i < name.size; i++) {
        name.data[i] = name.data[i] == '.' ? '_' : name.data[i];
    }
    while (!name.failed && vyre_module_has(r->module, name.data)) {
        vyre_strbuf_putc(&name, '_');
    }
    vyre_strbuf_puts(text, vyre_strbuf_string(&name));
    text->failed |= name.failed;
    vyre_strbuf_free(&name);
}

/* Calls for each entry of the operations in this source: variants too, the operation's own first
 * with none. */
typedef vyre_status (*visit)(reading *r, vyre_operation *operation, vyre_variant *variant,
                             vyre_package_place place);

static vyre_status each_entry(reading *r, visit visitor) {
    vyre_package *package = r->package;
    for (size_t i = 0; i < package->operation_count; i++) {
        vyre_operation *operation = &package->operations[i];
        const vyre_package_row *row = &package->rows[i];
        if (row->source != (size_t)(r->source - package->sources.items)) {
            continue;
        }
        VYRE_TRY(visitor(r, operation, NULL, row->entry));
        for (size_t k = 0; k < operation->variant_count; k++) {
            vyre_variant *variant = (vyre_variant *)(uintptr_t)&operation->variants[k];
            VYRE_TRY(visitor(r, operation, variant, row->variants[k]));
        }
    }
    return VYRE_OK;
}

static vyre_status append_element(reading *r, vyre_operation *operation, vyre_variant *variant,
                                  vyre_package_place place) {
    const char *entry = variant ? variant->entry : operation->entry;
    const vyre_module_function *function = vyre_module_find_function(r->module, entry);
    if (!function) {
        return vyre_module_find(r->module, entry)
                   ? VYRE_OK
                   : vyre_package_mistake(r->package, place, no_entry(r, entry));
    }
    if (!function->is_elementwise) {
        return vyre_package_mistake(
            r->package, place,
            vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                             "take and return single numbers, or call it from a function that does",
                             "the fn `%s` has a vector, a struct or an inout variable among its "
                             "parameters or results",
                             entry));
    }
    if (!r->text.size) {
        vyre_strbuf_add(&r->text, r->source->text, r->source->size);
        vyre_strbuf_puts(&r->text, memchr(r->source->text, VYRE_FILE_MARK, r->source->size)
                                       ? VYRE_TEXT_GOES_ON
                                       : "\n");
    }
    vyre_strbuf name = {0};
    print_element_name(&name, r, operation, variant);
    vyre_element_print(&r->text, function, vyre_strbuf_string(&name));
    r->text.failed |= name.failed;
    vyre_strbuf_free(&name);
    return VYRE_OK;
}

/* Signatures */

static vyre_status describe_program(vyre_package *package, const vyre_program *program,
                                    vyre_operation *operation) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_parameter *list =
        vyre_arena_alloc(&package->resolved, (ir->arg_count + (size_t)1) * sizeof *list);
    if (!list) {
        return vyre_package_no_memory(package);
    }
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        static const vyre_role roles[] = {[VYRE_ACCESS_IN] = VYRE_ROLE_INPUT,
                                          [VYRE_ACCESS_INOUT] = VYRE_ROLE_UPDATED,
                                          [VYRE_ACCESS_OUT] = VYRE_ROLE_OUTPUT};
        const vyre_arg *arg = &ir->args[i];
        bool is_buffer = arg->resource != VYRE_NONE;
        list[i] = (vyre_parameter){.name = ir->strings + arg->name,
                                   .role = is_buffer ? roles[ir->resources[arg->resource].access]
                                                     : VYRE_ROLE_ATTRIBUTE,
                                   .type = (vyre_type)arg->type,
                                   .is_buffer = is_buffer};
    }
    operation->parameters = list;
    operation->parameter_count = ir->arg_count;
    return VYRE_OK;
}

static vyre_status describe_function(vyre_package *package, const vyre_module_function *function,
                                     vyre_operation *operation) {
    size_t count = (size_t)function->parameter_count + function->result_count;
    vyre_parameter *list = vyre_arena_alloc(&package->resolved, (count + 1) * sizeof *list);
    vyre_strbuf name = {0};
    for (size_t i = 0; list && i < count; i++) {
        bool is_result = i >= function->parameter_count;
        uint32_t result = (uint32_t)(i - function->parameter_count);
        const vyre_module_value *value =
            is_result ? &function->results[result] : &function->parameters[i];
        vyre_strbuf_cut(&name, 0);
        if (is_result) {
            vyre_element_result(&name, function, result);
        } else {
            vyre_strbuf_puts(&name, value->name);
        }
        list[i] = (vyre_parameter){
            .name = vyre_arena_copy(&package->resolved, vyre_strbuf_string(&name), name.size),
            .role = is_result           ? VYRE_ROLE_OUTPUT
                    : value->is_written ? VYRE_ROLE_UPDATED
                                        : VYRE_ROLE_INPUT,
            .type = value->type,
            .is_buffer = value->is_buffer};
        list = list[i].name ? list : NULL;
    }
    bool stored = list && !name.failed;
    vyre_strbuf_free(&name);
    operation->parameters = list;
    operation->parameter_count = stored ? count : 0;
    return stored ? VYRE_OK : vyre_package_no_memory(package);
}

static vyre_status resolve_entry(reading *r, vyre_operation *operation, vyre_variant *variant,
                                 vyre_package_place place) {
    vyre_package *package = r->package;
    const char *entry = variant ? variant->entry : operation->entry;
    const vyre_module_function *function = vyre_module_find_function(r->module, entry);
    vyre_program *program = vyre_module_find(r->module, entry);
    vyre_strbuf name = {0};
    if (function) {
        print_element_name(&name, r, operation, variant);
        program = vyre_module_find(r->extended, vyre_strbuf_string(&name));
        vyre_strbuf_free(&name);
    }
    if (!program || !vyre_vec_push(&package->programs, program)) {
        return vyre_package_no_memory(package);
    }
    vyre_program_retain(program);
    if (variant) {
        variant->built = program;
        return operation->built && !vyre_program_same_arguments(operation->built, program)
                   ? vyre_package_mistake(
                         package, place,
                         vyre_status_make(VYRE_STATUS_INVALID_PROGRAM,
                                          "give both the same arguments, in the same order",
                                          "the variant `%s` has other arguments than `%s`", entry,
                                          operation->entry))
                   : VYRE_OK;
    }
    operation->built = program;
    return function ? describe_function(package, function, operation)
                    : describe_program(package, program, operation);
}

/* Witnesses and samples */

/* Whether a word of `what`, a witness or a sample, is about an argument that it can be about. */
static vyre_status check_word(const vyre_operation *operation, const char *what, vyre_str name,
                              bool is_expected) {
    vyre_near near;
    vyre_strbuf fix = {0};
    vyre_near_init(&near, name);
    vyre_strbuf_puts(&fix, is_expected ? "outputs are" : "inputs are");
    size_t count = 0;
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        bool fits = parameter->role == VYRE_ROLE_UPDATED ||
                    (parameter->role == VYRE_ROLE_OUTPUT) == is_expected;
        if (fits && vyre_str_is(name, parameter->name)) {
            vyre_strbuf_free(&fix);
            return VYRE_OK;
        }
        if (fits) {
            vyre_near_add(&near, vyre_str_of(parameter->name));
            vyre_strbuf_printf(&fix, "%s `%s`", count++ ? "," : "", parameter->name);
        }
    }
    vyre_strbuf_puts(&fix, count ? "" : " none");
    vyre_near_print(&near, &fix, "; perhaps ");
    vyre_status status =
        vyre_status_make(VYRE_STATUS_MALFORMED, vyre_strbuf_string(&fix),
                         "a %s names `%.*s`, which is not an %s of `%s`", what, (int)name.size,
                         name.data, is_expected ? "output" : "input", operation->id);
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status check_words(vyre_package *package, const vyre_operation *operation,
                               vyre_package_place place, const char *what, const char *words,
                               bool is_expected) {
    vyre_status status = VYRE_OK;
    while (*words && !status) {
        vyre_str name = {words, strcspn(words, "=")};
        status =
            vyre_package_mistake(package, place, check_word(operation, what, name, is_expected));
        words += strcspn(words, "\n");
        words += *words == '\n';
    }
    return status;
}

static vyre_status check_witnesses(vyre_package *package) {
    for (size_t i = 0; i < package->operation_count; i++) {
        const vyre_operation *operation = &package->operations[i];
        for (size_t k = 0; k < operation->witness_count; k++) {
            const vyre_witness *witness = &operation->witnesses[k];
            vyre_package_place place = package->rows[i].witnesses[k];
            VYRE_TRY(check_words(package, operation, place, "witness", witness->arguments, false));
            VYRE_TRY(check_words(package, operation, place, "witness", witness->expected, true));
        }
    }
    return VYRE_OK;
}

/* How many words of a sample are about an argument. */
static size_t count_words(const char *words, const char *name) {
    size_t count = 0, size = strlen(name);
    while (*words) {
        count += strcspn(words, "=") == size && !memcmp(words, name, size);
        words += strcspn(words, "\n");
        words += *words == '\n';
    }
    return count;
}

/* A sample gives every input a value, once. */
static vyre_status check_sample(vyre_package *package, const vyre_operation *operation,
                                vyre_package_place place) {
    VYRE_TRY(check_words(package, operation, place, "sample", operation->sample, false));
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        size_t count = count_words(operation->sample, parameter->name);
        if (parameter->role != VYRE_ROLE_OUTPUT && count != 1) {
            VYRE_TRY(vyre_package_mistake(
                package, place,
                vyre_status_make(VYRE_STATUS_MALFORMED,
                                 count ? "remove one of them" : "add a value, as in \"x=rand:{n}\"",
                                 "the sample of `%s` gives `%s` %s", operation->id, parameter->name,
                                 count ? "two values" : "no value")));
        }
    }
    return VYRE_OK;
}

static vyre_status check_samples(vyre_package *package) {
    for (size_t i = 0; i < package->operation_count; i++) {
        if (package->operations[i].sample) {
            VYRE_TRY(check_sample(package, &package->operations[i], package->rows[i].sample));
        }
    }
    return VYRE_OK;
}

static vyre_status note_instance(reading *r, vyre_operation *operation, vyre_variant *variant,
                                 vyre_package_place place) {
    const char *entry = variant ? variant->entry : operation->entry;
    (void)place;
    return !strchr(entry, '<') || vyre_vec_push(&r->instances, entry)
               ? VYRE_OK
               : vyre_package_no_memory(r->package);
}

static vyre_status resolve_source(vyre_package *package, vyre_package_source *source,
                                  const vyre_library *library) {
    reading r = {.package = package, .library = library, .source = source};
    source->extended = source->text;
    source->extended_size = source->size;
    size_t mistakes = package->mistakes.count;
    vyre_status status = each_entry(&r, note_instance);
    if (!status) {
        status = parse(&r, source->text, source->size, 0, &r.module);
    }
    if (!status && r.module) {
        status = each_entry(&r, append_element);
    }
    if (!status && r.text.failed) {
        status = vyre_package_no_memory(package);
    }
    bool is_right = package->mistakes.count == mistakes;
    if (!status && is_right && r.text.size) {
        status = parse(&r, r.text.data, r.text.size, source->size, &r.extended);
        is_right = package->mistakes.count == mistakes;
        source->extended_size = r.text.size;
        source->extended = vyre_arena_copy(&package->resolved, r.text.data, r.text.size);
        if (!status && !source->extended) {
            status = vyre_package_no_memory(package);
        }
    }
    if (!status && is_right) {
        status = each_entry(&r, resolve_entry);
    }
    vyre_module_free(r.module);
    vyre_module_free(r.extended);
    vyre_strbuf_free(&r.text);
    vyre_vec_free(&r.instances);
    return status;
}

vyre_status vyre_package_resolve(vyre_package *package, const vyre_library *library) {
    vyre_package_unresolve(package);
    for (size_t i = 0; i < package->sources.count; i++) {
        VYRE_TRY(resolve_source(package, &package->sources.items[i], library));
    }
    if (package->mistakes.count) {
        return VYRE_OK;
    }
    VYRE_TRY(check_witnesses(package));
    return check_samples(package);
}
