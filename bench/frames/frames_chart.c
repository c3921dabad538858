/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Draws the results as one SVG chart. There is a panel per mesh and a bar per row. The logarithmic
 * axis shows microseconds per frame. A dashed line marks the bound: the unsynchronised time of both
 * APIs.
 */
#include <math.h>
#include <string.h>

#include "bench/bench_svg.h"
#include "bench/frames/frames.h"

enum {
    TOP = 112, /* the top of the panels */
    ROW = 21,
    BAR = 13,
    HEADING = 26, /* the height of the heading of a part, above its rows */
    BOTTOM = 62,
    LEAST_WIDTH = 880 /* the width that the text above the panels needs */
};

struct chart {
    struct svg svg;
    struct svg_panels panels;
    const struct frames_table *table;
};

static const char *const COLOURS[FRAMES_PARTS] = {
    [FRAMES_BOUND] = "#8a94a6",       [FRAMES_IN_ORDER] = "#c2410c", [FRAMES_IN_FLIGHT] = "#2563a8",
    [FRAMES_HAND] = "#7c3aed",        [FRAMES_VULKAN] = "#0f766e",   [FRAMES_READ] = "#a16207",
    [FRAMES_VULKAN_READ] = "#4d7c0f", [FRAMES_WHY] = "#6b7280",      [FRAMES_WHY_COPY] = "#6b7280",
};

static bool is_drawn(const struct frames_kind *kind)
{
    return kind->part != FRAMES_WHY && kind->part != FRAMES_WHY_COPY;
}

static void find_range(struct chart *c)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < c->table->rows; i++)
        for (size_t m = 0; m < c->table->meshes; m++) {
            const struct frames_result *r = &c->table->results[i][m];
            if (!r->measured || !is_drawn(c->table->kinds[i]))
                continue;
            low = fmin(low, r->wall.median);
            high = fmax(high, r->wall.median * 2); /* leaves room for the number beside the bar */
        }
    svg_set_range(&c->panels, low, high);
}

/* The x coordinate of the end of the bar, which is at least one unit long. */
static double bar_end(const struct chart *c, size_t m, const struct frames_result *r)
{
    return fmax(svg_at(&c->panels, m, r->wall.median), svg_panel_x(&c->panels, m) + 1);
}

/* ---- The bars -------------------------------------------------------------------------------- */

static void draw_bound(struct chart *c, size_t m)
{
    for (size_t i = 0; i < c->table->rows; i++) {
        const struct frames_result *r = &c->table->results[i][m];
        if (strcmp(c->table->kinds[i]->key, "bound") != 0 || !r->measured)
            continue;
        const double x = bar_end(c, m, r);
        fprintf(c->svg.file,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#111827\" "
                "stroke-width=\"1.2\" stroke-dasharray=\"4 3\"/>\n",
                x, x, TOP, TOP + c->panels.height);
    }
}

static void draw_bar(struct chart *c, size_t i, size_t m, double y)
{
    const struct frames_result *r = &c->table->results[i][m];
    const double x = svg_panel_x(&c->panels, m);
    if (r->measured)
        fprintf(c->svg.file,
                "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1.5\" "
                "fill=\"%s\"/>\n",
                x, y, bar_end(c, m, r) - x, BAR, COLOURS[c->table->kinds[i]->part]);
}

static void write_value(struct chart *c, size_t i, size_t m, double y)
{
    const struct frames_kind *kind = c->table->kinds[i];
    const struct frames_result *r = &c->table->results[i][m];
    char times[32] = "", time[32];
    if (!r->measured) {
        svg_text(&c->svg, svg_panel_x(&c->panels, m) + 6, y + BAR - 2, "none", "not measured");
        return;
    }
    if (kind->part != FRAMES_BOUND && kind != frames_base && kind != frames_read_base &&
        !isnan(r->times.median))
        snprintf(times, sizeof(times), "  (\303\227%.3g)", r->times.median);
    svg_text(&c->svg, bar_end(c, m, r) + 5, y + BAR - 2, "value", "%s%s",
             bench_number(time, r->wall.median), times);
}

/*
 * Draws the bars, or the names and numbers. The names and numbers come last, since they lie above
 * the lines of the bound.
 */
static void draw_rows(struct chart *c, bool numbers)
{
    double y = TOP;
    int part = -1;
    for (size_t i = 0; i < c->table->rows; i++) {
        const struct frames_kind *kind = c->table->kinds[i];
        if (!is_drawn(kind))
            continue;
        if ((int)kind->part != part) {
            if (numbers)
                svg_text(&c->svg, 16, y + HEADING - 9, "part", "%s",
                         frames_part_titles[kind->part]);
            y += HEADING;
        }
        part = (int)kind->part;
        if (numbers)
            svg_text(&c->svg, c->panels.left - 10, y + BAR - 2, "row", "%s", kind->label);
        for (size_t m = 0; m < c->table->meshes; m++)
            (numbers ? write_value : draw_bar)(c, i, m, y);
        y += ROW;
    }
}

static int height_of(const struct frames_table *table)
{
    int height = 6, part = -1;
    for (size_t i = 0; i < table->rows; i++) {
        if (!is_drawn(table->kinds[i]))
            continue;
        height += ROW + ((int)table->kinds[i]->part != part ? HEADING : 0);
        part = (int)table->kinds[i]->part;
    }
    return height;
}

/* ---- The chart ------------------------------------------------------------------------------- */

static void draw_title(struct chart *c, const struct frames *frames)
{
    if (frames->gl_ordinal == FRAMES_SOFTWARE_GL)
        svg_text(&c->svg, 16, 30, "title",
                 "A frame's cost: CUDA works on a GPU, OpenGL draws on the CPU");
    else if (frames->on.ordinal == frames->gl_ordinal)
        svg_text(&c->svg, 16, 30, "title",
                 "A frame's cost: CUDA writes a mesh, OpenGL or Vulkan draws it");
    else
        svg_text(&c->svg, 16, 30, "title",
                 "A frame's cost on two GPUs: CUDA works on device %d, OpenGL or Vulkan draws on "
                 "device %d",
                 frames->on.ordinal, frames->gl_ordinal);
}

static void draw_head(struct chart *c, const struct bench_machine *machine)
{
    const char *slash = strrchr(machine->driver, '/');
    svg_text(&c->svg, 16, 50, "sub", "%s%s, %s, %.10s. Points, drawn into %d \303\227 %d pixels.",
             machine->software ? "NOT A GPU: " : "", machine->device,
             slash ? slash + 1 : machine->driver, machine->date, FRAMES_TARGET, FRAMES_TARGET);
    svg_text(&c->svg, 16, 67, "sub",
             "In brackets: speed-up over raw interop in order, from adjacent blocks. Dashed: both "
             "unsynchronised, the bound.");
    for (size_t m = 0; m < c->table->meshes; m++) {
        const int mesh = c->table->mesh[m];
        const double bytes = (double)mesh * mesh * 16;
        svg_text(&c->svg, svg_panel_x(&c->panels, m) + c->panels.width / 2.0, TOP - 14, "head",
                 "%d \303\227 %d points (%g %s)", mesh, mesh,
                 bytes < 1 << 20 ? bytes / 1024 : bytes / (1 << 20),
                 bytes < 1 << 20 ? "KiB" : "MiB");
    }
}

bool frames_write_svg(const char *path, const struct bench_machine *machine,
                      const struct frames *frames, const struct frames_table *table)
{
    struct chart c = {
        .panels = {.left = 176, .top = TOP, .width = 296, .gap = 48, .height = height_of(table)},
        .table = table};
    const int panels = (int)svg_panel_x(&c.panels, table->meshes) + 10;
    if (!svg_create(&c.svg, path, panels > LEAST_WIDTH ? panels : LEAST_WIDTH,
                    TOP + c.panels.height + BOTTOM))
        return false;
    find_range(&c);
    draw_title(&c, frames);
    draw_head(&c, machine);
    for (size_t m = 0; m < table->meshes; m++)
        svg_grid(&c.svg, &c.panels, m, "axis", "\302\265s per frame, logarithmic");
    draw_rows(&c, false);
    for (size_t m = 0; m < table->meshes; m++)
        draw_bound(&c, m);
    draw_rows(&c, true);
    return svg_finish(&c.svg);
}
