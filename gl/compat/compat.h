/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The library libgrinterop-compat: the functions behind grinterop/compat.h, which describes them.
 * The program gets a CUgraphicsResource, which is a pointer to a handle: a grinterop resource with
 * its mapping. Of libgrinterop these files call public functions, and those that lib/grinterop.map
 * lists as private.
 */
#ifndef GR_GL_COMPAT_COMPAT_H
#define GR_GL_COMPAT_COMPAT_H

/* First: compat.h needs the types of CUDA. */
#include "lib/cuda/driver.h"

#include <grinterop/compat.h>

/* ---- Codes: the errors of grinterop as the CUDA function would return them ------------------- */

/* Records an error with the driver code and a message, and returns the code. */
#define COMPAT_REFUSE(code, ...) (gr_fail_cuda(code, __VA_ARGS__), (code))

/* Evaluates a code, and returns it from the calling function if it is an error. */
#define COMPAT_TRY(...)                                                                            \
    do {                                                                                           \
        const CUresult tried_ = (__VA_ARGS__);                                                     \
        if (tried_ != CUDA_SUCCESS)                                                                \
            return tried_;                                                                         \
    } while (0)

/* Starts every call: loads the driver and refuses forked children. */
CUresult compat_begin(void);

/* Returns the functions of the driver. compat_begin() must have succeeded. */
const struct gr_driver_api *compat_cuda(void);

/* Gets the thread's CUDA context. Returns an error if there is none. */
CUresult compat_current(CUcontext *current, const char *call);

/*
 * Returns the code of the thread's last error, for maps and later calls: the driver's code if there
 * is one, otherwise a code for the class of the error.
 */
CUresult compat_code(void);

/* Records that the process is out of memory, and returns the code. */
CUresult compat_no_memory(const char *call);

/* ---- Handles --------------------------------------------------------------------------------- */

struct compat_handle {
    gr_resource *resource; /* NULL: the handle has ended */
    gr_buffer *buffer;     /* the mapping, while the resource is mapped */
    CUcontext context;     /* the CUDA context of the resource */
    unsigned map_flags;    /* the flags for maps */
    unsigned transports;   /* those for compat_widen(); 0 as in gr_gl_options */
    bool is_image;
    bool has_slices; /* its arrays have all layers, as of a 3D image */
    bool in_flight;  /* it has frames in flight, by GR_COMPAT */
    bool is_interop; /* its transport is GR_TRANSPORT_INTEROP */
    bool listed;     /* the handle is in the list that a call is checking */
    struct compat_handle *next_free;
};

/*
 * Returns a new handle without a resource; NULL if out of memory. Ended handles are reused, the
 * oldest first, and never freed. So an ended handle is never mistaken for a CUDA handle.
 */
struct compat_handle *compat_handle_new(void);
void compat_handle_end(struct compat_handle *handle);

/* Whether compat.h did not create the handle: CUDA did, or it is invalid. */
bool compat_handle_is_cudas(CUgraphicsResource resource);

/* Refuses NULL, handles that have ended, and those that compat.h did not create. */
CUresult compat_handle_check(CUgraphicsResource resource, const char *call);

/*
 * Starts a call with one resource, and checks its handle. If compat.h did not create the handle,
 * *handle is NULL, and the caller calls CUDA instead.
 */
CUresult compat_handle_begin(CUgraphicsResource resource, const char *call,
                             struct compat_handle **handle);

/*
 * For transports that copy: if the resource was created to copy in only one direction and the map
 * flags need both, creates the resource again before the map, without frames in flight. After an
 * error, which is recorded, the resource is unchanged.
 */
gr_status compat_widen(struct compat_handle *handle, const char *call);

/* ---- The functions of the table -------------------------------------------------------------- */

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

#endif
