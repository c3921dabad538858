/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_vulkan: what import, map and release, and round trips between CUDA and Vulkan cost, by the
 * drivers' own calls and by the library, measured side by side in one run.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/vulkan/vulkan.h"

const char bench_program[] = "bench_vulkan";

static const char HELP[] =
    "Usage: bench_vulkan [OPTION]...\n"
    "Measures, by raw calls of the CUDA driver and by grinterop in turn: import and destroy of "
    "Vulkan's\n"
    "memory; map and release with timeline semaphores; round trips between CUDA and each kind of\n"
    "queue, with one resource in order and with several in turn.\n"
    "\n"
    "  --device N            the CUDA device to use, as CUDA counts (0)\n"
    "  --blocks N            drained blocks of each side in a row, at most (601)\n"
    "  --room-seconds S      after which a row of drained blocks ends early (2)\n"
    "  --full-blocks N       blocks of each side in a row with the queues full (11)\n"
    "  --block-ms T          how long such a block lasts, roughly, in milliseconds (20)\n"
    "  --in-flight N         frames that the thread is ahead of the GPU there (64)\n"
    "  --bytes N             size of each buffer, a multiple of 8 (65536)\n"
    "  --full-bytes N        size where CUDA's fills are to keep the queues full (67108864;\n"
    "                        1048576 on the software driver)\n"
    "  --only TEXT           only the rows whose key begins with it, for example transfer or "
    "both/\n"
    "  --quick               31 drained blocks, 3 full ones of 2 ms, 16 frames in flight, large\n"
    "                        fills of 256 KiB\n"
    "  --probe               instead: what parts of a submit cost on each queue, by raw calls, "
    "and\n"
    "                        with a thread that does nothing but submit; --only transfer for "
    "one queue\n"
    "  --bare-signals        raw calls signal without the memory barrier that grinterop puts "
    "before a\n"
    "                        signal, and that a program with small fills needs as well\n"
    "  --json FILE           also write the numbers as JSON\n"
    "  --help                this text\n"
    "\n"
    "GR_CUDA_DRIVER=soft measures the software CUDA driver: a test of this program, nothing "
    "more.\n";

struct options {
    int ordinal;
    size_t bytes, full_bytes;
    struct vkb_effort effort;
    bool quick, probe, bare_signals;
    const char *only, *json;
};

/* ---- Options --------------------------------------------------------------------------------- */

static double real_number(const char *option, const char *text)
{
    return bench_real_number(option, text, 0, 3600, "a number from 0 to 3600");
}

static const struct vkb_effort USUAL_EFFORT = {
    .blocks = 601, .room_seconds = 2, .full_blocks = 11, .block_ms = 20, .in_flight = 64};
static const struct vkb_effort QUICK_EFFORT = {
    .blocks = 31, .room_seconds = 0.2, .full_blocks = 3, .block_ms = 2, .in_flight = 16};

static void take_option(struct options *o, int c)
{
    if (c == 'd')
        o->ordinal = (int)bench_whole_number("device", optarg, 0, 1000);
    else if (c == 'b')
        o->effort.blocks = (unsigned)bench_whole_number("blocks", optarg, 2, 10000);
    else if (c == 'r')
        o->effort.room_seconds = real_number("room-seconds", optarg);
    else if (c == 'F')
        o->effort.full_blocks = (unsigned)bench_whole_number("full-blocks", optarg, 2, 10000);
    else if (c == 't')
        o->effort.block_ms = real_number("block-ms", optarg);
    else if (c == 'i')
        o->effort.in_flight =
            (unsigned)bench_whole_number("in-flight", optarg, 4, VKB_MOST_IN_FLIGHT);
    else if (c == 's')
        o->bytes = bench_whole_number("bytes", optarg, 8, 1ul << 30) / 8 * 8;
    else if (c == 'S')
        o->full_bytes = bench_whole_number("full-bytes", optarg, 8, 1ul << 30) / 8 * 8;
    else if (c == 'o')
        o->only = optarg;
    else if (c == 'q')
        o->effort = QUICK_EFFORT, o->full_bytes = 1 << 18, o->quick = true;
    else if (c == 'p')
        o->probe = true;
    else if (c == 'B')
        o->bare_signals = true;
    else if (c == 'j')
        o->json = optarg;
    else if (c == 'h')
        fputs(HELP, stdout), exit(0);
    else
        exit(2);
}

static struct options read_options(int argc, char *argv[])
{
    static const struct option LONG[] = {
        {"device", 1, NULL, 'd'},
        {"blocks", 1, NULL, 'b'},
        {"room-seconds", 1, NULL, 'r'},
        {"bytes", 1, NULL, 's'},
        {"full-blocks", 1, NULL, 'F'},
        {"block-ms", 1, NULL, 't'},
        {"only", 1, NULL, 'o'},
        {"in-flight", 1, NULL, 'i'},
        {"quick", 0, NULL, 'q'},
        {"json", 1, NULL, 'j'},
        {"full-bytes", 1, NULL, 'S'},
        {"probe", 0, NULL, 'p'},
        {"bare-signals", 0, NULL, 'B'},
        {"help", 0, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.bytes = 65536, .effort = USUAL_EFFORT, .only = ""};
    for (int c; (c = getopt_long(argc, argv, "h", LONG, NULL)) != -1;)
        take_option(&o, c);
    bench_end_options(argc, argv);
    if (o.probe && o.json) {
        fputs("bench_vulkan: --probe prints only: it writes no JSON\n", stderr);
        exit(2);
    }
    o.effort.progress = isatty(STDERR_FILENO) != 0;
    return o;
}

/* ---- The run --------------------------------------------------------------------------------- */

static void describe_vulkan(const struct vkb *bench, char *text, size_t size)
{
    const gr_vk_headless_handles *h = bench->handles;
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

static void gather_facts(const struct vkb *bench, struct vkb_facts *facts)
{
    bench_describe_machine(bench->cuda, bench->device, &facts->machine);
    describe_vulkan(bench, facts->vulkan, sizeof(facts->vulkan));
    gr_vk_device_describe(bench->wrap, facts->sharing, sizeof(facts->sharing));
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
            printf(" %s: none, its rows are left out%s", NAMES[q], q + 1 < VKB_QUEUES ? "," : "");
    printf("\n");
}

static void print_facts(const struct vkb_facts *facts, const struct vkb *bench,
                        const struct options *o)
{
    printf(
        "bench_vulkan: raw CUDA driver calls and grinterop %s on Vulkan's memory, side by side\n",
        gr_library_version());
    if (facts->machine.software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU or about grinterop on "
               "one.\n");
    printf("  driver   %s\n  device   %s\n  Vulkan   %s\n  sharing  %s\n  date     %s\n",
           facts->machine.driver, facts->machine.device, facts->vulkan, facts->sharing,
           facts->machine.date);
    print_queues(bench);
    printf("  points   timeline semaphores, %s on both sides\n",
           bench->through_host
               ? "through the host (cuLaunchHostFunc, vkWaitSemaphores, vkSignalSemaphore)"
               : "exported by Vulkan and imported into CUDA");
    if (!bench->through_host)
        printf("  signals  %s\n", bench->batch_mem_op ? "after a memory barrier on both sides"
                                                      : "without a memory barrier by raw calls");
    printf("  buffers  %zu bytes each; CUDA fills the first half, Vulkan copies it to the second\n",
           o->bytes);
    if (o->probe)
        return;
    printf("  blocks   of each side, in turn (A B B A): drained, up to %u or %g s a row; with the "
           "queues full, %u of about %g ms\n",
           o->effort.blocks, o->effort.room_seconds, o->effort.full_blocks, o->effort.block_ms);
    fflush(stdout);
}

/* Of a GPU's memory 64 buffers of that size are little, of a machine's for tests they are much. */
static size_t full_bytes(const struct options *o)
{
    if (o->full_bytes != 0)
        return o->full_bytes;
    return gr_cuda_is_software() ? 1 << 20 : 1 << 26;
}

/* Buffers as the row needs them, and how much of each CUDA fills. */
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

static bool measure_all(struct vkb *bench, const struct options *o, struct vkb_table *table)
{
    for (size_t i = 0; i < vkb_kind_count; i++) {
        const struct vkb_kind *kind = &vkb_kinds[i];
        if (strncmp(kind->key, o->only, strlen(o->only)) != 0 || !vkb_can_run(bench, kind))
            continue;
        if (!choose_bytes(bench, kind) ||
            !vkb_measure(bench, kind, &o->effort, &table->rows[table->count])) {
            fprintf(stderr, "bench_vulkan: row %s could not be measured\n", kind->key);
            return false;
        }
        table->count++;
    }
    return true;
}

int main(int argc, char *argv[])
{
    struct options o = read_options(argc, argv);
    static struct vkb bench;
    static struct vkb_table table;
    struct vkb_facts facts = {0};
    bench.ordinal = o.ordinal;
    bench.bytes = bench.usual_bytes = o.bytes;
    bool good = vkb_open(&bench);
    if (good) {
        bench.full_bytes = full_bytes(&o);
        if (!o.bare_signals)
            vkb_try_barriers(&bench);
        gather_facts(&bench, &facts);
        print_facts(&facts, &bench, &o);
        good = o.probe ? vkb_probe(&bench, o.only, o.quick) : measure_all(&bench, &o, &table);
        vkb_print(&table);
        if (!good)
            _Exit(EXIT_FAILURE); /* what is pending may never end, and closing would wait for it */
        if (o.json)
            good = vkb_write_json(o.json, &facts, &o.effort, &bench, &table) && good;
    }
    vkb_close(&bench);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
