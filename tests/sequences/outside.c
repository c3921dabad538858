/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE
#include "outside.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIDE 4 /* width and height of an image in 4-byte texels */

void use_gl(struct world *w, int context)
{
    judge(w, gr_egl_make_current(context < GL_CONTEXTS ? w->egl[context] : NULL), 0);
    w->gl = context;
}

void use_cuda(struct world *w, int context)
{
    CUcontext wanted = context < CUDA_CONTEXTS ? w->contexts[context] : NULL;
    need_cuda(w, w->cu->CtxSetCurrent(wanted), "cuCtxSetCurrent");
    w->cuda = context;
}

void finish_stream(struct world *w, int context, CUstream stream)
{
    int before = w->cuda;
    use_cuda(w, context);
    need_cuda(w, w->cu->StreamSynchronize(stream), "cuStreamSynchronize");
    use_cuda(w, before);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static const char *find_transports(struct world *w)
{
    const gr_transport_info *info = gr_gl_probe(GR_TRANSPORT_INTEROP);
    if (!info)
        return gr_last_error()->message;
    w->interop_works = info->usable;
    info = gr_gl_probe(GR_TRANSPORT_SHARED);
    w->shared_works = info && info->usable;
    info = gr_gl_probe(GR_TRANSPORT_COPY);
    w->copy_works = info && info->usable;
    return w->interop_works && w->copy_works ? NULL : "interop or copy does not work here";
}

/*
 * Creates storage into which an object is copied before its bytes are read. grinterop/gl.h explains
 * why.
 */
static void make_scratch(struct world *w, int context)
{
    glGenBuffers(1, &w->scratch[context]);
    glBindBuffer(GL_COPY_WRITE_BUFFER, w->scratch[context]);
    glBufferData(GL_COPY_WRITE_BUFFER, MOST_BYTES, NULL, GL_STREAM_READ);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
}

/*
 * Both contexts reserve the same names, and each uses some of them. So a name of the wrong context
 * names no object.
 */
static void make_names(struct world *w)
{
    GLuint names[GL_CONTEXTS][NAMES];
    for (int i = GL_CONTEXTS - 1; i >= 0; i--) {
        use_gl(w, i);
        glGenBuffers(NAMES, names[i]);
        glGenTextures(NAMES, w->image_names);
    }
    memcpy(w->names, names[0], sizeof(names[0]));
    for (int i = 0; i < OBJECTS; i++) {
        w->objects[i].context = i % GL_CONTEXTS;
        w->objects[i].name = i < GL_BUFFERS ? w->names[i] : w->image_names[i];
    }
    w->names_used = OBJECTS;
}

gr_vk_device_desc device_description(const struct world *w)
{
    return GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = w->vulkan->get_instance_proc_addr,
                   .instance = w->vulkan->instance, .physical_device = w->vulkan->physical_device,
                   .device = w->vulkan->device, .queue = w->vulkan->graphics,
                   .queue_family = w->vulkan->graphics_family, .transports = GR_TRANSPORT_ANY,
                   .synchronization2 = w->vulkan->synchronization2);
}

/*
 * Creates a headless Vulkan device, for one thread only, since several threads would need a lock
 * for its queue. Without a device, calls that need one are skipped.
 */
static void make_vulkan(struct world *w)
{
    if (w->alone)
        w->headless = gr_vk_headless_create(NULL);
    if (!w->headless)
        return;
    w->vulkan = gr_vk_headless_get_info(w->headless);
    const gr_vk_device_desc desc = device_description(w);
    w->device = gr_vk_device_from_vk(&desc);
    judge_made(w, w->device, 0);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = BYTES,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    w->copied = gr_create_vk_buffer(w->device, &info, GR_READ_WRITE);
    judge_made(w, w->copied, 0);
    w->queue_wait_idle = (PFN_vkQueueWaitIdle)w->vulkan->get_instance_proc_addr(w->vulkan->instance,
                                                                                "vkQueueWaitIdle");
}

void wait_for_vulkan(struct world *w, const struct resource *r)
{
    if (r && w->device && r->object && r->object->context == ANY_CONTEXT)
        must(w, w->queue_wait_idle(w->vulkan->graphics) == VK_SUCCESS);
}

const char *outside_begin(struct world *w)
{
    w->cu = gr_cuda();
    if (!w->cu)
        return gr_last_error()->message;
    w->software = gr_cuda_is_software();
    CUdevice device;
    if (w->cu->DeviceGet(&device, 0) != CUDA_SUCCESS ||
        w->cu->DevicePrimaryCtxRetain(&w->contexts[0], device) != CUDA_SUCCESS)
        return "CUDA has no primary context";
    use_cuda(w, 0);
    for (int i = GL_CONTEXTS - 1; i >= 0; i--) {
        w->egl[i] = gr_egl_create(NULL);
        if (!w->egl[i])
            return gr_last_error()->message;
        w->gl = i;
        make_scratch(w, i);
    }
    make_vulkan(w);
    make_names(w);
    return find_transports(w);
}

void outside_end(struct world *w)
{
    CUdevice device;
    gr_resource_free(w->copied);
    gr_vk_device_free(w->device);
    gr_vk_headless_free(w->headless);
    for (int i = 0; i < GL_CONTEXTS; i++)
        gr_egl_free(w->egl[i]);
    if (w->cu->DeviceGet(&device, 0) == CUDA_SUCCESS)
        w->cu->DevicePrimaryCtxRelease(device);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static void make_buffer(struct object *o, int value)
{
    unsigned char bytes[BYTES];
    memset(bytes, value, sizeof(bytes));
    *o = (struct object){
        .name = o->name, .target = GL_ARRAY_BUFFER, .context = o->context, .size = BYTES};
    glBindBuffer(GL_ARRAY_BUFFER, o->name);
    glBufferData(GL_ARRAY_BUFFER, BYTES, bytes, GL_DYNAMIC_COPY);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    bytes_are(o, 0, BYTES, value);
}

static void make_image(struct object *o, int value)
{
    unsigned char bytes[SIDE * SIDE * 4];
    memset(bytes, value, sizeof(bytes));
    *o = (struct object){
        .name = o->name, .target = GL_TEXTURE_2D, .context = o->context, .size = sizeof(bytes)};
    glBindTexture(GL_TEXTURE_2D, o->name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glBindTexture(GL_TEXTURE_2D, 0);
    bytes_are(o, 0, sizeof(bytes), value);
}

/*
 * Gives the OpenGL objects of the context new storage for each sequence. Their names stay the same.
 */
static void make_objects(struct world *w, int context)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (w->objects[i].context != context)
            continue;
        if (w->objects[i].deleted || w->objects[i].lost)
            w->objects[i].name = (i < GL_BUFFERS ? w->names : w->image_names)[w->names_used++];
        if (i < GL_BUFFERS)
            make_buffer(&w->objects[i], i + 1);
        else
            make_image(&w->objects[i], i + 1);
    }
}

/*
 * No other name will do, since it may be that of an object in the other context (make_names()). All
 * names that are free before it are taken until it comes.
 */
void renew_object(struct object *o, int value)
{
    GLuint taken[64];
    int n = 0;
    const bool buffer = o->target == GL_ARRAY_BUFFER;
    buffer ? glDeleteBuffers(1, &o->name) : glDeleteTextures(1, &o->name);
    do
        buffer ? glGenBuffers(1, &taken[n]) : glGenTextures(1, &taken[n]);
    while (taken[n] != o->name && ++n < 64);
    buffer ? glDeleteBuffers(n, taken) : glDeleteTextures(n, taken);
    o->deleted = n == 64;
    if (!o->deleted)
        buffer ? make_buffer(o, value) : make_image(o, value);
}

void outside_make(struct world *w)
{
    w->second_made = w->second_ended = w->driver_checks = false;
    memset(w->resources, 0, sizeof(w->resources));
    memset(w->buffers, 0, sizeof(w->buffers));
    memset(w->streams, 0, sizeof(w->streams));
    memset(w->tensors, 0, sizeof(w->tensors));
    memset(w->devices, 0, sizeof(w->devices));
    memset(w->exports, 0, sizeof(w->exports));
    memset(w->submits, 0, sizeof(w->submits));
    memset(w->rings, 0, sizeof(w->rings));
    memset(w->semaphores, 0, sizeof(w->semaphores));
    w->handed = false;
    w->wraps = 0;
    __atomic_store_n(&w->wraps_ended, 0, __ATOMIC_RELAXED);
    w->mail_sent = w->mail_read = 0;
    must(w, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->sockets) == 0);
    use_cuda(w, 0);
    for (int i = GL_CONTEXTS - 1; i >= 0; i--) {
        use_gl(w, i);
        make_objects(w, i);
    }
    for (int i = 0; i < 2; i++) {
        need_cuda(w, w->cu->StreamCreate(&w->streams[i].it, CU_STREAM_NON_BLOCKING),
                  "cuStreamCreate");
        w->streams[i].life = LIVE;
    }
}

static void drop_cuda(struct world *w)
{
    use_cuda(w, 0);
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].life == LIVE)
            need_cuda(w, w->cu->StreamDestroy(w->streams[i].it), "cuStreamDestroy");
    if (w->second_made && !w->second_ended)
        need_cuda(w, w->cu->CtxDestroy(w->contexts[1]), "cuCtxDestroy");
}

void outside_drop(struct world *w)
{
    close(w->sockets[0]);
    close(w->sockets[1]);
    drop_cuda(w);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

void compare(struct world *w, const struct object *o, const unsigned char *bytes, size_t offset,
             size_t size)
{
    const short *known = o->of ? o->of : o->bytes;
    for (size_t i = offset; i < offset + size; i++)
        if (known[i] != UNKNOWN && known[i] != bytes[i - offset])
            fail(w, "byte %zu is %u, expected %d", i, bytes[i - offset], known[i]);
}

void compare_gl(struct world *w, const struct object *o)
{
    unsigned char bytes[MOST_BYTES];
    if (o->target == GL_ARRAY_BUFFER) {
        glBindBuffer(GL_COPY_READ_BUFFER, o->name);
        glBindBuffer(GL_COPY_WRITE_BUFFER, w->scratch[w->gl]);
        glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, (GLsizeiptr)o->size);
        glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)o->size, bytes);
        glBindBuffer(GL_COPY_READ_BUFFER, 0);
        glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    } else {
        /* glGetTexImage returns old bytes of shared textures (docs/driver.md) */
        GLuint framebuffer;
        glGenFramebuffers(1, &framebuffer);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
        glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, o->name,
                               0);
        glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        glDeleteFramebuffers(1, &framebuffer);
    }
    compare(w, o, bytes, 0, o->size);
}

void fill_gl(struct world *w, struct object *o, int value)
{
    unsigned char bytes[MOST_BYTES], byte = (unsigned char)value;
    memset(bytes, value, sizeof(bytes));
    if (o->target == GL_ARRAY_BUFFER) {
        glBindBuffer(GL_COPY_WRITE_BUFFER, o->name);
        glClearBufferData(GL_COPY_WRITE_BUFFER, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &byte);
        glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    } else {
        glBindTexture(GL_TEXTURE_2D, o->name);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        glBindTexture(GL_TEXTURE_2D, 0);
    }
    no_gl_error(w);
    bytes_are(o, 0, o->size, value);
}
