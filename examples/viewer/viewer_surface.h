/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The surface that CUDA computes and OpenGL draws: a scene of its own, and what another one
 * filters.
 */
#ifndef VIEWER_SURFACE_H
#define VIEWER_SURFACE_H

#include "examples/support/scene.h"
#include "viewer_scene.h"

struct viewer_surface {
    const struct session *session;
    struct scene scene;
    CUmodule module;
    CUfunction kernel;
    gr_resource *vertices; /* scene.vertex_buffer, as CUDA knows it */
};

/* False after an error, which has been printed. Either way viewer_surface_free() cleans up. */
bool viewer_surface_init(struct viewer_surface *surface, const struct viewer_stage *stage);
void viewer_surface_free(struct viewer_surface *surface);

/* Not `moved`: with the vertices as they are. */
bool viewer_surface_draw(const struct viewer_surface *surface, const struct viewer_frame *frame,
                         bool moved, const struct offscreen *target);

#endif
