/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compares the map and release of OpenGL buffers and images with memcpy(). OpenGL runs on the CPU.
 */
#include <string.h>

#include <epoxy/gl.h>

#include "softcuda/bench/softcuda.h"

struct map_row {
    struct soft_bench *bench;
    size_t bytes;
    unsigned side; /* width and height of an image; 0 for a buffer */
    gr_resource *read, *write;
    unsigned char *to, *from;
};

static void by_memcpy(struct soft_bench *bench, void *data, unsigned times)
{
    const struct map_row *row = data;
    (void)bench;
    for (unsigned i = 0; i < times; i++) {
        memcpy(row->to, row->from, row->bytes);
        __asm__ volatile("" ::: "memory");
    }
}

static void map(struct soft_bench *bench, gr_resource *resource, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        gr_buffer *buffer;
        GR_NEW(buffer, map, resource, bench->on.stream);
        soft_wait(bench);
        GR(buffer_release, buffer);
    }
}

static void by_read(struct soft_bench *bench, void *data, unsigned times)
{
    map(bench, ((struct map_row *)data)->read, times);
}

static void by_write(struct soft_bench *bench, void *data, unsigned times)
{
    map(bench, ((struct map_row *)data)->write, times);
}

static void make_buffer(struct map_row *row)
{
    const unsigned name = bench_gl_buffer();
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)row->bytes, NULL, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    GR_KEEP(row->read, from_gl_buffer, name, GR_READ_ONLY);
    GR_KEEP(row->write, from_gl_buffer, name, GR_WRITE_DISCARD);
}

static void make_image(struct map_row *row)
{
    const unsigned name = bench_gl_texture();
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, (GLsizei)row->side, (GLsizei)row->side);
    glBindTexture(GL_TEXTURE_2D, 0);
    GR_KEEP(row->read, from_gl_image, name, GL_TEXTURE_2D, GR_READ_ONLY);
    GR_KEEP(row->write, from_gl_image, name, GL_TEXTURE_2D, GR_WRITE_DISCARD);
}

static void measure(void *of)
{
    static const struct soft_way ways[] = {
        {"memcpy", by_memcpy}, {"read_only", by_read}, {"write_discard", by_write}};
    struct map_row *row = of;
    char text[64];
    if (row->side)
        snprintf(text, sizeof(text), "image %u^2", row->side);
    else
        snprintf(text, sizeof(text), "buffer %zu KiB", row->bytes >> 10);
    (row->side ? make_image : make_buffer)(row);
    row->to = memset(bench_alloc(row->bytes), 1, row->bytes);
    row->from = memset(bench_alloc(row->bytes), 2, row->bytes);
    soft_measure(row->bench, text, ways, 3, row, (double)row->bytes / 1024);
}

/* Measures one size, and ends its objects. */
static void one_row(struct soft_bench *bench, size_t bytes, unsigned side)
{
    struct map_row row = {.bench = bench, .bytes = bytes, .side = side};
    if (!bench_scope(measure, &row))
        bench_give_up();
}

void soft_map_rows(struct soft_bench *bench)
{
    bench_open_gl(bench->on.ordinal);
    printf("\n  OpenGL   %s, %s\n", (const char *)glGetString(GL_RENDERER),
           (const char *)glGetString(GL_VERSION));
    for (size_t bytes = 64 << 10; bytes <= bench->most_bytes && bytes <= 64 << 20; bytes *= 4)
        one_row(bench, bytes, 0);
    for (unsigned side = 128; side <= 4096 && (size_t)4 * side * side <= bench->most_bytes;
         side *= 2)
        one_row(bench, (size_t)4 * side * side, side);
}
