/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_latency: how long after CUDA's kernel the frame is drawn, at several rates of frames, by
 * the ways that the mesh can take. Writes a table, a file of numbers and a chart.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include "bench/latency/latency.h"
#include "tools/options.h"

const char bench_program[] = "bench_latency";

struct options {
    int ordinal, gl_ordinal, mesh;
    double seconds;
    size_t rates;
    double rate[LATENCY_MOST_RATES];
    const char *only, *json, *svg;
};

/* ---- Options --------------------------------------------------------------------------------- */

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

static bool take_rates(const char *text, void *options)
{
    struct options *o = options;
    const char *whole = text;
    o->rates = 0;
    for (char *end; o->rates < LATENCY_MOST_RATES; text = end + 1) {
        const double rate = strtod(text, &end);
        if (end == text || !(rate >= 0 && rate <= 100000) || (*end != ',' && *end != '\0'))
            break;
        o->rate[o->rates++] = rate;
        if (*end == '\0')
            return true;
    }
    fprintf(stderr, "--rates takes up to %d numbers from 0 to 100000, not \"%s\".\n",
            LATENCY_MOST_RATES, whole);
    return false;
}

static bool be_quick(const char *text, void *options)
{
    (void)text;
    struct options *o = options;
    o->mesh = 16;
    o->seconds = 0.1;
    return take_rates("500,0", o);
}

static struct options read_options(int argc, char *argv[])
{
    struct options o = {
        .mesh = 256, .seconds = 2, .rates = 4, .rate = {60, 120, 1000, 0}, .only = ""};
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device to use, as CUDA counts; it draws, too (default 0)",
         .own = {take_device, &o}},
        {"cuda-device", 0, "N", "the CUDA device that computes", .whole = {&o.ordinal, 0, 1000}},
        {"gl-device", 0, "N", "the CUDA device on which OpenGL and Vulkan draw",
         .whole = {&o.gl_ordinal, 0, 1000}},
        {"mesh", 0, "N", "points along each side", .whole = {&o.mesh, 2, 4096}},
        {"rates", 0, "A,B",
         "frames a second, up to six rates; 0: as fast as can be (default 60,120,1000,0)",
         .own = {take_rates, &o}},
        {"seconds", 0, "S", "how long each row runs at each rate, up to 4096 frames",
         .real = {&o.seconds, 0.01, 60}},
        {"only", 0, "A,B", "only rows whose key begins with A or B, for example ring/ or interop",
         .text = &o.only},
        {"quick", 0, NULL, "a tiny mesh and a tenth of a second: a test of this program",
         .own = {be_quick, &o}},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &o.json},
        {"svg", 0, "FILE", "also draw a chart", .text = &o.svg},
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "A CUDA kernel writes a mesh, OpenGL or Vulkan draws it. Both sides' clocks are "
                 "read as the kernel and the draw end, and brought together.",
                 BENCH_NOTES);
    return o;
}

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

static void choose_rows(const struct options *o, struct latency_table *table)
{
    table->rates = o->rates;
    memcpy(table->rate, o->rate, sizeof(table->rate));
    const bool across = o->ordinal != o->gl_ordinal;
    for (size_t i = 0; i < latency_row_count; i++)
        if (begins(latency_rows[i].key, o->only) && (across || !latency_rows[i].across))
            table->row[table->rows++] = &latency_rows[i];
}

/* ---- The run --------------------------------------------------------------------------------- */

static void gather_facts(struct latency *l, const struct options *o, struct latency_facts *facts)
{
    struct frames *f = &l->frames;
    facts->ordinal = o->ordinal;
    facts->gl_ordinal = o->gl_ordinal;
    facts->mesh = o->mesh;
    facts->seconds = o->seconds;
    bench_describe_machine(f->cuda, f->on.device, &facts->machine);
    snprintf(facts->opengl, sizeof(facts->opengl), "%s, %s", (const char *)glGetString(GL_RENDERER),
             (const char *)glGetString(GL_VERSION));
    frames_vulkan_describe(f, facts->vulkan, sizeof(facts->vulkan));
    const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
    if (!shared)
        frames_grinterop_failed("gr_gl_probe");
    snprintf(facts->shared, sizeof(facts->shared), "%s",
             shared ? shared->reason : frames_last_words());
}

static void print_facts(const struct latency_facts *facts)
{
    if (facts->machine.software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.\n");
    if (facts->ordinal != facts->gl_ordinal)
        printf("  TWO DEVICES: CUDA computes on device %d, OpenGL and Vulkan draw on device %d\n",
               facts->ordinal, facts->gl_ordinal);
    printf("  driver   %s\n  device   %s\n  OpenGL   %s\n  shared   %s\n  date     %s\n"
           "  frames   CUDA writes %d x %d points of 16 bytes, drawn into %d x %d pixels; %g s of "
           "each row at each rate\n",
           facts->machine.driver, facts->machine.device, facts->opengl, facts->shared,
           facts->machine.date, facts->mesh, facts->mesh, FRAMES_TARGET, FRAMES_TARGET,
           facts->seconds);
    fflush(stdout);
}

static bool open_all(struct latency *l, const struct options *o)
{
    struct frames *f = &l->frames;
    if (!frames_open(f))
        return false;
    glGenQueries(LATENCY_MOST_FRAMES, l->queries);
    return frames_set_mesh(f, o->mesh) && latency_clocks_open(l) && latency_vulkan_open(l);
}

static void close_all(struct latency *l)
{
    if (l->frames.egl)
        glDeleteQueries(LATENCY_MOST_FRAMES, l->queries);
    latency_vulkan_close(l);
    if (l->frames.on.context)
        latency_clocks_close(l);
    frames_close(&l->frames);
}

static void measure_all(struct latency *l, struct latency_table *table)
{
    const bool progress = isatty(STDERR_FILENO) != 0;
    for (size_t i = 0; i < table->rows; i++) {
        if (progress)
            fprintf(stderr, "\r\033[Kbench_latency: row %zu of %zu, %s", i + 1, table->rows,
                    table->row[i]->key);
        latency_measure(l, table, i);
    }
    if (progress)
        fputs("\r\033[K", stderr);
}

static bool pictures_right(const struct latency_table *table)
{
    /* Two compilers may move single points of Vulkan's picture by a pixel. */
    const int of_vulkan = FRAMES_TARGET * FRAMES_TARGET / 200;
    for (size_t i = 0; i < table->rows; i++)
        for (size_t r = 0; r < table->rates; r++)
            if (table->cells[i][r].wrong > (table->row[i]->draws == LATENCY_VULKAN ? of_vulkan : 0))
                return false;
    return true;
}

int main(int argc, char *argv[])
{
    const struct options o = read_options(argc, argv);
    static struct latency l;
    static struct latency_table table;
    struct latency_facts facts = {0};
    l.frames.on.ordinal = o.ordinal;
    l.frames.gl_ordinal = o.gl_ordinal;
    l.seconds = o.seconds;
    choose_rows(&o, &table);
    printf("bench_latency: from CUDA's kernel to the end of the draw, grinterop %s\n",
           gr_library_version());
    bool good = open_all(&l, &o);
    if (good) {
        gather_facts(&l, &o, &facts);
        print_facts(&facts);
        measure_all(&l, &table);
        latency_print(&table);
        latency_print_clocks(&l);
        good = (!o.json || latency_write_json(o.json, &facts, &l, &table)) &&
               (!o.svg || latency_write_svg(o.svg, &facts, &table)) && pictures_right(&table);
    } else if (*frames_last_words() != '\0')
        fprintf(stderr, "bench_latency: %s\n", frames_last_words());
    close_all(&l);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
