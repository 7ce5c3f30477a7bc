/* The vulkan backend as the driver and the command see it. */
#ifndef VYRE_VULKAN_BACKEND_H
#define VYRE_VULKAN_BACKEND_H

#include "runtime/builtin.h"

extern const vyre_bundle vulkan_bundle;
extern const vyre_builtin vulkan_builtin;

/* The environment variables of the backend; base/option.h says what a row is. */
#define VULKAN_OPTIONS(X)                                                                          \
    X(VULKAN, PATHS, "a library, or none", "",                                                     \
      "the Vulkan loader that the vulkan backend opens instead of libvulkan.so.1; none: no "       \
      "loader")

VULKAN_OPTIONS(VYRE_OPTION_DECLARE)

/* What the devices of this machine need of corrections, for people; NULL if there is none. */
const char *vulkan_note(void);

#endif
