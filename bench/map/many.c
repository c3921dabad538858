/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates thousands of resources of one kind and size, maps and releases all in one call, and frees
 * them. Without Vulkan its rows have a reason instead of times.
 */
#define _GNU_SOURCE
#include <string.h>

#include "bench/bench_vk.h"
#include "bench/map/map.h"

static struct {
    gr_vk_device *device; /* NULL: OpenGL */
    gr_resource **resources;
    gr_buffer **buffers;
    unsigned count;
} many;

static gr_resource *make(const struct map_kind *kind, size_t size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = kind->transport, .packed = kind->packed);
    return many.device ? gr_create_vk_buffer(many.device, &info, GR_WRITE_DISCARD)
                       : gr_create_gl_buffer(size, GR_WRITE_DISCARD, &options);
}

static void open_vulkan(void *none)
{
    (void)none;
    bench_at_end(bench_vk_close);
    bench_vk_open(map.on.ordinal);
    many.device = bench_vk_wrap(&bench_vk.queues[BENCH_GRAPHICS], 0, false);
}

static double free_memory(void)
{
    size_t left, total;
    map_drain();
    CU(MemGetInfo, &left, &total);
    return (double)left;
}

/*
 * Creates the resources until the time limit, or until they would fill half of the device memory:
 * shared resources take 2 MiB each. The first one is not timed, since it opens objects that the
 * others share. False if there are too few.
 */
static bool make_all(const struct map_kind *kind, size_t size, struct bench_result *result)
{
    const double before = free_memory(), most = before / 2 / (2 << 20);
    double start = bench_now_us();
    while (many.count < map.effort.many && many.count < most &&
           bench_now_us() - start < map.effort.fill_seconds * 2e6 &&
           (many.resources[many.count] = make(kind, size)))
        if (many.count++ == 0)
            start = bench_now_us();
    if (many.count < 2) {
        bench_not_measured(result, gr_last_error()->message);
        return false;
    }
    bench_set_number(result, "create_us", (bench_now_us() - start) / (many.count - 1));
    bench_set_number(result, "device_bytes", (before - free_memory()) / many.count);
    snprintf(result->note, sizeof(result->note), "%u buffers", many.count);
    return true;
}

static void map_all(double *us)
{
    const double begin = bench_now_us();
    GR(map_many, many.resources, many.count, map.on.stream, NULL, many.buffers);
    const double mapped = bench_now_us();
    GR(buffer_release_many, many.buffers, many.count, GR_STREAM_OF_MAP, NULL);
    us[0] = (mapped - begin) / many.count;
    us[1] = (bench_now_us() - mapped) / many.count;
    map_drain();
}

static void free_all(void)
{
    while (many.count > 0)
        gr_resource_free(many.resources[--many.count]);
    map_drain();
}

static void measure(const struct map_kind *kind, size_t bytes)
{
    const struct bench_row *row = &kind->row;
    char name[64];
    struct bench_spread us[2];
    snprintf(name, sizeof(name), "%s/%zu", row->name, bytes >> 10);
    struct bench_result *result = bench_add_as(row, name, row->part, "");
    snprintf(result->what, sizeof(result->what), "buffers of %zu KiB", bytes >> 10);
    const bool made = make_all(kind, bytes, result);
    if (made) {
        bench_measure(&(struct bench_blocks){name, 1, 9, INFINITY, 2, map_all}, us);
        bench_set(result, "map_us", us[0]);
        bench_set(result, "release_us", us[1]);
    }
    const double start = bench_now_us();
    const unsigned count = many.count;
    free_all();
    if (made)
        bench_set_number(result, "free_us", (bench_now_us() - start) / count);
}

void map_many(const void *of)
{
    const struct map_kind *kind = of;
    memset(&many, 0, sizeof(many));
    many.resources = bench_alloc(map.effort.many * sizeof(*many.resources));
    many.buffers = bench_alloc(map.effort.many * sizeof(*many.buffers));
    if (!kind->transport && !bench_try(open_vulkan, NULL)) {
        bench_not_measured(bench_add(&kind->row, ""), bench_last_error());
        return;
    }
    bench_at_end(free_all); /* after an error */
    for (size_t bytes = 1 << 10; bytes <= 1 << 20; bytes <<= bytes > 1 << 10 ? 4 : 6)
        measure(kind, bytes);
}
