/* Any bytes as a table of routes: an error with a fix, or a table, which is written and read again
 * as the same. */
#include <stdlib.h>
#include <string.h>

#include "route/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(vyre_status status) {
    if (status) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vyre_routes *table, *again;
    vyre_strbuf first = {0}, second = {0};
    check(vyre_routes_create(&table));
    vyre_status status = vyre_routes_decode("fuzz", (const char *)data, size, table);
    if (status) {
        if (!*vyre_status_fix(status)) {
            abort();
        }
        vyre_status_free(status);
        vyre_routes_free(table);
        return 0;
    }
    check(vyre_routes_encode(table, &first));
    check(vyre_routes_create(&again));
    check(vyre_routes_decode("written", vyre_strbuf_string(&first), first.size, again));
    check(vyre_routes_encode(again, &second));
    if (strcmp(vyre_strbuf_string(&first), vyre_strbuf_string(&second)) != 0 ||
        vyre_routes_count(table) != vyre_routes_count(again)) {
        abort();
    }
    for (size_t i = 0; i < vyre_routes_count(table); i++) {
        if (strcmp(vyre_routes_at(table, i)->op, vyre_routes_at(again, i)->op) != 0) {
            abort();
        }
    }
    vyre_strbuf_free(&first);
    vyre_strbuf_free(&second);
    vyre_routes_free(again);
    vyre_routes_free(table);
    return 0;
}
