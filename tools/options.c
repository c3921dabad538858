/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a program: its help, and the reading of its command line.
 */
#define _GNU_SOURCE
#include "tools/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/gr.h>

#include "tools/words.h"

enum { SMALLEST_PICTURE = 16, LARGEST_PICTURE = 16384, MOST_ROWS = 24 };

struct option_table {
    const char *program, *about, *notes;
    const struct option_row *rows;
};

/* What every program has. */
static const struct option_row HELP = {"help", 'h', NULL, "this text", .flag = NULL};
static const struct option_row VERSION = {"version", 'V', NULL, "the version of grinterop",
                                          .flag = NULL};

/* ---- Values ---------------------------------------------------------------------------------- */

/*
 * A whole number within the limits, up to the character `end`, which is passed. NULL if it is not.
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
    fprintf(stderr, "--%s takes a whole number from %d to %d, not \"%s\".\n", name, least, most,
            text);
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

/* ---- Help ------------------------------------------------------------------------------------ */

/* " (2 to 2048, default 512)"; without the default where that is beyond the limits. */
static void describe_number(double value, double least, double most, char *text, size_t size)
{
    if (value >= least && value <= most)
        snprintf(text, size, " (%.10g to %.10g, default %.10g)", least, most, value);
    else
        snprintf(text, size, " (%.10g to %.10g)", least, most);
}

/* What the table knows of the values that the option takes. */
static void describe_value(const struct option_row *row, char *text, size_t size)
{
    text[0] = '\0';
    if (row->whole.value)
        describe_number(*row->whole.value, row->whole.least, row->whole.most, text, size);
    else if (row->count.value)
        describe_number(*row->count.value, row->count.least, row->count.most, text, size);
    else if (row->real.value)
        describe_number(*row->real.value, row->real.least, row->real.most, text, size);
    else if (row->size.width)
        snprintf(text, size, " (default %dx%d)", *row->size.width, *row->size.height);
    else if (row->choice.value)
        snprintf(text, size, " (default %s)", row->choice.words[*row->choice.value]);
    else if (row->text && *row->text && **row->text != '\0')
        snprintf(text, size, " (default %s)", *row->text);
}

static int print_names(FILE *stream, const struct option_row *row)
{
    const char letter[] = {'-', row->letter, ',', '\0'};
    return fprintf(stream, "  %3s --%s%s%s", row->letter ? letter : "", row->name,
                   row->argument ? " " : "", row->argument ? row->argument : "");
}

static int width_of_names(const struct option_row *row)
{
    return (int)(2 + 3 + 3 + strlen(row->name) + (row->argument ? 1 + strlen(row->argument) : 0));
}

static void print_row(FILE *stream, const struct option_row *row, int indent)
{
    char value[128], text[512];
    describe_value(row, value, sizeof(value));
    snprintf(text, sizeof(text), "%s%s", row->help, value);
    const int width = print_names(stream, row);
    fprintf(stream, "%*s", indent - width, "");
    words_print(stream, text, indent);
}

static void print_help(FILE *stream, const struct option_table *table)
{
    int indent = width_of_names(&VERSION);
    for (const struct option_row *row = table->rows; row->name; row++)
        if (row->help && width_of_names(row) > indent)
            indent = width_of_names(row);
    indent += 2;

    fprintf(stream, "Usage: %s [OPTION]...", table->program);
    for (const struct option_row *row = table->rows; row->name; row++)
        if (row->operand)
            fprintf(stream, " %s", row->name);
    fputc('\n', stream);
    words_print(stream, table->about, 0);
    fputc('\n', stream);
    for (const struct option_row *row = table->rows; row->name; row++)
        if (row->help)
            print_row(stream, row, indent);
    print_row(stream, &HELP, indent);
    print_row(stream, &VERSION, indent);
    fputc('\n', stream);
    words_print(stream, table->notes, 0);
}

/* ---- The command line ------------------------------------------------------------------------ */

/* The table as getopt_long() takes it. */
struct getopt_names {
    struct option list[MOST_ROWS + 3];
    char letters[2 * MOST_ROWS + 5];
};

/* What getopt_long() returns for the row. */
static int code_of(const struct option_table *table, const struct option_row *row)
{
    return row->letter ? row->letter : 256 + (int)(row - table->rows);
}

static void add_name(struct getopt_names *names, size_t at, const struct option_row *row, int code)
{
    names->list[at] =
        (struct option){row->name, row->argument ? required_argument : no_argument, NULL, code};
    const char letter[] = {row->letter, row->argument ? ':' : '\0', '\0'};
    strcat(names->letters, letter);
}

static void list_names(const struct option_table *table, struct getopt_names *names)
{
    size_t count = 0;
    for (const struct option_row *row = table->rows; row->name && count < MOST_ROWS; row++)
        if (!row->operand)
            add_name(names, count++, row, code_of(table, row));
    add_name(names, count++, &HELP, HELP.letter);
    add_name(names, count, &VERSION, VERSION.letter);
}

static bool take_code(const struct option_table *table, int code)
{
    if (code == HELP.letter) {
        print_help(stdout, table);
        exit(EXIT_SUCCESS);
    }
    if (code == VERSION.letter) {
        printf("%s (grinterop) %s\n", table->program, gr_library_version());
        exit(EXIT_SUCCESS);
    }
    for (const struct option_row *row = table->rows; row->name; row++)
        if (code_of(table, row) == code)
            return take(row, optarg);
    return false;
}

/* Whether all that have to be there are; *any: whether there are such. */
static bool take_operands(const struct option_table *table, int argc, char **argv, bool *any)
{
    *any = false;
    for (const struct option_row *row = table->rows; row->name; row++) {
        if (!row->operand)
            continue;
        *any = true;
        if (optind == argc)
            return false;
        *row->operand = argv[optind++];
    }
    return optind == argc;
}

void options_read(int argc, char **argv, const char *program, const struct option_row *rows,
                  const char *about, const char *notes)
{
    const struct option_table table = {program, about, notes, rows};
    struct getopt_names names = {0};
    bool good = true, any;
    list_names(&table, &names);
    for (int code; good && (code = getopt_long(argc, argv, names.letters, names.list, NULL)) != -1;)
        good = take_code(&table, code);
    if (good && take_operands(&table, argc, argv, &any))
        return;
    if (good && any) {
        print_help(stderr, &table);
        exit(2);
    }
    if (good)
        fprintf(stderr, "%s takes options only, not \"%s\".\n", program, argv[optind]);
    fprintf(stderr, "Try %s --help.\n", program);
    exit(2);
}
