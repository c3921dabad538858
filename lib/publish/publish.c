/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Publishes tensors to, and fetches them from, resources, mappings and rings. */
#include "lib/cuda/context.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/publish/publish.h"
#include "lib/resource/backend.h"
#include "lib/resource/image.h"
#include "lib/resource/resource.h"
#include "lib/resource/stream.h"
#include "lib/resource/map.h"
#include "lib/base/struct_size.h"
#include "lib/tensor/tensor.h"

/* What plan() writes, apart from struct work, which would set all of it to 0. */
struct planned {
    struct gr_publish_sides sides;
    struct gr_plan plan;
};

/* The state of one publish or fetch. */
struct work {
    gr_buffer *buffer;
    const gr_tensor *tensor;
    gr_publish_options options;
    CUstream stream;
    bool fetch;
    const struct gr_attachment *attachment; /* NULL: the resource has its data */
    struct planned *planned;
};

/* The tensors of a call: luma or all channels, and the chroma planes in other tensors. */
struct planes {
    unsigned count;
    const gr_tensor *of[3];
};

static struct planes planes_of(const struct work *w)
{
    const gr_publish_options *o = &w->options;
    return (struct planes){1u + !!o->chroma + !!o->chroma_v, {w->tensor, o->chroma, o->chroma_v}};
}

/* ---- Checks before the map ------------------------------------------------------------------- */

static gr_status check_tensors(const struct work *w)
{
    GR_REFUSE_IF(!w->tensor, "The tensor is NULL: did its creation fail?");
    GR_REFUSE_IF(w->options.chroma_v && !w->options.chroma,
                 "`chroma_v` is set, but `chroma` is NULL: pass the U plane as `chroma`.");
    const struct planes planes = planes_of(w);
    for (unsigned i = 0; i < planes.count; i++) {
        if (i > 0 || !w->attachment)
            GR_TRY(gr_tensor_check(planes.of[i]));
        if (i > 0)
            GR_TRY(gr_tensor_refuse_array(planes.of[i], "which cannot be a chroma plane"));
        if (w->fetch && planes.of[i]->info.read_only)
            return gr_fail(GR_ERR_STATE, "The %s is read-only: fetch into a writable one.",
                           i ? "chroma plane" : "tensor");
    }
    return GR_OK;
}

static gr_status take(struct work *w, const gr_publish_options *options)
{
    gr_publish_options *o = &w->options;
    if (w->attachment)
        *o = *options;
    else
        GR_TRY(GR_TAKE(gr_publish_options, o, options));
    const char *both = o->scale && o->scale_f64   ? "scale"
                       : o->bias && o->bias_f64   ? "bias"
                       : o->alpha && o->alpha_f64 ? "alpha"
                                                  : NULL;
    GR_REFUSE_IF(both, "`%s` and `%s_f64` are set: set one of the two.", both, both);
    GR_REFUSE_IF((unsigned)o->layout > GR_LAYOUT_UYVY, "`layout` is %d, which is not a gr_layout.",
                 (int)o->layout);
    return check_tensors(w);
}

static gr_status refuse_ring(const struct work *w)
{
    GR_REFUSE_IF(w->options.ring || w->options.timeout_ms,
                 "The options have a ring or a timeout, which are for gr_publish() and gr_fetch() "
                 "without a resource: pass a resource of NULL, or leave both 0.");
    return GR_OK;
}

static gr_status check_flags(const struct work *w, const gr_resource *resource)
{
    static const char text[] =
        "The resource was registered or mapped read_only: to write, do so without read_only.";
    return w->fetch || gr_resource_writes(resource) ? GR_OK : gr_fail(GR_ERR_STATE, text);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static gr_status make_plan(struct work *w)
{
    struct gr_publish_sides *s = &w->planned->sides;
    return gr_plan_make(w->fetch ? &s->mapped : &s->tensor, w->fetch ? &s->tensor : &s->mapped,
                        &w->options, w->attachment ? w->attachment->distance : NULL, w->fetch,
                        &w->planned->plan);
}

/* Describes both sides of a mapped buffer, or before the map, and plans if they are known. */
static gr_status plan(struct work *w, const gr_resource *resource)
{
    struct gr_publish_sides *s = &w->planned->sides;
    GR_TRY(gr_publish_describe(resource, w->buffer, w->tensor, &w->options, s));
    if (!s->is_known)
        return GR_OK;
    if (w->attachment) {
        s->tensor.is_number = s->mapped.is_number = w->attachment->numbers;
        s->mapped.is_image = true;
        s->mapped.shaped.what = "the attachment";
    } else if (!resource->is_image) {
        /* beside integers of 32 and 64 bits, smaller ones are numbers, too */
        s->tensor.is_number = s->mapped.is_number =
            gr_dtype_is_number(s->tensor.dtype) || gr_dtype_is_number(s->mapped.dtype);
    }
    GR_TRY(w->options.columns ? gr_publish_divide(&w->options, s) : GR_OK);
    if (w->options.flip && s->tensor.height > 1)
        s->tensor.in_array = false; /* an array has a copy in memory, whose rows can be flipped */
    GR_TRY(w->options.flip ? gr_picture_flip(&s->tensor) : GR_OK);
    if (w->buffer)
        GR_TRY(gr_publish_locate(w->buffer, s));
    return make_plan(w);
}

/*
 * Checks that the needed kernels exist and can access the tensors, and lets the stream wait for the
 * event, also if the tensor is empty. The CUDA context is current.
 */
static gr_status prepare(struct work *w, gr_resource *resource)
{
    const struct planes planes = planes_of(w);
    const bool is_empty = w->planned->plan.bytes == 0;
    for (unsigned i = 0; i < planes.count && !is_empty; i++)
        GR_TRY(gr_tensor_check_reach(planes.of[i], w->stream, &resource->context));
    if (!is_empty && !w->planned->plan.copies)
        GR_TRY(gr_launch_prepare(&w->planned->plan, &resource->kernels));
    return w->options.wait_event ? gr_event_wait(w->stream, w->options.wait_event) : GR_OK;
}

/* Checks everything before the map, because a map with write_discard loses the contents. */
static gr_status check_before_map(struct work *w, gr_resource *resource)
{
    GR_TRY(plan(w, resource));
    if (w->planned->sides.is_part && !w->fetch && (resource->flags & GR_WRITE_DISCARD))
        return gr_fail(
            GR_ERR_STATE,
            "The %s was registered write_discard, so the map loses everything outside of the "
            "rectangle, slices or tiles: register it read_write, or map it and write all of it by "
            "gr_buffer_publish().",
            resource->is_image ? "image" : "buffer");
    return w->planned->sides.is_known ? prepare(w, resource) : GR_OK;
}

/* ---- Execution ------------------------------------------------------------------------------- */

static gr_status copy_between(const struct work *w, const struct gr_picture *mapped,
                              const struct gr_picture *other)
{
    return gr_launch_copy(w->fetch ? mapped : other, w->fetch ? other : mapped, w->stream);
}

static gr_status copy_arrays(const struct work *w, const struct gr_picture *other)
{
    const gr_resource *resource = w->buffer->resource;
    const struct gr_publish_sides *sides = &w->planned->sides;
    struct gr_picture mapped = sides->mapped, layer = *other;
    CUarray array;
    mapped.depth = layer.depth = 1;
    for (unsigned i = 0; i < sides->arrays; i++) {
        GR_TRY(resource->backend->array(resource, sides->region.level, sides->region.layer + i,
                                        &array));
        mapped.base = (uintptr_t)array;
        GR_TRY(copy_between(w, &mapped, &layer));
        layer.base += (uint64_t)layer.slice;
    }
    return GR_OK;
}

/* Copies between the mapped side and a picture of the same layout, in the direction of the call. */
static inline gr_status copy(const struct work *w, const struct gr_picture *other)
{
    const struct gr_publish_sides *sides = &w->planned->sides;
    return sides->arrays > 1 ? copy_arrays(w, other) : copy_between(w, &sides->mapped, other);
}

static gr_status launch(struct work *w)
{
    return gr_launch_kernel(&w->planned->plan, &w->buffer->resource->kernels, w->stream);
}

static struct gr_job_side *mapped_side(struct work *w)
{
    return w->fetch ? &w->planned->plan.job.from : &w->planned->plan.job.to;
}

static struct gr_job_side *tensor_side(struct work *w)
{
    return w->fetch ? &w->planned->plan.job.to : &w->planned->plan.job.from;
}

/* Launches the kernel if it accesses the image through a surface, or a surface for each array. */
static gr_status launch_on_surface(struct work *w)
{
    const struct gr_publish_sides *sides = &w->planned->sides;
    const struct gr_region *region = &sides->region;
    const enum gr_job_place place = w->buffer->resource->is_3d           ? GR_JOB_VOLUME
                                    : w->buffer->resource->image.layered ? GR_JOB_LAYERED
                                                                         : GR_JOB_SURFACE;
    w->planned->plan.job.depth /= sides->arrays;
    for (unsigned i = 0; i < sides->arrays; i++) {
        const CUsurfObject surface = gr_buffer_surface(w->buffer, region->level, region->layer + i);
        if (!surface)
            return gr_last_error()->status;
        gr_plan_use_surface(mapped_side(w), surface, place, (unsigned)sides->mapped.array_slice,
                            &sides->mapped);
        GR_TRY(launch(w));
        tensor_side(w)->base += (uint64_t)tensor_side(w)->slice;
    }
    return GR_OK;
}

/* Describes linear memory in place of the image. */
static struct gr_picture in_memory(const struct work *w, CUdeviceptr memory, size_t pitch)
{
    struct gr_picture picture = w->planned->sides.mapped;
    picture.in_array = false;
    picture.base = memory;
    picture.row = (int64_t)pitch;
    picture.slice = picture.row * picture.height;
    return picture;
}

/* Launches the kernel on this memory. */
static gr_status launch_on_memory(struct work *w, const struct gr_picture *memory)
{
    gr_plan_use_memory(mapped_side(w), memory->base, (size_t)memory->row, (size_t)memory->slice);
    return launch(w);
}

static size_t row_bytes(const struct gr_picture *picture)
{
    return (size_t)(picture->width * picture->pixel);
}

/*
 * Launches the kernel on linear memory instead of the image. A fetch first copies the image to this
 * memory; a publish then copies the memory to the image.
 */
static gr_status launch_beside_array(struct work *w)
{
    const struct gr_picture *mapped = &w->planned->sides.mapped;
    gr_resource *resource = w->buffer->resource;
    CUdeviceptr memory;
    const size_t row = row_bytes(mapped);
    /* gr_launch_copy() assumes that slices of one row are packed */
    const size_t pitch = mapped->height > 1 ? gr_linear_pitch(row) : row;
    const size_t bytes = pitch * (size_t)mapped->height * (size_t)mapped->depth;
    gr_status status = GR_OK;
    GR_TRY(gr_linear_borrow(resource, bytes, w->stream, &memory));
    const struct gr_picture beside = in_memory(w, memory, pitch);
    if (w->fetch)
        status = copy(w, &beside);
    else if (mapped->columns && w->planned->plan.job.depth % mapped->columns)
        status = gr_launch_copy(mapped, &beside, w->stream); /* texels that no tile writes */
    if (status == GR_OK)
        status = launch_on_memory(w, &beside);
    if (status == GR_OK && !w->fetch)
        status = copy(w, &beside);
    const gr_status marked = gr_work_mark(&resource->staging.work, w->stream);
    return status == GR_OK ? marked : status;
}

/* Moves the texels to or from the linear memory of the mapping, which has no arrays. */
static gr_status enqueue_linear(struct work *w)
{
    const gr_resource *resource = w->buffer->resource;
    const struct gr_publish_sides *sides = &w->planned->sides;
    const struct gr_picture memory =
        in_memory(w, resource->backend->linear(resource), row_bytes(&sides->mapped));
    return w->planned->plan.copies ? copy_between(w, &memory, &sides->tensor)
                                   : launch_on_memory(w, &memory);
}

/* The kernels support no surfaces of layered cubes and 1D images. */
static gr_status launch_on_image(struct work *w)
{
    const gr_resource *resource = w->buffer->resource;
    const CUarray array = (CUarray)(uintptr_t)w->planned->sides.mapped.base;
    CUDA_ARRAY3D_DESCRIPTOR described;
    if (!(resource->flags & GR_SURFACE_LOAD_STORE) ||
        (resource->image.layered && resource->image.cube))
        return launch_beside_array(w);
    GR_TRY_CUDA(gr_driver()->Array3DGetDescriptor(&described, array), "cuArray3DGetDescriptor",
                "%s: the driver could not describe the mapped image.", gr_call);
    return described.Height ? launch_on_surface(w) : launch_beside_array(w);
}

static gr_status enqueue(struct work *w)
{
    if (w->buffer->linear)
        return enqueue_linear(w);
    if (w->planned->plan.copies)
        return copy(w, &w->planned->sides.tensor);
    return w->planned->sides.mapped.in_array ? launch_on_image(w) : launch(w);
}

/* Replaces tensors in host memory and in arrays by their copies on the device. */
static gr_status enqueue_moved_tensors(struct work *w)
{
    struct work on_device = *w;
    struct gr_moved_tensor moved[3] = {0};
    const gr_tensor **tensors[] = {&on_device.tensor, &on_device.options.chroma,
                                   &on_device.options.chroma_v};
    gr_status status = GR_OK;
    for (int i = 0; i < 3 && status == GR_OK; i++)
        status = gr_moved_tensor_begin(tensors[i], w->fetch, &w->buffer->resource->context,
                                       w->stream, &moved[i]);
    if (status == GR_OK)
        status = plan(&on_device, w->buffer->resource);
    if (status == GR_OK)
        status = enqueue(&on_device);
    for (int i = 0; i < 3 && w->fetch && status == GR_OK; i++)
        status = gr_moved_tensor_read_back(&moved[i], w->stream);
    for (int i = 0; i < 3; i++)
        gr_moved_tensor_end(&moved[i]);
    return status;
}

static gr_status move_planned(struct work *w)
{
    const struct gr_context *at = &w->buffer->resource->context;
    const struct planes planes = planes_of(w);
    bool moves = false;
    if (w->planned->plan.bytes == 0)
        return GR_OK;
    for (unsigned i = 0; i < planes.count; i++) {
        GR_TRY(gr_tensor_begin_checked_use(planes.of[i], w->stream, at, w->fetch));
        moves = moves || planes.of[i]->info.memory == GR_MEMORY_HOST ||
                gr_tensor_is_array(planes.of[i]);
    }
    gr_status status = moves && !w->planned->plan.copies ? enqueue_moved_tensors(w) : enqueue(w);
    for (unsigned i = 0; i < planes.count; i++)
        gr_tensor_end_use(planes.of[i], w->stream, at, w->fetch);
    return status;
}

/* Publishes or fetches with a map after check_before_map(). */
static gr_status run_after_map(struct work *w)
{
    const struct planned *planned = w->planned;
    if (!planned->sides.is_known) {
        GR_TRY(plan(w, w->buffer->resource));
        GR_TRY(prepare(w, w->buffer->resource));
        return move_planned(w);
    }
    GR_TRY(gr_publish_locate(w->buffer, &w->planned->sides));
    /* the kernel's access to memory depends on the alignment of the address */
    if (!planned->plan.copies && !planned->sides.mapped.in_array)
        GR_TRY(make_plan(w));
    return move_planned(w);
}

/* Publishes or fetches with a mapping of the caller or a ring. Options and tensors were checked. */
static gr_status run_with_buffer(struct work *w)
{
    struct planned planned;
    gr_resource *resource = w->buffer->resource;
    GR_TRY(check_flags(w, resource));
    GR_ENTER(&resource->context);
    w->planned = &planned;
    GR_TRY(plan(w, resource));
    if (planned.plan.bytes || w->options.wait_event)
        GR_TRY(gr_stream_check_capture(w->stream));
    GR_TRY(prepare(w, resource));
    return move_planned(w);
}

/* ---- To and from a mapping ------------------------------------------------------------------- */

static gr_status with_buffer(struct work *w, const gr_publish_options *options)
{
    GR_TRY(gr_buffer_check(w->buffer));
    if (!gr_buffer_is_live(w->buffer))
        return gr_fail(GR_ERR_STATE, "The resource is no longer mapped: map it again.");
    GR_TRY(take(w, options));
    GR_TRY(refuse_ring(w));
    GR_TRY(gr_stream_check_given(w->stream, true));
    if (w->stream == GR_STREAM_OF_MAP)
        w->stream = w->buffer->stream;
    return run_with_buffer(w);
}

gr_status gr_buffer_publish(gr_buffer *buffer, const gr_tensor *tensor,
                            const gr_publish_options *options, CUstream stream)
{
    GR_CALL();
    struct work w = {.buffer = buffer, .tensor = tensor, .stream = stream};
    return with_buffer(&w, options);
}

gr_status gr_buffer_fetch(gr_buffer *buffer, gr_tensor *tensor, const gr_publish_options *options,
                          CUstream stream)
{
    GR_CALL();
    struct work w = {.buffer = buffer, .tensor = tensor, .stream = stream, .fetch = true};
    return with_buffer(&w, options);
}

/* ---- To and from a resource or a ring -------------------------------------------------------- */

static gr_status check_options(struct work *w, const gr_resource *resource,
                               const gr_publish_options *options)
{
    GR_TRY(take(w, options));
    GR_TRY(refuse_ring(w));
    GR_TRY(check_flags(w, resource));
    if (!w->fetch || !(resource->flags & GR_WRITE_DISCARD))
        return GR_OK;
    return gr_fail(GR_ERR_STATE,
                   "The resource was registered write_discard, so its contents are undefined after "
                   "a map: register it without write_discard to fetch.");
}

/* Uses the next slot of the ring in the options. Without a ring the resource is missing. */
static gr_status with_slot(struct work *w, const gr_publish_options *options)
{
    const gr_slot *slot;
    GR_TRY(take(w, options));
    gr_ring *ring = w->options.ring;
    if (!ring)
        return gr_resource_check_given(NULL);
    GR_TRY(gr_stream_check_given(w->stream, false));
    GR_TRY((w->fetch ? gr_ring_acquire_read : gr_ring_acquire_write)(ring, w->stream, &slot, 1,
                                                                     w->options.timeout_ms));
    w->buffer = slot->buffer;
    gr_status status = run_with_buffer(w);
    if (status == GR_OK)
        status = (w->fetch ? gr_ring_give_back : gr_ring_hand_over)(ring, &slot, 1);
    if (status == GR_OK)
        return GR_OK;
    GR_KEEP_ERROR();
    (w->fetch ? gr_ring_cancel_read : gr_ring_cancel_write)(ring, &slot, 1);
    return status;
}

static gr_status with_resource(struct work *w, gr_resource *resource,
                               const gr_publish_options *options)
{
    GR_ENTERED entered = 0;
    struct planned planned;
    const gr_map_options reads = GR_INIT(gr_map_options, .access = GR_MAP_READ_ONLY);
    struct gr_use use = {.resources = &resource,
                         .n = 1,
                         .stream = w->stream,
                         .region = &planned.sides.region,
                         .buffers = &w->buffer,
                         .held = true};
    if (!resource)
        return with_slot(w, options);
    w->planned = &planned;
    GR_TRY(gr_resource_check(resource));
    GR_TRY(check_options(w, resource, options));
    if (w->fetch && resource->backend->transport != GR_TRANSPORT_INTEROP)
        use.options = &reads; /* nothing is copied back */
    GR_TRY(gr_use_check(&use, &entered));
    GR_TRY(check_before_map(w, resource));
    GR_TRY(gr_use_map(&use));
    return gr_use_end(&use, run_after_map(w));
}

gr_status gr_publish(gr_resource *resource, const gr_tensor *tensor,
                     const gr_publish_options *options, CUstream stream)
{
    GR_CALL();
    struct work w = {.tensor = tensor, .stream = stream};
    return with_resource(&w, resource, options);
}

gr_status gr_fetch(gr_resource *resource, gr_tensor *tensor, const gr_publish_options *options,
                   CUstream stream)
{
    GR_CALL();
    struct work w = {.tensor = tensor, .stream = stream, .fetch = true};
    return with_resource(&w, resource, options);
}

gr_status gr_fetch_attachments(const struct gr_use *use, const struct gr_attachment attachments[],
                               size_t n, gr_status (*fill)(void *of), void *of)
{
    gr_resource *staging = use->resources[0];
    gr_status status = GR_OK;
    struct work works[GR_MOST_ATTACHMENTS];
    struct planned planned[GR_MOST_ATTACHMENTS];
    for (size_t i = 0; i < n; i++) {
        works[i] = (struct work){.tensor = attachments[i].tensor,
                                 .stream = use->stream,
                                 .fetch = true,
                                 .attachment = &attachments[i],
                                 .planned = &planned[i]};
        GR_TRY(check_options(&works[i], staging, attachments[i].options));
        GR_TRY(check_before_map(&works[i], staging));
    }
    GR_TRY(fill(of));
    GR_TRY(gr_use_map(use));
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        works[i].buffer = use->buffers[0];
        status = run_after_map(&works[i]);
    }
    return gr_use_end(use, status);
}
