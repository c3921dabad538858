/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts the calls under way: while a method runs, neither another thread nor Python code that the
 * method runs can end the object, or an object that contains it. Waits run in slices, and between
 * slices Python handles signals such as Ctrl-C.
 */
#include "module.h"

#include <time.h>

static struct use *use_of(PyObject *self)
{
    return &((object *)self)->use;
}

static bool refuse(PyObject *self)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    if (name)
        PyErr_Format(PyExc_RuntimeError,
                     "another thread is in a call with this %U, or this call was made from within "
                     "such a call",
                     name);
    Py_XDECREF(name);
    return false;
}

/* Ends the call on the objects from `self` to `last`, or on all if that is NULL. */
static void end_to(PyObject *self, const PyObject *last)
{
    while (self) {
        PyObject *whole = self == last ? NULL : use_of(self)->whole;
        use_of(self)->calls--;
        Py_DECREF(self);
        self = whole;
    }
}

/*
 * A reference to `whole`. NULL if there is none or another thread is destroying it; an object that
 * is not bound then forgets it.
 */
static PyObject *whole_of(PyObject *self)
{
    struct use *use = use_of(self);
    if (!use->whole || try_reference(use->whole))
        return use->whole;
    if (!use->bound)
        use->whole = NULL;
    return NULL;
}

bool call_begin(PyObject *self)
{
    for (PyObject *one = self; one; one = use_of(one)->whole) {
        if (use_of(one)->ending)
            return refuse(one);
    }
    for (PyObject *one = Py_NewRef(self); one;) {
        PyObject *whole = whole_of(one);
        use_of(one)->calls++;
        if (!whole && use_of(one)->whole) {
            end_to(self, one);
            return refuse(self);
        }
        one = whole;
    }
    return true;
}

/* `whole` changes only while no call is under way, so it is the same as in call_begin(). */
void call_end(PyObject *self)
{
    end_to(self, NULL);
}

bool call_hold(PyObject *self)
{
    PyObject *whole = use_of(self)->whole;
    if (use_of(self)->ending)
        return refuse(self);
    if (whole && !call_begin(whole))
        return false;
    use_of(self)->calls++;
    return true;
}

void call_let_go(PyObject *self)
{
    use_of(self)->calls--;
    if (use_of(self)->whole)
        call_end(use_of(self)->whole);
}

bool exclusive_begin(PyObject *self)
{
    if (use_of(self)->alone)
        return refuse(self);
    if (!call_begin(self))
        return false;
    use_of(self)->alone = true;
    return true;
}

void exclusive_end(PyObject *self)
{
    use_of(self)->alone = false;
    call_end(self);
}

void exclusive_end_all(PyObject *const objects[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (use_of(objects[i])->alone) {
            use_of(objects[i])->alone = false;
            use_of(objects[i])->calls--;
        }
    }
    for (size_t i = 0; i < count; i++)
        Py_DECREF(objects[i]);
}

static bool is_listed(PyObject *const objects[], size_t count, const PyObject *object)
{
    for (size_t i = 0; i < count; i++) {
        if (objects[i] == object)
            return true;
    }
    return false;
}

bool exclusive_begin_all(PyObject *const objects[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool begun = is_exclusive(objects[i]) && is_listed(objects, i, objects[i]);
        if (begun) {
            Py_INCREF(objects[i]);
        } else if (!exclusive_begin(objects[i])) {
            exclusive_end_all(objects, i);
            return false;
        }
    }
    return true;
}

bool is_exclusive(PyObject *self)
{
    return use_of(self)->alone || use_of(self)->ending;
}

bool unused(PyObject *self)
{
    return !use_of(self)->calls || refuse(self);
}

bool ending_begin(PyObject *self)
{
    if (!unused(self))
        return false;
    PyObject *whole = whole_of(self);
    const bool begun = !whole || exclusive_begin(whole);
    if (begun) {
        use_of(self)->ending = true;
        use_of(self)->calls = 1;
        Py_INCREF(self);
    }
    Py_XDECREF(whole);
    return begun;
}

void ending_end(PyObject *self)
{
    PyObject *whole = use_of(self)->whole;
    use_of(self)->ending = false;
    use_of(self)->calls = 0;
    if (whole)
        exclusive_end(whole);
    Py_DECREF(self);
}

/* ---- Waits ----------------------------------------------------------------------------------- */

#define SLICE_MS 50

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static unsigned slice_of(unsigned timeout_ms, double end)
{
    if (timeout_ms <= SLICE_MS)
        return timeout_ms;
    double left = timeout_ms == GR_WAIT_FOREVER ? SLICE_MS : end - now_ms();
    return left >= SLICE_MS ? SLICE_MS : left > 1 ? (unsigned)left + 1 : 1;
}

bool wait_in_slices(wait_call *wait, void *user, unsigned timeout_ms)
{
    double end = now_ms() + timeout_ms;
    for (;;) {
        unsigned slice = slice_of(timeout_ms, end);
        gr_status status = wait(user, slice);
        bool last = timeout_ms != GR_WAIT_FOREVER && now_ms() >= end;
        if (status != GR_ERR_TIMEOUT)
            return status == GR_OK || fail();
        if (slice == timeout_ms || last)
            return fail_after(slice, timeout_ms);
        if (PyErr_CheckSignals())
            return false;
    }
}
