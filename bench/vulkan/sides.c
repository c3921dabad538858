/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The two sides: each has buffers and a pair of timeline semaphores, imported with raw CUDA driver
 * calls or with grinterop. If semaphores can't be exported, the raw side does the same as
 * grinterop: host functions in the stream wait for the Vulkan semaphores and signal them.
 */
#define _GNU_SOURCE
#include "bench/vulkan/vulkan.h"

bool vkb_make_buffer(struct bench_vk_object *object)
{
    return bench_vk_buffer(object, VKB_BYTES,
                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                           true);
}

/* ---- By raw calls ---------------------------------------------------------------------------- */

static bool open_raw(struct vkb_side *side)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = VKB_BYTES};
    const bool exported = !vkb.through_host;
    if (!bench_vk_timeline(&side->acquire, exported) ||
        !bench_vk_timeline(&side->release, exported) ||
        (exported && (!bench_import_timeline(bench_vk_export(side->acquire), &side->cuda_acquire) ||
                      !bench_import_timeline(bench_vk_export(side->release), &side->cuda_release))))
        return false;
    for (unsigned i = 0; i < VKB_RESOURCES; i++)
        if (!vkb_make_buffer(&side->buffers[i]) ||
            !vkb_import_memory(&side->buffers[i], false, &side->imports[i]) ||
            !CU(ExternalMemoryGetMappedBuffer, &side->pointers[i], side->imports[i], &desc))
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
    bench_vk.WaitSemaphores(bench_vk.on.device, &info, UINT64_MAX);
}

static void signal_on_host(void *argument)
{
    const struct vkb_point *point = argument;
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = point->semaphore,
                                        .value = point->value};
    bench_vk.SignalSemaphore(bench_vk.on.device, &info);
}

/*
 * Enqueues a host function. The entries of `points` are used in turn. There are more than the
 * frames in flight of a row need.
 */
static bool enqueue_on_host(void (*function)(void *), VkSemaphore semaphore, uint64_t value)
{
    struct vkb_point *point = &vkb.points[vkb.point++ % VKB_POINTS];
    *point = (struct vkb_point){semaphore, value};
    return CU(LaunchHostFunc, vkb.on.stream, function, point);
}

bool vkb_raw_wait(const struct vkb_side *side, uint64_t value)
{
    if (vkb.through_host)
        return enqueue_on_host(wait_on_host, side->acquire, value);
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    return CU(WaitExternalSemaphoresAsync, &side->cuda_acquire, &params, 1, vkb.on.stream);
}

bool vkb_raw_signal(const struct vkb_side *side, uint64_t value)
{
    if (vkb.through_host)
        return enqueue_on_host(signal_on_host, side->release, value);
    if (vkb.barriers && !bench_cuda_ok(bench_barrier(vkb.on.stream), "cuStreamBatchMemOp"))
        return false;
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    return CU(SignalExternalSemaphoresAsync, &side->cuda_release, &params, 1, vkb.on.stream);
}

static void close_raw(struct vkb_side *side)
{
    for (unsigned i = 0; i < VKB_RESOURCES; i++) {
        if (side->pointers[i])
            bench_cuda->MemFree(side->pointers[i]);
        if (side->imports[i])
            bench_cuda->DestroyExternalMemory(side->imports[i]);
    }
    if (side->cuda_acquire)
        bench_cuda->DestroyExternalSemaphore(side->cuda_acquire);
    if (side->cuda_release)
        bench_cuda->DestroyExternalSemaphore(side->cuda_release);
    bench_vk.DestroySemaphore(bench_vk.on.device, side->acquire, NULL);
    bench_vk.DestroySemaphore(bench_vk.on.device, side->release, NULL);
}

/* ---- By grinterop ---------------------------------------------------------------------------- */

static bool open_grinterop(struct vkb_side *side)
{
    if (!GR_NEW(side->gr_acquire, semaphore_create_vk, vkb.device, VK_SEMAPHORE_TYPE_TIMELINE) ||
        !GR_NEW(side->gr_release, semaphore_create_vk, vkb.device, VK_SEMAPHORE_TYPE_TIMELINE))
        return false;
    side->acquire = gr_vk_semaphore(side->gr_acquire);
    side->release = gr_vk_semaphore(side->gr_release);
    for (unsigned i = 0; i < VKB_RESOURCES; i++)
        if (!vkb_make_buffer(&side->buffers[i]) ||
            !(side->resources[i] = vkb_import_grinterop(&side->buffers[i])))
            return false;
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

/* ---- Both ------------------------------------------------------------------------------------ */

bool vkb_open_sides(void)
{
    vkb.through_host = !gr_vk_device_get_info(vkb.device)->has_semaphores;
    vkb.barriers = bench_cuda->StreamBatchMemOp && bench_barrier(vkb.on.stream) == CUDA_SUCCESS;
    return open_raw(&vkb.sides[VKB_RAW]) && open_grinterop(&vkb.sides[VKB_GRINTEROP]);
}

void vkb_close_sides(void)
{
    close_raw(&vkb.sides[VKB_RAW]);
    close_grinterop(&vkb.sides[VKB_GRINTEROP]);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        for (unsigned i = 0; i < VKB_RESOURCES; i++)
            bench_vk_free(&vkb.sides[s].buffers[i]);
}

/* Fills the start of the buffer with a number that no earlier frame of the row used. */
bool vkb_fill(struct vkb_side *side, unsigned resource)
{
    const unsigned number = (unsigned)side->frames + 1;
    side->written[resource] = number;
    return CU(MemsetD32Async, side->pointers[resource], number, vkb.fill / 4, vkb.on.stream);
}
