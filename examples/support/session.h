/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The common setup of the examples: a CUDA driver, a CUDA context and a stream, and usually a
 * headless OpenGL context on the same device.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>

#include "kernel_image.h"

/* More kernel files than any example has. */
enum { SESSION_MODULES = 8 };

struct session {
    const gr_cuda_api *cuda;  /* the driver API */
    gr_egl *egl;              /* NULL without OpenGL */
    gr_cuda_context *context; /* current on this thread */
    CUstream stream;          /* of the context */

    /* Loaded kernel files, which session_close() unloads. */
    const struct kernel_image *images[SESSION_MODULES];
    CUmodule modules[SESSION_MODULES];
};

/*
 * Opens everything and prints what the program runs on. Without a GPU, that is the software CUDA
 * driver. False after an error, which has been printed; session_close() cleans up in any case.
 */
bool session_open(struct session *session);
bool session_open_cuda(struct session *session); /* the same without OpenGL */

/*
 * The same for the current OpenGL context: CUDA uses the device that draws, or its first device if
 * none of its devices draws.
 */
bool session_open_current(struct session *session);

/* The same with OpenGL on the CUDA device of that number; prints only errors. */
bool session_open_device(struct session *session, int device);

void session_close(struct session *session);

/*
 * Finds a kernel; loads its file if it is not loaded yet. False after an error, which has been
 * printed, as by the next two.
 */
bool session_kernel(struct session *session, const struct kernel_image *image, const char *name,
                    CUfunction *kernel);

/* Launches a thread for each of width x height points, in blocks of 32 by 8. */
bool session_launch(const struct session *session, CUfunction kernel, int width, int height,
                    void *arguments[]);

/* Waits for the stream. */
bool session_finish(const struct session *session);

/* True for CUDA_SUCCESS; otherwise prints the error of `doing`, such as "start the kernel". */
bool cuda_ok(CUresult result, const char *doing);

/* Prints the last grinterop error and returns false. */
bool failed_to(const char *doing);

#endif
