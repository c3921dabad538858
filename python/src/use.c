/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls under way: while a method runs, neither another thread nor Python code that the method runs
 * can end the object or the objects that it is part of.
 */
#include "module.h"

/* The common head of all our types. */
typedef struct object {
    OBJECT_HEAD
} object;

static struct use *use_of(PyObject *self)
{
    return &((object *)self)->use;
}

static bool refuse(PyObject *self)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    if (name)
        PyErr_Format(PyExc_RuntimeError,
                     "another thread is in a call with this %U, or this is called from within one",
                     name);
    Py_XDECREF(name);
    return false;
}

bool use_begin(PyObject *self)
{
    for (PyObject *one = self; one; one = use_of(one)->whole) {
        if (use_of(one)->ending)
            return refuse(one);
    }
    for (PyObject *one = self; one; one = use_of(one)->whole) {
        use_of(one)->calls++;
        Py_INCREF(one);
    }
    return true;
}

/* `whole` changes only where no call is under way. */
void use_end(PyObject *self)
{
    while (self) {
        PyObject *whole = use_of(self)->whole;
        use_of(self)->calls--;
        Py_DECREF(self);
        self = whole;
    }
}

bool alone_begin(PyObject *self)
{
    if (use_of(self)->alone)
        return refuse(self);
    if (!use_begin(self))
        return false;
    use_of(self)->alone = true;
    return true;
}

void alone_end(PyObject *self)
{
    use_of(self)->alone = false;
    use_end(self);
}

void alone_end_all(PyObject *const objects[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (use_of(objects[i])->alone)
            alone_end(objects[i]);
    }
}

static bool is_listed(PyObject *const objects[], size_t count, const PyObject *object)
{
    for (size_t i = 0; i < count; i++) {
        if (objects[i] == object)
            return true;
    }
    return false;
}

bool alone_begin_all(PyObject *const objects[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool begun = is_alone(objects[i]) && is_listed(objects, i, objects[i]);
        if (!begun && !alone_begin(objects[i])) {
            alone_end_all(objects, i);
            return false;
        }
    }
    return true;
}

bool is_alone(PyObject *self)
{
    return use_of(self)->alone || use_of(self)->ending;
}

bool unused(PyObject *self)
{
    return !use_of(self)->calls || refuse(self);
}

bool ending_begin(PyObject *self)
{
    PyObject *whole = use_of(self)->whole;
    if (!unused(self) || (whole && !alone_begin(whole)))
        return false;
    use_of(self)->ending = true;
    use_of(self)->calls = 1;
    Py_INCREF(self);
    return true;
}

void ending_end(PyObject *self)
{
    PyObject *whole = use_of(self)->whole;
    use_of(self)->ending = false;
    use_of(self)->calls = 0;
    if (whole)
        alone_end(whole);
    Py_DECREF(self);
}
