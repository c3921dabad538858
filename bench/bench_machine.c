/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Opens the CUDA device, context and stream, keeps errors, and collects the facts needed to compare
 * results: driver, device and date.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <time.h>

#include <epoxy/gl.h>

#include <grinterop/gr.h>

#include "bench/bench.h"

const gr_cuda_api *bench_cuda;

/* ---- Errors ---------------------------------------------------------------------------------- */

static _Thread_local char last_error[400];

bool bench_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof(last_error), format, arguments);
    va_end(arguments);
    return false;
}

const char *bench_last_error(void)
{
    return last_error;
}

bool bench_print_error(bool good)
{
    if (!good && *last_error != '\0')
        fprintf(stderr, "%s: %s\n", bench_program, last_error);
    *last_error = '\0';
    return good;
}

bool bench_cuda_failed(CUresult result, const char *call)
{
    const char *name = NULL;
    gr_cuda()->GetErrorName(result, &name);
    return bench_failed("%s: %s", call, name ? name : "unknown error");
}

bool bench_grinterop_failed(const char *call)
{
    const gr_error error = *gr_last_error();
    return bench_failed("%s: %s", call, error.message);
}

bool bench_gl_ok(const char *doing)
{
    const GLenum error = glGetError();
    return error == GL_NO_ERROR || bench_failed("%s: OpenGL error 0x%04x", doing, error);
}

bool bench_out_of_memory(void)
{
    return bench_failed("out of memory");
}

/* ---- The device ------------------------------------------------------------------------------ */

bool bench_device_open(struct bench_device *d)
{
    bench_cuda = gr_cuda();
    if (!bench_cuda)
        return bench_grinterop_failed("gr_cuda");
    return CU(DeviceGet, &d->device, d->ordinal) &&
           CU(DevicePrimaryCtxRetain, &d->context, d->device) && CU(CtxSetCurrent, d->context) &&
           CU(StreamCreate, &d->stream, CU_STREAM_NON_BLOCKING);
}

bool bench_device_open_gl(struct bench_device *d)
{
    if (!gr_cuda())
        return bench_grinterop_failed("gr_cuda");
    return GR_NEW(d->egl, egl_create, &GR_INIT(gr_egl_options, .cuda_device = d->ordinal)) &&
           bench_device_open(d);
}

void bench_device_close(struct bench_device *d)
{
    if (d->stream)
        bench_cuda->StreamDestroy(d->stream);
    if (d->context) {
        bench_cuda->CtxSetCurrent(NULL);
        bench_cuda->DevicePrimaryCtxRelease(d->device);
    }
    gr_egl_free(d->egl);
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
