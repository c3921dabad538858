/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Draws the results as one SVG chart. There is a panel per rate, and a line per row from the median
 * to the worst frame, with a mark at the 99th percentile. The logarithmic axis shows microseconds
 * from the end of the kernel to the end of the draw.
 */
#include <math.h>
#include <string.h>

#include "bench/bench_svg.h"
#include "bench/latency/latency.h"

enum {
    TOP = 106,
    ROW = 24,
    BOTTOM = 58,
    LEAST_WIDTH = 900 /* the width that the text above the panels needs */
};

struct chart {
    struct svg svg;
    struct svg_panels panels;
    const struct latency_table *table;
};

static const char *colour_of(const struct latency_row *row)
{
    if (row->draws == LATENCY_VULKAN)
        return "#0f766e";
    if (strcmp(row->frames_key, "grinterop") == 0)
        return "#c2410c";
    return strcmp(row->frames_key, "hand/1") == 0 ? "#7c3aed" : "#2563a8";
}

static bool is_drawn(const struct latency_table *table, size_t row)
{
    return strcmp(table->row[row]->frames_key, "bound") != 0;
}

static void find_range(struct chart *c)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < c->table->rows; i++)
        for (size_t r = 0; r < c->table->rates; r++) {
            const struct latency_cell *cell = &c->table->cells[i][r];
            if (!cell->measured || !is_drawn(c->table, i))
                continue;
            low = fmin(low, fmax(cell->hand_over.p50, 0.1));
            high = fmax(high, cell->hand_over.worst * 1.5);
        }
    svg_set_range(&c->panels, low, high);
}

static void draw_grid(struct chart *c, size_t rate)
{
    char text[48];
    svg_grid(&c->svg, &c->panels, rate, "tick", "\302\265s, logarithmic");
    svg_text(&c->svg, svg_panel_x(&c->panels, rate) + c->panels.width / 2.0, TOP - 12, "head", "%s",
             latency_rate_text(text, c->table->rate[rate]));
}

/* ---- The rows -------------------------------------------------------------------------------- */

static void draw_cell(struct chart *c, size_t row, size_t rate, double y)
{
    const struct latency_cell *cell = &c->table->cells[row][rate];
    const struct latency_times *t = &cell->hand_over;
    char n[2][32];
    if (!cell->measured) {
        svg_text(&c->svg, svg_panel_x(&c->panels, rate) + 6, y + 4, "none", "not measured");
        return;
    }
    const char *colour = colour_of(c->table->row[row]);
    const double middle = svg_at(&c->panels, rate, t->p50);
    svg_line(&c->svg, middle, y, svg_at(&c->panels, rate, t->worst), y, colour, 2);
    svg_dot(&c->svg, middle, y, 4.5, colour);
    if (!isnan(t->p99)) {
        const double x = svg_at(&c->panels, rate, t->p99);
        svg_line(&c->svg, x, y - 6, x, y + 6, colour, 2);
    }
    svg_text(&c->svg, middle + 6, y - 5, "small", "%s \342\200\246 %s", bench_number(n[0], t->p50),
             bench_number(n[1], t->worst));
}

static void draw_rows(struct chart *c)
{
    double y = TOP + ROW / 2.0 + 4;
    for (size_t i = 0; i < c->table->rows; i++) {
        if (!is_drawn(c->table, i))
            continue;
        svg_text(&c->svg, c->panels.left - 10, y + 4, "row", "%s", c->table->row[i]->label);
        for (size_t r = 0; r < c->table->rates; r++)
            draw_cell(c, i, r, y);
        y += ROW;
    }
}

static int height_of(const struct latency_table *table)
{
    int height = 6;
    for (size_t i = 0; i < table->rows; i++)
        height += is_drawn(table, i) ? ROW : 0;
    return height;
}

static void draw_head(struct chart *c, const struct bench_machine *machine,
                      const struct frames *frames, int mesh)
{
    svg_text(&c->svg, 16, 30, "title", "From the end of the CUDA kernel to the end of the draw");
    svg_text(
        &c->svg, 16, 50, "sub",
        "%s%s, %.10s. A mesh of %d \303\227 %d points; CUDA on device %d, drawing on device %d.",
        machine->software ? "NOT A GPU: " : "", machine->device, machine->date, mesh, mesh,
        frames->on.ordinal, frames->gl_ordinal);
    svg_text(&c->svg, 16, 67, "sub",
             "Dot: the median frame; line: up to the worst; mark: the 99th percentile.");
}

bool latency_write_svg(const char *path, const struct bench_machine *machine,
                       const struct frames *frames, int mesh, const struct latency_table *table)
{
    struct chart c = {
        .panels = {.left = 190, .top = TOP, .width = 250, .gap = 40, .height = height_of(table)},
        .table = table};
    const int panels = (int)svg_panel_x(&c.panels, table->rates) + 20;
    if (!svg_create(&c.svg, path, panels > LEAST_WIDTH ? panels : LEAST_WIDTH,
                    TOP + c.panels.height + BOTTOM))
        return false;
    find_range(&c);
    draw_head(&c, machine, frames, mesh);
    for (size_t r = 0; r < table->rates; r++)
        draw_grid(&c, r);
    draw_rows(&c);
    return svg_finish(&c.svg);
}
