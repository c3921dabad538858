/* SPDX-License-Identifier: Apache-2.0 */
/* The count behind gr_bytes_moved(). */
#ifndef GR_LIB_TENSOR_MOVED_H
#define GR_LIB_TENSOR_MOVED_H

#include <stddef.h>

/* A copy or a kernel that writes so many bytes was put into a stream. */
void gr_count_moved(size_t bytes);

#endif
