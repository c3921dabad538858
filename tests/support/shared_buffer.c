/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "shared_buffer.h"

#include <stdlib.h>
#include <string.h>

const char *shared_missing(void)
{
    static gr_error error;
    GR_AUTO(gr_resource) *resource = gr_create_gl_buffer(64, GR_READ_WRITE, &by_sharing);
    if (!resource && (error = *gr_last_error()).status == GR_ERR_UNSUPPORTED) {
        gr_clear_error();
        return error.message;
    }
    assert_made(resource);
    return NULL;
}

void shared_bytes_both_ways(gr_resource *resource, size_t size)
{
    GLuint name = gr_gl_name(resource);
    unsigned char *bytes = must_allocate(size);
    pattern_fill(bytes, size, 1);
    gl_write(name, bytes, size);
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    memset(bytes, 0, size);
    cuda_read(bytes, gr_buffer_ptr(buffer), size, fx.stream);
    assert_pattern(bytes, size, 1);
    kernel_fill_pattern(gr_buffer_ptr(buffer), size, 2, fx.stream);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, size, 2);
    free(bytes);
}
