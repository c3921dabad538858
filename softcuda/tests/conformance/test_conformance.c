/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The recording of rows, and the codes for graphics resources. CONFORMANCE_SHOW=1 prints each row
 * with the returned code. The expected codes were found with this variable on a GPU.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START(fixture_ends_context = true)

/* ---- Rows ------------------------------------------------------------------------------------ */

static int wrong;

void conformance_note(const char *call, CUresult got, CUresult wanted)
{
    if (getenv("CONFORMANCE_SHOW") || got != wanted) {
        printf("%-90s %3d %s\n", call, (int)got, result_name((int)got));
        fflush(stdout);
    }
    if (got == wanted)
        return;
    wrong++;
    note_difference("%s returned %d (%s), not %d", call, (int)got, result_name((int)got),
                    (int)wanted);
}

GROUP("graphics", add_case)

#define SIZE 4096

static GLuint empty_name(void)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    return name;
}

TEST(codes_for_registered_names)
{
    CUgraphicsResource kept = (CUgraphicsResource)&kept, r = kept;
    GLuint unbound = empty_name(), empty = empty_name(), deleted = gl_buffer(NULL, SIZE);
    CALL(ERROR_INVALID_VALUE, GraphicsGLRegisterBuffer(&r, 0, 0));
    ck_assert_ptr_eq(r, kept);
    CALL(ERROR_INVALID_HANDLE, GraphicsGLRegisterBuffer(&r, 999, 0));
    CALL(ERROR_INVALID_HANDLE, GraphicsGLRegisterBuffer(&r, unbound, 0));
    glBindBuffer(GL_ARRAY_BUFFER, empty);
    CALL(ERROR_OUT_OF_MEMORY, GraphicsGLRegisterBuffer(&r, empty, 0));
    glBufferData(GL_ARRAY_BUFFER, 0, NULL, GL_STATIC_DRAW);
    CALL(ERROR_OUT_OF_MEMORY, GraphicsGLRegisterBuffer(&r, empty, 0));
    glDeleteBuffers(1, &deleted);
    CALL(ERROR_INVALID_HANDLE, GraphicsGLRegisterBuffer(&r, deleted, 0));
    CALL(ERROR_INVALID_VALUE, GraphicsGLRegisterBuffer(NULL, gl_buffer(NULL, SIZE), 0));
}

TEST(codes_for_register_flags)
{
    GLuint name = gl_buffer(NULL, SIZE);
    CUgraphicsResource r = NULL;
    for (unsigned flags = 0; flags < 3; flags++) {
        CALL(SUCCESS, GraphicsGLRegisterBuffer(&r, name, flags));
        CALL(SUCCESS, GraphicsUnregisterResource(r));
    }
    for (unsigned flags = 3; flags < 32; flags++)
        CALL(ERROR_INVALID_VALUE, GraphicsGLRegisterBuffer(&r, name, flags));
    CALL(ERROR_INVALID_VALUE, GraphicsGLRegisterBuffer(&r, name, 0x100));
}

static CUgraphicsResource make(size_t size)
{
    CUgraphicsResource r = NULL;
    CU(GraphicsGLRegisterBuffer(&r, gl_buffer(NULL, size), 0));
    return r;
}

TEST(codes_without_contexts)
{
    GLuint name = gl_buffer(NULL, SIZE);
    CUgraphicsResource r = NULL, g = make(SIZE);
    CUdevice devices[4];
    unsigned count = 0;
    CUdeviceptr pointer;
    size_t size;
    CALL(SUCCESS, CtxSetCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, GraphicsGLRegisterBuffer(&r, name, 0));
    CALL(SUCCESS, GLGetDevices(&count, devices, 4, 1));
    /* The resource and the stream determine the context. */
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    CU(CtxSetCurrent(fx.context));

    assert_ok(gr_egl_make_current(NULL));
    CALL(ERROR_INVALID_VALUE, GraphicsGLRegisterBuffer(&r, name, 0));
    CALL(ERROR_INVALID_GRAPHICS_CONTEXT, GLGetDevices(&count, devices, 4, 1));
    CALL(ERROR_INVALID_GRAPHICS_CONTEXT, GraphicsMapResources(1, &g, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(1, &g, fx.stream));
    assert_ok(gr_egl_make_current(fx.egl));
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsUnregisterResource(g));
}

/* ---- Map and unmap --------------------------------------------------------------------------- */

TEST(map_and_unmap_codes)
{
    CUgraphicsResource g = make(SIZE), none = NULL;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CALL(ERROR_NOT_MAPPED, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL_READS(size, SIZE, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(NULL, &size, g));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(&pointer, NULL, g));
    CALL(ERROR_INVALID_HANDLE, GraphicsResourceGetMappedPointer(&pointer, &size, NULL));
    CALL(ERROR_ALREADY_MAPPED, GraphicsMapResources(1, &g, fx.stream));
    CALL(ERROR_ALREADY_MAPPED, GraphicsMapResources(1, &g, fx.other));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.other));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(1, &g, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    ck_assert_uint_eq(size, 0);

    CALL(SUCCESS, GraphicsMapResources(1, &g, NULL));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, CU_STREAM_LEGACY));
    CALL(SUCCESS, GraphicsMapResources(1, &g, CU_STREAM_PER_THREAD));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, CU_STREAM_PER_THREAD));

    CALL(ERROR_INVALID_VALUE, GraphicsMapResources(0, &g, fx.stream));
    CALL(ERROR_INVALID_VALUE, GraphicsMapResources(0, NULL, fx.stream));
    CALL(ERROR_INVALID_VALUE, GraphicsMapResources(1, NULL, fx.stream));
    CALL(ERROR_INVALID_VALUE, GraphicsUnmapResources(0, &g, fx.stream));
    CALL(ERROR_INVALID_VALUE, GraphicsUnmapResources(1, NULL, fx.stream));
    CALL(ERROR_INVALID_HANDLE, GraphicsMapResources(1, &none, fx.stream));
    CALL(ERROR_INVALID_HANDLE, GraphicsUnmapResources(1, &none, fx.stream));
    CALL(ERROR_INVALID_HANDLE, GraphicsUnregisterResource(NULL));
    CALL(SUCCESS, GraphicsUnregisterResource(g));
}

TEST(codes_for_lists_of_resources)
{
    CUgraphicsResource g = make(SIZE), r = make(100);
    CUgraphicsResource twice[2] = {g, g}, both[2] = {r, g};
    CUdeviceptr pointer;
    size_t size = 0;
    CALL(ERROR_ALREADY_MAPPED, GraphicsMapResources(2, twice, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(2, twice, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(1, &g, fx.stream));

    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL(ERROR_ALREADY_MAPPED, GraphicsMapResources(2, both, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsResourceGetMappedPointer(&pointer, &size, r));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(2, both, fx.stream));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(1, &r, fx.stream));

    CALL(SUCCESS, GraphicsMapResources(1, &r, fx.stream));
    CALL(ERROR_NOT_MAPPED, GraphicsUnmapResources(2, both, fx.stream));
    CALL_READS(size, 100, GraphicsResourceGetMappedPointer(&pointer, &size, r));
    CALL(SUCCESS, GraphicsUnmapResources(1, &r, fx.stream));

    CALL(SUCCESS, GraphicsMapResources(2, both, fx.stream));
    CALL(SUCCESS, GraphicsUnmapResources(2, both, fx.other));
    CALL(SUCCESS, GraphicsUnregisterResource(r));
    CALL(SUCCESS, GraphicsUnregisterResource(g));
}

TEST(codes_for_two_resources_of_one_buffer)
{
    GLuint name = gl_buffer(NULL, SIZE);
    CUgraphicsResource a = NULL, b = NULL;
    CUdeviceptr at[2] = {0, 0};
    size_t size;
    CALL(SUCCESS, GraphicsGLRegisterBuffer(&a, name, 0));
    CALL(SUCCESS, GraphicsGLRegisterBuffer(&b, name, 0));
    CALL(SUCCESS, GraphicsMapResources(1, &a, fx.stream));
    CALL(SUCCESS, GraphicsMapResources(1, &b, fx.stream));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(&at[0], &size, a));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(&at[1], &size, b));
    ck_assert_uint_ne(at[0], at[1]);
    CALL(SUCCESS, GraphicsUnmapResources(1, &a, fx.stream));
    CALL(SUCCESS, GraphicsUnmapResources(1, &b, fx.stream));
    CALL(SUCCESS, GraphicsUnregisterResource(a));
    CALL(SUCCESS, GraphicsUnregisterResource(b));
}

TEST(codes_for_map_flags)
{
    CUgraphicsResource g = make(SIZE);
    CALL(SUCCESS, GraphicsResourceSetMapFlags(g, 1));
    CALL(SUCCESS, GraphicsResourceSetMapFlags(g, 2));
    CALL(ERROR_INVALID_VALUE, GraphicsResourceSetMapFlags(g, 3));
    CALL(SUCCESS, GraphicsResourceSetMapFlags(g, 0));
    CALL(ERROR_INVALID_HANDLE, GraphicsResourceSetMapFlags(NULL, 0));
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL(ERROR_ALREADY_MAPPED, GraphicsResourceSetMapFlags(g, 1));
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsUnregisterResource(g));
}

/*
 * A buffer is not an image. (Pointer queries of the NVIDIA driver recognise the memory of some maps
 * of the buffer and not of others.)
 */
TEST(mapped_buffer_is_not_an_image)
{
    CUgraphicsResource g = make(SIZE);
    CUarray array;
    CUmipmappedArray mipmapped;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(ERROR_NOT_MAPPED_AS_ARRAY, GraphicsSubResourceGetMappedArray(&array, g, 0, 0));
    CALL(ERROR_NOT_MAPPED_AS_ARRAY, GraphicsResourceGetMappedMipmappedArray(&mipmapped, g));
    CU(CtxSynchronize()); /* the null stream does not wait for the map in fx.stream */
    CALL(SUCCESS, MemsetD8(pointer, 1, size));
    CALL(ERROR_INVALID_VALUE, MemsetD8(pointer, 1, size + 1));
    CU(CtxSynchronize()); /* the fill is in the null stream, which fx.stream does not wait for */
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    CALL(SUCCESS, GraphicsUnregisterResource(g));
}

/* ---- Texture views --------------------------------------------------------------------------- */

enum { VIEW_SIDE = 64, VIEW_LEVELS = 4, VIEW_LAYERS = 6 };

/* Each byte of the original is 1 + 16 * level + layer. */
static GLuint make_original(void)
{
    static unsigned char texels[VIEW_SIDE * VIEW_SIDE * 4];
    GLuint name;
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 1, &name);
    glTextureStorage3D(name, VIEW_LEVELS, GL_RGBA8, VIEW_SIDE, VIEW_SIDE, VIEW_LAYERS);
    for (int level = 0; level < VIEW_LEVELS; level++)
        for (int layer = 0; layer < VIEW_LAYERS; layer++) {
            memset(texels, 1 + 16 * level + layer, sizeof(texels));
            glTextureSubImage3D(name, level, 0, 0, layer, VIEW_SIDE >> level, VIEW_SIDE >> level, 1,
                                GL_RGBA, GL_UNSIGNED_BYTE, texels);
        }
    assert_gl_clean();
    return name;
}

static CUgraphicsResource map_view(GLuint original, GLenum target, GLuint level, GLuint layer,
                                   GLuint layers)
{
    CUgraphicsResource r = NULL;
    GLuint view;
    glGenTextures(1, &view);
    glTextureView(view, target, original, GL_RGBA8, level, 1, layer, layers);
    assert_gl_clean();
    CU(GraphicsGLRegisterImage(&r, view, target, 0));
    CU(GraphicsMapResources(1, &r, fx.stream));
    return r;
}

static void unmap_view(CUgraphicsResource r)
{
    CU(GraphicsUnmapResources(1, &r, fx.stream));
    CU(GraphicsUnregisterResource(r));
}

static void assert_array(CUarray array, size_t side, int level, int layer)
{
    unsigned char got[4] = {0};
    CUDA_ARRAY_DESCRIPTOR d;
    const CUDA_MEMCPY2D copy = array_copy(array, got, sizeof(got), 1, false);
    CU(ArrayGetDescriptor(&d, array));
    ck_assert_uint_eq(d.Width, side);
    CU(Memcpy2DAsync(&copy, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(got[0], 1 + 16 * level + layer);
}

/* The layers of a view are the first ones of its original. */
TEST(arrays_of_the_layers_of_a_texture_view)
{
    CUarray array = NULL;
    CUgraphicsResource r = map_view(make_original(), GL_TEXTURE_2D_ARRAY, 0, 2, 3);
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 0, 0));
    CALL(ERROR_INVALID_VALUE, GraphicsSubResourceGetMappedArray(&array, r, 3, 0));
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 2, 0));
    assert_array(array, VIEW_SIDE, 0, 2);
    unmap_view(r);
    r = map_view(make_original(), GL_TEXTURE_2D, 0, 3, 1);
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 0, 0));
    CALL(ERROR_INVALID_VALUE, GraphicsSubResourceGetMappedArray(&array, r, 3, 0));
    unmap_view(r);
}

/* A mipmapped array begins at the first level of the view; the arrays keep the original's number.
 */
TEST(arrays_of_the_levels_of_a_texture_view)
{
    CUarray array = NULL;
    CUmipmappedArray mipmapped = NULL;
    CUgraphicsResource r = map_view(make_original(), GL_TEXTURE_2D, 1, 0, 1);
    CALL(ERROR_INVALID_VALUE, GraphicsSubResourceGetMappedArray(&array, r, 0, 0));
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 0, 1));
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 0, 3));
    CALL(SUCCESS, GraphicsResourceGetMappedMipmappedArray(&mipmapped, r));
    CALL(SUCCESS, MipmappedArrayGetLevel(&array, mipmapped, 5));
    CALL(SUCCESS, MipmappedArrayGetLevel(&array, mipmapped, 0));
    assert_array(array, VIEW_SIDE / 2, 1, 0);
    unmap_view(r);
    r = map_view(make_original(), GL_TEXTURE_2D, 0, 0, 1);
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 0, 6));
    CALL(SUCCESS, GraphicsSubResourceGetMappedArray(&array, r, 0, 0));
    assert_array(array, VIEW_SIDE, 0, 0);
    unmap_view(r);
}

/* ---- Calls after which the NVIDIA driver may crash ------------------------------------------- */

/*
 * After these calls the next call for the same resource may crash the process, or may never
 * succeed. So each of these calls has its own process, which exits without cleaning up.
 */
static CUgraphicsResource begin_child(void)
{
    fixture_setup();
    return make(SIZE);
}

static int end_child(void)
{
    _exit(wrong != 0);
}

static int end_mapped_child(CUgraphicsResource g)
{
    CALL(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    CALL_SOFT(SUCCESS, GraphicsUnregisterResource(g));
    return end_child();
}

CHILD(unregister_while_mapped)
{
    CUgraphicsResource g = begin_child();
    CUdeviceptr pointer;
    size_t size;
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    CALL(ERROR_ALREADY_MAPPED, GraphicsUnregisterResource(g));
    CALL(SUCCESS, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    return end_mapped_child(g);
}

CHILD(unregister_without_gl)
{
    CUgraphicsResource g = begin_child();
    assert_ok(gr_egl_make_current(NULL));
    CALL(ERROR_INVALID_GRAPHICS_CONTEXT, GraphicsUnregisterResource(g));
    assert_ok(gr_egl_make_current(fx.egl));
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    return end_mapped_child(g);
}

CHILD(unmap_without_gl)
{
    CUgraphicsResource g = begin_child();
    CALL(SUCCESS, GraphicsMapResources(1, &g, fx.stream));
    assert_ok(gr_egl_make_current(NULL));
    CALL(ERROR_INVALID_GRAPHICS_CONTEXT, GraphicsUnmapResources(1, &g, fx.stream));
    assert_ok(gr_egl_make_current(fx.egl));
    CALL_SOFT(SUCCESS, GraphicsUnmapResources(1, &g, fx.stream));
    return end_child();
}

TEST(codes_of_calls_that_crash_later_calls)
{
    expect_child("unregister_while_mapped");
    expect_child("unregister_without_gl");
    expect_child("unmap_without_gl");
}

TEST(codes_for_stale_handles)
{
    if (!gr_cuda_is_software())
        skip("NVIDIA's driver does not survive the handle of a destroyed resource");
    CUgraphicsResource g = make(SIZE), kept = make(SIZE), garbage = (CUgraphicsResource)&kept;
    CUstream stream = NULL;
    CUdeviceptr pointer;
    size_t size;
    CALL(SUCCESS, GraphicsUnregisterResource(g));
    CALL(ERROR_INVALID_HANDLE, GraphicsUnregisterResource(g));
    CALL(ERROR_INVALID_HANDLE, GraphicsMapResources(1, &g, fx.stream));
    CALL(ERROR_INVALID_HANDLE, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(ERROR_INVALID_HANDLE, GraphicsMapResources(1, &garbage, fx.stream));
    CALL(SUCCESS, StreamCreate(&stream, 0));
    CALL(SUCCESS, StreamDestroy(stream));
    CALL(ERROR_INVALID_HANDLE, GraphicsMapResources(1, &kept, stream));
    CALL(SUCCESS, GraphicsUnregisterResource(kept));
}

TEST(codes_in_another_cuda_context)
{
    CUcontext second = NULL;
    CUgraphicsResource g = make(SIZE);
    CUdeviceptr pointer;
    size_t size;
    CALL(SUCCESS, CtxCreate(&second, 0, fx.device));
    CALL(ERROR_INVALID_HANDLE, GraphicsMapResources(1, &g, NULL));
    CALL(ERROR_NOT_MAPPED, GraphicsResourceGetMappedPointer(&pointer, &size, g));
    CALL(ERROR_INVALID_HANDLE, GraphicsUnmapResources(1, &g, NULL));
    CALL(SUCCESS, GraphicsUnregisterResource(g));
    CALL(SUCCESS, CtxDestroy(second));
}
