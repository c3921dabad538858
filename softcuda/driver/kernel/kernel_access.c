/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks whether a kernel's parameters are addresses that its device cannot access. The accesses
 * themselves cannot be checked: kernels of all devices run in one process, in which a page is
 * accessible to all threads or to none.
 */
#include "softcuda/driver/kernel/kernel_access.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda/driver/image/image_object.h"
#include "softcuda/driver/object_at.h"
#include "softcuda/driver/memory/peer_access.h"

/* The usual range of addresses in a process. Most parameters that are numbers are outside it. */
#define LEAST_ADDRESS    UINT64_C(0x100000000)
#define END_OF_ADDRESSES UINT64_C(0x800000000000)

static void print_memory_message(const soft_context *context, const char *kernel, uint64_t address,
                                 const soft_range *range)
{
    soft_log(SOFT_WARN,
             "kernel %s was given address 0x%llx, which is byte %zu of %s (%zu bytes at %p) on "
             "device %d: device %d has no access to it (%s)",
             kernel, (unsigned long long)address, (size_t)(address - (uintptr_t)range->base),
             range->what ? range->what : "memory", range->size, (void *)range->base, range->device,
             soft_context_device(context), soft_access_remedy(range));
}

static bool is_memory_of_others(const soft_context *context, const char *kernel, uint64_t word)
{
    soft_range range;
    if (!soft_range_find((const void *)(uintptr_t)word, &range) || soft_can_access(context, &range))
        return false;
    print_memory_message(context, kernel, word, &range);
    return true;
}

static bool is_image_of_others(const soft_context *context, const char *kernel, uint64_t word)
{
    const soft_context *owner = soft_image_context(word);
    if (!owner || soft_context_device(owner) == soft_context_device(context))
        return false;
    soft_log(SOFT_WARN,
             "kernel %s was given 0x%llx, a texture or surface object of a context on device %d: "
             "device %d cannot use it",
             kernel, (unsigned long long)word, soft_context_device(owner),
             soft_context_device(context));
    return true;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* A position in the parameters of a kernel. */
typedef struct {
    uint32_t parameter, at;
} place;

/*
 * Gets the next word that may be an address; false at the end. Pointers in a struct are aligned to
 * their size.
 */
static bool next_word(const gr_cuhost_kernel *kernel, const unsigned char *parameters, place *next,
                      uint64_t *word)
{
    for (; next->parameter < kernel->param_count; next->parameter++, next->at = 0) {
        if (next->at + sizeof(*word) > kernel->param_sizes[next->parameter])
            continue;
        memcpy(word, parameters + kernel->param_offsets[next->parameter] + next->at, sizeof(*word));
        next->at += sizeof(*word);
        return true;
    }
    return false;
}

/* ---- Host memory ----------------------------------------------------------------------------- */

/*
 * Whether the address is in host memory that the driver does not know: mapped by the process, but
 * neither memory of the driver nor part of the program or a library, whose functions are valid
 * parameters. The page must also be resident: two small integers together can look like an address
 * in the shadow memory of a sanitizer, but few pages of shadow memory are resident. A page of
 * malloc() is resident, because it contains a header of malloc().
 */
static bool is_host_memory(uint64_t word)
{
    Dl_info info;
    unsigned char resident;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const unsigned char *address = (const unsigned char *)(uintptr_t)word;
    return word >= LEAST_ADDRESS && word < END_OF_ADDRESSES && !soft_range_find(address, NULL) &&
           !soft_pages_have(address) && !soft_image_context(word) && !dladdr(address, &info) &&
           mincore((void *)(uintptr_t)(word / page * page), 1, &resident) == 0 && (resident & 1);
}

void soft_kernel_look_at(const gr_cuhost_kernel *kernel, const unsigned char *parameters)
{
    place next = {0, 0};
    for (uint64_t word; next_word(kernel, parameters, &next, &word);) {
        if (!is_host_memory(word))
            continue;
        soft_log(SOFT_WARN,
                 "kernel %s is given address 0x%llx, which is host memory unknown to CUDA (from "
                 "malloc, or the stack): most GPUs cannot access it; use cudaMalloc, "
                 "cudaMallocManaged, cudaMallocHost or cudaHostRegister",
                 kernel->name, (unsigned long long)word);
        return;
    }
}

/* ---- Memory of other devices ----------------------------------------------------------------- */

bool soft_kernel_may_have(const soft_context *context, const gr_cuhost_kernel *kernel,
                          const unsigned char *parameters)
{
    if (soft_device_count() == 1)
        return true;
    place next = {0, 0};
    for (uint64_t word; next_word(kernel, parameters, &next, &word);) {
        if (is_memory_of_others(context, kernel->name, word) ||
            is_image_of_others(context, kernel->name, word)) {
            raise(SIGSEGV);
            return false;
        }
    }
    return true;
}
