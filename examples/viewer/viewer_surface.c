/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The first scene: the surface of sinewave. CUDA writes the OpenGL vertex buffer in each frame. */
#include "viewer_surface.h"

#include "examples/support/kernel_image.h"

KERNEL_IMAGE(sinewave);

/* The kernel overwrites the whole vertex buffer. */
bool viewer_surface_init(struct viewer_surface *s, struct viewer_stage *stage)
{
    const int mesh = stage->options->mesh;
    s->session = &stage->session;
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
    GR_AUTO(gr_buffer) *buffer = gr_map(s->vertices, s->session->stream);
    if (!buffer)
        return failed_to("map the vertex buffer");
    CUdeviceptr vertices = gr_buffer_ptr(buffer);
    int mesh = s->scene.columns;
    void *arguments[] = {&vertices, &mesh, &time};
    return session_launch(s->session, s->kernel, mesh, mesh, arguments);
}

bool viewer_surface_draw(const struct viewer_surface *s, const struct viewer_frame *frame,
                         bool moved, const struct offscreen *target)
{
    struct view view = {
        .eye = {1.35f, 1.45f, 2.6f},
        .target = {0.04f, -0.14f, 0.08f},
        .light = {-0.75f, 0.65f, -0.35f},
        .angle = 36.0f,
    };
    orbit_eye(&frame->orbit, view.target, view.eye);
    if (moved && !write_vertices(s, frame->time))
        return false;
    offscreen_bind(target);
    scene_draw(&s->scene, &view, (float)target->width / (float)target->height);
    return true;
}

/*
 * Frees everything in reverse order: the registration must end before the OpenGL buffer is deleted.
 */
void viewer_surface_free(struct viewer_surface *s)
{
    gr_resource_free(s->vertices);
    scene_free(&s->scene);
}

/* ---- The scene ------------------------------------------------------------------------------- */

struct place {
    struct viewer_surface surface;
    const struct offscreen *target;
};

static void close_scene(void *scene)
{
    struct place *p = scene;
    viewer_surface_free(&p->surface);
}

static bool open_scene(void *scene, struct viewer_stage *stage)
{
    struct place *p = scene;
    p->target = &stage->target;
    return viewer_surface_init(&p->surface, stage);
}

static const struct offscreen *draw_scene(void *scene, const struct viewer_frame *frame, bool moved)
{
    struct place *p = scene;
    return viewer_surface_draw(&p->surface, frame, moved, p->target) ? p->target : NULL;
}

static const gr_resource *shared(const void *scene)
{
    const struct place *p = scene;
    return p->surface.vertices;
}

const struct viewer_scene viewer_surface = {"surface", sizeof(struct place), open_scene, draw_scene,
                                            shared,    close_scene};
