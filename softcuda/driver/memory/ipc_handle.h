/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The 64 bytes that identify an object shared with processes of the same user: a descriptor number
 * in the process that owns the object, and data that identify the file. The bytes come from another
 * process and may contain anything.
 */
#ifndef GR_SOFTCUDA_DRIVER_IPC_HANDLE_H
#define GR_SOFTCUDA_DRIVER_IPC_HANDLE_H

#include "softcuda/driver/memory/memfd.h"

/* The type of the object. */
#define SOFT_IPC_MEMORY 0x6d637069u /* "ipcm" */
#define SOFT_IPC_EVENT  0x65637069u /* "ipce" */

typedef struct {
    uint32_t magic;
    int32_t process;
    int32_t fd; /* the descriptor in the process that owns the object */
    uint32_t reserved;
    uint64_t inode;
    uint64_t start; /* where the object begins in the data of the file */
    uint64_t size;
    unsigned char name[SOFT_MEMFD_NAME]; /* of the file */
} soft_ipc_handle;

_Static_assert(sizeof(soft_ipc_handle) <= CU_IPC_HANDLE_SIZE, "an application's handle is larger");

/*
 * Gives the file a name and fills in the handle of a part of its data. CUDA_ERROR_OPERATING_SYSTEM
 * on failure.
 */
CUresult soft_ipc_describe(uint32_t magic, const soft_memfd *file, size_t start, size_t size,
                           soft_ipc_handle *handle);

/*
 * Opens the file of another process that the handle describes. CUDA_ERROR_INVALID_CONTEXT if the
 * handle is from this process. CUDA_ERROR_INVALID_VALUE if the other process has closed the
 * descriptor, or if the descriptor now refers to another file.
 */
CUresult soft_ipc_open(uint32_t magic, const soft_ipc_handle *handle, const char *call,
                       soft_memfd *file);

#endif
