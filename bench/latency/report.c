/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints the clocks and the results. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/latency/latency.h"

const char *latency_rate_text(char text[48], double rate)
{
    if (rate > 0)
        snprintf(text, 48, "%g frames per second", rate);
    else
        snprintf(text, 48, "unlimited rate");
    return text;
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static void print_clock(const struct latency *l, enum latency_side side, const char *name,
                        const char *how)
{
    const struct latency_clock *c = &l->whole_run[side];
    if (!c->there)
        return;
    const double seconds = (double)(c->after.at - c->before.at) * 1e-9;
    const double drift = (double)(c->after.ahead - c->before.ahead) * 1e-3;
    printf("  %-8s %-34s within %.2f us at the start, %.2f at the end", name, how,
           (double)c->before.uncertain * 1e-3, (double)c->after.uncertain * 1e-3);
    if (l->step[side] > 1)
        printf("; steps of %lld ns", (long long)l->step[side]);
    printf("; %+.2f us in %.1f s\n", drift, seconds);
}

static void print_comparison(const struct latency *l)
{
    const struct latency_offset *cuda = &l->whole_run[LATENCY_CUDA].after;
    const struct latency_offset *opengl = &l->whole_run[LATENCY_OPENGL].after;
    const double apart = (double)(opengl->ahead - cuda->ahead) * 1e-3;
    const double uncertain = (double)(opengl->uncertain + cuda->uncertain) * 1e-3;
    if (l->one_clock)
        printf("  GL_TIMESTAMP and %%globaltimer are one clock (%.2f us apart, uncertainty %.2f): "
               "their times are compared directly.\n",
               apart, uncertain);
    else
        printf("  GL_TIMESTAMP is %.2f us ahead of %%globaltimer, give or take %.2f%s: both are "
               "converted to CLOCK_MONOTONIC.\n",
               apart, uncertain,
               l->frames.on.ordinal == l->frames.gl_ordinal ? "" : ", on two devices");
}

void latency_print_clocks(const struct latency *l)
{
    if (!l->whole_run[LATENCY_CUDA].there)
        return;
    printf("\nClocks, relative to CLOCK_MONOTONIC\n");
    print_clock(l, LATENCY_CUDA, "CUDA", "%globaltimer, read by a kernel");
    print_clock(l, LATENCY_OPENGL, "OpenGL", "GL_TIMESTAMP");
    print_clock(l, LATENCY_VULKAN, "Vulkan", latency_vulkan_clock_name(l));
    print_comparison(l);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void print_cell(const struct latency_row *row, const struct latency_cell *c)
{
    char n[8][32];
    if (!c->measured) {
        printf("  %-26s refused, see below\n", row->label);
        return;
    }
    printf("  %-26s %8s %8s %8s %8s   %8s %8s   %8s %8s   %6u %5u %5u%s%s\n", row->label,
           bench_number(n[0], c->hand_over.p50), bench_number(n[1], c->hand_over.p99),
           bench_number(n[2], c->hand_over.p999), bench_number(n[3], c->hand_over.worst),
           bench_number(n[4], c->wait.p50), bench_number(n[5], c->wait.worst),
           bench_number(n[6], c->whole.p50), bench_number(n[7], c->whole.worst), c->frames, c->late,
           c->held, c->wrong > 0 ? "  WRONG" : "", c->impossible ? "  CLOCKS?" : "");
}

static void print_rate(const struct latency_table *table, size_t rate)
{
    char text[48];
    printf("\n%-29s%-36s   %-17s   %-17s\n", latency_rate_text(text, table->rate[rate]),
           " kernel end to draw end", "begin to kernel", "begin to drawn");
    printf("  %-26s %8s %8s %8s %8s   %8s %8s   %8s %8s   %6s %5s %5s\n", "", "p50", "p99", "p99.9",
           "worst", "p50", "worst", "p50", "worst", "frames", "late", "held");
    for (size_t i = 0; i < table->rows; i++)
        print_cell(table->row[i], &table->cells[i][rate]);
}

static void print_reasons(const struct latency_table *table)
{
    const char *last = NULL;
    for (size_t i = 0; i < table->rows; i++)
        for (size_t r = 0; r < table->rates; r++) {
            const char *reason = table->cells[i][r].reason;
            if (*reason == '\0' || (last && strcmp(last, reason) == 0))
                continue;
            printf("%s  %s: refused: %s\n", last ? "" : "\n", table->row[i]->key, reason);
            last = reason;
        }
}

/* Prints the delay that a ring causes for the producer, compared with the unsynchronised row. */
static void print_delays(const struct latency_table *table)
{
    if (table->rows == 0 || strcmp(table->row[0]->key, "alone") != 0)
        return;
    printf("\nDelay of the producer: from the begin of a frame to its kernel, median and worst, "
           "compared with unsynchronised frames\n");
    for (size_t r = 0; r < table->rates; r++) {
        const struct latency_cell *alone = &table->cells[0][r];
        if (table->rate[r] <= 0 || !alone->measured)
            continue;
        printf("  at %g per second, a period of %.0f us; alone %.1f and %.1f us\n   ",
               table->rate[r], 1e6 / table->rate[r], alone->wait.p50, alone->wait.worst);
        for (size_t i = 1; i < table->rows; i++) {
            const struct latency_cell *c = &table->cells[i][r];
            if (c->measured)
                printf(" %s %+.1f %+.1f;", table->row[i]->key, c->wait.p50 - alone->wait.p50,
                       c->wait.worst - alone->wait.worst);
        }
        printf("\n");
    }
}

void latency_print(const struct latency_table *table)
{
    printf("\nMicroseconds. Begin: when the thread begins the frame. Late: frames begun a quarter "
           "of a period or more after their time;\nheld: frames whose kernel began that long after "
           "the thread began the frame.\n");
    for (size_t r = 0; r < table->rates; r++)
        print_rate(table, r);
    print_delays(table);
    print_reasons(table);
    fflush(stdout);
}
