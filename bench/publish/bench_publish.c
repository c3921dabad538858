/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_publish: what it costs to publish tensors to textures of RGBA8, beside the bandwidth of the
 * driver's copy to such a texture and beside glTexSubImage2D() from memory of the host.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include "bench/bench_json.h"
#include "bench/publish/publish.h"
#include "tools/options.h"

const char bench_program[] = "bench_publish";

#define MOST_ROWS 16

struct options {
    struct publish_effort effort;
    struct publish_bench bench;
    const char *json;
};

static bool be_quick(const char *text, void *into)
{
    struct options *o = into;
    (void)text;
    o->effort.blocks = 3;
    o->effort.frames = 4;
    o->bench.mebibytes = 16;
    return true;
}

static void read_options(int argc, char *argv[], struct options *o)
{
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device to use, as CUDA counts",
         .whole = {&o->bench.on.ordinal, 0, 1000}},
        {"blocks", 0, "N", "blocks of a row", .count = {&o->effort.blocks, 1, 1000}},
        {"frames", 0, "N", "pictures in a block, at least", .count = {&o->effort.frames, 1, 500}},
        {"mebibytes", 0, "N", "tensors and textures in turn: more than the GPU's caches hold",
         .count = {&o->bench.mebibytes, 1, 2000}},
        {"plain", 0, NULL, "textures without GR_SURFACE_LOAD_STORE", .flag = &o->bench.plain},
        {"quick", 0, NULL, "3 blocks of few pictures", .own = {be_quick, o}},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &o->json},
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "Measures gr_publish() of tensors to OpenGL's textures, beside the driver's copy "
                 "to a texture and glTexSubImage2D().",
                 BENCH_NOTES);
    o->effort.progress = isatty(STDERR_FILENO) != 0;
}

/* ---- The table ------------------------------------------------------------------------------- */

static double gigabytes_a_second(size_t bytes, double us)
{
    return (double)bytes / us / 1e3;
}

/* Of what the copy reads and writes in the same time. */
static double percent_of_copy(const struct publish_row *row)
{
    const size_t copied = (size_t)row->size.width * row->size.height * 8;
    return 100 * gigabytes_a_second(row->bytes, row->gpu.median) /
           gigabytes_a_second(copied, row->copy.median);
}

static void print_head(const struct options *o, const struct bench_machine *machine)
{
    printf("bench_publish: grinterop %s\n", gr_library_version());
    if (machine->software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.\n");
    printf("  driver   %s\n  device   %s\n  OpenGL   %s, %s\n  date     %s\n", machine->driver,
           machine->device, (const char *)glGetString(GL_RENDERER),
           (const char *)glGetString(GL_VERSION), machine->date);
    printf("  textures RGBA8, %s; %u MiB of tensors and textures in turn; %u blocks\n",
           o->bench.plain ? "by way of linear memory" : "by surfaces", o->bench.mebibytes,
           o->effort.blocks);
    printf("\nus a picture, median [quartiles]; GB/s: read and written; to reach: 80 %% of the "
           "copy's\n");
    printf("  %-11s %-11s %19s %6s %19s %6s %5s %7s %9s %9s\n", "size", "tensor", "GPU", "GB/s",
           "cuMemcpy2DAsync", "GB/s", "%", "a call", "with map", "upload");
    fflush(stdout);
}

static void print_row(const struct publish_row *row)
{
    char size[32], gpu[128], copy[128], call[32], whole[32], upload[32];
    const size_t copied = (size_t)row->size.width * row->size.height * 8;
    snprintf(size, sizeof(size), "%u x %u", row->size.width, row->size.height);
    printf("  %-11s %-11s %19s %6.0f %19s %6.0f %5.0f %7s %9s %9s\n", size, row->kind->name,
           bench_spread_text(gpu, row->gpu), gigabytes_a_second(row->bytes, row->gpu.median),
           bench_spread_text(copy, row->copy), gigabytes_a_second(copied, row->copy.median),
           percent_of_copy(row), bench_number(call, row->call.median),
           bench_number(whole, row->whole.median), bench_number(upload, row->upload.median));
    fflush(stdout);
}

static void print_foot(void)
{
    printf(
        "  a call: the thread's time in gr_buffer_publish(). with map: gr_publish() with its map "
        "and release,\n  many in a row. upload: glTexSubImage2D() of RGBA8 from memory of the "
        "host.\n");
}

static void write_row(struct json *json, const struct publish_row *row)
{
    json_line(json, 4);
    json_object(json, NULL);
    json_text(json, "tensor", row->kind->name);
    json_whole(json, "width", row->size.width);
    json_whole(json, "height", row->size.height);
    json_whole(json, "bytes", (long long)row->bytes);
    json_spread(json, "gpu_us", row->gpu);
    json_spread(json, "copy_us", row->copy);
    json_number(json, "percent_of_copy", percent_of_copy(row));
    json_spread(json, "call_us", row->call);
    json_spread(json, "with_map_us", row->whole);
    json_spread(json, "upload_us", row->upload);
    json_end_object(json);
}

static bool write_json(const struct options *o, const struct bench_machine *machine,
                       const struct publish_row *rows, size_t count)
{
    struct json json;
    if (!json_create(&json, o->json))
        return false;
    json_line(&json, 2);
    json_machine(&json, machine);
    json_truth(&json, "surfaces", !o->bench.plain);
    json_line(&json, 2);
    json_list(&json, "rows");
    for (size_t i = 0; i < count; i++)
        write_row(&json, &rows[i]);
    json_line(&json, 2);
    json_end_list(&json);
    return json_finish(&json);
}

/* ---- The run --------------------------------------------------------------------------------- */

static bool run(struct options *o, struct publish_row *rows, size_t *count)
{
    for (size_t s = 0; s < publish_size_count; s++)
        for (size_t k = 0; k < publish_kind_count; k++) {
            struct publish_row *row = &rows[*count];
            *row = (struct publish_row){.kind = &publish_kinds[k], .size = publish_sizes[s]};
            if (!publish_make(&o->bench, row->kind, row->size) ||
                !publish_measure(&o->bench, &o->effort, row))
                return false;
            publish_end(&o->bench);
            print_row(row);
            ++*count;
        }
    print_foot();
    return true;
}

int main(int argc, char *argv[])
{
    struct options o = {.effort = {.blocks = 15, .frames = 64}, .bench.mebibytes = 512};
    struct publish_row rows[MOST_ROWS];
    struct bench_machine machine = {.software = false};
    size_t count = 0;
    read_options(argc, argv, &o);
    bool good = publish_open(&o.bench);
    if (good) {
        bench_describe_machine(o.bench.cuda, o.bench.on.device, &machine);
        print_head(&o, &machine);
        good = run(&o, rows, &count);
    }
    if (good && o.json)
        good = write_json(&o, &machine, rows, count);
    publish_close(&o.bench);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
