/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources for existing OpenGL objects, with an object of their own, and in the memory of a
 * tensor.
 */
#include "calls.h"

#include "outside.h"

/* ---- Transports ------------------------------------------------------------------------------ */

#define BAD_TRANSPORT 64u
static const unsigned transport_sets[] = {
    0,
    GR_TRANSPORT_INTEROP,
    GR_TRANSPORT_SHARED,
    GR_TRANSPORT_COPY,
    GR_TRANSPORT_EXTERNAL,
    GR_TRANSPORT_PEER,
    GR_TRANSPORT_ANY,
    BAD_TRANSPORT,
    GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY,
    GR_TRANSPORT_SHARED | GR_TRANSPORT_COPY,
    BAD_TRANSPORT | GR_TRANSPORT_COPY,
};

/* The set of transports at a place. Place -1 means no options. */
static unsigned set_at(int place)
{
    return place < 0 ? 0 : transport_sets[place];
}

/* The errors of a call with this set of transports. */
static unsigned set_may(unsigned set, unsigned possible)
{
    if (set >= BAD_TRANSPORT)
        return MAY(GR_ERR_INVALID_VALUE);
    return set & possible ? 0 : MAY(GR_ERR_UNSUPPORTED);
}

static unsigned flags_may(int flags, unsigned known)
{
    bool both = flags & GR_READ_ONLY && flags & GR_WRITE_DISCARD;
    return both || (unsigned)flags & ~known ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

#define BUFFER_FLAGS (GR_READ_ONLY | GR_WRITE_DISCARD)
#define IMAGE_FLAGS  (BUFFER_FLAGS | GR_SURFACE_LOAD_STORE | GR_TEXTURE_GATHER)

static unsigned current_may(const struct world *w)
{
    return w->gl == GL_CONTEXTS ? MAY(GR_ERR_GL) : 0;
}

static unsigned object_may(const struct world *w, const struct object *o)
{
    bool none = !o || o->deleted || (w->gl < GL_CONTEXTS && o->context != w->gl);
    return (none ? MAY(GR_ERR_INVALID_VALUE) : 0) | current_may(w);
}

/* Judges a call that creates an object, and notes what the call collected. */
static bool is_created(struct world *w, const void *made, unsigned may)
{
    const bool created = judge_made(w, made, may);
    created ? collect_later(w) : maybe_collected(w);
    return created;
}

/* ---- Existing objects ------------------------------------------------------------------------ */

/* Every call of this file ends with this function, which records the new resource at the place. */
static bool is_made(struct world *w, int place, gr_resource *made, struct object *o, int flags,
                    unsigned may)
{
    if (!is_created(w, made, may))
        return true;
    resource_is_made(w, resource_at(w, place), made, o, (unsigned)flags);
    return true;
}

bool run_gr_from_gl_buffer(struct world *w, const int *a)
{
    struct object *o = object_at(w, a[0]);
    if (resource_at(w, a[2])->used)
        return false;
    gr_resource *made = gr_from_gl_buffer(o ? o->name : 0, (unsigned)a[1]);
    return is_made(w, a[2], made, o, a[1], object_may(w, o) | flags_may(a[1], BUFFER_FLAGS));
}

static gr_transport taken(unsigned set)
{
    if (!set || set & GR_TRANSPORT_INTEROP)
        return GR_TRANSPORT_INTEROP;
    return set & GR_TRANSPORT_PEER ? GR_TRANSPORT_PEER : GR_TRANSPORT_COPY;
}

#define UNCOPIED (GR_TRANSPORT_INTEROP)
#define OF_OLD   (GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY)

/* No contexts of a sequence share objects: the option only restricts the transports and the rings.
 */
static bool group_at(const int *a)
{
    return a[2] >= 0 && a[3] % 4 == 1;
}

/* Frames in flight where only peer is allowed, so that the transport does not depend on shaders. */
static unsigned frames_at(const int *a)
{
    return a[2] >= 0 && set_at(a[2]) == GR_TRANSPORT_PEER && a[3] % 2 ? 2 + (unsigned)a[3] % 3 : 0;
}

static unsigned frames_may(const int *a)
{
    const int access = a[1] & (GR_READ_ONLY | GR_WRITE_DISCARD);
    const bool fit = access == GR_READ_ONLY || access == GR_WRITE_DISCARD;
    return frames_at(a) && (!fit || group_at(a)) ? MAY(GR_ERR_INVALID_VALUE) : 0;
}

static unsigned group_may(const struct world *w, const int *a)
{
    const unsigned set = set_at(a[2]),
                   possible = OF_OLD | (w->shared_works ? GR_TRANSPORT_PEER : 0);
    return group_at(a) && set && !(set & GR_TRANSPORT_INTEROP)
               ? MAY(GR_ERR_INVALID_VALUE)
               : set_may(set ? set : UNCOPIED, possible);
}

bool run_gr_from_gl_image(struct world *w, const int *a)
{
    struct object *o = object_at(w, a[0]);
    if (resource_at(w, a[2])->used)
        return false;
    gr_resource *made = gr_from_gl_image(o ? o->name : 0, GL_TEXTURE_2D, (unsigned)a[1]);
    return is_made(w, a[2], made, o, a[1], object_may(w, o) | flags_may(a[1], IMAGE_FLAGS));
}

static bool run_with(struct world *w, const int *a, bool image)
{
    struct object *o = object_at(w, a[0]);
    unsigned set = set_at(a[2]);
    const bool follow = a[0] % 2 && a[2] >= 0;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = set, .share_group = group_at(a),
                .follow_storage = follow, .in_flight = frames_at(a));
    const gr_gl_options *given = a[2] < 0 ? NULL : &options;
    if (resource_at(w, a[3])->used)
        return false;
    unsigned may = object_may(w, o) | flags_may(a[1], image ? IMAGE_FLAGS : BUFFER_FLAGS);
    may |= group_may(w, a) | frames_may(a);
    GLuint name = o ? o->name : 0;
    gr_resource *made = image ? gr_from_gl_image_with(name, GL_TEXTURE_2D, (unsigned)a[1], given)
                              : gr_from_gl_buffer_with(name, (unsigned)a[1], given);
    is_made(w, a[3], made, o, a[1], may);
    if (made) {
        resource_at(w, a[3])->transport = taken(set);
        resource_at(w, a[3])->grouped = group_at(a);
        resource_at(w, a[3])->follows = follow;
    }
    return true;
}

bool run_gr_from_gl_buffer_with(struct world *w, const int *a)
{
    return run_with(w, a, false);
}

bool run_gr_from_gl_image_with(struct world *w, const int *a)
{
    return run_with(w, a, true);
}

bool run_gr_map_gl_buffer(struct world *w, const int *a)
{
    struct object *o = object_at(w, a[0]);
    struct resource *r = resource_at(w, a[3]), asked = {.cuda = w->cuda % CUDA_CONTEXTS};
    struct buffer *b = buffer_at(w, a[4]);
    if (r->used || b->life == LIVE || !is_stream_valid(w, a[2]))
        return false;
    unsigned may = object_may(w, o) | flags_may(a[1], BUFFER_FLAGS);
    may |= stream_may(w, a[2], &asked, false);
    if (o && o->mapped)
        return false;
    CUstream stream = stream_at(w, a[2]);
    gr_buffer *made = gr_map_gl_buffer(o ? o->name : 0, (unsigned)a[1], stream);
    if (!is_created(w, made, may))
        return true;
    resource_is_made(w, r, NULL, o, (unsigned)a[1]);
    b->offset = b->size = 0;
    is_mapped(w, r, b, made, stream);
    r->life = ENDED;
    return true;
}

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

/*
 * Records a resource with its own object. The library has chosen the transport from the allowed
 * ones.
 */
static void own_is_made(struct world *w, struct resource *r, gr_resource *made, GLenum target,
                        size_t size, int flags)
{
    const struct object own = {.name = gr_gl_name(made),
                               .target = target,
                               .context = w->gl,
                               .size = size,
                               .immutable = true};
    r->own = own;
    bytes_are(&r->own, 0, size, UNKNOWN);
    resource_is_made(w, r, made, &r->own, (unsigned)flags);
    r->transport = gr_resource_get_info(made)->transport;
    if (r->image && r->transport == GR_TRANSPORT_SHARED)
        r->flags |= gr_resource_get_info(made)->flags & GR_SURFACE_LOAD_STORE;
}

static unsigned create_may(const struct world *w, unsigned set)
{
    unsigned possible = OF_OLD | (w->shared_works ? GR_TRANSPORT_SHARED : 0);
    unsigned wanted = set ? set : GR_TRANSPORT_INTEROP;
    return set_may(wanted, possible) | current_may(w);
}

bool run_gr_create_gl_buffer(struct world *w, const int *a)
{
    size_t size = a[0] % 32 == 0 ? 0 : (size_t)a[0] % 64 * 4 + 4;
    unsigned set = set_at(a[2]);
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = set, .packed = a[0] % 2 != 0);
    struct resource *r = resource_at(w, a[3]);
    if (r->used)
        return false;
    unsigned may = create_may(w, set) | flags_may(a[1], BUFFER_FLAGS);
    may |= size ? 0 : MAY(GR_ERR_INVALID_VALUE);
    gr_resource *made = gr_create_gl_buffer(size, (unsigned)a[1], a[2] < 0 ? NULL : &options);
    if (!is_created(w, made, may))
        return true;
    own_is_made(w, r, made, GL_ARRAY_BUFFER, size, a[1]);
    must(w, !set || set & r->transport);
    return true;
}

bool run_gr_create_gl_image(struct world *w, const int *a)
{
    unsigned set = set_at(a[2]), side = a[0] % 32 == 0 ? 0 : 4;
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = set);
    struct resource *r = resource_at(w, a[3]);
    if (r->used)
        return false;
    unsigned may = create_may(w, set) | flags_may(a[1], IMAGE_FLAGS);
    may |= side ? 0 : MAY(GR_ERR_INVALID_VALUE);
    gr_resource *made =
        gr_create_gl_image(&GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                    .internal_format = GL_RGBA8, .width = side, .height = side),
                           (unsigned)a[1], a[2] < 0 ? NULL : &options);
    if (!is_created(w, made, may))
        return true;
    own_is_made(w, r, made, GL_TEXTURE_2D, 64, a[1]);
    must(w, !set || set & r->transport);
    return true;
}

/* ---- Objects in the memory of a tensor ------------------------------------------------------- */

static void finish_all(struct world *w)
{
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].life == LIVE && w->streams[i].cuda == 0)
            finish_stream(w, 0, w->streams[i].it);
}

/* Graphics may use the memory from now on, which no other resource may have, nor an import. */
static bool can_be_drawn(struct world *w, const struct tensor *t)
{
    for (const struct tensor *of = t; of; of = of->base)
        if (of->import_of)
            return false;
    if (t && (t->life != LIVE || drawn_by(w, t)))
        return false;
    finish_all(w);
    return true;
}

static unsigned drawn_may(const struct tensor *t, int flags)
{
    if (t && t->revoked)
        return MAY(GR_ERR_STATE) | MAY(GR_ERR_INVALID_VALUE);
    if (!t || t->resource || t->memory != GR_MEMORY_DEVICE)
        return MAY(GR_ERR_INVALID_VALUE);
    return (t->read_only && flags != GR_READ_ONLY ? MAY(GR_ERR_INVALID_VALUE) : 0) |
           (t->exportable ? 0 : MAY(GR_ERR_UNSUPPORTED)) | flags_may(flags, BUFFER_FLAGS);
}

static void drawn_is_made(struct world *w, struct resource *r, gr_resource *made,
                          const struct tensor *t, int flags)
{
    r->own = (struct object){.target = GL_ARRAY_BUFFER,
                             .context = ANY_CONTEXT,
                             .size = t->size,
                             .immutable = true,
                             .of = t->bytes};
    resource_is_made(w, r, made, &r->own, (unsigned)flags);
    r->cuda = 0;
}

bool run_gr_create_gl_buffer_of(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[0]);
    struct resource *r = resource_at(w, a[3]);
    const unsigned set = set_at(a[2]);
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = set, .packed = a[2] == 1);
    if (r->used || !can_be_drawn(w, t))
        return false;
    unsigned may = drawn_may(t, a[1]) | current_may(w);
    if (options.packed || set >= BAD_TRANSPORT || (set && !(set & GR_TRANSPORT_SHARED)))
        may |= MAY(GR_ERR_INVALID_VALUE);
    may |= w->shared_works ? 0 : MAY(GR_ERR_UNSUPPORTED);
    gr_resource *made =
        gr_create_gl_buffer_of(tensor_handle(t), (unsigned)a[1], a[2] < 0 ? NULL : &options);
    if (!is_created(w, made, may))
        return true;
    drawn_is_made(w, r, made, t, a[1]);
    r->own.name = gr_gl_name(made);
    r->own.context = w->gl;
    r->transport = GR_TRANSPORT_SHARED;
    return true;
}

bool run_gr_create_vk_buffer_of(struct world *w, const int *a)
{
    struct tensor *t = tensor_at(w, a[0]);
    struct resource *r = resource_at(w, a[3]);
    const bool other = a[2] % 16 == 0;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = other           ? MOST_BYTES
                                             : a[2] % 2 && t ? t->size
                                                             : 0,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (r->used || !w->device || !can_be_drawn(w, t))
        return false;
    unsigned may = drawn_may(t, a[1]) | (other ? MAY(GR_ERR_INVALID_VALUE) : 0);
    gr_resource *made =
        gr_create_vk_buffer_of(device_for(w, a[2] / 16), &info, tensor_handle(t), (unsigned)a[1]);
    if (!judge_made(w, made, may))
        return true;
    drawn_is_made(w, r, made, t, a[1]);
    r->own.vulkan = true;
    r->transport = GR_TRANSPORT_EXTERNAL;
    return true;
}
