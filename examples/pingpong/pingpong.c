/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * pingpong: CUDA and Vulkan share two images. While Vulkan draws one image to a picture, CUDA
 * writes the other. Then CUDA and Vulkan swap images. Timeline semaphores order their work, and the
 * loop never blocks: see run().
 *
 *   build/examples/pingpong/pingpong   writes pingpong.png; --help lists the options
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/image.h>

#include "examples/support/clock.h"
#include "examples/support/kernel_image.h"
#include "examples/support/output.h"
#include "pingpong_vk.h"
#include "examples/support/session.h"
#include "tools/options.h"

KERNEL_IMAGE(pingpong);

static struct options {
    int queue; /* the kind of queue, an enum vulkan_queue */
    int frames;
    bool validate;
    const char *output;
} options = {.frames = TILES, .output = "pingpong.png"};

struct show {
    struct session session;
    struct pingpong_vk vk;
    CUfunction julia;
    /*
     * the results of the kernel: a sum per frame, then the count of codes that Vulkan did not
     * return
     */
    CUdeviceptr sums, lost;
    unsigned *found; /* `sums` and `lost` on the host */
};

/* The CUDA part of a frame: CUDA owns the image from the map to the end of the scope. */
static bool compute(const struct show *show, int frame)
{
    const struct session *s = &show->session;
    GR_AUTO(gr_buffer) *buffer = gr_map(show->vk.images[frame % 2], s->stream);
    CUsurfObject image = buffer ? gr_buffer_surface(buffer, 0, 0) : 0;
    if (image == 0)
        return failed_to("map an image");
    /* The constant c moves along the cardioid of the Mandelbrot set, slightly outside. */
    const float angle = 3.0f * (float)(frame % TILES + 1) / (float)TILES;
    float cx = 1.04f * (0.5f * cosf(angle) - 0.25f * cosf(2.0f * angle));
    float cy = 1.04f * (0.5f * sinf(angle) - 0.25f * sinf(2.0f * angle));
    CUdeviceptr sums = show->sums, lost = show->lost;
    void *arguments[] = {&image, &frame, &cx, &cy, &sums, &lost};
    return session_launch(s, show->julia, TILE_WIDTH, IMAGE_HEIGHT, arguments);
}

/*
 * Runs all frames. No call in the loop waits for CUDA or Vulkan. CUDA frame i + 1 waits for Vulkan
 * frame i - 1, which used the same image, and so runs in parallel with Vulkan frame i.
 */
static bool run(struct show *show, int frames)
{
    const double start = clock_seconds();
    for (int frame = 0; frame < frames; frame++)
        if (!compute(show, frame) || !pingpong_vk_use(&show->vk, frame))
            return false;
    const double issued = clock_seconds();
    if (!pingpong_vk_finish(&show->vk) || !session_finish(&show->session))
        return false;
    const double done = clock_seconds();
    printf("frames   %d, %.1f us each; the loop issued them in %.1f of %.1f ms\n", frames,
           1e6 * (done - start) / frames, 1e3 * (issued - start), 1e3 * (done - start));
    return true;
}

/* The sum of the texels of a tile, computed as in the kernel. */
static unsigned sum_of_tile(const struct show *show, int tile)
{
    const struct pingpong_vk *vk = &show->vk;
    const VkOffset2D at = pingpong_vk_place(tile);
    const unsigned char *pixels = vk->pixels.bytes;
    unsigned sum = 0, factor = 1;
    for (int y = 0; y < TILE_HEIGHT; y++) {
        const unsigned char *row =
            pixels + 4 * ((size_t)(at.y + y) * (size_t)vk->width + (size_t)at.x);
        for (int x = 0; x < TILE_WIDTH; x++, row += 4)
            sum +=
                (row[0] | (unsigned)row[1] << 8 | (unsigned)row[2] << 16 | (unsigned)row[3] << 24) *
                factor++;
    }
    return sum;
}

/*
 * Checks that Vulkan returned the code of each frame to CUDA, and that the picture has the last
 * frame of each tile.
 */
static bool check(struct show *show, int frames)
{
    const size_t size = ((size_t)frames + 1) * sizeof(*show->found);
    if (!cuda_ok(show->session.cuda->MemcpyDtoH(show->found, show->sums, size),
                 "read the sums of the kernel"))
        return false;
    const unsigned lost = show->found[frames];
    int wrong = 0;
    for (int frame = frames > TILES ? frames - TILES : 0; frame < frames; frame++)
        wrong += sum_of_tile(show, frame % TILES) != show->found[frame];
    printf("check    %d frames went to Vulkan and back, %u texels of them wrong; %d of %d tiles "
           "wrong\n",
           frames > 2 ? frames - 2 : 0, lost, wrong, frames < TILES ? frames : TILES);
    return lost == 0 && wrong == 0;
}

static bool write_picture(const struct show *show, const char *path)
{
    const struct pingpong_vk *vk = &show->vk;
    const size_t count = (size_t)vk->width * (size_t)vk->height;
    const unsigned char *from = vk->pixels.bytes;
    unsigned char *pixels = malloc(3 * count);
    if (!pixels) {
        fprintf(stderr, "Not enough memory for the picture.\n");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(pixels + 3 * i, from + 4 * i, 3);
    const bool done = output_picture(path, vk->width, vk->height, pixels);
    free(pixels);
    return done;
}

static bool open_show(struct show *show)
{
    const size_t size = ((size_t)options.frames + 1) * sizeof(*show->found);
    show->found = malloc(size);
    if (!show->found) {
        fprintf(stderr, "Not enough memory: choose fewer --frames.\n");
        return false;
    }
    if (!session_open_cuda(&show->session) ||
        !pingpong_vk_open(&show->vk, (enum vulkan_queue)options.queue, options.validate))
        return false;
    const gr_cuda_api *cuda = show->session.cuda;
    if (!session_kernel(&show->session, &pingpong_image, "julia", &show->julia) ||
        !cuda_ok(cuda->MemAlloc(&show->sums, size), "allocate memory for the sums"))
        return false;
    show->lost = show->sums + size - sizeof(*show->found);
    return cuda_ok(cuda->MemsetD8Async(show->sums, 0, size, show->session.stream),
                   "clear the sums");
}

static bool close_show(struct show *show)
{
    const gr_cuda_api *cuda = show->session.cuda;
    const bool silent = pingpong_vk_close(&show->vk);
    if (show->sums != 0)
        cuda->MemFree(show->sums);
    session_close(&show->session);
    free(show->found);
    return silent;
}

static const char *const queues[] = {"graphics", "compute", "transfer", NULL};
static const struct option_row rows[] = {
    {"queue", 'q', "NAME",
     "how Vulkan fills the picture: graphics draws, compute computes, transfer copies",
     .choice = {&options.queue, queues}},
    {"frames", 'f', "N", "number of frames; 48 fill the picture",
     .whole = {&options.frames, 1, 100000}},
    {"output", 'o', "FILE", "the picture", .text = &options.output},
    {"validate", 0, NULL, "use the validation layer; the program fails if it prints a message",
     .flag = &options.validate},
    {0},
};

int main(int argc, char **argv)
{
    options_read(argc, argv, "pingpong", rows,
                 "CUDA writes one of two shared images while Vulkan puts the other one into a "
                 "picture, and then they swap; the program never waits for either. It verifies on "
                 "both sides that each frame has arrived.",
                 OPTIONS_CUDA_NOTES);

    struct show show = {0};
    const bool done = open_show(&show) && run(&show, options.frames) &&
                      check(&show, options.frames) && write_picture(&show, options.output);
    const bool silent = close_show(&show);
    return done && silent ? EXIT_SUCCESS : EXIT_FAILURE;
}
