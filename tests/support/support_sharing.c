/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * GR_TRANSPORT_SHARED outside of the cases: its first use, and freeing resources that a case closed
 * while a stream used them.
 */
#include "support.h"

void use_sharing(void)
{
    const gr_gl_image_desc info = GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1, 1);
    gr_resource_free(gr_create_gl_image(&info, GR_READ_WRITE, &by_sharing));
    collect_sharing();
}

void collect_sharing(void)
{
    CU(CtxSynchronize());
    gr_resource_free(gr_create_gl_buffer(64, GR_READ_WRITE, &by_sharing));
    gr_clear_error();
}

TCase *with_sharing(TCase *tcase)
{
    return with_fixture(with_first_use(tcase, use_sharing), NULL, collect_sharing);
}
