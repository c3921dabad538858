/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Random calls with buffers and images by all transports. A model on the CPU has the bytes of each
 * object, also of those that no call names: what OpenGL and CUDA read is compared with it. Objects
 * are deleted at any time, and others get their names.
 *
 * test_random_images                      a few seeds; for make check
 * test_random_images --seed N --calls N   this seed, that many calls
 * test_random_images --seconds N          seeds from --seed on, as many as fit in the time
 */
#define _GNU_SOURCE /* setenv() */
#include "publish_support.h"
#include "tests/support/random_walk.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OBJECTS    12
#define HOLDS      24
#define LEVELS     4
#define LAYERS     6
#define NOTES      24
#define MOST_BYTES ((size_t)LAYERS * IMAGE_MOST_BYTES)

static unsigned seed = 1, calls = 250, seconds, seeds = 30;
static bool verbose;

/* A registration, which its object may not outlive. */
struct hold {
    gr_resource *resource; /* NULL once it is freed: the mapping may live on */
    gr_buffer *mapped;
    struct object *object; /* NULL: it was deleted */
    unsigned flags;
};

/* A name of 0: the slot is free. A buffer is one row of bytes. */
struct object {
    struct image image;
    struct hold *hold; /* or NULL */
    bool created;      /* by grinterop, which deletes it */
    unsigned char *texels[LEVELS][LAYERS];
    bool unknown[LEVELS][LAYERS]; /* the contents are undefined */
};

/* A rectangle of a level, in `layers` layers or `depth` slices; or `tiles` tiles in it, if
 * `columns` is not 0. */
struct part {
    unsigned level, layer, layers, x, y, width, height, z, depth;
    unsigned columns, rows, tiles;
    bool flip;
};

static struct object objects[OBJECTS];
static struct hold holds[HOLDS];
static uint32_t state;
static unsigned step, patterns;
static char notes[NOTES][160];
static unsigned long long all_steps, publishes, maps[GR_TRANSPORT_ANY];
static bool kernels;
static CUdeviceptr staging;
static unsigned char bytes[MOST_BYTES], tiled[MOST_BYTES];
static float floats[MOST_BYTES];

static unsigned any(unsigned n)
{
    return walk_random(&state, n);
}

/* Notes a call, which a failure prints. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char *text = notes[step % NOTES];
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof(notes[0]) - used, format, arguments);
    va_end(arguments);
    if (verbose)
        printf("%u: %s\n", step, text + used);
    case_begins(text, (int)step);
}

/* ---- The model ------------------------------------------------------------------------------- */

static int slot(const struct object *o)
{
    return (int)(o - objects);
}

static bool is_buffer(const struct object *o)
{
    return o->image.target->target == GL_ARRAY_BUFFER;
}

static void new_pattern(const struct object *o, void *to, size_t size)
{
    image_pattern(o->image.format, to, size, ++patterns);
}

static void must_equal(const struct object *o, const void *is, const void *should, size_t size,
                       const struct part *p, const char *where)
{
    const unsigned char *a = is, *b = should;
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(a[i] == b[i],
                      "object %d, level %u, layer %u: byte %zu of %zu is 0x%02x in %s, not 0x%02x",
                      slot(o), p->level, p->layer, i, size, a[i], where, b[i]);
}

/* Narrows one dimension of a part. */
static void narrow(unsigned *from, unsigned *extent)
{
    *from = any(*extent);
    *extent = 1 + any(*extent - *from);
}

static struct part whole(const struct object *o, unsigned level, unsigned layer)
{
    return (struct part){.level = level,
                         .layer = layer,
                         .layers = 1,
                         .width = image_width(&o->image, level),
                         .height = image_height(&o->image, level),
                         .depth = image_slices(&o->image, level)};
}

static size_t part_size(const struct object *o, const struct part *p)
{
    return (size_t)p->width * p->height * p->depth * p->layers * image_texel_bytes(o->image.format);
}

/* Compares packed bytes of the part with the model, or moves them there. */
static void move(struct object *o, const struct part *p, bool compare)
{
    const struct part all = whole(o, p->level, 0);
    const size_t texel = image_texel_bytes(o->image.format), size = p->width * texel;
    const unsigned char *at = bytes;
    for (unsigned layer = p->layer; layer < p->layer + p->layers; layer++) {
        bool *unknown = &o->unknown[p->level][layer];
        for (unsigned row = 0; row < p->depth * p->height; row++) {
            const unsigned y = (p->z + row / p->height) * all.height + p->y + row % p->height;
            unsigned char *model =
                o->texels[p->level][layer] + ((size_t)y * all.width + p->x) * texel;
            if (!compare)
                memcpy(model, at, size);
            else if (!*unknown)
                must_equal(o, at, model, size, p, "CUDA");
            at += size;
        }
        if (!compare && p->width == all.width && p->height == all.height && p->depth == all.depth)
            *unknown = false;
    }
}

/* Moves between the tiles and the picture in `bytes`. */
static void move_tiles(const struct object *o, const struct part *p, bool to_tiles)
{
    const size_t texel = image_texel_bytes(o->image.format);
    const unsigned height = p->height / p->rows, width = p->width / p->columns;
    for (unsigned i = 0; i < p->tiles * height; i++) {
        const unsigned tile = i / height, row = tile / p->columns * height + i % height;
        const unsigned x = tile % p->columns * width, y = p->flip ? p->height - 1 - row : row;
        unsigned char *at = bytes + ((size_t)y * p->width + x) * texel;
        unsigned char *of_tile = tiled + i * width * texel;
        memcpy(to_tiles ? of_tile : at, to_tiles ? at : of_tile, width * texel);
    }
}

/* Puts the tiles into the picture that the model has, in `bytes`. */
static void add_tiles(const struct object *o, const struct part *p)
{
    const size_t texel = image_texel_bytes(o->image.format), row = p->width * texel;
    const unsigned char *model = o->texels[p->level][p->layer];
    for (unsigned y = 0; y < p->height; y++) {
        const size_t at = (size_t)(p->y + y) * image_width(&o->image, p->level) + p->x;
        memcpy(bytes + y * row, model + at * texel, row);
    }
    move_tiles(o, p, false);
}

static void forget(struct object *o)
{
    memset(o->unknown, true, sizeof(o->unknown));
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* glGetTexImage() of shared textures may return old texels on NVIDIA's driver: reads a copy. */
static void download(const struct object *o, unsigned level, unsigned layer)
{
    const struct image *i = &o->image;
    if (is_buffer(o)) {
        gl_read(i->name, bytes, i->width);
        return;
    }
    if (!o->created || i->format->kind == IMAGE_DEPTH) {
        image_download(i, level, layer, bytes);
        return;
    }
    const struct image copy = image_make_of(i->format, i->target, image_width(i, level),
                                            image_height(i, level), image_slices(i, level), 1, 1);
    const GLenum target = i->target->target;
    glCopyImageSubData(i->name, target, (GLint)level, 0, 0, (GLint)layer, copy.name, target, 0, 0,
                       0, 0, (GLsizei)copy.width, (GLsizei)copy.height, (GLsizei)copy.slices);
    image_download(&copy, 0, 0, bytes);
    image_delete(&copy);
}

static void compare(struct object *o)
{
    if (!o->image.name || (o->hold && o->hold->mapped))
        return;
    for (unsigned n = 0; n < o->image.levels * o->image.layers; n++) {
        const struct part p = whole(o, n / o->image.layers, n % o->image.layers);
        if (o->unknown[p.level][p.layer])
            continue;
        download(o, p.level, p.layer);
        must_equal(o, bytes, o->texels[p.level][p.layer], part_size(o, &p), &p, "OpenGL");
    }
}

static void gl_put(struct object *o, unsigned level, unsigned layer)
{
    unsigned char *texels = o->texels[level][layer];
    new_pattern(o, texels, image_bytes(&o->image, level));
    if (is_buffer(o))
        gl_write(o->image.name, texels, o->image.width);
    else
        image_upload(&o->image, level, layer, texels);
    o->unknown[level][layer] = false;
}

static void gl_clear(struct object *o, unsigned level)
{
    const struct image_format *f = o->image.format;
    struct part p = whole(o, level, 0);
    const size_t texel = image_texel_bytes(f), size = image_bytes(&o->image, level);
    new_pattern(o, bytes, texel);
    if (is_buffer(o))
        glClearNamedBufferData(o->image.name, GL_R8UI, f->transfer, f->type, bytes);
    else
        glClearTexImage(o->image.name, (GLint)level, f->transfer, f->type, bytes);
    p.layers = o->image.layers;
    for (size_t i = texel; i < size * p.layers; i++)
        bytes[i] = bytes[i - texel];
    move(o, &p, false);
}

static void gl_change(struct object *o)
{
    const struct image *i = &o->image;
    const unsigned level = any(i->levels), layer = any(i->layers);
    const bool clears = any(3) == 0 && i->target->target != GL_RENDERBUFFER &&
                        i->format->channel_bytes == 1 && !image_is_srgb(i->format);
    note("OpenGL %s %d, level %u, layer %u", clears ? "clears" : "writes", slot(o), level, layer);
    if (clears)
        gl_clear(o, level);
    else
        gl_put(o, level, layer);
}

/* Storage by glTexImage, of which each level is separate. */
static void make_mutable(struct image *i)
{
    const GLenum target = i->target->target, transfer = i->format->transfer, type = i->format->type;
    const GLint internal = (GLint)i->format->internal;
    const unsigned faces = target == GL_TEXTURE_CUBE_MAP ? 6 : 1;
    i->name = bound_texture(target);
    for (unsigned n = 0; n < i->levels * faces; n++) {
        const unsigned level = n / faces;
        const GLsizei w = (GLsizei)image_width(i, level), h = (GLsizei)image_height(i, level),
                      d = (GLsizei)(image_slices(i, level) * i->layers);
        const GLenum face = faces == 6 ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + n % 6 : target;
        if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY)
            glTexImage3D(target, (GLint)level, internal, w, h, d, 0, transfer, type, NULL);
        else
            glTexImage2D(face, (GLint)level, internal, w, h, 0, transfer, type, NULL);
    }
    glBindTexture(target, 0);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* Selects format, target and size; the name stays 0. */
static struct image any_shape(bool buffer)
{
    static const struct image_target row = {.name = "BUFFER", .target = GL_ARRAY_BUFFER};
    static const char *const formats[] = {
        "R8",      "RG8",      "RGBA8",    "SRGB8_ALPHA8",   "R16F",
        "RGBA32F", "RGBA16UI", "RGB10_A2", "R11F_G11F_B10F", "DEPTH_COMPONENT32F"};
    static const char *const targets[] = {"2D",   "2D_ARRAY", "2D_ARRAY",    "3D",
                                          "CUBE", "RECT",     "RENDERBUFFER"};
    struct image i = {.slices = 1, .layers = 1, .levels = 1};
    i.format = image_format(buffer ? "R8UI" : formats[any(10)]);
    i.target = buffer ? &row : image_target(targets[any(7)]);
    if (i.format->kind == IMAGE_DEPTH && i.target->target == GL_TEXTURE_3D)
        i.target = image_target("2D"); /* OpenGL has no depth in 3D */
    const bool cube = i.target->target == GL_TEXTURE_CUBE_MAP;
    if (i.target->target == GL_TEXTURE_3D)
        i.slices = 1 + any(5);
    if (i.target->target == GL_TEXTURE_2D_ARRAY || cube)
        i.layers = cube ? 6 : 1 + any(5);
    i.width = 1 + any(buffer ? 5000 : cube ? 40 : 70);
    const unsigned most = IMAGE_MOST_BYTES / (i.width * i.slices * image_texel_bytes(i.format));
    i.height = buffer ? 1 : cube ? i.width : 1 + any(most < 70 ? most : 70);
    const unsigned levels = i.target->mipmaps ? 1 + any(LEVELS) : 1;
    while (i.levels < levels && (i.width | i.height | i.slices) >> i.levels)
        i.levels++;
    return i;
}

static struct hold *free_hold(void)
{
    for (int i = 0; i < HOLDS; i++)
        if (!holds[i].resource && !holds[i].mapped)
            return &holds[i];
    return NULL;
}

static unsigned any_flags(const struct object *o)
{
    const unsigned access = any(3);
    return access | (!is_buffer(o) && any(2) ? GR_SURFACE_LOAD_STORE : 0);
}

/* Keeps the resource, unless it was refused in a way that the headers allow. */
static bool keep(struct object *o, struct hold *h, gr_resource *resource, bool may_refuse)
{
    if (!resource) {
        ck_assert_msg(gr_last_error()->status == GR_ERR_UNSUPPORTED && may_refuse, "refused: %s",
                      error_text());
        note(", refused");
        gr_clear_error();
        return false;
    }
    h->resource = resource;
    h->object = o;
    o->hold = h;
    return true;
}

/* Lets grinterop create the object, with undefined contents. */
static void make_created(struct object *o, struct hold *h)
{
    const struct image *i = &o->image;
    gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = any(2) ? GR_TRANSPORT_SHARED : GR_TRANSPORT_ANY);
    h->flags = any_flags(o);
    options.packed = is_buffer(o) && any(3) == 0;
    note(", created with flags %u, transports %u, packed %d", h->flags, options.transports,
         options.packed);
    gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc, .width = i->width, .height = i->height);
    desc.target = i->target->target;
    desc.internal_format = i->format->internal;
    desc.depth = desc.target == GL_TEXTURE_CUBE_MAP ? 0 : i->slices * i->layers;
    desc.levels = i->levels;
    if (keep(o, h,
             is_buffer(o) ? gr_create_gl_buffer(i->width, h->flags, &options)
                          : gr_create_gl_image(&desc, h->flags, &options),
             true)) {
        o->image.name = gr_gl_name(h->resource);
        o->created = true;
        forget(o);
    }
}

static void make_object(struct object *o, bool buffer)
{
    const struct image i = any_shape(buffer);
    const GLenum target = i.target->target;
    struct hold *h = any(4) == 0 ? free_hold() : NULL;
    const bool immutable = any(2) || target == GL_RENDERBUFFER;
    *o = (struct object){.image = i};
    note("make %d: %s %s %ux%ux%u, %u layers, %u levels%s", slot(o), i.format->name, i.target->name,
         i.width, i.height, i.slices, i.layers, i.levels, immutable ? "" : ", mutable");
    if (h && target != GL_RENDERBUFFER && target != GL_TEXTURE_RECTANGLE)
        make_created(o, h);
    else if (buffer && immutable) {
        glCreateBuffers(1, &o->image.name);
        glNamedBufferStorage(o->image.name, i.width, NULL, 0);
    } else if (buffer)
        o->image.name = gl_buffer(NULL, i.width);
    else if (immutable)
        o->image =
            image_make_of(i.format, i.target, i.width, i.height, i.slices, i.layers, i.levels);
    else
        make_mutable(&o->image);
    for (unsigned n = 0; o->image.name && n < i.levels * i.layers; n++) {
        const unsigned level = n / i.layers, layer = n % i.layers;
        o->texels[level][layer] = must_allocate(image_bytes(&i, level));
        if (!o->created)
            gl_put(o, level, layer);
    }
}

static void register_object(struct object *o)
{
    static const unsigned transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                          GR_TRANSPORT_PEER, GR_TRANSPORT_PEER};
    struct hold *h = free_hold();
    if (!h)
        return;
    gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports[any(4)]);
    h->flags = any_flags(o);
    if (options.transports == GR_TRANSPORT_PEER && (h->flags & 3) && any(2))
        options.in_flight = 2 + any(3);
    note("register %d, flags %u, transports %u, in flight %u", slot(o), h->flags,
         options.transports, options.in_flight);
    keep(o, h,
         is_buffer(o)
             ? gr_from_gl_buffer_with(o->image.name, h->flags, &options)
             : gr_from_gl_image_with(o->image.name, o->image.target->target, h->flags, &options),
         options.transports == GR_TRANSPORT_PEER || o->image.format->kind <= IMAGE_PACKED);
}

static void drop(struct object *o)
{
    for (unsigned n = 0; n < LEVELS * LAYERS; n++)
        free(o->texels[n / LAYERS][n % LAYERS]);
    memset(o, 0, sizeof(*o));
}

/* The end of a resource is that of an object that grinterop created. */
static void leave(struct object *o)
{
    o->hold = NULL;
    if (o->created)
        drop(o);
}

static void release(struct hold *h)
{
    struct object *o = h->object;
    note("release %d; ", o ? slot(o) : -1);
    const gr_status status = gr_buffer_release(h->mapped);
    if (o || status != GR_ERR_PARTIAL)
        assert_ok(status);
    gr_clear_error();
    h->mapped = NULL;
    if (o && !h->resource)
        leave(o);
}

static void end_hold(struct hold *h)
{
    struct object *o = h->object;
    const bool close = any(2);
    note("%s %d%s; ", close ? "close" : "free", o ? slot(o) : -1, h->mapped ? ", mapped" : "");
    if (close) {
        const gr_status status = gr_resource_close(h->resource, GR_STREAM_OF_MAP);
        if (o || status != GR_ERR_PARTIAL)
            assert_ok(status);
        gr_clear_error();
        if (h->mapped)
            release(h);
    }
    gr_resource_free(h->resource);
    h->resource = NULL;
    if (o && !h->mapped)
        leave(o);
}

static void delete_object(struct object *o)
{
    struct hold *h = o->hold;
    if (o->created) {
        if (h->mapped)
            release(h);
        if (o->hold)
            end_hold(h);
        return;
    }
    note("delete %d%s; ", slot(o), !h ? "" : h->mapped ? ", mapped" : ", registered");
    if (is_buffer(o))
        glDeleteBuffers(1, &o->image.name);
    else
        image_delete(&o->image);
    if (h)
        h->object = NULL;
    drop(o);
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Copies a part between `bytes` and the mapping, which is linear memory if it has a pitch. */
static void copy_part(const struct object *o, gr_buffer *mapped, const struct part *p, bool write)
{
    const size_t pitch = gr_buffer_get_info(mapped)->pitch;
    const size_t row = p->width * image_texel_bytes(o->image.format);
    const bool is_3d = o->image.target->target == GL_TEXTURE_3D;
    if (!pitch && !is_buffer(o)) {
        const gr_linear_desc memory =
            GR_INIT(gr_linear_desc, .host = bytes, .x = p->x, .y = p->y, .width = p->width,
                    .height = p->height, .z = p->z, .depth = is_3d ? p->depth : 0,
                    .layers = is_3d ? 0 : p->layers);
        if (write)
            assert_ok(gr_buffer_copy_from_linear(mapped, p->level, p->layer, &memory, fx.stream));
        else
            assert_ok(gr_buffer_copy_to_linear(mapped, p->level, p->layer, &memory, fx.stream));
    } else
        for (size_t y = 0; y < part_size(o, p) / row; y++)
            if (write)
                CU(MemcpyHtoDAsync(gr_buffer_ptr(mapped) + y * pitch, bytes + y * row, row,
                                   fx.stream));
            else
                CU(MemcpyDtoHAsync(bytes + y * row, gr_buffer_ptr(mapped) + y * pitch, row,
                                   fx.stream));
    CU(StreamSynchronize(fx.stream));
}

/* CUDA reads, and writes, as the flags allow. */
static void use_part(struct object *o, struct hold *h, const struct part *p, unsigned flags)
{
    if (!(flags & GR_WRITE_DISCARD)) {
        memset(bytes, 0xEE, part_size(o, p));
        copy_part(o, h->mapped, p, false);
        move(o, p, true);
    }
    if (!(flags & GR_READ_ONLY)) {
        new_pattern(o, bytes, part_size(o, p));
        copy_part(o, h->mapped, p, true);
        move(o, p, false);
    }
}

static void map(struct hold *h)
{
    struct object *o = h->object;
    const struct image *i = &o->image;
    const gr_transport transport = gr_resource_get_info(h->resource)->transport;
    const bool copies = transport == GR_TRANSPORT_COPY || transport == GR_TRANSPORT_PEER;
    gr_map_options options = GR_INIT(gr_map_options, .access = GR_MAP_AS_REGISTERED);
    const unsigned level = any(i->levels);
    struct part p = whole(o, level, any(i->layers));
    unsigned flags = h->flags & 3;
    const bool linear = !is_buffer(o) && i->format->kind > IMAGE_PACKED && any(2);
    if (flags == GR_READ_WRITE && !linear && any(2)) {
        flags = any(3);
        options.access = flags ? (gr_map_access)flags : GR_MAP_READ_WRITE;
    }
    if (is_buffer(o) && (copies || flags != GR_WRITE_DISCARD) && any(2)) {
        narrow(&p.x, &p.width);
        options.offset = p.x, options.size = p.width;
    }
    note("map %d%s, flags %u, access %d, level %u, layer %u, %u at %u; ", slot(o),
         linear ? " as linear memory" : "", h->flags, options.access, level, p.layer, p.width, p.x);
    h->mapped = must_make(linear ? gr_map_linear(h->resource, level, p.layer, fx.stream)
                                 : gr_map_with(h->resource, fx.stream, &options));
    maps[transport]++;
    if (flags == GR_WRITE_DISCARD && !options.size)
        forget(o);
    use_part(o, h, &p, flags);
    for (int n = 0; n < 2 && !linear && !is_buffer(o); n++) {
        const unsigned other = any(i->levels);
        p = whole(o, other, any(i->layers));
        if (any(2))
            narrow(&p.x, &p.width), narrow(&p.y, &p.height), narrow(&p.z, &p.depth);
        p.layers = any(2) ? 1 : 1 + any(i->layers - p.layer);
        note("level %u, layer %u of %u, slice %u of %u, %ux%u at %u,%u; ", other, p.layer, p.layers,
             p.z, p.depth, p.width, p.height, p.x, p.y);
        use_part(o, h, &p, flags);
    }
    if (any(3))
        release(h);
}

/* A resource of a deleted object reaches no other one. */
static void map_deleted(struct hold *h)
{
    note("map a deleted one, flags %u", h->flags);
    gr_buffer *mapped =
        any(2) ? gr_map(h->resource, fx.stream) : gr_map_linear(h->resource, 0, 0, fx.stream);
    ck_assert_msg(!mapped, "a deleted object was mapped");
    ck_assert_msg(gr_last_error()->status == GR_ERR_STATE, "%s", error_text());
    gr_clear_error();
}

static gr_dtype dtype_of(const struct image_format *f)
{
    return f->kind == IMAGE_DEPTH ? GR_DTYPE_F32 : image_dtype(f);
}

/* Makes tiles of the part, whose missing tiles must keep known texels. */
static void divide(const struct hold *h, struct part *p)
{
    const unsigned columns = 1 + any(3), rows = 1 + any(3), missing = any(columns);
    const bool all = h->flags & GR_WRITE_DISCARD || h->object->unknown[p->level][p->layer];
    if (p->width < columns || p->height < rows || (all && (p->width % columns || p->height % rows)))
        return;
    p->width -= p->width % columns, p->height -= p->height % rows;
    p->columns = columns, p->rows = rows, p->flip = any(2);
    p->tiles = columns * rows - (all ? 0 : missing);
    note(" %u tiles in %u x %u%s,", p->tiles, columns, rows, p->flip ? " from above" : "");
}

/* Selects the part of a publish, and whether it has floats, where they lose nothing. */
static struct part any_part(const struct hold *h, gr_publish_options *options, bool *as_floats)
{
    const struct object *o = h->object;
    const struct image *i = &o->image;
    const bool is_3d = i->target->target == GL_TEXTURE_3D;
    const bool all = any(3) == 0 && !is_buffer(o) && !is_3d;
    const bool ranges =
        any(3) == 0 && !is_buffer(o) && !all && (!is_3d || !(h->flags & GR_WRITE_DISCARD));
    struct part p = whole(o, any(i->levels), any(i->layers));
    *as_floats = kernels && any(3) == 0 && i->format->kind == IMAGE_NORMALIZED &&
                 i->format->channel_bytes == 1 && !image_is_srgb(i->format);
    if (all)
        p.layer = 0, p.layers = i->layers;
    else if (ranges && is_3d)
        narrow(&p.z, &p.depth);
    else if (ranges)
        p.layers = 1 + any(i->layers - p.layer);
    if (any(3) == 0 && !(h->flags & GR_WRITE_DISCARD)) {
        narrow(&p.x, &p.width), narrow(&p.y, &p.height);
    }
    if (kernels && !all && !ranges && !is_buffer(o) && !is_3d && any(3) == 0)
        divide(h, &p);
    if (is_buffer(o))
        options->offset = p.x;
    else
        *options = GR_INIT(gr_publish_options, .level = p.level, .x = p.x, .y = p.y,
                           .width = p.width, .height = p.height, .columns = p.columns,
                           .flip = p.flip, .layer = all ? GR_ALL_LAYERS : p.layer, .z = p.z,
                           .depth = ranges && is_3d ? p.depth : 0,
                           .layers = ranges && !is_3d ? p.layers : 0);
    note(" %d, level %u, layer %u of %u, slice %u of %u, %ux%u at %u,%u%s", slot(o), p.level,
         p.layer, p.layers, p.z, p.depth, p.width, p.height, p.x, p.y,
         *as_floats ? ", as floats" : "");
    return p;
}

static void publish(struct hold *h, bool fetch)
{
    struct object *o = h->object;
    const struct image_format *f = o->image.format;
    gr_publish_options options = GR_INIT(gr_publish_options, .level = 0);
    bool as_floats;
    if (f->kind == IMAGE_PACKED)
        return;
    note("%s", fetch ? "fetch" : "publish");
    const struct part p = any_part(h, &options, &as_floats);
    const unsigned tiles = p.columns * p.rows;
    const size_t whole_size = part_size(o, &p),
                 size = tiles ? whole_size / tiles * p.tiles : whole_size;
    const size_t moved = as_floats ? sizeof(float) * size : size;
    const int64_t shape[] = {tiles ? p.tiles : p.layers * p.depth,
                             tiles ? p.height / p.rows : p.height,
                             tiles ? p.width / p.columns : p.width, image_channels(f)};
    unsigned char *elements = tiles ? tiled : bytes;
    void *data = as_floats ? (void *)floats : elements;
    const bool on_host = any(2);
    new_pattern(o, bytes, whole_size);
    if (tiles)
        move_tiles(o, &p, true);
    for (size_t k = 0; as_floats && k < size; k++)
        floats[k] = (float)elements[k] / 255;
    if (fetch)
        memset(data, 0xEE, moved);
    CU(MemcpyHtoDAsync(staging, data, moved, fx.other));
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .ndim = is_buffer(o) ? 1 : 4);
    desc.shape = is_buffer(o) ? shape + 2 : shape;
    desc.dtype = as_floats ? GR_DTYPE_F32 : dtype_of(f);
    desc.memory = on_host ? GR_MEMORY_HOST : GR_MEMORY_DEVICE;
    gr_tensor *tensor = must_make(gr_tensor_from_memory(
        &desc, on_host ? data : (void *)(uintptr_t)staging, fx.other, NULL, NULL));
    const gr_status status = fetch ? gr_fetch(h->resource, tensor, &options, fx.other)
                                   : gr_publish(h->resource, tensor, &options, fx.other);
    gr_tensor_free(tensor);
    if (fetch && !on_host)
        CU(MemcpyDtoHAsync(data, staging, moved, fx.other));
    CU(StreamSynchronize(fx.other));
    if (h->flags & (fetch ? GR_WRITE_DISCARD : GR_READ_ONLY)) {
        ck_assert_int_eq(status, GR_ERR_STATE);
        gr_clear_error();
        return;
    }
    assert_ok(status);
    publishes++;
    if (h->flags & GR_WRITE_DISCARD)
        forget(o);
    for (size_t k = 0; as_floats && fetch && k < size; k++)
        elements[k] = (unsigned char)(floats[k] * 255 + 0.5f);
    if (tiles)
        add_tiles(o, &p);
    move(o, &p, fetch);
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

static void make_step(void)
{
    struct object *o = &objects[any(OBJECTS)];
    struct hold *h = &holds[any(HOLDS)];
    const unsigned what = any(12);
    notes[step % NOTES][0] = '\0';
    for (int i = 0; i < HOLDS && !h->resource && !h->mapped; i++)
        h = &holds[any(HOLDS)];
    if (what == 0 || !o->image.name) {
        const bool buffer = o->image.name ? is_buffer(o) : any(3) == 0;
        if (o->image.name)
            delete_object(o);
        make_object(o, buffer);
    } else if (what < 3 && !o->hold)
        register_object(o);
    else if (what < 5 && !(o->hold && o->hold->mapped))
        gl_change(o);
    else if (h->mapped && any(3) == 0)
        release(h);
    else if (h->resource && any(8) == 0)
        end_hold(h);
    else if (h->resource && !h->mapped && !h->object)
        map_deleted(h);
    else if (h->resource && !h->mapped && any(2))
        map(h);
    else if (h->resource && !h->mapped)
        publish(h, any(2));
    const unsigned chosen = any(OBJECTS);
    for (unsigned i = 0; i < OBJECTS; i++)
        if (i == chosen || verbose)
            compare(&objects[i]);
    assert_gl_clean();
}

static void compare_all(void)
{
    for (int i = 0; i < OBJECTS; i++)
        compare(&objects[i]);
}

static void run_seed(void)
{
    state = seed * 2654435769u | 1;
    patterns = 0;
    memset(notes, 0, sizeof(notes));
    CU(MemAlloc(&staging, sizeof(floats)));
    for (step = 0; step < calls; step++)
        make_step();
    compare_all();
    for (int i = 0; i < HOLDS; i++)
        if (holds[i].mapped)
            release(&holds[i]);
    compare_all();
    for (int i = 0; i < HOLDS; i++)
        if (holds[i].resource)
            end_hold(&holds[i]);
    compare_all();
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].image.name)
            delete_object(&objects[i]);
    assert_ok(gr_tensor_collect(1000));
    CU(MemFree(staging));
    all_steps += calls;
}

static TCase *add_random_case(Suite *suite, const char *name)
{
    return with_sharing(add_image_case(suite, name));
}

GROUP("random", add_random_case)

TEST(bytes_are_right_after_random_calls)
{
    const time_t begin = time(NULL);
    const unsigned first = seed;
    gr_log_add(GR_LOG_NONE, NULL, NULL); /* losses of deleted objects would fill the log */
    kernels = !publish_kernels_missing();
    for (; seconds ? time(NULL) - begin < (time_t)seconds : seed - first < seeds; seed++) {
        if (!gr_cuda_is_software() && seed - first < 30)
            fx.fds = -1; /* GPU drivers open files at first uses */
        run_seed();
        fixture_teardown();
        fixture_setup();
    }
    printf("seeds %u to %u: %llu steps, maps by interop %llu, shared %llu, copy %llu, peer %llu; "
           "%llu publishes and fetches\n",
           first, seed - 1, all_steps, maps[GR_TRANSPORT_INTEROP], maps[GR_TRANSPORT_SHARED],
           maps[GR_TRANSPORT_COPY], maps[GR_TRANSPORT_PEER], publishes);
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"calls", required_argument, NULL, 'c'},
                                            {"seconds", required_argument, NULL, 't'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        const unsigned number = optarg ? (unsigned)strtoul(optarg, NULL, 10) : 0;
        if (c == 's')
            seed = number;
        else if (c == 'c')
            calls = number, seeds = 1;
        else if (c == 't')
            seconds = number;
        else if (c == 'v')
            verbose = true;
        else
            return false;
    }
    return optind == argc;
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv)) {
        fputs("usage: test_random_images [--seed N] [--calls N] [--seconds N] [--verbose]\n",
              stderr);
        return 2;
    }
    setenv("force_gl_names_reuse", "true", 0); /* Mesa */
    const int failed = run_tests(1, argv);
    for (unsigned n = step < NOTES ? 0 : step - NOTES + 1; failed && n <= step; n++)
        printf("%u: %s\n", n, notes[n % NOTES]);
    if (failed)
        printf("again: test_random_images --seed %u --calls %u\n", seed, calls);
    return failed;
}
