/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the extension share. It is written in the limited API of CPython 3.10, so one
 * binary serves every later version.
 */
#ifndef PYTHON_MODULE_H
#define PYTHON_MODULE_H

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

#include <grinterop/gr.h>

/* CPython declares every method as a PyCFunction, whatever its flags say that it takes. */
#define METHOD(function) ((PyCFunction)(void (*)(void))(function))
#define KEYWORDS         (METH_VARARGS | METH_KEYWORDS)

/* ---- Errors (error.c) ------------------------------------------------------------------------ */

/* Raises what gr_last_error() says. Returns NULL. */
PyObject *fail(void);

/* Likewise, as a BufferError too, which DLPack's consumers know. */
PyObject *fail_as_buffer_error(void);

/* Likewise, of a wait in slices: its last error names the time of a slice instead of all. */
PyObject *fail_after(unsigned slice_ms, unsigned timeout_ms);

/* Raises what a function of the driver's answered. Returns NULL. */
PyObject *driver_fail(int result, const char *call);

/* None for GR_OK, else fail(). */
PyObject *none_or_fail(gr_status status);

/* A text of the library's; bytes that are no UTF-8 are replaced. */
PyObject *text_of(const char *text);

/*
 * For destructors: makes the exception a CUDAWarning, which names the type that was dropped. An
 * exception in flight has to be fetched before.
 */
void warn_of_end(PyTypeObject *type);

/* Whether the interpreter is being finalized: destructors do not warn then. */
bool python_ends(void);

extern PyMethodDef error_functions[];

/* ---- Arguments (arguments.c) ----------------------------------------------------------------- */

/*
 * The stream that a Python object stands for: an integer, or something with __cuda_stream__(). CUDA
 * writes 0 for the legacy default stream, too. false, with an exception, for all else.
 */
bool stream_of(PyObject *object, CUstream *stream);

/* Likewise, and `absent` for None and for NULL. */
bool stream_or(PyObject *object, CUstream absent, CUstream *stream);

/* Keeps a stream to the end of the process, for what may need it at any time (drop.c). */
bool stream_stays(PyObject *stream);

/* An event: an integer, or something with a `handle`. NULL for None and for NULL. */
bool event_of(PyObject *object, CUevent *event);

/* Flags: None, a number, a name, several in one text, or a sequence of names. */
bool flags_of(PyObject *object, unsigned *flags);

/* The text of a str without null characters; else NULL, perhaps with an exception. */
const char *plain_text(PyObject *object);

/* A handle or an address: a number, or something that int() takes. */
bool address_of(PyObject *object, uint64_t *address);

/* Seconds as the library's milliseconds; None waits for ever. */
bool timeout_of(PyObject *object, unsigned *timeout_ms);

/* One of `names`, which a NULL ends: its place. None is the first one. */
bool choice_of(PyObject *object, const char *what, const char *const names[], int *choice);

/* Makes the texts that are looked for by name. */
bool arguments_ready(void);

extern PyMethodDef argument_functions[];

/* ---- Calls under way (use.c) ----------------------------------------------------------------- */

struct use {
    /* The object that this one is a part of. It is not counted, but kept while a call is under way:
     * NULL once it is gone. */
    PyObject *whole;

    /* How many calls are under way. */
    unsigned calls;

    /* One of them has to be the only one of its kind; one of them ends the object. */
    bool alone, ending;
};

/* What the struct of each type begins with. */
#define OBJECT_HEAD PyObject_HEAD struct use use;

/*
 * A call with an object, and with what it is a part of, which is all kept until the end. false,
 * with an exception, if a call that ends one of them is under way.
 */
bool use_begin(PyObject *self);
void use_end(PyObject *self);

/* The same for a call that only one thread may be in: false if there is another such call, too. */
bool alone_begin(PyObject *self);
void alone_end(PyObject *self);

/* Likewise with several, all or none. One that is listed twice, which the library refuses, is begun
 * once. */
bool alone_begin_all(PyObject *const objects[], size_t count);
void alone_end_all(PyObject *const objects[], size_t count);

/* Whether such a call, or one that ends the object, is under way. */
bool is_alone(PyObject *self);

/*
 * A call that ends the object: false, with an exception, if any call with it is under way, or one
 * that has to be alone with what it is a part of. No call begins meanwhile.
 */
bool ending_begin(PyObject *self);
void ending_end(PyObject *self);

/* Whether no call is under way; else an exception. For a close that cannot fail. */
bool unused(PyObject *self);

/* The function `call` as a call under way: guarded_CALL, by what CPython gives it. */
#define GUARDED_AS(call, parameters, arguments)                                                    \
    static PyObject *guarded_##call parameters                                                     \
    {                                                                                              \
        PyObject *result = NULL;                                                                   \
        if (use_begin(self)) {                                                                     \
            result = call arguments;                                                               \
            use_end(self);                                                                         \
        }                                                                                          \
        return result;                                                                             \
    }
#define GUARDED(call)                                                                              \
    GUARDED_AS(call, (PyObject * self, PyObject * args, PyObject * keywords),                      \
               (self, args, keywords))
#define GUARDED_ONE(call)      GUARDED_AS(call, (PyObject * self, PyObject * one), (self, one))
#define GUARDED_PROPERTY(call) GUARDED_AS(call, (PyObject * self, void *closure), (self, closure))
#define GUARDED_FAST(call)                                                                         \
    GUARDED_AS(call, (PyObject * self, PyObject *const *args, Py_ssize_t count, PyObject *names),  \
               (self, args, count, names))

/* A property NAME: what it gives of `self`. The second one is a call under way: guarded_NAME. */
#define PROPERTY(name, value)                                                                      \
    static PyObject *name(PyObject *self, void *closure)                                           \
    {                                                                                              \
        (void)self;                                                                                \
        (void)closure;                                                                             \
        return value;                                                                              \
    }
#define PROPERTY_IN_CALL(name, value) PROPERTY(name, value) GUARDED_PROPERTY(name)

/*
 * Py_BEGIN_ALLOW_THREADS where an exception may be on its way: what ends here may be the end of
 * another library's memory, whose functions must not see that exception.
 */
#define BEGIN_ENDING                                                                               \
    {                                                                                              \
        PyObject *pending_type, *pending_value, *pending_traceback;                                \
        PyErr_Fetch(&pending_type, &pending_value, &pending_traceback);                            \
        Py_BEGIN_ALLOW_THREADS
#define END_ENDING                                                                                 \
    Py_END_ALLOW_THREADS                                                                           \
    PyErr_Restore(pending_type, pending_value, pending_traceback);                                 \
    }

/* ---- Waits (wait.c) -------------------------------------------------------------------------- */

/* One wait of up to that time, which changes nothing where it is too short. Without the GIL. */
typedef gr_status wait_call(void *user, unsigned timeout_ms);

/* Waits in slices, so that Ctrl-C ends it. false: an exception. */
bool wait_in_slices(wait_call *wait, void *user, unsigned timeout_ms);

/* ---- Types ----------------------------------------------------------------------------------- */

/*
 * Makes a type, whose `name` begins with the module's, and adds it to the module. `size` is the
 * struct's. NULL after a failure.
 */
PyTypeObject *add_type(PyObject *module, const char *name, size_t size, unsigned flags,
                       PyType_Slot *slots);

/* Memory for an object of `type`, all zero behind the head. */
void *new_object(PyTypeObject *type);

/* Frees an object's memory, and lets go of its type. */
void end_object(PyObject *object);

/* Replaces a reference. */
void keep_as(PyObject **place, PyObject *object);

/* For Py_tp_new of what only the library makes. */
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords);

/* For __enter__ of what is a context manager itself, and for the __exit__ that closes it. */
PyObject *enter_self(PyObject *self, PyObject *none);
PyObject *leave_by_close(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* __array__() of what has __dlpack__() (numpy.c). */
PyObject *as_numpy(PyObject *self, PyObject *args, PyObject *keywords);

bool add_resource(PyObject *module);
bool add_buffer(PyObject *module);
bool add_egl(PyObject *module);
bool add_cuda_context(PyObject *module);
bool add_tensor(PyObject *module);
bool add_ring(PyObject *module);
bool add_vulkan(PyObject *module);

extern PyMethodDef bench_functions[], driver_functions[], many_functions[], publish_functions[];
extern PyMethodDef core_functions[];
extern PyMethodDef tensor_functions[];

#endif
