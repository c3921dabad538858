/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA part of port: the kernels and their output. */
#ifndef PORT_CUDA_H
#define PORT_CUDA_H

#include "port_renderer.h"
#include "examples/support/session.h"

struct port_cuda {
    struct session session;
    CUfunction wave_sheet, marble;
};

/* False after an error, which has been printed. port_cuda_close() cleans up in any case. */
bool port_cuda_open(struct port_cuda *cuda);
void port_cuda_close(struct port_cuda *cuda);

/* Starts the kernels that write the vertices and the texture for a time in seconds. */
bool port_cuda_launch(const struct port_cuda *cuda, gr_buffer *const mapped[PORT_SHARED],
                      float time);

#endif
