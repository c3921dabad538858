/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kinds of Vulkan buffers and images, and of memory that CUDA imports by itself. */
#define _GNU_SOURCE
#include "kinds_parts.h"

#include <cuda.h>
#include <string.h>
#include <unistd.h>

#include <grinterop/share.h>

#include "tests/external/external_import.h"
#include "tests/share/share.h"

/* ---- Reasons --------------------------------------------------------------------------------- */

const char *vk_buffer_missing(unsigned flags)
{
    (void)flags;
    return vk.missing;
}

const char *vk_import_missing(unsigned flags)
{
    (void)flags;
    return vulkan_image_missing();
}

const char *vk_flight_missing(unsigned flags)
{
    return flags == GR_READ_WRITE ? "frames in flight pass in one direction" : vk.missing;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void record_copy(VkCommandBuffer commands, const struct thing *thing,
                        const struct vulkan_host *host, bool write)
{
    const VkBufferCopy all = {.size = THING_SIZE};
    const VkBufferImageCopy level = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                     .imageExtent = {THING_SIDE, THING_SIDE, 1}};
    const VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    if (thing->kind->is_image && write)
        vk.CmdCopyBufferToImage(commands, host->buffer, thing->vk_image,
                                VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &level);
    else if (thing->kind->is_image)
        vk.CmdCopyImageToBuffer(commands, thing->vk_image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                host->buffer, 1, &level);
    else if (write)
        vk.CmdCopyBuffer(commands, host->buffer, thing->buffer, 1, &all);
    else
        vk.CmdCopyBuffer(commands, thing->buffer, host->buffer, 1, &all);
    if (!write)
        vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                              0, 1, &seen, 0, NULL, 0, NULL);
}

/* Copies between the object and the host in a submit of the resource, without waiting. */
static void submit_copy(struct thing *thing, const struct vulkan_host *host, bool write)
{
    const gr_vk_use use =
        GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                .access = write ? VK_ACCESS_2_TRANSFER_WRITE_BIT : VK_ACCESS_2_TRANSFER_READ_BIT,
                .layout = !thing->kind->is_image ? VK_IMAGE_LAYOUT_UNDEFINED
                          : write                ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
                                                 : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    VkCommandBuffer commands = vulkan_begin();
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer};
    record_copy(commands, thing, host, write);
    VK(EndCommandBuffer(commands));
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&thing->resource, 1));
    assert_ok(gr_vk_submit(
        submit, &GR_INIT(gr_vk_submit_desc, .info = &info, .first = &use, .last = &use)));
}

/*
 * The resource has ended, and with it its barriers. CUDA has released the image in the layout
 * GENERAL.
 */
static void read_image_alone(struct thing *thing, const struct vulkan_host *host)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL,
        .dstQueueFamilyIndex = vk.h->graphics_family,
        .image = thing->vk_image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                          VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    record_copy(commands, thing, host, false);
    vulkan_submit(commands, NULL, NULL);
}

static bool is_alive(const struct thing *thing)
{
    return thing->resource && !gr_resource_get_info(thing->resource)->closed;
}

/* The memory of the host is freed after the case: the submit may still wait for CUDA. */
void vk_write(struct thing *thing, const unsigned char *bytes)
{
    struct vulkan_host *host = vulkan_host(THING_SIZE);
    memcpy(host->bytes, bytes, THING_SIZE);
    submit_copy(thing, host, true);
}

static void read_by_submit(struct thing *thing, unsigned char *bytes)
{
    struct vulkan_host *host = vulkan_host(THING_SIZE);
    submit_copy(thing, host, false);
    VK(QueueWaitIdle(vk.h->graphics));
    memcpy(bytes, host->bytes, THING_SIZE);
    vulkan_host_end(host);
}

void vk_memory_write(struct thing *thing, const unsigned char *bytes)
{
    vulkan_write(thing->buffer, bytes, THING_SIZE);
}

void vk_memory_read(struct thing *thing, unsigned char *bytes)
{
    CU(CtxSynchronize());
    vulkan_read(thing->buffer, bytes, THING_SIZE);
}

void vk_buffer_read(struct thing *thing, unsigned char *bytes)
{
    if (is_alive(thing))
        read_by_submit(thing, bytes);
    else
        vk_memory_read(thing, bytes);
}

void vk_image_read(struct thing *thing, unsigned char *bytes)
{
    if (is_alive(thing)) {
        read_by_submit(thing, bytes);
        return;
    }
    struct vulkan_host *host = vulkan_host(THING_SIZE);
    CU(CtxSynchronize());
    read_image_alone(thing, host);
    vulkan_finish();
    memcpy(bytes, host->bytes, THING_SIZE);
    vulkan_host_end(host);
}

/* Blocks the queue. */
void vk_delay(unsigned ms)
{
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_submit(vulkan_begin(), NULL, gate);
    vulkan_gate_open_after(gate, ms);
}

/* ---- Objects of the application -------------------------------------------------------------- */

/* Waits for the submit, since the resource may be freed at any time. */
static void hand_over(struct thing *thing)
{
    if (!thing->resource)
        return;
    assert_ok(gr_vk_hand_over(&thing->resource, 1, VK_IMAGE_LAYOUT_UNDEFINED));
    VK(QueueWaitIdle(vk.h->graphics));
}

/*
 * The description names the memory of the object, unless the object is copied. Images, and objects
 * that are copied to CUDA, must be handed over before CUDA maps them.
 */
static void register_buffer(struct thing *thing, gr_vk_device *device, gr_vk_buffer_desc desc)
{
    desc.buffer = thing->buffer;
    desc.size = THING_SIZE;
    desc.in_flight = thing->kind->in_flight;
    thing->resource = gr_from_vk_buffer(device, &desc, thing->flags);
    hand_over(thing);
}

static void register_image(struct thing *thing, gr_vk_device *device, gr_vk_image_desc desc)
{
    desc.create_info = &thing->own_image.info;
    desc.image = thing->vk_image;
    desc.in_flight = thing->kind->in_flight;
    thing->resource = gr_from_vk_image(device, &desc, thing->flags);
    hand_over(thing);
}

void make_imported(struct thing *thing)
{
    if (thing->kind->is_image) {
        thing->own_image = vulkan_image_unregistered(VK_FORMAT_R8G8B8A8_UNORM, "2D", THING_SIDE,
                                                     THING_SIDE, 1, false);
        thing->vk_image = thing->own_image.image;
        register_image(thing, vk.wrap, thing->own_image.own);
        return;
    }
    thing->own = vulkan_own(THING_SIZE, false);
    thing->buffer = thing->own.buffer;
    register_buffer(thing, vk.wrap,
                    GR_INIT(gr_vk_buffer_desc, .memory = thing->own.memory,
                            .memory_size = thing->own.memory_size,
                            .dedicated = thing->own.dedicated));
}

/* The memory is not allocated for export, and the resource does not know it. */
void make_copied(struct thing *thing)
{
    gr_vk_device_desc desc = vulkan_desc(NULL);
    desc.synchronization2 = vk.h->synchronization2;
    desc.transports = thing->kind->transport;
    thing->device = must_make(gr_vk_device_from_vk(&desc));
    if (thing->kind->is_image) {
        thing->own_image = vulkan_image_unregistered(VK_FORMAT_R8G8B8A8_UNORM, "2D", THING_SIDE,
                                                     THING_SIDE, 1, false);
        thing->vk_image = thing->own_image.image;
        register_image(thing, thing->device, GR_INIT(gr_vk_image_desc));
        return;
    }
    VkMemoryRequirements needs;
    thing->buffer = vulkan_buffer(THING_SIZE, &needs);
    thing->own.buffer = thing->buffer;
    thing->own.memory =
        vulkan_memory(needs.size, needs.memoryTypeBits, 0, VK_NULL_HANDLE, VK_NULL_HANDLE);
    VK(BindBufferMemory(vk.h->device, thing->buffer, thing->own.memory, 0));
    register_buffer(thing, thing->device, GR_INIT(gr_vk_buffer_desc));
}

/* ---- Objects of grinterop -------------------------------------------------------------------- */

static const gr_external_part_desc all_bytes = {.struct_size = sizeof(all_bytes),
                                                .size = THING_SIZE};

void make_created(struct thing *thing)
{
    if (thing->kind->is_image) {
        thing->own_image =
            vulkan_image_try(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"),
                             THING_SIDE, THING_SIDE, 1, 0, thing->flags);
        thing->resource = thing->own_image.resource;
        thing->vk_image = thing->own_image.image;
        hand_over(thing);
        return;
    }
    const VkBufferCreateInfo info = vulkan_buffer_info(THING_SIZE);
    thing->resource = gr_create_vk_buffer(vk.wrap, &info, thing->flags);
    if (thing->resource)
        thing->buffer = gr_vk_buffer(thing->resource);
}

void make_external(struct thing *thing)
{
    thing->own = vulkan_own(THING_SIZE, false);
    thing->buffer = thing->own.buffer;
    const gr_external_memory_desc info = external_info(&thing->own, &all_bytes);
    thing->resource = gr_from_external_memory(&info, thing->flags);
    if (thing->resource)
        unordered(thing->resource);
}

/* Sends a buffer of the application, as to another process. */
void make_received(struct thing *thing)
{
    struct pair pair = pair_make();
    thing->own = vulkan_own(THING_SIZE, false);
    thing->buffer = thing->own.buffer;
    thing->sent = must_register_own(&thing->own, THING_SIZE, thing->flags);
    assert_ok(gr_resource_send(pair.here, thing->sent, NULL, 0, SOON));
    thing->resource = gr_resource_receive(pair.there, NULL, 0, NULL, SOON);
    pair_close(&pair);
    if (thing->resource)
        unordered(thing->resource);
}

void end_vk(struct thing *thing)
{
    VK(QueueWaitIdle(vk.h->graphics));
    gr_resource_free(thing->sent);
    if (thing->own.buffer)
        vulkan_own_free(&thing->own);
    if (thing->kind->survives && thing->kind->is_image) {
        vk.DestroyImage(vk.h->device, thing->vk_image, NULL);
        vulkan_memory_free(thing->own_image.own.memory);
    }
    gr_vk_device_free(thing->device);
}
