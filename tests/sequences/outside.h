/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The OpenGL, CUDA and Vulkan objects that a program creates without grinterop. */
#ifndef GR_TESTS_FUZZ_OUTSIDE_H
#define GR_TESTS_FUZZ_OUTSIDE_H

#include "model.h"

/* Creates the contexts, once per thread. Returns NULL, or the reason why they cannot be created. */
const char *outside_begin(struct world *w);
void outside_end(struct world *w);

/* Creates the objects and streams of one sequence. */
void outside_make(struct world *w);
void outside_drop(struct world *w);

/* The description of the world's Vulkan device for gr_vk_device_from_vk(), if there is a device. */
gr_vk_device_desc device_description(const struct world *w);

/* Waits for the queue: Vulkan objects must not be destroyed before it is idle. */
void wait_for_vulkan(struct world *w, const struct resource *r);

void use_gl(struct world *w, int context);
void use_cuda(struct world *w, int context);

/* Waits for a stream of that context, regardless of the current context. */
void finish_stream(struct world *w, int context, CUstream stream);

/*
 * Compares the bytes of an object, as OpenGL reads them, with the model. The context of the object
 * must be current.
 */
void compare_gl(struct world *w, const struct object *o);
void compare(struct world *w, const struct object *o, const unsigned char *bytes, size_t offset,
             size_t size);
void fill_gl(struct world *w, struct object *o, int value);

/* Deletes an object, and creates another one of its name with these bytes, if OpenGL can. */
void renew_object(struct object *o, int value);

#endif
