/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which Vulkan draws: a ring of buffers that grinterop creates, and one command buffer
 * per slot, recorded in advance. A group is one submit.
 */
#include "bench/frames/vulkan.h"

#include <stdlib.h>
#include <string.h>

/* ---- The device ------------------------------------------------------------------------------ */

static const struct frames_vulkan_plan POINTS = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                                 .size = FRAMES_TARGET,
                                                 .vert = &mesh_vert,
                                                 .frag = &mesh_frag,
                                                 .points = true};

gr_vk_device_desc frames_vulkan_copying(const struct frames_vulkan *k, unsigned transport,
                                        VkQueue queue, uint32_t family)
{
    gr_vk_device_desc desc = k->on;
    desc.queue = queue;
    desc.queue_family = family;
    desc.transports = transport;
    return desc;
}

static gr_vk_device *wrap_for_copies(const struct frames_vulkan *k, unsigned transport)
{
    const gr_vk_device_desc desc =
        frames_vulkan_copying(k, transport, k->vulkan.queue, k->vulkan.family);
    return gr_vk_device_from_vk(&desc);
}

/* The device for a row. The device for copies from GPU to GPU is wrapped when first needed. */
static gr_vk_device *device_for(struct frames_vulkan *k, unsigned copied)
{
    if (copied == GR_TRANSPORT_PEER && !k->peer)
        k->peer = wrap_for_copies(k, copied);
    return !copied ? k->vulkan.shared : copied == GR_TRANSPORT_PEER ? k->peer : k->copying;
}

static bool open_device(const struct frames *f, struct frames_vulkan *k)
{
    if (f->gl_ordinal == FRAMES_SOFTWARE_GL)
        return frames_software_vulkan_open(&k->on) && vulkan_open_own(&k->vulkan, &k->on);
    if (!vulkan_open_on(&k->vulkan, f->gl_ordinal))
        return false;
    const gr_vk_headless_info *on = gr_vk_headless_get_info(k->vulkan.headless);
    k->on = GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = on->get_instance_proc_addr,
                    .instance = on->instance, .physical_device = on->physical_device,
                    .device = on->device);
    return true;
}

void frames_vulkan_open(struct frames *f)
{
    f->vulkan = calloc(1, sizeof(*f->vulkan));
    struct frames_vulkan *k = f->vulkan;
    if (k && open_device(f, k) && (k->copying = wrap_for_copies(k, GR_TRANSPORT_COPY)) &&
        frames_vulkan_draw_init(&k->vulkan, &POINTS, &k->draw) &&
        vulkan_buffer_init(&k->vulkan, FRAMES_PIXELS, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &k->pixels))
        return;
    gr_error error = *gr_last_error();
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
    frames_transfer_queue_close(k);
    gr_vk_device_free(k->copying);
    gr_vk_device_free(k->peer);
    vulkan_close(&k->vulkan);
    if (f->gl_ordinal == FRAMES_SOFTWARE_GL)
        frames_software_vulkan_close(&k->on);
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
        frames_set_error("vkDeviceWaitIdle: VkResult %d", (int)result);
    return result == VK_SUCCESS;
}

bool frames_vulkan_available(const struct frames *f)
{
    if (!f->vulkan)
        frames_set_error("%s", f->no_vulkan);
    return f->vulkan;
}

void frames_vulkan_describe(const struct frames *f, char *text, size_t size)
{
    snprintf(text, size, "%s",
             f->vulkan ? gr_vk_device_get_info(f->vulkan->vulkan.shared)->description
                       : f->no_vulkan);
}

/* ---- Commands -------------------------------------------------------------------------------- */

VkCommandBuffer frames_vulkan_begin(const struct frames *f, gr_resource *resource,
                                    const gr_vk_use *use)
{
    VkCommandBuffer commands =
        vulkan_record(&f->vulkan->vulkan, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    if (!commands)
        frames_set_error("no command buffer");
    else if (gr_vk_cmd_from_cuda(commands, &resource, 1, use) != GR_OK)
        frames_grinterop_failed("gr_vk_cmd_from_cuda");
    else
        return commands;
    return NULL;
}

bool frames_vulkan_end(const struct frames *f, VkCommandBuffer commands, gr_resource *resource,
                       const gr_vk_use *use)
{
    if (gr_vk_cmd_to_cuda(commands, &resource, 1, use) != GR_OK)
        return frames_grinterop_failed("gr_vk_cmd_to_cuda");
    return f->vulkan->vulkan.EndCommandBuffer(commands) == VK_SUCCESS;
}

struct frames_point frames_first_point(gr_semaphore *const semaphores[], const uint64_t values[],
                                       size_t n)
{
    return n ? (struct frames_point){gr_vk_semaphore(semaphores[0]), values[0]}
             : (struct frames_point){VK_NULL_HANDLE, 0};
}

bool frames_vulkan_submit_to(const struct vulkan *v, const VkCommandBuffer commands[], uint32_t n,
                             const struct frames_point *wait, VkPipelineStageFlags stage,
                             const struct frames_point *signal)
{
    const uint32_t waits = wait->semaphore != VK_NULL_HANDLE;
    const uint32_t signals = signal->semaphore != VK_NULL_HANDLE;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = &wait->value,
        .signalSemaphoreValueCount = signals,
        .pSignalSemaphoreValues = &signal->value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = waits,
                               .pWaitSemaphores = &wait->semaphore,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = n,
                               .pCommandBuffers = commands,
                               .signalSemaphoreCount = signals,
                               .pSignalSemaphores = &signal->semaphore};
    VkResult result = v->QueueSubmit(v->queue, 1, &info, VK_NULL_HANDLE);
    if (result != VK_SUCCESS)
        frames_set_error("vkQueueSubmit: VkResult %d", (int)result);
    return result == VK_SUCCESS;
}

bool frames_vulkan_submit(const struct frames *f, const VkCommandBuffer commands[], uint32_t n,
                          const gr_submit *points, VkPipelineStageFlags stage)
{
    struct frames_point wait = {VK_NULL_HANDLE, 0}, signal = wait;
    if (points) {
        wait = frames_first_point(points->waits, points->wait_values, points->wait_count);
        signal = frames_first_point(points->signals, points->signal_values, points->signal_count);
    }
    return frames_vulkan_submit_to(&f->vulkan->vulkan, commands, n, &wait, stage, &signal);
}

/* Copies the target to host memory. The copy is not part of any frame. */
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
    if (v->EndCommandBuffer(commands) != VK_SUCCESS || !vulkan_run(v, commands)) {
        frames_set_error("the picture could not be read");
        return false;
    }
    memcpy(f->pixels, k->pixels.bytes, FRAMES_PIXELS);
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool make_slots(struct frames *f, struct frames_run *run,
                       const struct frames_vulkan_slots *slots, gr_resource *resources[],
                       unsigned *made)
{
    gr_vk_device *device = device_for(f->vulkan, run->kind->copied);
    const uint32_t families[] = {f->vulkan->vulkan.family, f->vulkan->transfer.family};
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = f->bytes,
        .usage = slots->usage,
        .sharingMode = slots->two_families ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = slots->two_families ? 2 : 0,
        .pQueueFamilyIndices = families};
    const VkImageCreateInfo image = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                     .imageType = VK_IMAGE_TYPE_2D,
                                     .format = VK_FORMAT_R32G32B32A32_SFLOAT,
                                     .extent = {(uint32_t)f->mesh, (uint32_t)f->mesh, 1},
                                     .mipLevels = 1,
                                     .arrayLayers = 1,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    bool good = device || frames_grinterop_failed("gr_vk_device_from_vk");
    while (good && *made < run->kind->slots) {
        const unsigned slot = *made;
        resources[slot] = run->kind->image ? gr_create_vk_image(device, &image, slots->flags)
                                           : gr_create_vk_buffer(device, &buffer, slots->flags);
        if (!resources[slot])
            return frames_grinterop_failed(run->kind->image ? "gr_create_vk_image"
                                                            : "gr_create_vk_buffer");
        ++*made;
        good = slots->record(f, run, resources[slot], slot);
    }
    return good;
}

bool frames_vulkan_make_ring(struct frames *f, struct frames_run *run,
                             const struct frames_vulkan_slots *slots)
{
    gr_resource *resources[FRAMES_MOST_SLOTS];
    const gr_ring_options options = GR_INIT(gr_ring_options, .producer = slots->producer);
    unsigned made = 0;
    run->commands = calloc((size_t)run->kind->slots * slots->commands, sizeof(VkCommandBuffer));
    if (!run->commands) {
        frames_set_error("out of memory");
        return false;
    }
    if (make_slots(f, run, slots, resources, &made) &&
        !(run->ring = gr_ring_create(resources, made, &options)))
        frames_grinterop_failed("gr_ring_create");
    while (made-- > 0)
        gr_resource_free(resources[made]);
    return run->ring;
}

static bool record_points(struct frames *f, struct frames_run *run, gr_resource *vertices,
                          unsigned slot)
{
    const gr_vk_use drawing = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT,
                                      .access = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT);
    VkCommandBuffer commands = frames_vulkan_begin(f, vertices, &drawing);
    run->commands[slot] = commands;
    if (!commands)
        return false;
    frames_vulkan_draw_points(&f->vulkan->vulkan, &f->vulkan->draw, commands,
                              gr_vk_buffer(vertices), (uint32_t)(f->mesh * f->mesh));
    if (!frames_vulkan_end(f, commands, vertices, &drawing))
        return false;
    /* A row that only draws needs a mesh, which is written once. */
    return !run->kind->unchecked || slot > 0 ||
           (frames_write_mapped(f, vertices) && frames_drain(f));
}

bool frames_vulkan_open_ring(struct frames *f, struct frames_run *run)
{
    static const struct frames_vulkan_slots slots = {.usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
                                                     .flags = GR_WRITE_DISCARD,
                                                     .producer = GR_SIDE_CUDA,
                                                     .commands = 1,
                                                     .record = record_points};
    return frames_vulkan_available(f) && frames_vulkan_make_ring(f, run, &slots);
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
    return frames_vulkan_submit(f, run->commands, 1, NULL, VK_PIPELINE_STAGE_VERTEX_INPUT_BIT);
}

bool frames_vulkan_frame(struct frames *f, struct frames_run *run)
{
    const unsigned n = run->kind->group;
    VkCommandBuffer commands[FRAMES_MOST_GROUP];
    if (!frames_ring_write(f, run))
        return false;
    for (unsigned i = 0; i < n; i++)
        commands[i] = run->commands[run->slots[i]->index];
    gr_submit *points = run->slots[0]->submit;
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT |
                                        (run->kind->copied ? VK_PIPELINE_STAGE_TRANSFER_BIT : 0);
    if (frames_vulkan_submit(f, commands, n, points, stages) && gr_submit_commit(points) == GR_OK)
        return frames_ring_give_back(run);
    gr_ring_cancel_read(run->ring, run->slots, n);
    return false;
}
