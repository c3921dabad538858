/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Compares kernels without barriers with the same loops in OpenMP, on the same memory. */
#include <stdlib.h>
#include <string.h>

#include "softcuda/bench/softcuda.h"

struct kernel_row {
    enum loop_kind kind;
    struct loops loops;
};

static void by_openmp(struct soft_bench *bench, void *data, unsigned times)
{
    const struct kernel_row *row = data;
    (void)bench;
    for (unsigned i = 0; i < times; i++)
        openmp_loop(row->kind, &row->loops);
}

static unsigned parts(unsigned whole, unsigned part)
{
    return (whole + part - 1) / part;
}

static void launch(struct soft_bench *bench, const struct kernel_row *row)
{
    static const char *const names[] = {"saxpy", "polynomial", "stencil", "nothing"};
    const struct loops *l = &row->loops;
    unsigned n = l->width * l->height, threads = l->block_x * l->block_y;
    unsigned grid[2] = {parts(n, threads), 1}, block[2] = {threads, 1};
    int width = (int)l->width, height = (int)l->height;
    void *line[] = {&bench->to, &bench->from, &n};
    void *square[] = {&bench->to, &bench->from, &width, &height};
    void **parameters = line;
    if (row->kind == LOOP_STENCIL) {
        grid[0] = parts(l->width, l->block_x);
        grid[1] = parts(l->height, l->block_y);
        block[0] = l->block_x;
        block[1] = l->block_y;
        parameters = square;
    } else if (row->kind == LOOP_NOTHING) {
        grid[0] = block[0] = 1;
    }
    soft_launch(bench, names[row->kind], grid, block, parameters);
}

/* Waits for each launch, as OpenMP does, so the result includes the time of launches. */
static void by_module(struct soft_bench *bench, void *data, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        launch(bench, data);
        soft_wait(bench);
    }
}

/* Queues all launches and waits once. */
static void by_module_in_a_row(struct soft_bench *bench, void *data, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        launch(bench, data);
    soft_wait(bench);
}

static void by_nvcc(struct soft_bench *bench, void *data, unsigned times)
{
    const struct kernel_row *row = data;
    (void)bench;
    for (unsigned i = 0; i < times; i++)
        if (!launch_loop(row->kind, &row->loops) || !launch_wait())
            bench_fail("a launch by <<< >>> failed");
}

/* ---- Check that all variants produce the same bytes ------------------------------------------ */

static void fill(const struct kernel_row *row)
{
    float *from = (float *)(void *)(size_t)row->loops.from;
    for (unsigned i = 0; i < row->loops.width * row->loops.height; i++) {
        from[i] = (float)(i % 1021) / 1021.0f;
        row->loops.to[i] = (float)(i % 509) / 509.0f;
    }
}

static void compare(struct soft_bench *bench, const struct soft_way *ways, unsigned count,
                    struct kernel_row *row)
{
    const size_t bytes = sizeof(float) * row->loops.width * row->loops.height;
    float *wanted = malloc(bytes);
    if (!wanted)
        bench_fail("out of memory");
    for (unsigned w = 0; w < count; w++) {
        fill(row);
        ways[w].run(bench, row, 1);
        if (w == 0) {
            memcpy(wanted, row->loops.to, bytes);
        } else if (memcmp(wanted, row->loops.to, bytes) != 0) {
            printf("  WRONG: %s differs from %s\n", ways[w].name, ways[0].name);
            bench->wrong++;
        }
    }
    free(wanted);
}

/* ---- The rows -------------------------------------------------------------------------------- */

static const struct soft_way ways[] = {
    {"OpenMP", by_openmp}, {"grinterop-nvcc", by_nvcc}, {"cuhost.h", by_module}};

static void one_row(struct soft_bench *bench, const char *name, struct kernel_row *row)
{
    char text[64];
    const unsigned n = row->loops.width * row->loops.height;
    row->loops.to = (float *)(uintptr_t)bench->to;
    row->loops.from = (const float *)(uintptr_t)bench->from;
    if (n * sizeof(float) > bench->most_bytes)
        return;
    if (row->kind == LOOP_STENCIL)
        snprintf(text, sizeof(text), "%s %u^2, %u x %u", name, row->loops.width, row->loops.block_x,
                 row->loops.block_y);
    else
        snprintf(text, sizeof(text), "%s %u, %u", name, n, row->loops.block_x);
    compare(bench, ways, 3, row);
    soft_measure(bench, text, ways, 3, row, n);
}

static void launches(struct soft_bench *bench)
{
    static const struct soft_way empty[] = {
        {"OpenMP", by_openmp}, {"waited for", by_module}, {"in a row", by_module_in_a_row}};
    struct kernel_row row = {.kind = LOOP_NOTHING, .loops = {.width = 1, .height = 1}};
    row.loops.block_x = row.loops.block_y = 1;
    soft_measure(bench, "one block of one thread", empty, 3, &row, 1);
}

void soft_kernel_rows(struct soft_bench *bench)
{
    static const unsigned numbers[] = {1u << 12, 1u << 18, 1u << 24}, blocks[] = {64, 256};
    static const unsigned sides[] = {64, 512, 4096}, squares[] = {8, 16};
    launches(bench);
    for (unsigned s = 0; s < 3; s++)
        for (unsigned b = 0; b < 2; b++) {
            const struct loops line = {
                .width = numbers[s], .height = 1, .block_x = blocks[b], .block_y = 1};
            const struct loops square = {.width = sides[s],
                                         .height = sides[s],
                                         .block_x = squares[b],
                                         .block_y = squares[b]};
            one_row(bench, "saxpy", &(struct kernel_row){LOOP_SAXPY, line});
            one_row(bench, "polynomial", &(struct kernel_row){LOOP_POLYNOMIAL, line});
            one_row(bench, "stencil", &(struct kernel_row){LOOP_STENCIL, square});
        }
}
