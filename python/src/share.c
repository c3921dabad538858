/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Methods of GraphicsResource and Ring that send one to another process or receive one. */
#include "ring.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grinterop/cuda.h>
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
        WITHOUT_GIL(ready = poll(&polled, 1, (int)slice));
        if (PyErr_CheckSignals())
            return false;
        if (ready > 0)
            return true;
        if (!forever)
            *timeout_ms -= slice;
    }
    return true;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* A call of the library that sends or receives a message. */
struct message {
    int socket;
    unsigned timeout_ms;
    gr_resource *resource;
    gr_ring *ring;
    char *bytes;
    size_t size;

    /* The call. False on failure. */
    bool (*run)(struct message *message);

    /* For the thread of the call: the caller's context, a lock that it releases, and its result. */
    CUcontext context;
    PyThread_type_lock running;
    bool done;
    gr_error error; /* with these texts */
    char code_name[64], call[64], text[1024];
};

/* Copies the error of the thread, whose texts end with it. */
static void keep_error(struct message *message)
{
    message->error = *gr_last_error();
    snprintf(message->code_name, sizeof(message->code_name), "%s", message->error.code_name);
    snprintf(message->call, sizeof(message->call), "%s", message->error.call);
    snprintf(message->text, sizeof(message->text), "%s", message->error.message);
    message->error.code_name = message->code_name;
    message->error.call = message->call;
    message->error.message = message->text;
}

/* Uses nothing of Python, which refuses other threads at exit. */
static void run(void *user)
{
    struct message *message = user;
    if (message->context)
        gr_cuda()->CtxSetCurrent(message->context);
    message->done = message->run(message);
    if (!message->done)
        keep_error(message);
    PyThread_release_lock(message->running);
}

/* Waits for the thread. Ctrl-C ends the connection, because it would be within a message. */
static bool await(struct message *message)
{
    bool stopped = false;
    PyLockStatus status;
    do {
        WITHOUT_GIL(status = PyThread_acquire_lock_timed(message->running, SLICE_MS * 1000, 0));
        if (status != PY_LOCK_ACQUIRED && !stopped && PyErr_CheckSignals()) {
            stopped = true;
            shutdown(message->socket, SHUT_RDWR);
        }
    } while (status != PY_LOCK_ACQUIRED);
    return !stopped;
}

/* Runs the call in a thread of its own, while this one handles signals such as Ctrl-C. */
static bool transfer(struct message *message)
{
    const gr_cuda_api *cuda = gr_cuda();
    if (cuda)
        cuda->CtxGetCurrent(&message->context);
    message->running = PyThread_allocate_lock();
    if (!message->running)
        return PyErr_NoMemory();
    PyThread_acquire_lock(message->running, WAIT_LOCK);
    bool started = PyThread_start_new_thread(run, message) != (unsigned long)-1;
    bool done = started && await(message);
    PyThread_free_lock(message->running);
    if (!started)
        PyErr_SetString(PyExc_RuntimeError, "can't start a thread");
    return done && (message->done || fail_by(&message->error));
}

/* ---- The methods ----------------------------------------------------------------------------- */

static bool send_now(struct message *message)
{
    return gr_resource_send(message->socket, message->resource, message->bytes, message->size,
                            message->timeout_ms) == GR_OK;
}

static PyObject *call_send(PyObject *object, PyObject *args, PyObject *keywords)
{
    resource_object *self = (resource_object *)object;
    PyObject *given, *time = NULL;
    Py_ssize_t size = 0;
    struct message message = {.resource = self->resource, .run = send_now};
    if (!PARSE("O|y#$O:send", NAMES("socket", "data", "timeout"), &given, &message.bytes, &size,
               &time) ||
        (message.socket = PyObject_AsFileDescriptor(given)) < 0 ||
        !timeout_of(time, &message.timeout_ms) ||
        !wait_ready(message.socket, POLLOUT, &message.timeout_ms) || !resource_usable(self) ||
        !exclusive_begin(object))
        return NULL;
    message.size = (size_t)size;
    bool sent = transfer(&message);
    exclusive_end(object);
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
    if (transfer(message)) {
        PyObject *made = message->ring ? ring_new((PyTypeObject *)type, message->ring)
                                       : resource_new((PyTypeObject *)type, message->resource);
        return made ? Py_BuildValue("(Ny#)", made, message->bytes, (Py_ssize_t)message->size)
                    : NULL;
    }
    ENDING(gr_resource_free(message->resource); gr_ring_free(message->ring));
    return NULL;
}

static bool receiving_of(PyObject *args, PyObject *keywords, struct message *message)
{
    PyObject *given, *time = NULL;
    return PARSE("O|$O:receive", NAMES("socket", "timeout"), &given, &time) &&
           (message->socket = PyObject_AsFileDescriptor(given)) >= 0 &&
           timeout_of(time, &message->timeout_ms) &&
           wait_ready(message->socket, POLLIN, &message->timeout_ms);
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
    return receiving_of(args, keywords, &message) ? receive(type, &message) : NULL;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* Copies the socket, since a shared ring owns its socket. False, with an exception, on failure. */
static bool copy_socket(int *socket)
{
    *socket = fcntl(*socket, F_DUPFD_CLOEXEC, 0);
    return *socket >= 0 || PyErr_SetFromErrno(PyExc_OSError);
}

/* An OpenGL ring is sent on the thread of its context, so Ctrl-C is handled after the message. */
static PyObject *ring_send(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const roles[] = {"producer", "consumer", NULL};
    PyObject *given, *role, *time = NULL;
    const char *bytes = NULL;
    Py_ssize_t size = 0;
    unsigned timeout_ms;
    int socket, choice;
    gr_status status;
    if (!PARSE("OO|y#$O:send", NAMES("socket", "role", "data", "timeout"), &given, &role, &bytes,
               &size, &time) ||
        !choice_of(role, "role", roles, &choice) ||
        (socket = PyObject_AsFileDescriptor(given)) < 0 || !timeout_of(time, &timeout_ms) ||
        !wait_ready(socket, POLLOUT, &timeout_ms) || !copy_socket(&socket))
        return NULL;
    gr_ring *ring = ring_begin(self, choice == 0);
    if (!ring) {
        close(socket);
        return NULL;
    }
    WITHOUT_GIL(status = gr_ring_send(socket, ring, choice ? GR_RING_CONSUMER : GR_RING_PRODUCER,
                                      bytes, (size_t)size, timeout_ms));
    ring_end(self, choice == 0);
    if (status != GR_OK)
        close(socket);
    return none_or_fail(status);
}

static PyObject *ring_receive(PyObject *type, PyObject *args, PyObject *keywords)
{
    struct message message = {.run = receive_ring_now};
    if (!receiving_of(args, keywords, &message) || !copy_socket(&message.socket))
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
