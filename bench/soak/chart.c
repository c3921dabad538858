/* SPDX-License-Identifier: Apache-2.0 */
/* What was seen each second, as numbers and as one SVG chart with a panel for each quantity. */
#include "bench/soak/soak.h"

enum { LEFT = 90, TOP = 60, WIDTH = 620, HEIGHT = 110, GAP = 40, PANELS = 4 };

static const char STYLE[] =
    "<style>text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#1f2937;font-size:11px}"
    ".title{font-size:17px;font-weight:bold}.tick{font-size:10px;fill:#4b5563;text-anchor:end}"
    ".number{font-size:10px;fill:#4b5563;text-anchor:middle}</style>\n";

static const struct {
    const char *text, *colour;
} panels[PANELS] = {
    {"frames, each compared", "#2563a8"},
    {"memory of the process, MiB", "#c2410c"},
    {"memory of the GPU, MiB", "#0f766e"},
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

static void draw_panel(FILE *file, const struct soak_log *log, int panel)
{
    const double top = highest(log, panel), all = log->samples[log->count - 1].seconds;
    fprintf(file, "<text x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT, y_of(panel, 1) - 8,
            panels[panel].text);
    for (int i = 0; i <= 2; i++)
        fprintf(file,
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#d5dae2\"/>"
                "<text x=\"%d\" y=\"%.1f\" class=\"tick\">%.0f</text>\n",
                LEFT, y_of(panel, i / 2.0), LEFT + WIDTH, y_of(panel, i / 2.0), LEFT - 6,
                y_of(panel, i / 2.0) + 3, top * i / 2);
    fprintf(file, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"",
            panels[panel].colour);
    for (size_t i = 0; i < log->count; i++)
        fprintf(file, "%.1f,%.1f ", LEFT + WIDTH * log->samples[i].seconds / all,
                y_of(panel, value_of(&log->samples[i], panel) / top));
    fputs("\"/>\n", file);
}

bool soak_write_svg(const char *path, const struct bench_machine *machine,
                    const struct soak_log *log)
{
    const int width = LEFT + WIDTH + 40, height = TOP + PANELS * (HEIGHT + GAP);
    const double all = log->samples[log->count - 1].seconds;
    FILE *file = bench_create(path);
    if (!file)
        return false;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"16\" y=\"22\" class=\"title\">All ways at once, for %.0f seconds</text>\n"
            "<text x=\"16\" y=\"38\">%s, %s, %s%s</text>\n",
            width, height, width, height, STYLE, all, machine->device, machine->driver,
            machine->date, machine->software ? " (software: says nothing about a GPU)" : "");
    for (int panel = 0; panel < PANELS; panel++)
        draw_panel(file, log, panel);
    for (int i = 0; i <= 4; i++)
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" class=\"number\">%.0f s</text>\n",
                LEFT + WIDTH * i / 4.0, height - GAP + 14, all * i / 4);
    fputs("</svg>\n", file);
    return bench_finish(file, path);
}
