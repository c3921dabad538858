/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Draws the results as one SVG chart, with a column per size, a panel per quantity, and a line per
 * kind. Both axes are logarithmic.
 */
#include <math.h>

#include "bench/bench_svg.h"
#include "bench/scale/scale.h"

enum { LEFT = 110, TOP = 84, WIDTH = 230, HEIGHT = 150, GAP_X = 44, GAP_Y = 46, QUANTITIES = 4 };

static const char *const colours[SCALE_KINDS] = {"#c2410c", "#6b7280", "#0f766e", "#2563a8",
                                                 "#7c3aed"};

static const struct quantity {
    const char *text;
    double low, high; /* the range of the axis, in powers of ten */
} quantities[QUANTITIES] = {
    {"create, us each", 1, 10000},
    {"map and release, us each", 0.01, 1000},
    {"device memory, KiB each", 1, 10000},
    {"ring frame, us", 1, 10000},
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
    return TOP + quantity * (HEIGHT + GAP_Y) + HEIGHT * (1 - svg_part(q->low, q->high, value));
}

static void draw_grid(struct svg *svg, unsigned size, unsigned quantity)
{
    const struct quantity *q = &quantities[quantity];
    for (double v = q->low; v < q->high * 1.01; v *= 10) {
        const double y = y_of(quantity, v);
        svg_line(svg, x_of(size, 10), y, x_of(size, 10000), y, "#d5dae2", 1);
        if (size == 0)
            svg_text(svg, LEFT - 6, y + 3, "left", "%g", v);
    }
    for (unsigned i = 0; i < SCALE_NUMBERS; i++)
        svg_text(svg, x_of(size, scale_numbers[i]), y_of(quantity, q->low) + 14, "number", "%u",
                 scale_numbers[i]);
    svg_text(svg, x_of(size, 10), y_of(quantity, q->high) - 6, "", "%s", q->text);
}

static void draw_line(struct svg *svg, unsigned kind, unsigned size, unsigned quantity,
                      const struct scale_cell cells[SCALE_NUMBERS])
{
    double x = NAN, y = NAN;
    for (unsigned i = 0; i < SCALE_NUMBERS; i++) {
        double value = value_of(&cells[i], quantity);
        if (!isfinite(value) || cells[i].count == 0)
            continue;
        double to_x = x_of(size, fmax(cells[i].count, 10)), to_y = y_of(quantity, value);
        if (isfinite(x))
            svg_line(svg, x, y, to_x, to_y, colours[kind], 2);
        svg_dot(svg, to_x, to_y, 3, colours[kind]);
        x = to_x;
        y = to_y;
    }
}

bool scale_write_svg(const char *path, const struct bench_machine *machine,
                     const struct scale_table *table)
{
    const int width = LEFT + SCALE_SIZES * (WIDTH + GAP_X);
    const int height = TOP + QUANTITIES * (HEIGHT + GAP_Y);
    struct svg svg;
    if (!svg_create(&svg, path, width, height))
        return false;
    svg_text(&svg, 16, 24, "title", "Cost per resource, by number of resources");
    svg_machine(&svg, 16, 42, machine);
    for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
        svg_name(&svg, width - 330 + (int)kind * 64, 24, colours[kind], scale_kinds[kind]);
    for (unsigned size = 0; size < SCALE_SIZES; size++) {
        svg_text(&svg, x_of(size, 316), 62, "head", "%s each", scale_size_text[size]);
        for (unsigned q = 0; q < QUANTITIES; q++) {
            draw_grid(&svg, size, q);
            for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
                draw_line(&svg, kind, size, q, table->cells[kind][size]);
        }
    }
    return svg_finish(&svg);
}
