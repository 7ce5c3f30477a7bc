#include "runtime/slots.h"

#include <assert.h>
#include <string.h>

#include <vyre/program.h>
#include <vyre/registry.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/program.h"
#include "trace/trace.h"

static vyre_status unsupported(const vyre_backend *backend, const char *feature) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "use another backend, or do not use this "
                            "feature",
                            "unsupported feature \"%s\" on backend `%s`", feature,
                            backend->slots->id(backend));
}

/* Inputs copied into memory that a backend may overwrite. */
typedef struct copied {
    vyre_call call;
    vyre_input *inputs;
} copied;

static void copied_free(copied *copy) {
    for (size_t i = 0; copy->inputs && i < copy->call.input_count; i++) {
        vyre_free((void *)(uintptr_t)copy->inputs[i].data);
    }
    vyre_free(copy->inputs);
}

/* False without memory. */
static bool copy_each(const vyre_call *call, copied *out, uint64_t *out_bytes) {
    *out = (copied){.call = *call};
    out->call.inputs = out->inputs = vyre_alloc_zeroed(call->input_count, sizeof *out->inputs);
    bool made = out->inputs;
    for (size_t i = 0; made && i < call->input_count; i++) {
        const vyre_input *from = &call->inputs[i];
        void *data = vyre_alloc(from->size);
        out->inputs[i] = (vyre_input){data, from->size};
        made = data;
        *out_bytes += from->size;
        if (made && from->size) {
            memcpy(data, from->data, from->size);
        }
    }
    return made;
}

static vyre_status copy_inputs(const vyre_call *call, copied *out) {
    bool made;
    uint64_t bytes = 0;
    VYRE_TRACED(VYRE_TRACE_HERE, made = copy_each(call, out, &bytes), .kind = "upload",
                .bytes = bytes, .failed = !made);
    if (!made) {
        copied_free(out);
        return vyre_no_memory("to copy the inputs of a run");
    }
    return VYRE_OK;
}

static size_t padded(size_t size) {
    return (size + 15) / 16 * 16;
}

/* Where the first of outputs aside lies, behind their list. */
static size_t first_aside(size_t count) {
    return padded(count * sizeof(vyre_output));
}

vyre_output *vyre_outputs_aside(const vyre_output *outputs, size_t count) {
    size_t bytes = first_aside(count);
    for (size_t i = 0; i < count; i++) {
        bytes += padded(outputs[i].size);
    }
    vyre_output *made = vyre_alloc(bytes);
    if (!made) {
        return NULL;
    }
    size_t place = first_aside(count);
    for (size_t i = 0; i < count; i++) {
        made[i] = (vyre_output){(uint8_t *)made + place, outputs[i].size};
        place += padded(outputs[i].size);
    }
    return made;
}

vyre_status vyre_outputs_check(const vyre_output *given, const vyre_output *outputs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (given[i].data != outputs[i].data || given[i].size != outputs[i].size) {
            return vyre_status_make(VYRE_STATUS_BACKEND,
                                    "let the backend write each output where it lies, whole, and "
                                    "leave the list alone",
                                    "the backend changed the place or the size of output %zu", i);
        }
    }
    return VYRE_OK;
}

/* Copies what lies aside, by the sizes and places that the host gave. */
static vyre_status copy_aside(const vyre_output *aside, vyre_output *outputs, size_t count) {
    size_t place = first_aside(count);
    for (size_t i = 0; i < count; i++) {
        const vyre_output whole = {(uint8_t *)(uintptr_t)aside + place, outputs[i].size};
        VYRE_TRY(vyre_outputs_check(&aside[i], &whole, 1));
        if (whole.size) {
            memcpy(outputs[i].data, whole.data, whole.size);
        }
        place += padded(whole.size);
    }
    return VYRE_OK;
}

vyre_status vyre_outputs_settle(vyre_output *aside, vyre_output *outputs, size_t count,
                                vyre_status status) {
    if (!aside && !status) {
        status = vyre_no_memory("for the outputs of a run");
    }
    if (!status) {
        status = copy_aside(aside, outputs, count);
    }
    vyre_free(aside);
    return status;
}

void vyre_outputs_in_place(const vyre_call *call, const vyre_output *arguments,
                           vyre_output *out_outputs) {
    const vyre_ir *ir = vyre_program_ir(call->program);
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (vyre_ir_is_output(ir, arg)) {
            *out_outputs++ = arguments[arg];
        }
    }
}

const vyre_timing vyre_no_times = {
    .wall_ns = VYRE_NO_TIME,
    .device_ns = VYRE_NO_TIME,
    .enqueue_ns = VYRE_NO_TIME,
    .wait_ns = VYRE_NO_TIME,
};

vyre_timing vyre_wall_time(uint64_t start_ns) {
    vyre_timing timing = vyre_no_times;
    timing.wall_ns = vyre_now_ns() - start_ns;
    return timing;
}

vyre_status vyre_check_host_memory(const vyre_backend *backend, const vyre_memory *memory) {
    return memory->place == VYRE_MEMORY_HOST
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "import it on the device that it belongs to, or copy it to the "
                                  "host and import it as VYRE_MEMORY_HOST",
                                  "backend `%s` works in the host's memory, and the memory to "
                                  "import is a device's",
                                  backend->slots->id(backend));
}

void vyre_any_workgroup_size(const vyre_backend *backend, uint32_t out_size[3]) {
    (void)backend;
    out_size[0] = out_size[1] = out_size[2] = VYRE_LIMIT_WORKGROUP;
}

void vyre_any_workgroup_count(const vyre_backend *backend, uint32_t out_count[3]) {
    (void)backend;
    out_count[0] = out_count[1] = out_count[2] = UINT32_MAX;
}

uint32_t vyre_any_invocations(const vyre_backend *backend) {
    (void)backend;
    return VYRE_LIMIT_WORKGROUP;
}

/* The forms of a run that follow from one another, for a backend and for a pipeline alike. */
#define DERIVED_FORMS(prefix, subject)                                                             \
    static vyre_status prefix##_dispatch_borrowed(const subject *self, const vyre_call *call,      \
                                                  vyre_output *outputs) {                          \
        copied copy;                                                                               \
        vyre_status status = copy_inputs(call, &copy);                                             \
        if (!status) {                                                                             \
            status = self->slots->dispatch(self, &copy.call, outputs);                             \
            copied_free(&copy);                                                                    \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    static vyre_status prefix##_dispatch_borrowed_timed(                                           \
        const subject *self, const vyre_call *call, vyre_output *outputs,                          \
        vyre_timing *out_timing) {                                                                 \
        uint64_t start = vyre_now_ns();                                                            \
        vyre_status status = self->slots->dispatch_borrowed(self, call, outputs);                  \
        *out_timing = vyre_wall_time(start);                                                       \
        return status;                                                                             \
    }                                                                                              \
    static vyre_status prefix##_dispatch_borrowed_into(const subject *self, const vyre_call *call, \
                                                       vyre_output *outputs) {                     \
        vyre_output *aside = vyre_outputs_aside(outputs, call->output_count);                      \
        vyre_status status = aside ? self->slots->dispatch_borrowed(self, call, aside) : VYRE_OK;  \
        return vyre_outputs_settle(aside, outputs, call->output_count, status);                    \
    }                                                                                              \
    static vyre_status prefix##_dispatch_in_place(const subject *self, const vyre_call *call,      \
                                                  const vyre_output *arguments) {                  \
        vyre_output outputs[VYRE_LIMIT_ARGUMENTS];                                                 \
        vyre_outputs_in_place(call, arguments, outputs);                                           \
        return prefix##_dispatch_borrowed_into(self, call, outputs);                               \
    }

DERIVED_FORMS(default, vyre_backend)
DERIVED_FORMS(pipeline, vyre_native)

static const char *default_version(const vyre_backend *backend) {
    (void)backend;
    return "unspecified";
}

static const vyre_op_set *default_supported_ops(const vyre_backend *backend) {
    (void)backend;
    return vyre_core_supported_ops();
}

static bool always_ready(void *state) {
    (void)state;
    return true;
}

static vyre_status wait_for_nothing(void *state) {
    (void)state;
    return VYRE_OK;
}

static void free_nothing(void *state) {
    (void)state;
}

static const vyre_run_slots ready_slots = {
    VYRE_RUN_HEAD,
    .is_ready = always_ready,
    .wait = wait_for_nothing,
    .free = free_nothing,
};
const vyre_pending_run vyre_ready_run = {&ready_slots, NULL};

static vyre_status default_dispatch_async(const vyre_backend *backend, const vyre_call *call,
                                          vyre_output *outputs, vyre_pending_run *out_run) {
    *out_run = vyre_ready_run;
    return backend->slots->dispatch(backend, call, outputs);
}

static vyre_status default_dispatch_borrowed_async(const vyre_backend *backend,
                                                   const vyre_call *call, vyre_output *outputs,
                                                   vyre_pending_run *out_run) {
    *out_run = vyre_ready_run;
    return backend->slots->dispatch_borrowed(backend, call, outputs);
}

static vyre_status default_resident_allocate(const vyre_backend *backend, size_t size,
                                             uint64_t *out_buffer) {
    (void)size;
    *out_buffer = 0;
    return unsupported(backend, "resident buffer allocation");
}

static vyre_status default_resident_upload(const vyre_backend *backend, uint64_t buffer,
                                           size_t offset, const void *data, size_t size) {
    (void)buffer, (void)offset, (void)data, (void)size;
    return unsupported(backend, "resident buffer upload");
}

static vyre_status default_resident_read(const vyre_backend *backend, uint64_t buffer,
                                         size_t offset, void *data, size_t size) {
    (void)buffer, (void)offset, (void)data, (void)size;
    return unsupported(backend, "resident buffer read-back");
}

static vyre_status default_resident_free(const vyre_backend *backend, uint64_t buffer) {
    (void)buffer;
    return unsupported(backend, "resident buffer free");
}

static vyre_status default_resident_dispatch_timed(const vyre_backend *backend,
                                                   const vyre_call *call, const uint64_t *buffers,
                                                   vyre_timing *out_timing) {
    (void)call, (void)buffers;
    *out_timing = vyre_no_times;
    return unsupported(backend, "resident timed dispatch");
}

static bool default_ticket_done(const vyre_backend *backend, uint64_t ticket) {
    (void)backend, (void)ticket;
    return true;
}

static vyre_status default_ticket_wait(const vyre_backend *backend, uint64_t ticket) {
    (void)backend, (void)ticket;
    return VYRE_OK;
}

static vyre_status default_compile_native(const vyre_backend *backend, const vyre_compile *compile,
                                          vyre_native *out_native) {
    (void)backend, (void)compile;
    *out_native = (vyre_native){0};
    return VYRE_OK;
}

static vyre_status default_compile_native_shared(const vyre_backend *backend,
                                                 const vyre_compile *compile,
                                                 vyre_native *out_native) {
    return backend->slots->compile_native(backend, compile, out_native);
}

static bool default_cache_snapshot(const vyre_backend *backend, vyre_cache_counts *out_counts) {
    (void)backend;
    *out_counts = (vyre_cache_counts){0};
    return false;
}

static uint32_t give_zero(const vyre_backend *backend) {
    (void)backend;
    return 0;
}
#define default_features give_zero
#define default_subgroup_size give_zero

static void default_max_workgroup_size(const vyre_backend *backend, uint32_t out_size[3]) {
    (void)backend;
    out_size[0] = out_size[1] = out_size[2] = 1;
}

#define default_max_workgroups_per_dimension default_max_workgroup_size

static uint32_t default_max_invocations_per_workgroup(const vyre_backend *backend) {
    uint32_t size[3];
    backend->slots->max_workgroup_size(backend, size);
    uint64_t product = (uint64_t)size[0] * size[1];
    product = product > UINT32_MAX ? UINT32_MAX : product;
    product *= size[2];
    return product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
}

static uint64_t default_max_storage_buffer_bytes(const vyre_backend *backend) {
    (void)backend;
    return 0;
}

static void default_device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    bool subgroups = backend->slots->features(backend) & VYRE_FEATURE_SUBGROUP_OPS;
    out_profile->flags = subgroups ? (uint64_t)VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE : 0;
    out_profile->max_native_int_width = 32;
}

/* Of slots that have the same default. */
static vyre_status do_nothing(const vyre_backend *backend) {
    (void)backend;
    return VYRE_OK;
}
#define default_prepare do_nothing
#define default_flush do_nothing
#define default_shutdown do_nothing

static bool default_device_lost(const vyre_backend *backend) {
    (void)backend;
    return false;
}

static vyre_status default_try_recover(const vyre_backend *backend) {
    return unsupported(backend, "device recovery");
}

static void default_destroy(const vyre_backend *backend) {
    (void)backend;
}

/* More of resident buffers */

static vyre_status default_resident_import(const vyre_backend *backend, const vyre_memory *memory,
                                           uint64_t *out_buffer) {
    (void)memory;
    *out_buffer = 0;
    return unsupported(backend, "resident buffers of the caller's memory");
}

static vyre_status default_resident_address(const vyre_backend *backend, uint64_t buffer,
                                            vyre_memory *out_memory) {
    (void)buffer;
    *out_memory = (vyre_memory){0};
    return unsupported(backend, "addresses of resident buffers");
}

static vyre_status default_resident_range(const vyre_backend *backend, uint64_t buffer,
                                          size_t offset, size_t size, uint64_t *out_buffer) {
    (void)buffer, (void)offset, (void)size;
    *out_buffer = 0;
    return unsupported(backend, "runs on a range of a resident buffer");
}

/* Copies and fills of backends that have none go through the host in pieces. */
enum { PIECE_BYTES = 1 << 20 };

static size_t piece_bytes(size_t rest) {
    return rest < PIECE_BYTES ? rest : PIECE_BYTES;
}

static vyre_status default_resident_copy(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                         uint64_t from, size_t from_offset, size_t size) {
    void *piece = size ? vyre_alloc(piece_bytes(size)) : NULL;
    if (size && !piece) {
        return vyre_no_memory("to copy %zu bytes between resident buffers", size);
    }
    vyre_status status = VYRE_OK;
    for (size_t at = 0, bytes; at < size && !status; at += bytes) {
        bytes = piece_bytes(size - at);
        status = backend->slots->resident_read(backend, from, from_offset + at, piece, bytes);
        if (!status) {
            status = backend->slots->resident_upload(backend, to, to_offset + at, piece, bytes);
        }
    }
    vyre_free(piece);
    return status;
}

static vyre_status default_resident_fill(const vyre_backend *backend, uint64_t buffer,
                                         size_t offset, size_t size, const void *pattern,
                                         size_t pattern_size) {
    uint8_t *piece = size ? vyre_alloc(piece_bytes(size)) : NULL;
    if (size && !piece) {
        return vyre_no_memory("to fill %zu bytes of a resident buffer", size);
    }
    for (size_t at = 0; at < piece_bytes(size); at += pattern_size) {
        memcpy(piece + at, pattern, pattern_size);
    }
    vyre_status status = VYRE_OK;
    for (size_t at = 0, bytes; at < size && !status; at += bytes) {
        bytes = piece_bytes(size - at);
        status = backend->slots->resident_upload(backend, buffer, offset + at, piece, bytes);
    }
    vyre_free(piece);
    return status;
}

static vyre_status default_memory_pin(const vyre_backend *backend, void *memory, size_t size,
                                      uint64_t *out_pin) {
    (void)backend, (void)memory, (void)size;
    *out_pin = 0;
    return VYRE_OK;
}

static vyre_status default_memory_unpin(const vyre_backend *backend, uint64_t number) {
    (void)backend, (void)number;
    return VYRE_OK;
}

/* A pipeline without a dispatch of its own: every form is the backend's. */

static vyre_status pipeline_dispatch(const vyre_native *native, const vyre_call *call,
                                     vyre_output *outputs) {
    return native->backend->slots->dispatch(native->backend, call, outputs);
}

static vyre_status through_dispatch_borrowed(const vyre_native *native, const vyre_call *call,
                                             vyre_output *outputs) {
    return native->backend->slots->dispatch_borrowed(native->backend, call, outputs);
}

static vyre_status through_dispatch_borrowed_timed(const vyre_native *native, const vyre_call *call,
                                                   vyre_output *outputs, vyre_timing *out_timing) {
    return native->backend->slots->dispatch_borrowed_timed(native->backend, call, outputs,
                                                           out_timing);
}

static vyre_status through_dispatch_borrowed_into(const vyre_native *native, const vyre_call *call,
                                                  vyre_output *outputs) {
    return native->backend->slots->dispatch_borrowed_into(native->backend, call, outputs);
}

static vyre_status through_dispatch_in_place(const vyre_native *native, const vyre_call *call,
                                             const vyre_output *arguments) {
    return native->backend->slots->dispatch_in_place(native->backend, call, arguments);
}

static vyre_status pipeline_enqueue(const vyre_native *native, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    vyre_timing timing;
    *out_ticket = 0;
    return native->backend->slots->resident_dispatch_timed(native->backend, call, buffers, &timing);
}

static uint64_t pipeline_size_bytes(const vyre_native *native) {
    (void)native;
    return 0;
}

static void pipeline_destroy(const vyre_native *native) {
    (void)native;
}

#define FILL_DEFAULT(name) table->name = table->name ? table->name : default_##name;
#define FILL_PIPELINE(name) table->name = table->name ? table->name : pipeline_##name;
#define COUNT(name) +1

static_assert(sizeof(vyre_backend_slots) ==
                  offsetof(vyre_backend_slots, id) +
                      (2 VYRE_OPTIONAL_SLOTS(COUNT)) * sizeof(void (*)(void)),
              "VYRE_OPTIONAL_SLOTS is not all of the table");
static_assert(sizeof(vyre_pipeline_slots) ==
                  offsetof(vyre_pipeline_slots, dispatch) +
                      (0 VYRE_PIPELINE_SLOTS(COUNT)) * sizeof(void (*)(void)),
              "VYRE_PIPELINE_SLOTS is not all of the table");

typedef struct adopted_backend {
    vyre_backend backend; /* first, so that one is the other */
    vyre_backend_slots table;
    const char *id; /* of the registration: what the slot says later does not count */
    void (*own_profile)(const vyre_backend *backend, vyre_profile *out_profile);
} adopted_backend;

typedef struct adopted_native {
    vyre_native native;
    vyre_pipeline_slots table;
} adopted_native;

static vyre_status refuse_table(const char *what, const char *id, const char *fix,
                                const char *detail) {
    return vyre_status_make(VYRE_STATUS_BACKEND, fix, "the %s of backend `%s` %s", what, id,
                            detail);
}

static const adopted_backend *adopted_of(const vyre_backend *backend) {
    return (const adopted_backend *)(const void *)backend;
}

static const char *adopted_id(const vyre_backend *backend) {
    return adopted_of(backend)->id;
}

/* The backend's profile, with what other slots say from there. */
static void adopted_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    static const struct {
        uint32_t feature;
        uint64_t flag;
    } same[] = {
        {VYRE_FEATURE_SUBGROUP_OPS, VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS},
        {VYRE_FEATURE_INDIRECT_DISPATCH, VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH},
        {VYRE_FEATURE_F16, VYRE_PROFILE_SUPPORTS_F16},
        {VYRE_FEATURE_BF16, VYRE_PROFILE_SUPPORTS_BF16},
        {VYRE_FEATURE_TENSOR_CORES, VYRE_PROFILE_SUPPORTS_TENSOR_CORES},
    };
    const vyre_backend_slots *slots = backend->slots;
    *out_profile = (vyre_profile){0};
    adopted_of(backend)->own_profile(backend, out_profile);
    uint32_t features = slots->features(backend);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        out_profile->flags &= ~same[i].flag;
        out_profile->flags |= features & same[i].feature ? same[i].flag : 0;
    }
    out_profile->backend = slots->id(backend);
    out_profile->device = out_profile->device ? out_profile->device : "";
    out_profile->driver = out_profile->driver ? out_profile->driver : "";
    out_profile->max_invocations_per_workgroup = slots->max_invocations_per_workgroup(backend);
    out_profile->max_storage_buffer_bytes = slots->max_storage_buffer_bytes(backend);
    out_profile->subgroup_size = slots->subgroup_size(backend);
    slots->max_workgroup_size(backend, out_profile->max_workgroup_size);
    slots->max_workgroups_per_dimension(backend, out_profile->max_workgroups_per_dimension);
}

bool vyre_abi_suits(uint32_t needed, uint32_t host) {
    return needed >> 16 == host >> 16 && (needed & 0xffff) <= (host & 0xffff);
}

/* Whether the head of a table can be believed. */
static vyre_status check_table(const vyre_backend_slots *slots, const char *id) {
    static const char *const rebuild = "build it against the vyre/backend.h of this library";
    static const char *const newer = "upgrade vyre, or build it against this one's vyre/backend.h";
    if (!slots) {
        return refuse_table("table", id, "set `slots` in its factory", "is missing");
    }
    if (slots->marker != VYRE_BACKEND_MARKER) {
        return refuse_table("table", id, "start it with VYRE_BACKEND_HEAD",
                            "does not have the magic number of a backend");
    }
    if (!vyre_abi_suits(slots->abi, VYRE_ABI)) {
        return refuse_table("table", id, newer, "needs another ABI version");
    }
    if (slots->struct_size < offsetof(vyre_backend_slots, version)) {
        return refuse_table("table", id, rebuild, "is too short");
    }
    if (slots->reserved[0] || slots->reserved[1]) {
        return refuse_table("table", id, "start it with VYRE_BACKEND_HEAD",
                            "has reserved fields that are not 0");
    }
    if (!slots->id || !slots->dispatch) {
        return refuse_table("table", id, "set both; they are required",
                            "has no `id` or no `dispatch`");
    }
    return VYRE_OK;
}

/* How much of a table is there: whole slots alone. */
static size_t table_bytes(uint32_t given, size_t head, size_t own) {
    size_t whole = head + (given - head) / sizeof(void (*)(void)) * sizeof(void (*)(void));
    return whole < own ? whole : own;
}

vyre_status vyre_backend_adopt(const vyre_backend *made, const char *id,
                               vyre_backend **out_backend) {
    *out_backend = NULL;
    vyre_status status = check_table(made->slots, id);
    if (status) {
        return status;
    }
    adopted_backend small = {0}, *adopted = vyre_alloc(sizeof *adopted);
    adopted_backend *target = adopted ? adopted : &small; /* it can be destroyed at least */
    *target = (adopted_backend){{&target->table, made->state, vyre_host_services()}, {0}, id, NULL};
    vyre_backend_slots *table = &target->table;
    memcpy(table, made->slots,
           table_bytes(made->slots->struct_size, offsetof(vyre_backend_slots, id), sizeof *table));
    VYRE_OPTIONAL_SLOTS(FILL_DEFAULT)
    target->own_profile = table->device_profile;
    table->device_profile = adopted_profile;
    const char *own_id = table->id(&target->backend);
    if (!adopted) {
        status = vyre_no_memory("for backend `%s`", id);
    } else if (!own_id || strcmp(own_id, id) != 0) {
        status = vyre_status_make(
            VYRE_STATUS_BACKEND, "return the ID of the registration from the table's `id`",
            "the table of backend `%s` gives the ID `%s`", id, own_id ? own_id : "");
    } else if (!table->version(&target->backend) || !table->supported_ops(&target->backend)) {
        status = refuse_table("table", id, "set slots to NULL that have nothing to return",
                              "has a `version` or `supported_ops` that returns NULL");
    }
    if (status) {
        table->destroy(&target->backend);
        vyre_free(adopted);
        return status;
    }
    table->id = adopted_id;
    *out_backend = &adopted->backend;
    return VYRE_OK;
}

bool vyre_backend_has_residents(const vyre_backend *backend) {
    const vyre_backend_slots *slots = backend->slots;
    return slots->resident_allocate != default_resident_allocate &&
           slots->resident_upload != default_resident_upload &&
           slots->resident_read != default_resident_read &&
           slots->resident_free != default_resident_free &&
           slots->resident_dispatch_timed != default_resident_dispatch_timed;
}

bool vyre_backend_has_addresses(const vyre_backend *backend) {
    return backend->slots->resident_address != default_resident_address;
}

bool vyre_backend_has_ranges(const vyre_backend *backend) {
    return backend->slots->resident_range != default_resident_range;
}

bool vyre_backend_compiles(const vyre_backend *backend) {
    return backend->slots->compile_native != default_compile_native ||
           backend->slots->compile_native_shared != default_compile_native_shared;
}

void vyre_backend_drop(vyre_backend *backend) {
    if (backend) {
        backend->slots->destroy(backend);
        vyre_free(backend);
    }
}

vyre_status vyre_native_adopt(const vyre_native *made, const vyre_backend *backend,
                              vyre_native **out_native) {
    *out_native = NULL;
    const char *id = backend->slots->id(backend);
    if (!vyre_abi_suits(made->slots->abi, VYRE_ABI) || made->slots->reserved[0] ||
        made->slots->reserved[1] ||
        made->slots->struct_size < offsetof(vyre_pipeline_slots, dispatch)) {
        return refuse_table("pipeline table", id, "start it with VYRE_PIPELINE_HEAD",
                            "needs another ABI version, or has a damaged head");
    }
    adopted_native small = {0}, *adopted = vyre_alloc(sizeof *adopted);
    adopted_native *target = adopted ? adopted : &small;
    *target = (adopted_native){{&target->table, made->state, backend, NULL, 0}, {0}};
    vyre_pipeline_slots *table = &target->table;
    memcpy(table, made->slots,
           table_bytes(made->slots->struct_size, offsetof(vyre_pipeline_slots, dispatch),
                       sizeof *table));
    if (!table->dispatch) {
        table->dispatch_borrowed = through_dispatch_borrowed;
        table->dispatch_borrowed_timed = through_dispatch_borrowed_timed;
        table->dispatch_borrowed_into = through_dispatch_borrowed_into;
        table->dispatch_in_place = through_dispatch_in_place;
    }
    VYRE_PIPELINE_SLOTS(FILL_PIPELINE)
    if (!adopted) {
        table->destroy(&target->native);
        return vyre_no_memory("for a pipeline of backend `%s`", id);
    }
    *out_native = &adopted->native;
    return VYRE_OK;
}

vyre_status vyre_check_run(const vyre_backend *backend, const vyre_pending_run *run) {
    const vyre_run_slots *slots = run->slots;
    return slots && VYRE_HAS(slots, free) && vyre_abi_suits(slots->abi, VYRE_ABI) &&
                   slots->is_ready && slots->wait && slots->free
               ? VYRE_OK
               : refuse_table("table of a run", backend->slots->id(backend),
                              "start it with VYRE_RUN_HEAD and set every slot",
                              "is missing or incomplete");
}

void vyre_native_drop(vyre_native *native) {
    if (native) {
        native->slots->destroy(native);
        vyre_free(native);
    }
}
