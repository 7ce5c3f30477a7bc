/* vyre show: what a program becomes on its way. */
#include <string.h>

#include <vyre/wire.h>

#include "backend/cpu/runtime/executable.h"
#include "backend/cuda/codegen/ahead.h"
#include "base/json.h"
#include "base/page.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/input.h"
#include "cli/output.h"
#include "pass/access.h"
#include "pass/fill.h"
#include "pass/pass.h"
#include "wire/layout.h"

/* X(name, text, documentation) */
#define STAGES(X)                                                                                  \
    X(IR, "ir", "the verified program, one instruction a line, as text that parses again")         \
    X(OPT, "opt", "the same after the passes that all backends share")                             \
    X(WIRE, "wire", "the binary form, to be stored and sent")                                      \
    X(LLVM, "llvm", "what the cpu backend makes of it: LLVM's instructions, optimised")            \
    X(ASM, "asm", "the same as assembly for the CPU of this machine")                              \
    X(PTX, "ptx", "what the cuda backend makes of it: PTX that all its devices take")

typedef enum stage {
#define STAGE_ENUM(name, text, documentation) STAGE_##name,
    STAGES(STAGE_ENUM)
#undef STAGE_ENUM
} stage;

static const cli_choice stages[] = {
#define ROW(name, text, documentation) {text, documentation},
    STAGES(ROW)
#undef ROW
        {NULL, NULL}};

#define OPTIONS(X)                                                                                 \
    X(STAGE, 0, "--stage", "STAGE", stages, "what to show; ir if not given")                       \
    X(OUTPUT, 'o', "--output", "FILE", NULL, "write to FILE instead of stdout")                    \
    CLI_VARIANT_OPTION(X)                                                                          \
    X(FORMAT, 0, "--format", "FORMAT", cli_formats, "describe it; the binary form by its sections")

CLI_OPTION_TABLE(OPTIONS);

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
    vyre_status status = print(program, &printed, &size);
    if (!status) {
        vyre_strbuf_add(out, printed, size);
        vyre_string_free(printed);
    }
    return status;
}

/* The program that backends translate, with what is known of its values. */
static vyre_status print_optimised(const vyre_program *program, vyre_strbuf *out) {
    vyre_program *optimised;
    vyre_status status = vyre_optimise(program, &optimised);
    if (!status) {
        status = print_ir(optimised ? optimised : program, vyre_facts_print, out);
        vyre_program_release(optimised);
    }
    return status ? status : vyre_fill_print(program, "// ", out);
}

static vyre_status print_stage(const vyre_program *program, stage which, vyre_strbuf *out) {
    switch (which) {
    case STAGE_IR: return print_ir(program, vyre_program_print, out);
    case STAGE_OPT: return print_optimised(program, out);
    case STAGE_PTX: return cuda_ahead(program, NULL, out);
    default: return cpu_executable_show(program, which == STAGE_ASM, out);
    }
}

/* A stage that is text. */
static vyre_status show_text(const cli_input *input, cli_selection chosen, stage which,
                             bool as_json, vyre_strbuf *text) {
    vyre_json json = {.text = text};
    if (as_json) {
        vyre_json_array(&json);
    }
    for (size_t i = chosen.first; i < chosen.end; i++) {
        const vyre_program *program = cli_input_program(input, i);
        vyre_strbuf printed = {0};
        vyre_status status = print_stage(program, which, &printed);
        if (status) {
            vyre_strbuf_free(&printed);
            return status;
        }
        if (as_json) {
            vyre_json_object(&json);
            add_program(&json, program);
            vyre_json_add_string(&json, stages[which].text, vyre_strbuf_string(&printed));
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
    return (section){.name = names[wire_get_u32(entry + WIRE_ENTRY_NUMBER)],
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
    vyre_table_add(&table, "section");
    vyre_table_add(&table, "offset");
    vyre_table_add(&table, "bytes");
    vyre_table_add(&table, "count");
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
    vyre_status status = vyre_wire_encode(program, 0, &bytes, &size);
    if (status) {
        return status;
    }
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
        cli_message_print("vyre show: these bytes are not for a terminal, so here are their "
                          "sections. Fix: -o FILE writes the bytes\n");
    }
    vyre_bytes_free(bytes);
    return VYRE_OK;
}

static cli_exit run(const cli_arguments *arguments) {
    cli_exit result = CLI_EXIT_DONE;
    cli_selection chosen;
    vyre_strbuf text = {0};
    cli_input input;
    vyre_status status =
        cli_input_open(&input, arguments->operands[0], arguments->values[VARIANT].text);
    if (!status) {
        const char *name = arguments->operand_count > 1 ? arguments->operands[1] : NULL;
        bool one = arguments->values[STAGE].choice == STAGE_WIRE;
        if (!cli_input_take(&input, arguments->command, name,
                            one ? "the binary form holds one" : NULL, &chosen, &result)) {
            goto done;
        }
    }
    if (!status) {
        bool as_json = arguments->values[FORMAT].choice == VYRE_FORMAT_JSON;
        stage which = (stage)arguments->values[STAGE].choice;
        status = which != STAGE_WIRE
                     ? show_text(&input, chosen, which, as_json, &text)
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
    cli_input_deinit(&input);
    return result;
}

static const cli_example examples[] = {
    {"vyre show kernel.vyre", "the programs as the compiler sees them"},
    {"vyre show kernel.vyre --stage opt", "and what is left of them for a backend"},
    {"vyre show kernel.vyre saxpy --stage wire -o saxpy.vyreb", "store one in binary form"},
    {"vyre show saxpy.vyreb", "and read it again"},
    {"vyre show kernel.vyre saxpy --stage wire --format text", "what the binary form consists of"},
    {NULL, NULL},
};

const cli_command cli_command_show = {
    .name = "show",
    .operands = CLI_INPUT_OPERANDS " [PROGRAM]",
    .summary = "print what a program becomes",
    .text =
        "Shows a stage of the programs in FILE, which may be text or a program in binary form: of "
        "PROGRAM alone where it is named, else of all. A word that is no file may be an OPERATION "
        "of `vyre ops`.\n\n"
        "The binary form holds one program, so PROGRAM is needed where there are several. Its "
        "bytes "
        "go to FILE or to a redirected stdout; a terminal gets a description of them instead.",
    .operand = CLI_OPERAND_FILE,
    .operands_min = 1,
    .operands_max = 2,
    .options = options,
    .option_count = OPTION_COUNT,
    .examples = examples,
    .run = run,
};
