/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of the header test and test_null.c. */
#ifndef GR_TESTS_HEADERS_H
#define GR_TESTS_HEADERS_H

typedef void (*anything)(void);

/*
 * Every function that the public headers declare, by header. check-functions reports functions
 * that are missing here.
 */
#define PUBLIC_FUNCTIONS(X)                                                                        \
    /* base.h */                                                                                   \
    X(gr_clear_error)                                                                              \
    X(gr_last_error)                                                                               \
    X(gr_library_version)                                                                          \
    X(gr_log_add)                                                                                  \
    X(gr_log_remove)                                                                               \
    X(gr_status_name)                                                                              \
    /* gr.h */                                                                                     \
    X(gr_buffer_ptr)                                                                               \
    X(gr_buffer_release)                                                                           \
    X(gr_buffer_release_later)                                                                     \
    X(gr_buffer_release_many)                                                                      \
    X(gr_buffer_size)                                                                              \
    X(gr_buffer_get_info)                                                                          \
    X(gr_flags_parse)                                                                              \
    X(gr_map)                                                                                      \
    X(gr_map_many)                                                                                 \
    X(gr_map_with)                                                                                 \
    X(gr_resource_get_info)                                                                        \
    X(gr_resource_close)                                                                           \
    X(gr_resource_describe)                                                                        \
    X(gr_resource_free)                                                                            \
    X(gr_resource_unmap)                                                                           \
    X(gr_resource_wait)                                                                            \
    /* cuda.h */                                                                                   \
    X(gr_cuda_context_create)                                                                      \
    X(gr_cuda_context_free)                                                                        \
    X(gr_cuda_driver_path)                                                                         \
    X(gr_cuda_find_device)                                                                         \
    X(gr_cuda_is_software)                                                                         \
    X(gr_cuda_load)                                                                                \
    X(gr_cuda_table)                                                                               \
    /* compat.h */                                                                                 \
    X(gr_compat)                                                                                   \
    /* gl.h */                                                                                     \
    X(gr_from_gl_buffer)                                                                           \
    X(gr_from_gl_buffer_with)                                                                      \
    X(gr_from_gl_image)                                                                            \
    X(gr_from_gl_image_with)                                                                       \
    X(gr_create_gl_buffer)                                                                         \
    X(gr_create_gl_buffer_of)                                                                      \
    X(gr_gl_cuda_device)                                                                           \
    X(gr_create_gl_image)                                                                          \
    X(gr_gl_name)                                                                                  \
    X(gr_gl_probe)                                                                                 \
    X(gr_gl_target)                                                                                \
    X(gr_map_gl_buffer)                                                                            \
    /* egl.h */                                                                                    \
    X(gr_egl_create)                                                                               \
    X(gr_egl_free)                                                                                 \
    X(gr_egl_make_current)                                                                         \
    /* image.h */                                                                                  \
    X(gr_buffer_array)                                                                             \
    X(gr_buffer_copy_to_linear)                                                                    \
    X(gr_buffer_copy_from_linear)                                                                  \
    X(gr_buffer_get_image_info)                                                                    \
    X(gr_buffer_mipmapped_array)                                                                   \
    X(gr_resource_surface)                                                                         \
    X(gr_resource_texture)                                                                         \
    X(gr_buffer_surface)                                                                           \
    X(gr_buffer_texture)                                                                           \
    X(gr_map_linear)                                                                               \
    /* vk_device.h */                                                                              \
    X(gr_vk_device_get_info)                                                                       \
    X(gr_vk_device_extensions)                                                                     \
    X(gr_vk_device_free)                                                                           \
    X(gr_vk_device_from_vk)                                                                        \
    X(gr_vk_headless_create)                                                                       \
    X(gr_vk_headless_free)                                                                         \
    X(gr_vk_hand_over)                                                                             \
    X(gr_vk_headless_get_info)                                                                     \
    X(gr_vk_instance_extensions)                                                                   \
    X(gr_vk_physical_device)                                                                       \
    /* vk.h */                                                                                     \
    X(gr_from_vk_buffer)                                                                           \
    X(gr_from_vk_image)                                                                            \
    X(gr_semaphore_from_vk)                                                                        \
    X(gr_vk_buffer)                                                                                \
    X(gr_create_vk_buffer)                                                                         \
    X(gr_create_vk_buffer_of)                                                                      \
    X(gr_vk_cmd_from_cuda)                                                                         \
    X(gr_vk_cmd_to_cuda)                                                                           \
    X(gr_vk_format_get_info)                                                                       \
    X(gr_vk_image)                                                                                 \
    X(gr_create_vk_image)                                                                          \
    X(gr_vk_memory)                                                                                \
    X(gr_vk_semaphore)                                                                             \
    X(gr_semaphore_create_vk)                                                                      \
    X(gr_vk_submit)                                                                                \
    X(gr_vk_submit_fill)                                                                           \
    X(gr_vk_submit_fill_v1)                                                                        \
    /* submit.h */                                                                                 \
    X(gr_resource_set_sync)                                                                        \
    X(gr_submit_begin)                                                                             \
    X(gr_submit_commit)                                                                            \
    X(gr_submit_free)                                                                              \
    /* semaphore.h */                                                                              \
    X(gr_semaphore_describe)                                                                       \
    X(gr_semaphore_free)                                                                           \
    X(gr_semaphore_from_handle)                                                                    \
    X(gr_semaphore_get_info)                                                                       \
    X(gr_semaphore_signal)                                                                         \
    X(gr_semaphore_wait)                                                                           \
    /* external.h */                                                                               \
    X(gr_from_external_memory)                                                                     \
    X(gr_from_same_memory)                                                                         \
    /* framebuffer.h */                                                                            \
    X(gr_copy_framebuffer)                                                                         \
    X(gr_fetch_framebuffer)                                                                        \
    X(gr_fetch_framebuffer_many)                                                                   \
    /* publish.h */                                                                                \
    X(gr_buffer_fetch)                                                                             \
    X(gr_buffer_publish)                                                                           \
    X(gr_fetch)                                                                                    \
    X(gr_publish)                                                                                  \
    /* ring.h */                                                                                   \
    X(gr_ring_acquire_read)                                                                        \
    X(gr_ring_acquire_write)                                                                       \
    X(gr_ring_cancel_read)                                                                         \
    X(gr_ring_cancel_write)                                                                        \
    X(gr_ring_create)                                                                              \
    X(gr_ring_descriptor)                                                                          \
    X(gr_ring_free)                                                                                \
    X(gr_ring_get_info)                                                                            \
    X(gr_ring_give_back)                                                                           \
    X(gr_ring_hand_over)                                                                           \
    X(gr_ring_resize)                                                                              \
    X(gr_ring_stop)                                                                                \
    /* share.h */                                                                                  \
    X(gr_resource_receive)                                                                         \
    X(gr_resource_send)                                                                            \
    X(gr_ring_receive)                                                                             \
    X(gr_ring_send)                                                                                \
    X(gr_share_set_interrupt)                                                                      \
    /* tensor.h */                                                                                 \
    X(gr_buffer_tensor)                                                                            \
    X(gr_dtype_get_info)                                                                           \
    X(gr_dtype_parse)                                                                              \
    X(gr_tensor_create)                                                                            \
    X(gr_tensor_array_interface)                                                                   \
    X(gr_tensor_clone)                                                                             \
    X(gr_tensor_collect)                                                                           \
    X(gr_tensor_copy)                                                                              \
    X(gr_tensor_copy_from_host)                                                                    \
    X(gr_tensor_copy_to_host)                                                                      \
    X(gr_tensor_to_dlpack)                                                                         \
    X(gr_tensor_free)                                                                              \
    X(gr_tensor_from_dlpack)                                                                       \
    X(gr_tensor_get_info)                                                                          \
    X(gr_tensor_used_on)                                                                           \
    X(gr_tensor_view)                                                                              \
    X(gr_tensor_wait)                                                                              \
    X(gr_tensor_from_memory)

#define COUNT_FUNCTION(function) +1
enum { FUNCTION_COUNT = 0 PUBLIC_FUNCTIONS(COUNT_FUNCTION) };

#ifdef __cplusplus
extern "C" {
#endif

/*
 * For headers_cxx.cc: cxx_functions() returns the functions as C++ sees them, and cxx_scope()
 * returns 1 if scopes work in C++.
 */
void cxx_functions(anything *functions);
int cxx_scope(void);

#ifdef __cplusplus
}
#endif
#endif
