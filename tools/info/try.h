/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries one way between graphics and CUDA by exchanging bytes, in a separate process. These
 * functions provide the test bytes, the CUDA part, and failures. The id says which way to try:
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
    TRY_ROUNDS = 2, /* the second round uses objects that the first round cached */
    TRY_FRAMES = 8,
    TRY_FRAME_BYTES = TRY_BUFFER_BYTES / TRY_FRAMES,
    TRY_RING_MS = 10000,
    TRY_THREADS = 256 /* threads per block of a kernel */
};

enum way_api { WAY_OPENGL, WAY_RENDERER, WAY_GLX, WAY_VULKAN, WAY_CUDA };

struct way {
    bool software; /* whether to use the software driver instead of the main driver */
    enum way_api api;
    /* the device that draws: a CUDA device number, an EGL number for a renderer, 0 for GLX */
    int device;
    int cuda_device; /* the device that computes */
    char what[32];   /* the rest of the id: "buffer/interop" */
};

/* A CUDA device in use by the trial. */
struct try_side {
    gr_cuda_context *context;
    CUstream stream;
    CUdeviceptr memory; /* memory allocated by CUDA, TRY_BUFFER_BYTES long */
    CUfunction copy;    /* the kernel "copy"; NULL if it is not available */
};

struct trial {
    struct way way;
    const gr_cuda_api *cu;
    struct try_side cuda;
    void *graphics; /* the state of the graphics API */
    bool by_kernel; /* copy the next buffer with a kernel, if that is available */
    bool kernel_ran;
    unsigned char sent[TRY_BUFFER_BYTES], got[TRY_BUFFER_BYTES];
    char failure[1400]; /* the cause of the failure, and what to do */
    const char *error;  /* the grinterop name of the error; NULL if grinterop reported none */
    const char *code;   /* the driver's name of the error; NULL if there is none */
    bool absent;        /* whether grinterop reports this way as unsupported: an expected failure */
};

/* Try a way with one graphics API. False after a failure. */
bool try_opengl(struct trial *t);
bool try_vulkan(struct trial *t);
bool try_peer(struct trial *t);

/* ---- Failures: each returns false ------------------------------------------------------------ */

bool try_fail(struct trial *t, const char *format, ...) GR_PRINTF(2, 3);
/* Records the last error of grinterop as the failure. Returns false. */
bool try_error(struct trial *t);
/* Like try_error(), after a failed creation, whose error shows whether the way is unsupported. */
bool try_not_made(struct trial *t);
/* Checks the result of a direct CUDA call. True on success. */
bool try_cuda_fine(struct trial *t, CUresult result, const char *call);

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Makes a CUDA context on the device current, with a stream and memory. */
bool try_open(struct trial *t, struct try_side *side, int device);

extern const char copy_ptx[]; /* the PTX of the kernel "copy" (to, from, words): kernels.c */

/* Copies with the kernel side->copy, which must not be NULL, on side->stream. */
bool try_launch(struct trial *t, const struct try_side *side, CUdeviceptr to, CUdeviceptr from,
                size_t size);

/* Fills t->sent with bytes that differ for each seed. */
void try_pattern(struct trial *t, unsigned seed);

/* Whether t->got equals t->sent. `reader` and `writer` are names for the message. */
bool try_same(struct trial *t, const char *reader, const char *writer, size_t size);

/*
 * Map the buffer or image and release it. try_write() writes t->sent to it; try_read() reads it
 * into t->got.
 */
bool try_write(struct trial *t, gr_resource *resource);
bool try_read(struct trial *t, gr_resource *resource);

/* ---- Rings ----------------------------------------------------------------------------------- */

/* The graphics functions of a ring. Each function returns false after a failure. */
struct try_reader {
    gr_resource *(*make)(void *t); /* creates the resource of a slot */
    bool (*copy)(struct trial *t, const gr_slot *slot,
                 size_t frame);    /* copies the frame to its place in one buffer */
    bool (*read)(struct trial *t); /* reads all copied frames into t->got */
    void (*wait)(struct trial *t); /* waits until graphics no longer uses the slots */
    const char *name;
};

/* CUDA writes frames, and graphics copies each frame. The host does not wait between frames. */
bool try_ring(struct trial *t, const struct try_reader *reader);

#endif
