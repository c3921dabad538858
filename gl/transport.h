/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to share an OpenGL object, for what chooses between them. Resources of the interop and
 * the copy transport begin with a struct gl_resource (interop.h), whose destroy() ends `owned`.
 */
#ifndef GR_GL_TRANSPORT_H
#define GR_GL_TRANSPORT_H

#include <grinterop/gl.h>

struct gr_backend;
struct gl_context;

/* ---- Copy (copy.c) --------------------------------------------------------------------------- */

extern const struct gr_backend gl_copy;

/*
 * As gr_from_gl_buffer() and gr_from_gl_image(); NULL after an error, which is recorded under
 * `call`.
 */
gr_resource *gl_copy_buffer(unsigned int name, unsigned flags, const char *call);
gr_resource *gl_copy_image(unsigned int name, unsigned int target, unsigned flags,
                           const char *call);

/* ---- Shared (shared.c) ----------------------------------------------------------------------- */

/*
 * Whether gr_gl_buffer_create() and gr_gl_image_create() can share storage between the current
 * OpenGL context and the current CUDA context, and why or why not. GR_OK or GR_ERR_UNSUPPORTED; no
 * error is recorded and nothing is left behind: no object, no binding, no error of OpenGL's.
 */
gr_status gl_shared_usable(char *reason, size_t size);

/* ---- What all three need (register.c) -------------------------------------------------------- */

/*
 * The driver loaded, and the current context remembered, which is of OpenGL 3.2 or newer; or the
 * error. `what` ends the sentence "Make current the one that ...".
 */
gr_status gl_context_begin(struct gl_context *context, const char *what, const char *call);

/* Records that it is not current; the error names `object`, "OpenGL buffer 3". */
gr_status gl_context_refuse(const struct gl_context *context, const char *object, const char *call);

/*
 * The CUDA device that the current OpenGL context draws on, for gr_context_choose(). Records the
 * error.
 */
gr_status gl_find_drawing_device(CUdevice *device);

#endif
