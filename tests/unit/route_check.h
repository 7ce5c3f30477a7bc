/* What the tests of routing share: mocks whose runs take as long as a test says, by a clock that
 * only they move, and a folder for tables.
 *
 *     runner *fast = runner_open(&(mock_spec){.id = "fast"}, 10);       10 ns a run
 *     runner_times(fast, 4, 900, 30, 10, 20);                           the next four runs
 *     fast->wrong_byte = 1;                                             counts from 1
 */
#ifndef VYRE_TESTS_ROUTE_CHECK_H
#define VYRE_TESTS_ROUTE_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "route/route.h"
#include "tests/unit/contract_check.h"

enum { RUNNERS = 8, SCRIPTED = 16 };

typedef struct runner {
    mock *m;
    vyre_device *device;
    uint64_t usual_ns;
    uint64_t times[SCRIPTED];
    size_t time_count, next;
    size_t wrong_byte; /* the one of the first output that is changed; 0: none */
    bool is_unsteady;  /* it changes from run to run */
    uint64_t runs;
    vyre_status (*borrowed)(const vyre_backend *, const vyre_call *, vyre_output *);
    vyre_status (*resident)(const vyre_backend *, const vyre_call *, const uint64_t *,
                            vyre_timing *);
} runner;

static runner runners[RUNNERS];
static uint64_t clock_ns;

static inline uint64_t clock_now(void *user) {
    (void)user;
    return clock_ns;
}
static const vyre_route_clock test_clock = {clock_now, NULL};

static inline runner *runner_of(const vyre_backend *backend) {
    for (size_t i = 0; i < RUNNERS; i++) {
        if (runners[i].m == backend->state) {
            return &runners[i];
        }
    }
    return NULL;
}

static inline void runner_pass(runner *self) {
    clock_ns += self->next < self->time_count ? self->times[self->next] : self->usual_ns;
    self->next++;
    self->runs++;
}

static inline vyre_status runner_borrowed(const vyre_backend *backend, const vyre_call *call,
                                          vyre_output *outputs) {
    runner *self = runner_of(backend);
    runner_pass(self);
    vyre_status status = self->borrowed(backend, call, outputs);
    if (!status && self->wrong_byte) {
        outputs[0].data[self->wrong_byte - 1] ^=
            (uint8_t)(self->is_unsteady ? self->runs & 0xff : 0x80);
    }
    return status;
}

static inline vyre_status runner_resident(const vyre_backend *backend, const vyre_call *call,
                                          const uint64_t *buffers, vyre_timing *out_timing) {
    runner *self = runner_of(backend);
    runner_pass(self);
    return self->resident(backend, call, buffers, out_timing);
}

/* A mock with what a run needs; no device yet. */
static inline runner *runner_make(const mock_spec *spec, uint64_t usual_ns) {
    runner *self = runners;
    while (self->m) {
        self++;
    }
    mock_spec whole = *spec;
    whole.slots |= MOCK_BIT(dispatch_borrowed) | MOCK_BIT(dispatch_borrowed_timed) |
                   MOCK_BIT(dispatch_borrowed_into) | MOCK_BIT(device_profile) |
                   MOCK_BIT(features) | MOCK_BIT(version) | MOCK_BIT(device_lost) |
                   MOCK_BIT(max_invocations_per_workgroup);
    whole.features |= CONTRACT_WHOLE;
    *self = (runner){.m = mock_create(&whole), .usual_ns = usual_ns};
    vyre_backend_slots *slots = mock_table(self->m);
    self->borrowed = slots->dispatch_borrowed;
    slots->dispatch_borrowed = runner_borrowed;
    if (slots->resident_dispatch_timed) {
        self->resident = slots->resident_dispatch_timed;
        slots->resident_dispatch_timed = runner_resident;
    }
    return self;
}

static inline runner *runner_open(const mock_spec *spec, uint64_t usual_ns) {
    runner *self = runner_make(spec, usual_ns);
    self->device = contract_device(self->m);
    return self;
}

static inline void runner_times(runner *self, size_t count, ...) {
    va_list times;
    va_start(times, count);
    for (size_t i = 0; i < count; i++) {
        self->times[i] = (uint64_t)va_arg(times, int);
    }
    va_end(times);
    self->time_count = count;
    self->next = 0;
}

static inline void runners_close(void) {
    for (size_t i = 0; i < RUNNERS; i++) {
        vyre_device_release(runners[i].device);
        mock_free(runners[i].m);
        runners[i] = (runner){0};
    }
}

static vyre_program *program; /* that runners are given */

static inline int route_set_up(void **state) {
    (void)state;
    program = contract_program(TWICE);
    clock_ns = 1000;
    return 0;
}

static inline int route_tear_down(void **state) {
    (void)state;
    vyre_program_release(program);
    runners_close();
    return 0;
}

static inline vyre_routes *route_table(void) {
    vyre_routes *table;
    expect_ok(vyre_routes_create(&table));
    table->clock = test_clock;
    return table;
}

/* Inputs of TWICE. */
static uint32_t route_numbers[CONTRACT_LENGTH] = {1, 2, 3, 4, 5, 6, 7, 8};
static const vyre_input route_input = {route_numbers, sizeof route_numbers};

/* The bytes of its arguments, and their class. */
enum { TWICE_BYTES = 2 * CONTRACT_LENGTH * 4, TWICE_CLASS = 6 };

/* A path in a folder of its own, which route_remove_folder removes. */
static char route_folder[] = P_tmpdir "/vyre-route-XXXXXX";
static bool route_has_folder;
static inline const char *route_path(const char *name) {
    static char paths[8][sizeof route_folder + 64];
    static unsigned next;
    if (!route_has_folder) {
        assert_non_null(mkdtemp(route_folder));
        route_has_folder = true;
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", route_folder, name);
    return path;
}

static inline int route_remove_folder(void **state) {
    (void)state;
    char command[sizeof route_folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", route_folder);
    return route_has_folder && system(command) ? -1 : 0;
}

#endif
