/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls each public function with NULL for each pointer. Functions that can fail must record an
 * error, and functions that free something must do nothing. The test fails if a function of
 * headers.h is missing from the tables below.
 */
#include "tests/headers/headers.h"
#include "tests/support/support_vulkan.h"

#include <string.h>

#include <grinterop/image.h>
#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/ring.h>
#include <grinterop/share.h>
#include <grinterop/tensor.h>

static gr_buffer *no_buffer;
static gr_resource *no_resource;
static const gr_slot *no_slots[1];

/* X(call): the call fails and records GR_ERR_INVALID_VALUE. */
#define REFUSED_COMMON(X)                                                                          \
    X(gr_buffer_ptr(NULL))                                                                         \
    X(gr_buffer_release_many(NULL, 1, fx.stream, NULL))                                            \
    X(gr_buffer_release_many(&no_buffer, 1, NULL, NULL))                                           \
    X(gr_buffer_size(NULL))                                                                        \
    X(gr_buffer_get_info(NULL))                                                                    \
    X(gr_flags_parse("none", NULL))                                                                \
    X(gr_map(NULL, fx.stream))                                                                     \
    X(gr_map(fx.resource, NULL))                                                                   \
    X(gr_map_with(NULL, fx.stream, NULL))                                                          \
    X(gr_map_with(fx.resource, NULL, NULL))                                                        \
    X(gr_map_many(NULL, 1, fx.stream, NULL, &no_buffer))                                           \
    X(gr_map_many(&no_resource, 1, fx.stream, NULL, &no_buffer))                                   \
    X(gr_map_many(&fx.resource, 0, fx.stream, NULL, &no_buffer))                                   \
    X(gr_map_many(&fx.resource, 1, NULL, NULL, &no_buffer))                                        \
    X(gr_map_many(&fx.resource, 1, fx.stream, NULL, NULL))                                         \
    X(gr_resource_get_info(NULL))                                                                  \
    X(gr_resource_close(NULL, fx.stream))                                                          \
    X(gr_resource_close(fx.resource, NULL))                                                        \
    X(gr_resource_unmap(NULL, fx.stream))                                                          \
    X(gr_resource_wait(NULL, 0))                                                                   \
    X(gr_cuda_context_create(-1))                                                                  \
    X(gr_cuda_find_device(NULL, NULL))                                                             \
    X(gr_cuda_table(NULL, NULL, NULL))

#define REFUSED_OPENGL(X)                                                                          \
    X(gr_from_gl_buffer(0, 0))                                                                     \
    X(gr_from_gl_buffer_with(0, 0, NULL))                                                          \
    X(gr_from_gl_image(0, GL_TEXTURE_2D, 0))                                                       \
    X(gr_from_gl_image_with(0, GL_TEXTURE_2D, 0, NULL))                                            \
    X(gr_create_gl_buffer(0, 0, NULL))                                                             \
    X(gr_gl_cuda_device(NULL))                                                                     \
    X(gr_create_gl_image(NULL, 0, NULL))                                                           \
    X(gr_gl_name(NULL))                                                                            \
    X(gr_gl_probe((gr_transport)0))                                                                \
    X(gr_gl_target(NULL))                                                                          \
    X(gr_map_gl_buffer(0, 0, fx.stream))                                                           \
    X(gr_map_gl_buffer(fx.name, 0, NULL))                                                          \
    X(gr_buffer_array(NULL, 0, 0))                                                                 \
    X(gr_buffer_copy_to_linear(NULL, 0, 0, NULL, fx.stream))                                       \
    X(gr_buffer_copy_from_linear(NULL, 0, 0, NULL, fx.stream))                                     \
    X(gr_buffer_get_image_info(NULL))                                                              \
    X(gr_buffer_mipmapped_array(NULL))                                                             \
    X(gr_buffer_surface(NULL, 0, 0))                                                               \
    X(gr_buffer_texture(NULL, NULL))                                                               \
    X(gr_resource_surface(NULL, 0, 0))                                                             \
    X(gr_resource_texture(NULL, NULL))                                                             \
    X(gr_map_linear(NULL, 0, 0, fx.stream))                                                        \
    X(gr_map_linear(fx.resource, 0, 0, NULL))

#define REFUSED_SYNC(X)                                                                            \
    X(gr_resource_set_sync(NULL, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE))                            \
    X(gr_submit_begin(NULL, 1))                                                                    \
    X(gr_submit_begin(&no_resource, 1))                                                            \
    X(gr_submit_begin(&fx.resource, 0))                                                            \
    X(gr_submit_commit(NULL))                                                                      \
    X(gr_semaphore_from_handle(NULL))                                                              \
    X(gr_semaphore_get_info(NULL))                                                                 \
    X(gr_semaphore_signal(NULL, 1, fx.stream))                                                     \
    X(gr_semaphore_signal(&no_point, 1, fx.stream))                                                \
    X(gr_semaphore_wait(NULL, 1, fx.stream))                                                       \
    X(gr_semaphore_wait(&no_point, 1, fx.stream))                                                  \
    X(gr_from_external_memory(NULL, 0))                                                            \
    X(gr_from_same_memory(NULL, NULL, 0))

#define REFUSED_RING(X)                                                                            \
    X(gr_ring_acquire_read(NULL, fx.stream, no_slots, 1, 0))                                       \
    X(gr_ring_acquire_write(NULL, fx.stream, no_slots, 1, 0))                                      \
    X(gr_ring_cancel_read(NULL, no_slots, 1))                                                      \
    X(gr_ring_cancel_write(NULL, no_slots, 1))                                                     \
    X(gr_ring_create(NULL, 1, NULL))                                                               \
    X(gr_ring_create(&no_resource, 1, NULL))                                                       \
    X(gr_ring_create(&fx.resource, 0, NULL))                                                       \
    X(gr_ring_descriptor(NULL, GR_RING_PRODUCER))                                                  \
    X(gr_ring_get_info(NULL))                                                                      \
    X(gr_ring_give_back(NULL, no_slots, 1))                                                        \
    X(gr_ring_hand_over(NULL, no_slots, 1))                                                        \
    X(gr_ring_resize(NULL, &fx.resource, 1))                                                       \
    X(gr_resource_receive(-1, NULL, 0, NULL, 0))                                                   \
    X(gr_resource_send(-1, fx.resource, NULL, 0, 0))                                               \
    X(gr_resource_send(-1, NULL, NULL, 0, 0))                                                      \
    X(gr_ring_receive(-1, NULL, 0, NULL, 0))                                                       \
    X(gr_ring_send(-1, NULL, GR_RING_PRODUCER, NULL, 0, 0))

#define REFUSED_VULKAN(X)                                                                          \
    X(gr_from_vk_buffer(NULL, NULL, 0))                                                            \
    X(gr_from_vk_image(NULL, NULL, 0))                                                             \
    X(gr_semaphore_from_vk(NULL, NULL))                                                            \
    X(gr_vk_buffer(NULL))                                                                          \
    X(gr_create_vk_buffer(NULL, NULL, 0))                                                          \
    X(gr_vk_cmd_from_cuda(VK_NULL_HANDLE, NULL, 1, NULL))                                          \
    X(gr_vk_cmd_to_cuda(VK_NULL_HANDLE, NULL, 1, NULL))                                            \
    X(gr_vk_device_get_info(NULL))                                                                 \
    X(gr_vk_device_extensions(NULL, NULL, NULL))                                                   \
    X(gr_vk_device_from_vk(NULL))                                                                  \
    X(gr_vk_hand_over(NULL, 1, VK_IMAGE_LAYOUT_UNDEFINED))                                         \
    X(gr_vk_headless_get_info(NULL))                                                               \
    X(gr_vk_image(NULL))                                                                           \
    X(gr_create_vk_image(NULL, NULL, 0))                                                           \
    X(gr_vk_instance_extensions(NULL, NULL))                                                       \
    X(gr_vk_memory(NULL))                                                                          \
    X(gr_vk_physical_device(NULL, VK_NULL_HANDLE, 0, NULL))                                        \
    X(gr_vk_semaphore(NULL))                                                                       \
    X(gr_semaphore_create_vk(NULL, VK_SEMAPHORE_TYPE_TIMELINE))                                    \
    X(gr_vk_submit(NULL, NULL))                                                                    \
    X(gr_vk_submit_fill(NULL, NULL, 0, NULL))                                                      \
    X(gr_vk_submit_fill_v1(NULL, NULL, 0, NULL))

#define REFUSED_TENSOR(X)                                                                          \
    X(gr_buffer_tensor(NULL, NULL))                                                                \
    X(gr_dtype_get_info((gr_dtype)0))                                                              \
    X(gr_dtype_parse(NULL))                                                                        \
    X(gr_dtype_get_info((gr_dtype)16))                                                             \
    X(gr_tensor_create(NULL, fx.stream))                                                           \
    X(gr_tensor_array_interface(NULL, fx.stream))                                                  \
    X(gr_tensor_clone(NULL, GR_MEMORY_DEVICE, fx.stream))                                          \
    X(gr_tensor_copy(NULL, NULL, fx.stream))                                                       \
    X(gr_tensor_copy_from_host(NULL, NULL, 0, fx.stream))                                          \
    X(gr_tensor_copy_to_host(NULL, NULL, 0, fx.stream))                                            \
    X(gr_tensor_to_dlpack(NULL, GR_DLPACK_VERSIONED, fx.stream))                                   \
    X(gr_tensor_to_dlpack(NULL, GR_DLPACK_LEGACY, fx.stream))                                      \
    X(gr_tensor_from_dlpack(NULL, GR_DLPACK_VERSIONED, fx.stream))                                 \
    X(gr_tensor_from_dlpack(NULL, GR_DLPACK_LEGACY, fx.stream))                                    \
    X(gr_tensor_get_info(NULL))                                                                    \
    X(gr_tensor_used_on(NULL, fx.stream))                                                          \
    X(gr_tensor_view(NULL, NULL))                                                                  \
    X(gr_tensor_wait(NULL, fx.stream))                                                             \
    X(gr_tensor_from_memory(NULL, NULL, fx.stream, NULL, NULL))

#define REFUSED_PUBLISH(X)                                                                         \
    X(gr_buffer_fetch(NULL, NULL, NULL, fx.stream))                                                \
    X(gr_buffer_publish(NULL, NULL, NULL, fx.stream))                                              \
    X(gr_fetch(NULL, NULL, NULL, fx.stream))                                                       \
    X(gr_fetch(fx.resource, NULL, NULL, fx.stream))                                                \
    X(gr_copy_framebuffer(0, NULL, 0, NULL))                                                       \
    X(gr_fetch_framebuffer(0, NULL, NULL, fx.stream))                                              \
    X(gr_fetch_framebuffer_many(0, NULL, NULL, 0, fx.stream))                                      \
    X(gr_publish(NULL, NULL, NULL, fx.stream))                                                     \
    X(gr_publish(fx.resource, NULL, NULL, fx.stream))

#define REFUSED(X)                                                                                 \
    REFUSED_COMMON(X)                                                                              \
    REFUSED_OPENGL(X)                                                                              \
    REFUSED_SYNC(X) REFUSED_PUBLISH(X) REFUSED_RING(X) REFUSED_TENSOR(X) REFUSED_VULKAN(X)

/* X(call): NULL is valid and causes no error. */
#define SILENT(X)                                                                                  \
    X(gr_buffer_release(NULL))                                                                     \
    X(gr_buffer_release_later(NULL))                                                               \
    X(gr_buffer_release_many(&no_buffer, 1, fx.stream, NULL))                                      \
    X(gr_cuda_context_free(NULL))                                                                  \
    X(gr_egl_free(NULL))                                                                           \
    X(gr_error_print(NULL, NULL))                                                                  \
    X(gr_flags_parse(NULL, &flags))                                                                \
    X(gr_resource_describe(NULL, NULL, 0))                                                         \
    X(gr_resource_free(NULL))                                                                      \
    X(gr_ring_free(NULL))                                                                          \
    X(gr_ring_stop(NULL))                                                                          \
    X(gr_semaphore_describe(NULL, NULL, 0))                                                        \
    X(gr_semaphore_free(NULL))                                                                     \
    X(gr_share_set_interrupt(NULL, NULL))                                                          \
    X(gr_status_name((gr_status)-1))                                                               \
    X(gr_tensor_free(NULL))                                                                        \
    X(gr_submit_free(NULL))                                                                        \
    X(gr_vk_device_free(NULL))                                                                     \
    X(gr_vk_headless_free(NULL))

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

/* X(function, reason): not tested by this file. */
#define EXEMPT(X)                                                                                  \
    X(gr_clear_error, "takes nothing")                                                             \
    X(gr_compat, "its functions return CUDA codes: test_compat")                                   \
    X(gr_cuda_driver_path, "takes nothing")                                                        \
    X(gr_cuda_is_software, "takes nothing")                                                        \
    X(gr_cuda_load, "takes no pointer")                                                            \
    X(gr_egl_create, "NULL is the default")                                                        \
    X(gr_egl_make_current, "NULL leaves no context current")                                       \
    X(gr_last_error, "takes nothing")                                                              \
    X(gr_library_version, "takes nothing")                                                         \
    X(gr_log_add, "a NULL function is standard error")                                             \
    X(gr_log_remove, "a NULL function is standard error")                                          \
    X(gr_tensor_collect, "takes no pointer")                                                       \
    X(gr_vk_format_get_info, "takes no pointer: test_vk_format.c")                                 \
    X(gr_vk_headless_create, "NULL is the default")

GROUP("NULL", add_resource_case)

/* Whether the message says NULL, if that is the first argument. */
static bool says_null(const char *call)
{
    const char *message = gr_last_error()->message;
    return !strstr(call, "(NULL") || strstr(message, "NULL") || strstr(message, "There is no");
}

TEST(invalid_nulls_are_refused)
{
    const gr_semaphore_point no_point = GR_INIT(gr_semaphore_point, .value = 1);
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

/* The texts of all entries in the tables: calls, end-of-scope functions, exempt functions. */
#define AS_TEXT(call)      #call,
#define AS_SCOPE(type)     #type "_at_scope_end",
#define AS_NAME(name, why) #name,
static const char *const known[] = {REFUSED(AS_TEXT) SILENT(AS_TEXT) SCOPES(AS_SCOPE)
                                        EXEMPT(AS_NAME)};

static bool is_known(const char *function)
{
    size_t length = strlen(function);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strncmp(known[i], function, length) && strchr("(", known[i][length]))
            return true;
    return false;
}

TEST(each_public_function_is_in_a_table)
{
#define CHECK_KNOWN(function)                                                                      \
    ck_assert_msg(is_known(#function), "%s() is in no table of test_null.c", #function);
    PUBLIC_FUNCTIONS(CHECK_KNOWN)
}

START(resource_case_buffer(256, 1))
