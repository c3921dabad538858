/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of the follower driver. */
#ifndef GR_TESTS_FOLLOWER_RESOURCE_H
#define GR_TESTS_FOLLOWER_RESOURCE_H

#include <stdbool.h>

#include <epoxy/gl.h>

#include "follower_driver.h"

/* An OpenGL buffer, or a CUDA array: level 0 of a texture or image of four 8-bit channels. */
struct resource {
    GLuint name;
    GLenum target; /* 0: a buffer */
    GLint width, height;
    size_t size;
    bool is_mapped;
    unsigned char *bytes;
};

#define TEXEL 4

/* Adds a call to the record. */
struct followed *note(const char *call);

/* The result that the test set for the function. */
CUresult result_of(const char *call);

/* ---- follower_external.c --------------------------------------------------------------------- */

CUresult CUDAAPI import_memory(CUexternalMemory *made,
                               const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);
CUresult CUDAAPI map_buffer(CUdeviceptr *pointer, CUexternalMemory memory,
                            const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc);
CUresult CUDAAPI map_array(CUmipmappedArray *array, CUexternalMemory memory,
                           const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc);
CUresult CUDAAPI end_memory(CUexternalMemory memory);
CUresult CUDAAPI import_semaphore(CUexternalSemaphore *made,
                                  const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);
CUresult CUDAAPI signal_semaphores(const CUexternalSemaphore *semaphores,
                                   const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *values,
                                   unsigned count, CUstream stream);
CUresult CUDAAPI wait_semaphores(const CUexternalSemaphore *semaphores,
                                 const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *values, unsigned count,
                                 CUstream stream);
CUresult CUDAAPI end_semaphore(CUexternalSemaphore semaphore);
CUresult CUDAAPI make_array(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            unsigned levels);
CUresult CUDAAPI array_level(CUarray *level, CUmipmappedArray array, unsigned number);
CUresult CUDAAPI end_array(CUmipmappedArray array);
CUresult CUDAAPI copy_3d(const CUDA_MEMCPY3D *copy, CUstream stream);

#endif
