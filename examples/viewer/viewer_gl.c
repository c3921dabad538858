/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The window has a GLX or EGL context, and CUDA computes on the device that draws to the window. */
#include "viewer_gl.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "viewer_scene.h"

static const struct viewer_scene *const scenes[] = {&viewer_surface, &viewer_particles,
                                                    &viewer_filter, &viewer_tensor};

enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

struct viewer_gl {
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

bool viewer_gl_draw(struct viewer_gl *r, const struct viewer_frame *frame)
{
    const struct viewer_scene *scene = scenes[frame->scene];
    void **opened = &r->opened[frame->scene];
    r->last = frame->scene;
    if (!fit_target(&r->stage.target, frame->width, frame->height))
        return false;
    const bool moved = !*opened || r->times[frame->scene] != frame->time;
    if (!*opened)
        *opened = open_scene(scene, &r->stage);
    const struct offscreen *drawn = *opened ? scene->draw(*opened, frame, moved) : NULL;
    r->times[frame->scene] = frame->time;
    if (!drawn)
        return false;
    if (frame->pixels)
        offscreen_read(drawn, frame->pixels);
    offscreen_show(drawn);
    glfwSwapBuffers(r->glfw);

    /* Reports kernels that failed. Kernels that still run are no error. */
    const CUresult result = r->stage.session.cuda->StreamQuery(r->stage.session.stream);
    return result == CUDA_ERROR_NOT_READY || cuda_ok(result, "run the kernels");
}

void viewer_gl_describe(const struct viewer_gl *r, char *text, size_t size)
{
    const gr_transport transport = scenes[r->last]->transport(r->opened[r->last]);
    snprintf(text, size, "%s, OpenGL by %s", transport_name(transport), r->interface);
}

/* Frees everything in reverse order. The OpenGL context ends with the window. */
void viewer_gl_close(struct viewer_gl *r)
{
    if (!r)
        return;
    for (int i = 0; i < SCENES; i++)
        if (r->opened[i]) {
            scenes[i]->close(r->opened[i]);
            free(r->opened[i]);
        }
    screen_free(&r->stage.screen);
    offscreen_free(&r->stage.target);
    session_close(&r->stage.session);
    free(r);
}

struct viewer_gl *viewer_gl_open(const struct viewer_window *window,
                                 const struct viewer_options *options)
{
    struct viewer_gl *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->glfw = window->glfw;
    r->stage.options = options;
    r->interface = eglGetCurrentContext() != EGL_NO_CONTEXT ? "EGL" : "GLX";
    if (session_open_current(&r->stage.session) && screen_init(&r->stage.screen)) {
        printf("OpenGL   %s by %s, on %s\n", (const char *)glGetString(GL_VERSION), r->interface,
               (const char *)glGetString(GL_RENDERER));
        return r;
    }
    viewer_gl_close(r);
    return NULL;
}

const char *const viewer_scenes[] = {"surface", "particles", "filter", "tensor", NULL};
