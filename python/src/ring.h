/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ring and Slots: frames in flight between CUDA and a graphics API. */
#ifndef PYTHON_RING_H
#define PYTHON_RING_H

#include "resource.h"

#include <grinterop/ring.h>

extern PyTypeObject *ring_type;

/*
 * Begins a call of the producer (`writing`) or the consumer, until ring_end(). NULL, with an
 * exception, if the ring is closed or another thread is in a call of the same kind.
 */
gr_ring *ring_begin(PyObject *object, bool writing);
void ring_end(PyObject *object, bool writing);

/*
 * Takes over the slots of a dropped Slots object, if they can't be cancelled on this thread now:
 * another thread is in a call of that side, or the OpenGL context is not current. Steals `slots`
 * and `stream`.
 */
void ring_take_over(PyObject *object, const gr_slot **slots, size_t n, PyObject *stream,
                    bool writing);

/*
 * Cancels such slots of one side, within a call of this side. ring_begin() and ring_end() do so,
 * and each slice of a wait.
 */
void ring_cancel_dropped(PyObject *object, bool writing);

/* Whether a thread is in a call of the producer (`writing`) or the consumer. */
bool ring_is_busy(PyObject *object, bool writing);

/* Whether this process was forked from that of the ring. */
bool ring_is_of_parent(PyObject *object);

/* Cancels slots. */
gr_status ring_cancel(gr_ring *ring, const gr_slot **slots, size_t n, bool writing);

/* Counts acquired and returned slots: a ring with acquired slots can't be closed. */
void ring_count(PyObject *object, size_t out, size_t back);

/* The GraphicsResource object of a slot, or None if that object is gone. A new reference. */
PyObject *ring_resource(PyObject *object, const gr_slot *slot);

/*
 * Wraps slots that the producer or the consumer acquired (slots.c). Takes ownership of `slots`,
 * even on failure.
 */
PyObject *slots_new(PyObject *ring, const gr_slot **slots, size_t n, PyObject *stream,
                    bool writing);

/* Wraps a ring from another process. Takes ownership, even on failure. */
PyObject *ring_new(PyTypeObject *type, gr_ring *ring);

/* The methods of Ring for other processes (share.c). */
extern PyMethodDef ring_share_methods[];

bool add_slots(PyObject *module);

#endif
