/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The first scene: the surface of sinewave. CUDA writes the OpenGL vertex buffer in each frame. */
#include "viewer_surface.h"

#include "examples/support/kernel_image.h"

KERNEL_IMAGE(sinewave);

/* The kernel overwrites the whole vertex buffer. */
bool viewer_surface_open(void *scene, struct viewer_stage *stage)
{
    struct viewer_surface *s = scene;
    const int mesh = stage->options->mesh;
    s->stage = stage;
    if (!session_kernel(&stage->session, &sinewave_image, "sinewave", &s->kernel) ||
        !scene_init(&s->scene, mesh, mesh))
        return false;
    s->vertices =
        gr_from_gl_buffer_with(s->scene.vertex_buffer, GR_WRITE_DISCARD, &viewer_any_transport);
    return s->vertices || failed_to("share the vertex buffer with CUDA");
}

/* Writes the vertices. CUDA owns the buffer from gr_map() to the end of the scope. */
static bool write_vertices(const struct viewer_surface *s, float time)
{
    const struct session *session = &s->stage->session;
    GR_AUTO(gr_buffer) *buffer = gr_map(s->vertices, session->stream);
    if (!buffer)
        return failed_to("map the vertex buffer");
    CUdeviceptr vertices = gr_buffer_ptr(buffer);
    int mesh = s->scene.columns;
    void *arguments[] = {&vertices, &mesh, &time};
    return session_launch(session, s->kernel, mesh, mesh, arguments);
}

const struct offscreen *viewer_surface_draw(void *scene, const struct viewer_frame *frame,
                                            bool moved)
{
    const struct viewer_surface *s = scene;
    const struct offscreen *target = &s->stage->target;
    struct view view = scene_view;
    orbit_eye(&frame->orbit, view.target, view.eye);
    if (moved && !write_vertices(s, frame->time))
        return NULL;
    offscreen_bind(target);
    scene_draw(&s->scene, s->scene.surface_array, &view,
               (float)target->width / (float)target->height);
    return target;
}

/* In reverse order: a registration ends before its OpenGL object. */
void viewer_surface_close(void *scene)
{
    struct viewer_surface *s = scene;
    gr_resource_free(s->vertices);
    scene_free(&s->scene);
}

static gr_transport transport_of(const void *scene)
{
    const struct viewer_surface *s = scene;
    return gr_resource_get_info(s->vertices)->transport;
}

const struct viewer_scene viewer_surface = {"surface",           sizeof(struct viewer_surface),
                                            viewer_surface_open, viewer_surface_draw,
                                            transport_of,        viewer_surface_close};
