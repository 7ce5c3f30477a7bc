#include "dialect/law.h"

static const struct {
    const char *text, *meaning;
} laws[] = {
#define LAW_ROW(name, text, operand, meaning) [VYRE_LAW_##name] = {text, meaning},
    VYRE_LAWS(LAW_ROW)
#undef LAW_ROW
};

const char *vyre_law_meaning(vyre_law_kind kind) {
    return laws[kind].meaning;
}

void vyre_law_print(vyre_strbuf *text, const vyre_law *law) {
    vyre_strbuf_puts(text, laws[law->kind].text);
    if (law->operand) {
        vyre_strbuf_printf(text, "(%s)", law->operand);
    }
}
