#include "pass/shared.h"

#include "base/status.h"
#include "pass/rebuild.h"

bool vyre_shared_is_sized(const vyre_ir *ir) {
    bool found = false;
    for (uint32_t i = ir->resource_count; i-- > 0 && !found;) {
        found = ir->resources[i].kind == VYRE_RESOURCE_SHARED && ir->resources[i].size != VYRE_NONE;
    }
    return found;
}

vyre_status vyre_shared_fix(const vyre_program *program, const uint32_t *lengths,
                            vyre_program **out_program) {
    const vyre_rebuild hooks = {.lengths = lengths};
    return vyre_rebuild_run(program, hooks, out_program);
}

vyre_status vyre_shared_refuse(const vyre_program *program) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "run the program, or write the sizes of its shared arrays as numbers",
                            "program `%s` has shared arrays whose sizes come from arguments, so "
                            "there is code for it only when it runs",
                            vyre_program_name(program));
}
