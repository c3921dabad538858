/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_d3d12: CUDA writes numbers to a Direct3D 12 buffer, and Direct3D copies them to host
 * memory. A fence orders the two on the GPU. With grinterop in DIR, MinGW builds it:
 *
 *     x86_64-w64-mingw32-gcc hello_d3d12.c -IDIR/include -ICUDA/include -LDIR/lib \
 *         -lgrinterop -ld3d12 -ldxgi -o hello_d3d12.exe
 */
#define COBJMACROS
#define INITGUID
#define WIDL_EXPLICIT_AGGREGATE_RETURNS /* MinGW: methods return structs as those of MSVC do */
#include <grinterop/cuda.h>
#include <grinterop/external.h>
#include <grinterop/submit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d12.h>
#include <dxgi1_4.h>

enum { COUNT = 100000, BYTES = COUNT * sizeof(unsigned), FRAMES = 3 };

static unsigned numbers[COUNT];

static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    exit(EXIT_FAILURE);
}

static void check_cuda(CUresult result, const char *what)
{
    const char *code = "";
    if (result == CUDA_SUCCESS)
        return;
    if (gr_cuda()->GetErrorName(result, &code) != CUDA_SUCCESS)
        code = "an unknown error code";
    fprintf(stderr, "%s: %s\n", what, code);
    exit(EXIT_FAILURE);
}

static void check_d3d(HRESULT result, const char *what)
{
    if (SUCCEEDED(result))
        return;
    fprintf(stderr, "%s: 0x%08lx%s\n", what, (unsigned long)result,
            result == E_NOTIMPL ? ", which this Direct3D does not implement (Wine 8.0)" : "");
    exit(EXIT_FAILURE);
}

/* ---- Plain Direct3D -------------------------------------------------------------------------- */

/* A device on the adapter with the LUID of the CUDA device: their indices may differ. */
static ID3D12Device *create_device(int ordinal)
{
    CUdevice cuda_device;
    LUID luid;
    unsigned nodes;
    IDXGIFactory4 *factory;
    IUnknown *adapter;
    ID3D12Device *device;
    check_cuda(gr_cuda()->DeviceGet(&cuda_device, ordinal), "the CUDA device");
    check_cuda(gr_cuda()->DeviceGetLuid((char *)&luid, &nodes, cuda_device), "its LUID");
    check_d3d(CreateDXGIFactory1(&IID_IDXGIFactory4, (void **)&factory), "DXGI 1.4");
    check_d3d(IDXGIFactory4_EnumAdapterByLuid(factory, luid, &IID_IUnknown, (void **)&adapter),
              "the adapter of the CUDA device");
    check_d3d(
        D3D12CreateDevice(adapter, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&device),
        "the Direct3D device");
    IUnknown_Release(adapter);
    IDXGIFactory4_Release(factory);
    return device;
}

static const D3D12_RESOURCE_DESC description = {.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                                .Width = BYTES,
                                                .Height = 1,
                                                .DepthOrArraySize = 1,
                                                .MipLevels = 1,
                                                .SampleDesc = {1, 0},
                                                .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR};

static ID3D12Resource *create_buffer(ID3D12Device *device, D3D12_HEAP_TYPE type,
                                     D3D12_HEAP_FLAGS flags, D3D12_RESOURCE_STATES state)
{
    const D3D12_HEAP_PROPERTIES heap = {.Type = type};
    ID3D12Resource *buffer;
    check_d3d(ID3D12Device_CreateCommittedResource(device, &heap, flags, &description, state, NULL,
                                                   &IID_ID3D12Resource, (void **)&buffer),
              "a committed buffer");
    return buffer;
}

/* Between two lists a buffer is in the state COMMON, so no barriers are needed. */
static ID3D12CommandList *record_copy(ID3D12Device *device, ID3D12Resource *to,
                                      ID3D12Resource *from)
{
    ID3D12CommandAllocator *allocator;
    ID3D12GraphicsCommandList *list;
    check_d3d(ID3D12Device_CreateCommandAllocator(device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                  &IID_ID3D12CommandAllocator, (void **)&allocator),
              "a command allocator");
    check_d3d(ID3D12Device_CreateCommandList(device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator,
                                             NULL, &IID_ID3D12GraphicsCommandList, (void **)&list),
              "a command list");
    ID3D12GraphicsCommandList_CopyBufferRegion(list, to, 0, from, 0, BYTES);
    check_d3d(ID3D12GraphicsCommandList_Close(list), "the end of the command list");
    return (ID3D12CommandList *)list;
}

/* Blocks until the fence has the value, and compares the copy. */
static void compare(ID3D12Fence *fence, UINT64 value, ID3D12Resource *copy)
{
    void *bytes;
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
    check_d3d(ID3D12Fence_SetEventOnCompletion(fence, value, event), "an event");
    WaitForSingleObject(event, INFINITE);
    CloseHandle(event);
    check_d3d(ID3D12Resource_Map(copy, 0, NULL, &bytes), "the bytes on the host");
    if (memcmp(bytes, numbers, BYTES) != 0) {
        fprintf(stderr, "Direct3D copied other bytes than CUDA wrote.\n");
        exit(EXIT_FAILURE);
    }
    ID3D12Resource_Unmap(copy, 0, NULL);
}

/* ---- Sharing --------------------------------------------------------------------------------- */

/* The caller closes the handle. */
static HANDLE share(ID3D12Device *device, void *object, const char *what)
{
    HANDLE handle;
    check_d3d(ID3D12Device_CreateSharedHandle(device, object, NULL, GENERIC_ALL, NULL, &handle),
              what);
    return handle;
}

/* The allocation is larger than the buffer: a multiple of 64 KiB. */
static gr_resource *import_buffer(ID3D12Device *device, ID3D12Resource *buffer)
{
    D3D12_RESOURCE_ALLOCATION_INFO allocation;
    device->lpVtbl->GetResourceAllocationInfo(device, &allocation, 0, 1, &description);
    HANDLE handle = share(device, buffer, "CreateSharedHandle of the buffer");
    gr_resource *resource = gr_from_external_memory(
        &GR_INIT(gr_external_memory_desc, .type = GR_EXTERNAL_MEMORY_D3D12_RESOURCE,
                 .win32_handle = handle, .size = (size_t)allocation.SizeInBytes, .dedicated = true,
                 .part = &GR_INIT(gr_external_part_desc, .size = BYTES)),
        GR_WRITE_DISCARD);
    CloseHandle(handle);
    check(resource, "the buffer for CUDA");
    /* The loop in main() orders CUDA and Direct3D by the fence. */
    check(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE) == GR_OK, "order");
    return resource;
}

static gr_semaphore *import_fence(ID3D12Device *device, ID3D12Fence *fence)
{
    HANDLE handle = share(device, fence, "CreateSharedHandle of the fence");
    gr_semaphore *semaphore = gr_semaphore_from_handle(&GR_INIT(
        gr_semaphore_desc, .type = GR_EXTERNAL_SEMAPHORE_D3D12_FENCE, .win32_handle = handle));
    CloseHandle(handle);
    check(semaphore, "the fence for CUDA");
    return semaphore;
}

/* Waits for `before`, writes the numbers and signals `after`, all in the stream. */
static void write_in_cuda(gr_resource *resource, gr_semaphore *semaphore, CUstream stream,
                          UINT64 before, UINT64 after)
{
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = before);
    check(gr_semaphore_wait(&point, 1, stream) == GR_OK, "the wait for Direct3D");
    gr_buffer *mapped = gr_map(resource, stream);
    check(mapped, "the map");
    check_cuda(gr_cuda()->MemcpyHtoDAsync(gr_buffer_ptr(mapped), numbers, BYTES, stream),
               "the write");
    check(gr_buffer_release(mapped) == GR_OK, "the release");
    point.value = after;
    check(gr_semaphore_signal(&point, 1, stream) == GR_OK, "the signal to Direct3D");
}

int main(void)
{
    check(gr_cuda_load(false) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    ID3D12Device *device = create_device(0);

    /* Once: a buffer and a fence that Direct3D and CUDA share, and the commands of a frame. */
    ID3D12CommandQueue *queue;
    ID3D12Fence *fence;
    const D3D12_COMMAND_QUEUE_DESC direct = {.Type = D3D12_COMMAND_LIST_TYPE_DIRECT};
    check_d3d(
        ID3D12Device_CreateCommandQueue(device, &direct, &IID_ID3D12CommandQueue, (void **)&queue),
        "the queue");
    check_d3d(ID3D12Device_CreateFence(device, 0, D3D12_FENCE_FLAG_SHARED, &IID_ID3D12Fence,
                                       (void **)&fence),
              "the fence");
    ID3D12Resource *buffer = create_buffer(device, D3D12_HEAP_TYPE_DEFAULT, D3D12_HEAP_FLAG_SHARED,
                                           D3D12_RESOURCE_STATE_COMMON);
    ID3D12Resource *copy = create_buffer(device, D3D12_HEAP_TYPE_READBACK, D3D12_HEAP_FLAG_NONE,
                                         D3D12_RESOURCE_STATE_COPY_DEST);
    GR_AUTO(gr_resource) *resource = import_buffer(device, buffer);
    GR_AUTO(gr_semaphore) *semaphore = import_fence(device, fence);
    ID3D12CommandList *commands = record_copy(device, copy, buffer);

    /* Each frame: CUDA signals an odd value, and Direct3D the next even one. */
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        const UINT64 copied = 2 * frame, written = copied + 1;
        for (unsigned i = 0; i < COUNT; i++)
            numbers[i] = frame * COUNT + i;
        write_in_cuda(resource, semaphore, gr_cuda_context_get_info(context)->stream, copied,
                      written);
        check_d3d(ID3D12CommandQueue_Wait(queue, fence, written), "the wait for CUDA");
        ID3D12CommandQueue_ExecuteCommandLists(queue, 1, &commands);
        check_d3d(ID3D12CommandQueue_Signal(queue, fence, written + 1), "the signal to CUDA");
        compare(fence, written + 1, copy);
    }
    printf("Direct3D copied %d frames that CUDA wrote.\n", FRAMES);
    return EXIT_SUCCESS;
}
