/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes SVG charts: texts, lines and dots, and panels side by side that share a logarithmic axis.
 *
 * The style of a text is one of the classes that bench_svg.c defines, such as "title" or "tick".
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

/* Begins the file and paints it white; false after an error, which has been printed. */
bool svg_create(struct svg *svg, const char *path, int width, int height);

/* False after an error, which has been printed. */
bool svg_finish(struct svg *svg);

void svg_text(struct svg *svg, double x, double y, const char *style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The name of what has this colour. */
void svg_name(struct svg *svg, double x, double y, const char *colour, const char *name);
void svg_machine(struct svg *svg, double x, double y, const struct bench_machine *machine);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *colour,
              double width);
void svg_dot(struct svg *svg, double x, double y, double radius, const char *colour);

/* The part of a logarithmic axis, from 0 to 1, that lies below the value. */
double svg_part(double low, double high, double value);

/* ---- Panels ---------------------------------------------------------------------------------- */

struct svg_panels {
    int left, top;  /* of the first one */
    int width, gap; /* of each; from its end to the next one */
    int height;
    double low, high; /* of the axis: powers of ten */
};

/* The powers of ten around these values; all of 1 if `high` is 0. */
void svg_set_range(struct svg_panels *panels, double low, double high);
double svg_panel_x(const struct svg_panels *panels, size_t panel);

/* The place of a value in a panel. */
double svg_at(const struct svg_panels *panels, size_t panel, double value);

/* The lines of the axis with their numbers, and `axis` below them. */
void svg_grid(struct svg *svg, const struct svg_panels *panels, size_t panel, const char *style,
              const char *axis);

#endif
