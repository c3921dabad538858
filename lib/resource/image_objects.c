/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Surface and texture objects of images. Their default settings are those of the graphics API. A
 * resource keeps its objects for all of its mappings, because the driver needs almost 1 µs
 * to create and destroy one. The driver destroys objects immediately, not in stream order, so an
 * object ends after an event that follows its last mapping.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/array_format.h"
#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/struct_size.h"
#include "lib/resource/image.h"
#include "lib/resource/resource.h"

/* ---- Life ------------------------------------------------------------------------------------ */

/*
 * So many objects a resource keeps for later mappings. Beyond that, objects that the mapping has
 * not used end before another is created: a program may create a texture with new options in each
 * frame.
 */
#define MOST_KEPT 512

struct object {
    enum kind { SURFACE, TEXTURE } kind;
    gr_texture_options options; /* of a surface only `level` and `layer` */
    unsigned long long handle;
    const void *source; /* the array or mipmapped array */
    size_t mapping;     /* the number of the mapping in which `source` was checked last */
};

/* The objects of a resource. */
struct gr_objects {
    struct gr_last_work work; /* the release of the last mapping */
    size_t mapping;           /* the number of the current mapping */
    size_t count, room;
    struct object *items;
};

static void destroy(const struct object *o)
{
    if (o->kind == SURFACE)
        gr_driver()->SurfObjectDestroy(o->handle);
    else
        gr_driver()->TexObjectDestroy(o->handle);
}

void gr_image_objects_release(gr_resource *resource, CUstream stream, bool alive)
{
    struct gr_objects *set = resource->objects;
    struct gr_last_work *work = &set->work;
    set->mapping++;
    if (!alive)
        return;
    /* the event also follows the mappings in other streams */
    if (!gr_stream_is_same(work->stream, stream) && work->recorded &&
        gr_driver()->StreamWaitEvent(stream, work->event, 0) != CUDA_SUCCESS)
        gr_event_finish(work->event);
    if (gr_driver()->EventRecord(work->event, stream) == CUDA_SUCCESS)
        *work = (struct gr_last_work){.stream = stream, .event = work->event, .recorded = true};
    else
        gr_stream_finish(stream);
}

void gr_image_objects_free(gr_resource *resource, bool alive)
{
    struct gr_objects *set = resource->objects;
    if (!set)
        return;
    if (alive) {
        (void)gr_work_finish(&set->work);
        for (size_t i = 0; i < set->count; i++)
            destroy(&set->items[i]);
    }
    gr_work_end(&set->work, alive);
    free(set->items);
    free(set);
    resource->objects = NULL;
}

/* ---- Look-up --------------------------------------------------------------------------------- */

static bool same_options(const gr_texture_options *a, const gr_texture_options *b)
{
    return a->level == b->level && a->layer == b->layer && a->whole == b->whole &&
           a->filter == b->filter && a->as_float == b->as_float && a->srgb == b->srgb &&
           a->normalized_coordinates == b->normalized_coordinates &&
           a->mip_filter == b->mip_filter && a->level_count == b->level_count &&
           a->anisotropy == b->anisotropy &&
           memcmp(&a->mip_bias, &b->mip_bias, sizeof(a->mip_bias)) == 0 &&
           memcmp(&a->min_level, &b->min_level, sizeof(a->min_level)) == 0 &&
           memcmp(a->address, b->address, sizeof(a->address)) == 0 &&
           memcmp(a->border, b->border, sizeof(a->border)) == 0;
}

static struct object *find(const gr_resource *resource, enum kind kind,
                           const gr_texture_options *options)
{
    struct gr_objects *set = resource->objects;
    for (size_t i = 0; set && i < set->count; i++)
        if (set->items[i].kind == kind && same_options(&set->items[i].options, options))
            return &set->items[i];
    return NULL;
}

/*
 * Whether the object has the array of this mapping. The arrays of external memory never change;
 * others are compared at the first use in each mapping.
 */
static bool is_current(const gr_resource *resource, struct object *o)
{
    if (o && resource->backend->is_external)
        o->mapping = resource->objects->mapping;
    return o && o->mapping == resource->objects->mapping;
}

static bool has_source(const gr_resource *resource, struct object *o, const void *source)
{
    if (!o || o->source != source)
        return false;
    o->mapping = resource->objects->mapping;
    return true;
}

/* Destroys the objects that this mapping has not used. Earlier mappings may be in flight. */
static void end_unused(struct gr_objects *set)
{
    size_t kept = 0;
    (void)gr_work_finish(&set->work);
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].mapping == set->mapping)
            set->items[kept++] = set->items[i];
        else
            destroy(&set->items[i]);
    set->count = kept;
}

/* Reserves memory for one more object, so that put() cannot fail. The CUDA context is current. */
static gr_status reserve(gr_resource *resource)
{
    struct gr_objects *set = resource->objects;
    if (!set) {
        set = calloc(1, sizeof(*set));
        if (!set)
            return gr_fail_memory();
        const gr_status status = gr_event_create(&set->work.event);
        if (status != GR_OK) {
            free(set);
            return status;
        }
        resource->objects = set;
    }
    if (set->count >= MOST_KEPT)
        end_unused(set);
    if (set->count < set->room)
        return GR_OK;
    size_t room = set->room ? 2 * set->room : 8;
    struct object *items = realloc(set->items, room * sizeof(*items));
    if (!items)
        return gr_fail_memory();
    set->items = items;
    set->room = room;
    return GR_OK;
}

/* Adds a new object, which replaces the one of another array. */
static void put(gr_resource *resource, struct object new)
{
    struct gr_objects *set = resource->objects;
    struct object *old = find(resource, new.kind, &new.options);
    new.mapping = set->mapping;
    if (old) {
        (void)gr_work_finish(&set->work);
        destroy(old);
    }
    *(old ? old : &set->items[set->count++]) = new;
}

/* Returns the mapping of an image; NULL after recording an error. */
static gr_buffer *mapping_of(const gr_resource *resource)
{
    if (gr_resource_check_slot(resource) != GR_OK || gr_resource_check_open(resource) != GR_OK)
        return NULL;
    gr_buffer *mapped = resource->mapped;
    if (mapped && !mapped->later)
        return mapped;
    gr_fail(GR_ERR_STATE,
            "The resource is not mapped, and its surfaces and textures are valid only while it is: "
            "map it first.");
    return NULL;
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

static gr_status make_surface(gr_resource *resource, const gr_texture_options *place, CUarray array,
                              CUsurfObject *surface)
{
    CUDA_RESOURCE_DESC described = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    GR_TRY(reserve(resource));
    GR_TRY_CUDA(gr_driver()->SurfObjectCreate(surface, &described), "cuSurfObjectCreate",
                "The driver did not create a surface of level %u, layer %u.", place->level,
                place->layer);
    put(resource, (struct object){SURFACE, *place, *surface, array, 0});
    return GR_OK;
}

static CUsurfObject surface_of(gr_buffer *buffer, unsigned level, unsigned layer)
{
    GR_ENTERED entered = 0;
    CUarray array;
    CUsurfObject surface = 0;
    if (gr_image_check_part(buffer, level, layer) != GR_OK)
        return 0;
    gr_resource *resource = buffer->resource;
    if (!(resource->flags & GR_SURFACE_LOAD_STORE)) {
        gr_fail(
            GR_ERR_STATE,
            "The image was not registered for surfaces: register it with GR_SURFACE_LOAD_STORE.");
        return 0;
    }
    /* the surface of a layered image contains all layers */
    const gr_texture_options place = {.level = level, .layer = resource->image.layered ? 0 : layer};
    struct object *o = find(resource, SURFACE, &place);
    if (is_current(resource, o))
        return o->handle;
    if (gr_context_enter(&resource->context, &entered) != GR_OK ||
        resource->backend->array(resource, level, place.layer, &array) != GR_OK)
        return 0;
    if (has_source(resource, o, array))
        return o->handle;
    return make_surface(resource, &place, array, &surface) == GR_OK ? surface : 0;
}

CUsurfObject gr_buffer_surface(gr_buffer *buffer, unsigned level, unsigned layer)
{
    GR_CALL();
    return surface_of(buffer, level, layer);
}

CUsurfObject gr_resource_surface(gr_resource *resource, unsigned level, unsigned layer)
{
    GR_CALL();
    gr_buffer *buffer = mapping_of(resource);
    return buffer ? surface_of(buffer, level, layer) : 0;
}

/* ---- Textures -------------------------------------------------------------------------------- */

static bool decide(gr_choice choice, bool as_drawn)
{
    return choice == GR_CHOICE_DEFAULT ? as_drawn : choice == GR_CHOICE_YES;
}

/*
 * Whether kernels read floats: always, if texels are packed or compressed in a way that CUDA has;
 * never, if CUDA has each of them as one integer.
 */
static bool reads_floats(const gr_image_info *info, const gr_texture_options *o)
{
    if (gr_word_bytes(info->format))
        return false;
    return info->format == GR_FORMAT_FLOAT || info->format == GR_FORMAT_HALF ||
           gr_packed_channels(info->format) || decide(o->as_float, info->normalized);
}

/* Checks that each enum has a valid value. */
static gr_status check_values(const gr_texture_options *o)
{
    for (int i = 0; i < 3; i++)
        GR_REFUSE_IF((unsigned)o->address[i] > GR_ADDRESS_MIRROR,
                     "`address` contains an invalid gr_address.");
    GR_REFUSE_IF((unsigned)o->filter > GR_FILTER_LINEAR ||
                     (unsigned)o->mip_filter > GR_FILTER_LINEAR,
                 "`filter` or `mip_filter` is an invalid gr_filter.");
    GR_REFUSE_IF((unsigned)o->as_float > GR_CHOICE_NO || (unsigned)o->srgb > GR_CHOICE_NO ||
                     (unsigned)o->normalized_coordinates > GR_CHOICE_NO,
                 "`as_float`, `srgb` or `normalized_coordinates` is an invalid gr_choice.");
    GR_REFUSE_IF(o->anisotropy > 16, "`anisotropy` must be at most 16.");
    /* This condition also rejects NaN. */
    GR_REFUSE_IF(!(o->min_level >= 0 && o->mip_bias == o->mip_bias),
                 "`min_level` must be at least 0, and neither it nor `mip_bias` may be NaN.");
    return GR_OK;
}

/* Checks the mip level options against the other options and the image. */
static gr_status check_levels(const gr_texture_options *o, const gr_image_info *info)
{
    GR_REFUSE_IF(!o->whole &&
                     (o->mip_filter || o->mip_bias != 0 || o->min_level > 0 || o->level_count > 0),
                 "Options for several mip levels need `whole`, which selects all levels.");
    if (!o->whole)
        return GR_OK;
    GR_REFUSE_IF(o->min_level > (float)(info->levels - 1),
                 "`min_level` is beyond the image's last level.");
    GR_REFUSE_IF(o->level_count > info->levels - (unsigned)o->min_level,
                 "`level_count` is %u, but from level %u on the image has only %u: pass that "
                 "number or less, or 0 for all of them.",
                 o->level_count, (unsigned)o->min_level, info->levels - (unsigned)o->min_level);
    return GR_OK;
}

/* Checks all options against the other options and the image. */
static gr_status check_together(const gr_texture_options *o, const gr_image_info *info, bool floats,
                                bool srgb, bool normalized)
{
    for (int i = 0; i < 3; i++)
        GR_REFUSE_IF(o->address[i] >= GR_ADDRESS_WRAP && !normalized,
                     "GR_ADDRESS_WRAP and GR_ADDRESS_MIRROR need `normalized_coordinates` to be "
                     "GR_CHOICE_YES.");
    const bool has_integers_only = info->format == GR_FORMAT_UNSIGNED_INT32 ||
                                   info->format == GR_FORMAT_SIGNED_INT32 ||
                                   gr_word_bytes(info->format);
    GR_REFUSE_IF(o->as_float == GR_CHOICE_YES && has_integers_only,
                 "CUDA reads 32 bit integers, and packed texels that it has as one integer, only "
                 "as integers: leave `as_float` at its default.");
    GR_REFUSE_IF(o->filter == GR_FILTER_LINEAR && !floats,
                 "GR_FILTER_LINEAR needs values that are read as floats, but integers are read as "
                 "integers by default: set `as_float`, or filter with GR_FILTER_POINT.");
    const bool block =
        info->format == GR_FORMAT_BC1_UNORM_SRGB || info->format == GR_FORMAT_BC2_UNORM_SRGB ||
        info->format == GR_FORMAT_BC3_UNORM_SRGB || info->format == GR_FORMAT_BC7_UNORM_SRGB;
    GR_REFUSE_IF(block && !srgb,
                 "`srgb` is GR_CHOICE_NO, but CUDA always decodes compressed sRGB colours: leave "
                 "it at its default.");
    GR_REFUSE_IF(srgb && !block && (info->format != CU_AD_FORMAT_UNSIGNED_INT8 || !floats),
                 "`srgb` is for 8 bit unsigned channels that are read as floats.");
    return check_levels(o, info);
}

static CUfilter_mode filter_mode(gr_filter filter)
{
    return filter == GR_FILTER_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
}

static CUDA_TEXTURE_DESC describe_sampling(const gr_texture_options *o, const gr_image_info *info,
                                           bool floats, bool srgb, bool normalized)
{
    static const CUaddress_mode modes[] = {[GR_ADDRESS_CLAMP] = CU_TR_ADDRESS_MODE_CLAMP,
                                           [GR_ADDRESS_BORDER] = CU_TR_ADDRESS_MODE_BORDER,
                                           [GR_ADDRESS_WRAP] = CU_TR_ADDRESS_MODE_WRAP,
                                           [GR_ADDRESS_MIRROR] = CU_TR_ADDRESS_MODE_MIRROR};
    /* the levels that have storage, because CUDA may count more */
    const unsigned levels = o->level_count ? (unsigned)o->min_level + o->level_count : info->levels;
    CUDA_TEXTURE_DESC described = {
        .filterMode = filter_mode(o->filter),
        .maxAnisotropy = o->anisotropy,
        .mipmapFilterMode = filter_mode(o->mip_filter),
        .mipmapLevelBias = o->mip_bias,
        .minMipmapLevelClamp = o->min_level,
        .maxMipmapLevelClamp = (float)(levels - 1),
    };
    for (int i = 0; i < 3; i++)
        described.addressMode[i] = modes[o->address[i]];
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
static gr_status check_coordinates(const gr_buffer *buffer, const gr_texture_options *o)
{
    if (o->normalized_coordinates != GR_CHOICE_NO)
        return GR_OK;
    GR_REFUSE_IF(o->whole,
                 "`normalized_coordinates` is GR_CHOICE_NO, but `whole` requires normalized "
                 "coordinates: CUDA supports no others for several levels.");
    if (by_whole(buffer, o))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "`normalized_coordinates` is GR_CHOICE_NO, but a level of an image with "
                       "layers and several levels needs normalized coordinates: with texel "
                       "coordinates, NVIDIA's driver reads the wrong layers.");
    return GR_OK;
}

/*
 * Finds the array or mipmapped array, both of which *found gets. The CUDA context is current.
 */
static gr_status find_source(const gr_buffer *buffer, const gr_texture_options *o,
                             CUDA_RESOURCE_DESC *source, const void **found)
{
    const struct gr_backend *backend = buffer->resource->backend;
    *source = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY};
    if (!o->whole && !by_whole(buffer, o)) {
        GR_TRY(backend->array(buffer->resource, o->level, o->layer, &source->res.array.hArray));
        *found = source->res.array.hArray;
        return GR_OK;
    }
    source->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    GR_TRY(backend->mipmapped_array(buffer->resource, &source->res.mipmap.hMipmappedArray));
    *found = source->res.mipmap.hMipmappedArray;
    return GR_OK;
}

/* Finds the settings that the options and the image determine, and checks them. */
static gr_status decide_sampling(const gr_buffer *buffer, const gr_texture_options *o,
                                 CUDA_TEXTURE_DESC *sampling)
{
    gr_image_info info;
    if (o->whole && buffer->resource->image.cube && !buffer->resource->image.layered)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "A whole OpenGL cube cannot be sampled: NVIDIA's driver creates the texture "
                       "object, but kernels then read zeros. Create a texture object for each "
                       "face, which `layer` selects.");
    GR_TRY(check_coordinates(buffer, o));
    GR_TRY(gr_image_query(buffer, &info));
    const bool floats = reads_floats(&info, o);
    bool srgb = decide(o->srgb, info.srgb && floats);
    bool normalized = o->normalized_coordinates == GR_CHOICE_YES || o->whole || by_whole(buffer, o);
    GR_TRY(check_together(o, &info, floats, srgb, normalized));
    *sampling = describe_sampling(o, &info, floats, srgb, normalized);
    if (by_whole(buffer, o))
        sampling->minMipmapLevelClamp = sampling->maxMipmapLevelClamp = (float)o->level;
    return GR_OK;
}

/* Returns the texture that exists in *texture, or makes it. The CUDA context is current. */
static gr_status get_texture(gr_buffer *buffer, const gr_texture_options *o, struct object *old,
                             CUtexObject *texture)
{
    gr_resource *resource = buffer->resource;
    CUDA_RESOURCE_DESC source;
    CUDA_TEXTURE_DESC sampling;
    const void *found = NULL;
    if (!old)
        GR_TRY(decide_sampling(buffer, o, &sampling));
    GR_TRY(find_source(buffer, o, &source, &found));
    if (has_source(resource, old, found)) {
        *texture = old->handle;
        return GR_OK;
    }
    if (old)
        GR_TRY(decide_sampling(buffer, o, &sampling));
    GR_TRY(reserve(resource));
    GR_TRY_CUDA(gr_driver()->TexObjectCreate(texture, &source, &sampling, NULL),
                "cuTexObjectCreate",
                "The driver rejects the texture with these options: leave out those that differ "
                "from the defaults.");
    put(resource, (struct object){TEXTURE, *o, *texture, found, 0});
    return GR_OK;
}

static CUtexObject texture_of(gr_buffer *buffer, const gr_texture_options *options)
{
    gr_texture_options o;
    GR_ENTERED entered = 0;
    CUtexObject texture = 0;
    gr_status status = GR_TAKE(gr_texture_options, &o, options);
    if (status == GR_OK)
        status = o.whole ? gr_image_check(buffer) : gr_image_check_part(buffer, o.level, o.layer);
    if (status == GR_OK)
        status = check_values(&o);
    if (status != GR_OK)
        return 0;
    struct object *old = find(buffer->resource, TEXTURE, &o);
    if (is_current(buffer->resource, old))
        return old->handle;
    if (gr_context_enter(&buffer->resource->context, &entered) != GR_OK)
        return 0;
    return get_texture(buffer, &o, old, &texture) == GR_OK ? texture : 0;
}

CUtexObject gr_buffer_texture(gr_buffer *buffer, const gr_texture_options *options)
{
    GR_CALL();
    return texture_of(buffer, options);
}

CUtexObject gr_resource_texture(gr_resource *resource, const gr_texture_options *options)
{
    GR_CALL();
    gr_buffer *buffer = mapping_of(resource);
    return buffer ? texture_of(buffer, options) : 0;
}
