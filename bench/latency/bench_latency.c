/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_latency: measures the time from the end of the CUDA kernel to the end of the draw, at
 * several frame rates and for each transport. Writes a table, a JSON file and a chart.
 */
#include <stdlib.h>

#include <epoxy/gl.h>

#include "bench/bench_json.h"
#include "bench/latency/latency.h"
#include "tools/options.h"

const char bench_program[] = "bench_latency";

struct options {
    struct latency l;
    struct bench_run run;
    struct latency_table table;
    int mesh;
    const char *only;
};

/* ---- Options --------------------------------------------------------------------------------- */

static bool parse_device(const char *text, void *options)
{
    struct frames *f = &((struct options *)options)->l.frames;
    if (!bench_parse_device("device", text, &f->on.ordinal))
        return false;
    f->gl_ordinal = f->on.ordinal;
    return true;
}

static bool parse_rates(const char *text, void *options)
{
    struct latency_table *table = &((struct options *)options)->table;
    const char *whole = text;
    table->rates = 0;
    for (char *end; table->rates < LATENCY_MOST_RATES; text = end + 1) {
        const double rate = strtod(text, &end);
        if (end == text || !(rate >= 0 && rate <= 100000) || (*end != ',' && *end != '\0'))
            break;
        table->rate[table->rates++] = rate;
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
    o->l.seconds = 0.1;
    return parse_rates("500,0", o);
}

static void read_options(int argc, char *argv[], struct options *o)
{
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device that computes and draws (default 0)",
         .own = {parse_device, o}},
        {"cuda-device", 0, "N", "the CUDA device that computes",
         .whole = {&o->l.frames.on.ordinal, 0, 1000}},
        {"gl-device", 0, "N", "the CUDA device on which OpenGL and Vulkan draw",
         .whole = {&o->l.frames.gl_ordinal, 0, 1000}},
        {"mesh", 0, "N", "points per side of the mesh", .whole = {&o->mesh, 2, 4096}},
        {"rates", 0, "A,B",
         "frames per second, up to six rates; 0: unlimited (default 60,120,1000,0)",
         .own = {parse_rates, o}},
        {"seconds", 0, "S", "duration of each row at each rate, up to 4096 frames",
         .real = {&o->l.seconds, 0.01, 60}},
        {"only", 0, "A,B", "only rows whose key begins with A or B, for example ring/ or interop",
         .text = &o->only},
        {"quick", 0, NULL, "a tiny mesh and a tenth of a second: a test of this program",
         .own = {be_quick, o}},
        BENCH_OPTION_JSON(&o->run.json),
        BENCH_OPTION_SVG(&o->run.svg),
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "A CUDA kernel writes a mesh, OpenGL or Vulkan draws it. The clock of each API is "
                 "read when the kernel and the draw end, and converted to a common clock.",
                 BENCH_NOTES);
}

static bool is_across(const struct options *o)
{
    return o->l.frames.on.ordinal != o->l.frames.gl_ordinal;
}

static void choose_rows(struct options *o)
{
    for (size_t i = 0; i < latency_row_count; i++)
        if (bench_is_selected(latency_rows[i].key, o->only) &&
            (is_across(o) || !latency_rows[i].across))
            o->table.row[o->table.rows++] = &latency_rows[i];
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open_all(struct latency *l, int mesh)
{
    struct frames *f = &l->frames;
    if (!frames_open(f))
        return false;
    glGenQueries(LATENCY_MOST_FRAMES, l->queries);
    return frames_set_mesh(f, mesh) && latency_clocks_open(l) && latency_vulkan_open(l);
}

static bool open(void *of)
{
    struct options *o = of;
    const bool good = open_all(&o->l, o->mesh);
    if (!good && *frames_last_error() != '\0')
        fprintf(stderr, "bench_latency: %s\n", frames_last_error());
    return good;
}

static void add_facts(void *of, struct bench_machine *machine)
{
    frames_add_facts(&((struct options *)of)->l.frames, machine);
}

static void print_facts(void *of)
{
    const struct options *o = of;
    const struct frames *f = &o->l.frames;
    if (is_across(o))
        printf("  TWO DEVICES: CUDA computes on device %d, OpenGL and Vulkan draw on device %d\n",
               f->on.ordinal, f->gl_ordinal);
    printf("  frames   CUDA writes %d x %d points of 16 bytes, drawn into %d x %d pixels; %g s of "
           "each row at each rate\n",
           o->mesh, o->mesh, FRAMES_TARGET, FRAMES_TARGET, o->l.seconds);
}

static bool measure(void *of)
{
    struct options *o = of;
    for (size_t i = 0; i < o->table.rows; i++) {
        bench_progress("row %zu of %zu, %s", i + 1, o->table.rows, o->table.row[i]->key);
        latency_measure(&o->l, &o->table, i);
    }
    bench_progress_end();
    latency_print(&o->table);
    latency_print_clocks(&o->l);
    return true;
}

static void write_json(void *of, struct json *json)
{
    const struct options *o = of;
    json_whole(json, "mesh", o->mesh);
    latency_write_json(json, &o->l, &o->table);
}

static bool draw(void *of, const char *path)
{
    const struct options *o = of;
    return latency_write_svg(path, &o->run.machine, &o->l.frames, o->mesh, &o->table);
}

static bool pictures_right(void *of)
{
    const struct latency_table *table = &((struct options *)of)->table;
    /* The Vulkan and OpenGL compilers may place single points a pixel apart. */
    const int of_vulkan = FRAMES_TARGET * FRAMES_TARGET / 200;
    for (size_t i = 0; i < table->rows; i++)
        for (size_t r = 0; r < table->rates; r++)
            if (table->cells[i][r].wrong > (table->row[i]->draws == LATENCY_VULKAN ? of_vulkan : 0))
                return false;
    return true;
}

static void close(void *of)
{
    struct latency *l = &((struct options *)of)->l;
    if (l->frames.egl)
        glDeleteQueries(LATENCY_MOST_FRAMES, l->queries);
    latency_vulkan_close(l);
    if (l->frames.on.context)
        latency_clocks_close(l);
    frames_close(&l->frames);
}

int main(int argc, char *argv[])
{
    static const struct bench_steps steps = {
        .title = "from the end of the CUDA kernel to the end of the draw, ",
        .open = open,
        .add_facts = add_facts,
        .print_facts = print_facts,
        .measure = measure,
        .write_json = write_json,
        .draw = draw,
        .check = pictures_right,
        .close = close};
    static struct options o = {
        .mesh = 256, .l.seconds = 2, .table = {.rates = 4, .rate = {60, 120, 1000, 0}}, .only = ""};
    read_options(argc, argv, &o);
    o.run.on = &o.l.frames.on;
    choose_rows(&o);
    return bench_main(&o.run, &steps, &o);
}
