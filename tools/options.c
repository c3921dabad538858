/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Parses the command line of a program. */
#define _GNU_SOURCE
#include "tools/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/gr.h>

#include "tools/options_print.h"

enum { SMALLEST_PICTURE = 16, LARGEST_PICTURE = 16384, MOST_ROWS = 24 };

/* Prints the man page, for the build. The option is not in the help. */
static const struct option_row MAN = {"man", 0, NULL, NULL, .flag = NULL};
enum { MAN_CODE = 255 };

/* ---- Values ---------------------------------------------------------------------------------- */

/*
 * Parses an integer within the limits, up to the character `end`. Returns the text after `end`, or
 * NULL on failure.
 */
static const char *parse_int(const char *text, char end, int least, int most, int *value)
{
    char *rest;
    errno = 0;
    const long number = strtol(text, &rest, 10);
    if (rest == text || *rest != end || errno != 0 || number < least || number > most)
        return NULL;
    *value = (int)number;
    return rest + (end != '\0');
}

static bool take_whole(const char *name, const char *text, int least, int most, int *value)
{
    if (parse_int(text, '\0', least, most, value))
        return true;
    fprintf(stderr, "--%s takes an integer from %d to %d, not \"%s\".\n", name, least, most, text);
    return false;
}

static bool take_count(const struct option_row *row, const char *text)
{
    int value;
    if (!take_whole(row->name, text, row->count.least, row->count.most, &value))
        return false;
    *row->count.value = (unsigned)value;
    return true;
}

static bool take_real(const struct option_row *row, const char *text)
{
    char *rest;
    const double number = strtod(text, &rest);
    if (rest != text && *rest == '\0' && number >= row->real.least && number <= row->real.most) {
        *row->real.value = number;
        return true;
    }
    fprintf(stderr, "--%s takes a number from %g to %g, not \"%s\".\n", row->name, row->real.least,
            row->real.most, text);
    return false;
}

static bool take_size(const struct option_row *row, const char *text)
{
    int width = 0, height = 0;
    const char *rest = parse_int(text, 'x', SMALLEST_PICTURE, LARGEST_PICTURE, &width);
    if (rest && parse_int(rest, '\0', SMALLEST_PICTURE, LARGEST_PICTURE, &height)) {
        *row->size.width = width;
        *row->size.height = height;
        return true;
    }
    fprintf(stderr, "--%s takes WIDTHxHEIGHT, each from %d to %d, such as 1280x720, not \"%s\".\n",
            row->name, SMALLEST_PICTURE, LARGEST_PICTURE, text);
    return false;
}

static bool take_choice(const struct option_row *row, const char *text)
{
    const char *const *words = row->choice.words;
    for (int i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *row->choice.value = i;
            return true;
        }
    }
    fprintf(stderr, "--%s takes %s", row->name, words[0]);
    for (int i = 1; words[i]; i++)
        fprintf(stderr, "%s %s", words[i + 1] ? "," : " or", words[i]);
    fprintf(stderr, ", not \"%s\".\n", text);
    return false;
}

static bool take(const struct option_row *row, const char *text)
{
    if (row->whole.value)
        return take_whole(row->name, text, row->whole.least, row->whole.most, row->whole.value);
    if (row->count.value)
        return take_count(row, text);
    if (row->real.value)
        return take_real(row, text);
    if (row->size.width)
        return take_size(row, text);
    if (row->choice.value)
        return take_choice(row, text);
    if (row->own.take)
        return row->own.take(text, row->own.into);
    if (row->text)
        *row->text = text;
    else
        *row->flag = true;
    return true;
}

/* ---- The command line ------------------------------------------------------------------------ */

/* The options in the form that getopt_long() needs. */
struct getopt_names {
    struct option list[MOST_ROWS + 4];
    char letters[2 * MOST_ROWS + 5];
};

/* The code that getopt_long() returns for the row. */
static int code_of(const struct option_page *page, const struct option_row *row)
{
    return row->letter ? row->letter : 256 + (int)(row - page->rows);
}

static void add_name(struct getopt_names *names, size_t at, const struct option_row *row, int code)
{
    names->list[at] =
        (struct option){row->name, row->argument ? required_argument : no_argument, NULL, code};
    const char letter[] = {row->letter, row->argument ? ':' : '\0', '\0'};
    strcat(names->letters, letter);
}

static void list_names(const struct option_page *page, struct getopt_names *names)
{
    size_t count = 0;
    for (const struct option_row *row = page->rows; row->name && count < MOST_ROWS; row++)
        if (!row->operand)
            add_name(names, count++, row, code_of(page, row));
    add_name(names, count++, &options_help_row, options_help_row.letter);
    add_name(names, count++, &options_version_row, options_version_row.letter);
    add_name(names, count, &MAN, MAN_CODE);
}

static bool take_code(const struct option_page *page, int code)
{
    if (code == options_help_row.letter) {
        options_print_help(stdout, page);
        exit(EXIT_SUCCESS);
    }
    if (code == options_version_row.letter) {
        printf("%s (grinterop) %s\n", page->program, gr_library_version());
        exit(EXIT_SUCCESS);
    }
    if (code == MAN_CODE) {
        options_print_man(stdout, page);
        exit(EXIT_SUCCESS);
    }
    for (const struct option_row *row = page->rows; row->name; row++)
        if (code_of(page, row) == code)
            return take(row, optarg);
    return false;
}

/*
 * Sets the required arguments. False if their number is wrong. *any: whether the program has
 * required arguments.
 */
static bool take_operands(const struct option_page *page, int argc, char **argv, bool *any)
{
    *any = false;
    for (const struct option_row *row = page->rows; row->name; row++) {
        if (!row->operand)
            continue;
        *any = true;
        if (optind == argc)
            return false;
        *row->operand = argv[optind++];
    }
    return optind == argc;
}

void options_read_page(int argc, char **argv, const struct option_page *page)
{
    struct getopt_names names = {0};
    bool good = true, any;
    list_names(page, &names);
    for (int code; good && (code = getopt_long(argc, argv, names.letters, names.list, NULL)) != -1;)
        good = take_code(page, code);
    if (good && take_operands(page, argc, argv, &any))
        return;
    if (good && any) {
        options_print_help(stderr, page);
        exit(2);
    }
    if (good)
        fprintf(stderr, "%s takes only options, not \"%s\".\n", page->program, argv[optind]);
    fprintf(stderr, "Try %s --help.\n", page->program);
    exit(2);
}

void options_read(int argc, char **argv, const char *program, const struct option_row *rows,
                  const char *about, const char *notes)
{
    const struct option_section sections[] = {{NULL, notes}, {NULL, NULL}};
    const struct option_page page = {program, about, rows, sections};
    options_read_page(argc, argv, &page);
}
