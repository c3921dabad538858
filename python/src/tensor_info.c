/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The properties and the repr of a Tensor. */
#include "tensor.h"

const gr_tensor_info *tensor_info_of(PyObject *self)
{
    gr_tensor *tensor = tensor_of(self);
    const gr_tensor_info *info = tensor ? gr_tensor_get_info(tensor) : NULL;
    if (tensor && !info)
        fail();
    return info;
}

static PyObject *array_interface(PyObject *self, void *closure)
{
    gr_tensor *tensor = tensor_of(self);
    (void)closure;
    if (tensor)
        return export_interface(tensor);
    PyErr_SetString(PyExc_AttributeError, "Tensor has been closed");
    return NULL;
}

/* Defines a property getter that evaluates `value` with the tensor's `info`. */
#define INFO(name, value)                                                                          \
    static PyObject *name##_of_info(const gr_tensor_info *info)                                    \
    {                                                                                              \
        return info ? (value) : NULL;                                                              \
    }                                                                                              \
    PROPERTY_IN_CALL(name, name##_of_info(tensor_info_of(self)))

INFO(handle, PyLong_FromUnsignedLongLong(info->ptr))
INFO(array, PyLong_FromVoidPtr(info->array))
INFO(shape, numbers(info->shape, info->ndim))
INFO(strides, numbers(info->strides, info->ndim))
INFO(ndim, PyLong_FromUnsignedLong(info->ndim))
INFO(nbytes, PyLong_FromSize_t(info->bytes))
INFO(dtype, PyUnicode_FromString(gr_dtype_get_info(info->dtype)->name))
INFO(typestr, PyUnicode_FromString(gr_dtype_get_info(info->dtype)->typestr))
INFO(itemsize, PyLong_FromSize_t(gr_dtype_get_info(info->dtype)->size))
INFO(layout, PyUnicode_FromString(layout_names[info->layout]))
INFO(memory, PyUnicode_FromString(memory_names[info->memory]))
INFO(device, PyLong_FromLong(info->device))
INFO(is_read_only, PyBool_FromLong(info->read_only))
INFO(is_compact, PyBool_FromLong(info->compact))
INFO(is_revoked, PyBool_FromLong(info->revoked))

PROPERTY(is_closed, PyBool_FromLong(!((tensor_object *)self)->tensor))
PROPERTY(chroma,
         Py_NewRef(((tensor_object *)self)->chroma ? ((tensor_object *)self)->chroma : Py_None))

GUARDED_PROPERTY(array_interface)

static PyObject *text_of_info(const gr_tensor_info *info)
{
    PyObject *sizes = numbers(info->shape, info->ndim);
    if (!sizes)
        return NULL;
    PyObject *text = PyUnicode_FromFormat(
        "<Tensor %s %R%s%s>", gr_dtype_get_info(info->dtype)->name, sizes, info->layout ? " " : "",
        info->layout ? layout_names[info->layout] : "");
    Py_DECREF(sizes);
    if (text && info->revoked) {
        PyObject *more = PyUnicode_FromFormat("%U revoked", text);
        Py_DECREF(text);
        text = more;
    }
    return text;
}

PyObject *tensor_represent(PyObject *object)
{
    tensor_object *self = (tensor_object *)object;
    const gr_tensor_info *info = self->tensor ? gr_tensor_get_info(self->tensor) : NULL;
    if (!info || !call_begin(object)) {
        PyErr_Clear();
        return PyUnicode_FromString("<Tensor closed>");
    }
    PyObject *text = text_of_info(info);
    call_end(object);
    return text;
}

PyGetSetDef tensor_properties[] = {
    {"handle", guarded_handle, NULL, "The address of element 0, as an int; 0 if revoked.", NULL},
    {"array", guarded_array, NULL, "The CUarray of memory 'array', as an int; otherwise 0.", NULL},
    {"shape", guarded_shape, NULL, "The size of each dimension.", NULL},
    {"strides", guarded_strides, NULL, "Bytes between neighbouring elements of each dimension.",
     NULL},
    {"ndim", guarded_ndim, NULL, "The number of dimensions.", NULL},
    {"nbytes", guarded_nbytes, NULL, "The size of all elements in bytes, without gaps.", NULL},
    {"dtype", guarded_dtype, NULL, "The element type, such as 'float32'.", NULL},
    {"typestr", guarded_typestr, NULL, "The element type in array interfaces, such as '<f4'.",
     NULL},
    {"itemsize", guarded_itemsize, NULL, "The size of one element in bytes.", NULL},
    {"layout", guarded_layout, NULL,
     "The order of the dimensions: 'shape', 'hwc', 'chw', 'nv12', ...", NULL},
    {"memory", guarded_memory, NULL, "'device', 'host', 'pinned', 'managed' or 'array'.", NULL},
    {"device", guarded_device, NULL, "The CUDA device.", NULL},
    {"is_read_only", guarded_is_read_only, NULL, "Whether it must not be written to.", NULL},
    {"is_compact", guarded_is_compact, NULL, "Whether its elements have no gaps.", NULL},
    {"is_revoked", guarded_is_revoked, NULL, "Whether its mapping has ended.", NULL},
    {"is_closed", is_closed, NULL, "Whether it was closed.", NULL},
    {"chroma", chroma, NULL, "The chroma plane if it is a separate Tensor, else None.", NULL},
    {"__cuda_array_interface__", guarded_array_interface, NULL, "For Numba, PyCUDA and others.",
     NULL},
    {0},
};
