/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ripples: a pool in a window. CUDA moves the water, a mesh in a vertex buffer, and renders the
 * tiles on the floor as seen through it, from a texture into a pixel buffer. Vulkan draws the mesh
 * with these pixels, while CUDA computes the next frames.
 *
 *     ripples [--frames N] [--picture FILE.ppm]
 *
 * --frames   draws N frames, frame i at time i/60 s, and exits
 * --picture  writes the last frame
 *
 * Without a display it draws offscreen, which requires --frames.
 */
#include <stdio.h>

#include "scene.h"

#define FLIGHT 4 /* the number of frames begun and not yet drawn */

/* The resources that CUDA and Vulkan share. The destructor frees them. */
struct Shared {
    grinterop::ring ring;
    grinterop::resource tiles;
};

/* A frame is one buffer: the positions, followed by the pixels. */
#define PIXELS_AT (MESH * MESH * sizeof(float4))

static Shared registerWithCuda()
{
    const VkImageCreateInfo info = imageInfo(IMAGE, VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    std::vector<grinterop::resource> slots;
    for (int i = 0; i < FLIGHT; i++)
        slots.push_back(
            createShared(VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                         PIXELS_AT + IMAGE * IMAGE * sizeof(uchar4)));
    return {grinterop::ring(gr_ring_create(grinterop::pointers(slots).data(), FLIGHT, NULL)),
            grinterop::resource(gr_create_vk_image(device.get(), &info, GR_READ_ONLY))};
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

    slot.hand_over();
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

    const gr_vk_use reads = GR_INIT(
        gr_vk_use, .stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_COPY_BIT,
        .access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT);
    submit(frame, slot->submit, &reads, &reads, waitsOf(frame.taken), signalsOfImage());
    slot.give_back();
}

static void run(int frames, const char *picture)
{
    const Shared shared = registerWithCuda();
    const cudaStream_t stream = cudaStreamPerThread;
    std::vector<Frame> flight(FLIGHT);
    for (Frame &frame : flight)
        frame = createFrame();
    uploadTiles(flight[0], shared.tiles);
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
    readOptions(argc, argv, &frames, &picture);

    initVulkan(!frames);
    createScene();
    run(frames, picture);
    destroyVulkan();
    return 0;
} catch (const std::exception &error) {
    fprintf(stderr, "ripples: %s\n", error.what());
    return 1;
}
