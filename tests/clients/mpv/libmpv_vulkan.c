/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan for libmpv's render API, whose only GPU API in mpv 0.35.1 is OpenGL: draws by libplacebo
 * into an image of MPV_RENDER_PARAM_SW_SIZE, and reads it back to MPV_RENDER_PARAM_SW_POINTER, if
 * there is one. `run` in this folder adds this file to mpv's source.
 */
#include "config.h"
#include "video/out/gpu/libmpv_gpu.h"
#include "video/out/placebo/ra_pl.h"
#include "video/out/placebo/utils.h"

#include <libplacebo/vulkan.h>

extern const struct libmpv_gpu_context_fns libmpv_gpu_context_vulkan;

struct priv {
    pl_log log;
    pl_vulkan vulkan;
    pl_tex texture;
    struct ra_tex target;
    void *pixels;
};

static int init(struct libmpv_gpu_context *ctx, mpv_render_param *params)
{
    struct priv *p = ctx->priv = talloc_zero(NULL, struct priv);

    (void)params;
    p->log = mppl_log_create(p, ctx->log);
    p->vulkan = pl_vulkan_create(p->log, pl_vulkan_params(.allow_software = true));
    if (!p->vulkan)
        return MPV_ERROR_UNSUPPORTED;
    ctx->ra = ra_create_pl(p->vulkan->gpu, ctx->log);
    return 0;
}

static int wrap_fbo(struct libmpv_gpu_context *ctx, mpv_render_param *params, struct ra_tex **out)
{
    struct priv *p = ctx->priv;
    pl_gpu gpu = p->vulkan->gpu;
    const int *size = get_mpv_render_param(params, MPV_RENDER_PARAM_SW_SIZE, NULL);
    const struct pl_tex_params texture = {
        .w = size[0],
        .h = size[1],
        .format = pl_find_named_fmt(gpu, "rgba8"),
        .renderable = true,
        .sampleable = true,
        .host_readable = true,
        .blit_dst = true,
    };

    p->pixels = get_mpv_render_param(params, MPV_RENDER_PARAM_SW_POINTER, NULL);
    if (!pl_tex_recreate(gpu, &p->texture, &texture) ||
        !mppl_wrap_tex(ctx->ra, p->texture, &p->target))
        return MPV_ERROR_UNSUPPORTED;
    *out = &p->target;
    return 0;
}

static void done_frame(struct libmpv_gpu_context *ctx, bool display_synced)
{
    struct priv *p = ctx->priv;
    pl_gpu gpu = p->vulkan->gpu;

    (void)display_synced;
    if (p->pixels)
        pl_tex_download(gpu, &(struct pl_tex_transfer_params){.tex = p->texture, .ptr = p->pixels});
    else
        pl_gpu_flush(gpu);
}

static void destroy(struct libmpv_gpu_context *ctx)
{
    struct priv *p = ctx->priv;

    if (p->vulkan)
        pl_tex_destroy(p->vulkan->gpu, &p->texture);
    /* mpv's own function for this would free it twice. */
    if (ctx->ra)
        ctx->ra->fns->destroy(ctx->ra);
    pl_vulkan_destroy(&p->vulkan);
    pl_log_destroy(&p->log);
}

const struct libmpv_gpu_context_fns libmpv_gpu_context_vulkan = {
    .api_name = "vulkan",
    .init = init,
    .wrap_fbo = wrap_fbo,
    .done_frame = done_frame,
    .destroy = destroy,
};
