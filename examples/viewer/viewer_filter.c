/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The third scene: CUDA filters the surface that OpenGL has drawn, from one texture to another. The
 * left half of the window shows the drawing, the right half the blurred result.
 */
#include "examples/postprocess/postprocess_filter.h"
#include "viewer_surface.h"

enum { RADIUS = 12 };

struct place {
    struct viewer_stage *stage;
    struct viewer_surface surface;
    struct filter filter;
};

/*
 * Resizes the filter. Its textures have the size of the window, so they are recreated and shared
 * again when the window size changes.
 */
static bool fit_filter(struct place *p, int width, int height)
{
    if (p->filter.width == width && p->filter.height == height)
        return true;
    filter_close(&p->filter);
    return filter_open(&p->filter, &p->stage->session, width, height, RADIUS,
                       &viewer_any_transport);
}

static const struct offscreen *draw_scene(void *scene, const struct viewer_frame *frame, bool moved)
{
    struct place *p = scene;
    if (!fit_filter(p, frame->width, frame->height))
        return NULL;
    const struct offscreen *target = viewer_surface_draw(&p->surface, frame, moved);
    if (!target)
        return NULL;
    filter_resolve(&p->filter, target);
    if (!filter_run(&p->filter, FILTER_BLUR))
        return NULL;
    filter_show(&p->filter, &p->stage->screen, target, 50.0f);
    return target;
}

static void close_scene(void *scene)
{
    struct place *p = scene;
    filter_close(&p->filter);
    viewer_surface_close(&p->surface);
}

static bool open_scene(void *scene, struct viewer_stage *stage)
{
    struct place *p = scene;
    p->stage = stage;
    return viewer_surface_open(&p->surface, stage);
}

static gr_transport transport_of(const void *scene)
{
    const struct place *p = scene;
    return gr_resource_get_info(p->filter.shared[FILTER_RESULT])->transport;
}

const struct viewer_scene viewer_filter = {"filter",   sizeof(struct place), open_scene,
                                           draw_scene, transport_of,         close_scene};
