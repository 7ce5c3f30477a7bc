#include "base/log.h"

#include "base/strbuf.h"
#include "base/visible.h"

static struct {
    vyre_log_function function;
    void *user;
    vyre_log_level level;
} target;

void vyre_log_set(vyre_log_function function, void *user, vyre_log_level level) {
    target.function = function;
    target.user = user;
    target.level = level;
}

const char *vyre_log_level_name(vyre_log_level level) {
    switch (level) {
#define NAME(name, number, text)                                                                   \
    case VYRE_LOG_##name: return text;
        VYRE_LOG_LEVELS(NAME)
#undef NAME
    }
    return "unknown";
}

void vyre_log(vyre_log_level level, const char *format, ...) {
    if (!target.function || level > target.level) {
        return;
    }
    vyre_strbuf message = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&message, format, arguments);
    va_end(arguments);
    vyre_visible_clean(&message, 0, true);
    target.function(target.user, level,
                    message.failed ? "a log message was lost: out of memory"
                                   : vyre_strbuf_string(&message));
    vyre_strbuf_free(&message);
}
