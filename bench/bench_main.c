/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* main(), the header of the report, and option parsers. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grinterop/gr.h>

#include "bench/bench_json.h"
#include "tools/options.h"

const char *bench_json_path, *bench_svg_path;
static struct bench_machine machine;

/* ---- Options --------------------------------------------------------------------------------- */

bool bench_parse_device(const char *option, const char *text, int *ordinal)
{
    char *end;
    const long device = strtol(text, &end, 10);
    if (end == text || *end != '\0' || device < 0 || device > 1000) {
        fprintf(stderr, "--%s takes a number from 0 to 1000, not \"%s\".\n", option, text);
        return false;
    }
    *ordinal = (int)device;
    return true;
}

size_t bench_parse_numbers(const char *option, const char *text, double least, double most,
                           double *numbers, size_t room)
{
    const char *from = text;
    char *end;
    for (size_t count = 0; count < room; from = end + 1) {
        numbers[count++] = strtod(from, &end);
        if (end == from || !(numbers[count - 1] >= least && numbers[count - 1] <= most))
            break;
        if (*end == '\0')
            return count;
        if (*end != ',')
            break;
    }
    fprintf(stderr, "--%s takes up to %zu numbers from %g to %g, not \"%s\".\n", option, room,
            least, most, text);
    return 0;
}

bool bench_is_selected(const char *key, const char *beginnings)
{
    for (const char *begin = beginnings;; begin++) {
        size_t length = strcspn(begin, ",");
        if (strncmp(key, begin, length) == 0)
            return true;
        begin += length;
        if (*begin == '\0')
            return false;
    }
}

/* ---- The run --------------------------------------------------------------------------------- */

void bench_progress(const char *format, ...)
{
    va_list arguments;
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%s: ", bench_program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void bench_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static void print_head(void)
{
    const char *title = bench_setup.title;
    printf("%s: %s%sgrinterop %s\n", bench_program, title ? title : "", title ? " " : "",
           gr_library_version());
    if (machine.software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.\n");
    printf("  driver   %s\n  device   %s\n", machine.driver, machine.device);
    for (size_t i = 0; i < machine.fact_count; i++)
        if (machine.facts[i].label)
            printf("  %-8s %s\n", machine.facts[i].label, machine.facts[i].text);
    printf("  date     %s\n", machine.date);
}

static bool write_json(void)
{
    struct json json;
    if (!json_create(&json, bench_json_path, &machine))
        return false;
    bench_setup.steps.write_json(&json);
    return json_finish(&json);
}

static bool run(const struct bench_steps *steps)
{
    if (!steps->open())
        return false;
    bench_describe_machine(&machine);
    if (steps->add_facts)
        steps->add_facts(&machine);
    print_head();
    if (steps->print_facts)
        steps->print_facts();
    fflush(stdout);
    return steps->measure() && (!bench_json_path || write_json()) &&
           (!bench_svg_path || steps->draw(bench_svg_path, &machine)) &&
           (!steps->check || steps->check());
}

int main(int argc, char *argv[])
{
    options_read(argc, argv, bench_program, bench_setup.options, bench_setup.about,
                 "GR_CUDA_DRIVER=soft measures the software CUDA driver: a test of this program, "
                 "nothing more.");
    const bool good = run(&bench_setup.steps);
    bench_setup.steps.close();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
