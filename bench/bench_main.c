/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The common steps of main(), the header of the report, and option parsers. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grinterop/gr.h>

#include "bench/bench_json.h"

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

static void print_head(const char *title, const struct bench_machine *machine)
{
    printf("%s: %sgrinterop %s\n", bench_program, title, gr_library_version());
    if (machine->software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.\n");
    printf("  driver   %s\n  device   %s\n", machine->driver, machine->device);
    for (size_t i = 0; i < machine->fact_count; i++)
        if (machine->facts[i].label)
            printf("  %-8s %s\n", machine->facts[i].label, machine->facts[i].text);
    printf("  date     %s\n", machine->date);
}

static bool write_json(struct bench_run *bench, const struct bench_steps *steps, void *of)
{
    struct json json;
    if (!json_create(&json, bench->json, &bench->machine))
        return false;
    steps->write_json(of, &json);
    return json_finish(&json);
}

static bool run(struct bench_run *bench, const struct bench_steps *steps, void *of)
{
    if (!steps->open(of))
        return false;
    bench_describe_machine(bench->on->device, &bench->machine);
    if (steps->add_facts)
        steps->add_facts(of, &bench->machine);
    print_head(steps->title, &bench->machine);
    if (steps->print_facts)
        steps->print_facts(of);
    fflush(stdout);
    return steps->measure(of) && (!bench->json || write_json(bench, steps, of)) &&
           (!bench->svg || steps->draw(of, bench->svg)) && (!steps->check || steps->check(of));
}

int bench_main(struct bench_run *bench, const struct bench_steps *steps, void *of)
{
    const bool good = run(bench, steps, of);
    steps->close(of);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
