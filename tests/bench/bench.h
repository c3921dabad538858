/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bench_map, bench_vulkan and bench_frames share: clocks and order statistics, options, the
 * facts about the machine, and the files that they write.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <grinterop/cuda.h>

/* The program's own name, which begins what it prints about errors; each program defines it. */
extern const char bench_program[];

/* The middle half of a set of samples. */
struct bench_spread {
    double q1, median, q3;
};

/* On what a program measures, and when, in UTC. */
struct bench_machine {
    char driver[256], device[128], date[32];
    bool software;
};

/* timing.c */
double bench_now_us(void);
double bench_thread_cpu_us(void);
struct bench_spread bench_spread_of(double *values, size_t count); /* sorts them */

/* number_text.c: "-" for one that does not exist; a spread has its quartiles in brackets */
const char *bench_number(char text[32], double value);
const char *bench_spread_text(char text[128], struct bench_spread value);

/* The end of each program's help. */
#define BENCH_NOTES                                                                                \
    "GR_CUDA_DRIVER=soft measures the software CUDA driver: a test of this program, nothing more."

/* python_script.c */
/* Finds the Python script of the program's name; false after an error, which it has printed. */
bool bench_find_script(const char *given, char *path, size_t size);

/* machine.c */
void bench_describe_machine(const gr_cuda_api *cuda, CUdevice device,
                            struct bench_machine *machine);

/* output_file.c: NULL or false after an error, which they have printed. */
FILE *bench_create(const char *path);
bool bench_finish(FILE *file, const char *path);

#endif
