/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * If cuda.core is loaded, map() returns an object derived from cuda.core.Buffer, which the launch()
 * and copies of cuda.core accept. It has all members of our Buffer, which it refers to.
 */
#include "resource.h"

#include <string.h>

/* Our type, its constructor from a pointer and a size, and the close() of its base, which only
 * clears the pointer, since there is no memory resource. NULL until cuda.core is loaded. */
static PyTypeObject *core_type;
static PyObject *core_make, *core_end;

/* The place of our Buffer in an object of the type. */
static Py_ssize_t core_place;

/* Stands for the Buffer of an object that no map() returned. */
static PyObject *core_closed;

/* Whether the type could not be created. A warning was issued then. */
static bool core_refused;

static PyObject **place_in(PyObject *shown)
{
    return (PyObject **)((char *)shown + core_place);
}

PyObject *core_own(PyObject *object)
{
    if (Py_TYPE(object) != core_type)
        return object;
    PyObject *own = *place_in(object);
    return own ? own : core_closed;
}

/* ---- The type -------------------------------------------------------------------------------- */

static void finalize(PyObject *shown)
{
    ENTER();
    buffer_object *own = (buffer_object *)core_own(shown);
    if (own->shown == shown)
        own->shown = NULL;
}

static traverseproc traverse_base;

/* The base visits the type. */
static int traverse(PyObject *shown, visitproc visit, void *arg)
{
    Py_VISIT(*place_in(shown));
    return traverse_base ? traverse_base(shown, visit, arg) : 0;
}

static PyObject *no_stream(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(stream))
{
    PyErr_SetString(PyExc_RuntimeError, "a mapping has no deallocation stream: pass the stream to "
                                        "close() or unmap()");
    return NULL;
}

/* isinstance(buffer, grinterop.Buffer) needs this: no class can derive from both C types. */
static PyObject *class_of(PyObject *Py_UNUSED(self), void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)buffer_type);
}

static PyMethodDef methods[MOST_METHODS + 1] = {
    {"set_deallocation_stream", no_stream, METH_O,
     "set_deallocation_stream($self, stream)\n--\n\nNot supported by a mapping."},
};

/* cuda.core's own `handle` and `size` are faster. */
static PyGetSetDef properties[MOST_METHODS + 1] = {{"__class__", class_of, NULL, NULL, NULL}};

/* Python releases a writable member with its object. make_type() hides it from the program. */
static PyMemberDef members[] = {{"_mapping", T_OBJECT_EX, 0, 0, NULL}, {0}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "One mapping of a resource, as grinterop.Buffer and cuda.core.Buffer at once.\n\n"
     "Closing the Buffer ends the mapping. To cuda.core, it is memory of another owner."},
    {Py_tp_repr, (void *)buffer_represent},
    {Py_tp_finalize, (void *)finalize},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {0},
};

static void gather_properties(void)
{
    size_t count = 1;
    for (PyGetSetDef *some = buffer_properties; some->name && count < MOST_METHODS; some++) {
        if (strcmp(some->name, "handle") && strcmp(some->name, "size"))
            properties[count++] = *some;
    }
}

static bool make_type(PyObject *base)
{
    PyObject *size = PyObject_GetAttrString(base, "__basicsize__");
    PyObject *bases = size ? PyTuple_Pack(1, base) : NULL;
    traverse_base = (traverseproc)PyType_GetSlot((PyTypeObject *)base, Py_tp_traverse);
    core_place = size ? PyLong_AsSsize_t(size) : -1;
    members[0].offset = core_place;
    gather(methods, buffer_methods);
    gather_properties();
    PyType_Spec spec = {.name = "grinterop._core.Buffer",
                        .basicsize = (int)(core_place + (Py_ssize_t)sizeof(PyObject *)),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                        .slots = slots};
    PyObject *type = bases ? PyType_FromSpecWithBases(&spec, bases) : NULL;
    Py_XDECREF(bases);
    Py_XDECREF(size);
    bool hidden = type && !PyObject_DelAttrString(type, members[0].name);
    core_end = hidden ? PyObject_GetAttrString(base, "close") : NULL;
    core_closed = core_end ? new_object(buffer_type) : NULL;
    core_make = core_closed ? PyObject_GetAttrString(type, "_init") : NULL;
    core_type = (PyTypeObject *)type;
    return core_make;
}

/* Warns that the type could not be created. false if a warning filter raises an exception. */
static bool refuse_core(void)
{
    PyObject *type, *value, *traceback;
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

/* sys.modules. It is empty when Python has no modules any more. */
static PyObject *modules;

void core_ready(void)
{
    modules = Py_NewRef(PyImport_GetModuleDict());
}

/*
 * Returns 1 if the program has loaded cuda.core, 0 if not, and -1, with an exception, on failure.
 * Looks for cuda.core only if the number of loaded modules has changed.
 */
static int core_loaded(void)
{
    static Py_ssize_t looked_at;
    if (core_make || core_refused)
        return !core_refused;
    if (PyDict_Size(modules) == looked_at)
        return 0;
    looked_at = PyDict_Size(modules);
    PyObject *theirs = item_of(modules, "cuda.core");
    if (!theirs)
        return 0;
    core_refused = true; /* until the type is made, which may run finalizers that map() */
    PyObject *base = PyObject_GetAttrString(theirs, "Buffer");
    Py_DECREF(theirs);
    core_refused = !base || !make_type(base);
    Py_XDECREF(base);
    return !core_refused ? 1 : refuse_core() ? 0 : -1;
}

/* ---- Objects --------------------------------------------------------------------------------- */

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
    PyObject *pointer = PyLong_FromUnsignedLongLong(gr_buffer_ptr(self->buffer));
    PyObject *size = PyLong_FromSize_t(gr_buffer_size(self->buffer));
    PyObject *shown =
        pointer && size ? PyObject_CallFunctionObjArgs(core_make, pointer, size, NULL) : NULL;
    Py_XDECREF(pointer);
    Py_XDECREF(size);
    if (!shown)
        return NULL;
    *place_in(shown) = Py_NewRef((PyObject *)self);
    allow_try_reference(shown);
    self->shown = shown;
    resource_object *resource = buffer_resource(self);
    if (resource)
        keep_as(&resource->shown, shown);
    return shown;
}

/* A reference to the object that is already made. NULL if there is none. */
static PyObject *shown_of(buffer_object *self)
{
    if (self->shown && !try_reference(self->shown))
        self->shown = NULL;
    return self->shown;
}

PyObject *core_wrap(PyObject *own)
{
    buffer_object *self = (buffer_object *)own;
    if (!own || Py_TYPE(own) != buffer_type || !self->buffer || !gr_buffer_size(self->buffer))
        return own;
    PyObject *shown = shown_of(self);
    int loaded = shown ? 1 : core_loaded();
    /* Another thread may have ended the mapping while a warning was issued. */
    if (!loaded || !self->buffer) {
        Py_XDECREF(shown);
        return own;
    }
    if (!shown)
        shown = shown_of(self);
    if (!shown && loaded > 0 && call_begin(own)) {
        shown = make_shown(self);
        call_end(own);
    }
    if (!shown)
        take_back(self);
    Py_DECREF(own);
    return shown;
}

PyObject *core_take(buffer_object *self)
{
    PyObject *shown = shown_of(self);
    resource_object *resource = buffer_resource(self);
    self->shown = NULL;
    if (shown && resource && resource->shown == shown)
        Py_CLEAR(resource->shown);
    return shown;
}

void core_ended(PyObject *shown)
{
    PyObject *type, *value, *traceback;
    if (!shown)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *none = PyObject_CallFunctionObjArgs(core_end, shown, NULL);
    if (!none)
        PyErr_WriteUnraisable(shown);
    Py_XDECREF(none);
    Py_DECREF(shown);
    PyErr_Restore(type, value, traceback);
}
