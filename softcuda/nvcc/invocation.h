/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parsed command line. */
#ifndef GR_SOFTCUDA_NVCC_INVOCATION_H
#define GR_SOFTCUDA_NVCC_INVOCATION_H

#include <stdbool.h>

#include "softcuda/nvcc/text.h"

enum phase {
    PHASE_LINK, /* the default: makes a program */
    PHASE_COMPILE,
    PHASE_PREPROCESS,
    PHASE_DEPENDENCIES, /* prints dependencies */
    PHASE_DEVICE_LINK,
    PHASE_ARCHIVE,
};

typedef struct options {
    enum phase phase;
    /* The option that chose the phase, such as -c; -M and -MM choose the same one. */
    const char *phase_option;
    const char *output;
    const char *output_dir; /* the folder for outputs that -o does not name */
    const char *compiler;   /* from -ccbin: a compiler, or the folder that contains it */
    const char *archiver;
    const char *language; /* from -x */
    const char *cuda_include;
    const char *keep_dir;
    const char *dependency_file;
    const char *dependency_target;
    const char *dependency_kind; /* -MD or -MMD */
    words preprocess;            /* for the preprocessor only */
    words compile;               /* options for both steps of a compilation */
    words link;                  /* files and options for the linker, in order */
    words archive;               /* files and options for ar */
    words run_arguments;
    words files;   /* files that contain options, to be read next */
    words sources; /* the files in `link` that are compiled */
    bool separate;
    bool all_barriers;
    bool keep, verbose, dry_run, run, phony_targets;
    bool clean;                  /* removes the outputs instead of creating them */
    bool to_compiler, to_linker; /* the compiler or the linker gets unknown options */
    bool optimised;
    bool shared;
    bool relocatable;   /* -r */
    bool help, version; /* print it and exit */
} options;

#endif
