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

/* Runs one step. If `sparks` is 0, the points to draw are not written. */
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

bool particles_cuda_open(struct particles_cuda *p, struct session *session, int count)
{
    *p = (struct particles_cuda){.session = session, .count = count};
    return session_kernel(session, &particles_image, "scatter", &p->scatter) &&
           session_kernel(session, &particles_image, "advance", &p->advance) &&
           cuda_ok(session->cuda->MemAlloc(&p->particles, (size_t)count * sizeof(float4)),
                   "allocate memory for the particles");
}

void particles_cuda_close(struct particles_cuda *p)
{
    if (p->particles != 0)
        p->session->cuda->MemFree(p->particles);
    *p = (struct particles_cuda){0};
}
