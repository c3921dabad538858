/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The transports that GR_COMPAT selects. */
#ifndef GR_GL_COMPAT_CHOOSE_H
#define GR_GL_COMPAT_CHOOSE_H

#include <grinterop/gl.h>

/*
 * Returns the selected transports as gr_transport bits; 0 if the variable is not set. An unknown
 * word is recorded as an error, and printed once on stderr, because the program does not call
 * grinterop itself.
 */
gr_status compat_transports(unsigned *transports, const char *call);

#endif
