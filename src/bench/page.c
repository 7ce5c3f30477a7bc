/* The report as one page that needs nothing else: a template with the JSON report in it. */
#include <string.h>

#include "bench/bench.h"

extern const char bench_page_text[]; /* page.html */

void bench_report_page(const bench_report *report, vyre_strbuf *html) {
    static const char place[] = "@REPORT@";
    const char *at = strstr(bench_page_text, place);
    vyre_strbuf json = {0};
    bench_report_json(report, &json);
    vyre_strbuf_add(html, bench_page_text, (size_t)(at - bench_page_text));
    for (const char *c = vyre_strbuf_string(&json); *c; c++) {
        if (*c == '<') { /* only strings have it: `</script>` must not end the script */
            vyre_strbuf_puts(html, "\\u003c");
        } else {
            vyre_strbuf_putc(html, *c);
        }
    }
    vyre_strbuf_puts(html, at + sizeof place - 1);
    html->failed |= json.failed;
    vyre_strbuf_free(&json);
}
