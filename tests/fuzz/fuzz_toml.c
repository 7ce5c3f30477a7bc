/* Any bytes: reading gives a document or an error with a place, and a document that was read can be
 * written and read again as the same. */
#include <stdlib.h>

#include "base/toml.h"
#include "tests/unit/toml_equal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vyre_toml *document, *again;
    vyre_strbuf text = {0};
    vyre_status status = vyre_toml_read("fuzz", (const char *)data, size, &document);
    if (status) {
        const char *file;
        uint32_t line, column;
        if (document || !vyre_status_place(status, &file, &line, &column) || !line || !column) {
            abort();
        }
        vyre_status_free(status);
        return 0;
    }
    toml_write_all(&text, document);
    status = vyre_toml_read("written", vyre_strbuf_string(&text), text.size, &again);
    if (text.failed || status || !toml_equal(vyre_toml_root(document), vyre_toml_root(again))) {
        abort();
    }
    vyre_toml_free(again);
    vyre_toml_free(document);
    vyre_strbuf_free(&text);
    return 0;
}
