/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a program does: it finds the driver, or is told why there is none. */
#include <stdio.h>
#include <string.h>

#include <grinterop/gl.h>

int main(void)
{
    gr_resource_free(gr_from_gl_buffer(1, GR_READ_WRITE));
    const gr_error *error = gr_last_error();
    /* Without an OpenGL context; where there is no driver that is said first. */
    int right = error->status == GR_ERR_GL ||
                (error->status == GR_ERR_NO_DRIVER && strstr(error->message, "nvcuda.dll"));
    printf("grinterop %s: %s: %s\n", gr_library_version(), gr_status_name(error->status),
           error->message);
    printf("%d%%: Checks: 1, Failures: %d, Errors: 0\n", right ? 100 : 0, !right);
    return !right;
}
