/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL of the X display that DISPLAY names, by GLX, which is loaded at run time. */
#ifndef INFO_GLX_CONTEXT_H
#define INFO_GLX_CONTEXT_H

/* Makes it current, without a window, until the process ends. NULL, or what is missing. */
const char *glx_make_current(void);

#endif
