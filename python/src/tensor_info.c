/* SPDX-License-Identifier: Apache-2.0 */
/* What a Tensor is: its properties and its text. */
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

/* Of `info`. */
#define INFO(name, value)                                                                          \
    static PyObject *name##_of_info(const gr_tensor_info *info)                                    \
    {                                                                                              \
        return info ? (value) : NULL;                                                              \
    }                                                                                              \
    PROPERTY_IN_CALL(name, name##_of_info(tensor_info_of(self)))

INFO(handle, PyLong_FromUnsignedLongLong(info->ptr))
INFO(shape, numbers(info->shape, info->ndim))
INFO(strides, numbers(info->strides, info->ndim))
INFO(ndim, PyLong_FromUnsignedLong(info->ndim))
INFO(nbytes, PyLong_FromSize_t(info->bytes))
INFO(dtype, PyUnicode_FromString(gr_dtype_name(info->dtype)))
INFO(typestr, PyUnicode_FromString(gr_dtype_typestr(info->dtype)))
INFO(itemsize, PyLong_FromSize_t(gr_dtype_size(info->dtype)))
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
    PyObject *text = PyUnicode_FromFormat("<Tensor %s %R%s%s>", gr_dtype_name(info->dtype), sizes,
                                          info->layout ? " " : "",
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
    if (!info || !use_begin(object)) {
        PyErr_Clear();
        return PyUnicode_FromString("<Tensor closed>");
    }
    PyObject *text = text_of_info(info);
    use_end(object);
    return text;
}

PyGetSetDef tensor_properties[] = {
    {"handle", guarded_handle, NULL, "Where element 0 is, as an int; 0 once it was revoked.", NULL},
    {"shape", guarded_shape, NULL, "How large each dimension is.", NULL},
    {"strides", guarded_strides, NULL, "Bytes from one element of each dimension to the next.",
     NULL},
    {"ndim", guarded_ndim, NULL, "How many dimensions there are.", NULL},
    {"nbytes", guarded_nbytes, NULL, "Bytes of all elements, without gaps.", NULL},
    {"dtype", guarded_dtype, NULL, "The type's name, such as 'float32'.", NULL},
    {"typestr", guarded_typestr, NULL, "The type's name in the array interfaces, such as '<f4'.",
     NULL},
    {"itemsize", guarded_itemsize, NULL, "Bytes of one element.", NULL},
    {"layout", guarded_layout, NULL, "What the dimensions are: 'shape', 'hwc', 'chw', 'nv12', ...",
     NULL},
    {"memory", guarded_memory, NULL, "'device', 'host', 'pinned' or 'managed'.", NULL},
    {"device", guarded_device, NULL, "The CUDA device.", NULL},
    {"is_read_only", guarded_is_read_only, NULL, "Whether nobody may write to it.", NULL},
    {"is_compact", guarded_is_compact, NULL, "Whether its elements follow each other.", NULL},
    {"is_revoked", guarded_is_revoked, NULL, "Whether the mapping that it was of has ended.", NULL},
    {"is_closed", is_closed, NULL, "Whether it was closed.", NULL},
    {"chroma", chroma, NULL, "The plane of colours, if it is a Tensor of its own; else None.",
     NULL},
    {"__cuda_array_interface__", guarded_array_interface, NULL, "For Numba, PyCUDA and others.",
     NULL},
    {0},
};
