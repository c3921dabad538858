/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What CUDA's documentation demands of imported memory, type by type. */
#ifndef GR_LIB_EXTERNAL_MEMORY_RULES_H
#define GR_LIB_EXTERNAL_MEMORY_RULES_H

#include <cuda.h>
#include <grinterop/external.h>

/* Whether the description obeys the driver's documentation; the message cites the rule. */
gr_status gr_external_check(const gr_external_memory_desc *info, const char *call);

/* The driver's form of a description that was checked. */
void gr_external_handle_desc(const gr_external_memory_desc *info,
                             CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);

/* Whether the handle is a file descriptor. */
bool gr_external_has_fd(CUexternalMemoryHandleType type);

/* "OPAQUE_FD"; a number's text is "unknown". Static. */
const char *gr_external_type_name(CUexternalMemoryHandleType type);

/*
 * Records the driver's refusal of an import: what the code means for this handle type, and the way
 * out.
 */
gr_status gr_external_refused(const gr_external_memory_desc *info, CUresult code, const char *call);

#endif
