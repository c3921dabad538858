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

/* What a program opens of CUDA; the context is the device's primary one, and current. */
struct bench_device {
    int ordinal; /* as CUDA counts */
    CUdevice device;
    CUcontext context;
    CUstream stream;
};

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

/* device.c: errors are printed. Closing takes what was opened in part, and what was not. */
bool bench_device_open(struct bench_device *device);
void bench_device_close(struct bench_device *device);
bool bench_cuda_failed(CUresult result, const char *call);
bool bench_grinterop_failed(const char *call);
static inline bool bench_cuda_ok(CUresult result, const char *call)
{
    return result == CUDA_SUCCESS || bench_cuda_failed(result, call);
}

/* machine.c */
void bench_describe_machine(const gr_cuda_api *cuda, CUdevice device,
                            struct bench_machine *machine);

/* output_file.c: NULL or false after an error, which they have printed. */
FILE *bench_create(const char *path);
bool bench_finish(FILE *file, const char *path);

#endif
