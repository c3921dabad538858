/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Parses the command line of a program, and prints its help and its man page. */
#define _GNU_SOURCE
#include "tools/options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/gr.h>

enum { SMALLEST_PICTURE = 16, LARGEST_PICTURE = 16384, MOST_ROWS = 24, WIDTH = 92 };

/* The options of every program. --man is for the build, so the help omits it. */
enum { HELP, VERSION, MAN, COMMON };
static const struct option_row common[] = {
    [HELP] = {.name = "help", .letter = 'h', .help = "this text"},
    [VERSION] = {.name = "version", .letter = 'V', .help = "the version of grinterop"},
    [MAN] = {.name = "man"}};

/* The options of the program, then those of every program, then NULL. */
static const struct option_row *row_at(const struct option_page *page, size_t at)
{
    for (const struct option_row *row = page->rows; row->name; row++, at--)
        if (at == 0)
            return row;
    return at < COMMON ? &common[at] : NULL;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The value of a row that takes a number, with its limits. */
struct number {
    double value, least, most;
};

static bool find_number(const struct option_row *row, struct number *number)
{
    if (row->whole.value)
        *number = (struct number){*row->whole.value, row->whole.least, row->whole.most};
    else if (row->count.value)
        *number = (struct number){*row->count.value, row->count.least, row->count.most};
    else if (row->real.value)
        *number = (struct number){*row->real.value, row->real.least, row->real.most};
    else
        return false;
    return true;
}

static bool take_number(const struct option_row *row, const char *text, const struct number *number)
{
    char *rest;
    const double value = row->real.value ? strtod(text, &rest) : (double)strtol(text, &rest, 10);
    if (rest == text || *rest != '\0' || !(value >= number->least && value <= number->most)) {
        fprintf(stderr, "--%s takes %s from %.10g to %.10g, not \"%s\".\n", row->name,
                row->real.value ? "a number" : "an integer", number->least, number->most, text);
        return false;
    }
    if (row->whole.value)
        *row->whole.value = (int)value;
    else if (row->count.value)
        *row->count.value = (unsigned)value;
    else
        *row->real.value = value;
    return true;
}

static bool take_size(const struct option_row *row, const char *text)
{
    int width, height, end = 0;
    if (sscanf(text, "%6dx%6d%n", &width, &height, &end) == 2 && text[end] == '\0' &&
        width >= SMALLEST_PICTURE && width <= LARGEST_PICTURE && height >= SMALLEST_PICTURE &&
        height <= LARGEST_PICTURE) {
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
    struct number number;
    if (find_number(row, &number))
        return take_number(row, text, &number);
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

void words_print(FILE *stream, const char *text, int indent)
{
    int column = indent;
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

/* Writes the help of the row with its limits and its default, if it is within the limits. */
static void describe(const struct option_row *row, char *text, size_t size)
{
    struct number number;
    const int length = snprintf(text, size, "%s", row->help);
    text += length;
    size -= (size_t)length;
    if (find_number(row, &number) && number.value >= number.least && number.value <= number.most)
        snprintf(text, size, " (%.10g to %.10g, default %.10g)", number.least, number.most,
                 number.value);
    else if (find_number(row, &number))
        snprintf(text, size, " (%.10g to %.10g)", number.least, number.most);
    else if (row->size.width)
        snprintf(text, size, " (default %dx%d)", *row->size.width, *row->size.height);
    else if (row->choice.value && *row->choice.value >= 0)
        snprintf(text, size, " (default %s)", row->choice.words[*row->choice.value]);
    else if (row->text && *row->text && **row->text != '\0')
        snprintf(text, size, " (default %s)", *row->text);
}

/* Writes "  -l, --limit SECONDS", and returns its width. */
static int write_names(const struct option_row *row, char *text, size_t size)
{
    const char letter[] = {'-', row->letter, ',', '\0'};
    return snprintf(text, size, "  %3s --%s%s%s", row->letter ? letter : "", row->name,
                    row->argument ? " " : "", row->argument ? row->argument : "");
}

static void print_rows(FILE *stream, const struct option_page *page)
{
    const struct option_row *row;
    char names[128], text[512];
    int indent = 0;
    for (size_t i = 0; (row = row_at(page, i)); i++) {
        const int width = write_names(row, NULL, 0) + 2;
        if (row->help && width > indent)
            indent = width;
    }
    for (size_t i = 0; (row = row_at(page, i)); i++) {
        if (!row->help)
            continue;
        write_names(row, names, sizeof(names));
        describe(row, text, sizeof(text));
        fprintf(stream, "%-*s", indent, names);
        words_print(stream, text, indent);
    }
}

static void print_help(FILE *stream, const struct option_page *page)
{
    fprintf(stream, "Usage: %s [OPTION]...", page->program);
    for (const struct option_row *row = page->rows; row->name; row++)
        if (row->operand)
            fprintf(stream, " %s", row->name);
    fputc('\n', stream);
    words_print(stream, page->about, 0);
    fputc('\n', stream);
    print_rows(stream, page);
    for (const struct option_section *section = page->sections; section->text; section++) {
        fputc('\n', stream);
        if (section->title)
            fprintf(stream, "%s\n  ", section->title);
        words_print(stream, section->text, section->title ? 2 : 0);
    }
}

/* ---- The man page ---------------------------------------------------------------------------- */

/*
 * Prints text for roff: each sentence on its own line, no line that looks like a request, and each
 * hyphen as a minus, so that it can be copied into a command line.
 */
static void put(const char *text, bool upper)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            printf("\\%c", *text == '-' ? '-' : 'e');
        else
            putchar(upper ? toupper((unsigned char)*text) : *text);
        if (*text == '.' && text[1] == ' ') {
            printf("\n\\&");
            text++;
        }
    }
}

static void put_row(const struct option_row *row)
{
    char text[640];
    describe(row, text, sizeof(text));
    text[0] = (char)toupper((unsigned char)text[0]);
    printf(".TP\n");
    if (row->letter)
        printf("\\fB\\-%c\\fR, ", row->letter);
    printf("\\fB\\-\\-");
    put(row->name, false);
    printf(row->argument ? "\\fR \\fI%s\\fR\n" : "\\fR%s\n", row->argument ? row->argument : "");
    put(text, false);
    printf(".\n");
}

/* Uses the macros of man(7). */
static void print_man(const struct option_page *page)
{
    const struct option_row *row;
    char about[128];
    snprintf(about, sizeof(about), "%.*s", (int)strlen(page->about) - 1, page->about);
    about[0] = (char)tolower((unsigned char)about[0]);
    printf(".TH ");
    put(page->program, true);
    printf(" 1 \"\" \"grinterop %s\" \"User Commands\"\n.SH NAME\n", gr_library_version());
    put(page->program, false);
    printf(" \\- ");
    put(about, false);
    printf("\n.SH SYNOPSIS\n\\fB");
    put(page->program, false);
    printf("\\fR [\\fIOPTION\\fR]...");
    for (row = page->rows; row->name; row++)
        if (row->operand)
            printf(" \\fI%s\\fR", row->name);
    printf("\n.SH OPTIONS\n");
    for (size_t i = 0; (row = row_at(page, i)); i++)
        if (row->help)
            put_row(row);
    for (const struct option_section *section = page->sections; section->text; section++) {
        printf(".SH \"");
        put(section->title ? section->title : "notes", true);
        printf("\"\n");
        put(section->text, false);
        printf("\n");
    }
}

/* ---- The command line ------------------------------------------------------------------------ */

/* The options in the form that getopt_long() needs. */
struct getopt_names {
    struct option list[MOST_ROWS + COMMON + 1];
    char letters[2 * (MOST_ROWS + COMMON) + 1];
};

/* The code that getopt_long() returns for the row. */
static int code_of(const struct option_row *row, size_t at)
{
    return row->letter ? row->letter : 256 + (int)at;
}

static void list_names(const struct option_page *page, struct getopt_names *names)
{
    const struct option_row *row;
    size_t count = 0;
    for (size_t i = 0; count < MOST_ROWS + COMMON && (row = row_at(page, i)); i++) {
        if (row->operand)
            continue;
        const char letter[] = {row->letter, row->argument ? ':' : '\0', '\0'};
        names->list[count++] = (struct option){
            row->name, row->argument ? required_argument : no_argument, NULL, code_of(row, i)};
        strcat(names->letters, letter);
    }
}

static bool take_code(const struct option_page *page, int code)
{
    const struct option_row *row;
    size_t at = 0;
    while ((row = row_at(page, at)) && (row->operand || code_of(row, at) != code))
        at++;
    if (!row)
        return false;
    if (row == &common[HELP])
        print_help(stdout, page);
    else if (row == &common[VERSION])
        printf("%s (grinterop) %s\n", page->program, gr_library_version());
    else if (row == &common[MAN])
        print_man(page);
    else
        return take(row, optarg);
    exit(EXIT_SUCCESS);
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
        print_help(stderr, page);
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
