#include "tests/mock/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/device.h"
#include "tests/mock/state.h"

void *mock_alloc(size_t size) {
    void *memory = calloc(1, size + 1);
    if (!memory) {
        abort();
    }
    return memory;
}

const char *mock_slot_name(mock_slot slot) {
    static const char *const names[] = {
        "create",
        "id",
        "dispatch",
#define MOCK_NAME(name) #name,
        VYRE_OPTIONAL_SLOTS(MOCK_NAME)
#undef MOCK_NAME
#define MOCK_NAME(name) "pipeline_" #name,
            VYRE_PIPELINE_SLOTS(MOCK_NAME)
#undef MOCK_NAME
                "execution",
    };
    return names[slot];
}

static bool has(const mock_spec *spec, mock_slot slot) {
    return spec->slots >> slot & 1;
}

mock *mock_create(const mock_spec *spec) {
    mock *self = mock_alloc(sizeof *self);
    self->spec = *spec;
    self->spec.id = spec->id ? spec->id : "mock";
    self->spec.version = spec->version ? spec->version : "1";
    self->spec.ops = spec->ops ? spec->ops : vyre_core_supported_ops();
    self->spec.rank = spec->rank ? spec->rank : 50;
    self->host = vyre_host_services();
    self->place = MOCK_REGISTERED;
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->runner, NULL);
    pthread_cond_init(&self->changed, NULL);
    if (spec->null) {
        mock_fill_null(&self->slots);
        return self;
    }
    mock_fill_slots(&self->slots);
    mock_fill_pipeline_slots(&self->pipeline_slots);
#define MOCK_DROP(name)                                                                            \
    if (!has(spec, MOCK_##name)) {                                                                 \
        self->slots.name = NULL;                                                                   \
    }
    VYRE_OPTIONAL_SLOTS(MOCK_DROP)
#undef MOCK_DROP
#define MOCK_DROP(name)                                                                            \
    if (!has(spec, MOCK_pipeline_##name)) {                                                        \
        self->pipeline_slots.name = NULL;                                                          \
    }
    VYRE_PIPELINE_SLOTS(MOCK_DROP)
#undef MOCK_DROP
    if (spec->mode == MOCK_RUNS_ON_THREAD) {
        self->has_thread = !pthread_create(&self->thread, NULL, mock_thread, self);
    }
    return self;
}

vyre_backend_slots *mock_table(mock *self) {
    return &self->slots;
}

vyre_backend mock_made(mock *self) {
    return (vyre_backend){&self->slots, self, self->host};
}

vyre_status mock_open_index(mock *self, uint32_t index, vyre_device **out_device) {
    vyre_backend made = mock_made(self);
    return vyre_device_open(&made, self->spec.id, index, out_device);
}

vyre_status mock_open(mock *self, vyre_device **out_device) {
    return mock_open_index(self, 0, out_device);
}

/* Factories carry no state, so each mock that is registered has one of its own. */
static mock *registered[MOCK_REGISTERED];
static pthread_mutex_t registered_lock = PTHREAD_MUTEX_INITIALIZER;

static vyre_status create_place(size_t place, vyre_backend *out_backend) {
    mock *self = registered[place];
    vyre_status status = self->spec.null ? NULL : mock_enter(self, MOCK_create, NULL, NULL, NULL);
    if (!status) {
        out_backend->slots = &self->slots;
        out_backend->state = self;
    }
    return status;
}

#define MOCK_PLACES(X)                                                                             \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define MOCK_FACTORY(n)                                                                            \
    static vyre_status create_##n(const vyre_host *host, uint32_t device, vyre_backend *out) {     \
        (void)host;                                                                                \
        (void)device;                                                                              \
        return create_place(n, out);                                                               \
    }                                                                                              \
    static const vyre_op_set *ops_##n(void) {                                                      \
        return registered[n]->spec.ops;                                                            \
    }
MOCK_PLACES(MOCK_FACTORY)

const vyre_bundle *mock_bundle(mock *self) {
    static const vyre_registration factories[MOCK_REGISTERED] = {
#define MOCK_ROW(n) {"", create_##n, ops_##n, NULL},
        MOCK_PLACES(MOCK_ROW)};
    if (self->place < MOCK_REGISTERED) {
        return &self->bundle;
    }
    pthread_mutex_lock(&registered_lock);
    self->place = 0;
    while (self->place < MOCK_REGISTERED && registered[self->place]) {
        self->place++;
    }
    if (self->place == MOCK_REGISTERED) {
        abort();
    }
    registered[self->place] = self;
    pthread_mutex_unlock(&registered_lock);
    self->registration = factories[self->place];
    self->registration.id = self->spec.id;
    self->precedence = (vyre_precedence){self->spec.id, self->spec.rank};
    self->capability = (vyre_capability){self->spec.id, !self->spec.emission_only};
    self->bundle = (vyre_bundle){
        VYRE_BUNDLE_HEAD, &self->registration, 1, &self->precedence, 1, &self->capability, 1};
    return &self->bundle;
}

void mock_free(mock *self) {
    if (!self) {
        return;
    }
    if (self->has_thread) {
        pthread_mutex_lock(&self->lock);
        self->ends = true;
        pthread_cond_broadcast(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    while (self->first) {
        mock_job *job = self->first;
        self->first = job->next;
        mock_job_free(job);
    }
    while (self->compiled) { /* without a destroy slot nobody else does it */
        mock_compiled_free(&self->compiled);
    }
    for (size_t i = 0; i < self->resident_count; i++) {
        if (!self->residents[i].is_borrowed) {
            free(self->residents[i].data);
        }
    }
    if (self->place < MOCK_REGISTERED) {
        pthread_mutex_lock(&registered_lock);
        registered[self->place] = NULL;
        pthread_mutex_unlock(&registered_lock);
    }
    free(self->residents);
    free(self->failures);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->runner);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void set_rule(mock *self, mock_slot slot, mock_rule rule) {
    pthread_mutex_lock(&self->lock);
    rule.delay_ns = self->rules[slot].delay_ns;
    self->rules[slot] = rule;
    pthread_mutex_unlock(&self->lock);
}

void mock_fail(mock *self, mock_slot slot, uint64_t n, uint32_t code, const char *text) {
    set_rule(self, slot, (mock_rule){.at = n, .code = code, .text = text});
}

void mock_fail_always(mock *self, mock_slot slot, uint32_t code, const char *text) {
    set_rule(self, slot, (mock_rule){.at = 1, .always = true, .code = code, .text = text});
}

void mock_fail_never(mock *self, mock_slot slot) {
    set_rule(self, slot, (mock_rule){0});
}

void mock_delay(mock *self, mock_slot slot, uint64_t ns) {
    pthread_mutex_lock(&self->lock);
    self->rules[slot].delay_ns = ns;
    pthread_mutex_unlock(&self->lock);
}

void mock_lose(mock *self) {
    pthread_mutex_lock(&self->lock);
    self->lost = true;
    pthread_mutex_unlock(&self->lock);
}

static void record(mock *self, mock_slot slot, const vyre_call *call, const vyre_output *outputs,
                   const mock_record *note) {
    mock_record *row = &self->records[slot];
    *row = note ? *note : (mock_record){0};
    row->number = ++self->calls;
    self->counts[slot]++;
    if (!call) {
        return;
    }
    row->program = call->program;
    row->input_list = call->inputs;
    row->input_count = call->input_count;
    row->argument_count = call->argument_count;
    row->output_count = call->output_count;
    row->grid_count = call->grid_count;
    row->config = *call->config;
    row->config.label = NULL;
    snprintf(row->label, sizeof row->label, "%s", call->config->label ? call->config->label : "");
    if (call->grid_count) {
        row->grid = call->grids[0];
    }
    row->has_native = call->native;
    for (mock_compiled *at = self->compiled; call->native && at; at = at->next) {
        row->native_is_own = row->native_is_own || call->native->state == at;
    }
    row->aligned = true;
    for (size_t i = 0; call->inputs && i < call->input_count; i++) {
        uintptr_t address = (uintptr_t)call->inputs[i].data;
        row->aligned = row->aligned && address % _Alignof(max_align_t) == 0;
        if (i < MOCK_ARGUMENTS) {
            row->inputs[i] = call->inputs[i];
        }
    }
    for (size_t i = 0; i < call->argument_count && i < MOCK_ARGUMENTS; i++) {
        row->arguments[i] = call->arguments[i];
    }
    for (size_t i = 0; outputs && i < call->output_count && i < MOCK_ARGUMENTS; i++) {
        row->outputs[i] = outputs[i];
    }
}

vyre_status mock_enter(mock *self, mock_slot slot, const vyre_call *call,
                       const vyre_output *outputs, const mock_record *note) {
    pthread_mutex_lock(&self->lock);
    record(self, slot, call, outputs, note);
    mock_rule *rule = &self->rules[slot];
    struct timespec delay = {(time_t)(rule->delay_ns / 1000000000),
                             (long)(rule->delay_ns % 1000000000)};
    bool fails = rule->at == 1;
    uint32_t code = rule->code;
    const char *text = rule->text;
    rule->at -= rule->at && !(fails && rule->always);
    self->lost = self->lost || (fails && code == VYRE_FAIL_DEVICE_LOST);
    if (!fails && self->lost && slot != MOCK_try_recover && slot != MOCK_create) {
        fails = true;
        code = VYRE_FAIL_DEVICE_LOST;
        text = "the mock lost its device";
    }
    pthread_mutex_unlock(&self->lock);
    if (delay.tv_sec || delay.tv_nsec) {
        nanosleep(&delay, NULL);
    }
    char message[128];
    if (fails && !text) {
        snprintf(message, sizeof message, "the mock's %s failed", mock_slot_name(slot));
    }
    return fails ? self->host->status_make(code, NULL, text ? text : message) : NULL;
}

uint64_t mock_count(mock *self, mock_slot slot) {
    pthread_mutex_lock(&self->lock);
    uint64_t count = self->counts[slot];
    pthread_mutex_unlock(&self->lock);
    return count;
}

mock_record mock_last(mock *self, mock_slot slot) {
    pthread_mutex_lock(&self->lock);
    mock_record row = self->records[slot];
    pthread_mutex_unlock(&self->lock);
    return row;
}

void mock_forget(mock *self) {
    pthread_mutex_lock(&self->lock);
    memset(self->counts, 0, sizeof self->counts);
    memset(self->records, 0, sizeof self->records);
    self->calls = 0;
    pthread_mutex_unlock(&self->lock);
}

size_t mock_residents(mock *self) {
    size_t live = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->resident_count; i++) {
        live += self->residents[i].live;
    }
    pthread_mutex_unlock(&self->lock);
    return live;
}

size_t mock_pipelines(mock *self) {
    pthread_mutex_lock(&self->lock);
    size_t live = 0;
    for (mock_compiled *at = self->compiled; at; at = at->next) {
        live++;
    }
    pthread_mutex_unlock(&self->lock);
    return live;
}

size_t mock_runs(mock *self) {
    pthread_mutex_lock(&self->lock);
    size_t live = self->runs;
    pthread_mutex_unlock(&self->lock);
    return live;
}

uint64_t mock_artifact_uses(mock *self) {
    pthread_mutex_lock(&self->lock);
    uint64_t uses = self->artifact_uses;
    pthread_mutex_unlock(&self->lock);
    return uses;
}
