/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL renderer of viewer. The window has a GLX or EGL context, and CUDA computes on the
 * device that draws to the window.
 */
#include "viewer_renderer.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "examples/support/transport.h"
#include "viewer_scene.h"

static const struct viewer_scene *const scenes[] = {&viewer_surface, &viewer_particles,
                                                    &viewer_filter, &viewer_tensor};

enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

struct renderer {
    GLFWwindow *glfw;
    struct viewer_stage stage;
    void *opened[SCENES]; /* the state of each scene; NULL until the scene is first shown */
    float times[SCENES];  /* the scene time of each scene's last frame */
    int last;             /* the scene drawn last */
    const char *interface;
};

static bool fit_target(struct offscreen *target, int width, int height)
{
    if (target->width == width && target->height == height)
        return true;
    offscreen_free(target);
    return offscreen_init(target, width, height);
}

/* Opens a scene. NULL after an error, which has been printed. */
static void *open_scene(const struct viewer_scene *scene, struct viewer_stage *stage)
{
    void *place = calloc(1, scene->size);
    if (!place || scene->open(place, stage))
        return place;
    scene->close(place);
    free(place);
    return NULL;
}

static enum viewer_drawn draw(void *renderer, const struct viewer_frame *frame)
{
    struct renderer *r = renderer;
    const struct viewer_scene *scene = scenes[frame->scene];
    void **opened = &r->opened[frame->scene];
    r->last = frame->scene;
    if (!fit_target(&r->stage.target, frame->width, frame->height))
        return VIEWER_FAILED;
    const bool moved = !*opened || r->times[frame->scene] != frame->time;
    if (!*opened)
        *opened = open_scene(scene, &r->stage);
    const struct offscreen *drawn = *opened ? scene->draw(*opened, frame, moved) : NULL;
    r->times[frame->scene] = frame->time;
    if (!drawn)
        return VIEWER_FAILED;
    if (frame->pixels)
        offscreen_read(drawn, frame->pixels);
    offscreen_show(drawn);
    glfwSwapBuffers(r->glfw);

    /* Reports kernels that failed. Kernels that still run are no error. */
    const CUresult result = r->stage.session.cuda->StreamQuery(r->stage.session.stream);
    const bool fine = result == CUDA_ERROR_NOT_READY || cuda_ok(result, "run the kernels");
    return fine ? VIEWER_SHOWN : VIEWER_FAILED;
}

static void describe(const void *renderer, char *text, size_t size)
{
    const struct renderer *r = renderer;
    const gr_resource *shared = scenes[r->last]->shared(r->opened[r->last]);
    snprintf(text, size, "%s, OpenGL by %s",
             transport_name(gr_resource_get_info(shared)->transport), r->interface);
}

/* Frees everything in reverse order. The OpenGL context ends with the window. */
static bool close_renderer(void *renderer)
{
    struct renderer *r = renderer;
    if (!r)
        return true;
    for (int i = 0; i < SCENES; i++)
        if (r->opened[i]) {
            scenes[i]->close(r->opened[i]);
            free(r->opened[i]);
        }
    screen_free(&r->stage.screen);
    offscreen_free(&r->stage.target);
    session_close(&r->stage.session);
    free(r);
    return true;
}

static void introduce(const struct renderer *r)
{
    printf("OpenGL   %s by %s, on %s\n", (const char *)glGetString(GL_VERSION), r->interface,
           (const char *)glGetString(GL_RENDERER));
}

static void *open_renderer(const struct viewer_window *window, const struct viewer_options *options)
{
    struct renderer *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->glfw = window->glfw;
    r->stage.options = options;
    r->interface = eglGetCurrentContext() != EGL_NO_CONTEXT ? "EGL" : "GLX";
    if (session_open_current(&r->stage.session) && screen_init(&r->stage.screen)) {
        introduce(r);
        return r;
    }
    close_renderer(r);
    return NULL;
}

static const char *const names[] = {"surface", "particles", "filter", "tensor", NULL};

const struct viewer_renderer viewer_gl = {names, open_renderer, draw, describe, close_renderer};
