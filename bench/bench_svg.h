/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes SVG charts: text, lines and dots, and panels side by side with a shared logarithmic axis.
 *
 * Text styles are the classes that bench_svg.c defines, such as "title" or "tick".
 */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/bench.h"

struct svg {
    FILE *file;
    const char *path;
};

/* Opens the file and paints a white background. False after an error, which has been printed. */
bool svg_create(struct svg *svg, const char *path, int width, int height);

/* Completes and closes the file. False after an error, which has been printed. */
bool svg_finish(struct svg *svg);

void svg_text(struct svg *svg, double x, double y, const char *style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Draws a legend entry in this colour. */
void svg_name(struct svg *svg, double x, double y, const char *colour, const char *name);
void svg_machine(struct svg *svg, double x, double y, const struct bench_machine *machine);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *colour,
              double width);
void svg_dot(struct svg *svg, double x, double y, double radius, const char *colour);

/* The position of a value on a logarithmic axis, from 0 to 1. */
double svg_part(double low, double high, double value);

/* ---- Panels ---------------------------------------------------------------------------------- */

struct svg_panels {
    int left, top;  /* the position of the first panel */
    int width, gap; /* the width of each panel, and the gap between panels */
    int height;
    double low, high; /* the range of the axis, in powers of ten */
};

/*
 * Sets the range to the powers of ten that enclose these values. If `high` is 0, the range is 1 to
 * 10.
 */
void svg_set_range(struct svg_panels *panels, double low, double high);
double svg_panel_x(const struct svg_panels *panels, size_t panel);

/* The x coordinate of a value in a panel. */
double svg_at(const struct svg_panels *panels, size_t panel, double value);

/* Draws the grid lines with their numbers, and the label `axis` below the grid. */
void svg_grid(struct svg *svg, const struct svg_panels *panels, size_t panel, const char *style,
              const char *axis);

#endif
