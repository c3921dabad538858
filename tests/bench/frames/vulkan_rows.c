/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows in which Vulkan draws: a ring of buffers that grinterop makes, and commands that were
 * recorded before, one command buffer a slot. A group is one submit.
 */
#include "tests/bench/frames/vulkan.h"

#include <stdlib.h>
#include <string.h>

/* ---- The device ------------------------------------------------------------------------------ */

void frames_vulkan_open(struct frames *f)
{
    f->vulkan = calloc(1, sizeof(*f->vulkan));
    struct frames_vulkan *k = f->vulkan;
    if (k && vulkan_open(&k->vulkan, VULKAN_GRAPHICS, false) &&
        frames_vulkan_draw_init(&k->vulkan, &k->draw) &&
        vulkan_buffer_init(&k->vulkan, FRAMES_PIXELS, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &k->pixels))
        return;
    gr_error error;
    gr_last_error(&error);
    snprintf(f->no_vulkan, sizeof(f->no_vulkan), "no Vulkan: %.380s", error.message);
    frames_vulkan_close(f);
}

void frames_vulkan_close(struct frames *f)
{
    struct frames_vulkan *k = f->vulkan;
    if (!k)
        return;
    if (k->vulkan.device != VK_NULL_HANDLE) {
        vulkan_buffer_free(&k->vulkan, &k->pixels);
        frames_vulkan_draw_free(&k->vulkan, &k->draw);
    }
    vulkan_close(&k->vulkan);
    free(k);
    f->vulkan = NULL;
}

bool frames_vulkan_drain(const struct frames *f)
{
    if (!f->vulkan)
        return true;
    const struct vulkan *v = &f->vulkan->vulkan;
    VkResult result = v->DeviceWaitIdle(v->device);
    if (result != VK_SUCCESS)
        frames_say("vkDeviceWaitIdle: VkResult %d", (int)result);
    return result == VK_SUCCESS;
}

void frames_vulkan_describe(const struct frames *f, char *text, size_t size)
{
    if (f->vulkan)
        gr_vk_device_describe(f->vulkan->vulkan.shared, text, size);
    else
        snprintf(text, size, "%s", f->no_vulkan);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static bool record(struct frames *f, gr_resource *vertices, VkCommandBuffer *commands)
{
    const struct vulkan *v = &f->vulkan->vulkan;
    const gr_vk_use drawing = {.stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT,
                               .access = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT,
                               .queue_family = v->family};
    *commands = vulkan_record(v, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    if (!*commands) {
        frames_say("no command buffer");
        return false;
    }
    if (gr_vk_cmd_from_cuda(*commands, &vertices, 1, &drawing) != GR_OK)
        return frames_grinterop_failed("gr_vk_cmd_from_cuda");
    frames_vulkan_draw_record(v, &f->vulkan->draw, *commands, gr_vk_buffer(vertices),
                              (uint32_t)(f->mesh * f->mesh));
    if (gr_vk_cmd_to_cuda(*commands, &vertices, 1, &drawing) != GR_OK)
        return frames_grinterop_failed("gr_vk_cmd_to_cuda");
    return v->EndCommandBuffer(*commands) == VK_SUCCESS;
}

static bool submit(const struct frames *f, const VkCommandBuffer commands[], uint32_t n,
                   const gr_submit *points)
{
    const struct vulkan *v = &f->vulkan->vulkan;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT;
    const VkSemaphore wait = gr_vk_semaphore(points->wait), done = gr_vk_semaphore(points->signal);
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = points->wait ? 1 : 0,
        .pWaitSemaphoreValues = &points->wait_value,
        .signalSemaphoreValueCount = points->signal ? 1 : 0,
        .pSignalSemaphoreValues = &points->signal_value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = points->wait ? 1 : 0,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = n,
                               .pCommandBuffers = commands,
                               .signalSemaphoreCount = points->signal ? 1 : 0,
                               .pSignalSemaphores = &done};
    VkResult result = v->QueueSubmit(v->queue, 1, &info, VK_NULL_HANDLE);
    if (result != VK_SUCCESS)
        frames_say("vkQueueSubmit: VkResult %d", (int)result);
    return result == VK_SUCCESS;
}

/* The copy of the target into host memory, which is not part of any frame. */
bool frames_vulkan_read(struct frames *f)
{
    struct frames_vulkan *k = f->vulkan;
    const struct vulkan *v = &k->vulkan;
    const VkBufferImageCopy all = {.imageSubresource = vulkan_colour_layer(),
                                   .imageExtent = {FRAMES_TARGET, FRAMES_TARGET, 1}};
    VkCommandBuffer commands = vulkan_record(v, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    if (!commands)
        return false;
    v->CmdCopyImageToBuffer(commands, k->draw.image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                            k->pixels.buffer, 1, &all);
    vulkan_show_host(v, commands);
    if (v->EndCommandBuffer(commands) != VK_SUCCESS || !vulkan_submit(v, commands, NULL, true)) {
        frames_say("the picture could not be read");
        return false;
    }
    memcpy(f->pixels, k->pixels.bytes, FRAMES_PIXELS);
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool open_resources(struct frames *f, struct frames_run *run, gr_resource *resources[],
                           unsigned *made)
{
    gr_vk_device *device = f->vulkan->vulkan.shared;
    gr_semaphore *drawn = gr_vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE);
    gr_semaphore *computed = gr_vk_semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE);
    bool good = (drawn && computed) || frames_grinterop_failed("gr_vk_semaphore_create");
    for (unsigned i = 0; good && i < run->kind->slots; i++) {
        resources[i] = gr_vk_buffer_create(device, f->bytes, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
                                           GR_WRITE_DISCARD);
        if (!resources[i]) {
            good = frames_grinterop_failed("gr_vk_buffer_create");
            break;
        }
        ++*made;
        good = (gr_resource_set_sync(resources[i], drawn, computed) == GR_OK ||
                frames_grinterop_failed("gr_resource_set_sync")) &&
               record(f, resources[i], &run->commands[i]);
    }
    /* The resources hold them. */
    gr_semaphore_free(drawn);
    gr_semaphore_free(computed);
    return good;
}

bool frames_vulkan_open_ring(struct frames *f, struct frames_run *run)
{
    gr_resource *resources[FRAMES_MOST_SLOTS];
    const gr_ring_options options = {.producer = GR_SIDE_CUDA};
    unsigned made = 0;
    if (!f->vulkan) {
        frames_say("%s", f->no_vulkan);
        return false;
    }
    run->commands = calloc(run->kind->slots, sizeof(VkCommandBuffer));
    if (!run->commands) {
        frames_say("out of memory");
        return false;
    }
    /* The row that only draws needs something to draw. */
    if (open_resources(f, run, resources, &made) &&
        (!run->kind->unchecked || (frames_write_mapped(f, resources[0]) && frames_drain(f))) &&
        !(run->ring = gr_ring_create(resources, made, &options)))
        frames_grinterop_failed("gr_ring_create");
    if (!run->ring)
        while (made-- > 0)
            gr_resource_free(resources[made]);
    return run->ring;
}

bool frames_vulkan_close_ring(struct frames *f, struct frames_run *run)
{
    bool good = frames_drain(f);
    gr_ring_free(run->ring);
    free(run->commands);
    return good;
}

bool frames_vulkan_draw_only(struct frames *f, struct frames_run *run)
{
    const gr_submit nothing = {0};
    return submit(f, run->commands, 1, &nothing);
}

bool frames_vulkan_frame(struct frames *f, struct frames_run *run)
{
    const unsigned n = run->kind->group;
    VkCommandBuffer commands[FRAMES_MOST_GROUP];
    if (!frames_ring_write(f, run))
        return false;
    for (unsigned i = 0; i < n; i++)
        commands[i] = run->commands[run->slots[i].index];
    return submit(f, commands, n, &run->slots[n - 1].submit) && frames_ring_give_back(run);
}
