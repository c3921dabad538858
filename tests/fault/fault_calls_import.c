/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Replaces the functions that grinterop looks up or imports. */
#define _GNU_SOURCE
#include "fault_calls_parts.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda.h>
#include <vulkan/vulkan_core.h>

/* ---- Look-ups -------------------------------------------------------------------------------- */

typedef CUresult(CUDAAPI *look_up_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);
static look_up_fn look_up_cuda;
static PFN_vkGetInstanceProcAddr look_up_instance;
static PFN_vkGetDeviceProcAddr look_up_device;

static CUresult CUDAAPI find_cuda(const char *name, void **found, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    CUresult result = look_up_cuda(name, found, version, flags, status);
    if (result == CUDA_SUCCESS && found && *found)
        *found = point_at(name, *found, NULL);
    return result;
}

static PFN_vkVoidFunction vulkan_point(const char *name, PFN_vkVoidFunction real)
{
    void *address = NULL;
    memcpy(&address, &real, sizeof(address));
    if (address)
        address = point_at(name, address, NULL);
    memcpy(&real, &address, sizeof(real));
    return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_device(VkDevice device, const char *name)
{
    return vulkan_point(name, look_up_device(device, name));
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction real = look_up_instance(instance, name);
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)find_instance;
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return vulkan_point(name, real);
    look_up_device = (PFN_vkGetDeviceProcAddr)real;
    return (PFN_vkVoidFunction)find_device;
}

/* ISO C has no conversion between a function pointer and void *. */
#define TAKE(keep, found, mine)                                                                    \
    do {                                                                                           \
        memcpy(&(keep), &(found), sizeof(found));                                                  \
        __typeof__(&(mine)) mine_ = mine;                                                          \
        memcpy(&(found), &mine_, sizeof(found));                                                   \
    } while (0)

/*
 * Replaces dlsym(). It wraps the look-up functions, so that all functions that they return are
 * wrapped.
 */
static void *find_symbol(void *file, const char *name)
{
    void *found = dlsym(file, name);
    if (!found)
        return NULL;
    if (strcmp(name, "cuGetProcAddress_v2") == 0)
        TAKE(look_up_cuda, found, find_cuda);
    else if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        TAKE(look_up_instance, found, find_instance);
    else if (strcmp(name, "gr_softcuda_semaphore_create") == 0)
        found = point_at(name, found, NULL);
    return found;
}

/* ---- The import table of grinterop ----------------------------------------------------------- */

struct imports {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2];
    size_t sizes[2];
};

static void *symbol_address(const char *name)
{
    void *real = dlsym(RTLD_DEFAULT, name);
    if (strcmp(name, "dlsym") == 0) {
        __typeof__(&find_symbol) mine = find_symbol;
        memcpy(&real, &mine, sizeof(real));
    }
    return real;
}

static const struct call_stand_in *stand_ins;

static void *stand_in_of(const char *name)
{
    void *address = NULL;
    for (const struct call_stand_in *one = stand_ins; one && one->name; one++)
        if (strcmp(one->name, name) == 0)
            memcpy(&address, &one->function, sizeof(address));
    return address;
}

/* Returns the replacement of an import, or NULL if the import is not replaced. */
static void *import_of(const char *name)
{
    if (stand_in_of(name))
        return stand_in_of(name);
    bool is_epoxys = strncmp(name, "epoxy_gl", 8) == 0 || strncmp(name, "epoxy_egl", 9) == 0;
    void *real = symbol_address(name);
    if (!real)
        return NULL;
    if (is_epoxys && strcmp(name, "epoxy_gl_version") != 0 && strcmp(name, "epoxy_glsl_version")) {
        return point_at_import(name + 6, real, real);
    }
    bool counted = strcmp(name, "realloc") == 0;
    for (size_t i = 0; i < CALL_BALANCES && balances[i].more; i++)
        counted = counted || strcmp(name, balances[i].less) == 0;
    if (!counted && !system_function_of(name))
        return NULL;
    return point_at_import(name, real, NULL);
}

static bool is_import(const ElfW(Rela) * relocation)
{
    unsigned long type = ELF64_R_TYPE(relocation->r_info);
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static void put(void **place, void *value)
{
    long size = sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)place & ~(uintptr_t)(size - 1);
    if (mprotect((void *)page, (size_t)size, PROT_READ | PROT_WRITE) == 0)
        *place = value;
}

static void take_imports(const struct imports *imports, uintptr_t base)
{
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < imports->sizes[list] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *one = &imports->relocations[list][i];
            if (!is_import(one))
                continue;
            const ElfW(Sym) *symbol = &imports->symbols[ELF64_R_SYM(one->r_info)];
            if (symbol->st_shndx != SHN_UNDEF)
                continue;
            void *value = import_of(imports->names + symbol->st_name);
            if (value)
                put((void **)(base + one->r_offset), value);
        }
}

static struct imports read_dynamic(const ElfW(Dyn) * dynamic)
{
    struct imports imports = {0};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        ElfW(Addr) value = dynamic->d_un.d_ptr;
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            imports.symbols = (const void *)value;
            break;
        case DT_STRTAB:
            imports.names = (const void *)value;
            break;
        case DT_RELA:
            imports.relocations[0] = (const void *)value;
            break;
        case DT_RELASZ:
            imports.sizes[0] = value;
            break;
        case DT_JMPREL:
            imports.relocations[1] = (const void *)value;
            break;
        case DT_PLTRELSZ:
            imports.sizes[1] = value;
            break;
        default:
            break;
        }
    }
    return imports;
}

static int find_grinterop(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    size_t which = 0;
    while (which < LIBRARIES &&
           strncmp(file, library_code[which].name, strlen(library_code[which].name)) != 0)
        which++;
    if (which == LIBRARIES)
        return 0;
    struct library_code *library = &library_code[which];
    library->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            library->start = library->base + part->p_vaddr;
            library->end = library->start + part->p_memsz;
        } else if (part->p_type == PT_DYNAMIC) {
            ((struct imports *)user)[which] =
                read_dynamic((const void *)(library->base + part->p_vaddr));
        }
    }
    return 0;
}

const char *fault_calls_start(const struct call_stand_in *list)
{
    stand_ins = list;
#ifdef __x86_64__
    struct imports imports[LIBRARIES] = {{0}};
    dl_iterate_phdr(find_grinterop, imports);
    if (!library_code[0].end)
        return "grinterop is linked statically: it has no import table";
    for (size_t i = 0; i < LIBRARIES; i++)
        take_imports(&imports[i], library_code[i].base);
    return NULL;
#else
    return "calls can only be made to fail on x86-64";
#endif
}
