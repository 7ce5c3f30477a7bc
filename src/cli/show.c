/* vyre show: what a program becomes on its way. */
#include <string.h>

#include <vyre/wire.h>

#include "backend/table.h"
#include "base/json.h"
#include "base/page.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/device.h"
#include "cli/input.h"
#include "cli/output.h"
#include "pass/access.h"
#include "pass/fill.h"
#include "pass/pass.h"
#include "runtime/device.h"
#include "text/module.h"
#include "wire/layout.h"
#include "wire/variants.h"

/* The stages that every program has; behind them come those of the built-in backends. */
enum { STAGE_IR, STAGE_OPT, STAGE_WIRE };

static const cli_choice stages[] = {
    [STAGE_IR] = {"ir", "the verified program as text that parses again, one instruction a line"},
    [STAGE_OPT] = {"opt", "the program after the passes that all backends share"},
    [STAGE_WIRE] = {"wire", "the binary form, for storing and sending"},
#define ROW(name, documentation, function) {name, documentation},
    VYRE_BUILTIN_STAGES(ROW)
#undef ROW
        {NULL, NULL}};

#define OPTIONS(X)                                                                                 \
    X(STAGE, 0, "--stage", "STAGE", stages, "the stage to show (default: ir)")                     \
    X(BACKEND, 'b', "--backend", "DEVICE", NULL,                                                   \
      "show stage opencl or spirv for this device, with the code that corrects its arithmetic: a " \
      "backend's ID, or ID:N for its device N (default: for a device that needs no corrections)")  \
    X(OUTPUT, 'o', "--output", "FILE", NULL, "write to FILE instead of stdout")                    \
    X(LAYOUT, 0, "--layout", NULL, NULL,                                                           \
      "print how the structs of FILE lie in buffers instead: their sizes and the offsets of "      \
      "their "                                                                                     \
      "fields")                                                                                    \
    CLI_VARIANT_OPTION(X)                                                                          \
    X(FORMAT, 0, "--format", "FORMAT", cli_formats,                                                \
      "describe the stage; for wire, list its "                                                    \
      "sections")

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre show kernel.vyre", "print the IR of every program"},
    {"vyre show kernel.vyre --stage opt", "print the IR that backends get"},
    {"vyre show kernel.vyre --stage spirv -b vulkan",
     "print what the Vulkan device of this machine runs"},
    {"vyre show kernel.vyre --layout", "print the offsets of the fields of structs"},
    {"vyre show kernel.vyre saxpy --stage wire -o saxpy.vyreb", "store a program in binary form"},
    {"vyre show saxpy.vyreb", "read it again"},
    {"vyre show kernel.vyre saxpy --stage wire --format text",
     "list the sections of the binary form"},
    {NULL, NULL},
};

const cli_command cli_command_show = {
    .name = "show",
    .operands = CLI_INPUT_OPERANDS " [PROGRAM]",
    .summary = "print a stage of compiling a program",
    .text =
        "Prints one stage of compiling the programs in FILE, which is source text or binary form. "
        "Prints only PROGRAM if you name it. An operand that is not a file may be an OPERATION "
        "that `vyre ops` lists.\n\n"
        "The binary form holds one program, so name the PROGRAM if FILE has several. Its bytes go "
        "to the -o FILE or to a redirected stdout; on a terminal the command describes them "
        "instead.",
    .operand = CLI_OPERAND_FILE,
    .has_program = true,
    .operands_min = 1,
    .operands_max = 2,
    CLI_COMMAND_PARTS,
};

static void add_program(vyre_json *json, const vyre_program *program) {
    vyre_strbuf digest = {0};
    cli_describe_digest(&digest, program);
    vyre_json_add_string(json, "program", vyre_program_name(program));
    vyre_json_add_strbuf(json, "digest", &digest);
}

typedef vyre_status (*printer)(const vyre_program *program, char **out_text, size_t *out_size);

static vyre_status print_ir(const vyre_program *program, printer print, vyre_strbuf *out) {
    char *printed;
    size_t size;
    VYRE_TRY(print(program, &printed, &size));
    vyre_strbuf_add(out, printed, size);
    vyre_string_free(printed);
    return VYRE_OK;
}

/* The program that backends translate, with what is known of its values. */
static vyre_status print_optimised(const vyre_program *program, vyre_strbuf *out) {
    vyre_program *optimised;
    VYRE_TRY(vyre_optimise(program, &optimised));
    vyre_status status = print_ir(optimised ? optimised : program, vyre_facts_print, out);
    vyre_program_release(optimised);
    VYRE_TRY(status);
    return vyre_fill_print(program, "// ", out);
}

/* What is to be shown: a stage, and for which device; NULL: for none. */
typedef struct showing {
    uint32_t stage;
    const vyre_device *device;
} showing;

static const char *backend_of(const vyre_builtin *built_in) {
    return built_in->bundle->registrations->id;
}

/* The backend that has a stage, and the stage in its list; NULL for those of every program. */
static const vyre_builtin *find_stage(uint32_t number, const vyre_stage **out_stage) {
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in; built_in++) {
        for (const vyre_stage *stage = (*built_in)->stages; stage && stage->name; stage++) {
            if (!strcmp(stage->name, stages[number].text)) {
                *out_stage = stage;
                return *built_in;
            }
        }
    }
    *out_stage = NULL;
    return NULL;
}

static vyre_status print_builtin(const vyre_program *program, showing what, vyre_strbuf *out) {
    const vyre_stage *stage;
    const vyre_builtin *built_in = find_stage(what.stage, &stage);
    if (!built_in) {
        return vyre_internal_error("no backend has the stage `%s`", stages[what.stage].text);
    }
    program = vyre_builtin_suited(built_in, program);
    return what.device ? built_in->show_for(what.device->backend, program, out)
                       : stage->print(program, out);
}

/* Opens the device that -b names, for a stage that has to do with it. */
static vyre_status open_device(const char *name, uint32_t number, vyre_device **out_device) {
    const vyre_stage *stage;
    const vyre_builtin *built_in = find_stage(number, &stage);
    *out_device = NULL;
    if (!built_in || !built_in->show_for) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "remove -b, or add --stage opencl or --stage spirv",
            "-b %s: the stage `%s` is the same for all devices", name, stages[number].text);
    }
    VYRE_TRY(cli_device_open(name, out_device));
    if (strcmp(vyre_device_id(*out_device), backend_of(built_in)) != 0) {
        vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                              "name a device of that backend, or another stage",
                                              "-b %s: the stage `%s` is of the backend `%s`", name,
                                              stages[number].text, backend_of(built_in));
        vyre_device_release(*out_device);
        *out_device = NULL;
        return status;
    }
    return VYRE_OK;
}

static vyre_status print_stage(const vyre_program *program, showing what, vyre_strbuf *out) {
    return what.stage == STAGE_IR    ? print_ir(program, vyre_program_print, out)
           : what.stage == STAGE_OPT ? print_optimised(program, out)
                                     : print_builtin(program, what, out);
}

/* A stage that is text. */
static vyre_status show_text(const cli_input *input, cli_selection chosen, showing what,
                             bool as_json, vyre_strbuf *text) {
    vyre_json json = {.text = text};
    if (as_json) {
        vyre_json_array(&json);
    }
    for (size_t i = chosen.first; i < chosen.end; i++) {
        const vyre_program *program = cli_input_program(input, i);
        vyre_strbuf printed = {0};
        vyre_status status = print_stage(program, what, &printed);
        if (status) {
            vyre_strbuf_free(&printed);
            return status;
        }
        if (as_json) {
            vyre_json_object(&json);
            add_program(&json, program);
            vyre_json_add_string(&json, stages[what.stage].text, vyre_strbuf_string(&printed));
            vyre_json_object_end(&json);
        } else {
            vyre_strbuf_puts(text, i > chosen.first ? "\n" : "");
            vyre_strbuf_add(text, vyre_strbuf_string(&printed), printed.size);
        }
        text->failed |= printed.failed;
        vyre_strbuf_free(&printed);
    }
    if (as_json) {
        vyre_json_array_end(&json);
        vyre_strbuf_putc(text, '\n');
    }
    return VYRE_OK;
}

typedef struct section {
    const char *name;
    uint64_t offset, bytes, count;
} section;

/* `bytes` are what the encoder gave, so that nothing has to be doubted. */
static section read_section(const uint8_t *bytes, uint32_t index) {
    static const char *const names[] = {
#define NAME(name, array, count, type, layout, limit) [VYRE_SECTION_##name] = #array,
        VYRE_SECTIONS(NAME)
#undef NAME
    };
    const uint8_t *entry = bytes + WIRE_AT_TABLE + (size_t)index * WIRE_ENTRY_BYTES;
    uint64_t count = wire_get_u32(entry + WIRE_ENTRY_COUNT);
    uint32_t number = wire_get_u32(entry + WIRE_ENTRY_NUMBER);
    return (section){.name = number == WIRE_VARIANTS ? "variants" : names[number],
                     .offset = wire_get_u32(entry + WIRE_ENTRY_OFFSET),
                     .bytes = count * wire_get_u32(entry + WIRE_ENTRY_ITEM_BYTES),
                     .count = count};
}

static void summarize_json(vyre_strbuf *text, const vyre_program *program, const uint8_t *bytes,
                           size_t size) {
    vyre_json json = {.text = text};
    vyre_json_object(&json);
    add_program(&json, program);
    vyre_json_add_u64(&json, "bytes", size);
    vyre_json_add_array(&json, "sections");
    for (uint32_t i = 0; i < wire_get_u32(bytes + WIRE_AT_SECTIONS); i++) {
        section row = read_section(bytes, i);
        vyre_json_object(&json);
        vyre_json_add_string(&json, "name", row.name);
        vyre_json_add_u64(&json, "offset", row.offset);
        vyre_json_add_u64(&json, "bytes", row.bytes);
        vyre_json_add_u64(&json, "count", row.count);
        vyre_json_object_end(&json);
    }
    vyre_json_array_end(&json);
    vyre_json_object_end(&json);
    vyre_strbuf_putc(text, '\n');
}

static void summarize_text(vyre_strbuf *text, const vyre_program *program, const uint8_t *bytes,
                           size_t size) {
    vyre_page page = {.text = text};
    vyre_table table = {.columns = 4, .right = 2 | 4 | 8};
    vyre_strbuf_printf(text, "program %s, %zu bytes, digest ", vyre_program_name(program), size);
    cli_describe_digest(text, program);
    vyre_strbuf_putc(text, '\n');
    VYRE_TABLE_CELLS(&table, "section", "offset", "bytes", "count");
    for (uint32_t i = 0; i < wire_get_u32(bytes + WIRE_AT_SECTIONS); i++) {
        section row = read_section(bytes, i);
        vyre_table_add(&table, "%s", row.name);
        vyre_table_add(&table, "%llu", (unsigned long long)row.offset);
        vyre_table_add(&table, "%llu", (unsigned long long)row.bytes);
        vyre_table_add(&table, "%llu", (unsigned long long)row.count);
    }
    vyre_page_table(&page, &table);
}

static const char *path_of(const cli_arguments *arguments) {
    return arguments->values[OUTPUT].given ? arguments->values[OUTPUT].text : "-";
}

/* The bytes, or a description of them: where it is asked for, and on a terminal, which bytes would
 * only confuse. */
static vyre_status show_wire(const cli_arguments *arguments, const vyre_program *program,
                             vyre_strbuf *text) {
    uint8_t *bytes;
    size_t size;
    VYRE_TRY(vyre_wire_encode(program, 0, &bytes, &size));
    bool asked = arguments->values[FORMAT].given;
    bool on_terminal = !asked && !strcmp(path_of(arguments), "-") && cli_output_is_terminal();
    if (asked && arguments->values[FORMAT].choice == VYRE_FORMAT_JSON) {
        summarize_json(text, program, bytes, size);
    } else if (asked || on_terminal) {
        summarize_text(text, program, bytes, size);
    } else {
        vyre_strbuf_add(text, (const char *)bytes, size);
    }
    if (on_terminal) {
        cli_message_print("vyre show: stdout is a terminal, so this lists the sections of the "
                          "binary form. Fix: add -o FILE to write it\n");
    }
    vyre_bytes_free(bytes);
    return VYRE_OK;
}

/* The structs of a text; the binary form has none. */
static vyre_status show_layout(const cli_input *input, vyre_strbuf *text) {
    if (!input->module) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name a file of source text",
                                "%s has no structs: only source text declares them", input->name);
    }
    vyre_strbuf_puts(text, vyre_module_layout(input->module));
    return VYRE_OK;
}

static cli_exit run(const cli_arguments *arguments) {
    cli_exit result = CLI_EXIT_DONE;
    cli_selection chosen;
    vyre_strbuf text = {0};
    vyre_device *device = NULL;
    cli_input input;
    vyre_status status =
        cli_input_open(&input, arguments->operands[0], arguments->values[VARIANT].text);
    if (!status) {
        const char *name = arguments->operand_count > 1 ? arguments->operands[1] : NULL;
        bool one =
            arguments->values[STAGE].choice == STAGE_WIRE && !arguments->values[LAYOUT].given;
        if (!cli_input_take(&input, arguments->command, name,
                            one ? "the binary form holds one" : NULL, &chosen, &result)) {
            goto done;
        }
    }
    if (!status) {
        bool as_json = arguments->values[FORMAT].choice == VYRE_FORMAT_JSON;
        uint32_t stage = arguments->values[STAGE].choice;
        if (arguments->values[BACKEND].given) {
            status = open_device(arguments->values[BACKEND].text, stage, &device);
        }
        status = status                            ? status
                 : arguments->values[LAYOUT].given ? show_layout(&input, &text)
                 : stage != STAGE_WIRE
                     ? show_text(&input, chosen, (showing){stage, device}, as_json, &text)
                     : show_wire(arguments, cli_input_program(&input, chosen.first), &text);
    }
    if (!status) {
        status = cli_output_save(path_of(arguments), &text);
    }
    if (status) {
        result = cli_message_status(arguments->command, status);
    }
done:
    vyre_strbuf_free(&text);
    vyre_device_release(device);
    cli_input_deinit(&input);
    return result;
}
