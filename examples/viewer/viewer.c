/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * viewer: shows what CUDA computes live in a GLFW window, on X11 or Wayland. OpenGL draws the
 * result in a GLX or EGL context. The title shows the frame time and the transport; keys change the
 * scene and write stills, the mouse rotates and zooms.
 *
 *     build/examples/viewer/viewer   --help lists the keys
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "examples/support/clock.h"
#include "examples/support/output.h"
#include "examples/support/png_file.h"
#include "tools/options.h"
#include "viewer_gl.h"

/* With --frames, the time from one frame to the next, in seconds. */
static const double STEP = 1.0 / 60.0;

struct show {
    const struct viewer_options *options;
    struct viewer_gl *gl;
    struct viewer_window window;
    struct viewer_frame frame;
    double time;  /* the time in the scene, in seconds */
    double clock; /* the start of the last frame, by clock_seconds() */
    int frames, stills;

    /* the frames and the time since the title was last written */
    double titled;
    int counted;
};

/* Selects the scene of a number key, if it exists. */
static void choose_scene(struct show *show)
{
    const unsigned number = show->window.number;
    for (unsigned i = 0; viewer_scenes[i]; i++)
        if (i + 1 == number)
            show->frame.scene = (int)i;
}

static void move_time(struct show *show)
{
    const double last = show->clock;
    show->clock = clock_seconds();
    if (!show->window.paused && show->frames > 0 && show->options->frames == 0)
        show->time += show->clock - last;
    show->frame.time = (float)show->time;
}

static bool write_still(struct show *show)
{
    char path[PATH_MAX];
    const struct viewer_frame *frame = &show->frame;
    const char *name = show->options->still;
    if (show->options->frames == 0) {
        if (!output_numbered(path, sizeof(path), name, ++show->stills))
            return false;
        name = path;
    }
    if (!png_file_write(name, frame->width, frame->height, frame->pixels))
        return false;
    output_report(name, frame->width, frame->height);
    fflush(stdout);
    return true;
}

/* Called after the window has shown a frame. */
static bool end_frame(struct show *show, bool last)
{
    show->frames++;
    if (!show->window.paused && show->options->frames > 0)
        show->time += STEP;
    show->window.ended = show->window.ended || last;
    if (!show->frame.pixels)
        return true;
    show->window.still = false;
    return write_still(show);
}

static bool draw_frame(struct show *show)
{
    struct viewer_frame *frame = &show->frame;
    const bool last = show->frames + 1 == show->options->frames;
    const bool still = show->window.still || last;
    frame->width = show->window.width;
    frame->height = show->window.height;
    frame->orbit = show->window.orbit;
    frame->pixels = still ? output_pixels(frame->width, frame->height) : NULL;
    const bool done =
        (frame->pixels || !still) && viewer_gl_draw(show->gl, frame) && end_frame(show, last);
    free(frame->pixels);
    return done;
}

/* Writes the title, twice a second: the mean frame time since the last title. */
static void write_title(struct show *show)
{
    const double passed = show->clock - show->titled;
    char pace[32] = "paused", how[128] = "", title[256];
    show->counted++;
    if (show->frames > 1 && passed < 0.5)
        return;
    if (!show->window.paused)
        snprintf(pace, sizeof(pace), "%.1f ms per frame", 1000.0 * passed / show->counted);
    viewer_gl_describe(show->gl, how, sizeof(how));
    snprintf(title, sizeof(title), "%s, %s, %s", viewer_scenes[show->frame.scene], pace, how);
    glfwSetWindowTitle(show->window.glfw, title);
    show->titled = show->clock;
    show->counted = 0;
}

static bool run(struct show *show)
{
    show->clock = show->titled = clock_seconds();
    while (viewer_window_poll(&show->window), !show->window.ended) {
        choose_scene(show);
        move_time(show);
        if (!draw_frame(show))
            return false;
        write_title(show);
    }
    if (show->frames >= show->options->frames)
        return true;
    fprintf(stderr, "The window was closed after %d of %d frames: no still was written.\n",
            show->frames, show->options->frames);
    return false;
}

static bool open_show(struct show *show)
{
    const struct viewer_options *o = show->options;
    if (!viewer_window_open(&show->window, (enum viewer_api)o->api, o->width, o->height,
                            o->borderless))
        return false;
    show->window.paused = o->paused;
    show->time = o->time;
    show->frame.scene = o->scene;
    show->gl = viewer_gl_open(&show->window, o);
    return show->gl;
}

static void read_options(int argc, char **argv, struct viewer_options *o)
{
    static const char *const apis[] = {[VIEWER_NATIVE] = "native", [VIEWER_EGL] = "egl", NULL};
    const struct option_row rows[] = {
        {"scene", 0, "NAME", "initial scene: surface (default), particles, filter or tensor",
         .choice = {&o->scene, viewer_scenes}},
        {"context", 'c', "NAME", "OpenGL context: native (default) or egl; on X11 native is GLX",
         .choice = {&o->api, apis}},
        {"size", 's', "WxH", "of the window", .size = {&o->width, &o->height}},
        {"borderless", 'b', NULL, "a window without a frame", .flag = &o->borderless},
        {"mesh", 'm', "N", "vertices along each side of the surface", .whole = {&o->mesh, 2, 2048}},
        {"particles", 'n', "N", "how many", .whole = {&o->particles, 1, 4194304}},
        {"tensor", 0, "WxH", "size of the tensor", .size = {&o->tensor_width, &o->tensor_height}},
        {"time", 't', "T", "initial time, in seconds", .real = {&o->time, -1000, 1000}},
        {"paused", 'p', NULL, "start paused", .flag = &o->paused},
        {"frames", 'f', "N", "exit after N frames, 60 per second of the scene, and write a still",
         .whole = {&o->frames, 1, 1000000}},
        {"still", 'o', "FILE", "the still of --frames; the key s writes FILE-0001.png and so on",
         .text = &o->still},
        {0},
    };
    options_read(argc, argv, "viewer", rows,
                 "Shows in a window what CUDA writes and OpenGL draws. Keys: 1 to 4 choose the "
                 "scene, space pauses, s writes a still, r resets the view, q quits. Drag with the "
                 "left mouse button to rotate; the wheel zooms.",
                 "CUDA computes on the device that draws the window. Without a GPU, or with "
                 "GR_CUDA_DRIVER=soft in the environment, it uses the software CUDA driver.");
}

int main(int argc, char **argv)
{
    struct viewer_options options = {.width = 1280,
                                     .height = 720,
                                     .mesh = 512,
                                     .particles = 131072,
                                     .tensor_width = 1920,
                                     .tensor_height = 1080,
                                     .still = "viewer.png"};
    const char *still = options.still;
    read_options(argc, argv, &options);
    /* Without --frames the user may never request a still, so the default output is not checked. */
    if ((options.frames > 0 || options.still != still) && !output_is_writable(options.still))
        return EXIT_FAILURE;

    struct show show = {.options = &options};
    const bool done = open_show(&show) && run(&show);
    viewer_gl_close(show.gl);
    viewer_window_close(&show.window);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
