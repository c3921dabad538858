/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a resource and of its buffers. */
#ifndef GR_LIB_RESOURCE_RESOURCE_H
#define GR_LIB_RESOURCE_RESOURCE_H

#include "lib/resource_types.h"

/*
 * Makes the common part ready: held by the caller, open, not mapped. The backend has set its size.
 */
void gr_resource_init(gr_resource *resource, const struct gr_backend *backend,
                      const struct gr_context *context, void *handle, unsigned flags);

/* A buffer that is not out, allocated only if the resource has none; NULL if there is no memory. */
gr_buffer *gr_buffer_take(gr_resource *resource);

/* Puts a buffer back; the resource's memory goes with the last one if nobody holds it. */
void gr_buffer_give(gr_buffer *buffer);

/* The mapping's buffer reports 0 from now on. */
void gr_buffer_end_mapping(gr_buffer *buffer);

/*
 * A hold of the library's own beside the caller's, and the end of any. The one that ends last
 * closes the resource as gr_resource_free() does.
 */
void gr_resource_hold(gr_resource *resource);
void gr_resource_drop(gr_resource *resource);

/* Ends the registration of a resource that is not mapped, on a thread that may. */
gr_status gr_resource_unregister(gr_resource *resource, const char *call);

/* Closes and frees what nobody holds or maps any more; does nothing otherwise. */
void gr_resource_settle(gr_resource *resource);

/* Refuses NULL and a closed resource. */
gr_status gr_resource_check_open(const gr_resource *resource, const char *call);

/* Refuses what is in a ring, unless the ring itself calls. */
gr_status gr_resource_check_ring(const gr_resource *resource, const char *call);

/* One line about each resource, when debugging is asked for. */
void gr_resource_log_each(const char *call, gr_resource *const resources[], size_t n);

#endif
