/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Opens the CUDA device, context and stream, and collects the facts needed to compare results:
 * driver, device and date.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <time.h>

#include <epoxy/gl.h>

#include <grinterop/egl.h>

#include "bench/bench.h"

/* ---- The device ------------------------------------------------------------------------------ */

BENCH_CUDA_END(end_stream, StreamDestroy)

static void end_context(void *of)
{
    const struct bench_device *d = of;
    CU(CtxSetCurrent, NULL);
    CU(DevicePrimaryCtxRelease, d->device);
}

static void load_cuda(void)
{
    bench_cuda = gr_cuda();
    if (!bench_cuda)
        bench_fail_grinterop("gr_cuda");
}

void bench_device_open(struct bench_device *d)
{
    load_cuda();
    CU(DeviceGet, &d->device, d->ordinal);
    CU(DevicePrimaryCtxRetain, &d->context, d->device);
    bench_later(end_context, d);
    CU(CtxSetCurrent, d->context);
    CU(StreamCreate, &d->stream, CU_STREAM_NON_BLOCKING);
    bench_later(end_stream, d->stream);
}

void bench_open_gl(int cuda_device)
{
    gr_egl *egl;
    load_cuda();
    GR_KEEP(egl, egl_create, &GR_INIT(gr_egl_options, .cuda_device = cuda_device));
}

/* Without it, a small fill may complete after the signal that follows it. */
CUresult bench_barrier(CUstream stream)
{
    CUstreamBatchMemOpParams barrier = {
        .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                          .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};
    return bench_cuda->StreamBatchMemOp(stream, 1, &barrier, 0);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

void bench_describe_machine(struct bench_machine *machine)
{
    const gr_cuda_api *cuda = gr_cuda();
    CUdevice device = 0;
    int version = 0;
    cuda->DriverGetVersion(&version);
    machine->software = gr_cuda_is_software();
    snprintf(machine->driver, sizeof(machine->driver), "%s, CUDA %d.%d", gr_cuda_driver_path(),
             version / 1000, version % 1000 / 10);
    cuda->CtxGetDevice(&device);
    cuda->DeviceGetName(machine->device, sizeof(machine->device), device);
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(machine->date, sizeof(machine->date), "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void bench_add_fact(struct bench_machine *machine, const char *label, const char *key,
                    const char *format, ...)
{
    struct bench_fact *fact = &machine->facts[machine->fact_count++];
    va_list arguments;
    fact->label = label;
    fact->key = key;
    va_start(arguments, format);
    vsnprintf(fact->text, sizeof(fact->text), format, arguments);
    va_end(arguments);
}

void bench_add_opengl(struct bench_machine *machine)
{
    bench_add_fact(machine, "OpenGL", "opengl", "%s, %s", (const char *)glGetString(GL_RENDERER),
                   (const char *)glGetString(GL_VERSION));
}
