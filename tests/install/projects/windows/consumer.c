/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A minimal program that finds the driver, or gets an error that explains why the driver is
 * missing.
 */
#include <stdio.h>
#include <string.h>

#include <grinterop/compat.h>
#include <grinterop/gl.h>
#include <grinterop/vk.h>

int main(void)
{
    gr_resource_free(gr_from_gl_buffer(1, GR_READ_WRITE));
    const gr_error *error = gr_last_error();
    /* No OpenGL context is current, but a missing driver is reported first. */
    int right = error->status == GR_ERR_GL ||
                (error->status == GR_ERR_NO_DRIVER && strstr(error->message, "nvcuda.dll"));
    printf("grinterop %s: %s: %s\n", gr_library_version(), gr_status_name(error->status),
           error->message);
    /* The resource is NULL, and a missing driver is reported first, too. */
    CUresult code = cuGraphicsUnregisterResource(NULL);
    right = right && (code == CUDA_ERROR_INVALID_HANDLE || code == CUDA_ERROR_NOT_INITIALIZED);
    right = right && gr_vk_format_get_info(VK_FORMAT_R8G8B8A8_UNORM);
    printf("%d%%: Checks: 1, Failures: %d, Errors: 0\n", right ? 100 : 0, !right);
    return !right;
}
