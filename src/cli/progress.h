/* Progress: a bar on stderr while something long runs.
 *
 * It is drawn on a terminal only, at most ten times a second, on one line as wide as the terminal,
 * and erased at the end, so that neither logs nor the screen keep any of it. Whatever else the
 * command writes takes its place first; the next step draws it again. One is shown at a time. */
#ifndef VYRE_CLI_PROGRESS_H
#define VYRE_CLI_PROGRESS_H

#include <vyre/base.h>

typedef struct cli_progress {
    bool is_off; /* set before it begins: --no-progress was given */
    bool is_shown, has_color;
    const char *what;
    uint64_t done, total;
    uint64_t began_ns, drawn_ns;
} cli_progress;

/* `what` is done is a word or two, and has to live until the end. */
void cli_progress_begin(cli_progress *progress, const char *what, uint64_t total);

/* So much of the total is done; `now` says what comes next, and may be NULL. */
void cli_progress_step(cli_progress *progress, uint64_t done, const char *now);

/* The same as a callback, for code that knows nothing of bars. */
void cli_progress_tell(void *progress, uint64_t done, const char *now);

/* Erases it. May be called twice, and for one that never began. */
void cli_progress_end(cli_progress *progress);

/* Erases what the terminal shows of a bar. Called before anything else is written. */
void cli_progress_hide(void);

#endif
