/* What routes know of an operation, shown: as `vyre certify` and `vyre route` do. */
#ifndef VYRE_CLI_ROUTE_REPORT_H
#define VYRE_CLI_ROUTE_REPORT_H

#include <vyre/route.h>

#include "base/json.h"
#include "base/vec.h"
#include "cli/device.h"
#include "cli/page.h"

/* A row for the table of options of a subcommand. */
#define CLI_ROUTES_OPTION(X)                                                                       \
    X(ROUTES, 0, "--routes", "FILE", NULL,                                                         \
      "the routes; if not given those of VYRE_ROUTES, else pgo.toml of the configuration")

/* Who is the fastest for a class, and who comes next. */
typedef struct cli_route_step {
    vyre_data data;
    uint32_t size_class;
    const char *winner, *next; /* as vyre_device_name; the latter NULL if there is none */
    uint64_t winner_ns, next_ns;
} cli_route_step;

typedef struct cli_route_steps {
    VYRE_VEC(cli_route_step) list; /* by data and class */
    bool failed;                   /* for want of memory */
} cli_route_steps;

/* By the measurements of these devices alone; by all where `devices` is NULL. Borrows from the
 * routes. */
void cli_route_steps_find(cli_route_steps *steps, const vyre_routes *table, const char *op,
                          const cli_devices *devices);
void cli_route_steps_free(cli_route_steps *steps);

/* Lines of who wins in which range of sizes, with crossovers where there are some. */
void cli_route_put_ranges(vyre_strbuf *text, const cli_route_steps *steps);

/* Lines of who may not win, of these devices, and why. */
void cli_route_put_excluded(vyre_strbuf *text, const vyre_routes *table, const char *op,
                            const cli_devices *devices);

/* Whether one of these devices is excluded because of its bytes. */
bool cli_route_has_wrong_bytes(const vyre_routes *table, const char *op,
                               const cli_devices *devices);

/* Everything, as an object; and as rows of a table, whose headings come first. */
void cli_route_json(vyre_json *json, const vyre_routes *table, const char *op);
void cli_route_table_begin(cli_table *table);
void cli_route_table_add(cli_table *table, const vyre_routes *routes, const char *op);

/* "4 KiB": the least number of bytes of a class. */
void cli_describe_class(vyre_strbuf *text, uint32_t size_class);

/* Why the router decided so: "measured 12.10 us for 4 KiB of host data, before cuda with 30.20 us".
 */
void cli_route_explain(vyre_strbuf *text, const vyre_router_choice *routing,
                       const vyre_router_request *request);

/* The file that holds the routes: `given`, else what the router goes by. To be freed with
 * vyre_strbuf_free. Where the router is told to do without one that is an error. */
VYRE_MUST_USE vyre_status cli_route_path(const char *given, vyre_strbuf *out_path);

#endif
