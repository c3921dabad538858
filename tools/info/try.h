/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries one way between graphics and CUDA by exchanging bytes, in its own process: the test bytes,
 * the CUDA side, and failures. The id of the way specifies it:
 *
 * probe/opengl/0/buffer/interop           an OpenGL buffer on CUDA device 0, by interop
 * probe/opengl/0/cuda/1/buffer/peer       the same with CUDA on device 1, from GPU to GPU
 * probe/renderer/2/image/copy             OpenGL on EGL device 2, its image, by copy
 * probe/glx/0/buffer/interop              OpenGL on the display, as used by windows
 * probe/cuda/0/cuda/1/peer                two GPUs that access each other's memory
 * probe/software/vulkan/0/buffer          on the software driver, in addition to the main driver
 */
#ifndef INFO_TRY_H
#define INFO_TRY_H

#include <grinterop/cuda.h>
#include <grinterop/ring.h>

#include "lib/printf.h"

enum {
    TRY_TEXELS_WIDE = 250,
    TRY_TEXELS_HIGH = 122,
    TRY_BUFFER_BYTES = 1 << 20, /* copies of this size are staged in memory that OpenGL maps */
    TRY_IMAGE_BYTES = 4 * TRY_TEXELS_WIDE * TRY_TEXELS_HIGH,
    TRY_ROUNDS = 2, /* the second uses what the first has cached */
    TRY_FRAMES = 8,
    TRY_FRAME_BYTES = TRY_BUFFER_BYTES / TRY_FRAMES,
    TRY_MOST_SLOTS = 16,
    TRY_RING_MS = 10000,
    TRY_THREADS = 256 /* per block of a kernel */
};

enum way_api { WAY_OPENGL, WAY_RENDERER, WAY_GLX, WAY_VULKAN, WAY_CUDA };

struct way {
    bool software; /* on the software driver, in addition to the main driver */
    enum way_api api;
    int device;      /* that draws: a CUDA number; EGL's for a renderer; 0 for GLX */
    int cuda_device; /* that computes */
    char what[32];   /* the rest of the id: "buffer/interop" */
};

/* A CUDA device in use. */
struct try_side {
    gr_cuda_context *context;
    CUstream stream;
    CUdeviceptr memory; /* allocated by CUDA, TRY_BUFFER_BYTES */
    CUfunction copy;    /* the kernel; NULL: not available */
};

struct trial {
    struct way way;
    const gr_cuda_api *cu;
    struct try_side cuda;
    void *graphics; /* state of the graphics side */
    bool by_kernel; /* copy the next buffer by a kernel, if available */
    bool kernel_ran;
    unsigned char sent[TRY_BUFFER_BYTES], got[TRY_BUFFER_BYTES];
    char failure[1400]; /* the cause, and what to do */
    const char *error;  /* grinterop's name of the error; NULL: none reported */
    const char *code;   /* the driver's name of it; NULL: none */
    bool absent;        /* grinterop reports this way as unsupported: an expected failure */
};

/* One per API. False after a failure. */
bool try_opengl(struct trial *t);
bool try_vulkan(struct trial *t);
bool try_peer(struct trial *t);

/* ---- Failures: each returns false ------------------------------------------------------------ */

bool try_fail(struct trial *t, const char *format, ...) GR_PRINTF(2, 3);
/* Reports grinterop's last error. */
bool try_error(struct trial *t);
/* Likewise after a failed creation, which shows whether the way is unsupported. */
bool try_not_made(struct trial *t);
/* Checks the result of a direct CUDA call. True on success. */
bool try_cuda_fine(struct trial *t, CUresult result, const char *call);

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Makes a CUDA context on the device current, with a stream and memory. */
bool try_open(struct trial *t, struct try_side *side, int device);

/*
 * The kernel "copy" (to, from, words) or "mesh" (to, phase) in the current context. NULL on the
 * software driver, and if the driver has no compiler.
 */
CUfunction try_kernel(const struct trial *t, const char *name);
extern const char kernels_ptx[]; /* both kernels (kernels.c) */

/* Copies by the kernel side->copy, which must not be NULL, in side->stream. */
bool try_launch(struct trial *t, const struct try_side *side, CUdeviceptr to, CUdeviceptr from,
                size_t size);

/* Fills `sent` with different bytes for each seed. */
void try_pattern(struct trial *t, unsigned seed);

/* Whether `got` equals `sent`; `reader` and `writer` are names for the message. */
bool try_same(struct trial *t, const char *reader, const char *writer, size_t size);

/* Maps the buffer or image, writes `sent` to it, or reads it into `got`, and releases it. */
bool try_write(struct trial *t, gr_resource *resource);
bool try_read(struct trial *t, gr_resource *resource);

/* ---- Rings ----------------------------------------------------------------------------------- */

/*
 * Creates a ring with that number of slots; `make(its)` creates the resource of each. NULL after an
 * error of grinterop.
 */
gr_ring *try_make_ring(size_t slots, gr_resource *(*make)(void *its), void *its);

/* The graphics side of a ring. Each returns false after a failure. */
struct try_reader {
    gr_resource *(*make)(void *t); /* creates the resource of a slot */
    bool (*copy)(struct trial *t, const gr_slot *slot,
                 size_t frame);    /* to its place in one buffer */
    bool (*read)(struct trial *t); /* reads all frames into `got` */
    void (*wait)(struct trial *t); /* until the slots are unused */
    const char *name;
};

/* CUDA writes frames, and graphics copies each. The host does not wait between frames. */
bool try_ring(struct trial *t, const struct try_reader *reader);

#endif
