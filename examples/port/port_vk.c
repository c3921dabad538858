/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The headless Vulkan renderer of port. port_vk_draw.c has the calls of grinterop. */
#include "port_renderer.h"

#include <stdlib.h>
#include <string.h>

#include "port_vk_draw.h"
#include "examples/support/vulkan_target.h"

struct renderer {
    struct vulkan vulkan;
    struct vulkan_target target;
    struct port_vk port;
    /* the command buffer of a frame, the same for all frames */
    VkCommandBufferSubmitInfo frame;
};

static bool record(struct renderer *r)
{
    const VkCommandBuffer commands = vulkan_record(&r->vulkan, 0);
    if (!commands)
        return false;
    vulkan_target_begin(&r->vulkan, &r->target, commands);
    port_vk_record(&r->port, commands);
    vulkan_target_end(&r->vulkan, &r->target, commands);
    r->frame = (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                           .commandBuffer = commands};
    return vulkan_ok(r->vulkan.EndCommandBuffer(commands), "record commands");
}

static bool draw(void *renderer, gr_submit *submit, const struct port_view *view,
                 unsigned char *pixels)
{
    const struct renderer *r = renderer;
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &r->frame};
    memcpy(r->port.uniforms.bytes, view, sizeof(*view));
    if (!port_vk_submit(&r->port, submit, &info) || !vulkan_wait(&r->vulkan))
        return false;
    memcpy(pixels, r->target.pixels.bytes, 4 * (size_t)r->target.width * (size_t)r->target.height);
    return true;
}

/* Frees everything in reverse order, after all work is done. */
static bool close_renderer(void *renderer)
{
    struct renderer *r = renderer;
    if (!r)
        return true;
    struct vulkan *v = &r->vulkan;
    if (v->DeviceWaitIdle) {
        v->DeviceWaitIdle(v->device);
        port_vk_free(&r->port);
        vulkan_target_free(v, &r->target);
    }
    const bool silent = vulkan_close(v);
    free(r);
    return silent;
}

static void *open_renderer(int width, int height, bool validate, unsigned transports,
                           gr_resource *shared[PORT_SHARED])
{
    struct renderer *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    if (vulkan_open(&r->vulkan, VULKAN_GRAPHICS, validate, transports) &&
        vulkan_target_init(&r->vulkan, width, height, &r->target) &&
        port_vk_init(&r->port, &r->vulkan, r->target.pass, shared) && record(r))
        return r;
    close_renderer(r);
    return NULL;
}

const struct port_renderer port_vk = {open_renderer, draw, close_renderer};
