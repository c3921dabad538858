/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Interop mistakes that programs make, by calls of the driver alone, and what the software CUDA
 * driver reports for each. docs/clients.md names the programs.
 */
#define _GNU_SOURCE
#include "tests/support/driver_symbol.h"
#include "tests/support/child_check.h"
#include "softcuda/tests/kernels/soft_launch.h"

#include <string.h>

#define SIDE   16
#define TEXELS ((size_t)SIDE * SIDE)
#define OLD    0x11 /* the value of all texels and bytes before CUDA writes */
#define NEW    0x22
#define NONE   0xCD /* the value of bytes that neither API wrote since a map with write_discard */

#define NOT_MAPPED                                                                                 \
    ", which is not mapped: the pointer was used after its unmap, before its next map, or in a "   \
    "stream that the unmap did not wait for"

/* ---- What the mistakes share ----------------------------------------------------------------- */

static GLuint texture_of(unsigned char value)
{
    GLuint name = 0;
    unsigned char texels[TEXELS];
    memset(texels, value, sizeof(texels));
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, SIDE, SIDE, 0, GL_RED, GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, 0);
    return name;
}

/* OpenGL reads all texels, through a framebuffer. */
static void assert_texture(GLuint name, int value)
{
    unsigned char texels[TEXELS];
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
    glReadPixels(0, 0, SIDE, SIDE, GL_RED, GL_UNSIGNED_BYTE, texels);
    glDeleteFramebuffers(1, &framebuffer);
    assert_gl_clean();
    assert_bytes(texels, sizeof(texels), value);
}

static CUgraphicsResource registered_texture(GLuint name, unsigned flags)
{
    CUgraphicsResource resource = NULL;
    DRV(cuGraphicsGLRegisterImage, (&resource, name, GL_TEXTURE_2D, flags));
    return resource;
}

static CUgraphicsResource registered_buffer(void)
{
    CUgraphicsResource resource = NULL;
    DRV(cuGraphicsGLRegisterBuffer, (&resource, gl_buffer_filled(TEXELS, OLD), 0));
    return resource;
}

static CUarray mapped_array(CUgraphicsResource resource)
{
    CUarray array = NULL;
    DRV(cuGraphicsMapResources, (1, &resource, fx.stream));
    DRV(cuGraphicsSubResourceGetMappedArray, (&array, resource, 0, 0));
    return array;
}

static CUdeviceptr mapped_pointer(CUgraphicsResource resource)
{
    CUdeviceptr pointer = 0;
    size_t size = 0;
    DRV(cuGraphicsMapResources, (1, &resource, fx.stream));
    DRV(cuGraphicsResourceGetMappedPointer_v2, (&pointer, &size, resource));
    return pointer;
}

static void unmap(CUgraphicsResource resource)
{
    DRV(cuGraphicsUnmapResources, (1, &resource, fx.stream));
}

/* Copies NEW to the array and waits. Returns the result of the copy. */
static CUresult fill_array(CUarray array)
{
    unsigned char texels[TEXELS];
    memset(texels, NEW, sizeof(texels));
    CUDA_MEMCPY2D copy = array_copy(array, texels, SIDE, SIDE, true);
    CUresult result = DRIVER(cuMemcpy2DAsync_v2)(&copy, fx.stream);
    CU(StreamSynchronize(fx.stream));
    return result;
}

static const CUDA_TEXTURE_DESC reading = {.flags = CU_TRSF_READ_AS_INTEGER};

static CUtexObject object_of(const CUDA_RESOURCE_DESC *resource)
{
    CUtexObject texture = 0;
    DRV(cuTexObjectCreate, (&texture, resource, &reading, NULL));
    return texture;
}

static CUDA_RESOURCE_DESC linear(CUdeviceptr pointer)
{
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                .res.linear = {.devPtr = pointer,
                                               .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                               .numChannels = 1,
                                               .sizeInBytes = TEXELS}};
}

static void begin(void)
{
    fixture_setup();
    soft_kernels_load();
}

/* ---- What a map returned is kept and used after the unmap ------------------------------------ */

GROUP("kept after the unmap", add_case)

SAYS(copy_to_kept_array, "driver: a copy from or to OpenGL texture ", ", which is not mapped\n")
{
    fixture_setup();
    GLuint name = texture_of(OLD);
    CUgraphicsResource resource =
        registered_texture(name, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    CUarray array = mapped_array(resource);
    unmap(resource);
    ck_assert_int_eq(fill_array(array), CUDA_ERROR_NOT_MAPPED);
    assert_texture(name, NONE);
    return 0;
}

DIES(kept_texture_object, "driver: kernel sample_texels accessed address 0x",
     ", which is not mapped: an array of it was used after its unmap")
{
    begin();
    CUgraphicsResource resource = registered_texture(texture_of(OLD), 0);
    const CUDA_RESOURCE_DESC described = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                          .res.array.hArray = mapped_array(resource)};
    CUtexObject texture = object_of(&described);
    unmap(resource);
    CUdeviceptr out = soft_memory((unsigned char[TEXELS]){0}, TEXELS);
    soft_run("sample_texels", (void *[]){&texture, &out, &(int){SIDE}, &(int){SIDE}, &(float){0}});
    return 0;
}

DIES(kept_texture_object_of_a_buffer, "driver: kernel fetch_texels accessed address 0x", NOT_MAPPED)
{
    begin();
    CUgraphicsResource resource = registered_buffer();
    const CUDA_RESOURCE_DESC described = linear(mapped_pointer(resource));
    CUtexObject texture = object_of(&described);
    unmap(resource);
    CUdeviceptr out = soft_memory((unsigned char[TEXELS]){0}, TEXELS);
    soft_run("fetch_texels", (void *[]){&texture, &out, &(int){TEXELS}});
    return 0;
}

/* A pointer to a mapped buffer that is no longer mapped. */
static CUdeviceptr kept_pointer(void)
{
    CUgraphicsResource resource = registered_buffer();
    CUdeviceptr pointer = mapped_pointer(resource);
    unmap(resource);
    return pointer;
}

CHILD(texture_object_of_kept_pointer)
{
    fixture_setup();
    const CUDA_RESOURCE_DESC described = linear(kept_pointer());
    CUtexObject texture = 0;
    INVALID(cuTexObjectCreate, (&texture, &described, &reading, NULL));
    return 0;
}

CHILD(copy_to_kept_pointer)
{
    fixture_setup();
    CUdeviceptr from = soft_memory((unsigned char[TEXELS]){0}, TEXELS);
    INVALID(cuMemcpyDtoD_v2, (kept_pointer(), from, TEXELS));
    return 0;
}

CHILD(fill_of_kept_pointer)
{
    fixture_setup();
    INVALID(cuMemsetD8Async, (kept_pointer(), NEW, TEXELS, fx.stream));
    return 0;
}

/* Catches: these calls returned CUDA_ERROR_INVALID_VALUE without a message. */
SOFT_TEST(kept_pointer_is_refused_with_the_reason)
{
    expect_message_once("texture_object_of_kept_pointer",
                        "driver: a texture object was given address 0x", NOT_MAPPED);
    expect_message_once("copy_to_kept_pointer", "driver: a copy or fill was given address 0x",
                        NOT_MAPPED);
    expect_message_once("fill_of_kept_pointer", "driver: a copy or fill was given address 0x",
                        NOT_MAPPED);
}

/* cuMemcpy treats an address that the driver does not know as host memory. */
DIES(unified_copy_to_kept_pointer, "driver: a copy accessed address 0x", NOT_MAPPED)
{
    fixture_setup();
    CUdeviceptr from = soft_memory((unsigned char[TEXELS]){0}, TEXELS);
    DRV(cuMemcpy, (kept_pointer(), from, TEXELS));
    CU(CtxSynchronize());
    return 0;
}

/* ---- A texture is drawn while it is mapped --------------------------------------------------- */

GROUP("drawn while mapped", add_case)

CHILD(texture_that_stays_mapped)
{
    fixture_setup();
    GLuint name = texture_of(OLD);
    CUgraphicsResource resource = registered_texture(name, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    CUarray array = mapped_array(resource);
    for (int frame = 0; frame < 3; frame++) {
        ck_assert_int_eq(fill_array(array), CUDA_SUCCESS);
        assert_texture(name, OLD);
    }
    unmap(resource);
    assert_texture(name, NEW);
    return 0;
}

/* The CUDA driver does not see OpenGL calls, so it cannot report the mistake. */
SOFT_TEST(opengl_sees_old_texels_and_nothing_is_reported)
{
    char said[8192];
    ck_assert_msg(child_run("texture_that_stays_mapped", said, sizeof(said)) == 0, "%s", said);
    ck_assert_msg(!strstr(said, "software CUDA driver:"), "%s", said);
}

/* ---- The unmap is missing -------------------------------------------------------------------- */

GROUP("not unmapped", add_case)

/* An error after the map, here the wrong kind of query, skips the unmap. */
static CUgraphicsResource left_mapped(GLuint name)
{
    CUgraphicsResource resource = registered_texture(name, 0);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    DRV(cuGraphicsMapResources, (1, &resource, NULL));
    GIVES(ERROR_NOT_MAPPED_AS_POINTER, cuGraphicsResourceGetMappedPointer_v2,
          (&pointer, &size, resource));
    return resource;
}

CHILD(unregistered_while_mapped)
{
    fixture_setup();
    CUgraphicsResource resource = left_mapped(texture_of(OLD));
    GIVES(ERROR_ALREADY_MAPPED, cuGraphicsUnregisterResource, (resource));
    GIVES(ERROR_ALREADY_MAPPED, cuGraphicsMapResources, (1, &resource, NULL));
    DRV(cuGraphicsUnmapResources, (1, &resource, NULL));
    DRV(cuGraphicsUnregisterResource, (resource));
    return 0;
}

CHILD(context_ends_while_mapped)
{
    fixture_setup();
    CUcontext context = new_context(NULL);
    CUgraphicsResource resource = left_mapped(texture_of(OLD));
    end_context(context);
    GIVES(ERROR_INVALID_HANDLE, cuGraphicsUnregisterResource, (resource));
    return 0;
}

/* Catches: nothing but the error code reported the mistake, and destructors ignore the code. */
SOFT_TEST(end_of_a_mapped_resource_is_reported)
{
    expect_message_once("unregistered_while_mapped", "driver: OpenGL texture ",
                        " cannot be unregistered while it is mapped\n");
    expect_message_once("context_ends_while_mapped", "driver: OpenGL texture ",
                        " is mapped while its CUDA context ends: CUDA's bytes are lost\n");
}

/* No error code and no message: NVIDIA's driver also accepts two registrations. */
SOFT_TEST(mapped_texture_can_be_registered_again_and_deleted)
{
    GLuint name = texture_of(OLD);
    CUgraphicsResource first = left_mapped(name), second = registered_texture(name, 0);
    ck_assert_int_eq(fill_array(mapped_array(second)), CUDA_SUCCESS);
    unmap(second);
    assert_texture(name, NEW);
    DRV(cuGraphicsUnregisterResource, (second));
    glDeleteTextures(1, &name);
    GIVES(ERROR_ALREADY_MAPPED, cuGraphicsMapResources, (1, &first, NULL));
    DRV(cuGraphicsUnmapResources, (1, &first, NULL));
    DRV(cuGraphicsUnregisterResource, (first));
}

/* ---- Another thread destroys the stream ------------------------------------------------------ */

GROUP("stream destroyed", add_case)

static CUstream new_stream(void)
{
    CUstream stream = NULL;
    DRV(cuStreamCreate, (&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void *destroy(void *stream)
{
    DRV(cuStreamDestroy_v2, (stream));
    return NULL;
}

SOFT_TEST(destroyed_stream_is_refused_but_another_can_unmap)
{
    CUstream stream = new_stream();
    GLuint name = gl_buffer_filled(TEXELS, OLD);
    CUgraphicsResource resource = NULL;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    DRV(cuGraphicsGLRegisterBuffer, (&resource, name, 0));
    DRV(cuGraphicsMapResources, (1, &resource, stream));
    DRV(cuGraphicsResourceGetMappedPointer_v2, (&pointer, &size, resource));
    DRV(cuMemsetD8Async, (pointer, NEW, TEXELS, stream));
    elsewhere(destroy, stream);
    GIVES(ERROR_INVALID_HANDLE, cuMemsetD8Async, (pointer, NEW, TEXELS, stream));
    GIVES(ERROR_INVALID_HANDLE, cuStreamSynchronize, (stream));
    GIVES(ERROR_INVALID_HANDLE, cuGraphicsUnmapResources, (1, &resource, stream));
    DRV(cuCtxSynchronize, ());
    DRV(cuGraphicsUnmapResources, (1, &resource, fx.stream));
    assert_gl_bytes(name, TEXELS, NEW);
    DRV(cuGraphicsUnregisterResource, (resource));
}

/* The unmap on another stream does not wait for the work in the destroyed stream. */
DIES(work_in_a_destroyed_stream, "driver: a fill accessed address 0x", NOT_MAPPED)
{
    fixture_setup();
    CUgraphicsResource resource = registered_buffer();
    CUdeviceptr pointer = mapped_pointer(resource);
    CUstream stream = new_stream();
    struct gate *gate = gate_put(stream);
    DRV(cuMemsetD8Async, (pointer, NEW, TEXELS, stream));
    elsewhere(destroy, stream);
    unmap(resource);
    gate_open(gate);
    DRV(cuCtxSynchronize, ());
    return 0;
}

struct ending {
    CUstream stream;
    struct gate *gate;
};

static void *destroy_later(void *object)
{
    const struct ending *ending = object;
    sleep_ms(20);
    destroy(ending->stream);
    gate_open(ending->gate);
    return NULL;
}

/*
 * The stream is destroyed before its gate opens, so a wait that succeeds began before the
 * destruction and ended after the work. On a busy machine a wait may begin too late.
 */
static CUresult wait_while_destroyed(CUdeviceptr memory)
{
    struct ending ending = {.stream = new_stream()};
    pthread_t thread;
    ending.gate = gate_put(ending.stream);
    DRV(cuMemsetD8Async, (memory, NEW, TEXELS, ending.stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, destroy_later, &ending), 0);
    CUresult result = DRIVER(cuStreamSynchronize)(ending.stream);
    pthread_join(thread, NULL);
    return result;
}

SOFT_TEST(wait_outlasts_the_destruction_of_its_stream)
{
    CUdeviceptr memory = soft_memory((unsigned char[TEXELS]){0}, TEXELS);
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    for (int i = 0; i < 20 && result == CUDA_ERROR_INVALID_HANDLE; i++)
        result = wait_while_destroyed(memory);
    ck_assert_int_eq(result, CUDA_SUCCESS);
    unsigned char found[TEXELS];
    DRV(cuMemcpyDtoH_v2, (found, memory, TEXELS));
    assert_bytes(found, TEXELS, NEW);
}
