/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/options_help.h"

#include <string.h>

#include "tools/words.h"

const struct option_row options_help_row = {"help", 'h', NULL, "this text", .flag = NULL};
const struct option_row options_version_row = {"version", 'V', NULL, "the version of grinterop",
                                               .flag = NULL};

/* " (2 to 2048, default 512)"; without the default where that is beyond the limits. */
static void describe_number(double value, double least, double most, char *text, size_t size)
{
    if (value >= least && value <= most)
        snprintf(text, size, " (%.10g to %.10g, default %.10g)", least, most, value);
    else
        snprintf(text, size, " (%.10g to %.10g)", least, most);
}

void options_describe_value(const struct option_row *row, char *text, size_t size)
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
    options_describe_value(row, value, sizeof(value));
    snprintf(text, sizeof(text), "%s%s", row->help, value);
    const int width = print_names(stream, row);
    fprintf(stream, "%*s", indent - width, "");
    words_print(stream, text, indent);
}

void options_print_help(FILE *stream, const struct option_page *page)
{
    int indent = width_of_names(&options_version_row);
    for (const struct option_row *row = page->rows; row->name; row++)
        if (row->help && width_of_names(row) > indent)
            indent = width_of_names(row);
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
