/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The second scene: particles, with several frames in flight. CUDA writes the next slot of a ring
 * while OpenGL draws the previous one. Pausing the time pauses the particles.
 */
#include <epoxy/gl.h>

#include "examples/particles/particles.h"
#include "examples/particles/particles_cuda.h"
#include "examples/particles/particles_view.h"
#include "viewer_scene.h"

/* BEFORE is the number of frames computed before the first visible one, for its trails. */
enum { SLOTS = 4, BEFORE = 24 };

struct place {
    struct particles_cuda flow;
    struct particles_view view;
    gr_ring *ring;
    gr_transport transport;
    unsigned arrays[SLOTS]; /* arrays[i] draws slot i of the ring */
};

static bool make_ring(struct place *p)
{
    unsigned names[SLOTS];
    const size_t size = (size_t)p->flow.count * sizeof(struct spark);
    p->ring = session_ring(size, SLOTS, GR_TRANSPORT_ANY, names, &p->transport);
    for (int i = 0; p->ring && i < SLOTS; i++)
        p->arrays[i] = particles_view_array(names[i]);
    return p->ring;
}

static bool write_sparks(struct place *p)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(p->ring, p->flow.session->stream, &slot, 1, 0) != GR_OK)
        return failed_to("acquire a slot to write to");
    if (!particles_cuda_advance(&p->flow, gr_buffer_ptr(slot->buffer))) {
        gr_ring_cancel_write(p->ring, &slot, 1);
        return false;
    }
    return gr_ring_hand_over(p->ring, &slot, 1) == GR_OK || failed_to("hand a frame over");
}

static bool draw_sparks(struct place *p)
{
    const gr_slot *slot;
    if (gr_ring_acquire_read(p->ring, GR_STREAM_NONE, &slot, 1, 0) != GR_OK)
        return failed_to("acquire a frame to draw");
    particles_view_draw(&p->view, p->arrays[slot->index], particles_cuda_time(&p->flow));
    return gr_ring_give_back(p->ring, &slot, 1) == GR_OK || failed_to("give a slot back");
}

static bool draw_frame(struct place *p)
{
    return write_sparks(p) && draw_sparks(p);
}

/* Recreates the view when the size of the window changes. The new view has no trails. */
static bool fit_view(struct place *p, int width, int height)
{
    if (p->view.width == width && p->view.height == height)
        return true;
    particles_view_free(&p->view);
    if (!particles_view_init(&p->view, width, height, p->flow.count))
        return false;
    for (int i = 0; i < BEFORE; i++)
        if (!draw_frame(p))
            return false;
    return true;
}

static const struct offscreen *draw_scene(void *scene, const struct viewer_frame *frame, bool moved)
{
    struct place *p = scene;
    p->view.orbit = frame->orbit;
    if (!fit_view(p, frame->width, frame->height) || (moved && !draw_frame(p)))
        return NULL;
    return &p->view.target;
}

static void close_scene(void *scene)
{
    struct place *p = scene;
    gr_ring_free(p->ring);
    glDeleteVertexArrays(SLOTS, p->arrays);
    particles_view_free(&p->view);
    particles_cuda_close(&p->flow);
}

static bool open_scene(void *scene, struct viewer_stage *stage)
{
    struct place *p = scene;
    return particles_cuda_open(&p->flow, &stage->session, stage->options->particles) &&
           particles_cuda_start(&p->flow) && make_ring(p);
}

static gr_transport transport_of(const void *scene)
{
    const struct place *p = scene;
    return p->transport;
}

const struct viewer_scene viewer_particles = {"particles", sizeof(struct place), open_scene,
                                              draw_scene,  transport_of,         close_scene};
