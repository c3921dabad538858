/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * farm: renders a long sequence of pictures on many GPUs, with MPI.
 *
 *     mpirun -n 8 --bind-to none build/examples/farm/farm --frames 10000 --out pictures
 *
 * Each rank uses the GPU with its local rank number, with headless OpenGL on the same GPU. A shared
 * counter distributes the frames, so a slow GPU renders fewer frames. A file gets its final name
 * when it is complete. To resume an interrupted job, run the same command again: it renders the
 * missing frames.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "examples/support/clock.h"
#include "farm_crew.h"
#include "farm_files.h"
#include "farm_render.h"
#include "farm_report.h"
#include "farm_writers.h"
#include "tools/options.h"

struct farm {
    struct farm_options options;
    struct crew crew;
    struct farm_files files;
    bool files_open;
    int *missing; /* the frames to render, in order */
    int missing_count;
    struct farm_writers *writers;
    struct farm_render *render;
    struct farm_device device;
    struct farm_progress progress;
    struct farm_rank own;
    struct farm_rank *ranks; /* those of all ranks, on rank 0 */
    int told;                /* the number of frames already reported to the other ranks */
    double begun, told_at;
};

/* ---- Finding the missing frames -------------------------------------------------------------- */

/*
 * Scans the folders for finished pictures. Each rank scans some folders, since a million names are
 * too many for one rank.
 */
static bool scan(struct farm *farm, unsigned char *bits)
{
    const int folders = farm_files_folders(&farm->files);
    for (int i = farm->crew.rank; i < folders; i += farm->crew.ranks)
        if (!farm_files_scan(&farm->files, i, bits))
            return false;
    return true;
}

static bool find_missing(struct farm *farm)
{
    const int count = farm->options.frames;
    const size_t bytes = ((size_t)count + 7) / 8;
    unsigned char *bits = calloc(bytes, 1);
    farm->missing = calloc((size_t)count, sizeof(*farm->missing));
    const bool memory = bits && farm->missing;
    if (!memory)
        fprintf(stderr, "Not enough memory for so many frames: choose fewer --frames.\n");
    bool good = crew_all(memory && (farm->options.no_files || scan(farm, bits)));
    if (good) {
        crew_or(bits, bytes);
        for (int i = 0; i < count; i++)
            if (!(bits[i / 8] & 1u << i % 8))
                farm->missing[farm->missing_count++] = farm->options.first + i;
    }
    free(bits);
    return good;
}

static bool plan(struct farm *farm)
{
    const struct farm_options *o = &farm->options;
    farm->files = (struct farm_files){.out = o->out, .first = o->first, .count = o->frames};
    farm->files_open = farm->crew.rank == 0 && !o->no_files;
    return crew_all(!farm->files_open || farm_files_open(&farm->files)) && find_missing(farm);
}

/* ---- Setup ----------------------------------------------------------------------------------- */

static bool open_renderer(struct farm *farm)
{
    const struct farm_options *o = &farm->options;
    farm->writers =
        farm_writers_open(o->no_files ? NULL : &farm->files, o->width, o->height, o->writers);
    if (!farm->writers)
        return false;
    farm->render = farm_render_open(o, farm->crew.local_rank, farm->writers, &farm->device);
    return farm->render;
}

/*
 * Checks that all ranks or none have a GPU. A rank without a GPU would render different pictures.
 */
static bool all_alike(struct farm *farm, const char *host)
{
    const bool none = crew_all(farm->device.software), gpus = crew_all(!farm->device.software);
    if (!none && !gpus && farm->device.software)
        fprintf(stderr,
                "Rank %d on %s has the software CUDA driver, others have GPUs: check its driver "
                "there, with GR_LOG=debug.\n",
                farm->crew.rank, host);
    return none || gpus;
}

static void count_processors(struct farm_rank *own)
{
    cpu_set_t mine;
    own->node_processors = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    own->processors = sched_getaffinity(0, sizeof(mine), &mine) == 0 ? (int32_t)CPU_COUNT(&mine)
                                                                     : own->node_processors;
}

static bool get_ready(struct farm *farm, double started)
{
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    const bool opened = open_renderer(farm);
    if (!opened)
        fprintf(stderr, "That was rank %d on %s.\n", farm->crew.rank, host);
    if (!crew_all(opened) || !all_alike(farm, host))
        return false;

    struct farm_rank *own = &farm->own;
    *own = (struct farm_rank){.process = (int32_t)getpid(),
                              .device = farm->device.number,
                              .software = farm->device.software,
                              .opened = clock_seconds() - started};
    snprintf(own->host, sizeof(own->host), "%.63s", host);
    snprintf(own->device_name, sizeof(own->device_name), "%s", farm->device.name);
    count_processors(own);
    if (farm->crew.rank == 0)
        farm->ranks = calloc((size_t)farm->crew.ranks, sizeof(*own));
    if (!crew_all(farm->crew.rank != 0 || farm->ranks))
        return false;
    crew_gather(own, farm->ranks, sizeof(*own));
    return true;
}

static struct farm_sum sum_of(const struct farm *farm, double seconds)
{
    return (struct farm_sum){.ranks = farm->crew.ranks,
                             .nodes = farm->crew.nodes,
                             .writers = farm->options.writers,
                             .frames = farm->missing_count,
                             .found = farm->options.frames - farm->missing_count,
                             .seconds = seconds,
                             .files = !farm->options.no_files};
}

/* ---- The work -------------------------------------------------------------------------------- */

/*
 * The number of frames that a rank takes at a time. It is small, so that ranks finish at about the
 * same time, but above one, so that thousands of ranks do not contend for the counter.
 */
static int chunk_of(const struct farm *farm)
{
    if (farm->options.chunk > 0)
        return farm->options.chunk;
    const int chunk = farm->missing_count / (32 * farm->crew.ranks);
    return chunk < 1 ? 1 : chunk > 64 ? 64 : chunk;
}

/* Reports the progress of this rank, a few times a second. Rank 0 displays the total. */
static void report_progress(struct farm *farm)
{
    const double now = clock_seconds();
    if (now - farm->told_at < (farm->crew.rank == 0 ? 0.2 : 0.5))
        return;
    const int done = farm_writers_written(farm->writers).frames;
    const int64_t all = crew_count_done(done - farm->told);
    farm->told = done;
    farm->told_at = now;
    if (farm->crew.rank == 0)
        farm_progress_show(&farm->progress, (int)all);
}

static void pause_if_slow(const struct farm *farm)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    const int slow = farm->options.slow;
    if (slow == farm->crew.rank || slow >= farm->crew.ranks)
        nanosleep(&pause, NULL);
}

static bool work(struct farm *farm)
{
    const int64_t chunk = chunk_of(farm);
    for (int64_t at; (at = crew_take(chunk)) < farm->missing_count;)
        for (int64_t i = at; i < at + chunk && i < farm->missing_count; i++) {
            if (!farm_render_frame(farm->render, farm->missing[i]))
                return false;
            pause_if_slow(farm);
            report_progress(farm);
        }
    return farm_render_finish(farm->render);
}

static void show_progress(void *user)
{
    struct farm *farm = user;
    report_progress(farm);
}

/*
 * Renders all missing frames. No rank waits for a failed rank, since a rank that fails aborts the
 * job.
 */
static void do_all(struct farm *farm)
{
    crew_barrier();
    farm->begun = clock_seconds();
    if (farm->crew.rank == 0)
        farm_progress_begin(&farm->progress, farm->missing_count);
    if (!work(farm)) {
        fprintf(stderr,
                "Rank %d ends the job; the files written so far stay and are not rendered again.\n",
                farm->crew.rank);
        crew_abort();
    }
    const struct farm_written written = farm_writers_written(farm->writers);
    farm->own.frames = written.frames;
    farm->own.checksum = written.checksum;
    farm->own.bytes = written.bytes;
    farm->own.seconds = clock_seconds() - farm->begun;
    farm->told_at = 0;
    report_progress(farm);
    crew_barrier_slow(farm->crew.rank == 0 ? show_progress : NULL, farm);
    const double seconds = clock_seconds() - farm->begun;
    crew_gather(&farm->own, farm->ranks, sizeof(farm->own));
    if (farm->crew.rank == 0) {
        const struct farm_sum sum = sum_of(farm, seconds);
        farm_progress_show(&farm->progress, farm->missing_count);
        farm_progress_end(&farm->progress);
        farm_report_sum(farm->ranks, &sum);
    }
}

static bool run(struct farm *farm, double started)
{
    if (!plan(farm))
        return false;
    if (farm->missing_count == 0) {
        if (farm->crew.rank == 0)
            printf("All %d frames already exist in %s.\n", farm->options.frames, farm->options.out);
        return true;
    }
    if (!get_ready(farm, started))
        return false;
    if (farm->crew.rank == 0) {
        const struct farm_sum sum = sum_of(farm, 0);
        printf("frames    %d of %dx%d; %d exist\n", farm->options.frames, farm->options.width,
               farm->options.height, sum.found);
        farm_report_ranks(farm->ranks, &sum);
    }
    do_all(farm);
    return true;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* Frees everything, the writers first: they read buffers that the renderer has mapped. */
static void end(struct farm *farm)
{
    farm_writers_close(farm->writers);
    farm_render_close(farm->render);
    if (farm->files_open)
        farm_files_close(&farm->files);
    free(farm->missing);
    free(farm->ranks);
}

static void read_options(int argc, char **argv, struct farm_options *o)
{
    const struct option_row rows[] = {
        {"out", 'o', "DIR", "output directory", .text = &o->out},
        {"frames", 'f', "N", "number of pictures, 30 per second",
         .whole = {&o->frames, 1, 50000000}},
        {"first", 0, "N", "number of the first picture", .whole = {&o->first, 1, 40000000}},
        {"size", 's', "WxH", "their size in pixels", .size = {&o->width, &o->height}},
        {"mesh", 'm', "N", "vertices along each side of the sea", .whole = {&o->mesh, 2, 2048}},
        {"work", 'w', "N", "number of waves in the sea: the CUDA cost of a frame",
         .whole = {&o->work, 1, 10000000}},
        {"in-flight", 'r', "N", "frames in flight on each GPU",
         .whole = {&o->in_flight, 1, FARM_MOST_IN_FLIGHT}},
        {"writers", 0, "N", "threads per rank that write files", .whole = {&o->writers, 1, 64}},
        {"chunk", 0, "N", "frames that a rank takes at a time; 0: automatic",
         .whole = {&o->chunk, 0, 1000}},
        {"no-files", 0, NULL, "render all frames and compute the checksum only",
         .flag = &o->no_files},
        {"slow", 0, "RANK", NULL, .whole = {&o->slow, 0, 1000000}},
        {"broken", 0, "FRAME", NULL, .whole = {&o->broken, 1, 90000000}},
        {0},
    };
    options_read(argc, argv, "farm", rows,
                 "Renders a long sequence with CUDA and OpenGL on many GPUs: start it with mpirun "
                 "or srun, one rank per GPU. Frames whose files exist are not rendered again.",
                 "A rank runs on the CUDA device whose number is its local rank. Without a GPU, or "
                 "with GR_CUDA_DRIVER=soft in the environment, it uses the software CUDA driver.");
}

int main(int argc, char **argv)
{
    const double started = clock_seconds();
    struct farm farm = {.options = {.first = 1,
                                    .frames = 300,
                                    .width = 640,
                                    .height = 360,
                                    .mesh = 512,
                                    .work = 64,
                                    .in_flight = 8,
                                    .writers = 4,
                                    .out = "farm.frames",
                                    .slow = -1}};
    /* Reads the options before MPI starts, since reporting a wrong option needs no other rank. */
    read_options(argc, argv, &farm.options);
    crew_open(&argc, &argv, &farm.crew);
    const bool done = run(&farm, started);
    end(&farm);
    crew_close();
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
