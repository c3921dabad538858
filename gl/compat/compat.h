/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions behind grinterop/compat.h, which describes them. */
#ifndef GR_COMPAT_COMPAT_H
#define GR_COMPAT_COMPAT_H

#include <grinterop/compat.h>

CUresult CUDAAPI compat_register_buffer(CUgraphicsResource *resource, unsigned int buffer,
                                        unsigned int flags);
CUresult CUDAAPI compat_register_image(CUgraphicsResource *resource, unsigned int image,
                                       unsigned int target, unsigned int flags);
CUresult CUDAAPI compat_unregister(CUgraphicsResource resource);
CUresult CUDAAPI compat_set_map_flags(CUgraphicsResource resource, unsigned int flags);
CUresult CUDAAPI compat_pointer(CUdeviceptr *pointer, size_t *size, CUgraphicsResource resource);
CUresult CUDAAPI compat_array(CUarray *array, CUgraphicsResource resource, unsigned int index,
                              unsigned int level);
CUresult CUDAAPI compat_mipmapped_array(CUmipmappedArray *array, CUgraphicsResource resource);
CUresult CUDAAPI compat_import_memory(CUexternalMemory *memory,
                                      const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);
CUresult CUDAAPI compat_import_semaphore(CUexternalSemaphore *semaphore,
                                         const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);
CUresult compat_map(unsigned int count, CUgraphicsResource *resources, CUstream stream);
CUresult compat_unmap(unsigned int count, CUgraphicsResource *resources, CUstream stream);
CUresult compat_explain_memory(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUresult code);
CUresult compat_explain_semaphore(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc, CUresult code);
bool compat_has_context(void);
CUresult compat_keep_error(CUresult code);
CUresult compat_kept_error(bool take);
CUresult compat_explain_runtime(CUresult code);

#endif
