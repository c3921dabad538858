/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions that kernels call after grinterop-nvcc has rewritten them. The body of a kernel is
 * a function object that contains the kernel's parameters. It is passed to the runtime as bytes.
 */
#ifndef GRINTEROP_NVCC_LAUNCH_HPP
#define GRINTEROP_NVCC_LAUNCH_HPP

#pragma GCC system_header

#include <cuda_runtime_api.h>
#include <grinterop/cuhost_launch.h>
#include <grinterop_nvcc_threads.hpp>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/*
 * Declared if the attributes of a lambda must precede `mutable`: grinterop-nvcc searches for this
 * name.
 */
#ifdef __clang__
using attributes_before_mutable = void;
#endif
/*
 * In code that is not optimised, kernel bodies are not inlined: debuggers show wrong parameters in
 * functions that are always inlined.
 */
#ifndef __OPTIMIZE__
using kernels_are_called = void;
#endif

/*
 * The type of a parameter in the type of its function: without the qualifiers of the parameter
 * itself.
 */
template <class T> struct parameter_of {
    using type = std::remove_cv_t<T>;
};
template <class T> struct parameter_of<T *__restrict__> {
    using type = T *;
};
template <class T> struct parameter_of<T *const __restrict__> {
    using type = T *;
};
template <class T> using parameter = typename parameter_of<T>::type;

inline void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
{
    const gr_cuhost_config config = {
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
    gr_cuhost_configure(&config);
}

/*
 * Called by a failed assert(). In a kernel, prints the message of CUDA and ends the kernel with
 * cudaErrorAssert; elsewhere behaves like assert() of the host.
 */
[[noreturn, gnu::cold, gnu::noinline]] inline void assert_failed(const char *expression,
                                                                 const char *file, unsigned line,
                                                                 const char *function,
                                                                 const uint3 block,
                                                                 const uint3 thread)
{
    const unsigned place[2][3] = {{block.x, block.y, block.z}, {thread.x, thread.y, thread.z}};
    gr_cuhost_assert(expression, file, line, place[0], place[1]);
    __assert_fail(expression, file, line, function);
}

/* The dynamic shared memory of the block. */
inline void *shared()
{
    return here.launch->shared;
}

/* An array that is declared as `extern __shared__ T name[]` at file scope. */
template <class T> struct shared_array {
    operator T *() const { return static_cast<T *>(shared()); }
};

/* A device variable, registered while its program or library is loaded. */
class known_variable
{
    void *const address;

public:
    template <class T>
    known_variable(const char *name, T &variable, int kind)
        : address(const_cast<void *>(static_cast<const volatile void *>(&variable)))
    {
        gr_cuhost_add_variable(name, address, sizeof(variable), kind);
    }
    known_variable(const known_variable &) = delete;
    known_variable &operator=(const known_variable &) = delete;
    ~known_variable() { gr_cuhost_remove_variable(address); }
};

/*
 * Set when the driver calls the function of a kernel. The function must then run blocks instead of
 * launching.
 */
struct direct_call {
    const gr_cuhost_block *launch;
    unsigned count;         /* the number of blocks */
    const unsigned *thread; /* the thread to run; NULL for all threads */
};

inline thread_local const direct_call *direct;

/*
 * The record of a kernel under the address of its function, with separate parameters. It is
 * registered before main().
 */
template <unsigned Flags, class Name, auto Self> struct known;

template <unsigned Flags, class Name, class... A, void (*Self)(A...)>
struct known<Flags, Name, Self> {
    static constexpr layout<A...> params{};

    template <size_t... I>
    static void call(const direct_call &how, void *const *p, std::index_sequence<I...>)
    {
        (void)p;
        std::tuple<std::remove_cv_t<A>...> values(load<std::remove_cv_t<A>>(p[I])...);
        direct = &how;
        Self(std::get<I>(values)...);
    }

    static void run_blocks(const gr_cuhost_block *first, unsigned count, void *const *p)
    {
        call({first, count, nullptr}, p, std::index_sequence_for<A...>());
    }

    static void run_thread(const gr_cuhost_block *launch, const unsigned thread[3], void *const *p)
    {
        call({launch, 1, thread}, p, std::index_sequence_for<A...>());
    }

    static constexpr gr_cuhost_kernel kernel = {
        GR_CUHOST_ABI,
        static_cast<uint32_t>(sizeof(gr_cuhost_kernel)),
        Flags &launch_sync ? GR_CUHOST_SYNC : 0,
        static_cast<uint32_t>(sizeof...(A)),
        Name::text(),
        params.sizes,
        params.offsets,
        params.total,
        0,
        run_blocks,
        run_thread,
    };

    static const void *address() { return reinterpret_cast<const void *>(Self); }

    static bool add()
    {
        gr_cuhost_add_kernel(&kernel, Name::text(), address());
        return true;
    }

    static inline const bool added = add();
};

template <unsigned Flags, class Name, class Body> void run_direct(const Body &body)
{
    using entry = body_entry<Flags, Name, Body>;
    const direct_call how = *direct;
    direct = nullptr;
    if constexpr ((Flags & launch_sync) != 0)
        entry::run_thread_at(how.launch, how.thread, &body);
    else
        entry::run_blocks_at(how.launch, how.count, &body);
}

template <unsigned Flags, class Name, auto Self, class Body> void launch(const Body &body)
{
    (void)&known<Flags, Name, Self>::added;
    if (direct)
        run_direct<Flags, Name>(body);
    else
        gr_cuhost_run(&body_entry<Flags, Name, Body>::kernel, known<Flags, Name, Self>::address(),
                      &body);
}

/* Launches a kernel whose function has an unknown type. Only <<< >>> can launch such a kernel. */
template <unsigned Flags, class Name, class Body> void launch(const Body &body)
{
    gr_cuhost_run(&body_entry<Flags, Name, Body>::kernel, nullptr, &body);
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#endif
