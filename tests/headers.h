/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the header test have in common. */
#ifndef GR_TESTS_HEADERS_H
#define GR_TESTS_HEADERS_H

typedef void (*anything)(void);

/* Every function that the public headers declare. */
#define PUBLIC_FUNCTIONS(X)                                                                        \
    X(gr_buffer_at_scope_end)                                                                      \
    X(gr_buffer_ptr)                                                                               \
    X(gr_buffer_release)                                                                           \
    X(gr_buffer_release_many)                                                                      \
    X(gr_buffer_release_on)                                                                        \
    X(gr_buffer_size)                                                                              \
    X(gr_buffer_stream)                                                                            \
    X(gr_clear_error)                                                                              \
    X(gr_resource_close)                                                                           \
    X(gr_cuda)                                                                                     \
    X(gr_cuda_driver_path)                                                                         \
    X(gr_cuda_is_software)                                                                         \
    X(gr_cuda_load)                                                                                \
    X(gr_cuda_symbol)                                                                              \
    X(gr_egl_at_scope_end)                                                                         \
    X(gr_egl_config)                                                                               \
    X(gr_egl_context)                                                                              \
    X(gr_egl_create)                                                                               \
    X(gr_egl_describe)                                                                             \
    X(gr_egl_display)                                                                              \
    X(gr_egl_free)                                                                                 \
    X(gr_egl_make_current)                                                                         \
    X(gr_flags_parse)                                                                              \
    X(gr_from_gl_buffer)                                                                           \
    X(gr_handle)                                                                                   \
    X(gr_resource_is_closed)                                                                       \
    X(gr_resource_is_mapped)                                                                       \
    X(gr_last_error)                                                                               \
    X(gr_log_set)                                                                                  \
    X(gr_map)                                                                                      \
    X(gr_map_gl_buffer)                                                                            \
    X(gr_map_many)                                                                                 \
    X(gr_resource_at_scope_end)                                                                    \
    X(gr_resource_describe)                                                                        \
    X(gr_resource_free)                                                                            \
    X(gr_status_name)                                                                              \
    X(gr_status_text)                                                                              \
    X(gr_resource_unmap)                                                                           \
    X(gr_library_version)

#define COUNT_FUNCTION(function) +1
enum { FUNCTION_COUNT = 0 PUBLIC_FUNCTIONS(COUNT_FUNCTION) };

#ifdef __cplusplus
extern "C" {
#endif

/* headers_cxx.cc: the functions as C++ knows them, and 1 if scopes end well there. */
void cxx_functions(anything *functions);
int cxx_scope(void);

#ifdef __cplusplus
}
#endif
#endif
