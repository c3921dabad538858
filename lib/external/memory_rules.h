/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rules of the CUDA documentation for imported memory, for each type of handle. */
#ifndef GR_LIB_EXTERNAL_MEMORY_RULES_H
#define GR_LIB_EXTERNAL_MEMORY_RULES_H

#include <cuda.h>
#include <grinterop/external.h>

/* Checks a description against the CUDA documentation; the message cites the rule. */
gr_status gr_external_check(const gr_external_memory_desc *info, const char *call);

/* Converts a checked description to the driver's struct. */
void gr_external_handle_desc(const gr_external_memory_desc *info,
                             CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc);

/* Whether the handle is a file descriptor. */
bool gr_external_has_fd(CUexternalMemoryHandleType type);

/* Returns the name of a type, such as "OPAQUE_FD", or "unknown". The name is valid forever. */
const char *gr_external_type_name(CUexternalMemoryHandleType type);

/*
 * Records that the driver refused an import, with the meaning of the code for this type of handle
 * and the remedy.
 */
gr_status gr_external_refused(const gr_external_memory_desc *info, CUresult code, const char *call);

#endif
