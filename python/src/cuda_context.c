/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CudaContext: a primary context with a stream, for programs without a CUDA context. */
#include "module.h"

#include <grinterop/cuda.h>

PyTypeObject *context_type;

typedef struct context_object {
    OBJECT_HEAD
    gr_cuda_context *context; /* NULL: closed */
    unsigned long thread;     /* The thread that created the context and must close it. */
} context_object;

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"device", NULL};
    int device = 0;
    gr_cuda_context *context;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|i:CudaContext", names, &device))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    context = gr_cuda_context_create(device);
    Py_END_ALLOW_THREADS
    context_object *self = context ? new_object(type) : NULL;
    if (!context)
        return fail();
    if (!self) {
        gr_cuda_context_free(context);
        return NULL;
    }
    self->context = context;
    self->thread = PyThread_get_thread_ident();
    return (PyObject *)self;
}

static void let_go(context_object *self)
{
    gr_cuda_context *context = self->context;
    self->context = NULL;
    if (context) {
        BEGIN_ENDING
        gr_cuda_context_free(context);
        END_ENDING
    }
}

static bool is_here(const context_object *self)
{
    if (!self->context || self->thread == PyThread_get_thread_ident())
        return true;
    PyErr_SetString(PyExc_RuntimeError,
                    "a CudaContext must be closed on the thread that created it");
    return false;
}

/*
 * If dropped on another thread, the context leaks: a context that is current on one thread can't be
 * freed from another.
 */
static void end(PyObject *object)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (is_here((context_object *)object))
        let_go((context_object *)object);
    else
        warn_of_end(Py_TYPE(object));
    PyErr_Restore(type, value, traceback);
    end_object(object);
}

static PyObject *call_close(PyObject *object, PyObject *none)
{
    context_object *self = (context_object *)object;
    (void)none;
    if (!is_here(self) || !unused(object))
        return NULL;
    let_go(self);
    return Py_NewRef(Py_None);
}

static gr_cuda_context *open_of(PyObject *object)
{
    return open_or_fail(((context_object *)object)->context, "CudaContext");
}

bool context_stream(PyObject *self, CUstream *stream)
{
    gr_cuda_context *context = open_of(self);
    if (context)
        *stream = context->stream;
    return context;
}

static PyObject *stream_pair(PyObject *self, PyObject *none)
{
    CUstream stream;
    (void)none;
    return context_stream(self, &stream) ? Py_BuildValue("(iN)", 0, PyLong_FromVoidPtr(stream))
                                         : NULL;
}

#define HANDLE(member)                                                                             \
    (open_of(self) ? PyLong_FromVoidPtr(((context_object *)self)->context->member) : NULL)

PROPERTY(stream, HANDLE(stream))
PROPERTY(handle, HANDLE(context))

static PyObject *call_sync(PyObject *self, PyObject *none)
{
    gr_cuda_context *context = open_of(self);
    const gr_cuda_api *cuda = context ? gr_cuda() : NULL;
    CUresult result;
    (void)none;
    if (!cuda)
        return context ? fail() : NULL;
    Py_BEGIN_ALLOW_THREADS
    result = cuda->StreamSynchronize(context->stream);
    Py_END_ALLOW_THREADS
    return result == CUDA_SUCCESS ? Py_NewRef(Py_None) : driver_fail(result, "cuStreamSynchronize");
}

GUARDED_ONE(call_sync)

static PyMethodDef methods[] = {
    {"__cuda_stream__", stream_pair, METH_NOARGS, NULL},
    {"sync", guarded_call_sync, METH_NOARGS, "sync($self)\n--\n\nWaits until its stream is idle."},
    {"close", call_close, METH_NOARGS,
     "close($self)\n--\n\nFrees it. Call it on the thread that created it."},
    {"__enter__", enter_self, METH_NOARGS, NULL},
    {"__exit__", METHOD(leave_by_close), METH_FASTCALL, NULL},
    {0},
};

static PyGetSetDef properties[] = {
    {"stream", stream, NULL, "The CUstream, as an int.", NULL},
    {"handle", handle, NULL, "The CUcontext, as an int.", NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "CudaContext(device=0)\n--\n\n"
     "Makes the primary context of a CUDA device current and creates a stream. The object\n"
     "itself can be passed as a stream."},
    {Py_tp_new, (void *)make},
    {Py_tp_dealloc, (void *)end},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0},
};

bool add_cuda_context(PyObject *module)
{
    context_type = add_type(module, "grinterop.CudaContext", sizeof(context_object),
                            Py_TPFLAGS_DEFAULT, slots);
    return context_type;
}
