/* A program as SPIR-V for Vulkan compute: one entry point a phase, one invocation for each of the
 * program's.
 *
 * An entry point has no descriptors. Its push constants are a frame, whose layout follows from the
 * program, or the frame's device address, one 64-bit number: see spirv_is_pushed. All arrays of the
 * program are reached through the addresses in the frame (PhysicalStorageBuffer64). Nothing is
 * specialised.
 *
 * What a device needs in any case: Vulkan 1.2 or later with bufferDeviceAddress and shaderInt64.
 * The fields of `spirv_target` say what else it has. */
#ifndef VYRE_SPIRV_EMIT_H
#define VYRE_SPIRV_EMIT_H

#include <vyre/program.h>

#include "base/vec.h"

enum {
    SPIRV_COUNTER_BYTES = 64,
    SPIRV_MOST_PUSH = 256,         /* bytes of push constants that are of use */
    SPIRV_STOP_TURNS = 0x7475726e, /* the stop word: see most_turns */
    SPIRV_OPEN_THREADS = 256,      /* of a workgroup where there is no workgroup clause */
};

/* Float types, as bits: what VkPhysicalDeviceFloatControlsProperties says of each. Those of f16 are
 * of no interest, programs have no arithmetic of it. */
enum { SPIRV_F32 = 1, SPIRV_F64 = 2 };

typedef struct spirv_target {
    uint32_t version;       /* of SPIR-V: 0x10500 for Vulkan 1.2, or 0x10600 for 1.3 */
    bool vulkan_model;      /* vulkanMemoryModel and vulkanMemoryModelDeviceScope; else GLSL450 */
    bool storage8;          /* storageBuffer8BitAccess */
    bool storage16;         /* storageBuffer16BitAccess */
    bool int8;              /* shaderInt8: arrays of bytes in shared and private memory */
    bool int16;             /* shaderInt16: the same of 16-bit elements */
    bool f64;               /* shaderFloat64. Without it, programs have no arithmetic of f64: the
                             * corrections take it out */
    bool atomics64;         /* shaderBufferInt64Atomics */
    bool shared_atomics64;  /* shaderSharedInt64Atomics */
    uint32_t rounds;        /* SPIRV_F bits: shaderRoundingModeRTE */
    uint32_t keeps_nan;     /* SPIRV_F bits: shaderSignedZeroInfNanPreserve */
    uint32_t keeps_denorms; /* SPIRV_F bits: shaderDenormPreserve */
    uint32_t most_turns; /* iterations of loops after which the driver ends them, all of a subgroup
                          * together; 0: it never does. Code that needs more gives up: it sets
                          * the stop word to SPIRV_STOP_TURNS */
    bool no_fences;      /* the driver takes a fence for a barrier, so that it may stand only where
                          * all invocations come. Atomics have none then, and what they order is
                          * volatile; the device itself keeps the order of accesses */
    bool folds_zeros;    /* the driver drops additions of zeros and products with them, and divides
                          * by them as it likes, where it finds out that a number is zero. Code
                          * then hides from it what every float is that is not loaded */
    bool flushes_chosen; /* the driver makes a minimum of f32 of a comparison and a choice, and that
                          * flushes. Code hides from it what is compared */
    uint64_t widths;     /* of subgroups that phases can have: bits 8, 16, 32, 64, i.e. the sum
                          * of these numbers. The device has the operations BASIC, VOTE, BALLOT
                          * and SHUFFLE, subgroup size control and full subgroups. Phases of
                          * other widths are for vyre_subgroups_share */
    uint32_t push_bytes; /* of push constants, at most SPIRV_MOST_PUSH. Where the frame of a phase
                          * fits, and nothing of it is known to the device alone, it stands there */
    bool polls;          /* loops that may run for long look at the stop word */
    bool general;        /* phases may run over more than the domain that is theirs */
    bool names;          /* names and lines of the source, for people and tools */
} spirv_target;

/* What every device with Vulkan 1.2 may be asked for: the target of `vyre emit --target spirv`. */
spirv_target spirv_baseline(void);

/* Where things stand in a frame, in bytes. Arrays are the buffers and scratch arrays, which are the
 * first resources. Everything is aligned to its size; the frame itself to 8. */
typedef struct spirv_layout {
    uint32_t arrays;     /* u64 by array: device address, aligned to an element. Of an array that is
                          * empty: of any readable memory as large as one element, at least 16
                          * bytes. Code reads there and does not use what it reads */
    uint32_t lengths;    /* u64 by array: elements */
    uint32_t arguments;  /* u64 by argument: a scalar's bits, extended by its sign */
    uint32_t iterations; /* u32 by step: iterations of repeats so far */
    uint32_t device_iterations; /* u64: address of the same as u32 by step, or 0 */
    uint32_t gate;   /* u64: address of a u32, or 0; phases of a `repeat while` do nothing where it
                      * is 0. It does not change while they run */
    uint32_t domain; /* u64[3], 1 where there is no dimension */
    uint32_t groups; /* u64[3]: domain / tile, rounded up, 1 where there is no dimension. These six
                      * stand in a row. Of a domain from memory the kernel of spirv_emit_count
                      * writes them before the phase starts */
    uint32_t shape;  /* u32[2]: what spirv_shape_of says */
    uint32_t first;  /* u32[4]: the group of the first workgroup of a launch, by dimension, and 0 */
    uint32_t stop;   /* u64: address of a u32, never 0; not 0 there means to end soon */
    uint32_t constants; /* u64: address of a copy of the `data` of the program that the module is
                         * made from, aligned to 8; any number where it has none */
    uint32_t
        counters;   /* u64: address of SPIRV_COUNTER_BYTES of this phase's own, aligned to 8, used
                     * by phases that are ordered or cooperative: zero before the first launch,
                     * left as the next one needs them, unless it was stopped: then zero again */
    uint32_t bytes; /* of all, a multiple of 8 */
    uint32_t array_count;
} spirv_layout;

spirv_layout spirv_layout_of(const vyre_ir *ir);

/* Whether the push constants of a phase are its frame, and not the frame's address. */
bool spirv_is_pushed(const spirv_layout *layout, const spirv_target *target,
                     const vyre_phase *phase);

/* How a phase is launched: with workgroups of `threads` x 1 x 1, which the module itself states,
 * and a grid of
 *
 *   - groups[0] x groups[1] x groups[2], in one launch or in several, each from `first` on;
 *   - from memory: at least 1 and at most groups[d] workgroups in each dimension, as many as the
 *     device can: it goes on with the next group that nobody has;
 *   - where it is ordered, any number in x alone, at most as many as there are groups in all, which
 *     are fewer than 2^31;
 *   - where it is cooperative, groups[0] x groups[1] x groups[2] exactly. */
typedef struct spirv_phase_info {
    uint32_t threads;       /* of a workgroup */
    uint32_t subgroup;      /* required size, with full subgroups; 0: any */
    uint32_t shared_bytes;  /* of workgroup memory that the module declares */
    uint32_t private_bytes; /* of private arrays, an invocation */
    bool ordered;           /* groups are taken by a ticket: one may wait for an earlier one */
    bool cooperative;       /* all groups must be on the device at once: there are grid barriers */
    bool has_loops;         /* it may run for long */
} spirv_phase_info;

/* Invocations that a workgroup covers in each dimension, which depends on the domain where there is
 * no workgroup clause, and the frame's shape that tells the code so. */
typedef struct spirv_shape {
    uint32_t tile[3];
    uint32_t bits[2]; /* the frame's */
} spirv_shape;
spirv_shape spirv_shape_of(const vyre_phase *phase, const spirv_phase_info *info,
                           const uint64_t *domain);

typedef struct spirv_module {
    uint32_t *words; /* to be freed with spirv_module_free */
    size_t count;
} spirv_module;
void spirv_module_free(spirv_module *module);

/* One phase as a module with the entry point `main`; or all of them, for VYRE_NONE, as entry points
 * `phase_N`. `program` is one that vyre_lower_corrected returned. What cannot be had on such
 * devices is refused as unsupported. `out_infos` has room for one a phase; only those that were
 * asked for are written. */
VYRE_MUST_USE vyre_status spirv_emit(const vyre_program *program, const spirv_target *target,
                                     uint32_t phase, spirv_module *out_module,
                                     spirv_phase_info *out_infos);

/* What the host passes to the kernel of spirv_emit_count about a phase: the kernel reads the domain
 * from memory. */
typedef struct spirv_count {
    uint64_t from;       /* address of the elements, aligned to one; words of 4 bytes are read */
    uint64_t present;    /* elements that there are; others count as 0 */
    uint64_t dimensions; /* of the phase */
    uint64_t bytes;      /* of an element */
    uint64_t is_signed;  /* negative ones count as 0, too */
    uint64_t field;      /* address of the frame's domain, in which the maximum stands */
    uint64_t tile[3];
    uint64_t most[3]; /* workgroups of a launch in each dimension, */
    uint64_t room;    /* and in all; at least 1 */
    uint64_t ordered; /* the phase is: the groups of all dimensions are launched along x */
    uint32_t grid[4]; /* written: the workgroups to launch, 0 of them for an empty domain */
} spirv_count;

/* The kernel that counts for any phase, as a module with the entry point `main`. It is launched as
 * one workgroup of one invocation, with the address of a spirv_count in place of a frame's. It sets
 * `grid`, and the frame's domain and groups. */
VYRE_MUST_USE vyre_status spirv_emit_count(const spirv_target *target, spirv_module *out_module);

#endif
