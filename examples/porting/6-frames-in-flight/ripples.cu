/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ripples: a pool in a window. CUDA moves the water, a mesh in a vertex buffer, and looks at the
 * tiles on the floor through it, from a texture into a pixel buffer. Vulkan draws the mesh with
 * these pixels, while CUDA computes the next frames.
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

#include "pipeline.h"
#include "window.h"

#define WINDOW  512 /* pixels a side */
#define MESH    128 /* vertices a side */
#define IMAGE   256 /* pixels a side */
#define FLIGHT  4   /* frames that are begun and not yet drawn */
#define INDICES (6 * (MESH - 1) * (MESH - 1))

#define checkCudaErrors(call) checkResult(call, #call, __LINE__)

static void checkResult(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "ripples.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

/* ---- What CUDA computes ---- */

/* Around a drop that fell (dx, dy) from here: the water's height, and its slope to the light. */
__device__ float2 rings(float dx, float dy, float time)
{
    const float distance = sqrtf(dx * dx + dy * dy + 0.0002f);
    const float fade = 0.011f * expf(-2.0f * distance);
    const float phase = 55.0f * distance - 7.0f * time;
    const float rise = fade * (55.0f * cosf(phase) - 2.0f * sinf(phase));
    return make_float2(fade * sinf(phase), rise * (0.6f * dx + 0.8f * dy) / distance);
}

/* The place of each vertex, with the slope as its last number. */
__global__ void ripple(float4 *positions, int side, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    const float u = x / (side - 1.0f), v = y / (side - 1.0f);
    const float2 one = rings(u - 0.3f, v - 0.35f, time);
    const float2 other = rings(u - 0.65f - 0.1f * cosf(time), v - 0.6f, time + 0.4f);
    positions[y * side + x] = make_float4(u, v, one.x + other.x, one.y + other.y);
}

/* The tiles: sharp and warm around a spot that moves, blurred and cool elsewhere. */
__global__ void tint(uchar4 *pixels, cudaTextureObject_t tiles, int side, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    const float u = (x + 0.5f) / side, v = (y + 0.5f) / side;
    const float dx = u - 0.5f - 0.25f * cosf(0.7f * time), dy = v - 0.5f - 0.25f * sinf(time);
    const float away = fminf(2.0f * sqrtf(dx * dx + dy * dy), 1.0f);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            const float reach = 0.02f * away;
            const float4 tile = tex2D<float4>(tiles, u + i * reach, v + j * reach);
            sum = make_float3(sum.x + tile.x, sum.y + tile.y, sum.z + tile.z);
        }
    const float scale = 255.0f / 9.0f;
    pixels[y * side + x] =
        make_uchar4((1.0f - 0.5f * away) * scale * sum.x + 0.5f,
                    (1.0f - 0.25f * away) * scale * sum.y + 0.5f, scale * sum.z + 0.5f, 255);
}

/* ---- What Vulkan draws ---- */

/* Tiles of four colours, with pale joints. */
static void fillTiles(unsigned char *texels)
{
    static const unsigned char colours[4][3] = {
        {38, 130, 160}, {60, 170, 185}, {24, 96, 140}, {226, 160, 84}};
    for (int y = 0; y < IMAGE; y++)
        for (int x = 0; x < IMAGE; x++, texels += 4) {
            const int column = x / 16, row = y / 16;
            const bool joint = x % 16 == 0 || y % 16 == 0;
            const int kind = (column * column * 3 + row * row * 5 + column * row) % 13 % 4;
            for (int i = 0; i < 3; i++)
                texels[i] = joint ? 215 : colours[kind][i];
            texels[3] = 255;
        }
}

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

/* ---- Both ---- */

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
    grinterop::ring ring;
    grinterop::resource tiles;
};

/* A frame is one buffer: the positions, and the pixels behind them. */
#define PIXELS_AT (MESH * MESH * sizeof(float4))

static grinterop::resource createShared(VkBufferUsageFlags usage, VkDeviceSize size)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    return grinterop::resource(gr_vk_buffer_create(device, &info, GR_WRITE_DISCARD));
}

static Shared registerWithCuda()
{
    const VkImageCreateInfo info = imageInfo(IMAGE, VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    std::vector<grinterop::resource> slots;
    for (int i = 0; i < FLIGHT; i++)
        slots.push_back(
            createShared(VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                         PIXELS_AT + IMAGE * IMAGE * sizeof(uchar4)));
    return {grinterop::ring(gr_ring_create(grinterop::pointers(slots).data(), FLIGHT, NULL)),
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

static void runCuda(const Shared &shared, cudaTextureObject_t texture, cudaStream_t stream,
                    float time)
{
    grinterop::slot slot = shared.ring.acquire_write(stream, GR_WAIT_FOREVER);

    float4 *vertices = slot.span<float4>().data();
    uchar4 *pixels = (uchar4 *)(slot.pointer() + PIXELS_AT);

    const dim3 block(16, 16);
    ripple<<<dim3(MESH / 16, MESH / 16), block, 0, stream>>>(vertices, MESH, time);
    tint<<<dim3(IMAGE / 16, IMAGE / 16), block, 0, stream>>>(pixels, texture, IMAGE, time);
    checkCudaErrors(cudaGetLastError());

    slot.publish();
}

static void draw(const Shared &shared, const Frame &frame)
{
    grinterop::slot slot = shared.ring.acquire_read(GR_STREAM_NONE, GR_WAIT_FOREVER);
    const VkBuffer vertices = gr_vk_buffer(slot->resource);
    const VkDeviceSize start = 0;
    beginFrame(frame);
    takeImage(frame.taken);
    copyToImage(frame.commands, vertices, PIXELS_AT, image.image, IMAGE);
    beginDrawing(frame.commands, image, target, WINDOW);
    vkCmdBindVertexBuffers(frame.commands, 0, 1, &vertices, &start);
    vkCmdBindIndexBuffer(frame.commands, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
    vkCmdDrawIndexed(frame.commands, INDICES, 1, 0, 0, 0);
    endDrawing(frame.commands, target);
    copyToWindow(frame.commands, target.image, WINDOW);

    gr_vk_use reads = GR_INIT(gr_vk_use);
    reads.stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
    reads.access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
    submit(frame, slot->submit, &reads, &reads, waitsOf(frame.taken), signalsOfImage());
    slot.give_back();
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
    std::vector<Frame> flight(FLIGHT);
    for (Frame &frame : flight)
        frame = createFrame();
    uploadTiles(flight[0], shared.tiles.get());
    const grinterop::mapping tiles = shared.tiles.map(stream);
    const cudaTextureObject_t texture = createTextureObject(tiles);
    for (int i = 0; windowIsOpen() && (!frames || i < frames); i++) {
        const Frame &frame = flight[i % FLIGHT];
        runCuda(shared, texture, stream, frames ? i / 60.0f : secondsOpen());
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
