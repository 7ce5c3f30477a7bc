/* Every type of vyre/backend.h in the signature of a function that is exported, so that abidiff
 * sees it: tests/structure/abi.sh compares this with the description of each version that was
 * frozen. What is no type stands in assertions. */
#include <vyre/backend.h>

#define SHOWN __attribute__((visibility("default")))
#define STRUCTURES(X)                                                                              \
    X(vyre_input)                                                                                  \
    X(vyre_memory)                                                                                 \
    X(vyre_output)                                                                                 \
    X(vyre_dispatch_config)                                                                        \
    X(vyre_grid)                                                                                   \
    X(vyre_call)                                                                                   \
    X(vyre_timing)                                                                                 \
    X(vyre_host)                                                                                   \
    X(vyre_op_set)                                                                                 \
    X(vyre_profile)                                                                                \
    X(vyre_backend)                                                                                \
    X(vyre_backend_slots)                                                                          \
    X(vyre_run_slots)                                                                              \
    X(vyre_pending_run)                                                                            \
    X(vyre_pipeline_slots)                                                                         \
    X(vyre_native)                                                                                 \
    X(vyre_compile)                                                                                \
    X(vyre_cache_counts)                                                                           \
    X(vyre_registration)                                                                           \
    X(vyre_precedence)                                                                             \
    X(vyre_capability)                                                                             \
    X(vyre_bundle)
#define ENUMERATIONS(X)                                                                            \
    X(vyre_grade)                                                                                  \
    X(vyre_demand)                                                                                 \
    X(vyre_fail)                                                                                   \
    X(vyre_feature)                                                                                \
    X(vyre_timing_quality)                                                                         \
    X(vyre_profile_flag)

#define SHOW_STRUCTURE(name)                                                                       \
    SHOWN void show_##name(const name *object);                                                    \
    void show_##name(const name *object) {                                                         \
        (void)object;                                                                              \
    }
#define SHOW_ENUMERATION(name)                                                                     \
    SHOWN void show_##name(name value);                                                            \
    void show_##name(name value) {                                                                 \
        (void)value;                                                                               \
    }
STRUCTURES(SHOW_STRUCTURE)
ENUMERATIONS(SHOW_ENUMERATION)

SHOWN const vyre_bundle *vyre_backend_query(uint32_t max_abi);
const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_backend_query_function self = vyre_backend_query;
    return self && max_abi ? NULL : NULL;
}

_Static_assert(VYRE_ABI >> 16 == 1, "the major number of the frozen contract");
_Static_assert(VYRE_BACKEND_MARKER == 0x7679726562656e64, "the magic number of a backend");
_Static_assert(VYRE_NO_TIME == UINT64_MAX && VYRE_NO_RANK == UINT32_MAX, "what stands for nothing");
_Static_assert(sizeof VYRE_BACKEND_QUERY == sizeof "vyre_backend_query", "the symbol of a plugin");
