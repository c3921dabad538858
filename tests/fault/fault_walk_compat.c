/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_walk with the CUDA names that compat.h maps to grinterop. */
#include <grinterop/compat.h>

#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <string.h>

#define SIZE 256

static bool fine(CUresult code)
{
    return ok(code == CUDA_SUCCESS ? GR_OK : gr_last_error()->status);
}

static bool fill(CUgraphicsResource resource, int value)
{
    CUdeviceptr pointer = 0;
    size_t size = 0;
    if (!fine(cuGraphicsMapResources(1, &resource, fx.stream)))
        return false;
    bool good = fine(cuGraphicsResourceGetMappedPointer(&pointer, &size, resource));
    if (good)
        CU(MemsetD8Async(pointer, (unsigned char)value, size, fx.stream));
    if (fine(cuGraphicsUnmapResources(1, &resource, fx.stream)))
        return good;
    /* After the fault the resource can be unmapped. */
    cuGraphicsUnmapResources(1, &resource, fx.stream);
    return false;
}

static bool run_buffer(void)
{
    static const unsigned char expected[SIZE] = {0};
    unsigned char bytes[SIZE];
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUgraphicsResource resource = NULL;
    bool good = fine(cuGraphicsGLRegisterBuffer(&resource, name, 0)) && fill(resource, 0);
    gl_read(name, bytes, SIZE);
    good = good && bytes_are(memcmp(bytes, expected, SIZE) == 0);
    if (resource && !fine(cuGraphicsUnregisterResource(resource))) {
        cuGraphicsUnregisterResource(resource);
        good = false;
    }
    glDeleteBuffers(1, &name);
    return good;
}

static bool use_array(CUgraphicsResource resource)
{
    CUarray array = NULL;
    if (!fine(cuGraphicsMapResources(1, &resource, fx.stream)))
        return false;
    const bool good = fine(cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
    if (fine(cuGraphicsUnmapResources(1, &resource, fx.stream)))
        return good;
    cuGraphicsUnmapResources(1, &resource, fx.stream);
    return false;
}

static bool run_layers(void)
{
    struct image image = image_make("RGBA8", "2D_ARRAY", 4, 4, 1);
    CUgraphicsResource resource = NULL;
    bool good = fine(cuGraphicsGLRegisterImage(&resource, image.name, GL_TEXTURE_3D, 0)) &&
                use_array(resource);
    if (resource && !fine(cuGraphicsUnregisterResource(resource))) {
        cuGraphicsUnregisterResource(resource);
        good = false;
    }
    image_delete(&image);
    return good;
}

const struct scenario walk_compat[] = {
    {"a buffer with CUDA's names", .run = run_buffer},
    {"layers as a 3D image with CUDA's names", .run = run_layers},
    {.name = NULL},
};
