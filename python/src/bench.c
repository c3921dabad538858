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

static bool map_once(gr_resource *resource, CUstream stream, CUdeviceptr *sum)
{
    gr_buffer *buffer = gr_map(resource, stream);
    if (!buffer)
        return false;
    *sum += gr_buffer_ptr(buffer);
    return gr_buffer_release(buffer) == GR_OK;
}

static bool export_once(gr_resource *resource, CUstream stream, CUdeviceptr *sum)
{
    gr_buffer *buffer = gr_map(resource, stream);
    gr_tensor *tensor = buffer ? gr_buffer_tensor(buffer, NULL) : NULL;
    struct DLManagedTensorVersioned *managed = tensor ? gr_tensor_dlpack(tensor, stream) : NULL;
    gr_tensor_free(tensor);
    if (!managed) {
        gr_buffer_release_later(buffer);
        return false;
    }
    *sum += (uintptr_t)managed;
    export_end(managed);
    return gr_buffer_release(buffer) == GR_OK;
}

static PyObject *imported, *imported_on;

/* Imports the tensor of a framework as publish() does, and drops it. */
static bool import_once(gr_resource *resource, CUstream stream, CUdeviceptr *sum)
{
    PyObject *tensor = import_any(imported, imported_on, GR_LAYOUT_SHAPE);
    (void)resource;
    (void)stream;
    (void)sum;
    Py_XDECREF(tensor);
    return tensor;
}

static gr_tensor *published;

static bool publish_once(gr_resource *resource, CUstream stream, CUdeviceptr *sum)
{
    (void)sum;
    return gr_publish(resource, published, NULL, stream) == GR_OK;
}

/* Calls `once` n times. Returns the seconds that the n calls took. */
static PyObject *measure(PyObject *args, bool (*once)(gr_resource *, CUstream, CUdeviceptr *))
{
    PyObject *object, *given, *tensor = NULL;
    Py_ssize_t n;
    CUstream stream;
    CUdeviceptr sum = 0;
    bool well = true;
    if (!PyArg_ParseTuple(args, "OOn|O", &object, &given, &n, &tensor) ||
        !stream_of(given, &stream))
        return NULL;
    imported = tensor;
    imported_on = given;
    if (tensor && Py_TYPE(tensor) == tensor_type && !(published = tensor_of(tensor)))
        return NULL;
    resource_object *resource = resource_of(object);
    if (!resource)
        return NULL;
    double began = now();
    for (Py_ssize_t i = 0; well && i < n; i++)
        well = once(resource->resource, stream, &sum);
    double seconds = now() - began;
    return well ? PyFloat_FromDouble(seconds) : PyErr_Occurred() ? NULL : fail();
}

static PyObject *bench_map(PyObject *module, PyObject *args)
{
    (void)module;
    return measure(args, map_once);
}

static PyObject *bench_export(PyObject *module, PyObject *args)
{
    (void)module;
    return measure(args, export_once);
}

static PyObject *bench_import(PyObject *module, PyObject *args)
{
    (void)module;
    return measure(args, import_once);
}

static PyObject *bench_publish(PyObject *module, PyObject *args)
{
    (void)module;
    return measure(args, publish_once);
}

PyMethodDef bench_functions[] = {
    {"_bench_map", bench_map, METH_VARARGS, NULL},
    {"_bench_export", bench_export, METH_VARARGS, NULL},
    {"_bench_import", bench_import, METH_VARARGS, NULL},
    {"_bench_publish", bench_publish, METH_VARARGS, NULL},
    {0},
};
