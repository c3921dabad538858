/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints the results and the goals. */
#define _GNU_SOURCE
#include <string.h>

#include "bench/bench.h"

/* ---- Results --------------------------------------------------------------------------------- */

/* The width of the column of a value, which has quartiles or not. */
static int width_of(const struct bench_spread *value)
{
    return isnan(value->q1) ? 14 : 22;
}

/* Formats a value with four significant digits, without an exponent; NaN is "-". */
static const char *text_of(char text[128], const struct bench_spread *value)
{
    const double m = value->median;
    const int digits = m >= 1000 ? 0 : m >= 100 ? 1 : m >= 10 ? 2 : 3;
    if (isnan(m))
        return "-";
    const int length = snprintf(text, 128, "%.*f", digits, m);
    if (!isnan(value->q1))
        snprintf(text + length, 128 - (size_t)length, " [%.*f %.*f]", digits, value->q1, digits,
                 value->q3);
    return text;
}

static void print_titles(const struct bench_result *result)
{
    printf("\n%s%s%s; a median has its quartiles in brackets\n  %-52s", result->part,
           *result->size ? ", " : "", result->size, "");
    for (size_t i = 0; i < result->count; i++)
        printf(" %*s", width_of(&result->values[i].of), result->values[i].name);
    printf("\n");
}

static void print_result(const struct bench_result *result)
{
    printf("  %-20s %-31s", result->name, result->what);
    for (size_t i = 0; i < result->count; i++) {
        char text[128];
        const struct bench_spread *value = &result->values[i].of;
        printf(" %*s", width_of(value), text_of(text, value));
    }
    printf("%s%s%s%s\n", result->measured ? "" : " not measured:", result->wrong ? " WRONG" : "",
           *result->note ? " " : "", result->note);
}

void bench_print_results(size_t from)
{
    for (size_t i = from; i < bench_result_count; i++) {
        const struct bench_result *result = &bench_results[i];
        if (i == 0 || strcmp(result->part, result[-1].part) != 0 ||
            strcmp(result->size, result[-1].size) != 0)
            print_titles(result);
        print_result(result);
    }
    fflush(stdout);
}

/* The median of a value; NaN if it was not measured. */
static double median_of(const struct bench_result *result, const char *name)
{
    for (size_t i = 0; i < result->count; i++)
        if (strcmp(result->values[i].name, name) == 0)
            return result->values[i].of.median;
    return NAN;
}

/* ---- Goals ----------------------------------------------------------------------------------- */

static bool is_named(const char *name, const char *names)
{
    for (const char *begin = names; *begin != '\0'; begin += *begin == '|') {
        const size_t length = strcspn(begin, "|");
        if (strncmp(begin, name, length) == 0 && (name[length] == '\0' || begin[length - 1] == '/'))
            return true;
        begin += length;
    }
    return false;
}

/* The largest value of the rows that the goal compares with, at the same size; 1 if it does not. */
static double base_of(const struct bench_goal *goal, const char *size)
{
    double most = goal->of ? NAN : 1;
    for (size_t i = 0; goal->of && i < bench_result_count; i++)
        if (is_named(bench_results[i].name, goal->of) && strcmp(bench_results[i].size, size) == 0)
            most = fmax(most, median_of(&bench_results[i], goal->value));
    return most;
}

static void print_goal(const struct bench_goal *goal, const struct bench_result *result)
{
    const double reached = median_of(result, goal->value) / base_of(goal, result->size);
    const bool good = goal->at_least ? reached >= goal->wanted : reached <= goal->wanted;
    if (!isnan(reached) && is_named(result->name, goal->rows) &&
        (!goal->size || strcmp(goal->size, result->size) == 0))
        printf("  %-20s %-10s %s%s%s: %.4g, wanted %s %g: %s\n", result->name, result->size,
               goal->value, goal->of ? " / that of " : "", goal->of ? goal->of : "", reached,
               goal->at_least ? ">=" : "<=", goal->wanted, good ? "reached" : "NOT reached");
}

void bench_print_goals(void)
{
    printf("\nGoals%s\n", gr_cuda_is_software() ? " (for a GPU, not for the software driver)" : "");
    for (const struct bench_goal *goal = bench_goals; goal && goal->rows; goal++)
        for (size_t i = 0; i < bench_result_count; i++)
            print_goal(goal, &bench_results[i]);
    fflush(stdout);
}
