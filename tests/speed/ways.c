/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Records the calls of functions in some operations, for measure-ways. In a build with
 * -finstrument-functions, each function calls two of this program, when it begins and ends. The
 * last repetition is recorded, because the first use of an object allocates.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/framebuffer.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>
#include <grinterop/vk.h>

enum { WIDTH = 64, BYTES = 4 * WIDTH * WIDTH };
enum { REPETITIONS = 10, MOST_CALLS = 1000000, MOST_DEEP = 100 };

#define UNRECORDED __attribute__((no_instrument_function))

/* The calls of this repetition, also of the software driver, which may poll: caller and function.
 */
static struct {
    void *caller, *function;
} calls[MOST_CALLS];
static size_t count;

/* The functions that run. Streams of the software driver have threads, which are not recorded. */
static _Thread_local bool records;
static _Thread_local void *running[MOST_DEEP];
static _Thread_local size_t depth;

UNRECORDED void __cyg_profile_func_enter(void *function, void *site);
UNRECORDED void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (!records || count == MOST_CALLS || depth == MOST_DEEP)
        return;
    calls[count].caller = depth ? running[depth - 1] : NULL;
    calls[count++].function = running[depth++] = function;
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
    depth -= depth > 0;
}

static CUstream stream;

UNRECORDED static void must(bool done, const char *what)
{
    if (done)
        return;
    printf("failed: %s: %s\n", what, gr_last_error()->message);
    exit(1);
}

/* What the repetitions before have begun is done, so that each takes the same way. */
UNRECORDED static void begin(void)
{
    must(gr_cuda()->StreamSynchronize(stream) == CUDA_SUCCESS, "cuStreamSynchronize");
    glFinish();
    count = depth = 0;
    records = true;
}

/* Prints the offset in the library, or "-" for a function of another one. */
UNRECORDED static void print(const void *function, char end)
{
    Dl_info at, library;
    if (dladdr((void *)(uintptr_t)gr_map, &library) && dladdr(function, &at) &&
        at.dli_fbase == library.dli_fbase)
        printf("%#zx%c", (size_t)((const char *)function - (char *)at.dli_fbase), end);
    else
        printf("-%c", end);
}

/* Prints the record of the last repetition. */
UNRECORDED static void end(const char *operation, bool done, int repetition)
{
    records = false;
    must(done && count < MOST_CALLS, operation);
    if (repetition < REPETITIONS - 1)
        return;
    printf("operation %s\n", operation);
    for (size_t i = 0; i < count; i++) {
        print(calls[i].caller, ' ');
        print(calls[i].function, '\n');
    }
}

#define RECORD(operation, repetition, call) (begin(), end(operation, call, repetition))

static void open_cuda(void)
{
    CUcontext context;
    const gr_cuda_api *cu = gr_cuda();
    must(cu && cu->DevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
             cu->CtxSetCurrent(context) == CUDA_SUCCESS &&
             cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS,
         "creating a CUDA stream");
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

#define FLIGHT &GR_INIT(gr_gl_options, .in_flight = 4, .transports = GR_TRANSPORT_PEER)

static void record_map(void)
{
    GLuint name = 0;
    gr_buffer *buffer;
    glCreateBuffers(1, &name);
    glNamedBufferData(name, BYTES, NULL, GL_DYNAMIC_DRAW);
    gr_resource *resource = gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, FLIGHT);
    must(resource, "gr_from_gl_buffer_with");
    for (int i = 0; i < REPETITIONS; i++) {
        RECORD("gr_map", i, (buffer = gr_map(resource, stream)));
        RECORD("gr_buffer_release", i, gr_buffer_release(buffer) == GR_OK);
    }
}

static GLuint new_texture(void)
{
    GLuint name = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &name);
    glTextureStorage2D(name, 1, GL_RGBA8, WIDTH, WIDTH);
    return name;
}

static void record_publish(gr_tensor *tensor)
{
    gr_resource *resource =
        gr_from_gl_image_with(new_texture(), GL_TEXTURE_2D, GR_WRITE_DISCARD, FLIGHT);
    must(resource, "gr_from_gl_image_with");
    for (int i = 0; i < REPETITIONS; i++)
        RECORD("gr_publish", i, gr_publish(resource, tensor, NULL, stream) == GR_OK);
}

static void record_fetch(gr_tensor *tensor)
{
    GLuint name = 0;
    glCreateFramebuffers(1, &name);
    glNamedFramebufferTexture(name, GL_COLOR_ATTACHMENT0, new_texture(), 0);
    for (int i = 0; i < REPETITIONS; i++)
        RECORD("gr_fetch_framebuffer", i,
               gr_fetch_framebuffer(name, tensor, NULL, stream) == GR_OK);
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

static void record_submit(void)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {WIDTH, WIDTH, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                  .access = VK_ACCESS_2_TRANSFER_READ_BIT,
                                  .layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    gr_submit *submit;
    gr_vk_device *device =
        gr_vk_device_from_headless(gr_vk_headless_create(NULL), GR_TRANSPORT_COPY);
    must(device, "gr_vk_device_from_headless");
    gr_resource *resource = gr_create_vk_image(device, &info, GR_READ_WRITE);
    must(resource, "gr_create_vk_image");
    must(gr_vk_hand_over(&resource, 1, VK_IMAGE_LAYOUT_UNDEFINED) == GR_OK, "gr_vk_hand_over");
    for (int i = 0; i < REPETITIONS; i++) {
        gr_buffer *buffer = gr_map(resource, stream);
        must(buffer && gr_buffer_release(buffer) == GR_OK, "gr_map of an image");
        RECORD("gr_submit_begin+gr_vk_submit", i,
               (submit = gr_submit_begin(&resource, 1)) &&
                   gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .first = &use, .last = &use)) ==
                       GR_OK);
        gr_submit_free(submit);
    }
}

int main(void)
{
    static const int64_t shape[] = {WIDTH, WIDTH, 4};
    must(gr_egl_create(NULL), "gr_egl_create");
    open_cuda();
    gr_tensor *tensor = gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape), stream);
    must(tensor, "gr_tensor_create");
    record_map();
    record_publish(tensor);
    record_fetch(tensor);
    record_submit();
    /* The objects are not freed, as a program that ends. */
    fflush(stdout);
    _Exit(0);
}
