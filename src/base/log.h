/* Sending to the log callback of vyre/log.h. */
#ifndef VYRE_BASE_LOG_H
#define VYRE_BASE_LOG_H

#include <vyre/log.h>

void vyre_log(vyre_log_level level, const char *format, ...) VYRE_PRINTF(2, 3);

#endif
