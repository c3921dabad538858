/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe of a ring of OpenGL's buffers: CUDA writes frames, OpenGL copies each to its place in
 * one buffer, which is looked at in the end. No frame waits on the host for another one.
 */
#include "tools/info/probe_opengl_ring.h"

#include <epoxy/gl.h>

#include <grinterop/gl.h>
#include <grinterop/ring.h>

#include "tools/info/make_ring.h"
#include "tools/info/probe_cuda.h"
#include "tools/info/say.h"

static gr_resource *make_slot(void *its)
{
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    (void)its;
    return gr_gl_buffer_create(PROBE_FRAME_BYTES, GR_WRITE_DISCARD, &any);
}

static bool read_frame(struct probe_try *t, gr_ring *ring, size_t frame)
{
    const gr_slot *slot;
    say_step("gr_ring_acquire_read()");
    if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, PROBE_RING_MS) != GR_OK)
        return probe_error(t);
    glBindBuffer(GL_COPY_READ_BUFFER, gr_gl_name(slot->resource));
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0,
                        (GLintptr)(frame * PROBE_FRAME_BYTES), PROBE_FRAME_BYTES);
    say_step("gr_ring_give_back()");
    return gr_ring_give_back(ring, &slot, 1) == GR_OK || probe_error(t);
}

bool probe_opengl_ring(struct probe_try *t)
{
    GLuint all = 0;
    bool good = true;
    say_step("the making of the ring");
    gr_ring *ring = make_ring(PROBE_SLOTS, make_slot, NULL);
    if (!ring)
        return probe_not_made(t);
    probe_pattern(t, 0);
    glGenBuffers(1, &all);
    glBindBuffer(GL_COPY_WRITE_BUFFER, all);
    glBufferData(GL_COPY_WRITE_BUFFER, PROBE_BUFFER_BYTES, NULL, GL_DYNAMIC_DRAW);
    for (size_t i = 0; good && i < PROBE_FRAMES + PROBE_AHEAD; i++)
        good = (i >= PROBE_FRAMES || probe_write_frame(t, ring, i)) &&
               (i < PROBE_AHEAD || read_frame(t, ring, i - PROBE_AHEAD));
    say_step("glGetBufferSubData()");
    if (good)
        glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, PROBE_BUFFER_BYTES, t->got);
    good = good && probe_same(t, "OpenGL", "CUDA", PROBE_BUFFER_BYTES);
    say_step("the end of the ring");
    gr_ring_free(ring);
    glDeleteBuffers(1, &all);
    return good;
}
