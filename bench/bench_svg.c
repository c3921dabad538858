/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes SVG charts. */
#define _GNU_SOURCE
#include "bench/bench_svg.h"

#include <math.h>
#include <stdarg.h>

static const char STYLE[] =
    "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#1f2937;font-size:11px}"
    ".title{font-size:17px;font-weight:bold}.sub{font-size:11.5px;fill:#4b5563}"
    ".head{font-size:13px;font-weight:bold;text-anchor:middle}"
    ".part{font-size:11.5px;font-weight:bold}.row{font-size:11.5px;text-anchor:end}"
    ".value{font-size:10.5px;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".small{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".tick{font-size:10.5px;text-anchor:middle;fill:#4b5563}"
    ".axis{font-size:11px;text-anchor:middle;fill:#4b5563}"
    ".left{font-size:10px;text-anchor:end;fill:#4b5563}"
    ".number{font-size:10px;text-anchor:middle;fill:#4b5563}"
    ".none{font-size:10.5px;fill:#9ca3af}</style>\n";

bool svg_create(struct svg *svg, const char *path, int width, int height)
{
    *svg = (struct svg){.file = bench_create(path), .path = path};
    if (svg->file)
        fprintf(svg->file,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\">\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                width, height, width, height, STYLE, width, height);
    return svg->file;
}

bool svg_finish(struct svg *svg)
{
    fputs("</svg>\n", svg->file);
    return bench_finish(svg->file, svg->path);
}

void svg_text(struct svg *svg, double x, double y, const char *style, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(svg->file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '<' || *c == '&')
            fputs(*c == '<' ? "&lt;" : "&amp;", svg->file);
        else
            fputc(*c, svg->file);
    }
    fputs("</text>\n", svg->file);
}

void svg_name(struct svg *svg, double x, double y, const char *colour, const char *name)
{
    fprintf(svg->file, "<text x=\"%.1f\" y=\"%.1f\" style=\"fill:%s;font-weight:bold\">%s</text>\n",
            x, y, colour, name);
}

void svg_machine(struct svg *svg, double x, double y, const struct bench_machine *machine)
{
    svg_text(svg, x, y, "", "%s, %s, %s%s", machine->device, machine->driver, machine->date,
             machine->software ? " (software: says nothing about a GPU)" : "");
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *colour,
              double width)
{
    fprintf(svg->file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"%g\"/>\n",
            x1, y1, x2, y2, colour, width);
}

void svg_dot(struct svg *svg, double x, double y, double radius, const char *colour)
{
    fprintf(svg->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", x, y, radius,
            colour);
}

double svg_part(double low, double high, double value)
{
    return log10(fmin(fmax(value, low), high) / low) / log10(high / low);
}

/* ---- Panels ---------------------------------------------------------------------------------- */

void svg_set_range(struct svg_panels *panels, double low, double high)
{
    panels->low = pow(10, floor(log10(high > 0 ? low : 1)));
    panels->high = pow(10, ceil(log10(high > 0 ? high : 2)));
}

double svg_panel_x(const struct svg_panels *panels, size_t panel)
{
    return panels->left + (int)panel * (panels->width + panels->gap);
}

double svg_at(const struct svg_panels *panels, size_t panel, double value)
{
    return svg_panel_x(panels, panel) + svg_part(panels->low, panels->high, value) * panels->width;
}

void svg_grid(struct svg *svg, const struct svg_panels *panels, size_t panel, const char *style,
              const char *axis)
{
    const int bottom = panels->top + panels->height;
    for (double value = panels->low; value < panels->high * 1.01; value *= 10) {
        const double x = svg_at(panels, panel, value);
        svg_line(svg, x, panels->top, x, bottom, "#d5dae2", 1);
        svg_text(svg, x, bottom + 16, "tick", "%g", value);
    }
    svg_text(svg, svg_panel_x(panels, panel) + panels->width / 2.0, bottom + 34, style, "%s", axis);
}
