/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared declarations of the extension. It uses the limited API of CPython 3.10, so one binary
 * runs on every later version that has the GIL. Free-threaded CPython has no limited API before
 * 3.15: each version needs a binary of its own.
 */
#ifndef PYTHON_MODULE_H
#define PYTHON_MODULE_H

#include <pyconfig.h>
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x030A0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

#include <grinterop/gr.h>

#include "threads.h"

/* CPython declares every method as a PyCFunction, whatever its METH_ flags are. */
#define METHOD(function) ((PyCFunction)(void (*)(void))(function))
#define KEYWORDS         (METH_VARARGS | METH_KEYWORDS)

/* ---- Errors (error.c) ------------------------------------------------------------------------ */

/* Raises gr_last_error(). Returns NULL. */
PyObject *fail(void);

/* Like fail(), but the exception also derives from BufferError, which DLPack consumers expect. */
PyObject *fail_as_buffer_error(void);

/* Like fail(), with `new` for `old` in the call and the message. */
PyObject *fail_with(const char *old, const char *new);

/*
 * Like fail(), after a wait in slices: the message gives the total time instead of that of a slice.
 */
PyObject *fail_after(unsigned slice_ms, unsigned timeout_ms);

/* Raises a TypeError: `expected`, and what the object is instead. Returns false. */
bool wrong_type(const char *expected, PyObject *object);

/* Raises an InvalidValueError: `format` with the object. Returns false. */
bool wrong_value(const char *format, PyObject *object);

/*
 * Whether the exception that is set says only that something is absent: it is of `type`. Clears it
 * then. Any other exception comes from the program and stays.
 */
bool is_absent(PyObject *type);

/* Raises the error that a driver function returned. Returns NULL. */
PyObject *driver_fail(int result, const char *call);

/* Returns None for GR_OK, otherwise fail(). */
PyObject *none_or_fail(gr_status status);

/* Warns of gr_last_error(). false if a warning filter raises an exception. */
bool warn_of_error(void);

/* Raises an error without a code. Steals the message, which may be NULL. Returns NULL. */
PyObject *fail_as(gr_status status, const char *call, PyObject *message);

/* A str from a text of the library. Invalid UTF-8 is replaced. */
PyObject *text_of(const char *text);
/* A text of the library, with the names of Python. */
PyObject *text_in_python(const char *text);

/*
 * For destructors: turns the exception that is set into a CUDAWarning that names the dropped type.
 * The destructor must first save any exception that was set before it ran.
 */
void warn_of_end(PyTypeObject *type);

/* Whether the interpreter is finalizing. Destructors issue no warnings then. */
bool python_ends(void);

extern PyMethodDef error_functions[];

/* ---- Arguments (arguments.c) ----------------------------------------------------------------- */

/*
 * The stream that a Python object represents: an integer, an object with __cuda_stream__(), or a
 * stream of PyTorch, CuPy, Numba, Warp or PyCUDA. 0 is the legacy default stream, as in CUDA.
 * false, with an exception, for anything else.
 */
bool stream_of(PyObject *object, CUstream *stream);

/* The stream of a CudaContext. false, with an exception, if it is closed. */
extern PyTypeObject *context_type;
bool context_stream(PyObject *self, CUstream *stream);

/* Like stream_of(), for a keyword-only argument that `call` requires. NULL is refused. */
bool stream_given(PyObject *object, const char *call, CUstream *stream);

/* Like stream_of(), but None and NULL give `absent`. */
bool stream_or(PyObject *object, CUstream absent, CUstream *stream);

/*
 * Runs a driver call in that context, whose default streams it means, and returns its result, a
 * CUresult (driver.c).
 */
int in_context(CUcontext context, int (*call)(void *user), void *user);

/* Keeps a stream alive until the process exits, as its last use is unknown (drop.c). */
bool stream_stays(PyObject *stream);

/* Reads an event: an integer or an event of a framework. None and NULL give a NULL event. */
bool event_of(PyObject *object, CUevent *event);

/* Whether an optional argument is there and not None. */
bool is_given(PyObject *object);

/* The item of a dict with that name, a new reference. NULL if it is absent or None. */
PyObject *item_of(PyObject *dict, const char *name);

/*
 * A tuple of the items of an iterable, or the bytes of an object with the buffer protocol. NULL,
 * with an exception that says `expected`, for another object.
 */
PyObject *items_of(PyObject *object, const char *expected);
PyObject *bytes_of(PyObject *object, const char *expected);

/*
 * The text of a str. NULL if the object is not a str or contains a null character; an exception may
 * then be set or not.
 */
const char *plain_text(PyObject *object);

/*
 * Read numbers, as converters for "O&" of PyArg_ParseTuple(): an integer, or an object with
 * __index__ such as a NumPy integer. OverflowError if it does not fit, InvalidValueError if it must
 * not be negative.
 */
typedef int converter(PyObject *object, void *place);
converter int_of, int64_of, unsigned_of, size_of, uint64_of, gl_name_of, double_of, float_of;
#define INT64(place)    int64_of, (1 ? (place) : (int64_t *)NULL)
#define INT(place)      int_of, (1 ? (place) : (int *)NULL)
#define DOUBLE(place)   double_of, (1 ? (place) : (double *)NULL)
#define FLOAT(place)    float_of, (1 ? (place) : (float *)NULL)
#define UNSIGNED(place) unsigned_of, (1 ? (place) : (unsigned *)NULL)
#define GL_NAME(place)  gl_name_of, (1 ? (place) : (unsigned *)NULL)
#define SIZE(place)     size_of, (1 ? (place) : (size_t *)NULL)
#define UINT64(place)   uint64_of, (1 ? (place) : (uint64_t *)NULL)

/* Reads a bool, an integer or NumPy bool, as such a converter. None is false. */
converter truth_of;
#define TRUTH(place) truth_of, (1 ? (place) : (bool *)NULL)

/* Reads flags, too: None, a number, a str with one or more names, or a sequence of names. */
converter flags_of;
#define FLAGS(place) flags_of, (1 ? (place) : (unsigned *)NULL)

/* Reads a handle or an address, too: an integer, or an object with only __int__. */
converter address_of;
#define ADDRESS(place) address_of, (1 ? (place) : (uint64_t *)NULL)

/* The same for the address of Tensor.from_memory(), which arrays are passed to by mistake. */
converter wrapped_of;
#define WRAPPED(place) wrapped_of, (1 ? (place) : (uint64_t *)NULL)

/* Converts seconds to milliseconds. None waits forever. */
bool timeout_of(PyObject *object, unsigned *timeout_ms);

/*
 * Finds the name in `names`, which ends with NULL, and returns its index. None selects the first.
 */
bool choice_of(PyObject *object, const char *what, const char *const names[], int *choice);

/* A table of names and their values, which ends with a NULL name. */
#define MOST_NAMES 32
struct named {
    const char *name;
    unsigned value;
};

/* Like choice_of(), but gives the value of the name. */
bool value_of(PyObject *object, const char *what, const struct named *table, unsigned *value);

/* Returns the name of a value; "" if it has none. */
const char *name_of(const struct named *table, unsigned value);

/* The formats of GR_FORMAT (external.c). */
extern const struct named formats[];

/* The transports of OpenGL, for such a table. */
#define GL_TRANSPORTS                                                                              \
    {"interop", GR_TRANSPORT_INTEROP}, {"shared", GR_TRANSPORT_SHARED},                            \
        {"copy", GR_TRANSPORT_COPY},                                                               \
    {                                                                                              \
        "peer", GR_TRANSPORT_PEER                                                                  \
    }

/*
 * The parameters of a METH_FASTCALL | METH_KEYWORDS function: their names, which end with NULL, the
 * number of those that may be positional, and the number of those that are required.
 */
#define MOST_PARAMETERS 31
struct parameters {
    Py_ssize_t positional, required;
    const char *names[MOST_PARAMETERS + 1];
    PyObject *interned[MOST_PARAMETERS]; /* set by the first call */
};

/*
 * Reads the arguments of such a function into one value per parameter, NULL if absent. false, with
 * an exception, for other arguments.
 */
bool arguments_of(const char *call, struct parameters *parameters, PyObject *const *args,
                  Py_ssize_t count, PyObject *keywords, PyObject **values);

/*
 * Reads arguments by a format of PyArg_ParseTupleAndKeywords, whose name may also be `call`. Errors
 * of the converters below name the argument. PARSE and PARSE_IN read `args` and `keywords`, by
 * NAMES().
 */
bool parse(PyObject *args, PyObject *keywords, const char *call, const char *format, char **names,
           ...);
#define PARSE(format, names, ...)          parse(args, keywords, NULL, format, names, __VA_ARGS__)
#define PARSE_IN(call, format, names, ...) parse(args, keywords, call, format, names, __VA_ARGS__)
#define NAMES(...)                         ((char *[]){__VA_ARGS__, NULL})

/* Reads an argument that may be NULL by a converter, whose errors then have its name. */
bool read_as(const char *name, PyObject *object, converter *read, void *place);

extern PyMethodDef argument_functions[];

/* ---- Calls under way (call.c) ---------------------------------------------------------------- */

struct use {
    /*
     * The object that this object is part of, such as the GraphicsResource of a Buffer. NULL once
     * that object is gone. A borrowed reference, but call_begin() takes a strong one until
     * call_end(). `bound` objects can't be used while `whole` is being destroyed.
     */
    PyObject *whole;
    bool bound;

    /* Number of calls under way. */
    unsigned calls;

    /* Whether an exclusive call, and whether a call that ends the object, is under way. */
    bool alone, ending;
};

/* First members of each type's struct. `weak` is the list of the weak references. */
#define OBJECT_HEAD                                                                                \
    PyObject_HEAD struct use use;                                                                  \
    PyObject *weak;
typedef struct object {
    OBJECT_HEAD
} object;

/*
 * Begins a call on an object and on the objects that it is part of; all are kept alive until
 * call_end(). false, with an exception, if a call that ends one of them is under way.
 */
bool call_begin(PyObject *self);
void call_end(PyObject *self);

/*
 * Like call_begin(), for a call that lasts as long as a reference to the object, which the garbage
 * collector sees: takes no reference to it.
 */
bool call_hold(PyObject *self);
void call_let_go(PyObject *self);

/* Like call_begin(), for an exclusive call: also false if another exclusive call is under way. */
bool exclusive_begin(PyObject *self);
void exclusive_end(PyObject *self);

/*
 * Like exclusive_begin(), for several objects without a `whole`: all or none. An object that is
 * listed twice is begun once; the library refuses the duplicate later.
 */
bool exclusive_begin_all(PyObject *const objects[], size_t count);
void exclusive_end_all(PyObject *const objects[], size_t count);

/* Whether an exclusive call, or one that ends the object, is under way. */
bool is_exclusive(PyObject *self);

/*
 * Begins a call that ends the object, and refuses all other calls until ending_end(). false, with
 * an exception, if any call on the object is under way, or an exclusive call on an object that
 * contains the object.
 */
bool ending_begin(PyObject *self);
void ending_end(PyObject *self);

/*
 * Whether no call on the object is under way. If one is, sets an exception. Called before library
 * functions that close an object and report no error.
 */
bool unused(PyObject *self);

PyObject *core_own(PyObject *object); /* resource.h */

/*
 * These macros define guarded_CALL, which runs CALL, or evaluates `value`, between call_begin() and
 * call_end().
 */
#define GUARDED_AS(call, parameters, value)                                                        \
    static PyObject *guarded_##call parameters                                                     \
    {                                                                                              \
        ENTER();                                                                                   \
        PyObject *result = NULL;                                                                   \
        self = core_own(self);                                                                     \
        if (call_begin(self)) {                                                                    \
            result = value;                                                                        \
            call_end(self);                                                                        \
        }                                                                                          \
        return result;                                                                             \
    }
#define GUARDED_WITH(call, value)                                                                  \
    GUARDED_AS(call, (PyObject * self, PyObject * args, PyObject * keywords), value)
#define GUARDED(call)          GUARDED_WITH(call, call(self, args, keywords))
#define GUARDED_ONE(call)      GUARDED_AS(call, (PyObject * self, PyObject * one), call(self, one))
#define GUARDED_PROPERTY(call) GUARDED_AS(call, (PyObject * self, void *none), call(self, none))
#define GUARDED_FAST(call)                                                                         \
    GUARDED_AS(call, (PyObject * self, PyObject *const *args, Py_ssize_t count, PyObject *names),  \
               call(self, args, count, names))

/*
 * FUNCTION defines a METH_NOARGS function NAME, PROPERTY a property getter NAME. PROPERTY_IN_CALL
 * also defines guarded_NAME, which runs NAME between call_begin() and call_end().
 */
#define RESULT(name, unused_type, value)                                                           \
    static PyObject *name(PyObject *self, unused_type *none)                                       \
    {                                                                                              \
        ENTER();                                                                                   \
        (void)self;                                                                                \
        (void)none;                                                                                \
        return value;                                                                              \
    }
#define FUNCTION(name, value)         RESULT(name, PyObject, value)
#define PROPERTY(name, value)         RESULT(name, void, value)
#define PROPERTY_IN_CALL(name, value) PROPERTY(name, value) GUARDED_PROPERTY(name)

/* Runs a statement without the GIL. */
#define WITHOUT_GIL(...)                                                                           \
    do {                                                                                           \
        Py_BEGIN_ALLOW_THREADS                                                                     \
        __VA_ARGS__;                                                                               \
        Py_END_ALLOW_THREADS                                                                       \
    } while (0)

/*
 * The same for places where an exception may be set. The statement may call the deleter of another
 * library, which must not see that exception.
 */
#define ENDING(...)                                                                                \
    do {                                                                                           \
        PyObject *pending_type, *pending_value, *pending_traceback;                                \
        PyErr_Fetch(&pending_type, &pending_value, &pending_traceback);                            \
        WITHOUT_GIL(__VA_ARGS__);                                                                  \
        PyErr_Restore(pending_type, pending_value, pending_traceback);                             \
    } while (0)

/* ---- Waits (call.c) ------------------------------------------------------------------------- */

/* One wait of at most `timeout_ms`, which releases the GIL. A timeout changes no state. */
typedef gr_status wait_call(void *user, unsigned timeout_ms);

/* Waits in slices, so that Ctrl-C interrupts the wait. false, with an exception, on failure. */
bool wait_in_slices(wait_call *wait, void *user, unsigned timeout_ms);

/* ---- Types (module.c) ------------------------------------------------------------------------ */

/*
 * Creates *type and adds it to the module. `name` includes the name of the module; `size` is the
 * size of the object struct; `flags` are added to Py_TPFLAGS_DEFAULT. False on failure.
 */
bool add_type(PyObject *module, PyTypeObject **type, const char *name, size_t size, unsigned flags,
              PyType_Slot *slots);

/* Defines the function that adds a type with `slots`. */
#define ADD_TYPE(function, type, name, object, flags)                                              \
    bool function(PyObject *module)                                                                \
    {                                                                                              \
        return add_type(module, &type, name, sizeof(object), flags, slots);                        \
    }

/* Appends methods to the array of a type, which has MOST_METHODS entries and ends with zeros. */
#define MOST_METHODS 32
void gather(PyMethodDef *methods, const PyMethodDef *some);

/* Allocates an object of `type`. Everything after the head is zero. */
void *new_object(PyTypeObject *type);

/*
 * CALL_CLOSE defines call_close(), the METH_NOARGS close() that runs let_go() if no call is under
 * way. END defines the tp_dealloc end() of a type without garbage collection. OPEN_OF defines
 * open_of(), which returns the open `part` of an object, or raises an exception.
 */
#define CALL_CLOSE()                                                                               \
    static PyObject *call_close(PyObject *self, PyObject *Py_UNUSED(none))                         \
    {                                                                                              \
        ENTER();                                                                                   \
        if (!unused(self))                                                                         \
            return NULL;                                                                           \
        let_go((void *)self);                                                                      \
        return Py_NewRef(Py_None);                                                                 \
    }
#define END()                                                                                      \
    static void end(PyObject *self)                                                                \
    {                                                                                              \
        untrack(self);                                                                             \
        ENTER();                                                                                   \
        hide_object(self);                                                                         \
        let_go((void *)self);                                                                      \
        end_object(self);                                                                          \
    }
#define OPEN_OF(part_type, object_type, part, name)                                                \
    static part_type *open_of(PyObject *object)                                                    \
    {                                                                                              \
        return open_or_fail(((object_type *)object)->part, name);                                  \
    }

/*
 * The first and the last call of a tp_dealloc. hide_object() hides the object from weak references
 * and from the garbage collector, end_object() frees it and releases its reference to its type.
 */
void hide_object(PyObject *object);

/* Before ENTER() of a tp_dealloc: while that waits, the garbage collector may run. */
void untrack(PyObject *object);
void end_object(PyObject *object);

/* Returns `part`. If it is NULL, raises an exception that says that the type has been closed. */
void *open_or_fail(void *part, const char *type);

/*
 * REPRESENT defines the tp_repr represent(): "<NAME TEXT>", where text() returns the text. While
 * the object is closed, text() fails, and the result is "<NAME closed>".
 */
PyObject *represent_as(PyObject *self, const char *name, PyObject *(*text)(PyObject *, PyObject *));
#define REPRESENT(name, text)                                                                      \
    static PyObject *represent(PyObject *self)                                                     \
    {                                                                                              \
        return represent_as(self, name, text);                                                     \
    }

/* Stores a new reference in `place` and releases the old one. */
void keep_as(PyObject **place, PyObject *object);

/* The tp_new of types that only the library instantiates: raises an exception. */
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords);

/* __enter__(), which returns the object itself, and __exit__(), which closes it. */
PyObject *enter_self(PyObject *self, PyObject *none);
PyObject *leave_by_close(PyObject *self, PyObject *const *args, Py_ssize_t count);
#define CLOSE_BY_WITH                                                                              \
    {"__enter__", enter_self, METH_NOARGS, NULL},                                                  \
    {                                                                                              \
        "__exit__", METHOD(leave_by_close), METH_FASTCALL, NULL                                    \
    }

/* __array__() for types with __dlpack__() (export.c). */
PyObject *as_numpy(PyObject *self, PyObject *args, PyObject *keywords);

bool add_resource(PyObject *module);
bool add_buffer(PyObject *module);
bool add_egl(PyObject *module);
bool add_cuda_context(PyObject *module);
bool add_tensor(PyObject *module);
bool add_ring(PyObject *module);
bool add_semaphore(PyObject *module);
bool add_submit(PyObject *module);
bool add_vulkan(PyObject *module);

/* Remembers sys.modules, for map() at exit, when Python has no modules any more (core.c). */
void core_ready(void);

extern PyMethodDef driver_functions[], exportable_functions[], many_functions[];
extern PyMethodDef publish_functions[];

#endif
