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
    const struct session *session;
    struct scene scene;
    CUfunction kernel;
    gr_resource *vertices; /* scene.vertex_buffer, registered with CUDA */
};

/* False after an error, which has been printed. viewer_surface_free() cleans up in any case. */
bool viewer_surface_init(struct viewer_surface *surface, struct viewer_stage *stage);
void viewer_surface_free(struct viewer_surface *surface);

/* Draws the surface. If `moved` is false, the vertices stay the same. */
bool viewer_surface_draw(const struct viewer_surface *surface, const struct viewer_frame *frame,
                         bool moved, const struct offscreen *target);

#endif
