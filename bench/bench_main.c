/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* main(), the shared options, and the loop over the rows. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grinterop/gr.h>

#include "bench/bench.h"
#include "tools/options.h"

const char *bench_only;
const struct bench_goal *bench_goals;
size_t bench_size;
static const char *json_path;
static struct bench_machine machine;

struct bench_result bench_results[BENCH_RESULTS];
size_t bench_result_count;

/* ---- Options --------------------------------------------------------------------------------- */

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

static void read_options(int argc, char *argv[])
{
    static const struct option_row shared[] = {
        {"only", 0, "A,B", "only rows whose name or part begins with A or B", .text = &bench_only},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &json_path},
        {0}};
    static struct option_row all[24];
    size_t count = 0;
    while (bench_setup.options[count].name) {
        all[count] = bench_setup.options[count];
        count++;
    }
    memcpy(&all[count], shared, sizeof(shared));
    options_read(argc, argv, bench_program, all, bench_setup.about,
                 "GR_CUDA_DRIVER=soft measures the software CUDA driver: a test of this program, "
                 "nothing more.");
}

/* ---- Results --------------------------------------------------------------------------------- */

struct bench_result *bench_add_as(const struct bench_row *row, const char *name, const char *part,
                                  const char *size)
{
    if (bench_result_count == BENCH_RESULTS) {
        fprintf(stderr, "%s: more than %d results\n", bench_program, BENCH_RESULTS);
        exit(EXIT_FAILURE);
    }
    struct bench_result *result = &bench_results[bench_result_count++];
    result->part = part;
    result->measured = true;
    snprintf(result->name, sizeof(result->name), "%s", name);
    snprintf(result->what, sizeof(result->what), "%s", row->what);
    snprintf(result->size, sizeof(result->size), "%s", size);
    return result;
}

struct bench_result *bench_add(const struct bench_row *row, const char *size)
{
    return bench_add_as(row, row->name, row->part, size);
}

void bench_not_measured(struct bench_result *result, const char *reason)
{
    snprintf(result->note, sizeof(result->note), "%s", reason);
    result->measured = false;
}

void bench_set(struct bench_result *result, const char *name, struct bench_spread value)
{
    snprintf(result->values[result->count].name, sizeof(result->values[0].name), "%s", name);
    result->values[result->count++].of = value;
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
    printf("%s: %s%sgrinterop %s\n", bench_program, title ? title : "", title ? ", " : "",
           gr_library_version());
    if (machine.software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.\n");
    printf("  driver   %s\n  device   %s\n", machine.driver, machine.device);
    for (size_t i = 0; i < machine.fact_count; i++)
        if (machine.facts[i].label)
            printf("  %-8s %s\n", machine.facts[i].label, machine.facts[i].text);
    printf("  date     %s\n", machine.date);
    fflush(stdout);
}

static bool wants(const struct bench_row *row)
{
    if (bench_only && !bench_is_selected(row->name, bench_only) &&
        !bench_is_selected(row->part, bench_only))
        return false;
    return !bench_setup.wants || bench_setup.wants(row);
}

static void call_row(void *row)
{
    ((const struct bench_row *)row)->run(row);
}

static void run_row(const struct bench_row *row)
{
    const size_t from = bench_result_count;
    if (!wants(row))
        return;
    bench_progress("%s", row->name);
    const bool good = bench_print_error(bench_scope(call_row, (void *)row));
    bench_progress_end();
    bench_print_results(from);
    if (!good)
        bench_give_up();
}

static void run_size(void *none)
{
    (void)none;
    if (bench_setup.begin)
        bench_setup.begin();
    for (size_t table = 0; bench_setup.rows[table]; table++) {
        const char *at = bench_setup.rows[table];
        for (;; at += bench_setup.row_size) {
            const struct bench_row *row = (const struct bench_row *)(const void *)at;
            if (!row->name)
                break;
            run_row(row);
        }
    }
}

static bool run(void)
{
    const size_t sizes = bench_setup.sizes ? *bench_setup.sizes : 1;
    bool good = true;
    for (bench_size = 0; good && bench_size < sizes; bench_size++)
        good = bench_print_error(bench_scope(run_size, NULL));
    if (good)
        bench_print_goals();
    for (size_t i = 0; i < bench_result_count; i++)
        good = good && !bench_results[i].wrong;
    return good;
}

static void run_all(void *none)
{
    (void)none;
    bench_setup.open();
    bench_describe_machine(&machine);
    if (bench_setup.add_facts)
        bench_setup.add_facts(&machine);
    print_head();
    const bool good = run();
    if (json_path)
        bench_write_json(json_path, &machine);
    if (!good)
        bench_give_up();
}

int main(int argc, char *argv[])
{
    read_options(argc, argv);
    return bench_print_error(bench_scope(run_all, NULL)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
