#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "backend/cpu/runtime/code.h"

#include <elf.h>
#include <math.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "backend/cpu/runtime/relocate.h"
#include "base/alloc.h"

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#else
enum { OUR_MACHINE = EM_NONE };
#endif

typedef void (*function)(void);

/* All that code may call: what LLVM makes of fills, copies, and operations the CPU does not have.
 */
static const struct {
    const char *name;
    function address;
} allowed[] = {
    {"memset", (function)memset},
    {"memcpy", (function)memcpy},
    {"memmove", (function)memmove},
    {"fma", (function)fma},
    {"fmaf", (function)fmaf},
    {"sqrt", (function)sqrt},
    {"sqrtf", (function)sqrtf},
    {"floor", (function)floor},
    {"floorf", (function)floorf},
    {"ceil", (function)ceil},
    {"ceilf", (function)ceilf},
    {"trunc", (function)trunc},
    {"truncf", (function)truncf},
    {"rint", (function)rint},
    {"rintf", (function)rintf},
    {"nearbyint", (function)nearbyint},
    {"nearbyintf", (function)nearbyintf},
    {"roundeven", (function)rint}, /* threads that run code round to nearest, ties to even */
    {"roundevenf", (function)rintf},
};

/* An object being linked. Headers are copied out, since they need not be aligned. */
typedef struct linker {
    const uint8_t *object;
    size_t size;
    Elf64_Ehdr head;
    Elf64_Shdr *sections;
    uint8_t **places;  /* by section: where it is loaded, NULL where it is not */
    Elf64_Shdr table;  /* of symbols */
    const char *names; /* of symbols, `names_size` bytes, the last one 0 */
    size_t names_size;
    uint32_t symbol_count;
    uint8_t **stubs; /* by symbol: its stub, once it has one */
    uint8_t *next_stub;
    uint32_t stub_count; /* symbols that may need one */
    uint8_t *image;
    size_t code_bytes, image_bytes; /* code comes first, the rest on pages of its own */
    const char *fault;              /* what is wrong with the object */
    const char *missing;            /* a function that it may not call */
} linker;

static bool refuse(linker *l, const char *fault) {
    l->fault = fault;
    return false;
}

/* Copies a part of the object; false if it is not all inside. */
static bool take(const linker *l, uint64_t offset, void *to, size_t size) {
    if (offset > l->size || size > l->size - offset) {
        return false;
    }
    memcpy(to, l->object + offset, size);
    return true;
}

static bool is_inside(const linker *l, const Elf64_Shdr *section) {
    return section->sh_offset <= l->size && section->sh_size <= l->size - section->sh_offset;
}

static Elf64_Sym symbol_at(const linker *l, uint32_t index) {
    Elf64_Sym symbol;
    memcpy(&symbol, l->object + l->table.sh_offset + (size_t)index * sizeof symbol, sizeof symbol);
    return symbol;
}

static const char *symbol_name(const linker *l, const Elf64_Sym *symbol) {
    return symbol->st_name < l->names_size ? l->names + symbol->st_name : "";
}

static bool read_head(linker *l) {
    if (!take(l, 0, &l->head, sizeof l->head) || memcmp(l->head.e_ident, ELFMAG, SELFMAG) != 0 ||
        l->head.e_ident[EI_CLASS] != ELFCLASS64 || l->head.e_ident[EI_DATA] != ELFDATA2LSB ||
        l->head.e_type != ET_REL || l->head.e_shentsize != sizeof(Elf64_Shdr)) {
        return refuse(l, "it is not a relocatable ELF file");
    }
    return l->head.e_machine == OUR_MACHINE || refuse(l, "it is for another architecture");
}

/* Whether a section is part of the program in memory. Nobody unwinds through kernels. */
static bool is_loaded(const Elf64_Shdr *section) {
    return section->sh_flags & SHF_ALLOC && section->sh_size &&
           (section->sh_type == SHT_PROGBITS || section->sh_flags & SHF_EXECINSTR);
}

static bool read_sections(linker *l) {
    uint32_t count = l->head.e_shnum;
    if (!take(l, l->head.e_shoff, l->sections, count * sizeof *l->sections)) {
        return refuse(l, "its section headers are truncated");
    }
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL && !is_inside(l, s)) {
            return refuse(l, "a section is truncated");
        }
        if (s->sh_flags & SHF_TLS || (s->sh_type == SHT_NOBITS && s->sh_size)) {
            return refuse(l, "it has variables of its own");
        }
        if (s->sh_addralign > 4096 || (s->sh_addralign & (s->sh_addralign - 1))) {
            return refuse(l, "a section has an invalid alignment");
        }
        if (s->sh_type == SHT_SYMTAB) {
            l->table = *s;
        }
    }
    if (l->table.sh_link >= count || l->table.sh_entsize != sizeof(Elf64_Sym)) {
        return refuse(l, "it has no symbols");
    }
    const Elf64_Shdr *names = &l->sections[l->table.sh_link];
    if (names->sh_type != SHT_STRTAB || !names->sh_size ||
        l->object[names->sh_offset + names->sh_size - 1]) {
        return refuse(l, "its symbols have no names");
    }
    l->names = (const char *)l->object + names->sh_offset;
    l->names_size = names->sh_size;
    l->symbol_count = (uint32_t)(l->table.sh_size / sizeof(Elf64_Sym));
    return true;
}

static size_t align_up(size_t size, size_t alignment) {
    return alignment > 1 ? (size + alignment - 1) & ~(alignment - 1) : size;
}

/* Bytes with all sections of one kind behind the first `size`; copies them there if there is a
 * base. */
static size_t lay_out(linker *l, bool code, size_t size, uint8_t *base) {
    for (uint32_t i = 0; i < l->head.e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (is_loaded(s) && code == !!(s->sh_flags & SHF_EXECINSTR)) {
            size = align_up(size, s->sh_addralign);
            if (base) {
                l->places[i] = base + size;
                memcpy(l->places[i], l->object + s->sh_offset, s->sh_size);
            }
            size += s->sh_size;
        }
    }
    return size;
}

static size_t stub_offset(linker *l) {
    return align_up(lay_out(l, true, 0, NULL), CPU_STUB_BYTES);
}

/* How much memory the object takes, in whole pages. */
static bool measure(linker *l) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (uint32_t i = 1; i < l->symbol_count; i++) {
        l->stub_count += symbol_at(l, i).st_shndx == SHN_UNDEF;
    }
    l->code_bytes = align_up(stub_offset(l) + (size_t)l->stub_count * CPU_STUB_BYTES, page);
    l->image_bytes = align_up(lay_out(l, false, l->code_bytes, NULL), page);
    return l->image_bytes || refuse(l, "it is empty");
}

static void place_sections(linker *l, uint8_t *image) {
    l->image = image;
    l->next_stub = image + stub_offset(l);
    lay_out(l, true, 0, image);
    lay_out(l, false, l->code_bytes, image);
}

/* A jump to a function of the table, near enough for any branch of the code. */
static uint8_t *stub_of(linker *l, uint32_t index, const char *name) {
    for (size_t i = 0; !l->stubs[index] && i < sizeof allowed / sizeof *allowed; i++) {
        if (!strcmp(name, allowed[i].name)) {
            cpu_write_stub(l->head.e_machine, l->next_stub, (uintptr_t)allowed[i].address);
            l->stubs[index] = l->next_stub;
            l->next_stub += CPU_STUB_BYTES;
        }
    }
    return l->stubs[index];
}

/* The address of a symbol; NULL if it has none that can be used. */
static uint8_t *symbol_address(linker *l, uint32_t index) {
    if (!index || index >= l->symbol_count) {
        l->fault = "a relocation has no symbol";
        return NULL;
    }
    Elf64_Sym symbol = symbol_at(l, index);
    if (symbol.st_shndx == SHN_UNDEF) {
        uint8_t *stub = stub_of(l, index, symbol_name(l, &symbol));
        l->missing = stub ? l->missing : symbol_name(l, &symbol);
        return stub;
    }
    if (symbol.st_shndx >= l->head.e_shnum || !l->places[symbol.st_shndx] ||
        symbol.st_value > l->sections[symbol.st_shndx].sh_size) {
        l->fault = "a symbol is in no section";
        return NULL;
    }
    return l->places[symbol.st_shndx] + symbol.st_value;
}

static bool relocate_section(linker *l, const Elf64_Shdr *section) {
    uint8_t *base = section->sh_info < l->head.e_shnum ? l->places[section->sh_info] : NULL;
    if (!base) {
        return true;
    }
    uint64_t room = l->sections[section->sh_info].sh_size;
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= section->sh_size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela row;
        memcpy(&row, l->object + section->sh_offset + at, sizeof row);
        uint8_t *target = symbol_address(l, (uint32_t)ELF64_R_SYM(row.r_info));
        if (!target) {
            return false;
        }
        uint32_t type = (uint32_t)ELF64_R_TYPE(row.r_info);
        uint32_t bytes = cpu_relocation_bytes(l->head.e_machine, type);
        if (row.r_offset > room || bytes > room - row.r_offset) {
            return refuse(l, "a relocation is outside its section");
        }
        if (!cpu_relocate(l->head.e_machine, type, base + row.r_offset,
                          (uintptr_t)target + (uint64_t)row.r_addend)) {
            return refuse(l, "a relocation has an unknown kind, or its target is out of range");
        }
    }
    return true;
}

static bool relocate(linker *l) {
    for (uint32_t i = 0; i < l->head.e_shnum; i++) {
        if (l->sections[i].sh_type == SHT_RELA && !relocate_section(l, &l->sections[i])) {
            return false;
        }
    }
    return true;
}

/* The number of a kernel's name, phase_N; `count` if it is none. */
static uint32_t kernel_number(const char *name, uint32_t count) {
    static const char prefix[] = "phase_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !name[sizeof prefix - 1]) {
        return count;
    }
    uint32_t number = 0;
    for (const char *c = name + sizeof prefix - 1; *c; c++) {
        if (*c < '0' || *c > '9' || number >= count) {
            return count;
        }
        number = number * 10 + (uint32_t)(*c - '0');
    }
    return number;
}

static bool find_kernels(linker *l, uint32_t count, cpu_kernel *out_kernels) {
    for (uint32_t i = 1; i < l->symbol_count; i++) {
        Elf64_Sym symbol = symbol_at(l, i);
        uint32_t number =
            symbol.st_shndx == SHN_UNDEF ? count : kernel_number(symbol_name(l, &symbol), count);
        if (number < count) {
            uint8_t *address = symbol_address(l, i);
            if (!address || address >= l->image + l->code_bytes || out_kernels[number]) {
                return refuse(l, "a phase is defined twice, or is not code");
            }
            memcpy(&out_kernels[number], &address, sizeof address);
        }
    }
    return true;
}

static bool seal(linker *l) {
    __builtin___clear_cache((char *)l->image, (char *)l->image + l->code_bytes);
    return !mprotect(l->image, l->code_bytes, PROT_READ | PROT_EXEC) &&
           (l->image_bytes == l->code_bytes ||
            !mprotect(l->image + l->code_bytes, l->image_bytes - l->code_bytes, PROT_READ));
}

static bool make_room(linker *l) {
    l->sections = vyre_alloc_zeroed((size_t)l->head.e_shnum + 1, sizeof *l->sections);
    l->places = vyre_alloc_zeroed((size_t)l->head.e_shnum + 1, sizeof *l->places);
    return l->sections && l->places;
}

static bool make_stubs(linker *l) {
    l->stubs = vyre_alloc_zeroed((size_t)l->symbol_count + 1, sizeof *l->stubs);
    return l->stubs;
}

static vyre_status explain(const linker *l) {
    static const char fix[] = "clear the cache with `vyre cache --clear`; if that does not help, "
                              "use another backend and report a bug with the program";
    if (l->missing) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix,
                                "the code of a program calls `%s`, which is not allowed",
                                l->missing);
    }
    if (l->fault) {
        return vyre_status_make(VYRE_STATUS_BACKEND, fix, "cannot load the code of a program: %s",
                                l->fault);
    }
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                            "free memory and try again, and check that the process may map "
                            "executable memory",
                            "no memory for the code of a program");
}

/* Bytes up to the end of the first object: LLVM writes the table of sections last. */
static size_t object_bytes(const uint8_t *objects, size_t size) {
    Elf64_Ehdr head;
    if (size < sizeof head) {
        return size;
    }
    memcpy(&head, objects, sizeof head);
    uint64_t table = (uint64_t)head.e_shnum * sizeof(Elf64_Shdr);
    bool is_inner =
        head.e_shoff >= sizeof head && head.e_shoff < size && table < size - head.e_shoff;
    return is_inner ? (size_t)(head.e_shoff + table) : size;
}

static bool read_object(linker *l, const uint8_t *object, size_t size) {
    *l = (linker){.object = object, .size = size};
    return read_head(l) && make_room(l) && read_sections(l) && make_stubs(l) && measure(l);
}

static bool link_object(linker *l, uint8_t *image, uint32_t count, cpu_kernel *out_kernels) {
    place_sections(l, image);
    return relocate(l) && find_kernels(l, count, out_kernels) && seal(l);
}

/* Reads all objects, then puts them one behind the other into one stretch of memory. The linker
 * that is to explain a failure is the one behind `out_last`. */
static bool load_all(linker *linkers, const uint8_t *objects, size_t size, uint32_t kernel_count,
                     cpu_code *code, cpu_kernel *out_kernels, linker **out_last) {
    size_t count = 0, at = 0, offset = 0;
    for (; at < size || !count; count++) {
        size_t bytes = object_bytes(objects + at, size - at);
        *out_last = &linkers[count];
        if (!read_object(&linkers[count], objects + at, bytes)) {
            return false;
        }
        at += bytes;
        code->size += linkers[count].image_bytes;
    }
    void *mapping =
        mmap(NULL, code->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return false;
    }
    code->mapping = mapping;
    for (size_t i = 0; i < count; i++) {
        *out_last = &linkers[i];
        if (!link_object(&linkers[i], (uint8_t *)mapping + offset, kernel_count, out_kernels)) {
            return false;
        }
        offset += linkers[i].image_bytes;
    }
    for (uint32_t i = 0; i < kernel_count; i++) {
        if (!out_kernels[i]) {
            return refuse(*out_last, "a phase is missing");
        }
    }
    return true;
}

vyre_status cpu_code_load(const uint8_t *objects, size_t size, uint32_t kernel_count,
                          cpu_code *out_code, cpu_kernel *out_kernels) {
    size_t count = 1;
    for (size_t at = object_bytes(objects, size); at < size; count++) {
        at += object_bytes(objects + at, size - at);
    }
    *out_code = (cpu_code){0};
    memset(out_kernels, 0, kernel_count * sizeof *out_kernels);
    linker none = {0}, *last = &none;
    linker *linkers = vyre_alloc_zeroed(count, sizeof *linkers);
    bool loaded =
        linkers && load_all(linkers, objects, size, kernel_count, out_code, out_kernels, &last);
    vyre_status status = loaded ? VYRE_OK : explain(last);
    if (!loaded) {
        cpu_code_unload(out_code);
    }
    for (size_t i = 0; linkers && i < count; i++) {
        vyre_free(linkers[i].sections);
        vyre_free(linkers[i].places);
        vyre_free(linkers[i].stubs);
    }
    vyre_free(linkers);
    return status;
}

void cpu_code_unload(cpu_code *code) {
    if (code->mapping) {
        munmap(code->mapping, code->size);
    }
    *code = (cpu_code){0};
}
