/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A kernel paints an OpenGL texture, and OpenGL reads the texels back. */
#include <grinterop/egl.h>

#include "picture.h"

int main(void)
{
    static unsigned char bytes[4 * WIDTH * HEIGHT];
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");
    glBindTexture(GL_TEXTURE_2D, paint(gr_cuda_context_get_info(context)->stream));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    check_bytes(bytes, sizeof(bytes), painted);
    return 0;
}
