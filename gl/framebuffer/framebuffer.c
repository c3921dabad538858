/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fetches an attachment of a framebuffer. OpenGL writes its pixels, resolved if they are
 * multisampled, to a staging buffer that CUDA can map.
 */
#include <grinterop/framebuffer.h>

#include <stdint.h>

#include <epoxy/gl.h>
#include <grinterop/gl.h>

#include "lib/base/error.h"
#include "lib/cuda/array_format.h"
#include "lib/publish/publish.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"
#include "lib/tensor/tensor.h"
#include "gl/framebuffer/framebuffer.h"
#include "gl/context/saved_state.h"
#include "gl/object/object.h"
#include "gl/memory/memory.h"
#include "gl/staging/staging.h"

/* Parts of the staging buffer begin at multiples of this. */
#define PART_ALIGNMENT 256

/* One attachment to read. */
struct part {
    gr_framebuffer_options options;
    gr_publish_options conversion;
    gr_tensor *tensor; /* NULL: the pixels stay in the buffer */
    struct gl_attachment attachment;
    gr_tensor_desc pixels; /* describes them in the staging buffer, with `shape` */
    int64_t shape[3];
    size_t offset, bytes;
    bool is_distance;
    struct gr_job_distance distance;
};

/* The state of one call. */
struct fetch {
    unsigned int framebuffer;
    bool is_bound; /* for reading and drawing, before the call */
    struct part *parts;
    size_t n;
    CUstream stream;
    const struct gl_context *context;
    struct gl_shader *shader; /* NULL: none suits the attachments */
    gr_resource *given;       /* the staging buffer of the options, or NULL */
    gr_resource *staging;     /* that of the options, or one that the context keeps */
    unsigned int name;        /* the OpenGL buffer to write: `staging`, or its next buffer */
    gr_buffer *buffer;        /* the mapping of `staging` */
    struct gr_use use;        /* of `staging` */
    gr_entered *entered;      /* of gr_use_check() */
};

/* ---- Options --------------------------------------------------------------------------------- */

static gr_status check_conversion(const struct part *p)
{
    const gr_publish_options *o = &p->conversion;
    const char *field = o->level                                ? "level"
                        : o->layer                              ? "layer"
                        : o->offset                             ? "offset"
                        : o->target                             ? "target"
                        : o->ring || o->timeout_ms              ? "ring` or `timeout_ms"
                        : o->x || o->y || o->width || o->height ? "x`, `y`, `width` or `height"
                        : o->z || o->depth || o->layers         ? "layers`, `z` or `depth"
                                                                : NULL;
    if (!field)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "`%s` of `conversion` does not apply to a framebuffer: leave it 0.", field);
}

static gr_status check_planes(struct part *p)
{
    const gr_framebuffer_options *o = &p->options;
    p->is_distance = o->z_near != 0 || o->z_far != 0;
    if (!p->is_distance)
        return GR_OK;
    GR_REFUSE_IF(!(o->z_near > 0) || !(o->z_far > 0) || o->z_near == o->z_far,
                 "`z_near` is %g and `z_far` is %g: pass the two planes of the perspective "
                 "projection, or 0 for both to get the depth from 0 to 1.",
                 (double)o->z_near, (double)o->z_far);
    const bool swapped = o->z_near > o->z_far;
    const double nearest = swapped ? o->z_far : o->z_near;
    const double ratio = nearest / (swapped ? o->z_near : o->z_far);
    const bool near_first = o->reverse_z == swapped;
    p->distance = (struct gr_job_distance){
        .z_near = nearest, .weights = {near_first ? 1 : ratio, near_first ? ratio : 1}};
    return GR_OK;
}

static gr_status check_buffer(gr_resource *buffer, const char *name)
{
    GR_REFUSE_IF(buffer->backend->api != GR_GRAPHICS_OPENGL || buffer->is_image,
                 "`%s` is not an OpenGL buffer: create it by gr_create_gl_buffer().", name);
    if (buffer->flags & GR_WRITE_DISCARD)
        return gr_fail(GR_ERR_STATE,
                       "`%s` was registered write_discard: CUDA has to read it. Create it "
                       "with GR_READ_ONLY.",
                       name);
    if (buffer->mapped)
        return gr_fail(GR_ERR_STATE,
                       "`%s` is mapped: release its buffer first, because OpenGL has to "
                       "write to it.",
                       name);
    return GR_OK;
}

static gr_status check_staging(struct fetch *f)
{
    if (!f->given)
        return GR_OK;
    GR_TRY(gr_resource_check_given(f->given));
    GR_TRY(check_buffer(f->given, "staging"));
    f->staging = f->given;
    f->use.here = gl_context_identical(&gl_of(f->given)->context, f->context);
    GR_TRY(gr_use_check(&f->use, f->entered));
    /* which has checked the storage of objects that have staging buffers */
    return gl_of(f->given)->staging ? GR_OK : gl_object_check_storage(&f->given, 1, f->stream);
}

static gr_status take_part(struct fetch *f, struct part *p, const gr_framebuffer_options *options)
{
    *p = (struct part){.attachment.framebuffer = f->framebuffer};
    GR_TRY(GR_TAKE(gr_framebuffer_options, &p->options, options));
    GR_TRY(GR_TAKE(gr_publish_options, &p->conversion, p->options.conversion));
    GR_TRY(check_planes(p));
    GR_TRY(check_conversion(p));
    gr_resource *staging = p->options.staging;
    GR_REFUSE_IF(f->given && staging && staging != f->given,
                 "The attachments have two `staging` buffers: one passes all of them.");
    if (staging)
        f->given = staging;
    return GR_OK;
}

static gr_status take(struct fetch *f, gr_tensor *const tensors[],
                      const gr_framebuffer_options *const options[], size_t n)
{
    GR_REFUSE_IF(!tensors, "`tensors` is NULL: pass an array of n tensors.");
    GR_REFUSE_IF(n == 0 || n > GR_MOST_ATTACHMENTS,
                 "%zu attachments were passed: pass 1 to %d, with their tensors.", n,
                 GR_MOST_ATTACHMENTS);
    for (f->n = 0; f->n < n; f->n++) {
        struct part *p = &f->parts[f->n];
        GR_TRY(take_part(f, p, options ? options[f->n] : NULL));
        p->tensor = tensors[f->n];
        GR_REFUSE_IF(!p->tensor, "The tensor is NULL: did its creation fail?");
        GR_TRY(gr_tensor_check(p->tensor));
        /* The stream may have ended with the context, and must then not reach the driver. */
        if (p->tensor->info.memory == GR_MEMORY_DEVICE)
            GR_TRY(gr_context_check(&p->tensor->context));
    }
    return check_staging(f);
}

/* ---- The rectangle --------------------------------------------------------------------------- */

/* Replaces a width or height of 0 by the rest of the attachment. The framebuffer is bound. */
static gr_status settle_rectangle(struct part *p)
{
    const struct gl_attachment *a = &p->attachment;
    gr_framebuffer_options *o = &p->options;
    const int64_t width = a->width, height = a->height;
    GR_REFUSE_IF(width == 0 && (o->width == 0 || o->height == 0),
                 "OpenGL does not report the size of the %s: set `width` and `height`.",
                 gl_attachment_text(a).text);
    if (width && o->width == 0 && o->x < width)
        o->width = (unsigned)(width - o->x);
    if (width && o->height == 0 && o->y < height)
        o->height = (unsigned)(height - o->y);
    const bool outside = (int64_t)o->x + o->width > width || (int64_t)o->y + o->height > height;
    if (o->width == 0 || o->height == 0 || (width && outside) || o->x > INT32_MAX ||
        o->y > INT32_MAX || o->width > INT32_MAX || o->height > INT32_MAX)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The rectangle of %u x %u pixels at %u, %u is not inside the %s, which has "
                       "%lld x %lld.",
                       o->width, o->height, o->x, o->y, gl_attachment_text(a).text,
                       (long long)width, (long long)height);
    p->shape[0] = o->height;
    p->shape[1] = o->width;
    p->shape[2] = a->read->channels;
    p->pixels = GR_INIT(gr_tensor_desc, .dtype = gr_array_dtype(a->read->format),
                        .ndim = a->read->channels == 1 ? 2 : 3, .shape = p->shape);
    p->bytes = (size_t)o->width * o->height * a->read->channels * gr_dtype_size(p->pixels.dtype);
    return GR_OK;
}

/* ---- Reading, with the framebuffer bound ----------------------------------------------------- */

static gr_status bind(const struct fetch *f)
{
    GR_REFUSE_IF(f->framebuffer && !f->is_bound && !glIsFramebuffer(f->framebuffer),
                 "There is no OpenGL framebuffer %u in the current context: it was deleted, "
                 "belongs to another context, or was only reserved and never bound.",
                 f->framebuffer);
    if (!f->is_bound)
        glBindFramebuffer(GL_FRAMEBUFFER, f->framebuffer);
    const GLenum complete = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER);
    if (complete == GL_FRAMEBUFFER_COMPLETE)
        return GR_OK;
    const GLenum error = gl_errors_take();
    if (error != GL_NO_ERROR)
        return gl_attachment_fail(&f->parts[0].attachment, error, "glBindFramebuffer");
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)complete, "", "glCheckFramebufferStatus",
                        complete == GL_FRAMEBUFFER_UNDEFINED
                            ? "%s: the context has no default framebuffer: it has no window. Read "
                              "a framebuffer object."
                            : "%s: the framebuffer is incomplete: draw to it first, and check it "
                              "with glCheckFramebufferStatus().",
                        gr_call);
}

static gr_status refuse_sample(const struct part *p)
{
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The compute shader cannot read one sample of the %s: that needs a framebuffer "
                   "object with a sized format, and neither transform feedback, subroutines nor "
                   "queries of shader invocations. Leave `sample` 0 to resolve the samples.",
                   gl_attachment_text(&p->attachment).text);
}

static gr_status read_part(const struct fetch *f, const struct part *p, bool conditional)
{
    if (conditional && p->attachment.is_blitted)
        return gr_fail_code(
            GR_ERR_STATE, GR_DOMAIN_OPENGL, GL_INVALID_OPERATION, "GL_INVALID_OPERATION",
            "glBeginConditionalRender",
            "%s: conditional rendering is active, and would discard the blit that resolves or "
            "converts the pixels. Fetch before glBeginConditionalRender() or after "
            "glEndConditionalRender().",
            gr_call);
    const gr_framebuffer_options *o = &p->options;
    const struct gl_resource *staging = (const struct gl_resource *)f->staging;
    const struct gl_attachment_read read = {.context = f->context,
                                            .shader = conditional ? NULL : f->shader,
                                            .attachment = &p->attachment,
                                            .x = (int)o->x,
                                            .y = (int)o->y,
                                            .width = (int)o->width,
                                            .height = (int)o->height,
                                            .pixel = (unsigned)(p->bytes / o->width / o->height),
                                            .buffer = f->name,
                                            .is_lent = f->name != staging->name,
                                            .size = staging->base.size,
                                            .offset = p->offset};
    GLenum error;
    if (gl_attachment_read(&read, &error))
        return GR_OK;
    if (error == GL_NO_ERROR)
        return refuse_sample(p);
    return gl_attachment_fail(&p->attachment, error,
                              p->attachment.sample ? "glDispatchCompute" : "glReadPixels");
}

static gr_status fill(const struct fetch *f)
{
    bool discardable = f->shader; /* without blits and dispatches, nothing could be discarded */
    for (size_t i = 0; i < f->n; i++)
        discardable = discardable || f->parts[i].attachment.is_blitted;
    const bool conditional =
        discardable && f->context->direct && gl_renders_conditionally(f->shader);
    for (size_t i = 0; i < f->n; i++)
        GR_TRY(read_part(f, &f->parts[i], conditional));
    return GR_OK;
}

/* With frames in flight, OpenGL writes the next staging buffer. */
static gr_status fill_staging(void *of)
{
    struct fetch *f = of;
    GR_TRY(gl_staging_fill(f->staging, &f->name));
    return fill(f);
}

/* ---- The fetch ------------------------------------------------------------------------------- */

/* Refuses types that would hold only 0 and 1 of the depth or distance, unless there is a scale. */
static gr_status check_depth(const struct part *p, gr_dtype dtype)
{
    const bool is_depth = p->attachment.mask == GL_DEPTH_BUFFER_BIT;
    GR_REFUSE_IF(p->is_distance && !is_depth,
                 "`z_near` and `z_far` are for depth, but the attachment has no depth: leave them "
                 "0, or set `attachment` to GL_DEPTH_ATTACHMENT.");
    if (!is_depth || p->conversion.scale || p->conversion.scale_f64 || gr_dtype_is_float(dtype) ||
        !(p->is_distance || gr_dtype_is_number(dtype)))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The tensor is %s, but the %s: use float32, or set `scale`, such as 1000.0 / "
                   "65535 for distances in millimetres in uint16.",
                   gr_dtype_get_info(dtype)->name,
                   p->is_distance ? "distances would be clamped to 1" : "depth is from 0 to 1");
}

static gr_status check_sample(struct part *p)
{
    struct gl_attachment *a = &p->attachment;
    const unsigned count = (unsigned)a->samples, sample = p->options.sample;
    a->sample = (int)sample;
    if (sample <= count)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   count ? "`sample` is %u, but the %s has %u: pass 1 to that, or 0 to resolve "
                           "them."
                         : "`sample` is %u, but the %s has %u samples: leave it 0.",
                   sample, gl_attachment_text(a).text, count);
}

/* Finds the attachment and its rectangle. The framebuffer is bound. */
static gr_status find_part(struct fetch *f, struct part *p)
{
    GR_TRY(gl_attachment_describe(&p->attachment, p->options.attachment, f->context));
    GR_TRY(p->tensor ? check_depth(p, p->tensor->info.dtype) : GR_OK);
    GR_TRY(check_sample(p));
    GR_TRY(settle_rectangle(p));
    if (!p->attachment.copied)
        return p->attachment.sample ? refuse_sample(p) : GR_OK;
    if (!f->shader)
        f->shader = p->attachment.sample ? gl_shader_need(f->context) : gl_shader_use(f->context);
    return p->attachment.sample && !f->shader ? gr_last_error()->status : GR_OK;
}

/* Finds the parts, and places them in the staging buffer, which the context may keep. */
static gr_status find_parts(struct fetch *f)
{
    size_t end = 0;
    GR_TRY(bind(f));
    for (size_t i = 0; i < f->n; i++) {
        struct part *p = &f->parts[i];
        GR_TRY(find_part(f, p));
        p->offset = (end + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
        end = p->offset + (p->bytes + 3) / 4 * 4; /* shaders write whole words */
    }
    if (f->given)
        return GR_OK;
    f->use.held = f->use.here = true;
    f->staging = gl_kept_staging(f->context, end, f->stream);
    return f->staging ? gr_use_check(&f->use, f->entered) : gr_last_error()->status;
}

static gr_status check_size(const struct fetch *f, const char *name)
{
    const struct part *last = &f->parts[f->n - 1];
    const size_t size = f->staging->size, end = last->offset + last->bytes;
    if (end <= size)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The size of `%s` is %zu, but %u x %u pixels%s need %zu byte%s.", name, size,
                   last->options.width, last->options.height, f->n > 1 ? " of each attachment" : "",
                   end, gr_s(end));
}

/* Lets OpenGL write the attachments to the staging buffer, and converts them to the tensors. */
static gr_status fetch_parts(struct fetch *f)
{
    struct gr_attachment attachments[GR_MOST_ATTACHMENTS];
    GR_TRY(find_parts(f));
    GR_TRY(check_size(f, "staging"));
    for (size_t i = 0; i < f->n; i++) {
        struct part *p = &f->parts[i];
        p->pixels.offset = p->offset;
        p->conversion.target = &p->pixels;
        attachments[i] = (struct gr_attachment){.tensor = p->tensor,
                                                .options = &p->conversion,
                                                .numbers = gl_format_is_integer(p->attachment.read),
                                                .distance = p->is_distance ? &p->distance : NULL};
    }
    return gr_fetch_attachments(&f->use, attachments, f->n, fill_staging, f);
}

/* Does the work, and restores the state of the application that it changes. */
static gr_status run(struct fetch *f, gr_status (*work)(struct fetch *f))
{
    GL_SAVED(before, GL_SAVE(ERRORS) | GL_SAVE(READ_FRAMEBUFFER) | GL_SAVE(DRAW_FRAMEBUFFER));
    f->is_bound = (GLuint)before.value[GL_STATE_READ_FRAMEBUFFER] == f->framebuffer &&
                  (GLuint)before.value[GL_STATE_DRAW_FRAMEBUFFER] == f->framebuffer;
    if (f->is_bound) /* it stays so: gl_attachment_read() binds it again */
        before.states = GL_SAVE(ERRORS);
    gr_status status = work(f);
    if (f->staging && status != GR_OK)
        gl_staging_unfill(f->staging); /* no map has used what OpenGL wrote */
    if (f->shader)
        gl_shader_pass(f->shader, f->staging ? &((struct gl_resource *)f->staging)->shader : NULL);
    return status;
}

static gr_status begin(struct gl_context *context)
{
    GR_TRY(gl_context_begin(context, "has the framebuffer"));
    if (!context->es)
        return GR_OK;
    return gl_context_refuse_es(
        context, "Reading framebuffers", "glClampColor and direct state access",
        "gr_from_gl_image() with the texture that is attached, or glReadPixels() into a buffer of "
        "gr_from_gl_buffer()");
}

/* `parts` has room for the attachments. */
static gr_status fetch(unsigned int framebuffer, struct part *parts, gr_tensor *const tensors[],
                       const gr_framebuffer_options *const options[], size_t n, CUstream stream)
{
    GR_ENTERED entered = 0;
    struct fetch f = {.framebuffer = framebuffer, .parts = parts, .stream = stream};
    struct gl_context context;
    f.context = &context;
    f.entered = &entered;
    f.use =
        (struct gr_use){.resources = &f.staging, .n = 1, .stream = stream, .buffers = &f.buffer};
    GR_TRY(begin(&context));
    GR_TRY(take(&f, tensors, options, n));
    return run(&f, fetch_parts);
}

gr_status gr_fetch_framebuffer(unsigned int framebuffer, gr_tensor *tensor,
                               const gr_framebuffer_options *options, CUstream stream)
{
    GR_CALL();
    struct part part;
    return fetch(framebuffer, &part, &tensor, &options, 1, stream);
}

gr_status gr_fetch_framebuffer_many(unsigned int framebuffer, gr_tensor *const tensors[],
                                    const gr_framebuffer_options *const options[], size_t n,
                                    CUstream stream)
{
    GR_CALL();
    struct part parts[GR_MOST_ATTACHMENTS];
    return fetch(framebuffer, parts, tensors, options, n, stream);
}

/* ---- The copy to a buffer -------------------------------------------------------------------- */

static gr_status take_copy(struct fetch *f, const gr_framebuffer_options *options, size_t offset)
{
    struct part *p = &f->parts[0];
    GR_TRY(take_part(f, p, options));
    const char *field = p->is_distance          ? "z_near"
                        : p->options.conversion ? "conversion"
                        : f->given              ? "staging"
                                                : NULL;
    GR_REFUSE_IF(field, "`%s` does not apply to a copy, which keeps the values: leave it 0%s.",
                 field,
                 p->is_distance ? ", or read distances by gr_fetch_framebuffer()"
                                : ", and convert by gr_buffer_fetch()");
    GR_REFUSE_IF(offset % 4, "The offset is %zu, not a multiple of 4.", offset);
    GR_TRY(gr_resource_check_slot(f->staging));
    GR_TRY(gr_resource_check_open(f->staging));
    GR_TRY(check_buffer(f->staging, "buffer"));
    /* gr_resource_check_thread() lets slots of a ring pass, whose name is of one context only */
    GR_TRY(gr_resource_check_graphics_here(f->staging));
    const size_t size = f->staging->size;
    GR_REFUSE_IF(offset > size, "The size of `buffer` is %zu, but the offset is %zu.", size,
                 offset);
    f->given = f->staging;
    f->n = 1;
    p->offset = offset;
    return gl_object_check_storage(&f->staging, 1, f->stream);
}

static gr_status copy_part(struct fetch *f)
{
    GR_TRY(bind(f));
    GR_TRY(find_part(f, &f->parts[0]));
    GR_TRY(check_size(f, "buffer"));
    f->name = gl_of(f->staging)->name;
    return fill(f);
}

gr_status gr_copy_framebuffer(unsigned int framebuffer, gr_resource *buffer, size_t offset,
                              const gr_framebuffer_options *options)
{
    GR_CALL();
    struct part part;
    struct fetch f = {.framebuffer = framebuffer, .parts = &part, .staging = buffer};
    struct gl_context context;
    GR_TRY(begin(&context));
    GR_TRY(take_copy(&f, options, offset));
    f.context = &context;
    return run(&f, copy_part);
}
