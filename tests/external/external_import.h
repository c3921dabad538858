/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan memory as a file descriptor, for tests that import it directly. */
#ifndef GR_TESTS_EXTERNAL_IMPORT_H
#define GR_TESTS_EXTERNAL_IMPORT_H

#include "tests/support/support_vulkan_image.h"

#include <cuda.h>
#include <fcntl.h>
#include <unistd.h>

static inline bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

/* The caller must still own the descriptor: it is open, and can be closed. */
static inline void assert_mine(int fd)
{
    ck_assert_msg(is_open(fd), "descriptor %d was closed", fd);
    ck_assert_int_eq(close(fd), 0);
}

/* Describes the first `size` bytes of the memory, with a new descriptor. */
static inline gr_external_memory_desc external_info(const struct vulkan_own *own,
                                                    const gr_external_part_desc *part)
{
    return GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                   .fd = vulkan_memory_fd(own->memory), .size = own->memory_size,
                   .dedicated = own->dedicated, .part = part);
}

static inline gr_resource *must_import(const gr_external_memory_desc *info)
{
    return unordered(gr_from_external_memory(info, GR_READ_WRITE));
}

#endif
