#include "cli/host.h"

#include <string.h>

#include <vyre/io.h>
#include <vyre/text.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "cli/operation.h"

/* A program that does nothing, with the operation's arguments: what binds and prints values knows
 * programs alone. */
static vyre_status make_shape(const vyre_operation *operation, vyre_program **out_program) {
    vyre_strbuf text = {0};
    vyre_module *module = NULL;
    vyre_strbuf_puts(&text, "program ");
    for (const char *at = operation->id; *at; at++) {
        vyre_strbuf_putc(&text, *at == '.' ? '_' : *at);
    }
    vyre_strbuf_putc(&text, '(');
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        bool is_output = parameter->role == VYRE_ROLE_OUTPUT;
        vyre_strbuf_printf(&text, "%s%s: %s", i ? ", " : "", parameter->name,
                           is_output                              ? "out "
                           : parameter->role == VYRE_ROLE_UPDATED ? "inout "
                                                                  : "");
        vyre_strbuf_printf(&text, parameter->is_buffer ? "buffer<%s>%s" : "%s%s",
                           vyre_type_name(parameter->type), is_output ? "[1]" : "");
    }
    vyre_strbuf_puts(&text, ") over 1 { }\n");
    vyre_status status =
        text.failed ? vyre_no_memory("for the arguments of `%s`", operation->id)
                    : vyre_module_parse(operation->id, text.data, text.size, NULL, &module);
    if (!status) {
        *out_program = vyre_program_retain(vyre_module_program(module, 0));
        vyre_module_free(module);
    }
    vyre_strbuf_free(&text);
    return status;
}

/* A path as the numbers of its bytes, which is what a buffer of them is written as. */
static void write_path(vyre_strbuf *word, const char *path) {
    vyre_strbuf_puts(word, *path ? "path=" : "path=zeros:0");
    for (const char *at = path; *at; at++) {
        vyre_strbuf_printf(word, "%s%u", at == path ? "" : ",", (unsigned)(unsigned char)*at);
    }
}

static bool is_path(const char *value) {
    return !strncmp(value, "path=", 5);
}

vyre_status cli_host_bind(cli_host_call *call, const vyre_operation *operation,
                          const char *const *values, size_t count) {
    *call = (cli_host_call){.operation = operation};
    VYRE_TRY(make_shape(operation, &call->shape));
    const char **words = vyre_alloc_array(count, sizeof *words);
    vyre_strbuf path = {0};
    for (size_t i = 0; words && i < count; i++) {
        words[i] = values[i];
        if (is_path(values[i]) && !path.size) {
            write_path(&path, values[i] + 5);
        }
    }
    if (words && !path.size) { /* what is missing else is told as of a program, this is no buffer */
        vyre_free(words);
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "name the file, as in path=weights.bin", "`%s` has no path",
                                operation->id);
    }
    for (size_t i = 0; words && i < count; i++) {
        words[i] = is_path(values[i]) ? vyre_strbuf_string(&path) : words[i];
    }
    vyre_status status = words && !path.failed ? values_bind(&call->binding, call->shape, words,
                                                             count, false, VALUES_MISSING_REFUSED)
                                               : vyre_no_memory("for the command line");
    vyre_free(words);
    vyre_strbuf_free(&path);
    return status;
}

/* Those of the library tell which way the bytes went. */
static vyre_status move_bytes(cli_host_call *call, bool is_write) {
    const vyre_input *inputs = call->binding.inputs;
    uint64_t offset, size;
    vyre_strbuf path = {0};
    vyre_io_report report = {.why = ""};
    memcpy(&offset, inputs[1].data, sizeof offset);
    vyre_strbuf_add(&path, inputs[0].data, inputs[0].size);
    vyre_status status = VYRE_OK;
    if (is_write) {
        status = vyre_io_write(inputs[2].data, inputs[2].size, vyre_strbuf_string(&path), offset,
                               &report);
    } else {
        memcpy(&size, inputs[2].data, sizeof size);
        call->outputs.items = vyre_alloc_zeroed(1, sizeof *call->outputs.items);
        uint8_t *data = size < SIZE_MAX ? vyre_alloc((size_t)size) : NULL;
        if (call->outputs.items && data) {
            call->outputs.count = 1;
            call->outputs.items[0] = (vyre_output){data, (size_t)size};
            status = vyre_io_read(data, (size_t)size, vyre_strbuf_string(&path), offset, &report);
        } else {
            vyre_free(data);
            status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "ask for fewer bytes",
                                      "no memory for %llu bytes", (unsigned long long)size);
        }
    }
    call->time_ns = report.time_ns;
    vyre_strbuf_printf(&call->way, "%s%s%s", vyre_io_way_name(report.way), *report.why ? ": " : "",
                       report.why);
    vyre_strbuf_free(&path);
    return status;
}

vyre_status cli_host_do(cli_host_call *call) {
    bool is_read = !strcmp(call->operation->id, "io.dma_from_nvme");
    if (is_read || !strcmp(call->operation->id, "io.write_back_to_nvme")) {
        return move_bytes(call, !is_read);
    }
    for (size_t i = 0; i < call->operation->lowering_count; i++) {
        const vyre_lowering *lowering = &call->operation->lowerings[i];
        if (lowering->reference) {
            uint64_t start = vyre_now_ns();
            vyre_status status = lowering->reference(call->operation, call->binding.inputs,
                                                     call->binding.input_count, &call->outputs);
            call->time_ns = vyre_now_ns() - start;
            return status;
        }
    }
    return cli_operation_opaque(call->operation);
}

void cli_host_deinit(cli_host_call *call) {
    vyre_outputs_free(&call->outputs);
    values_binding_deinit(&call->binding);
    vyre_program_release(call->shape);
    vyre_strbuf_free(&call->way);
}
