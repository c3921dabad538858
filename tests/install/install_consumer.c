/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A C and C++ program that uses an installed grinterop: CUDA fills an OpenGL buffer, and OpenGL
 * reads the buffer. check-install compiles the program against an installation and runs it.
 */
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>

static int failed(const char *what)
{
    gr_error error = *gr_last_error();
    printf("%s: %s: %s\n", what, gr_status_name(error.status), error.message);
    return 1;
}

static int fill_and_read(CUstream stream)
{
    unsigned char bytes[1000];
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, sizeof(bytes), NULL, GL_DYNAMIC_DRAW);
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(name, GR_WRITE_DISCARD);
    if (!resource)
        return failed("gr_from_gl_buffer");
    {
        GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
        if (!buffer)
            return failed("gr_map");
        if (gr_buffer_size(buffer) != sizeof(bytes) ||
            gr_cuda()->MemsetD8Async(gr_buffer_ptr(buffer), 42, sizeof(bytes), stream))
            return failed("cuMemsetD8Async");
    }
    memset(bytes, 0, sizeof(bytes));
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(bytes), bytes);
    for (size_t i = 0; i < sizeof(bytes); i++)
        if (bytes[i] != 42) {
            printf("byte %zu is %d, not 42\n", i, bytes[i]);
            return 1;
        }
    return 0;
}

int main(void)
{
    if (gr_cuda_load(true) != GR_OK)
        return failed("gr_cuda_load");
    gr_egl *egl = gr_egl_create(NULL);
    if (!egl)
        return failed("gr_egl_create");
    printf("grinterop %s, %s, %s\n", gr_library_version(), gr_cuda_driver_path(), egl->description);

    const gr_cuda_api *cuda = gr_cuda();
    CUcontext context = NULL;
    CUstream stream = NULL;
    if (cuda->DevicePrimaryCtxRetain(&context, 0) || cuda->CtxSetCurrent(context) ||
        cuda->StreamCreate(&stream, CU_STREAM_NON_BLOCKING))
        return failed("CUDA");
    int status = fill_and_read(stream);
    cuda->StreamDestroy(stream);
    cuda->DevicePrimaryCtxRelease(0);
    gr_egl_free(egl);
    return status;
}
