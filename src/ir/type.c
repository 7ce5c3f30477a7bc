#include "base/strbuf.h"

#include "ir/lookup.h"

static const struct {
    const char *name;
    uint8_t bytes;
} rows[VYRE_TYPE_COUNT] = {
#define ROW(name, number, text, bytes, class_name) [number] = {text, bytes},
    VYRE_TYPES(ROW)
#undef ROW
};

const uint8_t vyre_type_classes[VYRE_TYPE_COUNT] = {
#define ROW(name, number, text, bytes, class_name) [number] = VYRE_CLASS_##class_name,
    VYRE_TYPES(ROW)
#undef ROW
};

const char *vyre_type_name(vyre_type type) {
    return (uint32_t)type < VYRE_TYPE_COUNT ? rows[type].name : "?";
}

uint32_t vyre_type_bytes(vyre_type type) {
    return (uint32_t)type < VYRE_TYPE_COUNT ? rows[type].bytes : 0;
}

vyre_type_class vyre_type_class_of(vyre_type type) {
    return vyre_lookup_class(type);
}

vyre_type vyre_type_from_name(vyre_str name) {
    for (uint32_t type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        if (vyre_str_is(name, rows[type].name)) {
            return (vyre_type)type;
        }
    }
    return VYRE_TYPE_VOID;
}
