/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensor descriptions: shapes, strides, dtypes and layouts, and the properties of a Tensor. */
#include "tensor.h"

#include <string.h>

const char *const layout_names[] = {"shape",  "hwc",    "chw",    "nv12", "p016", "nv16",
                                    "yuv444", "yuv420", "yuv422", "yuyv", "uyvy", NULL};
const char *const memory_names[] = {"device", "host", "pinned", "managed", "array", NULL};

PyObject *numbers(const int64_t *values, unsigned n)
{
    PyObject *tuple = PyTuple_New(n);
    for (unsigned i = 0; tuple && i < n; i++) {
        PyObject *number = PyLong_FromLongLong(values[i]);
        if (!number || PyTuple_SetItem(tuple, i, number))
            Py_CLEAR(tuple);
    }
    return tuple;
}

bool layout_of(PyObject *object, gr_layout *layout)
{
    int choice;
    bool is_layout = choice_of(object, "layout", layout_names, &choice);
    *layout = (gr_layout)choice;
    return is_layout;
}

static bool read_numbers(PyObject *items, const char *what, int64_t *values, unsigned *count)
{
    const Py_ssize_t n = PyTuple_Size(items);
    if (n > (Py_ssize_t)GR_TENSOR_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers; a tensor has at most %u dimensions",
                     what, n, GR_TENSOR_DIMS);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!read_as(what, PyTuple_GetItem(items, i), INT64(&values[i])))
            return false;
    *count = (unsigned)n;
    return true;
}

static bool numbers_of(PyObject *sequence, const char *what, const char *expected, int64_t *values,
                       unsigned *count)
{
    PyObject *items = items_of(sequence, expected);
    const bool are_numbers = items && read_numbers(items, what, values, count);
    Py_XDECREF(items);
    return are_numbers;
}

static bool shape_of(struct desc *desc, PyObject *shape)
{
    desc->desc.shape = desc->shape;
    if (!PyIndex_Check(shape) || PySequence_Check(shape)) /* an array is both */
        return numbers_of(shape, "shape", "shape: expected an integer or several", desc->shape,
                          &desc->desc.ndim);
    desc->desc.ndim = 1;
    return read_as("shape", shape, INT64(&desc->shape[0]));
}

static bool strides_of(struct desc *desc, PyObject *strides)
{
    unsigned count;
    if (!numbers_of(strides, "strides", "strides: expected integers", desc->strides, &count))
        return false;
    if (count != desc->desc.ndim) {
        PyErr_Format(PyExc_ValueError, "strides has %u numbers, but shape has %u", count,
                     desc->desc.ndim);
        return false;
    }
    desc->desc.strides = desc->strides;
    return true;
}

/*
 * The name of a dtype: its `name` (NumPy dtypes), else its `__name__` (NumPy scalar types), else
 * its str() (PyTorch dtypes: "torch.float32"). Only the `str` of a NumPy dtype has the byte order.
 */
static PyObject *name_of_dtype(PyObject *object)
{
    PyObject *native = PyObject_GetAttrString(object, "isnative");
    if (!native && !is_absent(PyExc_AttributeError))
        return NULL;
    PyObject *name = PyObject_GetAttrString(object, native == Py_False ? "str" : "name");
    Py_XDECREF(native);
    if (!name && is_absent(PyExc_AttributeError))
        name = PyObject_GetAttrString(object, "__name__");
    if (!name && is_absent(PyExc_AttributeError))
        name = PyObject_Str(object);
    return name;
}

/*
 * Reads a dtype from a name or typestr, or from an object. Of a dotted name only the last part
 * counts.
 */
static bool dtype_of(PyObject *object, gr_dtype *dtype)
{
    PyObject *name = PyUnicode_Check(object) ? Py_NewRef(object) : name_of_dtype(object);
    const char *text = name ? plain_text(name) : NULL;
    const char *point = text ? strrchr(text, '.') : NULL;
    *dtype = text ? gr_dtype_parse(point ? point + 1 : text) : 0;
    if (!*dtype && !PyErr_Occurred()) {
        if (text)
            fail();
        else
            PyErr_Format(PyExc_ValueError, "%R is not a dtype: it contains a null character", name);
    }
    Py_XDECREF(name);
    return *dtype;
}

bool desc_of(struct desc *desc, PyObject *shape, PyObject *dtype, PyObject *strides,
             PyObject *layout, PyObject *memory)
{
    int choice;
    desc->desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8);
    if ((is_given(shape) && !shape_of(desc, shape)) ||
        (is_given(dtype) && !dtype_of(dtype, &desc->desc.dtype)) ||
        (is_given(strides) && !strides_of(desc, strides)) ||
        !layout_of(layout, &desc->desc.layout) ||
        !choice_of(memory, "kind of memory", memory_names, &choice))
        return false;
    desc->desc.memory = (gr_memory)choice;
    if (desc->desc.memory == GR_MEMORY_ARRAY && !is_given(dtype))
        desc->desc.dtype = 0; /* The array determines the dtype. */
    return true;
}

/*
 * The number of bytes that negative strides reach before element 0. The offset of a view counts
 * from the lowest byte.
 */
static size_t reach_before(const gr_tensor_info *info)
{
    int64_t reach = 0;
    for (unsigned i = 0; i < info->ndim; i++) {
        if (info->shape[i] == 0)
            return 0;
        if (info->strides[i] < 0)
            reach -= (info->shape[i] - 1) * info->strides[i];
    }
    return (size_t)reach;
}

void desc_of_info(struct desc *desc, const gr_tensor_info *info)
{
    desc->desc = GR_INIT(gr_tensor_desc, .dtype = info->dtype, .ndim = info->ndim,
                         .shape = desc->shape, .strides = desc->strides, .layout = info->layout,
                         .read_only = info->read_only, .offset = reach_before(info));
    memcpy(desc->shape, info->shape, info->ndim * sizeof(*desc->shape));
    memcpy(desc->strides, info->strides, info->ndim * sizeof(*desc->strides));
}

/* ---- Properties of a Tensor ------------------------------------------------------------------ */

const gr_tensor_info *tensor_info_of(PyObject *self)
{
    gr_tensor *tensor = tensor_of(self);
    const gr_tensor_info *info = tensor ? gr_tensor_get_info(tensor) : NULL;
    if (tensor && !info)
        fail();
    return info;
}

static PyObject *array_interface(PyObject *self, void *Py_UNUSED(closure))
{
    gr_tensor *tensor = tensor_of(self);
    if (tensor)
        return is_one_plane(self, PyExc_AttributeError) ? export_interface(tensor) : NULL;
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
PROPERTY(chroma_v,
         Py_NewRef(((tensor_object *)self)->chroma_v ? ((tensor_object *)self)->chroma_v : Py_None))

/* The first plane, too, is a tensor of its own then, without the layout of the image. */
static PyObject *planes_of(PyObject *object)
{
    const tensor_object *self = (tensor_object *)object;
    PyObject *luma = self->chroma ? tensor_same(object, GR_LAYOUT_SHAPE) : Py_NewRef(object);
    PyObject *planes = !luma            ? NULL
                       : self->chroma_v ? PyTuple_Pack(3, luma, self->chroma, self->chroma_v)
                       : self->chroma   ? PyTuple_Pack(2, luma, self->chroma)
                                        : PyTuple_Pack(1, luma);
    Py_XDECREF(luma);
    return planes;
}

PROPERTY_IN_CALL(planes, planes_of(self))
GUARDED_PROPERTY(array_interface)

static PyObject *text_of_tensor(PyObject *self, PyObject *Py_UNUSED(none))
{
    const gr_tensor_info *info = tensor_info_of(self);
    PyObject *sizes = info ? numbers(info->shape, info->ndim) : NULL, *text = NULL;
    if (sizes)
        text = PyUnicode_FromFormat(
            "%s %R%s%s%s", gr_dtype_get_info(info->dtype)->name, sizes, info->layout ? " " : "",
            info->layout ? layout_names[info->layout] : "", info->revoked ? " revoked" : "");
    Py_XDECREF(sizes);
    return text;
}

PyObject *tensor_represent(PyObject *self)
{
    return represent_as(self, "Tensor", text_of_tensor);
}

PyGetSetDef tensor_properties[] = {
    {"handle", guarded_handle, NULL, NULL, NULL},
    {"array", guarded_array, NULL, NULL, NULL},
    {"shape", guarded_shape, NULL, NULL, NULL},
    {"strides", guarded_strides, NULL, NULL, NULL},
    {"ndim", guarded_ndim, NULL, NULL, NULL},
    {"nbytes", guarded_nbytes, NULL, NULL, NULL},
    {"dtype", guarded_dtype, NULL, NULL, NULL},
    {"typestr", guarded_typestr, NULL, NULL, NULL},
    {"itemsize", guarded_itemsize, NULL, NULL, NULL},
    {"layout", guarded_layout, NULL, NULL, NULL},
    {"memory", guarded_memory, NULL, NULL, NULL},
    {"device", guarded_device, NULL, NULL, NULL},
    {"is_read_only", guarded_is_read_only, NULL, NULL, NULL},
    {"is_compact", guarded_is_compact, NULL, NULL, NULL},
    {"is_revoked", guarded_is_revoked, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {"chroma", chroma, NULL, NULL, NULL},
    {"chroma_v", chroma_v, NULL, NULL, NULL},
    {"planes", guarded_planes, NULL, NULL, NULL},
    {"__cuda_array_interface__", guarded_array_interface, NULL, NULL, NULL},
    {0},
};
