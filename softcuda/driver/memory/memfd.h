/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that is shared by a file descriptor: a memfd that begins with the header of Mesa's
 * software drivers, so that llvmpipe (GL_EXT_memory_object_fd) and lavapipe
 * (VK_KHR_external_memory_fd) can import this driver's memory, and this driver theirs.
 */
#ifndef GR_SOFTCUDA_DRIVER_MEMFD_H
#define GR_SOFTCUDA_DRIVER_MEMFD_H

#include "softcuda/driver/soft.h"

typedef struct {
    int fd;        /* the driver's own descriptor */
    size_t offset; /* of the data in the file */
    size_t size;   /* bytes of data */
    int device;    /* the ordinal of the device that the data are on */
    bool is_own;   /* created by soft_memfd_create(), in any process */
} soft_memfd;

/* A new file with `size` bytes of poisoned data. CUDA_ERROR_OUT_OF_MEMORY. */
CUresult soft_memfd_create(size_t size, int device, soft_memfd *file);

/*
 * Checks an application's descriptor and opens another one for the same file; the application keeps
 * its own. CUDA_ERROR_INVALID_VALUE, with a message that begins with the name of the call, if it is
 * not such memory.
 */
CUresult soft_memfd_open(int fd, const char *call, soft_memfd *file);

void soft_memfd_close(soft_memfd *file);

/*
 * A random name by which other processes recognise the file. False if it cannot be written, or
 * differs.
 */
#define SOFT_MEMFD_NAME 16
bool soft_memfd_set_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME]);
bool soft_memfd_has_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME]);

/* A view of a part of the data, like one of soft_pages_map(). */
unsigned char *soft_memfd_map(const soft_memfd *file, size_t offset, size_t size);

/*
 * Maps a part of the data, whole pages, over existing inaccessible pages; they remain inaccessible.
 * False if memory is out. soft_memfd_can_place(): whether the data begin at a page, which this
 * requires.
 */
bool soft_memfd_can_place(const soft_memfd *file);
bool soft_memfd_place(const soft_memfd *file, size_t offset, size_t size, unsigned char *pages);

/* A descriptor of the file for an application, or -1. */
int soft_memfd_export(const soft_memfd *file);

#endif
