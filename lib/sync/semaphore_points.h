/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and waits of semaphores, put into streams. */
#ifndef GR_LIB_SYNC_SEMAPHORE_POINTS_H
#define GR_LIB_SYNC_SEMAPHORE_POINTS_H

#include "lib/sync/semaphore_types.h"

/* The driver's external semaphores: wait() and signal() for kinds that add to them. */
gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream);
gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n,
                                       CUstream stream);

/* Puts waits or signals of any semaphores of one CUDA context, then current, into the stream. */
gr_status gr_semaphore_enqueue(const gr_semaphore_point points[], size_t n, bool is_wait,
                               CUstream stream);

/*
 * An event, the caller's, after all of the points, recorded on a stream of its own: those that the
 * points come from may be gone. NULL after an error. The CUDA context is current.
 */
gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent *event);

#endif
