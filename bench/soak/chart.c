/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes the samples as CSV and as one SVG chart with a panel per quantity. */
#include "bench/bench_svg.h"
#include "bench/soak/soak.h"

enum { LEFT = 90, TOP = 60, WIDTH = 620, HEIGHT = 110, GAP = 40, PANELS = 4 };

static const struct {
    const char *text, *colour;
} panels[PANELS] = {
    {"frames, each compared", "#2563a8"},
    {"process memory, MiB", "#c2410c"},
    {"GPU memory, MiB", "#0f766e"},
    {"descriptors", "#7c3aed"},
};

static double value_of(const struct soak_sample *s, int panel)
{
    const double mib = 1 << 20;
    const double values[PANELS] = {(double)s->frames, (double)s->resident / mib,
                                   (double)s->device / mib, s->descriptors};
    return values[panel];
}

bool soak_write_csv(const char *path, const struct soak_log *log)
{
    FILE *file = bench_create(path);
    if (!file)
        return false;
    fputs("seconds,frames,resident_bytes,gpu_bytes,descriptors\n", file);
    for (size_t i = 0; i < log->count; i++) {
        const struct soak_sample *s = &log->samples[i];
        fprintf(file, "%.2f,%llu,%llu,%llu,%u\n", s->seconds, (unsigned long long)s->frames,
                (unsigned long long)s->resident, (unsigned long long)s->device, s->descriptors);
    }
    return bench_finish(file, path);
}

static double highest(const struct soak_log *log, int panel)
{
    double most = 1;
    for (size_t i = 0; i < log->count; i++)
        if (value_of(&log->samples[i], panel) > most)
            most = value_of(&log->samples[i], panel);
    return most;
}

static double y_of(int panel, double part)
{
    return TOP + panel * (HEIGHT + GAP) + HEIGHT * (1 - part);
}

static void draw_panel(struct svg *svg, const struct soak_log *log, int panel)
{
    const double top = highest(log, panel), all = log->samples[log->count - 1].seconds;
    svg_text(svg, LEFT, y_of(panel, 1) - 8, "", "%s", panels[panel].text);
    for (int i = 0; i <= 2; i++) {
        const double y = y_of(panel, i / 2.0);
        svg_line(svg, LEFT, y, LEFT + WIDTH, y, "#d5dae2", 1);
        svg_text(svg, LEFT - 6, y + 3, "left", "%.0f", top * i / 2);
    }
    fprintf(svg->file, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"",
            panels[panel].colour);
    for (size_t i = 0; i < log->count; i++)
        fprintf(svg->file, "%.1f,%.1f ", LEFT + WIDTH * log->samples[i].seconds / all,
                y_of(panel, value_of(&log->samples[i], panel) / top));
    fputs("\"/>\n", svg->file);
}

bool soak_write_svg(const char *path, const struct bench_machine *machine,
                    const struct soak_log *log)
{
    const int width = LEFT + WIDTH + 40, height = TOP + PANELS * (HEIGHT + GAP);
    const double all = log->samples[log->count - 1].seconds;
    struct svg svg;
    if (!svg_create(&svg, path, width, height))
        return false;
    svg_text(&svg, 16, 22, "title", "All transports at once, for %.0f seconds", all);
    svg_machine(&svg, 16, 38, machine);
    for (int panel = 0; panel < PANELS; panel++)
        draw_panel(&svg, log, panel);
    for (int i = 0; i <= 4; i++)
        svg_text(&svg, LEFT + WIDTH * i / 4.0, height - GAP + 14, "number", "%.0f s", all * i / 4);
    return svg_finish(&svg);
}
