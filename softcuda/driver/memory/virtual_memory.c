/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Addresses for memory of cuMemCreate: reservations, their mappings, and the access to them. An
 * access to unmapped or inaccessible addresses faults with a message. When a mapping becomes
 * accessible, it becomes a known range, so that copies can use it.
 */
#include "softcuda/driver/memory/allocation.h"
#include "softcuda/driver/memory/device_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_MAPPED   "a range of cuMemAddressReserve that nothing is mapped to"
#define NO_ACCESS    "a mapping of cuMemMap that cuMemSetAccess gave no access to"
#define ONLY_READ    "a mapping of cuMemMap that cuMemSetAccess made readable only"
#define AFTERWARDS   "a range of addresses after cuMemAddressFree"
#define READ_ACCESS  ((unsigned)CU_MEM_ACCESS_FLAGS_PROT_READ)
#define WRITE_ACCESS ((unsigned)CU_MEM_ACCESS_FLAGS_PROT_READWRITE)

typedef struct mapping {
    unsigned char *base;
    size_t size;
    soft_allocation *allocation;
    unsigned access[SOFT_MAX_DEVICES]; /* CUmemAccess_flags */
    struct mapping *next;
} mapping;

typedef struct reservation {
    unsigned char *base;
    size_t size;
    mapping *mappings; /* sorted by address */
    struct reservation *next;
} reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static reservation *reservations;

static unsigned char *at(CUdeviceptr pointer)
{
    return (unsigned char *)(uintptr_t)pointer;
}

/* ---- Reservations ---------------------------------------------------------------------------- */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static CUresult reserve(unsigned char *hint, size_t size, size_t alignment, CUdeviceptr *pointer)
{
    reservation *r = calloc(1, sizeof(*r));
    SOFT_FAIL_IF(!r, CUDA_ERROR_OUT_OF_MEMORY);
    r->base = soft_pages_reserve(hint, size, alignment);
    r->size = size;
    if (!r->base || soft_pages_guard(r->base, size, NOT_MAPPED) != CUDA_SUCCESS) {
        if (r->base)
            soft_pages_retire(r->base, size, AFTERWARDS);
        free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    SOFT_LOCK(&lock);
    r->next = reservations;
    reservations = r;
    *pointer = (CUdeviceptr)(uintptr_t)r->base;
    return CUDA_SUCCESS;
}

SOFT_API cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!ptr || flags != 0 || size == 0 || size % page_size() != 0 ||
                     addr % page_size() != 0 || (alignment & (alignment - 1)) != 0,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(size > SIZE_MAX / 2, CUDA_ERROR_OUT_OF_MEMORY);
    return reserve(at(addr), size, alignment > SOFT_GRANULARITY ? alignment : SOFT_GRANULARITY,
                   ptr);
}

SOFT_API cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    SOFT_TRY(soft_check_init());
    SOFT_LOCK(&lock);
    reservation **link = &reservations;
    while (*link && (*link)->base != at(ptr))
        link = &(*link)->next;
    reservation *found = *link;
    SOFT_FAIL_IF(!found || found->size != size || found->mappings, CUDA_ERROR_INVALID_VALUE);
    *link = found->next;
    soft_pages_retire(found->base, found->size, AFTERWARDS);
    free(found);
    return CUDA_SUCCESS;
}

/* The reservation that contains all bytes of [base, base + size), or NULL. */
static reservation *find_reservation_locked(const unsigned char *base, size_t size)
{
    for (reservation *r = reservations; r; r = r->next)
        if (base >= r->base && (size_t)(base - r->base) < r->size &&
            size <= r->size - (size_t)(base - r->base))
            return r;
    return NULL;
}

/* ---- Map ------------------------------------------------------------------------------------- */

/*
 * The link where a mapping of these addresses must be inserted; NULL if something is mapped at
 * them.
 */
static mapping **find_gap_locked(reservation *r, const unsigned char *base, size_t size)
{
    mapping **link = &r->mappings;
    while (*link && (*link)->base + (*link)->size <= base)
        link = &(*link)->next;
    return !*link || (*link)->base >= base + size ? link : NULL;
}

static CUresult map_locked(const mapping *wanted)
{
    reservation *r = find_reservation_locked(wanted->base, wanted->size);
    mapping **link = r ? find_gap_locked(r, wanted->base, wanted->size) : NULL;
    SOFT_FAIL_IF(!link, CUDA_ERROR_INVALID_VALUE);
    mapping *m = malloc(sizeof(*m));
    SOFT_FAIL_IF(!m, CUDA_ERROR_OUT_OF_MEMORY);
    if (!soft_memfd_place(&wanted->allocation->file, 0, wanted->size, wanted->base)) {
        free(m);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    soft_pages_guard(wanted->base, wanted->size, NO_ACCESS);
    *m = *wanted;
    m->next = *link;
    *link = m;
    return CUDA_SUCCESS;
}

SOFT_API cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(flags != 0 || offset != 0 || size == 0 || ptr % SOFT_GRANULARITY != 0,
                 CUDA_ERROR_INVALID_VALUE);
    mapping wanted = {at(ptr), size, soft_allocation_map(handle), {0}, NULL};
    SOFT_FAIL_IF(!wanted.allocation, CUDA_ERROR_INVALID_VALUE);
    /* the NVIDIA driver returns this code for any other size */
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (size == wanted.allocation->size) {
        SOFT_LOCK(&lock);
        result = map_locked(&wanted);
    }
    if (result != CUDA_SUCCESS)
        soft_allocation_unmap(wanted.allocation);
    return result;
}

/* ---- Whole mappings -------------------------------------------------------------------------- */

/*
 * The link to the first of the mappings that exactly fill [base, base + size); NULL if no mappings
 * exactly fill it.
 */
static mapping **find_run_locked(const unsigned char *base, size_t size)
{
    reservation *r = size ? find_reservation_locked(base, size) : NULL;
    if (!r)
        return NULL;
    mapping **link = &r->mappings;
    while (*link && (*link)->base < base)
        link = &(*link)->next;
    const unsigned char *end = base;
    for (const mapping *m = *link; m && m->base == end && end < base + size; m = m->next)
        end += m->size;
    return end == base + size ? link : NULL;
}

/* ---- Access ---------------------------------------------------------------------------------- */

/* The devices that have any access, one bit each. */
static unsigned access_mask(const unsigned access[SOFT_MAX_DEVICES])
{
    unsigned devices = 0;
    for (unsigned i = 0; i < SOFT_MAX_DEVICES; i++)
        if (access[i])
            devices |= 1u << i;
    return devices;
}

/*
 * Sets the protection of the pages, which is the same for all devices: the highest access of any
 * device.
 */
static CUresult protect(const mapping *m, const unsigned access[SOFT_MAX_DEVICES])
{
    unsigned most = 0;
    for (unsigned i = 0; i < SOFT_MAX_DEVICES; i++)
        most |= access[i];
    if (most == WRITE_ACCESS)
        return soft_pages_unguard(m->base, m->size);
    return most == READ_ACCESS ? soft_pages_guard_writes(m->base, m->size, ONLY_READ)
                               : soft_pages_guard(m->base, m->size, NO_ACCESS);
}

/* Adds or removes the known range of the mapping: it exists while any device has access. */
static CUresult update_range(const mapping *m, unsigned before, unsigned devices)
{
    const soft_range range = {.base = m->base,
                              .size = m->size,
                              .kind = SOFT_MEMORY_VIRTUAL,
                              .what = "a mapping of cuMemMap",
                              .flags = (unsigned)m->allocation->prop.requestedHandleTypes,
                              .device = m->allocation->prop.location.id,
                              .access = devices,
                              .owner = m->allocation};
    if (before && devices)
        soft_range_set_access(m->base, devices);
    else if (before)
        soft_range_remove(m->base, SOFT_MEMORY_VIRTUAL, NULL);
    return !before && devices ? soft_range_add(&range) : CUDA_SUCCESS;
}

static CUresult set_access_locked(mapping *m, const CUmemAccessDesc *desc, size_t count)
{
    unsigned access[SOFT_MAX_DEVICES];
    memcpy(access, m->access, sizeof(access));
    for (size_t i = 0; i < count; i++)
        access[desc[i].location.id] = (unsigned)desc[i].flags;
    SOFT_TRY(protect(m, access));
    SOFT_TRY(update_range(m, access_mask(m->access), access_mask(access)));
    memcpy(m->access, access, sizeof(access));
    return CUDA_SUCCESS;
}

static CUresult set_access(unsigned char *base, size_t size, const CUmemAccessDesc *desc,
                           size_t count)
{
    SOFT_LOCK(&lock);
    mapping **link = find_run_locked(base, size);
    SOFT_FAIL_IF(!link, CUDA_ERROR_INVALID_VALUE);
    for (mapping *m = *link; m && m->base < base + size; m = m->next)
        SOFT_TRY(set_access_locked(m, desc, count));
    return CUDA_SUCCESS;
}

SOFT_API cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!ptr || !desc || count == 0, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        unsigned flags = (unsigned)desc[i].flags;
        SOFT_FAIL_IF(flags != 0 && flags != READ_ACCESS && flags != WRITE_ACCESS,
                     CUDA_ERROR_INVALID_VALUE);
        /*
         * For an invalid device the NVIDIA driver returns a separate code from cuMemCreate, but not
         * from this call.
         */
        CUresult result = soft_allocation_check_location(&desc[i].location);
        if (result != CUDA_SUCCESS)
            return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
    }
    /* If a device is described twice, the last description counts. */
    return set_access(at(ptr), size, desc, count);
}

/* The mapping that contains the address, or NULL. */
static mapping *find_mapping_locked(const unsigned char *address)
{
    const reservation *r = find_reservation_locked(address, 1);
    mapping *m = r ? r->mappings : NULL;
    while (m && m->base + m->size <= address)
        m = m->next;
    return m && m->base <= address ? m : NULL;
}

SOFT_API cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!flags || !location, CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(soft_allocation_check_location(location));
    SOFT_LOCK(&lock);
    const mapping *m = find_mapping_locked(at(ptr));
    if (m)
        *flags = m->access[location->id];
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!handle, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&lock);
    const mapping *m = find_mapping_locked(addr);
    if (m) {
        soft_allocation_hold(m->allocation);
        *handle = m->allocation->handle;
    }
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Unmap ----------------------------------------------------------------------------------- */

/*
 * Removes a mapping, and with it the name of the pages for fault messages. If the mapping covered
 * the whole reservation, restores the name of the reservation.
 */
static void unmap_locked(mapping **link)
{
    mapping *m = *link;
    const reservation *r = find_reservation_locked(m->base, m->size);
    *link = m->next;
    if (access_mask(m->access))
        soft_range_remove(m->base, SOFT_MEMORY_VIRTUAL, NULL);
    soft_pages_unguard(m->base, m->size);
    mmap(m->base, m->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
         0);
    if (r->size == m->size)
        soft_pages_guard(m->base, m->size, NOT_MAPPED);
    soft_allocation_unmap(m->allocation);
    free(m);
}

/* Like the NVIDIA driver, does not wait for work that still uses the memory: the work faults. */
SOFT_API cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    SOFT_TRY(soft_check_init());
    SOFT_LOCK(&lock);
    mapping **link = find_run_locked(at(ptr), size);
    while (link && *link && (*link)->base < at(ptr) + size)
        unmap_locked(link);
    return link ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
