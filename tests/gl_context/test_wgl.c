/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL on Windows: WGL contexts. The tests run first without a CUDA driver, then with the
 * follower driver (follower_driver.c), which reads and writes the bytes of the OpenGL objects. They
 * also run under Wine.
 */
#include "wgl.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/cuda_symbol.h"

const struct follower_api *follower;
struct own_wgl own;

/* ---- OpenGL state ---------------------------------------------------------------------------- */

static const struct {
    GLenum target, query;
} bindings[] = {{GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING},
                {GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING},
                {GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING},
                {GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING},
                {GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING}};

enum { PACK = 3, UNPACK = 4 }; /* indices of `bindings` */

static GLuint bound[COUNT(bindings)], texture;

static void bind_all(void)
{
    glGenBuffers(COUNT(bindings), bound);
    for (size_t i = 0; i < COUNT(bindings); i++)
        glBindBuffer(bindings[i].target, bound[i]);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glEnable(GL_COLOR_BUFFER_BIT); /* invalid for glEnable(): leaves an error pending */
}

static const char *check_bound(void)
{
    GLint now = 0;
    GLenum pending = glGetError(), further = glGetError();
    if (pending != GL_INVALID_ENUM || further != GL_NO_ERROR)
        FAIL("OpenGL's errors were 0x%x and 0x%x, not just the pending one", pending, further);
    for (size_t i = 0; i < COUNT(bindings); i++) {
        glGetIntegerv(bindings[i].query, &now);
        if ((GLuint)now != bound[i])
            FAIL("target 0x%x has buffer %d bound instead of %u", bindings[i].target, now,
                 bound[i]);
    }
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &now);
    if ((GLuint)now != texture)
        FAIL("GL_TEXTURE_2D has texture %d bound instead of %u", now, texture);
    return NULL;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

void wgl_case(const char *group, const char *name, const char *(*run)(void))
{
    const char *wrong = own_wgl_open(&own);
    if (wrong) {
        plain_case(group, name, fail_at(__FILE__, __LINE__, "no OpenGL: %s", wrong));
        return;
    }
    if (follower)
        follower->reset();
    gr_clear_error();
    bind_all();
    wrong = run();
    if (!wrong && own.context)
        wrong = check_bound();
    if (!wrong && own.context && follower && follower->registered() > 0)
        wrong = fail_at(__FILE__, __LINE__, "%zu resources are still registered",
                        follower->registered());
    plain_case(group, name, wrong);
    own_wgl_close(&own);
}

const char *wgl_refused(gr_status status, const char *words)
{
    const gr_error *error = gr_last_error();
    if (error->status != status)
        FAIL("%s instead of %s: %s", gr_status_name(error->status), gr_status_name(status),
             error->message);
    if (!strstr(error->message, words))
        FAIL("the message does not contain '%s': %s", words, error->message);
    gr_clear_error();
    return NULL;
}

GLuint wgl_buffer(const void *bytes, size_t size)
{
    GLuint name = 0;
    glCreateBuffers(1, &name);
    glNamedBufferData(name, (GLsizeiptr)size, bytes, GL_DYNAMIC_DRAW);
    return name;
}

const char *wgl_buffer_has(GLuint name, const void *bytes, size_t size)
{
    unsigned char now[4096];
    REQUIRE(size <= sizeof(now));
    glGetNamedBufferSubData(name, 0, (GLsizeiptr)size, now);
    for (size_t i = 0; i < size; i++)
        if (now[i] != ((const unsigned char *)bytes)[i])
            FAIL("byte %zu of buffer %u is 0x%02x instead of 0x%02x", i, name, now[i],
                 ((const unsigned char *)bytes)[i]);
    return NULL;
}

/* Pixel transfers would use these bound buffers. */
static void bind_for_pixels(GLuint pack, GLuint unpack)
{
    glBindBuffer(GL_PIXEL_PACK_BUFFER, pack);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, unpack);
}

GLuint wgl_texture(int side)
{
    GLuint name = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &name);
    glTextureStorage2D(name, 1, GL_RGBA8, side, side);
    return name;
}

void wgl_texels_set(GLuint name, int side, const void *texels)
{
    bind_for_pixels(0, 0);
    glTextureSubImage2D(name, 0, 0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    bind_for_pixels(bound[PACK], bound[UNPACK]);
}

void wgl_texels_get(GLuint name, int side, void *texels)
{
    bind_for_pixels(0, 0);
    glGetTextureImage(name, 0, GL_RGBA, GL_UNSIGNED_BYTE, 4 * side * side, texels);
    bind_for_pixels(bound[PACK], bound[UNPACK]);
}

/* The driver fails to start. On Windows the message must not blame missing device nodes. */
static const char *init_fails(int code)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", code);
    _putenv_s("FOLLOWER_INIT", text);
    gr_status status = gr_cuda_load(false);
    _putenv_s("FOLLOWER_INIT", "");
    REQUIRE(status == GR_ERR_NO_DRIVER && gr_last_error()->code == code);
    if (strstr(gr_last_error()->message, "/dev/") || strstr(gr_last_error()->message, "=soft"))
        FAIL("the message is about another system: %s", gr_last_error()->message);
    return NULL;
}

static bool load_follower(const char *program)
{
    if (!plain_driver(program, "follower_driver"))
        return false;
    plain_case("init", "no_device", init_fails(CUDA_ERROR_NO_DEVICE));
    plain_case("init", "operating_system", init_fails(CUDA_ERROR_OPERATING_SYSTEM));
    plain_case("init", "unknown", init_fails(CUDA_ERROR_UNKNOWN));
    follower = cuda_symbol("follower_api", 2000);
    if (!follower)
        printf("%s\n", gr_last_error()->message);
    return follower;
}

int main(int argc, char **argv)
{
    (void)argc;
    wgl_without_driver();
    if (!load_follower(argv[0]))
        return 1;
    wgl_calls();
    wgl_contexts();
    return plain_verdict();
}
