/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/formats.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>

#include "tools/info/say.h"

enum { TEXELS = 4 };

/* Those that CUDA can take of itself: 1, 2 and 4 channels (docs/formats.md). */
static const struct {
    GLenum format;
    const char *name;
} formats[] = {
    {GL_R8, "R8"},
    {GL_RG8, "RG8"},
    {GL_RGBA8, "RGBA8"},
    {GL_SRGB8_ALPHA8, "SRGB8_ALPHA8"},
    {GL_R8I, "R8I"},
    {GL_RG8I, "RG8I"},
    {GL_RGBA8I, "RGBA8I"},
    {GL_R8UI, "R8UI"},
    {GL_RG8UI, "RG8UI"},
    {GL_RGBA8UI, "RGBA8UI"},
    {GL_R16, "R16"},
    {GL_RG16, "RG16"},
    {GL_RGBA16, "RGBA16"},
    {GL_R16I, "R16I"},
    {GL_RG16I, "RG16I"},
    {GL_RGBA16I, "RGBA16I"},
    {GL_R16UI, "R16UI"},
    {GL_RG16UI, "RG16UI"},
    {GL_RGBA16UI, "RGBA16UI"},
    {GL_R16F, "R16F"},
    {GL_RG16F, "RG16F"},
    {GL_RGBA16F, "RGBA16F"},
    {GL_R32I, "R32I"},
    {GL_RG32I, "RG32I"},
    {GL_RGBA32I, "RGBA32I"},
    {GL_R32UI, "R32UI"},
    {GL_RG32UI, "RG32UI"},
    {GL_RGBA32UI, "RGBA32UI"},
    {GL_R32F, "R32F"},
    {GL_RG32F, "RG32F"},
    {GL_RGBA32F, "RGBA32F"},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static bool takes(GLenum format)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, format, TEXELS, TEXELS);
    gr_resource *resource = gr_from_gl_image(name, GL_TEXTURE_2D, GR_READ_WRITE);
    gr_resource_free(resource);
    glDeleteTextures(1, &name);
    return resource;
}

static void try_all(const char *id)
{
    char whole[64], label[100], taken[600] = "", refused[600] = "";
    size_t count = 0, used_taken = 0, used_refused = 0;
    for (size_t i = 0; i < FORMATS; i++) {
        bool good = takes(formats[i].format);
        char *list = good ? taken : refused;
        size_t *used = good ? &used_taken : &used_refused;
        *used += (size_t)snprintf(list + *used, sizeof(taken) - *used, "%s%s", *used ? " " : "",
                                  formats[i].name);
        count += good;
    }
    snprintf(whole, sizeof(whole), "%s/formats", id);
    snprintf(label, sizeof(label), "CUDA takes %zu of %zu formats of textures", count, FORMATS);
    say_detail(whole, count ? MARK_GOOD : MARK_NOTE, label, "%s%s%s", taken,
               *refused ? "; not " : "", refused);
    say_fact("taken", "%s", taken);
    say_fact("refused", "%s", refused);
}

void formats_say(const char *id, int cuda_device)
{
    gr_cuda_context *context = gr_cuda_context_create(cuda_device);
    if (!context)
        return;
    if (epoxy_gl_version() >= 42 || epoxy_has_gl_extension("GL_ARB_texture_storage"))
        try_all(id);
    gr_cuda_context_free(context);
}
