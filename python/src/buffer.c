/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Buffer: one mapping. The GraphicsResource refers to the Buffer until the Buffer is closed, so
 * dropping a Buffer does not unmap. A Buffer keeps its stream alive.
 */
#include "resource.h"

#include <grinterop/image.h>
#include <grinterop/tensor.h>

PyTypeObject *buffer_type;

/* ---- Lifetime -------------------------------------------------------------------------------- */

/* Ends a mapping whose Buffer is being destroyed or could not be created. Reports no error. */
static void release_later(gr_buffer *buffer)
{
    ENDING(gr_buffer_release_later(buffer));
}

/* Whether a release with this result has ended the mapping. */
static bool has_ended(gr_status status)
{
    return status == GR_OK || status == GR_ERR_PARTIAL;
}

/* Like gr_buffer_release(), but keeps the last error. Whether the buffer has been released. */
static bool release_quietly(const buffer_object *self)
{
    gr_status status;
    bool failed_before = gr_last_error()->status != GR_OK;
    WITHOUT_GIL(status = gr_buffer_release(self->buffer));
    if (!failed_before)
        gr_clear_error();
    return has_ended(status);
}

resource_object *buffer_resource(const buffer_object *self)
{
    return self->of_ring ? NULL : (resource_object *)self->use.whole;
}

/*
 * Makes `self` the mapping of the resource. Another thread may be about to record the end of the
 * mapping before.
 */
static void replace_mapped(resource_object *resource, buffer_object *self)
{
    buffer_object *before = resource->mapped;
    PyObject *shown = resource->shown;
    resource->mapped = (buffer_object *)Py_NewRef((PyObject *)self);
    resource->shown = NULL;
    if (before)
        before->use.whole = NULL;
    Py_XDECREF(before);
    Py_XDECREF(shown);
}

PyObject *buffer_new(resource_object *resource, gr_buffer *buffer, PyObject *stream)
{
    buffer_object *self = new_object(buffer_type);
    if (!self) {
        release_later(buffer);
        return NULL;
    }
    self->buffer = buffer;
    self->stream = Py_XNewRef(stream);
    self->use.whole = (PyObject *)resource;
    if (resource) {
        const gr_resource_info *info = gr_resource_get_info(resource->resource);
        self->read_only = info->flags & GR_READ_ONLY;
        self->is_image = info->kind == GR_KIND_IMAGE;
        replace_mapped(resource, self);
    }
    return (PyObject *)self;
}

bool buffer_usable(buffer_object *self)
{
    if (!self->buffer)
        PyErr_SetString(PyExc_RuntimeError,
                        self->of_ring ? "Buffer has been closed: its slot was handed over, given "
                                        "back or cancelled, or its Slots object was dropped: keep "
                                        "that object while you use the slot"
                                      : "Buffer has been closed: its mapping has ended");
    return self->buffer;
}

gr_buffer *mapping_of(PyObject *object)
{
    buffer_object *self = (buffer_object *)object;
    return buffer_usable(self) ? self->buffer : NULL;
}

void buffer_ended(buffer_object *self)
{
    resource_object *resource = buffer_resource(self);
    PyObject *stream = self->stream, *shown = core_take(self);
    const bool is_held = resource && resource->mapped == self;
    self->buffer = NULL;
    self->use.whole = NULL;
    self->stream = NULL;
    if (is_held)
        resource->mapped = NULL;
    /* The rest may run code of the program, which may free the resource or map it again. */
    core_ended(shown);
    Py_XDECREF(stream);
    if (is_held)
        Py_DECREF(self);
}

unsigned mapping_tensors(const gr_buffer *buffer)
{
    const gr_buffer_info *info = buffer ? gr_buffer_get_info(buffer) : NULL;
    return info ? info->tensors : 0;
}

bool buffer_warn(unsigned tensors)
{
    return !tensors ||
           !PyErr_WarnFormat(PyExc_ResourceWarning, 1,
                             "%u tensor%s outlived the mapping and can no longer be used: delete "
                             "tensors, and arrays made from them, before the mapping ends",
                             tensors, tensors == 1 ? "" : "s");
}

bool buffer_release(buffer_object *self, CUstream stream, unsigned *tensors)
{
    gr_status status;
    gr_buffer *buffer = self->buffer;
    *tensors = 0;
    if (!buffer)
        return true;
    if (self->of_ring) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this Buffer belongs to a ring: publish or give back its slot instead");
        return false;
    }
    if (!ending_begin((PyObject *)self))
        return false;
    *tensors = mapping_tensors(buffer);
    WITHOUT_GIL(status = stream == GR_STREAM_OF_MAP
                             ? gr_buffer_release(buffer)
                             : gr_buffer_release_many(&buffer, 1, stream, NULL));
    if (has_ended(status))
        self->buffer = NULL;
    bool released = status == GR_OK || fail();
    Py_INCREF(self);
    ending_end((PyObject *)self);
    if (has_ended(status))
        buffer_ended(self);
    Py_DECREF(self);
    return released;
}

bool buffer_close(buffer_object *self, CUstream stream)
{
    unsigned tensors;
    return buffer_release(self, stream, &tensors) && buffer_warn(tensors);
}

/*
 * Ends the mapping of a dropped Buffer. All Tensors of the mapping are dropped, too, but not the
 * exports of other frameworks. If the mapping can't end now, the stream object must stay alive
 * until the process exits.
 */
static void finalize(PyObject *object)
{
    ENTER();
    buffer_object *self = (buffer_object *)object;
    PyObject *type, *value, *traceback;
    if (!self->buffer || self->of_ring || self->use.calls) /* called by the program, in a call */
        return;
    PyErr_Fetch(&type, &value, &traceback);
    const gr_buffer_info *info = gr_buffer_get_info(self->buffer); /* NULL in a forked child */
    bool exported = info && self->exported && info->tensors;
    if (!info || exported || info->stream == GR_STREAM_PER_THREAD || python_ends() ||
        !release_quietly(self)) {
        release_later(self->buffer);
        if (!stream_stays(self->stream))
            PyErr_Clear();
    }
    buffer_ended(self);
    PyErr_Restore(type, value, traceback);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((buffer_object *)object)->stream);
    return 0;
}

static void end(PyObject *object)
{
    untrack(object);
    ENTER();
    buffer_object *self = (buffer_object *)object;
    hide_object(object);
    finalize(object);
    Py_XDECREF(self->stream);
    end_object(object);
}

/* ---- Methods --------------------------------------------------------------------------------- */

#define SELF ((buffer_object *)core_own(self))

static PyObject *call_close(PyObject *self, PyObject *const *args, Py_ssize_t count,
                            PyObject *names)
{
    ENTER();
    static struct parameters parameters = {.positional = 1, .names = {"stream"}};
    CUstream stream;
    PyObject *given = NULL;
    if (((count || names) && !arguments_of("close", &parameters, args, count, names, &given)) ||
        !stream_or(given, GR_STREAM_OF_MAP, &stream))
        return NULL;
    return buffer_close(SELF, stream) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *leave(PyObject *self, PyObject *const *Py_UNUSED(args),
                       Py_ssize_t Py_UNUSED(count))
{
    ENTER();
    bool ended = buffer_close(SELF, GR_STREAM_OF_MAP);
    return ended ? Py_NewRef(Py_False) : NULL;
}

static CUdeviceptr pointer_of(buffer_object *self)
{
    return self->buffer ? gr_buffer_ptr(self->buffer) : 0;
}

static PyObject *pointer_or_fail(buffer_object *self)
{
    CUdeviceptr pointer = pointer_of(self);
    /* An image has no pointer. The library error explains why, unlike a result of 0. */
    if (!pointer && self->buffer && gr_last_error()->status == GR_ERR_STATE && self->is_image)
        return fail();
    return PyLong_FromUnsignedLongLong(pointer);
}

static PyObject *pitch_or_fail(buffer_object *self)
{
    const gr_buffer_info *info = self->buffer ? gr_buffer_get_info(self->buffer) : NULL;
    return self->buffer && !info ? fail() : PyLong_FromSize_t(info ? info->pitch : 0);
}

/* Another thread may be destroying the resource. */
static PyObject *resource_or_none(buffer_object *self)
{
    PyObject *resource = (PyObject *)buffer_resource(self);
    return resource && try_reference(resource) ? resource : Py_NewRef(Py_None);
}

static PyObject *if_usable(buffer_object *self, PyObject *answer)
{
    return buffer_usable(self) ? Py_NewRef(answer) : NULL;
}

PROPERTY_IN_CALL(handle, pointer_or_fail(SELF))
PROPERTY_IN_CALL(size, PyLong_FromSize_t(SELF->buffer ? gr_buffer_size(SELF->buffer) : 0))
PROPERTY_IN_CALL(pitch, pitch_or_fail(SELF))
PROPERTY(is_closed, PyBool_FromLong(!SELF->buffer))
PROPERTY(stream, Py_NewRef(SELF->stream ? SELF->stream : Py_None))
PROPERTY(resource, resource_or_none(SELF))
PROPERTY(is_read_only, PyBool_FromLong(SELF->read_only))
PROPERTY(yes, if_usable(SELF, Py_True))
PROPERTY(no, if_usable(SELF, Py_False))
PROPERTY(nothing, Py_NewRef(Py_None))
GUARDED_PROPERTY(buffer_device_id)
GUARDED_PROPERTY(buffer_array_interface)

PyObject *buffer_represent(PyObject *object)
{
    ENTER();
    object = core_own(object);
    buffer_object *self = (buffer_object *)object;
    if (!self->buffer || !call_begin(object)) {
        PyErr_Clear();
        return PyUnicode_FromString("<Buffer closed>");
    }
    size_t bytes = gr_buffer_size(self->buffer);
    void *at = self->is_image && !bytes ? NULL : (void *)(uintptr_t)pointer_of(self);
    call_end(object);
    if (self->is_image && !bytes)
        return PyUnicode_FromString("<Buffer of an image>");
    return PyUnicode_FromFormat("<Buffer ptr=%p size=%zu>", at, bytes);
}

static PyMethodDef own_methods[] = {
    {"close", METHOD(call_close), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__enter__", enter_self, METH_NOARGS, NULL},
    {"__exit__", METHOD(leave), METH_FASTCALL, NULL},
    {0},
};

/* own_methods and the methods defined in other files, which add_buffer() appends. */
PyMethodDef buffer_methods[MOST_METHODS + 1];

PyGetSetDef buffer_properties[] = {
    {"handle", guarded_handle, NULL, NULL, NULL},
    {"size", guarded_size, NULL, NULL, NULL},
    {"pitch", guarded_pitch, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {"is_read_only", is_read_only, NULL, NULL, NULL},
    {"is_device_accessible", yes, NULL, NULL, NULL},
    {"is_host_accessible", no, NULL, NULL, NULL},
    {"is_managed", no, NULL, NULL, NULL},
    {"device_id", guarded_buffer_device_id, NULL, NULL, NULL},
    {"__cuda_array_interface__", guarded_buffer_array_interface, NULL, NULL, NULL},
    {"memory_resource", nothing, NULL, NULL, NULL},
    {"owner", nothing, NULL, NULL, NULL},
    {"stream", stream, NULL, NULL, NULL},
    {"resource", resource, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)refuse_new},        {Py_tp_dealloc, (void *)end},
    {Py_tp_finalize, (void *)finalize},     {Py_tp_traverse, (void *)traverse},
    {Py_tp_repr, (void *)buffer_represent}, {Py_tp_methods, buffer_methods},
    {Py_tp_getset, buffer_properties},      {0},
};

bool add_buffer(PyObject *module)
{
    gather(buffer_methods, own_methods);
    gather(buffer_methods, buffer_copy_methods);
    gather(buffer_methods, image_methods);
    gather(buffer_methods, mapping_tensor_methods);
    return add_type(module, &buffer_type, "grinterop.Buffer", sizeof(buffer_object),
                    Py_TPFLAGS_HAVE_GC, slots);
}
