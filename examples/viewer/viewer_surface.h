/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The surface that CUDA computes and OpenGL draws. It is a scene, and the input of the filter
 * scene.
 */
#ifndef VIEWER_SURFACE_H
#define VIEWER_SURFACE_H

#include "examples/support/scene.h"
#include "viewer_scene.h"

struct viewer_surface {
    const struct viewer_stage *stage;
    struct scene scene;
    CUfunction kernel;
    gr_resource *vertices; /* scene.vertex_buffer, registered with CUDA */
};

/* The functions of the scene, which struct viewer_scene describes. */
bool viewer_surface_open(void *surface, struct viewer_stage *stage);
const struct offscreen *viewer_surface_draw(void *surface, const struct viewer_frame *frame,
                                            bool moved);
void viewer_surface_close(void *surface);

#endif
