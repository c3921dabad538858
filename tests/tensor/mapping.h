/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mappings of each sort (see `make`), for tests of their tensors. */
#ifndef GR_TESTS_MAPPING_H
#define GR_TESTS_MAPPING_H

#include "tensor.h"
#include "tests/support/support_vulkan.h"

#define SIZE 4096

enum { INTEROP, COPY, SHARED, OF_OPENGL, VULKAN = OF_OPENGL, SORTS };

struct made {
    gr_resource *resource;
    GLuint name;     /* the buffer, if it is an OpenGL buffer */
    VkBuffer buffer; /* the buffer, if it is a Vulkan buffer */
};

/* Creates a resource of that sort. The resource is NULL if the machine lacks this sort. */
struct made make(int sort, unsigned flags);
#define make_or_skip(m, sort)                                                                      \
    struct made m = make(sort, GR_READ_WRITE);                                                     \
    if (!(m).resource)                                                                             \
    skip("%s", (sort) == VULKAN ? vk.missing : error_text())

/* assert_made_bytes() first waits for all work of CUDA. */
void assert_made_bytes(const struct made *m, int value);
void assert_released_bytes(const struct made *m, int value);

/* Adds a case with Vulkan and with the set-up that each sort needs. */
TCase *add_sorts(Suite *suite, const char *name);

gr_tensor *must_tensor(gr_buffer *buffer);
gr_tensor *must_view(gr_tensor *tensor);
void assert_revoked(gr_tensor *tensor);

/* Creates a tensor of pinned memory, filled with one value. */
gr_tensor *pinned_filled(int value);

#endif
