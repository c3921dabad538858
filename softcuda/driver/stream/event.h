/* SPDX-License-Identifier: Apache-2.0 */
/* What ipc_event.c asks of event.c. */
#ifndef GR_SOFTCUDA_DRIVER_EVENT_H
#define GR_SOFTCUDA_DRIVER_EVENT_H

#include "softcuda/driver/stream/shared_event.h"

/* An event of the context with these flags; takes the shared one over (NULL: none), on failure,
 * too. */
CUresult soft_event_new(soft_context *context, unsigned flags, soft_shared_event *shared,
                        CUevent *handle);

/* What other processes find it by. CUDA_ERROR_INVALID_HANDLE if it wasn't made here with
 * CU_EVENT_INTERPROCESS. */
CUresult soft_event_describe(CUevent handle, soft_ipc_handle *description);

#endif
