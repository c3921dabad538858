/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A try of one way between graphics and CUDA with bytes, in a process of its own: the bytes that go
 * round, the CUDA side, and what was found wrong. The id of the way says all of it:
 *
 *     probe/opengl/0/buffer/interop           an OpenGL buffer on CUDA device 0, by interop
 *     probe/opengl/0/cuda/1/buffer/peer       the same with CUDA on device 1, from GPU to GPU
 *     probe/renderer/2/image/copy             OpenGL on EGL device 2, its image, by copy
 *     probe/glx/0/buffer/interop              OpenGL of the display, which windows have
 *     probe/cuda/0/cuda/1/peer                two GPUs that reach each other's memory
 *     probe/software/vulkan/0/buffer          on the software driver, beside another driver
 */
#ifndef INFO_TRY_H
#define INFO_TRY_H

#include <grinterop/cuda.h>
#include <grinterop/ring.h>

#include "lib/printf.h"

enum {
    TRY_TEXELS_WIDE = 250,
    TRY_TEXELS_HIGH = 122,
    TRY_BUFFER_BYTES = 1 << 20, /* copies of so many go by way of memory that OpenGL maps */
    TRY_IMAGE_BYTES = 4 * TRY_TEXELS_WIDE * TRY_TEXELS_HIGH,
    TRY_ROUNDS = 2, /* the second finds what is kept from the first */
    TRY_FRAMES = 8,
    TRY_FRAME_BYTES = TRY_BUFFER_BYTES / TRY_FRAMES,
    TRY_MOST_SLOTS = 16,
    TRY_RING_MS = 10000,
    TRY_THREADS = 256 /* of a block of a kernel */
};

enum way_api { WAY_OPENGL, WAY_RENDERER, WAY_GLX, WAY_VULKAN, WAY_CUDA };

struct way {
    bool software; /* on the software driver, beside the one that programs get */
    enum way_api api;
    int device;      /* that draws: the number of CUDA, for a renderer of EGL; 0 for GLX */
    int cuda_device; /* that computes */
    char what[32];   /* the end of the id: "buffer/interop" */
};

/* A CUDA device at work. */
struct try_side {
    gr_cuda_context *context;
    CUstream stream;
    CUdeviceptr memory; /* of CUDA alone, TRY_BUFFER_BYTES */
    CUfunction copy;    /* the kernel; NULL: there is none */
};

struct trial {
    struct way way;
    const gr_cuda_api *cu;
    struct try_side cuda;
    void *graphics; /* what the graphics side keeps */
    bool by_kernel; /* the next bytes of a buffer go by a kernel, if there is one */
    bool kernel_ran;
    unsigned char sent[TRY_BUFFER_BYTES], got[TRY_BUFFER_BYTES];
    char failure[1400]; /* why it does not work, and what to do */
    const char *error;  /* the name of the error of grinterop; NULL: it reported none */
    const char *code;   /* the driver's name for it; NULL: it gave none */
    bool absent;        /* grinterop says that there is no such way here: nobody expects it */
};

/* One for each API. False after a failure. */
bool try_opengl(struct trial *t);
bool try_vulkan(struct trial *t);
bool try_peer(struct trial *t);

/* ---- What goes wrong: each returns false ----------------------------------------------------- */

bool try_fail(struct trial *t, const char *format, ...) GR_PRINTF(2, 3);
/* With the last error of grinterop. */
bool try_error(struct trial *t);
/* The same, after a call that makes a resource: it knows what there is not. */
bool try_not_made(struct trial *t);
/* With what the driver answered to a copy that grinterop does not wrap; true: it made it. */
bool try_cuda_fine(struct trial *t, CUresult result, const char *call);

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Makes a CUDA context on the device current, with a stream and memory. */
bool try_open(struct trial *t, struct try_side *side, int device);

/*
 * The kernel "copy" (to, from, words) or "mesh" (to, phase) in the current context. NULL on the
 * software driver, and where the driver has no compiler.
 */
CUfunction try_kernel(const struct trial *t, const char *name);
extern const char kernels_ptx[]; /* both (kernels.c) */

/* Copies by the kernel, which has to be there, in the stream of that side. */
bool try_launch(struct trial *t, const struct try_side *side, CUdeviceptr to, CUdeviceptr from,
                size_t size);

/* Makes other bytes for each seed. */
void try_pattern(struct trial *t, unsigned seed);

/* Whether `got` are the bytes of `sent`; `reader` read, `writer` wrote them. */
bool try_same(struct trial *t, const char *reader, const char *writer, size_t size);

/* Maps the buffer or image, writes `sent` to it, or reads it into `got`, and releases it. */
bool try_write(struct trial *t, gr_resource *resource);
bool try_read(struct trial *t, gr_resource *resource);

/* ---- Rings ----------------------------------------------------------------------------------- */

/*
 * A ring of so many slots: `make`, which gets `its`, makes the resource of each. NULL after an
 * error of grinterop.
 */
gr_ring *try_make_ring(size_t slots, gr_resource *(*make)(void *its), void *its);

/* The graphics side of a ring. Each returns false after a failure. */
struct try_reader {
    gr_resource *(*make)(void *t); /* the resource of a slot */
    bool (*copy)(struct trial *t, const gr_slot *slot,
                 size_t frame);    /* to its place in one buffer */
    bool (*read)(struct trial *t); /* all frames into `got` */
    void (*wait)(struct trial *t); /* until the slots are no longer in use */
    const char *name;
};

/* CUDA writes frames, graphics copies each. No frame waits on the host for another one. */
bool try_ring(struct trial *t, const struct try_reader *reader);

#endif
