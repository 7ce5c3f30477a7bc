/* vyre ops: the operations of the library. */
#include "cli/ops.h"

#include <string.h>

#include "base/page.h"
#include "base/units.h"
#include "cli/describe.h"
#include "cli/device.h"
#include "cli/operation.h"
#include "cli/output.h"
#include "conform/claims.h"
#include "dialect/snapshot.h"
#include "registry/select.h"

#define OPTIONS(X)                                                                                 \
    CLI_DEVICE_OPTION(X)                                                                           \
    X(TIMEOUT, 0, "--timeout", "SECONDS", NULL, "with watch: stop after SECONDS")                  \
    CLI_TABLE_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre ops", "list all operations with their arguments and what they do"},
    {"vyre ops 'reduce.*' --format md", "print a table of some operations, with laws and targets"},
    {"vyre ops show reduce.sum_u32", "describe one operation, with a command that runs it"},
    {"vyre ops check 'hash.*' -b cpu", "test operations against their manifests"},
    {"vyre ops watch ~/.config/vyre/dialects", "reload the manifests after each edit"},
    {NULL, NULL},
};

const cli_command cli_command_ops = {
    .name = "ops",
    .operands = "[[check] GLOB | show ID | watch DIR]",
    .summary = "list, test and watch the operations of the library",
    .text =
        "Lists the operations, or those whose ID matches GLOB. They come from vyre itself, from "
        "programs that register their own, and from manifests in the folders of VYRE_DIALECT_PATH "
        "(docs/dialects.md). A program calls an operation by its ID, and `vyre run ID` runs it.\n\n"
        "`show` describes one operation in full. `check` runs the witnesses of each manifest and "
        "tests its laws: on all values of 8-bit types, on chosen and random values of wider ones. "
        "The exit status is 1 if a witness or a law fails.\n\n"
        "`watch` reloads the manifests of a folder whenever one of its files changes, and prints "
        "which operations were added, changed or removed. If an edit has errors, the command "
        "prints all of them and keeps the operations as they were.",
    .operand = CLI_OPERAND_FILE,
    .operands_max = 2,
    CLI_COMMAND_PARTS,
};

/* X(name): what can be done besides listing. */
#define VERBS(X)                                                                                   \
    X(show)                                                                                        \
    X(check)                                                                                       \
    X(watch)

typedef enum verb {
    VERB_list,
#define VERB_ENUM(name) VERB_##name,
    VERBS(VERB_ENUM)
#undef VERB_ENUM
} verb;

typedef struct job {
    const cli_arguments *arguments;
    verb verb;
    const char *operand; /* a glob, an id or a folder; NULL if none */
    const vyre_dialects *snapshot;
} job;

static bool is_chosen(const job *j, const vyre_operation *operation) {
    return !j->operand || vyre_id_matches(j->operand, operation->id);
}

/* Text */

/* The first sentence, or line. */
static vyre_str first_sentence(const char *doc) {
    size_t size = 0;
    while (doc[size] && doc[size] != '\n' &&
           !(doc[size] == '.' && (doc[size + 1] == ' ' || doc[size + 1] == '\n'))) {
        size++;
    }
    return (vyre_str){doc, size + (doc[size] == '.')};
}

/* What operations of a dialect have in common: the line in front of them. */
static void print_group(vyre_strbuf *text, const vyre_operation *operation) {
    vyre_strbuf targets = {0};
    cli_describe_targets(&targets, operation);
    vyre_strbuf_printf(text, "%s%s%s, %s%s%s", operation->dialect, *operation->version ? " " : "",
                       operation->version, cli_category_name(operation->category),
                       targets.size ? "; becomes " : "", vyre_strbuf_string(&targets));
    text->failed |= targets.failed;
    vyre_strbuf_free(&targets);
}

static void write_part(vyre_strbuf *text, vyre_strbuf *part) {
    enum { INDENT = 6 };
    if (part->size) {
        vyre_strbuf_repeat(text, ' ', INDENT);
        vyre_page_wrap(text, vyre_strbuf_string(part), INDENT, INDENT);
    }
    text->failed |= part->failed;
    vyre_strbuf_free(part);
}

static void write_operation(vyre_strbuf *text, const vyre_operation *operation) {
    vyre_strbuf doc = {0}, laws = {0};
    vyre_str sentence = first_sentence(operation->doc);
    vyre_strbuf_add(&doc, sentence.data, sentence.size);
    if (operation->law_count) {
        vyre_strbuf_puts(&laws, "laws: ");
        cli_describe_laws(&laws, operation);
    }
    vyre_strbuf_puts(text, "  ");
    cli_describe_operation(text, operation, 8, 2);
    write_part(text, &doc);
    write_part(text, &laws);
}

/* Tells for which other types the operation exists, if it is the first of several instances. Gives
 * the number of the last one. */
static size_t write_instances(const job *j, vyre_strbuf *text, size_t first) {
    const vyre_operation *operation = vyre_dialects_at(j->snapshot, first);
    size_t stem = strcspn(operation->id, "<"), last = first;
    vyre_strbuf others = {0};
    for (size_t i = first + 1; operation->id[stem] && i < vyre_dialects_count(j->snapshot); i++) {
        const vyre_operation *other = vyre_dialects_at(j->snapshot, i);
        if (strncmp(operation->id, other->id, stem + 1) != 0 ||
            strcmp(operation->doc, other->doc) != 0) {
            break;
        }
        if (is_chosen(j, other)) {
            vyre_strbuf_printf(&others, "%s%s", others.size ? ", " : "also: ", other->id + stem);
        }
        last = i;
    }
    write_part(text, &others);
    return last;
}

static void write_text(const job *j, vyre_strbuf *text) {
    vyre_strbuf before = {0}, group = {0};
    for (size_t i = 0; i < vyre_dialects_count(j->snapshot); i++) {
        const vyre_operation *operation = vyre_dialects_at(j->snapshot, i);
        if (!is_chosen(j, operation)) {
            continue;
        }
        vyre_strbuf_cut(&group, 0);
        print_group(&group, operation);
        if (strcmp(vyre_strbuf_string(&group), vyre_strbuf_string(&before)) != 0) {
            vyre_strbuf_puts(text, before.size ? "\n" : "");
            vyre_page_wrap(text, vyre_strbuf_string(&group), 4, 0);
            vyre_strbuf_cut(&before, 0);
            vyre_strbuf_puts(&before, vyre_strbuf_string(&group));
        }
        write_operation(text, operation);
        i = write_instances(j, text, i);
    }
    text->failed |= before.failed || group.failed;
    vyre_strbuf_free(&before);
    vyre_strbuf_free(&group);
}

static void add_row(vyre_table *table, const vyre_operation *operation) {
    vyre_strbuf text = {0};
    VYRE_TABLE_CELLS(table, operation->id, operation->dialect, operation->version,
                     cli_category_name(operation->category), cli_form_name(operation->form));
    cli_describe_signature(&text, operation);
    vyre_table_add_strbuf(table, &text);
    cli_describe_laws(&text, operation);
    vyre_table_add_strbuf(table, &text);
    for (size_t i = 0; i < operation->variant_count; i++) {
        vyre_strbuf_printf(&text, "%s%s", i ? ", " : "", operation->variants[i].entry);
    }
    vyre_table_add_strbuf(table, &text);
    cli_describe_targets(&text, operation);
    vyre_table_add_strbuf(table, &text);
    VYRE_TABLE_CELLS(table, operation->doc);
    vyre_strbuf_free(&text);
}

static void write_table(const job *j, vyre_strbuf *text, vyre_format format) {
    vyre_table table = {.code = 1 | 1 << 5};
    VYRE_TABLE_CELLS(&table, "id", "dialect", "version", "category", "form", "signature", "laws",
                     "variants", "targets", "doc");
    for (size_t i = 0; i < vyre_dialects_count(j->snapshot); i++) {
        const vyre_operation *operation = vyre_dialects_at(j->snapshot, i);
        if (is_chosen(j, operation)) {
            add_row(&table, operation);
        }
    }
    vyre_table_write(text, &table, format);
}

static size_t count_chosen(const job *j) {
    size_t count = 0;
    for (size_t i = 0; i < vyre_dialects_count(j->snapshot); i++) {
        count += is_chosen(j, vyre_dialects_at(j->snapshot, i));
    }
    return count;
}

/* A glob that matches nothing is answered with near ids. */
static cli_exit no_match(const job *j) {
    vyre_status status = vyre_dialects_unknown(j->snapshot, "operation", j->operand);
    (void)cli_message_status(j->arguments->command, status);
    return CLI_EXIT_NO;
}

static cli_exit list(const job *j) {
    vyre_format format = (vyre_format)j->arguments->values[FORMAT].choice;
    vyre_strbuf text = {0};
    if (j->operand && !count_chosen(j)) {
        return no_match(j);
    }
    if (format == VYRE_FORMAT_TEXT) {
        write_text(j, &text);
    } else if (format == VYRE_FORMAT_JSON) {
        vyre_json json = {.text = &text};
        vyre_json_array(&json);
        for (size_t i = 0; i < vyre_dialects_count(j->snapshot); i++) {
            const vyre_operation *operation = vyre_dialects_at(j->snapshot, i);
            if (is_chosen(j, operation)) {
                cli_ops_show_json(&json, operation);
            }
        }
        vyre_json_array_end(&json);
        vyre_strbuf_putc(&text, '\n');
    } else {
        write_table(j, &text, format);
    }
    cli_output_write(&text);
    size_t count = count_chosen(j);
    cli_message_note("%zu operation%s\n", count, vyre_plural(count));
    return CLI_EXIT_DONE;
}

static cli_exit show(const job *j) {
    vyre_format format = (vyre_format)j->arguments->values[FORMAT].choice;
    const vyre_operation *operation = vyre_dialects_find(j->snapshot, j->operand);
    vyre_strbuf text = {0};
    if (!operation) {
        return no_match(j);
    }
    if (format == VYRE_FORMAT_TEXT) {
        cli_ops_show_text(&text, operation);
    } else if (format == VYRE_FORMAT_JSON) {
        vyre_json json = {.text = &text};
        cli_ops_show_json(&json, operation);
        vyre_strbuf_putc(&text, '\n');
    } else {
        write_table(j, &text, format);
    }
    cli_output_write(&text);
    return CLI_EXIT_DONE;
}

/* Checking */

static cli_exit check_operations(const job *j, vyre_device *device, conform_claims *tally) {
    vyre_strbuf failures = {0};
    for (size_t i = 0; i < vyre_dialects_count(j->snapshot); i++) {
        const vyre_operation *operation = vyre_dialects_at(j->snapshot, i);
        if (!is_chosen(j, operation) || !vyre_operation_has_program(operation)) {
            continue;
        }
        tally->operations++;
        vyre_status status = conform_witnesses_check(device, operation, tally, &failures);
        status = status ? status : conform_samples_check(device, operation, tally, &failures);
        status =
            status ? status : conform_laws_check(device, j->snapshot, operation, tally, &failures);
        cli_output_write(&failures);
        if (status) {
            return cli_message_status(j->arguments->command, status);
        }
    }
    return tally->failures ? CLI_EXIT_NO : CLI_EXIT_DONE;
}

static cli_exit check(const job *j) {
    vyre_device *device;
    vyre_strbuf why = {0};
    conform_claims tally = {0};
    if (j->operand && !count_chosen(j)) {
        return no_match(j);
    }
    cli_exit result = cli_device_acquire(j->arguments->command, j->arguments->values[BACKEND].text,
                                         &device, &why);
    if (result == CLI_EXIT_DONE) {
        result = check_operations(j, device, &tally);
        cli_message_note("%zu operation%s on %s: %zu witness%s, %zu sample%s, %zu law%s in %zu "
                         "cases, %zu failure%s\n",
                         tally.operations, vyre_plural(tally.operations), vyre_device_name(device),
                         tally.witnesses, tally.witnesses == 1 ? "" : "es", tally.samples,
                         vyre_plural(tally.samples), tally.laws, vyre_plural(tally.laws),
                         tally.cases, tally.failures, vyre_plural(tally.failures));
        vyre_device_release(device);
    }
    vyre_strbuf_free(&why);
    return result;
}

/* The command */

static vyre_status read_operands(job *j) {
    static const char *const names[] = {
#define VERB_NAME(name) [VERB_##name] = #name,
        VERBS(VERB_NAME)
#undef VERB_NAME
    };
    const cli_arguments *arguments = j->arguments;
    const char *first = arguments->operand_count ? arguments->operands[0] : "";
    for (verb i = VERB_show; i <= VERB_watch; i++) {
        j->verb = strcmp(first, names[i]) ? j->verb : i;
    }
    size_t verbs = j->verb != VERB_list;
    if (arguments->operand_count > 1 + verbs) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "`vyre ops --help` shows the usage",
                                "`%s` is one operand too many", arguments->operands[1 + verbs]);
    }
    j->operand = arguments->operand_count > verbs ? arguments->operands[verbs] : NULL;
    if (!j->operand && (j->verb == VERB_show || j->verb == VERB_watch)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                j->verb == VERB_show ? "name an operation of `vyre ops`"
                                                     : "name the folder that holds the manifest",
                                "`vyre ops %s` needs %s after it", names[j->verb],
                                j->verb == VERB_show ? "an ID" : "a DIR");
    }
    if (arguments->values[BACKEND].given && j->verb != VERB_check) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                "-b applies only to `vyre ops check`");
    }
    return arguments->values[TIMEOUT].given && j->verb != VERB_watch
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                  "--timeout applies only to `vyre ops watch`")
               : VYRE_OK;
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    vyre_dialects_guard guard;
    uint64_t timeout_ns = UINT64_MAX;
    vyre_status status = read_operands(&j);
    status = status ? status : cli_option_seconds(arguments, TIMEOUT, &timeout_ns);
    if (!status && j.verb == VERB_watch) {
        return cli_ops_watch(arguments->command, j.operand, timeout_ns,
                             (vyre_format)arguments->values[FORMAT].choice);
    }
    status = status ? status : vyre_dialects_try_enter(&guard, &j.snapshot);
    if (status) {
        return cli_message_status(arguments->command, status);
    }
    cli_exit result = j.verb == VERB_show ? show(&j) : j.verb == VERB_check ? check(&j) : list(&j);
    vyre_dialects_leave(&guard);
    return result;
}
