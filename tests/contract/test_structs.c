/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Passes structs to each function that takes one: structs from a program compiled for an older
 * library, from a program for a newer one, and from a program that left the size unset.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/framebuffer.h>
#include <grinterop/ring.h>

#include "tests/support/support_image.h"
#include "tests/support/support_vulkan.h"

#define SIZE 256

/* ---- Calls that fail only if the struct is invalid -------------------------------------- */

static bool ended(gr_resource *made)
{
    gr_resource_free(made);
    return made;
}

static bool from_buffer(const void *options)
{
    return ended(gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 0), GR_READ_WRITE, options));
}

static bool from_image(const void *options)
{
    struct image image = image_make("RGBA8", "2D", 4, 4, 1);
    return ended(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, options));
}

static bool create_buffer(const void *options)
{
    return ended(gr_create_gl_buffer(SIZE, GR_READ_WRITE, options));
}

static const gr_gl_image_desc an_image = {.struct_size = sizeof(gr_gl_image_desc),
                                          .target = GL_TEXTURE_2D,
                                          .internal_format = GL_RGBA8,
                                          .width = 4,
                                          .height = 4,
                                          .depth = 1,
                                          .levels = 3};

static bool create_image(const void *options)
{
    return ended(gr_create_gl_image(&an_image, GR_READ_WRITE, options));
}

static bool create_image_of(const void *desc)
{
    return ended(gr_create_gl_image(desc, GR_READ_WRITE, NULL));
}

static bool create_egl(const void *options)
{
    gr_egl *egl = gr_egl_create(options);
    gr_egl_free(egl);
    assert_ok(gr_egl_make_current(fx.egl));
    return egl;
}

static gr_resource *resource;
static gr_buffer *image;

static void map_image(void)
{
    struct image made = image_make("RGBA8", "2D", 4, 4, 2);
    resource = must_register_image(&made, GR_READ_WRITE);
    image = must_map_image(resource);
}

static void end_image(void)
{
    assert_ok(gr_buffer_release(image));
    gr_resource_free(resource);
}

static bool make_texture(const void *options)
{
    return gr_buffer_texture(image, options) != 0;
}

static unsigned char texels[4 * 4 * 4];

static bool copy_out(const void *desc)
{
    return gr_buffer_copy_to_linear(image, 0, 0, desc, fx.stream) == GR_OK;
}

static bool copy_in(const void *desc)
{
    return gr_buffer_copy_from_linear(image, 0, 0, desc, fx.stream) == GR_OK;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static gr_resource *plain;

static void make_plain(void)
{
    plain = must_register(gl_buffer_filled(SIZE, 1));
}

static void end_plain(void)
{
    gr_resource_free(plain);
}

static bool map_with(const void *options)
{
    gr_buffer *buffer = NULL;
    gr_status status = gr_map_many(&plain, 1, fx.stream, options, &buffer);
    gr_buffer_release(buffer);
    return status == GR_OK;
}

static bool release_with(const void *options)
{
    gr_buffer *buffer = must_map(plain);
    if (gr_buffer_release_many(&buffer, 1, fx.stream, options) == GR_OK)
        return true;
    assert_ok(gr_buffer_release(buffer));
    return false;
}

static bool tensor_made(gr_tensor *tensor)
{
    gr_tensor_free(tensor);
    return tensor;
}

static bool allocate_tensor(const void *desc)
{
    return tensor_made(gr_tensor_create(desc, fx.stream));
}

static bool wrap_tensor(const void *desc)
{
    CUdeviceptr bytes;
    CU(MemAlloc(&bytes, SIZE));
    bool good = tensor_made(
        gr_tensor_from_memory(desc, (void *)(uintptr_t)bytes, GR_STREAM_NONE, NULL, NULL));
    CU(MemFree(bytes));
    return good;
}

static bool map_tensor(const void *desc)
{
    gr_buffer *buffer = must_map(plain);
    bool good = tensor_made(gr_buffer_tensor(buffer, desc));
    assert_ok(gr_buffer_release(buffer));
    return good;
}

static bool view_tensor(const void *desc)
{
    gr_buffer *buffer = must_map(plain);
    gr_tensor *tensor = gr_buffer_tensor(buffer, NULL);
    bool good = tensor_made(gr_tensor_view(tensor, desc));
    gr_tensor_free(tensor);
    assert_ok(gr_buffer_release(buffer));
    return good;
}

static gr_status publish_bytes(const gr_publish_options *options)
{
    static unsigned char bytes[SIZE];
    const int64_t shape[] = {SIZE / 2};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = shape, .memory = GR_MEMORY_HOST);
    GR_AUTO(gr_tensor) *tensor =
        must_make(gr_tensor_from_memory(&desc, bytes, GR_STREAM_NONE, NULL, NULL));
    return gr_publish(plain, tensor, options, fx.stream);
}

static bool publish_with(const void *options)
{
    return publish_bytes(options) == GR_OK;
}

static bool publish_to(const void *desc)
{
    return publish_bytes(&GR_INIT(gr_publish_options, .target = desc)) == GR_OK;
}

/* The tensor is missing, which is reported only if the options are valid. */
static bool read_framebuffer(const void *options)
{
    gr_fetch_framebuffer(0, NULL, options, fx.stream);
    return strstr(gr_last_error()->message, "The tensor is NULL") != NULL;
}

static bool make_ring(const void *options)
{
    gr_ring *ring = gr_ring_create(&plain, 1, options);
    gr_ring_free(ring);
    return ring;
}

/* ---- Calls that fail for a reason other than the struct size --------------------------------- */

static bool not_by_its_size(void)
{
    const char *said = gr_last_error()->message;
    return !strstr(said, "struct_size") && !strstr(said, "is unknown to");
}

static bool import_semaphore(const void *desc)
{
    gr_semaphore_free(gr_semaphore_from_handle(desc));
    return not_by_its_size();
}

static bool import_memory(const void *desc)
{
    gr_resource_free(gr_from_external_memory(desc, GR_READ_WRITE));
    return not_by_its_size();
}

static bool import_part(const void *desc)
{
    return import_memory(&GR_INIT(gr_external_memory_desc, .part = desc));
}

static bool import_image(const void *desc)
{
    return import_part(&GR_INIT(gr_external_part_desc, .image = desc));
}

static bool make_headless(const void *options)
{
    gr_vk_headless_free(gr_vk_headless_create(options));
    return not_by_its_size();
}

static bool wrap_device(const void *desc)
{
    gr_vk_device_free(gr_vk_device_from_vk(desc));
    return not_by_its_size();
}

static bool ask_extensions(const void *desc)
{
    uint32_t count = 0;
    gr_vk_device_extensions(desc, NULL, &count);
    return not_by_its_size();
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

static gr_resource *vertices;
static gr_semaphore *timeline;

static void make_vertices(void)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = SIZE,
                                     .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    if (vk.missing)
        return;
    vertices = must_make(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
    timeline = must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
}

static void end_vertices(void)
{
    if (!vk.missing)
        vulkan_finish();
    gr_resource_free(vertices);
    gr_semaphore_free(timeline);
    vertices = NULL;
    timeline = NULL;
}

static bool share_buffer(const void *desc)
{
    gr_resource_free(gr_from_vk_buffer(vk.wrap, desc, GR_READ_WRITE));
    return not_by_its_size();
}

static bool share_image(const void *desc)
{
    gr_resource_free(gr_from_vk_image(vk.wrap, desc, GR_READ_WRITE));
    return not_by_its_size();
}

static bool share_semaphore(const void *desc)
{
    gr_semaphore_free(gr_semaphore_from_vk(vk.wrap, desc));
    return not_by_its_size();
}

static bool submit_by(const void *desc)
{
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&vertices, 1);
    gr_clear_error();
    gr_vk_submit(submit, desc);
    bool good = not_by_its_size();
    VK(QueueWaitIdle(vk.h->graphics));
    return good;
}

/* The struct is the only field that is set in the description of the submit: `first` or `last`. */
static bool submit_first(const void *use)
{
    return submit_by(&GR_INIT(gr_vk_submit_desc, .first = use));
}

static bool submit_last(const void *use)
{
    return submit_by(&GR_INIT(gr_vk_submit_desc, .last = use));
}

static bool come_from_cuda(const void *use)
{
    gr_vk_cmd_from_cuda(vulkan_begin(), &vertices, 1, use);
    return not_by_its_size();
}

static bool go_to_cuda(const void *use)
{
    gr_vk_cmd_to_cuda(vulkan_begin(), &vertices, 1, use);
    return not_by_its_size();
}

/*
 * Sets the semaphore of the point here, since the list is initialised before the semaphore exists.
 */
static bool use_point(const void *point,
                      gr_status (*call)(const gr_semaphore_point *, size_t, CUstream))
{
    unsigned char own[512];
    size_t size;
    memcpy(&size, point, sizeof(size));
    memcpy(own, point, size < sizeof(own) && size > sizeof(size) ? size : sizeof(size));
    memcpy(own + offsetof(gr_semaphore_point, semaphore), &timeline, sizeof(timeline));
    call((const gr_semaphore_point *)(const void *)own, 1, fx.stream);
    return not_by_its_size();
}

static bool signal_point(const void *point)
{
    return use_point(point, gr_semaphore_signal);
}

static bool wait_point(const void *point)
{
    return use_point(point, gr_semaphore_wait);
}

static void use_second_context(void)
{
    create_egl(NULL);
}

/* ---- The list -------------------------------------------------------------------------------- */

static const gr_gl_options gl_options = {.transports = GR_TRANSPORT_ANY};
static const gr_egl_options egl_options = {.debug = true};
static const gr_texture_options texture_options = {.filter = GR_FILTER_LINEAR, .anisotropy = 2};
static const gr_linear_desc linear_desc = {.host = texels, .pitch = 16};
static const gr_map_options map_options;
static const gr_release_options release_options;
static const int64_t half_shape[] = {SIZE / 2};
static const gr_tensor_desc half_desc = {.dtype = GR_DTYPE_U8, .ndim = 1, .shape = half_shape};
static const gr_publish_options publish_options = {.alpha = &(const float){0.5f}};
static const gr_framebuffer_options framebuffer;
static const gr_ring_options ring_options = {.mode = GR_RING_NEWEST};
static const gr_semaphore_desc semaphore_desc;
static const gr_external_memory_desc memory_desc;
static const gr_external_part_desc part_desc;
static const gr_external_image_desc image_desc;
static const gr_vk_headless_options headless_options = {.cuda_device = 99};
static const gr_vk_device_desc device_desc;
static const gr_vk_buffer_desc vk_buffer_desc;
static const gr_vk_image_desc vk_image_desc;
static const gr_vk_semaphore_desc vk_semaphore_desc;
static const gr_vk_submit_desc submit_desc;
static const gr_vk_use a_use = {.stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT,
                                .access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT};
static const gr_semaphore_point point;

/* `older` is the size of the struct in a program that only knows the first fields. */
static const struct {
    const char *function, *type;
    bool (*call)(const void *given);
    const void *given;
    size_t size, older;
} walk[] = {
#define WALK(function, call, type, given, first_unknown)                                           \
    {                                                                                              \
        function, #type, call, &(given), sizeof(type), offsetof(type, first_unknown)               \
    }
    WALK("gr_from_gl_buffer_with", from_buffer, gr_gl_options, gl_options, transports),
    WALK("gr_from_gl_image_with", from_image, gr_gl_options, gl_options, transports),
    WALK("gr_create_gl_buffer", create_buffer, gr_gl_options, gl_options, transports),
    WALK("gr_create_gl_image", create_image, gr_gl_options, gl_options, transports),
    WALK("gr_create_gl_image", create_image_of, gr_gl_image_desc, an_image, depth),
    WALK("gr_egl_create", create_egl, gr_egl_options, egl_options, compatibility),
    WALK("gr_buffer_texture", make_texture, gr_texture_options, texture_options, border),
    WALK("gr_buffer_copy_to_linear", copy_out, gr_linear_desc, linear_desc, pitch),
    WALK("gr_buffer_copy_from_linear", copy_in, gr_linear_desc, linear_desc, pitch),
    WALK("gr_map_many", map_with, gr_map_options, map_options, offset),
    WALK("gr_buffer_release_many", release_with, gr_release_options, release_options, wait_event),
    WALK("gr_tensor_create", allocate_tensor, gr_tensor_desc, half_desc, strides),
    WALK("gr_tensor_from_memory", wrap_tensor, gr_tensor_desc, half_desc, strides),
    WALK("gr_buffer_tensor", map_tensor, gr_tensor_desc, half_desc, strides),
    WALK("gr_tensor_view", view_tensor, gr_tensor_desc, half_desc, strides),
    WALK("gr_publish", publish_with, gr_publish_options, publish_options, srgb),
    WALK("gr_publish", publish_to, gr_tensor_desc, half_desc, strides),
    WALK("gr_fetch_framebuffer", read_framebuffer, gr_framebuffer_options, framebuffer, staging),
    WALK("gr_ring_create", make_ring, gr_ring_options, ring_options, mode),
    WALK("gr_semaphore_from_handle", import_semaphore, gr_semaphore_desc, semaphore_desc, value),
    WALK("gr_from_external_memory", import_memory, gr_external_memory_desc, memory_desc, part),
    WALK("gr_from_external_memory", import_part, gr_external_part_desc, part_desc, image),
    WALK("gr_from_external_memory", import_image, gr_external_image_desc, image_desc, srgb),
    WALK("gr_vk_headless_create", make_headless, gr_vk_headless_options, headless_options, message),
    WALK("gr_vk_device_from_vk", wrap_device, gr_vk_device_desc, device_desc, queue),
    WALK("gr_vk_device_extensions", ask_extensions, gr_vk_device_desc, device_desc, queue),
    /* The entries from this one on need Vulkan. Their first index is FIRST_OF_VULKAN. */
    WALK("gr_from_vk_buffer", share_buffer, gr_vk_buffer_desc, vk_buffer_desc, dedicated),
    WALK("gr_from_vk_image", share_image, gr_vk_image_desc, vk_image_desc, dedicated),
    WALK("gr_semaphore_from_vk", share_semaphore, gr_vk_semaphore_desc, vk_semaphore_desc, value),
    WALK("gr_vk_submit", submit_by, gr_vk_submit_desc, submit_desc, first),
    WALK("gr_vk_submit", submit_first, gr_vk_use, a_use, queue_family),
    WALK("gr_vk_submit", submit_last, gr_vk_use, a_use, queue_family),
    WALK("gr_vk_cmd_from_cuda", come_from_cuda, gr_vk_use, a_use, queue_family),
    WALK("gr_vk_cmd_to_cuda", go_to_cuda, gr_vk_use, a_use, queue_family),
    WALK("gr_semaphore_signal", signal_point, gr_semaphore_point, point, key),
    WALK("gr_semaphore_wait", wait_point, gr_semaphore_point, point, key),
};
enum {
    WALKS = sizeof(walk) / sizeof(walk[0]),
    OF_VULKAN = 10,
    OLDEST = 2 * sizeof(void *),
    TAIL = 64
};
enum { FIRST_OF_VULKAN = WALKS - OF_VULKAN };

/*
 * Passes the struct with another size, as from another version of the header. The bytes from `from`
 * on are `fill`.
 */
static bool give(int i, size_t size, size_t from, int fill)
{
    /* The struct has its own allocation, so that a sanitizer detects a read beyond it. */
    unsigned char *given = must_allocate(walk[i].size + TAIL);
    memcpy(given, walk[i].given, walk[i].size);
    memset(given + from, fill, walk[i].size + TAIL - from);
    memcpy(given, &size, sizeof(size));
    gr_clear_error();
    bool good = walk[i].call(given);
    free(given);
    return good;
}

static void check_struct(int i)
{
    const char *function = walk[i].function;
    size_t size = walk[i].size, older = walk[i].older, newer = size + TAIL;
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "GR_INIT(%s", walk[i].type);
    for (size_t none = 0; none < sizeof(size_t); none += sizeof(size_t) - 1) {
        ck_assert_msg(!give(i, none, size, 0), "%s accepts it without a size", function);
        assert_error(GR_ERR_INVALID_VALUE, 0, wanted);
    }
    ck_assert_msg(give(i, size, size, 0xEE), "%s: %s", function, error_text());
    ck_assert_msg(give(i, older, older, 0xEE), "%s, older: %s", function, error_text());
    give(i, OLDEST, OLDEST, 0xEE); /* what it lacks counts as 0, which some calls refuse */
    ck_assert_msg(not_by_its_size() && gr_last_error()->status != GR_ERR_UNSUPPORTED,
                  "%s, oldest: %s", function, error_text());
    ck_assert_msg(give(i, newer, size, 0), "%s, newer: %s", function, error_text());
    ck_assert_msg(!give(i, newer, newer - 1, 1), "%s accepts unknown fields", function);
    assert_error(GR_ERR_UNSUPPORTED, 0, walk[i].type);
}

static TCase *add_all_case(Suite *suite, const char *name)
{
    TCase *tcase = with_first_use(add_image_case(suite, name), use_second_context);
    with_fixture(tcase, map_image, end_image);
    return with_sharing(with_fixture(tcase, make_plain, end_plain));
}

GROUP("structs", add_all_case)

TEST(struct_size_decides_which_fields_are_read, FIRST_OF_VULKAN)
{
    check_struct(_i);
}

static TCase *add_vertices_case(Suite *suite, const char *name)
{
    return with_fixture(add_vulkan_case(suite, name), make_vertices, end_vertices);
}

GROUP("Vulkan structs", add_vertices_case)

VULKAN_TEST(struct_size_decides_which_fields_of_vulkan_structs_are_read, OF_VULKAN)
{
    check_struct(FIRST_OF_VULKAN + _i);
}
