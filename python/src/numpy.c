/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * __array__(), for numpy.asarray(). Without it, NumPy does not try DLPack in asarray() and creates
 * an array whose only element is the object.
 */
#include "resource.h"

/* The DLPack device types whose memory NumPy can read. */
enum { ON_CPU = 1, ON_CUDA_HOST = 3, ON_CUDA_MANAGED = 13 };

static bool check_host(PyObject *object)
{
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *type = device && PyTuple_Check(device) ? PyTuple_GetItem(device, 0) : NULL;
    long number = type ? PyLong_AsLong(type) : -1;
    Py_XDECREF(device);
    if (PyErr_Occurred())
        return false;
    if (number == ON_CPU || number == ON_CUDA_HOST || number == ON_CUDA_MANAGED)
        return true;
    PyErr_SetString(PyExc_TypeError,
                    "NumPy can't read GPU memory: copy it with Tensor.tobytes(stream=stream) or "
                    "Tensor.clone(\"host\", stream=stream); buffer.tensor() makes a Tensor from a "
                    "Buffer");
    return false;
}

static PyObject *convert(PyObject *numpy, PyObject *array, PyObject *dtype, PyObject *copy)
{
    if (Py_IsNone(copy))
        return PyObject_CallMethod(numpy, "asarray", "OO", array, dtype);
    PyObject *function = PyObject_GetAttrString(numpy, "array"), *made = NULL;
    PyObject *args = PyTuple_Pack(1, array);
    PyObject *keywords = Py_BuildValue("{sOsO}", "dtype", dtype, "copy", copy);
    if (function && args && keywords)
        made = PyObject_Call(function, args, keywords);
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return made;
}

PyObject *as_numpy(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None, *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy) ||
        !check_host(self))
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "from_dlpack", "O", self) : NULL;
    if (array)
        made = convert(numpy, array, dtype, copy);
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    return made;
}
