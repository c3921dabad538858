/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The state of an event that processes share: its latest record, and the records that were reached.
 * Reference-counted; each queued task holds it as well.
 */
#ifndef GR_SOFTCUDA_DRIVER_SHARED_EVENT_H
#define GR_SOFTCUDA_DRIVER_SHARED_EVENT_H

#include "softcuda/driver/memory/ipc_handle.h"

typedef struct soft_shared_event soft_shared_event;

/*
 * Creates an event in this process, with a file for others; or opens another process's event by its
 * handle, with the errors of soft_ipc_open().
 */
CUresult soft_shared_event_new(CUdevice device, soft_shared_event **event);
CUresult soft_shared_event_open(const soft_ipc_handle *handle, soft_shared_event **event);

void soft_shared_event_hold(soft_shared_event *event);
void soft_shared_event_drop(soft_shared_event *event);

/* The handle of an event of this process; NULL for another process's. */
const soft_ipc_handle *soft_shared_event_handle(const soft_shared_event *event);

/*
 * Queue a record, or a wait for the present latest record. If the process of that record dies, the
 * stream's context fails with CUDA_ERROR_EXTERNAL_DEVICE.
 */
CUresult soft_shared_event_record(soft_shared_event *event, soft_stream *stream);
CUresult soft_shared_event_wait_on(soft_shared_event *event, soft_stream *stream);

/*
 * Whether the latest record was reached; and a wait for that on this thread, which returns
 * CUDA_ERROR_EXTERNAL_DEVICE if the record's process dies.
 */
bool soft_shared_event_is_done(const soft_shared_event *event);
CUresult soft_shared_event_wait(soft_shared_event *event);

#endif
