/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks of the resources, buffers and images that a call was given. Each returns GR_OK, or records
 * why the call cannot use the object.
 */
#ifndef GR_LIB_RESOURCE_CHECKS_H
#define GR_LIB_RESOURCE_CHECKS_H

#include <grinterop/gr.h>

#include "lib/base/compiler.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/base/live_objects.h"
#include "lib/resource/resource_types.h"

/* The inline checks below call these functions on failure. */
gr_status gr_resource_refuse_freed(const gr_resource *resource) GR_COLD;
gr_status gr_buffer_refuse(const gr_buffer *buffer) GR_COLD;
gr_status gr_resource_refuse_closed(const gr_resource *resource) GR_COLD;
gr_status gr_resource_refuse_in_ring(void) GR_COLD;

/* For a resource that the caller passed: refuses NULL and a freed resource. */
static inline gr_status gr_resource_check_given(const gr_resource *resource)
{
    return resource && gr_live_has(GR_LIVE_RESOURCE, resource) ? GR_OK
                                                               : gr_resource_refuse_freed(resource);
}

/*
 * Like gr_resource_check_given(), for calls with the resource of a slot: its caller may have freed
 * it, since the ring keeps it.
 */
gr_status gr_resource_check_slot(const gr_resource *resource);

/* For a buffer that the caller passed: refuses NULL and a released buffer. */
static inline gr_status gr_buffer_check(const gr_buffer *buffer)
{
    return buffer && gr_live_has(GR_LIVE_BUFFER, buffer) && buffer->out && !buffer->later
               ? GR_OK
               : gr_buffer_refuse(buffer);
}

/* Refuses NULL and a closed resource. In a forked child refuses every resource. */
static inline gr_status gr_resource_check_open(const gr_resource *resource)
{
    return resource && resource->handle && !gr_forked ? GR_OK : gr_resource_refuse_closed(resource);
}

/* Refuses a resource in a ring. */
static inline gr_status gr_resource_check_ring(const gr_resource *resource)
{
    return resource->in_a_ring ? gr_resource_refuse_in_ring() : GR_OK;
}

/* All three, for a resource that the caller passed to a call that uses it outside of rings. */
static inline gr_status gr_resource_check(const gr_resource *resource)
{
    GR_TRY(gr_resource_check_given(resource));
    GR_TRY(gr_resource_check_open(resource));
    return gr_resource_check_ring(resource);
}

/* Refuses NULL, buffers whose mapping has ended, and buffers that are not images. */
gr_status gr_image_check(const gr_buffer *buffer);

/* Refuses a level or layer that does not exist. */
gr_status gr_image_check_range(const gr_resource *resource, unsigned level, unsigned layer);

/* Checks both the mapping and the range, for a mapped image. */
gr_status gr_image_check_part(const gr_buffer *buffer, unsigned level, unsigned layer);

#endif
