/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Opens the CUDA device, context and stream, prints errors, and collects the facts needed to
 * compare results: driver, device and date.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <time.h>

#include <epoxy/gl.h>

#include <grinterop/gr.h>

#include "bench/bench.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

bool bench_cuda_failed(CUresult result, const char *call)
{
    const char *name = NULL;
    gr_cuda()->GetErrorName(result, &name);
    fprintf(stderr, "%s: %s: %s\n", bench_program, call, name ? name : "unknown error");
    return false;
}

bool bench_grinterop_failed(const char *call)
{
    gr_error error = *gr_last_error();
    fprintf(stderr, "%s: %s: %s\n", bench_program, call, error.message);
    return false;
}

bool bench_out_of_memory(void)
{
    fprintf(stderr, "%s: out of memory\n", bench_program);
    return false;
}

/* ---- The device ------------------------------------------------------------------------------ */

bool bench_device_open(struct bench_device *d)
{
    const gr_cuda_api *cuda = gr_cuda();
    if (!cuda)
        return bench_grinterop_failed("gr_cuda");
    return bench_cuda_ok(cuda->DeviceGet(&d->device, d->ordinal), "cuDeviceGet") &&
           bench_cuda_ok(cuda->DevicePrimaryCtxRetain(&d->context, d->device),
                         "cuDevicePrimaryCtxRetain") &&
           bench_cuda_ok(cuda->CtxSetCurrent(d->context), "cuCtxSetCurrent") &&
           bench_cuda_ok(cuda->StreamCreate(&d->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

bool bench_device_open_gl(struct bench_device *d)
{
    if (!gr_cuda())
        return bench_grinterop_failed("gr_cuda");
    d->egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = d->ordinal));
    return d->egl ? bench_device_open(d) : bench_grinterop_failed("gr_egl_create");
}

void bench_device_close(struct bench_device *d)
{
    const gr_cuda_api *cuda = gr_cuda();
    if (d->stream)
        cuda->StreamDestroy(d->stream);
    if (d->context) {
        cuda->CtxSetCurrent(NULL);
        cuda->DevicePrimaryCtxRelease(d->device);
    }
    gr_egl_free(d->egl);
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
