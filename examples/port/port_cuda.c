/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA part of port, independent of OpenGL and Vulkan. */
#include "port_cuda.h"

#include <grinterop/image.h>

#include "examples/support/kernel_image.h"
#include "port.h"

KERNEL_IMAGE(port);

bool port_cuda_open(struct port_cuda *p)
{
    *p = (struct port_cuda){0};
    return session_open_cuda(&p->session) &&
           session_kernel(&p->session, &port_image, "wave_sheet", &p->wave_sheet) &&
           session_kernel(&p->session, &port_image, "marble", &p->marble);
}

void port_cuda_close(struct port_cuda *p)
{
    session_close(&p->session);
}

bool port_cuda_launch(const struct port_cuda *p, gr_buffer *const mapped[PORT_SHARED], float time)
{
    CUdeviceptr vertices = gr_buffer_ptr(mapped[PORT_VERTICES]);
    CUsurfObject texture = gr_buffer_surface(mapped[PORT_TEXTURE], 0, 0);
    if (vertices == 0 || texture == 0)
        return failed_to("use the vertices and the texture in kernels");
    return session_launch(&p->session, p->wave_sheet, PORT_COLUMNS, PORT_ROWS,
                          (void *[]){&vertices, &time}) &&
           session_launch(&p->session, p->marble, PORT_TEXTURE_WIDTH, PORT_TEXTURE_HEIGHT,
                          (void *[]){&texture, &time});
}
