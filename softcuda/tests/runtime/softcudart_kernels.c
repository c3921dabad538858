/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels and variables that are registered as in the output of grinterop-nvcc, but written by
 * hand.
 */
#define _GNU_SOURCE
#define GROUP "kernels"
#include "softcudart.h"

#include <grinterop/cuhost_launch.h>

#include <stdatomic.h>
#include <unistd.h>

static unsigned variable[4]; /* a __device__ variable */
static float constant[8];    /* a __constant__ variable */
static unsigned managed[5];  /* a __managed__ variable */
static unsigned never_added[4];

/* Computes out[i] = i * factor for each thread in the x dimension of the blocks. */
static void scale(const gr_cuhost_block *first, unsigned count, unsigned *out, unsigned factor)
{
    for (unsigned t = 0; t < count * first->block_dim[0]; t++) {
        unsigned i = first->block_idx[0] * first->block_dim[0] + t;
        out[i] = i * factor;
    }
}

/* Runs the kernel with the parameters of its function. */
static void run_scale(const gr_cuhost_block *first, unsigned count, void *const *params)
{
    scale(first, count, *(unsigned *const *)params[0], *(const unsigned *)params[1]);
}

/* The dynamic shared memory of the last block that run_closure() ran. */
static _Atomic size_t shared_size;

/* The closure of the kernel, with which run_closure() runs it. */
struct closure {
    unsigned *out;
    unsigned factor;
};

static void run_closure(const gr_cuhost_block *first, unsigned count, void *const *params)
{
    const struct closure *closure = params[0];
    shared_size = first->shared ? first->shared_size : 0;
    scale(first, count, closure->out, closure->factor);
}

static const uint32_t scale_sizes[] = {sizeof(unsigned *), sizeof(unsigned)};
static const uint32_t scale_offsets[] = {0, sizeof(unsigned *)};
static const gr_cuhost_kernel scale_kernel = {
    RECORD("scale", 2, scale_sizes, scale_offsets, sizeof(unsigned *) + sizeof(unsigned)),
    .run_blocks = run_scale};
static const uint32_t closure_sizes[] = {sizeof(struct closure)};
static const uint32_t closure_offsets[] = {0};
static const gr_cuhost_kernel closure_kernel = {
    RECORD("scale", 1, closure_sizes, closure_offsets, sizeof(struct closure)),
    .run_blocks = run_closure};

/* The address by which the program launches the kernel. */
static const char stub;

__attribute__((constructor)) static void add(void)
{
    gr_cuhost_add_kernel(&scale_kernel, "scale", &stub);
    gr_cuhost_add_variable("variable", variable, sizeof(variable), GR_CUHOST_DEVICE);
    gr_cuhost_add_variable("constant", constant, sizeof(constant), GR_CUHOST_CONSTANT);
    gr_cuhost_add_variable("managed", managed, sizeof(managed), GR_CUHOST_MANAGED);
}

enum { BLOCKS = 5, THREADS = 64, NUMBER = BLOCKS * THREADS };

static void is_scaled(const unsigned *memory, unsigned factor)
{
    unsigned numbers[NUMBER];
    CUDA(cudaMemcpy(numbers, memory, sizeof(numbers), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < NUMBER; i++)
        REQUIRE(numbers[i] == i * factor);
}

static void configure(unsigned blocks, unsigned threads, size_t shared, cudaStream_t stream)
{
    const gr_cuhost_config config = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .shared = shared, .stream = stream};
    gr_cuhost_configure(&config);
}

CASE(launched_as_closures)
{
    struct closure closure = {.factor = 3};
    cudaStream_t stream = NULL;
    CUDA(cudaMalloc((void **)&closure.out, NUMBER * sizeof(unsigned)));
    CUDA(cudaStreamCreate(&stream));
    configure(BLOCKS, THREADS, 0, stream);
    gr_cuhost_run(&closure_kernel, &stub, &closure);
    unsigned *memory = closure.out;
    memset(&closure, 0, sizeof(closure)); /* the launch has copied the closure */
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(stream));
    is_scaled(memory, 3);
}

/* A launch with <<< >>> returns no error. It sets the last error. */
static cudaError_t launch(const gr_cuhost_kernel *kernel, unsigned blocks, unsigned threads,
                          size_t shared, const void *closure)
{
    configure(blocks, threads, shared, NULL);
    gr_cuhost_run(kernel, &stub, closure);
    return cudaGetLastError();
}

CASE(refused_if_the_launch_is_invalid)
{
    static gr_cuhost_kernel older; /* the runtime keeps its address */
    const struct closure closure = {0};
    older = closure_kernel;
    gr_cuhost_run(&closure_kernel, &stub, &closure);
    REQUIRE(cudaGetLastError() == cudaErrorMissingConfiguration);
    REQUIRE(launch(&closure_kernel, 1, 1025, 0, &closure) == cudaErrorInvalidConfiguration);
    REQUIRE(launch(&closure_kernel, 0, 64, 0, &closure) == cudaErrorInvalidConfiguration);
    REQUIRE(launch(&closure_kernel, 1, 1, 1 << 20, &closure) == cudaErrorInvalidValue);
    older.abi = GR_CUHOST_ABI - 1; /* the program contains records that are too old */
    REQUIRE(launch(&older, 1, 1, 0, &closure) == cudaErrorNoKernelImageForDevice);
    FAILS(cudaErrorInvalidDeviceFunction,
          cudaLaunchKernel(&never_added, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
}

CASE(launched_by_address)
{
    /* The runtime keeps the first and the last address in the same list. */
    static const char others[16 * 1024 + 1];
    unsigned *memory = NULL, factor = 7;
    void *params[] = {&memory, &factor};
    cudaLaunchConfig_t config;
    CUDA(cudaMalloc((void **)&memory, NUMBER * sizeof(unsigned)));
    CUDA(cudaLaunchKernel(&stub, (dim3){BLOCKS, 1, 1}, (dim3){THREADS, 1, 1}, params, 0, NULL));
    is_scaled(memory, 7);
    memset(&config, 0, sizeof(config));
    config.gridDim = (dim3){BLOCKS, 1, 1};
    config.blockDim = (dim3){THREADS, 1, 1};
    factor = 9;
    CUDA(cudaLaunchKernelExC(&config, &stub, params));
    is_scaled(memory, 9);
    gr_cuhost_add_kernel(&scale_kernel, "scale", &others[0]);
    gr_cuhost_add_kernel(&closure_kernel, "scale", &others[16 * 1024]);
    factor = 8;
    CUDA(cudaLaunchKernelExC(&config, &others[0], params));
    is_scaled(memory, 8);
    config.gridDim.x = 0;
    FAILS(cudaErrorInvalidConfiguration, cudaLaunchKernelExC(&config, &stub, params));
}

CASE(attributes)
{
    struct cudaFuncAttributes has;
    const char *name = NULL;
    size_t offset = 0, size = 0;
    int blocks = 0;
    CUDA(cudaFuncGetAttributes(&has, &stub));
    REQUIRE(has.maxThreadsPerBlock == 1024 && has.maxDynamicSharedSizeBytes == 49152);
    CUDA(cudaFuncGetName(&name, &stub));
    REQUIRE(strcmp(name, "scale") == 0);
    CUDA(cudaFuncGetParamInfo(&stub, 1, &offset, &size));
    REQUIRE(offset == sizeof(unsigned *) && size == sizeof(unsigned));
    FAILS(cudaErrorInvalidValue, cudaFuncGetParamInfo(&stub, 2, &offset, &size));
    READS(blocks, 8, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub, 256, 0));
    CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&size, &stub, 2, 256));
    REQUIRE(size > 0 && size <= 49152);
    CUDA(cudaFuncSetCacheConfig(&stub, cudaFuncCachePreferShared));
    FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&has, never_added));
    FAILS(cudaErrorInvalidValue, cudaFuncGetAttributes(NULL, &stub));
}

/*
 * Attributes that are set for the address apply to launches of its closures, before the first
 * launch and after it.
 */
CASE(attributes_of_closures)
{
    struct closure closure = {.factor = 2};
    CUDA(cudaMalloc((void **)&closure.out, NUMBER * sizeof(unsigned)));
    CUDA(cudaFuncSetAttribute(&stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    configure(BLOCKS, THREADS, 65536, NULL);
    gr_cuhost_run(&closure_kernel, &stub, &closure);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    is_scaled(closure.out, 2);
    REQUIRE(shared_size == 65536);
    CUDA(cudaFuncSetAttribute(&stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152));
    configure(BLOCKS, THREADS, 65536, NULL);
    gr_cuhost_run(&closure_kernel, &stub, &closure);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
}

CASE(variables)
{
    const unsigned numbers[4] = {1, 2, 3, 4};
    unsigned back[4] = {0};
    void *address = NULL;
    size_t size = 0;
    CUDA(cudaMemcpyToSymbol(variable, numbers, sizeof(numbers), 0, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* the copy before may be asynchronous */
    REQUIRE(variable[3] == 4);
    CUDA(cudaMemcpyToSymbol(variable, numbers, 8, 8, cudaMemcpyDefault));
    CUDA(cudaMemcpyFromSymbol(back, variable, sizeof(back), 0, cudaMemcpyDeviceToHost));
    REQUIRE(back[0] == 1 && back[1] == 2 && back[2] == 1 && back[3] == 2);
    READS(size, sizeof(constant), cudaGetSymbolSize(&size, constant));
    CUDA(cudaGetSymbolAddress(&address, constant));
    CUDA(cudaMemset(address, 0, size));
    CUDA(cudaMemcpyFromSymbolAsync(back, variable, 4, 4, cudaMemcpyDeviceToHost, NULL));
    CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(back[0] == 2);
    FAILS(cudaErrorInvalidValue,
          cudaMemcpyToSymbol(variable, numbers, 8, 12, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyToSymbol(variable, numbers, 8, 0, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, never_added));
}

/* The results for `__managed__ unsigned managed[5]` are the same on an H200. */
CASE(managed_variables)
{
    const struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice};
    struct cudaPointerAttributes attributes;
    cudaIpcMemHandle_t handle;
    cudaStream_t stream = NULL;
    void *address = NULL;
    int value = -7;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaPointerGetAttributes(&attributes, managed + 1));
    REQUIRE(attributes.type == cudaMemoryTypeManaged && attributes.device == 0);
    REQUIRE(attributes.devicePointer == managed + 1 && attributes.hostPointer == managed + 1);
    CUDA(cudaMemAdvise(managed, sizeof(managed), cudaMemAdviseSetReadMostly, device));
    CUDA(cudaMemAdvise(managed + 1, 4, cudaMemAdviseSetPreferredLocation, device));
    FAILS(cudaErrorInvalidValue,
          cudaMemAdvise(managed, sizeof(managed) + 1, cudaMemAdviseSetReadMostly, device));
    READS(value, 1,
          cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeReadMostly, managed,
                                   sizeof(managed)));
    CUDA(cudaMemPrefetchAsync(managed, sizeof(managed), device, 0, stream));
    READS(value, 0,
          cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeLastPrefetchLocation,
                                   managed, sizeof(managed)));
    FAILS(cudaErrorInvalidValue, cudaMemPrefetchAsync(variable, 4, device, 0, stream));
    CUDA(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
    FAILS(cudaErrorInvalidValue,
          cudaStreamAttachMemAsync(stream, managed + 1, 0, cudaMemAttachGlobal));
    FAILS(cudaErrorInvalidValue, cudaFree(managed));
    FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, managed));
    READS(address, managed, cudaGetSymbolAddress(&address, managed));
    CUDA(cudaMemsetAsync(managed, 1, sizeof(managed), stream));
    CUDA(cudaStreamSynchronize(stream));
    REQUIRE(managed[0] == 0x01010101 && managed[4] == 0x01010101);
}

/* A variable is removed when its library is unloaded: later allocations may have its addresses. */
CASE(removed_variables)
{
    static unsigned gone[2][4];
    struct cudaPointerAttributes attributes;
    void *address = NULL;
    gr_cuhost_add_variable("gone", gone[0], sizeof(gone[0]), GR_CUHOST_MANAGED);
    gr_cuhost_add_variable("gone", gone[1], sizeof(gone[1]), GR_CUHOST_DEVICE);
    CUDA(cudaGetSymbolAddress(&address, gone[1]));
    CUDA(cudaPointerGetAttributes(&attributes, gone[0]));
    REQUIRE(attributes.type == cudaMemoryTypeManaged);
    CUDA(cudaPointerGetAttributes(&attributes, gone[1]));
    REQUIRE(attributes.type == cudaMemoryTypeDevice);
    gr_cuhost_remove_variable(gone[0]);
    gr_cuhost_remove_variable(gone[1]);
    gr_cuhost_remove_variable(never_added);
    for (int i = 0; i < 2; i++) {
        CUDA(cudaPointerGetAttributes(&attributes, gone[i]));
        REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
        FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, gone[i]));
    }
    CUDA(cudaHostRegister(gone, sizeof(gone), 0));
    CUDA(cudaHostUnregister(gone));
    CUDA(cudaPointerGetAttributes(&attributes, managed));
    REQUIRE(attributes.type == cudaMemoryTypeManaged);
}

/* A library with GPU code is refused. */
CASE(libraries)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n";
    cudaLibrary_t library = NULL;
    FAILS(cudaErrorNoKernelImageForDevice,
          cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    FAILS(cudaErrorFileNotFound,
          cudaLibraryLoadFromFile(&library, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0));
    FAILS(cudaErrorInvalidResourceHandle, cudaLibraryUnload(NULL));
}

/*
 * An assertion fails in a thread of the third block. No thread of that block may continue after the
 * failure.
 */
static unsigned went_on[2];

static void fails_in_third_block(const gr_cuhost_block *block, const unsigned thread[3])
{
    if (block->block_idx[0] == 2)
        gr_cuhost_assert("i < n", "kernel.cu", 7, block->block_idx, thread);
}

static void run_assertion(const gr_cuhost_block *first, unsigned count, void *const *params)
{
    static const unsigned thread[3];
    (void)params;
    gr_cuhost_block block = *first;
    for (unsigned i = 0; i < count; i++, block.block_idx[0]++) {
        fails_in_third_block(&block, thread);
        if (block.block_idx[0] == 2)
            went_on[0]++;
    }
}

static void run_assertion_of_threads(const gr_cuhost_block *block, const unsigned thread[3],
                                     void *const *params)
{
    (void)params;
    fails_in_third_block(block, thread);
    if (block->block_idx[0] == 2)
        went_on[1]++;
}

static const gr_cuhost_kernel assertion_kernels[] = {
    {RECORD("asserts", 0, NULL, NULL, 0), .run_blocks = run_assertion},
    {RECORD("asserts", 0, NULL, NULL, 0), .flags = GR_CUHOST_SYNC,
     .run_thread = run_assertion_of_threads},
};

static atomic_bool may_fail;
static unsigned functions;
static cudaError_t told;

static void wait_until_it_may_fail(void *unused)
{
    (void)unused;
    while (!may_fail)
        usleep(100);
}

static void count_function(void *unused)
{
    (void)unused;
    functions++;
}

static void store_status(cudaStream_t stream, cudaError_t status, void *unused)
{
    (void)stream;
    (void)unused;
    told = status;
}

/*
 * Kernels, fills, copies and host functions behind a failed kernel are dropped. This is the last
 * case, because it destroys the context.
 */
CASE(assertions)
{
    static const unsigned nowhere[3];
    const unsigned char unused = 0;
    /* Outside a kernel, the call returns. */
    gr_cuhost_assert("i < n", "host.c", 7, nowhere, nowhere);
    for (int i = 0; i < 2; i++) {
        unsigned *numbers, *others;
        void *memory = NULL;
        CUDA(cudaHostAlloc((void **)&numbers, NUMBER * sizeof(*numbers), 0));
        CUDA(cudaMalloc((void **)&others, sizeof(*others)));
        memset(numbers, 0x11, NUMBER * sizeof(*numbers));
        may_fail = false;
        told = cudaSuccess;
        went_on[i] = 0;
        CUDA(cudaLaunchHostFunc(NULL, wait_until_it_may_fail, NULL));
        configure(BLOCKS, THREADS, 0, NULL);
        gr_cuhost_run(&assertion_kernels[i], NULL, &unused);
        const struct closure arguments = {numbers, 3};
        configure(BLOCKS, THREADS, 0, NULL);
        gr_cuhost_run(&closure_kernel, NULL, &arguments);
        CUDA(cudaMemsetAsync(numbers, 0x22, 64, NULL));
        CUDA(cudaMemcpyAsync(numbers + 16, others, sizeof(*others), cudaMemcpyDefault, NULL));
        CUDA(cudaLaunchHostFunc(NULL, count_function, NULL));
        CUDA(cudaStreamAddCallback(NULL, store_status, NULL, 0));
        may_fail = true;
        REQUIRE(cudaDeviceSynchronize() == cudaErrorAssert);
        REQUIRE(cudaMalloc(&memory, 64) == cudaErrorAssert);
        for (unsigned k = 0; k < NUMBER; k++)
            REQUIRE(numbers[k] == 0x11111111);
        REQUIRE(functions == 0 && told == cudaErrorAssert && went_on[i] == 0);
        CUDA(cudaDeviceReset());
        CUDA(cudaMalloc(&memory, 64));
        CUDA(cudaFree(memory));
    }
}
