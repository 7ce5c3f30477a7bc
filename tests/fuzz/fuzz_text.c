/* Any bytes as text, with a few operations to call. What parses keeps its digest through printing
 * and formatting, formatting is stable, and diagnostics can always be shown. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#include "tests/unit/library_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds) {
    if (!holds) {
        abort();
    }
}

static int same_digest(const vyre_program *left, const vyre_program *right) {
    vyre_digest a = vyre_program_digest(left), b = vyre_program_digest(right);
    return a.low == b.low && a.high == b.high;
}

static void check_programs(const vyre_module *module, const vyre_module *formatted) {
    check(vyre_module_count(module) == vyre_module_count(formatted));
    for (size_t i = 0; i < vyre_module_count(module); i++) {
        const vyre_program *program = vyre_module_program(module, i);
        check(same_digest(program, vyre_module_program(formatted, i)));
        char *printed;
        size_t size;
        vyre_status status = vyre_program_print(program, &printed, &size);
        check(!status);
        vyre_module *flat;
        status = library_check_parse_alone(printed, &flat); /* it calls nothing */
        check(!status);
        check(same_digest(program, vyre_module_program(flat, 0)));
        vyre_module_free(flat);
        vyre_string_free(printed);
    }
}

static void check_rendering(const vyre_diagnostics *diagnostics, const char *text, size_t size) {
    for (vyre_diagnostic_form form = VYRE_FORM_TEXT; form <= VYRE_FORM_JSON; form++) {
        char *rendered;
        size_t rendered_size;
        vyre_status status = vyre_diagnostics_render(diagnostics, "fuzz", text, size, form,
                                                     &rendered, &rendered_size);
        check(!status);
        vyre_string_free(rendered);
    }
    for (size_t i = 0; i < vyre_diagnostics_count(diagnostics); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(diagnostics, i);
        check(*item->message && *item->fix && *vyre_diagnostic_title(item->code));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    vyre_diagnostics *diagnostics;
    vyre_module *module;
    library_check_install();
    vyre_status status = vyre_diagnostics_create(&diagnostics);
    check(!status);
    status = vyre_module_parse("fuzz", text, size, diagnostics, &module);
    check((status != NULL) == (vyre_diagnostics_errors(diagnostics) > 0));
    vyre_status_free(status);
    check_rendering(diagnostics, text, size);

    char *once, *twice;
    size_t once_size, twice_size;
    status = vyre_text_format("fuzz", text, size, NULL, &once, &once_size);
    check(!module || !status);
    if (!status) {
        status = vyre_text_format("fuzz", once, once_size, NULL, &twice, &twice_size);
        check(!status);
        check(once_size == twice_size && !memcmp(once, twice, once_size));
        vyre_string_free(twice);
        if (module) {
            vyre_module *formatted;
            status = vyre_module_parse("formatted", once, once_size, NULL, &formatted);
            check(!status);
            check_programs(module, formatted);
            vyre_module_free(formatted);
        }
        vyre_string_free(once);
    }
    vyre_status_free(status);
    vyre_module_free(module);
    vyre_diagnostics_free(diagnostics);
    return 0;
}
