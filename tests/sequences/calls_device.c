/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Wrapped Vulkan devices, which may end before the resources made with them; Vulkan images; and
 * resources for buffers of the program, for which the test passes the VkBuffer of another resource.
 */
#include "calls.h"

#include "outside.h"

#include <string.h>

#define SIDE   4
#define FORMAT VK_FORMAT_R8G8B8A8_UNORM

/* ---- Wraps ----------------------------------------------------------------------------------- */

static struct device *device_at(struct world *w, int place)
{
    return place >= 0 && place < DEVICES ? &w->devices[place] : NULL;
}

/*
 * Returns the live wrapped device at that place or, if the place is free, the one that each world
 * has.
 */
gr_vk_device *device_for(struct world *w, int number)
{
    struct device *d = &w->devices[number % DEVICES];
    return d->life == LIVE ? d->it : w->device;
}

/* Argument values 0 to 2 are errors: no description, no device, an invalid queue family. */
bool run_gr_vk_device_from_vk(struct world *w, const int *a)
{
    struct device *d = device_at(w, a[1]);
    int wrong = a[0] % 16;
    if (d->life == LIVE || !w->device || w->cuda == 1)
        return false;
    gr_vk_device_desc desc = device_description(w);
    if (wrong == 1)
        desc.device = VK_NULL_HANDLE;
    if (wrong == 2)
        desc.queue_family = 99;
    gr_vk_device *made = gr_vk_device_from_vk(wrong == 0 ? NULL : &desc);
    if (judge_made(w, made, wrong <= 2 ? MAY(GR_ERR_INVALID_VALUE) : 0))
        *d = (struct device){.life = LIVE, .it = made};
    return true;
}

static bool is_stale(const struct world *w, const struct device *d)
{
    for (int i = 0; i < DEVICES; i++)
        if (w->devices[i].life == LIVE && w->devices[i].it == d->it)
            return false;
    return d->life == ENDED;
}

bool run_gr_vk_device_free(struct world *w, const int *a)
{
    struct device *d = device_at(w, a[0]);
    if (d && d->life != LIVE && !is_stale(w, d))
        return false;
    must(w, !d || w->queue_wait_idle(w->vulkan->graphics) == VK_SUCCESS);
    gr_clear_error();
    gr_vk_device_free(d ? d->it : NULL);
    judge(w, gr_last_error()->status, d && d->life != LIVE ? MAY(GR_ERR_INVALID_VALUE) : 0);
    if (d)
        d->life = ENDED;
    return true;
}

/* ---- Properties ------------------------------------------------------------------------------ */

bool run_gr_vk_physical_device(struct world *w, const int *a)
{
    VkPhysicalDevice found = VK_NULL_HANDLE;
    if (!w->device)
        return false;
    gr_status status = gr_vk_physical_device(w->vulkan->get_instance_proc_addr, w->vulkan->instance,
                                             a[0] ? 0 : 99, &found);
    judge(w, status, a[0] ? 0 : MAY(GR_ERR_INVALID_VALUE));
    must(w, found == (a[0] ? w->vulkan->physical_device : VK_NULL_HANDLE));
    return true;
}

bool run_gr_vk_instance_extensions(struct world *w, const int *a)
{
    uint32_t count = 0;
    judge(w, gr_vk_instance_extensions(NULL, a[0] ? &count : NULL),
          a[0] ? 0 : MAY(GR_ERR_INVALID_VALUE));
    must(w, !a[0] || count);
    return true;
}

bool run_gr_vk_device_extensions(struct world *w, const int *a)
{
    uint32_t count = 0;
    if (!w->device)
        return false;
    const gr_vk_device_desc desc = device_description(w);
    judge(w, gr_vk_device_extensions(a[0] % 2 ? &desc : NULL, NULL, a[0] ? &count : NULL),
          a[0] ? 0 : MAY(GR_ERR_INVALID_VALUE));
    must(w, !a[0] || count);
    return true;
}

bool run_gr_vk_format_get_info(struct world *w, const int *a)
{
    const gr_vk_format_info *info = gr_vk_format_get_info(a[0] ? FORMAT : VK_FORMAT_UNDEFINED);
    judge_made(w, info, a[0] ? 0 : MAY(GR_ERR_UNSUPPORTED));
    must(w, !info || info->channels == 4);
    return true;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static unsigned image_flags_may(int flags)
{
    unsigned known = GR_READ_ONLY | GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE | GR_TEXTURE_GATHER;
    bool both = flags & GR_READ_ONLY && flags & GR_WRITE_DISCARD;
    return both || (unsigned)flags & ~known ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

static void is_made(struct world *w, struct resource *r, gr_resource *made, GLenum target,
                    size_t size, int flags)
{
    r->own = (struct object){
        .target = target, .context = ANY_CONTEXT, .vulkan = true, .size = size, .immutable = true};
    bytes_are(&r->own, 0, size, UNKNOWN);
    resource_is_made(w, r, made, &r->own, (unsigned)flags);
    r->transport = GR_TRANSPORT_EXTERNAL;
    r->cuda = 0;
}

bool run_gr_create_vk_image(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[2]);
    unsigned side = a[0] % 16 == 0 ? 0 : SIDE;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = FORMAT,
                                    .extent = {side, side, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    if (r->used || !w->device)
        return false;
    unsigned may = image_flags_may(a[1]) | (side ? 0 : MAY(GR_ERR_INVALID_VALUE));
    gr_resource *made = gr_create_vk_image(device_for(w, a[0] / 16), &info, (unsigned)a[1]);
    if (judge_made(w, made, may))
        is_made(w, r, made, GL_TEXTURE_2D, SIDE * SIDE * 4, a[1]);
    r->is_new = made;
    return true;
}

/* ---- Buffers of the program ------------------------------------------------------------------ */

/* A buffer that is copied: in order, or with 1 to 5 frames in flight, of which 1 is an error. */
static bool run_copied(struct world *w, const int *a, unsigned in_flight)
{
    struct resource *r = resource_at(w, a[3]);
    const gr_vk_buffer_desc desc = GR_INIT(gr_vk_buffer_desc, .buffer = gr_vk_buffer(w->copied),
                                           .size = BYTES, .in_flight = in_flight);
    const bool fit = a[2] == GR_READ_ONLY || a[2] == GR_WRITE_DISCARD;
    unsigned may = a[2] > GR_WRITE_DISCARD || in_flight == 1 || (in_flight && !fit)
                       ? MAY(GR_ERR_INVALID_VALUE)
                       : 0;
    gr_resource *made = gr_from_vk_buffer(device_for(w, a[1] / 16), &desc, (unsigned)a[2]);
    if (!judge_made(w, made, may))
        return true;
    is_made(w, r, made, GL_ARRAY_BUFFER, BYTES, a[2]);
    r->own.immutable = false;
    r->own.shared = r->own.disputed = true;
    r->transport = GR_TRANSPORT_PEER;
    r->copied = true;
    r->is_new = a[2] != GR_WRITE_DISCARD; /* only a submit copies what it contains */
    return true;
}

/*
 * Argument values 0 to 2 are errors: no buffer, an offset without memory, a range past the end. 3
 * to 8 have no memory. After other values two resources share memory, and it is undefined which
 * write wins.
 */
bool run_gr_from_vk_buffer(struct world *w, const int *a)
{
    struct resource *from = resource_at(w, a[0]), *r = resource_at(w, a[3]);
    int wrong = a[1] % 16;
    if (!r->used && w->device && w->software && wrong >= 3 && wrong <= 8)
        return run_copied(w, a, (unsigned)wrong - 3);
    if (r->used || !w->device || !w->software || !from || from->life != LIVE || from->closed ||
        !from->object->vulkan || !from->object->immutable || from->object->of || from->image)
        return false;
    const gr_vk_buffer_desc desc = GR_INIT(
        gr_vk_buffer_desc, .buffer = wrong == 0 ? VK_NULL_HANDLE : gr_vk_buffer(from->it),
        .memory = wrong == 1 ? VK_NULL_HANDLE : gr_vk_memory(from->it), .memory_size = BYTES,
        .offset = wrong == 2 ? BYTES : 0, .size = wrong == 1 ? 2 * BYTES : BYTES);
    unsigned may = wrong <= 2 ? MAY(GR_ERR_INVALID_VALUE) : 0;
    may |= a[2] > GR_WRITE_DISCARD ? MAY(GR_ERR_INVALID_VALUE) : 0;
    gr_resource *made = gr_from_vk_buffer(device_for(w, a[1] / 16), &desc, (unsigned)a[2]);
    if (!judge_made(w, made, may))
        return true;
    is_made(w, r, made, GL_ARRAY_BUFFER, BYTES, a[2]);
    r->own.immutable = false;
    from->object->shared = from->object->disputed = true;
    r->own.shared = r->own.disputed = true;
    bytes_are(from->object, 0, from->object->size, UNKNOWN);
    return true;
}
