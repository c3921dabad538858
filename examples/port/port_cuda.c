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
    if (!session_open_cuda(&p->session) || !kernel_image_load(&port_image, &p->module))
        return false;
    const gr_cuda_api *cuda = p->session.cuda;
    return cuda_ok(cuda->ModuleGetFunction(&p->wave_sheet, p->module, "wave_sheet"),
                   "find a kernel") &&
           cuda_ok(cuda->ModuleGetFunction(&p->marble, p->module, "marble"), "find a kernel");
}

void port_cuda_close(struct port_cuda *p)
{
    if (p->module)
        p->session.cuda->ModuleUnload(p->module);
    session_close(&p->session);
}

/* One thread per vertex or texel, in blocks of 32 by 8. */
static bool launch(const struct port_cuda *p, CUfunction kernel, int width, int height,
                   void *arguments[])
{
    const unsigned across = ((unsigned)width + 31) / 32, down = ((unsigned)height + 7) / 8;
    return cuda_ok(p->session.cuda->LaunchKernel(kernel, across, down, 1, 32, 8, 1, 0,
                                                 p->session.stream, arguments, NULL),
                   "start a kernel");
}

bool port_cuda_launch(const struct port_cuda *p, gr_buffer *const mapped[PORT_SHARED], float time)
{
    CUdeviceptr vertices = gr_buffer_ptr(mapped[PORT_VERTICES]);
    CUsurfObject texture = gr_buffer_surface(mapped[PORT_TEXTURE], 0, 0);
    if (vertices == 0 || texture == 0)
        return failed_to("use the vertices and the texture in kernels");
    return launch(p, p->wave_sheet, PORT_COLUMNS, PORT_ROWS, (void *[]){&vertices, &time}) &&
           launch(p, p->marble, PORT_TEXTURE_WIDTH, PORT_TEXTURE_HEIGHT,
                  (void *[]){&texture, &time});
}

bool port_cuda_finish(const struct port_cuda *p)
{
    return cuda_ok(p->session.cuda->StreamSynchronize(p->session.stream), "run the kernels");
}
