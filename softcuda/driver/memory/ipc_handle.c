/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Opens, through /proc, objects that other processes of the same user share. */
#include "softcuda/driver/memory/ipc_handle.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

CUresult soft_ipc_describe(uint32_t magic, const soft_memfd *file, size_t start, size_t size,
                           soft_ipc_handle *handle)
{
    struct stat status;
    *handle = (soft_ipc_handle){
        .magic = magic, .process = getpid(), .fd = file->fd, .start = start, .size = size};
    bool named = getrandom(handle->name, sizeof(handle->name), 0) == sizeof(handle->name) &&
                 soft_memfd_set_name(file, handle->name) && fstat(file->fd, &status) == 0;
    SOFT_FAIL_IF(!named, CUDA_ERROR_OPERATING_SYSTEM);
    handle->inode = status.st_ino;
    return CUDA_SUCCESS;
}

/*
 * Opens the descriptor of the other process. The type of its file is checked first: the number may
 * refer to a device file by now, and opening a device file has effects.
 */
static int open_of_process(const soft_ipc_handle *handle)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)handle->process, (int)handle->fd);
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_ino != handle->inode)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static bool is_inside(const soft_ipc_handle *handle, const soft_memfd *file)
{
    return handle->size > 0 && handle->start <= file->size &&
           handle->size <= file->size - handle->start;
}

CUresult soft_ipc_open(uint32_t magic, const soft_ipc_handle *handle, const char *call,
                       soft_memfd *file)
{
    SOFT_FAIL_IF(handle->magic != magic || handle->process <= 0, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(handle->process == getpid(), CUDA_ERROR_INVALID_CONTEXT);
    int fd = open_of_process(handle);
    SOFT_FAIL_IF(fd < 0, CUDA_ERROR_INVALID_VALUE);
    CUresult result = soft_memfd_open(fd, call, file);
    close(fd);
    if (result != CUDA_SUCCESS)
        return result;
    if (file->is_own && soft_memfd_has_name(file, handle->name) && is_inside(handle, file))
        return CUDA_SUCCESS;
    soft_memfd_close(file);
    return CUDA_ERROR_INVALID_VALUE;
}
