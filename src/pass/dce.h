/* Dead code: what has no effect and whose value nobody needs goes away. */
#ifndef VYRE_PASS_DCE_H
#define VYRE_PASS_DCE_H

#include <vyre/program.h>

VYRE_MUST_USE vyre_status vyre_dce(const vyre_program *program, vyre_program **out_program);

#endif
