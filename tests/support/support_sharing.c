/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL's shared transport outside of the cases: its first use, and freeing what cases leave set
 * aside.
 */
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "support.h"

void warm_up_sharing(void)
{
    static bool done;
    const gr_gl_options by_sharing = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    const gr_gl_image_desc info = GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1, 1);
    CUcontext context = NULL;
    if (done)
        return;
    done = true;
    ck_assert_int_eq(gr_cuda_load(true), GR_OK);
    const gr_cuda_api *cu = gr_cuda();
    gr_egl *egl = gr_egl_create(NULL);
    ck_assert_ptr_nonnull(egl);
    ck_assert_int_eq(cu->DevicePrimaryCtxRetain(&context, fixture_cuda_device()), CUDA_SUCCESS);
    ck_assert_int_eq(cu->CtxSetCurrent(context), CUDA_SUCCESS);
    gr_resource_free(gr_gl_buffer_create(64, GR_READ_WRITE, &by_sharing));
    gr_resource_free(gr_gl_image_create(&info, GR_READ_WRITE, &by_sharing));
    gr_clear_error();
    gr_egl_free(egl);
    cu->CtxSetCurrent(NULL);
    cu->DevicePrimaryCtxRelease(fixture_cuda_device());
}

void collect_sharing(void)
{
    CU(CtxSynchronize());
    gr_resource_free(gr_gl_buffer_create(
        64, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED)));
    gr_clear_error();
}

TCase *with_sharing(TCase *tcase)
{
    tcase_add_unchecked_fixture(tcase, warm_up_sharing, NULL);
    return with_fixture(tcase, NULL, collect_sharing);
}
