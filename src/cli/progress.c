#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/visible.h"
#include "cli/output.h"

enum { BAR_MIN = 8, BAR_MAX = 32, NOW_MIN = 12, COLUMNS_USUAL = 80, COLUMNS_MAX = 200 };
static const uint64_t pause_ns = 100000000, second_ns = 1000000000;

static bool is_drawn; /* there is one terminal, and something of a bar on it */

/* One that can move its cursor; colours are another matter. */
static bool has_terminal(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

static size_t count_columns(void) {
    struct winsize window;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col;
    size_t columns = known ? window.ws_col : COLUMNS_USUAL;
    return columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
}

void cli_progress_hide(void) {
    static const char erase[] = "\r\x1b[K";
    if (is_drawn) {
        (void)vyre_file_write_open(STDERR_FILENO, erase, sizeof erase - 1);
        is_drawn = false;
    }
}

/* How long it will take at the pace so far, once that can be told. */
static void put_rest(vyre_strbuf *text, const cli_progress *progress, uint64_t now_ns) {
    uint64_t spent_ns = now_ns - progress->began_ns;
    if (progress->done && progress->done < progress->total && spent_ns > second_ns) {
        double left = (double)spent_ns * 1e-9 * (double)(progress->total - progress->done) /
                      (double)progress->done;
        uint64_t seconds = left < 359999 ? (uint64_t)left : 359999;
        vyre_strbuf_printf(text, ", %u:%02u left", (unsigned)(seconds / 60),
                           (unsigned)(seconds % 60));
    }
}

static void put_bar(vyre_strbuf *text, const cli_progress *progress, size_t width) {
    double share = progress->total ? (double)progress->done / (double)progress->total : 0;
    size_t filled = (size_t)(share * (double)width);
    vyre_strbuf_puts(text, progress->has_color ? " [\x1b[32m" : " [");
    vyre_strbuf_repeat(text, '#', filled);
    vyre_strbuf_puts(text, progress->has_color ? "\x1b[0m" : "");
    vyre_strbuf_repeat(text, '.', width - filled);
    vyre_strbuf_puts(text, "]");
}

/* The bar gets what the words leave, the words behind it what the bar leaves; the last column stays
 * free, since some terminals go to the next line there. */
static void draw(cli_progress *progress, const char *now, uint64_t now_ns) {
    vyre_strbuf line = {0}, count = {0}, words = {0};
    size_t columns = count_columns() - 1, what_size = strlen(progress->what);
    vyre_strbuf_visible(&words, now ? now : "", now ? strlen(now) : 0);
    vyre_strbuf_printf(&count, " %llu/%llu", (unsigned long long)progress->done,
                       (unsigned long long)progress->total);
    put_rest(&count, progress, now_ns);
    size_t fixed = what_size + count.size, now_size = words.size ? words.size + 2 : 0;
    size_t room = columns > fixed ? columns - fixed : 0;
    size_t kept = (now_size < NOW_MIN ? now_size : NOW_MIN) + 3; /* for words and brackets */
    size_t width = room > kept ? room - kept : 0;
    width = width < BAR_MIN ? 0 : width < BAR_MAX ? width : BAR_MAX;
    vyre_strbuf_putc(&line, '\r');
    if (fixed <= columns) {
        vyre_strbuf_add(&line, progress->what, what_size);
        if (width) {
            put_bar(&line, progress, width);
            room -= width + 3;
        }
        vyre_strbuf_puts(&line, vyre_strbuf_string(&count));
        if (now_size && room > 2) {
            vyre_strbuf_puts(&line, ": ");
            vyre_strbuf_add(&line, words.data, (now_size < room ? now_size : room) - 2);
        }
    }
    vyre_strbuf_puts(&line, "\x1b[K");
    if (!line.failed && !count.failed) {
        (void)vyre_file_write_open(STDERR_FILENO, line.data, line.size);
        is_drawn = true;
    }
    progress->drawn_ns = now_ns;
    vyre_strbuf_free(&line);
    vyre_strbuf_free(&count);
    vyre_strbuf_free(&words);
}

void cli_progress_begin(cli_progress *progress, const char *what, uint64_t total) {
    uint64_t now_ns = vyre_now_ns();
    *progress =
        (cli_progress){.is_off = progress->is_off,
                       .is_shown = !progress->is_off && !cli_message_is_quiet() && has_terminal(),
                       .has_color = cli_message_has_color(),
                       .what = what,
                       .total = total,
                       .began_ns = now_ns};
    if (progress->is_shown) {
        draw(progress, NULL, now_ns);
    }
}

void cli_progress_step(cli_progress *progress, uint64_t done, const char *now) {
    progress->done = done < progress->total ? done : progress->total;
    if (progress->is_shown) {
        uint64_t now_ns = vyre_now_ns();
        if (now_ns - progress->drawn_ns >= pause_ns) {
            draw(progress, now, now_ns);
        }
    }
}

void cli_progress_tell(void *progress, uint64_t done, const char *now) {
    cli_progress_step(progress, done, now);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->is_shown) {
        cli_progress_hide();
        progress->is_shown = false;
    }
}
