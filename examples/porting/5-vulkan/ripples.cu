/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ripples: a pool in a window. CUDA moves the water, a mesh in a vertex buffer, and looks at the
 * tiles on the floor through it, from a texture into a pixel buffer. Vulkan draws the mesh with
 * these pixels.
 *
 *     ripples [--frames N] [--picture FILE.ppm]
 *
 * --frames   draws N frames, frame i as it is after i/60 s, and ends
 * --picture  writes the last frame
 *
 * Where there is no display it draws without a window, and --frames has to be given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <grinterop/gr.hpp>
#include <grinterop/image.h>
#include <grinterop/vk.h>

#include "../wave.cuh"
#include "pipeline.h"
#include "window.h"

/* Two triangles for each square of four vertices. */
static Buffer createIndices()
{
    static unsigned short indices[INDICES];
    unsigned short *next = indices;
    for (int y = 0; y < MESH - 1; y++)
        for (int x = 0; x < MESH - 1; x++) {
            const unsigned short corner = y * MESH + x;
            const unsigned short square[6] = {0, 1, MESH, MESH, 1, MESH + 1};
            for (int i = 0; i < 6; i++)
                *next++ = corner + square[i];
        }
    return createBuffer(VK_BUFFER_USAGE_INDEX_BUFFER_BIT, sizeof(indices), indices);
}

static gr_vk_device *device;
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

    gr_vk_device_desc desc = GR_INIT(gr_vk_device_desc);
    desc.get_instance_proc_addr = vkGetInstanceProcAddr;
    desc.instance = vk.instance;
    desc.physical_device = vk.gpu;
    desc.device = vk.device;
    desc.queue = vk.queue;
    desc.queue_family = vk.family;
    desc.synchronization2 = true;
    device = grinterop::must(gr_vk_device_wrap(&desc));
    atEnd([] { gr_vk_device_free(device); });
}

static void createScene()
{
    image = createImage(IMAGE, VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT);
    target =
        createImage(WINDOW, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    createPipeline(image.view);
    indices = createIndices();
}

/* What CUDA and Vulkan share, until its end. */
struct Shared {
    grinterop::resource vbo, pbo, tiles;
};

static grinterop::resource createShared(VkBufferUsageFlags usage, VkDeviceSize size)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    return grinterop::resource(gr_vk_buffer_create(device, &info, GR_WRITE_DISCARD));
}

static Shared registerWithCuda()
{
    const VkImageCreateInfo info = imageInfo(IMAGE, VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    return {createShared(VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MESH * MESH * sizeof(float4)),
            createShared(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, IMAGE * IMAGE * sizeof(uchar4)),
            grinterop::resource(gr_vk_image_create(device, &info, GR_READ_ONLY))};
}

/* Ends the frame's commands, and puts them between CUDA's work before and CUDA's work after. */
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
    gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc);
    desc.info = &info;
    desc.fence = frame.done;
    desc.first = first;
    desc.last = last;
    grinterop::check(gr_vk_submit(begun, &desc));
}

/* Once. There is no `first`: CUDA has not had the image yet. */
static void uploadTiles(const Frame &frame, gr_resource *tiles)
{
    const Buffer texels = createBuffer(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, 4 * IMAGE * IMAGE, NULL);
    fillTiles((unsigned char *)texels.bytes);
    beginFrame(frame);
    copyToImage(frame.commands, texels.buffer, 0, gr_vk_image(tiles), IMAGE);

    gr_vk_use last = GR_INIT(gr_vk_use);
    last.stages = VK_PIPELINE_STAGE_2_COPY_BIT;
    last.access = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    last.layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    gr_submit *begun = grinterop::must(gr_submit_begin(&tiles, 1));
    submit(frame, begun, NULL, &last);
    gr_submit_free(begun);
}

static cudaTextureObject_t createTextureObject(const grinterop::mapping &image)
{
    gr_texture_options how = GR_INIT(gr_texture_options);
    how.filter = GR_FILTER_LINEAR;
    how.normalized_coordinates = GR_YES;
    return grinterop::must(gr_buffer_texture(image.get(), &how));
}

static void runCuda(const Shared &shared, cudaStream_t stream, float time)
{
    std::vector<grinterop::mapping> mapped =
        grinterop::map_many({shared.vbo, shared.pbo, shared.tiles}, stream);

    float4 *vertices = mapped[0].span<float4>().data();
    uchar4 *pixels = mapped[1].span<uchar4>().data();
    cudaTextureObject_t texture = createTextureObject(mapped[2]);

    const dim3 block(16, 16);
    ripple<<<dim3(MESH / 16, MESH / 16), block, 0, stream>>>(vertices, MESH, time);
    tint<<<dim3(IMAGE / 16, IMAGE / 16), block, 0, stream>>>(pixels, texture, IMAGE, time);
    checkCudaErrors(cudaGetLastError());

    grinterop::release_many(mapped);
}

static void draw(const Shared &shared, const Frame &frame)
{
    const VkBuffer vertices = gr_vk_buffer(shared.vbo.get());
    const VkDeviceSize start = 0;
    beginFrame(frame);
    takeImage(frame.taken);
    copyToImage(frame.commands, gr_vk_buffer(shared.pbo.get()), 0, image.image, IMAGE);
    beginDrawing(frame.commands, image, target, WINDOW);
    vkCmdBindVertexBuffers(frame.commands, 0, 1, &vertices, &start);
    vkCmdBindIndexBuffer(frame.commands, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
    vkCmdDrawIndexed(frame.commands, INDICES, 1, 0, 0, 0);
    endDrawing(frame.commands, target);
    copyToWindow(frame.commands, target.image, WINDOW);

    gr_vk_use reads = GR_INIT(gr_vk_use);
    reads.stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
    reads.access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
    gr_resource *both[] = {shared.vbo.get(), shared.pbo.get()};
    gr_submit *begun = grinterop::must(gr_submit_begin(both, 2));
    submit(frame, begun, &reads, &reads, waitsOf(frame.taken), signalsOfImage());
    gr_submit_free(begun);
}

static void writePicture(const Frame &frame, const char *path)
{
    const Buffer pixels = createBuffer(VK_BUFFER_USAGE_TRANSFER_DST_BIT, 4 * WINDOW * WINDOW, NULL);
    beginFrame(frame);
    copyFromImage(frame.commands, target.image, pixels.buffer, WINDOW);
    runFrame(frame);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "P6 %d %d 255\n", WINDOW, WINDOW);
    for (int i = 0; i < WINDOW * WINDOW; i++)
        fwrite((const char *)pixels.bytes + 4 * i, 1, 3, file);
    fclose(file);
}

static void run(int frames, const char *picture)
{
    const Shared shared = registerWithCuda();
    const cudaStream_t stream = cudaStreamPerThread;
    const Frame frame = createFrame();
    uploadTiles(frame, shared.tiles.get());
    for (int i = 0; windowIsOpen() && (!frames || i < frames); i++) {
        runCuda(shared, stream, frames ? i / 60.0f : secondsOpen());
        draw(shared, frame);
        if (picture && i + 1 == frames)
            writePicture(frame, picture);
        showImage();
    }
    checkVulkan(vkDeviceWaitIdle(vk.device));
}

int main(int argc, char **argv)
try {
    int frames = 0;
    const char *picture = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--frames"))
            frames = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--picture"))
            picture = argv[i + 1];
    }

    initVulkan(!frames);
    createScene();
    run(frames, picture);
    destroyVulkan();
    return 0;
} catch (const std::exception &error) {
    fprintf(stderr, "ripples: %s\n", error.what());
    return 1;
}
