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
#include <grinterop/ring.h>

#include "kernel_image.h"

/* The maximum number of kernel files. No example has as many. */
enum { SESSION_MODULES = 8 };

/* The maximum number of slots of a ring. */
enum { SESSION_SLOTS = 64 };

struct session {
    const gr_cuda_api *cuda;  /* the driver API */
    gr_egl *egl;              /* NULL if the session has no OpenGL */
    gr_cuda_context *context; /* the CUDA context, current on this thread */
    CUstream stream;          /* a stream of `context` */

    /* The kernel files that are loaded. session_close() unloads them. */
    const struct kernel_image *images[SESSION_MODULES];
    CUmodule modules[SESSION_MODULES];
};

/*
 * Opens everything and prints the devices in use. Without a GPU, the software CUDA driver is used.
 * False after an error, which has been printed; session_close() cleans up in any case.
 */
bool session_open(struct session *session);
bool session_open_cuda(struct session *session); /* like session_open(), without OpenGL */

/*
 * Like session_open(), for the current OpenGL context: CUDA uses the device that draws, or the
 * first CUDA device if OpenGL draws on none of them.
 */
bool session_open_current(struct session *session);

/* Like session_open(), with OpenGL on the CUDA device of that number. Prints only errors. */
bool session_open_device(struct session *session, int device);

void session_close(struct session *session);

/*
 * Finds a kernel, and loads its file if that is not loaded yet. This and the next two functions
 * return false after an error, which has been printed.
 */
bool session_kernel(struct session *session, const struct kernel_image *image, const char *name,
                    CUfunction *kernel);

/* Launches one thread for each of width x height points, in blocks of 32 by 8 threads. */
bool session_launch(const struct session *session, CUfunction kernel, int width, int height,
                    void *arguments[]);

/* Waits for the work on the stream. */
bool session_finish(const struct session *session);

/*
 * Creates a ring of vertex buffers that CUDA writes. grinterop allocates them, by the best of the
 * transports. names[i] is the OpenGL buffer of slot i. NULL after an error, which has been printed.
 */
gr_ring *session_ring(size_t size, int slots, unsigned transports, unsigned names[],
                      gr_transport *chosen);

/* The name of a transport, for example "interop". */
const char *transport_name(gr_transport transport);

/*
 * True for CUDA_SUCCESS. For any other result, prints that `doing` failed, such as "start the
 * kernel", and why.
 */
bool cuda_ok(CUresult result, const char *doing);

/* Prints the last grinterop error and returns false. */
bool failed_to(const char *doing);

#endif
