/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls for which the driver and compat.h must return the same code: valid calls and all kinds of
 * misuse.
 */
#include "compat_rows.h"

#define SIZE 4096

GLuint compat_texture(int size)
{
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, size, size);
    return name;
}

static void names(void)
{
    CUgraphicsResource r = NULL;
    GLuint empty = 0, deleted = gl_buffer(NULL, SIZE);
    glGenBuffers(1, &empty);
    ROW(ERROR_INVALID_VALUE, GLRegisterBuffer(&r, 0, 0));
    ROW(ERROR_INVALID_HANDLE, GLRegisterBuffer(&r, 999, 0));
    ROW(ERROR_INVALID_HANDLE, GLRegisterBuffer(&r, empty, 0));
    glBindBuffer(GL_ARRAY_BUFFER, empty);
    ROW(ERROR_OUT_OF_MEMORY, GLRegisterBuffer(&r, empty, 0));
    glDeleteBuffers(1, &deleted);
    ROW(ERROR_INVALID_HANDLE, GLRegisterBuffer(&r, deleted, 0));
    ROW(ERROR_INVALID_VALUE, GLRegisterBuffer(NULL, gl_buffer(NULL, SIZE), 0));
    ROW(ERROR_INVALID_HANDLE, GLRegisterImage(&r, 999, GL_TEXTURE_2D, 0));
    ROW(ERROR_INVALID_VALUE, GLRegisterImage(&r, 0, GL_TEXTURE_2D, 0));
    ROW(ERROR_INVALID_VALUE, GLRegisterImage(&r, compat_texture(8), 0, 0));
    ROW(ERROR_INVALID_VALUE, GLRegisterImage(&r, compat_texture(8), GL_TEXTURE_1D, 0));
    ROW(ERROR_INVALID_VALUE, GLRegisterImage(NULL, compat_texture(8), GL_TEXTURE_2D, 0));
}

static void flags(void)
{
    GLuint name = gl_buffer(NULL, SIZE), image = compat_texture(8);
    CUgraphicsResource r = NULL;
    for (unsigned given = 0; given < 3; given++) {
        ROW(SUCCESS, GLRegisterBuffer(&r, name, given));
        ROW(SUCCESS, UnregisterResource(r));
    }
    for (unsigned given = 3; given < 32; given++)
        ROW(ERROR_INVALID_VALUE, GLRegisterBuffer(&r, name, given));
    ROW(SUCCESS, GLRegisterImage(&r, image, GL_TEXTURE_2D, 4));
    ROW(SUCCESS, UnregisterResource(r));
    ROW(ERROR_INVALID_VALUE, GLRegisterImage(&r, image, GL_TEXTURE_2D, 64));
}

static void contexts_are_missing(void)
{
    GLuint name = gl_buffer(NULL, SIZE);
    CUgraphicsResource r = NULL, g = compat_buffer(SIZE);
    CUdeviceptr pointer;
    size_t size;
    CU(CtxSetCurrent(NULL));
    ROW(ERROR_INVALID_CONTEXT, GLRegisterBuffer(&r, name, 0));
    ROW(ERROR_INVALID_CONTEXT, MapResources(1, &g, CU_STREAM_LEGACY));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(SUCCESS, ResourceGetMappedPointer(&pointer, &size, g));
    ROW(ERROR_INVALID_CONTEXT, UnmapResources(1, &g, NULL));
    ROW(SUCCESS, UnmapResources(1, &g, fx.stream));
    CU(CtxSetCurrent(fx.context));
    assert_ok(gr_egl_make_current(NULL));
    ROW(ERROR_INVALID_VALUE, GLRegisterBuffer(&r, name, 0));
    ROW(ERROR_INVALID_GRAPHICS_CONTEXT, MapResources(1, &g, fx.stream));
    ROW(ERROR_NOT_MAPPED, ResourceGetMappedPointer(&pointer, &size, g));
    ROW(ERROR_NOT_MAPPED, UnmapResources(1, &g, fx.stream));
    ROW_NOT_GPU(ERROR_INVALID_GRAPHICS_CONTEXT, UnregisterResource(g));
    assert_ok(gr_egl_make_current(fx.egl));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(SUCCESS, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, UnregisterResource(g));
}

static void map_and_unmap(void)
{
    CUgraphicsResource g = compat_buffer(SIZE), none = NULL;
    CUdeviceptr pointer = 1;
    size_t size = 1;
    ROW(ERROR_NOT_MAPPED, ResourceGetMappedPointer(&pointer, &size, g));
    ck_assert_uint_eq(size, 0);
    ROW(ERROR_NOT_MAPPED, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(SUCCESS, ResourceGetMappedPointer(&pointer, &size, g));
    ck_assert_uint_eq(size, SIZE);
    ROW(SUCCESS, ResourceGetMappedPointer(NULL, &size, g));
    ROW(SUCCESS, ResourceGetMappedPointer(&pointer, NULL, g));
    ROW(ERROR_INVALID_HANDLE, ResourceGetMappedPointer(&pointer, &size, NULL));
    ROW(ERROR_ALREADY_MAPPED, MapResources(1, &g, fx.stream));
    ROW(ERROR_ALREADY_MAPPED, MapResources(1, &g, fx.other));
    ROW(SUCCESS, UnmapResources(1, &g, fx.other));
    ROW(ERROR_NOT_MAPPED, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, MapResources(1, &g, NULL));
    ROW(SUCCESS, UnmapResources(1, &g, CU_STREAM_LEGACY));
    ROW(SUCCESS, MapResources(1, &g, CU_STREAM_PER_THREAD));
    ROW(SUCCESS, UnmapResources(1, &g, CU_STREAM_PER_THREAD));
    ROW(ERROR_INVALID_VALUE, MapResources(0, &g, fx.stream));
    ROW(ERROR_INVALID_VALUE, MapResources(1, NULL, fx.stream));
    ROW(ERROR_INVALID_VALUE, UnmapResources(0, &g, fx.stream));
    ROW(ERROR_INVALID_VALUE, UnmapResources(1, NULL, fx.stream));
    ROW(ERROR_INVALID_HANDLE, MapResources(1, &none, fx.stream));
    ROW(ERROR_INVALID_HANDLE, UnmapResources(1, &none, fx.stream));
    ROW(ERROR_INVALID_HANDLE, UnregisterResource(NULL));
    ROW(SUCCESS, UnregisterResource(g));
}

static void lists(void)
{
    CUgraphicsResource g = compat_buffer(SIZE), r = compat_buffer(100);
    CUgraphicsResource twice[2] = {g, g}, both[2] = {r, g};
    CUdeviceptr pointer;
    size_t size = 0;
    ROW(ERROR_ALREADY_MAPPED, MapResources(2, twice, fx.stream));
    ROW(ERROR_NOT_MAPPED, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(ERROR_ALREADY_MAPPED, MapResources(2, both, fx.stream));
    ROW(ERROR_NOT_MAPPED, ResourceGetMappedPointer(&pointer, &size, r));
    ROW(ERROR_NOT_MAPPED, UnmapResources(2, both, fx.stream));
    ROW(ERROR_NOT_MAPPED, UnmapResources(2, twice, fx.stream));
    /* On a GPU, one of the failed calls has already unmapped the resource. */
    ROW_NOT_GPU(SUCCESS, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, MapResources(2, both, fx.stream));
    ROW(SUCCESS, ResourceGetMappedPointer(&pointer, &size, r));
    ck_assert_uint_eq(size, 100);
    ROW(SUCCESS, UnmapResources(2, both, fx.other));
    ROW(SUCCESS, UnregisterResource(r));
    ROW(SUCCESS, UnregisterResource(g));
}

static void map_flags(void)
{
    CUgraphicsResource g = compat_buffer(SIZE);
    ROW(SUCCESS, ResourceSetMapFlags(g, 1));
    ROW(SUCCESS, ResourceSetMapFlags(g, 2));
    ROW(ERROR_INVALID_VALUE, ResourceSetMapFlags(g, 3));
    ROW(SUCCESS, ResourceSetMapFlags(g, 0));
    ROW(ERROR_INVALID_HANDLE, ResourceSetMapFlags(NULL, 0));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(ERROR_ALREADY_MAPPED, ResourceSetMapFlags(g, 1));
    ROW(SUCCESS, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, UnregisterResource(g));
}

static void buffers_and_images(void)
{
    CUgraphicsResource g = compat_buffer(SIZE), i = NULL;
    CUarray array;
    CUmipmappedArray mipmapped;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    ROW(SUCCESS, GLRegisterImage(&i, compat_texture(8), GL_TEXTURE_2D, 0));
    ROW(ERROR_NOT_MAPPED, SubResourceGetMappedArray(&array, i, 0, 0));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(SUCCESS, MapResources(1, &i, fx.stream));
    ROW(ERROR_NOT_MAPPED_AS_ARRAY, SubResourceGetMappedArray(&array, g, 0, 0));
    ROW(ERROR_NOT_MAPPED_AS_ARRAY, ResourceGetMappedMipmappedArray(&mipmapped, g));
    ROW(ERROR_NOT_MAPPED_AS_POINTER, ResourceGetMappedPointer(&pointer, &size, i));
    ROW(SUCCESS, SubResourceGetMappedArray(&array, i, 0, 0));
    ROW(SUCCESS, ResourceGetMappedMipmappedArray(&mipmapped, i));
    ROW(ERROR_INVALID_VALUE, SubResourceGetMappedArray(&array, i, 0, 1));
    ROW(ERROR_INVALID_VALUE, SubResourceGetMappedArray(&array, i, 1, 0));
    ROW(ERROR_INVALID_VALUE, SubResourceGetMappedArray(NULL, i, 0, 0));
    ROW(SUCCESS, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, UnmapResources(1, &i, fx.stream));
    ROW(SUCCESS, UnregisterResource(g));
    ROW(SUCCESS, UnregisterResource(i));
}

GLuint compat_array_texture(unsigned char texels[3 * 5 * 7 * 4])
{
    pattern_fill(texels, 3 * 5 * 7 * 4, 3);
    GLuint name = bound_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, 7, 5, 3);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 7, 5, 3, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    return name;
}

/* All layers are copied at once. */
void compat_layers_as_slices(void)
{
    static unsigned char texels[3 * 5 * 7 * 4], got[sizeof(texels)];
    const GLuint name = compat_array_texture(texels);
    CUgraphicsResource i = NULL;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .dstPitch = 28,
                          .dstHeight = 5,
                          .WidthInBytes = 28,
                          .Height = 5,
                          .Depth = 3};
    ROW(SUCCESS, GLRegisterImage(&i, name, GL_TEXTURE_3D, GR_READ_ONLY));
    ROW(SUCCESS, MapResources(1, &i, fx.stream));
    ROW(SUCCESS, SubResourceGetMappedArray(&copy.srcArray, i, 0, 0));
    ROW(ERROR_INVALID_VALUE, SubResourceGetMappedArray(&copy.srcArray, i, 1, 0));
    CU(Memcpy3DAsync(&copy, fx.stream));
    ROW(SUCCESS, UnmapResources(1, &i, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_mem_eq(got, texels, sizeof(texels));
    ROW(SUCCESS, UnregisterResource(i));
}

/*
 * The expected codes are those that the driver returns in test_conformance, which makes these calls
 * in child processes.
 */
static void calls_with_consequences(void)
{
    CUgraphicsResource g = compat_buffer(SIZE);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    if (!side->is_header && !gr_cuda_is_software())
        return;
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(ERROR_ALREADY_MAPPED, UnregisterResource(g));
    ROW(SUCCESS, ResourceGetMappedPointer(&pointer, &size, g));
    assert_ok(gr_egl_make_current(NULL));
    ROW(ERROR_INVALID_GRAPHICS_CONTEXT, UnmapResources(1, &g, fx.stream));
    assert_ok(gr_egl_make_current(fx.egl));
    ROW(SUCCESS, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, UnregisterResource(g));
    ROW(ERROR_INVALID_HANDLE, UnregisterResource(g));
    ROW(ERROR_INVALID_HANDLE, MapResources(1, &g, fx.stream));
    ROW(ERROR_INVALID_HANDLE, UnmapResources(1, &g, fx.stream));
    ROW(ERROR_INVALID_HANDLE, ResourceSetMapFlags(g, 0));
    ROW(ERROR_INVALID_HANDLE, ResourceGetMappedPointer(&pointer, &size, g));
}

/* In another CUDA context the default streams are different ones, and other streams are invalid. */
static void another_cuda_context(void)
{
    CUgraphicsResource g = compat_buffer(SIZE);
    CUstream stream = NULL;
    CUcontext other = new_context(&stream);
    ROW(ERROR_INVALID_HANDLE, MapResources(1, &g, NULL));
    ROW(ERROR_INVALID_HANDLE, MapResources(1, &g, stream));
    ROW(SUCCESS, MapResources(1, &g, fx.stream));
    ROW(ERROR_INVALID_HANDLE, UnmapResources(1, &g, NULL));
    ROW(SUCCESS, UnmapResources(1, &g, fx.stream));
    ROW(SUCCESS, UnregisterResource(g));
    CU(StreamDestroy(stream));
    end_context(other);
}

const struct compat_case compat_cases[] = {
    {"names", names},
    {"flags", flags},
    {"contexts_are_missing", contexts_are_missing},
    {"map_and_unmap", map_and_unmap},
    {"lists", lists},
    {"map_flags", map_flags},
    {"buffers_and_images", buffers_and_images},
    {"layers_as_slices", compat_layers_as_slices},
    {"calls_with_consequences", calls_with_consequences},
    {"another_cuda_context", another_cuda_context},
    {NULL, NULL},
};
