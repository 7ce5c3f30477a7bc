/* Routes as text, JSON and rows, the way `vyre certify` and `vyre route` show them. */
#ifndef VYRE_BENCH_ROUTES_H
#define VYRE_BENCH_ROUTES_H

#include <vyre/route.h>

#include "base/json.h"
#include "base/page.h"
#include "base/vec.h"

/* The fastest device of a class, and the next one. */
typedef struct bench_route_step {
    vyre_data data;
    uint32_t size_class;
    const char *winner, *next; /* as vyre_device_name; the latter NULL if there is none */
    uint64_t winner_ns, next_ns;
} bench_route_step;

typedef struct bench_route_steps {
    VYRE_VEC(bench_route_step) list; /* by data and class */
    bool failed;                     /* for want of memory */
} bench_route_steps;

/* By the measurements of these devices alone; by all where `devices` is NULL. Borrows from the
 * routes. */
void bench_route_steps_find(bench_route_steps *steps, const vyre_routes *table, const char *op,
                            vyre_device *const *devices, size_t device_count);
void bench_route_steps_free(bench_route_steps *steps);

/* Appends a line for each range of sizes, with the device that wins there. */
void bench_route_put_ranges(vyre_strbuf *text, const bench_route_steps *steps);

/* Appends a line for each of these devices that is excluded, with the reason. */
void bench_route_put_excluded(vyre_strbuf *text, const vyre_routes *table, const char *op,
                              vyre_device *const *devices, size_t device_count);

/* Whether one of these devices is excluded because of its bytes. */
bool bench_route_has_wrong_bytes(const vyre_routes *table, const char *op,
                                 vyre_device *const *devices, size_t device_count);

/* Everything, as an object; and as rows of a table, whose headings come first. */
void bench_routes_json(vyre_json *json, const vyre_routes *table, const char *op);
void bench_routes_table_begin(vyre_table *table);
void bench_routes_table_add(vyre_table *table, const vyre_routes *routes, const char *op);

/* "4 KiB": the least number of bytes of a class. */
void bench_put_class(vyre_strbuf *text, uint32_t size_class);

/* Why the router decided so: "measured 12.10 us for 4 KiB of host data, before cuda with 30.20 us".
 */
void bench_route_explain(vyre_strbuf *text, const vyre_router_choice *routing,
                         const vyre_router_request *request);

/* The file that holds the routes: `given`, else what the router goes by. To be freed with
 * vyre_strbuf_free. Where the router is told to do without one that is an error. */
VYRE_MUST_USE vyre_status bench_routes_path(const char *given, vyre_strbuf *out_path);

#endif
