#include "runtime/message.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "ir/message.h"
#include "ir/program.h"
#include "pass/message.h"

enum {
    PRINT_RECORDS = 65536, /* room for prints, or more for a higher limit */
    PRINT_ROOM = 4,        /* records for each message of the limit, at least */
    ASSERT_RECORDS = 4096,
    IN_PLACE_RECORDS = 65536, /* room for asserts of a run that cannot be repeated */
    HEAD_WORDS = VYRE_LOGS * VYRE_LOG_WORDS
};

uint32_t vyre_messages_start(const vyre_pipeline *pipeline, const vyre_dispatch_config *config) {
    if (config && config->prints) {
        config->prints->left_out = 0;
    }
    return vyre_messages_wanted(pipeline, config);
}

uint32_t vyre_messages_wanted(const vyre_pipeline *pipeline, const vyre_dispatch_config *config) {
    config = vyre_config_or_default(config);
    uint32_t kinds = (config->prints ? VYRE_MESSAGES_PRINT : 0) |
                     (config->flags & VYRE_DISPATCH_NO_ASSERTS ? 0 : VYRE_MESSAGES_ASSERT);
    return pipeline->messages & kinds;
}

vyre_status vyre_messages_refuse(const vyre_program *program, const vyre_dispatch_config *config) {
    return config && config->prints
               ? vyre_status_make(
                     VYRE_STATUS_UNSUPPORTED, "run it on a device, or do not set `prints`",
                     "`%s` is to print, and only runs on a device can", vyre_program_name(program))
               : VYRE_OK;
}

/* A run, which may take several turns. */
typedef struct recording {
    const vyre_ir *ir; /* of the program with its messages */
    vyre_record_layout layout;
    bool in_place;                              /* on resident buffers: there is one turn */
    uint64_t limit;                             /* of prints */
    uint32_t capacities[VYRE_LOGS];             /* records */
    uint32_t limits[VYRE_LOGS][VYRE_LOG_WORDS]; /* last keys to be kept */
    uint32_t firsts[VYRE_LOGS];                 /* words at which the records start */
    uint32_t *words;                            /* what goes in, then what comes out */
    size_t word_count;
} recording;

static uint32_t *head_of(const recording *g, uint32_t log) {
    return g->words + (size_t)log * VYRE_LOG_WORDS;
}

static uint32_t *record_of(const recording *g, uint32_t log, size_t index) {
    return g->words + g->firsts[log] + index * g->layout.words;
}

static vyre_status recording_init(recording *g, vyre_pipeline *pipeline, uint32_t kinds,
                                  const vyre_dispatch_config *config, bool in_place) {
    const char *name = vyre_program_name(pipeline->program);
    *g = (recording){.ir = vyre_program_ir(pipeline->source), .in_place = in_place};
    g->layout = vyre_messages_layout(g->ir);
    g->limit = config->prints && config->prints->limit ? config->prints->limit : VYRE_PRINT_LIMIT;
    if (config->prints && !config->prints->write) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "set `write`, or no `prints`",
                                "`prints` for a run of `%s` has no function `write`", name);
    }
    if (g->limit > VYRE_PRINT_LIMIT_MOST) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "ask for fewer",
            "`prints` for a run of `%s` asks for %llu messages, and the limit is %d", name,
            (unsigned long long)g->limit, VYRE_PRINT_LIMIT_MOST);
    }
    uint32_t room = PRINT_ROOM * (uint32_t)g->limit;
    g->capacities[0] = !(kinds & VYRE_MESSAGES_PRINT) ? 0
                       : room > PRINT_RECORDS         ? room
                                                      : PRINT_RECORDS;
    g->capacities[1] = !(kinds & VYRE_MESSAGES_ASSERT) ? 0
                       : in_place                      ? IN_PLACE_RECORDS
                                                       : ASSERT_RECORDS;
    g->firsts[0] = HEAD_WORDS;
    g->firsts[1] = HEAD_WORDS + g->capacities[0] * g->layout.words;
    memset(g->limits, 0xff, sizeof g->limits);
    size_t records = (size_t)g->capacities[0] + g->capacities[1];
    g->word_count = HEAD_WORDS + records * g->layout.words;
    g->words = vyre_alloc_zeroed(g->word_count, sizeof *g->words);
    return g->words ? VYRE_OK : vyre_no_memory("for the messages of `%s`", name);
}

/* Little-endian words, as buffers have them. */
static void turn_words(uint32_t *words, size_t count) {
    const uint16_t one = 1;
    for (size_t i = 0; !*(const uint8_t *)&one && i < count; i++) {
        uint32_t word = words[i];
        words[i] = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
    }
}

static void write_heads(const recording *g) {
    memset(g->words, 0, HEAD_WORDS * sizeof *g->words);
    for (uint32_t log = 0; log < VYRE_LOGS; log++) {
        uint32_t *head = head_of(g, log);
        head[VYRE_LOG_CAPACITY] = g->capacities[log];
        head[VYRE_LOG_FIRST] = g->firsts[log];
        memcpy(head + VYRE_LOG_LIMIT, g->limits[log], g->layout.key_words * sizeof *head);
    }
    turn_words(g->words, HEAD_WORDS);
}

/* One turn */

/* Splits off the last output. */
static void take_words(recording *g, vyre_outputs *outputs) {
    vyre_output *last = &outputs->items[outputs->count - 1];
    memcpy(g->words, last->data, g->word_count * sizeof *g->words);
    vyre_free(last->data);
    outputs->count--;
    turn_words(g->words, g->word_count);
}

static vyre_status run_into(vyre_pipeline *recorder, const vyre_input *inputs, size_t count,
                            const vyre_dispatch_config *config, recording *g,
                            vyre_outputs *outputs) {
    size_t bytes = g->word_count * sizeof *g->words;
    vyre_outputs all = {vyre_alloc_zeroed(outputs->count + 1, sizeof(vyre_output)),
                        outputs->count + 1};
    if (!all.items) {
        return vyre_no_memory("for a list of %zu outputs", all.count);
    }
    if (outputs->count) {
        memcpy(all.items, outputs->items, outputs->count * sizeof *all.items);
    }
    all.items[outputs->count] = (vyre_output){vyre_alloc(bytes), bytes};
    if (!all.items[outputs->count].data) {
        vyre_free(all.items);
        return vyre_no_memory("for messages, %zu bytes", bytes);
    }
    const vyre_output *mine = all.items;
    vyre_status status = vyre_pipeline_dispatch_into(recorder, inputs, count, config, &all);
    if (status) {
        vyre_free(all.items[all.count - 1].data);
        vyre_free(all.items);
        return status;
    }
    take_words(g, &all);
    if (all.items == mine) {
        vyre_free(all.items);
    } else { /* they did not fit, and there are new ones */
        vyre_free(outputs->items);
        *outputs = all;
    }
    return VYRE_OK;
}

static vyre_status run_once(vyre_pipeline *recorder, const vyre_message_run *run,
                            const vyre_input *inputs, const vyre_dispatch_config *config,
                            recording *g) {
    vyre_status status;
    size_t count = run->input_count + 1;
    write_heads(g);
    if (run->form == VYRE_RUN_INTO) {
        return run_into(recorder, inputs, count, config, g, run->outputs);
    }
    vyre_outputs_free(run->outputs);
    status = run->form == VYRE_RUN_TIMED
                 ? vyre_pipeline_dispatch_timed(recorder, inputs, count, config, run->outputs,
                                                run->timing)
                 : vyre_pipeline_dispatch(recorder, inputs, count, config, run->outputs);
    if (!status) {
        take_words(g, run->outputs);
    }
    return status;
}

/* Order */

static bool is_before(const recording *g, const uint32_t *left, const uint32_t *right) {
    for (uint32_t i = 0; i < g->layout.key_words; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return false;
}

static void exchange(const recording *g, uint32_t log, size_t left, size_t right) {
    uint32_t *a = record_of(g, log, left), *b = record_of(g, log, right);
    for (uint32_t i = 0; i < g->layout.words; i++) {
        uint32_t word = a[i];
        a[i] = b[i];
        b[i] = word;
    }
}

/* Moves a record of a heap, the last ones first, down to its place. */
static void sift(const recording *g, uint32_t log, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count &&
                 is_before(g, record_of(g, log, child), record_of(g, log, child + 1));
        if (!is_before(g, record_of(g, log, at), record_of(g, log, child))) {
            return;
        }
        exchange(g, log, at, child);
    }
}

/* Sorts the records of a log, and gives their number. */
static size_t sort_log(const recording *g, uint32_t log) {
    size_t count = head_of(g, log)[VYRE_LOG_COUNT];
    count = count < g->capacities[log] ? count : g->capacities[log];
    for (size_t i = count / 2; i-- > 0;) {
        sift(g, log, i, count);
    }
    for (size_t i = count; i-- > 1;) {
        exchange(g, log, 0, i);
        sift(g, log, 0, i);
    }
    return count;
}

/* Only after a run in place: which records found room depends on the schedule. */
static bool has_overflow(const recording *g, uint32_t log) {
    return head_of(g, log)[VYRE_LOG_COUNT] > g->capacities[log];
}

static vyre_status broken(const recording *g) {
    return vyre_status_make(VYRE_STATUS_BACKEND, "report this as a bug of the backend",
                            "the backend returned messages of `%s` that it cannot have recorded",
                            g->ir->strings);
}

/* Sets whether a log had no room for all. Those it has are some of all, so the first of all are not
 * behind the first of them: the next turn keeps no others. */
static vyre_status look_for_overflow(recording *g, uint32_t log, bool *again) {
    if (!has_overflow(g, log)) {
        return VYRE_OK;
    }
    sort_log(g, log);
    const uint32_t *last = record_of(g, log, log ? 0 : (size_t)g->limit - 1);
    if (!is_before(g, last, g->limits[log])) {
        return broken(g); /* and no turn would be the last */
    }
    memcpy(g->limits[log], last, g->layout.key_words * sizeof *last);
    *again = true;
    return VYRE_OK;
}

/* Output */

typedef struct shown {
    vyre_strbuf text;
    vyre_message message;
    uint32_t inst;
} shown;

/* Whether a record is one of a message; a backend may return anything. */
static bool is_sound(const recording *g, const uint32_t *record) {
    uint32_t inst = record[g->layout.key_words];
    return inst < g->ir->inst_count && vyre_op_is_message(g->ir->insts[inst].op);
}

static void show(const recording *g, const uint32_t *record, shown *out) {
    const uint32_t *words = record + g->layout.key_words;
    out->inst = *words++;
    const vyre_inst *inst = &g->ir->insts[out->inst];
    vyre_list values = vyre_inst_operands(g->ir, inst);
    vyre_type types[VYRE_LIMIT_MESSAGE_VALUES];
    uint64_t bits[VYRE_LIMIT_MESSAGE_VALUES];
    uint32_t head = vyre_message_head(inst->op);
    for (uint32_t i = 0; i + head < values.count; i++) {
        types[i] = vyre_operand_type(g->ir, values.items[i + head]);
        uint32_t bytes = vyre_type_bytes(types[i]);
        bits[i] = *words++;
        bits[i] = bytes < 4 ? bits[i] & (((uint64_t)1 << 8 * bytes) - 1) : bits[i];
        bits[i] |= bytes == 8 ? (uint64_t)*words++ << 32 : 0;
    }
    vyre_strbuf_cut(&out->text, 0);
    vyre_message_format(&out->text, vyre_message_text(g->ir, inst), types, bits);
    uint32_t scope = g->ir->place_count ? VYRE_PLACE_SCOPE(g->ir->places[out->inst]) : 0;
    out->message = (vyre_message){.text = vyre_strbuf_string(&out->text),
                                  .size = out->text.size,
                                  .file = vyre_ir_file(g->ir, scope),
                                  .line = vyre_ir_line(g->ir, out->inst)};
}

static vyre_status hand_out(const recording *g, vyre_prints *prints) {
    const uint32_t *head = head_of(g, 0);
    uint64_t total = head[VYRE_LOG_TOTAL] | (uint64_t)head[VYRE_LOG_TOTAL_HIGH] << 32;
    size_t count = has_overflow(g, 0) ? 0 : sort_log(g, 0);
    shown line = {0};
    count = count < g->limit ? count : (size_t)g->limit;
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (!is_sound(g, record_of(g, 0, i))) {
            status = broken(g);
            break;
        }
        show(g, record_of(g, 0, i), &line);
        if (line.text.failed) {
            status = vyre_no_memory("for a message");
        } else {
            prints->write(prints->user, &line.message);
        }
    }
    prints->left_out = total - count;
    vyre_strbuf_free(&line.text);
    return status;
}

/* The step and the invocation that a record comes from. */
static void print_origin(const recording *g, const uint32_t *record, vyre_strbuf *out) {
    const uint32_t *position = record + g->layout.key_words - 4;
    const vyre_ir *ir = g->ir;
    uint32_t inst = record[g->layout.key_words], phase = 0;
    while (inst >= ir->phases[phase].end) {
        phase++;
    }
    vyre_strbuf_puts(out, "invocation ");
    vyre_strbuf_puts(out, ir->phases[phase].dimensions > 1 ? "(" : "");
    for (uint32_t i = 0; i < ir->phases[phase].dimensions; i++) {
        vyre_strbuf_printf(out, i ? ", %u" : "%u", position[2 - i]);
    }
    vyre_strbuf_puts(out, ir->phases[phase].dimensions > 1 ? ")" : "");
    uint32_t step = 0, depth = 0;
    while (ir->steps[step].kind != VYRE_STEP_PHASE || ir->steps[step].size != phase) {
        step++;
    }
    if (ir->step_count > 1 && ir->step_name_count && ir->step_names[step]) {
        vyre_strbuf_printf(out, " of phase `%s`", ir->debug_strings + ir->step_names[step]);
    }
    for (uint32_t i = 0; i < step; i++) {
        if (vyre_step_is_repeat(&ir->steps[i]) && ir->steps[i].end > step) {
            vyre_strbuf_printf(out, depth ? " %u" : ", iteration %u", record[2 * depth + 1]);
            depth++;
        }
    }
}

static const char in_place_note[] =
    "; the contents of the resident buffers that it writes are unspecified";

/* The status of a run in place in which too many asserts failed to tell which was the first. */
static vyre_status report_number(const char *program, uint64_t total) {
    return vyre_status_make(VYRE_STATUS_ASSERTION,
                            "run it with data of the host to see the first failure, or run it "
                            "without asserts",
                            "`%s`: assertions failed: %llu%s", program, (unsigned long long)total,
                            in_place_note);
}

/* The status of a run of which an assert failed. */
static vyre_status report(const recording *g, const char *program) {
    const uint32_t *head = head_of(g, 1);
    uint64_t total = head[VYRE_LOG_TOTAL] | (uint64_t)head[VYRE_LOG_TOTAL_HIGH] << 32;
    if (has_overflow(g, 1)) {
        return report_number(program, total);
    }
    if (!sort_log(g, 1)) {
        return VYRE_OK;
    }
    if (!is_sound(g, record_of(g, 1, 0))) {
        return broken(g);
    }
    shown line = {0};
    vyre_strbuf origin = {0};
    show(g, record_of(g, 1, 0), &line);
    print_origin(g, record_of(g, 1, 0), &origin);
    const char *file = line.message.file;
    vyre_status status =
        line.text.failed || origin.failed
            ? vyre_no_memory("for a message")
            : vyre_status_make(VYRE_STATUS_ASSERTION,
                               "correct the kernel or its inputs, or run it without asserts",
                               "`%s`, %s%sline %u, %s: %s (assertions failed: %llu)%s", program,
                               file, *file ? " " : "", line.message.line,
                               vyre_strbuf_string(&origin), line.message.text,
                               (unsigned long long)total, g->in_place ? in_place_note : "");
    vyre_strbuf_free(&line.text);
    vyre_strbuf_free(&origin);
    return status;
}

/* Turns until all that is wanted is there. */
static vyre_status run_turns(vyre_pipeline *recorder, const vyre_message_run *run,
                             const vyre_dispatch_config *config, recording *g) {
    vyre_input *inputs = vyre_alloc_array(run->input_count + 1, sizeof *inputs);
    uint64_t start_ns = config->timeout_ns ? vyre_now_ns() : 0;
    if (!inputs) {
        return vyre_no_memory("for a list of %zu inputs", run->input_count + 1);
    }
    if (run->input_count) {
        memcpy(inputs, run->inputs, run->input_count * sizeof *inputs);
    }
    inputs[run->input_count] = (vyre_input){g->words, g->word_count * sizeof *g->words};
    vyre_status status;
    bool again;
    do {
        vyre_dispatch_config rest;
        again = false;
        status = vyre_config_rest(config, start_ns, recorder->program, &rest);
        status = status ? status : run_once(recorder, run, inputs, &rest, g);
        status = status ? status : look_for_overflow(g, 0, &again);
        status = status ? status : look_for_overflow(g, 1, &again);
    } while (again && !status);
    vyre_free(inputs);
    return status;
}

/* What is said about the run is said about the program that the caller knows. */
static vyre_dispatch_config inner_config(const recording *g, const vyre_dispatch_config *config) {
    vyre_dispatch_config inner = *config;
    inner.prints = NULL;
    inner.flags &= VYRE_DISPATCH_STREAM;
    inner.determinism = VYRE_DEMAND_NOTHING;
    inner.max_output_bytes += inner.max_output_bytes ? g->word_count * sizeof *g->words : 0;
    return inner;
}

/* Compiles the program that records. `out_rest` is the config of its runs. */
static vyre_status compile_recorder(vyre_pipeline *pipeline, uint32_t kinds,
                                    const vyre_dispatch_config *config, const recording *g,
                                    vyre_dispatch_config *out_rest, vyre_pipeline **out_recorder) {
    vyre_program *program;
    uint64_t start_ns = config->timeout_ns ? vyre_now_ns() : 0;
    vyre_dispatch_config inner = inner_config(g, config);
    VYRE_TRY(vyre_messages_record(pipeline->source, kinds, &program));
    vyre_status status = vyre_device_compile(pipeline->device, program, &inner, out_recorder);
    vyre_program_release(program);
    VYRE_TRY(status);
    status = vyre_config_rest(&inner, start_ns, pipeline->program, out_rest);
    if (status) {
        vyre_pipeline_release(*out_recorder);
    }
    return status;
}

static vyre_status run_recorded(vyre_pipeline *pipeline, uint32_t kinds,
                                const vyre_message_run *run, const vyre_dispatch_config *config,
                                recording *g) {
    vyre_pipeline *recorder;
    vyre_dispatch_config rest;
    VYRE_TRY(compile_recorder(pipeline, kinds, config, g, &rest, &recorder));
    vyre_status status = run_turns(recorder, run, &rest, g);
    vyre_pipeline_release(recorder);
    return status;
}

/* Hands out what a run recorded. */
static vyre_status finish(const recording *g, uint32_t kinds, const vyre_dispatch_config *config,
                          const char *program) {
    if (kinds & VYRE_MESSAGES_PRINT) {
        VYRE_TRY(hand_out(g, config->prints));
    }
    return kinds & VYRE_MESSAGES_ASSERT ? report(g, program) : VYRE_OK;
}

vyre_status vyre_messages_run(vyre_pipeline *pipeline, uint32_t kinds,
                              const vyre_message_run *run) {
    const vyre_dispatch_config *config = vyre_config_or_default(run->config);
    recording g;
    vyre_status status = recording_init(&g, pipeline, kinds, config, false);
    status = status ? status : run_recorded(pipeline, kinds, run, config, &g);
    status = status ? status : finish(&g, kinds, config, vyre_program_name(pipeline->program));
    vyre_free(g.words);
    if (status && run->form != VYRE_RUN_INTO) {
        vyre_outputs_free(run->outputs);
    }
    return status;
}

/* Resident buffers */

/* Reads the heads, and the records of the logs that had room for all of theirs. */
static vyre_status read_logs(vyre_device *device, vyre_resident buffer, recording *g) {
    VYRE_TRY(vyre_resident_read(device, buffer, 0, g->words, HEAD_WORDS * sizeof *g->words));
    turn_words(g->words, HEAD_WORDS);
    for (uint32_t log = 0; log < VYRE_LOGS; log++) {
        uint32_t *records = record_of(g, log, 0);
        size_t count = has_overflow(g, log) ? 0 : head_of(g, log)[VYRE_LOG_COUNT];
        size_t words = count * g->layout.words;
        if (words) {
            VYRE_TRY(vyre_resident_read(device, buffer, g->firsts[log] * sizeof *records, records,
                                        words * sizeof *records));
            turn_words(records, words);
        }
    }
    return VYRE_OK;
}

static vyre_status run_with_log(vyre_pipeline *recorder, const vyre_binding *bindings, size_t count,
                                const vyre_dispatch_config *config, vyre_resident log, recording *g,
                                vyre_timing *out_timing) {
    vyre_binding all[VYRE_LIMIT_ARGUMENTS] = {0}; /* the recorder has one more than there are */
    if (count) {
        memcpy(all, bindings, count * sizeof *all);
    }
    all[count] = vyre_bind(log);
    write_heads(g);
    VYRE_TRY(
        vyre_resident_upload_at(recorder->device, log, 0, g->words, HEAD_WORDS * sizeof *g->words));
    VYRE_TRY(vyre_pipeline_run_resident(recorder, all, count + 1, config, out_timing, NULL));
    return read_logs(recorder->device, log, g);
}

static vyre_status run_in_place(vyre_pipeline *pipeline, uint32_t kinds,
                                const vyre_binding *bindings, size_t count,
                                const vyre_dispatch_config *config, recording *g,
                                vyre_timing *out_timing) {
    vyre_device *device = pipeline->device;
    vyre_pipeline *recorder;
    vyre_dispatch_config rest;
    vyre_resident log;
    VYRE_TRY(compile_recorder(pipeline, kinds, config, g, &rest, &recorder));
    vyre_status status = vyre_resident_allocate(device, g->word_count * sizeof *g->words, &log);
    if (!status) {
        status = run_with_log(recorder, bindings, count, &rest, log, g, out_timing);
        vyre_status freed = vyre_resident_free(device, log);
        if (status) {
            vyre_status_free(freed);
        } else {
            status = freed;
        }
    }
    vyre_pipeline_release(recorder);
    return status;
}

vyre_status vyre_messages_run_resident(vyre_pipeline *pipeline, uint32_t kinds,
                                       const vyre_binding *bindings, size_t count,
                                       const vyre_dispatch_config *config,
                                       vyre_timing *out_timing) {
    config = vyre_config_or_default(config);
    recording g;
    vyre_status status = recording_init(&g, pipeline, kinds, config, true);
    status =
        status ? status : run_in_place(pipeline, kinds, bindings, count, config, &g, out_timing);
    status = status ? status : finish(&g, kinds, config, vyre_program_name(pipeline->program));
    vyre_free(g.words);
    return status;
}
