/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan for the tests, see support_vulkan.h: submits, gates that block them, and buffer bytes. */
#define _GNU_SOURCE
#include "support_vulkan_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_SUBMITS 64
#define MOST_GATES   8
#define MOST_POOLS   4
#define MOST_NS      20000000000u

struct vulkan_gate {
    VkSemaphore semaphore; /* the gate is open when its value is 1 */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t opener;
    bool has_opener, open;
    unsigned delay_ms;
};

static VkCommandPool pools[MOST_POOLS];
static int pool_count;
static VkQueue queue; /* the current queue; its command pool is the last in `pools` */
static uint32_t family;
static VkFence fences[MOST_SUBMITS];
static struct vulkan_gate gates[MOST_GATES];
static int fence_count, gate_count;

/* ---- Buffers that are copied ----------------------------------------------------------------- */

#define MOST_COPIED 64

static struct {
    VkBuffer buffer;
    gr_resource *resource;
} copied[MOST_COPIED];
static int copied_count;

void vulkan_submits_copy(gr_resource *resource)
{
    copied[copied_count % MOST_COPIED].buffer = gr_vk_buffer(resource);
    copied[copied_count++ % MOST_COPIED].resource = resource;
}

/*
 * The newest resource of that buffer among the last MOST_COPIED resources; NULL if there is none.
 */
static gr_resource *find_copied(VkBuffer buffer)
{
    for (int i = copied_count; i-- > 0 && i >= copied_count - MOST_COPIED;)
        if (copied[i % MOST_COPIED].buffer == buffer)
            return copied[i % MOST_COPIED].resource;
    return NULL;
}

/* ---- Gates ----------------------------------------------------------------------------------- */

struct vulkan_gate *vulkan_gate(void)
{
    ck_assert_int_lt(gate_count, MOST_GATES);
    struct vulkan_gate *gate = &gates[gate_count];
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &timeline};
    *gate = (struct vulkan_gate){.open = false};
    VK(CreateSemaphore(vk.h->device, &info, NULL, &gate->semaphore));
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
    gate_count++;
    return gate;
}

void vulkan_gate_open(struct vulkan_gate *gate)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = gate->semaphore, .value = 1};
    pthread_mutex_lock(&gate->lock);
    VkResult result = gate->open ? VK_SUCCESS : vk.SignalSemaphore(vk.h->device, &info);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
    if (result != VK_SUCCESS)
        fprintf(stderr, "a gate did not open: vkSignalSemaphore returned %d\n", (int)result);
}

bool vulkan_gate_is_open(const struct vulkan_gate *gate)
{
    uint64_t value = 0;
    VK(GetSemaphoreCounterValue(vk.h->device, gate->semaphore, &value));
    return value != 0;
}

static void *open_later(void *user)
{
    struct vulkan_gate *gate = user;
    wait_for_flag(&gate->lock, &gate->changed, &gate->open, gate->delay_ms);
    vulkan_gate_open(gate);
    return NULL;
}

void vulkan_gate_open_after(struct vulkan_gate *gate, unsigned ms)
{
    gate->delay_ms = ms;
    ck_assert_int_eq(pthread_create(&gate->opener, NULL, open_later, gate), 0);
    gate->has_opener = true;
}

static void end_gates(void)
{
    for (int i = 0; i < gate_count; i++) {
        vk.DestroySemaphore(vk.h->device, gates[i].semaphore, NULL);
        pthread_cond_destroy(&gates[i].changed);
        pthread_mutex_destroy(&gates[i].lock);
    }
    gate_count = 0;
}

/* ---- Submits --------------------------------------------------------------------------------- */

void vulkan_use_queue(VkQueue new_queue, uint32_t new_family)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = new_family};
    ck_assert_int_lt(pool_count, MOST_POOLS);
    VK(CreateCommandPool(vk.h->device, &info, NULL, &pools[pool_count]));
    pool_count++;
    queue = new_queue;
    family = new_family;
}

const uint32_t *vulkan_queue_family(void)
{
    return &family;
}

void vulkan_submits_begin(void)
{
    fence_count = gate_count = pool_count = copied_count = 0;
    vulkan_use_queue(vk.h->graphics, vk.h->graphics_family);
}

/*
 * After a failed case, a submit may wait for a signal that never comes. Its objects cannot be
 * destroyed then, so the whole program ends.
 */
void vulkan_submits_end(void)
{
    for (int i = 0; i < gate_count; i++)
        vulkan_gate_open(&gates[i]);
    for (int i = 0; i < gate_count; i++)
        if (gates[i].has_opener)
            pthread_join(gates[i].opener, NULL);
    if (fence_count > 0 && vk.WaitForFences(vk.h->device, (uint32_t)fence_count, fences, VK_TRUE,
                                            MOST_NS) != VK_SUCCESS) {
        fprintf(stderr,
                "the Vulkan queue is stuck after a case of \"%s\": the program can't go on\n",
                tcase_name());
        _exit(1);
    }
    vulkan_finish();
    end_gates();
    while (pool_count > 0)
        vk.DestroyCommandPool(vk.h->device, pools[--pool_count], NULL);
}

VkCommandBuffer vulkan_begin(void)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pools[pool_count - 1],
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VK(AllocateCommandBuffers(vk.h->device, &info, &commands));
    VK(BeginCommandBuffer(commands, &begin));
    return commands;
}

#define MOST_POINTS 8

/* What a submit waits for and what it signals. */
struct points {
    VkSemaphore wait[MOST_POINTS], signal[MOST_POINTS];
    uint64_t wait_value[MOST_POINTS], signal_value[MOST_POINTS];
    uint32_t waits, signals;
};

static struct points points_of(const gr_submit *submit, const struct vulkan_gate *gate)
{
    struct points points = {.waits = 0};
    if (gate) {
        points.wait[points.waits] = gate->semaphore;
        points.wait_value[points.waits++] = 1;
    }
    for (size_t i = 0; submit && i < submit->wait_count; i++) {
        ck_assert_uint_lt(points.waits, MOST_POINTS);
        points.wait[points.waits] = gr_vk_semaphore(submit->waits[i]);
        points.wait_value[points.waits++] = submit->wait_values[i];
    }
    for (size_t i = 0; submit && i < submit->signal_count; i++) {
        ck_assert_uint_lt(points.signals, MOST_POINTS);
        points.signal[points.signals] = gr_vk_semaphore(submit->signals[i]);
        points.signal_value[points.signals++] = submit->signal_values[i];
    }
    return points;
}

static VkFence new_fence(void)
{
    ck_assert_int_lt(fence_count, MOST_SUBMITS);
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    VK(CreateFence(vk.h->device, &info, NULL, &fence));
    return fence;
}

void vulkan_submit(VkCommandBuffer commands, const gr_submit *submit,
                   const struct vulkan_gate *gate)
{
    VkPipelineStageFlags stages[MOST_POINTS];
    const struct points points = points_of(submit, gate);
    for (size_t i = 0; i < MOST_POINTS; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = points.waits,
        .pWaitSemaphoreValues = points.wait_value,
        .signalSemaphoreValueCount = points.signals,
        .pSignalSemaphoreValues = points.signal_value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = points.waits,
                               .pWaitSemaphores = points.wait,
                               .pWaitDstStageMask = stages,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = points.signals,
                               .pSignalSemaphores = points.signal};
    VK(EndCommandBuffer(commands));
    VkFence fence = new_fence();
    VK(QueueSubmit(queue, 1, &info, fence));
    fences[fence_count++] = fence;
}

void vulkan_submit_slot(VkCommandBuffer commands, const gr_slot *slot,
                        const struct vulkan_gate *gate)
{
    vulkan_submit(commands, slot->submit, gate);
    if (slot->submit)
        assert_ok(gr_submit_commit(slot->submit));
}

void vulkan_submit_begun(VkCommandBuffer commands, gr_submit *submit,
                         const struct vulkan_gate *gate)
{
    vulkan_submit(commands, submit, gate);
    assert_ok(gr_submit_commit(submit));
    gr_submit_free(submit);
}

gr_submit *vulkan_begin_submit(gr_resource *const resources[], size_t n)
{
    gr_submit *submit = must_make(gr_submit_begin(resources, n));
    ck_assert_uint_le(submit->wait_count, 1);
    ck_assert_uint_le(submit->signal_count, 1);
    return submit;
}

gr_semaphore *wait_of(const gr_submit *submit)
{
    return submit->wait_count ? submit->waits[0] : NULL;
}

gr_semaphore *signal_of(const gr_submit *submit)
{
    return submit->signal_count ? submit->signals[0] : NULL;
}

uint64_t wait_value_of(const gr_submit *submit)
{
    return submit->wait_count ? submit->wait_values[0] : 0;
}

uint64_t signal_value_of(const gr_submit *submit)
{
    return submit->signal_count ? submit->signal_values[0] : 0;
}

/*
 * Mesa (22.3) signals the fence of a submit before the timeline semaphores of the submit. If a
 * semaphore is destroyed between the two, Mesa signals a destroyed semaphore, or a new one with the
 * same handle. When the queue is idle, both have been signalled.
 */
void vulkan_finish(void)
{
    if (fence_count == 0)
        return;
    VK(WaitForFences(vk.h->device, (uint32_t)fence_count, fences, VK_TRUE, MOST_NS));
    VK(QueueWaitIdle(queue));
    while (fence_count > 0)
        vk.DestroyFence(vk.h->device, fences[--fence_count], NULL);
}

/* ---- Bytes of buffers ------------------------------------------------------------------------ */

/*
 * Records the barriers by hand, since the grinterop functions for barriers have their own cases. If
 * grinterop copies the buffer, the grinterop functions record the barriers and the copies.
 */
static void hand_over(VkCommandBuffer commands, VkBuffer buffer, bool to_cuda)
{
    gr_resource *resource = find_copied(buffer);
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT);
    if (resource) {
        assert_ok(
            (to_cuda ? gr_vk_cmd_to_cuda : gr_vk_cmd_from_cuda)(commands, &resource, 1, &use));
        return;
    }
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = to_cuda ? VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT : 0,
        .dstAccessMask = to_cuda ? 0 : VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .srcQueueFamilyIndex = to_cuda ? family : VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = to_cuda ? VK_QUEUE_FAMILY_EXTERNAL : family,
        .buffer = buffer,
        .size = VK_WHOLE_SIZE};
    vk.CmdPipelineBarrier(
        commands, to_cuda ? VK_PIPELINE_STAGE_TRANSFER_BIT : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
        to_cuda ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
        1, &barrier, 0, NULL);
}

void vulkan_cmd_fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize size, int value)
{
    hand_over(commands, buffer, false);
    vk.CmdFillBuffer(commands, buffer, 0, size, (uint32_t)(unsigned char)value * 0x01010101u);
    hand_over(commands, buffer, true);
}

/* A barrier must make the data visible to the host, which reads after the fence. */
void vulkan_cmd_copy_to_host(VkCommandBuffer commands, VkBuffer buffer,
                             const struct vulkan_host *to, VkDeviceSize offset, VkDeviceSize size)
{
    const VkBufferCopy all = {.dstOffset = offset, .size = size};
    const VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vk.CmdCopyBuffer(commands, buffer, to->buffer, 1, &all);
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                          1, &seen, 0, NULL, 0, NULL);
}

void vulkan_cmd_read(VkCommandBuffer commands, VkBuffer buffer, const struct vulkan_host *to)
{
    hand_over(commands, buffer, false);
    vulkan_cmd_copy_to_host(commands, buffer, to, 0, to->size);
    hand_over(commands, buffer, true);
}

void vulkan_cmd_write(VkCommandBuffer commands, VkBuffer buffer, const struct vulkan_host *from)
{
    const VkBufferCopy all = {.size = from->size};
    hand_over(commands, buffer, false);
    vk.CmdCopyBuffer(commands, from->buffer, buffer, 1, &all);
    hand_over(commands, buffer, true);
}

VkSemaphore vulkan_timeline(bool exported, uint64_t value)
{
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = exported ? &export : NULL,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    VK(CreateSemaphore(vk.h->device, &info, NULL, &semaphore));
    return semaphore;
}

void vulkan_fill(VkBuffer buffer, VkDeviceSize size, int value)
{
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, buffer, size, value);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
}

void vulkan_write(VkBuffer buffer, const void *bytes, size_t size)
{
    struct vulkan_host *host = vulkan_host(size);
    VkCommandBuffer commands = vulkan_begin();
    memcpy(host->bytes, bytes, size);
    vulkan_cmd_write(commands, buffer, host);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    vulkan_host_end(host);
}

void vulkan_read(VkBuffer buffer, void *bytes, size_t size)
{
    struct vulkan_host *host = vulkan_host(size);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_read(commands, buffer, host);
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
    memcpy(bytes, host->bytes, size);
    vulkan_host_end(host);
}

void vulkan_write_pattern(VkBuffer buffer, size_t size, unsigned seed)
{
    void *bytes = must_allocate(size);
    pattern_fill(bytes, size, seed);
    vulkan_write(buffer, bytes, size);
    free(bytes);
}

void *vulkan_bytes(VkBuffer buffer, size_t size)
{
    void *bytes = must_allocate(size);
    vulkan_read(buffer, bytes, size);
    return bytes;
}

/* ---- Through CUDA ---------------------------------------------------------------------------- */

void must_release(gr_buffer *buffer)
{
    CUstream stream = gr_buffer_get_info(buffer)->stream;
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(stream));
}

void vulkan_bytes_both_ways(gr_resource *resource, VkBuffer name, size_t size, unsigned seed)
{
    ck_assert(name != VK_NULL_HANDLE);
    vulkan_write_pattern(name, size, seed);
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    assert_cuda_pattern(buffer, seed);
    cuda_write_pattern(buffer, seed + 1);
    must_release(buffer);
    assert_vulkan_pattern(name, size, seed + 1);
}
