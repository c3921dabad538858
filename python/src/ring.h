/* SPDX-License-Identifier: Apache-2.0 */
/* Ring and Slots: frames in flight between CUDA and a graphics API. */
#ifndef PYTHON_RING_H
#define PYTHON_RING_H

#include "resource.h"

#include <grinterop/ring.h>

extern PyTypeObject *ring_type;

/*
 * The ring, for a call of the producer's side or of the consumer's, until ring_end(). NULL, with an
 * exception, if it was closed or another thread is in a call of that side.
 */
gr_ring *ring_begin(PyObject *object, bool writing);
void ring_end(PyObject *object, bool writing);

/* Slots went out, or came back: a ring with some is not closed. */
void ring_count(PyObject *object, size_t out, size_t back);

/* The object of a slot's resource; None if there is none any more. A new reference. */
PyObject *ring_resource(PyObject *object, const gr_slot *slot);

/* Slots in the hands of one side (slots.c). Takes `slots`, also when it fails. */
PyObject *slots_new(PyObject *ring, const gr_slot **slots, size_t n, PyObject *stream,
                    bool writing);

bool add_slots(PyObject *module);

#endif
