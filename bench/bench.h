/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The harness of the programs that measure: main() and the options that they share, the CUDA
 * device, the facts about the machine, clocks and order statistics, and the files that they write.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>

/* The program name, a prefix of its error messages; each program defines it. */
extern const char bench_program[];

/* The CUDA device of a program; its primary context is current. */
struct bench_device {
    int ordinal; /* as CUDA counts */
    CUdevice device;
    CUcontext context;
    CUstream stream;
    gr_egl *egl; /* OpenGL on the same device, by bench_device_open_gl() */
};

/* The middle half of a set of samples. */
struct bench_spread {
    double q1, median, q3;
};

/* A fact about the measurement: a line of the header and a member of the JSON file. */
struct bench_fact {
    const char *label, *key; /* NULL: not there */
    char text[1024];
};

/* The machine that a program measures, and when, in UTC. */
struct bench_machine {
    char driver[256], device[128], date[32];
    bool software;
    struct bench_fact facts[4];
    size_t fact_count;
};

/* ---- bench_main.c ---------------------------------------------------------------------------- */

struct json;

/*
 * The steps of a program, in their order, each with the program's own data. NULL leaves a step out.
 * A step that returns false has printed an error, and the steps after it are left out; close runs
 * in any case, and takes what was opened in part.
 */
struct bench_steps {
    const char *title; /* in the first line, before "grinterop" */
    bool (*open)(void *of);
    void (*add_facts)(void *of, struct bench_machine *machine);
    void (*print_facts)(void *of);
    bool (*measure)(void *of); /* and prints what was measured */
    void (*write_json)(void *of, struct json *json);
    bool (*draw)(void *of, const char *path); /* writes the SVG chart */
    bool (*check)(void *of);                  /* whether the measured work was right */
    void (*close)(void *of);
};

/* What bench_main() needs of each program. */
struct bench_run {
    struct bench_device *on;
    struct bench_machine machine;
    const char *json, *svg; /* paths; NULL: not written */
};

/* Returns the exit status of the program. */
int bench_main(struct bench_run *run, const struct bench_steps *steps, void *of);

/* Rows for the table of options. */
#define BENCH_OPTION_DEVICE(ordinal)                                                               \
    {                                                                                              \
        "device", 0, "N", "the CUDA device to use, as CUDA counts", .whole = { ordinal, 0, 1000 }  \
    }
#define BENCH_OPTION_JSON(path)                                                                    \
    {                                                                                              \
        "json", 0, "FILE", "also write the numbers as JSON", .text = path                          \
    }
#define BENCH_OPTION_SVG(path)                                                                     \
    {                                                                                              \
        "svg", 0, "FILE", "also draw a chart", .text = path                                        \
    }

/* The end of each program's help. */
#define BENCH_NOTES                                                                                \
    "GR_CUDA_DRIVER=soft measures the software CUDA driver: a test of this program, nothing more."

/* Parses a device number; false after printing an error. */
bool bench_take_device(const char *option, const char *text, int *ordinal);

/* Whether the key of a row begins with one of the beginnings, which commas separate. */
bool bench_is_wanted(const char *key, const char *beginnings);

/* Prints a line to stderr if that is a terminal; the next line replaces it. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_progress_end(void);

/* ---- bench_machine.c: errors are printed ----------------------------------------------------- */

/* Closing accepts partly opened and unopened devices. */
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

void bench_describe_machine(CUdevice device, struct bench_machine *machine);
void bench_add_fact(struct bench_machine *machine, const char *label, const char *key,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
void bench_add_opengl(struct bench_machine *machine); /* of the current context */

/* ---- bench_numbers.c ------------------------------------------------------------------------- */

double bench_now_us(void);
double bench_thread_cpu_us(void);
struct bench_spread bench_spread_of(double *values, size_t count); /* sorts them */

/* "-" for one that does not exist; a spread has its quartiles in brackets. */
const char *bench_number(char text[32], double value);
const char *bench_spread_text(char text[128], struct bench_spread value);

/* ---- bench_output.c: NULL or false after an error, which has been printed -------------------- */

FILE *bench_create(const char *path);
bool bench_finish(FILE *file, const char *path);

/* ---- bench_python.c: false after an error, which has been printed ---------------------------- */

/* Finds the Python script that has the program's name. */
bool bench_find_script(const char *given, char *path, size_t size);

/*
 * Runs a script and takes its output line by line. The first two arguments are the interpreter and
 * the script; NULL ends them, and the words of `more`, which spaces separate, follow.
 */
bool bench_run_script(const char *const arguments[], const char *more,
                      bool (*take)(char *line, void *of), void *of);

#endif
