/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compares the map and release of OpenGL buffers and images with memcpy(). OpenGL runs on the CPU.
 */
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "softcuda/bench/softcuda.h"

struct map_row {
    size_t bytes;
    unsigned side; /* width and height of an image; 0 for a buffer */
    unsigned name;
    gr_resource *read, *write;
    unsigned char *to, *from;
};

static bool by_memcpy(struct soft_bench *bench, void *data, unsigned times)
{
    const struct map_row *row = data;
    (void)bench;
    for (unsigned i = 0; i < times; i++) {
        memcpy(row->to, row->from, row->bytes);
        __asm__ volatile("" ::: "memory");
    }
    return true;
}

static bool map(struct soft_bench *bench, gr_resource *resource, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        gr_buffer *buffer = gr_map(resource, bench->on.stream);
        if (!buffer || !soft_wait(bench) || gr_buffer_release(buffer) != GR_OK)
            return bench_grinterop_failed("gr_map");
    }
    return true;
}

static bool by_read(struct soft_bench *bench, void *data, unsigned times)
{
    return map(bench, ((struct map_row *)data)->read, times);
}

static bool by_write(struct soft_bench *bench, void *data, unsigned times)
{
    return map(bench, ((struct map_row *)data)->write, times);
}

static unsigned make_buffer(size_t bytes)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)bytes, NULL, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    return name;
}

static unsigned make_image(unsigned side)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, (GLsizei)side, (GLsizei)side);
    glBindTexture(GL_TEXTURE_2D, 0);
    return name;
}

static gr_resource *take(const struct map_row *row, unsigned flags)
{
    return row->side ? gr_from_gl_image(row->name, GL_TEXTURE_2D, flags)
                     : gr_from_gl_buffer(row->name, flags);
}

static bool make(struct map_row *row)
{
    row->name = row->side ? make_image(row->side) : make_buffer(row->bytes);
    row->read = take(row, GR_READ_ONLY);
    row->write = take(row, GR_WRITE_DISCARD);
    row->to = malloc(row->bytes);
    row->from = malloc(row->bytes);
    if (!row->read || !row->write)
        return bench_grinterop_failed("gr_from_gl");
    if (!row->to || !row->from)
        return false;
    memset(row->to, 1, row->bytes);
    memset(row->from, 2, row->bytes);
    return true;
}

static void end(struct map_row *row)
{
    gr_resource_free(row->read);
    gr_resource_free(row->write);
    if (row->side)
        glDeleteTextures(1, &row->name);
    else
        glDeleteBuffers(1, &row->name);
    free(row->to);
    free(row->from);
}

static bool one_row(struct soft_bench *bench, struct map_row *row)
{
    static const struct soft_way ways[] = {
        {"memcpy", by_memcpy}, {"read_only", by_read}, {"write_discard", by_write}};
    struct soft_time times[MOST_WAYS];
    char text[64];
    if (row->side)
        snprintf(text, sizeof(text), "image %u^2", row->side);
    else
        snprintf(text, sizeof(text), "buffer %zu KiB", row->bytes >> 10);
    const bool good = make(row) && soft_measure(bench, ways, 3, row, times);
    end(row);
    if (good)
        soft_report(bench, text, ways, 3, times, (double)row->bytes / 1024);
    return good;
}

bool soft_map_rows(struct soft_bench *bench)
{
    if (!soft_open_opengl(bench))
        return false;
    printf("\n  OpenGL   %s, %s\n", (const char *)glGetString(GL_RENDERER),
           (const char *)glGetString(GL_VERSION));
    for (size_t bytes = 64 << 10; bytes <= bench->most_bytes && bytes <= 64 << 20; bytes *= 4)
        if (!one_row(bench, &(struct map_row){.bytes = bytes}))
            return false;
    for (unsigned side = 128; side <= 4096 && (size_t)4 * side * side <= bench->most_bytes;
         side *= 2)
        if (!one_row(bench, &(struct map_row){.bytes = (size_t)4 * side * side, .side = side}))
            return false;
    return true;
}
