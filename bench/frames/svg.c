/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws what was measured as one SVG chart: a panel for each mesh, a bar for each row, microseconds
 * a frame on a logarithmic axis. A dashed line marks the bound, what both sides take when nobody
 * waits.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/frames/frames.h"

enum {
    LEFT = 176,  /* of the first panel: the rows' names */
    TOP = 112,   /* of the panels */
    PANEL = 296, /* wide, without the gap */
    GAP = 48,
    ROW = 21,
    BAR = 13,
    HEADING = 26, /* of a part, above its rows */
    BOTTOM = 62,
    LEAST_WIDTH = 880 /* of the words above the panels */
};

struct chart {
    FILE *file;
    const struct frames_table *table;
    double low, high; /* of the axis, powers of ten */
    int height;       /* of the panels */
};

static const char *const COLOURS[FRAMES_PARTS] = {
    [FRAMES_BOUND] = "#8a94a6",       [FRAMES_IN_ORDER] = "#c2410c", [FRAMES_IN_FLIGHT] = "#2563a8",
    [FRAMES_HAND] = "#7c3aed",        [FRAMES_VULKAN] = "#0f766e",   [FRAMES_READ] = "#a16207",
    [FRAMES_VULKAN_READ] = "#4d7c0f", [FRAMES_WHY] = "#6b7280",      [FRAMES_WHY_COPY] = "#6b7280",
};

static void escaped(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", file);
        else
            fputc(*text, file);
    }
}

static void words(FILE *file, double x, double y, const char *style, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    escaped(file, text);
    fputs("</text>\n", file);
}

static bool is_drawn(const struct frames_kind *kind)
{
    return kind->part != FRAMES_WHY && kind->part != FRAMES_WHY_COPY;
}

/* ---- The axis -------------------------------------------------------------------------------- */

static int panel_x(size_t mesh)
{
    return LEFT + (int)mesh * (PANEL + GAP);
}

static double along(const struct chart *c, double us)
{
    double part = log10(us / c->low) / log10(c->high / c->low);
    return fmax(part, 0.004) * PANEL;
}

static void find_range(struct chart *c)
{
    c->low = INFINITY;
    c->high = 0;
    for (size_t i = 0; i < c->table->rows; i++)
        for (size_t m = 0; m < c->table->meshes; m++) {
            const struct frames_result *r = &c->table->results[i][m];
            if (!r->measured || !is_drawn(c->table->kinds[i]))
                continue;
            c->low = fmin(c->low, r->wall.median);
            c->high = fmax(c->high, r->wall.median);
        }
    if (c->high == 0)
        c->low = c->high = 1;
    c->low = pow(10, floor(log10(c->low)));
    /* Room for the last number beside its bar. */
    c->high = pow(10, ceil(log10(c->high * 2)));
}

static void draw_grid(const struct chart *c, size_t m)
{
    const double x = panel_x(m);
    for (double us = c->low; us < c->high * 1.01; us *= 10) {
        char text[32];
        fprintf(c->file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#d5dae2\"/>\n",
                x + along(c, us), x + along(c, us), TOP, TOP + c->height);
        snprintf(text, sizeof(text), "%g", us);
        words(c->file, x + along(c, us), TOP + c->height + 16, "class=\"tick\"", text);
    }
    words(c->file, x + PANEL / 2.0, TOP + c->height + 34, "class=\"axis\"",
          "\302\265s a frame, logarithmic");
}

/* ---- The bars -------------------------------------------------------------------------------- */

static void draw_bound(const struct chart *c, size_t m)
{
    for (size_t i = 0; i < c->table->rows; i++) {
        const struct frames_result *r = &c->table->results[i][m];
        if (strcmp(c->table->kinds[i]->key, "bound") != 0 || !r->measured)
            continue;
        double x = panel_x(m) + along(c, r->wall.median);
        fprintf(c->file,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#111827\" "
                "stroke-width=\"1.2\" stroke-dasharray=\"4 3\"/>\n",
                x, x, TOP, TOP + c->height);
    }
}

static void draw_bar(const struct chart *c, size_t i, size_t m, double y)
{
    const struct frames_result *r = &c->table->results[i][m];
    if (r->measured)
        fprintf(c->file,
                "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1.5\" "
                "fill=\"%s\"/>\n",
                panel_x(m), y, along(c, r->wall.median), BAR, COLOURS[c->table->kinds[i]->part]);
}

static void write_value(const struct chart *c, size_t i, size_t m, double y)
{
    const struct frames_kind *kind = c->table->kinds[i];
    const struct frames_result *r = &c->table->results[i][m];
    char text[96], time[32];
    if (!r->measured) {
        words(c->file, panel_x(m) + 6, y + BAR - 2, "class=\"none\"", "not measured");
        return;
    }
    bench_number(time, r->wall.median);
    if (kind->part == FRAMES_BOUND || kind == frames_base || kind == frames_read_base ||
        isnan(r->times.median))
        snprintf(text, sizeof(text), "%s", time);
    else
        snprintf(text, sizeof(text), "%s  (\303\227%.3g)", time, r->times.median);
    words(c->file, panel_x(m) + along(c, r->wall.median) + 5, y + BAR - 2, "class=\"value\"", text);
}

/* All bars, then, with the names, the numbers, which lie above the lines that mark the bound. */
static void draw_rows(const struct chart *c, bool numbers)
{
    double y = TOP;
    int part = -1;
    for (size_t i = 0; i < c->table->rows; i++) {
        const struct frames_kind *kind = c->table->kinds[i];
        if (!is_drawn(kind))
            continue;
        if ((int)kind->part != part) {
            if (numbers)
                words(c->file, 16, y + HEADING - 9, "class=\"part\"",
                      frames_part_titles[kind->part]);
            y += HEADING;
        }
        part = (int)kind->part;
        if (numbers)
            words(c->file, LEFT - 10, y + BAR - 2, "class=\"row\"", kind->label);
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

/* ---- The whole ------------------------------------------------------------------------------- */

static const char STYLE[] =
    "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#1f2937}"
    ".title{font-size:17px;font-weight:bold}.sub{font-size:11.5px;fill:#4b5563}"
    ".mesh{font-size:13px;font-weight:bold;text-anchor:middle}"
    ".part{font-size:11.5px;font-weight:bold}.row{font-size:11.5px;text-anchor:end}"
    ".value{font-size:10.5px;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".tick{font-size:10.5px;text-anchor:middle;fill:#4b5563}"
    ".axis{font-size:11px;text-anchor:middle;fill:#4b5563}"
    ".none{font-size:10.5px;fill:#9ca3af}</style>\n";

static void draw_head(const struct chart *c, const struct frames_facts *facts)
{
    char text[1024];
    if (facts->gl_ordinal == FRAMES_SOFTWARE_GL)
        snprintf(text, sizeof(text),
                 "A frame's cost: CUDA works on a GPU, OpenGL draws on the processor");
    else if (facts->ordinal == facts->gl_ordinal)
        snprintf(text, sizeof(text),
                 "A frame's cost: CUDA writes a mesh, OpenGL or Vulkan draws it");
    else
        snprintf(text, sizeof(text),
                 "A frame's cost on two GPUs: CUDA works on device %d, OpenGL or Vulkan draws on "
                 "device %d",
                 facts->ordinal, facts->gl_ordinal);
    words(c->file, 16, 30, "class=\"title\"", text);
    const char *slash = strrchr(facts->machine.driver, '/');
    snprintf(text, sizeof(text), "%s%s, %s, %.10s. Points, drawn into %d \303\227 %d pixels.",
             facts->machine.software ? "NOT A GPU: " : "", facts->machine.device,
             slash ? slash + 1 : facts->machine.driver, facts->machine.date, FRAMES_TARGET,
             FRAMES_TARGET);
    words(c->file, 16, 50, "class=\"sub\"", text);
    words(c->file, 16, 67, "class=\"sub\"",
          "In brackets: times the frames of raw interop in order, in blocks beside each other. "
          "Dashed: both sides unsynchronised, the bound.");
    for (size_t m = 0; m < c->table->meshes; m++) {
        double bytes = (double)c->table->mesh[m] * c->table->mesh[m] * 16;
        snprintf(text, sizeof(text), "%d \303\227 %d points (%g %s)", c->table->mesh[m],
                 c->table->mesh[m], bytes < 1 << 20 ? bytes / 1024 : bytes / (1 << 20),
                 bytes < 1 << 20 ? "KiB" : "MiB");
        words(c->file, panel_x(m) + PANEL / 2.0, TOP - 14, "class=\"mesh\"", text);
    }
}

bool frames_write_svg(const char *path, const struct frames_facts *facts,
                      const struct frames_table *table)
{
    struct chart c = {.file = bench_create(path), .table = table, .height = height_of(table)};
    if (!c.file)
        return false;
    const int panels = panel_x(table->meshes) + 10;
    const int width = panels > LEAST_WIDTH ? panels : LEAST_WIDTH, height = TOP + c.height + BOTTOM;
    find_range(&c);
    fprintf(c.file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, STYLE, width, height);
    draw_head(&c, facts);
    for (size_t m = 0; m < table->meshes; m++)
        draw_grid(&c, m);
    draw_rows(&c, false);
    for (size_t m = 0; m < table->meshes; m++)
        draw_bound(&c, m);
    draw_rows(&c, true);
    fputs("</svg>\n", c.file);
    return bench_finish(c.file, path);
}
