/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The module grinterop._grinterop, and what all types use. Its types are static variables, so that
 * map() needs no lookups. The module therefore supports only one interpreter per process.
 *
 * The types that can be part of a cycle take part in garbage collection. Except for Ring, they end
 * their C object in tp_finalize, while the streams and owners of the cycle are still intact.
 */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- Docstrings ------------------------------------------------------------------------------ */

struct doc {
    const char *name, *text;
};

/* Made from the type stub by docs.py, and sorted by name. */
#include "docs.h"

static int compare(const void *name, const void *doc)
{
    return strcmp(name, ((const struct doc *)doc)->name);
}

/* The docstring of "Type", "Type.member" or "function". NULL if it has none. */
static const char *doc_of(const char *type, const char *dot, const char *member)
{
    char name[64];
    PyOS_snprintf(name, sizeof(name), "%s%s%s", type, dot, member);
    const struct doc *found =
        bsearch(name, docs, sizeof(docs) / sizeof(*docs), sizeof(*docs), compare);
    return found ? found->text : NULL;
}

static void document_members(const char *type, PyType_Slot *slots)
{
    for (; slots->slot; slots++) {
        for (PyMethodDef *one = slots->pfunc; slots->slot == Py_tp_methods && one->ml_name; one++)
            one->ml_doc = doc_of(type, ".", one->ml_name);
        for (PyGetSetDef *one = slots->pfunc; slots->slot == Py_tp_getset && one->name; one++)
            one->doc = doc_of(type, ".", one->name);
    }
}

/* ---- Types ----------------------------------------------------------------------------------- */

#define MOST_SLOTS 16

bool add_type(PyObject *module, PyTypeObject **type, const char *name, size_t size, unsigned flags,
              PyType_Slot *slots)
{
    static PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(object, weak), READONLY, NULL}, {0}};
    const char *short_name = strchr(name, '.') + 1;
    PyType_Slot all[MOST_SLOTS] = {{Py_tp_members, members},
                                   {Py_tp_doc, (void *)doc_of(short_name, "", "")}};
    document_members(short_name, slots);
    for (size_t i = 2; i < MOST_SLOTS - 1 && slots->slot; i++)
        all[i] = *slots++;
    PyType_Spec spec = {
        .name = name, .basicsize = (int)size, .flags = Py_TPFLAGS_DEFAULT | flags, .slots = all};
    *type = (PyTypeObject *)PyType_FromSpec(&spec);
    return *type && !PyModule_AddType(module, *type);
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
    PyObject *object = PyType_GenericAlloc(type, 0);
    if (object)
        allow_try_reference(object);
    return object;
}

void untrack(PyObject *self)
{
    if (PyType_GetFlags(Py_TYPE(self)) & Py_TPFLAGS_HAVE_GC)
        PyObject_GC_UnTrack(self);
}

void hide_object(PyObject *self)
{
    untrack(self);
    if (((object *)self)->weak)
        PyObject_ClearWeakRefs(self);
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

PyObject *represent_as(PyObject *self, const char *name, PyObject *(*text)(PyObject *, PyObject *))
{
    ENTER();
    PyObject *line = NULL;
    if (call_begin(self)) {
        line = text(self, NULL);
        call_end(self);
    }
    PyErr_Clear();
    PyObject *all = line ? PyUnicode_FromFormat("<%s %U>", name, line)
                         : PyUnicode_FromFormat("<%s closed>", name);
    Py_XDECREF(line);
    return all;
}

void keep_as(PyObject **place, PyObject *object)
{
    PyObject *before = *place;
    *place = Py_NewRef(object);
    Py_XDECREF(before);
}

PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    if (name && (PyTuple_Size(args) || (keywords && PyDict_Size(keywords))))
        PyErr_Format(PyExc_TypeError, "%U() takes no arguments: use its class methods", name);
    else if (name)
        PyErr_Format(PyExc_RuntimeError,
                     "%U objects cannot be instantiated directly: use the class methods, or the "
                     "functions that return one",
                     name);
    Py_XDECREF(name);
    return NULL;
}

PyObject *enter_self(PyObject *self, PyObject *Py_UNUSED(none))
{
    return Py_NewRef(self);
}

PyObject *leave_by_close(PyObject *self, PyObject *const *Py_UNUSED(args),
                         Py_ssize_t Py_UNUSED(count))
{
    PyObject *none = PyObject_CallMethod(self, "close", NULL);
    Py_XDECREF(none);
    return none ? Py_NewRef(Py_False) : NULL;
}

/* ---- The module ------------------------------------------------------------------------------ */

/* The module object of the first import, which later imports return. */
static PyObject *only;

static bool add_functions(PyObject *module)
{
    PyMethodDef *const tables[] = {argument_functions,   driver_functions, error_functions,
                                   exportable_functions, many_functions,   publish_functions};
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        for (PyMethodDef *one = tables[i]; one->ml_name; one++)
            one->ml_doc = doc_of(one->ml_name, "", "");
        if (PyModule_AddFunctions(module, tables[i]))
            return false;
    }
    return true;
}

static PyObject *create(PyObject *spec, PyModuleDef *Py_UNUSED(definition))
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "grinterop can be imported only in the main "
                                           "interpreter of a process, not in a subinterpreter");
        return NULL;
    }
    if (only)
        return Py_NewRef(only);
    PyObject *name = PyObject_GetAttrString(spec, "name");
    PyObject *module = name ? PyModule_NewObject(name) : NULL;
    Py_XDECREF(name);
    return module;
}

#ifdef Py_GIL_DISABLED
PyObject *turn;

/*
 * Called in a child of os.fork(), too: the lock may have been passed to a thread that waited for
 * it, which the child does not have. The thread that forked may hold the former object.
 */
static PyObject *renew_turn(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(none))
{
    PyObject *fresh = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    if (!fresh)
        return NULL;
    turn = fresh;
    Py_RETURN_NONE;
}

static bool make_turn(void)
{
    static PyMethodDef renew = {"renew_turn", renew_turn, METH_NOARGS, NULL};
    PyObject *os = PyImport_ImportModule("os");
    PyObject *at_fork = os ? PyObject_GetAttrString(os, "register_at_fork") : NULL;
    PyObject *function = at_fork ? PyCFunction_New(&renew, NULL) : NULL;
    PyObject *none = function ? PyTuple_New(0) : NULL;
    PyObject *named = none ? Py_BuildValue("{s:O}", "after_in_child", function) : NULL;
    PyObject *done = named ? PyObject_Call(at_fork, none, named) : NULL;
    PyObject *made = done ? renew_turn(NULL, NULL) : NULL;
    PyObject *const used[] = {os, at_fork, function, none, named, done, made};
    for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
        Py_XDECREF(used[i]);
    return made;
}
#else
static bool make_turn(void)
{
    return true;
}
#endif

static int fill(PyObject *module)
{
    if (module == only)
        return 0;
    if (!make_turn() || !add_functions(module) || !add_resource(module) || !add_buffer(module) ||
        !add_egl(module) || !add_cuda_context(module) || !add_tensor(module) || !add_ring(module) ||
        !add_semaphore(module) || !add_submit(module) || !add_vulkan(module))
        return -1;
    core_ready();
    only = Py_NewRef(module);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_create, (void *)create},
    {Py_mod_exec, (void *)fill},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "grinterop._grinterop",
    .m_doc = "The part of grinterop that calls the C library.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__grinterop(void)
{
    return PyModuleDef_Init(&definition);
}
