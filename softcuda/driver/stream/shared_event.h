/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The state of an event that processes share: its latest record, and the records that were reached.
 * The state is reference-counted; each queued task has a reference, too.
 */
#ifndef GR_SOFTCUDA_DRIVER_SHARED_EVENT_H
#define GR_SOFTCUDA_DRIVER_SHARED_EVENT_H

#include "softcuda/driver/memory/ipc_handle.h"

typedef struct soft_shared_event soft_shared_event;

/*
 * soft_shared_event_new() creates an event in this process, with a file for other processes.
 * soft_shared_event_open() opens the event of another process by its handle, with the errors of
 * soft_ipc_open().
 */
CUresult soft_shared_event_new(CUdevice device, soft_shared_event **event);
CUresult soft_shared_event_open(const soft_ipc_handle *handle, soft_shared_event **event);

void soft_shared_event_hold(soft_shared_event *event);
void soft_shared_event_drop(soft_shared_event *event);

/* The handle of the event; NULL if another process created the event. */
const soft_ipc_handle *soft_shared_event_handle(const soft_shared_event *event);

/*
 * Queue a record, or a wait for the latest record at the time of the call. If the process that
 * recorded dies before its stream reaches the record, the context of the waiting stream fails with
 * CUDA_ERROR_EXTERNAL_DEVICE.
 */
CUresult soft_shared_event_record(soft_shared_event *event, soft_stream *stream);
CUresult soft_shared_event_wait_on(soft_shared_event *event, soft_stream *stream);

/*
 * soft_shared_event_is_done() returns whether the latest record was reached.
 * soft_shared_event_wait() blocks this thread until then; CUDA_ERROR_EXTERNAL_DEVICE if the process
 * that recorded the event dies.
 */
bool soft_shared_event_is_done(const soft_shared_event *event);
CUresult soft_shared_event_wait(soft_shared_event *event);

#endif
