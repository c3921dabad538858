/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An offscreen render target. */
#include "offscreen.h"

#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

enum { SAMPLES = 4, SAMPLED_COLOUR = 0, SAMPLED_DEPTH, COLOUR };

static void attach(const struct offscreen *target, int which, int samples, GLenum format,
                   GLenum attachment)
{
    glBindRenderbuffer(GL_RENDERBUFFER, target->renderbuffers[which]);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, target->width,
                                     target->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER,
                              target->renderbuffers[which]);
}

static bool complete(const struct offscreen *target)
{
    const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    if (status == GL_FRAMEBUFFER_COMPLETE)
        return true;
    fprintf(stderr,
            "OpenGL cannot create a framebuffer of %dx%d pixels (status 0x%04x): try a smaller "
            "--size.\n",
            target->width, target->height, status);
    return false;
}

bool offscreen_init(struct offscreen *target, int width, int height)
{
    *target = (struct offscreen){.width = width, .height = height};
    GLint limit = 0, samples = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &limit);
    glGetIntegerv(GL_MAX_SAMPLES, &samples);
    if (width > limit || height > limit) {
        fprintf(stderr, "OpenGL draws at most %dx%d pixels here: choose a smaller --size.\n", limit,
                limit);
        return false;
    }

    glGenFramebuffers(1, &target->drawn);
    glGenFramebuffers(1, &target->resolved);
    glGenRenderbuffers(3, target->renderbuffers);

    glBindFramebuffer(GL_FRAMEBUFFER, target->resolved);
    attach(target, COLOUR, 0, GL_RGBA8, GL_COLOR_ATTACHMENT0);
    if (!complete(target))
        return false;

    if (samples > SAMPLES)
        samples = SAMPLES;
    glBindFramebuffer(GL_FRAMEBUFFER, target->drawn);
    attach(target, SAMPLED_COLOUR, samples, GL_RGBA8, GL_COLOR_ATTACHMENT0);
    attach(target, SAMPLED_DEPTH, samples, GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT);
    return complete(target);
}

void offscreen_bind(const struct offscreen *target)
{
    glBindFramebuffer(GL_FRAMEBUFFER, target->drawn);
    glViewport(0, 0, target->width, target->height);
}

/* Flips the rows, since the first row in OpenGL is the bottom row. */
static void flip_rows(unsigned char *pixels, size_t pitch, int rows)
{
    for (int top = 0, bottom = rows - 1; top < bottom; top++, bottom--) {
        unsigned char *a = pixels + (size_t)top * pitch;
        unsigned char *b = pixels + (size_t)bottom * pitch;
        for (size_t i = 0; i < pitch; i++) {
            const unsigned char kept = a[i];
            a[i] = b[i];
            b[i] = kept;
        }
    }
}

static void resolve(const struct offscreen *target)
{
    const int w = target->width, h = target->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target->drawn);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target->resolved);
    glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, target->resolved);
}

void offscreen_read(const struct offscreen *target, unsigned char *pixels)
{
    const int w = target->width, h = target->height;
    resolve(target);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, w, h, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    flip_rows(pixels, 3 * (size_t)w, h);
}

void offscreen_read_into(const struct offscreen *target, unsigned buffer)
{
    resolve(target);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glReadPixels(0, 0, target->width, target->height, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

void offscreen_show(const struct offscreen *target)
{
    const int w = target->width, h = target->height;
    resolve(target);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void offscreen_free(struct offscreen *target)
{
    if (target->drawn == 0)
        return;
    glDeleteRenderbuffers(3, target->renderbuffers);
    glDeleteFramebuffers(1, &target->drawn);
    glDeleteFramebuffers(1, &target->resolved);
    memset(target, 0, sizeof(*target));
}
