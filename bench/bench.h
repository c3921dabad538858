/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The harness of the benchmarks: main() and shared options, the CUDA device, machine facts, clocks,
 * order statistics, and output files.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>

/* The program name, which is the prefix of error messages. Each program defines it. */
extern const char bench_program[];

/* The CUDA device of a benchmark, whose primary context is current. */
struct bench_device {
    int ordinal; /* the CUDA device number */
    CUdevice device;
    CUcontext context;
    CUstream stream;
    gr_egl *egl; /* OpenGL on the same device, opened by bench_device_open_gl() */
};

/* The quartiles of a set of samples. */
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
    struct bench_fact facts[4];
    size_t fact_count;
};

/* ---- bench_main.c ---------------------------------------------------------------------------- */

struct json;

struct option_row;

/*
 * The steps of a program, in order. A NULL step is skipped. A step that returns false has printed
 * an error, and the following steps are skipped. `close` always runs, and accepts partly opened
 * data.
 */
struct bench_steps {
    bool (*open)(void);
    void (*add_facts)(struct bench_machine *machine);
    void (*print_facts)(void);
    bool (*measure)(void); /* measures, and prints the results */
    void (*write_json)(struct json *json);
    bool (*draw)(const char *path, const struct bench_machine *machine); /* writes the SVG chart */
    bool (*check)(void); /* whether the measured work was correct */
    void (*close)(void);
};

struct bench_setup {
    const char *title;                /* printed in the first line of the report; may be NULL */
    const char *about;                /* printed in the help */
    const struct option_row *options; /* the last row has no name */
    struct bench_steps steps;
};

/* Each program defines its setup. main() is in bench_main.c. */
extern const struct bench_setup bench_setup;

/* The paths of the output files. NULL: the file is not written. */
extern const char *bench_json_path, *bench_svg_path;

/* Rows for the option table of a program. */
#define BENCH_OPTION_DEVICE(ordinal)                                                               \
    {                                                                                              \
        "device", 0, "N", "the CUDA device to use, as CUDA counts", .whole = { ordinal, 0, 1000 }  \
    }
#define BENCH_OPTION_JSON                                                                          \
    {                                                                                              \
        "json", 0, "FILE", "also write the numbers as JSON", .text = &bench_json_path              \
    }
#define BENCH_OPTION_SVG                                                                           \
    {                                                                                              \
        "svg", 0, "FILE", "also draw a chart", .text = &bench_svg_path                             \
    }

/* Parses a device number. False after printing an error. */
bool bench_parse_device(const char *option, const char *text, int *ordinal);

/* Parses comma-separated numbers and returns their count, or 0 after printing an error. */
size_t bench_parse_numbers(const char *option, const char *text, double least, double most,
                           double *numbers, size_t room);

/* Whether the key of a row begins with one of the comma-separated prefixes. */
bool bench_is_selected(const char *key, const char *beginnings);

/* Prints a progress line to stderr if that is a terminal. The next progress line replaces it. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_progress_end(void);

/* ---- bench_machine.c: errors are printed ----------------------------------------------------- */

/* Open or close the device. Closing also accepts a device that is unopened or only partly open. */
bool bench_device_open(struct bench_device *device);
bool bench_device_open_gl(struct bench_device *device);
void bench_device_close(struct bench_device *device);
bool bench_cuda_failed(CUresult result, const char *call);
bool bench_grinterop_failed(const char *call);
bool bench_out_of_memory(void);
static inline bool bench_cuda_ok(CUresult result, const char *call)
{
    return result == CUDA_SUCCESS || bench_cuda_failed(result, call);
}

/* describes the machine by means of the current CUDA context */
void bench_describe_machine(struct bench_machine *machine);
void bench_add_fact(struct bench_machine *machine, const char *label, const char *key,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* adds the OpenGL facts of the current context */
void bench_add_opengl(struct bench_machine *machine);

/* ---- bench_numbers.c ------------------------------------------------------------------------- */

double bench_now_us(void);
double bench_thread_cpu_us(void);
struct bench_spread bench_spread_of(double *values, size_t count); /* sorts the values */

/* Formats a number; NaN is "-". A spread also has its quartiles, in brackets. */
const char *bench_number(char text[32], double value);
const char *bench_spread_text(char text[128], struct bench_spread value);

/* ---- bench_output.c: NULL or false after an error, which has been printed -------------------- */

FILE *bench_create(const char *path);
bool bench_finish(FILE *file, const char *path);

/* ---- bench_python.c: false after an error, which has been printed ---------------------------- */

/* Finds the Python script that is named after the program. NULL if there is none. */
const char *bench_find_script(void);

/*
 * Runs a script and passes each line of its output to `take`. `arguments` has the interpreter, the
 * script and its first arguments, and ends with NULL. `more` has the other arguments, separated by
 * spaces.
 */
bool bench_run_script(const char *const arguments[], const char *more,
                      bool (*take)(char *line, void *of), void *of);

#endif
