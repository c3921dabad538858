/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define COBJMACROS
#define INITGUID
#define WIDL_EXPLICIT_AGGREGATE_RETURNS
#include "d3d12_handles.h"

#include <string.h>

#include <d3d12.h>

#include "tests/drivers/follower_driver.h"

struct d3d12_handles d3d12_handles;

static ID3D12DeviceVtbl below;

static HRESULT breaks(const char *wrong)
{
    d3d12_handles.wrong = wrong;
    return E_INVALIDARG;
}

/* Creates a section and maps it. */
static void *create_section(HANDLE *section, size_t size)
{
    *section = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, (DWORD)size, NULL);
    return *section ? MapViewOfFile(*section, FILE_MAP_ALL_ACCESS, 0, 0, size) : NULL;
}

/* ---- The shared buffer ----------------------------------------------------------------------- */

static struct {
    ID3D12Resource *resource;
    void *bytes; /* of the resource */
    void *view;  /* of the section */
} shared;

/* Shared memory is memory that the CPU can access, too. */
static HRESULT WINAPI create_committed(ID3D12Device *device, const D3D12_HEAP_PROPERTIES *heap,
                                       D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC *desc,
                                       D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE *clear,
                                       REFIID type, void **made)
{
    const D3D12_HEAP_PROPERTIES host = {.Type = D3D12_HEAP_TYPE_CUSTOM,
                                        .CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK,
                                        .MemoryPoolPreference = D3D12_MEMORY_POOL_L0};
    if (!(flags & D3D12_HEAP_FLAG_SHARED))
        return below.CreateCommittedResource(device, heap, flags, desc, state, clear, type, made);
    if (heap->Type != D3D12_HEAP_TYPE_DEFAULT)
        return breaks("a shared buffer that is not in a default heap");
    HRESULT result =
        below.CreateCommittedResource(device, &host, flags, desc, state, clear, type, made);
    if (FAILED(result))
        return result;
    D3D12_RESOURCE_ALLOCATION_INFO allocation;
    device->lpVtbl->GetResourceAllocationInfo(device, &allocation, 0, 1, desc);
    d3d12_handles.size = (size_t)allocation.SizeInBytes;
    shared.resource = *made;
    return ID3D12Resource_Map(shared.resource, 0, NULL, &shared.bytes);
}

static HRESULT export_buffer(HANDLE *handle)
{
    shared.view = create_section(handle, d3d12_handles.size);
    return shared.view ? S_OK : E_OUTOFMEMORY;
}

/* ---- Fences ---------------------------------------------------------------------------------- */

static size_t width(void)
{
    D3D12_RESOURCE_DESC desc;
    shared.resource->lpVtbl->GetDesc(shared.resource, &desc);
    return (size_t)desc.Width;
}

static void signal_now(void *user, unsigned long long value)
{
    memcpy(shared.bytes, shared.view, width());
    if (FAILED(ID3D12Fence_Signal((ID3D12Fence *)user, value)))
        breaks("a signal failed");
}

static void wait_now(void *user, unsigned long long value)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    if (FAILED(ID3D12Fence_SetEventOnCompletion((ID3D12Fence *)user, value, event)) ||
        WaitForSingleObject(event, 10000) != WAIT_OBJECT_0)
        breaks("a fence was not signalled within 10 s");
    CloseHandle(event);
    memcpy(shared.view, shared.bytes, width());
}

static HRESULT export_fence(ID3D12Fence *fence, HANDLE *handle)
{
    struct follower_semaphore *functions = create_section(handle, sizeof(*functions));
    if (!functions)
        return E_OUTOFMEMORY;
    *functions = (struct follower_semaphore){.signal = signal_now, .wait = wait_now, .user = fence};
    UnmapViewOfFile(functions);
    return S_OK;
}

/* ---- The device ------------------------------------------------------------------------------ */

static HRESULT WINAPI create_shared_handle(ID3D12Device *device, ID3D12DeviceChild *object,
                                           const SECURITY_ATTRIBUTES *attributes, DWORD access,
                                           const WCHAR *name, HANDLE *handle)
{
    ID3D12Fence *fence;
    (void)device;
    if (attributes || access != GENERIC_ALL || name) /* all that Direct3D 12 accepts, but a name */
        return breaks("a shared handle with other rights, or a name");
    if (object == (ID3D12DeviceChild *)shared.resource)
        return export_buffer(handle);
    if (FAILED(ID3D12DeviceChild_QueryInterface(object, &IID_ID3D12Fence, (void **)&fence)))
        return breaks("a shared handle of an object that is not shared");
    ID3D12Fence_Release(fence);
    return export_fence(fence, handle);
}

HRESULT WINAPI __real_D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID type,
                                        void **made);
HRESULT WINAPI __wrap_D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID type,
                                        void **made);

/* Replaces two functions in the table of all devices, which is otherwise constant. */
HRESULT WINAPI __wrap_D3D12CreateDevice(IUnknown *adapter, D3D_FEATURE_LEVEL level, REFIID type,
                                        void **made)
{
    DWORD before;
    HRESULT result = __real_D3D12CreateDevice(adapter, level, type, made);
    if (FAILED(result) || !d3d12_handles.added)
        return result;
    ID3D12DeviceVtbl *table = ((ID3D12Device *)*made)->lpVtbl;
    below = *table;
    if (!VirtualProtect(table, sizeof(*table), PAGE_READWRITE, &before))
        return E_FAIL;
    table->CreateCommittedResource = create_committed;
    table->CreateSharedHandle = create_shared_handle;
    return S_OK;
}
