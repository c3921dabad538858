/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rules of the CUDA documentation for imported memory, by type of handle. They are checked
 * before the import, because the driver would return only an error code, or no error at all.
 */
#include "lib/external/external.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/cuda/import_handle.h"

enum dedication { MAY_BE_DEDICATED, MUST_BE_DEDICATED, NEVER_DEDICATED };

static const struct gr_handle_rule rules[] = {
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, "OPAQUE_FD", GR_HANDLE_FD,
     "vkGetMemoryFdKHR and cuMemExportToShareableHandle return it", MAY_BE_DEDICATED,
     "Usual causes: a size or a `dedicated` that does not match the allocation; an fd of another "
     "kind, or from another GPU (compare UUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, "OPAQUE_WIN32", GR_HANDLE_NT,
     "vkGetMemoryWin32HandleKHR returns it", MAY_BE_DEDICATED,
     "Usual causes: a size or a `dedicated` that does not match the allocation; a handle that was "
     "closed, has another type, or is from another GPU (compare UUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT, "OPAQUE_WIN32_KMT", GR_HANDLE_KMT,
     "vkGetMemoryWin32HandleKHR returns it for the type OPAQUE_WIN32_KMT", MAY_BE_DEDICATED,
     "Usual causes: the memory was freed, which this handle does not prevent; a size or a "
     "`dedicated` that does not match the allocation; another GPU (compare UUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP, "D3D12_HEAP", GR_HANDLE_NT,
     "ID3D12Device::CreateSharedHandle returns it for an ID3D12Heap", MAY_BE_DEDICATED,
     "Usual causes: the handle is of a committed resource (type D3D12_RESOURCE); a size that "
     "differs from the heap's; another adapter (compare LUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE, "D3D12_RESOURCE", GR_HANDLE_NT,
     "ID3D12Device::CreateSharedHandle returns it for an ID3D12Resource", MUST_BE_DEDICATED,
     "Usual causes: the handle is of a heap (type D3D12_HEAP); a size that differs from "
     "GetResourceAllocationInfo's; another adapter (compare LUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE, "D3D11_RESOURCE", GR_HANDLE_NT,
     "IDXGIResource1::CreateSharedHandle returns it for an ID3D11Resource", MUST_BE_DEDICATED,
     "Usual causes: the handle is a KMT one (type D3D11_RESOURCE_KMT); a size that differs from "
     "the resource's; another adapter (compare LUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT, "D3D11_RESOURCE_KMT", GR_HANDLE_KMT,
     "IDXGIResource::GetSharedHandle returns it for an ID3D11Resource", MUST_BE_DEDICATED,
     "Usual causes: the resource was released, which this handle does not prevent; the handle is "
     "an NT one (type D3D11_RESOURCE); another adapter (compare LUIDs)."},
    {CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF, "NVSCIBUF", GR_HANDLE_NVSCI,
     "NvSciBufObjAlloc returns it", MAY_BE_DEDICATED,
     "NvSciBuf exists on DRIVE and Jetson. Usual causes: the attribute list does not name this "
     "GPU; a size that differs from the object's."},
    {GR_DMABUF_FD, "DMABUF_FD", GR_HANDLE_FD, "the kernel's dma_buf exporters return it",
     NEVER_DEDICATED,
     "CUDA imports dma_bufs only on Jetson Thor and later, with a CUDA 13 driver. Elsewhere export "
     "the memory as OPAQUE_FD."},
};

static const struct gr_handle_import import = {"cuImportExternalMemory", "nvscibuf", "memory"};

static const struct gr_handle_rule *rule_of(CUexternalMemoryHandleType type)
{
    return gr_handle_find(rules, sizeof(rules) / sizeof(rules[0]), (int)type);
}

bool gr_external_has_fd(CUexternalMemoryHandleType type)
{
    const struct gr_handle_rule *rule = rule_of(type);
    return rule && rule->form == GR_HANDLE_FD;
}

const char *gr_external_type_name(CUexternalMemoryHandleType type)
{
    const struct gr_handle_rule *rule = rule_of(type);
    return rule ? rule->name : "unknown";
}

gr_status gr_external_check(const gr_external_memory_desc *info)
{
    const struct gr_handle_rule *rule = rule_of(info->type);
    if (!rule)
        return gr_handle_unknown((int)info->type, &import);
    const struct gr_handle handle = {info->fd, info->win32_handle, info->win32_name,
                                     info->nvscibuf};
    GR_TRY(gr_handle_check(rule, &handle, &import));
    GR_REFUSE_IF(
        info->size == 0,
        "The memory of the type %s was given the size 0. The size of the whole memory is required "
        "(CUDA driver API, cuImportExternalMemory). Pass the allocated size (Vulkan: "
        "VkMemoryAllocateInfo::allocationSize; VMA: VmaAllocationInfo2::blockSize).",
        rule->name);
    GR_REFUSE_IF(rule->kind == MUST_BE_DEDICATED && !info->dedicated,
                 "The handle type %s was given without `dedicated`. Direct3D resources are always "
                 "dedicated (CUDA driver API, cuImportExternalMemory). Set `dedicated` to true.",
                 rule->name);
    GR_REFUSE_IF(rule->kind == NEVER_DEDICATED && info->dedicated,
                 "The handle type %s was given with `dedicated`. The flags of a dma_buf must be 0 "
                 "(CUDA driver API, cuImportExternalMemory). Set `dedicated` to false.",
                 rule->name);
    return GR_OK;
}

void gr_external_handle_desc(const gr_external_memory_desc *info,
                             CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    const struct gr_handle_rule *rule = rule_of(info->type);
    memset(desc, 0, sizeof(*desc));
    desc->type = info->type;
    desc->size = info->size;
    desc->flags = info->dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0;
    if (rule->form == GR_HANDLE_FD) {
        desc->handle.fd = info->fd;
    } else if (rule->form == GR_HANDLE_NVSCI) {
        desc->handle.nvSciBufObject = info->nvscibuf;
    } else {
        desc->handle.win32.handle = info->win32_handle;
        desc->handle.win32.name = info->win32_name;
    }
}

gr_status gr_external_refused(const gr_external_memory_desc *info, CUresult code)
{
    const struct gr_handle_rule *rule = rule_of(info->type);
    /* drivers before CUDA 13 reject dma_bufs as an invalid value */
    const bool is_too_old = rule->type == GR_DMABUF_FD && code == CUDA_ERROR_INVALID_VALUE;
    return gr_handle_refused(rule, &import, code, is_too_old);
}
