/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUDA's documentation demands of imported semaphores, of signals and of waits, type by type.
 */
#ifndef GR_LIB_SYNC_SEMAPHORE_RULES_H
#define GR_LIB_SYNC_SEMAPHORE_RULES_H

#include "lib/sync/semaphore_types.h"

gr_status gr_semaphore_check(const gr_semaphore_desc *info, const char *call);
bool gr_semaphore_type_counts(CUexternalSemaphoreHandleType type);
const char *gr_semaphore_type_name(CUexternalSemaphoreHandleType type);
void gr_semaphore_handle_desc(const gr_semaphore_desc *info,
                              CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);

/* Whether a point has the fields that its semaphore's type wants, and no others. */
gr_status gr_semaphore_check_point(const gr_semaphore_point *point, bool is_wait, const char *call);
void gr_semaphore_signal_params(const gr_semaphore_point *point,
                                CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params);
void gr_semaphore_wait_params(const gr_semaphore_point *point,
                              CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params);

/*
 * Records the driver's refusal of an import: what the code means for this handle type, and the way
 * out.
 */
gr_status gr_semaphore_refused(const gr_semaphore_desc *info, CUresult code, const char *call);

#endif
