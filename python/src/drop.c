/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Python objects that own a tensor's memory, and Tensor.collect(). A tensor may be freed on any
 * thread, with or without the GIL, even while Python finalizes. Freeing a tensor therefore only
 * queues the Python object. The main thread or a later call that holds the GIL releases the object.
 */
#include "tensor.h"

#include <stdatomic.h>
#include <stdlib.h>

struct kept {
    PyObject *object;
    unsigned tensors; /* the number of Tensor objects that hold a reference each */
    struct kept *next;
};

static struct kept *_Atomic ended;

struct kept *keep(PyObject *object)
{
    struct kept *kept = malloc(sizeof(*kept));
    if (!kept)
        PyErr_NoMemory();
    else
        *kept = (struct kept){.object = Py_NewRef(object)};
    return kept;
}

PyObject *kept_object(const struct kept *kept)
{
    return kept ? kept->object : NULL;
}

void kept_share(struct kept *kept)
{
    if (kept && kept->tensors++)
        Py_INCREF(kept->object);
}

void kept_leave(struct kept *kept)
{
    if (kept && --kept->tensors)
        Py_DECREF(kept->object);
}

static int drop_pending(void *Py_UNUSED(nothing))
{
    kept_release();
    return 0;
}

void kept_end(void *user)
{
    struct kept *kept = user, *before = atomic_load(&ended);
    do {
        kept->next = before;
    } while (!atomic_compare_exchange_weak(&ended, &before, kept));
    /* From here on another thread may free `kept`, so only `before` is read. */
    if (!before && Py_IsInitialized())
        Py_AddPendingCall(drop_pending, NULL);
}

void kept_release(void)
{
    struct kept *kept = atomic_load(&ended) ? atomic_exchange(&ended, NULL) : NULL;
    PyObject *type, *value, *traceback;
    if (!kept)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    while (kept) {
        struct kept *next = kept->next;
        PyObject *object = kept->object;
        free(kept);
        Py_DECREF(object);
        kept = next;
    }
    PyErr_Restore(type, value, traceback);
}

/*
 * Keeps each stream object once. Objects are compared by identity, since stream objects with the
 * same handle compare equal.
 */
bool stream_stays(PyObject *stream)
{
    static PyObject *streams;
    PyObject *address;
    if (!stream || PyLong_Check(stream))
        return true;
    if (!streams)
        streams = PyDict_New();
    address = streams ? PyLong_FromVoidPtr(stream) : NULL;
    bool stays = address && !PyDict_SetItem(streams, address, stream);
    Py_XDECREF(address);
    return stays;
}

/* ---- Tensor.collect() ------------------------------------------------------------------------ */

static gr_status collect_once(void *Py_UNUSED(none), unsigned timeout_ms)
{
    gr_status status;
    WITHOUT_GIL(status = gr_tensor_collect(timeout_ms));
    return status;
}

PyObject *tensor_collect(PyObject *Py_UNUSED(none), PyObject *args, PyObject *keywords)
{
    PyObject *time = NULL;
    unsigned timeout_ms;
    if (!PARSE("|O:collect", NAMES("timeout"), &time) || !timeout_of(time, &timeout_ms))
        return NULL;
    bool done = wait_in_slices(collect_once, NULL, timeout_ms);
    kept_release();
    return done ? Py_NewRef(Py_None) : NULL;
}
