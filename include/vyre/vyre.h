/* vyre: kernels written once, the same bytes everywhere. This header includes all others.
 *
 *   text.h       parse kernels from text       builder.h     make kernels by calls
 *   wire.h       store and send them           program.h     look into them
 *   dispatch.h   what a run takes and gives    reference.h   run them, as they are defined
 *   sanitize.h   find their races              diagnostic.h  what was wrong with a kernel
 *   status.h     how calls answer
 */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include <vyre/allocator.h>
#include <vyre/base.h>
#include <vyre/builder.h>
#include <vyre/diagnostic.h>
#include <vyre/dispatch.h>
#include <vyre/intern.h>
#include <vyre/limits.h>
#include <vyre/log.h>
#include <vyre/op.h>
#include <vyre/program.h>
#include <vyre/reference.h>
#include <vyre/sanitize.h>
#include <vyre/status.h>
#include <vyre/text.h>
#include <vyre/types.h>
#include <vyre/wire.h>

#endif
