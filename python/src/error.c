/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Exceptions and destructor warnings. A Python function (grinterop/_errors.py) creates the
 * exception from the last error: errors need not be fast, and Python classes are short.
 */
#include "module.h"

#include <string.h>

#include "lib/cuda/driver_outside.h"

static PyObject *maker, *warner, *namer;

PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *text_in_python(const char *text)
{
    PyObject *names = Py_XNewRef(namer);
    PyObject *result = names ? PyObject_CallFunction(names, "N", text_of(text)) : text_of(text);
    Py_XDECREF(names);
    return result;
}

/* The fields of an error, as the argument tuple for _make in _errors.py. */
static PyObject *parts_of(const gr_error *error)
{
    return Py_BuildValue("(siiNNN)", gr_status_name(error->status), (int)error->domain, error->code,
                         text_of(error->code_name), text_of(error->call), text_of(error->message));
}

/*
 * Raises the exception made from `parts`; at exit, when Python has no classes any more, one with
 * the message. Steals `parts`, which may be NULL with an exception set.
 */
static PyObject *raise_parts(PyObject *parts)
{
    if (!parts)
        return NULL;
    PyObject *make = Py_XNewRef(maker), *error = make ? PyObject_CallObject(make, parts) : NULL;
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    } else if (!make || python_ends()) {
        PyErr_Clear();
        PyErr_SetObject(PyExc_RuntimeError, PyTuple_GetItem(parts, 5));
    }
    Py_XDECREF(error);
    Py_XDECREF(make);
    Py_DECREF(parts);
    return NULL;
}

PyObject *fail_as_buffer_error(void)
{
    PyObject *parts = parts_of(gr_last_error()), *marker = PyTuple_Pack(1, Py_True);
    PyObject *all = parts && marker ? PySequence_Concat(parts, marker) : NULL;
    Py_XDECREF(parts);
    Py_XDECREF(marker);
    return raise_parts(all);
}

PyObject *fail(void)
{
    return raise_parts(parts_of(gr_last_error()));
}

PyObject *fail_with(const char *old, const char *new)
{
    PyObject *parts = parts_of(gr_last_error()), *list = parts ? PySequence_List(parts) : NULL;
    for (Py_ssize_t i = 4; list && i < 6; i++) {
        PyObject *text = PyObject_CallMethod(PyList_GetItem(list, i), "replace", "ss", old, new);
        if (!text || PyList_SetItem(list, i, text))
            Py_CLEAR(list);
    }
    PyObject *changed = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(parts);
    Py_XDECREF(list);
    return raise_parts(changed);
}

PyObject *fail_after(unsigned slice_ms, unsigned timeout_ms)
{
    char slice[32], all[32];
    snprintf(slice, sizeof(slice), " %u ms", slice_ms);
    snprintf(all, sizeof(all), " %u ms", timeout_ms);
    return fail_with(slice, all);
}

bool wrong_type(const char *expected, PyObject *object)
{
    PyErr_Format(PyExc_TypeError, "%s, not %R", expected, (PyObject *)Py_TYPE(object));
    return false;
}

PyObject *fail_as(gr_status status, const char *call, PyObject *message)
{
    return raise_parts(
        message ? Py_BuildValue("(siissN)", gr_status_name(status), 0, 0, "", call, message)
                : NULL);
}

bool wrong_value(const char *format, PyObject *object)
{
    return fail_as(GR_ERR_INVALID_VALUE, "", PyUnicode_FromFormat(format, object));
}

bool is_absent(PyObject *type)
{
    bool absent = PyErr_ExceptionMatches(type);
    if (absent)
        PyErr_Clear();
    return absent;
}

PyObject *driver_fail(int result, const char *call)
{
    const struct gr_driver_api *cuda = gr_driver_functions();
    const char *name = NULL, *text = NULL;
    if (cuda) {
        cuda->GetErrorName((CUresult)result, &name);
        cuda->GetErrorString((CUresult)result, &text);
    }
    return raise_parts(Py_BuildValue("(siisss)", gr_status_name(GR_ERR_CUDA), GR_DOMAIN_CUDA,
                                     result, name ? name : "", call,
                                     text ? text : "the driver call failed"));
}

PyObject *none_or_fail(gr_status status)
{
    return status == GR_OK ? Py_NewRef(Py_None) : fail();
}

bool warn_of_error(void)
{
    PyObject *type, *error, *traceback;
    fail();
    PyErr_Fetch(&type, &error, &traceback);
    bool warned = !PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%S", error ? error : type);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return warned;
}

/* ---- Destructors ----------------------------------------------------------------------------- */

bool python_ends(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *is_finalizing = PySys_GetObject("is_finalizing");
    PyObject *answer = is_finalizing ? PyObject_CallObject(is_finalizing, NULL) : NULL;
    bool ends = !answer || !Py_IsFalse(answer);
    Py_XDECREF(answer);
    PyErr_Restore(type, value, traceback);
    return ends;
}

/*
 * Issues a warning. If the warning filters turn it into an exception, sys.unraisablehook receives
 * the exception. Ctrl-C during the call is passed on to the main thread.
 */
static void warn(PyObject *type, PyObject *error)
{
    PyObject *none = PyObject_CallFunctionObjArgs(warner, type, error, NULL);
    if (!none && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt();
    } else if (!none) {
        PyErr_WriteUnraisable(type);
    }
    Py_XDECREF(none);
}

void warn_of_end(PyTypeObject *type)
{
    PyObject *class, *error, *traceback;
    PyErr_Fetch(&class, &error, &traceback);
    PyErr_NormalizeException(&class, &error, &traceback);
    if (warner && !python_ends())
        warn((PyObject *)type, error);
    Py_XDECREF(class);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

/* ---- Functions ------------------------------------------------------------------------------- */

static PyObject *set_makers(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *error, *warning, *names;
    if (!PyArg_ParseTuple(args, "OOO:_set_makers", &error, &warning, &names))
        return NULL;
    keep_as(&maker, error);
    keep_as(&warner, warning);
    keep_as(&namer, names);
    return Py_NewRef(Py_None);
}

FUNCTION(last_error, parts_of(gr_last_error()))

static PyObject *clear_error(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    gr_clear_error();
    return Py_NewRef(Py_None);
}

PyMethodDef error_functions[] = {
    {"_set_makers", set_makers, METH_VARARGS, NULL},
    {"_last_error", last_error, METH_NOARGS, NULL},
    {"clear_error", clear_error, METH_NOARGS, NULL},
    {0},
};
