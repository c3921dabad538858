/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_vulkan: measures import, map and release, and round trips between CUDA and Vulkan, with
 * driver calls and with the library, side by side in one run.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_json.h"
#include "bench/vulkan/vulkan.h"
#include "tools/options.h"

const char bench_program[] = "bench_vulkan";

enum { BYTES = 65536, QUICK_FULL_BYTES = 1 << 18 };

static struct options {
    struct vkb bench;
    struct vkb_table table;
    struct vkb_effort effort;
    bool quick, probe;
    const char *only;
} o = {.effort =
           {.blocks = 601, .room_seconds = 2, .full_blocks = 11, .block_ms = 20, .in_flight = 64},
       .only = ""};

/* ---- Options --------------------------------------------------------------------------------- */

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    o.effort = (struct vkb_effort){
        .blocks = 31, .room_seconds = 0.2, .full_blocks = 3, .block_ms = 2, .in_flight = 16};
    return o.quick = true;
}

static const struct option_row rows[] = {
    BENCH_OPTION_DEVICE(&o.bench.on.ordinal),
    {"only", 0, "TEXT", "only rows whose key begins with TEXT, for example transfer or both/",
     .text = &o.only},
    {"quick", 0, NULL,
     "31 drained blocks, 3 full ones of 2 ms, 16 frames in flight, large fills of 256 KiB",
     .own = {be_quick, NULL}},
    {"probe", 0, NULL,
     "instead measure the parts of a submit on each queue, by raw calls and with a thread that "
     "only submits; --only transfer selects one queue",
     .flag = &o.probe},
    BENCH_OPTION_JSON,
    {0},
};

/* ---- The run --------------------------------------------------------------------------------- */

static void describe_vulkan(const struct vkb *bench, char *text, size_t size)
{
    const gr_vk_headless_info *h = bench->handles;
    PFN_vkGetPhysicalDeviceProperties2 get =
        (PFN_vkGetPhysicalDeviceProperties2)h->get_instance_proc_addr(
            h->instance, "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    get(h->physical_device, &properties);
    uint32_t version = properties.properties.apiVersion;
    snprintf(text, size, "%s, %s %s, Vulkan %u.%u.%u", properties.properties.deviceName,
             driver.driverName, driver.driverInfo, VK_API_VERSION_MAJOR(version),
             VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
}

static void print_queues(const struct vkb *bench)
{
    static const char *const NAMES[VKB_QUEUES] = {"graphics", "compute", "transfer"};
    printf("  queues  ");
    for (unsigned q = 0; q < VKB_QUEUES; q++)
        if (bench->queues[q] != VK_NULL_HANDLE)
            printf(" %s (family %u)%s", NAMES[q], bench->families[q],
                   q + 1 < VKB_QUEUES ? "," : "");
        else
            printf(" %s: not available, its rows are left out%s", NAMES[q],
                   q + 1 < VKB_QUEUES ? "," : "");
    printf("\n");
}

static void print_facts(void)
{
    const struct vkb *bench = &o.bench;
    print_queues(bench);
    printf("  points   timeline semaphores, %s on both sides\n",
           bench->through_host
               ? "through the host (cuLaunchHostFunc, vkWaitSemaphores, vkSignalSemaphore)"
               : "exported by Vulkan and imported into CUDA");
    if (!bench->through_host)
        printf("  signals  %s\n", bench->batch_mem_op ? "after a memory barrier on both sides"
                                                      : "without a memory barrier by raw calls");
    printf("  buffers  %d bytes each; CUDA fills the first half, Vulkan copies it to the second\n",
           BYTES);
    if (!o.probe)
        printf("  blocks   of each side, alternating (A B B A): drained, up to %u or %g s a row; "
               "with the queues full, %u of about %g ms\n",
               o.effort.blocks, o.effort.room_seconds, o.effort.full_blocks, o.effort.block_ms);
}

/*
 * The size of a buffer for large fills. 64 buffers of that size are little memory for a GPU, but a
 * lot for a test machine.
 */
static size_t full_bytes(void)
{
    if (o.quick)
        return QUICK_FULL_BYTES;
    return gr_cuda_is_software() ? 1 << 20 : 1 << 26;
}

/* Chooses the size of the buffers for the row, and how many bytes of each buffer CUDA fills. */
static bool choose_bytes(struct vkb *bench, const struct vkb_kind *kind)
{
    const size_t small = 4096;
    bool full = kind->part == VKB_FULL_BOTH;
    if (!vkb_resize(bench, full ? bench->full_bytes : bench->usual_bytes))
        return false;
    bench->fill = full ? bench->bytes : bench->bytes / 2;
    if (kind->part == VKB_SMALL_BOTH && bench->fill > small)
        bench->fill = small;
    return true;
}

static bool measure_all(void)
{
    struct vkb *bench = &o.bench;
    for (size_t i = 0; i < vkb_kind_count; i++) {
        const struct vkb_kind *kind = &vkb_kinds[i];
        if (strncmp(kind->key, o.only, strlen(o.only)) != 0 || !vkb_can_run(bench, kind))
            continue;
        if (!choose_bytes(bench, kind) ||
            !vkb_measure(bench, kind, &o.effort, &o.table.rows[o.table.count])) {
            fprintf(stderr, "bench_vulkan: row %s could not be measured\n", kind->key);
            return false;
        }
        o.table.count++;
    }
    return true;
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open(void)
{
    if (o.probe && bench_json_path) {
        fputs("bench_vulkan: --probe only prints: it writes no JSON\n", stderr);
        exit(2);
    }
    o.bench.bytes = o.bench.usual_bytes = BYTES;
    if (!vkb_open(&o.bench))
        return false;
    o.bench.full_bytes = full_bytes();
    vkb_try_barriers(&o.bench);
    return true;
}

static void close(void)
{
    vkb_close(&o.bench);
}

static void add_facts(struct bench_machine *machine)
{
    char text[1024];
    describe_vulkan(&o.bench, text, sizeof(text));
    bench_add_fact(machine, "Vulkan", "vulkan", "%s", text);
    bench_add_fact(machine, "sharing", "sharing", "%s",
                   gr_vk_device_get_info(o.bench.wrap)->description);
}

static bool measure(void)
{
    const bool good = o.probe ? vkb_probe(&o.bench, o.only, o.quick) : measure_all();
    vkb_print(&o.table);
    if (!good) {
        fflush(stdout);
        /* Pending work may never end, and closing the objects would wait for it. */
        _Exit(EXIT_FAILURE);
    }
    return true;
}

static void write_json(struct json *json)
{
    vkb_write_json(json, &o.effort, &o.bench, &o.table);
}

const struct bench_setup bench_setup = {
    .title = "Vulkan memory by raw CUDA driver calls, side by side with",
    .about = "Measures, with raw CUDA driver calls and with grinterop, alternating: "
             "import and destruction of Vulkan memory; map and release with timeline "
             "semaphores; round trips between CUDA and each kind of queue, with one "
             "resource in order and with several in turn.",
    .options = rows,
    .steps = {open, add_facts, print_facts, measure, write_json, NULL, NULL, close}};
