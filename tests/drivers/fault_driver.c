/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA driver that fails on demand. It forwards every look-up to a target driver and wraps the
 * functions that grinterop calls: the wrappers count calls and errors and can be set to fail. A
 * test loads it with GR_CUDA_DRIVER=<this file>. FAULT_DRIVER_TARGET names the target driver:
 * "soft" or a file, by default libcuda.so.1.
 *
 * For programs that are not tests, FAULT_DRIVER_FIRST="cuInit=999" makes the first call of a
 * function fail in each process. With "crash" or "hang" in place of the code, that call crashes or
 * hangs.
 */
#define _GNU_SOURCE
#include "fault_driver.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(name, parameters, arguments): functions that can fail. All of them return CUresult. */
#define FAULTS(X)                                                                                  \
    X(cuInit, (unsigned flags), (flags))                                                           \
    X(cuGetErrorName, (CUresult result, const char **text), (result, text))                        \
    X(cuGetErrorString, (CUresult result, const char **text), (result, text))                      \
    X(cuDeviceGetCount, (int *count), (count))                                                     \
    X(cuDeviceCanAccessPeer, (int *reaches, CUdevice device, CUdevice peer),                       \
      (reaches, device, peer))                                                                     \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))         \
    X(cuDevicePrimaryCtxRelease, (CUdevice device), (device))                                      \
    X(cuCtxGetCurrent, (CUcontext * context), (context))                                           \
    X(cuCtxPushCurrent, (CUcontext context), (context))                                            \
    X(cuCtxPopCurrent, (CUcontext * context), (context))                                           \
    X(cuCtxSynchronize, (void), ())                                                                \
    X(cuGLGetDevices, (unsigned *count, CUdevice *devices, unsigned room, int list),               \
      (count, devices, room, list))                                                                \
    X(cuGraphicsGLRegisterBuffer, (CUgraphicsResource * resource, unsigned name, unsigned flags),  \
      (resource, name, flags))                                                                     \
    X(cuGraphicsGLRegisterImage,                                                                   \
      (CUgraphicsResource * resource, unsigned name, unsigned target, unsigned flags),             \
      (resource, name, target, flags))                                                             \
    X(cuGraphicsUnregisterResource, (CUgraphicsResource resource), (resource))                     \
    X(cuGraphicsMapResources, (unsigned count, CUgraphicsResource *resources, CUstream stream),    \
      (count, resources, stream))                                                                  \
    X(cuGraphicsUnmapResources, (unsigned count, CUgraphicsResource *resources, CUstream stream),  \
      (count, resources, stream))                                                                  \
    X(cuMemAlloc, (CUdeviceptr * pointer, size_t size), (pointer, size))                           \
    X(cuMemCreate,                                                                                 \
      (CUmemGenericAllocationHandle * handle, size_t size, const CUmemAllocationProp *prop,        \
       unsigned long long flags),                                                                  \
      (handle, size, prop, flags))                                                                 \
    X(cuMemGetAllocationPropertiesFromHandle,                                                      \
      (CUmemAllocationProp * prop, CUmemGenericAllocationHandle handle), (prop, handle))           \
    X(cuMemFree, (CUdeviceptr pointer), (pointer))                                                 \
    X(cuMemAllocHost, (void **pointer, size_t size), (pointer, size))                              \
    X(cuMemHostRegister, (void *pointer, size_t size, unsigned flags), (pointer, size, flags))     \
    X(cuMemHostUnregister, (void *pointer), (pointer))                                             \
    X(cuMipmappedArrayCreate,                                                                      \
      (CUmipmappedArray * array, const CUDA_ARRAY3D_DESCRIPTOR *described, unsigned levels),       \
      (array, described, levels))                                                                  \
    X(cuMipmappedArrayGetLevel, (CUarray * array, CUmipmappedArray levels, unsigned level),        \
      (array, levels, level))                                                                      \
    X(cuStreamCreate, (CUstream * stream, unsigned flags), (stream, flags))                        \
    X(cuStreamGetCtx, (CUstream stream, CUcontext * context), (stream, context))                   \
    X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status), (stream, status))    \
    X(cuStreamDestroy, (CUstream stream), (stream))                                                \
    X(cuStreamQuery, (CUstream stream), (stream))                                                  \
    X(cuEventQuery, (CUevent event), (event))                                                      \
    X(cuMemcpyHtoDAsync, (CUdeviceptr to, const void *from, size_t size, CUstream stream),         \
      (to, from, size, stream))                                                                    \
    X(cuMemcpyDtoHAsync, (void *to, CUdeviceptr from, size_t size, CUstream stream),               \
      (to, from, size, stream))                                                                    \
    X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),             \
      (to, from, size, stream))                                                                    \
    X(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),         \
      (to, from, size, stream))                                                                    \
    X(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *copy, CUstream stream), (copy, stream))               \
    X(cuImportExternalMemory,                                                                      \
      (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *described),              \
      (memory, described))                                                                         \
    X(cuDestroyExternalMemory, (CUexternalMemory memory), (memory))                                \
    X(cuExternalMemoryGetMappedBuffer,                                                             \
      (CUdeviceptr * pointer, CUexternalMemory memory,                                             \
       const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *described),                                         \
      (pointer, memory, described))                                                                \
    X(cuExternalMemoryGetMappedMipmappedArray,                                                     \
      (CUmipmappedArray * array, CUexternalMemory memory,                                          \
       const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *described),                                \
      (array, memory, described))                                                                  \
    X(cuImportExternalSemaphore,                                                                   \
      (CUexternalSemaphore * semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *described),     \
      (semaphore, described))                                                                      \
    X(cuSignalExternalSemaphoresAsync,                                                             \
      (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *points, \
       unsigned count, CUstream stream),                                                           \
      (semaphores, points, count, stream))                                                         \
    X(cuWaitExternalSemaphoresAsync,                                                               \
      (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *points,   \
       unsigned count, CUstream stream),                                                           \
      (semaphores, points, count, stream))                                                         \
    X(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *user),                          \
      (stream, function, user))                                                                    \
    X(cuEventCreate, (CUevent * event, unsigned flags), (event, flags))                            \
    X(cuEventRecord, (CUevent event, CUstream stream), (event, stream))                            \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), (stream, event, flags)) \
    X(cuMemcpyPeerAsync,                                                                           \
      (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,             \
       size_t size, CUstream stream),                                                              \
      (to, to_context, from, from_context, size, stream))                                          \
    X(cuGraphicsSubResourceGetMappedArray,                                                         \
      (CUarray * array, CUgraphicsResource resource, unsigned layer, unsigned level),              \
      (array, resource, layer, level))                                                             \
    X(cuSurfObjectCreate, (CUsurfObject * surface, const CUDA_RESOURCE_DESC *described),           \
      (surface, described))                                                                        \
    X(cuSurfObjectDestroy, (CUsurfObject surface), (surface))                                      \
    X(cuTexObjectCreate,                                                                           \
      (CUtexObject * texture, const CUDA_RESOURCE_DESC *described,                                 \
       const CUDA_TEXTURE_DESC *sampling, const CUDA_RESOURCE_VIEW_DESC *view),                    \
      (texture, described, sampling, view))                                                        \
    X(cuTexObjectDestroy, (CUtexObject texture), (texture))                                        \
    X(cuGraphicsResourceGetMappedPointer,                                                          \
      (CUdeviceptr * pointer, size_t * size, CUgraphicsResource resource),                         \
      (pointer, size, resource))

#define FAULT_INDEX(name, parameters, arguments) INDEX_##name,
enum { FAULTS(FAULT_INDEX) FAULT_COUNT };

static struct fault {
    const char *name;
    void *real;
    CUresult code;          /* result of the failing call */
    long left;              /* calls up to and including the one that fails; 0: no call fails */
    unsigned long calls;    /* calls so far, except queries of unfinished work */
    unsigned long refusals; /* calls for which the target driver returned an error */
    CUcontext context;      /* the current context at the last call */
} faults[FAULT_COUNT] = {
#define FAULT_NAME(function, parameters, arguments) {.name = #function},
    FAULTS(FAULT_NAME)};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *refused; /* the function that the driver refused last */

/* Values that no driver uses as a code. */
enum { CODE_CRASH = 1 << 20, CODE_HANG };

/* ---- The wrappers ---------------------------------------------------------------------------- */

/* NULL if no context is current, or if cuCtxGetCurrent was never looked up. */
static CUcontext current_context(void)
{
    CUresult(CUDAAPI * ask)(CUcontext *) = NULL;
    CUcontext current = NULL;
    pthread_mutex_lock(&lock);
    memcpy(&ask, &faults[INDEX_cuCtxGetCurrent].real, sizeof(ask));
    pthread_mutex_unlock(&lock);
    return ask && ask(&current) == CUDA_SUCCESS ? current : NULL;
}

/* Counts a call. Returns true if this call must fail, with the code in `*code`. */
static bool is_due(struct fault *fault, CUresult *code)
{
    CUcontext current = current_context();
    pthread_mutex_lock(&lock);
    fault->context = current;
    fault->calls++;
    bool due = fault->left > 0 && --fault->left == 0;
    if (due)
        *code = fault->code;
    pthread_mutex_unlock(&lock);
    if (due && (int)fault->code == CODE_CRASH)
        abort();
    while (due && (int)fault->code == CODE_HANG)
        pause();
    return due;
}

static CUresult note_result(struct fault *fault, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    if (code == CUDA_ERROR_NOT_READY) {
        fault->calls--; /* a wait polls, and counts once */
    } else {
        fault->refusals++;
        refused = fault->name;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* clang-format off: it mistakes the parameter lists for casts. */
#define FAULT_WRAPPER(name, parameters, arguments)                                                 \
    typedef CUresult(CUDAAPI *name##_fn) parameters;                                               \
    static CUresult CUDAAPI failing_##name parameters                                              \
    {                                                                                              \
        struct fault *fault = &faults[INDEX_##name];                                               \
        CUresult code;                                                                             \
        if (is_due(fault, &code))                                                                  \
            return code;                                                                           \
        name##_fn real;                                                                            \
        memcpy(&real, &fault->real, sizeof(real));                                                 \
        return note_result(fault, real arguments);                                                 \
    }
FAULTS(FAULT_WRAPPER)
/* clang-format on */

static struct fault *find_fault(const char *name)
{
    for (size_t i = 0; i < FAULT_COUNT; i++)
        if (strcmp(faults[i].name, name) == 0)
            return &faults[i];
    return NULL;
}

/* Whether maps seem to give images other arrays: each layer that of the next one. */
static bool other_arrays;

static CUresult CUDAAPI pretend_array(CUarray *array, CUgraphicsResource resource, unsigned layer,
                                      unsigned level)
{
    pthread_mutex_lock(&lock);
    layer += other_arrays;
    pthread_mutex_unlock(&lock);
    return failing_cuGraphicsSubResourceGetMappedArray(array, resource, layer, level);
}

/* Whether memory of cuMemCreate() seems to be on the host. */
static atomic_bool on_host;

static CUresult CUDAAPI pretend_properties(CUmemAllocationProp *prop,
                                           CUmemGenericAllocationHandle handle)
{
    const CUresult result = failing_cuMemGetAllocationPropertiesFromHandle(prop, handle);
    if (result == CUDA_SUCCESS && on_host)
        prop->location.type = (CUmemLocationType)2; /* HOST, which an older cuda.h lacks */
    return result;
}

/* ISO C cannot convert a function pointer to void *. */
#define FAULT_ADDRESS(name, parameters, arguments)                                                 \
    if (index == INDEX_##name) {                                                                   \
        name##_fn function = failing_##name;                                                       \
        memcpy(&address, &function, sizeof(address));                                              \
    }
static void *wrapper_of(ptrdiff_t index)
{
    void *address = NULL;
    FAULTS(FAULT_ADDRESS)
    if (index == INDEX_cuGraphicsSubResourceGetMappedArray) {
        cuGraphicsSubResourceGetMappedArray_fn function = pretend_array;
        memcpy(&address, &function, sizeof(address));
    }
    if (index == INDEX_cuMemGetAllocationPropertiesFromHandle) {
        cuMemGetAllocationPropertiesFromHandle_fn function = pretend_properties;
        memcpy(&address, &function, sizeof(address));
    }
    return address;
}

/* ---- The target driver ----------------------------------------------------------------------- */

typedef CUresult(CUDAAPI *look_up_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);
static look_up_fn look_up;
static void *target_driver;

/* The software driver of grinterop is in the folder of this file, or in grinterop/ below it. */
static void *open_software_driver(void)
{
    static const char *const folders[] = {"", "grinterop/"};
    Dl_info grinterop;
    void *symbol = dlsym(RTLD_DEFAULT, "gr_library_version");
    if (!symbol || !dladdr(symbol, &grinterop) || !strrchr(grinterop.dli_fname, '/'))
        return NULL;
    int length = (int)(strrchr(grinterop.dli_fname, '/') - grinterop.dli_fname);
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%.*s/%slibgrinterop-softcuda.so", length, grinterop.dli_fname,
                 folders[i]);
        void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (driver)
            return driver;
    }
    return NULL;
}

static void open_target(void)
{
    const char *target = getenv("FAULT_DRIVER_TARGET");
    if (!target)
        target = "libcuda.so.1";
    target_driver = strcmp(target, "soft") == 0 ? open_software_driver()
                                                : dlopen(target, RTLD_NOW | RTLD_LOCAL);
    void *symbol = target_driver ? dlsym(target_driver, "cuGetProcAddress_v2") : NULL;
    if (symbol)
        memcpy(&look_up, &symbol, sizeof(look_up));
    else
        fprintf(stderr, "fault_driver: no driver %s\n", target);
}

static int read_code(const char *text)
{
    if (strcmp(text, "crash") == 0)
        return CODE_CRASH;
    return strcmp(text, "hang") == 0 ? CODE_HANG : atoi(text);
}

static void read_environment(void)
{
    char name[64], code[16];
    const char *first = getenv("FAULT_DRIVER_FIRST");
    if (!first || sscanf(first, "%63[^=]=%15s", name, code) != 2)
        return;
    struct fault *fault = find_fault(name);
    if (fault) {
        fault->code = (CUresult)read_code(code);
        fault->left = 1;
    } else {
        fprintf(stderr, "fault_driver: %s cannot fail\n", name);
    }
}

static void open_target_and_read(void)
{
    open_target();
    read_environment();
}

static void open_target_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_target_and_read);
}

/*
 * Whether the driver hides the function. FAULT_DRIVER_LACKS hides the functions of its list, in
 * which a comma follows each name. FAULT_DRIVER_CUDA, such as 11020, hides the functions of later
 * CUDA versions.
 */
static bool is_withheld(const char *name, int version)
{
    const char *lacks = getenv("FAULT_DRIVER_LACKS"), *cuda = getenv("FAULT_DRIVER_CUDA");
    size_t length = name ? strlen(name) : 0;
    if (cuda && version > atoi(cuda))
        return true;
    for (; lacks && length && (lacks = strstr(lacks, name)); lacks += length)
        if (lacks[length] == ',')
            return true;
    return false;
}

static CUresult find(const char *name, void **found, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *status)
{
    open_target_once();
    if (!look_up || is_withheld(name, version))
        return CUDA_ERROR_NOT_FOUND;
    CUresult result = look_up(name, found, version, flags, status);
    struct fault *fault = name ? find_fault(name) : NULL;
    if (result == CUDA_SUCCESS && found && *found && fault) {
        pthread_mutex_lock(&lock);
        if (fault->real != *found) /* other threads may read it, without the lock */
            fault->real = *found;
        pthread_mutex_unlock(&lock);
        *found = wrapper_of(fault - faults);
    }
    return result;
}

/* cuda.h defines one of the two names as a macro; which one depends on its version. */
#undef cuGetProcAddress
#define EXPORTED __attribute__((visibility("default")))

EXPORTED CUresult CUDAAPI
fault_look_up_v2(const char *name, void **found, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult *status) __asm__("cuGetProcAddress_v2");
CUresult CUDAAPI fault_look_up_v2(const char *name, void **found, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    return find(name, found, version, flags, status);
}

EXPORTED CUresult CUDAAPI fault_look_up(const char *name, void **found, int version,
                                        cuuint64_t flags) __asm__("cuGetProcAddress");
CUresult CUDAAPI fault_look_up(const char *name, void **found, int version, cuuint64_t flags)
{
    return find(name, found, version, flags, NULL);
}

/*
 * More symbols of the software driver: with the first grinterop identifies it, with the second
 * grinterop creates semaphores, and tests use the others. The resolver of an indirect function
 * decides whether the symbol exists, so that this file has the symbols only if the target driver
 * has them.
 */
typedef void (*any_fn)(void);
static any_fn find_in_target(const char *name)
{
    open_target_once();
    void *symbol = target_driver ? dlsym(target_driver, name) : NULL;
    any_fn function;
    memcpy(&function, &symbol, sizeof(function));
    return function;
}

#define FORWARD(name)                                                                              \
    __attribute__((used)) static any_fn resolve_##name(void)                                       \
    {                                                                                              \
        return find_in_target(#name);                                                              \
    }                                                                                              \
    EXPORTED void name(void) __attribute__((ifunc("resolve_" #name)));
FORWARD(gr_softcuda_version)
FORWARD(gr_softcuda_semaphore_create)
FORWARD(gr_softcuda_semaphore_open)
FORWARD(gr_softcuda_semaphore_close)
FORWARD(gr_softcuda_semaphore_signal)
FORWARD(gr_softcuda_semaphore_value)
FORWARD(gr_softcuda_semaphore_wait)

/* ---- Interface for tests --------------------------------------------------------------------- */

static bool set(const char *name, int code, long after)
{
    struct fault *fault = find_fault(name);
    if (!fault)
        return false;
    pthread_mutex_lock(&lock);
    fault->code = (CUresult)code;
    fault->left = code ? after + 1 : 0;
    pthread_mutex_unlock(&lock);
    return true;
}

static const char *name_of(unsigned number)
{
    return number < FAULT_COUNT ? faults[number].name : NULL;
}

static unsigned long calls(const char *name)
{
    const struct fault *fault = find_fault(name);
    pthread_mutex_lock(&lock);
    unsigned long count = fault ? fault->calls : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

static unsigned long refusals(const char *name)
{
    unsigned long count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < FAULT_COUNT; i++)
        if (!name || strcmp(faults[i].name, name) == 0)
            count += faults[i].refusals;
    pthread_mutex_unlock(&lock);
    return count;
}

static unsigned long all_refusals(void)
{
    return refusals(NULL);
}

static const char *last_refusal(void)
{
    pthread_mutex_lock(&lock);
    const char *name = refused;
    pthread_mutex_unlock(&lock);
    return name;
}

static CUcontext context(const char *name)
{
    const struct fault *fault = find_fault(name);
    pthread_mutex_lock(&lock);
    CUcontext last = fault ? fault->context : NULL;
    pthread_mutex_unlock(&lock);
    return last;
}

static void give_other_arrays(bool other)
{
    pthread_mutex_lock(&lock);
    other_arrays = other;
    pthread_mutex_unlock(&lock);
}

static void give_host_memory(bool host)
{
    on_host = host;
}

static void reset(void)
{
    pthread_mutex_lock(&lock);
    other_arrays = false;
    on_host = false;
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        faults[i].left = 0;
        faults[i].calls = 0;
        faults[i].refusals = 0;
        faults[i].context = NULL;
    }
    pthread_mutex_unlock(&lock);
}

EXPORTED const struct fault_api fault_api = {
    .set = set,
    .name = name_of,
    .calls = calls,
    .refusals = refusals,
    .all_refusals = all_refusals,
    .last_refusal = last_refusal,
    .context = context,
    .give_other_arrays = give_other_arrays,
    .give_host_memory = give_host_memory,
    .reset = reset,
};
