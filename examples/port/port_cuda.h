/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's side of port: the kernels, and what they write to.
 */
#ifndef PORT_CUDA_H
#define PORT_CUDA_H

#include "port_renderer.h"
#include "examples/support/session.h"

struct port_cuda {
    struct session session;
    CUmodule module;
    CUfunction wave_sheet, marble;
};

/* False after an error, which has been printed. Either way port_cuda_close() cleans up. */
bool port_cuda_open(struct port_cuda *cuda);
void port_cuda_close(struct port_cuda *cuda);

/* Starts the kernels that write the vertices and the texture of a moment, in seconds. */
bool port_cuda_launch(const struct port_cuda *cuda, gr_buffer *const mapped[PORT_SHARED],
                      float time);

/* Waits for all kernels, and reports one that failed on its way. */
bool port_cuda_finish(const struct port_cuda *cuda);

#endif
