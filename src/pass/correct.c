#include "pass/correct.h"

#include "pass/pass.h"

vyre_status vyre_correct(const vyre_program *program, const vyre_corrections *needed,
                         vyre_program **out_program) {
    (void)program, (void)needed;
    *out_program = NULL;
    return VYRE_OK;
}

vyre_status vyre_lower_corrected(const vyre_program *program, bool own_domain,
                                 const vyre_corrections *needed, vyre_program **out_program) {
    (void)needed;
    return vyre_lower_program(program, own_domain, out_program);
}
