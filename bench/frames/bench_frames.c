/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_frames: what a frame costs whose mesh CUDA writes and OpenGL or Vulkan draws, by every way
 * that the mesh can take, side by side in one run. Writes a table, a file of numbers and a chart.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include "bench/frames/frames.h"
#include "tools/options.h"

const char bench_program[] = "bench_frames";

struct options {
    int ordinal, gl_ordinal;
    struct frames_effort effort;
    size_t meshes;
    int mesh[FRAMES_MESHES];
    bool why;
    const char *only, *json, *svg, *python, *script;
};

/* ---- Options --------------------------------------------------------------------------------- */

static bool take_meshes(const char *text, void *options)
{
    struct options *o = options;
    const char *whole = text;
    o->meshes = 0;
    for (char *end; o->meshes < FRAMES_MESHES; text = end + 1) {
        const long mesh = strtol(text, &end, 10);
        if (mesh < 2 || mesh > 4096 || (*end != ',' && *end != '\0'))
            break;
        o->mesh[o->meshes++] = (int)mesh;
        if (*end == '\0')
            return true;
    }
    fprintf(stderr, "--meshes takes up to %d numbers from 2 to 4096, not \"%s\".\n", FRAMES_MESHES,
            whole);
    return false;
}

static const struct frames_effort USUAL_EFFORT = {
    .rounds = 3, .frames = 1200, .most_frames = 20000, .block_seconds = 0.25, .most_seconds = 0.45};
static const struct frames_effort QUICK_EFFORT = {
    .rounds = 2, .frames = 24, .most_frames = 48, .block_seconds = 0.01, .most_seconds = 0.05};

static bool be_quick(const char *text, void *options)
{
    (void)text;
    struct options *o = options;
    o->effort = QUICK_EFFORT;
    return take_meshes("16,32,64", o);
}

/* Both sides on one device. */
static bool take_device(const char *text, void *options)
{
    struct options *o = options;
    char *end;
    const long device = strtol(text, &end, 10);
    if (end == text || *end != '\0' || device < 0 || device > 1000) {
        fprintf(stderr, "--device takes a number from 0 to 1000, not \"%s\".\n", text);
        return false;
    }
    o->ordinal = o->gl_ordinal = (int)device;
    return true;
}

static bool take_gl_device(const char *text, void *options)
{
    struct options *o = options;
    char *end;
    const long device = strtol(text, &end, 10);
    if (strcmp(text, "software") == 0) {
        o->gl_ordinal = FRAMES_SOFTWARE_GL;
        return true;
    }
    if (end == text || *end != '\0' || device < 0 || device > 1000) {
        fprintf(stderr, "--gl-device takes a number from 0 to 1000 or \"software\", not \"%s\".\n",
                text);
        return false;
    }
    o->gl_ordinal = (int)device;
    return true;
}

static bool is_across(const struct options *o)
{
    return o->gl_ordinal != FRAMES_SOFTWARE_GL && o->gl_ordinal != o->ordinal;
}

/* With two devices, or OpenGL on the processor, only the rows that say something there. */
static const char ACROSS[] = "kernel,draw,bound,transfer,raw,grinterop,copy,peer,shared,ring/1,"
                             "hand/,vulkan/draw,vulkan/1,read/,vulkan/read/";
static const char SOFTWARE[] = "kernel,draw,bound,transfer,copy,read/bound,read/copy";

static const char *usual_rows(const struct options *o)
{
    return o->gl_ordinal == FRAMES_SOFTWARE_GL ? SOFTWARE : is_across(o) ? ACROSS : "";
}

static struct options read_options(int argc, char *argv[])
{
    struct options o = {.effort = USUAL_EFFORT, .meshes = 3, .mesh = {64, 256, 1024}};
    struct frames_effort *e = &o.effort;
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device to use, as CUDA counts; it draws, too (default 0)",
         .own = {take_device, &o}},
        {"cuda-device", 0, "N", "the CUDA device that computes", .whole = {&o.ordinal, 0, 1000}},
        {"gl-device", 0, "N",
         "the CUDA device on which OpenGL and Vulkan draw; \"software\": OpenGL draws on the "
         "processor, by Mesa, and there is no interop to compare with",
         .own = {take_gl_device, &o}},
        {"meshes", 0, "A,B,C", "points along each side, up to three meshes (default 64,256,1024)",
         .own = {take_meshes, &o}},
        {"rounds", 0, "N", "blocks of each row", .count = {&e->rounds, 1, 64}},
        {"frames", 0, "N", "frames in a block, at least; fewer where they take long",
         .count = {&e->frames, 1, 20000}},
        {"block-seconds", 0, "S",
         "how long a block lasts, at least; one of interop that a row is compared with lasts half "
         "of it",
         .real = {&e->block_seconds, 1e-6, 60}},
        {"most-seconds", 0, "S", "and at most", .real = {&e->most_seconds, 1e-6, 60}},
        {"only", 0, "A,B",
         "only rows whose key begins with A or B, for example ring/ or bound (default: all; with "
         "two devices those that compare them)",
         .text = &o.only},
        {"why", 0, NULL,
         "also take the shared and the copy transport apart, by hand, and look when frames are "
         "drawn",
         .flag = &o.why},
        {"quick", 0, NULL, "tiny meshes (16,32,64) and blocks: a test of this program",
         .own = {be_quick, &o}},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &o.json},
        {"svg", 0, "FILE", "also draw a chart", .text = &o.svg},
        {"with-python", 0, "PYTHON",
         "run bench_frames.py with that interpreter first, for cuda.core's row", .text = &o.python},
        {"script", 0, "FILE",
         "bench_frames.py, where it is neither beside this program nor in ../share",
         .text = &o.script},
        {0},
    };
    options_read(
        argc, argv, bench_program, rows,
        "A CUDA kernel writes a mesh of w by w points, OpenGL or Vulkan draws it into 512 by 512 "
        "pixels: raw interop in order, grinterop in order, grinterop's ring with frames in flight. "
        "Or OpenGL or Vulkan draws a picture of w by w pixels, and CUDA filters it.",
        BENCH_NOTES);
    if (!o.only)
        o.only = usual_rows(&o);
    e->progress = isatty(STDERR_FILENO) != 0;
    return o;
}

/* ---- What it runs on ------------------------------------------------------------------------- */

/* By which transport a buffer of the ring is shared, or why none is. */
static void describe_transport(char *text, size_t size)
{
    const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
    if (!shared)
        frames_grinterop_failed("gr_gl_probe");
    snprintf(text, size, "%s", shared ? shared->reason : frames_last_words());
}

static void gather_facts(struct frames *f, struct frames_facts *facts)
{
    CUdevice drawing = 0;
    facts->ordinal = f->on.ordinal;
    facts->gl_ordinal = f->gl_ordinal;
    if (f->gl_ordinal == FRAMES_SOFTWARE_GL)
        snprintf(facts->gl_device, sizeof(facts->gl_device), "the processor");
    else if (f->cuda->DeviceGet(&drawing, f->gl_ordinal) == CUDA_SUCCESS)
        f->cuda->DeviceGetName(facts->gl_device, sizeof(facts->gl_device), drawing);
    bench_describe_machine(f->cuda, f->on.device, &facts->machine);
    snprintf(facts->opengl, sizeof(facts->opengl), "%s, %s", (const char *)glGetString(GL_RENDERER),
             (const char *)glGetString(GL_VERSION));
    frames_vulkan_describe(f, facts->vulkan, sizeof(facts->vulkan));
    describe_transport(facts->transport, sizeof(facts->transport));
}

static void print_facts(const struct frames_facts *facts, const struct frames_effort *effort)
{
    if (facts->machine.software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.\n");
    if (facts->gl_ordinal == FRAMES_SOFTWARE_GL)
        printf("  OPENGL ON THE PROCESSOR: CUDA computes on device %d\n", facts->ordinal);
    else if (facts->ordinal != facts->gl_ordinal)
        printf(
            "  TWO DEVICES: CUDA computes on device %d, OpenGL and Vulkan draw on device %d (%s)\n",
            facts->ordinal, facts->gl_ordinal, facts->gl_device);
    printf("  driver   %s\n  device   %s\n  OpenGL   %s\n  shared   %s\n"
           "  date     %s\n",
           facts->machine.driver, facts->machine.device, facts->opengl, facts->transport,
           facts->machine.date);
    printf("  frames   CUDA writes w x w points of 16 bytes, drawn into %d x %d pixels\n",
           FRAMES_TARGET, FRAMES_TARGET);
    printf("  blocks   %u of each row%s; from empty queues until all APIs are done\n",
           effort->rounds,
           facts->gl_ordinal == FRAMES_SOFTWARE_GL ? "" : ", in turn with raw interop in order");
    fflush(stdout);
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Whether the row's key begins with one of the beginnings, which commas separate. */
static bool begins(const char *key, const char *beginnings)
{
    for (const char *begin = beginnings;; begin++) {
        size_t length = strcspn(begin, ",");
        if (strncmp(key, begin, length) == 0)
            return true;
        begin += length;
        if (*begin == '\0')
            return false;
    }
}

static bool wanted(const struct options *o, const struct frames_kind *kind)
{
    const bool extra = kind->part == FRAMES_WHY || kind->part == FRAMES_WHY_COPY;
    return (!extra || o->why) && (!kind->across || is_across(o)) && begins(kind->key, o->only);
}

static void choose_rows(const struct options *o, struct frames_table *table)
{
    table->meshes = o->meshes;
    memcpy(table->mesh, o->mesh, sizeof(table->mesh));
    for (size_t i = 0; i < frames_kind_count; i++) {
        if (!wanted(o, &frames_kinds[i]))
            continue;
        table->kinds[table->rows++] = &frames_kinds[i];
        if (&frames_kinds[i] == frames_base && o->python)
            table->kinds[table->rows++] = &frames_core;
    }
}

static bool is_gapped(const struct options *o, const struct frames_kind *kind)
{
    return o->why && kind->part != FRAMES_WHY_COPY && kind->part != FRAMES_BOUND &&
           kind->part != FRAMES_VULKAN && !kind->reads &&
           (kind->part != FRAMES_WHY || kind->hand.draw);
}

static bool measure_mesh(struct frames *f, const struct options *o, struct frames_table *table,
                         size_t m)
{
    struct frames_run base = {.kind = frames_base}, read_base = {.kind = frames_read_base};
    const bool based = f->gl_ordinal != FRAMES_SOFTWARE_GL;
    if (!frames_set_mesh(f, table->mesh[m]) || (based && !frames_base->open(f, &base)) ||
        (based && !frames_read_base->open(f, &read_base)))
        return false;
    for (size_t i = 0; i < table->rows; i++) {
        const struct frames_kind *kind = table->kinds[i];
        if (kind == &frames_core)
            continue;
        if (o->effort.progress)
            fprintf(stderr, "\r\033[Kbench_frames: mesh %d, row %zu of %zu, %s", table->mesh[m],
                    i + 1, table->rows, kind->key);
        struct frames_run *beside = kind->reads ? &read_base : &base;
        frames_measure(f, based ? beside : NULL, kind, &o->effort, is_gapped(o, kind),
                       &table->results[i][m]);
    }
    if (o->effort.progress)
        fputs("\r\033[K", stderr);
    const bool good = !based || frames_read_base->close(f, &read_base);
    return (!based || frames_base->close(f, &base)) && good;
}

static bool run(const struct options *o, struct frames_facts *facts, struct frames_table *table)
{
    struct frames f = {.on.ordinal = o->ordinal, .gl_ordinal = o->gl_ordinal};
    printf("bench_frames: frames that CUDA writes and OpenGL or Vulkan draws, grinterop %s\n",
           gr_library_version());
    bool good = frames_open(&f);
    if (good) {
        gather_facts(&f, facts);
        print_facts(facts, &o->effort);
        for (size_t m = 0; good && m < table->meshes; m++)
            good = measure_mesh(&f, o, table, m);
    }
    if (!good && *frames_last_words() != '\0')
        fprintf(stderr, "bench_frames: %s\n", frames_last_words());
    frames_close(&f);
    return good;
}

int main(int argc, char *argv[])
{
    struct options o = read_options(argc, argv);
    static struct frames_table table;
    struct frames_facts facts = {0};
    char script[PATH_MAX];
    if (o.python && !bench_find_script(o.script, script, sizeof(script)))
        return 2;
    choose_rows(&o, &table);
    if (o.python && !frames_python(o.python, script, o.ordinal, &o.effort, &table, &facts))
        fprintf(stderr, "bench_frames: %s %s failed\n", o.python, script);
    if (!run(&o, &facts, &table))
        return EXIT_FAILURE;
    frames_print(&table);
    frames_print_goals(&table, &facts);
    bool good = !o.json || frames_write_json(o.json, &facts, &o.effort, &table);
    good = (!o.svg || frames_write_svg(o.svg, &facts, &table)) && good;
    return good && frames_pictures_right(&table) ? EXIT_SUCCESS : EXIT_FAILURE;
}
