/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that the caller names: checked, and made to wait for each other. */
#ifndef GR_LIB_STREAM_H
#define GR_LIB_STREAM_H

#include "lib/resource_types.h"

/* Makes `stream` wait for all that `earlier` has been given so far. The CUDA context is current. */
gr_status gr_stream_order_after(gr_resource *resource, CUstream earlier, CUstream stream);

/*
 * Refuses a stream of another device than the resource's CUDA context is of, which is current. The
 * stream was checked otherwise; the driver is asked once for each that follows another one.
 */
gr_status gr_stream_check_device(gr_resource *resource, CUstream stream, const char *call);

/* Refuses NULL, and GR_STREAM_OF_MAP where there is no map yet. */
gr_status gr_stream_check(CUstream stream, bool of_map_allowed, const char *call);

#endif
