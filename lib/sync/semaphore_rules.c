/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The checks of semaphores, before the driver is called: that they are alive, and the rules of the
 * CUDA documentation for imports, signals and waits, by type.
 */
#include "lib/sync/sync.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/cuda/import_handle.h"

/* The kinds of semaphores. They differ in the parameters of signals and waits. */
enum semaphore_kind {
    KIND_BINARY,      /* no parameters */
    KIND_FENCE,       /* a value that only grows */
    KIND_KEYED_MUTEX, /* a key; a wait also has a timeout */
    KIND_NVSCISYNC,   /* a fence object, and whether memory is synchronised */
};

#define FROM_VULKAN_FD    "vkGetSemaphoreFdKHR returns it"
#define FROM_VULKAN_WIN32 "vkGetSemaphoreWin32HandleKHR returns it"

static const struct gr_handle_rule rules[] = {
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, "OPAQUE_FD", GR_HANDLE_FD, FROM_VULKAN_FD,
     KIND_BINARY,
     "Usual causes: the fd is of a timeline semaphore (type TIMELINE_SEMAPHORE_FD), of memory or "
     "of a sync file; another GPU (compare UUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32, "OPAQUE_WIN32", GR_HANDLE_NT,
     FROM_VULKAN_WIN32, KIND_BINARY,
     "Usual causes: the handle is of a timeline semaphore (type TIMELINE_SEMAPHORE_WIN32), was "
     "closed, or has another type or GPU (compare UUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT, "OPAQUE_WIN32_KMT", GR_HANDLE_KMT,
     "vkGetSemaphoreWin32HandleKHR returns it for the type OPAQUE_WIN32_KMT", KIND_BINARY,
     "Usual causes: the semaphore was destroyed, which this handle does not prevent; a handle of "
     "another type or GPU (compare UUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE, "D3D12_FENCE", GR_HANDLE_NT,
     "ID3D12Device::CreateSharedHandle returns it for an ID3D12Fence", KIND_FENCE,
     "Usual causes: a fence created without D3D12_FENCE_FLAG_SHARED; a closed handle; another "
     "adapter (compare LUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE, "D3D11_FENCE", GR_HANDLE_NT,
     "ID3D11Fence::CreateSharedHandle returns it", KIND_FENCE,
     "Usual causes: a fence created without D3D11_FENCE_FLAG_SHARED; a closed handle; another "
     "adapter (compare LUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC, "NVSCISYNC", GR_HANDLE_NVSCI,
     "NvSciSyncObjAlloc returns it", KIND_NVSCISYNC,
     "NvSciSync exists on DRIVE and Jetson. Usual cause: the attributes of the object were not "
     "reconciled with those of cuDeviceGetNvSciSyncAttributes."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX, "D3D11_KEYED_MUTEX", GR_HANDLE_NT,
     "IDXGIResource1::CreateSharedHandle returns it for a resource with a keyed mutex",
     KIND_KEYED_MUTEX,
     "Usual causes: the resource was created without D3D11_RESOURCE_MISC_SHARED_KEYEDMUTEX; the "
     "handle is a KMT one (type D3D11_KEYED_MUTEX_KMT); another adapter (compare LUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT, "D3D11_KEYED_MUTEX_KMT",
     GR_HANDLE_KMT, "IDXGIResource::GetSharedHandle returns it for a resource with a keyed mutex",
     KIND_KEYED_MUTEX,
     "Usual causes: the resource was released, which this handle does not prevent; the handle is "
     "an NT one (type D3D11_KEYED_MUTEX); another adapter (compare LUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, "TIMELINE_SEMAPHORE_FD", GR_HANDLE_FD,
     FROM_VULKAN_FD, KIND_FENCE,
     "Usual causes: the fd is of a binary semaphore (type OPAQUE_FD) or of memory; another GPU "
     "(compare UUIDs)."},
    {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32, "TIMELINE_SEMAPHORE_WIN32",
     GR_HANDLE_NT, FROM_VULKAN_WIN32, KIND_FENCE,
     "Usual causes: the handle is of a binary semaphore (type OPAQUE_WIN32), was closed, or has "
     "another type or GPU (compare UUIDs)."},
};

static const struct gr_handle_import import = {"cuImportExternalSemaphore", "nvscisync",
                                               "semaphore"};

static const struct gr_handle_rule *rule_of(CUexternalSemaphoreHandleType type)
{
    return gr_handle_find(rules, sizeof(rules) / sizeof(rules[0]), (int)type);
}

gr_status gr_semaphore_check_given(const gr_semaphore *semaphore)
{
    return gr_live_has(GR_LIVE_HELD_SEMAPHORE, semaphore)
               ? GR_OK
               : gr_live_refuse(GR_LIVE_SEMAPHORE, semaphore);
}

/* ---- Imports --------------------------------------------------------------------------------- */

bool gr_semaphore_type_counts(CUexternalSemaphoreHandleType type)
{
    const struct gr_handle_rule *rule = rule_of(type);
    return rule && rule->kind == KIND_FENCE;
}

const char *gr_semaphore_type_name(CUexternalSemaphoreHandleType type)
{
    const struct gr_handle_rule *rule = rule_of(type);
    return rule ? rule->name : "unknown";
}

gr_status gr_semaphore_check(const gr_semaphore_desc *info)
{
    const struct gr_handle_rule *rule = rule_of(info->type);
    if (!rule)
        return gr_handle_unknown((int)info->type, &import);
    GR_REFUSE_IF(info->value != 0 && rule->kind != KIND_FENCE,
                 "A semaphore of type %s was given the value %llu. Only timelines and Direct3D "
                 "fences have values (CUDA driver API, cuSignalExternalSemaphoresAsync). Set it to "
                 "0, or choose another type.",
                 rule->name, (unsigned long long)info->value);
    const struct gr_handle handle = {info->fd, info->win32_handle, info->win32_name,
                                     info->nvscisync};
    return gr_handle_check(rule, &handle, &import);
}

void gr_semaphore_handle_desc(const gr_semaphore_desc *info,
                              CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    const struct gr_handle_rule *rule = rule_of(info->type);
    memset(desc, 0, sizeof(*desc));
    desc->type = info->type;
    if (rule->form == GR_HANDLE_FD) {
        desc->handle.fd = info->fd;
    } else if (rule->form == GR_HANDLE_NVSCI) {
        desc->handle.nvSciSyncObj = info->nvscisync;
    } else {
        desc->handle.win32.handle = info->win32_handle;
        desc->handle.win32.name = info->win32_name;
    }
}

gr_status gr_semaphore_refused(const gr_semaphore_desc *info, CUresult code)
{
    return gr_handle_refused(rule_of(info->type), &import, code, false);
}

/* ---- Signals and waits ----------------------------------------------------------------------- */

/* Records an error about a field that this kind does not have. */
static gr_status no_such_field(enum semaphore_kind kind, bool is_wait, const char *field,
                               const char *whose)
{
    static const char *const kinds[] = {"a binary semaphore", "a semaphore with values",
                                        "a keyed mutex", "an NvSciSync object"};
    return gr_fail(
        GR_ERR_INVALID_VALUE,
        "A point of %s was given `%s`. Only %s use this field (CUDA driver API, %s). Leave it 0.",
        kinds[kind], field, whose,
        is_wait ? "cuWaitExternalSemaphoresAsync" : "cuSignalExternalSemaphoresAsync");
}

gr_status gr_semaphore_check_point(const gr_semaphore_point *point, bool is_wait)
{
    const struct gr_handle_rule *rule = rule_of(point->semaphore->type);
    /* a semaphore that the host waits for has no handle and therefore no type */
    const enum semaphore_kind kind = rule                         ? (enum semaphore_kind)rule->kind
                                     : point->semaphore->timeline ? KIND_FENCE
                                                                  : KIND_BINARY;
    if (point->value != 0 && kind != KIND_FENCE)
        return no_such_field(kind, is_wait, "value", "timelines and Direct3D fences");
    if (point->key != 0 && kind != KIND_KEYED_MUTEX)
        return no_such_field(kind, is_wait, "key", "keyed mutexes");
    if (point->timeout_ms != 0 && (kind != KIND_KEYED_MUTEX || !is_wait))
        return no_such_field(kind, is_wait, "timeout_ms", "waits for keyed mutexes");
    if (point->nvsci_fence && kind != KIND_NVSCISYNC)
        return no_such_field(kind, is_wait, "nvsci_fence", "NvSciSync objects");
    if (point->skip_nvscibuf && kind != KIND_NVSCISYNC)
        return no_such_field(kind, is_wait, "skip_nvscibuf", "NvSciSync objects");
    GR_REFUSE_IF(
        !point->nvsci_fence && kind == KIND_NVSCISYNC,
        "A point of an NvSciSync object has no fence: nvsci_fence is NULL. Pass an NvSciSyncFence, "
        "%s.",
        is_wait
            ? "for the wait (CUDA driver API, cuWaitExternalSemaphoresAsync)"
            : "to which the signal is written (CUDA driver API, cuSignalExternalSemaphoresAsync)");
    return GR_OK;
}

/* Sets the parameters that signals and waits have in common. */
#define SET_PARAMS(params, point)                                                                  \
    do {                                                                                           \
        memset(params, 0, sizeof(*(params)));                                                      \
        (params)->params.fence.value = (point)->value;                                             \
        (params)->params.nvSciSync.fence = (point)->nvsci_fence;                                   \
        (params)->params.keyedMutex.key = (point)->key;                                            \
    } while (0)

void gr_semaphore_signal_params(const gr_semaphore_point *point,
                                CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params)
{
    SET_PARAMS(params, point);
    if (point->skip_nvscibuf)
        params->flags = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC;
}

void gr_semaphore_wait_params(const gr_semaphore_point *point,
                              CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params)
{
    SET_PARAMS(params, point);
    params->params.keyedMutex.timeoutMs = point->timeout_ms;
    if (point->skip_nvscibuf)
        params->flags = CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC;
}
