/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates thousands of resources of one kind and size, maps and releases all in one call, and frees
 * them. Without Vulkan its rows have a reason instead of times.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/vk.h>

#include "bench/map/map.h"

enum { ROUNDS = 9 };

static struct {
    gr_vk_headless *headless;
    gr_vk_device *device;
    gr_resource **resources;
    gr_buffer **buffers;
    unsigned count;
} many;

static gr_resource *make(const char *kind, size_t size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    const bool packed = strcmp(kind, "packed") == 0;
    const gr_gl_options options =
        GR_INIT(gr_gl_options,
                .transports = strcmp(kind, "interop") == 0 ? GR_TRANSPORT_INTEROP
                              : strcmp(kind, "copy") == 0  ? GR_TRANSPORT_COPY
                                                           : GR_TRANSPORT_SHARED,
                .packed = packed);
    return many.device ? gr_create_vk_buffer(many.device, &info, GR_WRITE_DISCARD)
                       : gr_create_gl_buffer(size, GR_WRITE_DISCARD, &options);
}

static bool open_vulkan(void)
{
    many.headless = gr_vk_headless_create(
        &GR_INIT(gr_vk_headless_options, .cuda_device = map_bench.on.ordinal));
    const gr_vk_headless_info *h = many.headless ? gr_vk_headless_get_info(many.headless) : NULL;
    many.device = !h ? NULL
                     : gr_vk_device_from_vk(&GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr,
                                                     h->instance, h->physical_device, h->device,
                                                     h->graphics, h->graphics_family));
    return many.device;
}

static double free_memory(void)
{
    size_t left = 0, total = 0;
    map_drain(&map_bench);
    bench_cuda_ok(map_bench.cuda->MemGetInfo(&left, &total), "cuMemGetInfo");
    return (double)left;
}

/*
 * Creates the resources until the time limit, or until they would fill half of the device memory:
 * shared resources take 2 MiB each. The first one is not timed, since it opens objects that the
 * others share. False if there are too few.
 */
static bool make_all(const char *kind, size_t size, struct bench_result *result)
{
    const double before = free_memory(), most = before / 2 / (2 << 20);
    double start = bench_now_us();
    while (many.count < map_bench.effort.many && many.count < most &&
           bench_now_us() - start < map_bench.effort.fill_seconds * 2e6 &&
           (many.resources[many.count] = make(kind, size)))
        if (many.count++ == 0)
            start = bench_now_us();
    if (many.count < 2) {
        snprintf(result->note, sizeof(result->note), "%s", gr_last_error()->message);
        return result->measured = false;
    }
    bench_set_number(result, "create_us", (bench_now_us() - start) / (many.count - 1));
    bench_set_number(result, "device_bytes", (before - free_memory()) / many.count);
    return true;
}

static bool map_all(struct bench_result *result)
{
    double maps[ROUNDS], releases[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        const double begin = bench_now_us();
        if (gr_map_many(many.resources, many.count, map_bench.on.stream, NULL, many.buffers) !=
            GR_OK)
            return bench_grinterop_failed("gr_map_many");
        const double mapped = bench_now_us();
        if (gr_buffer_release_many(many.buffers, many.count, GR_STREAM_OF_MAP, NULL) != GR_OK)
            return bench_grinterop_failed("gr_buffer_release_many");
        const double released = bench_now_us();
        if (!map_drain(&map_bench))
            return false;
        maps[round < 0 ? 0 : round] = (mapped - begin) / many.count;
        releases[round < 0 ? 0 : round] = (released - mapped) / many.count;
    }
    bench_set(result, "map_us", bench_spread_of(maps, ROUNDS));
    bench_set(result, "release_us", bench_spread_of(releases, ROUNDS));
    return true;
}

static void free_all(struct bench_result *result)
{
    const double start = bench_now_us();
    const unsigned count = many.count;
    while (many.count > 0)
        gr_resource_free(many.resources[--many.count]);
    map_drain(&map_bench);
    if (result->measured)
        bench_set_number(result, "free_us", (bench_now_us() - start) / count);
}

static bool measure(const struct bench_row *row, const char *kind, size_t bytes)
{
    char name[64];
    snprintf(name, sizeof(name), "%s/%zu", row->name, bytes >> 10);
    struct bench_result *result = bench_add_as(row, name, row->part, "");
    snprintf(result->what, sizeof(result->what), "buffers of %zu KiB", bytes >> 10);
    const bool made = make_all(kind, bytes, result);
    if (made)
        snprintf(result->note, sizeof(result->note), "%u buffers", many.count);
    const bool good = !made || map_all(result);
    free_all(result);
    return good;
}

bool map_many(const struct bench_row *row, size_t size)
{
    const char *kind = strrchr(row->name, '/') + 1;
    const unsigned count = map_bench.effort.many;
    many.resources = calloc(count, sizeof(*many.resources));
    many.buffers = calloc(count, sizeof(*many.buffers));
    bool good = many.resources && many.buffers;
    (void)size;
    if (good && strcmp(kind, "vulkan") == 0 && !open_vulkan()) {
        struct bench_result *result = bench_add(row, "");
        result->measured = false;
        snprintf(result->note, sizeof(result->note), "%s", gr_last_error()->message);
    } else if (good) {
        for (size_t bytes = 1 << 10; good && bytes <= 1 << 20; bytes <<= bytes > 1 << 10 ? 4 : 6)
            good = measure(row, kind, bytes);
    }
    gr_vk_device_free(many.device);
    gr_vk_headless_free(many.headless);
    free(many.resources);
    free(many.buffers);
    memset(&many, 0, sizeof(many));
    return good;
}
