/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every program here begins with: a CUDA driver, a CUDA context and a stream, and for most of
 * them an OpenGL context without a window on the same device.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>

struct session {
    const gr_cuda_api *cuda;  /* the driver's functions */
    gr_egl *egl;              /* NULL without OpenGL */
    gr_cuda_context *context; /* current on this thread */
    CUstream stream;          /* the context's */
};

/*
 * Opens all of it and prints what the program runs on. Where there is no GPU that is the software
 * CUDA driver. False after an error, which has been printed; either way session_close() cleans up.
 */
bool session_open(struct session *session);
bool session_open_cuda(struct session *session); /* the same without OpenGL */

/*
 * The same for the OpenGL context that is current: CUDA on the device that draws there, or on its
 * first one where none of its devices does.
 */
bool session_open_current(struct session *session);

/* The same with OpenGL on the CUDA device of that number, and it prints nothing but errors. */
bool session_open_device(struct session *session, int device);

void session_close(struct session *session);

/* True if the result is CUDA_SUCCESS; else prints what `doing` (such as "start the kernel") met. */
bool cuda_ok(CUresult result, const char *doing);

/* Prints grinterop's last error and returns false. */
bool failed_to(const char *doing);

#endif
