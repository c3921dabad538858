/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is shared by a file descriptor: a memfd that begins with the header of Mesa's
 * software drivers, so that llvmpipe (GL_EXT_memory_object_fd) and lavapipe
 * (VK_KHR_external_memory_fd) take the driver's own, and the driver takes theirs.
 */
#ifndef GR_SOFTCUDA_DRIVER_MEMFD_H
#define GR_SOFTCUDA_DRIVER_MEMFD_H

#include "softcuda/driver/soft.h"

typedef struct {
    int fd;        /* the driver's own descriptor */
    size_t offset; /* of the data in the file */
    size_t size;   /* bytes of data */
    int device;    /* the number of the device that the data are on */
    bool is_own;   /* made by soft_memfd_create, in any process */
} soft_memfd;

/* A new file with size bytes of poisoned data. CUDA_ERROR_OUT_OF_MEMORY. */
CUresult soft_memfd_create(size_t size, int device, soft_memfd *file);

/* Looks at an application's descriptor and opens another one for the same file; the application's
 * stays as it is. CUDA_ERROR_INVALID_VALUE, with a line that says why and begins with the name of
 * the call, if it is no such memory. */
CUresult soft_memfd_open(int fd, const char *call, soft_memfd *file);

void soft_memfd_close(soft_memfd *file);

/* A random number by which other processes know the driver's own file again. False if it can't be
 * written, or is another one. */
#define SOFT_MEMFD_NAME 16
bool soft_memfd_set_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME]);
bool soft_memfd_has_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME]);

/* A view of a part of the data, as from soft_pages_map. */
unsigned char *soft_memfd_map(const soft_memfd *file, size_t offset, size_t size);

/* Puts a part of the data, whole pages, in place of inaccessible pages that are there already; they
 * remain inaccessible. False if there is no memory. can_place: whether the data begin at a page, as
 * that needs. */
bool soft_memfd_can_place(const soft_memfd *file);
bool soft_memfd_place(const soft_memfd *file, size_t offset, size_t size, unsigned char *pages);

/* A descriptor of the file for an application, or -1. */
int soft_memfd_export(const soft_memfd *file);

#endif
