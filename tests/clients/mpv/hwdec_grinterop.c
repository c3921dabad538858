/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * mpv's CUDA hardware decoding on grinterop, for OpenGL and Vulkan, in place of the two files of
 * mpv 0.35.1. `run` in this folder adds this file to mpv's source.
 */
#include "config.h"
#include "hwdec_cuda.h"
#include "options/m_config.h"
#include "video/out/opengl/ra_gl.h"
#include "video/out/placebo/ra_pl.h"

#include <libplacebo/vulkan.h>
#include <unistd.h>

#include <grinterop/external.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>
#include <grinterop/vk.h>

#define MAX_PLANES 4

/* A plane of the video. For OpenGL the last three fields are NULL. */
struct plane {
    gr_resource *resource;
    gr_buffer *buffer; /* while CUDA has the plane */
    gr_vk_device *device;
    pl_tex texture;
    gr_submit *submit; /* hands the plane to CUDA in the next frame */
};

bool cuda_gr_init(const struct ra_hwdec *hw);

static bool failed(struct mp_log *log, const char *what)
{
    mp_err(log, "%s: %s\n", what, gr_last_error()->message);
    return false;
}

/* ---- A frame --------------------------------------------------------------------------------- */

/* Makes the next CUDA work with the plane wait for Vulkan. */
static bool hold_from_vulkan(pl_gpu gpu, struct plane *plane)
{
    gr_submit *submit = plane->submit;

    if (!submit || !pl_vulkan_hold(gpu, plane->texture, VK_IMAGE_LAYOUT_GENERAL,
                                   (pl_vulkan_sem){gr_vk_semaphore(submit->signals[0]),
                                                   submit->signal_values[0]}))
        return false;
    gr_submit_commit(submit);
    gr_submit_free(submit);
    plane->submit = NULL;
    return true;
}

/* Makes the next Vulkan work with the plane wait for CUDA. */
static bool release_to_vulkan(pl_gpu gpu, struct plane *plane)
{
    gr_submit *submit = plane->submit = gr_submit_begin(&plane->resource, 1);

    if (submit)
        pl_vulkan_release(
            gpu, plane->texture, VK_IMAGE_LAYOUT_GENERAL,
            (pl_vulkan_sem){gr_vk_semaphore(submit->waits[0]), submit->wait_values[0]});
    return submit;
}

/* Releases the planes to the renderer. The CPU does not wait. */
static bool release_planes(const struct ra_hwdec_mapper *mapper, int count)
{
    struct cuda_mapper_priv *p = mapper->priv;
    gr_buffer *buffers[MAX_PLANES];

    for (int n = 0; n < count; n++)
        buffers[n] = ((struct plane *)p->ext[n])->buffer;
    gr_status status = gr_buffer_release_many(buffers, count, GR_STREAM_OF_MAP, NULL);
    for (int n = 0; n < count; n++)
        ((struct plane *)p->ext[n])->buffer = buffers[n];
    if (status != GR_OK)
        return failed(mapper->log, "releasing a frame");
    for (int n = 0; n < count; n++) {
        struct plane *plane = p->ext[n];
        if (plane->texture && !release_to_vulkan(ra_pl_get(mapper->ra), plane))
            return failed(mapper->log, "handing a plane to Vulkan");
    }
    return true;
}

/* mpv calls this before the copy to each plane. The first call maps all planes. */
static bool before_copy(const struct ra_hwdec_mapper *mapper, int n)
{
    struct cuda_mapper_priv *p = mapper->priv;
    int count = p->layout.num_planes;
    gr_resource *resources[MAX_PLANES];
    gr_buffer *buffers[MAX_PLANES];

    if (n > 0)
        return true;
    /* A copy to the last frame failed. */
    if (p->ext[0] && ((struct plane *)p->ext[0])->buffer && !release_planes(mapper, count))
        return false;
    for (int i = 0; i < count; i++) {
        struct plane *plane = p->ext[i];
        if (!plane || (plane->texture && !hold_from_vulkan(ra_pl_get(mapper->ra), plane)))
            return failed(mapper->log, "handing a plane to CUDA");
        resources[i] = plane->resource;
    }
    if (gr_map_many(resources, count, GR_STREAM_LEGACY, NULL, buffers) != GR_OK)
        return failed(mapper->log, "mapping a frame");
    for (int i = 0; i < count; i++) {
        ((struct plane *)p->ext[i])->buffer = buffers[i];
        p->cu_array[i] = gr_buffer_array(buffers[i], 0, 0);
    }
    return true;
}

/* mpv calls this after the copy to each plane. The last call releases all planes. */
static bool after_copy(const struct ra_hwdec_mapper *mapper, int n)
{
    struct cuda_mapper_priv *p = mapper->priv;
    int count = p->layout.num_planes;

    return n < count - 1 || release_planes(mapper, count);
}

/* ---- Planes ---------------------------------------------------------------------------------- */

static bool init_gl(struct ra_hwdec_mapper *mapper, const struct ra_format *format, int n)
{
    struct cuda_mapper_priv *p = mapper->priv;
    struct plane *plane = p->ext[n] = talloc_zero(NULL, struct plane);
    const struct ra_tex_params params = {
        .dimensions = 2,
        .w = mp_image_plane_w(&p->layout, n),
        .h = mp_image_plane_h(&p->layout, n),
        .d = 1,
        .format = format,
        .render_src = true,
        .src_linear = format->linear_filter,
    };
    GLuint name;
    GLenum target;

    mapper->tex[n] = ra_tex_create(mapper->ra, &params);
    if (!mapper->tex[n])
        return false;
    ra_gl_get_raw_tex(mapper->ra, mapper->tex[n], &name, &target);
    plane->resource = gr_from_gl_image(name, target, GR_WRITE_DISCARD);
    return plane->resource || failed(mapper->log, "registering a plane");
}

#define WRAP(vulkan)                                                                               \
    gr_vk_device_from_vk(                                                                          \
        &GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = vkGetInstanceProcAddr,               \
                 .instance = (vulkan)->instance, .physical_device = (vulkan)->phys_device,         \
                 .device = (vulkan)->device, .queue_family = (vulkan)->queue_graphics.index))

/* Imports the memory that libplacebo exported. */
static gr_resource *import_plane(const struct pl_tex *texture, const struct ra_format *format)
{
    const struct pl_shared_mem *shared = &texture->shared_mem;
    const gr_external_image_desc image =
        GR_INIT(gr_external_image_desc, .width = texture->params.w, .height = texture->params.h,
                .format = format->pixel_size == format->num_components ? GR_FORMAT_UNSIGNED_INT8
                                                                       : GR_FORMAT_UNSIGNED_INT16,
                .channels = format->num_components, .normalized = true);
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = shared->offset, .image = &image);
    int fd = dup(shared->handle.fd);
    gr_resource *resource = gr_from_external_memory(
        &GR_INIT(gr_external_memory_desc, .type = GR_EXTERNAL_MEMORY_OPAQUE_FD, .fd = fd,
                 .size = shared->size, .part = &part),
        GR_WRITE_DISCARD);

    if (!resource)
        close(fd);
    return resource;
}

/* Gives the plane its own timelines: libplacebo holds and releases one plane at a time. */
static bool order_plane(struct plane *plane, pl_vulkan vulkan)
{
    plane->device = WRAP(vulkan);
    if (!plane->device)
        return false;
    GR_AUTO(gr_semaphore) *acquire =
        gr_semaphore_create_vk(plane->device, VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_semaphore) *release =
        gr_semaphore_create_vk(plane->device, VK_SEMAPHORE_TYPE_TIMELINE);

    if (!acquire || !release || gr_resource_set_sync(plane->resource, acquire, release) != GR_OK)
        return false;
    plane->submit = gr_submit_begin(&plane->resource, 1);
    return plane->submit;
}

static bool init_vk(struct ra_hwdec_mapper *mapper, const struct ra_format *format, int n)
{
    struct cuda_mapper_priv *p = mapper->priv;
    struct plane *plane = p->ext[n] = talloc_zero(NULL, struct plane);
    pl_gpu gpu = ra_pl_get(mapper->ra);
    const struct pl_tex_params params = {
        .w = mp_image_plane_w(&p->layout, n),
        .h = mp_image_plane_h(&p->layout, n),
        .format = ra_pl_fmt_get(format),
        .sampleable = true,
        .export_handle = PL_HANDLE_FD,
    };

    plane->texture = pl_tex_create(gpu, &params);
    if (!plane->texture)
        return false;
    mapper->tex[n] = talloc_zero(NULL, struct ra_tex);
    if (!mppl_wrap_tex(mapper->ra, plane->texture, mapper->tex[n]))
        return false;
    plane->resource = import_plane(plane->texture, format);
    if (!plane->resource || !order_plane(plane, pl_vulkan_get(gpu)))
        return failed(mapper->log, "sharing a plane");
    return true;
}

static void uninit(const struct ra_hwdec_mapper *mapper, int n)
{
    struct cuda_mapper_priv *p = mapper->priv;
    struct plane *plane = p->ext[n];

    if (!plane)
        return;
    if (plane->texture)
        pl_gpu_finish(ra_pl_get(mapper->ra));
    gr_submit_free(plane->submit);
    gr_buffer_release(plane->buffer);
    gr_resource_free(plane->resource);
    gr_vk_device_free(plane->device); /* waits until CUDA is done with the plane */
    talloc_free(plane);
    p->ext[n] = NULL;
}

/* ---- The device ------------------------------------------------------------------------------ */

/* Finds the CUDA device that draws. */
static bool find_device(const struct ra_hwdec *hw, int *device)
{
    pl_gpu gpu = ra_pl_get(hw->ra);
    pl_vulkan vulkan = gpu ? pl_vulkan_get(gpu) : NULL;

    if (ra_is_gl(hw->ra))
        return gr_gl_cuda_device(device) == GR_OK;
    if (!vulkan)
        return false;
    GR_AUTO(gr_vk_device) *wrapped = WRAP(vulkan);
    if (wrapped)
        *device = gr_vk_device_get_info(wrapped)->cuda_device;
    return wrapped;
}

/* Creates a CUDA context and makes it current, as mpv's own functions do. */
static bool create_context(const struct ra_hwdec *hw, CUcontext *context, int device)
{
    CudaFunctions *cu = ((struct cuda_hw_priv *)hw->priv)->cu;

    return check_cu(hw, cu->cuCtxCreate(context, CU_CTX_SCHED_BLOCKING_SYNC, device),
                    "cuCtxCreate") >= 0;
}

bool cuda_gr_init(const struct ra_hwdec *hw)
{
    struct cuda_hw_priv *p = hw->priv;
    int device = -1, decoder = -1;
    CUcontext popped;

    /* For comparisons: mpv then tries its own functions. */
    if (getenv("MPV_OWN_INTEROP"))
        return false;
    if (!find_device(hw, &device)) {
        mp_verbose(hw->log, "no CUDA device draws: %s\n", gr_last_error()->message);
        return false;
    }
    if (!create_context(hw, &p->display_ctx, device))
        return false;
    p->decode_ctx = p->display_ctx;
    mp_read_option_raw(hw->global, "cuda-decode-device", &m_option_type_choice, &decoder);
    if (ra_is_gl(hw->ra) && decoder > -1 && decoder != device) {
        p->cu->cuCtxPopCurrent(&popped);
        if (!create_context(hw, &p->decode_ctx, decoder))
            return false;
    }

    p->ext_init = ra_is_gl(hw->ra) ? init_gl : init_vk;
    p->ext_uninit = uninit;
    p->ext_wait = before_copy;
    p->ext_signal = after_copy;
    return true;
}
