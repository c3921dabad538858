/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL's and CUDA's own objects of a world: what a program has without grinterop. */
#ifndef GR_TESTS_FUZZ_OUTSIDE_H
#define GR_TESTS_FUZZ_OUTSIDE_H

#include "model.h"

/* Contexts, once for each thread; NULL, or why there are none. */
const char *outside_begin(struct world *w);
void outside_end(struct world *w);

/* Objects and streams, for one sequence. */
void outside_make(struct world *w);
void outside_drop(struct world *w);

/* What gr_vk_device_wrap() is told of the world's device, where there is one. */
gr_vk_device_desc device_description(const struct world *w);

/* What was made with Vulkan may only end when the queue is done with it. */
void wait_for_vulkan(struct world *w, const struct resource *r);

void use_gl(struct world *w, int context);
void use_cuda(struct world *w, int context);

/* Waits for a stream of that context, whichever is current. */
void finish_stream(struct world *w, int context, CUstream stream);

/* What OpenGL has in an object, beside what the model says. Its context is current. */
void compare_gl(struct world *w, const struct object *o);
void compare(struct world *w, const struct object *o, const unsigned char *bytes, size_t offset,
             size_t size);
void fill_gl(struct world *w, struct object *o, int value);

#endif
