#include "base/units.h"

void vyre_units_time(vyre_strbuf *text, uint64_t ns) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ns >= units[i].ns) {
            uint64_t hundredths = ns / (units[i].ns / 100);
            vyre_strbuf_printf(text, "%llu.%02llu %s", (unsigned long long)(hundredths / 100),
                               (unsigned long long)(hundredths % 100), units[i].name);
            return;
        }
    }
    vyre_strbuf_printf(text, "%llu ns", (unsigned long long)ns);
}

void vyre_units_bytes(vyre_strbuf *text, uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    double size = (double)bytes / 1024;
    if (bytes < 1024) {
        vyre_strbuf_printf(text, "%u byte%s", (unsigned)bytes, vyre_plural(bytes));
        return;
    }
    for (; size >= 1024 && unit < 3; unit++) {
        size /= 1024;
    }
    vyre_strbuf_printf(text, "%.1f %s", size, units[unit]);
}

void vyre_units_number(vyre_strbuf *text, double number) {
    if (number > 0) {
        int digits = number < 0.0995 ? 4 : number < 0.995 ? 3 : number < 9.995 ? 2 : number < 99.95;
        vyre_strbuf_printf(text, "%.*f", digits, number);
    }
}

void vyre_units_rate(vyre_strbuf *text, double a_second, const char *unit) {
    static const struct {
        const char *prefix;
        double factor;
    } prefixes[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}};
    size_t i = 0;
    while (i < 3 && a_second < prefixes[i].factor) {
        i++;
    }
    vyre_units_number(text, a_second / prefixes[i].factor);
    vyre_strbuf_printf(text, " %s%s", prefixes[i].prefix, unit);
}

const char *vyre_plural(uint64_t count) {
    return count == 1 ? "" : "s";
}
