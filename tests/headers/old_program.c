/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A program compiled with older headers (older_headers.sed) that runs with the current library. It
 * does not use the tests' support code, which is compiled with the current headers. It shows that:
 *
 * - options and descs smaller than the library's are accepted, and nothing after them is read
 * - for arrays of structs the library uses the program's stride
 * - a struct larger than the library's is accepted if its additional fields are 0, otherwise
 *   refused with an error
 * - errors and ring slots keep their layout
 * - gr_cuda()'s table keeps the program's layout: added functions move none of the existing ones
 */
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/ring.h>
#include <grinterop/vk.h>

#include "old_program_today.h"

#define SIZE 256

static int checks, failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("%s:%d:F:old program: %s\n", __FILE__, __LINE__, #condition);                   \
            gr_error_print(stdout, "the last error");                                              \
        }                                                                                          \
    } while (0)

static const gr_cuda_api *cuda;
static CUstream stream;

static gr_resource *make_buffer(void)
{
    GLuint name;
    unsigned char bytes[SIZE];
    memset(bytes, 7, sizeof(bytes));
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, SIZE, bytes, GL_DYNAMIC_DRAW);
    return gr_from_gl_buffer(name, GR_READ_WRITE);
}

/*
 * Maps with options whose struct ends earlier in this program's header than in the library's
 * header.
 */
static void maps_with_shorter_options(gr_resource *const resources[2])
{
    CUevent event;
    gr_buffer *buffers[2] = {NULL, NULL};
    unsigned char bytes[SIZE];
    CHECK(sizeof(gr_map_options) < today_size_of_map_options());
    CHECK(cuda->EventCreate(&event, 0) == CUDA_SUCCESS);
    CHECK(cuda->EventRecord(event, stream) == CUDA_SUCCESS);
    /* The library must not read the memory after `options`. */
    struct {
        gr_map_options options;
        size_t behind[4];
    } given = {GR_INIT(gr_map_options, .wait_event = event), {1, 2, 3, 4}};
    CHECK(gr_map_many(resources, 2, stream, &given.options, buffers) == GR_OK);
    for (int i = 0; i < 2; i++) {
        CHECK(gr_buffer_size(buffers[i]) == SIZE);
        CHECK(cuda->MemsetD8Async(gr_buffer_ptr(buffers[i]), 9, SIZE, stream) == CUDA_SUCCESS);
        CHECK(cuda->StreamSynchronize(stream) == CUDA_SUCCESS);
        CHECK(cuda->MemcpyDtoH(bytes, gr_buffer_ptr(buffers[i]), SIZE) == CUDA_SUCCESS);
        CHECK(bytes[0] == 9 && bytes[SIZE - 1] == 9);
    }
    CHECK(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP,
                                 &GR_INIT(gr_release_options, .wait_event = event)) == GR_OK);
    CHECK(!buffers[0] && !buffers[1]);
    CHECK(cuda->EventDestroy(event) == CUDA_SUCCESS);
}

/*
 * Behaves like a program that is newer than the library: its struct has additional fields at the
 * end.
 */
static void is_refused_with_unknown_fields(gr_resource *resource)
{
    struct {
        gr_map_options options;
        unsigned char rest[64];
    } newer = {GR_INIT(gr_map_options), {0}};
    gr_buffer *buffer = NULL;
    newer.options.struct_size = sizeof(newer);
    CHECK(sizeof(newer) > today_size_of_map_options());
    CHECK(gr_map_many(&resource, 1, stream, &newer.options, &buffer) == GR_OK);
    CHECK(gr_buffer_release(buffer) == GR_OK);
    newer.rest[sizeof(newer.rest) - 1] = 1;
    CHECK(gr_map_many(&resource, 1, stream, &newer.options, &buffer) == GR_ERR_UNSUPPORTED);
    CHECK(strstr(gr_last_error()->message, "newer"));
    newer.options.struct_size = 0;
    CHECK(gr_map_many(&resource, 1, stream, &newer.options, &buffer) == GR_ERR_INVALID_VALUE);
    CHECK(strstr(gr_last_error()->message, "GR_INIT"));
    CHECK(!gr_resource_get_info(resource)->mapped);
}

static void reads_errors(void)
{
    CHECK(!gr_map(NULL, stream));
    const gr_error *error = gr_last_error();
    CHECK(error->status == GR_ERR_INVALID_VALUE && error->domain == GR_DOMAIN_NONE);
    CHECK(error->code == 0 && error->code_name[0] == '\0');
    CHECK(strcmp(error->call, "gr_map") == 0 && strstr(error->message, "NULL"));
    CHECK(GR_ERR_PARTIAL == 14 && strcmp(gr_status_name(GR_ERR_PARTIAL), "GR_ERR_PARTIAL") == 0);
}

static void queries_the_cuda_table(void)
{
    CHECK(GR_CUDA_HAS(cuda, MemAlloc));
    CHECK(sizeof(gr_cuda_api) < today_size_of_cuda_table());
}

/* Whether a timeline has reached `value`. */
static bool has_signalled(const gr_semaphore *semaphore, const char *value)
{
    char text[256];
    gr_semaphore_describe(semaphore, text, sizeof(text));
    return strstr(text, value);
}

/* Signals two points. The library finds the second one through the struct size of this program. */
static void signals_an_array(gr_vk_device *device)
{
    GR_AUTO(gr_semaphore) *first = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_semaphore) *second = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
    const gr_semaphore_point points[] = {
        GR_INIT(gr_semaphore_point, .semaphore = first, .value = 4711),
        GR_INIT(gr_semaphore_point, .semaphore = second, .value = 1234)};
    CHECK(sizeof(gr_semaphore_point) < today_size_of_semaphore_point());
    CHECK(gr_semaphore_signal(points, 2, stream) == GR_OK);
    CHECK(gr_semaphore_wait(points, 2, stream) == GR_OK);
    CHECK(cuda->StreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(has_signalled(first, "4711") && has_signalled(second, "1234"));
}

static void uses_vulkan(void)
{
    GR_AUTO(gr_vk_headless) *headless = gr_vk_headless_create(NULL);
    if (!headless) {
        gr_error_print(stdout, "skipped: arrays of points");
        return;
    }
    const gr_vk_headless_info *h = gr_vk_headless_get_info(headless);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_vk(
        &GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = h->get_instance_proc_addr,
                 .instance = h->instance, .physical_device = h->physical_device,
                 .device = h->device, .queue = h->graphics, .queue_family = h->graphics_family));
    CHECK(device);
    if (device)
        signals_an_array(device);
}

static void passes_frames(gr_resource *const resources[2])
{
    const gr_slot *slots[2] = {NULL, NULL};
    GR_AUTO(gr_ring) *ring =
        gr_ring_create(resources, 2, &GR_INIT(gr_ring_options, .producer = GR_SIDE_CUDA));
    CHECK(ring && sizeof(gr_slot) < today_size_of_slot());
    CHECK(gr_ring_acquire_write(ring, stream, slots, 2, 0) == GR_OK);
    if (!slots[1])
        return;
    for (int i = 0; i < 2; i++) {
        CHECK(slots[i]->resource == resources[i] && !slots[i]->submit);
        CHECK(slots[i]->frame == (uint64_t)i + 1);
        CHECK(gr_buffer_size(slots[i]->buffer) == SIZE);
    }
    CHECK(gr_ring_hand_over(ring, slots, 2) == GR_OK);
    CHECK(gr_ring_acquire_read(ring, GR_STREAM_NONE, slots, 1, 0) == GR_OK);
    CHECK(slots[0]->frame == 1 && !slots[0]->buffer);
    CHECK(gr_ring_give_back(ring, slots, 1) == GR_OK);
    CHECK(gr_ring_get_info(ring)->read == 1 && gr_ring_get_info(ring)->ready == 1);
}

static void run(void)
{
    CUdevice device;
    CUcontext context;
    GR_AUTO(gr_egl) *egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = 0));
    CHECK(egl && sizeof(gr_egl_options) < today_size_of_egl_options());
    CHECK(cuda->DeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuda->DevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS);
    CHECK(cuda->CtxSetCurrent(context) == CUDA_SUCCESS);
    CHECK(cuda->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    gr_resource *resources[2] = {make_buffer(), make_buffer()};
    CHECK(resources[0] && resources[1]);
    if (!failures) {
        maps_with_shorter_options(resources);
        is_refused_with_unknown_fields(resources[0]);
        reads_errors();
        queries_the_cuda_table();
        passes_frames(resources);
        uses_vulkan();
    }
    gr_resource_free(resources[0]);
    gr_resource_free(resources[1]);
    cuda->StreamDestroy(stream);
    cuda->DevicePrimaryCtxRelease(device);
}

int main(void)
{
    cuda = gr_cuda();
    CHECK(cuda);
    if (cuda)
        run();
    printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n", 100 * (checks - failures) / checks,
           checks, failures);
    return failures > 0;
}
