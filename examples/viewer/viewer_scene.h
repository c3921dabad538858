/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An OpenGL scene of viewer. It shares its resources with CUDA once, in open(), and recreates those
 * of window size when that changes.
 */
#ifndef VIEWER_SCENE_H
#define VIEWER_SCENE_H

#include <grinterop/gl.h>

#include "examples/support/offscreen.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"
#include "viewer_renderer.h"

/* Shared by all scenes. */
struct viewer_stage {
    struct session session;
    struct screen screen;
    struct offscreen target; /* of window size */
    const struct viewer_options *options;
};

struct viewer_scene {
    const char *name;
    size_t size; /* of the scene, zeroed before open() */

    /* False after an error, which has been printed; then close() follows. */
    bool (*open)(void *scene, struct viewer_stage *stage);

    /*
     * Returns where it has drawn the frame, often the target of the stage; NULL after an error. If
     * not `moved`, the time is that of the previous frame of the scene, so CUDA need not run.
     */
    const struct offscreen *(*draw)(void *scene, const struct viewer_frame *frame, bool moved);

    /* A resource that CUDA writes. */
    const gr_resource *(*shared)(const void *scene);

    /* Accepts a partly opened scene. */
    void (*close)(void *scene);
};

extern const struct viewer_scene viewer_surface, viewer_particles, viewer_filter, viewer_tensor;

/* Includes copies: OpenGL may run on the CPU, as on a remote desktop, or on another GPU. */
static const gr_gl_options viewer_any_transport = {.struct_size = sizeof(gr_gl_options),
                                                   .transports = GR_TRANSPORT_ANY};

#endif
