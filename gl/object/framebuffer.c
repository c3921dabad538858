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
#include "lib/base/struct_size.h"
#include "lib/tensor/tensor.h"
#include "gl/object/attachment.h"
#include "gl/object/object.h"
#include "gl/object/shader_read.h"
#include "gl/context/saved_state.h"
#include "gl/shared/shared.h"

/* The state of one fetch. */
struct fetch {
    gr_framebuffer_options options;
    gr_publish_options conversion;
    CUstream stream;
    const struct gl_context *context;
    struct gl_shader *shader; /* NULL: glReadPixels() reads the attachment */
    struct gl_attachment attachment;
    gr_resource *staging; /* that of the options, or a temporary one */
    int64_t shape[3];     /* the shape of the pixels in the staging buffer */
    size_t bytes;         /* the size of all pixels in bytes */
    bool is_distance;
    struct gr_inverse inverse;
    const char *call;
};

/* ---- Options --------------------------------------------------------------------------------- */

static gr_status check_conversion(const struct fetch *f)
{
    const gr_publish_options *o = &f->conversion;
    const char *field = o->chroma || o->chroma_v                ? "chroma"
                        : o->matrix || o->full_range || o->bits ? "matrix"
                        : o->level || o->layer                  ? "level"
                        : o->offset                             ? "offset"
                        : o->target                             ? "target"
                                                                : NULL;
    if (!field)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                   "`%s` of `conversion` does not apply to a framebuffer: leave it 0.", field);
}

static gr_status check_planes(struct fetch *f)
{
    const gr_framebuffer_options *o = &f->options;
    f->is_distance = o->z_near != 0 || o->z_far != 0;
    if (!f->is_distance)
        return GR_OK;
    if (!(o->z_near > 0) || !(o->z_far > 0) || o->z_near == o->z_far)
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "`z_near` is %g and `z_far` is %g: pass the two planes of the perspective "
                       "projection, or 0 for both to get the depth from 0 to 1.",
                       (double)o->z_near, (double)o->z_far);
    const float nearest = 1 / o->z_near, farthest = 1 / o->z_far;
    f->inverse.bias = o->reverse_z ? farthest : nearest;
    f->inverse.scale = o->reverse_z ? nearest - farthest : farthest - nearest;
    return GR_OK;
}

/* Also checks immutable storage: its registration stays valid, but its name may be reused. */
static gr_status check_staging(const struct fetch *f)
{
    gr_resource *staging = f->options.staging;
    if (!staging)
        return GR_OK;
    if (staging->backend->api != GR_GRAPHICS_OPENGL || staging->is_image)
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "`staging` is not an OpenGL buffer: create it by gr_create_gl_buffer().");
    if (staging->flags & GR_WRITE_DISCARD)
        return gr_fail(GR_ERR_STATE, f->call,
                       "`staging` was registered write_discard: CUDA has to read it. Create it "
                       "with GR_READ_ONLY.");
    if (gr_resource_get_info(staging)->mapped)
        return gr_fail(GR_ERR_STATE, f->call,
                       "`staging` is mapped: release its buffer first, because OpenGL has to "
                       "write to it.");
    GR_TRY(gr_map_check(staging, f->stream, f->call));
    return gl_shared_of(staging) ? GR_OK : gl_object_check_storage(&staging, 1, f->call);
}

static gr_status take(struct fetch *f, const gr_tensor *tensor,
                      const gr_framebuffer_options *options)
{
    GR_TRY(GR_TAKE(gr_framebuffer_options, &f->options, options, f->call));
    GR_TRY(GR_TAKE(gr_publish_options, &f->conversion, f->options.conversion, f->call));
    if (!tensor)
        return gr_fail(GR_ERR_INVALID_VALUE, f->call, "The tensor is NULL: did its creation fail?");
    GR_TRY(gr_tensor_check(tensor, f->call));
    GR_TRY(check_planes(f));
    GR_TRY(check_conversion(f));
    return check_staging(f);
}

/* ---- The rectangle --------------------------------------------------------------------------- */

/* Replaces a width or height of 0 by the rest of the attachment. The framebuffer is bound. */
static gr_status settle_rectangle(struct fetch *f)
{
    const struct gl_attachment *a = &f->attachment;
    gr_framebuffer_options *o = &f->options;
    const int64_t width = a->width, height = a->height;
    const struct gl_attachment_text text = gl_attachment_text(a);
    if (width == 0 && (o->width == 0 || o->height == 0))
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "OpenGL does not report the size of the %s: set `width` and `height`.",
                       text.text);
    if (width && o->width == 0 && o->x < width)
        o->width = (unsigned)(width - o->x);
    if (width && o->height == 0 && o->y < height)
        o->height = (unsigned)(height - o->y);
    const bool outside = (int64_t)o->x + o->width > width || (int64_t)o->y + o->height > height;
    if (o->width == 0 || o->height == 0 || (width && outside) || o->x > INT32_MAX ||
        o->y > INT32_MAX || o->width > INT32_MAX || o->height > INT32_MAX)
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "The rectangle of %u x %u pixels at %u, %u is not inside the %s, which has "
                       "%lld x %lld.",
                       o->width, o->height, o->x, o->y, text.text, (long long)width,
                       (long long)height);
    f->shape[0] = o->height;
    f->shape[1] = o->width;
    f->shape[2] = a->read->channels;
    f->bytes = (size_t)o->width * o->height * a->read->channels * gr_channel_bytes(a->read->format);
    return GR_OK;
}

/* ---- Reading, with the framebuffer bound ----------------------------------------------------- */

/* The state of the application that reading changes. */
struct read_state {
    GLenum errors;
    struct gl_pixel_state pixels;
    GLint read, draw, clamp;
};

static void begin_reading(struct read_state *before, const struct gl_context *context)
{
    before->errors = gl_errors_take();
    gl_pixel_state_begin(&before->pixels, context);
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before->read);
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before->draw);
    glGetIntegerv(GL_CLAMP_READ_COLOR, &before->clamp);
    glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
}

static void end_reading(const struct read_state *before)
{
    glClampColor(GL_CLAMP_READ_COLOR, (GLenum)before->clamp);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)before->read);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)before->draw);
    gl_pixel_state_end(&before->pixels);
    gl_errors_end(before->errors);
}

/* A framebuffer without multisampling, for the rectangle of a multisampled framebuffer. */
struct resolved {
    GLuint framebuffer, renderbuffer;
};

/* Resolves the rectangle. Leaves the resolved framebuffer bound for reading. */
static void resolve(const struct fetch *f, struct resolved *to)
{
    const gr_framebuffer_options *o = &f->options;
    const GLsizei width = (GLsizei)o->width, height = (GLsizei)o->height;
    GLint before = 0;
    glGetIntegerv(GL_RENDERBUFFER_BINDING, &before);
    glGenFramebuffers(1, &to->framebuffer);
    glGenRenderbuffers(1, &to->renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, to->renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, f->attachment.resolved, width, height);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to->framebuffer);
    glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER,
                              gl_attachment_point(f->attachment.mask, f->attachment.resolved),
                              GL_RENDERBUFFER, to->renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, (GLuint)before);
    gl_blit((GLint)o->x, (GLint)o->y, width, height, f->attachment.mask);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, to->framebuffer);
}

static void read_pixels(const struct fetch *f, unsigned int buffer)
{
    const struct gl_attachment *a = &f->attachment;
    const gr_framebuffer_options *o = &f->options;
    const bool resolves = a->samples > 0;
    struct resolved to = {0};
    GLint selected = 0;
    glGetIntegerv(GL_READ_BUFFER, &selected);
    const bool selects = a->mask == GL_COLOR_BUFFER_BIT && (GLenum)selected != a->name;
    if (selects)
        glReadBuffer(a->name);
    if (resolves)
        resolve(f, &to);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glReadPixels(resolves ? 0 : (GLint)o->x, resolves ? 0 : (GLint)o->y, (GLsizei)o->width,
                 (GLsizei)o->height, a->read->transfer_format, a->read->transfer_type, NULL);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, f->attachment.framebuffer);
    if (selects)
        glReadBuffer((GLenum)selected);
    glDeleteFramebuffers(1, &to.framebuffer);
    glDeleteRenderbuffers(1, &to.renderbuffer);
}

static gr_status check_opengl(const struct fetch *f, const char *function)
{
    const GLenum error = gl_errors_take();
    if (error == GL_NO_ERROR)
        return GR_OK;
    return gl_attachment_fail(&f->attachment, error, function, f->call);
}

static gr_status bind(const struct fetch *f)
{
    if (f->attachment.framebuffer && !glIsFramebuffer(f->attachment.framebuffer))
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "There is no OpenGL framebuffer %u in the current context: it was deleted, "
                       "belongs to another context, or was only reserved and never bound.",
                       f->attachment.framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, f->attachment.framebuffer);
    const GLenum complete = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER);
    GR_TRY(check_opengl(f, "glBindFramebuffer"));
    if (complete == GL_FRAMEBUFFER_COMPLETE)
        return GR_OK;
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)complete, "", "glCheckFramebufferStatus",
                        complete == GL_FRAMEBUFFER_UNDEFINED
                            ? "%s: the context has no default framebuffer: it has no window. Read "
                              "a framebuffer object."
                            : "%s: the framebuffer is incomplete: draw to it first, and check it "
                              "with glCheckFramebufferStatus().",
                        f->call);
}

static gr_status refuse_conditional(const struct fetch *f)
{
    return gr_fail_code(GR_ERR_STATE, GR_DOMAIN_OPENGL, GL_INVALID_OPERATION,
                        "GL_INVALID_OPERATION", "glBeginConditionalRender",
                        "%s: conditional rendering is active, and would discard the resolve of the "
                        "samples. Fetch before glBeginConditionalRender() or after "
                        "glEndConditionalRender().",
                        f->call);
}

static gr_status fill_staging(void *of)
{
    const struct fetch *f = of;
    const bool conditional = f->context->direct && gl_renders_conditionally();
    if (conditional && f->attachment.samples > 0)
        return refuse_conditional(f);
    if (f->shader && !conditional &&
        gl_shader_read(f->shader, &f->attachment, &f->options, f->staging, 0))
        return GR_OK;
    gl_errors_take();
    read_pixels(f, gr_gl_name(f->staging));
    return check_opengl(f, "glReadPixels");
}

/* ---- The fetch ------------------------------------------------------------------------------- */

/* Lets OpenGL write the attachment to the staging buffer, and converts it to the tensor. */
static gr_status convert(struct fetch *f, gr_tensor *tensor)
{
    const gr_tensor_desc pixels =
        GR_INIT(gr_tensor_desc, .dtype = gr_array_dtype(f->attachment.read->format),
                .ndim = f->attachment.read->channels == 1 ? 2 : 3, .shape = f->shape);
    const struct gr_staged staged = {.numbers = f->attachment.numbers,
                                     .inverse = f->is_distance ? &f->inverse : NULL,
                                     .fill = fill_staging,
                                     .of = f};
    const size_t size = gr_resource_get_info(f->staging)->size;
    if (size < f->bytes)
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "The size of `staging` is %zu, but %u x %u pixels need %zu byte%s.", size,
                       f->options.width, f->options.height, f->bytes, gr_s(f->bytes));
    f->conversion.struct_size = sizeof(f->conversion);
    f->conversion.target = &pixels;
    return gr_fetch_staged(f->staging, tensor, &f->conversion, &staged, f->stream, f->call);
}

/* Refuses types that would hold only 0 and 1 of the depth or distance, unless there is a scale. */
static gr_status check_depth(const struct fetch *f, gr_dtype dtype)
{
    if (f->is_distance && f->attachment.mask != GL_DEPTH_BUFFER_BIT)
        return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                       "`z_near` and `z_far` are for depth, but the attachment has no depth: leave "
                       "them 0, or set `attachment` to GL_DEPTH_ATTACHMENT.");
    if (f->attachment.mask != GL_DEPTH_BUFFER_BIT || f->conversion.scale ||
        gr_dtype_is_float(dtype) || !(f->is_distance || gr_dtype_is_number(dtype)))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, f->call,
                   "The tensor is %s, but the %s: use float32, or set `scale`, such as 1000.0 / "
                   "65535 for distances in millimetres in uint16.",
                   gr_dtype_get_info(dtype)->name,
                   f->is_distance ? "distances would be clamped to 1" : "depth is from 0 to 1");
}

/* Fetches between begin_reading() and end_reading(). May create f->staging. */
static gr_status fetch_attachment(struct fetch *f, gr_tensor *tensor)
{
    GR_TRY(bind(f));
    GR_TRY(
        gl_attachment_describe(&f->attachment, f->options.attachment, f->context->direct, f->call));
    GR_TRY(check_depth(f, tensor->info.dtype));
    GR_TRY(settle_rectangle(f));
    if (gl_shader_can_read(&f->attachment))
        f->shader = gl_shader_use(f->context);
    if (!f->staging) /* shaders write whole words */
        f->staging = gr_create_gl_buffer((f->bytes + 3) / 4 * 4, GR_READ_ONLY, NULL);
    return f->staging ? convert(f, tensor) : gr_last_error()->status;
}

gr_status gr_fetch_framebuffer(unsigned int framebuffer, gr_tensor *tensor,
                               const gr_framebuffer_options *options, CUstream stream)
{
    struct fetch f = {.attachment.framebuffer = framebuffer, .stream = stream, .call = __func__};
    struct gl_context context;
    struct read_state before;
    GR_TRY(gl_context_begin(&context, __func__, "has the framebuffer"));
    GR_TRY(take(&f, tensor, options));
    f.context = &context;
    f.staging = f.options.staging;
    begin_reading(&before, &context);
    gr_status status = fetch_attachment(&f, tensor);
    end_reading(&before);
    if (f.shader)
        gl_object_use_shader(f.options.staging, f.shader);
    gl_shader_drop(f.shader);
    if (f.staging != f.options.staging) {
        GR_KEEP_ERROR();
        gr_resource_free(f.staging);
    }
    return status;
}
