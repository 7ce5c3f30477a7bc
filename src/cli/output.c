#define _DEFAULT_SOURCE /* realpath */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "base/visible.h"
#include "cli/progress.h"

static int output_error; /* errno of the first write that failed */
static bool is_quiet;

void cli_output_prepare(void) {
    /* Opened for the opposite direction: using a stream that was closed stays an error. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        int way = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", way) != stream) {
            _Exit(CLI_EXIT_FAILED);
        }
    }
    /* A write that is refused gives an error, which can be told and cleaned up after. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void cli_output_write(vyre_strbuf *text) {
    vyre_visible_clean(text, 0, true);
    cli_output_write_rendered(text);
}

void cli_output_write_data(vyre_strbuf *data) {
    if (cli_output_is_terminal()) {
        cli_output_write(data);
    } else {
        cli_output_write_rendered(data);
    }
}

void cli_output_write_rendered(vyre_strbuf *text) {
    if (!output_error && text->failed) {
        output_error = ENOMEM;
    }
    if (!output_error) {
        cli_progress_hide();
        output_error = vyre_file_write_open(STDOUT_FILENO, text->data, text->size);
    }
    vyre_strbuf_free(text);
}

bool cli_output_is_open(void) {
    return !output_error;
}

cli_exit cli_output_finish(cli_exit status) {
    /* Some file systems tell of a full disk only when the file is closed. */
    if (!output_error && close(STDOUT_FILENO) != 0) {
        output_error = errno;
    }
    if (!output_error) {
        return status;
    }
    if (output_error != EPIPE) {
        const char *fix = output_error == ENOSPC   ? "free some space on that file system"
                          : output_error == EFBIG  ? "raise the file size limit (ulimit -f)"
                          : output_error == ENOMEM ? "free memory, then try again"
                                                   : "check where stdout goes, then try again";
        cli_message_print("vyre: cannot write to stdout: %s. Fix: %s\n", strerror(output_error),
                          fix);
    }
    return CLI_EXIT_FAILED;
}

bool cli_output_is_terminal(void) {
    return isatty(STDOUT_FILENO) == 1;
}

static bool has_color(int file) {
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(file) == 1 && !(no_color && *no_color) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

bool cli_output_has_color(void) {
    return has_color(STDOUT_FILENO);
}

bool cli_message_has_color(void) {
    return has_color(STDERR_FILENO);
}

void cli_message_write(vyre_strbuf *text) {
    static const char lost[] = "vyre: out of memory. Fix: free memory, then try again\n";
    if (text->failed) {
        cli_message_write_rendered(lost, sizeof lost - 1);
    } else {
        vyre_visible_clean(text, 0, true);
        cli_message_write_rendered(text->data, text->size);
    }
    vyre_strbuf_free(text);
}

void cli_message_write_rendered(const char *data, size_t size) {
    cli_progress_hide();
    (void)vyre_file_write_open(STDERR_FILENO, data, size);
}

static void print_message(const char *format, va_list arguments) VYRE_PRINTF(1, 0);

static void print_message(const char *format, va_list arguments) {
    vyre_strbuf text = {0};
    vyre_strbuf_vprintf(&text, format, arguments);
    cli_message_write(&text);
}

void cli_message_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
}

void cli_message_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!is_quiet) {
        print_message(format, arguments);
    }
    va_end(arguments);
}

void cli_message_set_quiet(bool quiet) {
    is_quiet = quiet;
}

bool cli_message_is_quiet(void) {
    return is_quiet;
}

vyre_status cli_no_name(const char *what) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "check that the shell variable in its place is set",
                            "the name of %s is empty", what);
}

cli_exit cli_exit_of(vyre_status status) {
    switch (vyre_status_code_of(status)) {
    case VYRE_STATUS_OK: return CLI_EXIT_DONE;
    case VYRE_STATUS_INVALID_ARGUMENT: return CLI_EXIT_USAGE;
    case VYRE_STATUS_INVALID_PROGRAM:
    case VYRE_STATUS_MALFORMED:
    case VYRE_STATUS_LIMIT:
    case VYRE_STATUS_UNSUPPORTED: return CLI_EXIT_NO;
    case VYRE_STATUS_UNAVAILABLE: return CLI_EXIT_BACKEND;
    case VYRE_STATUS_OUT_OF_MEMORY:
    case VYRE_STATUS_NOT_FOUND:
    case VYRE_STATUS_IO:
    case VYRE_STATUS_TIMEOUT:
    case VYRE_STATUS_DEVICE_LOST:
    case VYRE_STATUS_BACKEND:
    case VYRE_STATUS_INTERNAL:
    case VYRE_STATUS_ASSERTION: break;
    }
    return CLI_EXIT_FAILED;
}

cli_exit cli_message_status(const cli_command *command, vyre_status status) {
    cli_exit result = cli_exit_of(status);
    cli_message_print("vyre%s%s: %s\n", command ? " " : "", command ? command->name : "",
                      vyre_status_text(status));
    vyre_status_free(status);
    return result;
}

/* The folder that a file of that name is in, or would be. */
static void folder_of(const char *path, vyre_strbuf *out) {
    const char *slash = strrchr(path, '/');
    vyre_strbuf_add(out, path, slash ? (size_t)(slash - path) : 0);
    vyre_strbuf_puts(out, slash ? "/" : ".");
}

static bool is_special(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

vyre_status cli_output_check(const char *path) {
    struct stat about;
    int error;
    if (!strcmp(path, "-")) {
        return VYRE_OK;
    }
    if (!*path) {
        return cli_no_name("the FILE to write");
    }
    VYRE_TRY(vyre_file_check_planted(path));
    if (is_special(path)) {
        error = access(path, W_OK) < 0 ? errno : 0;
    } else if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        error = EISDIR;
    } else {
        char real[PATH_MAX]; /* a link leads to another folder */
        vyre_strbuf folder = {0};
        folder_of(realpath(path, real) ? real : path, &folder);
        error = folder.failed                                          ? ENOMEM
                : access(vyre_strbuf_string(&folder), W_OK | X_OK) < 0 ? errno
                                                                       : 0;
        vyre_strbuf_free(&folder);
    }
    return error ? vyre_status_make(VYRE_STATUS_IO, "name a file in a writable folder",
                                    "cannot write %s: %s", path, strerror(error))
                 : VYRE_OK;
}

static bool is_same_place(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool cli_output_is_same(const char *a, const char *b) {
    if (is_special(a) || is_special(b)) {
        return false;
    }
    if (!strcmp(a, b) || is_same_place(a, b)) {
        return true;
    }
    vyre_strbuf first = {0}, second = {0};
    folder_of(a, &first);
    folder_of(b, &second);
    bool same = !strcmp(last_part(a), last_part(b)) &&
                is_same_place(vyre_strbuf_string(&first), vyre_strbuf_string(&second));
    vyre_strbuf_free(&first);
    vyre_strbuf_free(&second);
    return same;
}

vyre_status cli_output_save(const char *path, vyre_strbuf *contents) {
    vyre_status status = VYRE_OK;
    if (!strcmp(path, "-")) {
        cli_output_write_data(contents);
        return VYRE_OK;
    }
    if (!*path) {
        return cli_no_name("the FILE to write");
    }
    status = vyre_file_check_planted(path);
    bool special = is_special(path);
    if (status) {
        vyre_strbuf_free(contents);
        return status;
    }
    if (contents->failed) {
        status = vyre_no_memory("for the contents of %s", path);
    } else if (special) {
        int file = open(path, O_WRONLY | O_CLOEXEC);
        int error = file < 0 ? errno : vyre_file_write_open(file, contents->data, contents->size);
        if (file >= 0 && close(file) != 0 && !error) {
            error = errno;
        }
        status = error ? vyre_status_make(VYRE_STATUS_IO, "name a writable file",
                                          "cannot write %s: %s", path, strerror(error))
                       : VYRE_OK;
    } else {
        status = vyre_file_replace(path, contents->data, contents->size);
    }
    vyre_strbuf_free(contents);
    return status;
}
