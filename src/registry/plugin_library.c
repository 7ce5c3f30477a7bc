#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "registry/plugin_parts.h"
#include "registry/probe.h"
#include "registry/registry.h"
#include "runtime/slots.h"

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

static vyre_status damaged(const char *library) {
    return vyre_status_make(VYRE_STATUS_MALFORMED, "build or install it again",
                            "%s is truncated or damaged", library);
}

static bool read_at(int file, uint64_t offset, void *to, size_t size) {
    return pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

/* The dynamic linker maps what the header says; a page beyond the end of the file would end the
 * process when it is touched. */
static vyre_status check_segments(const char *library, int file, const elf_header *header) {
    struct stat about;
    if (fstat(file, &about) != 0 || header->e_phentsize != sizeof(elf_segment)) {
        return damaged(library);
    }
    uint64_t size = (uint64_t)about.st_size;
    for (uint64_t i = 0; i < header->e_phnum; i++) {
        elf_segment segment;
        uint64_t offset = i * sizeof segment;
        if (header->e_phoff > size || offset > size - header->e_phoff ||
            !read_at(file, header->e_phoff + offset, &segment, sizeof segment)) {
            return damaged(library);
        }
        if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) {
            return damaged(library);
        }
    }
    return VYRE_OK;
}

/* Says in plain words what the dynamic linker would say in others, or not survive. */
static vyre_status check_elf(const vyre_plugin_self *self, const char *library, int file) {
    elf_header header;
    if (!read_at(file, 0, header.e_ident, EI_NIDENT) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return vyre_status_make(VYRE_STATUS_MALFORMED,
                                "name a shared library in the manifest; it ends in .so",
                                "%s is not an ELF file", library);
    }
    const elf_header *own = self->header;
    if (own && header.e_ident[EI_CLASS] != own->e_ident[EI_CLASS]) {
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE, "build it for the same word size as vyre",
                                "%s is a %s-bit library, and this process is not", library,
                                header.e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64");
    }
    if (!read_at(file, 0, &header, sizeof header)) {
        return damaged(library);
    }
    if (own &&
        (header.e_ident[EI_DATA] != own->e_ident[EI_DATA] || header.e_machine != own->e_machine)) {
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE, "build it for this machine's architecture",
                                "%s is built for ELF machine %u, and this machine is %u", library,
                                (unsigned)header.e_machine, (unsigned)own->e_machine);
    }
    return check_segments(library, file, &header);
}

static vyre_status check_abi(const char *library, const vyre_bundle *bundle) {
    static const char fix[] = "build it against the headers of this version of vyre";
    static const char upgrade[] = "upgrade vyre, or build it against the headers of this version";
    if (!bundle) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, upgrade,
                                "%s does not support ABI %u.%u; it needs a newer or an older one",
                                library, VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
    }
    uint32_t major = bundle->abi >> 16, minor = bundle->abi & 0xffff;
    if (major != VYRE_ABI_MAJOR) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, fix,
                                "%s has ABI %u.%u, whose major number differs from that of %u.%u",
                                library, major, minor, VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
    }
    if (!vyre_abi_suits(bundle->abi, VYRE_ABI)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, upgrade,
                                "%s needs ABI %u.%u, and this version of vyre has %u.%u", library,
                                major, minor, VYRE_ABI_MAJOR, VYRE_ABI_MINOR);
    }
    if (!VYRE_HAS(bundle, capability_count)) {
        return vyre_status_make(
            VYRE_STATUS_MALFORMED, "start the bundle with VYRE_BUNDLE_HEAD, then build it again",
            "the bundle of %s has %u bytes, and ABI %u.%u needs %zu", library, bundle->struct_size,
            VYRE_ABI_MAJOR, VYRE_ABI_MINOR, sizeof *bundle);
    }
    return VYRE_OK;
}

static vyre_backend_query_function find_query(void *opened) {
    void *symbol = dlsym(opened, VYRE_BACKEND_QUERY);
    vyre_backend_query_function query;
    _Static_assert(sizeof query == sizeof symbol, "as POSIX says");
    memcpy(&query, &symbol, sizeof query);
    return query;
}

/* All that happens to a library before its backends are registered, in a child process. What is
 * wrong with it is told when it is loaded here. */
static void try_library(const void *subject) {
    void *opened = dlopen(subject, RTLD_NOW | RTLD_LOCAL);
    vyre_backend_query_function query = opened ? find_query(opened) : NULL;
    const vyre_bundle *bundle = query ? query(VYRE_ABI) : NULL;
    vyre_status_free(vyre_registry_check(bundle));
}

static vyre_status probe(const char *library, const char *real) {
    vyre_strbuf what = {0};
    vyre_strbuf_printf(&what, "loading %s", library);
    vyre_status status = what.failed ? vyre_no_memory("to load %s", library)
                                     : vyre_probe(vyre_strbuf_string(&what), try_library, real);
    vyre_strbuf_free(&what);
    return status;
}

vyre_status vyre_plugin_open(const vyre_plugin_self *self, const char *library,
                             const vyre_bundle **out_bundle) {
    char real[PATH_MAX];
    int file;
    *out_bundle = NULL;
    VYRE_TRY(vyre_plugin_open_file(self, library, real, &file));
    vyre_status status = check_elf(self, library, file);
    close(file);
    if (!status) {
        status = probe(library, real);
    }
    if (status) {
        return status;
    }
    void *opened = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        const char *reason = dlerror();
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                "name a shared library; run ldd on it and install what is missing",
                                "%s cannot be loaded: %s", library,
                                reason ? reason : "without a reason");
    }
    vyre_backend_query_function query = find_query(opened);
    if (!query) {
        return vyre_status_make(
            VYRE_STATUS_NOT_FOUND,
            "define that function with C linkage and default visibility, see vyre/backend.h",
            "%s has no symbol %s", library, VYRE_BACKEND_QUERY);
    }
    const vyre_bundle *bundle = query(VYRE_ABI);
    status = check_abi(library, bundle);
    *out_bundle = status ? NULL : bundle;
    return status;
}
