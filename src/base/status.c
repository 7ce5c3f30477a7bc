#include "base/status.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/visible.h"

static const char general_fix[] = "correct the input that the message names, and try again";

struct vyre_status_object {
    vyre_status_code code;
    uint32_t line, column;
    bool has_place, is_static, fix_in_message;
    vyre_strbuf file, message, fix, annotations, whole;
};

/* What is returned when even the status cannot be allocated. Never written to, never freed. */
static struct vyre_status_object no_memory = {
    .code = VYRE_STATUS_OUT_OF_MEMORY,
    .is_static = true,
};
static const char no_memory_message[] = "out of memory";
static const char no_memory_fix[] = "free memory or give the process more, then try again";
static const char no_memory_text[] =
    "out of memory. Fix: free memory or give the process more, then try again";

static void rebuild_text(vyre_status status) {
    vyre_strbuf whole = {0};
    if (status->has_place) {
        vyre_strbuf_printf(&whole, "%s:%u:%u: ", vyre_strbuf_string(&status->file), status->line,
                           status->column);
    }
    vyre_strbuf_add(&whole, vyre_strbuf_string(&status->message), status->message.size);
    vyre_strbuf_puts(&whole, vyre_strbuf_string(&status->annotations));
    if (!status->fix_in_message) {
        size_t size = whole.size;
        bool stopped = size && strchr(".!?", whole.data[size - 1]) != NULL;
        vyre_strbuf_puts(&whole, stopped ? " Fix: " : ". Fix: ");
        vyre_strbuf_puts(&whole, vyre_strbuf_string(&status->fix));
    }
    if (whole.failed) {
        vyre_strbuf_free(&whole); /* the text before stays */
        return;
    }
    vyre_strbuf_free(&status->whole);
    status->whole = whole;
}

static vyre_status make(vyre_status_code code, const char *fix, const char *start,
                        const char *format, va_list arguments) {
    vyre_status status = vyre_alloc_zeroed(1, sizeof *status);
    if (!status) {
        return &no_memory;
    }
    status->code = code;
    if (*start) {
        vyre_strbuf_puts(&status->message, start);
    }
    vyre_strbuf_vprintf(&status->message, format, arguments);
    vyre_visible_clean(&status->message, 0, false);
    const char *found = strstr(vyre_strbuf_string(&status->message), "Fix: ");
    status->fix_in_message = !fix && found;
    vyre_strbuf_puts(&status->fix, fix ? fix : found ? found + 5 : general_fix);
    vyre_visible_clean(&status->fix, 0, false);
    rebuild_text(status);
    if (status->message.failed || status->fix.failed || !status->whole.data) {
        vyre_status_free(status);
        return &no_memory;
    }
    return status;
}

vyre_status vyre_status_make(vyre_status_code code, const char *fix, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_status status = make(code, fix, "", format, arguments);
    va_end(arguments);
    return status;
}

vyre_status vyre_no_memory(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_status status = make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again", "no memory ",
                              format, arguments);
    va_end(arguments);
    return status;
}

vyre_status vyre_internal_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_status status =
        make(VYRE_STATUS_INTERNAL, "report this as a bug in vyre, with the program and the command",
             "internal error: ", format, arguments);
    va_end(arguments);
    return status;
}

vyre_status vyre_status_annotate(vyre_status status, const char *format, ...) {
    if (!status || status->is_static) {
        return status;
    }
    size_t before = status->annotations.size;
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_puts(&status->annotations, "; ");
    vyre_strbuf_vprintf(&status->annotations, format, arguments);
    va_end(arguments);
    if (status->annotations.failed) {
        status->annotations.failed = false;
        vyre_strbuf_cut(&status->annotations, before);
    }
    vyre_visible_clean(&status->annotations, before, false);
    rebuild_text(status);
    return status;
}

vyre_status vyre_status_at(vyre_status status, const char *file, uint32_t line, uint32_t column) {
    if (!status || status->is_static || status->has_place) {
        return status;
    }
    vyre_strbuf_puts(&status->file, file);
    if (status->file.failed) {
        vyre_strbuf_free(&status->file);
        return status;
    }
    vyre_visible_clean(&status->file, 0, false);
    status->line = line;
    status->column = column;
    status->has_place = true;
    rebuild_text(status);
    return status;
}

vyre_status_code vyre_status_code_of(vyre_status status) {
    return status ? status->code : VYRE_STATUS_OK;
}

const char *vyre_status_code_name(vyre_status_code code) {
    switch (code) {
#define NAME(name, number, text)                                                                   \
    case VYRE_STATUS_##name: return text;
        VYRE_STATUS_CODES(NAME)
#undef NAME
    }
    return "unknown status";
}

const char *vyre_status_message(vyre_status status) {
    if (!status) {
        return "ok";
    }
    return status->is_static ? no_memory_message : vyre_strbuf_string(&status->message);
}

const char *vyre_status_fix(vyre_status status) {
    if (!status) {
        return "";
    }
    return status->is_static ? no_memory_fix : vyre_strbuf_string(&status->fix);
}

bool vyre_status_place(vyre_status status, const char **file, uint32_t *line, uint32_t *column) {
    if (!status || !status->has_place) {
        return false;
    }
    *file = vyre_strbuf_string(&status->file);
    *line = status->line;
    *column = status->column;
    return true;
}

const char *vyre_status_text(vyre_status status) {
    if (!status) {
        return "ok";
    }
    return status->is_static ? no_memory_text : vyre_strbuf_string(&status->whole);
}

void vyre_status_free(vyre_status status) {
    if (!status || status->is_static) {
        return;
    }
    vyre_strbuf_free(&status->file);
    vyre_strbuf_free(&status->message);
    vyre_strbuf_free(&status->fix);
    vyre_strbuf_free(&status->annotations);
    vyre_strbuf_free(&status->whole);
    vyre_free(status);
}

vyre_status vyre_first_failure(vyre_status first, vyre_status second) {
    if (first) {
        vyre_status_free(second);
    }
    return first ? first : second;
}
