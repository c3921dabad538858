/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws what was measured as one SVG chart: a column for each size, a panel for each quantity, a
 * line for each kind; both axes are logarithmic.
 */
#include <math.h>

#include "bench/scale/scale.h"

enum { LEFT = 110, TOP = 84, WIDTH = 230, HEIGHT = 150, GAP_X = 44, GAP_Y = 46, QUANTITIES = 4 };

static const char STYLE[] =
    "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#1f2937;font-size:11px}"
    ".title{font-size:17px;font-weight:bold}.head{font-size:13px;font-weight:bold;"
    "text-anchor:middle}.tick{font-size:10px;fill:#4b5563;text-anchor:end}"
    ".number{font-size:10px;fill:#4b5563;text-anchor:middle}</style>\n";

static const char *const colours[SCALE_KINDS] = {"#c2410c", "#6b7280", "#0f766e", "#2563a8",
                                                 "#7c3aed"};

static const struct quantity {
    const char *text;
    double low, high; /* of the axis, powers of ten */
} quantities[QUANTITIES] = {
    {"create, us each", 1, 10000},
    {"map and release, us each", 0.01, 1000},
    {"device memory, KiB each", 1, 10000},
    {"a ring's frame, us", 1, 10000},
};

static double value_of(const struct scale_cell *cell, unsigned quantity)
{
    const double values[QUANTITIES] = {cell->create_us, cell->map_us + cell->release_us,
                                       cell->memory / 1024, cell->frame_us};
    return cell->wanted ? values[quantity] : NAN;
}

static double x_of(unsigned size, double number)
{
    return LEFT + size * (WIDTH + GAP_X) + (log10(number) - 1) / 3 * WIDTH;
}

static double y_of(unsigned quantity, double value)
{
    const struct quantity *q = &quantities[quantity];
    double part = log10(fmin(fmax(value, q->low), q->high) / q->low) / log10(q->high / q->low);
    return TOP + quantity * (HEIGHT + GAP_Y) + HEIGHT * (1 - part);
}

static void draw_grid(FILE *file, unsigned size, unsigned quantity)
{
    const struct quantity *q = &quantities[quantity];
    for (double v = q->low; v < q->high * 1.01; v *= 10) {
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d5dae2\"/>",
                x_of(size, 10), y_of(quantity, v), x_of(size, 10000), y_of(quantity, v));
        if (size == 0)
            fprintf(file, "<text x=\"%d\" y=\"%.1f\" class=\"tick\">%g</text>", LEFT - 6,
                    y_of(quantity, v) + 3, v);
    }
    for (unsigned i = 0; i < SCALE_NUMBERS; i++)
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"number\">%u</text>\n",
                x_of(size, scale_numbers[i]), y_of(quantity, q->low) + 14, scale_numbers[i]);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x_of(size, 10),
            y_of(quantity, q->high) - 6, q->text);
}

static void draw_line(FILE *file, unsigned kind, unsigned size, unsigned quantity,
                      const struct scale_cell cells[SCALE_NUMBERS])
{
    double x = NAN, y = NAN;
    for (unsigned i = 0; i < SCALE_NUMBERS; i++) {
        double value = value_of(&cells[i], quantity);
        if (!isfinite(value) || cells[i].count == 0)
            continue;
        double to_x = x_of(size, fmax(cells[i].count, 10)), to_y = y_of(quantity, value);
        if (isfinite(x))
            fprintf(file,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                    "stroke-width=\"2\"/>",
                    x, y, to_x, to_y, colours[kind]);
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", to_x, to_y,
                colours[kind]);
        x = to_x;
        y = to_y;
    }
}

bool scale_write_svg(const char *path, const struct bench_machine *machine,
                     const struct scale_table *table)
{
    const int width = LEFT + SCALE_SIZES * (WIDTH + GAP_X);
    const int height = TOP + QUANTITIES * (HEIGHT + GAP_Y);
    FILE *file = bench_create(path);
    if (!file)
        return false;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height, STYLE);
    fprintf(file,
            "<text x=\"16\" y=\"24\" class=\"title\">What each of many resources costs</text>\n"
            "<text x=\"16\" y=\"42\">%s, %s, %s%s</text>\n",
            machine->device, machine->driver, machine->date,
            machine->software ? " (software: says nothing about a GPU)" : "");
    for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
        fprintf(file, "<text x=\"%d\" y=\"24\" style=\"fill:%s;font-weight:bold\">%s</text>\n",
                width - 330 + (int)kind * 64, colours[kind], scale_kinds[kind]);
    for (unsigned size = 0; size < SCALE_SIZES; size++) {
        fprintf(file, "<text x=\"%.1f\" y=\"62\" class=\"head\">%s each</text>\n", x_of(size, 316),
                scale_size_text[size]);
        for (unsigned q = 0; q < QUANTITIES; q++) {
            draw_grid(file, size, q);
            for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
                draw_line(file, kind, size, q, table->cells[kind][size]);
        }
    }
    fputs("</svg>\n", file);
    return bench_finish(file, path);
}
