#include "dialect/target.h"

#include <string.h>

static const char *const ids[] = {
#define TARGET_ID(name, id, words) id,
    VYRE_TARGETS(TARGET_ID)
#undef TARGET_ID
};

const char *vyre_target_id(vyre_target target) {
    return target.kind < VYRE_TARGET_EXTENSION ? ids[target.kind] : target.extension;
}

const char *vyre_target_words(vyre_target target) {
    static const char *const all[] = {
#define TARGET_WORDS(name, id, words) words,
        VYRE_TARGETS(TARGET_WORDS)
#undef TARGET_WORDS
    };
    return target.kind < VYRE_TARGET_EXTENSION ? all[target.kind] : target.extension;
}

/* The first of an id is meant, so that what PTX and the second text share reads as PTX. */
vyre_target vyre_target_read(const char *id) {
    static const struct {
        const char *name;
        vyre_target_kind kind;
    } short_names[] = {{"ptx", VYRE_TARGET_PTX}, {"spirv", VYRE_TARGET_SPIRV}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (!strcmp(ids[i], id)) {
            return (vyre_target){(vyre_target_kind)i, NULL};
        }
    }
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++) {
        if (!strcmp(short_names[i].name, id)) {
            return (vyre_target){short_names[i].kind, NULL};
        }
    }
    return (vyre_target){VYRE_TARGET_EXTENSION, id};
}
