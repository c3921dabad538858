/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to say of the OpenGL context that is current. */
#ifndef INFO_OPENGL_H
#define INFO_OPENGL_H

/* `where` begins the label: "CUDA device 0"; `described` is the text. */
void opengl_say(const char *id, const char *where, const char *described);

#endif
