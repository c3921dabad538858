/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The options of a program in one table, for the help, the man page, the command line parser and
 * its error messages.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

/*
 * One option. It points to the variable for its value, whose type determines the argument. The
 * initial value is the default; if it is outside the limits, there is no default.
 */
struct option_row {
    const char *name;     /* of --name */
    char letter;          /* the short name: 'l' for -l; 0 if none */
    const char *argument; /* its name in the help, such as "FILE"; NULL if none */
    const char *help;     /* limits and default are appended; NULL: not in the help */

    /* Not an option, but a required argument with that name. */
    const char **operand;

    bool *flag; /* set to true */
    const char **text;
    struct {
        int *value;
        int least, most;
    } whole;
    struct {
        unsigned *value;
        int least, most;
    } count;
    struct {
        double *value;
        double least, most;
    } real;
    struct {
        int *width, *height;
    } size;
    struct {
        int *value; /* index of the chosen word */
        const char *const *words;
    } choice; /* ends with NULL */
    struct {
        bool (*take)(const char *text, void *into); /* false after an error, which it printed */
        void *into;
    } own;
};

/* The notes of programs that use CUDA. */
#define OPTIONS_CUDA_NOTES                                                                         \
    "It runs on the first CUDA device, or without a GPU on the software CUDA driver. "             \
    "GR_CUDA_DRIVER=soft in the environment selects the software driver."

/* A section after the options in the help and the man page, such as the exit status. */
struct option_section {
    const char *title; /* NULL if none */
    const char *text;  /* sentences */
};

struct option_page {
    const char *program;
    const char *about;                     /* one sentence, with capital letter and full stop */
    const struct option_row *rows;         /* ends with a row without a name */
    const struct option_section *sections; /* ends with a section without a text */
};

/*
 * Parses the command line of a program. Exits with status 0 after --help, --version or --man, which
 * prints the man page. Prints errors in the command line, and exits with status 2.
 */
void options_read_page(int argc, char **argv, const struct option_page *page);

/* The same with one section without a title. */
void options_read(int argc, char **argv, const char *program, const struct option_row *rows,
                  const char *about, const char *notes);

#endif
