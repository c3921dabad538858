/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates the measured objects: a headless OpenGL context on the CUDA device, a stream, and the
 * registered buffers.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include <epoxy/gl.h>

#include "bench/map/map.h"

static bool have_buffer_storage(void)
{
    if (epoxy_gl_version() >= 44 || epoxy_has_gl_extension("GL_ARB_buffer_storage"))
        return true;
    fputs("bench_map: glBufferStorage needs OpenGL 4.4\n", stderr);
    return false;
}

static unsigned make_buffer(void)
{
    GLuint name = 0;
    void *zeros = calloc(1, MAP_BYTES);
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferStorage(GL_COPY_WRITE_BUFFER, MAP_BYTES, zeros, 0);
    free(zeros);
    return name;
}

static bool open_buffers(struct map_bench *bench)
{
    if (!have_buffer_storage())
        return false;
    for (unsigned i = 0; i < MAP_RESOURCES; i++) {
        bench->names[i] = make_buffer();
        bench->resources[i] = gr_from_gl_buffer(bench->names[i], GR_WRITE_DISCARD);
        if (!bench->resources[i])
            return bench_grinterop_failed("gr_from_gl_buffer");
        bench->handles[i] = gr_resource_get_info(bench->resources[i])->graphics;
    }
    bench->spare = make_buffer();
    /* The last buffer stays bound as the target of the copies. */
    bench->sink = make_buffer();
    glGenProgramPipelines(1, &bench->pipeline);
    glBindProgramPipeline(bench->pipeline);
    GLenum error = glGetError();
    if (error != GL_NO_ERROR) {
        fprintf(stderr, "bench_map: OpenGL error 0x%x while making %d buffers of %d bytes\n", error,
                MAP_RESOURCES + 2, MAP_BYTES);
        return false;
    }
    return true;
}

bool map_open(struct map_bench *bench)
{
    bench->cuda = gr_cuda();
    return bench_device_open_gl(&bench->on) && open_buffers(bench);
}

void map_close(struct map_bench *bench)
{
    for (unsigned i = 0; i < MAP_RESOURCES; i++)
        gr_resource_free(bench->resources[i]);
    if (bench->on.egl) {
        glDeleteBuffers(MAP_RESOURCES, bench->names);
        glDeleteBuffers(1, &bench->spare);
        glDeleteBuffers(1, &bench->sink);
        glDeleteProgramPipelines(1, &bench->pipeline);
    }
    bench_device_close(&bench->on);
}

bool map_check_work(struct map_bench *bench)
{
    float words[2] = {0, 0};
    GLintptr last = MAP_BYTES - 4;
    if (!map_drain(bench))
        return false;
    glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, 4, &words[0]);
    glGetBufferSubData(GL_COPY_WRITE_BUFFER, last, 4, &words[1]);
    GLenum error = glGetError();
    if (error == GL_NO_ERROR && words[0] == 1 && words[1] == 1)
        return true;
    fprintf(stderr,
            "bench_map: OpenGL copied %g and %g instead of the 1 that CUDA wrote (OpenGL error "
            "0x%x), so the frames are invalid; no results are shown\n",
            words[0], words[1], error);
    return false;
}
