#include "backend/vulkan/run.h"

#include <stdio.h>
#include <string.h>

#include "backend/vulkan/counting.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/places.h"
#include "runtime/plan.h"

/* Launches in one submission, and workgroups of a phase that take their groups in order or whose
 * domain is from memory. Of a run with a timeout a submission has about so many groups at most:
 * phases without loops do not look at the stop word. */
enum { MOST_DISPATCHES = 1024, ROOM_GROUPS = 4096, TIMED_GROUPS = 1 << 18 };

static void put_u64(const vulkan_run *run, uint32_t at, uint64_t value) {
    memcpy(run->frame + at, &value, sizeof value);
}

static uint64_t get_u64(const vulkan_run *run, uint32_t at) {
    uint64_t value;
    memcpy(&value, run->frame + at, sizeof value);
    return value;
}

static uint64_t address_of(const vulkan_place *place) {
    return vulkan_block_address(place->block) + place->offset;
}

void vulkan_run_set_array(vulkan_run *run, uint32_t array, vulkan_block *block, uint64_t offset) {
    run->places[array] = (vulkan_place){block, offset};
    put_u64(run, run->executable->layout.arrays + array * 8, address_of(&run->places[array]));
}

static uint64_t array_length(const vulkan_run *run, uint32_t array) {
    return get_u64(run, run->executable->layout.lengths + array * 8);
}

uint64_t vulkan_run_bytes(const vulkan_run *run, uint32_t array) {
    const vyre_ir *ir = run->executable->ir;
    return array_length(run, array) * vyre_resource_stride(ir, &ir->resources[array]);
}

static const uint32_t *iterations_of(const vulkan_run *run) {
    return (const uint32_t *)(const void *)(run->frame + run->executable->layout.iterations);
}

static uint64_t size_of(const vulkan_run *run, uint32_t size) {
    return vyre_call_size(run->executable->ir, run->call, size, iterations_of(run));
}

void vulkan_run_keep(vulkan_run *run, vulkan_block *block) {
    block->next = run->batch->left;
    run->batch->left = block;
}

vyre_status vulkan_run_take(vulkan_run *run, uint64_t bytes, vulkan_block **out_block) {
    VYRE_TRY(vulkan_memory_take(run->device, VULKAN_DEVICE, bytes, out_block));
    vulkan_run_keep(run, *out_block);
    return VYRE_OK;
}

static vyre_status allocate(vulkan_run *run) {
    const spirv_layout *layout = &run->executable->layout;
    uint32_t count = layout->array_count;
    size_t places = count * sizeof *run->places, swapped = (size_t)(count + 1) / 2 * 8;
    run->memory = vyre_alloc_zeroed(1, layout->bytes + places + swapped);
    if (!run->memory) {
        return vyre_no_memory("to run `%s`", vyre_program_name(run->executable->program));
    }
    run->frame = run->memory;
    run->places = (vulkan_place *)(void *)(run->frame + layout->bytes);
    run->swapped = (uint32_t *)(void *)(run->frame + layout->bytes + places);
    for (uint32_t i = 0; i < count; i++) {
        run->swapped[i] = i;
    }
    return VYRE_OK;
}

static void fill_frame(vulkan_run *run) {
    const spirv_layout *layout = &run->executable->layout;
    const vyre_ir *ir = run->executable->ir;
    const vyre_call *call = run->call;
    for (uint32_t i = 0; i < layout->array_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind == VYRE_RESOURCE_SCRATCH) {
            put_u64(run, layout->lengths + i * 8, call->sizes[row->size]);
        }
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        put_u64(run, row == VYRE_NONE ? layout->arguments + arg * 8 : layout->lengths + row * 8,
                call->arguments[arg]);
    }
    const vulkan_block *constants = run->executable->constants;
    put_u64(run, layout->constants,
            vulkan_block_address(constants ? constants : run->batch->words));
    put_u64(run, layout->stop, vulkan_block_address(run->batch->words) + VULKAN_STOP_AT);
}

vyre_status vulkan_run_init(vulkan_run *run, vulkan_executable *executable, const vyre_call *call,
                            const atomic_uint *cancel) {
    uint64_t timeout = call->config->timeout_ns, now = timeout ? vyre_now_ns() : 0;
    *run = (vulkan_run){
        .device = executable->device,
        .executable = executable,
        .call = call,
        .cancel = cancel,
        .deadline_ns = timeout && timeout < UINT64_MAX - now ? now + timeout : 0,
    };
    VYRE_TRY(vulkan_check_lost(run->device));
    VYRE_TRY(allocate(run));
    vyre_status status = vulkan_batch_take(run->device, &run->batch);
    if (!status) {
        run->batch->executable = vulkan_executable_retain(executable);
        status = vulkan_batch_begin(run->batch);
    }
    if (status) {
        vulkan_run_deinit(run, false);
        return status;
    }
    fill_frame(run);
    return VYRE_OK;
}

void vulkan_run_deinit(vulkan_run *run, bool is_flying) {
    if (is_flying) {
        vulkan_batch_let_go(run->batch);
    } else {
        vulkan_batch_give(run->batch);
    }
    vyre_free(run->memory);
}

bool vulkan_run_fills(const vulkan_executable *executable, const vyre_call *call, uint32_t array) {
    const vyre_resource *row = &executable->ir->resources[array];
    const uint64_t *grid = call->config->grid;
    return (row->kind == VYRE_RESOURCE_SCRATCH || row->access == VYRE_ACCESS_OUT) &&
           (executable->overwritten[array] == VYRE_NONE || grid[0] || grid[1] || grid[2]);
}

static vyre_status stopped(const vulkan_run *run) {
    const char *name = vyre_program_name(run->executable->program);
    return run->stop == VULKAN_STOP_TIMEOUT
               ? vyre_status_make(VYRE_STATUS_TIMEOUT,
                                  "raise the timeout, or pass smaller arguments",
                                  "`%s` took longer than its timeout", name)
               : vyre_status_make(VYRE_STATUS_BACKEND, "run it again, and await it",
                                  "`%s` was stopped before it finished", name);
}

/* Between phases, so that long rows of them end in time, too. */
static vyre_status check_stop(vulkan_run *run) {
    if (!run->stop && run->cancel && atomic_load(run->cancel)) {
        run->stop = VULKAN_STOP_CANCEL;
    } else if (!run->stop && run->deadline_ns && vyre_now_ns() >= run->deadline_ns) {
        run->stop = VULKAN_STOP_TIMEOUT;
    }
    return run->stop ? stopped(run) : VYRE_OK;
}

vyre_status vulkan_run_submit(vulkan_run *run) {
    run->submissions++;
    run->dispatches = 0;
    run->groups = 0;
    run->is_dirty = false;
    return vulkan_batch_submit(run->batch);
}

vyre_status vulkan_run_wait(vulkan_run *run) {
    unsigned stop;
    vyre_status status = vulkan_batch_wait(run->batch, run->deadline_ns, run->cancel, &stop);
    run->stop = run->stop ? run->stop : stop;
    if (!status && !run->stop && vulkan_batch_gave_up(run->batch)) {
        char name[128];
        snprintf(name, sizeof name, "`%.100s`", vyre_program_name(run->executable->program));
        return vulkan_gave_up(run->device, name);
    }
    return status || !run->stop ? status : stopped(run);
}

/* Runs what was recorded, and goes on. */
static vyre_status finish_part(vulkan_run *run) {
    VYRE_TRY(vulkan_run_submit(run));
    VYRE_TRY(vulkan_run_wait(run));
    return vulkan_batch_go_on(run->batch);
}

static void order(vulkan_run *run) {
    if (run->is_dirty) {
        vulkan_batch_barrier(run->batch);
    }
    run->is_dirty = false;
}

/* Phases */

static uint64_t at_most(uint64_t number, uint64_t most) {
    return number < most ? number : most;
}

/* Of the invocations in a grid, so that the product of all does not wrap. */
static uint64_t product(const uint64_t groups[3]) {
    const uint64_t most = INT32_MAX;
    uint64_t all = 1;
    for (int i = 0; i < 3; i++) {
        all = groups[i] > most / all ? most : all * groups[i];
    }
    return all;
}

/* Workgroups that a launch may have: kernels go on with the next group that nobody has. */
static void find_most(const vulkan_run *run, const spirv_phase_info *phase, uint64_t out_most[3]) {
    /* One workgroup alone never waits for another in a loop, which a driver might end. */
    uint64_t room = run->device->target.most_turns ? 1 : ROOM_GROUPS;
    for (int i = 0; i < 3; i++) {
        uint64_t most = run->device->info.most_groups[i];
        out_most[i] = phase->ordered ? i ? 1 : at_most(room, most) : most;
    }
}

/* What counts the groups of a domain from memory, for a frame at an address. */
static spirv_count count_of(const vulkan_run *run, uint32_t index, const uint32_t tile[3],
                            uint64_t frame) {
    const vyre_phase *row = &run->executable->ir->phases[index];
    const spirv_phase_info *phase = &run->executable->phases[index].info;
    uint32_t array = row->from_resource;
    vyre_type type = (vyre_type)run->executable->ir->resources[array].type;
    uint64_t element = size_of(run, row->from_index), length = array_length(run, array);
    const vulkan_place *place = &run->places[array];
    uint32_t bytes = vyre_type_bytes(type);
    spirv_count count = {
        .present = element < length ? at_most(length - element, row->dimensions) : 0,
        .dimensions = row->dimensions,
        .bytes = bytes,
        .is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED,
        .field = frame + run->executable->layout.domain,
        .tile = {tile[0], tile[1], tile[2]},
        .room = ROOM_GROUPS,
        .ordered = phase->ordered,
    };
    count.from = count.present ? address_of(place) + element * bytes : 0;
    find_most(run, phase, count.most);
    return count;
}

/* A phase whose grid only the device knows: it counts the groups, then launches them. */
static vyre_status record_counted(vulkan_run *run, uint32_t index, const uint32_t tile[3]) {
    uint32_t bytes = run->executable->layout.bytes;
    uint8_t *frame;
    uint64_t address;
    VYRE_TRY(
        vulkan_batch_frame(run->batch, bytes + sizeof(spirv_count), (void **)&frame, &address));
    memcpy(frame, run->frame, bytes);
    const spirv_count count = count_of(run, index, tile, address);
    memcpy(frame + bytes, &count, sizeof count);
    order(run);
    vulkan_put_counting(run->batch, address + bytes);
    vulkan_put_pipeline(run->batch, run->executable->phases[index].pipeline, address);
    vulkan_put_indirect(run->batch, address + bytes);
    run->is_dirty = true;
    run->dispatches++;
    return run->dispatches < MOST_DISPATCHES ? VYRE_OK : finish_part(run);
}

/* One launch of the frame at hand. */
static vyre_status launch(vulkan_run *run, const vulkan_phase *phase, bool is_pushed,
                          const uint32_t grid[3]) {
    const vulkan_table *vk = &run->device->vk;
    uint32_t bytes = run->executable->layout.bytes;
    VkCommandBuffer commands = run->batch->commands;
    const void *pushed = run->frame;
    uint64_t address;
    if (!is_pushed) {
        void *frame;
        VYRE_TRY(vulkan_batch_frame(run->batch, bytes, &frame, &address));
        memcpy(frame, run->frame, bytes);
        pushed = &address;
        bytes = sizeof address;
    }
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, phase->pipeline);
    vk->vkCmdPushConstants(commands, run->device->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes,
                           pushed);
    vk->vkCmdDispatch(commands, grid[0], grid[1], grid[2]);
    run->is_dirty = true;
    run->dispatches++;
    return VYRE_OK;
}

/* The next part of a grid, as large as the device can. False behind the last. */
static bool next_part(const uint64_t groups[3], const uint32_t most[3], uint32_t first[3],
                      uint32_t grid[3]) {
    for (int i = 0; i < 3; i++) {
        if (grid[i] && first[i] + (uint64_t)grid[i] < groups[i]) {
            first[i] += grid[i];
            grid[i] = (uint32_t)at_most(groups[i] - first[i], most[i]);
            return true;
        }
        first[i] = 0;
        grid[i] = (uint32_t)at_most(groups[i], most[i]);
    }
    return false;
}

/* The workgroups of a launch in each dimension. */
static void find_part(const vulkan_run *run, const uint64_t groups[3], uint32_t out_most[3]) {
    uint64_t room = run->deadline_ns ? TIMED_GROUPS : UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        out_most[i] = (uint32_t)at_most(at_most(groups[i], run->device->info.most_groups[i]), room);
        room /= out_most[i];
        room = room ? room : 1;
    }
}

/* A phase whose grid the host knows: all groups, in as many launches as it takes. */
static vyre_status record_known(vulkan_run *run, uint32_t index, const uint64_t groups[3]) {
    const vulkan_phase *phase = &run->executable->phases[index];
    const spirv_layout *layout = &run->executable->layout;
    uint64_t in_order[3];
    bool is_pushed =
        spirv_is_pushed(layout, &run->device->target, &run->executable->ir->phases[index]);
    uint32_t first[4] = {0}, grid[3] = {0}, most[3];
    find_part(run, groups, most);
    bool more = !next_part(groups, most, first, grid);
    order(run);
    while (more) {
        if (phase->info.ordered) {
            find_most(run, &phase->info, in_order);
            grid[0] = (uint32_t)at_most(product(groups), in_order[0]);
            grid[1] = grid[2] = 1;
        }
        memcpy(run->frame + layout->first, first, sizeof first);
        VYRE_TRY(launch(run, phase, is_pushed, grid));
        run->groups += (uint64_t)grid[0] * grid[1] * grid[2];
        more = !phase->info.ordered && next_part(groups, most, first, grid);
        if (run->dispatches >= MOST_DISPATCHES ||
            (run->deadline_ns && run->groups >= TIMED_GROUPS)) {
            VYRE_TRY(finish_part(run));
            VYRE_TRY(more ? check_stop(run) : VYRE_OK);
        }
    }
    return VYRE_OK;
}

static vyre_status run_phase(vulkan_run *run, uint32_t index) {
    const vyre_ir *ir = run->executable->ir;
    const spirv_layout *layout = &run->executable->layout;
    const vulkan_phase *phase = &run->executable->phases[index];
    const vyre_grid grid = vyre_call_grid(ir, run->call, index, iterations_of(run), NULL);
    spirv_shape shape = spirv_shape_of(&ir->phases[index], &phase->info, grid.domain);
    uint64_t groups[3];
    VYRE_TRY(check_stop(run));
    for (int i = 0; i < 3; i++) {
        groups[i] = grid.domain[i] / shape.tile[i] + (grid.domain[i] % shape.tile[i] != 0);
        if (!groups[i]) {
            return VYRE_OK;
        }
        put_u64(run, layout->domain + (uint32_t)i * 8, grid.domain[i]);
        put_u64(run, layout->groups + (uint32_t)i * 8, groups[i]);
    }
    if (phase->info.ordered && product(groups) >= INT32_MAX) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use a smaller domain",
                                "`%s` needs 2^31 workgroups or more that start in order",
                                vyre_program_name(run->executable->program));
    }
    memcpy(run->frame + layout->shape, shape.bits, sizeof shape.bits);
    put_u64(run, layout->counters,
            run->counters
                ? vulkan_block_address(run->counters) + (uint64_t)index * SPIRV_COUNTER_BYTES
                : 0);
    return ir->phases[index].from_resource == VYRE_NONE ? record_known(run, index, groups)
                                                        : record_counted(run, index, shape.tile);
}

/* Steps */

/* The number that a repeat goes by; 0 past the end. Waits for what was recorded. */
static vyre_status read_element(vulkan_run *run, uint32_t array, uint64_t index,
                                int64_t *out_value) {
    vyre_type type = (vyre_type)run->executable->ir->resources[array].type;
    uint32_t bytes = vyre_type_bytes(type);
    const vulkan_place *place = &run->places[array];
    *out_value = 0;
    if (index >= array_length(run, array)) {
        return VYRE_OK;
    }
    uint64_t offset = place->offset + index * bytes;
    const uint8_t *mapped = vulkan_block_mapped(place->block);
    if (!mapped) {
        order(run);
        vulkan_put_copy(run->batch, run->batch->words, VULKAN_ELEMENT_AT, place->block, offset,
                        bytes);
        run->is_dirty = true;
    }
    /* What the host has read already does not change until more is recorded. */
    VYRE_TRY(run->is_dirty || !run->submissions ? finish_part(run) : VYRE_OK);
    *out_value = vyre_plan_element(type, mapped ? mapped + offset
                                                : vulkan_block_mapped(run->batch->words) +
                                                      VULKAN_ELEMENT_AT);
    return VYRE_OK;
}

static vyre_status run_steps(vulkan_run *run, uint32_t first, uint32_t end);

static vyre_status run_repeat(vulkan_run *run, uint32_t index) {
    const vyre_step *step = &run->executable->ir->steps[index];
    uint64_t size = size_of(run, step->size);
    for (uint64_t iteration = 0;; iteration++) {
        int64_t more = iteration < size;
        VYRE_TRY(check_stop(run));
        if (step->kind == VYRE_STEP_REPEAT_WHILE) {
            VYRE_TRY(read_element(run, step->resource, size, &more));
        }
        if (!more) {
            return VYRE_OK;
        }
        const uint32_t number = (uint32_t)iteration;
        memcpy(run->frame + run->executable->layout.iterations + (size_t)index * 4, &number,
               sizeof number);
        VYRE_TRY(run_steps(run, index + 1, step->end));
    }
}

static void swap(vulkan_run *run, uint32_t first, uint32_t second) {
    vulkan_place a = run->places[first], b = run->places[second];
    uint32_t place = run->swapped[first];
    vulkan_run_set_array(run, first, b.block, b.offset);
    vulkan_run_set_array(run, second, a.block, a.offset);
    run->swapped[first] = run->swapped[second];
    run->swapped[second] = place;
}

static vyre_status run_steps(vulkan_run *run, uint32_t first, uint32_t end) {
    const vyre_step *steps = run->executable->ir->steps;
    int64_t flag = 0; /* of the `if` in front of an `else` */
    for (uint32_t i = first; i < end; i = steps[i].end) {
        switch (steps[i].kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(run_phase(run, steps[i].size)); break;
        case VYRE_STEP_SWAP: swap(run, steps[i].resource, steps[i].size); break;
        case VYRE_STEP_IF:
            VYRE_TRY(check_stop(run));
            VYRE_TRY(read_element(run, steps[i].resource, size_of(run, steps[i].size), &flag));
            VYRE_TRY(flag ? run_steps(run, i + 1, steps[i].end) : VYRE_OK);
            break;
        case VYRE_STEP_ELSE: VYRE_TRY(flag ? VYRE_OK : run_steps(run, i + 1, steps[i].end)); break;
        case VYRE_STEP_REPEAT_COUNT:
        case VYRE_STEP_REPEAT_WHILE: VYRE_TRY(run_repeat(run, i)); break;
        }
    }
    return VYRE_OK;
}

/* Bringing contents home */

typedef struct settling {
    vulkan_run *run;
    vulkan_place *homes; /* by array */
    vulkan_place spare;
} settling;

static vyre_status copy_place(void *user, uint32_t to, uint32_t from, uint32_t like) {
    settling *s = user;
    uint64_t bytes = vulkan_run_bytes(s->run, like);
    if (!bytes) {
        return VYRE_OK;
    }
    if (to == VYRE_NONE) {
        s->spare.offset = 0;
        VYRE_TRY(vulkan_run_take(s->run, bytes, &s->spare.block));
    }
    const vulkan_place *target = to == VYRE_NONE ? &s->spare : &s->homes[to];
    const vulkan_place *source = from == VYRE_NONE ? &s->spare : &s->homes[from];
    order(s->run);
    vulkan_put_copy(s->run->batch, target->block, target->offset, source->block, source->offset,
                    bytes);
    s->run->is_dirty = true;
    return VYRE_OK;
}

static vyre_status settle_swaps(vulkan_run *run) {
    uint32_t count = run->executable->layout.array_count;
    settling s = {run, vyre_alloc_array(count, sizeof *s.homes), {NULL, 0}};
    if (!s.homes) {
        return vyre_no_memory("to run `%s`", vyre_program_name(run->executable->program));
    }
    for (uint32_t i = 0; i < count; i++) {
        s.homes[run->swapped[i]] = run->places[i];
    }
    vyre_status status =
        vyre_places_settle(run->executable->ir, run->swapped, count, copy_place, &s);
    memcpy(run->places, s.homes, count * sizeof *s.homes);
    vyre_free(s.homes);
    return status;
}

static vyre_status place_counters(vulkan_run *run) {
    uint64_t bytes = (uint64_t)run->executable->phase_count * SPIRV_COUNTER_BYTES;
    VYRE_TRY(vulkan_run_take(run, bytes, &run->counters));
    vulkan_put_zeros(run->batch, run->counters, 0, bytes);
    run->is_dirty = true;
    return VYRE_OK;
}

vyre_status vulkan_run_put(vulkan_run *run) {
    const vyre_ir *ir = run->executable->ir;
    VYRE_TRY(run->executable->has_counters ? place_counters(run) : VYRE_OK);
    for (uint32_t i = 0; i < run->executable->layout.array_count; i++) {
        uint64_t bytes = vulkan_run_bytes(run, i);
        vulkan_block *block;
        if (ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            VYRE_TRY(vyre_status_annotate(vulkan_run_take(run, bytes, &block), "array %u of `%s`",
                                          i, vyre_program_name(run->executable->program)));
            vulkan_run_set_array(run, i, block, 0);
        }
        if (bytes && vulkan_run_fills(run->executable, run->call, i)) {
            vulkan_put_zeros(run->batch, run->places[i].block, run->places[i].offset, bytes);
            run->is_dirty = true;
        }
    }
    VYRE_TRY(run_steps(run, 0, ir->step_count));
    return run->executable->swaps ? settle_swaps(run) : VYRE_OK;
}

void vulkan_run_stamp(vulkan_run *run, bool is_end) {
    const vulkan_table *vk = &run->device->vk;
    vulkan_batch *batch = run->batch;
    if (!batch->times) {
        return;
    }
    if (!is_end) {
        vk->vkCmdResetQueryPool(batch->commands, batch->times, 0, 2);
    }
    vk->vkCmdWriteTimestamp(batch->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch->times,
                            is_end);
}

uint64_t vulkan_run_time(const vulkan_run *run) {
    const vulkan_batch *batch = run->batch;
    uint64_t stamps[2];
    if (!batch->times || run->device->vk.vkGetQueryPoolResults(
                             run->device->handle, batch->times, 0, 2, sizeof stamps, stamps,
                             sizeof *stamps, VK_QUERY_RESULT_64_BIT)) {
        return VYRE_NO_TIME;
    }
    uint32_t bits = run->device->info.timestamp_bits;
    uint64_t ticks = stamps[1] - stamps[0];
    ticks = bits < 64 ? ticks & ((UINT64_C(1) << bits) - 1) : ticks;
    return (uint64_t)((double)ticks * (double)run->device->info.timestamp_ns);
}
