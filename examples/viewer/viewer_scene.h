/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene of the viewer's in OpenGL. What it shares with CUDA it makes once, in open(); what has
 * the window's size it makes anew where that has changed.
 */
#ifndef VIEWER_SCENE_H
#define VIEWER_SCENE_H

#include <grinterop/gl.h>

#include "examples/support/offscreen.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"
#include "viewer_renderer.h"

/* What all scenes use. */
struct viewer_stage {
    struct session session;
    struct screen screen;
    struct offscreen target; /* has the window's size */
    const struct viewer_options *options;
};

struct viewer_scene {
    const char *name;

    /* NULL after an error, which has been printed. */
    void *(*open)(const struct viewer_stage *stage);

    /*
     * Where it has drawn the frame: often the stage's target. Not `moved`: the time is that of the
     * scene's frame before, so that CUDA has nothing to do. NULL after an error.
     */
    const struct offscreen *(*draw)(void *scene, const struct viewer_frame *frame, bool moved);

    /* One of the resources that CUDA writes. */
    const gr_resource *(*shared)(const void *scene);

    /* NULL is fine. */
    void (*close)(void *scene);
};

extern const struct viewer_scene viewer_surface, viewer_particles, viewer_filter, viewer_tensor;

/*
 * By copy, too: the window's OpenGL may be the processor's, as on a remote desktop, or another
 * GPU's.
 */
static const gr_gl_options viewer_any_transport = {.struct_size = sizeof(gr_gl_options),
                                                   .transports = GR_TRANSPORT_ANY};

#endif
