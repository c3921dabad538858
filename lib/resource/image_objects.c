/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Surface and texture objects of a mapped image. Their default settings are those of the graphics
 * API. The driver destroys them immediately, not in stream order. So the objects of an ended
 * mapping are kept until an event has passed, and a later mapping needs the memory or the resource
 * is closed.
 */
#include <stdlib.h>

#include "lib/cuda/array_format.h"
#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/struct_size.h"
#include "lib/resource/image.h"
#include "lib/resource/resource.h"

/* ---- Life ------------------------------------------------------------------------------------ */

struct object {
    enum { SURFACE, TEXTURE } kind;
    unsigned long long handle;
    unsigned level, layer;
};

/* The objects of one mapping. Sets are reused, so that a steady loop does not allocate. */
struct gr_objects {
    struct gr_objects *next;
    CUevent done; /* an event in the stream of the release */
    size_t count, room;
    struct object *items;
};

static void destroy_items(struct gr_objects *set)
{
    const gr_cuda_api *cu = gr_driver();
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].kind == SURFACE)
            cu->SurfObjectDestroy(set->items[i].handle);
        else
            cu->TexObjectDestroy(set->items[i].handle);
    }
    set->count = 0;
}

/* Takes a set whose objects are no longer in use, or makes one. */
static gr_status take_set(gr_resource *resource, struct gr_objects **taken, const char *call)
{
    for (struct gr_objects **link = &resource->objects; *link; link = &(*link)->next) {
        struct gr_objects *set = *link;
        if (!gr_event_has_passed(set->done))
            continue;
        destroy_items(set);
        *link = set->next;
        *taken = set;
        return GR_OK;
    }
    struct gr_objects *set = calloc(1, sizeof(*set));
    if (!set)
        return gr_fail_memory(call);
    gr_status status = gr_event_create(&set->done);
    if (status == GR_OK)
        *taken = set;
    else
        free(set);
    return status;
}

/* Returns the surface for a level and layer, or 0 if there is none yet. */
static CUsurfObject find_surface(const gr_buffer *buffer, unsigned level, unsigned layer)
{
    const struct gr_objects *set = buffer->objects;
    for (size_t i = 0; set && i < set->count; i++) {
        const struct object *o = &set->items[i];
        if (o->kind == SURFACE && o->level == level && o->layer == layer)
            return o->handle;
    }
    return 0;
}

/* Reserves memory for one more object, so that add() cannot fail. The CUDA context is current. */
static gr_status reserve(gr_buffer *buffer, const char *call)
{
    gr_status status = GR_OK;
    if (!buffer->objects)
        status = take_set(buffer->resource, &buffer->objects, call);
    if (status != GR_OK)
        return status;
    struct gr_objects *set = buffer->objects;
    if (set->count < set->room)
        return GR_OK;
    size_t room = set->room ? 2 * set->room : 8;
    struct object *items = realloc(set->items, room * sizeof(*items));
    if (!items)
        return gr_fail_memory(call);
    set->items = items;
    set->room = room;
    return GR_OK;
}

static void add(gr_buffer *buffer, int kind, unsigned long long handle, unsigned level,
                unsigned layer)
{
    struct gr_objects *set = buffer->objects;
    set->items[set->count++] = (struct object){kind, handle, level, layer};
}

void gr_image_objects_retire(gr_buffer *buffer, CUstream stream, bool alive)
{
    struct gr_objects *set = buffer->objects;
    buffer->objects = NULL;
    if (alive && gr_driver()->EventRecord(set->done, stream) != CUDA_SUCCESS)
        gr_stream_finish(stream);
    set->next = buffer->resource->objects;
    buffer->resource->objects = set;
}

void gr_image_objects_free(gr_resource *resource, bool alive)
{
    while (resource->objects) {
        struct gr_objects *set = resource->objects;
        resource->objects = set->next;
        if (alive) {
            gr_event_finish(set->done);
            destroy_items(set);
            gr_driver()->EventDestroy(set->done);
        }
        free(set->items);
        free(set);
    }
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

static gr_status make_surface(gr_buffer *buffer, unsigned level, unsigned layer,
                              CUsurfObject *surface, const char *call)
{
    CUarray array;
    GR_TRY(reserve(buffer, call));
    GR_TRY(buffer->resource->backend->array(buffer->resource, level, layer, &array));
    CUDA_RESOURCE_DESC described = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    GR_TRY_CUDA(gr_driver()->SurfObjectCreate(surface, &described), "cuSurfObjectCreate",
                "The driver did not create a surface of level %u, layer %u.", level, layer);
    add(buffer, SURFACE, *surface, level, layer);
    return GR_OK;
}

CUsurfObject gr_buffer_surface(gr_buffer *buffer, unsigned level, unsigned layer)
{
    GR_ENTERED pushed = false;
    if (gr_image_check_part(buffer, level, layer, __func__) != GR_OK)
        return 0;
    if (buffer->resource->image.layered)
        layer = 0; /* the surface contains all layers */
    if (!(buffer->resource->flags & GR_SURFACE_LOAD_STORE)) {
        gr_fail(
            GR_ERR_STATE, __func__,
            "The image was not registered for surfaces: register it with GR_SURFACE_LOAD_STORE.");
        return 0;
    }
    CUsurfObject surface = find_surface(buffer, level, layer);
    if (surface || gr_context_enter(&buffer->resource->context, &pushed, __func__) != GR_OK)
        return surface;
    return make_surface(buffer, level, layer, &surface, __func__) == GR_OK ? surface : 0;
}

/* ---- Textures -------------------------------------------------------------------------------- */

/* Whether kernels always read floats. Packed and compressed texels have no integers to read. */
static bool is_float(unsigned format)
{
    return format == GR_FORMAT_FLOAT || format == GR_FORMAT_HALF || gr_packed_channels(format);
}

static bool is_srgb_block(unsigned format)
{
    return format == GR_FORMAT_BC1_UNORM_SRGB || format == GR_FORMAT_BC2_UNORM_SRGB ||
           format == GR_FORMAT_BC3_UNORM_SRGB || format == GR_FORMAT_BC7_UNORM_SRGB;
}

static bool is_wide_integer(CUarray_format format)
{
    return format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
}

static bool decide(gr_choice choice, bool as_drawn)
{
    return choice == GR_CHOICE_DEFAULT ? as_drawn : choice == GR_CHOICE_YES;
}

static gr_status refuse(const char *call, const char *sentence)
{
    return gr_fail(GR_ERR_INVALID_VALUE, call, "%s", sentence);
}

/* Checks that each enum has a valid value. */
static gr_status check_values(const gr_texture_options *o, const char *call)
{
    for (int i = 0; i < 3; i++)
        if ((unsigned)o->address[i] > GR_ADDRESS_MIRROR)
            return refuse(call, "`address` contains an invalid gr_address.");
    if ((unsigned)o->filter > GR_FILTER_LINEAR || (unsigned)o->mip_filter > GR_FILTER_LINEAR)
        return refuse(call, "`filter` or `mip_filter` is an invalid gr_filter.");
    if ((unsigned)o->as_float > GR_CHOICE_NO || (unsigned)o->srgb > GR_CHOICE_NO ||
        (unsigned)o->normalized_coordinates > GR_CHOICE_NO)
        return refuse(call,
                      "`as_float`, `srgb` or `normalized_coordinates` is an invalid gr_choice.");
    if (o->anisotropy > 16)
        return refuse(call, "`anisotropy` must be at most 16.");
    /* This condition also rejects NaN. */
    if (!(o->min_level >= 0 && o->mip_bias == o->mip_bias))
        return refuse(call,
                      "`min_level` must be at least 0, and neither it nor `mip_bias` may be NaN.");
    return GR_OK;
}

/* Checks the mip level options against the other options and the image. */
static gr_status check_levels(const gr_texture_options *o, const gr_image_info *info,
                              const char *call)
{
    if (!o->whole && (o->mip_filter || o->mip_bias != 0 || o->min_level > 0 || o->level_count > 0))
        return refuse(call,
                      "Options for several mip levels need `whole`, which selects all levels.");
    if (!o->whole)
        return GR_OK;
    if (o->min_level > (float)(info->levels - 1))
        return refuse(call, "`min_level` is beyond the image's last level.");
    if (o->level_count <= info->levels - (unsigned)o->min_level)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "`level_count` is %u, but from level %u on the image has only %u: pass that "
                   "number or less, or 0 for all of them.",
                   o->level_count, (unsigned)o->min_level, info->levels - (unsigned)o->min_level);
}

/* Checks all options against the other options and the image. */
static gr_status check_together(const gr_texture_options *o, const gr_image_info *info, bool floats,
                                bool srgb, bool normalized, const char *call)
{
    for (int i = 0; i < 3; i++)
        if (o->address[i] >= GR_ADDRESS_WRAP && !normalized)
            return refuse(call, "GR_ADDRESS_WRAP and GR_ADDRESS_MIRROR need "
                                "`normalized_coordinates` to be GR_CHOICE_YES.");
    if (o->as_float == GR_CHOICE_YES && is_wide_integer(info->format))
        return refuse(call, "CUDA reads 32 bit integers only as integers: leave `as_float` at its "
                            "default.");
    if (o->filter == GR_FILTER_LINEAR && !floats)
        return refuse(
            call, "GR_FILTER_LINEAR needs values that are read as floats, but integers are read as "
                  "integers by default: set `as_float`, or filter with GR_FILTER_POINT.");
    const bool block = is_srgb_block(info->format);
    if (block && !srgb)
        return refuse(call, "`srgb` is GR_CHOICE_NO, but CUDA always decodes compressed sRGB "
                            "colours: leave it at its default.");
    if (srgb && !block && (info->format != CU_AD_FORMAT_UNSIGNED_INT8 || !floats))
        return refuse(call, "`srgb` is for 8 bit unsigned channels that are read as floats.");
    return check_levels(o, info, call);
}

static CUaddress_mode address_mode(gr_address address)
{
    switch (address) {
    case GR_ADDRESS_WRAP:
        return CU_TR_ADDRESS_MODE_WRAP;
    case GR_ADDRESS_MIRROR:
        return CU_TR_ADDRESS_MODE_MIRROR;
    case GR_ADDRESS_BORDER:
        return CU_TR_ADDRESS_MODE_BORDER;
    default:
        return CU_TR_ADDRESS_MODE_CLAMP;
    }
}

static CUfilter_mode filter_mode(gr_filter filter)
{
    return filter == GR_FILTER_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
}

/* Returns the last level with storage, because CUDA may count levels without storage. */
static float last_level(const gr_texture_options *o, const gr_image_info *info)
{
    unsigned count = o->level_count ? (unsigned)o->min_level + o->level_count : info->levels;
    return (float)(count - 1);
}

static CUDA_TEXTURE_DESC describe_sampling(const gr_texture_options *o, const gr_image_info *info,
                                           bool floats, bool srgb, bool normalized)
{
    CUDA_TEXTURE_DESC described = {
        .filterMode = filter_mode(o->filter),
        .maxAnisotropy = o->anisotropy,
        .mipmapFilterMode = filter_mode(o->mip_filter),
        .mipmapLevelBias = o->mip_bias,
        .minMipmapLevelClamp = o->min_level,
        .maxMipmapLevelClamp = last_level(o, info),
    };
    for (int i = 0; i < 3; i++)
        described.addressMode[i] = address_mode(o->address[i]);
    for (int i = 0; i < 4; i++)
        described.borderColor[i] = o->border[i];
    if (!floats)
        described.flags |= CU_TRSF_READ_AS_INTEGER;
    if (normalized)
        described.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (srgb)
        described.flags |= CU_TRSF_SRGB;
    return described;
}

/*
 * Whether the texture must be made from the whole image. The NVIDIA driver (580) reads wrong layers
 * through a texture of the array of a single level if the image has several levels. A texture of
 * the whole image, clamped to that level, reads correct layers.
 */
static bool by_whole(const gr_buffer *buffer, const gr_texture_options *o)
{
    const gr_image_info *image = &buffer->resource->image;
    return !o->whole && image->layered && image->levels > 1;
}

/* Refuses texel coordinates if CUDA does not support them. */
static gr_status check_coordinates(const gr_buffer *buffer, const gr_texture_options *o,
                                   const char *call)
{
    if (o->normalized_coordinates != GR_CHOICE_NO)
        return GR_OK;
    if (o->whole)
        return refuse(call,
                      "`normalized_coordinates` is GR_CHOICE_NO, but `whole` requires normalized "
                      "coordinates: CUDA supports no others for several levels.");
    if (by_whole(buffer, o))
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "`normalized_coordinates` is GR_CHOICE_NO, but a level of an image with "
                       "layers and several levels needs normalized coordinates: with texel "
                       "coordinates, NVIDIA's driver reads the wrong layers.");
    return GR_OK;
}

static gr_status find_source(gr_buffer *buffer, const gr_texture_options *o,
                             CUDA_RESOURCE_DESC *source, const char *call)
{
    const struct gr_backend *backend = buffer->resource->backend;
    *source = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY};
    if (!o->whole && !by_whole(buffer, o))
        return backend->array(buffer->resource, o->level, o->layer, &source->res.array.hArray);
    source->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    return backend->mipmapped_array(buffer->resource, &source->res.mipmap.hMipmappedArray, call);
}

static gr_status make_texture(gr_buffer *buffer, const gr_texture_options *o, CUtexObject *texture,
                              const char *call)
{
    gr_image_info info;
    CUDA_RESOURCE_DESC source;
    if (o->whole && buffer->resource->image.cube && !buffer->resource->image.layered)
        return gr_fail(GR_ERR_UNSUPPORTED, call,
                       "A whole OpenGL cube cannot be sampled: NVIDIA's driver creates the texture "
                       "object, but kernels then read zeros. Create a texture object for each "
                       "face, which `layer` selects.");
    GR_TRY(check_coordinates(buffer, o, call));
    GR_TRY(gr_image_query(buffer, &info));
    bool floats = is_float(info.format) || decide(o->as_float, info.normalized);
    bool srgb = decide(o->srgb, info.srgb && floats);
    bool normalized = o->normalized_coordinates == GR_CHOICE_YES || o->whole || by_whole(buffer, o);
    GR_TRY(check_together(o, &info, floats, srgb, normalized, call));
    GR_TRY(find_source(buffer, o, &source, call));
    GR_TRY(reserve(buffer, call));
    CUDA_TEXTURE_DESC sampling = describe_sampling(o, &info, floats, srgb, normalized);
    if (by_whole(buffer, o))
        sampling.minMipmapLevelClamp = sampling.maxMipmapLevelClamp = (float)o->level;
    GR_TRY_CUDA(gr_driver()->TexObjectCreate(texture, &source, &sampling, NULL),
                "cuTexObjectCreate",
                "The driver rejects the texture with these options: leave out those that differ "
                "from the defaults.");
    add(buffer, TEXTURE, *texture, o->level, o->layer);
    return GR_OK;
}

CUtexObject gr_buffer_texture(gr_buffer *buffer, const gr_texture_options *options)
{
    gr_texture_options o;
    GR_ENTERED pushed = false;
    CUtexObject texture = 0;
    gr_status status = GR_TAKE(gr_texture_options, &o, options, __func__);
    if (status == GR_OK)
        status = o.whole ? gr_image_check(buffer, __func__)
                         : gr_image_check_part(buffer, o.level, o.layer, __func__);
    if (status == GR_OK)
        status = check_values(&o, __func__);
    if (status != GR_OK || gr_context_enter(&buffer->resource->context, &pushed, __func__) != GR_OK)
        return 0;
    return make_texture(buffer, &o, &texture, __func__) == GR_OK ? texture : 0;
}
