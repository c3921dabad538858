/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The harness of the benchmarks. A program defines tables of rows; the harness has main() and the
 * shared options, measures blocks, runs the rows, prints the results and the goals, and writes the
 * JSON file.
 */
#ifndef BENCH_H
#define BENCH_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/scope.h"

/* The program name, which is the prefix of error messages. Each program defines it. */
extern const char bench_program[];

/* The CUDA device of a benchmark, whose primary context is current. */
struct bench_device {
    int ordinal; /* the CUDA device number */
    CUdevice device;
    CUcontext context;
    CUstream stream;
};

/* The quartiles of a set of samples. A single number has NaN as quartiles. */
struct bench_spread {
    double q1, median, q3;
};

/* A fact about the measurement: a line of the header and a member of the JSON file. */
struct bench_fact {
    const char *label, *key; /* NULL leaves out the line or the member */
    char text[1024];
};

/* The machine that was measured, and the time in UTC. */
struct bench_machine {
    char driver[256], device[128], date[32];
    bool software;
    struct bench_fact facts[12];
    size_t fact_count;
};

/* ---- The table of rows ----------------------------------------------------------------------- */

/* The first member of each row of a program's table. */
struct bench_row {
    const char *name; /* for scripts and --only */
    const char *what;
    const char *part; /* the title of the part of the table; --only accepts it, too */
    /*
     * Measures the row, a struct that begins with this one, at bench_size, and adds its results.
     * After an error no further row is measured.
     */
    void (*run)(const void *row);
};

enum { BENCH_VALUES = 8, BENCH_RESULTS = 512, BENCH_NOTE = 500, BENCH_TABLES = 7 };

/* The result of a row at one size. */
struct bench_result {
    char name[64], what[64];
    const char *part;
    char size[48]; /* such as "64 x 64"; "" if the program has one size */
    struct {
        char name[32];
        struct bench_spread of;
    } values[BENCH_VALUES];
    size_t count;
    bool measured; /* if not, the note is the reason */
    bool wrong;    /* the measured work was wrong, which is the exit status, too */
    char note[BENCH_NOTE];
};

/* A goal for a value of a row. Goals are printed, not tested: a busy machine would miss them. */
struct bench_goal {
    const char *rows;  /* names, separated by |; one that ends with / is for all that begin so */
    const char *size;  /* NULL: each size */
    const char *value; /* the name of the value */
    const char *of;    /* names: the goal is for value / the largest value of these; or NULL */
    bool at_least;     /* otherwise at most */
    double wanted;
};

struct option_row;

struct bench_setup {
    const char *title;                /* printed in the first line of the report; may be NULL */
    const char *about;                /* printed in the help */
    const struct option_row *options; /* the last row has no name */
    /* tables of structs that begin with a struct bench_row; the last of each has no name */
    const void *rows[BENCH_TABLES];
    size_t row_size;
    const size_t *sizes; /* the number of sizes; NULL: one */
    /* Optional functions. What open() keeps ends with the program; begin(): with its size. */
    void (*open)(void);
    void (*add_facts)(struct bench_machine *machine);
    void (*begin)(void);
    bool (*wants)(const void *row);
};

/* Each program defines its setup. main() is in bench_main.c. */
extern const struct bench_setup bench_setup;

extern const char *bench_only;               /* the value of --only; NULL if there is none */
extern const struct bench_goal *bench_goals; /* set by open(); the last goal has no rows */
extern size_t bench_size;                    /* the index of the size that is measured */

/* Adds a result of the row; `size` may be "". The harness prints it when the row has run. */
struct bench_result *bench_add(const struct bench_row *row, const char *size);

/* The same for a result with its own name. */
struct bench_result *bench_add_as(const struct bench_row *row, const char *name, const char *part,
                                  const char *size);

/* Sets why the result was not measured. */
void bench_not_measured(struct bench_result *result, const char *reason);

void bench_set(struct bench_result *result, const char *name, struct bench_spread value);
static inline void bench_set_number(struct bench_result *result, const char *name, double value)
{
    bench_set(result, name, (struct bench_spread){NAN, value, NAN});
}

/* The results so far. */
extern struct bench_result bench_results[BENCH_RESULTS];
extern size_t bench_result_count;

/* Whether the key of a row begins with one of the comma-separated prefixes. */
bool bench_is_selected(const char *key, const char *beginnings);

#define BENCH_OPTION_DEVICE(ordinal)                                                               \
    {                                                                                              \
        "device", 0, "N", "the CUDA device to use, as CUDA counts", .whole = { ordinal, 0, 1000 }  \
    }

/* Prints a progress line to stderr if that is a terminal. The next progress line replaces it. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_progress_end(void);

/* ---- bench_measure.c ------------------------------------------------------------------------- */

double bench_now_us(void);
double bench_thread_cpu_us(void);
struct bench_spread bench_spread_of(double *values, size_t count); /* sorts the values */

enum { BENCH_SUBJECTS = 2, BENCH_BLOCK_VALUES = 9 };

/* Blocks, each of which yields values. */
struct bench_blocks {
    const char *key;   /* the name of the row, for the progress line */
    unsigned warm_ups; /* the number of blocks before the ones that count */
    unsigned blocks;   /* the maximum number of blocks */
    double seconds;    /* the time limit in seconds, or INFINITY; at least 10 blocks are measured */
    size_t values;     /* the number of values of a block */
    void (*block)(double *values);
};

/* Measures the blocks and sets the spread of each value. */
void bench_measure(const struct bench_blocks *blocks, struct bench_spread spreads[]);

/* The result of one block of a subject, in microseconds per frame; NaN: not measured. */
struct bench_block {
    double wall, cpu;
    double halves;  /* the cost of the second half of the block / the cost of the first half */
    double waiting; /* the frames unfinished once all are enqueued */
};

/* What the wall time of a block is. The CPU time is always that of the enqueueing. */
enum bench_mode {
    BENCH_ENQUEUED, /* the enqueueing, from drained queues on */
    BENCH_FINISHED, /* from drained queues until all work is done */
    BENCH_SUSTAINED /* the enqueueing with full queues, which makes it wait for the GPU */
};

/*
 * Blocks of two subjects, such as raw calls and grinterop, which alternate, A B B A, so that a
 * drift of clocks or temperature affects both alike.
 */
struct bench_pairs {
    const char *key;
    enum bench_mode mode;
    unsigned frames[BENCH_SUBJECTS]; /* of a block; 0: the subject is not measured */
    unsigned refill; /* sustained: the untimed frames of a subject that replace the other's */
    unsigned warm_ups, blocks; /* for each subject, like `seconds` */
    double seconds;
    void (*drain)(void); /* waits until all work is done */
    void (*enqueue)(void *of, unsigned subject, unsigned frames);
    void (*prepare)(void *of, unsigned subject, unsigned frames); /* before enqueue(), or NULL */
    /* after a block that counts or warms up, or NULL */
    void (*check)(void *of, unsigned subject, struct bench_block *block);
    void *of;
};

/* The result of a row: in microseconds per frame, or NaN if not measured; single ones are medians.
 */
struct bench_comparison {
    struct bench_spread wall[BENCH_SUBJECTS];
    double thread_cpu[BENCH_SUBJECTS];
    struct bench_spread ratio, times; /* subject 1 / subject 0 in adjacent blocks; the reverse */
    double halves, waiting[BENCH_SUBJECTS];
};

struct bench_comparison bench_compare(const struct bench_pairs *pairs);

/* Measures one block, to choose the number of frames; bench_enqueue() only enqueues them. */
struct bench_block bench_time_block(const struct bench_pairs *pairs, unsigned subject,
                                    unsigned frames);
void bench_enqueue(const struct bench_pairs *pairs, unsigned subject, unsigned frames);

/*
 * Adds the values of the comparison to the result: microseconds per frame of both subjects, the
 * subject of interest first, their ratio and CPU times. The note has the halves of the blocks.
 */
void bench_set_comparison(struct bench_result *result, const struct bench_comparison *of,
                          const char *const subjects[BENCH_SUBJECTS]);

/* ---- bench_report.c, bench_json.c ------------------------------------------------------------ */

void bench_print_results(size_t from); /* those from this index on */
void bench_print_goals(void);

void bench_write_json(const char *path, const struct bench_machine *machine);

/* ---- bench_machine.c ------------------------------------------------------------------------- */

/* Open CUDA, and OpenGL, on a device. OpenGL is opened first, and ends last. */
void bench_device_open(struct bench_device *device);
void bench_open_gl(int cuda_device);

/* Enqueues a memory barrier, as grinterop does before a signal, if the driver has StreamBatchMemOp.
 */
CUresult bench_barrier(CUstream stream);

/* describes the machine by means of the current CUDA context */
void bench_describe_machine(struct bench_machine *machine);
void bench_add_fact(struct bench_machine *machine, const char *label, const char *key,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* adds the OpenGL facts of the current context */
void bench_add_opengl(struct bench_machine *machine);

#endif
