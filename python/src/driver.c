/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loading the CUDA driver, CudaContext, probing OpenGL transports, and the log. */
#include "module.h"

#include <grinterop/driver.h>
#include <grinterop/gl.h>

#include <stdbool.h>
#include <stdlib.h>

#include "lib/cuda/driver_outside.h"

static PyObject *cuda_load(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    bool allow_software = false;
    gr_status status;
    if (!PARSE("|O&:cuda_load", NAMES("allow_software"), TRUTH(&allow_software)))
        return NULL;
    WITHOUT_GIL(status = gr_cuda_load(allow_software));
    return none_or_fail(status);
}

FUNCTION(cuda_is_software, PyBool_FromLong(gr_cuda_is_software()))
FUNCTION(cuda_driver_path, text_of(gr_cuda_driver_path()))
FUNCTION(library_version, text_of(gr_library_version()))

static PyObject *gl_cuda_device(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    int device;
    gr_status status;
    WITHOUT_GIL(status = gr_gl_cuda_device(&device));
    return status == GR_OK ? PyLong_FromLong(device) : fail();
}

static PyObject *gl_probe(PyObject *Py_UNUSED(module), PyObject *object)
{
    static const struct named transports[] = {GL_TRANSPORTS, {0}};
    const gr_transport_info *info;
    unsigned transport;
    if (!value_of(object, "transport to probe", transports, &transport))
        return NULL;
    WITHOUT_GIL(info = gr_gl_probe((gr_transport)transport));
    if (!info)
        return fail();
    return Py_BuildValue("(ON)", info->usable ? Py_True : Py_False, text_of(info->reason));
}

static _Atomic int log_is_chosen;

static PyObject *set_log(PyObject *Py_UNUSED(module), PyObject *object)
{
    static const char *const names[] = {"none", "error", "warning", "info", "debug", NULL};
    int level;
    if (!choice_of(object, "log level", names, &level))
        return NULL;
    log_is_chosen = true;
    gr_log_add((gr_log_level)level, NULL, NULL);
    return Py_NewRef(Py_None);
}

/*
 * Called at exit, before Python drops the remaining objects in any order. A mapping that loses data
 * then is not reported, unless a log level was set.
 */
static PyObject *at_exit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (!log_is_chosen && !getenv("GR_LOG"))
        gr_log_add(GR_LOG_NONE, NULL, NULL);
    return Py_NewRef(Py_None);
}

PyMethodDef driver_functions[] = {
    {"cuda_load", METHOD(cuda_load), KEYWORDS, NULL},
    {"cuda_is_software", cuda_is_software, METH_NOARGS, NULL},
    {"cuda_driver_path", cuda_driver_path, METH_NOARGS, NULL},
    {"library_version", library_version, METH_NOARGS, NULL},
    {"gl_cuda_device", gl_cuda_device, METH_NOARGS, NULL},
    {"_gl_probe", gl_probe, METH_O, NULL},
    {"set_log", set_log, METH_O, NULL},
    {"_at_exit", at_exit, METH_NOARGS, NULL},
    {0},
};

int in_context(CUcontext context, int (*call)(void *user), void *user)
{
    const struct gr_driver_api *cuda = gr_driver_functions();
    int result = cuda ? cuda->CtxPushCurrent(context) : CUDA_ERROR_NOT_INITIALIZED;
    if (result != CUDA_SUCCESS)
        return result;
    result = call(user);
    cuda->CtxPopCurrent(&context);
    return result;
}

/* ---- CudaContext ----------------------------------------------------------------------------- */

PyTypeObject *context_type;

typedef struct context_object {
    OBJECT_HEAD
    gr_cuda_context *context; /* NULL: closed */
    const gr_cuda_context_info *info;
    int device;
    unsigned long thread; /* The thread that created the context and must close it. */
} context_object;

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    int device = 0;
    gr_cuda_context *context;
    if (!PARSE("|O&:CudaContext", NAMES("device"), INT(&device)))
        return NULL;
    WITHOUT_GIL(context = gr_cuda_context_create(device));
    context_object *self = context ? new_object(type) : NULL;
    if (!context)
        return fail();
    if (!self) {
        gr_cuda_context_free(context);
        return NULL;
    }
    self->context = context;
    self->info = gr_cuda_context_get_info(context);
    self->device = device;
    self->thread = PyThread_get_thread_ident();
    return (PyObject *)self;
}

static void let_go(context_object *self)
{
    gr_cuda_context *context = self->context;
    self->context = NULL;
    if (context)
        ENDING(gr_cuda_context_free(context));
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
    ENTER();
    PyObject *type, *value, *traceback;
    hide_object(object);
    PyErr_Fetch(&type, &value, &traceback);
    if (is_here((context_object *)object))
        let_go((context_object *)object);
    else
        warn_of_end(Py_TYPE(object));
    PyErr_Restore(type, value, traceback);
    end_object(object);
}

static PyObject *call_close(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    context_object *self = (context_object *)object;
    if (!is_here(self) || !unused(object))
        return NULL;
    let_go(self);
    return Py_NewRef(Py_None);
}

static const gr_cuda_context_info *info_of(PyObject *object)
{
    const context_object *self = (const context_object *)object;
    return open_or_fail(self->context, "CudaContext") ? self->info : NULL;
}

bool context_stream(PyObject *self, CUstream *stream)
{
    const gr_cuda_context_info *info = info_of(self);
    if (info)
        *stream = info->stream;
    return info;
}

static PyObject *stream_pair(PyObject *self, PyObject *Py_UNUSED(none))
{
    ENTER();
    CUstream stream;
    return context_stream(self, &stream) ? Py_BuildValue("(iN)", 0, PyLong_FromVoidPtr(stream))
                                         : NULL;
}

#define HANDLE(member) (info_of(self) ? PyLong_FromVoidPtr(info_of(self)->member) : NULL)

PROPERTY(stream, HANDLE(stream))
PROPERTY(handle, HANDLE(context))

static PyObject *call_sync(PyObject *self, PyObject *Py_UNUSED(none))
{
    const gr_cuda_context_info *info = info_of(self);
    const struct gr_driver_api *cuda = info ? gr_driver_functions() : NULL;
    CUresult result;
    if (!cuda)
        return info ? fail() : NULL;
    WITHOUT_GIL(result = cuda->StreamSynchronize(info->stream));
    return result == CUDA_SUCCESS ? Py_NewRef(Py_None) : driver_fail(result, "cuStreamSynchronize");
}

static PyObject *text_of_context(PyObject *self, PyObject *Py_UNUSED(none))
{
    const gr_cuda_context_info *info = info_of(self);
    return info ? PyUnicode_FromFormat("device=%d handle=%p stream=%p",
                                       ((context_object *)self)->device, (void *)info->context,
                                       (void *)info->stream)
                : NULL;
}

GUARDED_ONE(call_sync)
REPRESENT("CudaContext", text_of_context)

static PyMethodDef methods[] = {
    {"__cuda_stream__", stream_pair, METH_NOARGS, NULL},
    {"sync", guarded_call_sync, METH_NOARGS, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    CLOSE_BY_WITH,
    {0},
};

static PyGetSetDef properties[] = {
    {"stream", stream, NULL, NULL, NULL},
    {"handle", handle, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)end}, {Py_tp_repr, (void *)represent},
    {Py_tp_methods, methods},  {Py_tp_getset, properties},   {0},
};

ADD_TYPE(add_cuda_context, context_type, "grinterop.CudaContext", context_object, 0)
