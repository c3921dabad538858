/* SPDX-License-Identifier: Apache-2.0 */
/* The transports that GR_COMPAT names. */
#ifndef GR_GL_COMPAT_CHOOSE_H
#define GR_GL_COMPAT_CHOOSE_H

#include <grinterop/gl.h>

/*
 * As gr_transport bits; 0 where the variable is not set. An unknown word is an error, which is
 * recorded, and said once on the standard error stream: the program does not know of grinterop.
 */
gr_status compat_transports(unsigned *transports, const char *call);

#endif
