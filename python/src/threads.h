/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Replaces the GIL in free-threaded CPython. One critical section guards the state of all
 * objects and all static variables, since most calls use several objects: a Buffer with its
 * GraphicsResource, Slots with their Ring. As with the GIL, WITHOUT_GIL() and each wait inside
 * Python release it. So does Py_DECREF(): after one, other threads may have changed the state.
 */
#ifndef PYTHON_THREADS_H
#define PYTHON_THREADS_H

#ifdef Py_GIL_DISABLED

/* The object whose lock the critical section takes (module.c). */
extern PyObject *turn;

static inline void turn_begin(PyCriticalSection *section)
{
#if PY_VERSION_HEX < 0x030E0000
    /* As newer versions do: a nested section would release the outer one. */
    const uintptr_t inner = PyThreadState_GetUnchecked()->critical_section & ~(uintptr_t)3;
    section->_cs_mutex = NULL;
    if (inner && ((PyCriticalSection *)inner)->_cs_mutex == &turn->ob_mutex)
        return;
#endif
    PyCriticalSection_Begin(section, turn);
}

static inline void turn_end(PyCriticalSection *section)
{
    if (section->_cs_mutex)
        PyCriticalSection_End(section);
}

/*
 * Begins the critical section, until the function returns. The first statement of each function
 * that Python calls and that uses the state of an object or a static variable.
 */
#define ENTER()                                                                                    \
    PyCriticalSection section __attribute__((cleanup(turn_end)));                                  \
    turn_begin(&section)

#else

#define ENTER() (void)0

#endif

/*
 * Some objects refer to others without a reference, until those are destroyed. try_reference()
 * takes a reference to such an object; false if another thread is destroying it, which the GIL
 * rules out. allow_try_reference() must have been called when the object was created.
 */
#ifndef Py_GIL_DISABLED

static inline void allow_try_reference(PyObject *object)
{
    (void)object;
}

static inline bool try_reference(PyObject *object)
{
    Py_INCREF(object);
    return true;
}

#elif PY_VERSION_HEX >= 0x030E0000

static inline void allow_try_reference(PyObject *object)
{
    PyUnstable_EnableTryIncRef(object);
}

static inline bool try_reference(PyObject *object)
{
    return PyUnstable_TryIncRef(object);
}

#else /* 3.13 has these functions only inside CPython. */

static inline void allow_try_reference(PyObject *object)
{
    Py_ssize_t shared = _Py_atomic_load_ssize_relaxed(&object->ob_ref_shared);
    while (!(shared & _Py_REF_SHARED_FLAG_MASK) &&
           !_Py_atomic_compare_exchange_ssize(&object->ob_ref_shared, &shared,
                                              shared | _Py_REF_MAYBE_WEAKREF))
        ;
}

static inline bool try_reference(PyObject *object)
{
    if (_Py_IsOwnedByCurrentThread(object)) {
        Py_INCREF(object);
        return true;
    }
    Py_ssize_t shared = _Py_atomic_load_ssize_relaxed(&object->ob_ref_shared);
    do {
        if (shared == 0 || shared == _Py_REF_MERGED)
            return false;
    } while (!_Py_atomic_compare_exchange_ssize(&object->ob_ref_shared, &shared,
                                                shared + (1 << _Py_REF_SHARED_SHIFT)));
    return true;
}

#endif

#endif
