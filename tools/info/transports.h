/* SPDX-License-Identifier: Apache-2.0 */
/* Which transports work between the OpenGL that is current and a CUDA device. */
#ifndef INFO_TRANSPORTS_H
#define INFO_TRANSPORTS_H

/*
 * Says it of each. `id` is the beginning of their ids, `where` of their labels: "OpenGL on CUDA
 * device 0".
 */
void transports_say(const char *id, const char *where, int cuda_device);

#endif
