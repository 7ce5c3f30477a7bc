#include <vyre/base.h>

const char *vyre_version(void) {
    return VYRE_VERSION_STRING;
}
