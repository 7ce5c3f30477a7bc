/* docs/semantics.md says what every operation on values gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <ctype.h>
#include <string.h>

#include "ir/word.h"

static char page[1 << 16];

static bool is_part(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *word) {
    size_t size = strlen(word);
    for (const char *at = strstr(page, word); at; at = strstr(at + 1, word)) {
        if (at > page && !is_part(at[-1]) && !is_part(at[size])) {
            return true;
        }
    }
    return false;
}

static void document_names_every_operation_on_values(void **state) {
    (void)state;
    FILE *file = fopen("docs/semantics.md", "rb"); /* tests run in the root of the tree */
    assert_non_null(file);
    assert_true(fread(page, 1, sizeof page - 1, file) > 0);
    fclose(file);
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        const vyre_op_info *info = vyre_op_info_of(op);
        bool has_sign = vyre_operator_sign(op) || info->rule == VYRE_RULE_CONVERT;
        bool on_values = info->shape >= VYRE_SHAPE_V1 && info->shape <= VYRE_SHAPE_V3;
        if (on_values && !info->effects && !has_sign && !has_word(info->name)) {
            fail_msg("docs/semantics.md does not say what `%s` gives", info->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_names_every_operation_on_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
