/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rules of the CUDA documentation for imported semaphores, signals and waits, by type. */
#ifndef GR_LIB_SYNC_SEMAPHORE_RULES_H
#define GR_LIB_SYNC_SEMAPHORE_RULES_H

#include <cuda.h>

#include "lib/sync/semaphore_types.h"

gr_status gr_semaphore_check(const gr_semaphore_desc *info, const char *call);
bool gr_semaphore_type_counts(CUexternalSemaphoreHandleType type);
const char *gr_semaphore_type_name(CUexternalSemaphoreHandleType type);
void gr_semaphore_handle_desc(const gr_semaphore_desc *info,
                              CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);

/*
 * gr_semaphore_check_point() checks that a point has the fields of its semaphore's type, and no
 * other fields. The other functions convert a checked point to the driver's struct.
 */
gr_status gr_semaphore_check_point(const gr_semaphore_point *point, bool is_wait, const char *call);
void gr_semaphore_signal_params(const gr_semaphore_point *point,
                                CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params);
void gr_semaphore_wait_params(const gr_semaphore_point *point,
                              CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params);

/* Records a refused import, with the meaning of the code for this type and the remedy. */
gr_status gr_semaphore_refused(const gr_semaphore_desc *info, CUresult code, const char *call);

#endif
