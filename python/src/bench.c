/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The loops of bench.py in C: bench.py compares its Python loops with them, in the same process and
 * on the same resource.
 */
#include "tensor.h"

#include <time.h>

#include <grinterop/publish.h>

static double now(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* What one call of the loop uses. */
struct bench {
    gr_resource *resource;
    CUstream stream;
    PyObject *tensor, *given; /* The tensor to import, and the Python object of `stream`. */
    gr_tensor *published;
    CUdeviceptr sum;
};

static bool map_once(struct bench *bench)
{
    gr_buffer *buffer = gr_map(bench->resource, bench->stream);
    if (!buffer)
        return false;
    bench->sum += gr_buffer_ptr(buffer);
    return gr_buffer_release(buffer) == GR_OK;
}

static bool export_once(struct bench *bench)
{
    CUstream stream = bench->stream;
    gr_buffer *buffer = gr_map(bench->resource, stream);
    gr_tensor *tensor = buffer ? gr_buffer_tensor(buffer, NULL) : NULL;
    struct DLManagedTensorVersioned *managed = tensor ? gr_tensor_dlpack(tensor, stream) : NULL;
    gr_tensor_free(tensor);
    if (!managed) {
        gr_buffer_release_later(buffer);
        return false;
    }
    bench->sum += (uintptr_t)managed;
    export_end(managed);
    return gr_buffer_release(buffer) == GR_OK;
}

/* Imports the tensor of a framework as publish() does, and drops it. */
static bool import_once(struct bench *bench)
{
    PyObject *tensor = import_any(bench->tensor, bench->given, GR_LAYOUT_SHAPE);
    Py_XDECREF(tensor);
    return tensor;
}

static bool publish_once(struct bench *bench)
{
    return gr_publish(bench->resource, bench->published, NULL, bench->stream) == GR_OK;
}

/* Calls `once` n times. Returns the seconds that the n calls took. */
static PyObject *measure(PyObject *args, bool (*once)(struct bench *))
{
    struct bench bench = {0};
    PyObject *object;
    Py_ssize_t n;
    bool well = true;
    if (!PyArg_ParseTuple(args, "OOn|O", &object, &bench.given, &n, &bench.tensor) ||
        !stream_of(bench.given, &bench.stream) ||
        (bench.tensor && Py_TYPE(bench.tensor) == tensor_type &&
         !(bench.published = tensor_of(bench.tensor))))
        return NULL;
    resource_object *resource = resource_of(object);
    if (!resource)
        return NULL;
    bench.resource = resource->resource;
    double began = now();
    for (Py_ssize_t i = 0; well && i < n; i++)
        well = once(&bench);
    double seconds = now() - began;
    return well ? PyFloat_FromDouble(seconds) : PyErr_Occurred() ? NULL : fail();
}

#define BENCH(name)                                                                                \
    static PyObject *bench_##name(PyObject *module, PyObject *args)                                \
    {                                                                                              \
        (void)module;                                                                              \
        return measure(args, name##_once);                                                         \
    }

BENCH(map)
BENCH(export)
BENCH(import)
BENCH(publish)

PyMethodDef bench_functions[] = {
    {"_bench_map", bench_map, METH_VARARGS, NULL},
    {"_bench_export", bench_export, METH_VARARGS, NULL},
    {"_bench_import", bench_import, METH_VARARGS, NULL},
    {"_bench_publish", bench_publish, METH_VARARGS, NULL},
    {0},
};
