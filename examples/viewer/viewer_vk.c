/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Vulkan renderer of viewer: draws the sheet of port, with the same drawing and kernels, into a
 * swapchain. The program owns the device. port_vk_submit() inserts the waits, signals and barriers
 * between CUDA and Vulkan, along with the semaphores of the window.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/port/port_cuda.h"
#include "examples/port/port_look.h"
#include "examples/port/port_vk_draw.h"
#include "examples/support/transport.h"
#include "viewer_renderer.h"
#include "viewer_swapchain.h"

struct renderer {
    struct port_cuda cuda;
    struct viewer_device device;
    struct vulkan vulkan;
    struct viewer_swapchain swapchain;
    struct vulkan_target target; /* a render target of the size of the window */
    struct port_vk port;
    gr_resource *shared[PORT_SHARED];
    VkCommandBuffer commands;
};

/* The CUDA part of a frame: CUDA owns both resources from the map to the release. */
static bool compute(const struct renderer *r, float time)
{
    gr_buffer *mapped[PORT_SHARED];
    if (gr_map_many(r->shared, PORT_SHARED, r->cuda.session.stream, NULL, mapped) != GR_OK)
        return failed_to("map the vertices and the texture");
    const bool done = port_cuda_launch(&r->cuda, mapped, time);
    if (gr_buffer_release_many(mapped, PORT_SHARED, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return failed_to("release the vertices and the texture");
    return done;
}

/*
 * Records the commands of a frame. Each frame records new commands, since the swapchain image
 * differs.
 */
static bool record(struct renderer *r)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    const struct vulkan *v = &r->vulkan;
    if (!vulkan_ok(v->BeginCommandBuffer(r->commands, &begin), "record commands"))
        return false;
    vulkan_target_begin(v, &r->target, r->commands);
    port_vk_record(&r->port, r->commands);
    vulkan_target_end(v, &r->target, r->commands);
    viewer_swapchain_record(&r->swapchain, &r->target, r->commands);
    return vulkan_ok(v->EndCommandBuffer(r->commands), "record commands");
}

/* Submits the commands of a frame, after the release and before the next map. */
static bool submit_frame(struct renderer *r)
{
    const struct viewer_swapchain *s = &r->swapchain;
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = r->commands};
    const VkSemaphoreSubmitInfo taken = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                         .semaphore = s->taken,
                                         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo drawn = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                         .semaphore = s->drawn[s->next],
                                         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .waitSemaphoreInfoCount = 1,
                                .pWaitSemaphoreInfos = &taken,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &commands,
                                .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &drawn};
    GR_AUTO(gr_submit) *submit = gr_submit_begin(r->shared, PORT_SHARED);
    if (!submit)
        return failed_to("begin a submit");
    return port_vk_submit(&r->port, submit, &info);
}

static bool fit_target(struct renderer *r, int width, int height)
{
    if (r->target.width == width && r->target.height == height)
        return true;
    vulkan_target_free(&r->vulkan, &r->target);
    return vulkan_target_init(&r->vulkan, width, height, &r->target);
}

/* Copies the pixels without their fourth byte. */
static void take_pixels(const struct vulkan_target *target, unsigned char *pixels)
{
    const unsigned char *bytes = target->pixels.bytes;
    const size_t count = (size_t)target->width * (size_t)target->height;
    for (size_t i = 0; i < count; i++)
        memcpy(pixels + 3 * i, bytes + 4 * i, 3);
}

/* Draws a frame to the acquired swapchain image. */
static bool draw_acquired(struct renderer *r, const struct viewer_frame *frame)
{
    const struct port_view view = port_look(frame->width, frame->height, &frame->orbit);
    if (!compute(r, frame->time) || !record(r))
        return false;
    memcpy(r->port.uniforms.bytes, &view, sizeof(view));
    if (!submit_frame(r) || !viewer_swapchain_present(&r->swapchain) || !vulkan_wait(&r->vulkan))
        return false;
    if (frame->pixels)
        take_pixels(&r->target, frame->pixels);
    return true;
}

static enum viewer_drawn draw(void *renderer, const struct viewer_frame *frame)
{
    struct renderer *r = renderer;
    if (!fit_target(r, frame->width, frame->height))
        return VIEWER_FAILED;
    const enum viewer_drawn taken =
        viewer_swapchain_acquire(&r->swapchain, frame->width, frame->height);
    return taken != VIEWER_SHOWN || draw_acquired(r, frame) ? taken : VIEWER_FAILED;
}

static void describe(const void *renderer, char *text, size_t size)
{
    const struct renderer *r = renderer;
    snprintf(text, size, "%s, Vulkan",
             transport_name(gr_resource_get_info(r->shared[PORT_VERTICES])->transport));
}

/* Frees everything in reverse order, after all work is done. */
static bool close_renderer(void *renderer)
{
    struct renderer *r = renderer;
    if (!r)
        return true;
    if (r->vulkan.DeviceWaitIdle) {
        r->vulkan.DeviceWaitIdle(r->vulkan.device);
        viewer_swapchain_free(&r->swapchain);
        port_vk_free(&r->port);
        vulkan_target_free(&r->vulkan, &r->target);
    }
    const bool silent = vulkan_close(&r->vulkan);
    viewer_device_close(&r->device);
    port_cuda_close(&r->cuda);
    free(r);
    return silent;
}

static bool make_commands(struct renderer *r)
{
    r->commands = vulkan_record(&r->vulkan, 0);
    return r->commands && vulkan_ok(r->vulkan.EndCommandBuffer(r->commands), "record commands");
}

static void *open_renderer(const struct viewer_window *window, const struct viewer_options *options)
{
    struct renderer *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    if (!port_cuda_open(&r->cuda) || !viewer_device_open(&r->device, window)) {
        close_renderer(r);
        return NULL;
    }
    r->device.desc.transports = options->transport > 0 ? GR_TRANSPORT_COPY : GR_TRANSPORT_ANY;
    if (vulkan_open_own(&r->vulkan, &r->device.desc) &&
        viewer_swapchain_init(&r->swapchain, &r->device, &r->vulkan, window->by_clock) &&
        fit_target(r, options->width, options->height) &&
        port_vk_init(&r->port, &r->vulkan, r->target.pass, r->shared) && make_commands(r))
        return r;
    close_renderer(r);
    return NULL;
}

static const char *const names[] = {"sheet", NULL};

const struct viewer_renderer viewer_vk = {names, open_renderer, draw, describe, close_renderer};
