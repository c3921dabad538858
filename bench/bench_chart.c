/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Draws the results as an SVG chart: a panel for each size, and in it a bar for each row. The
 * logarithmic axis shows the first value of each result.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <string.h>

#include "bench/bench.h"

enum {
    TOP = 96, /* the top of the panels */
    LEFT = 224,
    WIDTH = 296, /* of a panel */
    GAP = 48,    /* between panels */
    ROW = 21,
    BAR = 13,
    HEADING = 26, /* the height of the heading of a part, above its rows */
    BOTTOM = 56,
    LEAST_WIDTH = 880 /* the width that the text above the panels needs */
};

static const char STYLE[] =
    "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#1f2937;font-size:11.5px}"
    ".title{font-size:17px;font-weight:bold}.sub{fill:#4b5563}"
    ".head{font-size:13px;font-weight:bold;text-anchor:middle}.part{font-weight:bold}"
    ".row{text-anchor:end}.value{font-size:10.5px}"
    ".tick{font-size:10.5px;text-anchor:middle;fill:#4b5563}"
    ".axis{font-size:11px;text-anchor:middle;fill:#4b5563}"
    ".none{font-size:10.5px;fill:#9ca3af}</style>\n";

static const char *const COLOURS[] = {"#8a94a6", "#c2410c", "#2563a8", "#7c3aed",
                                      "#0f766e", "#a16207", "#4d7c0f", "#be185d"};

struct chart {
    FILE *file;
    /* the results with the first size that has their name: one for each row of the chart */
    size_t rows[BENCH_RESULTS], row_count;
    const char *sizes[8];
    size_t size_count;
    double low, high; /* the range of the axis: powers of ten */
    int height;       /* of the panels */
};

static void put_text(const struct chart *c, double x, double y, const char *style,
                     const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(c->file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '<' || *at == '&')
            fputs(*at == '<' ? "&lt;" : "&amp;", c->file);
        else
            fputc(*at, c->file);
    }
    fputs("</text>\n", c->file);
}

static void put_line(const struct chart *c, double x, const char *style)
{
    fprintf(c->file, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" %s/>\n", x, TOP, x,
            TOP + c->height, style);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static const struct bench_result *find(const char *name, const char *size)
{
    for (size_t i = 0; i < bench_result_count; i++)
        if (strcmp(bench_results[i].name, name) == 0 && strcmp(bench_results[i].size, size) == 0)
            return &bench_results[i];
    return NULL;
}

static void add(struct chart *c, size_t index)
{
    const struct bench_result *result = &bench_results[index];
    size_t size = 0;
    while (size < c->size_count && strcmp(c->sizes[size], result->size) != 0)
        size++;
    if (size == c->size_count && size < sizeof(c->sizes) / sizeof(*c->sizes))
        c->sizes[c->size_count++] = result->size;
    for (size_t i = 0; i < c->row_count; i++)
        if (strcmp(bench_results[c->rows[i]].name, result->name) == 0)
            return;
    const bool same_part =
        c->row_count && bench_results[c->rows[c->row_count - 1]].part == result->part;
    c->height += ROW + (same_part ? 0 : HEADING);
    c->rows[c->row_count++] = index;
}

static void lay_out(struct chart *c)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < bench_result_count; i++) {
        const double value = bench_results[i].values[0].of.median;
        add(c, i);
        if (!bench_results[i].measured || !(value > 0))
            continue;
        low = fmin(low, value);
        high = fmax(high, value * 2); /* leaves room for the number beside the bar */
    }
    c->low = pow(10, floor(log10(high > 0 ? low : 1)));
    c->high = pow(10, ceil(log10(high > 0 ? high : 2)));
}

static double panel(size_t size)
{
    return LEFT + (double)size * (WIDTH + GAP);
}

static double at(const struct chart *c, size_t size, double value)
{
    const double inside = fmin(fmax(value, c->low), c->high);
    return panel(size) + 1 + log10(inside / c->low) / log10(c->high / c->low) * (WIDTH - 1);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static void draw_panel(const struct chart *c, size_t size)
{
    put_text(c, panel(size) + WIDTH / 2.0, TOP - 14, "head", "%s", c->sizes[size]);
    for (double value = c->low; value < c->high * 1.01; value *= 10) {
        put_line(c, at(c, size, value), "stroke=\"#d5dae2\"");
        put_text(c, at(c, size, value), TOP + c->height + 16, "tick", "%g", value);
    }
    put_text(c, panel(size) + WIDTH / 2.0, TOP + c->height + 34, "axis", "%s, logarithmic",
             bench_setup.chart.axis);
}

static void draw_bar(const struct chart *c, const struct bench_result *row, size_t size, double y,
                     size_t part)
{
    const struct bench_result *result = find(row->name, c->sizes[size]);
    if (!result)
        return;
    if (!result->measured) {
        put_text(c, panel(size) + 6, y + BAR - 2, "none", "not measured");
        return;
    }
    const double end = at(c, size, result->values[0].of.median);
    const char *beside = bench_setup.chart.beside;
    const double value = beside ? bench_value(result, beside).median : NAN;
    char number[32];
    fprintf(c->file,
            "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1.5\" "
            "fill=\"%s\"/>\n",
            panel(size), y, end - panel(size), BAR,
            COLOURS[part % (sizeof(COLOURS) / sizeof(*COLOURS))]);
    bench_number(number, result->values[0].of.median);
    if (isnan(value))
        put_text(c, end + 5, y + BAR - 2, "value", "%s", number);
    else
        put_text(c, end + 5, y + BAR - 2, "value", "%s  (\303\227%.3g)", number, value);
}

static void draw_rows(const struct chart *c)
{
    double y = TOP;
    size_t part = 0;
    for (size_t i = 0; i < c->row_count; i++) {
        const struct bench_result *row = &bench_results[c->rows[i]];
        const bool begins = i == 0 || bench_results[c->rows[i - 1]].part != row->part;
        if (begins) {
            put_text(c, 16, y + HEADING - 9, "part", "%s", row->part);
            y += HEADING;
            part += i > 0;
        }
        put_text(c, LEFT - 10, y + BAR - 2, "row", "%s", *row->what ? row->what : row->name);
        for (size_t size = 0; size < c->size_count; size++)
            draw_bar(c, row, size, y, part);
        y += ROW;
    }
}

static void draw_head(const struct chart *c, const struct bench_machine *machine)
{
    const char *slash = strrchr(machine->driver, '/');
    const struct bench_chart *chart = &bench_setup.chart;
    put_text(c, 16, 30, "title", "%s", chart->title);
    put_text(c, 16, 50, "sub", "%s%s, %s, %.10s", machine->software ? "NOT A GPU: " : "",
             machine->device, slash ? slash + 1 : machine->driver, machine->date);
    put_text(c, 16, 67, "sub", "%s%s%s%s", chart->beside ? "In brackets: " : "",
             chart->beside ? chart->beside : "", chart->line ? ". Dashed: " : "",
             chart->line ? chart->line : "");
}

bool bench_write_chart(const char *path, const struct bench_machine *machine)
{
    static struct chart c;
    c.file = bench_create(path);
    if (!c.file)
        return false;
    lay_out(&c);
    const int right = (int)panel(c.size_count) + 10, height = TOP + c.height + BOTTOM;
    const int width = right > LEAST_WIDTH ? right : LEAST_WIDTH;
    fprintf(c.file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, STYLE, width, height);
    draw_head(&c, machine);
    for (size_t size = 0; size < c.size_count; size++) {
        const char *line = bench_setup.chart.line;
        const struct bench_result *bound = line ? find(line, c.sizes[size]) : NULL;
        draw_panel(&c, size);
        if (bound && bound->measured)
            put_line(&c, at(&c, size, bound->values[0].of.median),
                     "stroke=\"#111827\" stroke-width=\"1.2\" stroke-dasharray=\"4 3\"");
    }
    draw_rows(&c);
    fputs("</svg>\n", c.file);
    return bench_finish(c.file, path);
}
