#include "base/home.h"

#include "base/environment.h"

static const struct {
    const char *variable, *folder;
} homes[] = {
#define ROW(name, variable, folder) [VYRE_HOME_##name] = {variable, folder},
    VYRE_HOMES(ROW)
#undef ROW
};

const char *vyre_home_path(vyre_home home, const char *name, vyre_strbuf *path) {
    const char *own = vyre_environment_get(homes[home].variable);
    const char *user = vyre_environment_get("HOME");
    if (own && *own == '/') {
        vyre_strbuf_printf(path, "%s/vyre/%s", own, name);
        return homes[home].variable;
    }
    if (user && *user == '/') {
        vyre_strbuf_printf(path, "%s%s/vyre/%s", user, homes[home].folder, name);
        return "HOME";
    }
    return NULL;
}
