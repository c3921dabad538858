/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_latency: measures the time from the end of the CUDA kernel to the end of the draw, at
 * several frame rates and for each transport. Writes a table, a JSON file and a chart.
 */
#include <epoxy/gl.h>

#include "bench/bench_json.h"
#include "bench/latency/latency.h"
#include "tools/options.h"

const char bench_program[] = "bench_latency";

enum { MESH = 256, QUICK_MESH = 16 };

static struct options {
    struct latency l;
    struct latency_table table;
    int mesh;
    const char *only;
} o = {.mesh = MESH, .l.seconds = 2, .table = {.rates = 4, .rate = {60, 120, 1000, 0}}, .only = ""};

/* ---- Options --------------------------------------------------------------------------------- */

static bool parse_rates(const char *text, void *into)
{
    (void)into;
    o.table.rates = bench_parse_numbers("rates", text, 0, 100000, o.table.rate, LATENCY_MOST_RATES);
    return o.table.rates > 0;
}

static bool be_quick(const char *text, void *into)
{
    (void)text;
    o.mesh = QUICK_MESH;
    o.l.seconds = 0.1;
    return parse_rates("500,0", into);
}

static const struct option_row rows[] = {
    FRAMES_OPTIONS_DEVICE(&o.l.frames),
    {"gl-device", 0, "N", "the CUDA device on which OpenGL and Vulkan draw",
     .whole = {&o.l.frames.gl_ordinal, 0, 1000}},
    {"rates", 0, "A,B", "frames per second, up to six rates; 0: unlimited (default 60,120,1000,0)",
     .own = {parse_rates, NULL}},
    {"seconds", 0, "S", "duration of each row at each rate, up to 4096 frames",
     .real = {&o.l.seconds, 0.01, 60}},
    {"only", 0, "A,B", "only rows whose key begins with A or B, for example ring/ or interop",
     .text = &o.only},
    {"quick", 0, NULL, "a tiny mesh and a tenth of a second: a test of this program",
     .own = {be_quick, NULL}},
    BENCH_OPTION_JSON,
    BENCH_OPTION_SVG,
    {0},
};

static void choose_rows(void)
{
    for (size_t i = 0; i < latency_row_count; i++)
        if (bench_is_selected(latency_rows[i].key, o.only) &&
            (frames_is_across(&o.l.frames) || !latency_rows[i].across))
            o.table.row[o.table.rows++] = &latency_rows[i];
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open_all(struct latency *l)
{
    struct frames *f = &l->frames;
    if (!frames_open(f))
        return false;
    glGenQueries(LATENCY_MOST_FRAMES, l->queries);
    return frames_set_mesh(f, o.mesh) && latency_clocks_open(l) && latency_vulkan_open(l);
}

static bool open(void)
{
    choose_rows();
    return frames_print_error(open_all(&o.l));
}

static void add_facts(struct bench_machine *machine)
{
    frames_add_facts(&o.l.frames, machine);
}

static void print_facts(void)
{
    frames_print_devices(&o.l.frames);
    printf("  frames   CUDA writes %d x %d points of 16 bytes, drawn into %d x %d pixels; %g s of "
           "each row at each rate\n",
           o.mesh, o.mesh, FRAMES_TARGET, FRAMES_TARGET, o.l.seconds);
}

static bool measure(void)
{
    for (size_t i = 0; i < o.table.rows; i++) {
        bench_progress("row %zu of %zu, %s", i + 1, o.table.rows, o.table.row[i]->key);
        latency_measure(&o.l, &o.table, i);
    }
    bench_progress_end();
    latency_print(&o.table);
    latency_print_clocks(&o.l);
    return true;
}

static void write_json(struct json *json)
{
    json_members(json, "mesh %d", o.mesh);
    latency_write_json(json, &o.l, &o.table);
}

static bool draw(const char *path, const struct bench_machine *machine)
{
    return latency_write_svg(path, machine, &o.l.frames, o.mesh, &o.table);
}

static bool pictures_right(void)
{
    const struct latency_table *table = &o.table;
    /*
     * The Vulkan and OpenGL compilers may place single points a pixel apart, so some pixels may
     * differ.
     */
    const int of_vulkan = FRAMES_TARGET * FRAMES_TARGET / 200;
    for (size_t i = 0; i < table->rows; i++)
        for (size_t r = 0; r < table->rates; r++)
            if (table->cells[i][r].wrong > (table->row[i]->draws == LATENCY_VULKAN ? of_vulkan : 0))
                return false;
    return true;
}

static void close(void)
{
    struct latency *l = &o.l;
    if (l->frames.egl)
        glDeleteQueries(LATENCY_MOST_FRAMES, l->queries);
    latency_vulkan_close(l);
    if (l->frames.on.context)
        latency_clocks_close(l);
    frames_close(&l->frames);
}

const struct bench_setup bench_setup = {
    .title = "from the end of the CUDA kernel to the end of the draw,",
    .about = "A CUDA kernel writes a mesh, OpenGL or Vulkan draws it. The clock of "
             "each API is read when the kernel and the draw end, and converted to a "
             "common clock.",
    .options = rows,
    .steps = {open, add_facts, print_facts, measure, write_json, draw, pictures_right, close}};
