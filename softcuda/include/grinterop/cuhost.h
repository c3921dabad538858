/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels for a GPU and for the CPU: one .cu file, two compilers.
 *
 * A kernel file that includes this header compiles with nvcc for a GPU, where the header is
 * nearly empty, and with an ordinary C++17 compiler into a shared object that grinterop's software
 * CUDA driver loads with cuModuleLoad or cuModuleLoadData:
 *
 *     nvcc -cubin -arch=sm_90 waves.cu -o waves.cubin
 *     g++ -x c++ -std=c++17 -O2 -fPIC -shared -I/usr/local/cuda/include \
 *         $(pkg-config --cflags grinterop) waves.cu -o waves.so
 *
 * The file:
 *
 *     #include <grinterop/cuhost.h>
 *
 *     extern "C" __global__ void waves(float4 *out, unsigned n, float time)
 *     {
 *         unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
 *         if (i < n)
 *             out[i] = make_float4(i, sinf(i * 0.1f + time), 0, 1);
 *     }
 *     GR_KERNEL(waves)
 *
 * Each kernel is declared extern "C" and registered by one of two lines, at file scope below it:
 *     GR_KERNEL(name)       the threads of a block run one after the other, in a plain loop that
 *                           the compiler can vectorise; for kernels without barriers
 *     GR_KERNEL_SYNC(name)  the threads of a block take turns at each __syncthreads(); slower
 *
 * A kernel that has a barrier but only a GR_KERNEL line ends the program with a message.
 *
 * Dynamic shared memory, `extern __shared__ float tile[];`, needs one more line at file scope below
 * its last use: GR_SHARED(tile). A file has one such array, as a kernel has in CUDA.
 *
 * The CPU build supports threadIdx, blockIdx, blockDim, gridDim, warpSize; __syncthreads and its
 * _count, _and and _or variants; shuffles and votes (grinterop/cuhost_warp.h), with GR_KERNEL_SYNC;
 * atomics; fences; __ldg; the vector types; arithmetic and conversions (grinterop/cuhost_math.h);
 * texture and surface objects (grinterop/cuhost_texture.h and grinterop/cuhost_surface.h). It does
 * not support texture and surface references, or launches within a kernel. The fast intrinsics
 * (__sinf, __expf, ...) return the results of the full functions, which are more precise than the
 * results on a GPU.
 *
 * Files with __device__ functions that are neither static nor inline run faster if compiled with
 * -fno-semantic-interposition.
 */
#ifndef GR_CUHOST_H
#define GR_CUHOST_H

#ifdef __CUDACC__

#define GR_KERNEL(name)
#define GR_KERNEL_SYNC(name)
#define GR_SHARED(name)

#else

#include <stddef.h>
#include <stdint.h>

#include <grinterop/cuhost_image.h>

/*
 * The record by which the driver finds and runs a kernel. A module exports one record per kernel,
 * as the symbol gr_cuhost_kernel_<name>. The driver, which is C, includes this part of the header.
 */

/* The version of the records. The driver refuses a module that was built for another version. */
#define GR_CUHOST_ABI        4u

/* The kernel's threads synchronise at barriers, so the driver runs each thread on its own stack. */
#define GR_CUHOST_SYNC       1u

/* The maximum of dynamic shared memory per block, in bytes. A kernel's attribute must allow it. */
#define GR_CUHOST_SHARED_MAX 101376u

/* The state of one block. The driver fills it in, the module reads it. */
typedef struct gr_cuhost_block {
    unsigned block_idx[3];
    unsigned block_dim[3];
    unsigned grid_dim[3];
    /*
     * Waits until all remaining threads of the block have arrived. Returns how many of them passed
     * a predicate other than 0. NULL without GR_CUHOST_SYNC.
     */
    int (*barrier)(void *fibre, int predicate);
    /*
     * Waits until the lanes in `mask` that are still running in the thread's warp have arrived.
     * Returns their values in values[lane], and the mask of the lanes that arrived. With a `mask`
     * of 0, waits until no thread of the block can run: the lanes that have made the same call by
     * then have arrived. NULL without GR_CUHOST_SYNC.
     */
    unsigned (*exchange)(void *fibre, unsigned mask, uint64_t value, uint64_t values[32]);
    void *fibre;
    void *shared; /* the dynamic shared memory of the launch */
    size_t shared_size;
    const char *kernel;
    const gr_cuhost_images *images;
} gr_cuhost_block;

typedef struct gr_cuhost_kernel {
    uint32_t abi;  /* GR_CUHOST_ABI */
    uint32_t size; /* sizeof(gr_cuhost_kernel) */
    uint32_t flags;
    uint32_t param_count;
    const char *name;
    const uint32_t *param_sizes; /* bytes */
    const uint32_t
        /* The offsets in the buffer of cuLaunchKernel's `extra`, as nvcc lays it out. */
        *param_offsets;
    uint32_t params_size; /* the size of that buffer in bytes */
    uint32_t reserved;
    /*
     * Runs all threads of `count` blocks that are adjacent in x, beginning with the block `first`.
     * The threads of a block do not wait for each other.
     */
    void (*run_blocks)(const struct gr_cuhost_block *first, unsigned count, void *const *params);
    /* Runs one thread. */
    void (*run_thread)(const struct gr_cuhost_block *block, const unsigned thread[3],
                       void *const *params);
} gr_cuhost_kernel;

#ifdef __cplusplus

#if __cplusplus < 201703L
#error "grinterop/cuhost.h: kernels for the CPU need C++17 (-std=c++17)"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

/* The CUDA headers must be included one by one with this macro. */
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#include <crt/host_defines.h>
#include <vector_types.h>
#include <vector_functions.h>
#include <texture_types.h>
#include <surface_types.h>
#undef __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__

/*
 * Protected: dlsym() in the driver finds the function, but the compiler can inline it into the loop
 * over the threads of a block.
 */
#define __global__ __attribute__((visibility("protected")))
#define __device__
#define __host__
/*
 * thread_local, because a block runs on one host thread from its first thread to its last. The
 * constant initial value of an `extern __shared__` array avoids a call that searches for an
 * initialiser.
 */
#ifdef __clang__
#define __shared__ __attribute__((require_constant_initialization)) thread_local
#else
#define __shared__ __constinit thread_local
#endif
#define __constant__
#define __managed__
#define __launch_bounds__(...)

/* Hidden, because modules that are loaded together must not share any of these names. */
#pragma GCC visibility push(hidden)

inline thread_local uint3 threadIdx;
inline thread_local uint3 blockIdx;
inline thread_local dim3 blockDim;
inline thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

namespace gr_cuhost
{

/* The block that this host thread runs. NULL: none, so this is a host function. */
struct place {
    const gr_cuhost_block *launch;
};

inline thread_local place here;

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_barrier()
{
#ifdef __GRINTEROP_NVCC__
    fprintf(stderr,
            "grinterop-nvcc: kernel %s reaches a barrier that the compiler did not find: compile "
            "it with --all-barriers\n",
            here.launch->kernel);
#else
    fprintf(stderr,
            "grinterop/cuhost.h: kernel %s has a barrier: register it with "
            "GR_KERNEL_SYNC(%s)\n",
            here.launch->kernel, here.launch->kernel);
#endif
    abort();
}

inline int barrier(int predicate)
{
    const gr_cuhost_block *launch = here.launch;
    if (launch->barrier == nullptr)
        refuse_barrier();
    /* The other threads of the block change these variables during the wait. */
    const uint3 mine = threadIdx;
    const int count = launch->barrier(launch->fibre, predicate);
    threadIdx = mine;
    here.launch = launch;
    return count;
}

/*
 * Lasts while this host thread runs a block. It may be a thread of the application that waits for
 * the stream, and runs host functions afterwards.
 */
struct visit {
    explicit visit(const gr_cuhost_block *block)
    {
        blockIdx = make_uint3(block->block_idx[0], block->block_idx[1], block->block_idx[2]);
        blockDim = dim3(block->block_dim[0], block->block_dim[1], block->block_dim[2]);
        gridDim = dim3(block->grid_dim[0], block->grid_dim[1], block->grid_dim[2]);
        here.launch = block;
    }
    ~visit() { here.launch = nullptr; }
    visit(const visit &) = delete;
    visit &operator=(const visit &) = delete;
};

template <class... A> struct layout {
    uint32_t sizes[sizeof...(A) + 1] = {static_cast<uint32_t>(sizeof(A))..., 0};
    uint32_t offsets[sizeof...(A) + 1] = {};
    uint32_t total = 0;

    constexpr layout()
    {
        const uint32_t aligns[sizeof...(A) + 1] = {static_cast<uint32_t>(alignof(A))..., 1};
        for (size_t i = 0; i < sizeof...(A); i++) {
            offsets[i] = (total + aligns[i] - 1) / aligns[i] * aligns[i];
            total = offsets[i] + sizes[i];
        }
    }
};

/* Reads a T from the driver's copy, which may not be aligned for T. */
template <class T> inline T load(const void *from)
{
    alignas(T) unsigned char raw[sizeof(T)];
    memcpy(raw, from, sizeof(raw));
    return *std::launder(reinterpret_cast<T *>(raw));
}

template <auto Kernel> struct entry {
    static_assert(sizeof(Kernel) == 0, "a kernel is a function that returns void");
};

template <class... A, void (*Kernel)(A...)> struct entry<Kernel> {
    static_assert(
        (std::is_trivially_copyable_v<A> && ...),
        "the driver copies a kernel's parameters as bytes: pointers and plain structs only");

    using values = std::tuple<std::remove_cv_t<A>...>;
    static constexpr layout<A...> params{};

    template <size_t... I> static values unpack(void *const *p, std::index_sequence<I...>)
    {
        (void)p;
        return values(load<std::remove_cv_t<A>>(p[I])...);
    }

    static void run_one_block(const gr_cuhost_block *block, const values &v)
    {
        for (unsigned z = 0; z < block->block_dim[2]; z++)
            for (unsigned y = 0; y < block->block_dim[1]; y++)
                for (unsigned x = 0; x < block->block_dim[0]; x++) {
                    threadIdx = make_uint3(x, y, z);
                    std::apply(Kernel, v);
                }
    }

    static void run_blocks(const gr_cuhost_block *first, unsigned count, void *const *p)
    {
        const values v = unpack(p, std::index_sequence_for<A...>());
        const visit visiting(first);
        for (unsigned i = 0; i < count; i++) {
            blockIdx.x = first->block_idx[0] + i;
            run_one_block(first, v);
        }
    }

    static void run_thread(const gr_cuhost_block *block, const unsigned thread[3], void *const *p)
    {
        const values v = unpack(p, std::index_sequence_for<A...>());
        const visit visiting(block);
        threadIdx = make_uint3(thread[0], thread[1], thread[2]);
        std::apply(Kernel, v);
    }
};

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_KERNEL(name)      GR_CUHOST_REGISTER(name, 0u)
#define GR_KERNEL_SYNC(name) GR_CUHOST_REGISTER(name, GR_CUHOST_SYNC)

#define GR_CUHOST_REGISTER(name, flags)                                                            \
    extern "C" decltype(name) name; /* nvcc finds the kernel by this name */                       \
    using gr_cuhost_entry_##name = gr_cuhost::entry<&name>;                                        \
    extern "C" {                                                                                   \
    extern __attribute__((visibility("default"))) const gr_cuhost_kernel gr_cuhost_kernel_##name;  \
    const gr_cuhost_kernel gr_cuhost_kernel_##name = {                                             \
        GR_CUHOST_ABI,                                                                             \
        static_cast<uint32_t>(sizeof(gr_cuhost_kernel)),                                           \
        flags,                                                                                     \
        static_cast<uint32_t>(std::tuple_size_v<gr_cuhost_entry_##name::values>),                  \
        #name,                                                                                     \
        gr_cuhost_entry_##name::params.sizes,                                                      \
        gr_cuhost_entry_##name::params.offsets,                                                    \
        gr_cuhost_entry_##name::params.total,                                                      \
        0,                                                                                         \
        gr_cuhost_entry_##name::run_blocks,                                                        \
        gr_cuhost_entry_##name::run_thread,                                                        \
    };                                                                                             \
    }

/*
 * Kernels declare an array of unknown length. This is its storage, to which the linker resolves the
 * declaration.
 */
#define GR_SHARED(name)                                                                            \
    __attribute__((visibility("protected"), used, aligned(256))) thread_local unsigned char        \
        gr_cuhost_shared_##name[GR_CUHOST_SHARED_MAX] __asm__(#name);

/*
 * Functions that are built into nvcc. Functions that the C library has or may get are macros,
 * because a second declaration would conflict with the declaration of the C library.
 */

inline void __syncthreads()
{
    gr_cuhost::barrier(0);
}

inline int __syncthreads_count(int predicate)
{
    return gr_cuhost::barrier(predicate);
}

inline int __syncthreads_or(int predicate)
{
    return gr_cuhost::barrier(predicate) > 0;
}

inline int __syncthreads_and(int predicate)
{
    return gr_cuhost::barrier(predicate == 0) == 0;
}

inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_block()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_system()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

template <class T> inline T __ldg(const T *p)
{
    return *p;
}

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* The second operand of an atomic is converted to the type of the target, as by nvcc. */
template <class T> struct same_as {
    using type = T;
};
template <class T> using same = typename same_as<T>::type;

template <class T, class... U> inline constexpr bool one_of = (std::is_same_v<T, U> || ...);
template <class T>
inline constexpr bool integer = one_of<T, int, unsigned, long long, unsigned long long>;

/* As on a GPU, an atomic does not order other accesses. */
template <class T, class F> inline T update(T *p, F change)
{
    T before;
    __atomic_load(p, &before, __ATOMIC_RELAXED);
    for (;;) {
        T after = change(before);
        if (__atomic_compare_exchange(p, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return before;
    }
}

} // namespace gr_cuhost
#pragma GCC visibility pop

template <class T> inline T atomicAdd(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned, unsigned long long, float, double>,
                  "CUDA has no atomicAdd for this type");
    return gr_cuhost::update(p, [v](T old) { return static_cast<T>(old + v); });
}

template <class T> inline T atomicSub(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned>, "CUDA has no atomicSub for this type");
    return gr_cuhost::update(p, [v](T old) { return static_cast<T>(old - v); });
}

template <class T> inline T atomicMin(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::integer<T>, "CUDA has no atomicMin for this type");
    return gr_cuhost::update(p, [v](T old) { return v < old ? v : old; });
}

template <class T> inline T atomicMax(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::integer<T>, "CUDA has no atomicMax for this type");
    return gr_cuhost::update(p, [v](T old) { return v > old ? v : old; });
}

template <class T> inline T atomicExch(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned, unsigned long long, float>,
                  "CUDA has no atomicExch for this type");
    return gr_cuhost::update(p, [v](T) { return v; });
}

template <class T> inline T atomicCAS(T *p, gr_cuhost::same<T> compare, gr_cuhost::same<T> value)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned, unsigned long long>,
                  "CUDA has no atomicCAS for this type");
    __atomic_compare_exchange(p, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return compare;
}

template <class T> inline T atomicAnd(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned, unsigned long long>,
                  "CUDA has no atomicAnd for this type");
    return gr_cuhost::update(p, [v](T old) { return old & v; });
}

template <class T> inline T atomicOr(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned, unsigned long long>,
                  "CUDA has no atomicOr for this type");
    return gr_cuhost::update(p, [v](T old) { return old | v; });
}

template <class T> inline T atomicXor(T *p, gr_cuhost::same<T> v)
{
    static_assert(gr_cuhost::one_of<T, int, unsigned, unsigned long long>,
                  "CUDA has no atomicXor for this type");
    return gr_cuhost::update(p, [v](T old) { return old ^ v; });
}

inline unsigned atomicInc(unsigned *p, unsigned last)
{
    return gr_cuhost::update(p, [last](unsigned old) { return old >= last ? 0u : old + 1; });
}

inline unsigned atomicDec(unsigned *p, unsigned last)
{
    return gr_cuhost::update(
        p, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

#include <grinterop/cuhost_math.h>
#include <grinterop/cuhost_warp.h>
#include <grinterop/cuhost_texture.h>
#include <grinterop/cuhost_surface.h>

#endif /* __cplusplus */
#endif /* __CUDACC__ */
#endif /* GR_CUHOST_H */
