/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The scene, and the submits that order its drawing with CUDA. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include <grinterop/vk.h>

#include <grinterop/gr.hpp>

#include "../wave.cuh"
#include "pipeline.h"
#include "window.h"

static Buffer createIndices()
{
    static unsigned short indices[INDICES];
    fillIndices(indices);
    return createBuffer(VK_BUFFER_USAGE_INDEX_BUFFER_BIT, sizeof(indices), indices);
}

static grinterop::vk_device device;
static Image image, target;
static Buffer indices;

static void initVulkan(bool forever)
{
    if (!openWindow(WINDOW, "ripples") && forever) {
        fprintf(stderr, "GLFW finds no display: say --frames N\n");
        exit(1);
    }
    createInstance(instanceExtensions());
    createDevice(0, deviceExtensions());
    createSwapchain();

    device = grinterop::vk_device::from_vk(
        GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = vkGetInstanceProcAddr,
                .instance = vk.instance, .physical_device = vk.gpu, .device = vk.device,
                .queue = vk.queue, .queue_family = vk.family, .synchronization2 = true));
    atEnd([] { device = {}; });
}

static void createScene()
{
    image = createImage(IMAGE, VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT);
    target =
        createImage(WINDOW, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    createPipeline(image.view);
    indices = createIndices();
}

static grinterop::resource createShared(VkBufferUsageFlags usage, VkDeviceSize size)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    return grinterop::resource(gr_create_vk_buffer(device.get(), &info, GR_WRITE_DISCARD));
}

/* Ends the commands of the frame, and submits them between the previous and the next CUDA work. */
static void submit(const Frame &frame, gr_submit *begun, const gr_vk_use *first,
                   const gr_vk_use *last, const std::vector<VkSemaphoreSubmitInfo> &waits = {},
                   const std::vector<VkSemaphoreSubmitInfo> &signals = {})
{
    checkVulkan(vkEndCommandBuffer(frame.commands));
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = frame.commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .waitSemaphoreInfoCount = uint32_t(waits.size()),
                                .pWaitSemaphoreInfos = waits.data(),
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &commands,
                                .signalSemaphoreInfoCount = uint32_t(signals.size()),
                                .pSignalSemaphoreInfos = signals.data()};
    grinterop::vk_submit(begun, GR_INIT(gr_vk_submit_desc, .info = &info, .fence = frame.done,
                                        .first = first, .last = last));
}

/* Runs once. There is no `first`, since CUDA has not used the image yet. */
static void uploadTiles(const Frame &frame, const grinterop::resource &tiles)
{
    const Buffer texels = createBuffer(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, 4 * IMAGE * IMAGE, NULL);
    fillTiles((unsigned char *)texels.bytes);
    beginFrame(frame);
    copyToImage(frame.commands, texels.buffer, 0, gr_vk_image(tiles.get()), IMAGE);

    const gr_vk_use last = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                                   .access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                   .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    submit(frame, grinterop::submit::begin({tiles}).get(), NULL, &last);
}

static cudaTextureObject_t createTextureObject(const grinterop::mapping &image)
{
    const gr_texture_options how = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR,
                                           .normalized_coordinates = GR_CHOICE_YES);
    return image.texture(&how);
}

static void writePicture(const Frame &frame, const char *path)
{
    const Buffer pixels = createBuffer(VK_BUFFER_USAGE_TRANSFER_DST_BIT, 4 * WINDOW * WINDOW, NULL);
    beginFrame(frame);
    copyFromImage(frame.commands, target.image, pixels.buffer, WINDOW);
    runFrame(frame);
    writeRows(path, (const unsigned char *)pixels.bytes, 4 * WINDOW, 4);
}
