/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/options_print.h"

#include <ctype.h>
#include <string.h>

#include <grinterop/gr.h>

enum { WIDTH = 92 };

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

/* ---- Help ------------------------------------------------------------------------------------ */

const struct option_row options_help_row = {"help", 'h', NULL, "this text", .flag = NULL};
const struct option_row options_version_row = {"version", 'V', NULL, "the version of grinterop",
                                               .flag = NULL};

/* Writes " (2 to 2048, default 512)". A default outside the limits is omitted. */
static void describe_number(double value, double least, double most, char *text, size_t size)
{
    if (value >= least && value <= most)
        snprintf(text, size, " (%.10g to %.10g, default %.10g)", least, most, value);
    else
        snprintf(text, size, " (%.10g to %.10g)", least, most);
}

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

static void print_row(FILE *stream, const struct option_row *row, int indent)
{
    char names[128], value[128], text[512];
    write_names(row, names, sizeof(names));
    describe_value(row, value, sizeof(value));
    snprintf(text, sizeof(text), "%s%s", row->help, value);
    fprintf(stream, "%-*s", indent, names);
    words_print(stream, text, indent);
}

void options_print_help(FILE *stream, const struct option_page *page)
{
    int indent = write_names(&options_version_row, NULL, 0);
    for (const struct option_row *row = page->rows; row->name; row++) {
        const int width = write_names(row, NULL, 0);
        if (row->help && width > indent)
            indent = width;
    }
    indent += 2;

    fprintf(stream, "Usage: %s [OPTION]...", page->program);
    for (const struct option_row *row = page->rows; row->name; row++)
        if (row->operand)
            fprintf(stream, " %s", row->name);
    fputc('\n', stream);
    words_print(stream, page->about, 0);
    fputc('\n', stream);
    for (const struct option_row *row = page->rows; row->name; row++)
        if (row->help)
            print_row(stream, row, indent);
    print_row(stream, &options_help_row, indent);
    print_row(stream, &options_version_row, indent);
    for (const struct option_section *section = page->sections; section->text; section++) {
        fputc('\n', stream);
        if (section->title)
            fprintf(stream, "%s\n  ", section->title);
        words_print(stream, section->text, section->title ? 2 : 0);
    }
}

/* ---- Roff ------------------------------------------------------------------------------------ */

/*
 * Writes one character. A hyphen is written as a minus, so that it can be copied into a command
 * line.
 */
static void put(FILE *stream, char c)
{
    if (c == '\\')
        fputs("\\e", stream);
    else if (c == '-')
        fputs("\\-", stream);
    else
        fputc(c, stream);
}

static void put_text(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put(stream, text[i]);
}

/*
 * Writes each sentence on its own line, as roff expects, and escapes lines that look like requests.
 */
static void put_sentences(FILE *stream, const char *text)
{
    while (*text) {
        const char *end = strstr(text, ". ");
        size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
        if (strchr(".'", *text))
            fputs("\\&", stream);
        put_text(stream, text, length);
        fputc('\n', stream);
        text += length;
        text += strspn(text, " ");
    }
}

static void put_upper(FILE *stream, const char *text)
{
    for (; *text; text++)
        put(stream, (char)toupper((unsigned char)*text));
}

static void put_bold(FILE *stream, const char *text)
{
    fputs("\\fB", stream);
    put_text(stream, text, strlen(text));
    fputs("\\fR", stream);
}

static void begin_section(FILE *stream, const char *title)
{
    fputs(".SH ", stream);
    putc('"', stream);
    put_upper(stream, title);
    fputs("\"\n", stream);
}

/* ---- The page -------------------------------------------------------------------------------- */

/*
 * Writes "grinterop-info - reports what works": the sentence without capital letter and full stop.
 */
static void put_name(FILE *stream, const struct option_page *page)
{
    size_t length = strlen(page->about);
    begin_section(stream, "name");
    put_text(stream, page->program, strlen(page->program));
    fputs(" \\- ", stream);
    put(stream, (char)tolower((unsigned char)page->about[0]));
    put_text(stream, page->about + 1, length - 1 - (page->about[length - 1] == '.'));
    fputc('\n', stream);
}

static void put_synopsis(FILE *stream, const struct option_page *page)
{
    begin_section(stream, "synopsis");
    put_bold(stream, page->program);
    fputs(" [\\fIOPTION\\fR]...", stream);
    for (const struct option_row *row = page->rows; row->name; row++)
        if (row->operand)
            fprintf(stream, " \\fI%s\\fR", row->name);
    fputc('\n', stream);
}

static void put_row(FILE *stream, const struct option_row *row)
{
    const char letter[] = {'-', row->letter, '\0'};
    char value[128], text[640], name[64];
    describe_value(row, value, sizeof(value));
    snprintf(text, sizeof(text), "%s%s.", row->help, value);
    text[0] = (char)toupper((unsigned char)text[0]);
    snprintf(name, sizeof(name), "--%s", row->name);
    fputs(".TP\n", stream);
    if (row->letter) {
        put_bold(stream, letter);
        fputs(", ", stream);
    }
    put_bold(stream, name);
    if (row->argument)
        fprintf(stream, " \\fI%s\\fR", row->argument);
    fputc('\n', stream);
    put_sentences(stream, text);
}

void options_print_man(FILE *stream, const struct option_page *page)
{
    fputs(".TH ", stream);
    put_upper(stream, page->program);
    fprintf(stream, " 1 \"\" \"grinterop %s\" \"User Commands\"\n", gr_library_version());
    put_name(stream, page);
    put_synopsis(stream, page);
    begin_section(stream, "options");
    for (const struct option_row *row = page->rows; row->name; row++)
        if (row->help)
            put_row(stream, row);
    put_row(stream, &options_help_row);
    put_row(stream, &options_version_row);
    for (const struct option_section *section = page->sections; section->text; section++) {
        begin_section(stream, section->title ? section->title : "notes");
        put_sentences(stream, section->text);
    }
}
