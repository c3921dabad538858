/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls each public function with NULL for each pointer, and with freed objects. Functions that can
 * fail must record an error, and functions that free something must do nothing. Freed objects must
 * not be read, which AddressSanitizer would detect. check-functions reports functions that are
 * missing here.
 */
#include "tests/support/support_vulkan.h"
#include "tests/tensor/tensor.h"

#include <string.h>

#include <grinterop/image.h>
#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/ring.h>
#include <grinterop/share.h>

/* The objects that the calls get: NULL, or freed. */
static struct {
    gr_resource *resource;
    gr_buffer *buffer;
    gr_ring *ring;
    gr_semaphore *semaphore;
    gr_submit *submit;
    gr_tensor *tensor;
    gr_vk_device *device;
    gr_vk_headless *headless;
    gr_egl *egl;
    gr_cuda_context *context;
} none;

static gr_buffer *no_buffer;
static const gr_slot *no_slots[1];
static const VkCommandBuffer commands = (void *)&none; /* no call must get as far as to use it */

/* X(call): the call fails and records GR_ERR_INVALID_VALUE. */
#define REFUSED_COMMON(X)                                                                          \
    X(gr_buffer_ptr(none.buffer))                                                                  \
    X(gr_buffer_release_many(NULL, 1, fx.stream, NULL))                                            \
    X(gr_buffer_release_many(&no_buffer, 1, NULL, NULL))                                           \
    X(gr_buffer_size(none.buffer))                                                                 \
    X(gr_buffer_get_info(none.buffer))                                                             \
    X(gr_flags_parse("none", NULL))                                                                \
    X(gr_map(none.resource, fx.stream))                                                            \
    X(gr_map(fx.resource, NULL))                                                                   \
    X(gr_map_with(none.resource, fx.stream, NULL))                                                 \
    X(gr_map_with(fx.resource, NULL, NULL))                                                        \
    X(gr_map_many(NULL, 1, fx.stream, NULL, &no_buffer))                                           \
    X(gr_map_many(&none.resource, 1, fx.stream, NULL, &no_buffer))                                 \
    X(gr_map_many(&fx.resource, 0, fx.stream, NULL, &no_buffer))                                   \
    X(gr_map_many(&fx.resource, 1, NULL, NULL, &no_buffer))                                        \
    X(gr_map_many(&fx.resource, 1, fx.stream, NULL, NULL))                                         \
    X(gr_resource_get_info(none.resource))                                                         \
    X(gr_resource_close(none.resource, fx.stream))                                                 \
    X(gr_resource_close(fx.resource, NULL))                                                        \
    X(gr_resource_unmap(none.resource, fx.stream))                                                 \
    X(gr_resource_wait(none.resource, 0))                                                          \
    X(gr_cuda_context_create(-1))                                                                  \
    X(gr_cuda_find_device(NULL, NULL))                                                             \
    X(gr_cuda_table(NULL, NULL, NULL))

#define REFUSED_OPENGL(X)                                                                          \
    X(gr_from_gl_buffer(0, 0))                                                                     \
    X(gr_from_gl_buffer_with(0, 0, NULL))                                                          \
    X(gr_from_gl_image(0, GL_TEXTURE_2D, 0))                                                       \
    X(gr_from_gl_image_with(0, GL_TEXTURE_2D, 0, NULL))                                            \
    X(gr_create_gl_buffer(0, 0, NULL))                                                             \
    X(gr_create_gl_buffer_of(NULL, 0, NULL))                                                       \
    X(gr_gl_cuda_device(NULL))                                                                     \
    X(gr_create_gl_image(NULL, 0, NULL))                                                           \
    X(gr_gl_name(none.resource))                                                                   \
    X(gr_gl_probe((gr_transport)0))                                                                \
    X(gr_gl_target(none.resource))                                                                 \
    X(gr_map_gl_buffer(0, 0, fx.stream))                                                           \
    X(gr_map_gl_buffer(fx.name, 0, NULL))                                                          \
    X(gr_buffer_array(none.buffer, 0, 0))                                                          \
    X(gr_buffer_copy_to_linear(none.buffer, 0, 0, NULL, fx.stream))                                \
    X(gr_buffer_copy_from_linear(none.buffer, 0, 0, NULL, fx.stream))                              \
    X(gr_buffer_get_image_info(none.buffer))                                                       \
    X(gr_buffer_mipmapped_array(none.buffer))                                                      \
    X(gr_buffer_surface(none.buffer, 0, 0))                                                        \
    X(gr_buffer_texture(none.buffer, NULL))                                                        \
    X(gr_resource_surface(none.resource, 0, 0))                                                    \
    X(gr_resource_texture(none.resource, NULL))                                                    \
    X(gr_map_linear(none.resource, 0, 0, fx.stream))                                               \
    X(gr_map_linear(fx.resource, 0, 0, NULL))

#define REFUSED_SYNC(X)                                                                            \
    X(gr_resource_set_sync(none.resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE))                   \
    X(gr_submit_begin(NULL, 1))                                                                    \
    X(gr_submit_begin(&none.resource, 1))                                                          \
    X(gr_submit_begin(&fx.resource, 0))                                                            \
    X(gr_submit_commit(none.submit))                                                               \
    X(gr_semaphore_from_handle(NULL))                                                              \
    X(gr_semaphore_get_info(none.semaphore))                                                       \
    X(gr_semaphore_signal(NULL, 1, fx.stream))                                                     \
    X(gr_semaphore_signal(&GR_INIT(gr_semaphore_point, none.semaphore, 1), 1, fx.stream))          \
    X(gr_semaphore_wait(NULL, 1, fx.stream))                                                       \
    X(gr_semaphore_wait(&GR_INIT(gr_semaphore_point, none.semaphore, 1), 1, fx.stream))            \
    X(gr_from_external_memory(NULL, 0))                                                            \
    X(gr_from_same_memory(none.resource, NULL, 0))

#define REFUSED_RING(X)                                                                            \
    X(gr_ring_acquire_read(none.ring, fx.stream, no_slots, 1, 0))                                  \
    X(gr_ring_acquire_write(none.ring, fx.stream, no_slots, 1, 0))                                 \
    X(gr_ring_cancel_read(none.ring, no_slots, 1))                                                 \
    X(gr_ring_cancel_write(none.ring, no_slots, 1))                                                \
    X(gr_ring_create(NULL, 1, NULL))                                                               \
    X(gr_ring_create(&none.resource, 1, NULL))                                                     \
    X(gr_ring_create(&fx.resource, 0, NULL))                                                       \
    X(gr_ring_descriptor(none.ring, GR_RING_PRODUCER))                                             \
    X(gr_ring_get_info(none.ring))                                                                 \
    X(gr_ring_give_back(none.ring, no_slots, 1))                                                   \
    X(gr_ring_hand_over(none.ring, no_slots, 1))                                                   \
    X(gr_ring_resize(none.ring, &fx.resource, 1))                                                  \
    X(gr_resource_receive(-1, NULL, 0, NULL, 0))                                                   \
    X(gr_resource_send(-1, fx.resource, NULL, 0, 0))                                               \
    X(gr_resource_send(-1, none.resource, NULL, 0, 0))                                             \
    X(gr_ring_receive(-1, NULL, 0, NULL, 0))                                                       \
    X(gr_ring_send(-1, none.ring, GR_RING_PRODUCER, NULL, 0, 0))

#define REFUSED_VULKAN(X)                                                                          \
    X(gr_from_vk_buffer(none.device, NULL, 0))                                                     \
    X(gr_from_vk_image(none.device, NULL, 0))                                                      \
    X(gr_semaphore_from_vk(none.device, NULL))                                                     \
    X(gr_vk_buffer(none.resource))                                                                 \
    X(gr_create_vk_buffer(none.device, NULL, 0))                                                   \
    X(gr_create_vk_buffer_of(none.device, NULL, NULL, 0))                                          \
    X(gr_vk_cmd_from_cuda(VK_NULL_HANDLE, NULL, 1, NULL))                                          \
    X(gr_vk_cmd_from_cuda(commands, &none.resource, 1, NULL))                                      \
    X(gr_vk_cmd_to_cuda(VK_NULL_HANDLE, NULL, 1, NULL))                                            \
    X(gr_vk_cmd_to_cuda(commands, &none.resource, 1, NULL))                                        \
    X(gr_vk_device_get_info(none.device))                                                          \
    X(gr_vk_device_extensions(NULL, NULL, NULL))                                                   \
    X(gr_vk_device_from_vk(NULL))                                                                  \
    X(gr_vk_hand_over(NULL, 1, VK_IMAGE_LAYOUT_UNDEFINED))                                         \
    X(gr_vk_hand_over(&none.resource, 1, VK_IMAGE_LAYOUT_UNDEFINED))                               \
    X(gr_vk_headless_get_info(none.headless))                                                      \
    X(gr_vk_image(none.resource))                                                                  \
    X(gr_create_vk_image(none.device, NULL, 0))                                                    \
    X(gr_vk_instance_extensions(NULL, NULL))                                                       \
    X(gr_vk_memory(none.resource))                                                                 \
    X(gr_vk_physical_device(NULL, VK_NULL_HANDLE, 0, NULL))                                        \
    X(gr_vk_semaphore(none.semaphore))                                                             \
    X(gr_semaphore_create_vk(none.device, VK_SEMAPHORE_TYPE_TIMELINE))                             \
    X(gr_vk_submit(none.submit, NULL))                                                             \
    X(gr_vk_submit_fill(none.submit, NULL, 0, NULL))                                               \
    X(gr_vk_submit_fill_v1(none.submit, NULL, 0, NULL))

#define REFUSED_TENSOR(X)                                                                          \
    X(gr_buffer_tensor(none.buffer, NULL))                                                         \
    X(gr_dtype_get_info((gr_dtype)0))                                                              \
    X(gr_dtype_parse(NULL))                                                                        \
    X(gr_dtype_get_info((gr_dtype)16))                                                             \
    X(gr_tensor_create(NULL, fx.stream))                                                           \
    X(gr_tensor_array_interface(none.tensor, fx.stream))                                           \
    X(gr_tensor_clone(none.tensor, GR_MEMORY_DEVICE, fx.stream))                                   \
    X(gr_tensor_copy(none.tensor, none.tensor, fx.stream))                                         \
    X(gr_tensor_copy_from_host(none.tensor, NULL, 0, fx.stream))                                   \
    X(gr_tensor_copy_to_host(none.tensor, NULL, 0, fx.stream))                                     \
    X(gr_tensor_to_dlpack(none.tensor, GR_DLPACK_VERSIONED, fx.stream))                            \
    X(gr_tensor_to_dlpack(none.tensor, GR_DLPACK_LEGACY, fx.stream))                               \
    X(gr_tensor_from_dlpack(NULL, GR_DLPACK_VERSIONED, fx.stream))                                 \
    X(gr_tensor_from_dlpack(NULL, GR_DLPACK_LEGACY, fx.stream))                                    \
    X(gr_tensor_get_info(none.tensor))                                                             \
    X(gr_tensor_used_on(none.tensor, fx.stream))                                                   \
    X(gr_tensor_view(none.tensor, NULL))                                                           \
    X(gr_tensor_wait(none.tensor, fx.stream))                                                      \
    X(gr_tensor_from_memory(NULL, NULL, fx.stream, NULL, NULL))

#define REFUSED_PUBLISH(X)                                                                         \
    X(gr_buffer_fetch(none.buffer, none.tensor, NULL, fx.stream))                                  \
    X(gr_buffer_publish(none.buffer, none.tensor, NULL, fx.stream))                                \
    X(gr_fetch(none.resource, none.tensor, NULL, fx.stream))                                       \
    X(gr_fetch(fx.resource, none.tensor, NULL, fx.stream))                                         \
    X(gr_copy_framebuffer(0, none.resource, 0, NULL))                                              \
    X(gr_fetch_framebuffer(0, none.tensor, NULL, fx.stream))                                       \
    X(gr_fetch_framebuffer_many(0, NULL, NULL, 0, fx.stream))                                      \
    X(gr_fetch_framebuffer_many(0, &none.tensor, NULL, 1, fx.stream))                              \
    X(gr_publish(none.resource, none.tensor, NULL, fx.stream))                                     \
    X(gr_publish(fx.resource, none.tensor, NULL, fx.stream))

#define REFUSED(X)                                                                                 \
    REFUSED_COMMON(X)                                                                              \
    REFUSED_OPENGL(X)                                                                              \
    REFUSED_SYNC(X) REFUSED_PUBLISH(X) REFUSED_RING(X) REFUSED_TENSOR(X) REFUSED_VULKAN(X)

/* X(call): NULL is valid and causes no error. */
#define SILENT(X)                                                                                  \
    X(gr_buffer_release(none.buffer))                                                              \
    X(gr_buffer_release_later(none.buffer))                                                        \
    X(gr_buffer_release_many(&none.buffer, 1, fx.stream, NULL))                                    \
    X(gr_cuda_context_free(none.context))                                                          \
    X(gr_egl_free(none.egl))                                                                       \
    X(gr_error_print(NULL, NULL))                                                                  \
    X(gr_flags_parse(NULL, &flags))                                                                \
    X(gr_resource_describe(none.resource, NULL, 0))                                                \
    X(gr_resource_free(none.resource))                                                             \
    X(gr_ring_free(none.ring))                                                                     \
    X(gr_ring_stop(none.ring))                                                                     \
    X(gr_semaphore_describe(none.semaphore, NULL, 0))                                              \
    X(gr_semaphore_free(none.semaphore))                                                           \
    X(gr_share_set_interrupt(NULL, NULL))                                                          \
    X(gr_status_name((gr_status)-1))                                                               \
    X(gr_tensor_free(none.tensor))                                                                 \
    X(gr_submit_free(none.submit))                                                                 \
    X(gr_vk_device_free(none.device))                                                              \
    X(gr_vk_headless_free(none.headless))

/* X(type): the end-of-scope function of the type is called with NULL in the variable. */
#define SCOPES(X)                                                                                  \
    X(gr_buffer)                                                                                   \
    X(gr_cuda_context)                                                                             \
    X(gr_egl)                                                                                      \
    X(gr_resource)                                                                                 \
    X(gr_ring)                                                                                     \
    X(gr_semaphore)                                                                                \
    X(gr_submit)                                                                                   \
    X(gr_tensor)                                                                                   \
    X(gr_vk_device)                                                                                \
    X(gr_vk_headless)

GROUP("NULL", add_resource_case)

/* Whether the message says NULL, if that is the first argument. */
static bool says_null(const char *call)
{
    const char *message = gr_last_error()->message;
    const bool first = strstr(call, "(NULL") || strstr(call, "(none.");
    return !first || strstr(message, "NULL") || strstr(message, "There is no");
}

TEST(invalid_nulls_are_refused)
{
#define CHECK_REFUSED(call)                                                                        \
    gr_clear_error();                                                                              \
    (void)(call);                                                                                  \
    if (gr_last_error()->status != GR_ERR_INVALID_VALUE || !says_null(#call)) {                    \
        failed++;                                                                                  \
        printf("%s: %s: %s\n", #call, gr_status_name(gr_last_error()->status), error_text());      \
    }
    int failed = 0;
    REFUSED(CHECK_REFUSED)
    ck_assert_msg(failed == 0, "%d calls with NULL record no error", failed);
    const gr_resource_info *info = gr_resource_get_info(fx.resource);
    ck_assert(!info->closed && !info->mapped);
    gr_clear_error();
}

TEST(freeing_null_does_nothing)
{
    unsigned flags = 9;
#define CHECK_SILENT(call)                                                                         \
    (void)(call);                                                                                  \
    ck_assert_msg(gr_last_error()->status == GR_OK, "%s: %s", #call, error_text());
#define CHECK_SCOPE(type)                                                                          \
    {                                                                                              \
        type *object = NULL;                                                                       \
        CHECK_SILENT(type##_at_scope_end(&object))                                                 \
    }
    gr_clear_error();
    SILENT(CHECK_SILENT)
    SCOPES(CHECK_SCOPE)
    ck_assert_uint_eq(flags, GR_READ_WRITE);
}

/* ---- Freed objects --------------------------------------------------------------------------- */

GROUP("freed objects", add_vulkan_case)

/* Creates Vulkan's objects, if there is Vulkan. */
static void make_vulkan(void)
{
    if (vk.missing)
        return;
    none.headless = must_make(gr_vk_headless_create(NULL));
    const gr_vk_headless_info *h = gr_vk_headless_get_info(none.headless);
    none.device = must_make(gr_vk_device_from_vk(
        &GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance, h->physical_device,
                 h->device, h->graphics, h->graphics_family)));
    none.semaphore = must_make(gr_semaphore_create_vk(none.device, VK_SEMAPHORE_TYPE_TIMELINE));
}

/* Creates the objects, and frees them at last, so that none gets the address of another. */
static void make_freed(void)
{
    gr_resource *slot = must_register(gl_buffer_filled(64, 1));
    fx.resource = must_register(gl_buffer_filled(64, 1));
    make_vulkan();
    none.resource = must_register(gl_buffer_filled(64, 1));
    none.buffer = must_map(none.resource);
    none.ring = must_make(gr_ring_create(&slot, 1, NULL));
    none.submit = must_make(gr_submit_begin(&fx.resource, 1));
    none.tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){1});
    none.egl = must_make(gr_egl_create(NULL));
    none.context = must_make(gr_cuda_context_create(fx.device));
    assert_ok(gr_egl_make_current(fx.egl));
    assert_ok(gr_submit_commit(none.submit));
    assert_ok(gr_buffer_release(none.buffer));
    gr_resource_free(none.resource);
    gr_ring_free(none.ring);
    gr_resource_free(slot);
    gr_submit_free(none.submit);
    gr_tensor_free(none.tensor);
    gr_semaphore_free(none.semaphore);
    gr_vk_device_free(none.device);
    gr_vk_headless_free(none.headless);
    gr_egl_free(none.egl);
    gr_cuda_context_free(none.context);
}

static bool needs_vulkan(const char *call)
{
    return strstr(call, "none.device") || strstr(call, "none.headless") ||
           strstr(call, "none.semaphore");
}

/* Catches: gr_gl_name(), gr_resource_get_info() and ring calls read the memory of freed objects. */
TEST(freed_objects_are_refused)
{
#define CHECK_FREED(call)                                                                          \
    if (strstr(#call, "none.") && !(vk.missing && needs_vulkan(#call))) {                          \
        gr_clear_error();                                                                          \
        (void)(call);                                                                              \
        if (gr_last_error()->status != GR_ERR_INVALID_VALUE ||                                     \
            !strstr(gr_last_error()->message, "not a live")) {                                     \
            failed++;                                                                              \
            printf("%s: %s: %s\n", #call, gr_status_name(gr_last_error()->status), error_text());  \
        }                                                                                          \
    }
    int failed = 0;
    unsigned flags = 0;
    make_freed();
    REFUSED(CHECK_FREED)
    SILENT(CHECK_FREED)
    CHECK_FREED(gr_egl_make_current(none.egl))
    ck_assert_msg(failed == 0, "%d calls accept freed objects", failed);
    gr_resource_free(fx.resource);
    fx.resource = NULL;
    gr_clear_error();
}

TEST_UNLESS(vk.missing, freed_objects_in_options_are_refused)
{
    gr_resource *resource = must_create(64, GR_READ_WRITE);
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){1});
    make_freed();
    assert_invalid(gr_resource_set_sync(resource, none.semaphore, GR_SEMAPHORE_NONE), "not a live");
    assert_invalid(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, none.semaphore), "not a live");
    assert_invalid(gr_publish(fx.resource, tensor,
                              &GR_INIT(gr_publish_options, .chroma = none.tensor), fx.stream),
                   "not a live");
    assert_invalid(gr_fetch_framebuffer(0, tensor,
                                        &GR_INIT(gr_framebuffer_options, .width = 1, .height = 1,
                                                 .staging = none.resource),
                                        fx.stream),
                   "not a live");
    gr_resource_free(resource);
    gr_resource_free(fx.resource);
    fx.resource = NULL;
}

/* Catches: gr_buffer_ptr() and others took a released buffer whose resource lives. */
TEST(released_buffers_are_refused)
{
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(64, 1));
    none.buffer = must_map(resource);
    assert_ok(gr_buffer_release(none.buffer));
    ck_assert_uint_eq(gr_buffer_ptr(none.buffer), 0);
    assert_error(GR_ERR_INVALID_VALUE, 0, "released already");
    ck_assert_uint_eq(gr_buffer_size(none.buffer), 0);
    assert_error(GR_ERR_INVALID_VALUE, 0, "released already");
    assert_null_invalid(gr_buffer_get_info(none.buffer), "released already");
    assert_null_invalid(gr_buffer_get_image_info(none.buffer), "released already");
    assert_null_invalid(gr_buffer_tensor(none.buffer, NULL), "released already");
}

START(resource_case_buffer(256, 1))
