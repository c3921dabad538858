/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions that event.c provides to ipc_event.c. */
#ifndef GR_SOFTCUDA_DRIVER_EVENT_H
#define GR_SOFTCUDA_DRIVER_EVENT_H

#include "softcuda/driver/stream/shared_event.h"

/*
 * Creates an event of the context with these flags. Takes over the shared event (NULL if the event
 * is not shared), even after a failure.
 */
CUresult soft_event_new(soft_context *context, unsigned flags, soft_shared_event *shared,
                        CUevent *handle);

/*
 * Gets the description by which other processes open the event. CUDA_ERROR_INVALID_HANDLE if the
 * event was not created in this process with CU_EVENT_INTERPROCESS.
 */
CUresult soft_event_describe(CUevent handle, soft_ipc_handle *description);

#endif
