/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The objects that the rows of functions.def name. */
#ifndef GR_TESTS_API_OBJECTS_H
#define GR_TESTS_API_OBJECTS_H

#include "tests/support/support_vulkan.h"

#include <grinterop/compat.h>
#include <grinterop/framebuffer.h>
#include <grinterop/image.h>
#include <grinterop/publish.h>
#include <grinterop/share.h>

#define SIZE 256

/* The types of objects, by the words that errors use. */
enum kind {
    RESOURCE,
    BUFFER,
    TENSOR,
    RING,
    SEMAPHORE,
    SUBMIT,
    DEVICE,
    HEADLESS,
    EGL,
    CONTEXT,
    STREAM, /* the library does not own it */
};

/*
 * X(type, name, kind): the objects. One is made after those above it, and ended before them.
 * `resource`, `image` and `drawn` (by Vulkan) are not mapped, `mapped` is; `buffer` and `texels`
 * are mappings. The slot of `ready` is handed over, of `writing` acquired to write, of `reading`
 * acquired to read.
 */
#define OBJECTS(X)                                                                                 \
    X(gr_resource *, resource, RESOURCE)                                                           \
    X(gr_resource *, mapped, RESOURCE)                                                             \
    X(gr_resource *, image, RESOURCE)                                                              \
    X(gr_buffer *, buffer, BUFFER)                                                                 \
    X(gr_buffer *, texels, BUFFER)                                                                 \
    X(gr_tensor *, tensor, TENSOR)                                                                 \
    X(gr_tensor *, source, TENSOR)                                                                 \
    X(gr_ring *, ring, RING)                                                                       \
    X(gr_ring *, ready, RING)                                                                      \
    X(gr_ring *, writing, RING)                                                                    \
    X(gr_ring *, reading, RING)                                                                    \
    X(gr_vk_headless *, headless, HEADLESS)                                                        \
    X(gr_vk_device *, device, DEVICE)                                                              \
    X(gr_resource *, drawn, RESOURCE)                                                              \
    X(gr_semaphore *, semaphore, SEMAPHORE)                                                        \
    X(gr_submit *, submit, SUBMIT)                                                                 \
    X(gr_egl *, egl, EGL)                                                                          \
    X(gr_cuda_context *, context, CONTEXT)                                                         \
    X(CUstream, stream, STREAM)

#define MEMBER(type, name, kind) type name;
struct objects {
    OBJECTS(MEMBER)
};
#undef MEMBER

extern struct objects at, made;

/* How OpenGL resources are made. */
extern const gr_gl_options *transport;

/* For each object, a function that makes one. */
#define MAKE(type, name, kind) type make_##name(void);
OBJECTS(MAKE)
#undef MAKE

/* What the calls get besides objects. OpenGL names live as long as the context. */
extern GLuint name, texture, framebuffer;
extern int sockets[2];
extern const gr_slot *slots[1];
void begin_arguments(void);
void end_arguments(void);

/* Ends an object of this kind, which may be NULL. */
void end_object(enum kind kind, void *object);

/* Ends the resources of buffers and rings that were made since there were `from`. */
extern size_t hidden_count;
void end_hidden(size_t from);

#endif
