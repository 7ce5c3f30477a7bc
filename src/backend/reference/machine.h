/* The inside of the reference backend: programs run slowly and surely.
 *
 * A workgroup runs in lockstep: each instruction over all its lanes at once, with a mask that says
 * which lanes are there. Values live in registers of 8 bytes a lane. A workgroup that waits for
 * others is set aside with all its state, which is called a fiber, and another goes on.
 *
 * layout.c    which register holds which value     memory.c    loads, stores, atomics
 * step.c      one instruction                      control.c   blocks, jumps, masks
 * subgroup.c  exchange between lanes               schedule.c  whose turn it is
 * machine.c   arrays, phases, repeats              sanitizer.c what is wrong, on request
 */
#ifndef VYRE_REFERENCE_MACHINE_H
#define VYRE_REFERENCE_MACHINE_H

#include <vyre/reference.h>

#include "backend/reference/sanitizer.h"
#include "ir/eval.h"
#include "ir/lookup.h"
#include "runtime/plan.h"

enum { REGISTER_BYTES = 8 }; /* a lane */

/* Where the values of a phase live. Shared by all its fibers. */
typedef struct phase_layout {
    uint32_t lanes;
    uint32_t registers; /* how many there are */
    uint32_t depth;     /* blocks nested in one another */
    uint32_t *slots;    /* by instruction of the phase: its register */
    uint32_t *spare; /* by instruction: a `for`'s own register, which counts the iterations left */
    vyre_evaluator *evaluators; /* by instruction: what computes it, NULL if no evaluator does */
    uint8_t *constants;         /* by constant of the program: its value in every lane */
    uint32_t *lids;             /* three for each lane: position in the workgroup */
    uint64_t shared_bytes, private_bytes; /* of a fiber */
    uint64_t *offsets; /* by resource of the phase: where it starts in shared or private memory */
    uint32_t most_carried; /* values that any loop carries */
} phase_layout;

/* Most of the memory that a layout takes, without its registers, which belong to fibers. */
uint64_t layout_bytes(const vyre_ir *ir, uint32_t phase, uint32_t lanes);
bool layout_init(phase_layout *layout, const vyre_ir *ir, uint32_t phase, uint32_t lanes);
void layout_deinit(phase_layout *layout);

/* A block that is open. Masks have one byte a lane. */
typedef struct frame {
    uint32_t owner;      /* instruction; VYRE_NONE for the phase */
    uint32_t end;        /* of the block that runs */
    uint32_t loop, call; /* frames of the innermost loop and inline, itself included */
    bool in_then;
    uint8_t *mask;  /* lanes that run */
    uint8_t *other; /* if: lanes for the else block; loop: lanes that take another iteration */
    uint8_t *left;  /* lanes that are through */
} frame;

typedef enum fiber_state { FIBER_FREE, FIBER_READY, FIBER_AT_GRID_BARRIER, FIBER_DONE } fiber_state;

struct fiber {
    fiber_state state;
    uint64_t group; /* linear number */
    uint64_t first; /* without a workgroup clause: its first invocation */
    uint32_t wid[3];
    uint32_t pc, depth;
    uint32_t barrier; /* the grid barrier it waits at */
    frame *frames;
    uint8_t *registers, *masks, *shared, *privates;
    uint8_t *memory;    /* the one allocation behind these */
    fiber_watch *watch; /* NULL unless the run is sanitized */
};

typedef struct array {
    uint8_t *data;
    uint64_t length;
} array;

struct machine {
    const vyre_plan *plan;
    vyre_call call; /* the plan again */
    const vyre_ir *ir;
    const vyre_reference_options *options;
    array *arrays;        /* by resource: buffers and scratch */
    uint32_t *iterations; /* by step: iterations of a repeat so far */

    const vyre_phase *phase;
    phase_layout layout;
    vyre_grid grid;
    uint64_t invocation_count; /* without a workgroup clause */
    uint64_t group_count;
    uint64_t *indices; /* by lane: the index of the access at hand */
    uint8_t *copies;   /* room for the values that a loop carries */
    uint64_t random;   /* state of the schedule's generator */
    bool interleaves;  /* fibers are set aside at atomics, and picked at random */
    bool yields;       /* fibers are set aside at back-edges, for others that they wait for */

    uint64_t steps;       /* lanes times instructions */
    uint64_t deadline_ns; /* 0: none */
    uint64_t memory_bytes;
    uint64_t joined;    /* parts of knowledge that were joined since it was last charged */
    vyre_status status; /* the error that ends the run */
    sanitizer *watch;   /* NULL unless the run is sanitized */
};

typedef enum outcome { OUTCOME_DONE, OUTCOME_PAUSED, OUTCOME_FAILED } outcome;

/* Runs a fiber until it is through, set aside, or something fails. */
outcome fiber_run(machine *m, fiber *f);

/* Control flow; `at` is the instruction. Each leaves the program counter where it goes on. */
bool control_open(machine *m, fiber *f, uint32_t at); /* false if it fails */
bool control_leave(machine *m, fiber *f, uint32_t at);
/* The end of a block is reached. True if the fiber may be set aside: a loop takes another
 * iteration. */
bool control_close(machine *m, fiber *f);

/* False if it fails. */
bool memory_access(machine *m, fiber *f, uint32_t at);
bool subgroup_exchange(machine *m, fiber *f, uint32_t at);

/* Runs all workgroups of the phase at hand. What fails is the machine's status. */
void schedule_phase(machine *m);

/* A value's lanes. */
static inline uint8_t *value_of(const machine *m, const fiber *f, uint32_t operand) {
    size_t stride = (size_t)m->layout.lanes * REGISTER_BYTES;
    return vyre_operand_is_value(operand)
               ? f->registers + m->layout.slots[operand - m->phase->first] * stride
               : m->layout.constants + vyre_operand_index(operand) * stride;
}

static inline frame *top_frame(fiber *f) {
    return &f->frames[f->depth - 1];
}

/* The number of elements of any array. */
static inline uint64_t array_length(const machine *m, uint32_t resource) {
    const vyre_resource *row = &m->ir->resources[resource];
    return vyre_resource_is_field(row)          ? m->arrays[row->size].length
           : row->kind <= VYRE_RESOURCE_SCRATCH ? m->arrays[resource].length
                                                : row->length;
}

/* Notes that there is no memory, unless the run fails for another reason already; always false. */
bool machine_no_memory(machine *m);

/* Ends the run: there is an instruction that nothing here runs. Always false. */
bool machine_unknown(machine *m, uint32_t at);

/* The name of an array, for reports. */
const char *machine_array_name(const machine *m, uint32_t resource);

/* The next number of the schedule, below `bound`. */
uint64_t machine_random(machine *m, uint64_t bound);

/* Checks the budgets; false once one is used up, the status then saying which. Without a fiber it
 * is a repeat that goes on. */
bool machine_charge(machine *m, const fiber *f, uint64_t steps);

/* Counts memory that is about to be used; false beyond the budget. */
bool machine_reserve(machine *m, uint64_t bytes, const char *what);
uint64_t machine_memory_left(const machine *m);

static inline void machine_give_back(machine *m, uint64_t bytes) {
    m->memory_bytes -= bytes;
}

#endif
