/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The renderer of one rank. A ring connects CUDA and OpenGL (compute(), draw()); persistently
 * mapped buffers with fences connect OpenGL and the writers (collect()).
 */
#define _GNU_SOURCE
#include "farm_render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>
#include <grinterop/gl.h>
#include <grinterop/ring.h>

#include "farm_writers.h"
#include "examples/support/kernel_image.h"
#include "examples/support/offscreen.h"
#include "examples/support/scene.h"
#include "examples/support/session.h"
#include "examples/support/vertex.h"

KERNEL_IMAGE(farm);

/* A picture that OpenGL has drawn or a writer reads. */
struct picture {
    int frame;
    unsigned buffer;
    const unsigned char *pixels; /* the pixels in the persistently mapped buffer */
    /* the fence after drawing; NULL if OpenGL does not use the picture */
    GLsync fence;
    bool busy; /* whether a writer reads the picture */
};

struct farm_render {
    struct farm_options options;
    struct farm_writers *writers;
    struct session session;
    struct scene scene;
    struct offscreen target;
    CUfunction kernel;

    gr_ring *ring;
    unsigned arrays[FARM_MOST_IN_FLIGHT]; /* arrays[i] draws slot i of the ring */

    struct picture pictures[FARM_MOST_IN_FLIGHT];
    /* the frames drawn and collected so far; modulo in_flight, the indices of the next pictures */
    unsigned drawn, collected;
};

/*
 * An unmapped address. It is aligned and not NULL, since a sanitizer would stop the kernel
 * otherwise.
 */
enum { NOWHERE = 16 };

/* ---- A frame --------------------------------------------------------------------------------- */

static bool launch(struct farm_render *r, CUdeviceptr vertices, int frame)
{
    float time = (float)frame / 30.0f;
    void *arguments[] = {&vertices, &r->options.mesh, &r->options.work, &time};
    return session_launch(&r->session, r->kernel, r->options.mesh, r->options.mesh, arguments);
}

static bool compute(struct farm_render *r, int frame)
{
    const gr_slot *slot;
    if (gr_ring_acquire_write(r->ring, r->session.stream, &slot, 1, 0) != GR_OK)
        return failed_to("acquire a slot to write to");
    const CUdeviceptr vertices = frame == r->options.broken ? NOWHERE : gr_buffer_ptr(slot->buffer);
    if (!launch(r, vertices, frame)) {
        gr_ring_cancel_write(r->ring, &slot, 1);
        return false;
    }
    return gr_ring_hand_over(r->ring, &slot, 1) == GR_OK || failed_to("hand a frame over");
}

/* The camera at a frame. It circles the sea once a minute, at 30 frames per second. */
static struct view view_of(int frame)
{
    const float angle = 0.5f + 6.2831853f * (float)(frame % 1800) / 1800.0f;
    return (struct view){
        .eye = {2.1f * sinf(angle), 0.85f, 2.1f * cosf(angle)},
        .target = {0.0f, -0.10f, 0.0f},
        .light = {-0.75f, 0.55f, -0.35f},
        .angle = 38.0f,
    };
}

static bool draw(struct farm_render *r, int frame)
{
    const gr_slot *slot;
    const struct view view = view_of(frame);
    if (gr_ring_acquire_read(r->ring, GR_STREAM_NONE, &slot, 1, 0) != GR_OK)
        return failed_to("acquire a frame to draw");
    offscreen_bind(&r->target);
    scene_draw(&r->scene, r->arrays[slot->index], &view,
               (float)r->target.width / (float)r->target.height);
    return gr_ring_give_back(r->ring, &slot, 1) == GR_OK || failed_to("give a slot back");
}

static bool copy_out(struct farm_render *r, struct picture *picture, int frame)
{
    picture->frame = frame;
    offscreen_read_into(&r->target, picture->buffer);
    picture->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
    if (picture->fence)
        return true;
    fprintf(stderr, "OpenGL cannot create a fence (error 0x%04x).\n", glGetError());
    return false;
}

/* ---- Passing pictures from OpenGL to the writers --------------------------------------------- */

/*
 * False once a kernel has failed. The failure makes the context unusable and all further pictures
 * invalid.
 */
static bool kernels_succeeded(const struct farm_render *r)
{
    const CUresult result = r->session.cuda->StreamQuery(r->session.stream);
    return result == CUDA_ERROR_NOT_READY || cuda_ok(result, "run the kernel");
}

/*
 * Checks the fence of a picture or waits for it. After a failed kernel, the signal from CUDA never
 * arrives and OpenGL waits forever. With `wait`, the function then prints the reason and returns
 * GL_TIMEOUT_EXPIRED.
 */
static GLenum check_fence(const struct farm_render *r, GLsync fence, bool wait)
{
    GLenum state;
    do
        state = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, wait ? 100000000 : 0);
    while (wait && state == GL_TIMEOUT_EXPIRED && kernels_succeeded(r));
    return state;
}

/*
 * Passes the oldest picture to the writers if it is complete. *there receives whether the picture
 * was complete. If `wait` is true, first waits for the picture.
 */
static bool collect(struct farm_render *r, bool wait, bool *there)
{
    struct picture *picture = &r->pictures[r->collected % (unsigned)r->options.in_flight];
    const GLenum state = check_fence(r, picture->fence, wait);
    *there = state != GL_TIMEOUT_EXPIRED;
    if (!*there)
        return !wait;
    glDeleteSync(picture->fence);
    picture->fence = NULL;
    if (state == GL_WAIT_FAILED) {
        fprintf(stderr, "OpenGL cannot wait for a picture (error 0x%04x).\n", glGetError());
        return false;
    }
    if (!kernels_succeeded(r))
        return false;
    r->collected++;
    farm_writers_put(r->writers, picture->frame, picture->pixels, &picture->busy);
    return true;
}

/* Passes all complete pictures to the writers, and waits until at most `most` are left. */
static bool collect_to(struct farm_render *r, unsigned most)
{
    bool there = true;
    while (there && r->drawn > r->collected)
        if (!collect(r, r->drawn - r->collected > most, &there))
            return false;
    return true;
}

bool farm_render_frame(struct farm_render *r, int frame)
{
    const unsigned in_flight = (unsigned)r->options.in_flight;
    struct picture *picture = &r->pictures[r->drawn % in_flight];
    if (!collect_to(r, in_flight - 1) || !farm_writers_wait(r->writers, &picture->busy) ||
        !compute(r, frame) || !draw(r, frame) || !copy_out(r, picture, frame))
        return false;
    r->drawn++;
    return true;
}

bool farm_render_finish(struct farm_render *r)
{
    return collect_to(r, 0) && farm_writers_wait(r->writers, NULL) && session_finish(&r->session);
}

/* ---- Setup and cleanup ----------------------------------------------------------------------- */

/*
 * Chooses the device of this rank. If there are more ranks than devices, several ranks share a
 * device.
 */
static bool choose_device(struct farm_device *device, int rank)
{
    int count = 0;
    CUdevice handle;
    if (gr_cuda_load(true) != GR_OK)
        return failed_to("load a CUDA driver");
    const gr_cuda_api *cuda = gr_cuda();
    device->software = gr_cuda_is_software();
    if (!cuda_ok(cuda->DeviceGetCount(&count), "count the CUDA devices"))
        return false;
    if (count == 0) {
        fprintf(stderr, "There is no CUDA device: CUDA_VISIBLE_DEVICES may hide it.\n");
        return false;
    }
    /* With the software driver, OpenGL always uses the first device. */
    device->number = device->software ? 0 : rank % count;
    return cuda_ok(cuda->DeviceGet(&handle, device->number), "find the CUDA device") &&
           cuda_ok(cuda->DeviceGetName(device->name, sizeof(device->name), handle),
                   "name the CUDA device");
}

static bool make_ring(struct farm_render *r)
{
    gr_transport transport;
    unsigned names[FARM_MOST_IN_FLIGHT];
    const size_t side = (size_t)r->options.mesh;
    r->ring = session_ring(side * side * sizeof(struct vertex), r->options.in_flight,
                           GR_TRANSPORT_ANY, names, &transport);
    for (int i = 0; r->ring && i < r->options.in_flight; i++)
        r->arrays[i] = scene_array(&r->scene, names[i]);
    return r->ring;
}

static bool make_pictures(struct farm_render *r)
{
    const GLsizeiptr size = 4 * (GLsizeiptr)r->options.width * r->options.height;
    const GLbitfield access = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    if (epoxy_gl_version() < 44) {
        fprintf(stderr, "OpenGL 4.4 is needed for persistently mapped buffers; this is %d.%d.\n",
                epoxy_gl_version() / 10, epoxy_gl_version() % 10);
        return false;
    }
    for (int i = 0; i < r->options.in_flight; i++) {
        struct picture *picture = &r->pictures[i];
        glGenBuffers(1, &picture->buffer);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, picture->buffer);
        glBufferStorage(GL_PIXEL_PACK_BUFFER, size, NULL, access | GL_CLIENT_STORAGE_BIT);
        picture->pixels = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, size, access);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        if (!picture->pixels) {
            fprintf(stderr, "OpenGL is out of memory for pictures: choose a smaller --size, or "
                            "fewer --in-flight.\n");
            return false;
        }
    }
    return true;
}

static bool open_all(struct farm_render *r, int local_rank, struct farm_device *device)
{
    const struct farm_options *o = &r->options;
    return choose_device(device, local_rank) && session_open_device(&r->session, device->number) &&
           offscreen_init(&r->target, o->width, o->height) &&
           scene_init(&r->scene, o->mesh, o->mesh) && make_ring(r) && make_pictures(r) &&
           session_kernel(&r->session, &farm_image, "sea_at", &r->kernel);
}

struct farm_render *farm_render_open(const struct farm_options *options, int local_rank,
                                     struct farm_writers *writers, struct farm_device *device)
{
    struct farm_render *r = calloc(1, sizeof(*r));
    if (!r) {
        fprintf(stderr, "Not enough memory.\n");
        return NULL;
    }
    r->options = *options;
    r->writers = writers;
    if (open_all(r, local_rank, device))
        return r;
    farm_render_close(r);
    return NULL;
}

/* In reverse order: a registration ends before its OpenGL object. */
void farm_render_close(struct farm_render *r)
{
    if (!r)
        return;
    gr_ring_free(r->ring);
    for (int i = 0; i < r->options.in_flight && r->session.egl; i++) {
        struct picture *picture = &r->pictures[i];
        glDeleteSync(picture->fence);
        glDeleteBuffers(1, &picture->buffer);
        glDeleteVertexArrays(1, &r->arrays[i]);
    }
    scene_free(&r->scene);
    offscreen_free(&r->target);
    session_close(&r->session);
    free(r);
}
