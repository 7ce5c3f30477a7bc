/* vyre: kernels written once, the same bytes everywhere. This header includes all others.
 *
 *   run.h        run a text in one call        text.h        parse kernels from text
 *   registry.h   which devices there are       builder.h     make kernels by calls
 *   device.h     run programs on one           wire.h        store and send them
 *   pipeline.h   compile once, run often       program.h     look into them
 *   cache.h      what is kept on disk          sanitize.h    find their races
 *   reference.h  what a program means          diagnostic.h  what was wrong with a kernel
 *   backend.h    for authors of backends       status.h      how calls answer
 *   dialect.h    operations known by name      emit.h        programs ahead of time
 *   route.h      which device is the fastest   library.h     operations from elsewhere
 *
 * A pointer may be NULL where its comment says so, and an array where its count is 0; others are
 * not tested. */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include <vyre/allocator.h>
#include <vyre/backend.h>
#include <vyre/base.h>
#include <vyre/builder.h>
#include <vyre/cache.h>
#include <vyre/device.h>
#include <vyre/diagnostic.h>
#include <vyre/dialect.h>
#include <vyre/dispatch.h>
#include <vyre/emit.h>
#include <vyre/intern.h>
#include <vyre/io.h>
#include <vyre/library.h>
#include <vyre/limits.h>
#include <vyre/log.h>
#include <vyre/op.h>
#include <vyre/pipeline.h>
#include <vyre/program.h>
#include <vyre/reference.h>
#include <vyre/registry.h>
#include <vyre/route.h>
#include <vyre/run.h>
#include <vyre/sanitize.h>
#include <vyre/status.h>
#include <vyre/text.h>
#include <vyre/types.h>
#include <vyre/wire.h>

#endif
