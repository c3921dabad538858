/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that is shared by a file descriptor: a memfd that begins with the header of Mesa's
 * software drivers. So llvmpipe (GL_EXT_memory_object_fd) and lavapipe (VK_KHR_external_memory_fd)
 * can import memory of this driver, and this driver can import theirs.
 */
#ifndef GR_SOFTCUDA_DRIVER_MEMFD_H
#define GR_SOFTCUDA_DRIVER_MEMFD_H

#include "softcuda/driver/soft.h"

/* The unit of sizes, offsets and addresses of virtual memory: 2 MiB, as on GPUs. */
#define SOFT_GRANULARITY ((size_t)2 << 20)

typedef struct {
    int fd;        /* the driver's own descriptor */
    size_t offset; /* where the data begin in the file */
    size_t size;   /* the size of the data in bytes */
    int device;    /* the ordinal of the device that the data are on */
    bool is_own;   /* created by soft_memfd_create(), in any process */
} soft_memfd;

/* Writes all bytes at an offset of the file. False on failure, as without memory for a page. */
bool soft_file_write(int fd, const void *bytes, size_t size, size_t offset);

/*
 * Creates a file with `size` bytes of poisoned data; GR_SOFT_FILL limits what is poisoned.
 * CUDA_ERROR_OUT_OF_MEMORY on failure.
 */
CUresult soft_memfd_create(size_t size, int device, soft_memfd *file);

/*
 * Checks an application's descriptor and opens a second one for the same file; the application
 * keeps its own. If the file does not contain such memory, returns CUDA_ERROR_INVALID_VALUE with a
 * message that begins with the name of the call.
 */
CUresult soft_memfd_open(int fd, const char *call, soft_memfd *file);

void soft_memfd_close(soft_memfd *file);

/*
 * Gives the file a random name by which other processes recognise it. False if the name cannot be
 * written, or if the file has another name.
 */
#define SOFT_MEMFD_NAME 16
bool soft_memfd_set_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME]);
bool soft_memfd_has_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME]);

/* Maps a view of a part of the data, as soft_pages_map() does. */
unsigned char *soft_memfd_map(const soft_memfd *file, size_t offset, size_t size);

/*
 * soft_memfd_place() maps whole pages of the data over existing inaccessible pages, which stay
 * inaccessible. False if out of memory. It requires that the data begin at a page boundary, which
 * soft_memfd_can_place() checks.
 */
bool soft_memfd_can_place(const soft_memfd *file);
bool soft_memfd_place(const soft_memfd *file, size_t offset, size_t size, unsigned char *pages);

/* Opens another descriptor of the file for an application; -1 on failure. */
int soft_memfd_export(const soft_memfd *file);

#endif
