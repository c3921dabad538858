/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Textures of an EGLImage, in OpenGL and OpenGL ES, by interop and by copy: the EGLImage of another
 * texture, and of a dma-buf that EGL has exported from one, as decoders and compositors pass them.
 */
#define _GNU_SOURCE
#include "gl_es.h"

#include <unistd.h>

#include <epoxy/egl.h>

#define WIDTH  64
#define HEIGHT 16

static const char *const formats[] = {"RGBA8", "R8", "RG8"}; /* R8 and RG8: the planes of NV12 */
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* One run of a test: the numbers of the API, of the transport and of the format. */
#define RUNS        (2 * ES_WAYS * FORMATS)
#define API(run)    ((run) % 2)
#define WAY(run)    es_ways[(run) / 2 % ES_WAYS]
#define FORMAT(run) formats[(run) / 2 / ES_WAYS]

static EGLDisplay display;

static bool egl_has(const char *extension)
{
    return epoxy_has_egl_extension(display, extension);
}

static void begin(int run)
{
    if (API(run))
        assert_ok(gr_egl_make_current(fx.egl));
    display = eglGetCurrentDisplay();
}

/* ---- EGLImages ------------------------------------------------------------------------------- */

static EGLImageKHR image_of_texture(GLuint name)
{
    const EGLint options[] = {EGL_IMAGE_PRESERVED_KHR, EGL_TRUE, EGL_NONE};
    EGLImageKHR image = eglCreateImageKHR(display, eglGetCurrentContext(), EGL_GL_TEXTURE_2D_KHR,
                                          (EGLClientBuffer)(uintptr_t)name, options);
    ck_assert_msg(image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR: 0x%x", (unsigned)eglGetError());
    return image;
}

/*
 * Exports the EGLImage as a dma-buf of one plane, and imports that. EGL_NO_IMAGE_KHR if EGL refuses
 * the export, as NVIDIA's does without /dev/dri.
 */
static EGLImageKHR image_of_dma_buf(EGLImageKHR exported)
{
    int fourcc = 0, planes = 0, fd = -1;
    EGLuint64KHR modifier = 0;
    EGLint pitch = 0, offset = 0;
    if (!eglExportDMABUFImageQueryMESA(display, exported, &fourcc, &planes, &modifier) ||
        !eglExportDMABUFImageMESA(display, exported, &fd, &pitch, &offset))
        return EGL_NO_IMAGE_KHR;
    ck_assert_int_eq(planes, 1);
    const EGLint options[] = {EGL_WIDTH,
                              WIDTH,
                              EGL_HEIGHT,
                              HEIGHT,
                              EGL_LINUX_DRM_FOURCC_EXT,
                              fourcc,
                              EGL_DMA_BUF_PLANE0_FD_EXT,
                              fd,
                              EGL_DMA_BUF_PLANE0_OFFSET_EXT,
                              offset,
                              EGL_DMA_BUF_PLANE0_PITCH_EXT,
                              pitch,
                              egl_has("EGL_EXT_image_dma_buf_import_modifiers")
                                  ? EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT
                                  : EGL_NONE,
                              (EGLint)(modifier & 0xFFFFFFFF),
                              EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT,
                              (EGLint)(modifier >> 32),
                              EGL_NONE};
    EGLImageKHR image =
        eglCreateImageKHR(display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, options);
    ck_assert_msg(image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR: 0x%x", (unsigned)eglGetError());
    close(fd);
    return image;
}

/* Makes a texture whose storage is the EGLImage. */
static GLuint texture_of_image(EGLImageKHR image)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    if (epoxy_has_gl_extension("GL_OES_EGL_image"))
        glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image);
    else
        glEGLImageTargetTexStorageEXT(GL_TEXTURE_2D, image, NULL);
    glBindTexture(GL_TEXTURE_2D, 0);
    assert_gl_clean();
    return name;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* OpenGL must read the pattern. */
static void assert_texture(GLuint name, const struct image *like, unsigned seed)
{
    static unsigned char read[WIDTH * HEIGHT * 4], wanted[WIDTH * HEIGHT * 4];
    const unsigned channels = image_channels(like->format);
    GLuint framebuffer = bound_framebuffer(GL_READ_FRAMEBUFFER);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, read);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    assert_gl_clean();
    image_pattern(like->format, wanted, WIDTH * HEIGHT * channels, seed);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        for (size_t c = 0; c < channels; c++)
            ck_assert_msg(read[4 * i + c] == wanted[channels * i + c],
                          "texel %zu, channel %zu is 0x%02x, not 0x%02x", i, c, read[4 * i + c],
                          wanted[channels * i + c]);
}

/* CUDA reads what OpenGL wrote to the original, and OpenGL what CUDA writes to the texture. */
static void check_both_ways(GLuint name, const struct image *original, const gr_gl_options *way)
{
    static unsigned char wanted[WIDTH * HEIGHT * 4];
    gr_resource *resource = must_make(gr_from_gl_image_with(name, GL_TEXTURE_2D, 0, way));
    gr_buffer *buffer = must_map_image(resource);
    assert_mapped_level(buffer, original, 0, 0, 1);
    image_pattern(original->format, wanted, image_bytes(original, 0), 77);
    image_put(buffer, 0, 0, wanted);
    assert_ok(gr_buffer_release(buffer));
    assert_texture(name, original, 77);
    gr_resource_free(resource);
    glFinish();
    assert_texture(original->name, original, 77);
}

/* False: the texture has no dma-buf. */
static bool check(int run, bool by_dma_buf)
{
    struct image original = image_filled(FORMAT(run), "2D", WIDTH, HEIGHT, 1, 1);
    glFinish();
    EGLImageKHR image = image_of_texture(original.name), imported = EGL_NO_IMAGE_KHR;
    if (by_dma_buf)
        imported = image_of_dma_buf(image);
    const bool exported = !by_dma_buf || imported != EGL_NO_IMAGE_KHR;
    if (exported) {
        GLuint name = texture_of_image(by_dma_buf ? imported : image);
        check_both_ways(name, &original, WAY(run));
        glDeleteTextures(1, &name);
    }
    if (imported != EGL_NO_IMAGE_KHR)
        eglDestroyImageKHR(display, imported);
    eglDestroyImageKHR(display, image);
    image_delete(&original);
    assert_gl_clean();
    return exported;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

GROUP("EGLImages", add_es_case)

/* Returns the first missing extension, or NULL. */
static const char *missing(bool dma_buf)
{
    static const char *const needed[] = {"EGL_KHR_image_base", "EGL_KHR_gl_texture_2D_image",
                                         "EGL_MESA_image_dma_buf_export",
                                         "EGL_EXT_image_dma_buf_import"};
    for (int i = 0; i < (dma_buf ? 4 : 2); i++)
        if (!egl_has(needed[i]))
            return needed[i];
    return epoxy_has_gl_extension("GL_OES_EGL_image") ||
                   epoxy_has_gl_extension("GL_EXT_EGL_image_storage")
               ? NULL
               : "GL_OES_EGL_image and GL_EXT_EGL_image_storage";
}

TEST(textures_of_an_egl_image_pass_both_ways, RUNS)
{
    begin(_i);
    if (missing(false))
        skip("this EGL or OpenGL lacks %s", missing(false));
    if (!gr_cuda_is_software())
        skip("NVIDIA's OpenGL reads the first texel of a texture's EGLImage everywhere");
    ck_assert(check(_i, false));
}

TEST(textures_of_a_dma_buf_pass_both_ways, RUNS)
{
    begin(_i);
    if (missing(true))
        skip("this EGL or OpenGL lacks %s", missing(true));
    if (!check(_i, true))
        skip("this EGL exports no dma-buf of a texture");
}

/* The message has the way out. */
TEST(external_textures_are_refused, 2)
{
    GLuint name;
    begin(_i);
    glGenTextures(1, &name);
    if (!API(_i))
        glBindTexture(GL_TEXTURE_EXTERNAL_OES, name);
    assert_null(gr_from_gl_image(name, GL_TEXTURE_EXTERNAL_OES, 0), GR_ERR_UNSUPPORTED, 0,
                "CUDA does not accept GL_TEXTURE_EXTERNAL_OES. Use "
                "glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image) with the same EGLImage, and "
                "pass that texture as GL_TEXTURE_2D");
    if (!API(_i))
        assert_null_invalid(gr_from_gl_image(name, GL_TEXTURE_2D, 0), "pass its own target");
    glDeleteTextures(1, &name);
    assert_gl_clean();
}
