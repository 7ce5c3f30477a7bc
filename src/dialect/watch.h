/* The inside of a watch, for tests. */
#ifndef VYRE_DIALECT_WATCH_H
#define VYRE_DIALECT_WATCH_H

#include <vyre/dialect.h>

/* As vyre_dialects_watch_open; `looks` as for vyre_notice_open. */
VYRE_MUST_USE vyre_status vyre_dialects_watch_start(const char *const *folders, size_t count,
                                                    bool looks, vyre_dialects_watch **out_watch);

#endif
