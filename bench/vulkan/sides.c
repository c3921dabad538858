/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The two sides: each has buffers and a pair of timeline semaphores, imported with raw CUDA driver
 * calls or with grinterop. If semaphores can't be exported, the raw side does the same as
 * grinterop: host functions in the stream wait for the Vulkan semaphores and signal them.
 */
#define _GNU_SOURCE
#include "bench/vulkan/vulkan.h"

struct bench_vk_object vkb_make_buffer(void)
{
    return bench_vk_buffer(VKB_BYTES,
                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                           true);
}

/* ---- By raw calls ---------------------------------------------------------------------------- */

BENCH_CUDA_END(end_memory, DestroyExternalMemory)

static void open_raw(struct vkb_side *side)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = VKB_BYTES};
    side->acquire = bench_vk_timeline(!vkb.through_host);
    side->release = bench_vk_timeline(!vkb.through_host);
    if (!vkb.through_host) {
        side->cuda_acquire = bench_import_timeline(bench_vk_export(side->acquire));
        side->cuda_release = bench_import_timeline(bench_vk_export(side->release));
    }
    for (unsigned i = 0; i < VKB_RESOURCES; i++) {
        side->buffers[i] = vkb_make_buffer();
        CUexternalMemory memory = vkb_import_memory(&side->buffers[i], false);
        bench_later(end_memory, memory);
        CU(ExternalMemoryGetMappedBuffer, &side->pointers[i], memory, &desc);
        bench_cuda_keep(side->pointers[i]);
    }
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
static void enqueue_on_host(void (*function)(void *), VkSemaphore semaphore, uint64_t value)
{
    struct vkb_point *point = &vkb.points[vkb.point++ % VKB_POINTS];
    *point = (struct vkb_point){semaphore, value};
    CU(LaunchHostFunc, vkb.on.stream, function, point);
}

void vkb_raw_wait(const struct vkb_side *side, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    if (vkb.through_host)
        enqueue_on_host(wait_on_host, side->acquire, value);
    else
        CU(WaitExternalSemaphoresAsync, &side->cuda_acquire, &params, 1, vkb.on.stream);
}

void vkb_raw_signal(const struct vkb_side *side, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    if (vkb.through_host) {
        enqueue_on_host(signal_on_host, side->release, value);
        return;
    }
    if (vkb.barriers)
        bench_check_cuda(bench_barrier(vkb.on.stream), "cuStreamBatchMemOp");
    CU(SignalExternalSemaphoresAsync, &side->cuda_release, &params, 1, vkb.on.stream);
}

/* ---- By grinterop ---------------------------------------------------------------------------- */

static void open_grinterop(struct vkb_side *side)
{
    GR_KEEP(side->gr_acquire, semaphore_create_vk, vkb.device, VK_SEMAPHORE_TYPE_TIMELINE);
    GR_KEEP(side->gr_release, semaphore_create_vk, vkb.device, VK_SEMAPHORE_TYPE_TIMELINE);
    side->acquire = gr_vk_semaphore(side->gr_acquire);
    side->release = gr_vk_semaphore(side->gr_release);
    for (unsigned i = 0; i < VKB_RESOURCES; i++) {
        side->buffers[i] = vkb_make_buffer();
        side->resources[i] = vkb_import_grinterop(&side->buffers[i]);
        bench_later(bench_end_resource, side->resources[i]);
    }
}

/* ---- Both ------------------------------------------------------------------------------------ */

void vkb_open_sides(void)
{
    vkb.through_host = !gr_vk_device_get_info(vkb.device)->has_semaphores;
    vkb.barriers = bench_cuda->StreamBatchMemOp && bench_barrier(vkb.on.stream) == CUDA_SUCCESS;
    open_raw(&vkb.sides[VKB_RAW]);
    open_grinterop(&vkb.sides[VKB_GRINTEROP]);
}

/* Fills the start of the buffer with a number that no earlier frame of the row used. */
void vkb_fill(struct vkb_side *side, unsigned resource)
{
    const unsigned number = (unsigned)side->frames + 1;
    side->written[resource] = number;
    CU(MemsetD32Async, side->pointers[resource], number, vkb.fill / 4, vkb.on.stream);
}
