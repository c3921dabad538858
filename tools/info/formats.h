/* SPDX-License-Identifier: Apache-2.0 */
/* Which formats of OpenGL's textures CUDA takes here. */
#ifndef INFO_FORMATS_H
#define INFO_FORMATS_H

/* Tries one small texture of each in the OpenGL context that is current. */
void formats_say(const char *id, int cuda_device);

#endif
