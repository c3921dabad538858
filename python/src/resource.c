/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * GraphicsResource. Names, arguments and exceptions match cuda.core's class, so that code written
 * for cuda.core runs; additions have other names.
 */
#include "tensor.h"

#include <grinterop/image.h>

#include "lib/cuda/driver_functions.h"

PyTypeObject *resource_type;

/* ---- Life ------------------------------------------------------------------------------------ */

PyObject *resource_new(PyTypeObject *type, gr_resource *resource)
{
    resource_object *self = resource ? new_object(type) : NULL;
    if (!resource)
        return fail();
    if (!self) {
        gr_resource_free(resource);
        return NULL;
    }
    self->resource = resource;
    self->thread = PyThread_get_thread_ident();
    return (PyObject *)self;
}

PyObject *resource_in_memory(PyObject *self, PyObject *tensor)
{
    if (!self)
        return NULL;
    const gr_tensor_info *info = tensor_info_of(tensor);
    PyObject *memory = info ? tensor_same(tensor, info->layout) : NULL;
    ((resource_object *)self)->memory = memory;
    if (!memory)
        Py_CLEAR(self);
    return self;
}

/* Makes the Buffer forget its resource, before code of the program runs that may use the Buffer. */
static void leave_mapping(buffer_object *mapped)
{
    if (!mapped)
        return;
    mapped->use.whole = NULL;
}

/* Drops the mapping. false if a Buffer or tensor that the program holds keeps the mapping open. */
static bool drop_mapping(resource_object *self)
{
    buffer_object *mapped = self->mapped;
    self->mapped = NULL;
    Py_CLEAR(self->shown);
    if (!mapped)
        return true;
    bool kept = Py_REFCNT(mapped) > 1 || mapping_tensors(mapped->buffer);
    Py_DECREF(mapped);
    return !kept;
}

/*
 * Whether a failed close needs no warning: the OpenGL context is not current, so gr_resource_free()
 * ends the registration later; a ring holds the resource; or the registration ended with its CUDA
 * context.
 */
static bool is_expected(const gr_error *error)
{
    return error->status == GR_ERR_GL || (error->status == GR_ERR_STATE && !error->code) ||
           (error->domain == GR_DOMAIN_CUDA && (error->code == CUDA_ERROR_DEINITIALIZED ||
                                                error->code == CUDA_ERROR_CONTEXT_IS_DESTROYED));
}

/*
 * Closes a dropped resource with gr_resource_close(), which does the same as gr_resource_free() but
 * returns a status.
 */
static void close_dropped(gr_resource *resource)
{
    bool failed_before = gr_last_error()->status != GR_OK;
    gr_status status;
    WITHOUT_GIL(status = gr_resource_close(resource, GR_STREAM_OF_MAP));
    if (status == GR_OK)
        return;
    if (!is_expected(gr_last_error())) {
        fail();
        warn_of_end(resource_type);
    } else if (!failed_before) {
        gr_clear_error();
    }
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    resource_object *self = (resource_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->mapped);
    Py_VISIT(self->shown);
    Py_VISIT(self->stream);
    Py_VISIT(self->owner);
    Py_VISIT(self->memory);
    return 0;
}

/* The finalizer of the Buffer has ended the mapping. */
static int clear(PyObject *object)
{
    Py_CLEAR(((resource_object *)object)->stream);
    return 0;
}

/* Ends the resource, which no call uses. Keeps the exception that is set. */
static void let_go(resource_object *self)
{
    gr_resource *resource = self->resource;
    PyObject *memory = self->memory, *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    bool unmapped = drop_mapping(self);
    /* On other threads and at exit, the OpenGL context of the resource is rarely current. */
    if (unmapped && self->thread == PyThread_get_thread_ident() && !python_ends())
        close_dropped(resource);
    self->resource = NULL;
    self->closed = true;
    self->memory = NULL;
    WITHOUT_GIL(gr_resource_free(resource));
    kept_release();
    Py_XDECREF(memory);
    PyErr_Restore(type, value, traceback);
}

/*
 * The library keeps the memory of create_gl_buffer_of() until the resource has ended, and with it
 * an owner that is part of the same cycle.
 */
static void finalize(PyObject *object)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    if (!self->memory || self->use.calls) /* called by the program, in a call */
        return;
    leave_mapping(self->mapped);
    let_go(self);
}

static void end(PyObject *object)
{
    untrack(object);
    ENTER();
    resource_object *self = (resource_object *)object;
    leave_mapping(self->mapped);
    hide_object(object);
    if (self->resource)
        let_go(self);
    Py_XDECREF(self->stream);
    Py_XDECREF(self->owner);
    Py_XDECREF(self->dl_device);
    end_object(object);
}

bool resource_usable(resource_object *self)
{
    if (is_exclusive((PyObject *)self))
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread is in a call with this GraphicsResource");
    else if (self->closed)
        PyErr_SetString(PyExc_RuntimeError, "GraphicsResource has been closed");
    else
        return true;
    return false;
}

resource_object *resource_of(PyObject *object)
{
    resource_object *self = (resource_object *)object;
    if (!PyObject_TypeCheck(object, resource_type))
        wrong_type("expected a GraphicsResource", object);
    else if (resource_usable(self))
        return self;
    return NULL;
}

bool resource_is_mapped(const resource_object *self)
{
    return self->mapped && self->mapped->buffer;
}

static bool mappable(resource_object *self)
{
    if (!resource_usable(self))
        return false;
    if (resource_is_mapped(self)) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "GraphicsResource is already mapped: close its Buffer or call unmap() first");
        return false;
    }
    return true;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

static PyObject *map_on(resource_object *self, PyObject *given, const gr_map_options *options)
{
    CUstream stream;
    gr_buffer *buffer;
    PyObject *mapped;
    if (!mappable(self) || !stream_of(given, &stream) || !mappable(self) ||
        !exclusive_begin((PyObject *)self))
        return NULL;
    WITHOUT_GIL(buffer = options ? gr_map_with(self->resource, stream, options)
                                 : gr_map(self->resource, stream));
    mapped = buffer ? buffer_new(self, buffer, given) : fail();
    if (mapped && options && options->access == GR_MAP_READ_ONLY)
        ((buffer_object *)mapped)->read_only = true;
    exclusive_end((PyObject *)self);
    if (mapped)
        ((buffer_object *)mapped)->cuda_stream = stream;
    return mapped;
}

static bool access_of(PyObject *given, gr_map_access *access)
{
    unsigned flags;
    const bool are_flags = flags_of(given, &flags);
    if (!are_flags && !is_absent(PyExc_ValueError))
        return false;
    if (!are_flags || flags > GR_WRITE_DISCARD) {
        PyErr_Format(PyExc_ValueError,
                     "flags: %R, but a map has one of read_only, write_discard and read_write",
                     given);
        return false;
    }
    *access = flags ? (gr_map_access)flags : GR_MAP_READ_WRITE;
    return true;
}

static PyObject *map(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    ENTER();
    static struct parameters parameters = {.required = 1, .names = {"stream", "flags"}};
    gr_map_options options = GR_INIT(gr_map_options);
    PyObject *given[2];
    if (!arguments_of("map", &parameters, args, count, names, given))
        return NULL;
    const bool narrows = is_given(given[1]);
    if (narrows && !access_of(given[1], &options.access))
        return NULL;
    return core_wrap(map_on((resource_object *)self, given[0], narrows ? &options : NULL));
}

static PyObject *map_linear(PyObject *object, PyObject *args, PyObject *keywords)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    unsigned level = 0, layer = 0;
    PyObject *given = NULL;
    CUstream stream;
    gr_buffer *buffer;
    if (!PARSE("|O&O&$O:map_linear", NAMES("level", "layer", "stream"), UNSIGNED(&level),
               UNSIGNED(&layer), &given) ||
        !stream_given(given, "map_linear", &stream) || !mappable(self) || !exclusive_begin(object))
        return NULL;
    WITHOUT_GIL(buffer = gr_map_linear(self->resource, level, layer, stream));
    PyObject *mapped = buffer ? buffer_new(self, buffer, given) : fail();
    exclusive_end(object);
    return core_wrap(mapped);
}

static PyObject *unmap(PyObject *object, PyObject *args, PyObject *keywords)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    PyObject *given = NULL;
    CUstream stream;
    if (!PARSE("|$O:unmap", NAMES("stream"), &given) ||
        !stream_or(given, GR_STREAM_OF_MAP, &stream) || !resource_usable(self))
        return NULL;
    if (!resource_is_mapped(self)) {
        PyErr_SetString(PyExc_RuntimeError, "GraphicsResource is not mapped");
        return NULL;
    }
    return buffer_close(self->mapped, stream) ? Py_NewRef(Py_None) : NULL;
}

/* ---- Closing --------------------------------------------------------------------------------- */

static bool close_registration(resource_object *self)
{
    gr_status status;
    if (!ending_begin((PyObject *)self))
        return false;
    WITHOUT_GIL(status = gr_resource_close(self->resource, GR_STREAM_OF_MAP));
    bool closed = status == GR_ERR_PARTIAL ? warn_of_error() : status == GR_OK || fail();
    const gr_resource_info *info = gr_resource_get_info(self->resource);
    self->closed = info && info->closed;
    ending_end((PyObject *)self);
    return closed;
}

/* After a PartialError of the mapping, which has ended, the registration ends, too. */
static bool close_all(resource_object *self, CUstream stream)
{
    PyObject *type, *value, *traceback;
    if (self->closed)
        return true;
    unsigned tensors = 0;
    if (!resource_usable(self) ||
        (self->mapped && !buffer_release(self->mapped, stream, &tensors) &&
         resource_is_mapped(self)))
        return false;
    PyErr_Fetch(&type, &value, &traceback);
    bool closed = resource_usable(self) && close_registration(self);
    if (closed) {
        Py_CLEAR(self->stream);
        Py_CLEAR(self->memory);
        closed = buffer_warn(tensors);
    }
    if (!type)
        return closed;
    PyErr_Restore(type, value, traceback);
    return false;
}

static PyObject *call_close(PyObject *self, PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *given = NULL;
    CUstream stream;
    if (!PARSE("|O:close", NAMES("stream"), &given) || !stream_or(given, GR_STREAM_OF_MAP, &stream))
        return NULL;
    return close_all((resource_object *)self, stream) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *enter(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    resource_object *self = (resource_object *)object;
    if (!self->stream)
        return Py_NewRef(object);
    /* Code run by the stream object may close `self`, which would release the stream. */
    PyObject *stream = Py_NewRef(self->stream), *mapped = map_on(self, stream, NULL);
    Py_DECREF(stream);
    return core_wrap(mapped);
}

static PyObject *leave(PyObject *self, PyObject *const *Py_UNUSED(args),
                       Py_ssize_t Py_UNUSED(count))
{
    ENTER();
    bool ended = close_all((resource_object *)self, GR_STREAM_OF_MAP);
    return ended ? Py_NewRef(Py_False) : NULL;
}

static gr_status wait_once(void *resource, unsigned timeout_ms)
{
    gr_status status;
    WITHOUT_GIL(status = gr_resource_wait(resource, timeout_ms));
    return status;
}

static PyObject *call_wait(PyObject *object, PyObject *args, PyObject *keywords)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    PyObject *time = NULL;
    unsigned timeout_ms;
    if (!PARSE("|O:wait", NAMES("timeout"), &time) || !timeout_of(time, &timeout_ms) ||
        !resource_usable(self) || !exclusive_begin(object))
        return NULL;
    bool done = wait_in_slices(wait_once, self->resource, timeout_ms);
    exclusive_end(object);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* ---- The type -------------------------------------------------------------------------------- */

static PyMethodDef own_methods[] = {
    {"map", METHOD(map), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"map_linear", METHOD(map_linear), KEYWORDS, NULL},
    {"unmap", METHOD(unmap), KEYWORDS, NULL},
    {"close", METHOD(call_close), KEYWORDS, NULL},
    {"wait", METHOD(call_wait), KEYWORDS, NULL},
    {"describe", resource_describe, METH_NOARGS, NULL},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", METHOD(leave), METH_FASTCALL, NULL},
    {0},
};

/* own_methods and the methods defined in other files, which add_resource() appends. */
static PyMethodDef methods[MOST_METHODS + 1];

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_dealloc, (void *)end},
    {Py_tp_finalize, (void *)finalize},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_clear, (void *)clear},
    {Py_tp_repr, (void *)resource_represent},
    {Py_tp_methods, methods},
    {Py_tp_getset, resource_properties},
    {0},
};

bool add_resource(PyObject *module)
{
    gather(methods, own_methods);
    gather(methods, gl_methods);
    gather(methods, external_methods);
    gather(methods, order_methods);
    gather(methods, share_methods);
    gather(methods, resource_image_methods);
    return add_type(module, &resource_type, "grinterop.GraphicsResource", sizeof(resource_object),
                    Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots);
}
