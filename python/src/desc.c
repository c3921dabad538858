/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensor descriptions: shapes, strides, dtypes and layouts. */
#include "tensor.h"

#include <string.h>

const char *const layout_names[] = {"shape", "hwc", "chw", "nv12", "p016", "nv16", "yuv444", NULL};
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

static bool number_of(PyObject *object, int64_t *number)
{
    PyObject *index = PyNumber_Index(object);
    if (!index)
        return false;
    long long value = PyLong_AsLongLong(index);
    Py_DECREF(index);
    *number = value;
    return value != -1 || !PyErr_Occurred();
}

static bool numbers_of(PyObject *sequence, const char *what, int64_t *values, unsigned *count)
{
    Py_ssize_t n = PySequence_Size(sequence);
    if (n < 0)
        return false;
    if (n > (Py_ssize_t)GR_TENSOR_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers; a tensor has at most %u dimensions",
                     what, n, GR_TENSOR_DIMS);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *number = PySequence_GetItem(sequence, i);
        bool is_number = number && number_of(number, &values[i]);
        Py_XDECREF(number);
        if (!is_number)
            return false;
    }
    *count = (unsigned)n;
    return true;
}

static bool shape_of(struct desc *desc, PyObject *shape)
{
    desc->desc.shape = desc->shape;
    if (!PyIndex_Check(shape))
        return numbers_of(shape, "shape", desc->shape, &desc->desc.ndim);
    desc->desc.ndim = 1;
    return number_of(shape, &desc->shape[0]);
}

static bool strides_of(struct desc *desc, PyObject *strides)
{
    unsigned count;
    if (!numbers_of(strides, "strides", desc->strides, &count))
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
 * Reads a dtype from a name or typestr, or from an object: from its `name` (NumPy dtypes), else its
 * `__name__` (NumPy scalar types), else its str() (PyTorch dtypes: "torch.float32"). Of a dotted
 * name only the last part counts.
 */
static bool dtype_of(PyObject *object, gr_dtype *dtype)
{
    PyObject *name = PyUnicode_Check(object) ? Py_NewRef(object) : NULL;
    if (!name)
        name = PyObject_GetAttrString(object, "name");
    if (!name) {
        PyErr_Clear();
        name = PyObject_GetAttrString(object, "__name__");
    }
    if (!name) {
        PyErr_Clear();
        name = PyObject_Str(object);
    }
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
