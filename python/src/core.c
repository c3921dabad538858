/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * If cuda.core is loaded, map() returns an object derived from cuda.core.Buffer, which the launch()
 * and copies of cuda.core accept. grinterop/_core.py wraps our Buffer in it.
 */
#include "resource.h"

/*
 * Set by grinterop/_core.py: the type, its constructor from a pointer and a size, and the function
 * that clears the pointer. NULL until that module is loaded.
 */
static PyObject *core_type, *core_make, *core_end;

/* The interned name of the attribute that holds our Buffer. */
static PyObject *name_mapping;

/* Whether the subclass of cuda.core's Buffer could not be created. A warning was issued then. */
static bool core_refused;

static PyObject *set_core(PyObject *module, PyObject *args)
{
    PyObject *type, *make, *end;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO:_set_core", &type, &make, &end))
        return NULL;
    if (!name_mapping && !(name_mapping = PyUnicode_InternFromString("_mapping")))
        return NULL;
    keep_as(&core_type, type);
    keep_as(&core_end, end);
    keep_as(&core_make, make);
    return Py_NewRef(Py_None);
}

/* Sets core_refused and warns. false if a warning filter raises an exception. */
static bool refuse_core(void)
{
    PyObject *type, *value, *traceback;
    core_refused = true;
    PyErr_Fetch(&type, &value, &traceback);
    bool warned = !PyErr_WarnFormat(
        PyExc_RuntimeWarning, 1,
        "map() returns Buffers that cuda.core does not accept, since no subclass of its Buffer "
        "could be created (%S): update cuda.core, or pass buffer.handle to cuda.core",
        value ? value : type);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return warned;
}

/*
 * Returns 1 if the program has loaded cuda.core, 0 if not, and -1, with an exception, on failure.
 */
static int core_loaded(void)
{
    static PyObject *name;
    if (core_make || core_refused)
        return !core_refused;
    if (!name)
        name = PyUnicode_InternFromString("cuda.core");
    PyObject *theirs = name ? PyImport_GetModule(name) : NULL;
    if (!theirs)
        return PyErr_Occurred() ? -1 : 0;
    Py_DECREF(theirs);
    PyObject *ours = PyImport_ImportModule("grinterop._core");
    if (!ours)
        return refuse_core() ? 0 : -1;
    Py_DECREF(ours);
    return core_make != NULL;
}

/* Releases the mapping, since the program does not get it. Keeps the exception that is set. */
static void take_back(buffer_object *self)
{
    PyObject *type, *value, *traceback;
    unsigned tensors;
    PyErr_Fetch(&type, &value, &traceback);
    if (!self->of_ring && !buffer_release(self, GR_STREAM_OF_MAP, &tensors))
        warn_of_end(buffer_type);
    PyErr_Restore(type, value, traceback);
}

static PyObject *make_shown(buffer_object *self)
{
    PyObject *before = self->shown;
    if (!call_begin((PyObject *)self))
        return NULL;
    PyObject *pointer = PyLong_FromUnsignedLongLong(gr_buffer_ptr(self->buffer));
    PyObject *size = PyLong_FromSize_t(gr_buffer_size(self->buffer));
    call_end((PyObject *)self);
    PyObject *shown =
        pointer && size ? PyObject_CallFunctionObjArgs(core_make, pointer, size, NULL) : NULL;
    bool is_ours = shown && !PyObject_SetAttr(shown, name_mapping, (PyObject *)self);
    PyObject *weak = is_ours ? PyWeakref_NewRef(shown, NULL) : NULL;
    Py_XDECREF(pointer);
    Py_XDECREF(size);
    if (!weak) {
        Py_XDECREF(shown);
        return NULL;
    }
    self->shown = weak;
    if (self->resource)
        keep_as(&self->resource->shown, shown);
    Py_XDECREF(before);
    return shown;
}

PyObject *core_wrap(PyObject *own)
{
    buffer_object *self = (buffer_object *)own;
    if (!own || Py_TYPE(own) != buffer_type || !self->buffer || !gr_buffer_size(self->buffer))
        return own;
    PyObject *shown = self->shown ? PyWeakref_GetObject(self->shown) : Py_None;
    int loaded = Py_IsNone(shown) ? core_loaded() : 1;
    /* Another thread may have ended the mapping while the module was imported. */
    if (!loaded || !self->buffer)
        return own;
    if (!Py_IsNone(shown))
        shown = Py_NewRef(shown);
    else
        shown = loaded > 0 ? make_shown(self) : NULL;
    if (!shown)
        take_back(self);
    Py_DECREF(own);
    return shown;
}

PyObject *core_own(PyObject *object)
{
    if (!core_type || (PyObject *)Py_TYPE(object) != core_type)
        return object;
    PyObject *own = PyObject_GetAttr(object, name_mapping);
    if (!own) {
        PyErr_Clear();
        return object;
    }
    /* `object` now holds the reference to `own`. */
    Py_DECREF(own);
    return own;
}

void core_ended(buffer_object *self)
{
    PyObject *weak = self->shown, *type, *value, *traceback;
    if (!weak)
        return;
    self->shown = NULL;
    if (self->resource)
        Py_CLEAR(self->resource->shown);
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *shown = Py_NewRef(PyWeakref_GetObject(weak));
    PyObject *none = NULL;
    if (!Py_IsNone(shown))
        none = PyObject_CallFunctionObjArgs(core_end, shown, NULL);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(shown);
    Py_XDECREF(none);
    Py_DECREF(shown);
    Py_DECREF(weak);
    PyErr_Restore(type, value, traceback);
}

PyMethodDef core_functions[] = {
    {"_set_core", set_core, METH_VARARGS, NULL},
    {0},
};
