/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions that all types use. No type supports garbage collection, since no cycles are possible.
 */
#include "module.h"

#include <string.h>

PyTypeObject *add_type(PyObject *module, const char *name, size_t size, unsigned flags,
                       PyType_Slot *slots)
{
    PyType_Spec spec = {.name = name, .basicsize = (int)size, .flags = flags, .slots = slots};
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (type && PyModule_AddType(module, type))
        Py_CLEAR(type);
    return type;
}

void gather(PyMethodDef *methods, const PyMethodDef *some)
{
    size_t count = 0;
    while (methods[count].ml_name)
        count++;
    for (; some->ml_name && count < MOST_METHODS; some++)
        methods[count++] = *some;
}

void *new_object(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

void end_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc end = (freefunc)PyType_GetSlot(type, Py_tp_free);
    end(object);
    Py_DECREF(type);
}

void *open_or_fail(void *part, const char *type)
{
    if (!part)
        PyErr_Format(PyExc_RuntimeError, "%s has been closed", type);
    return part;
}

void keep_as(PyObject **place, PyObject *object)
{
    PyObject *before = *place;
    *place = Py_NewRef(object);
    Py_XDECREF(before);
}

PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)args;
    (void)keywords;
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    if (name)
        PyErr_Format(PyExc_RuntimeError,
                     "%U objects cannot be instantiated directly: use the class methods, or the "
                     "functions that return one",
                     name);
    Py_XDECREF(name);
    return NULL;
}

PyObject *enter_self(PyObject *self, PyObject *none)
{
    (void)none;
    return Py_NewRef(self);
}

PyObject *leave_by_close(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args;
    (void)count;
    PyObject *none = PyObject_CallMethod(self, "close", NULL);
    Py_XDECREF(none);
    return none ? Py_NewRef(Py_False) : NULL;
}
