/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The drawing process of twoproc: it creates the vertex buffers, sends them as a ring, and draws
 * the frames that it receives. If the other process crashes, the last frame can still be drawn.
 */
#include "twoproc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <grinterop/gl.h>
#include <grinterop/share.h>

#include "examples/support/offscreen.h"
#include "examples/support/output.h"
#include "examples/support/scene.h"
#include "examples/support/session.h"
#include "examples/support/vertex.h"

/* The number of frames in flight. */
enum { SLOTS = 4 };

struct drawer {
    struct session session;
    struct scene scene;
    struct offscreen target;
    gr_ring *ring;
    unsigned arrays[SLOTS]; /* arrays[i] draws slot i of the ring */
    bool shared;
    unsigned char *pixels;
};

/* ---- The ring -------------------------------------------------------------------------------- */

/* Only shared storage can be sent to another process. */
static bool make_ring(struct drawer *d, int mesh)
{
    gr_transport transport;
    unsigned names[SLOTS];
    const size_t size = (size_t)mesh * (size_t)mesh * sizeof(struct vertex);
    d->ring = session_ring(size, SLOTS, GR_TRANSPORT_SHARED, names, &transport);
    for (int i = 0; d->ring && i < SLOTS; i++)
        d->arrays[i] = scene_array(&d->scene, names[i]);
    return d->ring;
}

/*
 * Sends the ring. From then on this process only reads from the ring, and the other process only
 * writes.
 */
static bool share_ring(struct drawer *d, int socket)
{
    d->shared = gr_ring_send(socket, d->ring, GR_RING_CONSUMER, NULL, 0, 20000) == GR_OK;
    return d->shared || failed_to("send the ring to the other process");
}

/* ---- Drawing --------------------------------------------------------------------------------- */

/*
 * Draws the next frame. If the other process has died, the frames that it handed over can still be
 * drawn.
 */
static gr_status draw_frame(struct drawer *d)
{
    const gr_slot *slot;
    gr_status status = gr_ring_acquire_read(d->ring, GR_STREAM_NONE, &slot, 1, 20000);
    if (status != GR_OK)
        return status;
    offscreen_bind(&d->target);
    scene_draw(&d->scene, d->arrays[slot->index], &scene_view,
               (float)d->target.width / (float)d->target.height);
    return gr_ring_give_back(d->ring, &slot, 1);
}

/*
 * Draws all frames. --kill takes effect when half of the frames are drawn and the next frames are
 * being computed.
 */
static bool draw_all(struct drawer *d, const struct twoproc_options *options, pid_t computer)
{
    gr_status status = GR_OK;
    int drawn = 0;
    while (drawn < options->frames && status == GR_OK) {
        if (options->kill && drawn == options->frames / 2) {
            printf("Killing the computing process after %d of %d frames.\n", drawn,
                   options->frames);
            kill(computer, SIGKILL);
        }
        status = draw_frame(d);
        drawn += status == GR_OK;
    }
    printf("Drawn    %d frames of the other process\n", drawn);
    if (status == GR_OK)
        return true;
    failed_to("draw another frame");
    return options->kill && status == GR_ERR_SYSTEM && drawn > 0;
}

static bool write_picture(struct drawer *d, const char *path)
{
    offscreen_read(&d->target, d->pixels);
    return output_picture(path, d->target.width, d->target.height, d->pixels);
}

/* ---- The process ----------------------------------------------------------------------------- */

static bool open_drawer(struct drawer *d, const struct twoproc_options *options)
{
    d->pixels = output_pixels(options->width, options->height);
    if (!d->pixels)
        return false;
    return session_open(&d->session) &&
           offscreen_init(&d->target, options->width, options->height) &&
           scene_init(&d->scene, options->mesh, options->mesh) && make_ring(d, options->mesh);
}

static void close_drawer(struct drawer *d)
{
    gr_ring_free(d->ring);
    scene_free(&d->scene);
    offscreen_free(&d->target);
    session_close(&d->session);
    free(d->pixels);
}

bool twoproc_draw(const struct twoproc_options *options, int socket, pid_t computer)
{
    struct drawer drawer = {.shared = false};
    bool done = open_drawer(&drawer, options) && share_ring(&drawer, socket);
    if (!drawer.shared)
        close(socket);
    done = done && draw_all(&drawer, options, computer) && write_picture(&drawer, options->output);
    close_drawer(&drawer);
    return done;
}
