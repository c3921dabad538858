/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Supports the functions of the runtime API that compat.h defines in the program. The table lets
 * programs call the library through one exported symbol.
 */
#include "gl/compat/compat.h"

#include <grinterop/gl.h>

#include "lib/base/error.h"

static _Thread_local CUresult kept;

static CUresult keep_error(CUresult code)
{
    if (code != CUDA_SUCCESS)
        kept = code;
    return code;
}

static CUresult kept_error(bool take)
{
    CUresult code = kept;
    if (take)
        kept = CUDA_SUCCESS;
    return code;
}

/* Logs no error: a driver that does not start is reported by the call that follows. */
static bool has_context(void)
{
    CUcontext current = NULL;
    gr_attempt_begin();
    const CUresult begun = compat_begin();
    gr_attempt_end();
    return begun == CUDA_SUCCESS && compat_cuda()->CtxGetCurrent(&current) == CUDA_SUCCESS &&
           current;
}

static CUresult explain_runtime(CUresult code)
{
    if (code == CUDA_SUCCESS)
        return code;
    (void)compat_begin(); /* logs why the driver does not start, if that is the cause */
    return COMPAT_REFUSE(code, "cudaFree",
                         "The CUDA runtime of the program did not start. The runtime that NVIDIA's "
                         "nvcc links needs an NVIDIA GPU and its driver: without them compile the "
                         "program with grinterop-nvcc, which links a runtime for the software CUDA "
                         "driver.");
}

/* ---- The devices that draw ------------------------------------------------------------------- */

/*
 * Replace cuGLGetDevices and cudaGLGetDevices. The CUDA headers declare them with enums of their
 * own; an int has the same calling convention.
 */
GR_API CUresult CUDAAPI gr_compat_cu_gl_devices(unsigned int *count, CUdevice *devices,
                                                unsigned int size, unsigned int list);
GR_API CUresult CUDAAPI gr_compat_cuda_gl_devices(unsigned int *count, int *devices,
                                                  unsigned int size, unsigned int list);

CUresult CUDAAPI gr_compat_cu_gl_devices(unsigned int *count, CUdevice *devices, unsigned int size,
                                         unsigned int list)
{
    static const char call[] = "cuGLGetDevices";
    int device;
    COMPAT_TRY(compat_begin());
    const CUresult code = compat_cuda()->GLGetDevices(count, devices, size, (int)list);
    if (code == CUDA_SUCCESS)
        return code;
    /* Repeat the query in grinterop, which records why it fails. */
    gr_error_call_begin(call);
    gr_status status = gr_gl_cuda_device(&device);
    gr_error_call_end();
    return status == GR_OK
               ? COMPAT_REFUSE(code, call, "The devices that draw could not be queried.")
               : code;
}

/* The runtime API and the driver API use the same ordinals. */
CUresult CUDAAPI gr_compat_cuda_gl_devices(unsigned int *count, int *devices, unsigned int size,
                                           unsigned int list)
{
    return keep_error(gr_compat_cu_gl_devices(count, devices, size, list));
}

/* ---- The table ------------------------------------------------------------------------------- */

const gr_compat_api *gr_compat(void)
{
    static const gr_compat_api table = {
        .register_buffer = compat_register_buffer,
        .register_image = compat_register_image,
        .unregister = compat_unregister,
        .set_map_flags = compat_set_map_flags,
        .pointer = compat_pointer,
        .array = compat_array,
        .mipmapped_array = compat_mipmapped_array,
        .import_memory = compat_import_memory,
        .import_semaphore = compat_import_semaphore,
        .map = compat_map,
        .unmap = compat_unmap,
        .explain_memory = compat_explain_memory,
        .explain_semaphore = compat_explain_semaphore,
        .has_context = has_context,
        .keep_error = keep_error,
        .kept_error = kept_error,
        .explain_runtime = explain_runtime,
    };
    return &table;
}
