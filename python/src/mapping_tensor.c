/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mappings as tensors, for other frameworks and with other shapes. */
#include "tensor.h"

static PyObject *call_tensor(PyObject *object, PyObject *args, PyObject *keywords)
{
    PyObject *shape = NULL, *dtype = NULL, *strides = NULL, *layout = NULL, *memory = NULL;
    size_t offset = 0;
    bool read_only = false, negative_strides = false;
    struct desc desc;
    gr_buffer *buffer = mapping_of(object);
    if (!buffer ||
        !PARSE("|OOOO&$OO&O&O:tensor",
               NAMES("shape", "dtype", "strides", "offset", "layout", "read_only",
                     "negative_strides", "memory"),
               &shape, &dtype, &strides, SIZE(&offset), &layout, TRUTH(&read_only),
               TRUTH(&negative_strides), &memory) ||
        !desc_of(&desc, shape, dtype, strides, layout, memory))
        return NULL;
    bool as_it_is = !is_given(shape) && desc.desc.memory != GR_MEMORY_ARRAY;
    if (as_it_is && PyTuple_Size(args) + (keywords ? PyDict_Size(keywords) : 0) > !!shape) {
        PyErr_SetString(PyExc_TypeError, "tensor() needs a shape if any other argument is given");
        return NULL;
    }
    desc.desc.offset = offset;
    desc.desc.read_only = read_only;
    desc.desc.negative_strides = negative_strides;
    return tensor_of_mapping(mapping_tensor(buffer, as_it_is ? NULL : &desc.desc), object);
}

static PyObject *dlpack(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    struct export wanted;
    buffer_object *own = (buffer_object *)self;
    gr_buffer *buffer = mapping_of(self);
    if (!buffer || !export_of(&wanted, args, count, names))
        return NULL;
    own->exported = true;
    /* The export keeps the Buffer of a stream object, which must outlive the mapping. */
    bool has_object = own->stream && !PyLong_Check(own->stream);
    return export_mapping(buffer, own->cuda_stream, &wanted, has_object ? self : Py_None);
}

static PyObject *ask_device(gr_buffer *buffer)
{
    gr_tensor *tensor = mapping_tensor(buffer, NULL);
    if (!tensor)
        return fail_as_buffer_error();
    PyObject *device = export_device(gr_tensor_get_info(tensor));
    gr_tensor_free(tensor);
    return device;
}

/*
 * Returns the device. The device of a buffer never changes, so it is cached. The device of an image
 * is not cached: a mapping without linear memory has no device, so each mapping is queried.
 */
static PyObject *dlpack_device(PyObject *object, PyObject *Py_UNUSED(none))
{
    buffer_object *self = (buffer_object *)object;
    gr_buffer *buffer = mapping_of(object);
    if (!buffer)
        return NULL;
    resource_object *resource = buffer_resource(self);
    PyObject **kept = resource && !self->is_image ? &resource->dl_device : NULL;
    if (kept && *kept)
        return Py_NewRef(*kept);
    PyObject *device = ask_device(buffer);
    if (kept && device && !*kept) /* another thread may have set it meanwhile */
        *kept = Py_NewRef(device);
    return device;
}

PyObject *buffer_array_interface(PyObject *self, void *Py_UNUSED(closure))
{
    gr_buffer *buffer = mapping_of(self);
    gr_tensor *tensor = buffer ? mapping_tensor(buffer, NULL) : NULL;
    if (!tensor) {
        if (buffer)
            fail();
        return as_attribute_error();
    }
    PyObject *interface = export_interface(tensor);
    gr_tensor_free(tensor);
    return interface;
}

PyObject *buffer_device_id(PyObject *self, void *Py_UNUSED(closure))
{
    gr_buffer *buffer = mapping_of(self);
    gr_tensor *tensor = buffer ? mapping_tensor(buffer, NULL) : NULL;
    if (!tensor)
        return buffer ? fail() : NULL;
    PyObject *device = PyLong_FromLong(gr_tensor_get_info(tensor)->device);
    gr_tensor_free(tensor);
    return device;
}

GUARDED(call_tensor)
GUARDED_FAST(dlpack)
GUARDED_ONE(dlpack_device)

PyMethodDef mapping_tensor_methods[] = {
    {"tensor", METHOD(guarded_call_tensor), KEYWORDS, NULL},
    EXPORT_METHODS,
    {0},
};
