/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The two sides: each has buffers and a pair of timeline semaphores, imported with raw CUDA driver
 * calls or with grinterop. If semaphores can't be exported, the raw side does the same as
 * grinterop: host functions in the stream wait for the Vulkan semaphores and signal them.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "tests/support/cuda_symbol.h"
#include "bench/vulkan/vulkan.h"

/* ---- By raw calls ---------------------------------------------------------------------------- */

static bool make_semaphore(struct vkb *bench, VkSemaphore *semaphore)
{
    const VkExportSemaphoreCreateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .pNext = bench->through_host ? NULL : &exported,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &timeline};
    return vkb_ok(bench->vk.vkCreateSemaphore(bench->handles->device, &info, NULL, semaphore),
                  "vkCreateSemaphore");
}

static bool import_semaphore(struct vkb *bench, VkSemaphore semaphore,
                             CUexternalSemaphore *imported)
{
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)bench->handles->get_instance_proc_addr(
        bench->handles->instance, "vkGetDeviceProcAddr");
    PFN_vkGetSemaphoreFdKHR get_fd =
        (PFN_vkGetSemaphoreFdKHR)get(bench->handles->device, "vkGetSemaphoreFdKHR");
    const VkSemaphoreGetFdInfoKHR wanted = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                            .semaphore = semaphore,
                                            .handleType =
                                                VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    if (!vkb_ok(get_fd(bench->handles->device, &wanted, &fd), "vkGetSemaphoreFdKHR"))
        return false;
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, .handle.fd = fd};
    CUresult result = bench->cuda->ImportExternalSemaphore(imported, &desc);
    if (result == CUDA_SUCCESS)
        return true;
    close(fd);
    return bench_cuda_failed(result, "cuImportExternalSemaphore");
}

static bool import_buffer(struct vkb *bench, struct vkb_side *side, unsigned i)
{
    if (!vkb_make_buffer(bench, &side->buffers[i]) ||
        !vkb_import_memory(bench, &side->buffers[i], false, &side->imports[i]))
        return false;
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = VKB_BYTES};
    return bench_cuda_ok(
        bench->cuda->ExternalMemoryGetMappedBuffer(&side->pointers[i], side->imports[i], &desc),
        "cuExternalMemoryGetMappedBuffer");
}

bool vkb_open_raw(struct vkb *bench, struct vkb_side *side)
{
    if (!make_semaphore(bench, &side->acquire) || !make_semaphore(bench, &side->release))
        return false;
    if (!bench->through_host && (!import_semaphore(bench, side->acquire, &side->cuda_acquire) ||
                                 !import_semaphore(bench, side->release, &side->cuda_release)))
        return false;
    for (unsigned i = 0; i < VKB_RESOURCES; i++)
        if (!import_buffer(bench, side, i))
            return false;
    return true;
}

static void wait_on_host(void *argument)
{
    const struct vkb_point *point = argument;
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &point->semaphore,
                                      .pValues = &point->value};
    point->bench->vk.vkWaitSemaphores(point->bench->handles->device, &info, UINT64_MAX);
}

static void signal_on_host(void *argument)
{
    const struct vkb_point *point = argument;
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = point->semaphore,
                                        .value = point->value};
    point->bench->vk.vkSignalSemaphore(point->bench->handles->device, &info);
}

/*
 * Enqueues a host function. The entries of `points` are used in turn. There are more than the
 * frames in flight of a row need.
 */
static bool enqueue_on_host(struct vkb *bench, void (*function)(void *), VkSemaphore semaphore,
                            uint64_t value)
{
    struct vkb_point *point = &bench->points[bench->point++ % VKB_POINTS];
    *point = (struct vkb_point){bench, semaphore, value};
    return bench_cuda_ok(bench->cuda->LaunchHostFunc(bench->on.stream, function, point),
                         "cuLaunchHostFunc");
}

bool vkb_raw_wait(struct vkb *bench, const struct vkb_side *side, uint64_t value)
{
    if (bench->through_host)
        return enqueue_on_host(bench, wait_on_host, side->acquire, value);
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    return bench_cuda_ok(
        bench->cuda->WaitExternalSemaphoresAsync(&side->cuda_acquire, &params, 1, bench->on.stream),
        "cuWaitExternalSemaphoresAsync");
}

/*
 * Enqueues a memory barrier, as grinterop does. Without it, a small fill may complete after the
 * signal that follows it.
 */
static CUresult raw_barrier(struct vkb *bench)
{
    CUstreamBatchMemOpParams barrier = {
        .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                          .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};
    return bench->batch_mem_op(bench->on.stream, 1, &barrier, 0);
}

void vkb_try_barriers(struct vkb *bench)
{
    void *symbol = cuda_symbol("cuStreamBatchMemOp", 11070);
    memcpy(&bench->batch_mem_op, &symbol, sizeof(symbol));
    if (symbol && raw_barrier(bench) != CUDA_SUCCESS)
        bench->batch_mem_op = NULL;
}

bool vkb_raw_signal(struct vkb *bench, const struct vkb_side *side, uint64_t value)
{
    if (bench->through_host)
        return enqueue_on_host(bench, signal_on_host, side->release, value);
    if (!bench_cuda_ok(bench->batch_mem_op ? raw_barrier(bench) : CUDA_SUCCESS,
                       "cuStreamBatchMemOp"))
        return false;
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    return bench_cuda_ok(bench->cuda->SignalExternalSemaphoresAsync(&side->cuda_release, &params, 1,
                                                                    bench->on.stream),
                         "cuSignalExternalSemaphoresAsync");
}

void vkb_close_raw(struct vkb *bench, struct vkb_side *side)
{
    for (unsigned i = 0; i < VKB_RESOURCES; i++) {
        if (side->pointers[i])
            bench->cuda->MemFree(side->pointers[i]);
        if (side->imports[i])
            bench->cuda->DestroyExternalMemory(side->imports[i]);
    }
    if (side->cuda_acquire)
        bench->cuda->DestroyExternalSemaphore(side->cuda_acquire);
    if (side->cuda_release)
        bench->cuda->DestroyExternalSemaphore(side->cuda_release);
    bench->vk.vkDestroySemaphore(bench->handles->device, side->acquire, NULL);
    bench->vk.vkDestroySemaphore(bench->handles->device, side->release, NULL);
}

/* ---- By grinterop ---------------------------------------------------------------------------- */

bool vkb_open_grinterop(struct vkb *bench, struct vkb_side *side)
{
    side->gr_acquire = gr_semaphore_create_vk(bench->wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    side->gr_release = gr_semaphore_create_vk(bench->wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    if (!side->gr_acquire || !side->gr_release)
        return bench_grinterop_failed("gr_semaphore_create_vk");
    side->acquire = gr_vk_semaphore(side->gr_acquire);
    side->release = gr_vk_semaphore(side->gr_release);
    for (unsigned i = 0; i < VKB_RESOURCES; i++) {
        if (!vkb_make_buffer(bench, &side->buffers[i]))
            return false;
        side->resources[i] = vkb_import_grinterop(bench, &side->buffers[i]);
        if (!side->resources[i])
            return bench_grinterop_failed("gr_from_vk_buffer");
    }
    return true;
}

static void close_grinterop(struct vkb_side *side)
{
    for (unsigned i = 0; i < VKB_RESOURCES; i++) {
        gr_buffer_release(side->mapped[i]);
        gr_resource_free(side->resources[i]);
    }
    gr_semaphore_free(side->gr_acquire);
    gr_semaphore_free(side->gr_release);
}

void vkb_close_sides(struct vkb *bench)
{
    vkb_close_raw(bench, &bench->sides[VKB_RAW]);
    close_grinterop(&bench->sides[VKB_GRINTEROP]);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        for (unsigned i = 0; i < VKB_RESOURCES; i++)
            vkb_end_object(bench, &bench->sides[s].buffers[i]);
}

/* ---- The CUDA work, the same on both sides --------------------------------------------------- */

/* Fills the start of the buffer with a number that no earlier frame of the row used. */
bool vkb_fill(struct vkb *bench, struct vkb_side *side, unsigned resource)
{
    unsigned number = (unsigned)side->frames + 1;
    CUresult result = bench->cuda->MemsetD32Async(side->pointers[resource], number, bench->fill / 4,
                                                  bench->on.stream);
    side->written[resource] = number;
    return bench_cuda_ok(result, "cuMemsetD32Async");
}
