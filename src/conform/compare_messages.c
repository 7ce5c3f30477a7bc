#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "conform/compare.h"
#include "runtime/device.h"

static void add_message(void *user, const vyre_message *message) {
    vyre_strbuf *text = user;
    vyre_strbuf_add(text, message->text, message->size);
    vyre_strbuf_printf(text, " (line %u)\n", message->line);
}

/* All that a device says; a status that is none of an assert is not part of it. */
static vyre_status collect(vyre_device *device, const vyre_program *program,
                           const vyre_input *inputs, size_t input_count, vyre_strbuf *text) {
    vyre_outputs outputs;
    vyre_prints prints = {.write = add_message, .user = text};
    const vyre_dispatch_config config = {.timeout_ns = CONFORM_RUN_NS, .prints = &prints};
    vyre_status status =
        vyre_device_dispatch(device, program, inputs, input_count, &config, &outputs);
    vyre_strbuf_printf(text, "%llu left out\n", (unsigned long long)prints.left_out);
    if (vyre_status_code_of(status) == VYRE_STATUS_ASSERTION) {
        vyre_strbuf_puts(text, vyre_status_text(status));
        vyre_status_free(status);
        return VYRE_OK;
    }
    vyre_outputs_free(&outputs);
    return !status && text->failed ? vyre_no_memory("for messages") : status;
}

/* The first line in which texts differ. */
static void explain(const char *found, const char *expected, conform_comparison *out) {
    unsigned line = 1;
    size_t start = 0;
    for (size_t i = 0; found[i] && found[i] == expected[i]; i++) {
        if (found[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    int sizes[2] = {(int)strcspn(found + start, "\n"), (int)strcspn(expected + start, "\n")};
    snprintf(out->text, sizeof out->text, "message %u: found `%.*s`, expected `%.*s`", line,
             sizes[0], found + start, sizes[1], expected + start);
    out->verdict = CONFORM_VERDICT_DIFFERENT;
}

void conform_compare_messages(const conform_pair *conform, const vyre_program *program,
                              const vyre_input *inputs, size_t input_count,
                              conform_comparison *out_comparison) {
    vyre_strbuf found = {0}, expected = {0};
    vyre_status status = collect(conform->oracle, program, inputs, input_count, &expected);
    status = status ? status : collect(conform->subject, program, inputs, input_count, &found);
    vyre_status_code code = vyre_status_code_of(status);
    if (code == VYRE_STATUS_LIMIT || code == VYRE_STATUS_UNSUPPORTED) {
        /* Records take more steps, and more code, than a backend may have room for. */
    } else if (status) { /* records that nobody can have written are different ones */
        out_comparison->verdict =
            code == VYRE_STATUS_BACKEND ? CONFORM_VERDICT_DIFFERENT : CONFORM_VERDICT_FAILED;
        snprintf(out_comparison->text, sizeof out_comparison->text, "%s", vyre_status_text(status));
    } else if (strcmp(vyre_strbuf_string(&found), vyre_strbuf_string(&expected)) != 0) {
        explain(vyre_strbuf_string(&found), vyre_strbuf_string(&expected), out_comparison);
    }
    vyre_status_free(status);
    vyre_strbuf_free(&found);
    vyre_strbuf_free(&expected);
}
