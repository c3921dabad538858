/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Enqueues signals and waits of semaphores in streams. */
#ifndef GR_LIB_SYNC_SEMAPHORE_POINTS_H
#define GR_LIB_SYNC_SEMAPHORE_POINTS_H

#include "lib/sync/semaphore_types.h"

/*
 * The number of points per driver call. Few, so that the arrays of the usual call, which has one
 * point, stay in the CPU cache.
 */
#define GR_POINTS_AT_ONCE 16

/*
 * The operations wait() and signal() of imported semaphores. All kinds that are imported into CUDA
 * use them.
 */
gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream);
gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n,
                                       CUstream stream);

/* Enqueues waits or signals of semaphores of one CUDA context, which is current. */
gr_status gr_semaphore_enqueue(const gr_semaphore_point points[], size_t n, bool is_wait,
                               CUstream stream);

/*
 * Creates an event after all points, which the caller owns. It is recorded in a temporary stream,
 * because the streams of the points may no longer exist. NULL after an error. The CUDA context is
 * current.
 */
gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent *event);

#endif
