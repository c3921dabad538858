/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws what was measured as one SVG chart: a panel for each rate, a line for each row, from the
 * median to the worst frame, with a mark at the 99th percentile; microseconds from the kernel's end
 * to the draw's end on a logarithmic axis.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/latency/latency.h"

enum {
    LEFT = 190, /* of the first panel: the rows' names */
    TOP = 106,
    PANEL = 250, /* wide, without the gap */
    GAP = 40,
    ROW = 24,
    BOTTOM = 58,
    LEAST_WIDTH = 900 /* of the words above the panels */
};

struct chart {
    FILE *file;
    const struct latency_table *table;
    double low, high; /* of the axis, powers of ten */
    int height;
};

static const char STYLE[] =
    "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#1f2937}"
    ".title{font-size:17px;font-weight:bold}.sub{font-size:11.5px;fill:#4b5563}"
    ".rate{font-size:13px;font-weight:bold;text-anchor:middle}.row{font-size:11.5px;"
    "text-anchor:end}.value{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".tick{font-size:10.5px;text-anchor:middle;fill:#4b5563}"
    ".none{font-size:10.5px;fill:#9ca3af}</style>\n";

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

static void words(FILE *file, double x, double y, const char *style, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", file);
        else
            fputc(*text, file);
    }
    fputs("</text>\n", file);
}

static void line(FILE *file, double x1, double y1, double x2, double y2, const char *colour,
                 double width)
{
    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"%g\"/>\n",
            x1, y1, x2, y2, colour, width);
}

/* ---- The axis -------------------------------------------------------------------------------- */

static int panel_x(size_t rate)
{
    return LEFT + (int)rate * (PANEL + GAP);
}

static double along(const struct chart *c, double us)
{
    const double part = log10(fmax(us, c->low) / c->low) / log10(c->high / c->low);
    return part * PANEL;
}

static void find_range(struct chart *c)
{
    c->low = INFINITY;
    c->high = 1;
    for (size_t i = 0; i < c->table->rows; i++)
        for (size_t r = 0; r < c->table->rates; r++) {
            const struct latency_cell *cell = &c->table->cells[i][r];
            if (!cell->measured || !is_drawn(c->table, i))
                continue;
            c->low = fmin(c->low, fmax(cell->hand_over.p50, 0.1));
            c->high = fmax(c->high, cell->hand_over.worst);
        }
    if (!isfinite(c->low))
        c->low = 0.1;
    c->low = pow(10, floor(log10(c->low)));
    c->high = pow(10, ceil(log10(c->high * 1.5)));
}

static void draw_grid(const struct chart *c, size_t rate)
{
    char text[48];
    for (double us = c->low; us < c->high * 1.01; us *= 10) {
        const double x = panel_x(rate) + along(c, us);
        line(c->file, x, TOP, x, TOP + c->height, "#d5dae2", 1);
        snprintf(text, sizeof(text), "%g", us);
        words(c->file, x, TOP + c->height + 16, "tick", text);
    }
    words(c->file, panel_x(rate) + PANEL / 2.0, TOP - 12, "rate",
          latency_rate_text(text, c->table->rate[rate]));
    words(c->file, panel_x(rate) + PANEL / 2.0, TOP + c->height + 34, "tick",
          "\302\265s, logarithmic");
}

/* ---- The rows -------------------------------------------------------------------------------- */

static void draw_cell(const struct chart *c, size_t row, size_t rate, double y)
{
    const struct latency_cell *cell = &c->table->cells[row][rate];
    const struct latency_times *t = &cell->hand_over;
    const double left = panel_x(rate);
    char text[100], n[2][32];
    if (!cell->measured) {
        words(c->file, left + 6, y + 4, "none", "not measured");
        return;
    }
    const char *colour = colour_of(c->table->row[row]);
    line(c->file, left + along(c, t->p50), y, left + along(c, t->worst), y, colour, 2);
    fprintf(c->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"%s\"/>\n",
            left + along(c, t->p50), y, colour);
    if (!isnan(t->p99))
        line(c->file, left + along(c, t->p99), y - 6, left + along(c, t->p99), y + 6, colour, 2);
    snprintf(text, sizeof(text), "%s \342\200\246 %s", bench_number(n[0], t->p50),
             bench_number(n[1], t->worst));
    words(c->file, left + along(c, t->p50) + 6, y - 5, "value", text);
}

static void draw_rows(const struct chart *c)
{
    double y = TOP + ROW / 2.0 + 4;
    for (size_t i = 0; i < c->table->rows; i++) {
        if (!is_drawn(c->table, i))
            continue;
        words(c->file, LEFT - 10, y + 4, "row", c->table->row[i]->label);
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

static void draw_head(const struct chart *c, const struct latency_facts *facts)
{
    char text[1024];
    words(c->file, 16, 30, "title", "From CUDA's kernel to the end of the draw");
    snprintf(text, sizeof(text),
             "%s%s, %.10s. A mesh of %d \303\227 %d points; CUDA on device %d, drawing on "
             "device %d.",
             facts->machine.software ? "NOT A GPU: " : "", facts->machine.device,
             facts->machine.date, facts->mesh, facts->mesh, facts->ordinal, facts->gl_ordinal);
    words(c->file, 16, 50, "sub", text);
    words(c->file, 16, 67, "sub",
          "Dot: the median frame; line: up to the worst; mark: the 99th percentile.");
}

bool latency_write_svg(const char *path, const struct latency_facts *facts,
                       const struct latency_table *table)
{
    struct chart c = {.file = bench_create(path), .table = table, .height = height_of(table)};
    if (!c.file)
        return false;
    const int panels = panel_x(table->rates) + 20;
    const int width = panels > LEAST_WIDTH ? panels : LEAST_WIDTH, height = TOP + c.height + BOTTOM;
    find_range(&c);
    fprintf(c.file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, STYLE, width, height);
    draw_head(&c, facts);
    for (size_t r = 0; r < table->rates; r++)
        draw_grid(&c, r);
    draw_rows(&c);
    fputs("</svg>\n", c.file);
    return bench_finish(c.file, path);
}
