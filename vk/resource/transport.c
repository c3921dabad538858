/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The transport of a resource: which ones its device allows, which of them is tried first, and why.
 * An import needs no copy, so it comes first; peer copies in memory of the GPU, copy through that
 * of the host.
 */
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/resource/choose_transport.h"
#include "vk/resource/resource.h"

gr_status vk_check_in_flight(const gr_vk_device *device, unsigned in_flight, unsigned flags)
{
    if (!in_flight)
        return GR_OK;
    GR_TRY(gr_in_flight_check(in_flight, flags));
    GR_REFUSE_IF(!(device->transports & (GR_TRANSPORT_PEER | GR_TRANSPORT_COPY)),
                 "`in_flight` is %u, but the transports of the device (0x%x) allow no copies: set "
                 "`transports` in gr_vk_device_desc to GR_TRANSPORT_ANY, or leave `in_flight` 0.",
                 in_flight, device->transports);
    if (!device->has_timeline)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "`in_flight` needs timeline semaphores, which %s lacks: leave it 0.",
                       device->identity.name);
    return GR_OK;
}

struct choosing {
    const struct vk_resource *draft;
    const struct vk_object *object;
    gr_resource *made;
};

static bool is_too_far(const struct choosing *c)
{
    return vk_device_crosses(c->draft->binding.device) && !c->object->crosses;
}

/* Why CUDA does not import the object; NULL if it may be able to. */
static const char *find_obstacle(const struct choosing *c)
{
    if (c->draft->in_flight)
        return "`in_flight` needs staging buffers";
    if (is_too_far(c))
        return "CUDA computes on another device, which can import only dedicated memory of buffers";
    return c->draft->owned || c->draft->binding.memory ? NULL : "`memory` is VK_NULL_HANDLE";
}

static gr_status attempt(void *of, const struct gr_transport_choice *choice, gr_transport transport)
{
    struct choosing *c = of;
    const struct vk_object *object = c->object;
    struct vk_resource draft = *c->draft;
    draft.binding.transport = transport;
    draft.why = choice->reason;
    if (transport == GR_TRANSPORT_EXTERNAL && is_too_far(c))
        return vk_device_refuse_crossing(draft.binding.device, object->what, object->instead);
    c->made = object->make(&draft, object->info, object->flags);
    if (c->made)
        return GR_OK;
    if (draft.owned)
        vk_binding_end(&draft.binding);
    return gr_last_error()->status;
}

gr_resource *vk_resource_choose(const struct vk_resource *draft, const struct vk_object *object)
{
    const gr_vk_device *device = draft->binding.device;
    const unsigned copies = GR_TRANSPORT_PEER | GR_TRANSPORT_COPY;
    struct gr_transport_choice choice = {0};
    struct choosing c = {draft, object, NULL};
    const char *obstacle = device->transports & copies ? find_obstacle(&c) : NULL;
    if (!(device->transports & GR_TRANSPORT_EXTERNAL))
        snprintf(choice.reason, sizeof(choice.reason), "%s", device->why);
    else if (obstacle)
        gr_transport_skip(&choice, GR_TRANSPORT_EXTERNAL, obstacle);
    else
        gr_transport_add(&choice, device->transports, GR_TRANSPORT_EXTERNAL);
    gr_transport_add(&choice, device->transports, GR_TRANSPORT_PEER);
    gr_transport_add(&choice, device->transports, GR_TRANSPORT_COPY);
    return gr_choose_transport(&choice, attempt, &c) == GR_OK ? c.made : NULL;
}
