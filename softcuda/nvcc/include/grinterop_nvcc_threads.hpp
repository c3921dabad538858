/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs the threads of a kernel's blocks: one thread after the other, or in loops that compilers
 * vectorise, over the rows of one block or of many blocks. The body of a kernel is a function
 * object that contains the kernel's parameters, and each thread calls a copy of it.
 */
#ifndef GRINTEROP_NVCC_THREADS_HPP
#define GRINTEROP_NVCC_THREADS_HPP

#pragma GCC system_header

#include <grinterop/cuhost.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* These values must match softcuda/nvcc/launch_flags.h. */
inline constexpr unsigned launch_sync = 1, launch_place = 2, launch_given = 4, launch_guard = 8,
                          launch_line = 16, launch_span = 32, launch_stride = 64;

/*
 * Decides at the beginning of a kernel whether a thread has work. Compilers do not vectorise code
 * after such a test. So the test alone is first evaluated for all threads (mode `ask`). If all have
 * work, they run without the test (`none`), otherwise with the test (`decide`).
 */
struct guard {
    enum what { decide, ask, none };
    what mode;
    unsigned refused; /* 1 if the thread has no work; as wide as the compared values */
    bool was_round;

    /*
     * Each test of a kernel calls stop(), except the last test, which calls last() or go() and ends
     * the evaluation.
     */
    [[gnu::always_inline]] bool stop(bool refuse)
    {
        refused |= refuse ? 1u : 0u;
        return mode == decide && refuse;
    }
    [[gnu::always_inline]] bool last(bool refuse)
    {
        refused |= refuse ? 1u : 0u;
        return mode == ask || (mode == decide && refuse);
    }
    [[gnu::always_inline]] bool go(bool accept) { return !last(!accept); }

    /*
     * The test of a grid-stride loop. In mode `none` each thread runs one round of the loop,
     * without a test.
     */
    [[gnu::always_inline]] bool round(bool accept)
    {
        return mode == none ? !was_round : go(accept);
    }
    [[gnu::always_inline]] void next() { was_round = true; }
};

/*
 * The function object that is copied into each thread. It is read once, so that a compiler keeps it
 * in registers.
 */
template <class Body, bool Plain> struct original {
    const Body body;

    explicit original(const void *from) : body(load<Body>(from)) {}
};

/*
 * nvcc copies all parameters as bytes. This class does so for types that have copy functions.
 */
template <class Body> struct original<Body, false> {
    alignas(Body) unsigned char bytes[sizeof(Body)];

    explicit original(const void *from) { memcpy(bytes, from, sizeof(bytes)); }
};

template <class Body, unsigned Flags> struct runner {
    static constexpr bool plain = std::is_trivially_copyable_v<Body>;
    original<Body, plain> from;

    explicit runner(const void *bytes) : from(bytes) {}

    [[gnu::always_inline]] void call(Body &body, const uint3 thread, const uint3 block,
                                     const dim3 block_dim, const dim3 grid_dim, guard &g) const
    {
        (void)g;
        if constexpr ((Flags & launch_guard) != 0)
            body(thread, block, block_dim, grid_dim, g);
        else if constexpr ((Flags & launch_given) != 0)
            body(thread, block, block_dim, grid_dim);
        else
            body();
    }

    [[gnu::always_inline]] void operator()(const uint3 thread, const uint3 block,
                                           const dim3 block_dim, const dim3 grid_dim,
                                           guard &g) const
    {
        if constexpr (plain) {
            Body body(from.body);
            call(body, thread, block, block_dim, grid_dim, g);
        } else {
            original<Body, plain> mine(from.bytes);
            call(*std::launder(reinterpret_cast<Body *>(mine.bytes)), thread, block, block_dim,
                 grid_dim, g);
        }
    }
};

/*
 * Precedes a loop over threads that do not wait for each other. CUDA guarantees no order of such
 * threads, so they may run in any order and at the same time, whatever they read and write. The
 * steps of one thread keep their order.
 */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define GR_CUHOST_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GR_CUHOST_INDEPENDENT _Pragma("GCC ivdep")
#endif

/*
 * In code that is not optimised, each thread has its own index, and no test is evaluated in
 * advance. This is for debuggers.
 */
#ifdef __OPTIMIZE__
inline constexpr bool is_optimised = true;
#else
inline constexpr bool is_optimised = false;
#endif

template <unsigned Flags, class Name, class Body> struct body_entry {
    static constexpr bool has_guard = is_optimised && (Flags & launch_guard) != 0;
    static constexpr bool has_span = has_guard && (Flags & launch_span) != 0;
    static constexpr bool has_stride = has_guard && (Flags & launch_stride) != 0;
    static constexpr bool has_line = is_optimised && (Flags & launch_line) != 0;

    /* The values that are the same for all threads that run together. */
    struct scene {
        const runner<Body, Flags> &run;
        const uint3 block;
        const dim3 block_dim, grid_dim;
    };

    [[gnu::always_inline]] static unsigned run_one(const scene &s, const uint3 thread,
                                                   const guard::what mode)
    {
        if constexpr ((Flags & launch_place) != 0 || (Flags & launch_given) == 0)
            threadIdx = thread;
        guard g = {mode, 0, false};
        s.run(thread, s.block, s.block_dim, s.grid_dim, g);
        return g.refused;
    }

    static constexpr unsigned most_threads = 1024;
    static constexpr int farthest = (1u << 31) - most_threads - 1;

    /* Whether blockIdx.x * blockDim.x + threadIdx.x stays below 2^31. */
    static bool is_near(const unsigned last_block, const dim3 block_dim)
    {
        return (last_block + uint64_t{1}) * block_dim.x < (1u << 31) - most_threads;
    }

    /*
     * Runs threads that differ only in x. Returns whether all have work. The loop variable is the
     * index blockIdx.x * blockDim.x + threadIdx.x itself, so the compiler sees that the threads
     * access neighbouring memory. For the sum of a start and a counter, the compiler would have to
     * expect an overflow.
     */
    [[gnu::always_inline]] static bool run_row(const scene &s, const int first, const int end,
                                               const unsigned y, const unsigned z,
                                               const guard::what mode)
    {
        unsigned refused = 0;
        GR_CUHOST_INDEPENDENT
        for (int at = first; at < end; at++) {
            if (at < 0)
                __builtin_unreachable();
            const unsigned x = static_cast<unsigned>(at) - s.block.x * s.block_dim.x;
            refused |= run_one(s, {x, y, z}, mode);
        }
        return refused == 0;
    }

    [[gnu::always_inline]] static void run_asked(const scene &s, const int first, const int end,
                                                 const unsigned y, const unsigned z)
    {
        if (run_row(s, first, end, y, z, guard::ask))
            run_row(s, first, end, y, z, guard::none);
        else
            run_row(s, first, end, y, z, guard::decide);
    }

    /* ---- Rows of several blocks, for kernels that use only the index ------------------------- */

    [[gnu::always_inline]] static bool passes(const scene &s, const int at, const unsigned y,
                                              const unsigned z)
    {
        return run_row(s, at, at + 1, y, z, guard::ask);
    }

    /* The end of the range of passing threads. The thread `first` passes. */
    [[gnu::always_inline]] static int end_of_passing(const scene &s, int first, int end,
                                                     const unsigned y, const unsigned z)
    {
        for (int edge = 0; edge < 3; edge++, end--)
            if (passes(s, end - 1, y, z))
                return end;
        while (end - first > 1) {
            const int middle = first + (end - first) / 2;
            (passes(s, middle, y, z) ? first : end) = middle;
        }
        return end;
    }

    /*
     * Runs the passing threads of a row. They are neighbours, so only the first and the last are
     * searched.
     */
    [[gnu::always_inline]] static void run_span(const scene &s, int first, const int end,
                                                const unsigned y, const unsigned z)
    {
        while (first < end && !passes(s, first, y, z))
            first++;
        if (first < end)
            run_row(s, first, end_of_passing(s, first, end, y, z), y, z, guard::none);
    }

    /*
     * Runs each round of a grid-stride loop as a thread of its own. If a round has no work, no
     * later round has work.
     */
    [[gnu::always_inline]] static void run_rounds(const scene &s, const int first, const int end,
                                                  const unsigned y, const unsigned z)
    {
        const int64_t stride = int64_t{s.grid_dim.x} * s.block_dim.x;
        for (int64_t from = first; from < farthest; from += stride) {
            const int64_t all = from + (end - first);
            const int at = static_cast<int>(from);
            const int to = static_cast<int>(all < farthest ? all : farthest);
            if (!passes(s, at, y, z))
                return;
            run_row(s, at, end_of_passing(s, at, to, y, z), y, z, guard::none);
        }
    }

    /* Whether the rounds end before the index becomes too large. */
    [[gnu::always_inline]] static bool ends(const scene &s)
    {
        bool is_so = true;
        for (unsigned z = 0; z < s.block_dim.z; z++)
            for (unsigned y = 0; y < s.block_dim.y; y++)
                is_so = is_so && !passes(s, farthest, y, z);
        return is_so;
    }

    /*
     * Evaluates the tests and runs the threads one block at a time, so that the memory of a block
     * is still in the cache after the tests.
     */
    [[gnu::always_inline]] static void run_blocks_asked(const scene &s, const int first,
                                                        const int end, const unsigned y,
                                                        const unsigned z)
    {
        const int width = static_cast<int>(s.block_dim.x);
        for (int at = first; at < end; at += width)
            run_asked(s, at, at + width, y, z);
    }

    /*
     * Runs a line of threads as if all were in block 0. Their index keeps its value, but is now
     * threadIdx.x alone, a formula that compilers understand.
     */
    [[gnu::always_inline]] static void run_line(const scene &s, const int first, const int end)
    {
        for (unsigned z = 0; z < s.block_dim.z; z++)
            for (unsigned y = 0; y < s.block_dim.y; y++) {
                if constexpr (has_stride)
                    run_rounds(s, first, end, y, z);
                else if constexpr (has_span)
                    run_span(s, first, end, y, z);
                else if constexpr (has_guard)
                    run_blocks_asked(s, first, end, y, z);
                else
                    run_row(s, first, end, y, z, guard::none);
            }
    }

    /*
     * If blocks have several rows, at most about this number of threads runs in x before the next
     * row runs. The rows share data, which must still be in the caches for the next row: a row of a
     * transposition writes to as many cache lines as it has numbers.
     */
    static constexpr unsigned widest = 512;

    [[gnu::always_inline]] static void run_lines(const scene &s, const unsigned first_block,
                                                 const unsigned count)
    {
        const unsigned width = s.block_dim.x, first = first_block * width;
        const unsigned end = first + count * width;
        const unsigned most = s.block_dim.y * s.block_dim.z == 1 ? count : widest / width + 1;
        for (unsigned at = first; at < end; at += most * width) {
            const unsigned to = end - at > most * width ? at + most * width : end;
            run_line(s, static_cast<int>(at), static_cast<int>(to));
        }
    }

    /* ---- Block by block ---------------------------------------------------------------------- */

    [[gnu::always_inline]] static void run_near(const scene &s)
    {
        if (s.block_dim.x > most_threads || s.block.x * s.block_dim.x >= (1u << 31) - most_threads)
            __builtin_unreachable();
        const int first = static_cast<int>(s.block.x * s.block_dim.x);
        for (unsigned z = 0; z < s.block_dim.z; z++)
            for (unsigned y = 0; y < s.block_dim.y; y++)
                run_asked(s, first, first + static_cast<int>(s.block_dim.x), y, z);
    }

    [[gnu::always_inline]] static void run_far(const scene &s)
    {
        for (unsigned z = 0; z < s.block_dim.z; z++)
            for (unsigned y = 0; y < s.block_dim.y; y++) {
                GR_CUHOST_INDEPENDENT
                for (unsigned x = 0; x < s.block_dim.x; x++)
                    run_one(s, {x, y, z}, guard::decide);
            }
    }

    static void run_block_by_block(const runner<Body, Flags> &run, const uint3 first,
                                   const unsigned count, const dim3 block_dim, const dim3 grid_dim)
    {
        for (unsigned i = 0; i < count; i++) {
            const scene s = {run, {first.x + i, first.y, first.z}, block_dim, grid_dim};
            blockIdx.x = s.block.x;
            if (has_guard && !has_line && is_near(s.block.x, block_dim))
                run_near(s);
            else
                run_far(s);
        }
    }

    [[gnu::noinline]] static void run_blocks_at(const gr_cuhost_block *launch, const unsigned count,
                                                const void *body)
    {
        const runner<Body, Flags> run(body);
        const visit visiting(launch);
        const uint3 block = blockIdx;
        const dim3 block_dim = blockDim, grid_dim = gridDim;
        if constexpr (has_line) {
            const scene s = {run, {0, block.y, block.z}, block_dim, grid_dim};
            if (is_near(block.x + count - 1, block_dim) && (!has_stride || ends(s)))
                return run_lines(s, block.x, count);
        }
        run_block_by_block(run, block, count, block_dim, grid_dim);
    }

    static void run_thread_at(const gr_cuhost_block *launch, const unsigned thread[3],
                              const void *body)
    {
        const runner<Body, Flags> run(body);
        const visit visiting(launch);
        threadIdx = make_uint3(thread[0], thread[1], thread[2]);
        guard g = {guard::decide, 0, false};
        run(threadIdx, blockIdx, blockDim, gridDim, g);
    }

    static void run_blocks(const gr_cuhost_block *first, unsigned count, void *const *params)
    {
        if constexpr ((Flags & launch_sync) == 0)
            run_blocks_at(first, count, params[0]);
    }

    static void run_thread(const gr_cuhost_block *launch, const unsigned thread[3],
                           void *const *params)
    {
        if constexpr ((Flags & launch_sync) != 0)
            run_thread_at(launch, thread, params[0]);
    }

    static constexpr uint32_t size = sizeof(Body);
    static constexpr uint32_t offset = 0;
    static constexpr gr_cuhost_kernel kernel = {
        GR_CUHOST_ABI,
        static_cast<uint32_t>(sizeof(gr_cuhost_kernel)),
        Flags &launch_sync ? GR_CUHOST_SYNC : 0,
        1,
        Name::text(),
        &size,
        &offset,
        sizeof(Body),
        0,
        run_blocks,
        run_thread,
    };
};

} // namespace gr_cuhost
#pragma GCC visibility pop

#endif
