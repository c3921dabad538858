/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of the CUDA driver. A program that calls CUDA through this header links no CUDA
 * library, and runs on a GPU or on the software CUDA driver. This header needs the headers of the
 * CUDA Toolkit, 12.0 or newer.
 *
 *     const gr_cuda_api *cuda = gr_cuda();   loads the driver if necessary
 *     if (!cuda)
 *         gr_error_print(stderr, "CUDA");
 *     cuda->MemAlloc(&pointer, bytes);       calls cuMemAlloc
 *
 * Thread   any thread, several at the same time
 */
#ifndef GR_CUDA_H
#define GR_CUDA_H

#include <string.h>

#ifdef __has_include
#if !__has_include(<cudaTypedefs.h>)
#error "grinterop/cuda.h needs CUDA's headers, 12.0 or newer: name their folder by -I"
#endif
#endif
#include <cudaTypedefs.h>
#if CUDA_VERSION < 12000
#error "grinterop/cuda.h needs CUDA's headers of 12.0 or newer: name another folder by -I"
#endif

#include <grinterop/cuda_functions.h>
#include <grinterop/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions of the driver ----------------------------------------------------------------- */

/*
 * For gr_cuda(). Loads the driver. If *made is NULL, calls `fill` and sets *made to `table`; a lock
 * in the library ensures that only one thread does so. Returns `table`, or NULL after
 * GR_ERR_NO_DRIVER. `find` looks up a function by its full name ("cuMemAlloc") and the CUDA version
 * of its variant, with the flags of cuGetProcAddress. `find` returns NULL if the driver lacks the
 * function.
 */
typedef void *(*gr_cuda_find_fn)(const char *name, int version, cuuint64_t flags);
typedef void (*gr_cuda_fill_fn)(void *table, gr_cuda_find_fn find);
GR_API const void *gr_cuda_table(void **made, gr_cuda_fill_fn fill, void *table);

/*
 * The types of the functions of cudaGL.h. This header does not include cudaGL.h, which needs an
 * OpenGL header.
 */
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterBuffer_fn)(CUgraphicsResource *, unsigned int,
                                                            unsigned int);
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterImage_fn)(CUgraphicsResource *, unsigned int,
                                                           unsigned int, unsigned int);
typedef CUresult(CUDAAPI *gr_cuGLGetDevices_fn)(unsigned int *, CUdevice *, unsigned int, int);
typedef CUresult(CUDAAPI *gr_cuProfiler_fn)(void);

#define GR_CUDA_MEMBER(name, version, type) type name;

/*
 * The functions of the CUDA driver. The names lack "cu", because macros of the toolkit's cuda.h
 * replace the full names, differently in each toolkit. All signatures are those of CUDA 12.0, even
 * with newer CUDA headers: CtxCreate() takes three arguments, for example.
 *
 * This table is not part of the ABI: the program contains its own table and the code that fills it.
 */
typedef struct gr_cuda_api {
    /* Called instead of any function that the driver lacks. */
    CUresult(CUDAAPI *missing)(void);
    GR_CUDA_FUNCTIONS(GR_CUDA_MEMBER)
} gr_cuda_api;
#undef GR_CUDA_MEMBER

/* The function for gr_cuda_api.missing. */
static inline CUresult CUDAAPI gr_cuda_missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Copies by memcpy(), because C does not define a cast from void * to a function pointer. */
static inline void gr_cuda_set(const gr_cuda_api *api, void *member, void *symbol)
{
    if (symbol)
        memcpy(member, &symbol, sizeof(symbol));
    else
        memcpy(member, &api->missing, sizeof(api->missing));
}

static inline bool gr_cuda_is_set(const gr_cuda_api *api, const void *member)
{
    return memcmp(member, &api->missing, sizeof(api->missing)) != 0;
}

/*
 * Whether the driver has a function of the table: GR_CUDA_HAS(cuda, MemAllocAsync). A call of a
 * missing function is allowed, and returns CUDA_ERROR_NOT_SUPPORTED.
 */
#define GR_CUDA_HAS(api, name) gr_cuda_is_set(api, &(api)->name)

/* Makes a NULL stream mean the default stream that nvcc --default-stream selects. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GR_CUDA_SYMBOL_FLAGS          CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#define GR_CUDA_SYMBOL_LEAST(version) ((version) < 7000 ? 7000 : (version))
#else
#define GR_CUDA_SYMBOL_FLAGS          CU_GET_PROC_ADDRESS_DEFAULT
#define GR_CUDA_SYMBOL_LEAST(version) (version)
#endif

static inline void gr_cuda_fill(void *table, gr_cuda_find_fn find)
{
    gr_cuda_api *api = (gr_cuda_api *)table;
    api->missing = gr_cuda_missing;
#define GR_CUDA_FILL(name, version, type)                                                          \
    gr_cuda_set(api, &api->name,                                                                   \
                find("cu" #name, GR_CUDA_SYMBOL_LEAST(version), GR_CUDA_SYMBOL_FLAGS));
    GR_CUDA_FUNCTIONS(GR_CUDA_FILL)
#undef GR_CUDA_FILL
}

/*
 * Returns the functions of the CUDA driver. Loads the driver if necessary, like
 * gr_cuda_load(false).
 *
 * Valid    until the process ends
 *
 * Errors: NULL after
 *     GR_ERR_NO_DRIVER  there is no usable CUDA driver
 */
static inline const gr_cuda_api *gr_cuda(void)
{
    static gr_cuda_api table;
    static void *made;
#ifdef __GNUC__
    if (__atomic_load_n(&made, __ATOMIC_ACQUIRE))
        return &table;
#endif
    return (const gr_cuda_api *)gr_cuda_table(&made, gr_cuda_fill, &table);
}

#ifdef __cplusplus
}
#endif
#endif
