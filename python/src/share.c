/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Methods of GraphicsResource that send a resource to another process or receive one. */
#include "resource.h"

#include <poll.h>

#include <grinterop/share.h>

/* poll() waits at most this long before Python handles signals such as Ctrl-C. */
#define SLICE_MS 50

/* ---- Waiting for the socket ------------------------------------------------------------------ */

/*
 * Waits until the socket is ready or the time is over, and subtracts the elapsed time from
 * *timeout_ms. The wait of the library can't be repeated in slices, because a timeout within a
 * message ends the connection.
 */
static bool wait_ready(int socket, short events, unsigned *timeout_ms)
{
    bool forever = *timeout_ms == GR_WAIT_FOREVER;
    struct pollfd polled = {.fd = socket, .events = events};
    while (forever || *timeout_ms) {
        unsigned slice = forever || *timeout_ms > SLICE_MS ? SLICE_MS : *timeout_ms;
        int ready;
        Py_BEGIN_ALLOW_THREADS
        ready = poll(&polled, 1, (int)slice);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals())
            return false;
        if (ready > 0)
            return true;
        if (!forever)
            *timeout_ms -= slice;
    }
    return true;
}

/* ---- The methods ----------------------------------------------------------------------------- */

static PyObject *send(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"socket", "data", "timeout", NULL};
    resource_object *self = (resource_object *)object;
    PyObject *given, *time = NULL;
    const char *data = NULL;
    Py_ssize_t size = 0;
    unsigned timeout_ms;
    int socket;
    gr_status status;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|y#$O:send", names, &given, &data, &size,
                                     &time) ||
        (socket = PyObject_AsFileDescriptor(given)) < 0 || !timeout_of(time, &timeout_ms) ||
        !wait_ready(socket, POLLOUT, &timeout_ms) || !resource_usable(self) ||
        !exclusive_begin(object))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = gr_resource_send(socket, self->resource, data, (size_t)size, timeout_ms);
    Py_END_ALLOW_THREADS
    PyObject *none = none_or_fail(status);
    exclusive_end(object);
    return none;
}

static PyObject *receive_into(PyObject *type, int socket, char *bytes, unsigned timeout_ms)
{
    size_t size = 0;
    gr_resource *resource;
    Py_BEGIN_ALLOW_THREADS
    resource = gr_resource_receive(socket, bytes, GR_SHARE_MOST_DATA, &size, timeout_ms);
    Py_END_ALLOW_THREADS
    PyObject *made = resource_new((PyTypeObject *)type, resource);
    return made ? Py_BuildValue("(Ny#)", made, bytes, (Py_ssize_t)size) : NULL;
}

static PyObject *receive(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"socket", "timeout", NULL};
    PyObject *given, *time = NULL;
    unsigned timeout_ms;
    int socket;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O:receive", names, &given, &time) ||
        (socket = PyObject_AsFileDescriptor(given)) < 0 || !timeout_of(time, &timeout_ms) ||
        !wait_ready(socket, POLLIN, &timeout_ms))
        return NULL;
    char *bytes = PyMem_Malloc(GR_SHARE_MOST_DATA);
    PyObject *pair = bytes ? receive_into(type, socket, bytes, timeout_ms) : PyErr_NoMemory();
    PyMem_Free(bytes);
    return pair;
}

PyMethodDef share_methods[] = {
    {"send", METHOD(send), KEYWORDS,
     "send($self, socket, data=b'', *, timeout=None)\n--\n\n"
     "Sends the resource to another process over a connected Unix socket, with up to 64 KiB of\n"
     "your bytes. The resource stays yours, and both use the same memory. Semaphores of\n"
     "set_sync() are sent along. timeout: seconds to wait for room in the socket."},
    {"receive", METHOD(receive), KEYWORDS | METH_CLASS,
     "receive($type, socket, *, timeout=None)\n--\n\n"
     "Receives a resource that another process sent. Returns it and the sender's bytes. It needs\n"
     "set_sync() before the first map if no semaphores came along."},
    {0},
};
