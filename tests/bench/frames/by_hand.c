/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in flight on shared storage by hand: each wait, signal and flush can be left out or made
 * rarer, so that a run tells what it costs. Two timeline semaphores: CUDA signals `release` to the
 * number of the frame that it has written, OpenGL `acquire` to that of the frame that it has drawn;
 * frames count from 1.
 *
 * A wait that is made every k frames is for all k; a signal that is made every k frames stands for
 * all k. A wait may thus be for a signal that is enqueued only later, which timelines allow.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "tests/bench/frames/vulkan.h"

/* GL_NV_timeline_semaphore, which epoxy does not know. */
enum { VALUE_NV = 0x9595, TYPE_NV = 0x95B3, TYPE_TIMELINE_NV = 0x95B5 };
typedef void (*create_semaphores_fn)(GLsizei, GLuint *);
typedef void (*semaphore_parameter_fn)(GLuint, GLenum, const GLint *);

struct hand {
    const struct vulkan *vulkan; /* the row's Vulkan device makes the semaphores */
    PFN_vkGetSemaphoreFdKHR get_fd;
    gr_semaphore *acquire, *release;
    GLuint gl_acquire, gl_release;
    gr_resource *resources[FRAMES_MOST_SLOTS];
    CUdeviceptr pointers[FRAMES_MOST_SLOTS];
    GLuint names[FRAMES_MOST_SLOTS];
    uint64_t frame; /* the one that is being enqueued; 0 before the first */
};

/* ---- Making it ------------------------------------------------------------------------------- */

static bool find_vulkan(const struct frames *f, struct hand *h)
{
    if (!f->vulkan) {
        frames_say("%s", f->no_vulkan);
        return false;
    }
    h->vulkan = &f->vulkan->vulkan;
    const gr_vk_headless_info *on = gr_vk_headless_get(h->vulkan->headless);
    PFN_vkGetDeviceProcAddr of_device =
        (PFN_vkGetDeviceProcAddr)on->get_instance_proc_addr(on->instance, "vkGetDeviceProcAddr");
    h->get_fd = (PFN_vkGetSemaphoreFdKHR)of_device(on->device, "vkGetSemaphoreFdKHR");
    bool good = h->get_fd && gr_vk_device_has_semaphores(h->vulkan->shared);
    if (!good)
        frames_say("Vulkan exports no timeline semaphores here");
    return good;
}

static bool import(const struct hand *h, const gr_semaphore *semaphore, GLuint *name)
{
    create_semaphores_fn create = (create_semaphores_fn)eglGetProcAddress("glCreateSemaphoresNV");
    semaphore_parameter_fn set =
        (semaphore_parameter_fn)eglGetProcAddress("glSemaphoreParameterivNV");
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = gr_vk_semaphore(semaphore),
                                          .handleType =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const GLint type = TYPE_TIMELINE_NV;
    int fd = -1;
    if (h->get_fd(h->vulkan->device, &info, &fd) != VK_SUCCESS) {
        frames_say("vkGetSemaphoreFdKHR failed");
        return false;
    }
    create(1, name);
    set(*name, TYPE_NV, &type);
    glImportSemaphoreFdEXT(*name, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    if (frames_gl_ok("glImportSemaphoreFdEXT"))
        return true;
    close(fd); /* only an import that succeeds takes it */
    return false;
}

static bool open_semaphores(struct hand *h)
{
    if (!epoxy_has_gl_extension("GL_NV_timeline_semaphore")) {
        frames_say("OpenGL has no GL_NV_timeline_semaphore here");
        return false;
    }
    h->acquire = gr_vk_semaphore_create(h->vulkan->shared, VK_SEMAPHORE_TYPE_TIMELINE);
    h->release = gr_vk_semaphore_create(h->vulkan->shared, VK_SEMAPHORE_TYPE_TIMELINE);
    if (!h->acquire || !h->release)
        return frames_grinterop_failed("gr_vk_semaphore_create");
    return import(h, h->acquire, &h->gl_acquire) && import(h, h->release, &h->gl_release);
}

/* grinterop makes the storage; its pointers stay, since nothing moves memory of CUDA's own. */
static bool open_buffers(struct frames *f, struct hand *h, unsigned slots)
{
    const gr_gl_options shared = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    for (unsigned i = 0; i < slots; i++) {
        h->resources[i] = gr_gl_buffer_create(f->bytes, GR_WRITE_DISCARD, &shared);
        if (!h->resources[i])
            return frames_grinterop_failed("gr_gl_buffer_create");
        gr_buffer *buffer = gr_map(h->resources[i], f->on.stream);
        if (!buffer)
            return frames_grinterop_failed("gr_map");
        h->pointers[i] = gr_buffer_ptr(buffer);
        bool written = frames_launch(f, h->pointers[i]); /* for rows that only draw */
        if (gr_buffer_release(buffer) != GR_OK)
            return frames_grinterop_failed("gr_buffer_release");
        if (!written)
            return false;
        h->names[i] = gr_gl_name(h->resources[i]);
    }
    return true;
}

static bool signal_cuda(struct frames *f, const struct hand *h, uint64_t value)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = h->release, .value = value);
    return gr_semaphore_signal(&point, 1, f->on.stream) == GR_OK ||
           frames_grinterop_failed("gr_semaphore_signal");
}

static void signal_gl(const struct hand *h, uint64_t value, unsigned count, const GLuint *buffer)
{
    glSemaphoreParameterui64vEXT(h->gl_acquire, VALUE_NV, &value);
    glSignalSemaphoreEXT(h->gl_acquire, count, buffer, 0, NULL, NULL);
}

bool frames_hand_open(struct frames *f, struct frames_run *run)
{
    struct hand *h = run->hand = calloc(1, sizeof(*h));
    if (!h) {
        frames_say("out of memory");
        return false;
    }
    if (!find_vulkan(f, h) || !open_semaphores(h) || !open_buffers(f, h, run->kind->slots))
        return false;
    h->frame = 64; /* what is satisfied long ago, and what no signal of a frame stands for yet */
    if (!signal_cuda(f, h, 64))
        return false;
    signal_gl(h, 64, 0, NULL);
    return frames_drain(f) && frames_gl_ok("glSignalSemaphoreEXT");
}

bool frames_hand_close(struct frames *f, struct frames_run *run)
{
    struct hand *h = run->hand;
    bool good = frames_drain(f);
    for (unsigned i = 0; h && i < FRAMES_MOST_SLOTS; i++)
        gr_resource_free(h->resources[i]);
    if (h && h->gl_acquire != 0)
        glDeleteSemaphoresEXT(1, &h->gl_acquire);
    if (h && h->gl_release != 0)
        glDeleteSemaphoresEXT(1, &h->gl_release);
    if (h) {
        gr_semaphore_free(h->acquire);
        gr_semaphore_free(h->release);
    }
    free(h);
    return good;
}

/* ---- A frame --------------------------------------------------------------------------------- */

/* The signal that stands for a frame, where one is made every `every` frames: the next multiple. */
static uint64_t signal_for(uint64_t frame, unsigned every)
{
    return every == 0 ? 0 : (frame + every - 1) / every * every;
}

static bool is_turn(uint64_t frame, unsigned every)
{
    return every != 0 && frame % every == 0;
}

/* The frames whose slots this one and the next few use again have been drawn. */
static bool cuda_waits(struct frames *f, const struct hand *h, const struct frames_kind *kind)
{
    const struct frames_hand_kind *how = &kind->hand;
    if (!is_turn(h->frame - 1, how->cuda_waits))
        return true;
    uint64_t last = h->frame + how->cuda_waits - 1;
    uint64_t value = last > kind->slots ? signal_for(last - kind->slots, how->gl_signals) : 0;
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = h->acquire,
                                             .value = how->satisfied || value < 64 ? 64 : value);
    return gr_semaphore_wait(&point, 1, f->on.stream) == GR_OK ||
           frames_grinterop_failed("gr_semaphore_wait");
}

static bool write_frame(struct frames *f, const struct hand *h, const struct frames_kind *kind,
                        unsigned slot)
{
    return cuda_waits(f, h, kind) && frames_launch(f, h->pointers[slot]) &&
           (!is_turn(h->frame, kind->hand.cuda_signals) || signal_cuda(f, h, h->frame));
}

static void draw_frame(struct frames *f, const struct hand *h, const struct frames_hand_kind *how,
                       unsigned slot)
{
    const unsigned count = how->barriers ? 1 : 0;
    if (is_turn(h->frame - 1, how->gl_waits)) {
        uint64_t value = signal_for(h->frame + how->gl_waits - 1, how->cuda_signals);
        if (how->satisfied)
            value = 64;
        glSemaphoreParameterui64vEXT(h->gl_release, VALUE_NV, &value);
        glWaitSemaphoreEXT(h->gl_release, count, &h->names[slot], 0, NULL, NULL);
    }
    frames_draw(f, h->names[slot]);
    if (is_turn(h->frame, how->gl_signals))
        signal_gl(h, h->frame, count, &h->names[slot]);
    if (is_turn(h->frame, how->flushes))
        glFlush();
}

bool frames_hand_frame(struct frames *f, struct frames_run *run)
{
    struct hand *h = run->hand;
    h->frame++;
    unsigned slot = (unsigned)(h->frame % run->kind->slots);
    if (run->kind->hand.kernel && !write_frame(f, h, run->kind, slot))
        return false;
    if (run->kind->hand.draw)
        draw_frame(f, h, &run->kind->hand, slot);
    return true;
}
