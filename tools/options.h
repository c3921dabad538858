/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The options of a program in one table, for the help, the man page, the command line parser and
 * its error messages.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

/*
 * One option. It points to the variable for its value, whose type determines the argument. The
 * initial value is the default; if it is outside the limits, there is no default.
 */
struct option_row {
    const char *name; /* the long name, without "--" */
    char letter;      /* the short name, such as 'l' for -l; 0 if there is none */
    /* the name of the argument in the help, such as "FILE"; NULL if there is none */
    const char *argument;
    const char *help; /* limits and default are appended; NULL hides the option in the help */

    /* The row is not an option, but a required argument with that name. */
    const char **operand;

    bool *flag; /* the variable that the option sets to true */
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
        int *value; /* receives the index of the chosen word */
        const char *const *words;
    } choice; /* the words end with NULL */
    struct {
        /* parses the argument; returns false after an error, which the function printed */
        bool (*take)(const char *text, void *into);
        void *into;
    } own;
};

/* The notes in the help of programs that use CUDA. */
#define OPTIONS_CUDA_NOTES                                                                         \
    "It runs on the first CUDA device, or without a GPU on the software CUDA driver. "             \
    "GR_CUDA_DRIVER=soft in the environment selects the software driver."

/* A section after the options in the help and the man page, such as the exit status. */
struct option_section {
    const char *title; /* NULL if the section has none */
    const char *text;  /* the sentences of the section */
};

struct option_page {
    const char *program;
    /* what the program does: one sentence, with capital letter and full stop */
    const char *about;
    const struct option_row *rows;         /* ends with a row without a name */
    const struct option_section *sections; /* ends with a section without a text */
};

/*
 * Parses the command line of a program. Exits with status 0 after --help, --version or --man, which
 * prints the man page. Prints errors in the command line, and exits with status 2.
 */
void options_read_page(int argc, char **argv, const struct option_page *page);

/* Like options_read_page(), with one section without a title. */
void options_read(int argc, char **argv, const char *program, const struct option_row *rows,
                  const char *about, const char *notes);

/*
 * Prints the text and wraps its lines. All lines, also the current one, begin at column `indent`.
 */
void words_print(FILE *stream, const char *text, int indent);

#endif
