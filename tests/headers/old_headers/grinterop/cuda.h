/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver that grinterop found when the program ran. A program that calls CUDA through this
 * header links nothing of CUDA, and runs on a GPU and on the software CUDA driver alike.
 *
 *     gr_cuda_load(true);                    without a GPU: the software driver
 *     const gr_cuda_api *cuda = gr_cuda();
 *     if (!cuda)
 *         gr_error_print(stderr, "CUDA");
 *     GR_AUTO(gr_cuda_context) *device = gr_cuda_context_create(0);
 *     cuda->MemAlloc(&pointer, bytes);       the driver's cuMemAlloc
 *
 * Thread   any thread, several at once
 */
#ifndef GR_CUDA_H
#define GR_CUDA_H

#include <cudaTypedefs.h>
#include <string.h>

#include <grinterop/cuda_functions.h>
#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Which driver ---------------------------------------------------------------------------- */

/*
 * Loads the CUDA driver and starts it, unless that has happened already.
 *
 * The environment variable GR_CUDA_DRIVER decides first. "soft" is the software CUDA driver, which
 * comes with grinterop; anything else is the file to load. Without it libcuda.so.1 is loaded.
 *
 * Where that cannot start and `allow_software` is true, the software driver is loaded instead, and
 * a line on the standard error stream says so.
 *
 * The choice stays until the process ends. Making a resource, a semaphore or a context loads the
 * driver as gr_cuda_load(false) does, so a program that needs no choice needs no call.
 *
 * Errors:
 *     GR_ERR_NO_DRIVER  no driver starts; the message names the file and what it answered
 *
 * Wraps cuInit.
 */
GR_API gr_status gr_cuda_load(bool allow_software);

/* Whether the loaded driver is the software one. False before a driver is loaded. */
GR_API bool gr_cuda_is_software(void);

/*
 * The file that was loaded, for example "libcuda.so.1"; "" before a driver is loaded.
 *
 * Valid    until the process ends
 */
GR_API const char *gr_cuda_driver_path(void);

/* ---- A context and a stream ------------------------------------------------------------------ */

/* A device's primary context that is held, with a stream in it. */
typedef struct gr_cuda_context gr_cuda_context;

/*
 * Makes the primary context of a CUDA device current on the calling thread, with a new stream that
 * the default stream does not hold up. `device` is the number of the device, as CUDA counts.
 *
 *     GR_AUTO(gr_cuda_context) *device = gr_cuda_context_create(0);
 *     CUstream stream = gr_cuda_context_stream(device);
 *
 * The primary context is the one that CUDA's runtime (<<<...>>>) uses too. A program that has a
 * context already needs no other.
 *
 * Owner    the caller, who frees it with gr_cuda_context_free(), on the same thread
 *
 * Errors: NULL, with the context current that was, after
 *     GR_ERR_NO_DRIVER      no driver starts
 *     GR_ERR_INVALID_VALUE  there is no such device
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_NO_MEMORY      there is none
 *
 * Wraps cuDevicePrimaryCtxRetain, cuCtxSetCurrent, cuStreamCreate.
 */
GR_API gr_cuda_context *gr_cuda_context_create(int device);

/*
 * The context that is held, and the stream in it.
 *
 * Valid    until gr_cuda_context_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `context` is NULL
 */
GR_API CUcontext gr_cuda_context_context(const gr_cuda_context *context);
GR_API CUstream gr_cuda_context_stream(const gr_cuda_context *context);

/*
 * Ends it: waits for the stream and destroys it, makes current again what was current before, and
 * lets go of the primary context. NULL is fine.
 *
 * Free the resources that were made with it first.
 *
 * Thread   the one that made it
 *
 * Errors: recorded, as nothing is returned
 *     GR_ERR_INVALID_VALUE  it has been freed already
 */
GR_API void gr_cuda_context_free(gr_cuda_context *context);

#if defined(__GNUC__)
GR_API void gr_cuda_context_at_scope_end(gr_cuda_context **context); /* for GR_AUTO */
#endif

/* ---- Its functions --------------------------------------------------------------------------- */

/*
 * Looks a function of the CUDA driver up, by its full name ("cuMemAlloc") and the CUDA version
 * whose variant is wanted: 2000 is CUDA 2.0, 12050 is CUDA 12.5. `flags` are those of
 * cuGetProcAddress: 0, or CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.
 *
 * The driver is loaded as by gr_cuda_load(false). *symbol is NULL where the driver has no such
 * function: that is an answer, not an error.
 *
 * Valid    until the process ends
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `name` or `symbol` is NULL
 *     GR_ERR_NO_DRIVER      no driver starts
 *
 * Wraps cuGetProcAddress.
 */
GR_API gr_status gr_cuda_symbol(const char *name, int version, cuuint64_t flags, void **symbol);

/*
 * What gr_cuda() calls. `fill` is run once for each `made`, which is NULL before and `table`
 * afterwards. Returns `table`, or NULL after GR_ERR_NO_DRIVER.
 */
GR_API const void *gr_cuda_table(void **made, void (*fill)(void *table), void *table);

/* OpenGL's side of the driver. cudaGL.h has these types too, but needs an OpenGL header. */
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterBuffer_fn)(CUgraphicsResource *, unsigned int,
                                                            unsigned int);
typedef CUresult(CUDAAPI *gr_cuGraphicsGLRegisterImage_fn)(CUgraphicsResource *, unsigned int,
                                                           unsigned int, unsigned int);
typedef CUresult(CUDAAPI *gr_cuGLGetDevices_fn)(unsigned int *, CUdevice *, unsigned int, int);
typedef CUresult(CUDAAPI *gr_cuProfiler_fn)(void);

/*
 * The functions of the CUDA driver, under their names without "cu". The names are grinterop's own:
 * cuda.h renames the driver's by macros, differently in each toolkit.
 *
 * This table is no part of the library's ABI. gr_cuda() makes it in the program, from the list that
 * the program was compiled with.
 */
#define GR_CUDA_MEMBER(name, version, type) type name;
typedef struct gr_cuda_api {
    GR_CUDA_FUNCTIONS(GR_CUDA_MEMBER)
} gr_cuda_api;
#undef GR_CUDA_MEMBER

/* Stands in the table for a function that the driver does not have. */
static inline CUresult CUDAAPI gr_cuda_missing(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* A function pointer's bits into a table's member: C has no cast from an object pointer for it. */
static inline void gr_cuda_set(void *member, void *symbol)
{
    CUresult(CUDAAPI * missing)(void) = gr_cuda_missing;
    if (symbol)
        memcpy(member, &symbol, sizeof(symbol));
    else
        memcpy(member, &missing, sizeof(missing));
}

static inline bool gr_cuda_is_set(const void *member)
{
    CUresult(CUDAAPI * missing)(void) = gr_cuda_missing;
    return memcmp(member, &missing, sizeof(missing)) != 0;
}

/*
 * Whether the driver has a function of the table: GR_CUDA_HAS(cuda, MemAllocAsync). One that it
 * does not have can be called all the same, and returns CUDA_ERROR_NOT_SUPPORTED.
 */
#define GR_CUDA_HAS(api, name) gr_cuda_is_set(&(api)->name)

/* The default stream that a NULL stream means in this file, as nvcc's option chooses it. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GR_CUDA_SYMBOL_FLAGS          CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#define GR_CUDA_SYMBOL_LEAST(version) ((version) < 7000 ? 7000 : (version))
#else
#define GR_CUDA_SYMBOL_FLAGS          CU_GET_PROC_ADDRESS_DEFAULT
#define GR_CUDA_SYMBOL_LEAST(version) (version)
#endif

static inline void gr_cuda_fill(void *table)
{
    gr_cuda_api *api = (gr_cuda_api *)table;
    void *symbol;
#define GR_CUDA_FILL(name, version, type)                                                          \
    symbol = NULL;                                                                                 \
    gr_cuda_symbol("cu" #name, GR_CUDA_SYMBOL_LEAST(version), GR_CUDA_SYMBOL_FLAGS, &symbol);      \
    gr_cuda_set(&api->name, symbol);
    GR_CUDA_FUNCTIONS(GR_CUDA_FILL)
#undef GR_CUDA_FILL
}

/*
 * The functions of the CUDA driver, which is loaded as by gr_cuda_load(false).
 *
 * Valid    until the process ends
 *
 * Errors: NULL after
 *     GR_ERR_NO_DRIVER  no driver starts
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
