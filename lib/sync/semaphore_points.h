/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Enqueues signals and waits of semaphores in streams. */
#ifndef GR_LIB_SYNC_SEMAPHORE_POINTS_H
#define GR_LIB_SYNC_SEMAPHORE_POINTS_H

#include "lib/sync/semaphore_types.h"

/*
 * The operations wait() and signal() of imported semaphores, for each kind that is imported into
 * CUDA.
 */
gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream);
gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n,
                                       CUstream stream);

/* Enqueues waits or signals of semaphores of one CUDA context, which is current. */
gr_status gr_semaphore_enqueue(const gr_semaphore_point points[], size_t n, bool is_wait,
                               CUstream stream);

/*
 * An event after all points, owned by the caller and recorded in a temporary stream: the streams of
 * the points may be gone. NULL after an error. The CUDA context is current.
 */
gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent *event);

#endif
