/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ring. One thread may call the producer functions while another calls the consumer functions. Two
 * threads may not call functions of the same side at once.
 */
#include "ring.h"

/* Slots that ring_take_over() took over, until they are cancelled. */
struct dropped {
    const gr_slot **slots;
    size_t n;
    PyObject *stream;
    bool writing;
    struct dropped *next;
};

typedef struct ring_object {
    OBJECT_HEAD
    gr_ring *ring; /* NULL: closed */

    /*
     * The resources of the slots, and resources that resize() replaced but the consumer may still
     * read.
     */
    PyObject *resources, *before;

    PyObject *lines; /* for grinterop/_ring.py */

    struct dropped *dropped;

    char kind[40]; /* for the repr */

    /* Number of acquired slots. */
    size_t out;

    /*
     * Whether a thread is in a call of the consumer, and whether one is in a call of the producer.
     */
    bool reading, writing;
} ring_object;

PyTypeObject *ring_type;

static bool *busy_of(PyObject *object, bool writing)
{
    ring_object *self = (ring_object *)object;
    return writing ? &self->writing : &self->reading;
}

bool ring_is_busy(PyObject *object, bool writing)
{
    return *busy_of(object, writing);
}

gr_ring *ring_begin(PyObject *object, bool writing)
{
    ring_object *self = (ring_object *)object;
    if (!open_or_fail(self->ring, "Ring"))
        return NULL;
    if (ring_is_busy(object, writing)) {
        PyErr_Format(PyExc_RuntimeError, "another thread is in a call of the ring's %s",
                     writing ? "producer" : "consumer");
        return NULL;
    }
    *busy_of(object, writing) = true;
    ring_cancel_dropped(object, writing);
    return self->ring;
}

void ring_end(PyObject *object, bool writing)
{
    ring_cancel_dropped(object, writing);
    *busy_of(object, writing) = false;
}

bool ring_is_of_parent(PyObject *object)
{
    const ring_object *self = (ring_object *)object;
    return self->ring && !gr_ring_get_info(self->ring);
}

void ring_count(PyObject *object, size_t out, size_t back)
{
    ((ring_object *)object)->out += out - back;
}

/* ---- Dropped slots --------------------------------------------------------------------------- */

gr_status ring_cancel(gr_ring *ring, const gr_slot **slots, size_t n, bool writing)
{
    gr_status status;
    WITHOUT_GIL(status = (writing ? gr_ring_cancel_write : gr_ring_cancel_read)(ring, slots, n));
    return status;
}

void ring_take_over(PyObject *object, const gr_slot **slots, size_t n, PyObject *stream,
                    bool writing)
{
    ring_object *self = (ring_object *)object;
    struct dropped *dropped = self->ring ? PyMem_Malloc(sizeof(*dropped)) : NULL;
    if (!dropped) { /* closed, or without memory, in which case the slots are lost until then */
        PyMem_Free(slots);
        Py_XDECREF(stream);
        return;
    }
    *dropped = (struct dropped){slots, n, stream, writing, self->dropped};
    self->dropped = dropped;
}

static void end_dropped(struct dropped *dropped)
{
    Py_XDECREF(dropped->stream);
    PyMem_Free(dropped->slots);
    PyMem_Free(dropped);
}

/* Removes the first slots of that side from the list. NULL if there are none. */
static struct dropped *take_dropped(ring_object *self, bool writing)
{
    struct dropped **place = &self->dropped;
    while (*place && (*place)->writing != writing)
        place = &(*place)->next;
    struct dropped *one = *place;
    if (one)
        *place = one->next;
    return one;
}

static void cancel_dropped(ring_object *self, gr_ring *ring, bool writing)
{
    struct dropped *one, *failed = NULL;
    while ((one = take_dropped(self, writing))) {
        if (ring_cancel(ring, one->slots, one->n, writing) == GR_OK) {
            end_dropped(one);
        } else {
            one->next = failed;
            failed = one;
        }
    }
    while ((one = failed)) {
        failed = one->next;
        one->next = self->dropped;
        self->dropped = one;
    }
}

void ring_cancel_dropped(PyObject *object, bool writing)
{
    ring_object *self = (ring_object *)object;
    PyObject *type, *value, *traceback;
    if (!self->dropped)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    cancel_dropped(self, self->ring, writing);
    PyErr_Restore(type, value, traceback);
}

/* ---- Resources ------------------------------------------------------------------------------- */

static PyObject *find(PyObject *resources, const gr_resource *resource)
{
    Py_ssize_t count = resources ? PyTuple_Size(resources) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *one = PyTuple_GetItem(resources, i);
        if (((resource_object *)one)->resource == resource)
            return Py_NewRef(one);
    }
    return NULL;
}

PyObject *ring_resource(PyObject *object, const gr_slot *slot)
{
    ring_object *self = (ring_object *)object;
    PyObject *found = find(self->resources, slot->resource);
    if (!found)
        found = find(self->before, slot->resource);
    return found ? found : Py_NewRef(Py_None);
}

/* ---- Life ------------------------------------------------------------------------------------ */

PyObject *ring_new(PyTypeObject *type, gr_ring *ring)
{
    ring_object *self = new_object(type);
    if (!self) {
        ENDING(gr_ring_free(ring));
        return NULL;
    }
    self->ring = ring;
    snprintf(self->kind, sizeof(self->kind), "received");
    return (PyObject *)self;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    ENTER();
    static const char *const sides[] = {"cuda", "graphics", NULL};
    static const char *const modes[] = {"lossless", "newest", NULL};
    PyObject *sequence, *producer = NULL, *mode = NULL;
    struct resources given;
    gr_ring_options options = GR_INIT(gr_ring_options);
    int side, kind;
    gr_ring *ring;
    if (!PARSE("O|$OO:Ring", NAMES("resources", "producer", "mode"), &sequence, &producer, &mode) ||
        !choice_of(producer, "producer", sides, &side) || !choice_of(mode, "mode", modes, &kind))
        return NULL;
    options.producer = (gr_side)side;
    options.mode = (gr_ring_mode)kind;
    if (!resources_begin(&given, sequence))
        return NULL;
    WITHOUT_GIL(ring = gr_ring_create(given.resources, given.count, &options));
    ring_object *self = (ring_object *)(ring ? ring_new(type, ring) : fail());
    if (self) {
        snprintf(self->kind, sizeof(self->kind), "producer=%s mode=%s", sides[side], modes[kind]);
        self->resources = Py_NewRef(given.tuple);
    }
    resources_end(&given);
    return (PyObject *)self;
}

/* Frees the ring, and the buffers of slots that could not be cancelled: they outlive the ring. */
static void free_ring(gr_ring *ring, struct dropped *left)
{
    for (struct dropped *one = left; one; one = one->next)
        for (size_t i = 0; i < one->n; i++)
            ((gr_buffer **)one->slots)[i] = one->slots[i]->buffer;
    gr_ring_free(ring);
    for (struct dropped *one = left; one; one = one->next)
        for (size_t i = 0; i < one->n; i++)
            gr_buffer_release_later(((gr_buffer **)one->slots)[i]);
}

static void let_go(ring_object *self)
{
    PyObject *type, *value, *traceback;
    gr_ring *ring = self->ring;
    PyErr_Fetch(&type, &value, &traceback);
    self->ring = NULL;
    cancel_dropped(self, ring, true);
    cancel_dropped(self, ring, false);
    struct dropped *one, *left = self->dropped;
    self->dropped = NULL;
    WITHOUT_GIL(free_ring(ring, left));
    while ((one = left)) {
        left = one->next;
        if (!stream_stays(one->stream))
            PyErr_Clear();
        end_dropped(one);
    }
    PyErr_Restore(type, value, traceback);
    Py_CLEAR(self->resources);
    Py_CLEAR(self->before);
}

/*
 * Acquired slots hold a reference to the ring, so no slot is acquired when the ring is destroyed.
 */
static int clear(PyObject *self)
{
    ENTER();
    let_go((ring_object *)self);
    Py_CLEAR(((ring_object *)self)->lines);
    return 0;
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((ring_object *)object)->resources);
    Py_VISIT(((ring_object *)object)->before);
    Py_VISIT(((ring_object *)object)->lines);
    for (struct dropped *one = ((ring_object *)object)->dropped; one; one = one->next)
        Py_VISIT(one->stream);
    return 0;
}

static void end(PyObject *self)
{
    untrack(self);
    ENTER();
    hide_object(self);
    clear(self);
    end_object(self);
}

static PyObject *call_close(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    ring_object *self = (ring_object *)object;
    if (self->reading || self->writing) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "another thread is in a call with this Ring: call stop() and join the thread first");
        return NULL;
    }
    if (self->out) {
        PyErr_Format(PyExc_RuntimeError,
                     "%zu slots of the Ring are acquired: hand them over or give them back first",
                     self->out);
        return NULL;
    }
    let_go(self);
    return Py_NewRef(Py_None);
}

/* Replaces the resources. The consumer may release the old resources meanwhile. */
static void replace(ring_object *self, PyObject *tuple)
{
    PyObject *replaced = self->resources, *old = Py_XNewRef(self->before);
    PyObject *before = old ? PySequence_Concat(replaced, old) : Py_NewRef(replaced);
    PyErr_Clear();
    PyObject *older = self->before;
    self->resources = Py_NewRef(tuple);
    self->before = before;
    Py_DECREF(replaced);
    Py_XDECREF(older);
    Py_XDECREF(old);
}

static PyObject *resize(PyObject *object, PyObject *sequence)
{
    ENTER();
    struct resources given;
    gr_status status;
    if (!resources_begin(&given, sequence))
        return NULL;
    gr_ring *ring = ring_begin(object, true);
    if (!ring) {
        resources_end(&given);
        return NULL;
    }
    WITHOUT_GIL(status = gr_ring_resize(ring, given.resources, given.count));
    PyObject *none = none_or_fail(status);
    if (none)
        replace((ring_object *)object, given.tuple);
    ring_end(object, true);
    resources_end(&given);
    return none;
}

static PyObject *stop(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    ring_object *self = (ring_object *)object;
    gr_ring_stop(self->ring);
    return Py_NewRef(Py_None);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/*
 * Releases the replaced resources once a slot of the new ones is read. Frames are read in order, so
 * after a frame in a new slot no old slot is read any more.
 */
static void forget_before(ring_object *self, const gr_slot *slot)
{
    PyObject *found = self->before ? find(self->resources, slot->resource) : NULL;
    if (found)
        Py_CLEAR(self->before);
    Py_XDECREF(found);
}

struct acquire {
    PyObject *object;
    gr_ring *ring;
    CUstream stream;
    const gr_slot **slots;
    size_t n;
    bool writing;
};

static gr_status acquire_for(void *user, unsigned timeout_ms)
{
    const struct acquire *a = user;
    gr_status status;
    ring_cancel_dropped(a->object, a->writing);
    WITHOUT_GIL(status = (a->writing ? gr_ring_acquire_write : gr_ring_acquire_read)(
                    a->ring, a->stream, a->slots, a->n, timeout_ms));
    return status;
}

static PyObject *acquire(PyObject *object, PyObject *args, PyObject *keywords, bool writing)
{
    ENTER();
    size_t n = 1;
    PyObject *given = NULL, *time = NULL;
    CUstream stream;
    unsigned timeout_ms;
    if (!PARSE_IN(writing ? "acquire_write" : "acquire_read", "|O&$OO",
                  NAMES("n", "stream", "timeout"), SIZE(&n), &given, &time) ||
        !stream_or(given, GR_STREAM_NONE, &stream) || !timeout_of(time, &timeout_ms))
        return NULL;
    if (n > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "n is %zu, but must be from 1 to the number of slots", n);
        return NULL;
    }
    const gr_slot **slots = PyMem_Calloc(n, sizeof(*slots));
    if (!slots)
        return PyErr_NoMemory();
    gr_ring *ring = ring_begin(object, writing);
    if (!ring) {
        PyMem_Free(slots);
        return NULL;
    }
    struct acquire wanted = {object, ring, stream, slots, n, writing};
    PyObject *made = NULL;
    if (wait_in_slices(acquire_for, &wanted, timeout_ms)) {
        if (!writing)
            forget_before((ring_object *)object, slots[0]);
        made = slots_new(object, slots, n, given, writing);
    } else {
        PyMem_Free(slots);
    }
    ring_end(object, writing);
    return made;
}

static PyObject *acquire_write(PyObject *self, PyObject *args, PyObject *keywords)
{
    return acquire(self, args, keywords, true);
}

static PyObject *acquire_read(PyObject *self, PyObject *args, PyObject *keywords)
{
    return acquire(self, args, keywords, false);
}

/* ---- Contents -------------------------------------------------------------------------------- */

OPEN_OF(gr_ring, ring_object, ring, "Ring")

static PyObject *info(PyObject *self, PyObject *Py_UNUSED(none))
{
    ENTER();
    gr_ring *ring = open_of(self);
    const gr_ring_info *now = ring ? gr_ring_get_info(ring) : NULL;
    if (!now)
        return ring ? fail() : NULL;
    return Py_BuildValue("{s:K,s:K,s:K,s:I,s:I,s:I,s:I,s:I,s:K}", "written",
                         (unsigned long long)now->written, "read", (unsigned long long)now->read,
                         "dropped", (unsigned long long)now->dropped, "slots", now->slots, "free",
                         now->free, "writing", now->writing, "ready", now->ready, "reading",
                         now->reading, "newest_age_ns", (unsigned long long)now->newest_age_ns);
}

static PyObject *descriptor(PyObject *self, PyObject *role)
{
    ENTER();
    static const char *const names[] = {"producer", "consumer", NULL};
    gr_ring *ring = open_of(self);
    int choice, fd;
    if (!ring || !choice_of(role, "role", names, &choice))
        return NULL;
    fd = gr_ring_descriptor(ring, choice ? GR_RING_CONSUMER : GR_RING_PRODUCER);
    return fd < 0 ? fail() : PyLong_FromLong(fd);
}

static PyObject *text_of_ring(PyObject *object, PyObject *Py_UNUSED(none))
{
    ring_object *self = (ring_object *)object;
    gr_ring *ring = open_of(object);
    const gr_ring_info *now = ring ? gr_ring_get_info(ring) : NULL;
    return now ? PyUnicode_FromFormat("%s slots=%u free=%u writing=%u ready=%u reading=%u",
                                      self->kind, now->slots, now->free, now->writing, now->ready,
                                      now->reading)
               : NULL;
}

static PyObject *lines_of(ring_object *self)
{
    if (!self->lines)
        self->lines = PyDict_New();
    return Py_XNewRef(self->lines);
}

REPRESENT("Ring", text_of_ring)
PROPERTY(lines, lines_of((ring_object *)self))
PROPERTY(is_closed, PyBool_FromLong(!((ring_object *)self)->ring))

static PyMethodDef own_methods[] = {
    {"acquire_write", METHOD(acquire_write), KEYWORDS, NULL},
    {"acquire_read", METHOD(acquire_read), KEYWORDS, NULL},
    {"read", METHOD(acquire_read), KEYWORDS, NULL}, /* grinterop/_ring.py replaces both */
    {"write", METHOD(acquire_write), KEYWORDS, NULL},
    {"resize", resize, METH_O, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"info", info, METH_NOARGS, NULL},
    {"descriptor", descriptor, METH_O, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    CLOSE_BY_WITH,
    {0},
};

/* own_methods and those of share.c. */
static PyMethodDef methods[MOST_METHODS + 1];

static PyGetSetDef properties[] = {
    {"is_closed", is_closed, NULL, NULL, NULL},
    {"_lines", lines, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make},       {Py_tp_dealloc, (void *)end},
    {Py_tp_repr, (void *)represent}, {Py_tp_traverse, (void *)traverse},
    {Py_tp_clear, (void *)clear},    {Py_tp_methods, methods},
    {Py_tp_getset, properties},      {0},
};

bool add_ring(PyObject *module)
{
    gather(methods, own_methods);
    gather(methods, ring_share_methods);
    return add_type(module, &ring_type, "grinterop.Ring", sizeof(ring_object), Py_TPFLAGS_HAVE_GC,
                    slots) &&
           add_slots(module);
}
