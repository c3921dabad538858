/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An OpenGL scene of viewer. It shares its resources with CUDA once, in open(). When the window
 * size changes, the scene recreates the resources that have the size of the window.
 */
#ifndef VIEWER_SCENE_H
#define VIEWER_SCENE_H

#include <grinterop/gl.h>

#include "examples/support/offscreen.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"
#include "viewer_gl.h"

/* The objects that all scenes share. */
struct viewer_stage {
    struct session session;
    struct screen screen;
    struct offscreen target; /* a render target of the size of the window */
    const struct viewer_options *options;
};

struct viewer_scene {
    const char *name;
    size_t size; /* the size of the struct of the scene, which is zeroed before open() */

    /* Opens the scene. False after an error, which has been printed; then close() follows. */
    bool (*open)(void *scene, struct viewer_stage *stage);

    /*
     * Draws a frame. Returns the target that holds the frame, often the target of the stage, or
     * NULL after an error. If `moved` is false, the time has not changed since the previous frame
     * of the scene, so CUDA need not run.
     */
    const struct offscreen *(*draw)(void *scene, const struct viewer_frame *frame, bool moved);

    /* How CUDA shares the resource that it writes, for the title. */
    gr_transport (*transport)(const void *scene);

    /* Closes the scene, even one that is partly open. */
    void (*close)(void *scene);
};

extern const struct viewer_scene viewer_surface, viewer_particles, viewer_filter, viewer_tensor;

/*
 * All transports, copies included: OpenGL may run on the CPU, as on a remote desktop, or on another
 * GPU.
 */
static const gr_gl_options viewer_any_transport = {.struct_size = sizeof(gr_gl_options),
                                                   .transports = GR_TRANSPORT_ANY};

#endif
