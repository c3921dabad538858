/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "mapping.h"

#include <string.h>

#include "tests/support/support_image.h"

struct made make(int sort, unsigned flags)
{
    struct made m = {0};
    if (sort == INTEROP) {
        m.name = gl_buffer_filled(SIZE, 1);
        m.resource = must_register_as(m.name, flags);
    } else if (sort == VULKAN && !vk.missing) {
        m.resource = unordered(must_create(SIZE, flags));
        m.buffer = gr_vk_buffer(m.resource);
    } else if (sort != VULKAN) {
        m.resource = gr_create_gl_buffer(
            SIZE, flags,
            &GR_INIT(gr_gl_options,
                     .transports = sort == COPY ? GR_TRANSPORT_COPY : GR_TRANSPORT_SHARED));
        m.name = m.resource ? gr_gl_name(m.resource) : 0;
    }
    return m;
}

void assert_released_bytes(const struct made *m, int value)
{
    if (m->buffer)
        assert_vulkan_bytes(m->buffer, SIZE, value);
    else
        assert_gl_bytes(m->name, SIZE, value);
}

void assert_made_bytes(const struct made *m, int value)
{
    CU(CtxSynchronize());
    assert_released_bytes(m, value);
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

gr_tensor *pinned_filled(int value)
{
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_PINNED, 1, (const int64_t[]){SIZE});
    memset(gr_tensor_get_info(tensor)->data, value, SIZE);
    return tensor;
}

/* Drivers keep descriptors of the first image, and of the first context beside another one. */
static void use_images(void)
{
    struct image image = image_make("RGBA8", "2D", 4, 4, 1);
    gr_resource_free(must_register_image(&image, GR_READ_WRITE));
    gr_egl_free(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
}

TCase *add_sorts(Suite *suite, const char *name)
{
    return with_first_use(with_sharing(add_vulkan_case(suite, name)), use_images);
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
