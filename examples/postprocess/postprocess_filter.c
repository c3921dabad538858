/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA filter between two OpenGL textures. share_textures() and filter_run() hand the textures
 * over.
 */
#include "postprocess_filter.h"

#include <math.h>
#include <stdio.h>

#include <epoxy/gl.h>
#include <grinterop/image.h>

#include "examples/support/kernel_image.h"
#include "examples/support/shader.h"

KERNEL_IMAGE(postprocess);

static const char composite_fragment[] =
    "#version 330 core\n"
    "uniform sampler2D drawn;\n"
    "uniform sampler2D filtered;\n"
    "uniform float split;\n"
    "uniform float thick;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    ivec2 at = ivec2(gl_FragCoord.xy);\n"
    "    float right = gl_FragCoord.x - split;\n"
    "    vec3 colour = (right < 0.0 ? texelFetch(drawn, at, 0) : texelFetch(filtered, at, "
    "0)).rgb;\n"
    "    if (thick > 0.0) {\n"
    "        colour *= 1.0 - 0.35 * exp(-abs(right) / (3.0 * thick));\n"
    "        colour = mix(colour, vec3(0.96), clamp(thick + 0.5 - abs(right), 0.0, 1.0));\n"
    "    }\n"
    "    pixel = vec4(colour, 1.0);\n"
    "}\n";

/*
 * Registers the textures. CUDA reads one texture and overwrites all of the other through a surface.
 */
static bool share_textures(struct filter *f, const gr_gl_options *options)
{
    f->shared[FILTER_DRAWN] =
        gr_from_gl_image_with(f->textures[FILTER_DRAWN], GL_TEXTURE_2D, GR_READ_ONLY, options);
    f->shared[FILTER_RESULT] =
        gr_from_gl_image_with(f->textures[FILTER_RESULT], GL_TEXTURE_2D,
                              GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE, options);
    return (f->shared[FILTER_DRAWN] && f->shared[FILTER_RESULT]) ||
           failed_to("register the textures with CUDA");
}

static bool launch(const struct filter *f, CUfunction kernel, void *arguments[])
{
    return session_launch(f->session, kernel, f->width, f->height, arguments);
}

static bool run_filter(struct filter *f, gr_buffer *drawn, gr_buffer *filtered,
                       enum filter_kind kind)
{
    CUtexObject picture = gr_buffer_texture(drawn, NULL);
    CUsurfObject out = gr_buffer_surface(filtered, 0, 0);
    if (picture == 0 || out == 0)
        return failed_to("use the textures in a kernel");

    int *width = &f->width, *height = &f->height;
    if (kind == FILTER_SOBEL)
        return launch(f, f->sobel, (void *[]){&picture, &out, width, height});
    return launch(f, f->blur_rows, (void *[]){&picture, &f->rows, width, height, &f->gaussian}) &&
           launch(f, f->blur_columns, (void *[]){&f->rows, &out, width, height, &f->gaussian});
}

/* CUDA owns both textures from the map to the release. */
bool filter_run(struct filter *f, enum filter_kind kind)
{
    gr_buffer *images[FILTER_SHARED];
    if (gr_map_many(f->shared, FILTER_SHARED, f->session->stream, NULL, images) != GR_OK)
        return failed_to("map the textures");
    const bool done = run_filter(f, images[FILTER_DRAWN], images[FILTER_RESULT], kind);
    if (gr_buffer_release_many(images, FILTER_SHARED, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return failed_to("release the textures");
    return done;
}

void filter_resolve(const struct filter *f, const struct offscreen *drawn)
{
    const int w = f->width, h = f->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, drawn->drawn);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, f->framebuffer);
    glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void filter_show(const struct filter *f, const struct screen *screen,
                 const struct offscreen *target, float split)
{
    const float at = roundf((float)f->width * split / 100.0f);
    const bool both = at > 0.0f && at < (float)f->width;
    for (int i = 0; i < FILTER_SHARED; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, f->textures[i]);
    }
    glActiveTexture(GL_TEXTURE0);
    glUseProgram(f->composite);
    glUniform1i(glGetUniformLocation(f->composite, "drawn"), FILTER_DRAWN);
    glUniform1i(glGetUniformLocation(f->composite, "filtered"), FILTER_RESULT);
    glUniform1f(glGetUniformLocation(f->composite, "split"), at);
    glUniform1f(glGetUniformLocation(f->composite, "thick"),
                both ? fmaxf(1.0f, (float)f->height / 720.0f) : 0.0f);
    offscreen_bind(target);
    screen_cover(screen, f->composite);
}

/* Chooses the curve. At the radius it falls to about a hundredth of its height. */
static void choose_gaussian(struct gaussian *g, int radius)
{
    const double sigma = radius / 3.0;
    double weights[LARGEST_RADIUS + 1], sum = 0.0;
    for (int i = 0; i <= radius; i++) {
        weights[i] = radius > 0 ? exp(-0.5 * i * i / (sigma * sigma)) : 1.0;
        sum += i == 0 ? weights[i] : 2.0 * weights[i];
    }
    g->radius = radius;
    for (int i = 0; i <= radius; i++)
        g->weights[i] = (float)(weights[i] / sum);
}

/*
 * Allocates the textures without contents. A texture without mip levels must not use a mipmap
 * filter.
 */
static bool make_textures(struct filter *f)
{
    const int w = f->width, h = f->height;
    glGenTextures(FILTER_SHARED, f->textures);
    for (int i = 0; i < FILTER_SHARED; i++) {
        glBindTexture(GL_TEXTURE_2D, f->textures[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    }
    glGenFramebuffers(1, &f->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, f->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           f->textures[FILTER_DRAWN], 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        fprintf(stderr,
                "OpenGL cannot draw into a texture of %dx%d pixels: try a smaller --size.\n", w, h);
        return false;
    }
    f->composite = shader_program(screen_vertex, composite_fragment);
    return f->composite != 0;
}

static bool load_kernels(struct filter *f, struct session *s)
{
    const size_t size = (size_t)f->width * (size_t)f->height * 4 * sizeof(float);
    return session_kernel(s, &postprocess_image, "blur_rows", &f->blur_rows) &&
           session_kernel(s, &postprocess_image, "blur_columns", &f->blur_columns) &&
           session_kernel(s, &postprocess_image, "sobel", &f->sobel) &&
           cuda_ok(s->cuda->MemAlloc(&f->rows, size), "allocate memory for the blur");
}

bool filter_open(struct filter *f, struct session *session, int width, int height, int radius,
                 const gr_gl_options *options)
{
    *f = (struct filter){.session = session, .width = width, .height = height};
    choose_gaussian(&f->gaussian, radius);
    return make_textures(f) && share_textures(f, options) && load_kernels(f, session);
}

/* In reverse order: a registration ends before its OpenGL object. */
void filter_close(struct filter *f)
{
    for (int i = 0; i < FILTER_SHARED; i++)
        gr_resource_free(f->shared[i]);
    if (f->rows != 0)
        f->session->cuda->MemFree(f->rows);
    if (f->framebuffer != 0) {
        glDeleteFramebuffers(1, &f->framebuffer);
        glDeleteTextures(FILTER_SHARED, f->textures);
        glDeleteProgram(f->composite);
    }
    *f = (struct filter){0};
}
