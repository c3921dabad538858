/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries one way between graphics and CUDA by exchanging bytes, in a separate process. The id says
 * which way to try:
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

#include <grinterop/submit.h>

#include "lib/cuda/driver_outside.h"
#include "lib/base/log.h"

enum {
    TRY_TEXELS_WIDE = 250,
    TRY_TEXELS_HIGH = 122,
    TRY_BUFFER_BYTES = 1 << 20, /* copies of this size are staged in memory that OpenGL maps */
    TRY_IMAGE_BYTES = 4 * TRY_TEXELS_WIDE * TRY_TEXELS_HIGH,
    TRY_TURNS = 4 /* the last two copy by a kernel, with objects that the first two cached */
};

/* The transports that resources of OpenGL and Vulkan have in common. */
enum { TRANSPORTS = 4 };
extern const struct transport {
    gr_transport transport;
    const char *name, *words;
} transports[TRANSPORTS];

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
    int device;
    gr_cuda_context *context;
    CUstream stream;
    CUdeviceptr memory; /* memory allocated by CUDA, TRY_BUFFER_BYTES long */
    CUfunction copy;    /* the kernel "copy"; NULL if it is not available */
};

struct trial {
    struct way way;
    unsigned transports; /* GR_TRANSPORT_*; 0 if `way.what` names none */
    const struct gr_driver_api *cu;
    struct try_side cuda;
    bool by_kernel; /* copy the next buffer with a kernel, if that is available */
    bool kernel_ran;
    unsigned char sent[TRY_BUFFER_BYTES], got[TRY_BUFFER_BYTES];
    char failure[1400]; /* the cause of the failure, and what to do */
    const char *error;  /* the grinterop name of the error; NULL if grinterop reported none */
    const char *code;   /* the driver's name of the error; NULL if there is none */
    bool absent;        /* whether grinterop reports this way as unsupported: an expected failure */
};

/*
 * The graphics side of a trial. Nothing is closed, nor freed after a failure, since graphics may
 * still use it: the process ends after the trial.
 */
struct try_api {
    const char *name;
    /* Makes the graphics device and t->cuda ready. */
    bool (*open)(struct trial *t);
    /* NULL after a failure, which is the last error of grinterop. */
    gr_resource *(*make_buffer)(struct trial *t, size_t size, unsigned flags);
    gr_resource *(*make_image)(struct trial *t);
    /*
     * Copies `from`, which may be an image, to the byte `at` of `to`; or a buffer to an image.
     * `submit` is that of a ring's slot; NULL otherwise.
     */
    bool (*copy)(struct trial *t, gr_resource *from, gr_resource *to, gr_submit *submit, size_t at,
                 size_t size);
    /* Hands over to CUDA what only graphics has used. NULL if nothing needs to be done. */
    bool (*hand_over)(struct trial *t, gr_resource *const *resources, size_t count);
};
extern const struct try_api try_opengl, try_vulkan;

/*
 * Make an OpenGL context current until the process ends (contexts.c). Return NULL, or what is
 * missing. egl_make_current() uses the EGL device with that number; grinterop's egl.h supports only
 * EGL devices that are CUDA devices. glx_make_current() uses the X display in DISPLAY, without a
 * window.
 */
const char *egl_make_current(int number);
const char *glx_make_current(void);

/*
 * Creates headless Vulkan on the CUDA device, until the process ends (vulkan.c). *made is NULL if
 * that failed, and the result is NULL if grinterop refuses the device.
 */
struct gr_vk_headless_info;
struct gr_vk_device *vulkan_open(int cuda_device, unsigned transports,
                                 const struct gr_vk_headless_info **made);

/* Try a way. False after a failure. */
bool try_graphics(struct trial *t, const struct try_api *api);
bool try_peer(struct trial *t);

/* ---- Failures: each returns false ------------------------------------------------------------ */

bool try_fail(struct trial *t, const char *format, ...) GR_PRINTF(2, 3);
/* Records the last error of grinterop as the failure. */
bool try_error(struct trial *t);
/* Checks the result of a direct CUDA call. True on success. */
bool try_cuda_fine(struct trial *t, CUresult result, const char *call);

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Makes a CUDA context on side->device current, with a stream and memory. */
bool try_open(struct trial *t, struct try_side *side);

/* Copies with the kernel side->copy, which must not be NULL, on side->stream. */
bool try_launch(struct trial *t, const struct try_side *side, CUdeviceptr to, CUdeviceptr from,
                size_t size);

/* Fills t->sent with bytes that differ for each turn. From the third on, kernels copy. */
void try_begin_turn(struct trial *t, unsigned turn);

/* Whether t->got equals t->sent. `reader` and `writer` are names for the message. */
bool try_same(struct trial *t, const char *reader, const char *writer, size_t size);

#endif
