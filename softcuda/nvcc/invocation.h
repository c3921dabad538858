/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line asks for. */
#ifndef GR_SOFTCUDA_NVCC_INVOCATION_H
#define GR_SOFTCUDA_NVCC_INVOCATION_H

#include <stdbool.h>

#include "softcuda/nvcc/text.h"

enum phase {
    PHASE_LINK, /* the default: to a program */
    PHASE_COMPILE,
    PHASE_PREPROCESS,
    PHASE_DEPENDENCIES, /* prints them */
    PHASE_DEVICE_LINK,
    PHASE_ARCHIVE,
};

typedef struct options {
    enum phase phase;
    const char *phase_option; /* -c and the like, as -M and -MM are one phase */
    const char *output;
    const char *output_dir; /* of what has no name by -o */
    const char *compiler;   /* -ccbin: a compiler, or the folder of one */
    const char *archiver;
    const char *language; /* -x */
    const char *cuda_include;
    const char *keep_dir;
    const char *dependency_file;
    const char *dependency_target;
    const char *dependency_kind; /* -MD or -MMD */
    words preprocess;            /* for the preprocessor alone */
    words compile;               /* for both steps of a compilation */
    words link;                  /* files and options, in their order */
    words archive;               /* for ar */
    words run_arguments;
    words files;   /* of options, that are to be read next */
    words sources; /* of these, those that are compiled */
    bool separate;
    bool all_barriers;
    bool keep, verbose, dry_run, run, phony_targets;
    bool clean;                  /* removes what it would make */
    bool to_compiler, to_linker; /* what is not known */
    bool optimised;
    bool shared;
    bool relocatable;   /* -r */
    bool help, version; /* that is all it is asked for */
} options;

#endif
