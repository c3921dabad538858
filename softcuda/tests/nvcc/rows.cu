/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Launches the kernels of rows_kernels.h in grids of many shapes, and checks the thread and block
 * indices. test_nvcc.sh checks which launch flags each kernel has.
 */
#include "expect.h"
#include "rows_kernels.h"

typedef void (*line_kernel)(int *, int);

static void run_line(line_kernel kernel, const char *name, int n, int threads)
{
    const int blocks = n / threads + 2, room = blocks * threads;
    numbers<int> out(room);
    out.send();
    kernel<<<blocks, threads, 1024 * sizeof(int)>>>(out.device, n);
    out.fetch();
    for (int i = 0; i < room; i++) {
        const int is = i < n ? 3 * i + 1 : 0;
        EXPECT(out[i] == is, "%s(%d) in blocks of %d: %d at %d", name, n, threads, out[i], i);
    }
}

/* Runs a grid-stride kernel with fewer threads than elements. */
static void run_stride(line_kernel kernel, const char *name, int n, int blocks, int threads)
{
    numbers<int> out(n + 1);
    out.send();
    kernel<<<blocks, threads>>>(out.device, n);
    out.fetch();
    for (int i = 0; i <= n; i++)
        EXPECT(out[i] == (i < n ? 3 * i + 1 : 0), "%s(%d) by %d * %d: %d at %d", name, n, blocks,
               threads, out[i], i);
}

static void strides()
{
    static const struct {
        line_kernel kernel;
        const char *name;
    } kernels[] = {{stride_plain, "stride_plain"},       {stride_named, "stride_named"},
                   {stride_ends, "stride_ends"},         {stride_chain, "stride_chain"},
                   {stride_breaks, "stride_breaks"},     {stride_counts, "stride_counts"},
                   {stride_hands_on, "stride_hands_on"}, {stride_first, "stride_first"},
                   {stride_skips, "stride_skips"}};
    static const int sizes[] = {0, 1, 31, 96, 97, 1000, 20001};
    static const int grids[][2] = {{1, 1}, {3, 32}, {7, 5}, {1, 256}, {50, 64}};
    for (const auto &k : kernels)
        for (const int n : sizes)
            for (const auto &grid : grids)
                run_stride(k.kernel, k.name, n, grid[0], grid[1]);
    numbers<int> out(100);
    out.send();
    stride_class<<<2, 5>>>(out.device, 100, totals{3});
    out.fetch();
    for (int i = 0; i < 100; i++)
        EXPECT(out[i] == 3 + i / 10, "%d at %d", out[i], i);
}

/* The indices exceed 2^31 and wrap around. */
static void far()
{
    const unsigned from = (1u << 31) - 700, count = 1500;
    numbers<int> out(count);
    out.send();
    stride_far<<<1000, 1000>>>(out.device, from, from + count);
    out.fetch();
    for (unsigned i = 0; i < count; i++)
        EXPECT(out[i] == 1, "%d at %u", out[i], i);
}

static void apply_triple(int *out, int n)
{
    apply<<<n / 32 + 3, 32>>>(n, triple{out});
}

static void lines()
{
    static const struct {
        line_kernel kernel;
        const char *name;
    } kernels[] = {{line_int, "line_int"},
                   {line_swapped, "line_swapped"},
                   {line_size, "line_size"},
                   {line_casts, "line_casts"},
                   {line_used_twice, "line_used_twice"},
                   {line_changes, "line_changes"},
                   {own_slot, "own_slot"},
                   {shared_scratch, "shared_scratch"},
                   {counted, "counted"},
                   {watched, "watched"},
                   {with_lambda, "with_lambda"}};
    static const int sizes[] = {0, 1, 63, 64, 65, 1000, 20000}, widths[] = {1, 3, 64, 256, 1024};
    for (const auto &k : kernels)
        for (const int n : sizes)
            for (const int threads : widths)
                run_line(k.kernel, k.name, n, threads);
    numbers<int> out(1000 + 96);
    out.send();
    apply_triple(out.device, 1000);
    out.fetch();
    for (int i = 0; i < 1096; i++)
        EXPECT(out[i] == (i < 1000 ? 3 * i + 1 : 0), "%d at %d", out[i], i);
}

static void without_a_guard()
{
    numbers<unsigned> out(48 * 17), count(1);
    count[0] = 10;
    out.send();
    count.send();
    line_unguarded<<<17, 48>>>(out.device, count.device);
    out.fetch();
    for (unsigned i = 0; i < 48 * 17; i++)
        EXPECT(out[i] == 3 * i + 1, "%u at %u", out[i], i);
}

enum passing { BETWEEN, OUTSIDE, EITHER, WRAPS, NARROW };

static bool passes(enum passing who, int i, int low, int high, int n)
{
    switch (who) {
    case OUTSIDE:
    case EITHER:
        return i < n && !(i >= low && i < high);
    case NARROW:
        return (signed char)i >= 0 && (signed char)i < high;
    default:
        return i >= low && i < high;
    }
}

static void run_passing(enum passing who, int low, int high)
{
    const int n = 500, room = 512, threads = 32;
    numbers<int> out(room);
    out.send();
    if (who == BETWEEN)
        between<<<room / threads, threads>>>(out.device, low, high, 1);
    else if (who == OUTSIDE)
        outside<<<room / threads, threads>>>(out.device, low, high, n);
    else if (who == EITHER)
        either<<<room / threads, threads>>>(out.device, low, high, n);
    else if (who == WRAPS)
        wraps<<<room / threads, threads>>>(out.device, low, high);
    else
        narrow<<<room / threads, threads>>>(out.device, high);
    between<<<room / threads, threads>>>(out.device, 0, room, 0);
    out.fetch();
    for (int i = 0; i < room; i++)
        EXPECT(out[i] == (int)passes(who, i, low, high, n), "%d of %d to %d: %d at %d", who, low,
               high, out[i], i);
}

static void run_conditions()
{
    static const int ends[][2] = {{0, 500}, {40, 41}, {33, 300}, {64, 128}, {5, 5}, {0, 100}};
    for (const auto &end : ends)
        for (int who = BETWEEN; who <= NARROW; who++)
            run_passing((enum passing)who, end[0], end[1]);
}

/* Checks which elements the launches add to, and how often, in blocks of one width. */
static void other_numbers()
{
    const int blocks = 7, threads = 32, room = 2 * blocks * threads;
    numbers<int> out(room);
    numbers<float> sums(room);
    int wanted[2 * 7 * 32] = {0};
    out.send();
    sums.send();
    twice_block<<<blocks, threads>>>(out.device);
    twice_thread<<<blocks, 1>>>(out.device);
    backwards<<<blocks, threads>>>(out.device, (blocks - 1) * threads);
    other_width<<<blocks, dim3(2, 4)>>>(out.device);
    first_threads<<<blocks, threads>>>(out.device);
    rounded<<<blocks, threads>>>(sums.device);
    out.fetch();
    sums.fetch();
    for (int b = 0; b < blocks; b++) {
        wanted[b] += 1 + threads;
        wanted[b * 4] += 4;
        wanted[b * 4 + 1] += 4;
        for (int t = 0; t < threads; t++) {
            wanted[2 * b * threads + t]++;
            wanted[(blocks - 1 - b) * threads + t]++;
            const float sum = 16777216.0f + b * threads + t;
            EXPECT(sums[b * threads + t] == sum, "%f at %d, %d", sums[b * threads + t], b, t);
        }
    }
    for (int i = 0; i < room; i++)
        EXPECT(out[i] == wanted[i], "%d at %d, expected %d", out[i], i, wanted[i]);
}

static void three_dimensions(dim3 grid, dim3 block)
{
    const unsigned width = grid.x * block.x - 1;
    const unsigned rows = grid.y * grid.z * block.y * block.z;
    numbers<unsigned> out(rows * width + 1);
    numbers<place> indices(rows * grid.x * block.x);
    out.send();
    indices.send();
    line_of_rows<<<grid, block>>>(out.device, width);
    places<<<grid, block>>>(indices.device);
    out.fetch();
    indices.fetch();
    for (unsigned row = 0; row < rows; row++)
        for (unsigned x = 0; x < grid.x * block.x; x++) {
            const place p = indices[row * grid.x * block.x + x];
            const place is = {
                {x / block.x, row / block.y / block.z % grid.y, row / block.y / block.z / grid.y},
                {x % block.x, row % block.y, row / block.y % block.z}};
            EXPECT(memcmp(&p, &is, sizeof(p)) == 0, "%u %u %u, %u %u %u at %u, %u", p.block[0],
                   p.block[1], p.block[2], p.thread[0], p.thread[1], p.thread[2], x, row);
            const bool in = x > 0 && x < width && is.thread[1] != 2;
            if (x < width)
                EXPECT(out[row * width + x] == (in ? row * 100 + x : 0), "%u at %u, %u",
                       out[row * width + x], x, row);
        }
}

/* The rows are longer than the number of threads that run as one loop. */
static void wide()
{
    const unsigned width = 1801, height = 19;
    numbers<unsigned> turned(width * height), rows(width * height);
    turned.send();
    rows.send();
    transposes<<<dim3(120, 3), dim3(16, 8)>>>(turned.device, width, height);
    line_of_rows<<<dim3(113, height), dim3(16, 1, 1)>>>(rows.device, width);
    line_of_rows<<<dim3(121, 1, height), dim3(15, 1, 1)>>>(rows.device, width);
    turned.fetch();
    rows.fetch();
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++) {
            const unsigned at = x * height + y, in = y * width + x;
            EXPECT(turned[at] == y * 1000 + x, "%u at %u, %u", turned[at], x, y);
            EXPECT(rows[in] == (x > 0 ? 2 * (y * 100 + x) : 0), "%u at %u, %u", rows[in], x, y);
        }
}

int main(int argc, char *[])
{
    if (argc > 1) { /* this takes seconds */
        far();
        return 0;
    }
    lines();
    strides();
    without_a_guard();
    run_conditions();
    other_numbers();
    three_dimensions(dim3(5, 3, 2), dim3(8, 4, 2));
    three_dimensions(dim3(33, 2, 1), dim3(3, 5, 3));
    three_dimensions(dim3(1, 7, 5), dim3(64, 1, 4));
    three_dimensions(dim3(40, 1, 1), dim3(1, 1, 1));
    three_dimensions(dim3(70, 2, 1), dim3(16, 3, 1));
    three_dimensions(dim3(3, 2, 1), dim3(600, 1, 1));
    wide();
    return 0;
}
