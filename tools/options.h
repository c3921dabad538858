/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a program, in one table: the help, the manual's page, the reading of the command
 * line and the words about a wrong one all come from it.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

/*
 * One option. It names the place that its value goes to, and the kind of that place says what the
 * option takes. What lies there beforehand is the default; one beyond the limits is none.
 */
struct option_row {
    const char *name;     /* of --name */
    char letter;          /* of -l; 0: none */
    const char *argument; /* what the help calls it, such as "FILE"; NULL: there is none */
    const char *help;     /* limits and default follow it; NULL: not in the help */

    /* No option, but an argument that has to be there and is called by the name. */
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
        int *value; /* which of the words it is */
        const char *const *words;
    } choice; /* a NULL ends them */
    struct {
        bool (*take)(const char *text, void *into); /* false after an error, which it has printed */
        void *into;
    } own;
};

/* The notes of programs that work with CUDA. */
#define OPTIONS_CUDA_NOTES                                                                         \
    "It runs on the first CUDA device, or without a GPU on the software CUDA driver, which "       \
    "GR_CUDA_DRIVER=soft in the environment also asks for."

/* What the help and the manual's page say behind the options, such as what the exit status is. */
struct option_section {
    const char *title; /* NULL: none */
    const char *text;  /* sentences */
};

struct option_page {
    const char *program;
    const char *about;                     /* one sentence, with its capital and its full stop */
    const struct option_row *rows;         /* one without a name ends them */
    const struct option_section *sections; /* one without a text ends them */
};

/*
 * Reads the command line of a program. After --help, --version and --man, which prints the manual's
 * page, the program ends with status 0, and with 2 after what is wrong there, which has been
 * printed.
 */
void options_read_page(int argc, char **argv, const struct option_page *page);

/* The same, with one section that has no title. */
void options_read(int argc, char **argv, const char *program, const struct option_row *rows,
                  const char *about, const char *notes);

#endif
