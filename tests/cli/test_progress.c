/* The progress bar, on a terminal of its own. */
#define _GNU_SOURCE /* posix_openpt, TIOCSWINSZ */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/output.h"
#include "cli/progress.h"

/* What came out, byte by byte, and what a terminal makes of it. */
static struct {
    int master, saved;
    char bytes[65536];
    size_t size;
    size_t draws;  /* lines begun from the left */
    size_t widest; /* columns that were ever used */
    char line[256];
    bool has_color;
} screen;

static void open_terminal(unsigned short columns) {
    memset(&screen, 0, sizeof screen);
    screen.master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(screen.master >= 0);
    assert_int_equal(grantpt(screen.master), 0);
    assert_int_equal(unlockpt(screen.master), 0);
    struct winsize size = {.ws_col = columns, .ws_row = 24};
    int terminal = open(ptsname(screen.master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    assert_int_equal(fcntl(screen.master, F_SETFL, O_NONBLOCK), 0);
    screen.saved = dup(STDERR_FILENO);
    assert_true(dup2(terminal, STDERR_FILENO) == STDERR_FILENO);
    close(terminal);
}

static void read_terminal(void) {
    ssize_t size;
    while ((size = read(screen.master, screen.bytes + screen.size,
                        sizeof screen.bytes - 1 - screen.size)) > 0) {
        screen.size += (size_t)size;
    }
}

static void close_terminal(void) {
    read_terminal();
    assert_true(dup2(screen.saved, STDERR_FILENO) == STDERR_FILENO);
    close(screen.saved);
    close(screen.master);
}

/* Carriage returns, line feeds, colours and "erase to the end of the line" are all that is used. */
static void show(void) {
    size_t column = 0;
    screen.draws = screen.widest = 0;
    memset(screen.line, 0, sizeof screen.line);
    for (const char *c = screen.bytes; *c; c++) {
        if (*c == '\r') {
            screen.draws += c[1] != '\n' && c[1] != '\x1b';
            column = 0;
        } else if (*c == '\n') {
            memset(screen.line, 0, sizeof screen.line);
        } else if (!strncmp(c, "\x1b[K", 3)) {
            memset(screen.line + column, 0, sizeof screen.line - column);
            c += 2;
        } else if (*c == '\x1b') {
            screen.has_color = true;
            c += strcspn(c, "m");
        } else {
            assert_true((unsigned char)*c >= ' ' && column + 1 < sizeof screen.line);
            screen.line[column++] = *c;
            screen.widest = column > screen.widest ? column : screen.widest;
        }
    }
}

static void pause_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* A bar that is seen half way; the terminal is closed afterwards. */
static void run_half(cli_progress *progress, unsigned short columns, const char *now) {
    open_terminal(columns);
    cli_progress_begin(progress, "certify", 8);
    pause_ms(120);
    cli_progress_step(progress, 4, now);
    read_terminal();
    show();
}

static void end(cli_progress *progress) {
    cli_progress_end(progress);
    cli_progress_end(progress);
    close_terminal();
    show();
    assert_string_equal(screen.line, "");
}

static void progress_shows_how_far_it_is(void **state) {
    (void)state;
    cli_progress progress = {0};
    run_half(&progress, 80, "reduce.sum_u32");
    assert_string_equal(screen.line,
                        "certify [################................] 4/8: reduce.sum_u32");
    assert_true(screen.has_color);
    end(&progress);
}

static void progress_fits_the_terminal(void **state) {
    static const struct {
        unsigned short columns;
        const char *line;
    } cases[] = {
        {48, "certify [##########...........] 4/8: reduce.sum"},
        {36, "certify [####.....] 4/8: reduce.sum"},
        {24, "certify 4/8: reduce.sum"},
        {16, "certify 4/8: re"},
        {12, "certify 4/8"},
        {9, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_progress progress = {0};
        run_half(&progress, cases[i].columns, "reduce.sum_u32");
        char line[sizeof screen.line];
        memcpy(line, screen.line, sizeof line);
        end(&progress);
        assert_true(screen.widest < cases[i].columns);
        assert_string_equal(line, cases[i].line);
    }
}

static void progress_is_drawn_ten_times_a_second(void **state) {
    (void)state;
    cli_progress progress = {0};
    uint64_t start = vyre_now_ns();
    open_terminal(80);
    cli_progress_begin(&progress, "certify", 100000);
    for (uint64_t i = 0; vyre_now_ns() - start < 350000000; i++) {
        cli_progress_step(&progress, i, NULL);
        pause_ms(1);
    }
    uint64_t tenths = (vyre_now_ns() - start) / 100000000;
    end(&progress);
    assert_true(screen.draws >= 2 && screen.draws <= tenths + 1);
}

static void progress_makes_room_for_messages(void **state) {
    (void)state;
    cli_progress progress = {0};
    run_half(&progress, 80, NULL);
    assert_true(*screen.line);
    cli_message_print("a message\n");
    read_terminal();
    show();
    assert_string_equal(screen.line, "");
    assert_non_null(strstr(screen.bytes, "\r\x1b[Ka message\r\n"));
    end(&progress);
    assert_string_equal(strstr(screen.bytes, "a message"), "a message\r\n"); /* nothing behind it */
}

static void progress_has_no_color_where_none_is_wanted(void **state) {
    (void)state;
    cli_progress progress = {0};
    setenv("NO_COLOR", "1", 1);
    run_half(&progress, 80, NULL);
    assert_string_equal(screen.line, "certify [################................] 4/8");
    assert_false(screen.has_color);
    end(&progress);
    unsetenv("NO_COLOR");
}

static void expect_nothing(cli_progress *progress) {
    run_half(progress, 80, "x");
    assert_int_equal(screen.size, 0);
    end(progress);
    assert_int_equal(screen.size, 0);
}

static void progress_is_for_terminals_alone(void **state) {
    (void)state;
    cli_progress off = {.is_off = true}, dumb = {0}, unknown = {0}, piped = {0};
    expect_nothing(&off);
    setenv("TERM", "dumb", 1);
    expect_nothing(&dumb);
    unsetenv("TERM");
    expect_nothing(&unknown);
    setenv("TERM", "xterm", 1);

    int ends[2], saved = dup(STDERR_FILENO);
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
    cli_progress_begin(&piped, "certify", 8);
    pause_ms(120);
    cli_progress_step(&piped, 4, NULL);
    cli_progress_end(&piped);
    assert_true(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    close(saved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_shows_how_far_it_is),
        cmocka_unit_test(progress_fits_the_terminal),
        cmocka_unit_test(progress_is_drawn_ten_times_a_second),
        cmocka_unit_test(progress_makes_room_for_messages),
        cmocka_unit_test(progress_has_no_color_where_none_is_wanted),
        cmocka_unit_test(progress_is_for_terminals_alone),
    };
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
