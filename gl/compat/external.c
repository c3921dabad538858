/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of compat.h for imports: the imports call CUDA directly, and grinterop explains
 * failures.
 */
#include "gl/compat/compat.h"
#include <grinterop/external.h>
#include <grinterop/semaphore.h>

#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/sync/sync.h"

CUresult compat_explain_memory(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, CUresult code)
{
    static const char call[] = "cuImportExternalMemory";
    if (code == CUDA_SUCCESS || compat_begin() != CUDA_SUCCESS)
        return code;
    if (!desc)
        return COMPAT_REFUSE(code, call, "The description is NULL.");
    gr_external_memory_desc own =
        GR_INIT(gr_external_memory_desc, .type = desc->type, .size = desc->size,
                .dedicated = desc->flags & CUDA_EXTERNAL_MEMORY_DEDICATED);
    if (gr_external_has_fd(desc->type)) {
        own.fd = desc->handle.fd;
    } else if (desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF) {
        own.nvscibuf = desc->handle.nvSciBufObject;
    } else {
        own.win32_handle = desc->handle.win32.handle;
        own.win32_name = desc->handle.win32.name;
    }
    gr_error_call_begin(call);
    if (gr_external_check(&own) == GR_OK)
        gr_external_refused(&own, code);
    gr_error_call_end();
    return code;
}

CUresult compat_explain_semaphore(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc, CUresult code)
{
    static const char call[] = "cuImportExternalSemaphore";
    if (code == CUDA_SUCCESS || compat_begin() != CUDA_SUCCESS)
        return code;
    if (!desc)
        return COMPAT_REFUSE(code, call, "The description is NULL.");
    gr_semaphore_desc own = GR_INIT(gr_semaphore_desc, .type = desc->type);
    if (desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
        desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD) {
        own.fd = desc->handle.fd;
    } else if (desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC) {
        own.nvscisync = desc->handle.nvSciSyncObj;
    } else {
        own.win32_handle = desc->handle.win32.handle;
        own.win32_name = desc->handle.win32.name;
    }
    gr_error_call_begin(call);
    if (gr_semaphore_check(&own) == GR_OK)
        gr_semaphore_refused(&own, code);
    gr_error_call_end();
    return code;
}

CUresult CUDAAPI compat_import_memory(CUexternalMemory *memory,
                                      const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    COMPAT_TRY(compat_begin());
    return compat_explain_memory(desc, compat_cuda()->ImportExternalMemory(memory, desc));
}

CUresult CUDAAPI compat_import_semaphore(CUexternalSemaphore *semaphore,
                                         const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    COMPAT_TRY(compat_begin());
    return compat_explain_semaphore(desc, compat_cuda()->ImportExternalSemaphore(semaphore, desc));
}
