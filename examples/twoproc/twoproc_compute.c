/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The computing process of twoproc: it uses CUDA without OpenGL and writes to buffers that the
 * other process created.
 */
#include "twoproc.h"

#include <stdio.h>
#include <unistd.h>

#include <grinterop/share.h>

#include "examples/support/kernel_image.h"
#include "examples/support/session.h"

KERNEL_IMAGE(sinewave);

struct computer {
    struct session session;
    CUfunction kernel;
    gr_ring *ring; /* the ring, which owns the socket once it is received */
};

static bool open_computer(struct computer *c, int socket)
{
    if (!session_open_cuda(&c->session) ||
        !session_kernel(&c->session, &sinewave_image, "sinewave", &c->kernel))
        return false;
    c->ring = gr_ring_receive(socket, NULL, 0, NULL, 20000);
    return c->ring || failed_to("receive the ring");
}

/* Computes a frame. Waits for a free slot: the other process may still draw earlier frames. */
static bool compute_frame(struct computer *c, const struct twoproc_options *options)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(c->ring, c->session.stream, &slot, 1, 20000) != GR_OK)
        return failed_to("acquire a slot to write to");
    CUdeviceptr vertices = gr_buffer_ptr(slot->buffer);
    int mesh = options->mesh;
    float time = (float)(slot->frame - 1) / 30.0f;
    void *arguments[] = {&vertices, &mesh, &time};
    if (!session_launch(&c->session, c->kernel, mesh, mesh, arguments)) {
        gr_ring_cancel_write(c->ring, &slot, 1);
        return false;
    }
    return gr_ring_hand_over(c->ring, &slot, 1) == GR_OK || failed_to("hand a frame over");
}

static void close_computer(struct computer *c)
{
    if (c->session.stream)
        c->session.cuda->StreamSynchronize(c->session.stream);
    gr_ring_free(c->ring);
    session_close(&c->session);
}

bool twoproc_compute(const struct twoproc_options *options, int socket)
{
    struct computer computer = {.ring = NULL};
    bool done = open_computer(&computer, socket);
    if (!done)
        close(socket); /* Closes the socket, so that the other process does not wait. */
    for (int i = 0; done && i < options->frames; i++)
        done = compute_frame(&computer, options);
    close_computer(&computer);
    return done;
}
