/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA part of particles, independent of OpenGL. */
#include "particles_cuda.h"

#include "examples/support/kernel_image.h"
#include "particles.h"

KERNEL_IMAGE(particles);

/* Time per frame, in seconds. */
static const float STEP = 1.0f / 60.0f;

static bool launch(const struct particles_cuda *p, CUfunction kernel, void *arguments[])
{
    const struct session *s = p->session;
    const unsigned blocks = ((unsigned)p->count + 255) / 256;
    return cuda_ok(
        s->cuda->LaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, 0, s->stream, arguments, NULL),
        "start a kernel");
}

float particles_cuda_time(const struct particles_cuda *p)
{
    return (float)p->step * STEP;
}

/* `sparks` may be 0. */
static bool advance(struct particles_cuda *p, CUdeviceptr sparks, float step)
{
    p->step++;
    float time = particles_cuda_time(p);
    void *arguments[] = {&p->particles, &sparks, &p->count, &time, &step};
    return launch(p, p->advance, arguments);
}

bool particles_cuda_advance(struct particles_cuda *p, CUdeviceptr sparks)
{
    return advance(p, sparks, STEP);
}

bool particles_cuda_start(struct particles_cuda *p)
{
    enum { STEPS = 90 };
    void *arguments[] = {&p->particles, &p->count};
    if (!launch(p, p->scatter, arguments))
        return false;
    p->step = 0;
    for (int i = 0; i < STEPS; i++) {
        p->step += 2;
        if (!advance(p, 0, 3 * STEP))
            return false;
    }
    return true;
}

bool particles_cuda_open(struct particles_cuda *p, const struct session *session, int count)
{
    const gr_cuda_api *cuda = session->cuda;
    *p = (struct particles_cuda){.session = session, .count = count};
    return kernel_image_load(&particles_image, &p->module) &&
           cuda_ok(cuda->ModuleGetFunction(&p->scatter, p->module, "scatter"), "find a kernel") &&
           cuda_ok(cuda->ModuleGetFunction(&p->advance, p->module, "advance"), "find a kernel") &&
           cuda_ok(cuda->MemAlloc(&p->particles, (size_t)count * sizeof(float4)),
                   "allocate memory for the particles");
}

void particles_cuda_close(struct particles_cuda *p)
{
    if (p->particles != 0)
        p->session->cuda->MemFree(p->particles);
    if (p->module)
        p->session->cuda->ModuleUnload(p->module);
    *p = (struct particles_cuda){0};
}
