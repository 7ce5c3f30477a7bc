#include "backend/vulkan/loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/backend.h"
#include "base/alloc.h"
#include "base/fork.h"

static const char library_name[] = "libvulkan.so.1";
static const uint32_t oldest = VK_API_VERSION_1_2;

/* Written once, by whoever comes first, then read alone. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static vulkan_instance instance;
static bool is_open;
static uint32_t forks;
static const char *fix;
static char why_not[320];

void vulkan_error_text(VkResult result, char out_text[VULKAN_ERROR_TEXT_BYTES]) {
    static const struct {
        VkResult result;
        const char *name;
    } names[] = {
        {VK_NOT_READY, "VK_NOT_READY"},
        {VK_TIMEOUT, "VK_TIMEOUT"},
        {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
        {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
        {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
        {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
        {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
        {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
        {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
        {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
        {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN"},
        {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
        {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV"},
    };
    const char *name = "an error without a name";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        name = names[i].result == result ? names[i].name : name;
    }
    snprintf(out_text, VULKAN_ERROR_TEXT_BYTES, "%s (%d)", name, (int)result);
}

/* MoltenVK and others that lack a part of Vulkan are shown only to those who ask for them. */
static bool has_portability(void) {
    uint32_t count = 0;
    if (instance.vkEnumerateInstanceExtensionProperties(NULL, &count, NULL) || !count) {
        return false;
    }
    VkExtensionProperties *all = vyre_alloc_zeroed(count, sizeof *all);
    bool found = false;
    if (all && instance.vkEnumerateInstanceExtensionProperties(NULL, &count, all) >= 0) {
        for (uint32_t i = 0; i < count && !found; i++) {
            found = !strcmp(all[i].extensionName, "VK_KHR_portability_enumeration");
        }
    }
    vyre_free(all);
    return found;
}

/* No layer is asked for; those that the environment names come without it. */
static VkResult make_instance(void) {
    static const char *const portability = "VK_KHR_portability_enumeration";
    bool portable = has_portability();
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "vyre",
        .pEngineName = "vyre",
        .apiVersion = VK_API_VERSION_1_3, /* the highest that is used; 1.2 will do */
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .flags = portable ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
        .pApplicationInfo = &application,
        .enabledExtensionCount = portable,
        .ppEnabledExtensionNames = &portability,
    };
    return instance.vkCreateInstance(&info, NULL, &instance.handle);
}

/* Finds every function; the name of one that is missing, or NULL. */
#define RESOLVE(name)                                                                              \
    instance.name = (PFN_##name)get(instance.handle, #name);                                       \
    if (!instance.name) {                                                                          \
        return #name;                                                                              \
    }
static const char *resolve_global(PFN_vkGetInstanceProcAddr get) {
    VULKAN_GLOBAL_FUNCTIONS(RESOLVE)
    return NULL;
}

static const char *resolve_instance(PFN_vkGetInstanceProcAddr get) {
    VULKAN_INSTANCE_FUNCTIONS(RESOLVE)
    return NULL;
}
#undef RESOLVE

static const char fix_driver[] =
    "install a Vulkan driver: mesa-vulkan-drivers for AMD and Intel GPUs and for a software "
    "device, or NVIDIA's driver with its file nvidia_icd.json; no layer is needed";

static void open_once(void) {
    vyre_option_info chosen = vyre_option_describe(VYRE_OPTION_VULKAN);
    const char *name = chosen.from_environment ? chosen.text : library_name;
    PFN_vkGetInstanceProcAddr get = NULL;
    if (chosen.from_environment && !strcmp(name, "none")) {
        fix = "unset VYRE_VULKAN to use Vulkan devices";
        snprintf(why_not, sizeof why_not, "VYRE_VULKAN is `none`: no loader is opened");
        return;
    }
    if (!vyre_fork_watch()) {
        fix = "free some memory";
        snprintf(why_not, sizeof why_not, "there is no memory to notice fork()");
        return;
    }
    forks = vyre_fork_count();
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)(void *)&get = dlsym(library, "vkGetInstanceProcAddr");
    }
    if (!get) {
        fix =
            chosen.from_environment
                ? "set VYRE_VULKAN to a Vulkan loader, or unset it"
                : "install the package libvulkan1, and a driver: mesa-vulkan-drivers, or NVIDIA's";
        snprintf(why_not, sizeof why_not,
                 library ? "`%s` is no Vulkan loader: it lacks vkGetInstanceProcAddr"
                         : "the Vulkan loader `%s` cannot be opened",
                 name);
        return;
    }
    const char *missing = resolve_global(get);
    if (missing || instance.vkEnumerateInstanceVersion(&instance.version) ||
        instance.version < oldest) {
        fix = "install a newer libvulkan1: one for Vulkan 1.2 or later";
        snprintf(why_not, sizeof why_not, "the Vulkan loader `%s` is too old%s%s", name,
                 missing ? ": it lacks " : "", missing ? missing : "");
        return;
    }
    VkResult result = make_instance();
    missing = result ? NULL : resolve_instance(get);
    if (result || missing) {
        char text[VULKAN_ERROR_TEXT_BYTES];
        vulkan_error_text(result, text);
        fix = result == VK_ERROR_LAYER_NOT_PRESENT
                  ? "unset VK_INSTANCE_LAYERS, or install the layers that it names "
                    "(vulkan-validationlayers); none is needed"
                  : fix_driver;
        snprintf(why_not, sizeof why_not,
                 missing                                  ? "the Vulkan loader lacks %s"
                 : result == VK_ERROR_INCOMPATIBLE_DRIVER ? "the loader finds no driver: %s"
                                                          : "there is no instance: %s",
                 missing ? missing : text);
        return;
    }
    is_open = true;
}

vyre_status vulkan_loader_open(const vulkan_instance **out_instance) {
    *out_instance = &instance;
    pthread_once(&once, open_once);
    if (is_open && forks != vyre_fork_count()) {
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                "open devices after fork(), or exec in the child",
                                "backend `vulkan` was opened before fork(), and its drivers belong "
                                "to the parent process");
    }
    return is_open ? VYRE_OK
                   : vyre_status_make(VYRE_STATUS_UNAVAILABLE, fix,
                                      "backend `vulkan` needs a Vulkan driver, and %s", why_not);
}
