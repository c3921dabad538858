/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * particles: CUDA moves particles and OpenGL draws them, with several frames in flight. The program
 * writes a short animation as numbered pictures. It prints the frames per second with one buffer
 * (in order) and with several (in flight).
 *
 *   build/examples/particles/particles   fills particles.frames; --help lists the options
 *
 * frame_in_order() and frame_in_flight() hand the buffers over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <epoxy/gl.h>
#include <grinterop/gl.h>

#include "examples/support/clock.h"
#include "examples/support/output.h"
#include "particles.h"
#include "particles_cuda.h"
#include "particles_view.h"
#include "examples/support/png_file.h"
#include "examples/support/session.h"
#include "tools/options.h"

static struct options {
    int width, height, particles;
    int frames;   /* the number of pictures */
    int measured; /* the number of frames in each of the two measurements */
    int in_flight;
    bool in_order; /* whether the pictures are made in order, with one buffer */
    const char *output;
} options = {.width = 1280,
             .height = 720,
             .particles = 131072,
             .frames = 90,
             .measured = 600,
             .in_flight = 16,
             .output = "particles.frames"};

struct show {
    struct session session;
    struct particles_view view;
    struct particles_cuda flow;
    unsigned char *pixels;

    /* for frames in order */
    unsigned buffer, array;
    gr_resource *sparks;

    /* for frames in flight: arrays[i] draws slot i of the ring */
    gr_ring *ring;
    int slots;
    unsigned arrays[SESSION_SLOTS];
    gr_transport transport;
};

typedef bool (*frame_fn)(struct show *);

static void draw(const struct show *show, unsigned array)
{
    particles_view_draw(&show->view, array, particles_cuda_time(&show->flow));
}

/* ---- The hand-over --------------------------------------------------------------------------- */

/*
 * A frame with one buffer: CUDA writes the buffer and OpenGL draws it. In each frame CUDA and
 * OpenGL wait for each other.
 */
static bool frame_in_order(struct show *show)
{
    {
        GR_AUTO(gr_buffer) *buffer = gr_map(show->sparks, show->session.stream);
        if (!buffer)
            return failed_to("map the buffer");
        if (!particles_cuda_advance(&show->flow, gr_buffer_ptr(buffer)))
            return false;
    }
    draw(show, show->array);
    return true;
}

/*
 * A frame with a ring of buffers: CUDA writes the next buffer while OpenGL draws the previous one.
 * CUDA and OpenGL wait for each other only when a buffer is reused, and the thread does not block.
 */
static bool frame_in_flight(struct show *show)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(show->ring, show->session.stream, &slot, 1, 0) != GR_OK)
        return failed_to("acquire a slot to write to");
    if (!particles_cuda_advance(&show->flow, gr_buffer_ptr(slot->buffer))) {
        gr_ring_cancel_write(show->ring, &slot, 1);
        return false;
    }
    if (gr_ring_hand_over(show->ring, &slot, 1) != GR_OK)
        return failed_to("hand a frame over");

    if (gr_ring_acquire_read(show->ring, GR_STREAM_NONE, &slot, 1, 0) != GR_OK)
        return failed_to("acquire a frame to draw");
    draw(show, show->arrays[slot->index]);
    return gr_ring_give_back(show->ring, &slot, 1) == GR_OK || failed_to("give a slot back");
}

/*
 * The application allocates the storage, as without CUDA. Copies are allowed, for an OpenGL context
 * on another device than CUDA.
 */
static bool share_in_order(struct show *show, size_t size)
{
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    glGenBuffers(1, &show->buffer);
    glBindBuffer(GL_ARRAY_BUFFER, show->buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
    show->array = particles_view_array(show->buffer);
    show->sparks = gr_from_gl_buffer_with(show->buffer, GR_WRITE_DISCARD, &any);
    return show->sparks || failed_to("share a buffer with CUDA");
}

static bool share_in_flight(struct show *show, size_t size, int in_flight)
{
    unsigned names[SESSION_SLOTS];
    show->ring = session_ring(size, in_flight, GR_TRANSPORT_ANY, names, &show->transport);
    for (; show->ring && show->slots < in_flight; show->slots++)
        show->arrays[show->slots] = particles_view_array(names[show->slots]);
    return show->ring;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static bool step(struct show *show)
{
    return options.in_order ? frame_in_order(show) : frame_in_flight(show);
}

static bool draw_picture(void *user, float time, const char *path)
{
    struct show *show = user;
    (void)time; /* each frame is one step of the particles */
    if (!step(show))
        return false;
    offscreen_read(&show->view.target, show->pixels);
    return png_file_write(path, options.width, options.height, show->pixels);
}

static bool make_pictures(struct show *show)
{
    /* The frames before the first picture. They are not written, but their trails are drawn. */
    enum { BEFORE = 24 };
    char stem[PATH_MAX];
    const struct output_sequence pictures = {
        .output = stem, .width = options.width, .height = options.height, .frames = options.frames};
    if (mkdir(options.output, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "Cannot create the directory %s: %s\n", options.output, strerror(errno));
        return false;
    }
    snprintf(stem, sizeof(stem), "%s/particles.png", options.output);
    for (int i = 0; i < BEFORE; i++)
        if (!step(show))
            return false;
    return output_sequence(&pictures, draw_picture, show);
}

/* ---- Frames per second ----------------------------------------------------------------------- */

static bool wait_for_all(const struct show *show)
{
    glFinish();
    return session_finish(&show->session);
}

static bool measure(struct show *show, frame_fn frame, int frames, double *rate)
{
    for (int i = 0; i < frames / 4 + 1; i++)
        if (!frame(show))
            return false;
    if (!wait_for_all(show))
        return false;
    const double begin = clock_seconds();
    for (int i = 0; i < frames; i++)
        if (!frame(show))
            return false;
    if (!wait_for_all(show))
        return false;
    *rate = frames / (clock_seconds() - begin);
    return true;
}

static bool measure_both(struct show *show, int frames)
{
    double in_order = 0, in_flight = 0;
    if (!measure(show, frame_in_order, frames, &in_order) ||
        !measure(show, frame_in_flight, frames, &in_flight))
        return false;
    printf("in order   %8.1f frames per second (one buffer, %s)\n", in_order,
           transport_name(gr_resource_get_info(show->sparks)->transport));
    printf("in flight  %8.1f frames per second (%d buffers in a ring, %s): %.2f times as many\n",
           in_flight, show->slots, transport_name(show->transport), in_flight / in_order);
    return true;
}

/* ---- The program ----------------------------------------------------------------------------- */

static bool open_show(struct show *show)
{
    const size_t size = (size_t)options.particles * sizeof(struct spark);
    show->pixels = output_pixels(options.width, options.height);
    if (!show->pixels)
        return false;
    return session_open(&show->session) &&
           particles_view_init(&show->view, options.width, options.height, options.particles) &&
           share_in_order(show, size) && share_in_flight(show, size, options.in_flight) &&
           particles_cuda_open(&show->flow, &show->session, options.particles) &&
           particles_cuda_start(&show->flow);
}

/* In reverse order: a registration ends before its OpenGL object. */
static void close_show(struct show *show)
{
    gr_ring_free(show->ring);
    gr_resource_free(show->sparks);
    particles_cuda_close(&show->flow);
    if (show->buffer != 0) {
        glDeleteVertexArrays(show->slots, show->arrays);
        glDeleteVertexArrays(1, &show->array);
        glDeleteBuffers(1, &show->buffer);
    }
    particles_view_free(&show->view);
    session_close(&show->session);
    free(show->pixels);
}

static const struct option_row rows[] = {
    {"output", 'o', "DIR", "output directory", .text = &options.output},
    {"frames", 'f', "N", "number of pictures, 60 per second; 0: none",
     .whole = {&options.frames, 0, 9999}},
    {"size", 's', "WxH", "their size in pixels", .size = {&options.width, &options.height}},
    {"particles", 'n', "N", "how many", .whole = {&options.particles, 1, 4194304}},
    {"in-flight", 'r', "N", "buffers in the ring", .whole = {&options.in_flight, 1, SESSION_SLOTS}},
    {"measure", 'b', "N", "frames to measure in order and in flight; 0: none",
     .whole = {&options.measured, 0, 1000000}},
    {"in-order", 0, NULL, "make the pictures without the ring; they are identical",
     .flag = &options.in_order},
    {0},
};

int main(int argc, char **argv)
{
    options_read(argc, argv, "particles", rows,
                 "CUDA moves particles in a turbulent flow, OpenGL draws them; several frames are "
                 "in flight between the two. Writes an animation as numbered PNG files and prints "
                 "the frames per second.",
                 OPTIONS_CUDA_NOTES);

    struct show show = {0};
    const bool done = open_show(&show) && (options.frames == 0 || make_pictures(&show)) &&
                      (options.measured == 0 || measure_both(&show, options.measured));
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
