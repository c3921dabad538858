/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ripples: a pool in a window. CUDA moves the water, a mesh in a vertex buffer, and renders the
 * tiles on the floor as seen through it, from a texture into a pixel buffer. Vulkan draws the mesh
 * with these pixels.
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

/* The resources that CUDA and Vulkan share. The destructor frees them. */
struct Shared {
    grinterop::resource vbo, pbo, tiles;
};

static Shared registerWithCuda()
{
    const VkImageCreateInfo info = imageInfo(IMAGE, VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    return {createShared(VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MESH * MESH * sizeof(float4)),
            createShared(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, IMAGE * IMAGE * sizeof(uchar4)),
            grinterop::resource(gr_vk_image_create(device, &info, GR_READ_ONLY))};
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
