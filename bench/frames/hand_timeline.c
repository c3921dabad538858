/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Two timeline semaphores by raw calls. A Vulkan device on the drawing GPU creates them for OpenGL
 * on the same GPU. CUDA imports them into the context of the computing device, which may be another
 * GPU.
 *
 * llvmpipe has no semaphores: the thread waits instead, so that the rows can run as a test.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "bench/frames/hand.h"

/* The constants of GL_NV_timeline_semaphore, which epoxy lacks. */
enum { VALUE_NV = 0x9595, TYPE_NV = 0x95B3, TYPE_TIMELINE_NV = 0x95B5 };
typedef void (*create_semaphores_fn)(GLsizei, GLuint *);
typedef void (*semaphore_parameter_fn)(GLuint, GLenum, const GLint *);

/* ---- Vulkan ---------------------------------------------------------------------------------- */

struct functions {
    PFN_vkCreateSemaphore create;
    PFN_vkGetSemaphoreFdKHR get_fd;
};

/*
 * Opens a Vulkan device that lives until the program ends, because OpenGL contexts do not survive
 * the end of a Vulkan instance.
 */
static const gr_vk_headless_info *open_vulkan(struct frames *f)
{
    if (!f->timeline_vulkan)
        f->timeline_vulkan =
            gr_vk_headless_create(&GR_INIT(gr_vk_headless_options, .cuda_device = f->gl_ordinal));
    if (!f->timeline_vulkan)
        frames_grinterop_failed("gr_vk_headless_create");
    return f->timeline_vulkan ? gr_vk_headless_get_info(f->timeline_vulkan) : NULL;
}

static bool find_functions(struct frames *f, struct frames_hand *h, struct functions *vk)
{
    const gr_vk_headless_info *on = open_vulkan(f);
    if (!on)
        return false;
    const PFN_vkGetDeviceProcAddr of_device =
        (PFN_vkGetDeviceProcAddr)on->get_instance_proc_addr(on->instance, "vkGetDeviceProcAddr");
    h->device = on->device;
    vk->create = (PFN_vkCreateSemaphore)of_device(on->device, "vkCreateSemaphore");
    h->destroy = (PFN_vkDestroySemaphore)of_device(on->device, "vkDestroySemaphore");
    vk->get_fd = (PFN_vkGetSemaphoreFdKHR)of_device(on->device, "vkGetSemaphoreFdKHR");
    const bool good = vk->create && h->destroy && vk->get_fd;
    if (!good)
        frames_set_error("Vulkan exports no timeline semaphores here");
    return good;
}

static bool create(const struct frames_hand *h, const struct functions *vk, VkSemaphore *semaphore)
{
    const VkExportSemaphoreCreateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = &exported,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    if (vk->create(h->device, &info, NULL, semaphore) == VK_SUCCESS)
        return true;
    frames_set_error("vkCreateSemaphore failed");
    return false;
}

static int export(const struct frames_hand *h, const struct functions *vk, VkSemaphore semaphore)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    if (vk->get_fd(h->device, &info, &fd) == VK_SUCCESS)
        return fd;
    frames_set_error("vkGetSemaphoreFdKHR failed");
    return -1;
}

/* ---- Imports --------------------------------------------------------------------------------- */

static bool import_into_gl(int fd, GLuint *name)
{
    create_semaphores_fn make = (create_semaphores_fn)eglGetProcAddress("glCreateSemaphoresNV");
    semaphore_parameter_fn set =
        (semaphore_parameter_fn)eglGetProcAddress("glSemaphoreParameterivNV");
    const GLint type = TYPE_TIMELINE_NV;
    if (fd < 0)
        return false;
    make(1, name);
    set(*name, TYPE_NV, &type);
    glImportSemaphoreFdEXT(*name, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    if (frames_gl_ok("glImportSemaphoreFdEXT"))
        return true;
    close(fd); /* A failed import does not take ownership of the descriptor. */
    return false;
}

bool hand_import_into_cuda(const struct frames *f, int fd, CUexternalSemaphore *semaphore)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, .handle.fd = fd};
    if (fd < 0)
        return false;
    if (frames_cuda_ok(f, f->cuda->ImportExternalSemaphore(semaphore, &desc),
                       "cuImportExternalSemaphore"))
        return true;
    *semaphore = NULL;
    close(fd);
    return false;
}

static bool make_timeline(struct frames *f, const struct frames_hand *h, const struct functions *vk,
                          struct hand_timeline *timeline)
{
    return create(h, vk, &timeline->vulkan) &&
           import_into_gl(export(h, vk, timeline->vulkan), &timeline->gl) &&
           hand_import_into_cuda(f, export(h, vk, timeline->vulkan), &timeline->cuda);
}

int hand_timeline_export(struct frames *f, struct frames_hand *h,
                         const struct hand_timeline *timeline)
{
    struct functions vk;
    return find_functions(f, h, &vk) ? export(h, &vk, timeline->vulkan) : -1;
}

bool hand_timelines_make(struct frames *f, struct frames_hand *h)
{
    struct functions vk;
    const bool has = epoxy_has_gl_extension("GL_NV_timeline_semaphore");
    h->by_thread = !has && gr_cuda_is_software();
    if (h->by_thread)
        return true;
    if (!has)
        frames_set_error("OpenGL has no GL_NV_timeline_semaphore here");
    return has && find_functions(f, h, &vk) && make_timeline(f, h, &vk, &h->drawn) &&
           make_timeline(f, h, &vk, &h->computed);
}

static void end_timeline(struct frames *f, const struct frames_hand *h,
                         const struct hand_timeline *timeline)
{
    if (timeline->gl != 0)
        glDeleteSemaphoresEXT(1, &timeline->gl);
    if (timeline->cuda)
        f->cuda->DestroyExternalSemaphore(timeline->cuda);
    if (timeline->vulkan != VK_NULL_HANDLE)
        h->destroy(h->device, timeline->vulkan, NULL);
}

void hand_timelines_end(struct frames *f, struct frames_hand *h)
{
    end_timeline(f, h, &h->drawn);
    end_timeline(f, h, &h->computed);
}

/* ---- Signals and waits ----------------------------------------------------------------------- */

/* Signals from the stream. Without a memory barrier a small fill may complete after the signal. */
bool hand_cuda_signal(struct frames *f, const struct frames_hand *h, uint64_t value)
{
    CUstreamBatchMemOpParams barrier = {
        .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                          .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    if (h->by_thread)
        return frames_cuda_ok(f, f->cuda->StreamSynchronize(f->on.stream), "cuStreamSynchronize");
    /* This call fails on a driver without barriers. The signal still works then. */
    if (f->cuda->StreamBatchMemOp)
        f->cuda->StreamBatchMemOp(f->on.stream, 1, &barrier, 0);
    return frames_cuda_ok(
        f, f->cuda->SignalExternalSemaphoresAsync(&h->computed.cuda, &params, 1, f->on.stream),
        "cuSignalExternalSemaphoresAsync");
}

bool hand_cuda_wait(struct frames *f, const struct frames_hand *h, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    return h->by_thread ||
           frames_cuda_ok(
               f, f->cuda->WaitExternalSemaphoresAsync(&h->drawn.cuda, &params, 1, f->on.stream),
               "cuWaitExternalSemaphoresAsync");
}

void hand_gl_signal(const struct frames_hand *h, uint64_t value, const unsigned *buffer)
{
    if (h->by_thread) {
        glFinish();
        return;
    }
    glSemaphoreParameterui64vEXT(h->drawn.gl, VALUE_NV, &value);
    glSignalSemaphoreEXT(h->drawn.gl, buffer != NULL, buffer, 0, NULL, NULL);
}

void hand_gl_wait(const struct frames_hand *h, uint64_t value, const unsigned *buffer)
{
    if (h->by_thread)
        return;
    glSemaphoreParameterui64vEXT(h->computed.gl, VALUE_NV, &value);
    glWaitSemaphoreEXT(h->computed.gl, buffer != NULL, buffer, 0, NULL, NULL);
}
