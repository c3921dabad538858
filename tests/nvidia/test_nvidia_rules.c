/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rules of the layer (layer.h), by calls of OpenGL and CUDA without grinterop: they hold for
 * the NVIDIA driver, and for Mesa under the layer.
 */
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>

enum { SIDE = 16, BYTES = 4 * SIDE * SIDE, SHARED = 2 << 20 };

static unsigned char bytes[BYTES];

/* Why no rule holds here, or NULL. */
static const char *missing(void)
{
    if (!gr_cuda_is_software() || getenv("GR_TEST_NVIDIA"))
        return NULL;
    return "run-test does not preload the layer, as under a sanitizer";
}

static GLuint texture_of(GLenum format, GLsizei levels)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, levels, format, SIDE, SIDE);
    return name;
}

/* ---- Names and images ------------------------------------------------------------------------ */

GROUP("images", add_case)

TEST_UNLESS(missing(), a_name_is_used_again_at_once)
{
    GLuint buffers[2], textures[2];
    for (int i = 0; i < 2; i++) {
        glGenBuffers(1, &buffers[i]);
        glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
        glDeleteBuffers(1, &buffers[i]);
        glGenTextures(1, &textures[i]);
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        glDeleteTextures(1, &textures[i]);
    }
    ck_assert_uint_eq(buffers[0], buffers[1]);
    ck_assert_uint_eq(textures[0], textures[1]);
}

TEST_UNLESS(missing(), the_vendor_is_nvidia)
{
    ck_assert_str_eq((const char *)glGetString(GL_VENDOR), "NVIDIA Corporation");
}

static void set_parameter(void)
{
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
}

static void set_filter(void)
{
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
}

static void define_image(void)
{
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}

static void write_image(void)
{
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

static void read_image(void)
{
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

TEST_UNLESS(missing(), a_registered_image_refuses_parameters_and_storage)
{
    static const struct {
        void (*call)(void);
        GLenum registered;
    } calls[] = {
        {set_parameter, GL_INVALID_OPERATION},
        {define_image, GL_INVALID_OPERATION},
        {set_filter, GL_NO_ERROR},
        {write_image, GL_NO_ERROR},
        {read_image, GL_NO_ERROR},
    };
    CUgraphicsResource resource;
    GLuint name = bound_texture(GL_TEXTURE_2D);
    define_image();
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    CU(GraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D, 0));
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        calls[i].call();
        ck_assert_uint_eq(glGetError(), calls[i].registered);
    }
    CU(GraphicsUnregisterResource(resource));
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        calls[i].call();
        ck_assert_uint_eq(glGetError(), GL_NO_ERROR);
    }
    glDeleteTextures(1, &name);
}

/* ---- Framebuffers ---------------------------------------------------------------------------- */

TEST_UNLESS(missing(), a_blit_with_rasterizer_discard_writes_nothing)
{
    static const GLenum targets[] = {GL_READ_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER};
    GLuint framebuffers[2], textures[2];
    glGenFramebuffers(2, framebuffers);
    for (int i = 0; i < 2; i++) {
        textures[i] = texture_of(GL_RGBA8, 1);
        memset(bytes, 7 + i, sizeof(bytes));
        write_image();
        glBindFramebuffer(targets[i], framebuffers[i]);
        glFramebufferTexture2D(targets[i], GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[i], 0);
    }
    for (int discards = 1; discards >= 0; discards--) {
        (discards ? glEnable : glDisable)(GL_RASTERIZER_DISCARD);
        glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        read_image();
        assert_bytes(bytes, sizeof(bytes), discards ? 8 : 7);
    }
    glDeleteFramebuffers(2, framebuffers);
    glDeleteTextures(2, textures);
}

TEST_UNLESS(missing(), the_component_type_of_a_signed_attachment_is_refused)
{
    static const struct {
        GLenum format, error;
    } rows[] = {{GL_RGBA8, GL_NO_ERROR},
                {GL_R8_SNORM, GL_INVALID_OPERATION},
                {GL_RGBA16_SNORM, GL_INVALID_OPERATION}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        GLuint name = texture_of(rows[i].format, 1);
        GLint type = 0;
        GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
                                              GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, &type);
        ck_assert_uint_eq(glGetError(), rows[i].error);
        glDeleteFramebuffers(1, &framebuffer);
        glDeleteTextures(1, &name);
    }
}

/* ---- A buffer in memory of CUDA -------------------------------------------------------------- */

GROUP("buffers", add_case)

static struct {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ptr;
    GLuint memory, name, texture;
} shared;

static const char *shared_missing_here(void)
{
    if (missing())
        return missing();
    return epoxy_has_gl_extension("GL_EXT_memory_object_fd")
               ? NULL
               : "this OpenGL has no GL_EXT_memory_object_fd";
}

static void make_shared(void)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device},
    };
    const CUmemAccessDesc access = {.location = prop.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const GLint dedicated = GL_TRUE;
    int fd;
    CU(MemCreate(&shared.handle, SHARED, &prop, 0));
    CU(MemAddressReserve(&shared.ptr, SHARED, 0, 0, 0));
    CU(MemMap(shared.ptr, SHARED, 0, shared.handle, 0));
    CU(MemSetAccess(shared.ptr, SHARED, &access, 1));
    CU(MemExportToShareableHandle(&fd, shared.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    glCreateMemoryObjectsEXT(1, &shared.memory);
    glMemoryObjectParameterivEXT(shared.memory, GL_DEDICATED_MEMORY_OBJECT_EXT, &dedicated);
    glImportMemoryFdEXT(shared.memory, SHARED, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    glCreateBuffers(1, &shared.name);
    glNamedBufferStorageMemEXT(shared.name, SHARED, shared.memory, 0);
}

static void end_shared(void)
{
    glDeleteTextures(1, &shared.texture);
    glDeleteBuffers(1, &shared.name);
    glDeleteMemoryObjectsEXT(1, &shared.memory);
    glFinish();
    CU(MemUnmap(shared.ptr, SHARED));
    CU(MemAddressFree(shared.ptr, SHARED));
    CU(MemRelease(shared.handle));
}

/* What OpenGL does with the buffer after the last write of CUDA, and whether an upload is right. */
static void nothing(void)
{
}
static void finishes(void)
{
    glFinish();
}
static void clears_a_byte(void)
{
    const GLubyte zero = 0;
    glClearNamedBufferSubData(shared.name, GL_R8UI, SHARED - 4, 1, GL_RED_INTEGER, GL_UNSIGNED_BYTE,
                              &zero);
}
static void copies_into_it(void)
{
    GLuint from;
    glCreateBuffers(1, &from);
    glNamedBufferData(from, 4, NULL, GL_STATIC_COPY);
    glCopyNamedBufferSubData(from, shared.name, 0, SHARED - 4, 4);
    glDeleteBuffers(1, &from);
}

static const struct {
    void (*call)(void);
    bool right;
} remedies[] = {{nothing, false}, {finishes, false}, {clears_a_byte, true}, {copies_into_it, true}};
enum { REMEDIES = sizeof(remedies) / sizeof(*remedies) };

/* CUDA fills the buffer three times. Counts the reads after the first one that are wrong. */
static int old_reads(void (*read)(void), int remedy)
{
    int old = 0;
    for (int round = 1; round <= 3; round++) {
        glFinish();
        CU(MemsetD8Async(shared.ptr, (unsigned char)(16 * round), SHARED, fx.stream));
        CU(StreamSynchronize(fx.stream));
        remedies[remedy].call();
        memset(bytes, 0xEE, sizeof(bytes));
        read();
        old += round > 1 && bytes[0] != 16 * round;
    }
    return old;
}

static void get_buffer(void)
{
    glGetNamedBufferSubData(shared.name, 0, BYTES, bytes);
}

TEST_UNLESS(shared_missing_here(), a_read_of_memory_of_cuda_returns_old_bytes, REMEDIES)
{
    make_shared();
    const int old = old_reads(get_buffer, _i);
    end_shared();
    ck_assert_int_eq(old, remedies[_i].right ? 0 : 2);
}

static const struct upload {
    GLenum target, internal, format, type;
    GLint level;
    bool old;
} uploads[] = {
    {GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 0, false},
    {GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 1, true},
    {GL_TEXTURE_2D, GL_R8, GL_RED, GL_UNSIGNED_BYTE, 2, true},
    {GL_TEXTURE_2D_ARRAY, GL_R8, GL_RED, GL_UNSIGNED_BYTE, 0, false},
    {GL_TEXTURE_2D_ARRAY, GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, true},
    {GL_TEXTURE_1D, GL_R8, GL_RED, GL_UNSIGNED_BYTE, 0, true},
    {GL_TEXTURE_1D_ARRAY, GL_R8, GL_RED, GL_UNSIGNED_BYTE, 0, true},
    {GL_TEXTURE_2D, GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 0, true},
};
enum { UPLOADS = sizeof(uploads) / sizeof(*uploads) };
static const struct upload *upload;

static void upload_and_read(void)
{
    const GLsizei side = SIDE >> upload->level;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, shared.name);
    if (upload->target == GL_TEXTURE_1D)
        glTexSubImage1D(upload->target, upload->level, 0, side, upload->format, upload->type, 0);
    else if (upload->target == GL_TEXTURE_2D_ARRAY)
        glTexSubImage3D(upload->target, upload->level, 0, 0, 0, side, side, 1, upload->format,
                        upload->type, 0);
    else
        glTexSubImage2D(upload->target, upload->level, 0, 0, side, side, upload->format,
                        upload->type, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glGetTexImage(upload->target, upload->level, upload->format, upload->type, bytes);
}

TEST_UNLESS(shared_missing_here(), uploads_from_memory_of_cuda_take_old_bytes, UPLOADS *REMEDIES)
{
    const int remedy = _i % REMEDIES;
    upload = &uploads[_i / REMEDIES];
    make_shared();
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGenTextures(1, &shared.texture);
    glBindTexture(upload->target, shared.texture);
    if (upload->target == GL_TEXTURE_1D)
        glTexStorage1D(upload->target, 3, upload->internal, SIDE);
    else if (upload->target == GL_TEXTURE_2D_ARRAY)
        glTexStorage3D(upload->target, 3, upload->internal, SIDE, SIDE, 1);
    else
        glTexStorage2D(upload->target, upload->target == GL_TEXTURE_1D_ARRAY ? 1 : 3,
                       upload->internal, SIDE, SIDE);
    const int old = old_reads(upload_and_read, remedy);
    end_shared();
    ck_assert_int_eq(old, upload->old && !remedies[remedy].right ? 2 : 0);
}
