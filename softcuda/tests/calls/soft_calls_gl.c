/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL buffers and images that changed after their registration, and older OpenGL versions, which
 * the software driver accesses with other calls.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

#include "tests/support/child_check.h"

#include <stdlib.h>
#include <string.h>

#define SIZE     64
#define NO_BYTES 0xCD /* the value of bytes that OpenGL does not have */

GROUP("OpenGL", add_case)

static CUgraphicsResource registered(GLuint name)
{
    CUgraphicsResource resource = NULL;
    CU(GraphicsGLRegisterBuffer(&resource, name, 0));
    return resource;
}

/*
 * Maps the buffer, compares the bytes that CUDA sees with the expected ones, fills the whole
 * buffer, and unmaps it.
 */
static void map_and_fill(CUgraphicsResource resource, const void *expected, int value)
{
    CUdeviceptr mapped = 0;
    size_t size = 0;
    unsigned char bytes[SIZE];
    CU(GraphicsMapResources(1, &resource, fx.stream));
    CU_READS(size, SIZE, GraphicsResourceGetMappedPointer(&mapped, &size, resource));
    CU(MemcpyDtoHAsync(bytes, mapped, SIZE, fx.stream));
    CU(MemsetD8Async(mapped, (unsigned char)value, SIZE, fx.stream));
    CU(GraphicsUnmapResources(1, &resource, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_mem_eq(bytes, expected, SIZE);
}

/* While the application has mapped bytes 16 to 47, CUDA sees only these bytes. */
SOFT_TEST(cuda_sees_only_bytes_that_the_application_has_mapped)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    CUgraphicsResource resource = registered(name);
    unsigned char expected[SIZE];
    glBindBuffer(GL_ARRAY_BUFFER, name);
    unsigned char *bytes =
        glMapBufferRange(GL_ARRAY_BUFFER, 16, 32, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    ck_assert_ptr_ne(bytes, NULL);
    memset(expected, NO_BYTES, SIZE);
    memset(expected + 16, 0x3a, 32);
    map_and_fill(resource, expected, 0x3b);
    assert_bytes(bytes, 32, 0x3b);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    memset(expected, 0x3a, SIZE);
    memset(expected + 16, 0x3b, 32);
    unsigned char found[SIZE];
    gl_read(name, found, SIZE);
    ck_assert_mem_eq(found, expected, SIZE);

    bytes = glMapBufferRange(GL_ARRAY_BUFFER, 16, 32, GL_MAP_WRITE_BIT);
    CUdeviceptr mapped = 0;
    size_t size = 0;
    pattern_fill(found, SIZE, 1);
    CU(GraphicsMapResources(1, &resource, NULL));
    CU(GraphicsResourceGetMappedPointer(&mapped, &size, resource));
    CU(MemcpyHtoD(mapped, found, SIZE));
    CU(GraphicsUnmapResources(1, &resource, NULL));
    CU(CtxSynchronize());
    glUnmapBuffer(GL_ARRAY_BUFFER);
    memcpy(expected + 16, found + 16, 32);
    gl_read(name, found, SIZE);
    ck_assert_mem_eq(found, expected, SIZE);

    /*
     * CUDA does not write through a mapping that the application made for reading, and does not
     * read through one that it made for writing.
     */
    bytes = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_READ_BIT);
    map_and_fill(resource, expected, 0x3c);
    ck_assert_mem_eq(bytes, expected, SIZE);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    bytes = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT);
    memset(expected, NO_BYTES, SIZE);
    map_and_fill(resource, expected, 0x3d);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    assert_gl_bytes(name, SIZE, 0x3d);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

SOFT_TEST(deleted_buffer_maps_without_its_bytes)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    CUgraphicsResource resource = registered(name);
    unsigned char expected[SIZE];
    glDeleteBuffers(1, &name);
    memset(expected, NO_BYTES, SIZE);
    map_and_fill(resource, expected, 0x3b);
    CU(GraphicsUnregisterResource(resource));
    assert_gl_clean();
}

/*
 * The map accesses the buffer of the resource's own context, and the caller's context stays
 * current.
 */
SOFT_TEST(map_uses_the_opengl_context_of_its_resource)
{
    GLuint name = gl_buffer_filled(SIZE, 0x3a);
    CUgraphicsResource resource = registered(name);
    unsigned char expected[SIZE];
    gr_egl *second = gr_egl_create(NULL);
    assert_made(second);
    GLuint other = gl_buffer_filled(SIZE, 0x11);
    ck_assert_uint_eq(other, name); /* both contexts use the same name, so a mistake would show */
    memset(expected, 0x3a, SIZE);
    map_and_fill(resource, expected, 0x3b);
    assert_gl_bytes(other, SIZE, 0x11);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_gl_bytes(name, SIZE, 0x3b);
    gr_egl_free(second);
    assert_ok(gr_egl_make_current(fx.egl));
}

/* ---- Images ---------------------------------------------------------------------------------- */

#define SIDE 4

static void give_storage(GLuint name, unsigned side, GLenum format, unsigned char value)
{
    unsigned char texels[4 * 64];
    memset(texels, value, sizeof(texels));
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, (GLsizei)side, (GLsizei)side, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, 0);
}

static GLuint texture_of(unsigned side, GLenum format, unsigned char value)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    give_storage(name, side, format, value);
    return name;
}

static CUgraphicsResource registered_image(GLuint name)
{
    CUgraphicsResource resource = NULL;
    CU(GraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D, 0));
    return resource;
}

/* Like map_and_fill(), for an image of SIDE by SIDE texels of 4 bytes. */
static void map_image_and_fill(CUgraphicsResource resource, const void *expected, int value)
{
    unsigned char bytes[SIDE * SIDE * 4], filled[SIDE * SIDE * 4];
    CUarray array = NULL;
    CU(GraphicsMapResources(1, &resource, NULL));
    CU(GraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
    CUDA_MEMCPY3D copy = copy_from_array(bytes, array, SIDE * 4, SIDE, 1);
    DRV(cuMemcpy3D_v2, (&copy));
    memset(filled, value, sizeof(filled));
    copy = copy_to_array(array, filled, SIDE * 4, SIDE, 1);
    DRV(cuMemcpy3D_v2, (&copy));
    GIVES(ERROR_ARRAY_IS_MAPPED, cuArrayDestroy, (array));
    CU(GraphicsUnmapResources(1, &resource, NULL));
    CU(CtxSynchronize());
    ck_assert_mem_eq(bytes, expected, sizeof(bytes));
}

static void read_texture(GLuint name, unsigned char *texels)
{
    glBindTexture(GL_TEXTURE_2D, name);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, 0);
}

/*
 * Only the part that both the old and the new storage have is exchanged. Neither OpenGL nor CUDA
 * sees the other bytes.
 */
SOFT_TEST(image_with_new_storage_exchanges_the_common_part)
{
    GLuint name = texture_of(SIDE, GL_RGBA8, 0x3a);
    CUgraphicsResource resource = registered_image(name);
    unsigned char expected[SIDE * SIDE * 4], texels[64 * 4], all[64 * 4];
    memset(expected, 0x3a, sizeof(expected));
    map_image_and_fill(resource, expected, 0x3b);
    read_texture(name, texels);
    assert_bytes(texels, sizeof(expected), 0x3b);

    give_storage(name, 2, GL_RGBA8, 0x41); /* smaller */
    memset(expected, NO_BYTES, sizeof(expected));
    memset(expected, 0x41, 8);
    memset(expected + SIDE * 4, 0x41, 8);
    map_image_and_fill(resource, expected, 0x42);
    read_texture(name, texels);
    assert_bytes(texels, 2 * 2 * 4, 0x42);

    give_storage(name, 8, GL_RGBA8, 0x43); /* larger */
    memset(expected, 0x43, sizeof(expected));
    map_image_and_fill(resource, expected, 0x44);
    read_texture(name, texels);
    memset(all, 0x43, sizeof(all));
    for (size_t y = 0; y < SIDE; y++)
        memset(all + y * 8 * 4, 0x44, SIDE * 4);
    ck_assert_mem_eq(texels, all, sizeof(all));

    give_storage(name, SIDE, GL_R8, 0x45); /* another format: no common part */
    memset(expected, NO_BYTES, sizeof(expected));
    map_image_and_fill(resource, expected, 0x46);
    read_texture(name, texels);
    ck_assert_uint_eq(texels[0], 0x45);

    glDeleteTextures(1, &name);
    map_image_and_fill(resource, expected, 0x47);
    CU(GraphicsUnregisterResource(resource));
    assert_gl_clean();
}

/* ---- Older OpenGL ---------------------------------------------------------------------------- */

static void exchange_a_buffer(void)
{
    GLuint name = 0;
    unsigned char bytes[SIZE];
    memset(bytes, 0x3a, SIZE);
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, SIZE, bytes, GL_STATIC_DRAW);
    CUgraphicsResource resource = registered(name);
    map_and_fill(resource, bytes, 0x3b);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
    assert_bytes(bytes, SIZE, 0x3b);
    const GLenum access[3] = {GL_READ_ONLY, GL_WRITE_ONLY, GL_READ_WRITE};
    for (int i = 0; i < 3; i++) {
        memset(bytes, 0x40 + i, SIZE);
        glBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
        if (access[i] == GL_WRITE_ONLY)
            memset(bytes, NO_BYTES, SIZE);
        ck_assert_ptr_ne(glMapBuffer(GL_ARRAY_BUFFER, access[i]), NULL);
        map_and_fill(resource, bytes, 0x50);
        glUnmapBuffer(GL_ARRAY_BUFFER);
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
        assert_bytes(bytes, SIZE, access[i] == GL_READ_ONLY ? 0x40 + i : 0x50);
    }
}

static void exchange_an_image(void)
{
    GLuint name = texture_of(SIDE, GL_RGBA8, 0x3a);
    unsigned char texels[SIDE * SIDE * 4];
    CUgraphicsResource resource = NULL;
    /*
     * In this version a texture can only be bound to its own target, so a wrong target is detected.
     */
    CUresult claimed = fx.cu->GraphicsGLRegisterImage(&resource, name, GL_TEXTURE_3D, 0);
    ck_assert_int_eq(claimed, CUDA_ERROR_INVALID_VALUE);
    assert_gl_clean();
    resource = registered_image(name);
    memset(texels, 0x3a, sizeof(texels));
    map_image_and_fill(resource, texels, 0x3b);
    read_texture(name, texels);
    assert_bytes(texels, sizeof(texels), 0x3b);
}

static void make_old_opengl(void)
{
    static gr_egl *old; /* static, so that leak checks do not report it */
    old = gr_egl_create(&GR_INIT(gr_egl_options, .major = 2, .minor = 1, .compatibility = true));
    child_check(old);
}

/*
 * Does the setup of the fixture, which requires OpenGL 3.3, for an older version. Runs in its own
 * process, because Mesa reads MESA_GL_VERSION_OVERRIDE only once.
 */
static int exchange_with(const char *version, int major)
{
    GLint found = 0;
    ck_assert_int_eq(setenv("MESA_GL_VERSION_OVERRIDE", version, 1), 0);
    assert_ok(gr_cuda_load(true));
    fx.cu = gr_cuda();
    make_old_opengl();
    CU(DevicePrimaryCtxRetain(&fx.context, 0));
    CU(CtxSetCurrent(fx.context));
    CU(StreamCreate(&fx.stream, CU_STREAM_NON_BLOCKING));
    ck_assert_int_eq(epoxy_gl_version() / 10, major);
    exchange_a_buffer();
    assert_gl_clean();
    exchange_an_image();
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &found);
    ck_assert_int_eq(found, 0);
    assert_gl_clean();
    return 0;
}

CHILD(exchange_with_opengl_2)
{
    return exchange_with("2.1", 2);
}

CHILD(exchange_with_opengl_3)
{
    return exchange_with("3.1COMPAT", 3);
}

SOFT_TEST(buffers_and_images_work_with_opengl_2_and_3)
{
    expect_child("exchange_with_opengl_2");
    expect_child("exchange_with_opengl_3");
}
