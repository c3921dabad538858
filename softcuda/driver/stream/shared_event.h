/* SPDX-License-Identifier: Apache-2.0 */
/* What processes see of an event that they share: which of its records is the latest, and which
 * have been reached. Counted: each task that is queued for it holds it, too. */
#ifndef GR_SOFTCUDA_DRIVER_SHARED_EVENT_H
#define GR_SOFTCUDA_DRIVER_SHARED_EVENT_H

#include "softcuda/driver/memory/ipc_handle.h"

typedef struct soft_shared_event soft_shared_event;

/* One that is made here, with a file for others; or another process's, by its handle, with the
 * codes of soft_ipc_open(). */
CUresult soft_shared_event_new(CUdevice device, soft_shared_event **event);
CUresult soft_shared_event_open(const soft_ipc_handle *handle, soft_shared_event **event);

void soft_shared_event_hold(soft_shared_event *event);
void soft_shared_event_drop(soft_shared_event *event);

/* The handle of one that was made here; NULL for another process's. */
const soft_ipc_handle *soft_shared_event_handle(const soft_shared_event *event);

/* Queues a record, and a wait for the record that is the latest now. If the process dies whose
 * record that is, the stream's context fails with CUDA_ERROR_EXTERNAL_DEVICE. */
CUresult soft_shared_event_record(soft_shared_event *event, soft_stream *stream);
CUresult soft_shared_event_wait_on(soft_shared_event *event, soft_stream *stream);

/* Whether the latest record has been reached; and the wait for that, on this thread, which gives
 * CUDA_ERROR_EXTERNAL_DEVICE if the process dies whose record that is. */
bool soft_shared_event_is_done(const soft_shared_event *event);
CUresult soft_shared_event_wait(soft_shared_event *event);

#endif
