/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "mapping.h"

const struct kind *some_kind(int i)
{
    static const char *const names[SOME_KINDS] = {"interop buffer", "copied OpenGL buffer",
                                                  "shared OpenGL buffer by timelines",
                                                  "created Vulkan buffer"};
    return kind_named(names[i % SOME_KINDS]);
}

struct thing *some_thing(int i)
{
    return thing_make(some_kind(i), GR_READ_WRITE);
}

gr_tensor *must_tensor(gr_buffer *buffer)
{
    return must_make(gr_buffer_tensor(buffer, NULL));
}

gr_tensor *must_view(gr_tensor *tensor)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2,
                                  .shape = (const int64_t[]){16, 16}, .offset = 512);
    return must_make(gr_tensor_view(tensor, &desc));
}

gr_tensor *pinned_pattern(unsigned seed)
{
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_PINNED, 1, (const int64_t[]){SIZE});
    pattern_fill(gr_tensor_get_info(tensor)->data, SIZE, seed);
    return tensor;
}

void assert_revoked(gr_tensor *tensor)
{
    float value;
    const gr_tensor_info *info = must_make(gr_tensor_get_info(tensor));
    ck_assert(info->revoked);
    ck_assert_uint_eq(info->ptr, 0);
    assert_fails(gr_tensor_wait(tensor, fx.stream), GR_ERR_STATE, 0, "mapping has ended");
    assert_fails(gr_tensor_used_on(tensor, fx.stream), GR_ERR_STATE, 0, "mapping has ended");
    assert_fails(gr_tensor_copy_to_host(tensor, &value, 4, fx.stream), GR_ERR_STATE, 0, "ended");
    assert_null(gr_tensor_clone(tensor, GR_MEMORY_HOST, fx.stream), GR_ERR_STATE, 0, "ended");
    assert_null(gr_tensor_view(tensor, &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8)),
                GR_ERR_STATE, 0, "ended");
}
