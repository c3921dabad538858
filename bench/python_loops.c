/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The loops of python/bench.py in C: bench.py loads this library and compares its Python loops with
 * them, in the same process. Each returns the seconds of n calls, or -1 after an error.
 */
#define _GNU_SOURCE
#include <grinterop/gl.h>
#include <grinterop/publish.h>

#include <stdbool.h>
#include <time.h>

double loop_map(gr_resource *resource, CUstream stream, int n);
double loop_export(gr_resource *resource, CUstream stream, int n);
double loop_publish(gr_resource *resource, CUstream stream, int n);
gr_resource *loop_resource(unsigned name);

gr_resource *loop_resource(unsigned name)
{
    return gr_from_gl_buffer(name, GR_READ_WRITE);
}

static CUdeviceptr sum;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The deleter of a versioned DLPack tensor is behind its version and its context. */
static void delete (void *managed)
{
    ((void (**)(void *))managed)[2](managed);
}

double loop_map(gr_resource *resource, CUstream stream, int n)
{
    const double begin = now();
    for (int i = 0; i < n; i++) {
        gr_buffer *buffer = gr_map(resource, stream);
        sum += buffer ? gr_buffer_ptr(buffer) : 0;
        if (gr_buffer_release(buffer) != GR_OK)
            return -1;
    }
    return now() - begin;
}

double loop_export(gr_resource *resource, CUstream stream, int n)
{
    const double begin = now();
    for (int i = 0; i < n; i++) {
        gr_buffer *buffer = gr_map(resource, stream);
        gr_tensor *tensor = buffer ? gr_buffer_tensor(buffer, NULL) : NULL;
        void *managed = tensor ? gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, stream) : NULL;
        gr_tensor_free(tensor);
        if (managed)
            delete (managed);
        if (gr_buffer_release(buffer) != GR_OK || !managed)
            return -1;
    }
    return now() - begin;
}

/* Publishes as many bytes as the buffer has. */
double loop_publish(gr_resource *resource, CUstream stream, int n)
{
    const int64_t shape[] = {(int64_t)gr_resource_get_info(resource)->size};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape);
    gr_tensor *tensor = gr_tensor_create(&desc, stream);
    const double begin = now();
    bool good = tensor;
    for (int i = 0; good && i < n; i++)
        good = gr_publish(resource, tensor, NULL, stream) == GR_OK;
    const double seconds = now() - begin;
    gr_tensor_free(tensor);
    return good ? seconds : -1;
}
