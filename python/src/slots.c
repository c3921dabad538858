/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Slots: n acquired slots of a ring, until the program hands them over, gives them back or cancels
 * them.
 */
#include "ring.h"

#include <grinterop/tensor.h>

typedef struct slots_object {
    OBJECT_HEAD
    PyObject *ring, *stream;

    /* An array of library slots. NULL after hand_over(), give_back() or cancel(). */
    const gr_slot **slots;
    size_t n;

    /*
     * The Buffers of slots that CUDA acquired, each created on first use. NULL until then, and in
     * slots that the graphics API acquired.
     */
    PyObject **buffers;

    bool writing;
} slots_object;

static PyTypeObject *slots_type;

/* ---- Lifetime -------------------------------------------------------------------------------- */

static gr_status cancel_slots(gr_ring *ring, slots_object *self)
{
    return ring_cancel(ring, self->slots, self->n, self->writing);
}

static gr_status finish_slots(gr_ring *ring, slots_object *self)
{
    gr_status status;
    WITHOUT_GIL(status = self->writing ? gr_ring_hand_over(ring, self->slots, self->n)
                                       : gr_ring_give_back(ring, self->slots, self->n));
    return status;
}

/* Ends the Buffers, and makes them forget the slots, before code of the program runs. */
static void leave_buffers(slots_object *self)
{
    for (size_t i = 0; self->buffers && i < self->n; i++) {
        buffer_object *buffer = (buffer_object *)self->buffers[i];
        if (buffer) {
            buffer->buffer = NULL;
            buffer->use.whole = NULL;
        }
    }
}

/* Ends the Buffer of a slot, if there is one. May run code of the program. */
static void end_buffer(PyObject *buffer)
{
    if (buffer)
        buffer_ended((buffer_object *)buffer);
    Py_XDECREF(buffer);
}

/* Ends all slots and buffers before it releases references, since releasing may run Python code. */
static void release_refs(slots_object *self)
{
    PyObject **buffers = self->buffers, *stream = self->stream;
    leave_buffers(self);
    if (self->slots)
        ring_count(self->ring, 0, self->n);
    PyMem_Free(self->slots);
    self->slots = NULL;
    self->buffers = NULL;
    self->stream = NULL;
    for (size_t i = 0; buffers && i < self->n; i++)
        end_buffer(buffers[i]);
    PyMem_Free(buffers);
    Py_XDECREF(stream);
}

/* Ends the Buffers that a failed call has released nevertheless. */
static void release_ended(slots_object *self)
{
    for (size_t i = 0; i < self->n; i++) {
        PyObject *buffer = self->slots[i]->buffer ? NULL : self->buffers[i];
        if (buffer)
            self->buffers[i] = NULL;
        end_buffer(buffer);
    }
}

static unsigned tensors_of(const slots_object *self)
{
    unsigned count = 0;
    for (size_t i = 0; i < self->n; i++)
        count += mapping_tensors(self->slots[i]->buffer);
    return count;
}

typedef gr_status end_call(gr_ring *, slots_object *);

/*
 * Ends the slots by `end`, which is cancel_slots() or finish_slots(). Also sets *status if that
 * function fails.
 */
static bool finish_begun(slots_object *self, end_call *end, gr_status *status)
{
    gr_ring *ring = ring_begin(self->ring, self->writing);
    if (!ring)
        return false;
    unsigned tensors = tensors_of(self);
    *status = end(ring, self);
    bool done = *status == GR_OK || fail();
    ring_end(self->ring, self->writing);
    if (!done) {
        release_ended(self);
        return false;
    }
    release_refs(self);
    return buffer_warn(tensors);
}

static const gr_slot *slot_at(slots_object *self, size_t i)
{
    if (!self->slots)
        PyErr_SetString(PyExc_RuntimeError, "the slots have already been handed over, "
                                            "given back or cancelled");
    return self->slots ? self->slots[i] : NULL;
}

static bool finish(slots_object *self, end_call *end)
{
    if (!slot_at(self, 0) || !ending_begin((PyObject *)self))
        return false;
    gr_status status;
    bool done = finish_begun(self, end, &status);
    ending_end((PyObject *)self);
    return done;
}

PyObject *slots_new(PyObject *ring, const gr_slot **slots, size_t n, PyObject *stream, bool writing)
{
    slots_object *self = new_object(slots_type);
    if (!self) {
        PyMem_Free(slots);
        return NULL;
    }
    self->ring = Py_NewRef(ring);
    ring_count(ring, n, 0);
    self->slots = slots;
    self->n = n;
    self->writing = writing;
    self->stream = Py_XNewRef(stream);
    self->buffers = PyMem_Calloc(n, sizeof(*self->buffers));
    if (self->buffers)
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

/* Gives the slots to the ring, which cancels them later. */
static void leave_to_ring(slots_object *self)
{
    const gr_slot **slots = self->slots;
    PyObject *stream = self->stream;
    ring_count(self->ring, 0, self->n);
    self->slots = NULL;
    self->stream = NULL;
    ring_take_over(self->ring, slots, self->n, stream, self->writing);
    release_refs(self);
}

/*
 * Cancels the slots of a dropped object. If another thread is in a call of the ring, or the OpenGL
 * context is not current, a later call of the ring does so.
 */
static void cancel_or_leave(slots_object *self)
{
    gr_status status = GR_OK;
    if (!ring_is_busy(self->ring, self->writing) && !finish_begun(self, cancel_slots, &status)) {
        if (status == GR_ERR_GL || ring_is_of_parent(self->ring)) {
            PyErr_Clear();
            gr_clear_error();
        } else {
            warn_of_end(slots_type);
        }
    }
    if (self->slots)
        leave_to_ring(self);
}

static void cancel_dropped(slots_object *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (self->slots)
        cancel_or_leave(self);
    PyErr_Restore(type, value, traceback);
}

/* Other finalizers of the cycle may use the slots. The program may call it, too, as a method. */
static void finalize(PyObject *object)
{
    ENTER();
    if (((slots_object *)object)->use.calls || !ending_begin(object))
        return;
    cancel_dropped((slots_object *)object);
    ending_end(object);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    slots_object *self = (slots_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->ring);
    Py_VISIT(self->stream);
    for (size_t i = 0; self->buffers && i < self->n; i++)
        Py_VISIT(self->buffers[i]);
    return 0;
}

static void end(PyObject *object)
{
    untrack(object);
    ENTER();
    leave_buffers((slots_object *)object);
    hide_object(object);
    cancel_dropped((slots_object *)object);
    Py_XDECREF(((slots_object *)object)->ring);
    end_object(object);
}

/* ---- Handing over and giving back ------------------------------------------------------------ */

static PyObject *finish_as(PyObject *object, bool writing)
{
    slots_object *self = (slots_object *)object;
    if (self->writing == writing)
        return finish(self, finish_slots) ? Py_NewRef(Py_None) : NULL;
    PyErr_SetString(PyExc_RuntimeError,
                    self->writing ? "slots acquired for writing are handed over by hand_over()"
                                  : "slots acquired for reading are returned by give_back()");
    return NULL;
}

FUNCTION(hand_over, finish_as(self, true))
FUNCTION(give_back, finish_as(self, false))

static PyObject *cancel(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    return finish((slots_object *)object, cancel_slots) ? Py_NewRef(Py_None) : NULL;
}

/*
 * __exit__(): hands the slots over or gives them back. If an exception is in flight, cancels them.
 */
static PyObject *leave(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    ENTER();
    slots_object *self = (slots_object *)object;
    bool failed = count > 0 && !Py_IsNone(args[0]);
    if (!self->slots)
        return Py_NewRef(Py_False);
    return finish(self, failed ? cancel_slots : finish_slots) ? Py_NewRef(Py_False) : NULL;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static PyObject *fill_buffer(buffer_object *made, slots_object *self, const gr_slot *slot)
{
    const gr_resource_info *info = gr_resource_get_info(slot->resource);
    made->buffer = slot->buffer;
    made->use.whole = (PyObject *)self;
    made->use.bound = true;
    made->of_ring = true;
    made->read_only = info->flags & GR_READ_ONLY;
    made->is_image = info->kind == GR_KIND_IMAGE;
    made->stream = Py_XNewRef(self->stream);
    return (PyObject *)made;
}

static PyObject *buffer_at(slots_object *self, size_t i)
{
    const gr_slot *slot = slot_at(self, i);
    if (!slot)
        return NULL;
    if (!slot->buffer)
        return Py_NewRef(Py_None);
    buffer_object *made = self->buffers[i] ? NULL : new_object(buffer_type);
    if (made && !self->buffers[i]) /* the allocation may run finalizers, which may come here */
        self->buffers[i] = fill_buffer(made, self, slot);
    else
        Py_XDECREF(made);
    return self->buffers[i] ? core_wrap(Py_NewRef(self->buffers[i])) : NULL;
}

static PyObject *resource_at(slots_object *self, size_t i)
{
    const gr_slot *slot = slot_at(self, i);
    return slot ? ring_resource(self->ring, slot) : NULL;
}

static PyObject *frame_at(slots_object *self, size_t i)
{
    const gr_slot *slot = slot_at(self, i);
    return slot ? PyLong_FromUnsignedLongLong(slot->frame) : NULL;
}

static PyObject *index_at(slots_object *self, size_t i)
{
    const gr_slot *slot = slot_at(self, i);
    return slot ? PyLong_FromUnsignedLong(slot->index) : NULL;
}

static PyObject *all(slots_object *self, PyObject *(*at)(slots_object *, size_t))
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)self->n);
    for (size_t i = 0; tuple && i < self->n; i++) {
        PyObject *one = at(self, i);
        if (!one || PyTuple_SetItem(tuple, (Py_ssize_t)i, one))
            Py_CLEAR(tuple);
    }
    return tuple;
}

#define BOTH(name, names, at)                                                                      \
    PROPERTY_IN_CALL(name, at((slots_object *)self, 0))                                            \
    PROPERTY_IN_CALL(names, all((slots_object *)self, at))

BOTH(one_buffer, all_buffers, buffer_at)
BOTH(one_resource, all_resources, resource_at)
BOTH(one_frame, all_frames, frame_at)
BOTH(one_index, all_indices, index_at)

static PyObject *text_of_slots(PyObject *object, PyObject *Py_UNUSED(none))
{
    slots_object *self = (slots_object *)object;
    PyObject *frames = slot_at(self, 0) ? all(self, frame_at) : NULL;
    PyObject *text =
        frames ? PyUnicode_FromFormat("%s frames=%R", self->writing ? "writing" : "reading", frames)
               : NULL;
    Py_XDECREF(frames);
    return text;
}

REPRESENT("Slots", text_of_slots)

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((slots_object *)self)->n;
}

static PyMethodDef methods[] = {
    {"hand_over", hand_over, METH_NOARGS, NULL},
    {"give_back", give_back, METH_NOARGS, NULL},
    {"cancel", cancel, METH_NOARGS, NULL},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL}, /* Slots[Buffer] */
    {"__enter__", enter_self, METH_NOARGS, NULL},
    {"__exit__", METHOD(leave), METH_FASTCALL, NULL},
    {0},
};

static PyGetSetDef properties[] = {
    {"buffer", guarded_one_buffer, NULL, NULL, NULL},
    {"buffers", guarded_all_buffers, NULL, NULL, NULL},
    {"resource", guarded_one_resource, NULL, NULL, NULL},
    {"resources", guarded_all_resources, NULL, NULL, NULL},
    {"frame", guarded_one_frame, NULL, NULL, NULL},
    {"frames", guarded_all_frames, NULL, NULL, NULL},
    {"index", guarded_one_index, NULL, NULL, NULL},
    {"indices", guarded_all_indices, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_dealloc, (void *)end},
    {Py_tp_repr, (void *)represent},
    {Py_tp_finalize, (void *)finalize},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, (void *)length},
    {0},
};

ADD_TYPE(add_slots, slots_type, "grinterop.Slots", slots_object, Py_TPFLAGS_HAVE_GC)
