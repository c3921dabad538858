/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fourth scene: a CUDA tensor of half floats in linear light with one plane per colour. One
 * call publishes it to an OpenGL texture in each frame.
 */
#include <epoxy/gl.h>
#include <grinterop/publish.h>

#include "examples/support/easel.h"
#include "examples/support/kernel_image.h"
#include "viewer_scene.h"

KERNEL_IMAGE(publish);

/* The viewing angle, in degrees. */
static const float ANGLE = 20.0f;

struct place {
    const struct viewer_stage *stage;
    struct easel easel;
    CUfunction kernel;
    gr_tensor *tensor;
    gr_resource *texture; /* the texture of the easel, registered with CUDA */
    int width, height;    /* the size of the tensor */
};

/* Fills the tensor. In an application, a framework would compute this. */
static bool fill_tensor(struct place *p, float time)
{
    CUdeviceptr picture = gr_tensor_get_info(p->tensor)->ptr;
    void *arguments[] = {&picture, &p->width, &p->height, &time};
    return session_launch(&p->stage->session, p->kernel, p->width, p->height, arguments);
}

/*
 * Publishes the tensor. OpenGL owns the texture before and after the call, and generates its mip
 * levels from the result.
 */
static bool publish(struct place *p)
{
    const gr_publish_options options = GR_INIT(gr_publish_options, .srgb = true);
    if (gr_publish(p->texture, p->tensor, &options, p->stage->session.stream) != GR_OK)
        return failed_to("publish the tensor");
    glBindTexture(GL_TEXTURE_2D, p->easel.texture);
    glGenerateMipmap(GL_TEXTURE_2D);
    return true;
}

static const struct offscreen *draw_scene(void *scene, const struct viewer_frame *frame, bool moved)
{
    struct place *p = scene;
    const struct offscreen *target = &p->stage->target;
    if (moved && (!fill_tensor(p, frame->time) || !publish(p)))
        return NULL;
    p->easel.orbit = frame->orbit;
    offscreen_bind(target);
    easel_draw(&p->easel, &p->stage->screen, (float)target->width / (float)target->height, ANGLE);
    return target;
}

static bool make_tensor(struct place *p)
{
    const int64_t shape[] = {3, p->height, p->width};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F16, .ndim = 3,
                                        .shape = shape, .layout = GR_LAYOUT_CHW);
    p->tensor = gr_tensor_create(&desc, p->stage->session.stream);
    return p->tensor || failed_to("allocate the tensor");
}

static bool share_texture(struct place *p)
{
    const struct picture empty = {.width = p->width, .height = p->height};
    if (!easel_init(&p->easel, &empty))
        return false;
    p->texture = gr_from_gl_image_with(p->easel.texture, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE,
                                       &viewer_any_transport);
    return p->texture || failed_to("share the texture with CUDA");
}

/* In reverse order: a registration ends before its OpenGL object. */
static void close_scene(void *scene)
{
    struct place *p = scene;
    gr_tensor_free(p->tensor);
    gr_resource_free(p->texture);
    easel_free(&p->easel);
}

static bool open_scene(void *scene, struct viewer_stage *stage)
{
    struct place *p = scene;
    p->stage = stage;
    p->width = stage->options->tensor_width;
    p->height = stage->options->tensor_height;
    return session_kernel(&stage->session, &publish_image, "julia", &p->kernel) &&
           share_texture(p) && make_tensor(p);
}

static gr_transport transport_of(const void *scene)
{
    const struct place *p = scene;
    return gr_resource_get_info(p->texture)->transport;
}

const struct viewer_scene viewer_tensor = {"tensor",   sizeof(struct place), open_scene,
                                           draw_scene, transport_of,         close_scene};
