/* SPDX-License-Identifier: Apache-2.0 */
/* A probe under way, in its own process: the bytes that go round, and what was found wrong. */
#ifndef INFO_PROBE_TRY_H
#define INFO_PROBE_TRY_H

#include <grinterop/cuda.h>
#include <grinterop/ring.h>

#include "lib/printf.h"
#include "tools/info/probe.h"

enum {
    PROBE_TEXELS_WIDE = 250,
    PROBE_TEXELS_HIGH = 122,
    PROBE_BUFFER_BYTES = 1 << 20, /* copies of so many go by way of memory that OpenGL maps */
    PROBE_IMAGE_BYTES = 4 * PROBE_TEXELS_WIDE * PROBE_TEXELS_HIGH,
    PROBE_ROUNDS = 2, /* the second finds what is kept from the first */
    PROBE_SLOTS = 4,
    PROBE_FRAMES = 8,
    PROBE_AHEAD = 2, /* frames that CUDA has written before the first one is read */
    PROBE_FRAME_BYTES = PROBE_BUFFER_BYTES / PROBE_FRAMES,
    PROBE_RING_MS = 10000
};

struct probe_try {
    const struct probe *probe;
    const gr_cuda_api *cu;
    gr_cuda_context *context;
    CUstream stream;
    CUfunction kernel;   /* that copies; NULL: there is none, as on the software driver */
    CUdeviceptr staging; /* CUDA's own memory for it, PROBE_BUFFER_BYTES */
    bool by_kernel;      /* the next bytes of a buffer go by it, if it is there */
    bool kernel_ran;
    unsigned char sent[PROBE_BUFFER_BYTES], got[PROBE_BUFFER_BYTES];
    char failure[1200]; /* why it does not work, and what to do */
    const char *error;  /* the name of the library's class; NULL: the library did not refuse */
    const char *code;   /* the driver's name for it; NULL: it gave none */
    bool absent;        /* the library says that there is no such way here: nobody expects it */
};

/* ---- What goes wrong: each returns false ----------------------------------------------------- */

bool probe_fail(struct probe_try *t, const char *format, ...) GR_PRINTF(2, 3);
/* By grinterop's last error. */
bool probe_error(struct probe_try *t);
/* By grinterop's last error, after the call that makes a resource: it knows what there is not. */
bool probe_not_made(struct probe_try *t);

/* By what the driver answered to a copy that grinterop does not wrap; true: it made it. */
bool probe_is_cuda_fine(struct probe_try *t, CUresult result, const char *call);

#endif
