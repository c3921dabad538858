/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Methods of GraphicsResource and Ring that send one to another process or receive one. */
#include "ring.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grinterop/share.h>

/* poll() waits at most this long before Python handles signals such as Ctrl-C. */
#define SLICE_MS 50

/* ---- Waiting for the socket ------------------------------------------------------------------ */

/* The descriptor of a socket. */
static int socket_of(PyObject *object, void *place)
{
    if (!PyLong_Check(object) && !PyObject_HasAttrString(object, "fileno"))
        return wrong_type("socket: expected a socket or its descriptor", object);
    *(int *)place = PyObject_AsFileDescriptor(object);
    return *(int *)place >= 0;
}
#define SOCKET(place) socket_of, (1 ? (place) : (int *)NULL)

static bool fail_late(short events, unsigned timeout_ms, const char *call)
{
    char when[32] = "yet";
    if (timeout_ms)
        snprintf(when, sizeof(when), "within %u ms", timeout_ms);
    return fail_as(
        timeout_ms ? GR_ERR_TIMEOUT : GR_ERR_NOT_READY, call,
        events == POLLIN
            ? PyUnicode_FromFormat("No message arrived %s.", when)
            : PyUnicode_FromFormat("The socket has no room %s: the other process does not read. "
                                   "Nothing was sent.",
                                   when));
}

/*
 * Waits until the socket is ready, and subtracts the elapsed time from *timeout_ms. The wait of the
 * library can't be repeated in slices, because a timeout within a message ends the connection.
 */
static bool wait_ready(int socket, short events, unsigned *timeout_ms, const char *call)
{
    const unsigned all = *timeout_ms;
    struct pollfd polled = {.fd = socket, .events = events};
    for (;;) {
        const unsigned slice = *timeout_ms < SLICE_MS ? *timeout_ms : SLICE_MS;
        int ready;
        WITHOUT_GIL(ready = poll(&polled, 1, (int)slice));
        if (PyErr_CheckSignals())
            return false;
        if (ready > 0)
            return true;
        if (*timeout_ms <= slice)
            return fail_late(events, all, call);
        if (all != GR_WAIT_FOREVER)
            *timeout_ms -= slice;
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The arguments and the results of a call of the library. */
struct message {
    int socket;
    unsigned timeout_ms;
    gr_resource *resource;
    gr_ring *ring;
    gr_ring_role role;
    char *bytes;
    size_t size;
    PyObject *data; /* has the bytes to send */

    /* The call. False on failure. */
    bool (*run)(struct message *message);
};

/* Whether the handler of a signal, such as that of Ctrl-C, raised an exception. */
static bool is_interrupted(void *Py_UNUSED(none))
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool raised = PyErr_CheckSignals();
    gr_share_set_interrupt(is_interrupted, NULL); /* the handler may have sent, too */
    PyGILState_Release(state);
    return raised;
}

/* Runs the call. Ctrl-C ends the connection, because it would be within a message. */
static bool transfer(struct message *message)
{
    bool done;
    Py_BEGIN_ALLOW_THREADS
    gr_share_set_interrupt(is_interrupted, NULL);
    done = message->run(message);
    gr_share_set_interrupt(NULL, NULL);
    Py_END_ALLOW_THREADS
    if (!PyErr_Occurred())
        return done || fail();
    shutdown(message->socket, SHUT_RDWR);
    return false;
}

static bool take_data(struct message *message, PyObject *data)
{
    message->data = data ? bytes_of(data, "data: expected bytes") : PyBytes_FromString("");
    message->bytes = message->data ? PyBytes_AsString(message->data) : NULL;
    message->size = message->data ? (size_t)PyBytes_Size(message->data) : 0;
    return message->data;
}

/* ---- The methods ----------------------------------------------------------------------------- */

static bool send_now(struct message *message)
{
    return gr_resource_send(message->socket, message->resource, message->bytes, message->size,
                            message->timeout_ms) == GR_OK;
}

static PyObject *call_send(PyObject *object, PyObject *args, PyObject *keywords)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    PyObject *data = NULL, *time = NULL;
    struct message message = {.resource = self->resource, .run = send_now};
    if (!PARSE("O&|O$O:send", NAMES("socket", "data", "timeout"), SOCKET(&message.socket), &data,
               &time) ||
        !timeout_of(time, &message.timeout_ms) || !take_data(&message, data))
        return NULL;
    bool sent = wait_ready(message.socket, POLLOUT, &message.timeout_ms, "GraphicsResource.send") &&
                resource_usable(self) && exclusive_begin(object);
    if (sent) {
        sent = transfer(&message);
        exclusive_end(object);
    }
    Py_DECREF(message.data);
    return sent ? Py_NewRef(Py_None) : NULL;
}

static bool receive_now(struct message *message)
{
    message->resource = gr_resource_receive(message->socket, message->bytes, GR_SHARE_MOST_DATA,
                                            &message->size, message->timeout_ms);
    return message->resource;
}

static bool receive_ring_now(struct message *message)
{
    message->ring = gr_ring_receive(message->socket, message->bytes, GR_SHARE_MOST_DATA,
                                    &message->size, message->timeout_ms);
    return message->ring;
}

static PyObject *receive_into(PyObject *type, struct message *message)
{
    if (!transfer(message))
        return NULL;
    PyObject *made = message->ring ? ring_new((PyTypeObject *)type, message->ring)
                                   : resource_new((PyTypeObject *)type, message->resource);
    return made ? Py_BuildValue("(Ny#)", made, message->bytes, (Py_ssize_t)message->size) : NULL;
}

static bool receiving_of(PyObject *args, PyObject *keywords, struct message *message,
                         const char *call)
{
    PyObject *time = NULL;
    return PARSE("O&|$O:receive", NAMES("socket", "timeout"), SOCKET(&message->socket), &time) &&
           timeout_of(time, &message->timeout_ms) &&
           wait_ready(message->socket, POLLIN, &message->timeout_ms, call);
}

static PyObject *receive(PyObject *type, struct message *message)
{
    message->bytes = PyMem_Malloc(GR_SHARE_MOST_DATA);
    PyObject *pair = message->bytes ? receive_into(type, message) : PyErr_NoMemory();
    PyMem_Free(message->bytes);
    return pair;
}

static PyObject *call_receive(PyObject *type, PyObject *args, PyObject *keywords)
{
    struct message message = {.run = receive_now};
    return receiving_of(args, keywords, &message, "GraphicsResource.receive")
               ? receive(type, &message)
               : NULL;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* Copies the socket, since a shared ring owns its socket. False, with an exception, on failure. */
static bool copy_socket(int *socket)
{
    *socket = fcntl(*socket, F_DUPFD_CLOEXEC, 0);
    return *socket >= 0 || PyErr_SetFromErrno(PyExc_OSError);
}

static bool send_ring_now(struct message *message)
{
    return gr_ring_send(message->socket, message->ring, message->role, message->bytes,
                        message->size, message->timeout_ms) == GR_OK;
}

static bool send_ring(PyObject *self, struct message *message)
{
    const bool writing = message->role == GR_RING_PRODUCER;
    message->ring = ring_begin(self, writing);
    const bool sent = message->ring && transfer(message);
    if (message->ring)
        ring_end(self, writing);
    if (!sent)
        close(message->socket);
    return sent;
}

static PyObject *ring_send(PyObject *self, PyObject *args, PyObject *keywords)
{
    ENTER();
    static const char *const roles[] = {"producer", "consumer", NULL};
    struct message message = {.run = send_ring_now};
    PyObject *role, *data = NULL, *time = NULL;
    int choice;
    if (!PARSE("O&O|O$O:send", NAMES("socket", "role", "data", "timeout"), SOCKET(&message.socket),
               &role, &data, &time) ||
        !choice_of(role, "role", roles, &choice) || !timeout_of(time, &message.timeout_ms) ||
        !take_data(&message, data))
        return NULL;
    message.role = choice ? GR_RING_CONSUMER : GR_RING_PRODUCER;
    const bool sent = wait_ready(message.socket, POLLOUT, &message.timeout_ms, "Ring.send") &&
                      copy_socket(&message.socket) && send_ring(self, &message);
    Py_DECREF(message.data);
    return sent ? Py_NewRef(Py_None) : NULL;
}

static PyObject *ring_receive(PyObject *type, PyObject *args, PyObject *keywords)
{
    struct message message = {.run = receive_ring_now};
    if (!receiving_of(args, keywords, &message, "Ring.receive") || !copy_socket(&message.socket))
        return NULL;
    PyObject *pair = receive(type, &message);
    if (!message.ring)
        close(message.socket);
    return pair;
}

PyMethodDef share_methods[] = {
    {"send", METHOD(call_send), KEYWORDS, NULL},
    {"receive", METHOD(call_receive), KEYWORDS | METH_CLASS, NULL},
    {0},
};

PyMethodDef ring_share_methods[] = {
    {"send", METHOD(ring_send), KEYWORDS, NULL},
    {"receive", METHOD(ring_receive), KEYWORDS | METH_CLASS, NULL},
    {0},
};
