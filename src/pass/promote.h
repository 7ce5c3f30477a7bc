/* Promotion: a private array that is indexed by constants alone becomes values, one an element.
 *
 * Elements past the end read as zero and are not written, as always. Arrays of more than 64
 * elements stay, and so do all of a phase whose blocks would have to carry too many values. */
#ifndef VYRE_PASS_PROMOTE_H
#define VYRE_PASS_PROMOTE_H

#include <vyre/program.h>

enum { VYRE_PROMOTE_ELEMENTS = 64 }; /* of arrays that may become values */

VYRE_MUST_USE vyre_status vyre_promote(const vyre_program *program, vyre_program **out_program);

#endif
