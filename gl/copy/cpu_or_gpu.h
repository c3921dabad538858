/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether the CPU or the copy engines of the GPU copy the bytes of the copy transport. */
#ifndef GR_GL_COPY_CPU_OR_GPU_H
#define GR_GL_COPY_CPU_OR_GPU_H

#include <grinterop/gr.h>
#include <stdbool.h>

/*
 * Up to this size the CPU copies data that CUDA only writes, even if OpenGL can keep memory mapped.
 * Mapped memory can be rewritten only after OpenGL has copied from it. This needs a wait for OpenGL
 * in each frame, and a context switch on a GPU that both APIs share. The CPU copy waits only for
 * CUDA, and OpenGL may start at any time. Microseconds per frame in order on an H200, by CPU copy
 * and by mapped memory: 222 and 355 for 64 KiB, 112 and 362 for 256 KiB, 406 and 354 for 512 KiB.
 * On llvmpipe a release takes 16 µs by CPU copy and 21 µs by mapped memory for 64 KiB, 50 and
 * 41 µs for 512 KiB. A release into storage that grinterop allocated takes 13 and 74 µs
 * for 64 KiB, 36 and 90 µs for 512 KiB.
 */
#define GL_COPY_BY_CPU      ((size_t)256 << 10)
#define GL_COPY_BY_CPU_TEXT "256 KiB"

/*
 * Up to this size CUDA copies directly into the storage of objects that grinterop created, which
 * then lies in host memory. A larger object is drawn too slowly from there. Microseconds per frame
 * with staging and without, in order and with 4 frames in flight: 373, 408 and 373, 244 for 1 MiB
 * (H200); 399, 488 and 401, 331 for 2 MiB; 649, 1020 and 656, 906 for 8 MiB (H100).
 */
#define GL_COPY_IN_PLACE ((size_t)1 << 20)

/* False if CUDA reads, because the thread then waits for OpenGL in any case. */
static inline bool gl_copy_by_cpu(size_t size, unsigned flags)
{
    return (flags & GR_WRITE_DISCARD) && size <= GL_COPY_BY_CPU;
}

#endif
