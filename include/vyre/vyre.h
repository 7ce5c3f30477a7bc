/* vyre: a kernel written once gives the same bytes on every device. This header includes all
 * others.
 *
 *     run.h        run a kernel in one call      text.h        parse kernels from text
 *     registry.h   find and acquire devices      builder.h     make kernels by calls
 *     device.h     run programs on a device      wire.h        store and send programs
 *     pipeline.h   compile once, run often       program.h     inspect programs
 *     cache.h      compiled programs on disk     sanitize.h    find data races
 *     reference.h  run on the reference          diagnostic.h  errors in a kernel's source
 *     backend.h    write a backend               status.h      errors of calls
 *     dialect.h    operations by name            emit.h        compile ahead of time
 *     route.h      choose the fastest device     io.h          read and write ranges of files
 *     library.h    bring your own operations     memory.h      memory that devices copy fast
 *
 * A pointer argument must not be NULL unless its comment allows it, or its count is 0. The library
 * does not check this. */
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
#include <vyre/memory.h>
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
